"""The desk's part that lets judges judge stored answers, and that looks after models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tabwb.records.trials import Trial
from tabwb.workbench.comparison.comparison import Surveying
from tabwb.workbench.engine import messages
from tabwb.workbench.shell.commands import BY_ID, available
from tabwb.workbench.shell.reasons import why_not


class Judged(Surveying):
    """What the command that judges does. The desk is one."""

    def action_results_judge(self) -> None:
        """Judge the answers that are shown."""
        if self.results is not None:
            self.open_judging(self.results.administration.id)

    def open_judging(
        self, number: int, judge: str = "", closed: Callable[[None], None] | None = None
    ) -> None:
        """Open the dialog for one administration; ``closed`` is called at its end."""
        if self.catalogue is None:
            return
        from tabwb.workbench.judging.dialog import JudgingScreen

        self.app.push_screen(
            JudgingScreen(
                f"#{number}",
                judge,
                self.catalogue.judges,
                estimate=lambda wish: self.do(partial(self.bench.estimate_judging, number, wish)),
                begin=lambda wish: self.do(partial(self.bench.judge, number, wish)),
                stop=self.bench.interrupt,
            ),
            closed,
        )

    def on_judging(self, message: messages.Judging) -> None:
        """How judging stands; told in the dialog, or as news when that was closed."""
        from tabwb.workbench.judging.dialog import JudgingScreen

        for screen in self.app.screen_stack:
            if isinstance(screen, JudgingScreen):
                screen.tell(message.phase, message.words, message.judged, message.planned)
                return
        if message.phase != "running":
            self.notify(f"Judging: {message.words}", timeout=8, markup=False)

    def on_judging_offered(self, message: messages.JudgingOffered) -> None:
        """The answers are safe; judges that were asked for and that ask a model may begin."""
        first, *others = message.judges

        def closed(_: None) -> None:
            if others:
                self.post_message(messages.JudgingOffered(message.number, tuple(others)))

        self.open_judging(message.number, first, closed)

    # ---------------------------------------------------------------- verdicts on one response

    def action_administer_judges(self) -> None:
        """What every judge says of the response on show; a person's only when it is revealed."""
        item = self.work.item if self.work is not None else None
        now = self.situation()
        if self.work is None or item is None or not available(BY_ID["administer.judges"], now):
            self.trial_page.say(why_not("administer.judges", now))
            return
        if self.trial_page.hidden:
            self.trial_page.say("verdicts are hidden while a person types: h shows them")
            return
        self.ask_for_verdicts(self.work.administration.id, item.trial)

    def ask_for_verdicts(self, number: int, trial: Trial) -> None:
        """Read them; they are shown when they have come."""
        self.do(partial(self.bench.verdicts, number, trial))

    def on_verdicts_ready(self, message: messages.VerdictsReady) -> None:
        """Show them."""
        from tabwb.workbench.judging.verdicts import VerdictsScreen

        self.app.push_screen(VerdictsScreen(message.found))

    # ---------------------------------------------------------------- models

    def action_file_models(self) -> None:
        """Back ends and profiles."""
        if self.catalogue is None:
            return
        from tabwb.workbench.models.dialog import Deeds, ModelsScreen

        bench = self.bench
        deeds = Deeds(
            write=lambda *given: self.do(partial(bench.write_profile, *given)),
            remove=lambda name: self.do(partial(bench.remove_profile, name)),
            try_=lambda spec: self.do(partial(bench.try_model, spec)),
            stop=bench.interrupt,
        )
        self.app.push_screen(ModelsScreen(self.catalogue, deeds))

    def on_model_told(self, message: messages.ModelTold) -> None:
        """What came of it."""
        from tabwb.workbench.models.dialog import ModelsScreen

        for screen in self.app.screen_stack:
            if isinstance(screen, ModelsScreen):
                if self.catalogue is not None:
                    screen.renew(self.catalogue)
                screen.tell(message.phase, message.words)
                return
        if message.phase != "trying":
            self.notify(message.words, timeout=8, markup=False)

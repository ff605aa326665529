"""The desk's frame: title bar, docks and drawers, foot, themes, the way between panes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.events import DescendantBlur, DescendantFocus, Key, Resize
from textual.widget import Widget

from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine.snapshots import Scores
from tabwb.workbench.shell import themes
from tabwb.workbench.shell.commands import COMMANDS, Command, Where, available, key_label
from tabwb.workbench.shell.dock import Dock
from tabwb.workbench.shell.explorer import Explorer
from tabwb.workbench.shell.footer import Foot, Hint
from tabwb.workbench.shell.remembered import MAX_WIDTH, MIN_WIDTH
from tabwb.workbench.shell.title_bar import TitleBar
from tabwb.workbench.shell.wording import name_of
from tabwb.workbench.trial.administering import Administering
from tabwb.workbench.trial.score_panel import ScorePanel

if TYPE_CHECKING:
    from tabwb.workbench.shell.app import Workbench

WIDE = 100
"""From so many columns up the docks stand."""
ROOMY = 128
"""From so many columns up the middle has more air."""
PICTURES = 76
"""The least columns of the middle while pictures are named; below ROOMY docks are drawers then."""
MIDDLE = 46
"""Standing docks leave the middle at least so many columns."""
STEP = 4
ANSWER_HINTS = (
    Hint("enter", "Record", "administer_record"),
    Hint("esc", "Keys", "administer_keys"),
    Hint("ctrl+j", "New line", ""),
    Hint("F1", "Help", "help_focused"),
    Hint("ctrl+p", "Commands", "help_commands"),
)
PERSON_HINTS = (
    Hint("space", "Next item", "administer_next"),
    Hint("esc", "Commands", "administer_keys"),
    Hint("F1", "Help", "help_focused"),
)
"""Between two answers of a person who types; after the last one without the first."""


class Framing(Administering):
    """Lays out what stands around the page in the middle. The desk is one."""

    saved: bool | None = None
    _drawer = ""

    @property
    def workbench(self) -> Workbench:
        """The application."""
        return cast("Workbench", self.app)

    def recording_words(self) -> str:
        """``REC 04:12`` while a microphone is open; empty else."""
        return ""

    @property
    def narrow(self) -> bool:
        """Whether docks are drawers."""
        return self.size.width < (ROOMY if self.page == "naming" else WIDE)

    # ---------------------------------------------------------------- frame

    @property
    def _scores_stand(self) -> bool:
        return not self.narrow and self.workbench.remembered.scores

    def lay_out(self) -> None:
        """Place the docks for the present size."""
        kept = self.workbench.remembered
        explorer, scores = (
            self.query_one("#explorer-dock", Dock),
            self.query_one("#scores-dock", Dock),
        )
        if self.narrow:
            explorer.lay(shown=self._drawer == "explorer", drawer=True, width=0)
            scores.lay(shown=self._drawer == "scores", drawer=True, width=0)
        else:
            self._drawer = ""
            middle = PICTURES if self.page == "naming" else MIDDLE
            room = max(self.size.width - middle, 2 * MIN_WIDTH)
            wanted = kept.explorer_width * kept.explorer + kept.scores_width * kept.scores
            share = min(1.0, room / wanted) if wanted else 1.0
            left = max(int(kept.explorer_width * share), min(kept.explorer_width, 23))
            explorer.lay(shown=kept.explorer, drawer=False, width=left)
            home = self.page in {"home", "models"}
            right = min(kept.scores_width, max(room - left * kept.explorer, MIN_WIDTH))
            scores.lay(shown=kept.scores and not home, drawer=False, width=right)
        self.set_class(self.narrow, "-narrow")
        self.set_class(not self.narrow and self.size.width < ROOMY, "-medium")
        self._show_frame()

    def on_resize(self, event: Resize) -> None:
        """Docks stand or are drawers."""
        if self.is_attached:
            self.lay_out()
            self.show_work()
            if self.page == "results" and self.results is not None:
                self.results_page.show(self.results, scores_beside=self._scores_stand)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The foot shows the keys of what is focused."""
        self.call_after_refresh(self._show_foot)

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """The foot shows the keys of what is focused."""
        self.call_after_refresh(self._show_foot)

    def _show_frame(self) -> None:
        if not self.is_attached:
            return
        open_ = ""
        if self.page == "results" and self.results is not None:
            open_ = f"results · {name_of(self.results.administration)}"
        elif self.page == "models":
            open_ = "results by model"
        elif self.work is not None:
            open_ = name_of(self.work.administration)
        offline = self.catalogue.offline if self.catalogue else None
        self.query_one(TitleBar).show(
            open_=open_,
            offline=offline,
            saved=self.saved,
            narrow=self.narrow,
            recording=self.recording_words(),
        )
        if self.catalogue is not None:
            current = self.work.administration.id if self.work else None
            explorer = self.query_one(Explorer)
            explorer.show(self.catalogue, current)
            if self.work is not None:
                explorer.update_current(self.work.now)
        self._show_scores()
        self._show_foot()

    def _show_scores(self) -> None:
        panel = self.query_one(ScorePanel)
        if self.page == "results" and self.results is not None:
            panel.show(self.results.scores, title="SCORES", present=True)
        elif self.work is not None:
            hidden = self.trial_page.hidden if self.query("#trial-page") else False
            panel.show(self.work.scores, hidden=hidden, naming=self.work.naming)
        else:
            panel.show(Scores())

    def _where(self) -> Where:
        focused = self.focused
        if isinstance(focused, Explorer):
            return "explorer"
        return self.page

    def _show_foot(self) -> None:
        if not self.query(Foot):
            return  # the program is being left
        focused = self.focused
        if focused is not None and focused.id == "answer":
            self.query_one(Foot).show(ANSWER_HINTS)
            return
        where, now = self._where(), self.situation()
        if focused is not None and focused.id == "trial-page" and self.trial_page.person_has_keys:
            over = now.status is AdministrationStatus.DONE
            self.query_one(Foot).show(PERSON_HINTS[1:] if over else PERSON_HINTS)
            return
        hints = []
        if focused is not None and focused.id in {"explorer", "responses", "models-table"}:
            hints.append(Hint("enter", "Open", ""))
        chosen = [
            command
            for command in COMMANDS
            if command.rank and available(command, now)
            if where in command.where or "everywhere" in command.where
        ]
        for command in sorted(chosen, key=self.foot_rank):
            always = command.id in {"help.menu", "help.keys"}
            back = command.id == "results.responses" and self.results_page.responses_shown
            word = "Summary" if back else command.foot
            hints.append(Hint(key_label(command.key), word, command.action, always))
        self.query_one(Foot).show(hints)

    def foot_rank(self, command: Command) -> int:
        """A command's place at the foot."""
        return command.rank

    def on_trial_page_keys_taken(self) -> None:
        """Whoever administers has the keys."""
        self._show_foot()

    def on_dock_resized(self, message: Dock.Resized) -> None:
        """A border was dragged."""
        name = "explorer_width" if message.dock.id == "explorer-dock" else "scores_width"
        self.workbench.remember(**{name: message.width})
        self.lay_out()

    def action_view_explorer(self) -> None:
        """Show or hide the explorer."""
        self._toggle("explorer", self.query_one(Explorer))

    def action_view_scores(self) -> None:
        """Show or hide the scores."""
        self._toggle("scores", self.query_one(ScorePanel))

    def _toggle(self, name: str, content: Widget) -> None:
        if self.narrow:
            self._drawer = "" if self._drawer == name else name
            self.lay_out()
            if self._drawer:
                content.focus()
            else:
                self.focus_page()
            return
        self.workbench.remember(**{name: not getattr(self.workbench.remembered, name)})
        if content.has_focus:
            self.focus_page()
        self.lay_out()
        self.show_work()
        if self.page == "results" and self.results is not None:
            self.results_page.show(self.results, scores_beside=self._scores_stand)

    def close_drawer(self) -> bool:
        """Close an open drawer; whether there was one."""
        if not self._drawer:
            return False
        self._drawer = ""
        self.lay_out()
        self.focus_page()
        return True

    def key_escape(self, event: Key) -> None:
        """From a dock or drawer back to the page; what esc does there is not done too."""
        docked = isinstance(self.focused, Explorer | ScorePanel)
        if self.close_drawer() or docked:
            event.stop().prevent_default()
            self.focus_page()

    def _wider(self, name: str, step: int) -> None:
        kept = self.workbench.remembered
        width = min(max(getattr(kept, name) + step, MIN_WIDTH), MAX_WIDTH)
        self.workbench.remember(**{name: width})
        self.lay_out()

    def action_view_explorer_wider(self) -> None:
        """Make the explorer wider."""
        self._wider("explorer_width", STEP)

    def action_view_explorer_narrower(self) -> None:
        """Make the explorer narrower."""
        self._wider("explorer_width", -STEP)

    def action_view_scores_wider(self) -> None:
        """Make the scores wider."""
        self._wider("scores_width", STEP)

    def action_view_scores_narrower(self) -> None:
        """Make the scores narrower."""
        self._wider("scores_width", -STEP)

    def action_view_theme(self) -> None:
        """Take the next theme."""
        name = themes.after(self.app.theme)
        self.workbench.take_theme(name)
        self.notify(f"Theme: {name.replace('-', ' ')}", timeout=2)

    def action_view_focus(self) -> None:
        """Give the focus to the next pane that can be seen."""
        panes: list[Widget] = [self.query_one("#pages")]
        if self.query_one("#explorer-dock").display:
            panes.insert(0, self.query_one(Explorer))
        if self.query_one("#scores-dock").display:
            panes.append(self.query_one(ScorePanel))
        at = next(
            (
                place
                for place, pane in enumerate(panes)
                if self.focused and pane in self.focused.ancestors_with_self
            ),
            -1,
        )
        chosen = panes[(at + 1) % len(panes)]
        if chosen.id == "pages":
            self.focus_page()
        else:
            chosen.focus()

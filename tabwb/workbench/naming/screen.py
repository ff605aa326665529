"""The desk's part that gives naming batteries: keys become commands, the speaker sees pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.events import Key

from tabwb.records.speakers import SCOPES
from tabwb.records.states import AdministrationStatus
from tabwb.workbench.judging.actions import Judged
from tabwb.workbench.naming.snapshots import Card, NamingNow
from tabwb.workbench.shell.commands import BY_ID, Page, Situation, available
from tabwb.workbench.shell.reasons import why_not

if TYPE_CHECKING:
    from tabwb.records.naming import Score
    from tabwb.workbench.engine.snapshots import Catalogue
    from tabwb.workbench.naming.page import NamingPage
    from tabwb.workbench.naming.results import NamedResponse
    from tabwb.workbench.naming.waveform import Waveform
    from tabwb.workbench.trial.draft import Draft

DRAWN_S = 0.05
"""How exactly it is known when a picture was drawn: a frame of ours and one of the terminal's."""
CLOCK_S = 0.5


class Naming(Judged):
    """What the commands of spoken naming do. The desk is one."""

    speaker_view = False
    """The picture alone fills the screen."""
    _opening = False
    """The microphone is being opened."""
    _drawing = False
    """A picture is being drawn; then it will be recorded when that was."""

    # ---------------------------------------------------------------- what stands

    @property
    def naming(self) -> NamingNow | None:
        """The naming administration as it stands."""
        return None if self.work is None else self.work.naming

    @property
    def naming_page(self) -> NamingPage:
        """The page; mounted when the first naming administration is opened."""
        from tabwb.workbench.naming.page import NamingPage

        return self.query_one(NamingPage)

    @property
    def work_page(self) -> Page:
        """The page on which the open administration is given."""
        return "trial" if self.naming is None else "naming"

    @property
    def keys_in_turn(self) -> bool:
        """Whether each key waits until what the one before it asked for is done."""
        return self.page == "naming"

    @property
    def key_done(self) -> bool:
        """Whether what the last key asked for is done."""
        drawing = self._drawing and self.is_current  # below a dialog nothing is drawn
        return self.settled and not drawing

    def refuses_keys(self) -> bool:
        """Say so while the microphone is being opened: nobody means the next picture by then."""
        self._opening = self._opening and not self.settled
        if self._opening:
            self.say("the microphone is being opened: press the key again when it is ready")
        return self._opening

    def say(self, words: str) -> None:
        """Say something in the place of the hint."""
        if self.page == "naming":
            self.naming_page.say(words)
        else:
            super().say(words)

    def show_naming(self, *, narrow: bool) -> None:
        """Show the open naming administration in its page, and to the speaker."""
        work, now = self.work, self.naming
        if work is None or now is None or not self.query("#naming-page"):
            return
        device = self.microphone
        self.naming_page.show(work, now, self.bench.source, narrow=narrow, device=device)
        self._show_to_speaker(now.card if now.waits else None)
        self.set_class(now.microphone == "open", "-recording")

    @property
    def microphone(self) -> str:
        """The microphone that was chosen, or empty for the system's own."""
        return self.workbench.remembered.microphone

    def drafted(self, catalogue: Catalogue) -> Draft:
        """What the dialog is filled in with."""
        return replace(super().drafted(catalogue), microphone=self.microphone)

    def begin(self, draft: Draft) -> None:
        """Begin what the dialog asks for, and keep which microphone listens."""
        if draft.microphone != self.microphone:
            self.workbench.remember(microphone=draft.microphone)
        super().begin(draft)

    def recording_words(self) -> str:
        """``REC 04:12`` while the microphone is open."""
        source = self.bench.source if self._worker is not None else None
        if source is None:
            return ""
        minutes, seconds = divmod(int(source.now_s), 60)
        return f"REC {minutes:02d}:{seconds:02d}"

    def naming_situation(self, now: Situation) -> Situation:
        """What decides which commands of naming make sense."""
        naming = self.naming
        if naming is None:
            return now
        return replace(
            now,
            recording=naming.microphone == "open",
            scored=bool(naming.score),
            upcoming=naming.upcoming is not None,
            cues=len(naming.cues) - naming.cues_given,
            lacking=self._worker is not None and bool(self.bench.lacking),
        )

    # ---------------------------------------------------------------- showing

    def action_administer_show(self) -> None:
        """Open the microphone, show the next picture, or end."""
        if not self._can("administer.show"):
            return
        work, now = self.work, self.naming
        if work is None or now is None:
            return
        if now.microphone == "opening" or self._drawing:
            self.say("one moment")
            return
        if work.status in {AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED}:
            self.do(partial(self.bench.results, work.administration.id))
        elif now.microphone == "closed":
            if now.left_over:
                self.do(self.bench.take_in)
            self._opening = True
            self.workbench.keys.drop()
            self.do(partial(self.bench.ready, self.microphone))
        elif now.upcoming is None:
            self.do(self.bench.next)
        else:
            self._show_card(now.upcoming)

    def _show_card(self, card: Card) -> None:
        source = self.bench.source
        if source is None:
            return
        self._drawing = True
        self.do(partial(self.bench.expose, card.number))
        self.naming_page.draw(card)
        self._show_to_speaker(card)

        def drawn() -> None:
            # The frame that holds the picture has been written: zero of latency.
            at = source.now_s
            about = DRAWN_S + source.uncertainty_s
            self.do(partial(self.bench.show_picture, card.number, at, about))
            self._drawing = False

        self.call_after_refresh(drawn)

    def action_administer_speaker(self) -> None:
        """The picture alone, or everything again."""
        self.speaker_view = not self.speaker_view
        self.set_class(self.speaker_view, "-speaker")
        now = self.naming
        self._show_to_speaker(now.card if now is not None and now.waits else None)

    def key_escape(self, event: Key) -> None:
        """Back from the speaker's view, as f."""
        if self.speaker_view:
            event.stop().prevent_default()
            self.action_administer_speaker()
        else:
            super().key_escape(event)

    def _show_to_speaker(self, card: Card | None) -> None:
        from tabwb.workbench.naming.speaker_sheet import SpeakerSheet

        for sheet in self.query(SpeakerSheet):
            sheet.show(None if card is None else card.picture)

    # ---------------------------------------------------------------- scoring

    def _can(self, name: str) -> bool:
        now = self.situation()
        if available(BY_ID[name], now):
            return True
        self.say(why_not(name, now))
        return False

    def _score(self, name: str, score: Score) -> None:
        if self._can(name):
            self.do(partial(self.bench.score, score))

    def action_administer_right(self) -> None:
        """Right."""
        self._score("administer.right", "right")

    def action_administer_self_corrected(self) -> None:
        """Self-corrected."""
        self._score("administer.self-corrected", "self-corrected")

    def action_administer_wrong(self) -> None:
        """Error."""
        self._score("administer.wrong", "error")

    def action_administer_no_response(self) -> None:
        """No response; the page asks of which kind."""
        if self._can("administer.no-response"):
            self.naming_page.ask_kind()

    def on_naming_page_no_response(self, message: NamingPage.NoResponse) -> None:
        """Of this kind."""
        self.do(partial(self.bench.score, "no-response", message.kind))

    def action_administer_unscorable(self) -> None:
        """Cannot be scored, with a reason."""
        if self._can("administer.unscorable"):
            self._ask_words(
                "This response cannot be scored",
                "Reason",
                partial(self.bench.score, "not-scorable"),
            )

    # ---------------------------------------------------------------- marks and cues

    def _command(self, name: str, job: str) -> None:
        if self._can(name):
            self.do(getattr(self.bench, job))

    def action_administer_cue(self) -> None:
        """The next cue."""
        self._command("administer.cue", "cue")

    def action_administer_re_prompt(self) -> None:
        """Ask again."""
        self._command("administer.re-prompt", "re_prompt")

    def action_administer_attempt(self) -> None:
        """A new attempt begins."""
        self._command("administer.attempt", "mark_attempt")

    def action_administer_examiner(self) -> None:
        """The examiner speaks, or has ended."""
        self._command("administer.examiner", "examiner")

    def action_administer_listen(self) -> None:
        """Play the response."""
        self._command("administer.listen", "play")

    def on_waveform_onset_moved(self, message: Waveform.OnsetMoved) -> None:
        """A person has moved the onset."""
        self.do(partial(self.bench.set_onset, message.at_s))

    # ---------------------------------------------------------------- heard, code

    def action_administer_heard(self) -> None:
        """Write what was heard."""
        if self._can("administer.heard"):
            self.naming_page.enter_heard()

    def on_naming_page_heard(self, message: NamingPage.Heard) -> None:
        """This was heard."""
        self.do(partial(self.bench.hear, message.text))

    def action_administer_code(self) -> None:
        """Choose a code."""
        now = self.naming
        if now is None or not self._can("administer.code"):
            return
        from tabwb.workbench.naming.code import CodeScreen

        def chosen(said: tuple[str, tuple[str, ...]] | None) -> None:
            if said is not None:
                self.do(partial(self.bench.code, *said))

        target = now.card.target if now.card else ""
        self.app.push_screen(CodeScreen(target, now.code, now.flags), chosen)

    def action_administer_detail(self) -> None:
        """Show or hide the costs of the alignment."""
        from tabwb.workbench.naming.page import TALL

        page = self.naming_page
        shown = self.app.size.height >= TALL if page.costs is None else page.costs
        page.costs = not shown
        self.show_work()

    # ---------------------------------------------------------------- afterwards, by ear

    def say_by_ear(self, at: tuple[int, int], named: NamedResponse, what: str) -> None:
        """Score or code a response afterwards, or write down what was heard.

        What the machine makes of it stood on the screen, in the list and in the dialog.
        """
        from tabwb.workbench.naming.by_ear_controller import Listening

        who = Listening(self.listeners.get(at[0], ""), seen=named.listed)
        doing = what if what in {"heard", "code"} else "score"
        by_ear = partial(self.bench.by_ear, at, who, doing)
        title = f"Response to {named.item.target}"
        if what == "rater":
            self._ask_listener(at[0])
        elif what == "heard":
            self._ask_words(title, "Heard", lambda said: by_ear(lambda one: one.hear(said)))
        elif what == "code":
            from tabwb.workbench.naming.code import CodeScreen

            def chosen(said: tuple[str, tuple[str, ...]] | None) -> None:
                if said is not None:
                    self.do(lambda: by_ear(lambda one: one.code(*said)))

            self.app.push_screen(
                CodeScreen(named.item.target, named.item.code, named.flags), chosen
            )
        elif what == "not-scorable":
            self._ask_words(
                f"{title} cannot be scored",
                "Reason",
                lambda why: by_ear(lambda one: one.score("not-scorable", reason=why)),
            )
        else:
            score = cast("Score", what)
            self.do(lambda: by_ear(lambda one: one.score(score)))

    def _ask_listener(self, number: int) -> None:
        from tabwb.workbench.results.page import ResultsPage
        from tabwb.workbench.results.response import ResponseScreen
        from tabwb.workbench.shell.ask_words import AskWords

        def given(rater: str | None) -> None:
            if rater is None:
                return
            self.listeners[number] = rater
            for page in self.query(ResultsPage):
                page.listen(number, rater)
            for screen in self.app.screen_stack:
                if isinstance(screen, ResponseScreen) and screen.at[0] == number:
                    screen.scored_by(rater)

        text = "Scores from here on are recorded under this code, until the program ends."
        self.app.push_screen(AskWords(f"Who listens to #{number}?", "Rater code", text), given)

    # ---------------------------------------------------------------- consent

    def action_administer_consent(self) -> None:
        """Record what the speaker has agreed to; the words say to what."""
        if not self._can("administer.consent") or self.work is None:
            return
        lacking = self.bench.lacking
        meaning = "\n".join(f"{scope}: {SCOPES[scope]}" for scope in lacking)
        self._ask_words(
            f"{self.work.administration.conditions.person} has agreed today to",
            "Where the signed form is",
            self.bench.keep_consent,
            meaning,
        )

    # ---------------------------------------------------------------- the microphone

    def action_administer_test(self) -> None:
        """Choose a microphone and test it."""
        if not self._can("administer.test"):
            return
        from tabwb.workbench.naming.microphone import MicrophoneScreen

        workbench = self.workbench

        def chosen(name: str | None) -> None:
            if name is not None:
                workbench.remember(microphone=name)
                self.show_work()

        self.app.push_screen(MicrophoneScreen(self.microphone), chosen)

    def on_naming_page_alarm(self, message: NamingPage.Alarm) -> None:
        """The sound is lost, or well again: said at once, also in the speaker's view."""
        if message.words:
            if self.speaker_view:
                self.action_administer_speaker()
            self.notify(message.words, title="Sound", severity="error", timeout=8, markup=False)

"""Runs the commands of spoken naming: keys become commands, the speaker sees pictures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from tabwb.records.speakers import SCOPES
from tabwb.records.states import AdministrationStatus
from tabwb.workbench.engine.messages import ResultsWanted
from tabwb.workbench.naming.view_models import Card, NamingNow
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import AskWords
from tabwb.workbench.shell.requests import (
    KeepRecordings,
    ListenerChanged,
    ListenerInput,
    PlaybackWanted,
)
from tabwb.workbench.shell.subject import Actions

if TYPE_CHECKING:
    from tabwb.records.naming import Score
    from tabwb.workbench.naming.controller import NamingController
    from tabwb.workbench.naming.page import NamingPage

DRAWN_S = 0.05
"""How exactly it is known when a picture was drawn: a frame of ours and one of the terminal's."""


class NamingActions(Actions):
    """Runs the commands of spoken naming."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.speaker_view = False
        """The picture alone fills the screen."""
        self.opening = False
        """The microphone is being opened."""
        self.drawing = False
        """A picture is being drawn; its time is recorded afterwards."""
        desk.listen(KeepRecordings, self.keep_recordings)
        desk.listen(PlaybackWanted, self.playback_wanted)
        desk.listen(ListenerInput, self.listener_input)

    # ---------------------------------------------------------------- what is there

    @property
    def controller(self) -> NamingController:
        """The controller."""
        from tabwb.workbench.naming.controller import NamingController

        return self.desk.controller(NamingController)

    @property
    def now(self) -> NamingNow | None:
        """The state of the open naming administration."""
        extension = None if self.desk.work is None else self.desk.work.extension
        return extension if isinstance(extension, NamingNow) else None

    @property
    def page(self) -> NamingPage:
        """The page; mounted when the first naming administration is opened."""
        from tabwb.workbench.naming.page import NamingPage

        return self.desk.query_one(NamingPage)

    @property
    def microphone(self) -> str:
        """The microphone that was chosen, or empty for the system's own."""
        return self.desk.workbench.remembered.microphone

    # ---------------------------------------------------------------- showing

    def show(self) -> None:
        """Open the microphone, show the next picture, or end."""
        desk, work, now = self.desk, self.desk.work, self.now
        if work is None or now is None:
            return
        if now.microphone == "opening" or self.drawing:
            self.page.show_message("one moment")
        elif work.status in {AdministrationStatus.DONE, AdministrationStatus.DISCONTINUED}:
            desk.tell(ResultsWanted(work.administration.id))
        elif now.microphone == "closed":
            if now.left_over:
                desk.do(self.controller.take_in)
            self.opening = True
            desk.workbench.keys.drop()
            desk.do(partial(self.controller.ready, self.microphone))
        elif now.upcoming is None:
            desk.do(desk.sessions.next)
        else:
            self._show_card(now.upcoming)

    def _show_card(self, card: Card) -> None:
        source = self.controller.source
        if source is None:
            return
        self.drawing = True
        self.desk.do(partial(self.controller.expose, card.number))
        self.page.draw(card)
        self.show_to_speaker(card)

        def drawn() -> None:
            # The frame that holds the picture has been written: zero of latency.
            at = source.now_s
            about = DRAWN_S + source.uncertainty_s
            self.desk.do(partial(self.controller.show_picture, card.number, at, about))
            self.drawing = False

        self.desk.call_after_refresh(drawn)

    def speaker(self) -> None:
        """Show the picture alone, or everything again."""
        self.speaker_view = not self.speaker_view
        self.desk.set_class(self.speaker_view, "-speaker")
        now = self.now
        self.show_to_speaker(now.card if now is not None and now.waits else None)

    def show_to_speaker(self, card: Card | None) -> None:
        """Show a picture in the speaker's view, or nothing."""
        from tabwb.workbench.naming.pictures import SpeakerSheet

        for sheet in self.desk.query(SpeakerSheet):
            sheet.show(None if card is None else card.picture)

    # ---------------------------------------------------------------- scoring

    def _score(self, score: Score) -> None:
        self.desk.do(partial(self.controller.score, score))

    def right(self) -> None:
        """Score as right."""
        self._score("right")

    def self_corrected(self) -> None:
        """Score as self-corrected."""
        self._score("self-corrected")

    def wrong(self) -> None:
        """Score as an error."""
        self._score("error")

    def no_response(self) -> None:
        """Score as no response; the page asks of which kind."""
        self.page.ask_kind()

    def unscorable(self) -> None:
        """Say that the response cannot be scored, with a reason."""
        job = partial(self.controller.score, "not-scorable")
        self.desk.ask_words("This response cannot be scored", "Reason", job)

    # ---------------------------------------------------------------- marks and cues

    def cue(self) -> None:
        """Give the next cue."""
        self.desk.do(self.controller.cue)

    def re_prompt(self) -> None:
        """Mark that the question is repeated."""
        self.desk.do(self.controller.re_prompt)

    def attempt(self) -> None:
        """Mark a new attempt."""
        self.desk.do(self.controller.mark_attempt)

    def examiner(self) -> None:
        """Mark that the examiner speaks, or has ended."""
        self.desk.do(self.controller.examiner)

    def listen(self) -> None:
        """Play the response."""
        self.desk.do(self.controller.play)

    # ---------------------------------------------------------------- heard, code

    def heard(self) -> None:
        """Write what was heard."""
        self.page.enter_heard()

    def code(self) -> None:
        """Choose a code."""
        now = self.now
        if now is None:
            return
        from tabwb.workbench.naming.code import CodeScreen

        def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
            if code is not None:
                self.desk.do(partial(self.controller.code, *code))

        target = now.card.target if now.card else ""
        self.desk.app.push_screen(CodeScreen(target, now.code, now.flags), chosen)

    def detail(self) -> None:
        """Show or hide the costs of the alignment."""
        self.page.toggle_costs()

    # ---------------------------------------------------------------- consent, microphone

    def consent(self) -> None:
        """Record what the speaker has agreed to; the words say to what."""
        now = self.now
        if now is None or self.desk.work is None:
            return
        self.desk.ask_words(
            f"{self.desk.work.administration.conditions.person} has agreed today to",
            "Where the signed form is",
            self.controller.keep_consent,
            "\n".join(f"{scope}: {SCOPES[scope]}" for scope in now.lacking),
        )

    def test(self) -> None:
        """Choose a microphone and test it."""
        from tabwb.workbench.naming.microphone import MicrophoneScreen

        def chosen(name: str | None) -> None:
            if name is not None:
                self.desk.workbench.remember(microphone=name)
                self.desk.current.update_page()

        self.desk.app.push_screen(MicrophoneScreen(self.microphone), chosen)

    # ---------------------------------------------------------------- afterwards, by ear

    def keep_recordings(self, message: KeepRecordings) -> None:
        """Keep the interrupted recordings of an administration."""
        self.desk.do(partial(self.controller.keep_interrupted, message.number))

    def playback_wanted(self, message: PlaybackWanted) -> None:
        """Play a stored response, or stop."""
        self.desk.do(partial(self.controller.play_response, message.number, message.trial))

    def listener_input(self, message: ListenerInput) -> None:
        """Score or code a stored response, or write what was heard.

        What the machine makes of it was on the screen, in the list and in the dialog.
        """
        from tabwb.workbench.naming.controller import Listening

        what = message.what
        who = Listening(message.rater, seen=message.rules_seen)
        doing = what if what in {"heard", "code"} else "score"
        at = (message.number, message.trial)
        by_ear = partial(self.controller.by_ear, at, who, doing)
        title = f"Response to {message.target}"
        if what == "rater":
            self._ask_listener(message.number)
        elif what == "heard":
            self.desk.ask_words(title, "Heard", lambda text: by_ear(lambda one: one.hear(text)))
        elif what == "code":
            from tabwb.workbench.naming.code import CodeScreen

            def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
                if code is not None:
                    self.desk.do(lambda: by_ear(lambda one: one.code(*code)))

            dialog = CodeScreen(message.target, message.code, message.flags)
            self.desk.app.push_screen(dialog, chosen)
        elif what == "not-scorable":
            self.desk.ask_words(
                f"{title} cannot be scored",
                "Reason",
                lambda why: by_ear(lambda one: one.score("not-scorable", reason=why)),
            )
        else:
            score = cast("Score", what)
            self.desk.do(lambda: by_ear(lambda one: one.score(score)))

    def _ask_listener(self, number: int) -> None:
        def given(rater: str | None) -> None:
            if rater is not None:
                self.desk.tell(ListenerChanged(number, rater))

        text = "Scores from here on are recorded under this code, until the program ends."
        self.desk.app.push_screen(AskWords(f"Who listens to #{number}?", "Rater code", text), given)

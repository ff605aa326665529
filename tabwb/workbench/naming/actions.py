"""Handles what other pages ask of spoken naming: stored responses are played and scored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from tabwb.workbench.engine.messages import (
    KeepRecordings,
    ListenerChanged,
    ListenerInput,
    PlaybackWanted,
)
from tabwb.workbench.naming.subject import controller
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import AskWords
from tabwb.workbench.shell.page import Actions

if TYPE_CHECKING:
    from tabwb.records.naming import Score


class NamingActions(Actions):
    """Plays, scores and codes stored responses, which other pages show."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(KeepRecordings, self.keep_recordings)
        desk.listen(PlaybackWanted, self.playback_wanted)
        desk.listen(ListenerInput, self.listener_input)

    def keep_recordings(self, message: KeepRecordings) -> None:
        """Keep the interrupted recordings of an administration."""
        self.desk.do(partial(controller(self.desk).keep_interrupted, message.number))

    def playback_wanted(self, message: PlaybackWanted) -> None:
        """Play a stored response, or stop."""
        self.desk.do(partial(controller(self.desk).play_response, message.number, message.trial))

    def listener_input(self, message: ListenerInput) -> None:
        """Score or code a stored response, or write what was heard, by a listener."""
        what = message.what
        by_ear = partial(controller(self.desk).by_ear, message)
        title = f"Response to {message.target}"
        if what == "rater":
            self._ask_listener(message.number)
        elif what == "heard":
            self.desk.ask_words(
                title, "Heard", lambda text: by_ear(lambda spoken: spoken.listening.hear(text))
            )
        elif what == "code":
            from tabwb.workbench.naming.dialogs import CodeScreen

            def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
                if code is not None:
                    self.desk.do(lambda: by_ear(lambda spoken: spoken.listening.code(*code)))

            dialog = CodeScreen(message.target, message.code, message.flags)
            self.desk.app.push_screen(dialog, chosen)
        elif what == "not-scorable":

            def because(reason: str) -> None:
                by_ear(lambda spoken: spoken.score("not-scorable", reason=reason))

            self.desk.ask_words(f"{title} cannot be scored", "Reason", because)
        else:
            self.desk.do(lambda: by_ear(lambda spoken: spoken.score(cast("Score", what))))

    def _ask_listener(self, number: int) -> None:
        def given(rater: str | None) -> None:
            if rater is not None:
                self.desk.tell(ListenerChanged(number, rater))

        text = "From now on scores are recorded under this code, until the program ends."
        self.desk.app.push_screen(AskWords(f"Who listens to #{number}?", "Rater", text), given)

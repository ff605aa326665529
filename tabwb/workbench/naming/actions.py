"""Handles what other pages ask of spoken naming: stored responses are played and scored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from tabwb.workbench.naming.subject import controller
from tabwb.workbench.shell.dialogs import AskWords
from tabwb.workbench.shell.page import Actions

if TYPE_CHECKING:
    from tabwb.records.naming import Score


class NamingActions(Actions):
    """Plays, scores and codes stored responses, which other pages show."""

    def keep_recordings(self, number: int) -> None:
        """Keep the interrupted recordings of an administration."""
        self.desk.do(partial(controller(self.desk).keep_interrupted, number))

    def playback(self, number: int, trial: int) -> None:
        """Play a stored response, or stop."""
        self.desk.do(partial(controller(self.desk).play_response, number, trial))

    def listener_input(
        self,
        number: int,
        trial: int,
        what: str,
        rater: str,
        *,
        target: str,
        code: str = "",
        flags: tuple[str, ...] = (),
        rules_seen: bool = False,
    ) -> None:
        """Score or code a stored response, or write what was heard, by a listener.

        ``what`` is a score, ``heard``, ``code``, ``not-scorable``, or ``rater``: another person
        listens. An empty ``rater`` is the one who gave the administration. ``rules_seen``: the
        person has seen what the rules say of the response.
        """
        title, keep = f"Response to {target}", controller(self.desk).by_ear
        doing = what if what in {"heard", "code"} else "score"
        by_ear = partial(keep, number, trial, doing, rater, rules_seen)
        if what == "rater":
            self._ask_listener(number)
        elif what == "heard":
            self.desk.ask_words(
                title, "Heard", lambda text: by_ear(lambda spoken: spoken.listening.hear(text))
            )
        elif what == "code":
            from tabwb.workbench.naming.dialogs import CodeScreen

            def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
                if code is not None:
                    self.desk.do(lambda: by_ear(lambda spoken: spoken.listening.code(*code)))

            self.desk.app.push_screen(CodeScreen(target, code, flags), chosen)
        elif what == "not-scorable":

            def because(reason: str) -> None:
                by_ear(lambda spoken: spoken.score("not-scorable", reason=reason))

            self.desk.ask_words(f"{title} cannot be scored", "Reason", because)
        else:
            self.desk.do(lambda: by_ear(lambda spoken: spoken.score(cast("Score", what))))

    def _ask_listener(self, number: int) -> None:
        def given(rater: str | None) -> None:
            if rater is not None:
                self.desk.request("results", "listener_changed", number, rater)

        text = "From now on scores are recorded under this code, until the program ends."
        self.desk.app.push_screen(AskWords(f"Who listens to #{number}?", "Rater", text), given)

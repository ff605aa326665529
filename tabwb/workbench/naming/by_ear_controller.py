"""The bench's part that listens again: responses are played, scored and coded afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tabwb.administer.consent import check_listening
from tabwb.administer.naming.strategy import SpokenStrategy
from tabwb.workbench.naming.controller import NamingBench

ByEar = Callable[[SpokenStrategy], object]
"""What a listener has to say of the response that is looked at."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Who listens again.

    Attributes:
        rater: a study ID; empty: who began the administration.
        seen: whether what the machine says stood on the screen.
    """

    rater: str
    seen: bool


class ByEarBench(NamingBench):
    """Commands on the responses of an administration whose results are shown."""

    def by_ear(self, at: tuple[int, int], who: Listening, doing: str, say: ByEar) -> None:
        """Have a listener say something of one response; the results are shown anew.

        Args:
            at: the administration and the number of the trial.
            who: listens.
            doing: what is said: score, heard or code.
            say: says it.

        Raises:
            TabwbError: an item waits for its answer, or this one has none.
        """
        number, trial = at
        with (
            self._session_of(number) as session,
            session.spoken.looking_at(trial, doing, listener=who.rater, seen=who.seen),
        ):
            say(session.spoken)
        self.results(number, again=True)
        self.refresh()

    def play_response(self, number: int, trial: int) -> None:
        """Play one response to who rates it, or stop playing.

        Raises:
            NoConsent: the speaker has not agreed that people rate what was said.
        """
        with self._session_of(number) as session:
            given = session.administration.conditions
            check_listening(session.store, session.plugins, given, session.spoken.rater)
            self._play(session, session.spoken.view(trial))

"""The bench's part that listens again: responses are played, scored and coded afterwards."""

from __future__ import annotations

from collections.abc import Callable

from tabwb.administer.consent import check_listening
from tabwb.administer.naming import NamingSession
from tabwb.records.errors import TabwbError
from tabwb.workbench.naming_bench import NamingBench

ByEar = Callable[[NamingSession], object]
"""What a listener has to say of the response that is looked at."""


class ByEarBench(NamingBench):
    """Commands on the responses of an administration whose results are shown."""

    def by_ear(self, number: int, trial: int, say: ByEar) -> None:
        """Have a listener say something of one response; the results are shown anew.

        Raises:
            TabwbError: an item waits for its answer, or this one has none.
        """
        with self._session_of(number) as session:
            if not isinstance(session, NamingSession):
                raise TabwbError("this administration is not spoken naming")
            session.look_at(trial)
            say(session)
        self.results(number, again=True)
        self.refresh()

    def play_response(self, number: int, trial: int) -> None:
        """Play one response to who rates it, or stop playing.

        Raises:
            NoConsent: the speaker has not agreed that people rate what was said.
        """
        with self._session_of(number) as session:
            if not isinstance(session, NamingSession):
                raise TabwbError("this administration is not spoken naming")
            given = session.administration.conditions
            check_listening(session.store, session.plugins, given, session.rater)
            self._play(session, session.view(trial))

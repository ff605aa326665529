"""Plays stored responses, one at a time: what is playing, where in its recording, stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.records.speakers import LogEntry
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.workbench.engine.messages import Playing

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.speech.playback import Playback
    from tabwb.tasks.spoken_naming.views import NamingView


class Player:
    """Plays one response at a time."""

    def __init__(self, say: Callable[[object], object]) -> None:
        self._say = say
        self._playback: Playback | None = None

    def stop(self) -> bool:
        """Stop; return whether something was playing."""
        playback, self._playback = self._playback, None
        if playback is None:
            return False
        was_playing = playback.playing
        playback.stop()
        return was_playing

    def turn(self, session: Session, view: NamingView | None) -> None:
        """Play the recording of a response and log it, or stop what is playing."""
        if self.stop():
            return
        from tabwb.speech.playback import Playback

        take = None if view is None else view.take
        if view is None or take is None:
            raise TabwbError("nothing was recorded for this item")
        path = spoken_in(session).recordings.file(take.recording)
        playback = self._playback = Playback(path, take.start_s, take.end_s)
        playback.start()
        given = session.administration
        at = partial(_position, playback, take.start_s)
        self._say(Playing(given.id, view.trial.plan.number, at))
        who, item = given.conditions.examinee, view.trial.plan.item
        session.store.people.log(LogEntry("heard", who, given.id, f"item {item}"))


def _position(playback: Playback, start_s: float) -> float | None:
    """Return the second of the recording that is heard now; None where nothing is played."""
    played_s = playback.played_s
    return None if played_s is None else start_s + played_s

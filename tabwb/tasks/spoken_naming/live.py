"""A naming session with a running microphone: every command gets the second at which it was given.

One recording runs from *ready* to *end*; items are marks in it, so that a wrong key never loses
speech. Its file grows on disk; it is kept in the store when it has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tabwb.administer import consent
from tabwb.administer.session.session import Events, Session
from tabwb.records.errors import TabwbError
from tabwb.records.naming import (
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    Score,
    Take,
    observation_of_json,
)
from tabwb.records.specs import uuid7
from tabwb.speech import files
from tabwb.speech.finding import quality
from tabwb.speech.level import Level, key_presses, onset
from tabwb.store import takes
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import with_onset

if TYPE_CHECKING:
    from tabwb.speech.recorder import Recording

LEAST_S = 0.02
"""A window shorter than this holds no response."""


class Source(Protocol):
    """What a session listens to: a microphone, or a file that plays as one would."""

    device: str
    rate: int

    def start(self) -> None:
        """Begin; return when sound arrives."""

    @property
    def now_s(self) -> float:
        """Seconds recorded so far."""

    @property
    def uncertainty_s(self) -> float:
        """How far ``now_s`` may be off, seconds."""

    @property
    def level(self) -> Level:
        """The latest level."""

    @property
    def alarm(self) -> str | None:
        """What is wrong with the sound at this moment, or None."""

    def stop(self) -> Recording:
        """End; the file is whole when this returns."""


OpenSource = Callable[[Path], Source]
"""Makes a source that records into this file."""


class Live:
    """One recording of a naming session, from ready to end. Owned by the session's thread.

    Attributes:
        recording: uid of the recording.
        path: of the file while it grows.
    """

    def __init__(self, session: Session, open_source: OpenSource) -> None:
        self.session = session
        self.recording = uuid7()
        self.path = takes.path_of(session.store, session.administration.uid, self.recording)
        self.source = open_source(self.path)
        self._keys: list[float] = []
        self._examiner_from: float | None = None

    def ready(self) -> Events:
        """Open the microphone; returns when sound arrives."""
        session = self.session
        consent.check(session.store, session.administration.conditions.examinee, "record")
        self.source.start()
        began = RecordingBegan(self.recording, self.path.name, self.source.device, self.source.rate)
        try:
            made = spoken_in(session).keep(None, began)
        except BaseException:  # else this recording would stay unknown and never end
            self.source.stop()
            self.path.unlink(missing_ok=True)
            raise
        spoken_in(session).recordings.growing[self.recording] = self.path
        return made

    def show(self, uncertainty_s: float | None = None, *, at_s: float | None = None) -> Events:
        """Record that the next picture is drawn."""
        drawn = self.source.now_s if at_s is None else at_s
        self._keys = [drawn]  # a key showed it
        self._examiner_from = None
        return spoken_in(self.session).show(PictureShown(self.recording, drawn, uncertainty_s))

    def cue(self) -> Events:
        """Give the next cue."""
        return spoken_in(self.session).cue(self._pressed())

    def re_prompt(self) -> Events:
        """Ask again."""
        return spoken_in(self.session).re_prompt(self._pressed())

    def mark(self) -> Events:
        """Mark a new attempt."""
        return spoken_in(self.session).mark(self._pressed())

    def examiner(self) -> Events:
        """Mark that the administrator begins to speak or, the second time, has ended."""
        now = self._pressed()
        if self._examiner_from is None:
            self._examiner_from = now
            return ()
        start, self._examiner_from = self._examiner_from, None
        if now <= start:  # pressed twice within one block of sound: nothing was said
            return ()
        return spoken_in(self.session).examiner(start, now)

    @property
    def examiner_speaks(self) -> bool:
        """Whether the administrator is marked as speaking."""
        return self._examiner_from is not None

    def score(self, score: Score, reason: str = "") -> Events:
        """Store a person's score; closes the response window where it is open.

        A description is not scored: ``right`` only ends its response.
        """
        trial = self.session.current
        if trial is not None and score == "right" and not spoken_in(self.session).is_coded(trial):
            return self.finish()
        spoke = self.examiner() if self.examiner_speaks else ()
        now = self._pressed()
        take = self._take(now) if self.session.awaiting else None
        return (*spoke, *spoken_in(self.session).score(score, take=take, reason=reason))

    def finish(self) -> Events:
        """End the response of an item that is not scored."""
        spoke = self.examiner() if self.examiner_speaks else ()
        return (*spoke, *spoken_in(self.session).finish(self._take(self._pressed())))

    def end(self) -> Events:
        """Close the microphone and keep the recording."""
        spoken_in(self.session).recordings.growing.pop(self.recording, None)
        made = self.source.stop()
        return _keep(self.session, self.recording, made, "; ".join(made.remarks))

    def _pressed(self) -> float:
        now = self.source.now_s
        self._keys.append(now)
        return now

    def _take(self, now: float) -> Take | None:
        view = spoken_in(self.session).view()
        if view is None or (shown := view.shown) is None or shown.at_s is None:
            return None
        asked = view.re_prompted if view.rules.response_rule == "first-response" else None
        end = now if asked is None or asked.at_s is None else asked.at_s
        if end - shown.at_s < LEAST_S:
            return Take(self.recording, shown.at_s, shown.at_s + LEAST_S, shown.at_s)
        samples, rate = files.read_clip(self.path, shown.at_s, end)
        spoke = [*view.examiner, *key_presses(self._keys)]
        ignored = [(start - shown.at_s, stop - shown.at_s) for start, stop in spoke]
        remarks = "; ".join(quality(samples, rate).remarks)
        take = Take(self.recording, shown.at_s, end, shown.at_s, remarks=remarks)
        return with_onset(take, onset(samples, rate, ignore=ignored), shown.uncertainty_s or 0.0)


def _keep(session: Session, recording: str, made: Recording, remarks: str) -> Events:
    sha256 = spoken_in(session).recordings.keep(recording, made.path)
    ended = spoken_in(session).keep(None, RecordingEnded(recording, sha256, made.seconds, remarks))
    made.path.unlink(missing_ok=True)
    return ended


def left_over(session: Session) -> tuple[tuple[str, Path], ...]:
    """Return the recordings of this administration that were interrupted: (uid, file)."""
    observations = [observation_of_json(text) for text in session.history.observations]
    ended = {seen.recording for seen in observations if isinstance(seen, RecordingEnded)}
    folder = takes.folder_of(session.store)
    return tuple(
        (began.recording, folder / began.file)
        for began in observations
        if isinstance(began, RecordingBegan)
        and began.recording not in ended
        and (folder / began.file).is_file()
    )


def adopt_recording(session: Session, recording: str, path: Path) -> Events:
    """Store a recording that was interrupted, with everything recorded until then."""
    from tabwb.speech.recorder import adopt

    whole = adopt(path)
    if whole.frames == 0:
        path.unlink()
        raise TabwbError("nothing was recorded; the empty file is removed", where=str(path))
    return _keep(session, recording, whole, "interrupted")

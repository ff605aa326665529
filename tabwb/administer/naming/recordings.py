"""The recordings of an administration in which somebody speaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.records.errors import StoreError
from tabwb.records.speakers import KeptRecording

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session


class Recordings:
    """Stores sound files of a session and finds them; see :attr:`SpokenStrategy.recordings`.

    Attributes:
        growing: files of recordings that are being made, by uid.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.growing: dict[str, Path] = {}

    def keep(self, uid: str, path: Path) -> str:
        """Store a whole sound file as it is, and return the SHA-256 of its bytes."""
        from tabwb.speech.files import info  # numpy, which is not loaded before there is a take

        sound, given = info(path), self.session.administration
        kept = KeptRecording(uid, sound.seconds, sound.rate, sound.channels)
        people = self.session.store.people
        return people.keep_recording(given.id, kept, path, who=given.conditions.rater)

    def file(self, uid: str) -> Path:
        """Return the file of a recording that is stored or being made."""
        if uid in self.growing:
            return self.growing[uid]
        people = self.session.store.people
        for kept in people.recordings(self.session.administration.id):
            if kept.uid == uid:
                return people.recording_path(kept.sha256)
        raise StoreError(f"recording {uid} is not kept yet", hint="end the recording first")

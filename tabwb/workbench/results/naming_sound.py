"""Picture and sound of a stored response, read in the worker's thread, and its corrections."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.workbench.shell.pictures import Pixels, read_picture
from tabwb.workbench.shell.sound import Envelope, Sound, envelope_of, sound_of, stretch_around

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.store.store import Store
    from tabwb.tasks.spoken_naming.scores import Naming

KEPT = 256
"""So many envelopes are kept in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class SoundReady:
    """Picture and sound of one response.

    Attributes:
        number: of the administration.
        trial: number of the trial.
        pixels: of the picture, or None.
        sound: as the waveform shows it, or None.
        trouble: why there is no picture or no sound, or empty.
    """

    number: int
    trial: int
    pixels: Pixels | None
    sound: Sound | None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """A new onset, or new limits, of a stored response: seconds of the recording.

    Attributes:
        number: of the administration.
        trial: number of the trial.
        rater: the ID of the person; empty: the one who gave the administration.
        onset_s: where speech begins, or None.
        limits: from where to where the response lies, or None.
    """

    number: int
    trial: int
    rater: str
    onset_s: float | None = None
    limits: tuple[float, float] | None = None

    def apply(self, session: Session) -> None:
        """Store it; ratings by rule follow."""
        spoken = spoken_in(session)
        what = "onset" if self.limits is None else "attempt"
        with spoken.listening.to(self.trial, what, listener=self.rater):
            if self.limits is not None:
                spoken.listening.set_limits(*self.limits, reason="")
            elif self.onset_s is not None:
                spoken.listening.set_onset(self.onset_s, reason="")


class SoundReader:
    """Reads pictures and recordings; keeps what it has read. Owned by the worker's thread."""

    def __init__(self) -> None:
        self._assets: tuple[str, Mapping[str, bytes]] = ("", {})
        self._envelopes: OrderedDict[tuple[str, float, float], Envelope] = OrderedDict()

    def read(
        self, store: Store, number: int, battery: str, naming: Naming, *, hidden: bool
    ) -> SoundReady:
        """Return picture and sound of a response."""
        pixels, sound, troubles = None, None, []
        try:
            pixels = self._picture(store, battery, naming.view.item.picture)
        except TabwbError as error:
            troubles.append(str(error))
        try:
            sound = self._sound(store, number, naming, hidden=hidden)
        except TabwbError as error:
            troubles.append(error.message)
        trial = naming.view.trial.plan.number
        return SoundReady(number, trial, pixels, sound, "; ".join(troubles))

    def _picture(self, store: Store, battery: str, name: str) -> Pixels | None:
        if not name:
            return None
        if self._assets[0] != battery:
            self._assets = (battery, store.battery_assets(battery))
        data = self._assets[1].get(name)
        if data is None:
            raise TabwbError(f"the battery holds no picture {name}")
        return read_picture(data, name)

    def _sound(self, store: Store, number: int, naming: Naming, *, hidden: bool) -> Sound | None:
        take = naming.view.take
        if take is None:
            return None
        kept = next(
            (one for one in store.people.recordings(number) if one.uid == take.recording), None
        )
        if kept is None:
            raise TabwbError("the recording is not kept yet")
        stretch = stretch_around(take, kept.seconds)
        key = (kept.sha256, *stretch)
        if key not in self._envelopes:
            path = store.people.recording_path(kept.sha256)
            self._envelopes[key] = envelope_of(path, *stretch)
            if len(self._envelopes) > KEPT:
                self._envelopes.popitem(last=False)
        return sound_of(naming, self._envelopes[key], revealed=not hidden)

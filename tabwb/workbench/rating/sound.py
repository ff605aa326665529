"""Plays what was said in a sample, at its speed or slowly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from tabwb.records.files import WorkFolder

if TYPE_CHECKING:
    from tabwb.speech.playback import Playback

SLOW = 0.75
"""The speed of slow playback."""
Cut = tuple[Path, float, float]
"""A file, and the start and end of the stretch in seconds."""


class SampleSound:
    """Plays one stretch at a time; a further request stops it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder: WorkFolder | None = None
        self._playing: Playback | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Stop, and remove the copies."""
        self.stop()
        if self._folder is not None:
            self._folder.close()

    def play(self, cut: Cut | None, *, slow: bool) -> str:
        """Play a stretch, or stop what is heard; return what is done, in words."""
        if self.stop():
            return "stopped"
        if cut is None:
            return "there is no recording to play"
        from tabwb.speech.playback import Playback

        self._playing = Playback(self._slow_copy(cut)) if slow else Playback(*cut)
        self._playing.start()
        seconds = f"{self._playing.seconds:.1f} s"
        return f"playing {seconds} at {SLOW:g} of the speed" if slow else f"playing {seconds}"

    def stop(self) -> bool:
        """Stop; return whether something was heard."""
        playing, self._playing = self._playing, None
        if playing is None or not playing.playing:
            return False
        playing.stop()
        return True

    def _slow_copy(self, cut: Cut) -> Path:
        from tabwb.speech.condition import slowed
        from tabwb.speech.files import read_clip, write_wav

        if self._folder is None:
            self._folder = WorkFolder(self._root)
        path = self._folder.path / "slow.wav"
        samples, rate = read_clip(*cut)
        write_wav(path, slowed(samples, rate, SLOW), rate)
        return path

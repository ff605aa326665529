"""What a rater sees of a sample, and says of it; nothing in it tells the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tabwb.battery.forms import Form
from tabwb.records.rating_sets import Answer, Sample
from tabwb.store.store import Store

Phase = Literal["rate", "feedback", "over"]
"""A sample is rated; the right answers to a calibration sample are shown; nothing is open."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rater says of one sample: answers by key, confidence (0 to 3) and a note."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    confidence: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rater has to confirm before a sample is complete.

    Attributes:
        draft: all that the rater says of the sample.
        unmarked: features that were not looked at, and would be absent.
        untouched: no question is answered.
        fast: it took less than the form's minimum.
        again: the second call came too soon after the first one to be a confirmation.
    """

    draft: Draft
    unmarked: tuple[str, ...]
    untouched: bool
    fast: bool
    again: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What a rater may see and hear of a sample; nothing in it tells the source.

    Attributes:
        text, prompt, context_before, context_after, target: empty where the form does not show
            them.
        calibration: the right answers are shown afterwards.
        seconds: of the recording, or None without one.
    """

    text: str
    prompt: str
    context_before: str
    context_after: str
    target: str
    calibration: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Place of the sample in the rater's order (from 1; 0 when over), and how many there are.

    ``withheld`` samples are not shown, because the speaker does not agree to rating.
    """

    place: int
    planned: int
    done: int
    withheld: int = 0


def shown_of(sample: Sample, form: Form, *, calibration: bool) -> Shown:
    """Return what a form shows of a sample."""
    parts = set(form.shows)
    audio = sample.audio if "audio" in parts else None
    return Shown(
        text=sample.text if "text" in parts else "",
        prompt=sample.prompt if "prompt" in parts else "",
        context_before=sample.context_before if "text" in parts else "",
        context_after=sample.context_after if "text" in parts else "",
        target=sample.target if "target" in parts else "",
        calibration=calibration,
        seconds=None if audio is None else audio.end_s - audio.start_s,
    )


class Media:
    """The pictures and recordings that a form shows."""

    def __init__(self, store: Store, form: Form) -> None:
        self._store, self._shows = store, frozenset(form.shows)
        self._pictures: dict[str, Mapping[str, bytes]] = {}

    def picture(self, sample: Sample) -> bytes | None:
        """Return the picture of a sample, or None where there is none to show."""
        if sample.picture is None or "picture" not in self._shows:
            return None
        battery = self._store.administration(sample.administration).battery_hash
        if battery not in self._pictures:
            self._pictures[battery] = self._store.battery_assets(battery)
        return self._pictures[battery].get(sample.picture)

    def audio(self, sample: Sample) -> tuple[Path, float, float] | None:
        """Return the file of a sample, with start and end in seconds; None without a recording."""
        if sample.audio is None or "audio" not in self._shows:
            return None
        path = self._store.people.recording_path(sample.audio.sha256)
        return path, sample.audio.start_s, sample.audio.end_s

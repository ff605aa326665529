"""Messages from the reading thread to the screen; ``turn`` counts what the reader was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.report.summaries.difference import Difference
    from tabwb.report.summaries.disagreements import Disagreements
    from tabwb.report.summaries.groups import Grouped
    from tabwb.report.summaries.pairs import Pair
    from tabwb.report.summaries.robustness import Robustness


@dataclass(frozen=True, slots=True)
class SurveyGrown:
    """One more model has been read; at the beginning ``row`` is None."""

    turn: int
    row: Grouped | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Compared:
    """Two models were compared."""

    turn: int
    found: Difference
    battery: Battery


@dataclass(frozen=True, slots=True)
class Differing:
    """The responses on which judges differ were found."""

    turn: int
    found: Disagreements
    battery: Battery
    label: str


@dataclass(frozen=True, slots=True)
class Paired:
    """Base and instruct models were compared."""

    turn: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Contrasted:
    """Judges were compared with each other."""

    turn: int
    found: Robustness
    battery: Battery
    label: str

"""What the laboratory tells the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.lesion.declared import Part
from tabwb.records.trials import PlannedTrial

if TYPE_CHECKING:
    from tabwb.workbench.lesions.laboratory import Pair


@dataclass(frozen=True, slots=True)
class LaboratoryState:
    """The model of the laboratory.

    Attributes:
        phase: ``loading``, ``ready``, ``asking``, ``closed`` or ``refused``.
        words: what is done, or why it was refused.
        lesion: under which the model answers now; empty: intact.
        parts: what can be lesioned; empty: no model is loaded.
        parameters: how many the model has.
    """

    phase: str
    model: str = ""
    words: str = ""
    lesion: str = ""
    parts: Sequence[Part] = ()
    parameters: int = 0


@dataclass(frozen=True, slots=True)
class ItemsKnown:
    """The items of a battery; ``problem`` says why there are none."""

    battery: str
    items: Sequence[PlannedTrial] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PairsGiven:
    """Answers of the intact and the lesioned model, as they come."""

    pairs: Sequence[Pair]

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, PairsGiven)


@dataclass(frozen=True, slots=True)
class CurvesWanted:
    """Curves and maps of lesions are to be shown.

    Attributes:
        numbers: of the administrations; empty: all.
        where: filters that they must match, as ``tabwb results --where`` takes them.
        judge: whose verdicts are shown; empty: every judge's.
        words: what is shown, in words.
        back: id of the page to which *Back* returns.
    """

    numbers: tuple[int, ...] = ()
    where: tuple[str, ...] = ()
    judge: str = ""
    words: str = ""
    back: str = "home"

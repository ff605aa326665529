"""One condition of a sweep."""

from __future__ import annotations

from typing import Literal

from tabwb.records.classes import dataclass
from tabwb.records.conditions import Conditions

Role = Literal["intact", "lesion", "control", "layer control", "perturbation"]


@dataclass(frozen=True, slots=True)
class Point:
    """One condition of a sweep: those of the whole sweep with some of them replaced.

    Attributes:
        role: the model as it is, a lesion of the grid, a control of either kind, or another
            perturbation without a lesion.
        conditions: of its administration; resolved, so that two points are one if these are equal.
        matches: of a control, the first lesion whose number of parameters it has; else empty.
        setting: what is replaced besides the lesion, in words; empty: nothing.
    """

    role: Role
    conditions: Conditions
    matches: str = ""
    setting: str = ""

    @property
    def lesion(self) -> str:
        """The spec of its lesion; empty of an intact model."""
        return self.conditions.lesion or ""

    @property
    def model(self) -> str:
        """The spec of its model."""
        return self.conditions.examinee

    @property
    def name(self) -> str:
        """The condition in words.

        >>> Point("intact", Conditions("bundled", "model")).name
        'intact'
        >>> lesioned = Conditions("bundled", "model", lesion="mlp:zero:0.1")
        >>> Point("lesion", lesioned, setting="temperature 0.7").name
        'mlp:zero:0.1, temperature 0.7'
        """
        return ", ".join(filter(None, (self.lesion, self.setting))) or "intact"

"""The axis of amounts: its scale and its ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

from tabwb.media.figures.kind import Options
from tabwb.media.figures.lettering import text_width
from tabwb.media.figures.style import SMALL
from tabwb.records.errors import UsageError
from tabwb.report.summaries.doses import PARAMETERS, amount_words, name_of_amounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Scale:
    """The places of amounts on an axis, which is linear or logarithmic.

    Attributes:
        by: what the amounts are of.
        name: of the amounts, in words.
        log: whether the axis is logarithmic, base 10.
    """

    by: str
    name: str
    log: bool

    @classmethod
    def of(cls, options: Options, amounts: Sequence[float]) -> Scale:
        """Return the scale that options ask for."""
        by = options["x"]
        log = options["scale"] == "log" or (by == PARAMETERS and options["scale"] != "linear")
        if log and min(amounts, default=1.0) <= 0:
            raise UsageError(
                f"{min(amounts):g} cannot be shown on a logarithmic axis",
                hint="--option scale=linear",
            )
        return cls(by, name_of_amounts(by, options["amount"]), log)

    def place(self, amount: float) -> float:
        """Return the place of an amount on a ruler along the axis."""
        return log10(amount) if self.log else amount

    def value(self, place: float) -> float:
        """Return the value of the axis at a place of the ruler."""
        return float(10**place) if self.log else place


def put_ticks(axes: Axes, amounts: Sequence[float], scale: Scale, width: float) -> None:
    """Put ticks at the amounts, as many as have room."""
    places = [scale.place(amount) for amount in amounts]
    span = places[-1] - places[0]
    words = [amount_words(scale.by, amount) for amount in amounts]
    least = span * 1.12 * (max(text_width(each, SMALL) for each in words) + 0.06) / width
    shown: list[int] = []
    for at, place in enumerate(places):
        if not shown or place - places[shown[-1]] >= least:
            shown.append(at)
    axes.set_xticks([amounts[at] for at in shown], [words[at] for at in shown])
    axes.minorticks_off()

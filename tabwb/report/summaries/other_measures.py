"""What judges without features measure of the responses: surprisal, perplexity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from tabwb.report.summaries.counted import Counted, Source
from tabwb.report.summaries.subtests import Measured


@dataclass(frozen=True, slots=True)
class OtherMeasures:
    """The measures of one rater that declared no features.

    Attributes:
        rater: as it stands in the ratings.
        measures: by name, over the usable responses that the rater has rated.
    """

    rater: str
    measures: Mapping[str, Measured]


def other_measures(sources: Sequence[Source], rows: Sequence[Counted]) -> tuple[OtherMeasures, ...]:
    """Means of what raters measured that declared themselves judges without features."""
    values: dict[str, dict[str, list[float | None]]] = {}
    for row in rows:
        if not row.usable:
            continue
        counted: set[str] = set()
        for one in (row, *row.twins):
            declarations = sources[one.source].declarations
            found = [rating for rating in one.trial.ratings if rating.rater not in counted]
            for rating in found:
                said = declarations.get(rating.rater)
                if said is not None and said.kind == "judge" and not said.features:
                    given = values.setdefault(rating.rater, {})
                    given.setdefault(rating.measure, []).append(rating.value)
            counted.update(rating.rater for rating in found)
    return tuple(
        OtherMeasures(rater, {name: _measured(given) for name, given in measures.items()})
        for rater, measures in values.items()
    )


def _measured(given: Sequence[float | None]) -> Measured:
    found = [value for value in given if value is not None]
    return Measured(
        n=len(found),
        total=fsum(found),
        nonzero=sum(value != 0 for value in found),
        undefined=len(given) - len(found),
    )

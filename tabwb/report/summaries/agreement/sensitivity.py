"""The same agreement under other rules for ties and "cannot tell", and without flagged ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from tabwb.agreement.compare import OverFeatures
from tabwb.agreement.consensus import Ties
from tabwb.agreement.verdicts import CANNOT_TELL
from tabwb.report.summaries.agreement.compared import (
    CannotTell,
    Choices,
    main_pairs,
    task_of,
    with_consensus,
)
from tabwb.report.summaries.agreement.rated import Rated

WEIGHTED = "positive_count_weighted"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The positive-count-weighted kappa under one choice of rules.

    Attributes:
        ties, cannot_tell: the choice; ``chosen``: whether everything else is computed with it.
        tied: whether the line is about ties; the other one is about "cannot tell".
        positives: verdicts of the consensus that say present, over all features.
        raters: of the main raters with each other.
        judges: name to the value of the judge with the consensus.
        reason: why there is nothing; else empty.
        unflagged: whether doubtful ratings are left out.
    """

    ties: Ties
    cannot_tell: CannotTell
    chosen: bool
    tied: bool
    positives: int
    raters: OverFeatures | None
    judges: dict[str, OverFeatures]
    reason: str = ""
    unflagged: bool = False


def sensitivity(rated: Rated, choices: Choices) -> tuple[Sensitivity, ...]:
    """Return a line for each rule for ties, and one for the other meaning of "cannot tell".

    Where ratings are flagged as doubtful, a last line is computed without them.
    """
    other: CannotTell = "missing" if choices.cannot_tell == "absent" else "absent"
    wanted: list[tuple[Ties, CannotTell]] = [(rule, choices.cannot_tell) for rule in get_args(Ties)]
    wanted.append((choices.ties, other))
    lines = [_line(rated, choices, *rules) for rules in wanted]
    if rated.flagged is not None and rated.flagged.any():
        line = _line(rated.unflagged(), choices, choices.ties, choices.cannot_tell)
        lines.append(replace(line, chosen=False, tied=False, unflagged=True))
    return tuple(lines)


def _line(rated: Rated, choices: Choices, ties: Ties, cannot_tell: CannotTell) -> Sensitivity:
    tied = cannot_tell == choices.cannot_tell
    chosen = tied and ties == choices.ties
    reason = ""
    if ties == "adjudicated" and rated.adjudicated is None:
        reason = "nothing is adjudicated"
    elif not tied and not (rated.verdicts == CANNOT_TELL).any():
        reason = 'nobody said "cannot tell"'
    if reason:
        return Sensitivity(ties, cannot_tell, chosen, tied, 0, None, {}, reason)
    task = task_of(rated, replace(choices, ties=ties, cannot_tell=cannot_tell, draws=0))
    pairs = main_pairs(task)
    judges: dict[str, OverFeatures] = {}
    for place in _judges(rated, task.main):
        among = with_consensus(task, place)
        if among is not None:
            judges[task.raters[place]] = among.found.over_features[WEIGHTED, "kappa"]
    return Sensitivity(
        ties,
        cannot_tell,
        chosen,
        tied,
        int((task.consensus == 1).sum()),
        None if pairs is None else pairs.found.over_features[WEIGHTED, "kappa"],
        judges,
    )


def _judges(rated: Rated, main: Sequence[int]) -> list[int]:
    return [at for at in rated.places(rated.judges) if at not in main]

"""A few responses of each group with what raters gave to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.records.ratings import Rating
from tabwb.records.states import RatingStatus
from tabwb.records.trials import Trial
from tabwb.report.documents.studied import Studied
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData
from tabwb.scoring.choice import POLICIES


@dataclass(frozen=True, slots=True)
class Example:
    """One response.

    Attributes:
        status: under which it counts.
        verdicts: a line for each rater.
    """

    group: str
    subtest: str
    item: str
    prompt: str
    response: str
    status: str
    verdicts: tuple[str, ...]


def examples_of(
    about: Studied, loaded: Sequence[AdministrationData], n: int
) -> tuple[Example, ...]:
    """Return the first responses of each group: connected text first, one to each item.

    Args:
        about: the groups.
        loaded: administrations with their trials, at least the first one of each group.
        n: how many of each group.
    """
    trials = {data.administration.id: data for data in loaded}
    return tuple(example for row in about.rows for example in _of_group(about, row, trials, n))


def first_members(about: Studied) -> tuple[int, ...]:
    """Return the numbers of the administrations from which examples are taken."""
    return tuple(dict.fromkeys(row.group.members[0].administration.id for row in about.rows))


def _of_group(
    about: Studied, row: Grouped, trials: dict[int, AdministrationData], n: int
) -> Iterator[Example]:
    member = row.group.members[0]
    data = trials[member.administration.id]
    battery = data.battery
    statuses = effective_statuses(battery, data.trials)
    seen: set[tuple[str, str]] = set()
    given = []
    for trial, status in zip(data.trials, statuses, strict=True):
        place = trial.plan.subtest, trial.plan.item
        part = member.part
        if trial.is_answered and place not in seen and (part is None or part.has(trial.plan)):
            seen.add(place)
            given.append((trial, status))
    given.sort(key=lambda found: not battery.subtest(found[0].plan.subtest).task.connected)
    for trial, status in given[:n]:
        subtest = battery.subtest(trial.plan.subtest)
        attempt = trial.counting
        assert attempt is not None
        yield Example(
            about.title(row),
            subtest.title,
            trial.plan.item,
            trial.plan.prompt,
            attempt.response,
            "" if status is None else status.value,
            tuple(_verdicts(trial, subtest.scorers)),
        )


def _verdicts(trial: Trial, scorers: Sequence[str]) -> Iterator[str]:
    by_rater: dict[str, list[Rating]] = {}
    for rating in trial.ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    for rater, ratings in by_rater.items():
        name = without_folders(rater)
        if rater in scorers:
            said = [_verdict(rating) for rating in ratings if rating.measure in POLICIES]
        else:
            present = [_reasoned(rating) for rating in ratings if rating.value == 1.0]
            missing = sum(rating.status is not RatingStatus.VALUE for rating in ratings)
            said = [f"present: {'; '.join(present)}" if present else "no feature present"]
            if missing:
                said.append(f"{missing} without a value")
        if said:
            yield f"{name}: {', '.join(said)}"


def _verdict(rating: Rating) -> str:
    if rating.value is None:
        return f"{rating.measure} {rating.status.value}"
    return f"{rating.measure} {'right' if rating.value == 1.0 else 'wrong'}"


def _reasoned(rating: Rating) -> str:
    return f"{rating.measure} ({rating.reason})" if rating.reason else rating.measure

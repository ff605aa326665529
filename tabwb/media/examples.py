"""A few responses of each group with what raters gave to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.media.studied import Studied
from tabwb.records.ratings import Declaration, Rating, verdicts_of
from tabwb.records.states import RatingStatus
from tabwb.records.trials import Trial
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData

TrialsOf = Callable[[int], Iterable[Trial]]
"""Returns the trials of an administration, by its number."""


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


def examples_of(about: Studied, trials_of: TrialsOf, n: int) -> tuple[Example, ...]:
    """Return the first responses of each group: connected text first, one to each item."""
    return tuple(example for row in about.rows for example in _of_group(about, row, trials_of, n))


def _of_group(about: Studied, row: Grouped, trials_of: TrialsOf, n: int) -> Iterator[Example]:
    member = row.group.members[0]
    subtests = sorted(member.battery.subtests, key=lambda subtest: not subtest.task.connected)
    places = [(subtest.id, item.id) for subtest in subtests for item in subtest.items]
    found: dict[tuple[str, str], Trial] = {}
    for trial in trials_of(member.administration.id):
        part = member.part
        if trial.is_answered and (part is None or part.has(trial.plan)):
            found.setdefault((trial.plan.subtest, trial.plan.item), trial)
        if all(place in found for place in places[:n]):
            break
    for place in [place for place in places if place in found][:n]:
        trial = found[place]
        subtest = member.battery.subtest(trial.plan.subtest)
        attempt = trial.counting
        assert attempt is not None
        yield Example(
            about.title(row),
            subtest.title,
            trial.plan.item,
            trial.plan.prompt,
            attempt.response,
            _status(member, trial),
            tuple(_verdicts(trial, subtest.scorers, member.declarations)),
        )


def _status(member: AdministrationData, trial: Trial) -> str:
    """Return the status under which a response counts; of one that is named aloud, as stored."""
    stored = trial.counting.status if trial.counting else None
    if member.columns is not None:
        from tabwb.store.column_rows import STATUSES

        prepared, place = member.columns
        columns = prepared.columns
        rows = slice(int(columns.starts[place]), int(columns.starts[place + 1]))
        numbers = columns.trials[rows].tolist()
        if trial.plan.number in numbers:
            code = int(prepared.statuses[rows][numbers.index(trial.plan.number)])
            return STATUSES[code].value if code >= 0 else ""
    statuses = effective_statuses(member.battery, member.trials)
    own = {one.plan.number: status for one, status in zip(member.trials, statuses, strict=True)}
    status = own.get(trial.plan.number, stored)
    return "" if status is None else status.value


def _verdicts(
    trial: Trial, scorers: Sequence[str], declared: Mapping[str, Declaration]
) -> Iterator[str]:
    decisive = list(verdicts_of(trial.ratings, scorers, declared).values())
    by_rater: dict[str, list[Rating]] = {}
    for rating in trial.ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    for rater, ratings in by_rater.items():
        name = without_folders(rater)
        if rater in scorers:
            said = [_verdict(rating) for rating in ratings if rating in decisive]
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

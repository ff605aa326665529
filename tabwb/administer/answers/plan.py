"""From matched answers to administrations: conditions, trials, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabwb.administer.answers.matching import ItemIndex, Match, Unmatched, options_shown
from tabwb.administer.session.plan import given_items
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.problems import Problem
from tabwb.battery.prompts import render_prompt
from tabwb.plugin_api.components import AnswerFile, AnswerProblems
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural

MOST_TRIALS = 1_000_000
"""The largest plan of one administration."""
Key = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A trial, and the answer to it; None where the source has none."""

    trial: PlannedTrial
    answer: RecordedAnswer | None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One administration that is to be stored.

    Attributes:
        run: what its answers have in common.
        planned: every trial in the order of the battery.
        replicates: how many there are.
        option_order: as the conditions of an administration have it.
        matched: how items were found, to number of answers.
        missing: items without any answer, as ``subtest/item``.
        gaps: numbers of further presentations without an answer.
        repeated: second answers to one item and replicate, which were left out.
        drawn: whether answers to equal requests differ, so that something was drawn.
    """

    run: RecordedRun
    planned: tuple[PlannedAnswer, ...]
    replicates: int
    option_order: str
    matched: Mapping[str, int]
    missing: tuple[str, ...] = ()
    gaps: int = 0
    repeated: tuple[str, ...] = ()
    drawn: bool = False

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(each.answer is not None for each in self.planned)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What the import of a file would store.

    Attributes:
        source: what was read.
        runs: the administrations.
        unmatched: answers to no item of the battery.
    """

    source: AnswerFile
    runs: tuple[PlannedRun, ...]
    unmatched: tuple[Unmatched, ...] = field(default_factory=tuple)


def plan_import(
    source: AnswerFile, battery: Battery, *, number_replicates: bool = False, lenient: bool = False
) -> ImportPlan:
    """Return the administrations that the answers of a file make."""
    index = ItemIndex(battery)
    runs: dict[RecordedRun, list[Match]] = {}
    unmatched: list[Unmatched] = []
    spoken: Counter[str] = Counter()
    for answer in source.answers:
        match = index.match(answer)
        if isinstance(match, Unmatched):
            unmatched.append(match)
        elif match.subtest.task.coded or not match.subtest.task.typed:
            spoken[match.subtest.id] += 1
        else:
            runs.setdefault(answer.run, []).append(match)
    if source.strict and unmatched and not lenient:
        raise AnswerProblems([_problem(source, each) for each in unmatched])
    if not runs:
        raise _nothing(source, battery, unmatched, spoken)
    planned = tuple(
        _planned(source, battery, run, matches, number_replicates) for run, matches in runs.items()
    )
    if spoken:
        left_out = {**source.left_out, "answers to items that are named aloud": spoken.total()}
        source = replace(source, left_out=left_out)
    return ImportPlan(source, planned, tuple(unmatched))


def _nothing(
    source: AnswerFile, battery: Battery, unmatched: Sequence[Unmatched], spoken: Counter[str]
) -> UsageError:
    if spoken and not unmatched:
        return UsageError(
            f"the items of '{battery.id}' are named aloud",
            hint="import spoken naming from a TextGrid, an EAF or a PSST folder",
        )
    first = unmatched[0]
    return UsageError(
        f"none of {plural(len(source.answers), 'answer')} is to an item of '{battery.id}' "
        f"({battery.title}); the first: {_words(source, first)}",
        where=first.answer.where,
        allowed=first.allowed or None,
        hint="give the battery with --battery; items are found by id, or by prompt",
    )


def _words(source: AnswerFile, unmatched: Unmatched) -> str:
    name = source.names.get(unmatched.column, unmatched.column)
    return f"{name} '{unmatched.value}': {unmatched.message}"


def _problem(source: AnswerFile, unmatched: Unmatched) -> Problem:
    file, line = _place(unmatched.answer)
    column = f"column '{source.names.get(unmatched.column, unmatched.column)}'"
    message, value = unmatched.message, repr(unmatched.value)
    return Problem(file, line, column, message, value, unmatched.allowed, unmatched.suggestion)


def _place(answer: RecordedAnswer) -> tuple[str, int]:
    file, _, line = answer.where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (answer.where, 0)


def _planned(
    source: AnswerFile,
    battery: Battery,
    run: RecordedRun,
    matches: Sequence[Match],
    number_replicates: bool,
) -> PlannedRun:
    counted: Counter[tuple[str, str]] = Counter()
    numbered: list[tuple[Match, tuple[str, ...], int]] = []
    for match in matches:
        key = match.subtest.id, match.item.id
        own = match.answer.replicate
        if own is None:
            own = counted[key] if number_replicates else 0
            counted[key] += 1
        numbered.append((match, options_shown(match), own))
    # The source's numbers may begin at 1 and have gaps; ours do not.
    dense = {own: at for at, own in enumerate(sorted({own for _, _, own in numbered}))}
    placed: dict[Key, Match] = {}
    repeated: list[tuple[Match, Match]] = []
    for match, options, own in numbered:
        replicate = 0 if match.item.practice else dense[own]
        place = match.subtest.id, match.item.id, replicate, options
        first = placed.setdefault(place, match)
        if first is not match:
            repeated.append((first, match))
    if repeated and source.strict:
        raise AnswerProblems([_repeated(first, second) for first, second in repeated])
    planned = tuple(_trials(battery, run, placed, len(dense)))
    answered = {(each.trial.subtest, each.trial.item) for each in planned if each.answer}
    absent = [each.trial for each in planned if each.answer is None and not each.trial.practice]
    places = ((trial.subtest, trial.item) for trial in absent)
    missing = dict.fromkeys(f"{s}/{i}" for s, i in places if (s, i) not in answered)
    return PlannedRun(
        run=run,
        planned=planned,
        replicates=len(dense),
        option_order=_option_order(battery, placed),
        matched=dict(Counter(match.how for match in placed.values())),
        missing=tuple(missing),
        gaps=len(absent) - len(missing),
        repeated=tuple(second.answer.where for _, second in repeated),
        drawn=_differs(planned),
    )


def _repeated(first: Match, second: Match) -> Problem:
    file, line = _place(second.answer)
    _, earlier = _place(first.answer)
    numbered = second.answer.replicate is not None
    same = " of the same replicate" if numbered else ""
    return Problem(
        file,
        line,
        "",
        f"a second answer{same} to {second.subtest.id}/{second.item.id}; the first is in line "
        f"{earlier}",
        "",
        "one row for each presentation"
        if numbered
        else "a column replicate; or --number-replicates, which numbers them in their order",
    )


def _trials(
    battery: Battery, run: RecordedRun, placed: Mapping[Key, Match], count: int
) -> Iterator[PlannedAnswer]:
    by_place: dict[tuple[str, str, int], list[tuple[tuple[str, ...], Match]]] = {}
    for (subtest_id, item_id, replicate, options), match in placed.items():
        by_place.setdefault((subtest_id, item_id, replicate), []).append((options, match))
    answered = {place[:2] for place in by_place}
    given_part = _given(battery, run)
    number = 0
    for replicate in range(count):
        for subtest in battery.subtests:
            for item in _in_order(subtest, replicate):
                given = by_place.get((subtest.id, item.id, replicate), [])
                key = subtest.id, item.id
                if not given and key not in answered and (replicate or key not in given_part):
                    continue  # an item without any answer is planned once
                presented: list[tuple[tuple[str, ...], Match | None]] = [*given]
                for options, given_match in presented or [(item.options, None)]:
                    number += 1
                    if number > MOST_TRIALS:
                        raise UsageError(
                            f"the replicates make more than {MOST_TRIALS:,} presentations of items",
                            hint="import the file in parts",
                        )
                    yield _trial(number, subtest, item, replicate, options, given_match)


def _given(battery: Battery, run: RecordedRun) -> frozenset[tuple[str, str]]:
    """Return the items that the run says it gave: all, where it does not say."""
    part = Conditions(
        "",
        "model",
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
    )
    return frozenset(
        (subtest.id, item.id) for subtest, items in given_items(battery, part) for item in items
    )


def _in_order(subtest: Subtest, replicate: int) -> list[Item]:
    practice = [item for item in subtest.items if item.practice and replicate == 0]
    return practice + [item for item in subtest.items if not item.practice]


def _trial(
    number: int,
    subtest: Subtest,
    item: Item,
    replicate: int,
    options: tuple[str, ...],
    match: Match | None,
) -> PlannedAnswer:
    answer = None if match is None else match.answer
    prompt = answer.prompt if answer is not None else ""
    trial = PlannedTrial(
        number=number,
        subtest=subtest.id,
        item=item.id,
        replicate=replicate,
        options=options,
        prompt=prompt or render_prompt(subtest, item, options),
        practice=item.practice,
    )
    return PlannedAnswer(trial, answer)


def _option_order(battery: Battery, placed: Mapping[Key, Match]) -> str:
    shown = Counter(key[:3] for key in placed)
    if any(count > 1 for count in shown.values()):
        return "rotated"
    usual = all(match.item.options == key[3] for key, match in placed.items())
    return "as-given" if usual else "shuffled"


def _differs(planned: Sequence[PlannedAnswer]) -> bool:
    """Return whether some item has unlike answers to the same request."""
    first: dict[tuple[str, str, object], str | None] = {}
    for each in planned:
        if each.answer is None or each.answer.text is None:
            continue
        sent = each.answer.messages or each.trial.prompt
        key = each.trial.subtest, each.trial.item, sent
        if first.setdefault(key, each.answer.text) != each.answer.text:
            return True
    return False

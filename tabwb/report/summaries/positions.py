"""Position bias and errors by kind of foil, of each subtest with options in a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.draws import SHARED, without_draws
from tabwb.report.summaries.marks import Marks, marks_of
from tabwb.scoring.choice import OTHER_OPTION
from tabwb.scoring.foil_choice import FoilChoice, WrongOption, foil_choices
from tabwb.scoring.position_bias import PositionBias, Shown, position_bias


@dataclass(frozen=True, slots=True)
class SubtestPositions:
    """The positions of one subtest; None where its options were always in one order."""

    subtest: str
    bias: PositionBias | None


@dataclass(frozen=True, slots=True)
class KindOfError:
    """Wrong options of one kind, of one subtest.

    Attributes:
        answers: with a verdict, to items that offer an option of the kind.
        choice: how often the kind is named among wrong options, against chance.
    """

    subtest: str
    answers: int
    choice: FoilChoice


def positions_of(sources: Sequence[Source]) -> tuple[SubtestPositions, ...]:
    """Return the position bias of each subtest with options.

    Right answers are those of the policy *exact*, choices are what the policy *extracted* reads.
    """
    return tuple(_positions(marks) for marks in marks_of(sources) if marks.subtest.task.options)


def _positions(marks: Marks) -> SubtestPositions:
    answers = [
        Shown(
            marks.items[item].id,
            options,
            marks.items[item].expected or "",
            None if named is None else named.chosen,
            right,
        )
        for item, options, named, right in zip(
            marks.item.tolist(), marks.options, marks.named, marks.right.tolist(), strict=True
        )
        if marks.items[item].expected in options
    ]
    bias = position_bias(answers, deterministic=marks.fixed)
    if bias is not None and marks.shared:
        bias = _without_draws(bias)
    return SubtestPositions(marks.subtest.id, bias)


def _without_draws(bias: PositionBias) -> PositionBias:
    """Return the bias without what needs independent draws."""
    positions = tuple(
        replace(
            place,
            accuracy_these=without_draws(place.accuracy_these),
            chosen_these=without_draws(place.chosen_these),
        )
        for place in bias.positions
    )
    choices, accuracy = (
        replace(test, p=None, method="", reason=SHARED) for test in (bias.choices, bias.accuracy)
    )
    return replace(bias, positions=positions, choices=choices, accuracy=accuracy)


def foils_of(sources: Sequence[Source]) -> tuple[KindOfError, ...]:
    """Return the kinds of wrong options of each subtest with options.

    An error counts if the policy *extracted* reads one wrong option. Options that the battery names
    no kind of are *other-option*.
    """
    return tuple(
        found
        for marks in marks_of(sources)
        if marks.subtest.task.options
        for found in _foils(marks)
    )


def _foils(marks: Marks) -> list[KindOfError]:
    kinds: dict[str, int] = {}
    errors: list[WrongOption] = []
    for at, options, named in zip(marks.item.tolist(), marks.options, marks.named, strict=True):
        item = marks.items[at]
        if named is None or item.expected not in options:
            continue
        wrong = [option for option in options if option != item.expected]
        shown = tuple(item.foils.get(option, OTHER_OPTION) for option in wrong)
        for kind in dict.fromkeys(shown):
            kinds[kind] = kinds.get(kind, 0) + 1
        if named.chosen in wrong:
            errors.append(
                WrongOption(item.id, item.foils.get(str(named.chosen), OTHER_OPTION), shown)
            )
    order = [kind for kind in kinds if kind != OTHER_OPTION]
    order += [kind for kind in kinds if kind == OTHER_OPTION]
    made = foil_choices(errors, order, deterministic=marks.fixed or marks.shared)
    return [
        KindOfError(
            marks.subtest.id,
            kinds[choice.kind],
            replace(choice, these=without_draws(choice.these)) if marks.shared else choice,
        )
        for choice in made
    ]

"""Position bias and errors by kind of foil, of each subtest with options in a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.draws import SHARED, without_draws
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import (
    FOIL_CHANCE,
    FOIL_SHARE,
    POSITION_ACCURACY,
    POSITION_SHARE,
)
from tabwb.analysis.statistics.marks import Marks, marks_of
from tabwb.analysis.tables.declared import (
    LIKE,
    THESE,
    ends,
    group_columns,
    measured,
    number,
    p_value,
    text,
    whole,
)
from tabwb.records.errors import UsageError
from tabwb.scoring.choice import OTHER_OPTION
from tabwb.scoring.position_bias import (
    AtPosition,
    FoilChoice,
    PositionBias,
    Shown,
    WrongOption,
    foil_choices,
    position_bias,
)
from tabwb.tables.table import Table, records_table

POSITION_NOTES = (
    "Over the items whose options were shown in several orders. Right answers by the position of "
    "the right option (policy exact); choices by their own position (policy extracted).",
    "p_these tests all positions at once on these prompts: the answers to an item are permuted "
    "over the orders in which it was shown. p_like is for prompts like these, where items may "
    "prefer their own positions: the positions of whole items are shifted, and p is corrected "
    "for all positions by maxT. It is a test of equal distributions: preferences that only vary "
    "more at one position can be found too. smallest_p is the smallest that so many items can "
    "give. No p is corrected for subtests and groups. Without draws (greedy decoding) the test on "
    "these prompts takes the answers to the orders of an item as exchangeable.",
)
FOIL_NOTES = (
    "Over the errors that name one wrong option (policy extracted), of items that offer an option "
    "of the kind and one of another kind. By chance every wrong option is as likely as another.",
    "p_these is exact, on these prompts, and is not corrected for the number of kinds, subtests "
    "and groups; p_like is for prompts like these, where the shares of the kinds vary between "
    "items: 10,000 drawn studies, corrected for the kinds of a subtest by maxT, not for "
    "subtests and groups.",
)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table of positions, or of kinds of foils."""

    row: Grouped
    subtest: str
    bias: PositionBias | None = None
    place: AtPosition | None = None
    answers: int = 0
    choice: FoilChoice | None = None


def has_orders(row: Grouped) -> bool:
    """Return whether a group has an item that was shown with its options in several orders."""
    return next(_positions([row]), None) is not None


def positions_table(rows: Sequence[Grouped]) -> Table:
    """Return accuracy and choices by position of each group as a table."""
    found = list(_positions(rows))
    if not found:
        raise UsageError(
            "no item was given with its options in several orders",
            hint="tabwb run BATTERY --rotate-options, or --shuffle-options --replicates N",
        )
    return records_table("positions", POSITIONS, found, POSITION_NOTES)


def foils_table(rows: Sequence[Grouped]) -> Table:
    """Return the kinds of wrong options of each group as a table."""
    found = (
        _Row(row, subtest, answers=answers, choice=choice)
        for row in rows
        for subtest, answers, choice in foils_of(row.group.members)
    )
    return records_table("foils", FOILS, found, FOIL_NOTES)


def _positions(rows: Sequence[Grouped]) -> Iterator[_Row]:
    for row in rows:
        for subtest, bias in positions_of(row.group.members):
            for place in bias.positions if bias is not None else ():
                yield _Row(row, subtest, bias, place)


def positions_of(
    sources: Sequence[AdministrationData],
) -> Iterator[tuple[str, PositionBias | None]]:
    """Yield each subtest with options and its bias; None: its options were always in one order.

    Right answers are those of the policy *exact*, choices are what the policy *extracted* reads.
    """
    for marks in marks_of(sources):
        if marks.subtest.task.options:
            yield marks.subtest.id, _bias(marks)


def _bias(marks: Marks) -> PositionBias | None:
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
    if bias is None or not marks.shared:
        return bias
    # Without independent draws there is nothing on these prompts.
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


def foils_of(sources: Sequence[AdministrationData]) -> Iterator[tuple[str, int, FoilChoice]]:
    """Yield subtest, answers that offer an option of the kind, and how often the kind is named.

    An error counts if the policy *extracted* reads one wrong option. Options that the battery names
    no kind of are *other-option*.
    """
    for marks in marks_of(sources):
        if marks.subtest.task.options:
            yield from _foils(marks)


def _foils(marks: Marks) -> Iterator[tuple[str, int, FoilChoice]]:
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
            error = item.foils.get(str(named.chosen), OTHER_OPTION)
            errors.append(WrongOption(item.id, error, shown))
    order = sorted(kinds, key=lambda kind: kind == OTHER_OPTION)
    for choice in foil_choices(errors, order, deterministic=marks.fixed or marks.shared):
        own = replace(choice, these=without_draws(choice.these)) if marks.shared else choice
        yield marks.subtest.id, kinds[choice.kind], own


POSITIONS = (
    *group_columns(),
    text("part", "Subtest", "the subtest", "subtest"),
    whole("n_items", "Items", "items shown in several orders", "bias.items"),
    whole("position", "Position", "of the option, from 1", "place.number"),
    whole("keyed", "Keyed", "answers with the right option here", "place.keyed"),
    whole("correct", "Right", "of these right", "place.correct"),
    measured(POSITION_ACCURACY, "place.accuracy.value"),
    *ends("position_accuracy_", LIKE, "place.accuracy_like.interval"),
    *ends("position_accuracy_these_", THESE, "place.accuracy_these.interval"),
    p_value("accuracy_p_like", "p right", f"accuracy here against all positions, {LIKE}",
            "place.p_accuracy"),
    p_value("accuracy_p_these", "p right, all", f"accuracy over all positions at once, {THESE}",
            "bias.accuracy.p"),
    whole("chosen", "Chosen", "choices of the option here", "place.chosen"),
    whole("n", "N", "choices of any option", "place.of"),
    measured(POSITION_SHARE, "place.share.value"),
    number("expected", "Expected", "share of choices if positions have no influence",
           "place.expected.value", unit="share"),
    *ends("position_share_", LIKE, "place.chosen_like.interval"),
    *ends("position_share_these_", THESE, "place.chosen_these.interval"),
    p_value("share_p_like", "p chosen", f"choices here against the expected share, {LIKE}",
            "place.p_chosen"),
    p_value("smallest_p", "Smallest p",
            f"the smallest p that so many items can give, {LIKE}", "bias.smallest_p"),
    number("chi2", "Chi2", "distance of choices from what is expected", "bias.choices.chi2"),
    whole("df", "df", "its degrees of freedom", "bias.choices.df"),
    p_value("share_p_these", "p chosen, all", f"choices over all positions at once, {THESE}",
            "bias.choices.p"),
    text("test", "Test", "how the tests over all positions were made", "bias.choices.method"),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         "place.accuracy_these.reason"),
    text("like_reason", "Why no p", f"why there is no p of choices, {LIKE}",
         "place.chosen_like.reason"),
    text("reason", "Reason", "why there is no test of choices", "bias.choices.reason"),
)  # fmt: skip
"""The columns of :func:`positions_table`."""
FOILS = (
    *group_columns(),
    text("part", "Subtest", "the subtest", "subtest"),
    text("kind", "Kind", "of the wrong option, as the battery says", "choice.kind"),
    whole("answers", "Answers", "with a verdict, to items that offer an option of the kind"),
    whole("errors", "Errors", "that name an option of the kind", "choice.errors"),
    whole("n", "Of", "errors that name any wrong option, where this kind and another are offered",
          "choice.of"),
    whole("n_items", "Items", "with such errors", "choice.items"),
    measured(FOIL_SHARE, "choice.share.value"),
    *ends("foil_share_", LIKE, "choice.like.interval"),
    *ends("foil_share_these_", THESE, "choice.these.interval"),
    measured(FOIL_CHANCE, "choice.chance.value"),
    p_value("p_these", "p these", f"of the share by chance, {THESE}", "choice.p_these"),
    p_value("p_like", "p like", f"of the share by chance, {LIKE}, corrected for all kinds",
            "choice.p_like"),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         "choice.these.reason"),
    text("reason", "Reason", "why there is no share", "choice.share.reason"),
)  # fmt: skip
"""The columns of :func:`foils_table`."""

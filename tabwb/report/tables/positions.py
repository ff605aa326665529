"""The tables of positions of options, and of kinds of foils."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.records.errors import UsageError
from tabwb.report.measures import FOIL_CHANCE, FOIL_SHARE, POSITION_ACCURACY, POSITION_SHARE
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import sources_of
from tabwb.report.summaries.positions import KindOfError, foils_of, positions_of
from tabwb.report.tables.declared import (
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
from tabwb.scoring.position_bias import AtPosition, PositionBias
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
class _Position:
    row: Grouped
    subtest: str
    bias: PositionBias
    place: AtPosition


@dataclass(frozen=True, slots=True)
class _Kind:
    row: Grouped
    kind: KindOfError


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
    found = (_Kind(row, kind) for row in rows for kind in foils_of(sources_of(row.group.members)))
    return records_table("foils", FOILS, found, FOIL_NOTES)


def _positions(rows: Sequence[Grouped]) -> Iterator[_Position]:
    for row in rows:
        for subtest in positions_of(sources_of(row.group.members)):
            if subtest.bias is not None:
                for place in subtest.bias.positions:
                    yield _Position(row, subtest.subtest, subtest.bias, place)


POSITIONS = (
    *group_columns(lambda given: given.row),
    text("part", "Subtest", "the subtest", lambda given: given.subtest),
    whole("n_items", "Items", "items shown in several orders", lambda given: given.bias.items),
    whole("position", "Position", "of the option, from 1", lambda given: given.place.number),
    whole("keyed", "Keyed", "answers with the right option here", lambda given: given.place.keyed),
    whole("correct", "Right", "of these right", lambda given: given.place.correct),
    measured(POSITION_ACCURACY, lambda given: given.place.accuracy.value),
    *ends("position_accuracy_", LIKE, lambda given: given.place.accuracy_like.interval),
    *ends("position_accuracy_these_", THESE, lambda given: given.place.accuracy_these.interval),
    p_value("accuracy_p_like", "p right", f"accuracy here against all positions, {LIKE}",
            lambda given: given.place.p_accuracy),
    p_value("accuracy_p_these", "p right, all", f"accuracy over all positions at once, {THESE}",
            lambda given: given.bias.accuracy.p),
    whole("chosen", "Chosen", "choices of the option here", lambda given: given.place.chosen),
    whole("n", "N", "choices of any option", lambda given: given.place.of),
    measured(POSITION_SHARE, lambda given: given.place.share.value),
    number("expected", "Expected", "share of choices if positions have no influence",
           lambda given: given.place.expected.value, unit="share"),
    *ends("position_share_", LIKE, lambda given: given.place.chosen_like.interval),
    *ends("position_share_these_", THESE, lambda given: given.place.chosen_these.interval),
    p_value("share_p_like", "p chosen", f"choices here against the expected share, {LIKE}",
            lambda given: given.place.p_chosen),
    p_value("smallest_p", "Smallest p",
            f"the smallest p that so many items can give, {LIKE}",
            lambda given: given.bias.smallest_p),
    number("chi2", "Chi2", "distance of choices from what is expected",
           lambda given: given.bias.choices.chi2),
    whole("df", "df", "its degrees of freedom", lambda given: given.bias.choices.df),
    p_value("share_p_these", "p chosen, all", f"choices over all positions at once, {THESE}",
            lambda given: given.bias.choices.p),
    text("test", "Test", "how the tests over all positions were made",
         lambda given: given.bias.choices.method),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         lambda given: given.place.accuracy_these.reason),
    text("like_reason", "Why no p", f"why there is no p of choices, {LIKE}",
         lambda given: given.place.chosen_like.reason),
    text("reason", "Reason", "why there is no test of choices",
         lambda given: given.bias.choices.reason),
)  # fmt: skip
"""The columns of :func:`positions_table`."""
FOILS = (
    *group_columns(lambda given: given.row),
    text("part", "Subtest", "the subtest", lambda given: given.kind.subtest),
    text("kind", "Kind", "of the wrong option, as the battery says",
         lambda given: given.kind.choice.kind),
    whole("answers", "Answers", "with a verdict, to items that offer an option of the kind",
          lambda given: given.kind.answers),
    whole("errors", "Errors", "that name an option of the kind",
          lambda given: given.kind.choice.errors),
    whole("n", "Of", "errors that name any wrong option, where this kind and another are offered",
          lambda given: given.kind.choice.of),
    whole("n_items", "Items", "with such errors", lambda given: given.kind.choice.items),
    measured(FOIL_SHARE, lambda given: given.kind.choice.share.value),
    *ends("foil_share_", LIKE, lambda given: given.kind.choice.like.interval),
    *ends("foil_share_these_", THESE, lambda given: given.kind.choice.these.interval),
    measured(FOIL_CHANCE, lambda given: given.kind.choice.chance.value),
    p_value("p_these", "p these", f"of the share by chance, {THESE}",
            lambda given: given.kind.choice.p_these),
    p_value("p_like", "p like", f"of the share by chance, {LIKE}, corrected for all kinds",
            lambda given: given.kind.choice.p_like),
    text("these_reason", "Why none", f"why there is no interval for {THESE}",
         lambda given: given.kind.choice.these.reason),
    text("reason", "Reason", "why there is no share",
         lambda given: given.kind.choice.share.reason),
)  # fmt: skip
"""The columns of :func:`foils_table`."""

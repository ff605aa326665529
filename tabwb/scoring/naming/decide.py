"""Rules of a naming battery over a sequence of items.

Late answers, cues, start item, basal and discontinuation. The caller leaves out practice items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

Outcome = Literal["right", "right-after-cue", "error"]
"""Of one item: right by the rules; right, but only after a cue that does not count; any other
response, including no response. An item that cannot be scored has no outcome."""


def is_late(latency_s: float | None, time_limit: float | None) -> bool:
    """Return whether speech began after the time limit; False where either is unknown.

    Args:
        latency_s: seconds from the picture to the onset, or None.
        time_limit: seconds, or None.

    >>> is_late(20.5, 20.0), is_late(20.0, 20.0), is_late(None, 20.0)
    (True, False, False)
    """
    return latency_s is not None and time_limit is not None and latency_s > time_limit


def outcome_of(
    right: bool | None,
    *,
    late: bool = False,
    late_counts: bool = False,
    cues_count: Sequence[bool] = (),
) -> Outcome | None:
    """Return the outcome of an item; None where it is unknown whether it is right.

    Args:
        right: by a person's score or by the rule that decides.
        late: speech began after the limit.
        late_counts: the battery's rule.
        cues_count: of each cue given before the score, whether a right answer after it counts
            (BNT: a stimulus cue counts, a phonemic one does not).

    >>> outcome_of(True, cues_count=[True]), outcome_of(True, cues_count=[True, False])
    ('right', 'right-after-cue')
    >>> outcome_of(True, late=True), outcome_of(True, late=True, late_counts=True)
    ('error', 'right')
    """
    if right is None:
        return None
    if not right or (late and not late_counts):
        return "error"
    return "right" if all(cues_count) else "right-after-cue"


def should_discontinue(
    history: Sequence[Outcome | None], after: int, counts_cued: bool = False
) -> bool:
    """Return whether the last ``after`` items were all errors, so that the subtest may be ended.

    An item without an outcome is not an error and does not end a row of errors [ours].

    Args:
        history: outcomes of the items given, in order.
        after: the number of errors in a row.
        counts_cued: whether an item right only after a cue that does not count is one of them: the
            rigorous reading of the BNT's rule; else it ends the row, the lenient one (Ferman, Ivnik
            and Lucas 1998).

    >>> should_discontinue(["right", "error", "error"], 2)
    True
    >>> [should_discontinue(["error", "right-after-cue"], 2, each) for each in (False, True)]
    [False, True]
    """
    row = 0
    for outcome in reversed(history):
        if outcome is None:
            continue
        if outcome == "right" or (outcome == "right-after-cue" and not counts_cued):
            return False
        row += 1
        if row >= after:
            return True
    return False


def next_item(
    items: Sequence[str],
    outcomes: Mapping[str, Outcome | None],
    start_item: str = "",
    basal: int = 0,
) -> str | None:
    """Return the item to give next, or None where none is left to give.

    From ``start_item`` forwards; if one of the first ``basal`` is not right, then backwards from
    before ``start_item`` until ``basal`` in a row are right or the first item was given, then
    forwards again (BNT: start at 30, basal 8). An item in ``outcomes`` was given.

    Args:
        items: ids in the battery's order, without practice.
        outcomes: of the items given; None where an item cannot be scored, which is not right.
        start_item: empty for the first one.
        basal: 0: never go back.

    >>> next_item(["a", "b", "c", "d"], {"c": "error"}, start_item="c", basal=1)
    'b'
    >>> next_item(["a", "b", "c", "d"], {"c": "error", "b": "right"}, start_item="c", basal=1)
    'd'
    """
    start = items.index(start_item) if start_item else 0
    if basal and start:
        first = [item for item in items[start : start + basal] if item in outcomes]
        if any(outcomes[item] != "right" for item in first) and not _reached(
            items, outcomes, start, basal
        ):
            earlier = [item for item in items[:start] if item not in outcomes]
            if earlier:
                return earlier[-1]
    return next((item for item in items[start:] if item not in outcomes), None)


def not_needed(
    items: Sequence[str],
    outcomes: Mapping[str, Outcome | None],
    start_item: str = "",
    basal: int = 0,
) -> tuple[str, ...]:
    """Return the items before the start that are credited by the basal and not administered.

    They are not right answers of the speaker. Empty while the basal is not reached, and where the
    battery has none.

    Args:
        items: ids in the battery's order, without practice.
        outcomes: of the items given.
        start_item: empty for the first one.
        basal: right answers in a row that credit the earlier items; 0: none are credited.

    >>> not_needed(["a", "b", "c"], {"b": "right"}, start_item="b", basal=1)
    ('a',)
    """
    if not start_item or not basal:
        return ()
    start = items.index(start_item)
    first = [outcomes.get(item) for item in items[start : start + basal]]
    if first != ["right"] * basal and not _reached(items, outcomes, start, basal):
        return ()
    return tuple(item for item in items[:start] if item not in outcomes)


def _reached(
    items: Sequence[str], outcomes: Mapping[str, Outcome | None], start: int, basal: int
) -> bool:
    """Return whether ``basal`` right answers in a row occur going backwards."""
    row = 0
    for item in reversed(items[:start]):
        if item not in outcomes:
            return False
        row = row + 1 if outcomes[item] == "right" else 0
        if row >= basal:
            return True
    return False

"""Which responses of a table count as an earlier one, because nothing new was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tabwb.report.summaries.columns.alike import combined, dense
from tabwb.report.summaries.columns.prepared import PROTOCOLS
from tabwb.store.columns import Ints, distinct

if TYPE_CHECKING:
    from tabwb.report.summaries.columns.table import Table

_SHARED, _SEEDED, _REPLAYED = 1, 2, 3


def representatives(table: Table) -> Ints:
    """Return, for each row, the row as which it counts: itself, or an earlier one.

    Practice, skipped and void trials have no rows. Where nothing is drawn, the same response to the
    same messages says nothing new and counts once, also in another administration of the model.
    Whoever answers by sampling, and every person, counts each time; but the draw of an earlier
    administration of the model counts once: the same run with the same seed gives the same
    responses, and in earlier versions so do replicates of neighbouring seeds. That holds for an
    administration whose every response to an earlier question and seed is the same text. Where one
    differs, the back end does not keep to seeds, and all count.
    """
    own = np.arange(len(table))
    examinees: dict[str, int] = {}
    who = [examinees.setdefault(source.examinee, len(examinees)) for source in table.sources]
    asked = table.columns.asked[table.rows].astype(np.int64)
    questions, _ = combined(
        (np.array(who)[table.source], len(examinees)),
        (table.prepared.protocols[table.rows].astype(np.int64), len(PROTOCOLS)),
        (table.place, len(table.known)),
        (asked, int(asked.max(initial=0)) + 1),
    )
    fixed = np.flatnonzero(table.fixed)
    if len(fixed):
        texts = table.text[fixed].astype(np.int64)
        same, _ = combined(dense(questions[fixed]), dense(texts))
        own[fixed] = fixed[_first(same)]
    if len(table.sources) > 1:
        rows, earlier = _again_drawn(table, questions)
        own[rows] = earlier
    return own


def _again_drawn(table: Table, questions: Ints) -> tuple[Ints, Ints]:
    """Return rows that repeat a draw of an earlier administration, and the rows repeated."""
    kinds, numbers, decodings = _draws(table)
    rows = np.flatnonzero(kinds)
    numbers, size = dense(numbers[rows])
    # Most numbers are drawn once: only the others can be the same draw.
    several = np.bincount(numbers, minlength=size)[numbers] > 1
    rows, numbers = rows[several], numbers[several]
    codes, _ = combined(
        dense(questions[rows]),
        (kinds[rows], 4),
        (decodings[rows], len(table.sources)),
        (numbers, size),
    )
    first = rows[_first(codes)]
    source, text = table.source, table.text
    before = source[first] < source[rows]
    # A back end that once gave another text does not keep to seeds.
    differs = np.zeros(len(table.sources), bool)
    differs[source[rows[before & (text[first] != text[rows])]]] = True
    repeated = before & ~differs[source[rows]]
    return rows[repeated], first[repeated]


def _draws(table: Table) -> tuple[Ints, Ints, Ints]:
    """Return what each row was drawn with: a kind, 0 where it is not known, a seed and a decoding.

    A replayed response has the administration and the line of its record for a seed, because a file
    can be replayed twice. In earlier versions replicate r shares the stream of ``seed + r``.
    """
    columns, rows, noted = table.columns, table.rows, table.columns.noted
    seeds = columns.seeds[rows].astype(np.int64)
    lines = columns.notes["replayed_line"][rows].astype(np.int64)
    uids = columns.notes["replayed_administration"][rows].astype(np.int64)
    given = [source.conditions for source in table.sources]
    is_model = np.array([one is not None and one.kind == "model" for one in given])
    numbers = np.where(seeds >= 0, seeds, 0)
    is_seed = seeds >= 0
    large: dict[int, int] = {}
    for code in distinct(seeds[seeds < -1]).tolist():
        text = noted[-2 - code]
        if text.isascii() and text.isdecimal():
            value = int(text)
            own = seeds == code
            is_seed |= own
            numbers[own] = value if value < 2**62 else -1 - large.setdefault(value, len(large))
    first = np.array([0 if one is None else one.decoding.seed for one in given])[table.source]
    numbers = np.where(table.shared, first + columns.replicates[rows], numbers)
    numbers = np.where(lines >= 0, uids * len(noted) + lines, numbers)
    kinds = np.where(table.shared, _SHARED, np.where(is_seed, _SEEDED, 0))
    told = np.array([bool(value) for value in noted] + [False])[uids]
    kinds = np.where(lines >= 0, np.where(told, _REPLAYED, 0), kinds)
    ways: dict[object, int] = {}
    decodings = [
        ways.setdefault(one and (one.decoding.temperature, one.decoding.top_p), len(ways))
        for one in given
    ]
    kinds = np.where(is_model[table.source] & ~table.fixed, kinds, 0)
    own_decodings = np.array(decodings)[table.source]
    return kinds, numbers, np.where(kinds == _REPLAYED, 0, own_decodings)


def _first(codes: Ints) -> Ints:
    """Return, for each code, the place at which it comes first."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return first[which]

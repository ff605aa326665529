"""Which responses of a table count as an earlier one, because nothing new was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tabwb.report.summaries.columns.prepared import PROTOCOLS
from tabwb.store.column_ratings import Ints

if TYPE_CHECKING:
    from tabwb.report.summaries.columns.table import Table

_SHARED, _SEEDED, _REPLAYED = 1, 2, 3


def representatives(table: Table) -> Ints:
    """Return, for each row, the row as which it counts: itself, or an earlier one.

    Where nothing is drawn, the same response to the same messages counts once. Otherwise a draw of
    another administration counts once, see :func:`tabwb.report.summaries.draws.again_drawn`.
    """
    own = np.arange(len(table))
    examinees: dict[str, int] = {}
    who = [examinees.setdefault(source.examinee, len(examinees)) for source in table.sources]
    asked = table.columns.asked[table.rows].astype(np.int64)
    questions = _combined(
        (np.array(who)[table.source], len(examinees)),
        (table.prepared.protocols[table.rows].astype(np.int64), len(PROTOCOLS)),
        (table.place, len(table.known)),
        (asked, int(asked.max(initial=0)) + 1),
    )
    fixed = np.flatnonzero(table.fixed)
    if len(fixed):
        texts = table.text[fixed].astype(np.int64)
        own[fixed] = fixed[_first(_combined(_dense(questions[fixed]), _dense(texts)))]
    if len(table.sources) > 1:
        rows, earlier = _again_drawn(table, questions)
        own[rows] = earlier
    return own


def _again_drawn(table: Table, questions: Ints) -> tuple[Ints, Ints]:
    """Return rows that repeat a draw of an earlier administration, and the rows repeated."""
    kinds, numbers, decodings = _draws(table)
    rows = np.flatnonzero(kinds)
    numbers, size = _dense(numbers[rows])
    # Most numbers are drawn once: only the others can be the same draw.
    several = np.bincount(numbers, minlength=size)[numbers] > 1
    rows, numbers = rows[several], numbers[several]
    codes = _combined(
        _dense(questions[rows]),
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

    See :func:`tabwb.report.summaries.draws.drawn_with`. A replayed response has the place of its
    record for a seed.
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
    for code in np.unique(seeds[seeds < -1]).tolist():
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


def _combined(*columns: tuple[Ints, int]) -> Ints:
    """Return integers that are equal where all columns are; each has a bound above its values."""
    codes, size = columns[0]
    for values, bound in columns[1:]:
        if size * bound >= 1 << 62:
            codes, size = _dense(codes)
        codes, size = codes * bound + values, size * bound
    return codes


def _dense(values: Ints) -> tuple[Ints, int]:
    """Return integers from 0 that are equal where the values are, and a bound above them."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, len(different)


def _first(codes: Ints) -> Ints:
    """Return, for each code, the place at which it comes first."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return first[which]

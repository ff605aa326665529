"""What is known of each response by itself, before responses are put together in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.battery.model import Item, Subtest
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.scoring.burden import REPEATED_PROMPTS
from tabwb.store.columns import STATUSES, Ints, ResponseColumns, Texts, distinct

REPEATED = STATUSES.index(ResponseStatus.REPEATED_ANSWER)
PROTOCOLS = tuple(Protocol)
_USABLE = np.array([status.usable for status in STATUSES] + [False])  # -1: no status
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Columns of all responses that do not depend on how they are grouped.

    Attributes:
        columns: as read.
        sources: of each administration, its battery, conditions and declarations; no trials.
        words, blank: of each text of ``columns.responses``: number of words, whether it is empty.
        statuses: under which each response counts, places in ``STATUSES`` or -1.
        protocols: places in ``PROTOCOLS``.
        fixed: whether nothing was drawn; shared: whether it shares a random stream.
        statistics: of plugins, to be computed of each group.
    """

    columns: ResponseColumns
    sources: Sequence[AdministrationData]
    words: Ints
    blank: Bools
    statuses: Ints
    protocols: Ints
    fixed: Bools
    shared: Bools
    statistics: tuple[Statistic, ...] = ()


def items_of(
    source: AdministrationData, columns: ResponseColumns
) -> list[tuple[int, Subtest, Item] | None]:
    """Return, by place, the number of its subtest, subtest and item; None: of other batteries."""
    known = {
        (subtest.id, item.id): (number, subtest, item)
        for number, subtest in enumerate(source.battery.subtests)
        for item in subtest.items
    }
    return [known.get(place) for place in columns.places]


def prepare(columns: ResponseColumns, sources: Sequence[AdministrationData]) -> Prepared:
    """Return what is known of each response by itself."""
    statuses = columns.statuses.astype(np.int8)
    protocols = np.zeros(len(columns), np.int8)
    fixed, shared = np.zeros(len(columns), bool), np.zeros(len(columns), bool)
    known: dict[str, list[tuple[int, Subtest, Item] | None]] = {}
    noted = {value: code for code, value in enumerate(columns.noted)}
    for place, source in enumerate(sources):
        rows = slice(int(columns.starts[place]), int(columns.starts[place + 1]))
        if rows.start == rows.stop:
            continue
        battery = source.battery.content_hash
        if battery not in known:
            known[battery] = items_of(source, columns)
        items = known[battery]
        repeated = _repeated(items, columns.items[rows], columns.texts[rows], columns.responses)
        own = statuses[rows]
        own[repeated & _USABLE[own]] = REPEATED
        _obtained(source, items, columns, noted, rows, protocols, fixed, shared)
    return Prepared(
        columns,
        sources,
        columns.responses.sizes,
        columns.responses.blank,
        statuses,
        protocols,
        fixed,
        shared,
    )


def _repeated(
    items: Sequence[tuple[int, Subtest, Item] | None],
    places: Ints,
    given: Ints,
    responses: Texts,
) -> Bools:
    texts = responses.spoken[given].astype(np.int64)
    prompts: dict[str, int] = {}
    prompt = np.full(len(items), -1)
    expected = np.full(len(items), -1)
    closed = np.full(len(items), -1)
    for place in distinct(places).tolist():
        entry = items[place]
        assert entry is not None
        number, subtest, item = entry
        if subtest.task.coded:
            continue
        prompt[place] = prompts.setdefault(item.prompt, len(prompts))
        if subtest.task.closed:
            closed[place] = number
        elif item.expected is not None:
            expected[place] = responses.code(item.expected)
    repeated = np.zeros(len(places), bool)
    groups = closed[places]
    compared = (prompt[places] >= 0) & (groups < 0) & (texts != expected[places])
    repeated[compared] = _several(texts[compared], prompt[places][compared])
    for number in distinct(groups[groups >= 0]).tolist():
        own = groups == number
        if len(distinct(texts[own])) == 1:
            repeated[own] = _several(texts[own], prompt[places][own])
    return repeated


def _several(texts: Ints, prompts: Ints) -> Bools:
    """Return which texts (0: without a word) were given to three or more different prompts."""
    if not len(texts):
        return np.zeros(0, bool)
    pairs = distinct(texts * (prompts.max() + 1) + prompts) // (prompts.max() + 1)
    given, n = np.unique(pairs, return_counts=True)
    several: Bools = np.isin(texts, given[(n >= REPEATED_PROMPTS) & (given > 0)])
    return several


def _obtained(
    source: AdministrationData,
    items: Sequence[tuple[int, Subtest, Item] | None],
    columns: ResponseColumns,
    noted: Mapping[str, int],
    rows: slice,
    protocols: Ints,
    fixed: Bools,
    shared: Bools,
) -> None:
    """Set how the answers of one administration were obtained; see ``protocol_of``."""

    def has(name: str, value: str) -> Bools:
        same: Bools = columns.notes[name][rows] == noted.get(value, -2)
        return same

    listed = np.array([bool(options) for options in columns.shown])
    answers = np.array([entry is not None and bool(entry[1].task.answers) for entry in items])
    chosen = listed[columns.options[rows]] | answers[columns.items[rows]]
    own = np.where(chosen, PROTOCOLS.index(source.protocol), PROTOCOLS.index(Protocol.GENERATE))
    for code, protocol in enumerate(PROTOCOLS):
        own[has("protocol", protocol.value)] = code
    protocols[rows] = own
    conditions = source.conditions
    if conditions is None or conditions.kind != "model":
        return
    fixed[rows] = ~has("replayed_sampled", "yes") & (
        conditions.decoding.greedy
        | (own == PROTOCOLS.index(Protocol.LIKELIHOOD))
        | has("sampled", "no")
    )
    if conditions.origin is None:
        unseeded = (columns.seeds[rows] == -1) & (columns.notes["replayed_line"][rows] < 0)
        shared[rows] = unseeded & ~fixed[rows]

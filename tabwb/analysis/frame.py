"""Responses and verdicts as numpy columns, and which of them count in a group.

They are read from a store (:meth:`tabwb.store.store.Store.columns`) or taken from trials in memory
one by one. :func:`prepare` adds what is known of each response by itself; a :class:`Table` has the
responses of a group, with those that count as a mask.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabwb.analysis.administrations import AdministrationData
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.states import Protocol, ResponseStatus, TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.burden import REPEATED_PROMPTS, Usable, count_usable
from tabwb.store.columns import (
    STATUSES,
    Bools,
    Frame,
    Ints,
    Places,
    RaterColumns,
    Ratings,
    Texts,
    distinct,
    seed_code,
)
from tabwb.store.facts import NOTES, of_text
from tabwb.store.verdicts import STATUSES as RATING_STATUSES

Column = tuple[NDArray[Any], int]
"""Integers from 0, or bool; and a bound above all of them."""
Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Side:
    """Values of one side's responses by item; items without a value are not in it.

    ``shares_stream``: some were drawn from a random stream that others share, so that they do not
    show how much draws differ. ``clusters``: of items that share a theme. ``calibrated``: of a
    calibrated judge, for each feature the relative variance of p(1) - p(0), and the item means of
    what it adds to the values.
    """

    values: Mapping[Place, tuple[float, ...]]
    deterministic: bool = False
    shares_stream: bool = False
    clusters: Mapping[Place, str] = field(default_factory=dict)
    calibrated: tuple[tuple[float, Mapping[Place, float]], ...] = ()


def combined(*columns: Column) -> Column:
    """Return integers that are equal where all columns are, and a bound above them."""
    values, size = columns[0]
    codes: Ints = values.astype(np.int64)
    for values, bound in columns[1:]:
        if size * bound >= 1 << 62:
            codes, size = dense(codes)
        codes, size = codes * bound + values, size * bound
    return codes, size


def dense(values: Ints) -> tuple[Ints, int]:
    """Return integers from 0 that are equal where the values are, and a bound above them."""
    different, codes = np.unique(values, return_inverse=True)
    return codes, len(different)


def alike(*columns: Column) -> tuple[Ints, Ints, Ints]:
    """Return where different rows come first, how often they come, and of each row which it is.

    The different rows are in the order in which they come first.

    >>> first, times, which = alike((np.array([7, 3, 7]), 8), (np.array([0, 1, 0]), 2))
    >>> first.tolist(), times.tolist(), which.tolist()
    ([0, 1], [2, 1], [0, 1, 0])
    """
    codes, bound = combined(*columns)
    if bound > 4 * len(codes) + 1_000:
        codes, bound = dense(codes)
    first = np.full(bound, -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    used = np.flatnonzero(first >= 0)
    used = used[np.argsort(first[used])]
    which = np.empty(bound, np.int64)
    which[used] = np.arange(len(used))
    places = which[codes]
    return first[used], np.bincount(places, minlength=len(used)), places


REPEATED = STATUSES.index(ResponseStatus.REPEATED_ANSWER)
PROTOCOLS = tuple(Protocol)
_LIKELIHOOD = PROTOCOLS.index(Protocol.LIKELIHOOD)
_USABLE = np.array([status.usable for status in STATUSES] + [True])  # -1: no status is taken as ok
_Known = tuple[int, Subtest, Item] | None
"""Number of a subtest, the subtest and the item; None: of another battery."""


def items_of(battery: Battery, frame: Frame) -> list[_Known]:
    """Return what a battery has at each place."""
    known = {
        (subtest.id, item.id): (number, subtest, item)
        for number, subtest in enumerate(battery.subtests)
        for item in subtest.items
    }
    return [known.get(place) for place in frame.places]


def prepare(frame: Frame, sources: Sequence[AdministrationData]) -> Frame:
    """Return a frame with what is known of each response by itself."""
    of_source = np.repeat(np.arange(len(sources)), np.diff(frame.starts))
    given = [source.conditions for source in sources]

    def told(facts: Iterable[object], kind: type = bool) -> NDArray[Any]:
        """Return a fact of the administration of each response."""
        return np.array(list(facts), kind)[of_source]

    def noted(name: str, value: str) -> Bools:
        code = frame.noted.index(value) if value in frame.noted else -2
        return np.asarray(frame.notes[name] == code)

    hashes = [source.battery.content_hash for source in sources]
    batteries = {one: source.battery for one, source in zip(hashes, sources, strict=True)}
    counted = frame.statuses.astype(np.int8)
    answers = np.zeros(len(frame), bool)
    for content_hash, battery in batteries.items():
        items = items_of(battery, frame)
        own = np.flatnonzero(told(one == content_hash for one in hashes))
        places = frame.items[own].astype(np.int64)
        repeated = own[_repeated(items, places, frame.texts[own], of_source[own], frame.responses)]
        stored = counted[repeated]
        counted[repeated] = np.where((stored >= 0) & _USABLE[stored], REPEATED, stored)
        chosen = [entry is not None and bool(entry[1].task.answers) for entry in items]
        answers[own] = np.array(chosen, bool)[places]
    answers |= np.array([bool(options) for options in frame.shown], bool)[frame.options]
    asked = told((PROTOCOLS.index(one.protocol) for one in given), int)
    protocols = np.where(answers, asked, PROTOCOLS.index(Protocol.GENERATE)).astype(np.int8)
    for code, protocol in enumerate(PROTOCOLS):
        protocols[noted("protocol", protocol.value)] = code
    is_model = told(one.kind == "model" for one in given)
    greedy = told(one.decoding.greedy for one in given)
    undrawn = greedy | (protocols == _LIKELIHOOD) | noted("sampled", "no")
    fixed = is_model & ~noted("replayed_sampled", "yes") & undrawn
    own_stream = (frame.seeds == -1) & (frame.notes["replayed_line"] < 0)
    shared = is_model & told(one.origin is None for one in given) & own_stream & ~fixed
    return replace(frame, counted=counted, protocols=protocols, fixed=fixed, shared=shared)


def _repeated(
    items: Sequence[_Known], places: Ints, given: Ints, source: Ints, responses: Texts
) -> Bools:
    """Return which responses of one battery are repeated answers; see ``effective_statuses``."""
    prompts = Places[str]()
    prompt, expected, closed = np.full((3, len(items)), -1)
    for place in distinct(places).tolist():
        entry = items[place]
        assert entry is not None
        number, subtest, item = entry
        if subtest.task.coded:
            continue
        prompt[place] = prompts[item.prompt]
        if subtest.task.closed:
            closed[place] = number
        elif item.expected is not None:
            expected[place] = responses.code(item.expected)
    spoken = responses.spoken[given]
    # Of each administration (and subtest with options) the texts are compared with each other.
    among = source * (int(closed.max(initial=0)) + 2) + closed[places] + 1
    compared = (prompt[places] >= 0) & (spoken != expected[places])
    is_closed = closed[places] >= 0
    if is_closed.any():
        texts, *_ = alike(dense(among), dense(spoken))
        several = np.bincount(among[texts], minlength=int(among.max()) + 1) > 1
        compared &= ~(is_closed & several[among])
    repeated: Bools = compared & _several(among, spoken, prompt[places], compared)
    return repeated


def effective_statuses(
    battery: Battery, trials: Sequence[Trial]
) -> tuple[ResponseStatus | None, ...]:
    """Return the status under which each trial's answer counts; None without such an answer.

    It is the stored status, except that a usable answer becomes *repeated-answer* where the same
    text (normalised) was given to three or more different prompts of the administration. Three
    exceptions: an answer that is the expected one is never a repeated answer; a choice or a yes or
    no is one only where *every* answer to its subtest is that text; practice and pictures named
    aloud are left out.
    """
    held = Memory()
    held.again((), trials)
    frame = held.columns()
    texts = frame.items, frame.texts, np.zeros(len(frame), np.int64), frame.responses
    repeated = iter(_repeated(items_of(battery, frame), *texts).tolist())
    statuses = []
    for trial in trials:
        attempt = trial.counting if trial.state is TrialState.ANSWERED else None
        status = None if attempt is None else attempt.status
        if trial.is_answered and next(repeated) and status is not None and status.usable:
            status = ResponseStatus.REPEATED_ANSWER
        statuses.append(status)
    return tuple(statuses)


def _several(among: Ints, spoken: Ints, prompts: Ints, compared: Bools) -> Bools:
    """Return which texts (0: without a word) were given to three or more different prompts."""
    often = np.bincount(spoken) >= REPEATED_PROMPTS  # first, because most texts are given once
    rows = np.flatnonzero(compared & (spoken > 0) & often[spoken])
    several = np.zeros(len(among), bool)
    if len(rows):
        own, bound = dense(combined(dense(among[rows]), dense(spoken[rows]))[0])
        first, _, _ = alike((own, bound), (prompts[rows], int(prompts.max()) + 1))
        several[rows] = (np.bincount(own[first], minlength=bound) >= REPEATED_PROMPTS)[own]
    return several


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
    asked = table.frame.asked[table.rows].astype(np.int64)
    questions, _ = combined(
        (np.array(who)[table.source], len(examinees)),
        (table.frame.protocols[table.rows].astype(np.int64), len(PROTOCOLS)),
        (table.place, len(table.known)),
        (asked, int(asked.max(initial=0)) + 1),
    )
    # Most texts are given once: only the others can be duplicates.
    fixed = np.flatnonzero(table.fixed & (np.bincount(table.text)[table.text] > 1))
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
    rows: Ints = np.flatnonzero(~table.fixed)
    kinds, numbers, decodings = _draws(table, rows)
    rows, kinds, numbers, decodings = (one[kinds > 0] for one in (rows, kinds, numbers, decodings))
    numbers, size = dense(numbers)
    # Most numbers are drawn once: only the others can be the same draw.
    several = np.bincount(numbers, minlength=size)[numbers] > 1
    rows, kinds, numbers, decodings = (one[several] for one in (rows, kinds, numbers, decodings))
    codes, _ = combined(
        dense(questions[rows]), (kinds, 4), (decodings, len(table.sources)), (numbers, size)
    )
    first = rows[_first(codes)]
    source, text = table.source, table.text
    before = source[first] < source[rows]
    # A back end that once gave another text does not keep to seeds.
    differs = np.zeros(len(table.sources), bool)
    differs[source[rows[before & (text[first] != text[rows])]]] = True
    repeated = before & ~differs[source[rows]]
    return rows[repeated], first[repeated]


def _draws(table: Table, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Return what rows were drawn with: a kind, 0 where it is not known, a seed and a decoding.

    A replayed response has the administration, or the file if none is named, and the line of its
    record for a seed, because a file can be replayed twice. In earlier versions replicate r shares
    the stream of ``seed + r``.
    """
    frame, at, noted = table.frame, table.rows[rows], table.frame.noted
    source, shared = table.source[rows], table.shared[rows]
    seeds = frame.seeds[at].astype(np.int64)
    lines = frame.notes["replayed_line"][at].astype(np.int64)
    uids = frame.notes["replayed_administration"][at].astype(np.int64)
    given = [source.conditions for source in table.sources]
    is_model = np.array([one.kind == "model" for one in given])
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
    first = np.array([one.decoding.seed for one in given])[source]
    numbers = np.where(shared, first + frame.replicates[at], numbers)
    named = np.array([bool(value) for value in noted] + [False])[uids]
    files = Places[str]()
    hashes = [source.model_facts.get("file_sha256", "") for source in table.sources]
    by_hash = np.array([files[one] if one else -1 for one in hashes])[source]
    records = np.where(named, uids, len(noted) + by_hash)
    numbers = np.where(lines >= 0, records * (int(lines.max(initial=0)) + 1) + lines, numbers)
    kinds = np.where(shared, _SHARED, np.where(is_seed, _SEEDED, 0))
    kinds = np.where(lines >= 0, np.where(named | (by_hash >= 0), _REPLAYED, 0), kinds)
    ways: dict[object, int] = {}
    decodings = [
        ways.setdefault((one.decoding.temperature, one.decoding.top_p), len(ways)) for one in given
    ]
    kinds = np.where(is_model[source], kinds, 0)
    return kinds, numbers, np.where(kinds == _REPLAYED, 0, np.array(decodings)[source])


def _first(codes: Ints) -> Ints:
    """Return, for each code, the place at which it comes first."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return first[which]


_COLUMNS = ("trials", "attempts", "items", "replicates", "options", "asked", "texts", "statuses")
_TAKEN = (*_COLUMNS, *NOTES, "seeds")


class Memory:
    """Answers of trials that count, taken one by one, as if they were read from a store.

    :meth:`columns` copies what was taken so far, so that more can be taken afterwards.
    """

    def __init__(self) -> None:
        self.starts = [0]
        self.planned: list[Counter[str]] = []
        self._rows = array("q")  # of each response the numbers of _TAKEN
        self._raters: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))  # row, order
        # Of each rating row, value, status and reason.
        self._ratings: defaultdict[str, defaultdict[str, array[float]]]
        self._ratings = defaultdict(lambda: defaultdict(lambda: array("d")))
        self._told: defaultdict[str, dict[int, int]] = defaultdict(dict)  # row to prompt
        self._items, self._shown = Places[tuple[str, str]](), Places[tuple[str, ...]]()
        self._asked, self._noted, self._prompts = Places[object](), Places[str](), Places[str]()
        self._reasons = Places[str]({"": 0})
        self._texts = Places[str]()
        self._of_text = array("q")

    def __len__(self) -> int:
        return len(self._rows) // len(_TAKEN)

    def add(self, source: AdministrationData) -> None:
        """Take all trials of an administration, and what its judges were told."""
        self.planned.append(planned_of(source.trials))
        rows: dict[tuple[int, int], int] = {}
        for trial in source.trials:
            attempt = trial.counting
            if attempt is not None and trial.is_answered:
                rows[trial.plan.number, attempt.number] = len(self)
                self._take(trial, attempt)
        self.starts.append(len(self))
        for judged in source.judged:
            call = judged.judgement
            place = rows.get((judged.trial, judged.attempt))
            if place is not None and not call.repeat and call.rater in self._raters:
                # A later verdict takes the place of an earlier one.
                self._told[call.rater][place] = self._prompts[call.prompt_text]

    def again(self, before: Sequence[Trial], trials: Sequence[Trial]) -> Sequence[Trial]:
        """Take the trials of the only administration as they are now, and return those that differ.

        Those before the first that differs stay as they were taken.
        """
        pairs = enumerate(zip(before, trials, strict=False))
        same = min(len(before), len(trials))
        first = next((at for at, (old, new) in pairs if old is not new), same)
        self._cut(sum(trial.is_answered for trial in before[:first]))
        for trial in trials[first:]:
            if trial.is_answered and trial.counting is not None:
                self._take(trial, trial.counting)
        if len(trials) != len(before):
            self.planned = [planned_of(trials)]
        self.starts = [0, len(self)]
        return [
            trial
            for at, trial in enumerate(trials[first:], first)
            if at >= len(before) or trial is not before[at]
        ]

    def _cut(self, row: int) -> None:
        del self._rows[row * len(_TAKEN) :]
        for rater, own in self._raters.items():
            while own and own[-2] >= row:
                del own[-2:]
            for flat in self._ratings[rater].values():
                while flat and flat[-4] >= row:
                    del flat[-4:]

    def _take(self, trial: Trial, attempt: Attempt) -> None:
        plan, noted, row = trial.plan, attempt.metadata, len(self)
        if attempt.response not in self._texts:
            self._of_text.extend(map(int, of_text(attempt.response)[1:]))
        self._rows.extend((
            plan.number,
            attempt.number,
            self._items[plan.subtest, plan.item],
            plan.replicate,
            self._shown[plan.options],
            self._asked[attempt.messages or plan.prompt],
            self._texts[attempt.response],
            -1 if attempt.status is None else STATUSES.index(attempt.status),
            *(self._noted[noted[name]] if name in noted else -1 for name in NOTES),
            seed_code(noted["seed"], self._noted) if "seed" in noted else -1,
        ))  # fmt: skip
        for order, rating in enumerate(trial.ratings):
            own = self._raters[rating.rater]
            if not own or own[-2] != row:
                own.extend((row, order))
            value = nan if rating.value is None else rating.value
            status, reason = RATING_STATUSES.index(rating.status), self._reasons[rating.reason]
            self._ratings[rating.rater][rating.measure].extend((row, value, status, reason))

    def columns(self) -> Frame:
        """Return what was taken."""
        arrays: dict[str, Any] = dict(
            zip(_TAKEN, np.array(self._rows).reshape(-1, len(_TAKEN)).T, strict=True)
        )
        notes = {name: arrays.pop(name) for name in NOTES}
        listed, of_text = tuple(self._texts), np.array(self._of_text).reshape(-1, 4).T
        return Frame(
            administrations=tuple(range(len(self.planned))),
            starts=np.array(self.starts),
            planned=tuple(self.planned),
            ids=np.empty(0, np.int32),
            places=tuple(self._items),
            shown=tuple(self._shown),
            responses=Texts(lambda start, stop: listed[start:stop], list(of_text)),
            notes=notes,
            noted=tuple(self._noted),
            ratings={name: self._rater(name) for name, own in self._raters.items() if own},
            reasons={code: text for text, code in self._reasons.items()},
            prompts={code: text for text, code in self._prompts.items()},
            **arrays,
        )

    def _rater(self, name: str) -> RaterColumns:
        rows, order = np.array(self._raters[name]).reshape(-1, 2).T
        measures = {}
        for measure, flat in self._ratings[name].items():
            if flat:
                at, values, statuses, reasons = np.array(flat).reshape(-1, 4).T
                integers = (one.astype(np.int32) for one in (at, statuses, reasons))
                own, statuses, reasons = integers
                measures[measure] = Ratings.of(own, values, statuses, reasons)
        told = np.array(sorted(self._told[name].items()), np.int64).reshape(-1, 2).T
        return RaterColumns(rows, order, measures, *told)


def planned_of(trials: Iterable[Trial]) -> Counter[str]:
    """Return the number of trials of each subtest, without practice."""
    return Counter(trial.plan.subtest for trial in trials if not trial.plan.practice)


def columns_in_memory(sources: Sequence[AdministrationData]) -> Frame:
    """Return the answers of trials in memory that count."""
    held = Memory()
    for source in sources:
        held.add(source)
    return held.columns()


TRUNCATED = STATUSES.index(ResponseStatus.TRUNCATED)
NOT_RATED = -1


class Given(NamedTuple):
    """The ratings of one measure by row of a table: value nan or status -1 where there is none."""

    values: NDArray[np.float64]
    statuses: Ints
    reasons: Ints


class Table:
    """The responses of a group of administrations, those that count and their duplicates.

    ``members`` are the places of ``sources`` in the frame; of each, its part has the responses that
    are summarised, None for all.
    """

    def __init__(
        self, frame: Frame, members: Sequence[int], sources: Sequence[AdministrationData]
    ) -> None:
        self.frame = self.columns = frame
        self.members = tuple(members)
        self.sources = sources
        self.battery: Battery = sources[0].battery
        self.planned = [
            frame.planned[place] if source.part is None else source.part.planned
            for place, source in zip(members, sources, strict=True)
        ]
        own = np.array(members)
        starts, stops = frame.starts[own], frame.starts[own + 1]
        if all(source.part is None for source in sources):
            lengths = stops - starts
            before = np.cumsum(lengths) - lengths
            self.rows: Ints = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
        else:
            limits = zip(starts.tolist(), stops.tolist(), strict=True)
            parts = [
                np.arange(*span) if one.part is None else one.part.rows(frame, *span)
                for span, one in zip(limits, sources, strict=True)
            ]
            self.rows, lengths = np.concatenate(parts), np.array([*map(len, parts)])
        self.source: Ints = np.repeat(np.arange(len(members)), lengths)
        self.known = items_of(self.battery, frame)
        self.place: Ints = frame.items[self.rows].astype(np.int64)
        number = [-1 if entry is None else entry[0] for entry in self.known]
        self.subtest: Ints = np.array(number, np.int64)[self.place]
        self.status: Ints = frame.counted[self.rows]
        self.fixed: Bools = frame.fixed[self.rows]
        self.shared: Bools = frame.shared[self.rows]
        self.text: Ints = frame.texts[self.rows]
        self._places: dict[int, Ints] = {}
        self.representative = representatives(self)
        self.counts: Bools = self.representative == np.arange(len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def item(self, place: int) -> Item:
        """Return the item at a place."""
        entry = self.known[place]
        assert entry is not None
        return entry[2]

    @cached_property
    def usable(self) -> Bools:
        """Whether a response can be described; see ``CountedResponse.usable``."""
        closed = np.array([subtest.task.closed for subtest in self.battery.subtests])
        plain: Bools = _USABLE[self.status] | ((self.status == REPEATED) & closed[self.subtest])
        usable: Bools = plain & ~(
            (self.status == TRUNCATED) & self.columns.responses.blank[self.text]
        )
        return usable

    @cached_property
    def connected(self) -> Bools:
        """Whether a response is connected text."""
        of_subtest = np.array([subtest.task.connected for subtest in self.battery.subtests])
        connected: Bools = of_subtest[self.subtest]
        return connected

    @cached_property
    def clusters(self) -> tuple[Ints, list[tuple[str, ...]]]:
        """Cell of each row, and the cells in sorted order: subtest and item.

        Where several speakers are pooled the speaker is the third, and the cluster of intervals.
        """
        people = {source.examinee for source in self.sources if source.is_speaker}
        keys: list[tuple[str, ...]] = list(self.columns.places)
        code = self.place
        if len(people) > 1:
            places, who = len(keys), sorted(people)
            keys = keys + [(*place, one) for one in who for place in keys]
            speaker = np.array(
                [who.index(one.examinee) if one.is_speaker else -1 for one in self.sources]
            )[self.source]
            code = code.astype(np.int64) + (speaker + 1) * places
        used = distinct(code)
        names = sorted({keys[at] for at in used.tolist()})
        rank = {name: at for at, name in enumerate(names)}
        table = np.zeros(len(keys), np.int64)
        table[used] = [rank[keys[at]] for at in used.tolist()]
        return table[code], names

    def _found(self, rated: Ints) -> Ints:
        """Return, for each row, its place in ``rated``, rows of the frame; or -1."""
        if id(rated) not in self._places:
            place = np.searchsorted(rated, self.rows.astype(rated.dtype)).astype(np.int32)
            place[place == len(rated)] = 0
            is_rated = rated[place] == self.rows if len(rated) else np.zeros(len(place), bool)
            self._places[id(rated)] = np.where(is_rated, place, -1)
        return self._places[id(rated)]

    def values_at(self, rated: Ints, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the rows of this table among ``rated``, ascending, and their values."""
        found = self._found(rated)
        rows = np.flatnonzero(found >= 0)
        return [rows, values[found[rows]]]

    def order(self, rater: str) -> Ints:
        """Return the place of a rater among those who rated each response; -1: it did not."""
        ratings = self.columns.ratings[rater]
        rows, given = self.values_at(ratings.rows, ratings.order)
        order = np.full(len(self), -1, np.int64)
        order[rows] = given
        return order

    def spread(self, ratings: Ratings | None, rows: Ints | None = None) -> Given:
        """Return the ratings of a measure for every row, or for some."""
        n = len(self) if rows is None else len(rows)
        given = Given(np.full(n, np.nan), np.full(n, NOT_RATED, np.int8), np.zeros(n, np.int32))
        if ratings is not None:
            found = self._found(ratings.rows) if rows is None else self._found(ratings.rows)[rows]
            at = np.flatnonzero(found >= 0)
            if len(at) == n:
                values, statuses, reasons = ratings.at(found)
                return Given(values.astype(np.float64, copy=False), statuses, reasons)
            for own, known in zip(given, ratings.at(found[at]), strict=True):
                own[at] = known
        return given

    def measure(self, rater: str, measure: str, rows: Ints | None = None) -> Given:
        """Return what a rater gave to a measure."""
        ratings = self.columns.ratings.get(rater)
        return self.spread(None if ratings is None else ratings.measures.get(measure), rows)

    def verdict(self, rater: str, policy: str, rows: Ints | None = None) -> Given:
        """Return a scorer's verdicts; ``exact`` is its first verdict, whatever its name."""
        names = [source.verdict_measure(rater, policy) for source in self.sources]
        first, *others = dict.fromkeys(names)
        given = self.measure(rater, first, rows)
        sources = self.source if rows is None else self.source[rows]
        for name in others:
            own = np.array([key == name for key in names])[sources]
            pairs = zip(self.measure(rater, name, rows), given, strict=True)
            given = Given(*(np.where(own, other, known) for other, known in pairs))
        return given

    def side(self, rows: Ints, values: NDArray[np.float64]) -> Side:
        """Return values of rows by item as one side of a comparison; nan is left out."""
        return side_of(
            self.columns.places,
            self.place[rows],
            values,
            self.fixed[rows],
            self.shared[rows],
            self.battery.clusters,
        )

    def chosen(self, rater: str) -> Ints:
        """Return, for each row that counts, the row that a rater has rated: it or a duplicate."""
        rows = np.flatnonzero(self.order(rater) >= 0)
        best = np.full(len(self), len(self))
        np.minimum.at(best, self.representative[rows], rows)
        own = np.arange(len(self))
        return np.where(best < len(self), best, own)[self.counts]


def table_of(sources: Sequence[AdministrationData]) -> Table:
    """Return the table of administrations of one battery.

    Responses that were read together as columns are taken from these; else trials in memory are.
    """
    read = [source.columns for source in sources if source.columns is not None]
    if not read:
        frame = prepare(columns_in_memory(sources), sources)
        return Table(frame, range(len(sources)), sources)
    if len(read) < len(sources) or any(frame is not read[0][0] for frame, _ in read):
        raise ValueError("the columns of these administrations were not read together")
    return Table(read[0][0], [place for _, place in read], sources)


def side_of(
    names: Sequence[Place],
    items: Ints,
    values: NDArray[np.float64],
    fixed: Bools,
    shared: Bools,
    clusters: Mapping[Place, str],
) -> Side:
    """Return values of responses by item as one side of a comparison; nan is left out."""
    known = ~np.isnan(values)
    items, values = items[known], values[known]
    return Side(
        {names[item]: tuple(values[items == item].tolist()) for item in first_of(items)},
        bool(len(items)) and bool(fixed[known].all()),
        bool(shared[known].any()),
        clusters,
    )


def first_of(values: Ints) -> list[int]:
    """Return the different values in the order in which they come first."""
    different, at = np.unique(values, return_index=True)
    return different[np.argsort(at)].tolist()  # type: ignore[no-any-return]


def status_counts(table: Table, rows: Ints) -> dict[str, int]:
    """Return response status to number of responses, in the order in which they come first."""
    statuses = table.status[rows]
    n = np.bincount(statuses[statuses >= 0], minlength=len(STATUSES))
    return {STATUSES[code].value: int(n[code]) for code in first_of(statuses[statuses >= 0])}


def unusable(table: Table, rows: Ints) -> Ints:
    """Return, of each response, the status that makes it unusable, a place in ``STATUSES``; or
    -1.
    """
    return np.where(table.usable[rows], -1, table.status[rows])


def usable_of(table: Table, rows: Ints) -> Usable:
    """Return how many responses are usable, and why others are not."""
    n = np.bincount(unusable(table, rows) + 1, minlength=len(STATUSES) + 1).tolist()
    names = ("", *(status.value for status in STATUSES))
    return count_usable(
        Counter({name: times for name, times in zip(names, n, strict=True) if times})
    )

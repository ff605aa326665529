"""PER, FER and traces of thousands of utterances at once, in numpy.

The same rules and ties as in :mod:`tabwb.phonology.distance`, which is the readable version; a
property test compares the two. Distances are whole quarters of a feature, so they are exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tabwb.phonology.distance import (
    FeatureChange,
    Operation,
    Step,
    feature_changes,
    indel_cost,
    substitution_cost,
)
from tabwb.phonology.inventory import CLASSES, FEATURES, PHONEMES, SILENT
from tabwb.phonology.labels import Mapped
from tabwb.records.errors import MissingExtra

Ints = NDArray[np.int32]

QUARTERS = 4
"""Costs are kept as whole quarters of a feature, so that sums are exact and ties are ties."""

NEVER = 1000
"""Quarters of a forbidden substitution: a deletion with an insertion is cheaper."""


@dataclass(frozen=True, eq=False)
class CostTable:
    """An inventory and the cost of each step in it.

    Attributes:
        labels: of the inventory, K of them; a label's code is its index, K stands for none.
        substitution: int32 (K, K), in quarters of a feature; 0 on the diagonal.
        indel: int32 (K,), in quarters of a feature.
        spoken: bool (K,); False for silence and noise, which cost nothing and are not counted.
        features: how many features a phoneme has; distances are over ``features x phonemes``.
    """

    labels: tuple[str, ...]
    substitution: Ints
    indel: Ints
    spoken: NDArray[np.bool_]
    features: int

    @cached_property
    def codes(self) -> dict[str, int]:
        """Label to code."""
        return {label: code for code, label in enumerate(self.labels)}

    @property
    def none(self) -> int:
        """The code that stands for no label: the other side of an insertion or deletion."""
        return len(self.labels)

    @cached_property
    def step_quarters(self) -> Ints:
        """int32 ((K + 1) squared,): quarters of each step, by ``ref x (K + 1) + hyp``."""
        size = len(self.labels) + 1
        quarters = np.zeros((size, size), dtype=np.int32)
        quarters[:-1, :-1] = self.substitution
        quarters[:-1, -1] = quarters[-1, :-1] = self.indel
        return quarters.ravel()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every possible step, by ``ref x (K + 1) + hyp``; the last one is empty."""
        either = (*self.labels, None)
        quarters = iter(self.step_quarters.tolist())
        return tuple(_step(ref, hyp, next(quarters)) for ref in either for hyp in either)


@lru_cache(maxsize=1)
def psst_costs() -> CostTable:
    """Return the 40 phonemes and silence, with the costs of :mod:`tabwb.phonology.distance`.

    >>> costs = psst_costs()
    >>> int(costs.substitution[costs.codes["P"], costs.codes["M"]])  # 3.5 features
    14
    """
    return _make_costs(
        PHONEMES,
        [[substitution_cost(phoneme, other) for other in PHONEMES] for phoneme in PHONEMES],
        [indel_cost(phoneme) for phoneme in PHONEMES],
        len(FEATURES),
    )


def _make_costs(
    phonemes: Sequence[str],
    substitution: Sequence[Sequence[float]],
    indel: Sequence[float],
    features: int,
) -> CostTable:
    """Return a table of K x K and K costs, multiples of 0.25 features, with silence and noise."""
    size, silent = len(phonemes), len(SILENT)
    full = np.full((size + silent, size + silent), NEVER, dtype=np.int32)
    full[:size, :size] = _quarters(substitution).reshape(size, size)
    np.fill_diagonal(full, 0)
    return CostTable(
        labels=(*phonemes, *SILENT),
        substitution=full,
        indel=np.concatenate([_quarters(indel), np.zeros(silent, dtype=np.int32)]),
        spoken=np.arange(size + silent) < size,
        features=features,
    )


def _quarters(costs: Sequence[Sequence[float]] | Sequence[float]) -> Ints:
    scaled = QUARTERS * np.asarray(costs, dtype=np.float64)
    whole = scaled.astype(np.int32)
    if (whole != scaled).any():
        raise ValueError("costs that are not multiples of a quarter of a feature")
    return whole


def _step(ref: str | None, hyp: str | None, quarters: int) -> Step:
    if ref == hyp:
        return Step("EQ", ref, hyp, 0.0)
    op: Operation = "INS" if ref is None else "DEL" if hyp is None else "SUB"
    return Step(op, ref, hyp, quarters / QUARTERS)


PANPHON_LIMITS: Final = (
    "Distances over panphon's 24 features, not PSST's: panphon has no ɝ and ɚ, and a diphthong is "
    "two segments. These rates are not comparable with PSST's."
)
"""Shown with every figure."""
_PLAIN: Final = str.maketrans("g", "ɡ", "ˈˌ'.|/[]")


@cache
def _table() -> Any:
    try:
        import panphon
    except ImportError as error:
        raise MissingExtra("the inventory of panphon", "panphon", package="panphon") from error
    return panphon.FeatureTable()


def segment(text: str) -> Mapped:
    """Read IPA, silence and noise as words, as panphon's segments, and unknown letters."""
    table = _table()
    segments: list[str] = []
    dropped: Counter[str] = Counter()
    for word in text.split():
        if word.lower() in SILENT:
            segments.append(word.lower())
            continue
        for letter in table.segs_safe(word.translate(_PLAIN)):
            if table.seg_known(letter):
                segments.append(letter)
            else:
                dropped[letter] += 1
    return Mapped(tuple(segments), dropped)


def panphon_costs(utterances: Iterable[Sequence[str]]) -> CostTable:
    """Return the costs of all segments of some utterances.

    Substitution: the sum over 24 features of |a - b| / 2; insertion, deletion: the sum of 0.5 where
    the value is 0, else 1 (PSST, section 4.1 and figure 1, on panphon's values).
    """
    table = _table()
    spoken = sorted({phoneme for utterance in utterances for phoneme in utterance} - set(SILENT))
    values = [table.fts(phoneme).numeric() for phoneme in spoken]
    return _make_costs(
        spoken,
        [[sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2 for y in values] for x in values],
        [sum(1.0 if value else 0.5 for value in phoneme) for phoneme in values],
        len(table.names),
    )


Longs = NDArray[np.int64]

_DELETE: Final = np.int8(0)
_INSERT: Final = np.int8(1)
_DIAGONAL: Final = np.int8(2)
_CELLS = 4_000_000
"""Number of cells of the dynamic program held at once; longer utterances are processed alone."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Distances and feature alignments of N utterances.

    Attributes:
        costs: the inventory and its costs.
        quarters: int64 (N,): feature distance, in quarters of a feature.
        edits: int64 (N,): phoneme distance, in phonemes.
        phonemes: int64 (N,): phonemes of the reference, silence not counted.
        codes: int32 (S,): every step of FER's alignments, utterance after utterance, as
            ``ref x (K + 1) + hyp`` with K labels in the inventory and K for none.
        offsets: int64 (N + 1,): where each utterance's steps begin in ``codes``.
    """

    costs: CostTable
    quarters: Longs
    edits: Longs
    phonemes: Longs
    codes: Ints
    offsets: Longs

    def traces(self) -> list[tuple[Step, ...]]:
        """Return FER's alignments of all utterances."""
        steps = self.costs.steps
        every = [steps[code] for code in self.codes.tolist()]
        return [tuple(every[begin:end]) for begin, end in pairwise(self.offsets.tolist())]

    @property
    def feature_distance(self) -> float:
        """Sum of all feature distances, in features."""
        return int(self.quarters.sum()) / QUARTERS

    @property
    def feature_length(self) -> int:
        """What FER divides by: features x phonemes of all references."""
        return self.costs.features * self.phoneme_length

    @property
    def phoneme_distance(self) -> int:
        """Sum of all edits."""
        return int(self.edits.sum())

    @property
    def phoneme_length(self) -> int:
        """What PER divides by: phonemes of all references."""
        return int(self.phonemes.sum())

    @property
    def fer(self) -> float | None:
        """Feature error rate: sum of distances / (features x reference phonemes) over the corpus.

        Never a mean over utterances; None without a phoneme in a reference (PSST, section 4.1).
        """
        return self.feature_distance / self.feature_length if self.phoneme_length else None

    @property
    def per(self) -> float | None:
        """Phoneme error rate: sum of edits / reference phonemes over the corpus."""
        return self.phoneme_distance / self.phoneme_length if self.phoneme_length else None

    def step_counts(self) -> Longs:
        """Return how often each step occurs: int64 (K + 1, K + 1), reference by hypothesis."""
        size = len(self.costs.labels) + 1
        return np.bincount(self.codes, minlength=size * size).reshape(size, size)

    def some(self, utterances: Sequence[int]) -> Scores:
        """Return the scores of some utterances only, in the order asked for."""
        index = np.asarray(utterances, dtype=np.int64)
        lengths = np.diff(self.offsets)[index]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        codes = self.codes[np.repeat(self.offsets[:-1][index], lengths) + within]
        counts = self.quarters[index], self.edits[index], self.phonemes[index]
        return Scores(self.costs, *counts, codes, offsets)


def score(
    refs: Sequence[Sequence[str]],
    hyps: Sequence[Sequence[str]],
    costs: CostTable | None = None,
) -> Scores:
    """Score transcripts against references.

    >>> found = score([["OW", "P", "UH"], []], [["OW", "M", "UH"], ["F"]])
    >>> found.quarters.tolist(), found.edits.tolist(), found.phonemes.tolist()
    ([14, 80], [1, 1], [3, 0])
    >>> [step.op for step in found.traces()[0]]
    ['EQ', 'SUB', 'EQ']
    """
    if len(refs) != len(hyps):
        raise ValueError(f"{len(refs)} references and {len(hyps)} hypotheses")
    costs = costs or psst_costs()
    ref_codes, hyp_codes = (
        np.array([costs.codes[label] for labels in side for label in labels], dtype=np.int32)
        for side in (refs, hyps)
    )
    ref_sizes, hyp_sizes = (np.array([*map(len, side)], dtype=np.int64) for side in (refs, hyps))
    quarters, edits, steps = (np.zeros(len(refs), dtype=np.int64) for _ in range(3))
    pieces: list[tuple[Longs, Ints]] = []
    for chosen in _buckets(ref_sizes, hyp_sizes):
        ref = _padded(ref_codes, ref_sizes, chosen, costs)
        hyp = _padded(hyp_codes, hyp_sizes, chosen, costs)
        sizes = ref_sizes[chosen], hyp_sizes[chosen]
        quarters[chosen], edits[chosen], operations = _distances(ref, hyp, sizes, costs)
        codes, lengths = _walk_back(ref, hyp, sizes, operations, costs)
        steps[chosen] = lengths
        pieces.append((chosen, codes))
    offsets = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
    every = np.empty(offsets[-1], dtype=np.int32)
    for chosen, codes in pieces:
        lengths = steps[chosen]
        begins = np.repeat(offsets[:-1][chosen] - (np.cumsum(lengths) - lengths), lengths)
        every[begins + np.arange(len(codes))] = codes
    spoken = np.append(costs.spoken, False)[ref_codes]
    before, ends = np.concatenate([[0], np.cumsum(spoken)]).astype(np.int64), np.cumsum(ref_sizes)
    return Scores(costs, quarters, edits, before[ends] - before[ends - ref_sizes], every, offsets)


def _buckets(ref_sizes: Longs, hyp_sizes: Longs) -> Iterator[Longs]:
    """Yield the indices (int64) of utterances of similar length, to limit the padding."""
    order = np.lexsort((hyp_sizes, ref_sizes))
    begin = 0
    while begin < len(order):
        end, rows, columns = begin, 1, 1
        while end < len(order):
            utterance = order[end]
            rows_then = max(rows, int(ref_sizes[utterance]) + 1)
            columns_then = max(columns, int(hyp_sizes[utterance]) + 1)
            cells = rows_then * (rows_then + columns_then)
            if end > begin and (
                cells * (end + 1 - begin) > _CELLS or cells > 1.5 * rows * (rows + columns) + 100
            ):
                break
            rows, columns, end = rows_then, columns_then, end + 1
        yield order[begin:end]
        begin = end


def _padded(codes: Ints, sizes: Longs, chosen: Longs, costs: CostTable) -> Ints:
    """Return the chosen utterances as int32 (longest, n), padded with the code for none."""
    begins = (np.cumsum(sizes) - sizes)[chosen]
    at = np.arange(int(sizes[chosen].max(initial=0)))[:, None]
    inside = at < sizes[chosen]
    padded = np.full(inside.shape, costs.none, dtype=np.int32)
    padded[inside] = codes[(begins + at)[inside]]
    return padded


def _distances(
    ref: Ints, hyp: Ints, sizes: tuple[Longs, Longs], costs: CostTable
) -> tuple[Longs, Longs, NDArray[np.int8]]:
    """Return the dynamic program of both metrics, one anti-diagonal of all utterances at a time."""
    rows, columns, count = len(ref), len(hyp), ref.shape[1]
    # Half as wide is twice as fast, where no sum can run over.
    narrow = int(costs.indel.max()) * (rows + columns) + NEVER < np.iinfo(np.int16).max
    kind = np.dtype(np.int16 if narrow else np.int32)
    table = costs.step_quarters.astype(kind)
    indel = np.append(costs.indel, 0).astype(kind)
    edit = np.append(costs.spoken, False).astype(kind)
    # Row i meets column diagonal - i: hypotheses lie backwards, to be read forwards along it.
    turned = hyp[::-1].astype(np.intp)
    rowwise = ref.astype(np.intp) * len(indel)
    deleted, inserted, deletion, insertion = indel[ref], indel[turned], edit[ref], edit[turned]
    operations = np.empty((rows + columns + 1, rows + 1, count), dtype=np.int8)
    quarters, edits = np.zeros((2, count), dtype=np.int64)
    ends = sizes[0] + sizes[1]
    # Distances on this diagonal, the last, and the one before; [0] in quarters, [1] in edits.
    now, last, before = np.zeros((3, 2, rows + 1, count), dtype=kind)
    for diagonal in range(1, rows + columns + 1):
        low, high = max(0, diagonal - columns), min(rows, diagonal)
        if low == 0:  # the first row: everything inserted
            across = columns - diagonal
            np.add(last[0, 0], inserted[across], out=now[0, 0])
            np.add(last[1, 0], insertion[across], out=now[1, 0])
            operations[diagonal, 0] = _INSERT
        if high == diagonal:  # the first column: everything deleted
            above = diagonal - 1
            np.add(last[0, above], deleted[above], out=now[0, diagonal])
            np.add(last[1, above], deletion[above], out=now[1, diagonal])
            operations[diagonal, diagonal] = _DELETE
        first, stop = max(low, 1), min(high, diagonal - 1) + 1
        if first < stop:
            here, up = slice(first, stop), slice(first - 1, stop - 1)
            left = slice(columns - diagonal + first, columns - diagonal + stop)
            equal = ref[up] == turned[left]
            step = operations[diagonal, here]
            best = np.add(last[0, up], deleted[up], out=now[0, here])
            other = last[0, here] + inserted[left]
            less = other < best
            np.minimum(best, other, out=best)
            step[...] = less  # false is _DELETE, true _INSERT
            np.add(before[0, up], table.take(rowwise[up] + turned[left]), out=other)
            # Equal labels win a tie, other substitutions lose it.
            np.less(other, best + equal, out=less)
            np.minimum(best, other, out=best)
            step[less] = _DIAGONAL
            # An edit more than both ways round is never cheapest: silence needs no separate case.
            best = np.add(last[1, up], deletion[up], out=now[1, here])
            np.minimum(best, np.add(last[1, here], insertion[left], out=other), out=best)
            np.minimum(best, np.add(before[1, up], ~equal, out=other), out=best)
        over = np.flatnonzero(ends == diagonal)
        if over.size:
            quarters[over], edits[over] = now[:, sizes[0][over], over]
        before, last, now = last, now, before
    return quarters, edits, operations


def _walk_back(
    ref: Ints,
    hyp: Ints,
    sizes: tuple[Longs, Longs],
    operations: NDArray[np.int8],
    costs: CostTable,
) -> tuple[Ints, Longs]:
    """Return the codes of all steps in order of time, and how many each utterance has."""
    count, none = ref.shape[1], costs.none
    size = none + 1
    row, column = sizes[0].copy(), sizes[1].copy()
    # A row of padding on top, so that index -1 of what is finished reads none.
    ref, hyp = (np.vstack([codes, np.full((1, count), none, np.int32)]) for codes in (ref, hyp))
    every = np.arange(count)
    backwards = np.full((len(ref) + len(hyp) - 2, count), none * size + none, dtype=np.int32)
    for at in range(len(backwards)):
        step = operations[row + column, row, every]
        active = (row > 0) | (column > 0)
        if not active.any():
            break
        up, left = (step != _INSERT) & active, (step != _DELETE) & active
        ref_label = np.where(up, ref[row - 1, every], none)
        hyp_label = np.where(left, hyp[column - 1, every], none)
        backwards[at] = ref_label * size + hyp_label
        row, column = row - up, column - left
    in_order = backwards[::-1].T
    real = in_order != none * size + none
    return in_order[real], real.sum(axis=1)


@dataclass(frozen=True, slots=True)
class Rate:
    """PER and FER of some utterances, as fractions of sums."""

    name: str
    utterances: int
    per_distance: int
    per_length: int
    fer_distance: float
    fer_length: int

    @property
    def per(self) -> float | None:
        """Phoneme error rate; None (undefined) without a phoneme in the references."""
        return self.per_distance / self.per_length if self.per_length else None

    @property
    def fer(self) -> float | None:
        """Feature error rate; None (undefined) without a phoneme in the references."""
        return self.fer_distance / self.fer_length if self.fer_length else None


@dataclass(frozen=True, slots=True)
class Confusion:
    """A step of an alignment other than a match, with its count."""

    step: Step
    count: int


@dataclass(frozen=True, slots=True)
class ChangedFeature:
    """How often one feature changed in one direction, over all substitutions."""

    change: FeatureChange
    count: int


@dataclass(frozen=True, slots=True)
class ClassRate:
    """Errors on the reference phonemes of one class.

    Attributes:
        name: of the class.
        phonemes, substituted, deleted: number in the references, and how many of them were.
        kept_class: number substituted by a phoneme of the same class.
        inserted: number of insertions of the class in hypotheses.
        fer_distance: in features, of its substitutions and deletions.
    """

    name: str
    phonemes: int
    substituted: int
    deleted: int
    kept_class: int
    inserted: int
    fer_distance: float

    @property
    def error_rate(self) -> float | None:
        """(substituted + deleted) / phonemes; None (undefined) where the class does not occur."""
        return (self.substituted + self.deleted) / self.phonemes if self.phonemes else None


def rate_of(name: str, scores: Scores) -> Rate:
    """Return the rates of all utterances of these scores."""
    edits, features = scores.phoneme_distance, scores.feature_distance
    lengths = scores.phoneme_length, scores.feature_length
    return Rate(name, len(scores.quarters), edits, lengths[0], features, lengths[1])


def rates_by(scores: Scores, groups: Sequence[str]) -> list[Rate]:
    """Return the rates of each group of utterances, in order of first appearance."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for utterance, name in enumerate(groups):
        members[name].append(utterance)
    return [rate_of(name, scores.some(chosen)) for name, chosen in members.items()]


def confusions(scores: Scores) -> list[Confusion]:
    """Return substitutions, insertions and deletions of phonemes, the most frequent first."""
    steps, spoken = scores.costs.steps, np.append(scores.costs.spoken, True)
    counts = scores.step_counts()
    counts[~spoken, :] = counts[:, ~spoken] = 0
    np.fill_diagonal(counts, 0)
    flat = counts.ravel()
    order = np.argsort(-flat, kind="stable")[: int((flat > 0).sum())]
    return [Confusion(steps[code], int(flat[code])) for code in order.tolist()]


def changed_features(confused: Sequence[Confusion]) -> list[ChangedFeature]:
    """Return how often each feature changed in substitutions, most frequent first (PSST, fig. 1).

    >>> step = Step("SUB", "B", "P", 1.0)
    >>> [(str(each.change), each.count) for each in changed_features([Confusion(step, 3)])]
    [('+voice → -voice', 3)]
    """
    counts: Counter[FeatureChange] = Counter()
    for confusion in confused:
        if confusion.step.ref is not None and confusion.step.hyp is not None:
            for change in feature_changes(confusion.step.ref, confusion.step.hyp):
                counts[change] += confusion.count
    return [ChangedFeature(change, count) for change, count in counts.most_common()]


def class_rates(scores: Scores) -> list[ClassRate]:
    """Return the outcome of each class of phonemes (stops, nasals, ...), in their order."""
    counts = scores.step_counts()
    quarters = counts * scores.costs.step_quarters.reshape(counts.shape)
    codes, none = scores.costs.codes, scores.costs.none
    rates = []
    for name, members in CLASSES.items():
        mine = [codes[phoneme] for phoneme in members]
        others = list(range(none))
        kept = int(np.trace(counts[np.ix_(mine, mine)]))
        within = int(counts[np.ix_(mine, mine)].sum())
        paired = int(counts[np.ix_(mine, others)].sum())
        deleted = int(counts[mine, none].sum())
        rates.append(
            ClassRate(
                name,
                phonemes=paired + deleted,
                substituted=paired - kept,
                deleted=deleted,
                kept_class=within - kept,
                inserted=int(counts[none, mine].sum()),
                fer_distance=int(quarters[mine, :].sum()) / QUARTERS,
            )
        )
    return rates

"""Raters compared on the features of samples: with each other, with a consensus, with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from tabwb.agreement.compare import FEWEST_SHARED, Comparison, compare
from tabwb.agreement.consensus import Ties, consensus, majority, rest_of
from tabwb.agreement.many import alpha_intervals, binary_alpha, binary_counts, fleiss_kappa
from tabwb.agreement.pairs import Counts, samples
from tabwb.agreement.resampling import DRAWS, SEED
from tabwb.agreement.verdicts import ABSENT, CANNOT_TELL, PRESENT, Verdicts, cannot_tell_as
from tabwb.report.summaries.agreement.rated import Ints, Measure, Rated
from tabwb.scoring.estimate import Interval

CannotTell = Literal["missing", "absent"]
MOST_DRAWN = 20_000_000
"""Samples times draws of one comparison; of more samples fewer draws are made."""
FEWEST_DRAWS = 200
NO_PAIR = "no sample has verdicts of two raters"
TOO_FEW = f"no two raters share {FEWEST_SHARED} samples"
CONSTANT = "no rater varies"


@dataclass(frozen=True, slots=True)
class Choices:
    """How agreement is computed.

    Attributes:
        ties: what a tie of the consensus becomes.
        cannot_tell: what "cannot tell" counts as.
        draws: of intervals; None: as many as :func:`draws_for` says.
        seed: of the draws.
    """

    ties: Ties = "drop"
    cannot_tell: CannotTell = "missing"
    draws: int | None = None
    seed: int = SEED


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Verdicts with all that every comparison of them shares.

    Attributes:
        raters: names; ``main``: places of those who are compared with each other.
        verdicts: int8 of shape (raters, samples, features).
        consensus: of the main raters, int8 of shape (samples, features).
    """

    raters: tuple[str, ...]
    features: tuple[Measure, ...]
    verdicts: Verdicts
    main: tuple[int, ...]
    consensus: Verdicts
    draws: int
    seed: int
    speakers: Ints | None

    @property
    def own(self) -> Verdicts:
        """The verdicts of the main raters."""
        return self.verdicts[list(self.main)]

    def compared(
        self, names: Sequence[tuple[str, str]], pairs: Sequence[tuple[Verdicts, Verdicts]]
    ) -> Among | None:
        """Return the agreement of some pairs; None where none has a sample in common.

        Args:
            names: of both raters of each pair.
            pairs: their verdicts, int8 of shape (samples, features).
        """
        shared = [bool(((one >= 0) & (other >= 0)).any()) for one, other in pairs]
        if not any(shared):
            return None
        found = compare(
            [pair for pair, has in zip(pairs, shared, strict=True) if has],
            self.consensus,
            draws=self.draws,
            seed=self.seed,
            speakers=self.speakers,
        )
        kept = tuple(name for name, has in zip(names, shared, strict=True) if has)
        left = tuple(name for name, has in zip(names, shared, strict=True) if not has)
        return Among(kept, left, found)


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """Pairs of raters compared.

    Attributes:
        names: of both raters of each pair.
        apart: pairs without a sample in common.
        found: see :class:`tabwb.agreement.compare.Comparison`.
    """

    names: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]
    found: Comparison

    @property
    def shared(self) -> Counts:
        """The most samples that each pair shares for a feature: int64 of shape (pairs,)."""
        most: Counts = samples(self.found.tables).max(axis=1)
        return most

    @property
    def tables(self) -> Counts:
        """The tables of all pairs that are averaged, added: int64 of shape (features, 2, 2)."""
        total: Counts = (self.found.tables * self.found.averaged[..., None, None]).sum(axis=0)
        return total


@dataclass(frozen=True, slots=True)
class FeatureCounts:
    """What the main raters gave to one feature.

    Attributes:
        n: samples with verdicts of two or more of them.
        verdicts: number of all their verdicts; ``present`` of those.
        ties: samples on which as many say present as absent.
        positives: samples that the consensus calls present, the weight of the feature.
        unsure: "cannot tell".
        alpha: Krippendorff's, None where undefined; ``alpha_interval``: over samples or speakers.
        fleiss: Fleiss' kappa; None where undefined, also with unequal numbers of verdicts.
    """

    n: int
    verdicts: int
    present: int
    ties: int
    positives: int
    unsure: int
    alpha: float | None
    alpha_interval: Interval | None
    fleiss: float | None

    @property
    def prevalence(self) -> float | None:
        """The share of verdicts that say present, p; ``p (1 - p)`` is their variance."""
        return self.present / self.verdicts if self.verdicts else None


def draws_for(n: int, asked: int | None) -> int:
    """Return the number of draws of intervals.

    >>> draws_for(82, None), draws_for(112_000, None), draws_for(82, 500)
    (2000, 200, 500)
    """
    if asked is not None:
        return asked
    return max(FEWEST_DRAWS, min(DRAWS, MOST_DRAWN // max(n, 1)))


def task_of(rated: Rated, choices: Choices) -> Task:
    """Return the verdicts on features ready to be compared.

    The main raters are the people; with fewer than two, everybody.
    """
    people = rated.places(rated.people)
    main = tuple(people if len(people) > 1 else range(len(rated.raters)))
    verdicts = rated.verdicts
    if choices.cannot_tell == "absent":
        verdicts = cannot_tell_as(verdicts, ABSENT)
    agreed = consensus(verdicts[list(main)], ties=choices.ties, adjudicated=rated.adjudicated)
    draws = draws_for(len(rated.samples), choices.draws)
    return Task(rated.raters, rated.features, verdicts, main, agreed, draws, choices.seed,
                rated.speakers)  # fmt: skip


def main_pairs(task: Task) -> Among | None:
    """Return every two main raters compared."""
    pairs = list(combinations(task.main, 2))
    names = [(task.raters[one], task.raters[other]) for one, other in pairs]
    return task.compared(
        names, [(task.verdicts[one], task.verdicts[other]) for one, other in pairs]
    )


def with_each(task: Task, rater: int) -> Among | None:
    """Return a rater compared with each main rater: like :func:`main_pairs`, pair by pair."""
    names = [(task.raters[rater], task.raters[person]) for person in task.main]
    return task.compared(
        names, [(task.verdicts[rater], task.verdicts[person]) for person in task.main]
    )


def with_consensus(task: Task, rater: int) -> Among | None:
    """Return a rater, none of the main ones, compared with the consensus of these."""
    pair = task.verdicts[rater], task.consensus
    return task.compared([(task.raters[rater], "consensus")], [pair])


def with_rest(task: Task) -> tuple[Among, ...]:
    """Return each main rater compared with the majority of the others; none with fewer than 3.

    Where fewer than two others have a verdict there is no majority; their ties count for nobody.
    """
    if len(task.main) < 3:
        return ()
    rest = rest_of(task.own)
    found = (
        task.compared([(task.raters[place], "the others")], [(task.verdicts[place], others)])
        for place, others in zip(task.main, rest, strict=True)
    )
    return tuple(among for among in found if among is not None)


def counts_of(task: Task, rated: Rated) -> tuple[FeatureCounts, ...]:
    """Return what the main raters gave to each feature."""
    own = task.own
    counts = binary_counts(own)
    present, absent = counts[..., 1].sum(axis=0), counts[..., 0].sum(axis=0)
    shared = (counts.sum(axis=-1) >= 2).sum(axis=0)
    tied = majority(own)[1].sum(axis=0)
    unsure = (rated.verdicts[list(task.main)] == CANNOT_TELL).sum(axis=(0, 1))
    positives = (task.consensus == PRESENT).sum(axis=0)
    alpha = binary_alpha(own)
    ends = np.full((len(alpha), 2), np.nan)
    if task.draws and shared.any():
        ends = alpha_intervals(own, draws=task.draws, seed=task.seed, speakers=task.speakers)
    return tuple(
        FeatureCounts(
            n=int(shared[at]),
            verdicts=int(present[at] + absent[at]),
            present=int(present[at]),
            ties=int(tied[at]),
            positives=int(positives[at]),
            unsure=int(unsure[at]),
            alpha=defined(alpha[at]),
            alpha_interval=None if np.isnan(ends[at]).any() else Interval(*ends[at].tolist()),
            fleiss=defined(fleiss_kappa(counts[:, at])),
        )
        for at in range(len(task.features))
    )


def defined(value: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if np.isnan(value) else float(value)

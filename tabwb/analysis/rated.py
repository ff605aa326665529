"""What raters gave to samples, as arrays: of a table, of administrations, or of a rating set."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabwb.agreement.verdicts import MISSING, Floats, Verdicts
from tabwb.battery.forms import Kind
from tabwb.records.errors import UsageError
from tabwb.records.words import near
from tabwb.scoring.estimate import Interval

Ints = NDArray[np.int64]
_JUDGE = re.compile(r"[:@]|^(rules|naming)-\d+$|^chat-codes$")
"""No code of a person has ``:`` or ``@``; the other names are of raters that tabwb has."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that was rated.

    Attributes:
        id: its name.
        title: for people.
        kind: what its values are.
        objective: whether it has a clear criterion; None where nothing says so.
    """

    id: str
    title: str
    kind: Kind = "present-absent"
    objective: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers to a measure that is not present or absent.

    Attributes:
        measure: which one.
        values: float64 of shape (raters, samples): numbers of a scale, else places in ``words``;
            NaN where there is none.
        words: the different texts; of a scale none.
        unsure: "cannot tell" of all raters together.
    """

    measure: Measure
    values: Floats
    words: tuple[str, ...] = ()
    unsure: int = 0


@dataclass(frozen=True, slots=True)
class Guesses:
    """How often a rater told a person's sample from a machine's; the interval is exact."""

    rater: str
    right: int
    n: int
    interval: Interval | None


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """What raters gave to the same samples.

    Attributes:
        source: what was read, in words.
        samples: their ids.
        raters: their names.
        judges: those of them that are not people.
        features: the measures that are present or absent.
        verdicts: int8 of shape (raters, samples, features), see :mod:`tabwb.agreement.verdicts`.
        again: further ratings by the same raters of the same samples, each of the same shape.
        correctness: rules by which a name is right, of listeners; ``right``: int8 of shape (raters,
            samples, rules).
        others: answers to other measures.
        adjudicated: int8 of shape (samples, features): what was settled; None where nothing was.
        speakers: of each sample a number, equal where one person said both; None: all differ.
        objective_source: who divides features into objective and subjective ones, or empty.
        guesses: answers to "person or machine?".
        notes: what is to be known of the data.
        flagged: bool of shape (raters, samples): ratings that are doubtful, see
            :func:`tabwb.battery.form_answers.flag_of`; None where nothing says it.
    """

    source: str
    samples: Sequence[str]
    raters: tuple[str, ...]
    judges: frozenset[str]
    features: tuple[Measure, ...]
    verdicts: Verdicts
    again: tuple[Verdicts, ...] = ()
    correctness: tuple[Measure, ...] = ()
    right: Verdicts | None = None
    others: tuple[Answers, ...] = ()
    adjudicated: Verdicts | None = None
    speakers: Ints | None = None
    objective_source: str = ""
    guesses: tuple[Guesses, ...] = ()
    notes: tuple[str, ...] = ()
    flagged: NDArray[np.bool_] | None = None

    def unflagged(self) -> Rated:
        """Return the same without the verdicts of flagged ratings."""
        assert self.flagged is not None
        verdicts = self.verdicts.copy()
        verdicts[self.flagged] = MISSING
        return replace(self, verdicts=verdicts, flagged=None)

    @property
    def people(self) -> tuple[str, ...]:
        """The raters who are people."""
        return tuple(rater for rater in self.raters if rater not in self.judges)

    def places(self, raters: Collection[str]) -> list[int]:
        """Return the places of some raters, in the order of all."""
        return [at for at, rater in enumerate(self.raters) if rater in raters]


def is_judge(rater: str) -> bool:
    """Return whether a rater is called as only a judge can be.

    >>> is_judge("rules-2"), is_judge("tab-2026:gemini:x"), is_judge("R1")
    (True, True, False)
    """
    return bool(_JUDGE.search(rater))


def judges_among(raters: Sequence[str], named: Collection[str]) -> frozenset[str]:
    """Return which raters are judges: those that are named, and those that are called like one."""
    for name in named:
        if name not in raters:
            meant = near(name, raters)
            raise UsageError(
                f"there is no rater '{name}'",
                where="--judge",
                allowed=", ".join(raters),
                hint=f"did you mean '{meant}'?" if meant else None,
            )
    return frozenset(rater for rater in raters if rater in named or is_judge(rater))


def in_order(rater: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return by what raters are sorted: people before judges, R2 before R10.

    >>> sorted(["R10", "rules-1", "R2"], key=in_order)
    ['R2', 'R10', 'rules-1']
    """
    parts = re.findall(r"\d+|\D+", rater)
    return is_judge(rater), [(part.isdigit(), int(part) if part.isdigit() else 0, part)
                             for part in parts]  # fmt: skip

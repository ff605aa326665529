"""What the adjudication page gets: verdicts and texts, nothing that tells where a text is from."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.administer.rating.adjudication import Dispute
from tabwb.administer.rating.session import Shown


@dataclass(frozen=True, slots=True)
class Choice:
    """One value that can be taken: as stored, and in words."""

    answer: str | float
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """One answer of one sample.

    Attributes:
        definition: of the question.
        said: of each person in order the answer in words, with a sign where it has one.
        judged: of each judge.
        majority, settled: in words; empty without one.
        choices: values that can be taken; of words and phonemes those that people gave.
        free: whether other words can be taken too.
    """

    dispute: Dispute
    shown: Shown
    definition: str
    said: tuple[str, ...]
    judged: tuple[str, ...]
    majority: str
    settled: str
    choices: tuple[Choice, ...]
    free: bool

    @property
    def place(self) -> tuple[int, str]:
        """Sample and measure."""
        return self.dispute.sample, self.dispute.measure


@dataclass(frozen=True, slots=True)
class AdjudicationView:
    """The page.

    Attributes:
        name: of the rating set.
        counts: whose ratings count.
        settled, of: answers that people differ on, and how many of them are settled.
        which: ``open``, ``settled`` or ``all``.
        measure: the only one shown; empty: all.
        measures: (measure, title) of every question.
        rows: most different first.
        told: what was done last, in words; may be empty.
    """

    name: str
    counts: str
    settled: int
    of: int
    which: str
    measure: str
    measures: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    told: str = ""


@dataclass(frozen=True, slots=True)
class SetsListed:
    """The names of the rating sets, oldest first."""

    names: tuple[str, ...]

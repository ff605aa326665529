"""What the first page shows beside the catalogue: scores of administrations, participants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabwb.records.trials import Administration
from tabwb.workbench.engine.view_models import Scores, SubtestScore

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant
    from tabwb.scoring.estimate import Interval


@dataclass(frozen=True, slots=True)
class ScoredAdministration:
    """The scores of one administration.

    Attributes:
        administration: as it was when they were read.
        intervals: by title of the subtest, the 95 % interval of the share right.
        unjudged: the judges of its conditions that have not judged all connected text, each with
            the number of responses that are left.
        problem: why the scores could not be read, or empty.
    """

    administration: Administration
    scores: Scores = field(default_factory=Scores)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    unjudged: tuple[tuple[str, int], ...] = ()
    problem: str = ""

    @property
    def rated(self) -> Sequence[SubtestScore]:
        """The subtests in which something was scored right or wrong."""
        return [one for one in self.scores.subtests if one.right is not None]

    @property
    def scored(self) -> int:
        """The number of responses that were scored right or wrong."""
        return sum(one.scored for one in self.rated)

    @property
    def right(self) -> int:
        """The number of right ones among them."""
        return sum(one.right or 0 for one in self.rated)

    @property
    def share(self) -> float | None:
        """The share right of the responses that were scored, or None without one."""
        return self.right / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class ScoresRead:
    """The scores of one more administration were read."""

    scored: ScoredAdministration


@dataclass(frozen=True, slots=True)
class ParticipantsRead:
    """The participants of the store were read."""

    participants: tuple[Participant, ...]

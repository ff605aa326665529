"""What the page of participants shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabwb.administer.participants import DeletionPreview, Participant
from tabwb.records.speakers import LogEntry, Study, Tombstone
from tabwb.workbench.engine.view_models import ScoredAdministration


@dataclass(frozen=True, slots=True)
class ParticipantsListed:
    """The participants of the store were read.

    Attributes:
        participants: in the order of their codes.
        tombstones: who was deleted.
        study: the columns of records and the pattern of codes.
    """

    participants: tuple[Participant, ...]
    tombstones: tuple[Tombstone, ...]
    study: Study


@dataclass(frozen=True, slots=True)
class ParticipantRead:
    """What is stored of one participant.

    Attributes:
        code: study ID.
        counts: number of rows, by kind.
        uses: the log, the latest first.
        scored: the scores of the sessions, by number of the administration.
    """

    code: str
    counts: Mapping[str, int]
    uses: tuple[LogEntry, ...]
    scored: Mapping[int, ScoredAdministration]

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, ParticipantRead)


@dataclass(frozen=True, slots=True)
class DeletionReady:
    """What a deletion would remove and leave is known."""

    preview: DeletionPreview


@dataclass(frozen=True, slots=True)
class ParticipantDeleted:
    """A participant was deleted."""

    tombstone: Tombstone

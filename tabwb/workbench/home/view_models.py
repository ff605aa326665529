"""What the first page shows beside the catalogue: scores of administrations, participants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.workbench.engine.view_models import ScoredAdministration

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant


@dataclass(frozen=True, slots=True)
class ScoresRead:
    """The scores of one more administration were read."""

    scored: ScoredAdministration


@dataclass(frozen=True, slots=True)
class ParticipantsRead:
    """The participants of the store were read."""

    participants: tuple[Participant, ...]

"""Messages to the screen: news of the worker's thread, requests of one subject to another.

Subjects define their own messages. All are sent with ``Desk.tell``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabwb.workbench.engine.view_models import Catalogue, ErrorReport, Work


@dataclass(frozen=True, slots=True)
class Ready:
    """Plugins and store are open, or have changed."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Changed:
    """The open administration was opened, has changed, or was closed: ``work`` is None."""

    work: Work | None
    opened: bool = False

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a model can be fast)."""
        return isinstance(later, Changed) and not self.opened


@dataclass(frozen=True, slots=True)
class Streamed:
    """The reply so far."""

    text: str

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous."""
        return isinstance(later, Streamed | Changed)


@dataclass(frozen=True, slots=True)
class Settled:
    """A queued command is done, and all of its messages were sent."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Responses or ratings of an administration have changed in the store.

    Attributes:
        number: of the administration.
        score: how many responses are right, of how many that were scored; None: not counted.
    """

    number: int
    score: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Requested:
    """The actions of a subject are to do something: ``what`` is the name of their method."""

    subject: str
    what: str
    values: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed, and the user has to know."""

    report: ErrorReport


@dataclass(frozen=True, slots=True)
class Told:
    """A notification; nothing need be done."""

    text: str


@dataclass(frozen=True, slots=True)
class Playing:
    """The recorded response to a trial is being played.

    Attributes:
        position: returns the second of the recording that is heard now; None: it is over. It may be
            called from any thread.
    """

    number: int
    trial: int
    position: Callable[[], float | None]

"""Messages from the worker's thread to the screen. Subjects define further ones of their own."""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.workbench.engine.view_models import Catalogue, ErrorReport, Work


@dataclass(frozen=True, slots=True)
class Ready:
    """Plugins and store are open, or have changed."""

    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Changed:
    """The open administration has changed.

    Attributes:
        work: its present state; None when it was closed.
        opened: the administration has just been opened.
        over: its last item has just been given.
    """

    work: Work | None
    opened: bool = False
    over: bool = False

    def superseded_by(self, later: object) -> bool:
        """Return whether a later message makes this one superfluous (a model can be fast)."""
        return isinstance(later, Changed) and not self.opened and not self.over


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
    """Responses or ratings of an administration have changed in the store."""

    number: int


@dataclass(frozen=True, slots=True)
class ResultsWanted:
    """The results of an administration are to be shown: nothing of it is left to give."""

    number: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed, and the user has to know."""

    report: ErrorReport


@dataclass(frozen=True, slots=True)
class Told:
    """A notification; nothing need be done."""

    text: str


@dataclass(frozen=True, slots=True)
class JudgesPending:
    """An administration is done whose conditions name judges that ask a model."""

    number: int
    judges: tuple[str, ...]

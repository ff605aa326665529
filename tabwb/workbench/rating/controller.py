"""Reads the list of rating sets in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.battery.forms import Form, form_from_canonical
from tabwb.records.rating_sets import RatingSet
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController

if TYPE_CHECKING:
    from tabwb.analysis.rating_sets import RaterProgress


@dataclass(frozen=True, slots=True)
class SetEntry:
    """One rating set of the list; its id names it for commands.

    Attributes:
        counts: whose ratings count.
        created: the day.
        guidelines: whether raters read guidelines first.
    """

    id: int
    name: str
    form: Form
    samples: int
    status: str
    raters: tuple[RaterProgress, ...]
    counts: str
    created: str
    guidelines: bool

    @property
    def assigned(self) -> int:
        """The samples that all raters have to rate."""
        return sum(one.assigned for one in self.raters)

    @property
    def done(self) -> int:
        """The complete ones."""
        return sum(one.done for one in self.raters)


@dataclass(frozen=True, slots=True)
class SetsKnown:
    """The rating sets of the store, oldest first; ``place`` names the store."""

    sets: tuple[SetEntry, ...]
    place: str | None


class RatingController(Controller):
    """Reads rating sets."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)

    def read(self) -> None:
        """Tell which rating sets there are."""
        entries = tuple(self._entry(one) for one in self.store.sets.all())
        self.say(SetsKnown(entries, self.engine.store_place))

    def _entry(self, one: RatingSet) -> SetEntry:
        from tabwb.analysis.rating_sets import progress_of  # loads numpy

        return SetEntry(
            one.id,
            one.name,
            form_from_canonical(one.form),
            len(self.store.sets.samples(one.id)),
            one.status,
            tuple(progress_of(self.store, one)),
            one.counts,
            one.created_at[:10],
            bool(one.guidelines),
        )

"""A stored administration, as ``run``, ``resume`` and imports return it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from tabwb.api.engine import Choosing, Grouping, Place, Rated
from tabwb.records.errors import TabwbError

if TYPE_CHECKING:
    from tabwb.api.study import Study
    from tabwb.host.settings import Configuration
    from tabwb.records.trials import Administration as Record
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


@dataclass(frozen=True, slots=True)
class Stored:
    """Where an administration is: a store that is opened for each question."""

    place: str
    location: str

    @contextmanager
    def opened(self) -> Iterator[Study]:
        """Yield the store, open for reading."""
        from tabwb.api.study import open

        with open(self.place) as study:
            yield study


def stored_in(store: Store, settings: Configuration, place: Place) -> Stored:
    """Return where an open store is, valid from every folder."""
    path, named = store.embedded, settings.store_at(None if place is None else str(place))
    return Stored(str(path.resolve()) if path else named or store.location, store.location)


class Administration:
    """A stored administration: what it is and its results, read again at each use.

    Args:
        number: its small number in the store.
        source: opens the store.
    """

    def __init__(self, number: int, source: Stored) -> None:
        self._number = number
        self._source = source

    def __repr__(self) -> str:
        try:
            record = self.record
        except TabwbError:  # the store is gone, or cannot be read now
            return f"<Administration {self._number} in {self._source.location}>"
        return (
            f"<Administration {record.id}: {record.battery} {record.battery_version}, "
            f"{record.conditions.examinee}, {record.status_word}, "
            f"{record.answered} of {record.planned}>"
        )

    @property
    def id(self) -> int:
        """Its number in the store."""
        return self._number

    @property
    def uid(self) -> str:
        """Its UUID, the same in every store and export."""
        return self.record.uid

    @property
    def status(self) -> str:
        """``running``, ``paused``, ``done`` or ``discontinued``."""
        return self.record.status.value

    @property
    def store(self) -> str:
        """The store's path or URL, without a password."""
        return self._source.location

    @property
    def record(self) -> Record:
        """What is recorded of it as a whole; ``record.conditions`` is how it is given."""
        with self._source.opened() as study:
            return study.store.administration(self._number)

    def results(self, *, table: str = "results", **options: Unpack[Grouping]) -> Table:
        """Return its results.

        Args:
            table: see :meth:`tabwb.Study.results`.
            options: of :meth:`tabwb.Study.results`.
        """
        with self._source.opened() as study:
            return study.results(ids=self._number, table=table, **options)

    def responses(self, **options: Unpack[Choosing]) -> Table:
        """Return its responses; options are those of :meth:`tabwb.Study.responses`."""
        with self._source.opened() as study:
            return study.responses(ids=self._number, **options)

    def ratings(self, **options: Unpack[Rated]) -> Table:
        """Return the ratings of its responses; options are those of :meth:`tabwb.Study.ratings`."""
        with self._source.opened() as study:
            return study.ratings(ids=self._number, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``tabwb results ID --json`` prints (``format: 1``)."""
        with self._source.opened() as study:
            return study.document(self._number)

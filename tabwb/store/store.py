"""The store: everything that is kept, behind one class. What it keeps is in ``docs/store.md``."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.exchange import Message
from tabwb.records.files import sync_folder
from tabwb.records.ratings import Declaration, Judged, Judgement
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration, Entry, PlannedTrial, Trial
from tabwb.store import blobs, people, read, verdicts, write
from tabwb.store.database import PATIENCE_S, Conflict, EmbeddedDatabase, Keys, Transaction
from tabwb.store.derive import History
from tabwb.store.location import resolve
from tabwb.store.people import People, finish
from tabwb.store.schema import open_embedded

if TYPE_CHECKING:
    from tabwb.store.columns import AttemptDetails, Frame, Ints
    from tabwb.store.merge import Merged
    from tabwb.store.read import Facts, Rated
    from tabwb.store.sets import RatingSets
    from tabwb.store.write import WholeAdministration

if TYPE_CHECKING:
    from tabwb.store.server import ServerDatabase

    Database: TypeAlias = EmbeddedDatabase | ServerDatabase


UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, AssertionError, RecursionError)
"""Errors of code that reads a row which is not as it was stored."""


class Access:
    """Transactions for the parts of a store. May be used from several threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embedded = database.path if isinstance(database, EmbeddedDatabase) else None
        self.keys = Keys()
        self._turn = threading.Lock()
        self._held = threading.local()

    @property
    def only_read(self) -> bool:
        """Whether the store could not be opened for writing."""
        return isinstance(self.database, EmbeddedDatabase) and self.database.only_read

    def make_private_before_people(self, transaction: Transaction) -> None:
        """Close the file to other users before it holds the first person's data."""
        if isinstance(self.database, EmbeddedDatabase) and not people.has_people(transaction):
            self.database.make_private()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Yield a reading transaction; inside :meth:`unchanged` that one."""
        held = self.held
        try:
            with self.database.reading() if held is None else nullcontext(held) as transaction:
                yield transaction
        except UNREADABLE as error:
            raise StoreError(
                f"the store is damaged: a row cannot be read ({error})",
                where=self.database.location,
                hint="'tabwb store check' says where; restore a backup, and keep this file",
            ) from error

    @property
    def held(self) -> Transaction | None:
        """The open transaction of this thread, or None."""
        return getattr(self._held, "transaction", None)

    @property
    def unsynced(self) -> set[Path] | None:
        """Inside :meth:`together` the folders that are synced at its end, else None."""
        return getattr(self._held, "unsynced", None)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Let this thread read one state of the store; it must not write meanwhile."""
        with self.database.reading() as transaction, self._holding(transaction):
            yield

    @contextmanager
    def _holding(self, transaction: Transaction) -> Iterator[None]:
        self._held.transaction = transaction
        try:
            yield
        finally:
            self._held.transaction = None

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Yield a writing transaction, in which this thread also reads; writers of this process
        take turns. Inside :meth:`together` it is the one that is open.
        """
        if self.unsynced is not None and self.held is not None:
            yield self.held
            return
        with self._turn:
            try:
                with self.database.writing() as transaction, self._holding(transaction):
                    self.keys.renew(transaction)
                    yield transaction
            except BaseException:
                self.keys.forget()
                raise
            self.keys.keep()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that this thread writes in the block one commit: all of it, or none."""
        # Files that are placed in vain are swept when the store is opened next.
        mark = blobs.marked(blobs.folder_of(self.embedded)) if self.embedded else nullcontext()
        with mark, self.writing():
            self._held.unsynced = set()
            try:
                yield
                for folder in self._held.unsynced:
                    sync_folder(folder)
            finally:
                self._held.unsynced = None

    @contextmanager
    def erasing(self) -> Iterator[Transaction]:
        """Yield a writing transaction whose deletions leave nothing in the file."""
        with self._turn, self.database.erasing() as transaction:
            yield transaction

    def finish_erasing(self) -> bool:
        """Remove what a deletion left on the disk; False where traces may be left."""
        if not isinstance(self.database, EmbeddedDatabase):
            return True
        with self._turn:
            return finish(self.database)


class Store:
    """An open store. May be used from several threads; writers take turns."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.location = database.location
        self._access = Access(database)
        self.people = People(self._access)

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        *,
        create: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> Self:
        """Open a store, making it when there is none."""
        place = resolve(location)
        if isinstance(place, Path):
            return cls(open_embedded(place, create=create, patience_s=patience_s))
        from tabwb.store.server import open_server

        return cls(open_server(place, create=create))

    @cached_property
    def sets(self) -> RatingSets:
        """The rating sets of people."""
        from tabwb.store.sets import RatingSets  # not before they are used

        return RatingSets(self._access)

    @property
    def has_sets(self) -> bool:
        """Whether there is a rating set."""
        with self._access.reading() as transaction:
            return transaction.value("SELECT 1 FROM sample_sets LIMIT 1") is not None

    @property
    def embedded(self) -> Path | None:
        """The SQLite file, or None for a server."""
        return self._access.embedded

    @property
    def only_read(self) -> bool:
        """Whether the store could not be opened for writing."""
        return self._access.only_read

    @property
    def elsewhere(self) -> str:
        """The other computer that keeps what is stored, or empty for this one."""
        if isinstance(self.database, EmbeddedDatabase):
            return ""
        return ", ".join(self.database.elsewhere)

    def close(self) -> None:
        """Close every connection; may be called twice."""
        self.database.close()
        self.people.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def merge(self, other: Path, *, dry_run: bool = False, same_people: bool = False) -> Merged:
        """Add what another store has and this one has not, in one transaction."""
        from tabwb.store.merge import merge

        return merge(self._access, other, dry_run=dry_run, same_people=same_people)

    def keep_battery(self, battery: Battery, assets: Mapping[str, bytes]) -> None:
        """Keep a battery with its files, so that it can be given again after the files changed."""
        for path, digest in battery.assets.items():
            if path not in assets or hashlib.sha256(assets[path]).hexdigest() != digest:
                raise StoreError(
                    f"file '{path}' of battery '{battery.id}' has changed since it was read",
                    where=battery.origin or None,
                    hint="read the battery again",
                )
        folder = None if self.embedded is None else blobs.folder_of(self.embedded)
        absent = {
            digest
            for digest in battery.assets.values()
            if folder and not blobs.is_whole(blobs.path_of(folder, digest), digest)
        }
        try:
            self._keep_battery(battery, assets, folder, absent)
        except Conflict:
            # On a server another process kept it at this moment.
            self._keep_battery(battery, assets, folder, absent)

    def _keep_battery(
        self,
        battery: Battery,
        assets: Mapping[str, bytes],
        folder: Path | None,
        absent: Collection[str],
    ) -> None:
        with self._access.writing() as transaction:
            key = write.insert_battery(transaction, self._access.keys, battery)
            if key is not None:
                write.insert_assets(transaction, key, battery, assets, with_content=folder is None)
            for path, digest in battery.assets.items():
                # A deletion may have removed one since the check.
                if folder and (digest in absent or not blobs.path_of(folder, digest).is_file()):
                    blobs.keep(folder, digest, assets[path])

    def battery_canonical(self, content_hash: str) -> str:
        """Return the canonical JSON of a kept battery."""
        with self._access.reading() as transaction:
            found = transaction.value(
                "SELECT text FROM batteries JOIN texts ON texts.id = canonical_id"
                " WHERE content_hash = ?",
                content_hash,
            )
        if found is None:
            raise StoreError(f"no battery with hash {content_hash} is kept", where=self.location)
        if hashlib.sha256(str(found).encode()).hexdigest() != content_hash:
            raise StoreError(
                f"the stored battery is not the one that was kept ({content_hash})",
                where=self.location,
                hint="'tabwb store check' says where; restore a backup, and keep this file",
            )
        return str(found)

    def battery_assets(self, content_hash: str) -> dict[str, bytes]:
        """Return the files of a kept battery, by their path in it."""
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT path, assets.sha256, content FROM batteries"
                " JOIN battery_assets ON battery_id = batteries.id"
                " JOIN assets ON assets.sha256 = battery_assets.sha256"
                " WHERE content_hash = ? ORDER BY path",
                content_hash,
            )
        contents: dict[str, bytes] = {}
        for path, digest, content in rows:
            if content is None and self.embedded is not None:
                folder = blobs.folder_of(self.embedded)
                place = blobs.whole_path(folder, digest, f"the battery's file '{path}'")
                contents[path] = place.read_bytes()
            else:
                contents[path] = bytes(content)
        return contents

    def _battery_number(self, transaction: Transaction, battery: Battery) -> int:
        number = transaction.value(
            "SELECT id FROM batteries WHERE content_hash = ?", battery.content_hash
        )
        if number is None:
            raise StoreError(
                f"battery '{battery.id}' ({battery.content_hash}) is not kept in this store",
                where=self.location,
                hint="keep_battery comes before its administrations",
            )
        return int(number)

    def create_administration(
        self,
        battery: Battery,
        conditions: Conditions,
        plan: Sequence[PlannedTrial],
        versions: Mapping[str, str],
    ) -> Administration:
        """Begin an administration: its conditions and whole plan, in one commit."""
        with self._access.writing() as transaction:
            if conditions.guarded:
                people.refuse_deleted(transaction, conditions.person)
                self._access.make_private_before_people(transaction)
            battery_id = self._battery_number(transaction, battery)
            number = write.insert_administration(
                transaction, self._access.keys, battery_id, conditions, plan, versions
            )
            created = read.administrations(transaction, number, number)
        return self._with_interrupted(created)[0]  # until a session opens it, nobody gives it

    def add_whole(
        self,
        battery: Battery,
        given: Sequence[WholeAdministration],
        check: Callable[[], None] | None = None,
    ) -> tuple[Administration, ...]:
        """Add administrations with everything that was recorded, in one commit: all or none.

        ``check`` is called in the same transaction, while nobody else adds any.
        """
        with self._access.writing() as transaction:
            if check is not None:
                if transaction.server:
                    transaction.execute("LOCK TABLE administrations IN SHARE ROW EXCLUSIVE MODE")
                check()
            if any(each.conditions.guarded for each in given):
                self._access.make_private_before_people(transaction)
            battery_id = self._battery_number(transaction, battery)
            numbers = [
                write.insert(transaction, self._access.keys, battery_id, each) for each in given
            ]
        return tuple(map(self.administration, numbers))

    def administration(self, ref: int | str) -> Administration:
        """Return the administration with a small id, a uid or the first 8 or more signs of a
        uid.
        """
        with self._access.reading() as transaction:
            number = read.number_of(transaction, ref)
            (administration,) = read.administrations(transaction, number, number)
        return self._with_interrupted([administration])[0]

    def administrations(self, newest: int | None = None) -> tuple[Administration, ...]:
        """Return all administrations, or only so many of the newest; the newest one last."""
        with self._access.reading() as transaction:
            first = 0 if newest is None else read.newest(transaction, newest)
            rows = read.administrations(transaction, first)
        return self._with_interrupted(rows)

    def administrations_under(
        self, battery_hash: str, conditions: Conditions
    ) -> tuple[Administration, ...]:
        """Return the administrations of a battery under exactly these conditions, newest last."""
        with self._access.reading() as transaction:
            numbers = read.under(transaction, battery_hash, conditions)
            rows = [read.administrations(transaction, one, one)[0] for one in numbers]
        return self._with_interrupted(rows)

    def history(self, administration_id: int) -> History:
        """Return the folded history of an administration, to which new entries can be added."""
        with self._access.reading() as transaction:
            return read.history(transaction, read.number_of(transaction, administration_id))

    def latest_marks(self, administration_id: int) -> tuple[int, ...]:
        """Return the sequence numbers of the latest change of title and tags, made in one go."""
        with self._access.reading() as transaction:
            return read.latest_marks(transaction, administration_id)

    def trials(self, administration_id: int) -> tuple[Trial, ...]:
        """Return every trial with its attempts and the ratings of the attempt that counts."""
        return self.history(administration_id).trials

    def facts(self, administration_ids: Sequence[int]) -> tuple[Facts, ...]:
        """Return what is recorded of each administration as a whole, without its trials."""
        with self._access.reading() as transaction:
            return read.facts_of(transaction, administration_ids)

    def planned_cells(
        self, administration_ids: Sequence[int]
    ) -> dict[int, dict[tuple[str, str, int], int]]:
        """Return, by administration, the number of planned trials of each item and replicate.

        Practice is not counted.
        """
        with self._access.reading() as transaction:
            return read.planned_cells(transaction, administration_ids)

    def unchanged(self) -> AbstractContextManager[None]:
        """Let this thread read one state of the store, whatever others write meanwhile."""
        return self._access.unchanged()

    def trial_parts(
        self, administration_id: int, rated: Rated | None = None
    ) -> Iterator[tuple[Trial, ...]]:
        """Yield the trials of an administration as :meth:`trials`, some at a time.

        Attempts have no messages. Within :meth:`unchanged` the thread may read other things between
        two parts; elsewhere it must not.
        """
        with self._access.reading() as transaction:
            yield from read.trial_parts(transaction, administration_id, rated or read.Rated())

    def messages(
        self, administration_id: int, within: range, *, system: bool = False
    ) -> dict[tuple[int, int], tuple[Message, ...]]:
        """Return what was sent for attempts, by trial and number of the attempt."""
        with self._access.reading() as transaction:
            return read.messages(transaction, administration_id, within, system=system)

    def raters(self) -> tuple[str, ...]:
        """Return the specs of all raters of the store."""
        with self._access.reading() as transaction:
            return tuple(spec for (spec,) in transaction.rows("SELECT spec FROM raters"))

    def measures_rated(self, administration_ids: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Return rater and measure of all ratings of administrations, sorted."""
        if not administration_ids:
            return ()
        with self._access.reading() as transaction:
            return read.measures_rated(transaction, administration_ids)

    def notes_with(
        self, administration_ids: Sequence[int], names: Collection[str]
    ) -> tuple[str, ...]:
        """Return the different notes on replies, as JSON, that have one of some names."""
        if not administration_ids:
            return ()
        with self._access.reading() as transaction:
            return read.notes_with(transaction, administration_ids, names)

    def columns(self, administration_ids: Sequence[int], explained: Collection[str] = ()) -> Frame:
        """Return the answers that count as numpy columns."""
        from tabwb.store.columns import read_frame

        return read_frame(self._access, administration_ids, explained)

    def attempt_details(self, ids: Ints) -> AttemptDetails:
        """Return prompt and latency of attempts; ``ids`` as ``Frame.ids``."""
        from tabwb.store.columns import attempt_details

        with self._access.reading() as transaction:
            return attempt_details(transaction, ids)

    def together(self) -> AbstractContextManager[None]:
        """Let everything that this thread writes in the block be one commit: all of it, or none."""
        return self._access.together()

    def append(self, administration_id: int, entries: Sequence[Entry]) -> None:
        """Append entries in one transaction, durable when this returns.

        Attempts and events take the next numbers of the administration's sequence, in order.
        """
        with self._access.writing() as transaction:
            write.append(transaction, self._access.keys, administration_id, entries)

    def keep_judgements(
        self,
        administration_id: int,
        judged: Sequence[Judged],
        declaration: Declaration | None = None,
    ) -> tuple[Judged, ...]:
        """Keep judgements in one transaction and return them with their ids; durable then.

        The ratings of those that count (``repeat`` 0) replace what the judge said before.
        ``declaration`` is the judge's; the same declaration is not kept twice.
        """
        with self._access.writing() as transaction:
            return verdicts.insert_judgements(
                transaction, self._access.keys, administration_id, judged, declaration
            )

    def judgements(
        self, administration_id: int, trial: int | range | None = None
    ) -> tuple[Judged, ...]:
        """Return the judgements of an administration or of one trial, in the order recorded."""
        with self._access.reading() as transaction:
            return verdicts.judgements_of(transaction, administration_id, trial)

    def repetitions(
        self, administration_ids: Sequence[int]
    ) -> tuple[tuple[tuple[int, int, int], str, int, dict[str, float]], ...]:
        """Return the verdicts of judges asked again; see :func:`verdicts.repetitions`."""
        with self._access.reading() as transaction:
            return tuple(verdicts.repetitions(transaction, administration_ids))

    def judgements_of(self, keys: Collection[str]) -> dict[str, Judgement]:
        """Return the latest judgement of each key over all administrations, without failures."""
        with self._access.reading() as transaction:
            return verdicts.judgements_of_keys(transaction, keys)

    def lock(self, administration_id: int) -> AbstractContextManager[None]:
        """Hold an administration for this process; the lock is freed when the process ends."""
        return self.database.lock(administration_id)

    def lock_import(self) -> AbstractContextManager[None]:
        """Hold the imports of spoken naming: between looking for sessions and storing them."""
        return self.database.lock_import()

    def _with_interrupted(
        self, administrations: Sequence[Administration]
    ) -> tuple[Administration, ...]:
        """Mark the running administrations that no session holds: their process was killed."""
        running = [
            administration.id
            for administration in administrations
            if administration.status is AdministrationStatus.RUNNING
        ]
        left = frozenset(running) - self.database.held(running) if running else frozenset()
        return tuple(
            replace(administration, interrupted=True)
            if administration.id in left
            else administration
            for administration in administrations
        )

"""The store: everything that is kept, behind one class. What it keeps is in ``docs/store.md``."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.exchange import Message
from tabwb.records.ratings import Declaration, Judged, Judgement
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration, Entry, PlannedTrial, Trial
from tabwb.store import blobs, judgements, people_rows, read, whole, write
from tabwb.store.database import PATIENCE_S, Conflict, EmbeddedDatabase, Transaction
from tabwb.store.derive import History
from tabwb.store.location import resolve
from tabwb.store.people import People
from tabwb.store.people_rows import finish
from tabwb.store.schema import open_embedded

if TYPE_CHECKING:
    from tabwb.store.columns import Facts, ResponseColumns
    from tabwb.store.details import AttemptDetails
    from tabwb.store.server import ServerDatabase
    from tabwb.store.trial_parts import Rated
    from tabwb.store.whole import WholeAdministration

    Database = EmbeddedDatabase | ServerDatabase


class Access:
    """Transactions for the parts of a store. May be used from several threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.embedded = database.path if isinstance(database, EmbeddedDatabase) else None
        self.keys = write.Keys()
        self._turn = threading.Lock()
        self._held = threading.local()

    def make_private_before_people(self, transaction: Transaction) -> None:
        """Close the file to other users before it holds the first person's data."""
        if isinstance(self.database, EmbeddedDatabase) and not people_rows.has_people(transaction):
            self.database.make_private()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Yield a reading transaction; inside :meth:`unchanged` that one.

        Raises:
            StoreError: a row cannot be read, or as the database.
        """
        held = self.held
        try:
            with self.database.reading() if held is None else nullcontext(held) as transaction:
                yield transaction
        except (KeyError, ValueError, TypeError) as error:
            raise StoreError(
                f"the store is damaged: a row cannot be read ({error})",
                where=self.database.location,
                hint="'tabwb store check' says where; put back a backup, and keep this one",
            ) from error

    @property
    def held(self) -> Transaction | None:
        """The transaction of :meth:`unchanged` in this thread, or None."""
        return getattr(self._held, "transaction", None)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Let this thread read one state of the store; it must not write meanwhile."""
        with self.database.reading() as transaction:
            self._held.transaction = transaction
            try:
                yield
            finally:
                self._held.transaction = None

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Yield a writing transaction; writers of this process take turns."""
        with self._turn:
            try:
                with self.database.writing() as transaction:
                    self.keys.renew(transaction)
                    yield transaction
            except BaseException:
                self.keys.forget()
                raise
            self.keys.keep()

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
        """Open a store, making it when there is none.

        Args:
            location: path of an SQLite file, URL of a PostgreSQL database, or None for
                ``tabwb.db`` in the user's data folder.
            create: whether a store that is not there is made, with its folder.
            patience_s: how long to wait for another program that writes.

        Raises:
            StoreError: it cannot be opened; the message says why and what to do.
            MissingExtra: a server's URL, and no driver is installed.
        """
        place = resolve(location)
        if isinstance(place, Path):
            return cls(open_embedded(place, create=create, patience_s=patience_s))
        from tabwb.store.server import open_server

        return cls(open_server(place, create=create))

    @property
    def embedded(self) -> Path | None:
        """The SQLite file, or None for a server."""
        return self._access.embedded

    @property
    def only_read(self) -> bool:
        """Whether the store could not be opened for writing."""
        return isinstance(self.database, EmbeddedDatabase) and self.database.only_read

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

    def keep_battery(self, battery: Battery, assets: Mapping[str, bytes]) -> None:
        """Keep a battery with its files, so that it can be given again after the files changed.

        Raises:
            StoreError: the same id and version was kept with other content, or a file's bytes are
                not those that the battery names.
        """
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
        """Return the canonical JSON of a kept battery.

        Raises:
            StoreError: none with this hash is kept.
        """
        with self._access.reading() as transaction:
            canonical = transaction.value(
                "SELECT text FROM batteries JOIN texts ON texts.id = canonical_id"
                " WHERE content_hash = ?",
                content_hash,
            )
        if canonical is None:
            raise StoreError(f"no battery with hash {content_hash} is kept", where=self.location)
        if hashlib.sha256(str(canonical).encode()).hexdigest() != content_hash:
            raise StoreError(
                f"the stored battery is not the one that was kept ({content_hash})",
                where=self.location,
                hint="'tabwb store check' says where; put back a backup, and keep this one",
            )
        return str(canonical)

    def battery_assets(self, content_hash: str) -> dict[str, bytes]:
        """Return the files of a kept battery, by their path in it.

        Raises:
            StoreError: a file is missing or damaged.
        """
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

    def create_administration(
        self,
        battery: Battery,
        conditions: Conditions,
        plan: Sequence[PlannedTrial],
        versions: Mapping[str, str],
    ) -> Administration:
        """Begin an administration: its conditions and whole plan, in one commit.

        Args:
            battery: kept before with :meth:`keep_battery`.
            conditions: how it is given; specs as they are to be stored.
            plan: every trial, numbered.
            versions: package to version.

        Raises:
            StoreError: the battery is not kept, or two trials have one number.
        """
        with self._access.writing() as transaction:
            if conditions.guarded:
                people_rows.refuse_deleted(transaction, conditions.person)
                self._access.make_private_before_people(transaction)
            battery_id = self._battery_id(transaction, battery)
            number = write.insert_administration(
                transaction, self._access.keys, battery_id, conditions, plan, versions
            )
            created = read.administrations(transaction, number, number)
        return self._with_interrupted(created)[0]  # until a session opens it, nobody gives it

    def add_whole(
        self, battery: Battery, given: Sequence[WholeAdministration]
    ) -> tuple[Administration, ...]:
        """Add administrations with everything that was recorded, in one commit: all or none.

        Args:
            battery: kept before with :meth:`keep_battery`.
            given: the administrations, in order.

        Raises:
            StoreError: the battery is not kept, or a person was deleted; nothing was added.
        """
        with self._access.writing() as transaction:
            if any(each.conditions.guarded for each in given):
                self._access.make_private_before_people(transaction)
            battery_id = self._battery_id(transaction, battery)
            numbers = [
                whole.insert(transaction, self._access.keys, battery_id, each) for each in given
            ]
        return tuple(map(self.administration, numbers))

    def _battery_id(self, transaction: Transaction, battery: Battery) -> int:
        battery_id = transaction.value(
            "SELECT id FROM batteries WHERE content_hash = ?", battery.content_hash
        )
        if battery_id is None:
            raise StoreError(
                f"battery '{battery.id}' ({battery.content_hash}) is not kept in this store",
                where=self.location,
                hint="keep_battery comes before its administrations",
            )
        return int(battery_id)

    def administration(self, ref: int | str) -> Administration:
        """Return the administration with a small id, a uid or the first 8 or more signs of a uid.

        Raises:
            StoreError: none or several match.
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

    def history(self, administration_id: int) -> History:
        """Return the folded history of an administration, to which new entries can be added."""
        with self._access.reading() as transaction:
            return read.history(transaction, read.number_of(transaction, administration_id))

    def trials(self, administration_id: int) -> tuple[Trial, ...]:
        """Return every trial with its attempts and the ratings of the attempt that counts."""
        return self.history(administration_id).trials

    def facts(self, administration_ids: Sequence[int]) -> tuple[Facts, ...]:
        """Return what is recorded of each administration as a whole, without its trials."""
        from tabwb.store.columns import facts_of

        with self._access.reading() as transaction:
            return tuple(facts_of(transaction, number) for number in administration_ids)

    def planned_cells(
        self, administration_ids: Sequence[int]
    ) -> dict[int, dict[tuple[str, str, int], int]]:
        """Return, by administration, the number of planned trials of each item and replicate.

        Practice is not counted; ``administration_ids`` are ascending.
        """
        from tabwb.store.columns import planned_cells

        with self._access.reading() as transaction:
            return planned_cells(transaction, administration_ids)

    def unchanged(self) -> AbstractContextManager[None]:
        """Let this thread read one state of the store, whatever others write meanwhile."""
        return self._access.unchanged()

    def trial_parts(
        self, administration_id: int, rated: Rated | None = None
    ) -> Iterator[tuple[Trial, ...]]:
        """Yield the trials of an administration as :meth:`trials`, some at a time.

        Attempts have no messages. Within :meth:`unchanged` the thread may read other things between
        two parts; elsewhere it must not.

        Args:
            administration_id: its number.
            rated: reads the ratings; one for several administrations takes less time.
        """
        from tabwb.store.trial_parts import Rated, trial_parts

        with self._access.reading() as transaction:
            yield from trial_parts(transaction, administration_id, rated or Rated())

    def messages(
        self, administration_id: int, within: range
    ) -> dict[tuple[int, int], tuple[Message, ...]]:
        """Return what was sent for attempts, by trial and number of the attempt.

        Args:
            administration_id: its number.
            within: numbers of trials.
        """
        with self._access.reading() as transaction:
            return read.messages(transaction, administration_id, within)

    def raters(self) -> tuple[str, ...]:
        """Return the specs of all raters of the store."""
        with self._access.reading() as transaction:
            return tuple(spec for (spec,) in transaction.rows("SELECT spec FROM raters"))

    def measures_rated(self, administration_ids: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Return rater and measure of all ratings of administrations, sorted.

        Args:
            administration_ids: whose; those between them may be included.
        """
        if not administration_ids:
            return ()
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT DISTINCT spec, name FROM attempts"
                " JOIN rating_sets ON rating_sets.attempt_id = attempts.id"
                " JOIN raters ON raters.id = rater_id"
                " JOIN ratings ON ratings.set_id = rating_sets.id"
                " JOIN measures ON measures.id = measure_id"
                " WHERE administration_id BETWEEN ? AND ?",
                min(administration_ids),
                max(administration_ids),
            )
        return tuple(sorted((spec, name) for spec, name in rows))

    def notes_with(
        self, administration_ids: Sequence[int], names: Collection[str]
    ) -> tuple[str, ...]:
        """Return the different notes on replies, as JSON, that have one of some names.

        Args:
            administration_ids: whose; those between them may be included.
            names: of notes.
        """
        if not administration_ids:
            return ()
        with self._access.reading() as transaction:
            rows = transaction.rows(
                "SELECT DISTINCT metadata FROM attempts WHERE administration_id BETWEEN ? AND ?"
                f" AND ({' OR '.join('metadata LIKE ?' for _ in names)})",
                min(administration_ids),
                max(administration_ids),
                *(f'%"{name}":%' for name in names),
            )
            return tuple(metadata for (metadata,) in rows)

    def columns(
        self, administration_ids: Sequence[int], explained: Collection[str] = ()
    ) -> ResponseColumns:
        """Return the answers that count as numpy columns.

        Args:
            administration_ids: ascending.
            explained: measures of which the reasons of all values are read too.
        """
        from tabwb.store import column_file
        from tabwb.store.columns import response_columns

        with self._access.reading() as transaction:
            state = column_file.state_of(transaction) if self.embedded else ""
            if self.embedded:
                kept = column_file.load(self.embedded, state, administration_ids, explained)
                if kept is not None:
                    return kept
            columns = response_columns(transaction, administration_ids, explained)
            n = transaction.value("SELECT count(*) FROM administrations")
        if len(columns) >= column_file.LEAST and len(columns.administrations) == n:
            self._keep(columns, state, explained)
        return columns

    def _keep(self, columns: ResponseColumns, state: str, explained: Collection[str]) -> None:
        """Keep the columns of all administrations in a file, where one can be written."""
        from tabwb.store import column_file

        if self.embedded is None or self.only_read or self._access.held:
            return
        # Without the file, columns are read from the store again.
        with suppress(StoreError, OSError), self._access.writing() as transaction:
            if column_file.state_of(transaction) == state:
                uids = column_file.uids_of(transaction)
                column_file.save(self.embedded, columns, state, explained, uids)

    def attempt_details(self, administration_ids: Sequence[int]) -> AttemptDetails:
        """Return prompt and latency of every attempt; ``administration_ids`` are ascending."""
        from tabwb.store.details import attempt_details

        with self._access.reading() as transaction:
            return attempt_details(transaction, administration_ids)

    def append(self, administration_id: int, entries: Sequence[Entry]) -> None:
        """Append entries in one transaction, durable when this returns.

        Attempts and events take the next numbers of the administration's sequence, in order.

        Raises:
            StoreError: nothing of ``entries`` was recorded; the message says why.
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

        Raises:
            StoreError: nothing was recorded; the message says why.
        """
        with self._access.writing() as transaction:
            return judgements.insert(
                transaction, self._access.keys, administration_id, judged, declaration
            )

    def judgements(
        self, administration_id: int, trial: int | range | None = None
    ) -> tuple[Judged, ...]:
        """Return the judgements of an administration or of one trial, in the order recorded."""
        with self._access.reading() as transaction:
            return judgements.of_administration(transaction, administration_id, trial)

    def judgements_of(self, keys: Collection[str]) -> dict[str, Judgement]:
        """Return the latest judgement of each key over all administrations, without failures."""
        with self._access.reading() as transaction:
            return judgements.of_keys(transaction, keys)

    def lock(self, administration_id: int) -> AbstractContextManager[None]:
        """Hold an administration for this process; the lock is freed when the process ends.

        Raises:
            StoreError: another process holds it; the message names it.
        """
        return self.database.lock(administration_id)

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

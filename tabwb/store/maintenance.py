"""Looking after a store: what is in it, a backup of it, whether it is whole."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from tabwb.battery.forms import form_from_canonical
from tabwb.records import files
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.files import WorkFolder, make_private_folder, open_private, sync_file
from tabwb.records.rating_sets import checked_set_name
from tabwb.records.ratings import PERSON, RaterKind, Scope
from tabwb.records.states import AttemptState, ResponseStatus, StopReason
from tabwb.records.trials import EventKind
from tabwb.store import blobs, facts, people, read, schema, sets, takes, verdicts
from tabwb.store.database import EmbeddedDatabase, Transaction, explain, version_of
from tabwb.store.schema import CURRENT, make
from tabwb.store.store import UNREADABLE, Store

COUNTED = {
    "administrations": "administrations",
    "batteries": "batteries",
    "trials": "trials",
    "attempts": "attempts",
    "recordings": "recordings",
    "rating-sets": "sample_sets",
    "samples": "samples",
    "sample-ratings": "sample_ratings",
    "files": "assets",
}
"""What ``info`` counts: name for people to table."""


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What is in a store: ``sqlite`` or ``postgresql``.

    ``location`` has no password. Sizes are bytes: of the rows' file with its log, or of the
    database, and of the batteries' files.
    """

    location: str
    kind: str
    size: int
    blobs_size: int
    schema: str
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a store, and where: a file, a table or an administration."""

    where: str
    what: str


def info(store: Store) -> StoreInfo:
    """Return what is in an open store."""
    path = store.embedded
    with store.database.reading() as transaction:
        counts = {
            name: int(transaction.value(f"SELECT count(*) FROM {table}"))
            for name, table in COUNTED.items()
        }
        counts["ratings"] = int(
            transaction.value("SELECT coalesce(sum(length(codes)), 0) FROM verdicts")
        )
        blobs_size = int(transaction.value("SELECT coalesce(sum(size), 0) FROM assets"))
        if path is None:
            kind = "postgresql"
            size = int(transaction.value("SELECT pg_database_size(current_database())"))
        else:
            kind = "sqlite"
            rows = path, path.with_name(f"{path.name}-wal")
            size = sum(file.stat().st_size for file in rows if file.exists())
    return StoreInfo(store.location, kind, size, blobs_size, f"{CURRENT:04}", counts)


def backup(store: Store, out: Path) -> None:
    """Copy an embedded store with its files while it may be in use, and check the copy.

    The copy is one state of the store, whatever is written meanwhile. It is written under another
    name and gets its own only when it is whole.
    """
    path = store.embedded
    if path is None:
        raise StoreError(
            "a store on a server is backed up with the server's own means",
            where=store.location,
            hint="for example pg_dump",
        )
    out = out.absolute()
    _refuse_existing(out, blobs.folder_of(out))
    ends = ExitStack()
    try:
        make_private_folder(out.parent)
        work = _work_folder(ends)
        draft = work.draft(out)
        assert isinstance(store.database, EmbeddedDatabase)
        os.close(open_private(draft, os.O_CREAT | os.O_RDWR))
        with store.database.explained(), closing(sqlite3.connect(draft)) as copy:
            store.database.connection().backup(copy)
            # A copy is one file: without the log that the original has beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
        with closing(sqlite3.connect(draft)) as copy:
            digests = [row[0] for row in copy.execute("SELECT sha256 FROM assets")]
        for digest in digests:
            source = blobs.path_of(blobs.folder_of(path), digest)
            with source.open("rb") as file:
                blobs.copy_into(blobs.folder_of(draft), file)
        damage = check(draft)
        if damage:
            raise StoreError(
                f"the copy is damaged: {damage[0].where}: {damage[0].what}",
                where=str(path),
                hint="'tabwb store check' lists what is wrong with the store",
            )
        sync_file(draft)
        if digests:
            work.moving(blobs.folder_of(draft), blobs.folder_of(out), unless=out)
        _name(draft, out)
    except FileExistsError:
        _refuse_existing(out)
        raise
    except sqlite3.Error as error:
        raise explain(error, str(out)) from error
    except OSError as error:
        raise StoreError(
            f"the backup cannot be written: {error.strerror}",
            where=str(error.filename or out),
            hint="the store is unchanged",
        ) from error
    finally:
        ends.close()


def _work_folder(ends: ExitStack) -> WorkFolder:
    """Return a work folder, a temporary one where the data folder cannot be written."""
    try:
        work = WorkFolder(takes.user_work_root())
    except OSError:
        work = WorkFolder(Path(ends.enter_context(TemporaryDirectory(prefix="tabwb-"))))
    ends.callback(work.close)
    return work


def _name(draft: Path, out: Path) -> None:
    try:
        # Unlike a rename, a link never replaces what somebody else put there meanwhile.
        os.link(draft, out)
    except FileExistsError:
        raise
    except OSError:
        # Memory sticks have no links.
        _refuse_existing(out)
        draft.rename(out)


def _refuse_existing(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            raise StoreError(
                "this file exists already; a backup never overwrites",
                where=str(path),
                hint="name another file",
            )


def check(path: Path) -> tuple[Damage, ...]:
    """Return everything that is wrong with an embedded store; empty when it is whole.

    Looks at SQLite's own structure, at missing tables, at the types of values, at rows without what
    they refer to, at the hashes of texts (prompts, batteries, reasons) and of files, at gaps in the
    sequences of administrations, and at the ratings of rating sets; computes the facts of answers
    anew. Changes nothing.
    """
    if not path.is_file():
        raise StoreError("there is no store here", where=str(path))
    folder = blobs.folder_of(path)
    database = EmbeddedDatabase(path.absolute())
    damages: list[Damage] = []
    try:
        with database.reading() as transaction:
            damages += _structure(transaction)
            if damages:
                # What SQLite itself cannot read is not worth reading further.
                return tuple(damages)
            version = version_of(transaction, str(path))
            if version is None:
                raise StoreError(
                    "nothing has been stored here yet: the tables of this store were not made",
                    where=str(path),
                    hint="'tabwb run' makes them; a file without tables holds nothing to lose",
                )
            if schema.needs_upgrade(version, str(path)):
                # Its columns are those of its time: only what is true of every version is checked.
                return tuple(_foreign_keys(transaction))
            damages += wrong_in_rows(transaction)
            for digest, size in transaction.rows("SELECT sha256, size FROM assets"):
                damages += _file(blobs.path_of(folder, digest), digest, size)
    except StoreError as error:
        if not isinstance(error.__cause__, sqlite3.DatabaseError) or isinstance(
            error.__cause__, sqlite3.OperationalError
        ):
            raise
        damages.append(Damage(str(path), error.message))
    finally:
        database.close()
    return tuple(damages)


def remove_unnamed(path: Path) -> tuple[Path, ...]:
    """Remove files beside an embedded store that no row names; what was removed.

    Processes that were killed while they kept a recording left them. A process that is keeping
    one now is not disturbed. Of a store that can only be read nothing is removed.
    """
    database = EmbeddedDatabase(path.absolute())
    try:
        with database.explained():
            database.connection()
        if database.only_read:
            return ()
        with database.reading() as transaction:
            version = version_of(transaction, database.location)
        if version is None or schema.needs_upgrade(version, database.location):
            return ()
        files.sweep(takes.work_root_beside(database.path))
        return tuple(schema.remove_unnamed(database))
    finally:
        database.close()


def wrong_in_rows(transaction: Transaction) -> Iterator[Damage]:
    """Yield what is wrong in the rows of a store that SQLite can read."""
    for look in (_objects, _types):
        if wrong := list(look(transaction)):
            yield from wrong
            return  # the others take tables and values for what they should be
    for where, what, sql in _ROWS:
        for row in transaction.each(sql):
            yield Damage(*f"{where}|{what}".format(*row).split("|", 1))
    for table, check in _CHECKS.items():
        try:
            yield from check(transaction)
        except (*UNREADABLE, TabwbError) as error:
            yield Damage(table, f"a row cannot be read ({error!s:.80})")


def _structure(transaction: Transaction) -> Iterator[Damage]:
    for (message,) in transaction.rows("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield Damage("file", " ".join(str(message).split()))


def _foreign_keys(transaction: Transaction) -> Iterator[Damage]:
    for table, row, parent, _ in transaction.rows("PRAGMA foreign_key_check"):
        where = "a row" if row is None else f"row {row}"
        yield Damage(table, f"{where} refers to a row of '{parent}' that is not there")


def _texts(transaction: Transaction) -> Iterator[Damage]:
    for number, digest, text in transaction.each("SELECT id, sha256, text FROM texts"):
        if sha256(text.encode()).digest() != digest:
            yield Damage("texts", f"text {number} is not the one that was stored")


def _verdicts(transaction: Transaction) -> Iterator[Damage]:
    for number, what in verdicts.wrong(transaction):
        yield Damage("verdicts", f"verdict {number} {what}")


def _batteries(transaction: Transaction) -> Iterator[Damage]:
    """Yield batteries that are not those that were kept, and items that they do not have."""
    items: dict[int, set[tuple[str, str]]] = {}
    for number, digest, text in transaction.rows(
        "SELECT b.id, content_hash, text FROM batteries b JOIN texts ON texts.id = canonical_id"
    ):
        if sha256(text.encode()).hexdigest() != digest:
            yield Damage("batteries", f"battery {number} is not the one that was kept")
        subtests = json.loads(text).get("subtest", ())
        items[number] = {(one["id"], item["id"]) for one in subtests for item in one["item"]}
    for number, subtest, item in transaction.each(
        "SELECT DISTINCT battery_id, subtest, item FROM administrations a"
        " JOIN trials t ON t.administration_id = a.id JOIN items ON items.id = item_id"
    ):
        if items.get(number) and (subtest, item) not in items[number]:
            yield Damage("items", f"battery {number} has no item '{subtest}/{item}'")


def _facts(transaction: Transaction) -> Iterator[Damage]:
    """Yield facts of answers that are not those of what was recorded."""
    columns = ", ".join(f"a.{name}" for name in facts.COLUMNS)
    names = *facts.COLUMNS, "notes"
    different: dict[str, list[int]] = {}
    for made in filter(None, facts.recorded(transaction)):
        stored = transaction.rows(
            f"SELECT a.id, {columns}, coalesce(t.text, '') FROM attempts a"
            " LEFT JOIN texts t ON t.id = notes_id WHERE a.id BETWEEN ? AND ?",
            made[0][0],
            made[-1][0],
        )
        found = {number: (*values, left) for number, values, left in made}
        for number, *values in stored:
            # Of an attempt without a trial nothing is known.
            for name, value, right in zip(names, values, found.get(number, values), strict=True):
                if value != right:
                    different.setdefault(name, []).append(number)
    for name, numbers in different.items():
        of = f"{len(numbers)} values of '{name}' are" if numbers[1:] else f"a value of '{name}' is"
        yield Damage("attempts", f"{of} not of the answer; the first is of attempt {numbers[0]}")


def _file(path: Path, digest: str, size: int) -> Iterator[Damage]:
    if not path.is_file():
        yield Damage(str(path), "the file is missing")
    elif not blobs.is_whole(path, digest):
        yield Damage(str(path), f"the file is not the one that was stored ({size} bytes)")


_TYPES = {
    **dict.fromkeys(("VARCHAR", "TEXT"), "'text'"),
    **dict.fromkeys(("INTEGER", "SMALLINT", "BIGINT", "BOOLEAN"), "'integer'"),
    "DOUBLE": "'real', 'integer'",
    "BLOB": "'blob'",
}
"""What SQLite, which does not enforce it, says of the values of a declared type."""
_JSON = {
    ("attempts", "metadata"): "object",
    ("recordings", "parameters"): "object",
    ("speakers", "record"): "object",
    ("sample_ratings", "answers"): "object",
    ("judgements", "verdict"): "array",
    ("verdicts", "numbers"): "object",
    ("verdicts", "reasons"): "object",
}
_NAMES: dict[tuple[str, str], Collection[str]] = {
    ("attempts", "status"): tuple(ResponseStatus),
    ("attempts", "stop_reason"): tuple(StopReason),
    ("judgements", "stop_reason"): tuple(StopReason),
    ("entries", "kind"): (*get_args(EventKind), *(f"attempt-{state}" for state in AttemptState)),
    ("rater_declarations", "kind"): get_args(RaterKind),
    ("rater_declarations", "scope"): get_args(Scope),
}


def _objects(transaction: Transaction) -> Iterator[Damage]:
    """Yield each table, index and view that is missing."""
    listed = "SELECT name, type FROM sqlite_master WHERE sql IS NOT NULL"
    there = set(transaction.rows(listed))
    with closing(sqlite3.connect(":memory:")) as new:
        fresh = Transaction(new.cursor())
        make(fresh)
        for name, kind in fresh.rows(listed):
            if (name, kind) not in there:
                yield Damage("file", f"the {kind} '{name}' is missing")


def _types(transaction: Transaction) -> Iterator[Damage]:
    """Yield each table and column with a value that is not of the declared type."""
    tables = transaction.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    for (table,) in tables:
        checks = {}
        for _, name, declared, *_ in transaction.rows(f"PRAGMA table_info({table})"):
            if types := _TYPES.get(declared.partition("(")[0]):
                checks[name] = f'"{name}" IS NOT NULL AND typeof("{name}") NOT IN ({types})'
            if name.endswith("_at"):  # a moment; empty where it is not known
                checks[name] += f""" OR "{name}" <> '' AND julianday("{name}") IS NULL"""
            if kind := _JSON.get((table, name)):
                # Of text that is not JSON, json_type would be an error.
                given = f"CASE WHEN json_valid({name}) THEN json_type({name}) ELSE '' END"
                checks[name] += f" OR {name} IS NOT NULL AND {given} <> '{kind}'"
        if not checks:
            continue
        counted = ", ".join(f"total({check})" for check in checks.values())
        counts = transaction.first(f"SELECT {counted} FROM {table}") or ()
        for name, count in zip(checks, counts, strict=True):
            if count:
                what = "are not moments" if name.endswith("_at") else "are of a wrong type"
                yield Damage(table, f"{count:.0f} values of '{name}' {what}")


def _names(transaction: Transaction) -> Iterator[Damage]:
    """Yield values that are none of those that their column can have."""
    for (table, column), known in _NAMES.items():
        for (value,) in transaction.rows(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            if value not in known:
                yield Damage(table, f"{value!r:.40} is not a valid {column.replace('_', ' ')}")


def _read(reader: Callable[[Transaction], object]) -> Callable[[Transaction], Iterator[Damage]]:
    """Return a check of rows by reading them."""

    def check(transaction: Transaction) -> Iterator[Damage]:
        reader(transaction)
        return iter(())

    return check


def _declarations(transaction: Transaction) -> None:
    numbers = [number for (number,) in transaction.rows("SELECT id FROM administrations")]
    list(read.declarations(transaction, numbers))


def _named_sets(transaction: Transaction) -> None:
    for one in sets.read_sets(transaction):
        checked_set_name(one.name)


def _forms(transaction: Transaction) -> Iterator[Damage]:
    for number, text in transaction.rows(
        "SELECT sample_sets.id, text FROM sample_sets JOIN texts ON texts.id = form_text_id"
    ):
        try:
            form_from_canonical(text)
        except TabwbError as error:
            yield Damage(f"rating set {number}", error.message)


_ROWS = (
    (
        "file", "the trigger '{}' is not tabwb's",
        "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    ),
    (
        "administration {}", "step {} has lost its attempt",
        "SELECT entries.administration_id, entries.sequence FROM entries LEFT JOIN attempts"
        " ON attempts.administration_id = entries.administration_id"
        " AND attempts.sequence = entries.sequence AND attempts.trial = entries.trial"
        " WHERE kind LIKE 'attempt-%' AND attempts.id IS NULL",
    ),
    (
        "administration {}", "{} of {} steps are missing",
        "SELECT administration_id, max(sequence) - count(*), max(sequence) FROM entries GROUP BY 1"
        " HAVING count(*) <> max(sequence)",
    ),
    (
        "attempts", "attempt {} has a latency of {} s",
        "SELECT id, latency_s FROM attempts WHERE latency_s NOT BETWEEN 0 AND 1e300",
    ),
    (
        "attempts", "attempt {} has an answer without a status",
        "SELECT id FROM attempts WHERE ok AND status IS NULL",
    ),
    (
        "verdicts", "verdict {} replaces verdict {}, which is not an earlier one of its rater",
        "SELECT v.id, e.id FROM verdicts v JOIN verdicts e ON e.id = v.replaces"
        " WHERE e.id >= v.id OR e.attempt_id <> v.attempt_id OR e.rater_id <> v.rater_id",
    ),
    (
        "administration {}", "the declaration of judge {} is missing",
        "SELECT DISTINCT administration_id, spec FROM verdicts v"
        " JOIN attempts a ON a.id = attempt_id JOIN raters r ON r.id = v.rater_id"
        " WHERE v.rater_id IN (SELECT rater_id FROM rater_declarations WHERE kind = 'judge') AND"
        " (administration_id, v.rater_id) NOT IN"
        " (SELECT administration_id, rater_id FROM rater_declarations)",
    ),
    (
        "rating set {}", "rating {} replaces rating {}, which is of another sample or later",
        "SELECT r.set_id, r.id, e.id FROM sample_ratings r"
        " JOIN sample_ratings e ON e.id = r.replaces WHERE e.id >= r.id OR e.set_id <> r.set_id"
        " OR e.rater_id <> r.rater_id OR e.position <> r.position",
    ),
    (
        "rating set {}", "rating {} is counted as row {} of another response or rater",
        "SELECT r.set_id, r.id, g.id FROM sample_ratings r JOIN verdicts g ON g.id = r.verdict_id"
        " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
        " AND a.position = r.position"
        " JOIN samples s ON s.set_id = a.set_id AND s.number = a.sample"
        " WHERE g.attempt_id <> s.attempt_id OR (g.rater_id <> r.rater_id AND"
        " (SELECT spec FROM raters WHERE id = g.rater_id)"
        f" <> '{PERSON}' || (SELECT spec FROM raters WHERE id = r.rater_id))",
    ),
    *(
        (
            "rating set {}", f"an answer in '{table}' cannot be read: {{!r:.40}}",
            f"SELECT set_id, {column} FROM {table} WHERE NOT json_valid(coalesce({column}, 0))",
        )
        for table, column in (("adjudications", "answer"), ("samples", "consensus"))
    ),
)  # fmt: skip
"""Where, what is wrong, and SQL for the rows that are; the rows fill the marks."""
_CHECKS: dict[str, Callable[[Transaction], Iterator[Damage]]] = {
    "references": _foreign_keys,
    "names": _names,
    "texts": _texts,
    "batteries": _batteries,
    "attempts": _facts,
    "verdicts": _verdicts,
    "sample_sets": _forms,
    "administrations": _read(read.administrations),
    "rater_declarations": _read(_declarations),
    "tombstones": _read(people.tombstones),
    "rating sets": _read(_named_sets),
}
"""What is looked at, and the function that yields what is wrong with it."""

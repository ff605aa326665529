"""Merging another store into this one: every row that is not here yet, by uids and other keys.

Row numbers differ between stores, so each table has an identity: columns that name a row in every
store. A row that is here is left as it is; one whose identity is here with other content is a
conflict, which is named, and neither it nor what hangs on it is merged. What a row needs (texts,
raters, files) comes with it. Merging once more adds nothing.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.records.errors import StoreError
from tabwb.records.files import WorkFolder
from tabwb.store import blobs, maintenance, people, schema, takes, verdicts
from tabwb.store.database import EmbeddedDatabase, Transaction, damaged, explain, version_of
from tabwb.store.schema import make
from tabwb.store.store import Access

ALL = ("*",)
"""The identity of a row of a log: all its columns but its number."""
IDENTITY: dict[str, tuple[str, ...]] = {
    "batteries": ("content_hash",),
    "battery_assets": ("battery_id", "path"),
    "tombstones": ("speaker", "deleted_at"),
    "administrations": ("uid",),
    "speakers": ALL,
    "consents": ALL,
    "access_log": ALL,
    "trials": ("administration_id", "number"),
    "entries": ("administration_id", "sequence"),
    "attempts": ("administration_id", "trial", "number"),
    "messages": ("attempt_id", "position"),
    "recordings": ("uid",),
    "sample_sets": ("uid",),
    "samples": ("set_id", "number"),
    "assignments": ("set_id", "rater_id", "position"),
    "rater_declarations": ALL,
    # Each verdict of one rater replaces the one before it.
    "verdicts": ("attempt_id", "rater_id", "replaces"),
    "judgements": ("attempt_id", "rater_id", "repeat", "key", "recorded_at"),
    "sample_ratings": ("set_id", "rater_id", "position", "replaces"),
    "adjudications": ("set_id", "sample", "measure", "replaces"),
    "set_events": ALL,
    "rater_links": ("token_sha256", "revokes"),
}
"""Tables in the order in which they are merged: each after those that it refers to."""
SHARED: dict[str, tuple[str, ...]] = {
    "texts": ("sha256",),
    "items": ("subtest", "item"),
    "raters": ("spec",),
    "assets": ("sha256",),
}
"""Tables of which a row is merged only with a row that refers to it."""
UNIQUE = {"batteries": ("battery", "version"), "sample_sets": ("name",)}
"""Further columns that no two rows share."""
OWNED = {"judgements": "verdict_id"}
"""Rows that belong to another one, which is compared as a whole: its column, by table."""
NOT_COMPARED = {
    "batteries": {"kept_at"},
    "verdicts": {"recorded_at"},
    "assets": {"content"},
    "tombstones": {"who", "reason", "counts", "pending"},
    "rater_links": {"who", "recorded_at"},
}
REFERENCES = {("access_log", "administration"): "administrations"}
"""References that the schema does not declare."""
LOOSE = {("access_log", "administration"), ("judgements", "same_as")}
"""References of rows that are merged without what they refer to, as a deletion keeps them."""
LATEST = {"speakers": "speaker", "consents": "speaker", "set_events": "set_id"}
"""Logs of which the last row counts: the column of which it is the last."""
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class NotMerged:
    """What was not merged: its place in the other store, and why."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Rows by table that were added or were here already, and what was not merged."""

    added: Mapping[str, int]
    already: Mapping[str, int]
    not_merged: tuple[NotMerged, ...]


class _Undo(Exception):
    """Ends a transaction that was only a trial."""


def merge(access: Access, other: Path, *, dry_run: bool, same_people: bool) -> Merged:
    """Add to a store what another one has; see :meth:`tabwb.store.store.Store.merge`."""
    if not other.is_file():
        raise StoreError("there is no store here", where=str(other))
    if access.embedded is not None and other.samefile(access.embedded):
        raise StoreError("a store cannot be merged with itself", where=str(other))
    result = Merged({}, {}, ())
    with _readable(other) as source, source.reading() as rows:
        _check(rows, other)
        found = Transaction(source.connection().cursor())
        try:
            with ExitStack() as marks, access.writing() as target:
                if not dry_run and people.has_people(rows):
                    access.make_private_before_people(target)
                folder = None if dry_run else access.embedded and blobs.folder_of(access.embedded)
                work = _Merge(rows, found, target, blobs.folder_of(other), folder, dry_run, marks)
                if not same_people:
                    work.find_strangers()
                work.everything()
                result = Merged(dict(work.added), dict(work.already), tuple(work.not_merged))
                if dry_run:
                    raise _Undo
        except _Undo:
            pass
    return result


def _check(rows: Transaction, other: Path) -> None:
    """Refuse a store that is damaged, or whose tables are not those of this version."""
    with closing(sqlite3.connect(":memory:")) as new:
        make(Transaction(new.cursor()))
        for table in (*IDENTITY, *SHARED):
            described = f"SELECT name, (SELECT type FROM sqlite_master WHERE name = '{table}')"
            sql = f"{described} FROM pragma_table_info('{table}')"
            if [tuple(row) for row in rows.rows(sql)] != new.execute(sql).fetchall():
                raise damaged(f"the columns of '{table}' are not those of a store", str(other))
    if (found := rows.value("PRAGMA quick_check(1)")) != "ok":
        raise damaged(" ".join(str(found).split()), str(other))
    for damage in maintenance.wrong_in_rows(rows):
        raise damaged(f"{damage.where}: {damage.what}", str(other))


@contextmanager
def _readable(path: Path) -> Iterator[EmbeddedDatabase]:
    """Yield a store of the current schema: the file itself, or an upgraded copy of it."""
    path = path.absolute()
    database = EmbeddedDatabase(path)
    try:
        with database.reading() as transaction:
            version = version_of(transaction, str(path))
        if version is None:
            raise StoreError("nothing has been stored here yet", where=str(path))
        if not schema.needs_upgrade(version, str(path)):
            yield database
            return
        work = WorkFolder(takes.user_work_root())
        try:
            copy = work.draft(path)
            try:
                with closing(sqlite3.connect(copy)) as new:
                    database.connection().backup(new)
            except sqlite3.Error as error:
                raise explain(error, str(copy)) from error
            with closing(schema.open_embedded(copy, create=False)) as upgraded:
                yield upgraded
        finally:
            work.close()
    finally:
        database.close()


class _Merge:
    def __init__(
        self,
        rows: Transaction,
        found: Transaction,
        target: Transaction,
        files: Path,
        folder: Path | None,
        dry_run: bool,
        marks: ExitStack,
    ) -> None:
        self.rows, self.found, self.target = rows, found, target
        self.files, self.folder, self.dry_run = files, folder, dry_run
        self.marks, self.marked = marks, False
        self.added: Counter[str] = Counter()
        self.already: Counter[str] = Counter()
        self.not_merged: list[NotMerged] = []
        self._ids: dict[str, dict[Any, Any]] = {table: {} for table in (*IDENTITY, *SHARED)}
        self._new: dict[str, set[Any]] = {table: set() for table in (*IDENTITY, *SHARED)}
        self._left: dict[str, set[tuple[Any, ...]]] = {table: set() for table in IDENTITY}
        described = {
            table: found.rows(f"PRAGMA table_info({table})") for table in (*IDENTITY, *SHARED)
        }
        self._columns = {table: [row[1] for row in rows] for table, rows in described.items()}
        # SQLite gives them as integers, which PostgreSQL refuses.
        self._booleans = {
            table: [row[1] for row in rows if row[2] == "BOOLEAN"]
            for table, rows in described.items()
        }
        self._parents = {table: self._foreign_keys(table) for table in self._columns}
        self._waiting: list[tuple[Any, ...]] = []
        self._strangers: set[str] = set()
        self._deleted = dict(
            target.rows("SELECT speaker, max(deleted_at) FROM tombstones GROUP BY speaker")
        )
        self._known = {person for _, person in people.guarded(target)}
        for table in ("speakers", "consents"):
            self._known |= {row[0] for row in target.rows(f"SELECT DISTINCT speaker FROM {table}")}
        self._still_here: set[str] = set()

    def find_strangers(self) -> None:
        """Find the codes that both stores have, with nothing in common."""
        mine: dict[str, set[tuple[Any, ...]]] = {}
        theirs: dict[str, set[tuple[Any, ...]]] = {}
        for table in ("speakers", "consents"):
            columns = [column for column in self._columns[table] if column != "id"]
            booleans = [column in self._booleans[table] for column in columns]
            for side, transaction in ((mine, self.target), (theirs, self.found)):
                for row in transaction.rows(f"SELECT {', '.join(columns)} FROM {table}"):
                    cells = (bool(v) if yes else v for v, yes in zip(row, booleans, strict=True))
                    side.setdefault(row[columns.index("speaker")], set()).add((table, *cells))
        for side, transaction in ((mine, self.target), (theirs, self.found)):
            for uid, kind, examinee, conditions in transaction.rows(
                "SELECT uid, kind, examinee, conditions FROM administrations"
            ):
                person = people.person_in(kind, conditions)
                if person and (kind == "speaker" or person != examinee):
                    side.setdefault(person, set()).add(("administrations", uid))
        self._strangers = {
            code for code in mine.keys() & theirs if mine[code].isdisjoint(theirs[code])
        }

    def _foreign_keys(self, table: str) -> list[tuple[str, list[str], list[str]]]:
        keys: dict[int, tuple[str, list[str], list[str]]] = {}
        for number, _, parent, own, their, *_ in self.found.rows(
            f"PRAGMA foreign_key_list({table})"
        ):
            _, columns, names = keys.setdefault(number, (parent, [], []))
            columns.append(own)
            names.append(their)
        declared = [
            (parent, [own], ["id"]) for (of, own), parent in REFERENCES.items() if of == table
        ]
        return [*keys.values(), *declared]

    def _origin(self, table: str, column: str) -> str | None:
        """Return the table whose ``id`` a column holds, by way of other tables; None: no number."""
        for parent, own, their in self._parents[table]:
            if column in own and (parent, their) != (table, own):
                name = their[own.index(column)]
                if name == "id":
                    return parent
                if parent != table and (origin := self._origin(parent, name)):
                    return origin
        return None

    def everything(self) -> None:
        for table in IDENTITY:
            if table == "verdicts":
                self._leave_verdicts()
            columns = self._columns[table]
            origins = {c: o for c in columns if (o := self._origin(table, c))}
            order = "id" if "id" in columns else "rowid" if table == "recordings" else "1, 2, 3"
            for values in self.rows.each(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
            ):
                self._row(table, dict(zip(columns, values, strict=True)), origins)
            self._write(table)
            if table in LATEST:
                self._put_in_order(table)

    def _leave_verdicts(self) -> None:
        """Leave the verdicts of ratings of samples that are not merged, so that none counts."""
        sql = (
            "SELECT r.set_id, r.rater_id, position, uid, spec, r.id, verdict_id, name, state,"
            " answers, confidence, note, seconds, started_at, recorded_at FROM sample_ratings r"
            " JOIN sample_sets ON sample_sets.id = r.set_id JOIN raters ON raters.id = r.rater_id"
            " ORDER BY r.id"
        )
        here: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for row in self.target.each(sql):
            here.setdefault(tuple(row[2:5]), []).append(tuple(row[8:]))
        seen: Counter[tuple[Any, ...]] = Counter()
        differ: set[tuple[Any, ...]] = set()
        for row in self.rows.each(sql):
            position, _, rater = place = tuple(row[2:5])
            kept, at = here.get(place, []), seen[place]
            seen[place] += 1
            if at < len(kept) and kept[at] != tuple(row[8:]):
                differ.add(place)
                self._say(
                    f"rating set {row[7]}, rater {rater}, position {position}",
                    "was rated in both stores",
                )
            if place in differ or tuple(row[:3]) in self._left["assignments"]:
                self._left["sample_ratings"].add((row[5],))
                self._left["verdicts"].add((row[6],))

    def _put_in_order(self, table: str) -> None:
        """Put the rows of both stores in the order of time, each store's in its own order."""
        new = {self._ids[table][number] for number in self._new[table]}
        columns = ["id", *(column for column in self._columns[table] if column != "id")]
        of, at = columns.index(LATEST[table]), columns.index("recorded_at")
        groups: dict[Any, list[tuple[Any, ...]]] = {}
        for row in self.target.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id"):
            groups.setdefault(row[of], []).append(tuple(row))
        for rows in groups.values():
            if new.isdisjoint(row[0] for row in rows):
                continue
            latest = {True: "", False: ""}
            times: dict[Any, str] = {}
            for row in rows:
                side = row[0] in new
                times[row[0]] = latest[side] = max(latest[side], row[at])
            ordered = sorted(rows, key=lambda row: times[row[0]])
            if ordered != rows:
                self.target.many(f"DELETE FROM {table} WHERE id = ?", [row[:1] for row in rows])
                self._waiting.extend(row[1:] for row in ordered)
                self._write(table)

    def _row(self, table: str, row: dict[str, Any], origins: Mapping[str, str]) -> None:
        if self._is_left(table, row) or self._is_kept_out(table, row):
            self._leave(table, row)
            return
        mapped = dict(row)
        for column, origin in origins.items():
            if row[column] is not None:
                mapped[column] = self._key(origin, row[column])
                if mapped[column] is None and (table, column) not in LOOSE:
                    self._leave(table, row)
                    return
        if table == "verdicts" and row["reasons"] is not None:
            mapped["reasons"] = verdicts.written(
                {at: self._key("texts", id) for at, id in verdicts.by_place(row["reasons"]).items()}
            )
        for column in self._booleans[table]:
            mapped[column] = bool(mapped[column])
        if table == "tombstones":
            mapped["pending"] = None  # the files of the other store
        number = mapped.pop("id", None)
        columns = IDENTITY[table]
        identity = {c: mapped[c] for c in (mapped if columns == ALL else columns)}
        owner = OWNED.get(table)
        if owner and row[owner] is not None and row[owner] not in self._new["verdicts"]:
            self.already[table] += 1
            if number is not None and (there := self._find(table, identity)):
                self._ids[table][number] = there["id"]
            return
        fresh = any(c in origins and row[c] in self._new[origins[c]] for c in identity)
        there = None if fresh else self._find(table, identity)
        if there is not None:
            if different := self._different(table, mapped, there):
                self._refuse(table, row, different)
                return
            self.already[table] += 1
            self._ids[table][number] = there.get("id")
            return
        if clash := UNIQUE.get(table):
            taken = {column: mapped[column] for column in clash}
            if self._find(table, taken):
                said = " ".join(str(value) for value in taken.values())
                self._refuse(table, row, f"there is another '{said}' here, with other content")
                return
        self.added[table] += 1
        if number is None:
            self._waiting.append(tuple(mapped.values()))
            if len(self._waiting) >= _AT_ONCE:
                self._write(table)
            if table == "recordings":
                self._new[table].add(row["uid"])
            return
        self._ids[table][number] = self.target.insert(table, mapped, "RETURNING id")
        self._new[table].add(number)

    def _write(self, table: str) -> None:
        columns = [column for column in self._columns[table] if column != "id"]
        marks = ", ".join("?" * len(columns))
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        self.target.many(insert, self._waiting)
        self._waiting.clear()

    def _find(self, table: str, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        columns = self._columns[table]
        where = " AND ".join(
            f"{c} IS NULL" if v is None else f"{c} = ?" for c, v in identity.items()
        )
        given = [value for value in identity.values() if value is not None]
        row = self.target.first(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", *given)
        return None if row is None else dict(zip(columns, row, strict=True))

    def _different(self, table: str, mapped: Mapping[str, Any], there: Mapping[str, Any]) -> str:
        """Return what differs between a row and the one that is here, or an empty text."""
        for column, value in mapped.items():
            if column in NOT_COMPARED.get(table, ()):
                continue
            if there[column] != value:
                if table == "verdicts":
                    return "this rater gave other verdicts in this store"
                return f"'{column}' differs from this store"
        return ""

    def _key(self, table: str, number: Any) -> Any:
        """Return the key here of a row there, or None where it was not merged."""
        known = self._ids[table].get(number)
        if known is not None or table not in SHARED:
            return known
        columns = [column for column in self._columns[table] if column != "id"]
        values = self.found.first(f"SELECT {', '.join(columns)} FROM {table} WHERE id = ?", number)
        if values is None:
            return None
        row = dict(zip(columns, values, strict=True))
        there = self._find(table, {column: row[column] for column in SHARED[table]})
        if there is not None:
            key = there["id"]
        else:
            key = self.target.insert(table, row, "RETURNING id")
            self.added[table] += 1
        self._ids[table][number] = key
        return key

    def _file(self, digest: str) -> bool:
        """Bring a file over, unless it is here; False where the other store has lost it."""
        known = self._ids["assets"]
        if digest in known:
            return bool(known[digest])
        path = blobs.path_of(self.files, digest)
        size = self.found.value("SELECT size FROM assets WHERE sha256 = ?", digest)
        known[digest] = size is not None and blobs.is_whole(path, digest)
        if not known[digest]:
            return False
        if self._find("assets", {"sha256": digest}) is None:
            # A server keeps the bytes; an embedded store has the file beside it.
            on_server = self.folder is None and not self.dry_run
            content = path.read_bytes() if on_server else None
            self.target.insert("assets", {"sha256": digest, "size": size, "content": content})
            self.added["assets"] += 1
        if self.folder is not None and not blobs.is_whole(
            blobs.path_of(self.folder, digest), digest
        ):
            if not self.marked:
                # Whatever ends the merge, the next opening removes what came without its row.
                self.marks.enter_context(blobs.marked(self.folder))
                self.marked = True
            with path.open("rb") as file:
                blobs.copy_into(self.folder, file)
        return True

    def _is_left(self, table: str, row: Mapping[str, Any]) -> bool:
        """Return whether something that a row needs was not merged."""
        if "id" in row and (row["id"],) in self._left[table]:
            return True
        for parent, own, _ in self._parents[table]:
            key = tuple(row[column] for column in own)
            if None in key or (parent == table and (table, own[0]) in LOOSE):
                continue
            if parent == "assets":
                if not self._file(*key):
                    self._refuse(table, row, f"its file {key[0]} is missing or damaged")
                    return True
            elif parent in self._left and key in self._left[parent]:
                return True
        if table == "entries":
            before = row["administration_id"], row["sequence"] - 1
            return before in self._left["entries"]
        return False

    def _is_kept_out(self, table: str, row: Mapping[str, Any]) -> bool:
        """Return whether a row is of a speaker who was deleted, or who may be another one here."""
        speaker = row.get("speaker")
        if table == "administrations":
            speaker = people.person_in(row["kind"], row["conditions"])
        if table == "tombstones":
            if self._deleted.get(speaker, "") >= row["deleted_at"] or speaker not in self._known:
                return False
            self._still_here.add(speaker)
            self._say(
                f"speaker {speaker}",
                f"was deleted there on {row['deleted_at'][:10]} and is still stored here",
            )
            return True
        if table == "access_log" and speaker in self._still_here:
            return True
        if speaker in self._strangers:
            self._say(
                f"speaker {speaker}",
                "has nothing in common with the speaker of this code here; if they are one person:"
                " --same-speakers",
            )
            return True
        if speaker not in self._deleted:
            return False
        recorded_at = row.get("recorded_at") or row.get("created_at") or row["at"]
        if speaker in self._known and recorded_at > self._deleted[speaker]:
            return False  # was entered by mistake, then recorded anew
        if table != "access_log":
            self._say(f"speaker {speaker}", f"was deleted here on {self._deleted[speaker][:10]}")
        return True

    def _leave(self, table: str, row: Mapping[str, Any]) -> None:
        """Remember that a row was not merged, by each key that other rows know it by."""
        left = self._left[table]
        if "id" in row:
            left.add((row["id"],))
        columns = IDENTITY[table]
        if columns != ALL:
            left.add(tuple(row[column] for column in columns))

    def _refuse(self, table: str, row: Mapping[str, Any], why: str) -> None:
        self._leave(table, row)
        self._say(self._place(table, row), why)

    def _say(self, where: str, why: str) -> None:
        said = NotMerged(where, why)
        if said not in self.not_merged:
            self.not_merged.append(said)

    def _place(self, table: str, row: Mapping[str, Any]) -> str:
        if table == "batteries":
            return f"battery {row['battery']} {row['version']}"
        if table == "sample_sets":
            return f"rating set {row['name']}"
        if table == "administrations":
            return f"administration {row['uid']}"
        parts = []
        if "administration_id" in row:
            sql = "SELECT uid FROM administrations WHERE id = ?"
            parts.append(f"administration {self.found.value(sql, row['administration_id'])}")
        if "attempt_id" in row:
            sql = (
                "SELECT uid, trial, attempts.number FROM attempts JOIN administrations"
                " ON administrations.id = administration_id WHERE attempts.id = ?"
            )
            uid, trial, number = self.found.first(sql, row["attempt_id"]) or ("", "", "")
            parts.append(f"administration {uid}, trial {trial}, attempt {number}")
        if "set_id" in row and table not in OWNED:
            sql = "SELECT name FROM sample_sets WHERE id = ?"
            parts.append(f"rating set {self.found.value(sql, row['set_id'])}")
        if "rater_id" in row:
            sql = "SELECT spec FROM raters WHERE id = ?"
            parts.append(f"rater {self.found.value(sql, row['rater_id'])}")
        parts += [
            f"{column} {row[column]}"
            for column in ("sequence", "trial", "number", "position", "sample", "measure", "path")
            if column in row
        ]
        return ", ".join(parts) or table.replace("_", " ")

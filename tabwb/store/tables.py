"""The tables, said once: new stores, migrations and the server's tables all come from here.

Nothing that runs in every command imports this module: SQLAlchemy alone takes longer to import
than a whole battery takes to give (``docs/store.md``). A new SQLite store is made from
``schema.sql``, which is this metadata printed by ``python -m tabwb.store.tables`` and kept equal by
a test; the queries in ``read.py`` and ``write.py`` are plain SQL over the DB-API.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from tabwb.records.condition_table import default_of
from tabwb.records.conditions import CONDITIONS

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

alembic_version = Table(
    "alembic_version",
    metadata,
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

batteries = Table(
    "batteries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("battery", String, nullable=False),
    Column("version", String, nullable=False),
    Column("content_hash", String(64), nullable=False, unique=True),
    Column("title", String, nullable=False),
    Column("canonical_id", ForeignKey("texts.id"), nullable=False),
    Column("kept_at", String, nullable=False),
    UniqueConstraint("battery", "version"),
)

assets = Table(
    "assets",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("size", Integer, nullable=False),
    # Beside an SQLite file the bytes lie in a folder; a server keeps them here.
    Column("content", LargeBinary),
    sqlite_with_rowid=False,
)

battery_assets = Table(
    "battery_assets",
    metadata,
    Column("battery_id", ForeignKey("batteries.id"), primary_key=True),
    Column("path", String, primary_key=True),
    Column("sha256", ForeignKey("assets.sha256"), nullable=False),
    sqlite_with_rowid=False,
)

administrations = Table(
    "administrations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("uid", String(36), nullable=False, unique=True),
    Column("battery_id", ForeignKey("batteries.id"), nullable=False),
    Column("examinee", String, nullable=False),
    Column("kind", String, nullable=False),
    *(
        Column(
            condition.id,
            {"integer": BigInteger, "number": Double, "boolean": Boolean}.get(
                condition.kind.column, String
            ),
            nullable=default_of(condition) is None,
        )
        for condition in CONDITIONS
        if condition.stored
    ),
    Column("conditions", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("created_at", String, nullable=False),
    sqlite_autoincrement=True,
)

texts = Table(
    "texts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("text", Text, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("administration_id", ForeignKey("administrations.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("subtest", String, nullable=False),
    Column("item", String, nullable=False),
    Column("replicate", Integer, nullable=False),
    Column("options", Text, nullable=False),
    Column("prompt_id", ForeignKey("texts.id"), nullable=False),
    Column("practice", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

entries = Table(
    "entries",
    metadata,
    Column("administration_id", ForeignKey("administrations.id"), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("trial", Integer),
    Column("text", Text, nullable=False),
    Column("undoes", Integer),
    Column("recorded_at", String, nullable=False),
    ForeignKeyConstraint(
        ["administration_id", "trial"], ["trials.administration_id", "trials.number"]
    ),
    ForeignKeyConstraint(
        ["administration_id", "undoes"], ["entries.administration_id", "entries.sequence"]
    ),
    CheckConstraint("undoes IS NULL OR undoes < sequence", name="undoes_earlier"),
    sqlite_with_rowid=False,
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("administration_id", Integer, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("response", Text, nullable=False),
    Column("status", String),
    Column("stop_reason", String, nullable=False),
    Column("latency_s", Double),
    Column("error", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    UniqueConstraint("administration_id", "trial", "number"),
    ForeignKeyConstraint(
        ["administration_id", "sequence"], ["entries.administration_id", "entries.sequence"]
    ),
)

messages = Table(
    "messages",
    metadata,
    Column("attempt_id", ForeignKey("attempts.id"), primary_key=True),
    Column("position", SmallInteger, primary_key=True, autoincrement=False),
    Column("role", String, nullable=False),
    Column("text_id", ForeignKey("texts.id"), nullable=False),
    sqlite_with_rowid=False,
)

raters = Table(
    "raters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("spec", String, nullable=False, unique=True),
)

measures = Table(
    "measures",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
)

rating_statuses = Table(
    "rating_statuses",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("name", String, nullable=False, unique=True),
)

reasons = Table(
    "reasons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("text", Text, nullable=False),
)

rating_sets = Table(
    "rating_sets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    Column("rater_id", ForeignKey("raters.id"), nullable=False),
    Column("replaces", ForeignKey("rating_sets.id")),
    # Null: recorded in one commit with the attempt, at its time.
    Column("recorded_at", String),
)

ratings = Table(
    "ratings",
    metadata,
    Column("set_id", ForeignKey("rating_sets.id"), primary_key=True),
    Column("measure_id", ForeignKey("measures.id"), primary_key=True),
    Column("value", Double),
    Column("status_id", ForeignKey("rating_statuses.id"), nullable=False),
    Column("reason_id", ForeignKey("reasons.id")),
    # 0 is the status 'value'; only that one carries a number.
    CheckConstraint("(status_id = 0) = (value IS NOT NULL)", name="value_has_status"),
    sqlite_with_rowid=False,
)

rater_declarations = Table(
    "rater_declarations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("administration_id", ForeignKey("administrations.id"), nullable=False, index=True),
    Column("rater_id", ForeignKey("raters.id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("scope", String, nullable=False),
    # Shared by all administrations that say the same: a JSON list, a sentence, a prompt.
    Column("features_id", ForeignKey("texts.id"), nullable=False),
    Column("caution_id", ForeignKey("texts.id"), nullable=False),
    Column("prompt_id", ForeignKey("texts.id")),
    Column("recorded_at", String, nullable=False),
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("attempt_id", ForeignKey("attempts.id"), nullable=False, index=True),
    Column("rater_id", ForeignKey("raters.id"), nullable=False),
    # Null: a repetition, whose ratings do not count; they stand in `verdict`.
    Column("set_id", ForeignKey("rating_sets.id")),
    Column("repeat", Integer, nullable=False),
    Column("prompt_id", ForeignKey("texts.id"), nullable=False),
    Column("raw_id", ForeignKey("texts.id"), nullable=False),
    Column("first_raw_id", ForeignKey("texts.id")),
    Column("repaired", Boolean, nullable=False),
    Column("structured", Boolean, nullable=False),
    Column("stop_reason", String, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("prompt_tokens", Integer),
    Column("reply_tokens", Integer),
    Column("latency_s", Double, nullable=False),
    # SHA-256 of judge and exact request: the same call is never paid for twice.
    Column("key", LargeBinary, nullable=False, index=True),
    Column("same_as", ForeignKey("judgements.id")),
    Column("verdict", Text),
    Column("recorded_at", String, nullable=False),
    CheckConstraint("(set_id IS NULL) = (verdict IS NOT NULL)", name="verdict_once"),
)

# What a study records of its speakers, each time the whole record; the last one holds.
speakers = Table(
    "speakers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("speaker", String, nullable=False, index=True),
    Column("record", Text, nullable=False),
    Column("who", String, nullable=False),
    Column("recorded_at", String, nullable=False),
)

consents = Table(
    "consents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("speaker", String, nullable=False, index=True),
    Column("scope", String, nullable=False),
    Column("given", Boolean, nullable=False),
    Column("day", String, nullable=False),
    Column("document", String, nullable=False),
    Column("note", Text, nullable=False),
    Column("who", String, nullable=False),
    Column("recorded_at", String, nullable=False),
)

recordings = Table(
    "recordings",
    metadata,
    Column("uid", String(36), primary_key=True),
    Column("administration_id", ForeignKey("administrations.id"), nullable=False, index=True),
    # The bytes are kept as those of batteries' files are.
    Column("sha256", ForeignKey("assets.sha256"), nullable=False, index=True),
    Column("role", String, nullable=False),
    Column("derived_from", ForeignKey("recordings.uid")),
    Column("seconds", Double, nullable=False),
    Column("rate", Integer, nullable=False),
    Column("channels", SmallInteger, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("started_at", String, nullable=False),
    Column("recorded_at", String, nullable=False),
    CheckConstraint("(role = 'original') = (derived_from IS NULL)", name="derived_from_original"),
)

# Who did what with a person's data. Its number outlives the administration that it names.
access_log = Table(
    "access_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("who", String, nullable=False),
    Column("act", String, nullable=False),
    Column("speaker", String, nullable=False, index=True),
    Column("administration", Integer),
    Column("detail", Text, nullable=False),
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("speaker", String, nullable=False, index=True),
    Column("deleted_at", String, nullable=False),
    Column("who", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("counts", Text, nullable=False),
    # Files still to be removed; null once nothing is left on the disk.
    Column("pending", Text),
)

Index(
    "ix_trials_practice",
    trials.c.administration_id,
    trials.c.number,
    sqlite_where=text("practice"),
    postgresql_where=text("practice"),
)

SCHEMA_FILE = Path(__file__).parent / "schema.sql"


def sqlite_schema() -> str:
    """Return the metadata as SQLite's statements, each ended by a semicolon and an empty line."""
    dialect = sqlite.dialect()
    statements: list[str] = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        statements += [
            str(CreateIndex(index).compile(dialect=dialect))
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    cleaned = (re.sub(r"[ \t]+\n", "\n", statement).strip() for statement in statements)
    return "".join(f"{statement};\n\n" for statement in cleaned).rstrip("\n") + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(sqlite_schema(), encoding="utf-8")

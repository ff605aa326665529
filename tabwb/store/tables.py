"""The tables, said once: new stores, migrations and the server's tables all come from here.

Nothing that runs in every command imports this module: SQLAlchemy alone takes longer to import
than a whole battery takes to give (``docs/store.md``). A new SQLite store is made from
``schema.sql``, which is this metadata printed by ``python -m tabwb.store.tables`` and kept equal by
a test; the queries in ``read.py`` and ``write.py`` are plain SQL over the DB-API.
"""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from tabwb.records.condition_table import default_of
from tabwb.records.conditions import CONDITIONS

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

alembic_version = sa.Table(
    "alembic_version",
    metadata,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

batteries = sa.Table(
    "batteries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("battery", sa.String, nullable=False),
    sa.Column("version", sa.String, nullable=False),
    sa.Column("content_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("canonical_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("kept_at", sa.String, nullable=False),
    sa.UniqueConstraint("battery", "version"),
)

assets = sa.Table(
    "assets",
    metadata,
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("size", sa.Integer, nullable=False),
    # Beside an SQLite file the bytes lie in a folder; a server keeps them here.
    sa.Column("content", sa.LargeBinary),
    sqlite_with_rowid=False,
)

battery_assets = sa.Table(
    "battery_assets",
    metadata,
    sa.Column("battery_id", sa.ForeignKey("batteries.id"), primary_key=True),
    sa.Column("path", sa.String, primary_key=True),
    sa.Column("sha256", sa.ForeignKey("assets.sha256"), nullable=False),
    sqlite_with_rowid=False,
)

administrations = sa.Table(
    "administrations",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uid", sa.String(36), nullable=False, unique=True),
    sa.Column("battery_id", sa.ForeignKey("batteries.id"), nullable=False),
    sa.Column("examinee", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    *(
        sa.Column(
            condition.id,
            {"integer": sa.BigInteger, "number": sa.Double, "boolean": sa.Boolean}.get(
                condition.kind.column, sa.String
            ),
            nullable=default_of(condition) is None,
        )
        for condition in CONDITIONS
        if condition.stored
    ),
    sa.Column("conditions", sa.Text, nullable=False),
    sa.Column("versions", sa.Text, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
    sqlite_autoincrement=True,
)

# What many rows share stands here once.
for name in ("texts", "reasons"):
    sa.Table(
        name,
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
    )
for name, column in (("raters", "spec"), ("measures", "name")):
    sa.Table(
        name,
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(column, sa.String, nullable=False, unique=True),
    )

trials = sa.Table(
    "trials",
    metadata,
    sa.Column("administration_id", sa.ForeignKey("administrations.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("subtest", sa.String, nullable=False),
    sa.Column("item", sa.String, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("prompt_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("practice", sa.Boolean, nullable=False),
    sqlite_with_rowid=False,
)

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("administration_id", sa.ForeignKey("administrations.id"), primary_key=True),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("trial", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("undoes", sa.Integer),
    sa.Column("recorded_at", sa.String, nullable=False),
    sa.ForeignKeyConstraint(
        ["administration_id", "trial"], ["trials.administration_id", "trials.number"]
    ),
    sa.ForeignKeyConstraint(
        ["administration_id", "undoes"], ["entries.administration_id", "entries.sequence"]
    ),
    sa.CheckConstraint("undoes IS NULL OR undoes < sequence", name="undoes_earlier"),
    sqlite_with_rowid=False,
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("administration_id", sa.Integer, nullable=False),
    sa.Column("trial", sa.Integer, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("response", sa.Text, nullable=False),
    sa.Column("status", sa.String),
    sa.Column("stop_reason", sa.String, nullable=False),
    sa.Column("latency_s", sa.Double),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("metadata", sa.Text, nullable=False),
    sa.UniqueConstraint("administration_id", "trial", "number"),
    sa.ForeignKeyConstraint(
        ["administration_id", "sequence"], ["entries.administration_id", "entries.sequence"]
    ),
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("attempt_id", sa.ForeignKey("attempts.id"), primary_key=True),
    sa.Column("position", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("text_id", sa.ForeignKey("texts.id"), nullable=False),
    sqlite_with_rowid=False,
)

rating_statuses = sa.Table(
    "rating_statuses",
    metadata,
    sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String, nullable=False, unique=True),
)

rating_sets = sa.Table(
    "rating_sets",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("attempt_id", sa.ForeignKey("attempts.id"), nullable=False, index=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("replaces", sa.ForeignKey("rating_sets.id")),
    # Null: recorded in one commit with the attempt, at its time.
    sa.Column("recorded_at", sa.String),
)

ratings = sa.Table(
    "ratings",
    metadata,
    sa.Column("set_id", sa.ForeignKey("rating_sets.id"), primary_key=True),
    sa.Column("measure_id", sa.ForeignKey("measures.id"), primary_key=True),
    sa.Column("value", sa.Double),
    sa.Column("status_id", sa.ForeignKey("rating_statuses.id"), nullable=False),
    sa.Column("reason_id", sa.ForeignKey("reasons.id")),
    # 0 is the status 'value'; only that one carries a number.
    sa.CheckConstraint("(status_id = 0) = (value IS NOT NULL)", name="value_has_status"),
    sqlite_with_rowid=False,
)

rater_declarations = sa.Table(
    "rater_declarations",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("administration_id", sa.ForeignKey("administrations.id"), nullable=False, index=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("scope", sa.String, nullable=False),
    # Shared by all administrations that say the same: a JSON list, a sentence, a prompt.
    sa.Column("features_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("caution_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("prompt_id", sa.ForeignKey("texts.id")),
    sa.Column("recorded_at", sa.String, nullable=False),
)

judgements = sa.Table(
    "judgements",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("attempt_id", sa.ForeignKey("attempts.id"), nullable=False, index=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False),
    # Null: a repetition, whose ratings do not count; they stand in `verdict`.
    sa.Column("set_id", sa.ForeignKey("rating_sets.id")),
    sa.Column("repeat", sa.Integer, nullable=False),
    sa.Column("prompt_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("raw_id", sa.ForeignKey("texts.id"), nullable=False),
    sa.Column("first_raw_id", sa.ForeignKey("texts.id")),
    sa.Column("repaired", sa.Boolean, nullable=False),
    sa.Column("structured", sa.Boolean, nullable=False),
    sa.Column("stop_reason", sa.String, nullable=False),
    sa.Column("requests", sa.Integer, nullable=False),
    sa.Column("prompt_tokens", sa.Integer),
    sa.Column("reply_tokens", sa.Integer),
    sa.Column("latency_s", sa.Double, nullable=False),
    # SHA-256 of judge and exact request: the same call is never paid for twice.
    sa.Column("key", sa.LargeBinary, nullable=False, index=True),
    sa.Column("same_as", sa.ForeignKey("judgements.id")),
    sa.Column("verdict", sa.Text),
    sa.Column("recorded_at", sa.String, nullable=False),
    sa.CheckConstraint("(set_id IS NULL) = (verdict IS NOT NULL)", name="verdict_once"),
)

# What a study records of its speakers, each time the whole record; the last one holds.
speakers = sa.Table(
    "speakers",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("speaker", sa.String, nullable=False, index=True),
    sa.Column("record", sa.Text, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("recorded_at", sa.String, nullable=False),
)

consents = sa.Table(
    "consents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("speaker", sa.String, nullable=False, index=True),
    sa.Column("scope", sa.String, nullable=False),
    sa.Column("given", sa.Boolean, nullable=False),
    sa.Column("day", sa.String, nullable=False),
    sa.Column("document", sa.String, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("recorded_at", sa.String, nullable=False),
)

recordings = sa.Table(
    "recordings",
    metadata,
    sa.Column("uid", sa.String(36), primary_key=True),
    sa.Column("administration_id", sa.ForeignKey("administrations.id"), nullable=False, index=True),
    # The bytes are kept as those of batteries' files are.
    sa.Column("sha256", sa.ForeignKey("assets.sha256"), nullable=False, index=True),
    sa.Column("role", sa.String, nullable=False),
    sa.Column("derived_from", sa.ForeignKey("recordings.uid")),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("rate", sa.Integer, nullable=False),
    sa.Column("channels", sa.SmallInteger, nullable=False),
    sa.Column("parameters", sa.Text, nullable=False),
    sa.Column("started_at", sa.String, nullable=False),
    sa.Column("recorded_at", sa.String, nullable=False),
    sa.CheckConstraint(
        "(role = 'original') = (derived_from IS NULL)", name="derived_from_original"
    ),
)

# Who did what with a person's data. Its number outlives the administration that it names.
access_log = sa.Table(
    "access_log",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.String, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("act", sa.String, nullable=False),
    sa.Column("speaker", sa.String, nullable=False, index=True),
    sa.Column("administration", sa.Integer),
    sa.Column("detail", sa.Text, nullable=False),
)

tombstones = sa.Table(
    "tombstones",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("speaker", sa.String, nullable=False, index=True),
    sa.Column("deleted_at", sa.String, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("reason", sa.String, nullable=False),
    sa.Column("counts", sa.Text, nullable=False),
    # Files still to be removed; null once nothing is left on the disk.
    sa.Column("pending", sa.Text),
)

sa.Index(
    "ix_trials_practice",
    trials.c.administration_id,
    trials.c.number,
    sqlite_where=sa.text("practice"),
    postgresql_where=sa.text("practice"),
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

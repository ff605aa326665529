"""The first tables.

Revision 0001. A revision never changes; the tables as they are now are in ``schema.sql``.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables of the first version, with their fixed rows."""
    op.create_table(
        "assets",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("size", sa.Integer, nullable=False),
        # Beside an SQLite file the bytes lie in a folder; a server keeps them here.
        sa.Column("content", sa.LargeBinary),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "measures",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
    )
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("spec", sa.String, nullable=False, unique=True),
    )
    op.create_table(
        "rating_statuses",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String, nullable=False, unique=True),
    )
    op.create_table(
        "reasons",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "texts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "batteries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("battery", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("title", sa.String, nullable=False),
        sa.Column("canonical_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("kept_at", sa.String, nullable=False),
        sa.UniqueConstraint("battery", "version"),
    )
    op.create_table(
        "administrations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String(36), nullable=False, unique=True),
        sa.Column("battery_id", sa.Integer, sa.ForeignKey("batteries.id"), nullable=False),
        sa.Column("examinee", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("protocol", sa.String, nullable=False),
        sa.Column("lesion", sa.String),
        sa.Column("research_protocol", sa.String),
        sa.Column("conditions", sa.Text, nullable=False),
        sa.Column("versions", sa.Text, nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "battery_assets",
        sa.Column("battery_id", sa.Integer, sa.ForeignKey("batteries.id"), primary_key=True),
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("sha256", sa.String(64), sa.ForeignKey("assets.sha256"), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "trials",
        sa.Column(
            "administration_id", sa.Integer, sa.ForeignKey("administrations.id"), primary_key=True
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("subtest", sa.String, nullable=False),
        sa.Column("item", sa.String, nullable=False),
        sa.Column("replicate", sa.Integer, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("prompt_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("practice", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_trials_practice",
        "trials",
        ["administration_id", "number"],
        unique=False,
        sqlite_where=sa.text("practice"),
        postgresql_where=sa.text("practice"),
    )
    op.create_table(
        "entries",
        sa.Column(
            "administration_id", sa.Integer, sa.ForeignKey("administrations.id"), primary_key=True
        ),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("trial", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("undoes", sa.Integer),
        sa.Column("recorded_at", sa.String, nullable=False),
        sa.CheckConstraint("undoes IS NULL OR undoes < sequence", name="undoes_earlier"),
        sa.ForeignKeyConstraint(
            ["administration_id", "trial"], ["trials.administration_id", "trials.number"]
        ),
        sa.ForeignKeyConstraint(
            ["administration_id", "undoes"], ["entries.administration_id", "entries.sequence"]
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "attempts",
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
        sa.ForeignKeyConstraint(
            ["administration_id", "sequence"], ["entries.administration_id", "entries.sequence"]
        ),
        sa.UniqueConstraint("administration_id", "trial", "number"),
    )
    op.create_table(
        "messages",
        sa.Column("attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), primary_key=True),
        sa.Column("position", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("text_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rating_sets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), nullable=False, index=True
        ),
        sa.Column("rater_id", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("replaces", sa.Integer, sa.ForeignKey("rating_sets.id")),
        # Null: recorded in one commit with the attempt, at its time.
        sa.Column("recorded_at", sa.String),
    )
    op.create_table(
        "ratings",
        sa.Column("set_id", sa.Integer, sa.ForeignKey("rating_sets.id"), primary_key=True),
        sa.Column("measure_id", sa.Integer, sa.ForeignKey("measures.id"), primary_key=True),
        sa.Column("value", sa.Double),
        sa.Column(
            "status_id", sa.SmallInteger, sa.ForeignKey("rating_statuses.id"), nullable=False
        ),
        sa.Column("reason_id", sa.Integer, sa.ForeignKey("reasons.id")),
        # 0 is the status 'value'; only that one carries a number.
        sa.CheckConstraint("(status_id = 0) = (value IS NOT NULL)", name="value_has_status"),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO rating_statuses (id, name) VALUES"
        " (0, 'value'), (1, 'undefined'), (2, 'unparsed'), (3, 'error')"
    )

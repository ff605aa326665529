"""The first tables.

Revision 0001. A migration says what the tables were then: it never changes with ``tables.py``.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the first version, with their fixed rows."""
    op.create_table(
        "assets",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_assets")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "measures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_measures")),
        sa.UniqueConstraint("name", name=op.f("uq_measures_name")),
    )
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("spec", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raters")),
        sa.UniqueConstraint("spec", name=op.f("uq_raters_spec")),
    )
    op.create_table(
        "rating_statuses",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating_statuses")),
        sa.UniqueConstraint("name", name=op.f("uq_rating_statuses_name")),
    )
    op.create_table(
        "reasons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reasons")),
        sa.UniqueConstraint("sha256", name=op.f("uq_reasons_sha256")),
    )
    op.create_table(
        "texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_texts")),
        sa.UniqueConstraint("sha256", name=op.f("uq_texts_sha256")),
    )
    op.create_table(
        "batteries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("battery", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("canonical_id", sa.Integer(), nullable=False),
        sa.Column("kept_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["canonical_id"], ["texts.id"], name=op.f("fk_batteries_canonical_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batteries")),
        sa.UniqueConstraint("battery", "version", name=op.f("uq_batteries_battery_version")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_batteries_content_hash")),
    )
    op.create_table(
        "administrations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(length=36), nullable=False),
        sa.Column("battery_id", sa.Integer(), nullable=False),
        sa.Column("examinee", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("lesion", sa.String(), nullable=True),
        sa.Column("research_protocol", sa.String(), nullable=True),
        sa.Column("conditions", sa.Text(), nullable=False),
        sa.Column("versions", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["battery_id"], ["batteries.id"], name=op.f("fk_administrations_battery_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_administrations")),
        sa.UniqueConstraint("uid", name=op.f("uq_administrations_uid")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "battery_assets",
        sa.Column("battery_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["battery_id"], ["batteries.id"], name=op.f("fk_battery_assets_battery_id")
        ),
        sa.ForeignKeyConstraint(
            ["sha256"], ["assets.sha256"], name=op.f("fk_battery_assets_sha256")
        ),
        sa.PrimaryKeyConstraint("battery_id", "path", name=op.f("pk_battery_assets")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "trials",
        sa.Column("administration_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("subtest", sa.String(), nullable=False),
        sa.Column("item", sa.String(), nullable=False),
        sa.Column("replicate", sa.Integer(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("prompt_id", sa.Integer(), nullable=False),
        sa.Column("practice", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["administration_id"], ["administrations.id"], name=op.f("fk_trials_administration_id")
        ),
        sa.ForeignKeyConstraint(["prompt_id"], ["texts.id"], name=op.f("fk_trials_prompt_id")),
        sa.PrimaryKeyConstraint("administration_id", "number", name=op.f("pk_trials")),
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
        sa.Column("administration_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "undoes IS NULL OR undoes < sequence", name=op.f("ck_entries_undoes_earlier")
        ),
        sa.ForeignKeyConstraint(
            ["administration_id", "trial"],
            ["trials.administration_id", "trials.number"],
            name=op.f("fk_entries_administration_id_trial"),
        ),
        sa.ForeignKeyConstraint(
            ["administration_id", "undoes"],
            ["entries.administration_id", "entries.sequence"],
            name=op.f("fk_entries_administration_id_undoes"),
        ),
        sa.ForeignKeyConstraint(
            ["administration_id"], ["administrations.id"], name=op.f("fk_entries_administration_id")
        ),
        sa.PrimaryKeyConstraint("administration_id", "sequence", name=op.f("pk_entries")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("administration_id", sa.Integer(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.Column("stop_reason", sa.String(), nullable=False),
        sa.Column("latency_s", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["administration_id", "sequence"],
            ["entries.administration_id", "entries.sequence"],
            name=op.f("fk_attempts_administration_id_sequence"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint(
            "administration_id",
            "trial",
            "number",
            name=op.f("uq_attempts_administration_id_trial_number"),
        ),
    )
    op.create_table(
        "messages",
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_messages_attempt_id")
        ),
        sa.ForeignKeyConstraint(["text_id"], ["texts.id"], name=op.f("fk_messages_text_id")),
        sa.PrimaryKeyConstraint("attempt_id", "position", name=op.f("pk_messages")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rating_sets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("replaces", sa.Integer(), nullable=True),
        sa.Column("recorded_at", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_rating_sets_attempt_id")
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name=op.f("fk_rating_sets_rater_id")),
        sa.ForeignKeyConstraint(
            ["replaces"], ["rating_sets.id"], name=op.f("fk_rating_sets_replaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating_sets")),
    )
    op.create_index(op.f("ix_rating_sets_attempt_id"), "rating_sets", ["attempt_id"], unique=False)
    op.create_table(
        "ratings",
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("measure_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("status_id", sa.SmallInteger(), nullable=False),
        sa.Column("reason_id", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(status_id = 0) = (value IS NOT NULL)", name=op.f("ck_ratings_value_has_status")
        ),
        sa.ForeignKeyConstraint(
            ["measure_id"], ["measures.id"], name=op.f("fk_ratings_measure_id")
        ),
        sa.ForeignKeyConstraint(["reason_id"], ["reasons.id"], name=op.f("fk_ratings_reason_id")),
        sa.ForeignKeyConstraint(["set_id"], ["rating_sets.id"], name=op.f("fk_ratings_set_id")),
        sa.ForeignKeyConstraint(
            ["status_id"], ["rating_statuses.id"], name=op.f("fk_ratings_status_id")
        ),
        sa.PrimaryKeyConstraint("set_id", "measure_id", name=op.f("pk_ratings")),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO rating_statuses (id, name) VALUES"
        " (0, 'value'), (1, 'undefined'), (2, 'unparsed'), (3, 'error')"
    )

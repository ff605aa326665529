"""Speakers are people: their records, consents and recordings, who did what, who was deleted.

Revision 0004. Who made the answers of an administration is a condition of it and needs no column.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables; what earlier stores hold of people are typed answers only."""
    op.create_table(
        "access_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("administration", sa.Integer(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_log")),
    )
    op.create_index(op.f("ix_access_log_speaker"), "access_log", ["speaker"], unique=False)
    op.create_table(
        "consents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("given", sa.Boolean(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consents")),
    )
    op.create_index(op.f("ix_consents_speaker"), "consents", ["speaker"], unique=False)
    op.create_table(
        "speakers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_speakers")),
    )
    op.create_index(op.f("ix_speakers_speaker"), "speakers", ["speaker"], unique=False)
    op.create_table(
        "tombstones",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("deleted_at", sa.String(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("pending", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstones")),
    )
    op.create_index(op.f("ix_tombstones_speaker"), "tombstones", ["speaker"], unique=False)
    op.create_table(
        "recordings",
        sa.Column("uid", sa.String(length=36), nullable=False),
        sa.Column("administration_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("derived_from", sa.String(length=36), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("rate", sa.Integer(), nullable=False),
        sa.Column("channels", sa.SmallInteger(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "(role = 'original') = (derived_from IS NULL)",
            name=op.f("ck_recordings_derived_from_original"),
        ),
        sa.ForeignKeyConstraint(
            ["administration_id"],
            ["administrations.id"],
            name=op.f("fk_recordings_administration_id"),
        ),
        sa.ForeignKeyConstraint(
            ["derived_from"], ["recordings.uid"], name=op.f("fk_recordings_derived_from")
        ),
        sa.ForeignKeyConstraint(["sha256"], ["assets.sha256"], name=op.f("fk_recordings_sha256")),
        sa.PrimaryKeyConstraint("uid", name=op.f("pk_recordings")),
    )
    op.create_index(
        op.f("ix_recordings_administration_id"), "recordings", ["administration_id"], unique=False
    )
    op.create_index(op.f("ix_recordings_sha256"), "recordings", ["sha256"], unique=False)

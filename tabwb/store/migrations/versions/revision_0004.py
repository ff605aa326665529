"""Speakers are people: their records, consents and recordings, who did what, who was deleted.

Revision 0004. Who made the answers of an administration is a condition of it and needs no column.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables; what earlier stores hold of people are typed answers only."""
    # Who did what with a person's data. Its number outlives the administration that it names.
    op.create_table(
        "access_log",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("act", sa.String, nullable=False),
        sa.Column("speaker", sa.String, nullable=False, index=True),
        sa.Column("administration", sa.Integer),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_table(
        "consents",
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
    # Each time the whole record; the last one holds.
    op.create_table(
        "speakers",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("speaker", sa.String, nullable=False, index=True),
        sa.Column("record", sa.Text, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("recorded_at", sa.String, nullable=False),
    )
    op.create_table(
        "tombstones",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("speaker", sa.String, nullable=False, index=True),
        sa.Column("deleted_at", sa.String, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        # Files still to be removed; null once nothing is left on the disk.
        sa.Column("pending", sa.Text),
    )
    op.create_table(
        "recordings",
        sa.Column("uid", sa.String(36), primary_key=True),
        sa.Column(
            "administration_id",
            sa.Integer,
            sa.ForeignKey("administrations.id"),
            nullable=False,
            index=True,
        ),
        sa.Column(
            "sha256", sa.String(64), sa.ForeignKey("assets.sha256"), nullable=False, index=True
        ),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("derived_from", sa.String(36), sa.ForeignKey("recordings.uid")),
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

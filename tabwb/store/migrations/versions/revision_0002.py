"""Judgements: what a judge behind which a model stands said, call by call.

Revision 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; what earlier stores hold has no judgements."""
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Integer(), nullable=True),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("prompt_id", sa.Integer(), nullable=False),
        sa.Column("raw_id", sa.Integer(), nullable=False),
        sa.Column("first_raw_id", sa.Integer(), nullable=True),
        sa.Column("repaired", sa.Boolean(), nullable=False),
        sa.Column("structured", sa.Boolean(), nullable=False),
        sa.Column("stop_reason", sa.String(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=True),
        sa.Column("reply_tokens", sa.Integer(), nullable=True),
        sa.Column("latency_s", sa.Double(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("same_as", sa.Integer(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("recorded_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "(set_id IS NULL) = (verdict IS NOT NULL)", name=op.f("ck_judgements_verdict_once")
        ),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_judgements_attempt_id")
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name=op.f("fk_judgements_rater_id")),
        sa.ForeignKeyConstraint(["set_id"], ["rating_sets.id"], name=op.f("fk_judgements_set_id")),
        sa.ForeignKeyConstraint(["prompt_id"], ["texts.id"], name=op.f("fk_judgements_prompt_id")),
        sa.ForeignKeyConstraint(["raw_id"], ["texts.id"], name=op.f("fk_judgements_raw_id")),
        sa.ForeignKeyConstraint(
            ["first_raw_id"], ["texts.id"], name=op.f("fk_judgements_first_raw_id")
        ),
        sa.ForeignKeyConstraint(["same_as"], ["judgements.id"], name=op.f("fk_judgements_same_as")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
    )
    op.create_index(op.f("ix_judgements_attempt_id"), "judgements", ["attempt_id"], unique=False)
    op.create_index(op.f("ix_judgements_key"), "judgements", ["key"], unique=False)

"""Judgements: the replies of judges that use a model, call by call.

Revision 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the table; what earlier stores hold has no judgements."""
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), nullable=False, index=True
        ),
        sa.Column("rater_id", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
        # Null: a repetition, whose ratings do not count; they are in `verdict`.
        sa.Column("set_id", sa.Integer, sa.ForeignKey("rating_sets.id")),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("prompt_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("raw_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("first_raw_id", sa.Integer, sa.ForeignKey("texts.id")),
        sa.Column("repaired", sa.Boolean, nullable=False),
        sa.Column("structured", sa.Boolean, nullable=False),
        sa.Column("stop_reason", sa.String, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("reply_tokens", sa.Integer),
        sa.Column("latency_s", sa.Double, nullable=False),
        # SHA-256 of judge and exact request: the same call is never paid for twice.
        sa.Column("key", sa.LargeBinary, nullable=False, index=True),
        sa.Column("same_as", sa.Integer, sa.ForeignKey("judgements.id")),
        sa.Column("verdict", sa.Text),
        sa.Column("recorded_at", sa.String, nullable=False),
        sa.CheckConstraint("(set_id IS NULL) = (verdict IS NOT NULL)", name="verdict_once"),
    )

"""Declarations: the feature set, scope and caution of each rater in each administration.

Revision 0003.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

# What the one judge of earlier stores would have declared; it never changes with the judge.
RATER = "rules-1"
FEATURES = (
    "retracing",
    "abandoned-utterances",
    "perseverations",
    "neologisms",
    "jargon",
    "short-and-simplified-utterances",
    "false-starts",
)
CAUTION = "a text rule; not compared with expert raters"


def upgrade() -> None:
    """Add the table, and what the judge of earlier administrations would have said."""
    op.create_table(
        "rater_declarations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "administration_id",
            sa.Integer,
            sa.ForeignKey("administrations.id"),
            nullable=False,
            index=True,
        ),
        sa.Column("rater_id", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("scope", sa.String, nullable=False),
        # Shared by all administrations that say the same: a JSON list, a sentence, a prompt.
        sa.Column("features_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("caution_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("prompt_id", sa.Integer, sa.ForeignKey("texts.id")),
        sa.Column("recorded_at", sa.String, nullable=False),
    )
    connection = op.get_bind()
    rater = connection.scalar(sa.text("SELECT id FROM raters WHERE spec = :spec"), {"spec": RATER})
    if rater is None:
        return
    features = json.dumps(FEATURES, separators=(",", ":"))
    connection.execute(
        sa.text(
            "INSERT INTO rater_declarations (administration_id, rater_id, kind, scope,"
            " features_id, caution_id, recorded_at)"
            " SELECT DISTINCT administration_id, rater_id, 'judge', 'connected-text',"
            " CAST(:features AS INTEGER), CAST(:caution AS INTEGER), :moment"
            " FROM rating_sets JOIN attempts ON attempts.id = attempt_id"
            " WHERE rater_id = :rater"
        ),
        {
            "rater": rater,
            "features": _text(connection, features),
            "caution": _text(connection, CAUTION),
            "moment": datetime.now(UTC).isoformat(timespec="milliseconds"),
        },
    )


def _text(connection: sa.Connection, text: str) -> int:
    row = {"digest": sha256(text.encode()).digest(), "text": text}
    connection.execute(
        sa.text("INSERT INTO texts (sha256, text) VALUES (:digest, :text) ON CONFLICT DO NOTHING"),
        row,
    )
    return int(
        connection.execute(sa.text("SELECT id FROM texts WHERE sha256 = :digest"), row).scalar_one()
    )

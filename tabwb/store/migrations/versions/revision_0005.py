"""Rating sets of people: samples, who rates which, what each said, what was settled.

Revision 0005. The table ``rating_sets`` of revision 0001 is something else: the ratings that one
rater gave one attempt at one time. A person's rating of a sample adds a row to it too.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the tables; earlier stores have no sets."""
    op.create_table(
        "sample_sets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String(36), nullable=False, unique=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("form_id", sa.String, nullable=False),
        sa.Column("form_text_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("guidelines_id", sa.Integer, sa.ForeignKey("texts.id")),
        sa.Column("presentation", sa.Text, nullable=False),
        sa.Column("raters", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("ask_source", sa.Boolean, nullable=False),
        # Until an event of the set says otherwise.
        sa.Column("counts", sa.String, nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
    )
    op.create_table(
        "samples",
        sa.Column("set_id", sa.Integer, sa.ForeignKey("sample_sets.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column(
            "attempt_id", sa.Integer, sa.ForeignKey("attempts.id"), nullable=False, index=True
        ),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("prompt_id", sa.Integer, sa.ForeignKey("texts.id"), nullable=False),
        sa.Column("context_before", sa.Text, nullable=False),
        sa.Column("context_after", sa.Text, nullable=False),
        sa.Column("stratum", sa.String, nullable=False),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("audio_sha256", sa.String(64), sa.ForeignKey("assets.sha256")),
        sa.Column("audio_start_s", sa.Double),
        sa.Column("audio_end_s", sa.Double),
        sa.Column("picture", sa.String),
        sa.Column("target", sa.String, nullable=False),
        sa.Column("consensus", sa.Text),
        sa.UniqueConstraint("set_id", "attempt_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "assignments",
        sa.Column("set_id", sa.Integer, primary_key=True),
        sa.Column("rater_id", sa.Integer, sa.ForeignKey("raters.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("sample", sa.Integer, nullable=False),
        sa.Column("purpose", sa.String, nullable=False),
        sa.ForeignKeyConstraint(["set_id", "sample"], ["samples.set_id", "samples.number"]),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_assignments_set_id_sample", "assignments", ["set_id", "sample"])
    op.create_table(
        "sample_ratings",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("set_id", sa.Integer, nullable=False),
        sa.Column("rater_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        # What replaces a row names it; so two programs cannot both continue from one row.
        sa.Column("replaces", sa.Integer, sa.ForeignKey("sample_ratings.id"), unique=True),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("answers", sa.Text, nullable=False),
        sa.Column("confidence", sa.SmallInteger),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        # The ratings of the attempt that results count, where this row added some.
        sa.Column("rating_set_id", sa.Integer, sa.ForeignKey("rating_sets.id")),
        sa.Column("started_at", sa.String, nullable=False),
        sa.Column("recorded_at", sa.String, nullable=False),
        sa.CheckConstraint("state IN ('draft', 'complete', 'taken-back')", name="known_state"),
        sa.ForeignKeyConstraint(
            ["set_id", "rater_id", "position"],
            ["assignments.set_id", "assignments.rater_id", "assignments.position"],
        ),
    )
    op.create_index(
        "ix_sample_ratings_set_id_rater_id_position",
        "sample_ratings",
        ["set_id", "rater_id", "position"],
    )
    # One first row at each position.
    op.create_index(
        "ix_sample_ratings_first",
        "sample_ratings",
        ["set_id", "rater_id", "position"],
        unique=True,
        sqlite_where=sa.text("replaces IS NULL"),
        postgresql_where=sa.text("replaces IS NULL"),
    )
    op.create_table(
        "adjudications",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("set_id", sa.Integer, nullable=False),
        sa.Column("sample", sa.Integer, nullable=False),
        sa.Column("measure", sa.String, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("replaces", sa.Integer, sa.ForeignKey("adjudications.id"), unique=True),
        sa.Column("recorded_at", sa.String, nullable=False),
        sa.ForeignKeyConstraint(["set_id", "sample"], ["samples.set_id", "samples.number"]),
    )
    op.create_index("ix_adjudications_set_id_sample", "adjudications", ["set_id", "sample"])
    op.create_table(
        "set_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "set_id", sa.Integer, sa.ForeignKey("sample_sets.id"), nullable=False, index=True
        ),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("recorded_at", sa.String, nullable=False),
    )
    op.create_table(
        "rater_links",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "set_id", sa.Integer, sa.ForeignKey("sample_sets.id"), nullable=False, index=True
        ),
        sa.Column("rater_id", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
        # Of the secret, which is not kept; null in a row that revokes another.
        sa.Column("token_sha256", sa.LargeBinary, unique=True),
        sa.Column("revokes", sa.Integer, sa.ForeignKey("rater_links.id"), unique=True),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("recorded_at", sa.String, nullable=False),
        sa.Column("expires_at", sa.String, nullable=False),
        sa.CheckConstraint("(token_sha256 IS NULL) = (revokes IS NOT NULL)", name="link_or_end"),
    )

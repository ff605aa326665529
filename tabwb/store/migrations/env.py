"""Alembic runs this file on the connection that :mod:`tabwb.store.migrate` gives.

Alembic loads it under its own name; a plain import does nothing.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}
"""Names of keys, indexes and constraints in every revision; fixed, like the revisions."""

if __name__ != "tabwb.store.migrations.env":
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=sa.MetaData(naming_convention=NAMING),
        render_as_batch=True,
        transactional_ddl=False,
    )
    context.run_migrations()

"""Alembic runs this file. The connection comes from :mod:`tabwb.store.migrate`.

Alembic loads it under a name of its own; a plain import does nothing. To draft a revision after a
change of ``tables.py``: ``alembic -c tabwb/store/migrations/alembic.ini revision --autogenerate``.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine

from tabwb.store.tables import metadata


def run() -> None:
    """Run the migrations on the connection given, or on one to the configured URL."""
    config = context.config
    connection = config.attributes.get("connection")
    if connection is None:
        engine = create_engine(config.get_main_option("sqlalchemy.url", "sqlite://"))
        with engine.connect() as connection:
            context.configure(connection=connection, target_metadata=metadata)
            with context.begin_transaction():
                context.run_migrations()
        return
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=False,
    )
    context.run_migrations()


if __name__ != "tabwb.store.migrations.env":
    run()

"""Alembic's scripts: how stores of earlier versions become stores of this one."""

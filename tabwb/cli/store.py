"""``tabwb store``: what is in it, a backup, whether it is whole, merging another one."""

from __future__ import annotations

import click

from tabwb.cli.command import add_commands
from tabwb.operations.store import BackupStore, CheckStore, MergeStore, StoreInfo


@click.group()
def store() -> None:
    """Manage the store: info, backup, check, merge."""


add_commands(store, StoreInfo, BackupStore, CheckStore, MergeStore)

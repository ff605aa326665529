"""Pauses an administration whose giving fails, so that it can be continued."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tabwb.administer.session.session import Session
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus


@contextmanager
def pausing(session: Session) -> Iterator[None]:
    """Pause a running session where an exception ends the block (a closed pipe, ctrl+c twice)."""
    try:
        yield
    except BaseException:
        if session.status is AdministrationStatus.RUNNING:
            with suppress(TabwbError):
                session.pause("stopped in the middle")
        raise

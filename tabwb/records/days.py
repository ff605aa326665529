"""Days: of a session, of a consent."""

from __future__ import annotations

from datetime import date

from tabwb.records.errors import UsageError


def read_day(text: str, where: str | None = None) -> str:
    """Return a day as ISO 8601 has it.

    Args:
        text: as written.
        where: what to name in an error, for instance ``--date``.

    Raises:
        UsageError: it is not a day, or lies in the future.

    >>> read_day(" 2024-03-09 ")
    '2024-03-09'
    """
    said = text.strip()
    try:
        day = date.fromisoformat(said)
    except ValueError:
        day = None
    if day is None or day.isoformat() != said:
        raise UsageError(
            f"'{text}' is not a day", where=where, allowed="YYYY-MM-DD, for example 2024-03-09"
        )
    if day > date.today():
        raise UsageError(f"{said} lies in the future", where=where)
    return said

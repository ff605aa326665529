"""Moments as other programs write them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(value: object) -> str:
    """Return a moment as the store has it (UTC, milliseconds); empty where it is not one.

    >>> moment_of("2026-11-20T12:00:00.5+02:00"), moment_of(1_700_000_000), moment_of("soon")
    ('2026-11-20T10:00:00.500+00:00', '2023-11-14T22:13:20.000+00:00', '')
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return ""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""

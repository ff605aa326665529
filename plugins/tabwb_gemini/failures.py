"""The kinds of failure of what Google's client raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from google.genai import errors
from pydantic import ValidationError

from tabwb.host.failures import (
    RemoteFailure,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)

_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]+)?)s")


def client_failure(error: Exception) -> RemoteFailure | None:
    """Return the failure of an error of the client; None for any other error."""
    if isinstance(error, errors.APIError):
        return _of_status(error)
    if isinstance(error, ValidationError | errors.UnknownApiResponseError):
        return malformed(error)
    return None


def _of_status(error: errors.APIError) -> RemoteFailure:
    details = list(_details(error.details))
    kind = kind_of_status(error.code)
    if error.code == 429 and any(map(_is_spent, details)):
        kind = "quota"
    if error.code == 400 and any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
        kind = "authentication"
    asked_s = next((s for detail in details if (s := _delay(detail)) is not None), None)
    headers = getattr(error.response, "headers", None) or {}
    return RemoteFailure(
        kind,
        shortened(error.message or str(error.status or "")),
        status=error.code,
        retry_after_s=asked_s if asked_s is not None else retry_after(headers),
    )


def _details(response: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the details of an error in Google's form (``google.rpc.Status``)."""
    error = response.get("error", response) if isinstance(response, Mapping) else {}
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping):
            yield detail


def _is_spent(detail: Mapping[str, Any]) -> bool:
    """Return whether a daily quota is used up: waiting for seconds does not help."""
    violations = detail.get("violations")
    return isinstance(violations, list) and any(
        "perday" in str(violation.get("quotaId", "")).lower()
        for violation in violations
        if isinstance(violation, Mapping)
    )


def _delay(detail: Mapping[str, Any]) -> float | None:
    """Return the seconds that the service asks to wait (``RetryInfo``), or None."""
    match = _SECONDS.fullmatch(str(detail.get("retryDelay", "")))
    return float(match[1]) if match else None

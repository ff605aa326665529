"""What the client raises, told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator

import openai

from tabwb.extend.keys import redact
from tabwb.extend.remote import FailureKind, RemoteFailure, kind_of_status, retry_after
from tabwb.records.errors import ComponentError, NeedsNetwork

LONGEST = 500
"""Characters of a service's message that are kept; some send whole pages."""
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_CLIENTS = {"httpx", "httpx2", "httpcore", "httpcore2", "h11"}
"""Packages under the client whose errors some of its versions let through."""


def failure_of(error: Exception) -> RemoteFailure | ComponentError | None:
    """The failure that an exception of the client is; None where it is something else."""
    for cause in _causes(error):
        if isinstance(cause, NeedsNetwork):
            return ComponentError(cause.message, allowed=cause.allowed, hint=cause.hint)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APITimeoutError):
        return RemoteFailure("timeout", _deepest(error))
    if isinstance(error, openai.APIConnectionError):
        return RemoteFailure("connection", _deepest(error))
    if isinstance(error, openai.APIResponseValidationError | json.JSONDecodeError | UnicodeError):
        return RemoteFailure("malformed", _short(f"what came is not what was asked for: {error}"))
    if isinstance(error, openai.APIError):  # told in the middle of a stream
        return RemoteFailure(_kind_in_stream(error), _short(_message(error)))
    if type(error).__module__.partition(".")[0] in _CLIENTS:
        slow = "Timeout" in type(error).__name__
        return RemoteFailure("timeout" if slow else "connection", _deepest(error))
    return None


def is_blocked(error: openai.APIStatusError) -> bool:
    """Whether a prompt was refused by a content filter, as Azure says it."""
    return error.status_code == 400 and error.code == "content_filter"


def names_parameter(error: openai.APIStatusError, parameter: str) -> bool:
    """Whether a server refuses a request because of this parameter."""
    if error.status_code not in {400, 422}:
        return False
    return error.param == parameter or parameter in _message(error)


def _of_status(error: openai.APIStatusError) -> RemoteFailure:
    kind = kind_of_status(error.status_code)
    if error.status_code == 402 or _QUOTA & {error.code, error.type}:
        kind = "quota"
    return RemoteFailure(
        kind,
        _short(_message(error)),
        status=error.status_code,
        retry_after_s=retry_after(error.response.headers),
    )


def _kind_in_stream(error: openai.APIError) -> FailureKind:
    said = {error.code, error.type}
    if _QUOTA & said:
        return "quota"
    if said & {"rate_limit_exceeded", "rate_limit_error", "429"}:
        return "rate-limit"
    numbers = [int(each) for each in said if each and each.isdecimal() and len(each) == 3]
    return kind_of_status(numbers[0]) if numbers and numbers[0] >= 400 else "server"


def _message(error: openai.APIError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    if isinstance(body, str) and body and not isinstance(error, openai.APIStatusError):
        return body
    return error.message


def _deepest(error: BaseException) -> str:
    """What really happened; the client itself says no more than that something did."""
    causes = [cause for cause in _causes(error) if str(cause)]
    return _short(str(causes[-1])) if causes else type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _short(text: str) -> str:
    # Redacted before it is cut: a cut key is a key no more, and would be shown.
    flat = " ".join(redact(text).split())
    return flat if len(flat) <= LONGEST else flat[:LONGEST] + " ..."

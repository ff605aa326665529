"""The kinds of failure of what OpenAI's client raises."""

from __future__ import annotations

import openai

from tabwb.host.failures import (
    FailureKind,
    RemoteFailure,
    deepest,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}


def client_failure(error: Exception) -> RemoteFailure | None:
    """Return the failure of an error of the client; None for any other error."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APITimeoutError):
        return RemoteFailure("timeout", deepest(error))
    if isinstance(error, openai.APIConnectionError):
        return RemoteFailure("connection", deepest(error))
    if isinstance(error, openai.APIResponseValidationError):
        return malformed(error)
    if isinstance(error, openai.APIError):  # sent in the middle of a stream
        return RemoteFailure(_kind_in_stream(error), shortened(_message(error)))
    return None


def is_blocked(error: openai.APIStatusError) -> bool:
    """Return whether a content filter refused the prompt, in Azure's form."""
    return error.status_code == 400 and error.code == "content_filter"


def names_parameter(error: openai.APIStatusError, parameter: str) -> bool:
    """Return whether a server refuses a request because of a parameter."""
    if error.status_code not in {400, 422}:
        return False
    return error.param == parameter or parameter in _message(error)


def _of_status(error: openai.APIStatusError) -> RemoteFailure:
    kind = kind_of_status(error.status_code)
    if error.status_code == 402 or _QUOTA & {error.code, error.type}:
        kind = "quota"
    return RemoteFailure(
        kind,
        shortened(_message(error)),
        status=error.status_code,
        retry_after_s=retry_after(error.response.headers),
    )


def _kind_in_stream(error: openai.APIError) -> FailureKind:
    codes = {error.code, error.type}
    if _QUOTA & codes:
        return "quota"
    if codes & {"rate_limit_exceeded", "rate_limit_error", "429"}:
        return "rate-limit"
    numbers = [int(code) for code in codes if code and code.isdecimal() and len(code) == 3]
    return kind_of_status(numbers[0]) if numbers and numbers[0] >= 400 else "server"


def _message(error: openai.APIError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    if isinstance(body, str) and body and not isinstance(error, openai.APIStatusError):
        return body
    return error.message

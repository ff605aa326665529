"""Requests to the model of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabwb.plugin_api.components import BatchingBackend, Cancel, ModelBackend
from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.exchange import Reply, Request, Wait


def ask_all(
    backend: ModelBackend, requests: Sequence[Request], cancel: Cancel
) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
    """Yield ``(index, reply)`` in any order; a request that failed yields its error."""
    if isinstance(backend, BatchingBackend):
        yield from backend.reply_many(requests, cancel)
        return
    for index, request in enumerate(requests):
        if cancel.is_set():
            return
        try:
            for piece in backend.reply(request, cancel):
                if not isinstance(piece, str):
                    yield index, piece
        except TabwbError as error:
            yield index, as_component_error(error)
        except Exception as error:  # noqa: BLE001 - a plugin's failure is this call's error
            yield index, ComponentError(error_text(error))


def as_component_error(error: TabwbError) -> ComponentError:
    """Return an error as a component's error."""
    if isinstance(error, ComponentError):
        return error
    return ComponentError(error.message, where=error.where, allowed=error.allowed, hint=error.hint)


def kept_to_schema(metadata: Mapping[str, str]) -> bool:
    """Return whether a reply's metadata says that the API followed the JSON schema.

    >>> kept_to_schema({"structured": "json-schema"}), kept_to_schema({})
    (True, False)
    """
    return metadata.get("structured", "no") not in {"", "no", "none"}


def total(*counts: int | None) -> int | None:
    """Return the sum, or None where a count is missing."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None

"""Bounded reading of files that others wrote: bytes, text, JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tabwb.plugin_api import TabwbError
from tabwb.records.files import is_stdin, open_file, read_stdin

MOST_BYTES = 256 * 2**20
"""The largest file that is read whole."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file, or of standard input for ``-``."""
    if is_stdin(path):
        content = read_stdin(most + 1)
    else:
        try:
            with open_file(path) as file:
                content = file.read(most + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise TabwbError(f"cannot be read: {reason}", where=str(path)) from error
    if len(content) > most:
        raise TabwbError(
            "is too large and was not read",
            where=str(path),
            allowed=f"up to {most // 2**20} MiB",
            hint="split it into several files",
        )
    return content


def text_of(content: bytes, where: str) -> str:
    """Return bytes as text."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TabwbError("is UTF-16", where=where, allowed="UTF-8", hint="save it as 'CSV UTF-8'")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TabwbError(
            f"is not UTF-8: byte 0x{content[error.start]:02x}",
            where=f"{where}:{line}",
            allowed="text in UTF-8",
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TabwbError("holds a NUL byte", where=f"{where}:{line}", allowed="text in UTF-8")
    return text


def parsed(text: str, where: str, allowed: str = "JSON") -> Any:
    """Return the value of a JSON text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TabwbError(
            f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            where=where,
            allowed=allowed,
        ) from error
    except (RecursionError, ValueError) as error:
        # Nested more deeply, or with longer numbers, than any such file.
        raise TabwbError(f"cannot be read: {error}", where=where, allowed=allowed) from error


def table_of(value: object, where: str, what: str) -> dict[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        raise TabwbError(
            f"{what} is {kind_of(value)}", where=where, allowed="a JSON object ({...})"
        )
    return value


def list_of(value: object, where: str, what: str) -> list[Any]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise TabwbError(f"{what} is {kind_of(value)}", where=where, allowed="a JSON array ([...])")
    return value


def mapping(value: object) -> dict[str, Any]:
    """Return a JSON object, empty where the value is something else."""
    return value if isinstance(value, dict) else {}


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words.

    >>> kind_of(None), kind_of(True), kind_of([]), kind_of("x")
    ('missing', 'true', 'an array', "the text 'x'")
    """
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).lower()
        case dict():
            return "an object"
        case list():
            return "an array"
        case str():
            return f"the text {value[:40]!r}"
    return f"the number {value!r:.40}"


def number_of(value: object) -> int | float | None:
    """Return a finite number of JSON or of text, or None where it is something else.

    >>> number_of(3), number_of("9007199254740993"), number_of(" 1e3 "), number_of("1e999")
    (3, 9007199254740993, 1000.0, None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    try:
        # Through a float a large seed would lose digits.
        return int(value) if isinstance(value, int | str) else number
    except ValueError:
        return number


def whole(value: object, low: int = 0, high: int = 2**63 - 1) -> int | None:
    """Return a whole number of JSON within the limits, or None where it is something else.

    >>> whole(3), whole(3.0), whole("3"), whole(True), whole(-1)
    (3, 3, None, None, None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and low <= value <= high else None


def real(value: object, low: float = 0.0, high: float = math.inf) -> float | None:
    """Return a finite number of JSON within the limits, or None where it is something else.

    >>> real(0.5), real(2), real("2"), real(float("nan")), real(-1)
    (0.5, 2.0, None, None, None)
    """
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return number if math.isfinite(number) and low <= number <= high else None


def words_of(value: object) -> str:
    """Return text of JSON, empty where it is something else."""
    return value if isinstance(value, str) else ""


def plain_text(value: object, most: int = 2_000) -> str:
    """Return any JSON value as one plain string, shortened.

    >>> plain_text("a"), plain_text([1, None]), plain_text("x" * 10, 5)
    ('a', '[1, null]', 'xxxx…')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 1] + "…"

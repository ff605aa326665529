"""Standard input, output and error as they are found: closed, full, of another encoding, gone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TextIO

from tabwb.records import system
from tabwb.records.words import VisibleStream

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_found: list[TextIO] = []
"""The streams as they were found, below the filters."""


def prepare() -> None:
    """Make the three streams such that writing '✓' or reading half a character raises nothing.

    A stream that was closed before the start (``>&-``) becomes the null device, so that no file
    of ours, a store least of all, takes its number. ASCII means that nobody said what the terminal
    can do; UTF-8 is then the better guess, as for Python itself in the C locale. In any other
    encoding a sign that it lacks becomes '?'. Bytes that cannot be decoded are kept as halves of
    characters (PEP 383), which :func:`tabwb.administer.session.session.storable` makes visible.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, this one
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    system.check_open_files()
    _reconfigure(sys.stdin, "surrogateescape", "surrogateescape")
    _reconfigure(sys.stdout, "backslashreplace", "replace")
    _reconfigure(sys.stderr, "backslashreplace", "backslashreplace")
    sys.stdout, sys.stderr = _filtered(sys.stdout), _filtered(sys.stderr)
    if getattr(sys.unraisablehook, "func", None) is not _tell_ignored:
        sys.unraisablehook = partial(_tell_ignored, sys.unraisablehook)


def _tell_ignored(
    tell: Callable[[UnraisableHookArgs], object], raised: UnraisableHookArgs, /
) -> None:
    """Let Python print what a finalizer raised: it goes on, so that missing memory is no news."""
    if not isinstance(raised.exc_value, MemoryError):
        tell(raised)


def is_utf8(stream: object) -> bool:
    """Whether every character can be written to the stream as it is.

    >>> is_utf8(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    False
    """
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return encoding.replace("_", "-") in {"utf-8", "utf8", "utf-8-sig"}


def give_up(stream: object) -> None:
    """Send what is still to be written to a stream nowhere: its reader went away."""
    if isinstance(stream, io.TextIOWrapper):
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _filtered(stream: TextIO) -> TextIO:
    # Exactly this class: tests and other hosts put their own streams in its place.
    if type(stream) is not io.TextIOWrapper:
        return stream
    # Not detached, and kept: the workbench draws through the interpreter's own stream
    # (sys.__stderr__), and a stream that nothing refers to closes what lies below it.
    stream.flush()
    _found.append(stream)
    return VisibleStream(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )


def _reconfigure(stream: object, errors: str, errors_elsewhere: str) -> None:
    # Exactly this class: tests and other hosts put their own streams in its place.
    if type(stream) is not io.TextIOWrapper:
        return
    if stream.encoding.lower() in {"ascii", "us-ascii", "ansi_x3.4-1968", "646"}:
        stream.reconfigure(encoding="utf-8", errors=errors)
    else:
        stream.reconfigure(errors=errors if is_utf8(stream) else errors_elsewhere)

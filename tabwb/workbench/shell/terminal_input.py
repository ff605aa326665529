"""What the terminal sends, also where it is not UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import partial


def prepare() -> None:
    """Let Textual read bytes that are not UTF-8 as U+FFFD.

    Textual decodes strictly, so one such byte, pasted or typed, would end its input thread and
    with it the workbench. It has no option for this. Windows has another driver, which reads
    characters.
    """
    try:
        from textual.drivers import linux_driver
    except ImportError:
        return
    linux_driver.getincrementaldecoder = _tolerant  # type: ignore[attr-defined, assignment]


def _tolerant(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), "replace")

"""What of Textual is changed, where it has no option for it."""

from __future__ import annotations

import codecs
from functools import partial

from textual.css.model import RuleSet


def prepare() -> None:
    """Read bytes that are not UTF-8 as U+FFFD, and let rules of styles be hashed fast."""
    _read_every_byte()
    # For each widget whose style is looked up Textual hashes every rule; the method it has in
    # Python for that does what object's does, and takes a third of the time of the look-up.
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]


def _read_every_byte() -> None:
    """Decode input tolerantly.

    Textual decodes strictly, so one such byte, pasted or typed, would end its input thread and
    with it the workbench. Windows has another driver, which reads characters.
    """
    try:
        from textual.drivers import linux_driver
    except ImportError:
        return
    linux_driver.getincrementaldecoder = (  # type: ignore[attr-defined]
        lambda encoding: partial(codecs.getincrementaldecoder(encoding), "replace")
    )

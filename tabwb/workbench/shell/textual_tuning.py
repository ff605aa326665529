"""What of Textual is changed, where it has no option for it."""

from __future__ import annotations

import codecs
from functools import lru_cache, partial

from textual._styles_cache import StylesCache
from textual.css.model import RuleSet

_INNER_OUTER = StylesCache.get_inner_outer.__wrapped__


def prepare() -> None:
    """Read input that is not UTF-8, find styles faster, and let go of closed dialogs."""
    _read_every_byte()
    # For each widget whose style is looked up Textual hashes every rule; the method it has in
    # Python for that does what object's does, and takes a third of the time of the look-up.
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    _let_go_of_lines()


def _read_every_byte() -> None:
    """Read bytes that are not UTF-8 as U+FFFD.

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


def _let_go_of_lines() -> None:
    """Cache two styles by their colours alone.

    Textual has the widget's cache of lines in the key, and so keeps all lines that the last 1,024
    widgets have drawn, also of closed dialogs: about 1 MB for each table of keys.
    """
    by_colours = lru_cache(1024)(partial(_INNER_OUTER, None))
    StylesCache.get_inner_outer = staticmethod(by_colours)  # type: ignore[assignment]

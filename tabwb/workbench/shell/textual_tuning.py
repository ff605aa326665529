"""What of Textual is changed, where it has no option for it."""

from __future__ import annotations

import codecs
from functools import lru_cache, partial
from typing import Any, Literal

from textual import messages
from textual._styles_cache import StylesCache
from textual.app import App, ScreenStackError
from textual.await_complete import AwaitComplete
from textual.css.model import RuleSet
from textual.css.query import QueryError
from textual.events import Click, Event, InputEvent, Resize
from textual.message import Message
from textual.screen import Screen
from textual.widget import MountError, Widget
from textual.widgets import OptionList

_INNER_OUTER = StylesCache.get_inner_outer.__wrapped__
_DISMISS, _DISPATCH = Screen.dismiss, Widget._dispatch_message
_DISPATCH_APP = App._dispatch_message
_MOVE_PAGE, _CLICK = OptionList._move_page, OptionList._on_click


def prepare() -> None:
    """Change what the functions below say, once for all programs that show screens."""
    _read_every_byte()
    Screen.dismiss = _close_once  # type: ignore[assignment, method-assign]
    Widget._dispatch_message = _dispatch_while_open  # type: ignore[assignment, method-assign]
    App._dispatch_message = _dispatch_while_running  # type: ignore[method-assign, assignment]
    OptionList._move_page = _move_page_if_drawn  # type: ignore[assignment, method-assign]
    OptionList._on_click = _click_what_is_there  # type: ignore[assignment, method-assign]
    App._fatal_error = _end_without_values  # type: ignore[assignment, method-assign]
    # For each widget whose style is looked up Textual hashes every rule; the method it has in
    # Python for that does what object's does, and takes a third of the time of the look-up.
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    _let_go_of_lines()


def _is_open(screen: Screen[Any]) -> bool:
    return screen.is_attached and screen in screen.app.screen_stack


def _close_once(screen: Screen[Any], result: object = None) -> AwaitComplete:
    """Close a screen that is open, wherever in the stack it is; otherwise do nothing.

    Textual tells the result again and then closes whatever is on top.
    """
    if not _is_open(screen):
        return AwaitComplete()
    stack = screen.app._screen_stack
    stack.remove(screen)
    stack.append(screen)
    return _DISMISS(screen, result)


async def _dispatch_while_open(widget: Widget, message: Message) -> None:
    """Ignore what reaches a screen or one of its widgets after the screen was closed.

    These are keys and clicks, messages of widgets to their screen, and what fails in a widget
    because the others of its screen are gone. Also ignored is a size that the program no longer has
    (a screen that is busy while its window changes twice lays out each size in turn and posts
    itself the other, without end).
    """
    if (
        isinstance(message, Resize)
        and isinstance(widget, Screen)
        and message.size != widget.app.size
    ):
        return
    if isinstance(message, InputEvent):
        if not widget.is_attached or not _is_open(widget.screen):
            return
    elif (
        isinstance(widget, Screen)
        and not isinstance(message, Event)
        and type(message).__module__ != messages.__name__
        and not _is_open(widget)
    ):
        return
    try:
        await _DISPATCH(widget, message)
    except (QueryError, MountError):
        if widget.is_attached and _is_open(widget.screen):
            raise


async def _dispatch_while_running(app: App[Any], message: Message) -> None:
    """Ignore keys and clicks that reach a program that ends, and what fails without a screen.

    So too where a key does something on a screen whose widgets are not made yet, or are gone.
    """
    given = isinstance(message, InputEvent)
    if given and (app._exit or not app._screen_stack):
        return
    screen = app.screen if given else None
    try:
        await _DISPATCH_APP(app, message)
    except ScreenStackError:
        if not app._exit:
            raise
    except QueryError:
        if screen is None or (screen.is_mounted and _is_open(screen)):
            raise


def _move_page_if_drawn(options: OptionList, direction: Literal[-1, 1]) -> None:
    """Move by a page where the lines have places; before a list is drawn Textual fails."""
    if options._index_to_line:
        _MOVE_PAGE(options, direction)


async def _click_what_is_there(options: OptionList, event: Click) -> None:
    """Ignore a click on a line that was drawn before the list became shorter."""
    option = event.style.meta.get("option")
    if option is None or option < options.option_count:
        await _CLICK(options, event)


def _end_without_values(app: App[Any]) -> None:
    """End the program and show where it failed, but no values of variables: they are data."""
    from rich.segment import Segments
    from rich.traceback import Traceback

    traceback = Traceback(show_locals=False, width=None)
    app._exit_renderables.append(Segments(app.console.render(traceback, app.console.options)))
    app._close_messages_no_wait()


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

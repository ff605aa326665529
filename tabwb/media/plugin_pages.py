"""Result pages of plugins: what they build becomes a view, within limits of time and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabwb.plugin_api.extensions import PageSource
from tabwb.records.errors import ComponentError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tabwb.plugin_api.extensions import PageData

MOST_LINES, MOST_CHARACTERS = 5_000, 500_000
"""A page of a plugin has no more: the screen lays out all of it each time its width changes."""
TRIED_AT = 80
"""Columns for which a page is laid out before it is shown."""


def built(source: PageSource, data: PageData) -> RenderableType:
    """Return the view of the page that a plugin builds, within limits of time, memory and size."""
    from tabwb.host.guarded import LimitReached, error_words, exits_as_errors, limited, plugin_code

    def call() -> RenderableType:
        with exits_as_errors:
            return _view(source, source.build(data))

    try:
        with plugin_code:
            return limited(f"page '{source.id}'", source.limit_s, call)
    except (LimitReached, _Unshown) as error:
        raise error from None
    except Exception as error:
        raise ComponentError(f"page '{source.id}' failed: {error_words(error)}") from error


class _Unshown(ComponentError):
    """A page that is of no kind or size that is shown."""


def _view(source: PageSource, page: Any) -> RenderableType:
    """Return what a plugin built as a view that can be laid out, and is not too large."""
    from rich.protocol import is_renderable
    from rich.text import Text

    from tabwb.media.views.typed import explained_view
    from tabwb.tables.table import Table

    if isinstance(page, Table):
        _check_size(source, len(page), 0)
        page = explained_view(page)
    elif isinstance(page, str):
        _check_size(source, page.count("\n"), len(page))
        page = Text(page)  # as it is: no markup
    elif not is_renderable(page):
        raise _Unshown(
            f"page '{source.id}' built {type(page).__name__}",
            allowed="text, a Rich renderable, or a table",
        )
    _lay_out(source, page)
    return page  # type: ignore[no-any-return]


def _lay_out(source: PageSource, page: RenderableType) -> None:
    """Lay out a page once here, where its failure is the plugin's and ends nothing."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=TRIED_AT)
    lines = characters = 0
    for segment in console.render(page):
        lines += segment.text.count("\n")
        characters += len(segment.text)
        _check_size(source, lines, characters)


def _check_size(source: PageSource, lines: int, characters: int) -> None:
    for number, most, what in (
        (lines, MOST_LINES, "lines"),
        (characters, MOST_CHARACTERS, "characters"),
    ):
        if number > most:
            raise _Unshown(
                f"page '{source.id}' built more {what} than are shown",
                allowed=f"{MOST_LINES:,} lines, {MOST_CHARACTERS:,} characters",
                hint="choose fewer administrations; a plugin writes larger results to a file, for "
                "example by its own command",
            )

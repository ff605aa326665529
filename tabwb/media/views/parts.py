"""A page as parts: which rows of which table, which columns of these, and what is said below."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tabwb.media.terminal import ForWidth
from tabwb.media.views.typed import fits_once, sectioned_view
from tabwb.records.columns import Column
from tabwb.tables.table import Table, table_of_dicts

Row = Mapping[str, Any]
Named = TypeVar("Named", bound=Row)
_NOTE = re.compile(r"(?:\[(-?)(\w+)\] )?(.*)")


@dataclass(frozen=True)
class Part:
    """A part of a page.

    Attributes:
        shown: columns; of an estimate with its interval, unless ``=`` follows the name.
        narrow: those that are shown where these do not fit side by side; empty: the same.
        where: values of columns of the rows; of several values any.
        sections: columns: a line above the rows that have them in common.
        each: columns: a table for each of their values.
        notes: see :func:`notes_view`.
        most: rows of each table.
    """

    table: str
    title: str
    shown: str
    narrow: str = field(default="", kw_only=True)
    where: Mapping[str, object] = field(default_factory=dict)
    sections: str = ""
    each: tuple[str, ...] = ()
    notes: str = ""
    most: int | None = None


def parts_view(
    parts: Iterable[Part],
    columns: Callable[[str], Sequence[Column]],
    rows_of: Callable[[str], Sequence[Row]],
    *,
    details: bool = False,
) -> Iterator[RenderableType]:
    """Yield the parts of a page that have rows, with their notes; ``details``: all intervals."""
    for part in parts:
        limits = part.where.items()
        rows = [row for row in rows_of(part.table) if all(_is(row, *limit) for limit in limits)]
        for own in by(rows, *part.each) if rows else ():
            title = part.title.format_map(own[0])
            kept, known = own[: part.most], columns(part.table)
            shown = part.shown.replace("=", "") if details else part.shown
            narrow = "" if details else part.narrow
            yield rows_view(title, shown, known, kept, part.sections, narrow)
        yield from notes_view(part.notes, rows)


def rows_view(
    title: str,
    shown: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    sections: str = "",
    narrow: str = "",
) -> RenderableType:
    """Return some columns of rows as a table below its title; see :class:`Part`."""
    known = {column.name: column for column in reversed(columns)}
    apart = sections.split()

    def table_with(chosen: str) -> Table:
        names = [
            each
            for name in [*apart, *chosen.split()]
            for each in (
                [name[:-1]] if name.endswith("=") else [name, f"{name}_low", f"{name}_high"]
            )
        ]
        return table_of_dicts(title, [known[name] for name in names if name in known], rows)

    def made(width: int) -> RenderableType:
        table = table_with(shown)
        if narrow and not fits_once(table, apart, width):
            table = table_with(narrow)
        laid = sectioned_view(table, apart, width)
        laid.rstrip()
        return Text.assemble((f"{title}\n", "bold"), laid, "\n")

    return ForWidth(made)


def _is(row: Row, name: str, value: object) -> bool:
    return row.get(name) in (value if isinstance(value, tuple) else (value,))


def notes_view(notes: str, rows: Sequence[Row]) -> list[RenderableType]:
    """Return what is said below a table, in paragraphs.

    ``[name]``: only where a row has a value in this column, ``[-name]``: where a row has none.
    ``{names}`` are the titles of these rows, ``{reasons}`` the values with the titles of each,
    ``{told}`` each title with its value.
    """
    said = []
    for paragraph in notes.split("\n\n"):
        without, name, text = _NOTE.match(" ".join(paragraph.split())).groups()  # type: ignore[union-attr]
        own = [row for row in rows if not name or bool(row.get(name)) != bool(without)]
        if own:
            given = [(str(row.get("title")), str(row.get(name))) for row in own]
            names = ", ".join(dict.fromkeys(title for title, _ in given))
            told = "; ".join(f"{title}: {value}" for title, value in given)
            listed = {"names": names, "reasons": _grouped(given), "told": told}
            said.append(text.format_map({**own[0], **listed}))
    return remarks(*said)


def by(rows: Iterable[Named], *names: str) -> list[list[Named]]:
    """Return neighbouring rows that are equal in some columns, together."""
    return [list(own) for _, own in groupby(rows, lambda row: [row[name] for name in names])]


def remarks(*lines: object) -> list[RenderableType]:
    """Return sentences below a table, without empty ones, and an empty line after them."""
    told = [line for line in lines if isinstance(line, str) and line]
    given = [Padding(Text(line, style="dim"), (0, 0, 0, 1)) for line in told]
    return [*given, Text()] if given else []


def _grouped(reasons: Iterable[tuple[str, str]]) -> str:
    """Return why values are undefined, each reason once with the features that it is of.

    >>> _grouped([("Jargon", "no rater varies"), ("Off-topic", "no rater varies")])
    'no rater varies: Jargon, Off-topic'
    """
    found: dict[str, list[str]] = {}
    for title, reason in reasons:
        found.setdefault(reason, []).append(title)
    return "; ".join(f"{reason}: {', '.join(titles)}" for reason, titles in found.items())

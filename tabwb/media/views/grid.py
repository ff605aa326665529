"""A view of rows of a table: its columns as templates, laid out for the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tabwb.media.terminal import ForWidth, SpecCell, table
from tabwb.media.wording import chance, figure
from tabwb.records.columns import ends_of
from tabwb.records.words import NONE

Row = Mapping[str, Any]
Named = TypeVar("Named", bound=Row)
WIDE = 120
"""From so many columns of characters on the wide columns are shown."""
_NOTE = re.compile(r"(?:\[(-?)(\w+)\] )?(.*)")
_FIELD = re.compile(r"\{([\w.-]+)(?::(\w+))?\}")


class Shown(NamedTuple):
    """A column: what stands above it, and the template of its cells."""

    heading: str
    template: str
    wide: bool = False


@dataclass(frozen=True)
class Part:
    """A part of a page: which rows of which table, how they are shown, and what is said below.

    Attributes:
        columns: templates, see :func:`shown`; ``name``: those of the first columns.
        where: values of columns of the rows; of several values any.
        each: columns: a grid for each of their values.
        across: a column: what is equal but for it is one row, see :func:`pivoted`.
        notes: see :func:`notes_view`.
        most: rows of each grid.
    """

    table: str
    title: str
    first: str | tuple[str, ...]
    columns: str | Sequence[Shown]
    name: str | tuple[str, ...] = "{title}"
    where: Mapping[str, object] = field(default_factory=dict)
    each: tuple[str, ...] = ()
    across: str = ""
    notes: str = ""
    most: int | None = None


def shown(columns: str) -> tuple[Shown, ...]:
    """Return columns that are declared as ``heading {name}; ...``; ``*``: only on wide terminals.

    In a template ``{name}`` is the row's value, ``{name:2}`` with two decimal places, ``{name:95}``
    its interval, ``{name:over}`` a mean with the number of features, ``{name:mean}`` also with its
    interval, ``{name:share}`` a share with its interval, ``{name:p}`` a p value.

    >>> shown("n {n}; *95 % {kappa:95}")[1]
    Shown(heading='95 %', template='{kappa:95}', wide=True)
    """
    parts = (one.strip().partition("{") for one in columns.split(";"))
    return tuple(
        Shown(heading.strip().removeprefix("*"), f"{{{rest}", heading.startswith("*"))
        for heading, _, rest in parts
    )


def cell(template: str, row: Row) -> str:
    """Return a template with the values of a row; what is missing is a dash.

    >>> row = {"kappa": 0.286, "kappa_low": -0.1, "kappa_high": 0.5, "kappa_features": 15}
    >>> cell("{kappa:2}", row), cell("{kappa:95}", row), cell("{kappa:mean}", row)
    ('0.29', '-0.10 to 0.50', '0.286 [-0.10 to 0.50] (15)')
    >>> cell("{kappa:over}", row), cell("{ac1:over} of {kappa_features}", row)
    ('0.286 (15)', '- of 15')
    """

    def value(found: re.Match[str]) -> str:
        name, spec = found.groups()
        given, within = row.get(name), ends(row, name)
        if spec is None:
            return NONE if given is None else str(given)
        if spec == "95":
            return within
        if spec == "p":
            return chance(given)
        if spec == "share":
            return (
                NONE
                if given is None
                else f"{figure(given)}{'' if within == NONE else f' {within}'}"
            )
        if spec in ("over", "mean"):
            features = row.get(f"{name}_features", row.get("features"))
            interval = f" [{within}]" if spec == "mean" and within != NONE else ""
            return NONE if given is None else f"{figure(given, 3)}{interval} ({features})"
        return figure(given, int(spec))

    return _FIELD.sub(value, template)


def ends(row: Row, name: str) -> str:
    """Return both ends of an interval, or a dash."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return NONE if low is None or high is None else " to ".join(ends_of(low, high, 2))


def grid(
    first: str | tuple[str, ...],
    columns: Sequence[Shown],
    rows: Sequence[Row],
    title: str = "",
    name: str | tuple[str, ...] = "{title}",
) -> RenderableType:
    """Return rows as a table; a name above that is the same is not repeated."""
    templates = (name,) if isinstance(name, str) else name

    def made(width: int) -> RenderableType:
        own = [column for column in columns if width >= WIDE or not column.wide]
        grid = table(*(column.heading for column in own), first=first, title=title)
        before = ""
        for row in rows:
            names = [cell(template, row) for template in templates]
            again = len(names) > 1 and names[0] == before
            before = names[0]
            told = (SpecCell.of([one]) for one in ("" if again else before, *names[1:]))
            grid.add_row(*told, *(cell(column.template, row) for column in own))
        return grid

    return ForWidth(made)


def parts_view(
    parts: Iterable[Part], rows_of: Callable[[str], Sequence[Row]]
) -> Iterator[RenderableType]:
    """Yield the parts of a page that have rows, with their notes."""
    for part in parts:
        limits = part.where.items()
        rows = [row for row in rows_of(part.table) if all(_is(row, *limit) for limit in limits)]
        columns = shown(part.columns) if isinstance(part.columns, str) else part.columns
        for own in by(rows, *part.each) if rows else ():
            kept = own[: part.most]
            if part.across:
                kept = [pivoted(one, part.across) for one in by(own, "design", "rater")]
            yield grid(part.first, columns, kept, cell(part.title, own[0]), part.name)
        yield from notes_view(part.notes, rows)


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
            listed = {"names": names, "reasons": grouped(given), "told": told}
            said.append(cell(text, {**own[0], **listed}))
    return remarks(*said)


def pivoted(rows: Sequence[Row], across: str) -> Row:
    """Return several rows as one: the first, and ``value.name`` of each row's value in a column.

    >>> pivoted([{"by": "R1", "n": 3}, {"by": "R2", "n": 4}], "by")
    {'by': 'R1', 'n': 3, 'R1.by': 'R1', 'R1.n': 3, 'R2.by': 'R2', 'R2.n': 4}
    """
    apart = {f"{row[across]}.{name}": value for row in rows for name, value in row.items()}
    return {**rows[0], **apart}


def by(rows: Iterable[Named], *names: str) -> list[list[Named]]:
    """Return neighbouring rows that are equal in some columns, together."""
    return [list(own) for _, own in groupby(rows, lambda row: [row[name] for name in names])]


def remarks(*lines: object) -> list[RenderableType]:
    """Return sentences below a table, without empty ones, and an empty line after them."""
    told = [line for line in lines if isinstance(line, str) and line]
    given = [Padding(Text(line, style="dim"), (0, 0, 0, 1)) for line in told]
    return [*given, Text()] if given else []


def grouped(reasons: Iterable[tuple[str, str]]) -> str:
    """Return why values are undefined, each reason once with the features that it is of.

    >>> grouped([("Jargon", "no rater varies"), ("Off-topic", "no rater varies")])
    'no rater varies: Jargon, Off-topic'
    """
    found: dict[str, list[str]] = {}
    for title, reason in reasons:
        found.setdefault(reason, []).append(title)
    return "; ".join(f"{reason}: {', '.join(titles)}" for reason, titles in found.items())

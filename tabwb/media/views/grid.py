"""A view of rows of a table: its columns as templates, laid out for the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
_FIELD = re.compile(r"\{([\w.-]+)(?::(\w+))?\}")


class Shown(NamedTuple):
    """A column: what stands above it, and the template of its cells."""

    heading: str
    template: str
    wide: bool = False


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
        given = row.get(name)
        if spec == "over":
            features = row.get(f"{name}_features")
            return NONE if features is None else f"{figure(given, 3)} ({features})"
        if spec == "mean":
            within = f" [{ends(row, name)}]" if row.get(f"{name}_low") is not None else ""
            features = row.get(f"{name}_features")
            return NONE if given is None else f"{figure(given, 3)}{within} ({features})"
        if spec == "share":
            within = f" {ends(row, name)}" if row.get(f"{name}_low") is not None else ""
            return NONE if given is None else f"{figure(given)}{within}"
        if spec == "95":
            return ends(row, name)
        if spec == "p":
            return chance(given)
        if spec is not None:
            return figure(given, int(spec))
        return NONE if given is None else str(given)

    return _FIELD.sub(value, template)


def ends(row: Row, name: str, joint: str = " to ") -> str:
    """Return both ends of an interval, or a dash."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return NONE if low is None or high is None else joint.join(ends_of(low, high, 2))


def grid(
    first: str | Sequence[str],
    columns: Sequence[Shown],
    rows: Iterable[Row],
    title: str = "",
    *,
    name: str | Callable[[Row], RenderableType | tuple[RenderableType, ...]] = "{title}",
) -> RenderableType:
    """Return rows as a table.

    ``name`` is the template of a row's name, or what makes its cells.
    """
    given = list(rows)

    def made(width: int) -> RenderableType:
        own = [column for column in columns if width >= WIDE or not column.wide]
        grid = table(*(column.heading for column in own), first=first, title=title)
        for row in given:
            names = cell(name, row) if isinstance(name, str) else name(row)
            cells = (cell(column.template, row) for column in own)
            grid.add_row(*(names if isinstance(names, tuple) else (names,)), *cells)
        return grid

    return ForWidth(made)


def spec(template: str) -> Callable[[Row], RenderableType]:
    """Return what makes a name whose lines are broken between the parts of a spec."""
    return lambda row: SpecCell.of([cell(template, row)])


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

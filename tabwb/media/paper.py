r"""Tables in Markdown, LaTeX, CSV and JSON: one writer each, for any typed table.

What people read (Markdown, LaTeX, HTML) has the cells of :func:`presented`, so that all formats
show the same numbers. LaTeX needs the package booktabs alone: decimal points stand below each other
because the digits that a number lacks before its point are set as ``\phantom{0}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.plain import Json
from tabwb.analysis.tables.captioned import (
    FEW,
    HIGH,
    LOW,
    MARK,
    Captioned,
    Footnote,
    column_named,
)
from tabwb.media.studied import Studied, studied
from tabwb.media.views.results import Groups, compact_table
from tabwb.records.columns import MISSING, Column
from tabwb.records.words import RESEARCH_ONLY, csv_text, visible, without_controls
from tabwb.tables.table import Table

LONG_TITLE = 12
"""Characters from which on a title of several words has several lines."""
TEXT_WIDTH = 345.0
"""The width of a page's text in points, in the class article."""
SIZES = (("", 10.0, 6.0), ("\\small", 9.25, 4.0), ("\\footnotesize", 8.51, 3.0),
         ("\\scriptsize", 7.97, 2.0))  # fmt: skip
"""Sizes of type: the command, the em of Computer Modern, and half the space between columns, in
points."""
LEAST_WIDTH = 60.0
"""The least width of a column of texts in several lines, in points."""
NARROW, WIDE = frozenset(" .,;:!|'()[]fijlrt-"), frozenset("mwMW%@†")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_BREAK = re.compile(r"\\_|[/:@.,=+-](?=[^ ])")
_LATEX = {
    **{character: f"\\{character}" for character in "{}&%$#_"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}", "†": r"\textdagger{}", "–": "--", "—": "---", "−": "--",
    "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "\0": "{}",
}  # fmt: skip


def captioned_groups(
    rows: Sequence[Grouped], columns: Sequence[str] | None = None
) -> tuple[Captioned, ...]:
    """Return the compact table of groups for each battery, with the sentence about research."""
    tables = compact_of(studied(rows, study_ids=True))
    return tables if columns is None else tuple(table.select(columns) for table in tables)


def compact_of(about: Studied, *, disclaimers: bool = True) -> tuple[Captioned, ...]:
    """Return the compact table for each battery of what a report is about."""
    made = []
    for battery in about.batteries:
        found = compact_table(Groups(about.rows_of(battery), about.group_names))
        sentences = filter(None, (RESEARCH_ONLY, battery.disclaimer) if disclaimers else ())
        made.append(replace(found, notes=(*found.notes, *map(Footnote, sentences))))
    return tuple(made)


def checked_columns(table: Table, names: Sequence[str] | None) -> Table:
    """Return a table with some of its columns, in this order."""
    if names is None:
        return table
    return table.select(list(dict.fromkeys(column_named(name, table.names) for name in names)))


class Cell(NamedTuple):
    """A value, its interval without brackets, and a mark that a note explains."""

    text: str
    interval: str = ""
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.mark}{f' [{self.interval}]' if self.interval else ''}".strip()


class Heading(NamedTuple):
    """A column as it is shown: whether its cells have 95 % intervals."""

    column: Column
    interval: bool

    @property
    def title(self) -> str:
        """What people read above the column."""
        return self.column.title

    @property
    def numeric(self) -> bool:
        """Whether the cells are set to the right."""
        return self.column.type in ("number", "integer")


@dataclass(frozen=True, slots=True)
class Presented:
    """A table as texts: a caption above it, a cell for each heading, notes below it.

    ``label`` is the name by which a document refers to it.
    """

    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]
    label: str


def presented(captioned: Captioned) -> Presented:
    """Return a table as people read it."""
    table, names = captioned.table, captioned.columns
    rows = [tuple(_cell(table.column(name), row) for name in names) for row in table.to_dicts()]
    headings = tuple(
        Heading(table.column(name), any(row[at].interval for row in rows))
        for at, name in enumerate(names)
    )
    notes, label = tuple(captioned.all_notes), captioned.label or table.name
    return Presented(captioned.caption, headings, tuple(rows), notes, label)


def _cell(column: Column, row: dict[str, Any]) -> Cell:
    value, *ends = (row.get(column.name + end) for end in ("", LOW, HIGH))
    has_interval = value is not None and None not in ends
    return Cell(
        MISSING if value == "" and not has_interval else column.format(value),
        ", ".join(map(column.format, ends)) if has_interval else "",
        MARK if row.get(column.name + FEW) else "",
    )


def markdown(given: Captioned | Presented) -> str:
    """Return a table as a pipe table, with its caption above it and its notes below it."""
    shown = presented(given) if isinstance(given, Captioned) else given
    titles = (Cell(each.title, "95 %" if each.interval else "") for each in shown.headings)
    cells = [
        [f"{markdown_text(cell.text)}{str(cell)[len(cell.text) :]}" for cell in row]
        for row in (tuple(titles), *shown.rows)
    ]
    columns = [
        (heading.numeric, max(3, *map(len, column)))
        for heading, column in zip(shown.headings, zip(*cells, strict=True), strict=True)
    ]
    lines = [
        [cell.rjust(n) if numeric else cell.ljust(n)
         for cell, (numeric, n) in zip(row, columns, strict=True)]
        for row in cells
    ]  # fmt: skip
    lines.insert(1, [f"{'-' * (n - 1)}:" if numeric else "-" * n for numeric, n in columns])
    parts = [f"**{markdown_text(shown.caption)}**"] if shown.caption else []
    parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join((*parts, *map(markdown_text, shown.notes))) + "\n"


def markdown_text(text: str) -> str:
    r"""Return a text that Markdown shows as it is, on one line.

    >>> markdown_text("a|b *c* <script>")
    'a\\|b \\*c\\* \\<script\\>'
    """
    flat = " ".join(visible(text).split())
    return _MARKDOWN.sub(r"\\\1", flat).replace("&", "&amp;")


def table_csv(table: Table) -> str:
    """Return a table as CSV (RFC 4180), with texts that no spreadsheet runs as formulas."""
    return csv_text(table.names, ([_flat(value) for value in row] for row in table.rows()))


def _flat(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " | ".join(value) if isinstance(value, tuple) else value


def table_json(table: Table) -> Json:
    """Return a table as plain data: its columns, and its rows as objects."""
    columns = [
        {**{key: getattr(column, key) for key in ("name", "title", "meaning", "type")},
         "unit": column.unit or None}
        for column in table.columns
    ]  # fmt: skip
    rows, notes = table.to_dicts(), list(table.notes)
    return {"name": table.name, "columns": columns, "rows": rows, "notes": notes}


def latex(captioned: Captioned) -> str:
    """Return a table as a LaTeX float: caption, booktabs rules, notes."""
    shown = presented(captioned)
    lines = ["% needs \\usepackage{booktabs}", "\\begin{table}", "  \\centering"]
    if shown.caption:
        lines.append(f"  \\caption{{{latex_text(shown.caption)}}}")
        lines += [f"  \\label{{tab:{shown.label}}}", "  \\smallskip"]
    size, space, wrapped = _size(shown)
    letters = "".join(
        f"p{{{wrapped[place]:.0f}pt}}" if place in wrapped else "r" if heading.numeric else "l"
        for place, heading in enumerate(shown.headings)
    )
    if size:
        lines += [f"  {size}", f"  \\setlength{{\\tabcolsep}}{{{space:g}pt}}"]
    lines += [f"  \\begin{{tabular}}{{@{{}}{letters}@{{}}}}", "    \\toprule"]
    lines += [f"    {' & '.join(map(_title, shown.headings))} \\\\", "    \\midrule"]
    columns = [
        list(map(_broken, cells)) if at in wrapped else _aligned(heading, cells)
        for at, (heading, *cells) in enumerate(zip(shown.headings, *shown.rows, strict=True))
    ]
    lines += [f"    {' & '.join(cells)} \\\\" for cells in zip(*columns, strict=True)]
    lines += ["    \\bottomrule", "  \\end{tabular}"]
    if shown.notes:
        notes = " ".join(map(latex_text, shown.notes))
        lines += ["  \\par\\smallskip", f"  {{\\footnotesize\\raggedright {notes}\\par}}"]
    return "\n".join((*lines, "\\end{table}")) + "\n"


def latex_text(text: str) -> str:
    r"""Return a text that LaTeX sets as it is, on one line.

    >>> print(latex_text("50 % of A_1 & \\input{x}"))
    50 \% of A\_1 \& \textbackslash{}input\{x\}
    >>> print(latex_text("a--b"))
    a-{}-b
    """
    flat = " ".join(without_controls(text).split())
    flat = flat.replace("--", "-\0-").replace("--", "-\0-")
    return "".join(_LATEX.get(character, character) for character in flat)


def _size(shown: Presented) -> tuple[str, float, dict[int, float]]:
    """Return the largest size of type in which the table is not wider than the text.

    Where there is none, columns of texts are set in several lines: the third value is the width in
    points of each of these, by its place.
    """
    ems = [
        max(map(_ems, (*_lines(heading), *map(str, cells))))
        for heading, *cells in zip(shown.headings, *shown.rows, strict=True)
    ]
    gaps = 2 * (len(ems) - 1)
    for size, em, space in SIZES:
        if sum(ems) * em + gaps * space <= TEXT_WIDTH:
            return size, space, {}
    texts = [place for place, heading in enumerate(shown.headings) if not heading.numeric]
    for size, em, space in SIZES:
        left = TEXT_WIDTH - gaps * space
        left -= sum(own * em for place, own in enumerate(ems) if place not in texts)
        wide = sorted(texts, key=lambda place: ems[place])
        while wide and ems[wide[0]] * em <= left / len(wide):
            left -= ems[wide.pop(0)] * em
        if wide and left >= LEAST_WIDTH * len(wide):
            return size, space, dict.fromkeys(wide, left / len(wide))
    return SIZES[-1][0], SIZES[-1][2], dict.fromkeys(texts, LEAST_WIDTH)


def _ems(text: str) -> float:
    """Return the width of a text in Computer Modern, to about a twentieth."""
    return sum(
        0.33 if character in NARROW
        else 0.85 if character in WIDE
        else 0.72 if character.isupper()
        else 0.5
        for character in text
    )  # fmt: skip


def _lines(heading: Heading) -> list[str]:
    title = heading.title
    lines = title.split() if len(title) > LONG_TITLE else [title]
    if not heading.interval:
        return lines
    return [*lines, "[95 %]"] if len(lines) > 1 else [f"{title} [95 %]"]


def _title(heading: Heading) -> str:
    lines = [latex_text(line) for line in _lines(heading)]
    stacked = r"\\".join(lines)
    side = "r" if heading.numeric else "l"
    return rf"\shortstack[{side}]{{{stacked}}}" if len(lines) > 1 else stacked


def _broken(cell: Cell) -> str:
    """Return a cell of a column of several lines; a line may end behind a sign or a space."""
    text = _BREAK.sub(lambda found: rf"{found[0]}\allowbreak{{}}", latex_text(str(cell)))
    return rf"{{\raggedright {text}\par}}"


def _aligned(heading: Heading, cells: Sequence[Cell]) -> list[str]:
    if not heading.numeric:
        return [latex_text(str(cell)) for cell in cells]
    ends = [tuple(cell.interval.split(", ")) if cell.interval else () for cell in cells]
    lows, highs = ([end[which] for end in ends if end] for which in (0, 1))
    widest = f" [{_widest(lows)}, {_widest(highs)}]" if any(ends) else ""
    any_mark = any(cell.mark for cell in cells)
    made = []
    for cell, end in zip(cells, ends, strict=True):
        text = "--" if cell.text == MISSING else _number(cell.text)
        if any_mark:
            text += latex_text(cell.mark) if cell.mark else "\\phantom{\\textdagger{}}"
        if end:
            text += f" [{_padded(end[0], lows)}, {_padded(end[1], highs)}]"
        elif widest:
            text += f"\\phantom{{{widest}}}"
        made.append(text)
    return made


def _number(text: str) -> str:
    """Return a number with a minus sign; of anything else the text."""
    digits = text.removeprefix("-")
    return f"$-${digits}" if digits != text and digits[:1].isdigit() else latex_text(text)


def _padded(number: str, column: Sequence[str]) -> str:
    """Return a number as wide as the widest one of its column."""
    absent = "$-$" if _signed(column) and not _signed([number]) else ""
    phantom = absent + "0" * (_digits(column) - _digits([number]))
    return (f"\\phantom{{{phantom}}}" if phantom else "") + _number(number)


def _widest(column: Sequence[str]) -> str:
    point = "".join(column[0].partition(".")[1:])
    return ("$-$" if _signed(column) else "") + "0" * _digits(column) + point


def _digits(column: Iterable[str]) -> int:
    """Return the largest number of digits before a decimal point."""
    return max(len(number.removeprefix("-").partition(".")[0]) for number in column)


def _signed(column: Iterable[str]) -> bool:
    return any(number.startswith("-") for number in column)

r"""Tables in LaTeX, for the package booktabs.

Decimal points stand below each other: the digits that a number lacks before its point are set as
``\phantom{0}``, in values and in the ends of intervals, so that no further package is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tabwb.media.presented import Heading, Presented, presented
from tabwb.records.visible import without_controls
from tabwb.report.tables.captioned import Captioned
from tabwb.tables.table import MISSING

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
_BREAK = re.compile(r"\\_|[/:@.,=+-](?=[^ ])")
NARROW, WIDE = frozenset(" .,;:!|'()[]fijlrt-"), frozenset("mwMW%@†")
_SPECIAL = re.compile(r"[\\{}&%$#_~^<>|\"`'†–—−“”‘’…-]")
_SPELLED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": "'",
    "†": r"\textdagger{}",
    "–": "--",
    "—": "---",
    "−": "--",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "…": r"\ldots{}",
    "-": "-",
}


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
    lines.append(f"    {' & '.join(map(_title, shown.headings))} \\\\")
    lines.append("    \\midrule")
    columns = [
        _broken(shown, place) if place in wrapped else _aligned(shown, place)
        for place in range(len(shown.headings))
    ]
    lines += [f"    {' & '.join(cells)} \\\\" for cells in zip(*columns, strict=True)]
    lines += ["    \\bottomrule", "  \\end{tabular}"]
    if shown.notes:
        notes = " ".join(map(latex_text, shown.notes))
        lines += ["  \\par\\smallskip", f"  {{\\footnotesize\\raggedright {notes}\\par}}"]
    lines.append("\\end{table}")
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    r"""Return a text that LaTeX sets as it is, on one line.

    >>> print(latex_text("50 % of A_1 & \\input{x}"))
    50 \% of A\_1 \& \textbackslash{}input\{x\}
    >>> print(latex_text("a--b"))
    a-{}-b
    """
    flat = " ".join(without_controls(text).split())
    flat = flat.replace("--", "-\0-").replace("--", "-\0-")
    escaped = _SPECIAL.sub(lambda found: _SPELLED.get(found[0], f"\\{found[0]}"), flat)
    return escaped.replace("\0", "{}")


def _size(shown: Presented) -> tuple[str, float, dict[int, float]]:
    """Return the largest size of type in which the table is not wider than the text.

    Where there is none, columns of texts are set in several lines: the third value is the width in
    points of each of these, by its place.
    """
    ems = [
        max(map(_ems, (*_lines(heading), *(str(row[place]) for row in shown.rows))))
        for place, heading in enumerate(shown.headings)
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


def _broken(shown: Presented, place: int) -> list[str]:
    """Return the cells of a column of several lines; a line may end behind a sign or a space."""
    return [
        rf"{{\raggedright {_BREAK.sub(_broken_at, latex_text(str(row[place])))}\par}}"
        for row in shown.rows
    ]


def _broken_at(found: re.Match[str]) -> str:
    return rf"{found[0]}\allowbreak{{}}"


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
    if len(lines) == 1:
        return lines[0]
    side = "r" if heading.numeric else "l"
    stacked = r"\\".join(lines)
    return rf"\shortstack[{side}]{{{stacked}}}"


def _aligned(shown: Presented, place: int) -> list[str]:
    heading = shown.headings[place]
    cells = [row[place] for row in shown.rows]
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
    lacking = _digits(column) - _digits([number])
    absent = "$-$" if _signed(column) and not _signed([number]) else ""
    phantom = absent + "0" * lacking
    return (f"\\phantom{{{phantom}}}" if phantom else "") + _number(number)


def _widest(column: Sequence[str]) -> str:
    decimals = column[0].partition(".")[1:]
    return ("$-$" if _signed(column) else "") + "0" * _digits(column) + "".join(decimals)


def _digits(column: Iterable[str]) -> int:
    """Return the largest number of digits before a decimal point."""
    return max(len(number.removeprefix("-").partition(".")[0]) for number in column)


def _signed(column: Iterable[str]) -> bool:
    return any(number.startswith("-") for number in column)

"""A figure of matplotlib whose panels are laid out by it: style, lettering, legend, file.

Panels form a grid. Their heights are given in inches; their widths, and the room for labels,
are found by the constrained layout, and the height of the figure follows. The layout is then
fixed, so that a figure is the same in every format.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import matplotlib
from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

import tabwb
from tabwb.media.figures.style import NORMAL, RC, SMALL, Look
from tabwb.records.words import RESEARCH_ONLY, common_start

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpec

    from tabwb.tables.table import Table

LONGEST: Final = 100
"""So many uids are named in a file; of more, their number and SHA-256."""
_AFTER = re.compile(r"(?<=[\s:/@,_|+-])(?=\S)")
"""Where a long text may be broken: after a space, or inside a spec after its marks."""


@contextmanager
def fixed_style() -> Iterator[None]:
    """Give matplotlib this style, whatever the user's settings are, and then theirs again."""
    with rc_context(), warnings.catch_warnings():
        # The caption says it, see lacks_letters.
        warnings.filterwarnings("ignore", r"(Glyph \d+|Matplotlib currently does not support)")
        rcdefaults()
        settings: dict[Any, Any] = dict(RC)
        rcParams.update(settings)
        yield


@cache
def _letters() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def lacks_letters(figure: Figure) -> bool:
    """Return whether the font lacks a letter of a figure."""
    texts = figure.findobj(Text)
    letters = {ord(letter) for text in texts for letter in "".join(text.get_text().split())}
    return not letters <= _letters()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a figure says of itself: its caption, its numbers, how it is made again.

    Attributes:
        notes: sentences of the caption.
        command: without any path.
        uids: of the administrations behind it.
        captioned: the caption is written beside its file.
    """

    id: str
    title: str
    table: Table
    notes: tuple[str, ...] = ()
    command: str = ""
    uids: tuple[str, ...] = ()
    captioned: bool = False

    @property
    def administrations(self) -> str:
        """The uids, or of many their number and SHA-256."""
        uids = sorted(self.uids)
        if len(uids) <= LONGEST:
            return " ".join(uids)
        digest = hashlib.sha256("\n".join(uids).encode()).hexdigest()
        return f"{len(uids)} administrations; SHA-256 of their sorted uids: {digest}"


class PaperFigure(Figure):
    """A matplotlib figure with the facts behind it; notebooks show it as PNG."""

    facts: Facts

    def _repr_png_(self) -> bytes:
        from PIL import Image  # matplotlib needs it, and writes PNG with it

        drawn, small = io.BytesIO(), io.BytesIO()
        with fixed_style():
            self.savefig(drawn, format="png", dpi=200)
        with Image.open(drawn) as image:  # 256 colours: a third of the size in a notebook
            # Those that cover all shades: none is off by more than a few of 255 levels.
            few = image.convert("RGB").quantize(
                256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        few.save(small, "png", optimize=True, dpi=(200, 200))
        return small.getvalue()


class Sheet:
    """A figure in the making.

    Attributes:
        width: inches.
        legend: looks and their meanings; key: its title.
        notes: sentences on what is drawn, for the caption.
        narrow: axes that have a width in inches; the others have all there is.
    """

    def __init__(self, width: float) -> None:
        self.width = width
        self.figure = PaperFigure(figsize=(width, 3.0))
        self.legend: list[tuple[Look, str]] = []
        self.key = ""
        self.notes: list[str] = []
        self.narrow: dict[Axes, float] = {}
        self._rows: list[tuple[Axes, float]] = []

    def grid(self, heights: Sequence[float], columns: int = 1) -> Callable[[int, int], Axes]:
        """Return a function that makes the axes of a row and column; heights in inches."""
        grid: GridSpec = self.figure.add_gridspec(len(heights), columns, height_ratios=heights)
        made: dict[int, Axes] = {}

        def axes(row: int, column: int) -> Axes:
            own = self.figure.add_subplot(
                grid[row, column], label=f"panel {row * columns + column}"
            )
            if row not in made:
                made[row] = own
                self._rows.append((own, heights[row]))
            return own

        return axes

    def heading(self, axes: Axes, words: str) -> None:
        """Write a heading in the place of axes."""
        axes.set_axis_off()
        axes.set(xticks=[], yticks=[], label="heading")
        axes.set_title("\n".join(wrapped(words, NORMAL, self.width - 0.6)), loc="left",
                       fontweight="bold")  # fmt: skip

    def finish(self, *, footer: str = "") -> None:
        """Lay everything out."""
        figure = self.figure
        if self.legend:
            self._legend()
        lines = wrapped(footer, SMALL, self.width - 0.1) if footer else []
        figure.text(0.01, 0.0, "\n".join(lines), va="bottom")
        below = len(lines) * SMALL * 1.25 / 72 + 0.05 * bool(lines)
        asked = sum(height for _, height in self._rows)
        height = 2.0 + asked + 3.0 * len(self._rows)  # more than titles and ticks can need
        titles = self._titles()  # a long one in a single line would take the room of its panel
        for step in range(4):
            figure.set_size_inches(self.width, height)
            figure.set_layout_engine(
                "constrained", w_pad=0.08, h_pad=0.03, wspace=0, hspace=0,
                rect=(0, below / height, 1, 1 - below / height),
            )  # fmt: skip
            figure.draw_without_rendering()
            if step == 0:
                for axes, text, words in titles:
                    room = float(axes.get_position(original=True).width) * self.width
                    text.set_text("\n".join(wrapped(words, NORMAL, room)))
            elif step < 3:
                places = (axes.get_position(original=True) for axes, _ in self._rows)
                have = height * sum(float(place.height) for place in places)
                height = round(height + asked - have, 3)
        figure.set_layout_engine("none")
        for axes in figure.axes:
            # Rounded: sums that differ in their last bits give the same bytes.
            x, y, width, tall = (round(float(end), 5) for end in axes.get_position(True).bounds)
            axes.set_position((x, y, min(width, self.narrow.get(axes, 99) / self.width), tall))

    def _titles(self) -> list[tuple[Axes, Text, str]]:
        """Empty the titles of panels and axes, and return them with their words."""
        found = [
            (axes, text, text.get_text())
            for axes in self.figure.axes if axes.get_label() != "heading"
            for text in (axes._left_title, axes.xaxis.label)  # type: ignore[attr-defined]
        ]  # fmt: skip
        for _, text, _ in found:
            text.set_text("")
        return found

    def _legend(self) -> None:
        room = self.width - 0.1
        lines = [wrapped(words, SMALL, room - 0.35) for _, words in self.legend]
        widths = [max(text_width(line, SMALL) for line in own) + 0.35 for own in lines]
        for columns in range(len(widths), 0, -1):
            least, more = divmod(len(widths), columns)  # matplotlib's first columns are longer
            ends = accumulate([least + 1] * more + [least] * (columns - more), initial=0)
            parts = [widths[start:end] for start, end in pairwise(ends)]
            if sum(map(max, parts)) <= room:
                break
        handles = [
            Patch(**look) if "facecolor" in look else Line2D([], [], **look)
            for look, _ in self.legend
        ]
        self.figure.legend(
            handles,
            ["\n".join(own) for own in lines],
            loc="outside lower left",
            ncols=columns,
            title=self.key or None,
            title_fontsize=SMALL,
            alignment="left",
        )


@lru_cache(maxsize=8192)
def text_width(text: str, points: float = SMALL) -> float:
    """Return the width of one line in inches, without hinting."""
    font = FontProperties(family="DejaVu Sans", size=points)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / 72


def widest(texts: Sequence[str], points: float = SMALL) -> float:
    """Return the width of the widest line of texts in inches."""
    return max((text_width(line, points) for text in texts for line in text.split("\n")), default=0)


def wrapped(text: str, points: float, width: float) -> list[str]:
    """Return a text in lines that fit a width; a word too long for it is broken."""
    lines, line = list[str](), ""
    for part in _AFTER.split(text):
        whole = text_width(part.rstrip(), points) <= width
        for piece in [part] if whole else part:
            if line and text_width((line + piece).rstrip(), points) > width:
                lines.append(line.rstrip())
                line = piece.lstrip()
            else:
                line += piece
    return [*lines, line.rstrip()]


def told_apart(texts: Sequence[str], width: float, most: int = 3) -> list[str]:
    """Return labels in lines of a width, no two alike where the texts are not.

    A text that needs more lines loses its middle; of several with one beginning it keeps what comes
    after what they share. Where even that has no room they are numbered.
    """

    def lines(text: str) -> list[str]:
        return wrapped(text, SMALL, width)

    def longest(size: int, made: Callable[[int], str]) -> str:
        fits = bisect_left(range(size), True, key=lambda n: len(lines(made(n))) > most)
        return made(max(fits - 1, 0))

    def cut(text: str) -> str:
        return longest(len(text), lambda n: f"{text[: (n + 1) // 2]}…{text[len(text) - n // 2 :]}")

    def headed(head: str, rest: str) -> str:
        if len(lines(head + rest)) <= most:
            return head + rest
        if len(lines(f"…{rest}")) > most:
            return cut(rest)
        return longest(len(head), lambda n: f"{head[:n]}…{rest}")

    labels = dict(zip(texts, texts, strict=True))
    long = [text for text in labels if len(lines(text)) > most]
    kin: dict[str, list[str]] = {}
    for text in long:
        kin.setdefault(text.partition(" (")[0], []).append(text)
    for several in kin.values():
        start = common_start(several) if len(several) > 1 else 0
        while start and (several[0][start - 1].isalnum() or several[0][start - 1] in "._"):
            start -= 1  # differ in whole words
        for text in several:
            labels[text] = headed(text[:start], text[start:]) if start else cut(text)
    used = [*labels.values()]
    for n, text in enumerate(labels, 1):
        if used.count(labels[text]) > 1:
            labels[text] = headed(text, f" [{n}]")
    return ["\n".join(lines(labels[text])) for text in texts]


def figure_bytes(figure: Figure, format_id: str, *, dpi: float = 300.0) -> bytes:
    """Return a figure as a file's content, the same each time.

    Fonts are embedded as TrueType in PDF, and text is drawn as paths in SVG. No date is written.
    The metadata has the title, the sentences of the caption, the command, the versions of tabwb and
    matplotlib, and the uids of the administrations, and no path.
    """
    facts: Facts | None = getattr(figure, "facts", None)
    notes = facts.notes if facts else ()
    title, about = facts.title if facts else "", " ".join((*notes, RESEARCH_ONLY))
    named = {"command": facts.command, "administrations": facts.administrations} if facts else {}
    keywords = [f"{name}: {value}" for name, value in named.items() if value]
    software = f"tabwb {tabwb.__version__}, matplotlib {matplotlib.__version__}"
    words = "; ".join(keywords)
    by_format: dict[str, dict[str, Any]] = {
        "pdf": {"Title": title, "Subject": about, "Keywords": words, "Creator": software,
                "CreationDate": None},
        "svg": {"Title": title, "Description": about, "Keywords": keywords, "Creator": software,
                "Date": None},
        "png": {"Title": title, "Description": about, "Comment": words, "Software": software},
    }  # fmt: skip
    drawn = io.BytesIO()
    with fixed_style():
        figure.savefig(drawn, format=format_id, dpi=dpi, metadata=by_format[format_id])
    return drawn.getvalue()

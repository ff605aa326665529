"""A figure that is laid out in inches from its top left corner, every text measured."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure

from tabwb.media.figures.lettering import line_height, text_width, wrapped
from tabwb.media.figures.style import INK, MARGIN, RC, SMALL, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from tabwb.tables.table import Table


@contextmanager
def fixed_style() -> Iterator[None]:
    """Give matplotlib this style, whatever the user's settings are, and then theirs again."""
    with rc_context():
        rcdefaults()
        settings: dict[Any, Any] = dict(RC)
        rcParams.update(settings)
        yield


@dataclass(frozen=True, slots=True)
class Facts:
    """What a figure says of itself, in its file and to who has it.

    Attributes:
        id, title: of its kind.
        table: the numbers drawn.
        notes: sentences of its caption.
        command: that makes it; without any path.
        uids: of the administrations behind it.
    """

    id: str
    title: str
    table: Table
    notes: tuple[str, ...] = ()
    command: str = ""
    uids: tuple[str, ...] = ()


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


@dataclass(eq=False)
class Page:
    """A figure in the making.

    Attributes:
        width: inches.
        figure: of that width; its height is set by :meth:`finish`.
        notes: sentences of the caption, added by who draws.
    """

    width: float
    figure: PaperFigure = field(init=False)
    notes: list[str] = field(default_factory=list)
    _placed: list[tuple[Axes, tuple[float, float, float, float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.figure = PaperFigure(figsize=(self.width, 1.0))
        self.sheet = self.figure.add_axes((0, 0, 1, 1), label="page", zorder=-1)
        self.sheet.set_axis_off()
        self.sheet.set_xlim(0, self.width)

    def axes(
        self, left: float, top: float, width: float, height: float, *, label: str = ""
    ) -> Axes:
        """Return new axes; all sizes in inches."""
        made = self.figure.add_axes((0, 0, 0.1, 0.1), label=label)
        self._placed.append((made, (left, top, width, height)))
        return made

    def text(self, x: float, y: float, words: str, points: float = SMALL, **style: Any) -> Text:
        """Write at a place in inches from the top left corner; ``va`` is ``baseline`` by
        default.
        """
        return self.sheet.text(x, y, words, fontsize=points, **style)

    def lines(
        self, x: float, top: float, lines: Sequence[str], points: float = SMALL, **style: Any
    ) -> float:
        """Write lines below each other; return where they end."""
        for line in lines:
            top += line_height(points)
            self.text(x, top - 0.28 * points / 72, line, points, **style)
        return top

    def caption(self, top: float) -> float:
        """Write the notes below everything; return where they end."""
        if not self.notes:
            return top
        room = self.width - 2 * MARGIN
        lines = wrapped(" ".join(self.notes), SMALL, room)
        return self.lines(MARGIN, top + 0.06, lines, SMALL, color=SOFT)

    def legend(
        self, top: float, entries: Sequence[tuple[dict[str, Any], str]], *, left: float = MARGIN
    ) -> float:
        """Draw marks with their meanings in as many rows as they need; return where they end."""
        x, mark, gap = left, 0.2, 0.14
        room = self.width - MARGIN - left
        for style, words in entries:
            lines = wrapped(words, SMALL, room - mark - 0.06)
            size = mark + 0.06 + max(text_width(line, SMALL) for line in lines)
            if x > left and x + size > self.width - MARGIN:
                x, top = left, top + line_height(SMALL) + 0.02
            middle = top + 0.55 * line_height(SMALL)
            if style.get("linestyle", "none") == "none":
                self.sheet.plot([x + mark / 2], [middle], clip_on=False, **style)
            else:
                ends = [x, x + mark / 2, x + mark]
                self.sheet.plot(ends, [middle] * 3, clip_on=False, markevery=[1], **style)
            end = self.lines(x + mark + 0.06, top, lines, SMALL, color=INK)
            top = end - line_height(SMALL)
            x += size + gap
        return top + line_height(SMALL) if entries else top

    def finish(self, height: float) -> PaperFigure:
        """Give the page its height and everything its place; return the figure."""
        height += MARGIN
        self.figure.set_size_inches(self.width, height)
        self.sheet.set_ylim(height, 0)
        for axes, (left, top, width, own) in self._placed:
            area = (left / self.width, 1 - (top + own) / height, width / self.width, own / height)
            axes.set_position(area)
        return self.figure

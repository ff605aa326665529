"""What a reader of a figure would notice: texts that overlap, or leave the page."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tabwb.media.figures.page import fixed_style

SLACK = 1.2
"""Pixels at 100 dots per inch."""


def texts(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every visible text with its place in pixels."""
    with fixed_style():
        figure.set_dpi(100)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # type: ignore[no-untyped-call]
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        return [
            (text.get_text(), text.get_window_extent(renderer))
            for text in figure.findobj(Text)
            if isinstance(text, Text) and text.get_visible() and text.get_text().strip()
        ]  # fmt: skip


def faults(figure: Figure) -> list[str]:
    """Texts outside of the figure, and pairs that overlap."""
    found = texts(figure)
    width, height = figure.get_size_inches() * 100
    page = Bbox.from_bounds(-SLACK, -SLACK, width + 2 * SLACK, height + 2 * SLACK)
    outside = [
        f"outside: {words}" for words, box in found
        if not (page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1)
    ]  # fmt: skip
    return outside + [
        f"{one} | {other}" for (one, a), (other, b) in combinations(found, 2) if _overlap(a, b)
    ]


def _overlap(a: Bbox, b: Bbox) -> bool:
    across = min(a.x1, b.x1) - max(a.x0, b.x0)
    down = min(a.y1, b.y1) - max(a.y0, b.y0)
    return bool(across > SLACK and down > SLACK + 2)

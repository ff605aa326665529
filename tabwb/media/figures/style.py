"""The style of all figures: colours, markers, sizes and fonts. Imports no matplotlib.

The colours of up to four series are Paul Tol's *high contrast* set with black: they differ in
lightness, so that a copy in grey shows the same differences, and for the three kinds of colour
blindness. Five to ten series have his *muted* set with black, which is for the three kinds of
colour blindness; in a copy in grey, series differ in marker and line (Tol 2021, Colour Schemes,
SRON/EPS/TN/09-002, figures 3 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

from tabwb.records.errors import UsageError

MM: Final = 1 / 25.4
"""Inches in a millimetre."""
WIDTHS: Final[Mapping[str, float]] = {"single": 90.0, "one-and-half": 140.0, "double": 190.0}
"""Widths of journals' columns, mm."""
NARROWEST: Final = 60.0
WIDEST: Final = 400.0

INK: Final = "#000000"
MAIN: Final = "#004488"
"""Points and lines where there is one series."""
SOFT: Final = "#5A5A5A"
"""Text and marks of second rank; 7:1 against white."""
RULE: Final = "#C8C8C8"
"""Guide lines."""
BAND: Final = "#E4E4E4"
"""The area of an interval behind lines."""
PALETTE: Final = ("#004488", "#DDAA33", "#BB5566", "#000000")
MANY: Final = (
    *("#332288", "#88CCEE", "#117733", "#CC6677", "#000000"),
    *("#DDCC77", "#882255", "#44AA99", "#AA4499", "#999933"),
)
"""Colours of five to ten series: dark and light ones in turn."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", "*", "h")
LINES: Final = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))
LEAST_CONTRAST: Final = 4.5
"""Of text on a colour (WCAG 2.1, level AA)."""
SHADES: Final = ("#FFFFFF", "#C6D8EA", "#7FA6CC", "#2F6BA3", "#00234D")
"""From low to high, lightness falling; see :func:`shade_map`."""

SMALL: Final = 7.0
"""Points: ticks, labels, remarks."""
NORMAL: Final = 8.0
"""Points: titles of axes."""
MARGIN: Final = 0.05
"""Inches of white around everything."""
LINE: Final = 1.22
"""Height of a line of text, in sizes of its font."""

RC: Final[Mapping[str, Any]] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib; has IPA
    "font.size": SMALL,
    "axes.labelsize": NORMAL,
    "axes.titlesize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "text.hinting": "none",  # letters as wide as in a PDF at every resolution
    "text.parse_math": False,  # "$" in a model's name does not start a formula
    "axes.unicode_minus": True,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.6,
    "hatch.linewidth": 0.5,
    "hatch.color": "#8C8C8C",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "figure.dpi": 150.0,
    "savefig.dpi": 300.0,
    "pdf.fonttype": 42,  # TrueType, whole glyphs: text stays text in an editor
    "ps.fonttype": 42,
    "pdf.compression": 6,
    "svg.fonttype": "path",  # looks the same where the font is missing
    "svg.hashsalt": "tabwb",  # else ids are drawn at random
    "path.simplify": False,
}


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How one series is drawn: differs in colour, marker and line."""

    colour: str
    marker: str
    line: Any


def series_styles(n: int) -> list[SeriesStyle]:
    """Return ``n`` styles; no two share a colour or a marker.

    >>> [style.marker for style in series_styles(3)]
    ['o', 's', '^']
    """
    if n > len(MANY):
        raise UsageError(
            f"{n} series are more than a reader can distinguish in a figure",
            allowed=f"{len(MANY)} or fewer",
            hint="choose some with --where, and make several figures",
        )
    colours = PALETTE if n <= len(PALETTE) else MANY
    return [SeriesStyle(*style) for style in zip(colours[:n], MARKERS, cycle(LINES), strict=False)]


def width_mm(width: str | float) -> float:
    """Return the width of a figure in millimetres.

    >>> width_mm("double"), width_mm("120")
    (190.0, 120.0)
    """
    named = ", ".join(f"{name} ({mm:g} mm)" for name, mm in WIDTHS.items())
    allowed = f"{named}, or millimetres from {NARROWEST:g} to {WIDEST:g}"
    if width in WIDTHS:
        return WIDTHS[str(width)]
    try:
        mm = float(width)
    except ValueError:
        raise UsageError(f"'{width}' is not a width of a figure", allowed=allowed) from None
    if not NARROWEST <= mm <= WIDEST:
        raise UsageError(f"a figure cannot be {width} mm wide", allowed=allowed)
    return mm


def luminance(colour: str) -> float:
    """Return the relative luminance (0 black to 1 white) of an sRGB colour.

    Y = 0.2126 R + 0.7152 G + 0.0722 B of the linear parts (IEC 61966-2-1).
    """
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, (Y1 + 0.05) / (Y2 + 0.05), the lighter first (WCAG 2.1).

    >>> round(contrast("#000000", "#FFFFFF"), 3), contrast("#777777", "#777777")
    (21.0, 1.0)
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lightness(colour: str) -> float:
    """Return CIE L* (0 black to 100 white) of an sRGB colour.

    L* = 116 Y^(1/3) - 16 for Y > 0.008856, else 903.3 Y (CIE 1976), Y as :func:`luminance`.

    >>> lightness("#000000"), round(lightness("#FFFFFF"), 6), round(lightness("#777777"), 1)
    (0.0, 100.0, 50.0)
    """
    y = luminance(colour)
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def text_on(shade: str) -> str:
    """Return white where its contrast on a colour is 4.5:1 or more, else black, whose is then.

    >>> text_on("#FFFFFF"), text_on("#00234D"), text_on("#2F6BA3")
    ('#000000', '#FFFFFF', '#FFFFFF')
    """
    return "#FFFFFF" if contrast("#FFFFFF", shade) >= LEAST_CONTRAST else INK

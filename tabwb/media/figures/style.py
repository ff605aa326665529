"""The style of all figures: colours, markers, sizes and fonts. Imports no matplotlib.

The colours of up to four series are Paul Tol's *high contrast* set with black: they differ in
lightness, so that a copy in grey shows the same differences, and for the three kinds of colour
blindness. Five to ten series have his *muted* set with black, which is for the three kinds of
colour blindness; in a copy in grey, series differ in marker and line (Tol 2021, Colour Schemes,
SRON/EPS/TN/09-002, figures 3 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any, Final

from tabwb.records.errors import UsageError

WIDTHS: Final[Mapping[str, float]] = {"single": 90.0, "one-and-half": 140.0, "double": 190.0}
"""Widths of journals' columns, mm."""
NARROWEST: Final = 60.0
WIDEST: Final = 400.0

Look = dict[str, Any]
"""How a point, line or area is drawn, in matplotlib's words."""
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
BELOW: Final = ("#FFFFFF", "#F5DCC0", "#DFA063", "#B05A1E", "#4F2000")
"""From low to high, lightness falling, and those of negative values; see :func:`shade`."""
UNDEFINED: Final[Mapping[str, Any]] = {"facecolor": "white", "hatch": "//////"}
"""Of cells without a value."""

SMALL: Final = 7.0
"""Points: ticks, labels, remarks."""
NORMAL: Final = 8.0
"""Points: titles of axes."""
RC: Final[Mapping[str, Any]] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib; has IPA
    "font.size": SMALL,
    "axes.labelsize": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.titlepad": 3.0,
    "axes.labelpad": 2.0,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.4,
    "legend.labelspacing": 0.35,
    "legend.handlelength": 1.8,
    "legend.handletextpad": 0.6,
    "legend.columnspacing": 1.2,
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


def series_looks(n: int) -> list[Look]:
    """Return the looks of ``n`` series: no two share a colour or a marker.

    >>> [look["marker"] for look in series_looks(3)]
    ['o', 's', '^']
    """
    if n > len(MANY):
        raise UsageError(
            f"{n} series are more than a reader can distinguish in a figure",
            allowed=f"{len(MANY)} or fewer",
            hint="choose some with --where, and make several figures",
        )
    colours = PALETTE if n <= len(PALETTE) else MANY
    return [
        {"color": colour, "marker": marker, "linestyle": line}
        for colour, marker, line in zip(colours[:n], MARKERS, cycle(LINES), strict=False)
    ]


def width_mm(width: str | float) -> float:
    """Return the width of a figure in millimetres.

    >>> width_mm("double"), width_mm("120")
    (190.0, 120.0)
    """
    named = ", ".join(f"{name} ({mm:g} mm)" for name, mm in WIDTHS.items())
    allowed = f"{named}, or millimetres from {NARROWEST:g} to {WIDEST:g}"
    try:
        mm = WIDTHS[width] if isinstance(width, str) and width in WIDTHS else float(width)
    except ValueError:
        words = f"'{width}' is not a width of a figure"
        raise UsageError(words, where="width", allowed=allowed) from None
    if not NARROWEST <= mm <= WIDEST:
        words = f"a figure cannot be {width} mm wide"
        raise UsageError(words, where="width", allowed=allowed)
    return mm


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def shade(value: float) -> str:
    """Return the colour of a value from 0 (white) to 1 or -1 (dark), in linear steps of sRGB.

    >>> shade(0.0), shade(1.0), shade(-1.0)
    ('#FFFFFF', '#00234D', '#4F2000')
    """
    shades = BELOW if value < 0 else SHADES
    at = min(abs(value), 1.0) * (len(shades) - 1)
    low = min(int(at), len(shades) - 2)
    ends = zip(_parts(shades[low]), _parts(shades[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02X}" for a, b in ends)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two sRGB colours, (Y1 + 0.05) / (Y2 + 0.05) (WCAG 2.1).

    Y = 0.2126 R + 0.7152 G + 0.0722 B of the linear parts (IEC 61966-2-1), Y1 the larger one.

    >>> round(contrast("#000000", "#FFFFFF"), 3), contrast("#777777", "#777777")
    (21.0, 1.0)
    """

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in _parts(colour)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def text_on(colour: str) -> str:
    """Return white where its contrast on a colour is 4.5:1 or more, else black, whose is then.

    >>> text_on("#FFFFFF"), text_on("#00234D"), text_on("#2F6BA3")
    ('#000000', '#FFFFFF', '#FFFFFF')
    """
    return "#FFFFFF" if contrast("#FFFFFF", colour) >= LEAST_CONTRAST else INK

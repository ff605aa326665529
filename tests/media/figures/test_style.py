"""Colours, markers and fonts: for colour-blind readers, for copies in grey, for any computer."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.font_manager import findfont

from tabwb.media.figures import make
from tabwb.media.figures.lettering import shortened, text_width, wrapped
from tabwb.media.figures.page import fixed_style
from tabwb.media.figures.shades import shade
from tabwb.media.figures.style import (
    MANY,
    PALETTE,
    SHADES,
    contrast,
    lightness,
    series_styles,
    text_on,
    width_mm,
)
from tabwb.records.errors import UsageError
from tests.media.figures.made import groups

# Machado, Oliveira and Fernandes 2009, table 1, severity 1.0, for linear RGB.
BLINDNESS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(colour: str, seen_by: str = "") -> np.ndarray:
    """CIELAB (D65) of a colour, as it is seen with a kind of colour blindness."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    if seen_by:
        linear = np.clip(np.array(BLINDNESS[seen_by]) @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    ratios = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_colours_of_series_differ_in_grey() -> None:
    steps = [abs(lightness(a) - lightness(b)) for a, b in combinations(PALETTE, 2)]
    assert min(steps) > 18


def test_lightness_is_that_of_a_second_derivation() -> None:
    for colour in (*PALETTE, *SHADES):
        assert lightness(colour) == pytest.approx(lab(colour)[0], abs=0.05)


@pytest.mark.parametrize("kind", ["", *BLINDNESS])
def test_colours_of_series_differ_for_colour_blind_readers(kind: str) -> None:
    distances = [
        float(np.linalg.norm(lab(a, kind) - lab(b, kind))) for a, b in combinations(PALETTE, 2)
    ]
    assert min(distances) > 20


@pytest.mark.parametrize("kind", ["", *BLINDNESS])
def test_ten_colours_differ_for_colour_blind_readers(kind: str) -> None:
    distances = [
        float(np.linalg.norm(lab(a, kind) - lab(b, kind))) for a, b in combinations(MANY, 2)
    ]
    assert min(distances) > 15


@pytest.mark.parametrize("n", [1, 4, 5, 10])
def test_no_two_series_share_a_colour_or_a_marker(n: int) -> None:
    styles = series_styles(n)
    assert len({style.colour for style in styles}) == len({style.marker for style in styles}) == n


def test_neighbouring_series_differ_in_grey() -> None:
    steps = [abs(lightness(a) - lightness(b)) for a, b in pairwise(MANY)]
    assert min(steps) > 10


def test_more_series_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(UsageError, match="11 series") as refused:
        series_styles(11)
    assert refused.value.allowed == "10 or fewer"


def test_shades_become_darker_with_the_value() -> None:
    levels = [lightness(shade(value / 100)) for value in range(101)]
    assert all(later < earlier for earlier, later in pairwise(levels))
    assert levels[0] == pytest.approx(100, abs=1e-6)


def test_numbers_can_be_read_on_every_shade() -> None:
    def luminance(colour: str) -> float:  # back from L*, not the function that is used
        level = lightness(colour)
        return ((level + 16) / 116) ** 3 if level > 8 else level / 903.3

    for value in range(1001):
        colour = shade(value / 1000)
        light, dark = sorted((luminance(colour), luminance(text_on(colour))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_numbers_on_mid_blue_are_white_where_white_can_be_read() -> None:
    assert text_on("#2F6BA3") == text_on("#3E76AB") == "#FFFFFF"
    assert text_on("#7FA6CC") == "#000000"
    # 4.54:1 (WCAG's own example of a grey that is just dark enough for white).
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)
    assert text_on("#767676") == "#FFFFFF" and text_on("#777777") == "#000000"


def test_the_font_is_the_one_that_comes_with_matplotlib() -> None:
    with fixed_style():
        font = Path(findfont(mpl.rcParams["font.family"][0], fallback_to_default=False))
    assert font == Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")


def test_settings_of_the_user_do_not_matter_and_stay() -> None:
    mpl.rcParams["axes.facecolor"] = "red"
    try:
        with fixed_style():
            assert mpl.rcParams["axes.facecolor"] == "white"
        assert mpl.rcParams["axes.facecolor"] == "red"
    finally:
        mpl.rcdefaults()


def test_a_figure_keeps_its_style_where_it_is_shown_in_another_one() -> None:
    figure = make("burden", groups(2))
    with mpl.rc_context({"xtick.labelsize": 20, "xtick.major.size": 9, "font.family": "serif"}):
        figure.draw_without_rendering()
        (axes,) = (axes for axes in figure.axes if axes.get_label() == "panel 0")
        ticks = axes.xaxis.get_major_ticks()
        assert {tick.label1.get_fontsize() for tick in ticks} == {7.0}
        assert {tick.tick1line.get_markersize() for tick in ticks} == {2.5}
        assert {tick.label1.get_fontfamily()[0] for tick in ticks} == {"DejaVu Sans"}


def test_a_width_is_a_name_or_millimetres() -> None:
    assert [width_mm(width) for width in ("single", "one-and-half", "double", "123.5", 80)] == [
        90, 140, 190, 123.5, 80,
    ]  # fmt: skip


@pytest.mark.parametrize("width", ["triple", "20", "nan", "1000"])
def test_a_width_that_is_none_is_refused(width: str) -> None:
    with pytest.raises(UsageError, match=width):
        width_mm(width)


def test_lines_fit_their_width_and_keep_every_character() -> None:
    name = "openai:org/a-model-with-a-very-long-name@base_url=http://localhost:8000/v1"
    lines = wrapped(name, 7, 1.0)
    assert "".join(lines) == name
    assert max(text_width(line, 7) for line in lines) <= 1.0


def test_a_text_that_is_too_long_keeps_its_beginning_and_end() -> None:
    short = shortened("a-model-with-a-very-long-name-and-size-7B", 7, 1.0)
    assert text_width(short, 7) <= 1.0
    assert short.startswith("a-model") and short.endswith("7B") and "…" in short

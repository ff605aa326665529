"""No text leaves a figure or lies on another one."""

from __future__ import annotations

import pytest

from tabwb.media.figures import make
from tests.media.figures.looks import faults, texts
from tests.media.figures.made import group, groups


@pytest.mark.parametrize(
    ("n", "width"), [(1, "single"), (3, "double"), (8, "single"), (30, "single")]
)
@pytest.mark.parametrize("name", ["burden", "accuracy", "profile"])
def test_texts_have_their_own_place(name: str, width: str, n: int) -> None:
    assert faults(make(name, groups(n), width=width)) == []


def test_texts_that_do_overlap_are_found() -> None:
    figure = make("accuracy", groups(8))
    page = figure.axes[0]
    page.text(0.5, 0.5, "one text here")
    assert any("one text here" in fault for fault in faults(figure))
    page.texts[-1].set_position((3.2, 0.02))
    assert "outside: one text here" in faults(figure)


def test_the_legend_stands_in_the_place_of_a_lacking_panel() -> None:
    figure = make("accuracy", [group("a", 1), group("b", 2)])
    places = dict(texts(figure))
    third, legend = places["Repetition"], places["always first option"]
    assert legend.x0 > third.x1 and legend.y1 > third.y0 - 30  # pixels: beside the rows

"""No text leaves a figure or lies on another one."""

from __future__ import annotations

import pytest

from tabwb.report.figures import make
from tests.report.figures.looks import faults
from tests.report.figures.made import groups


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

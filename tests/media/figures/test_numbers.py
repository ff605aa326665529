"""The numbers that are drawn are those of the table, and these are those of the summaries."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from tabwb.media.figures import FIGURES, figure_kind, figure_table, make
from tabwb.media.figures.estimates import records
from tabwb.media.figures.page import PaperFigure
from tabwb.media.figures.shades import shade
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.report.selection import with_features
from tests.media.figures.made import group, groups, judge


def drawn(axes: Axes, gid: str) -> list[list[float]]:
    """The x values of every line of a kind, from the top."""
    lines = [line for line in axes.lines if line.get_gid() == gid]
    lines.sort(key=lambda line: float(line.get_ydata()[0]))  # type: ignore[index,arg-type]
    return [[float(x) for x in line.get_xdata()] for line in lines]  # type: ignore[union-attr,arg-type]


def panels(figure: PaperFigure) -> list[Axes]:
    return [axes for axes in figure.axes if str(axes.get_label()).startswith("panel")]


def test_burdens_and_their_intervals_are_those_of_the_summaries() -> None:
    given = groups(8)
    (axes,) = panels(make("burden", given))
    burdens = [row.summary.judges[0].burden for row in given if row.summary.judges]
    assert drawn(axes, "value") == [[burden.symptom_burden.value] for burden in burdens]
    assert drawn(axes, "interval") == [
        [burden.interval.low, burden.interval.high] for burden in burdens if burden.interval
    ]


def test_intervals_for_these_prompts_are_drawn_when_asked_for() -> None:
    given = groups(3)
    (axes,) = panels(make("burden", given, interval="these-prompts"))
    ends = [row.summary.judges[0].burden.intervals[1].interval for row in given]
    assert drawn(axes, "interval") == [[end.low, end.high] for end in ends if end is not None]


def test_few_usable_burdens_are_open_and_undefined_ones_are_said_to_be() -> None:
    (axes,) = panels(make("burden", groups(8)))
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_gid() == "value"]
    assert [face == "white" for face in faces] == [False, False, True, *[False] * 4]
    said = [text.get_text() for text in axes.texts if text.get_gid() == "undefined"]
    assert said == ["undefined"]
    reasons = figure_table("burden", groups(8))["reason"].to_list()
    assert reasons[3] == "not judged under these terms"


def test_burdens_over_other_features_have_a_panel_of_their_own() -> None:
    first = group("a")
    other = judge([[["anomia"]], [[]]], ("anomia", "jargon"), "tab-2026:x")
    row = type(first)(
        first.group, type(first.summary)(first.summary.subtests, (other,), first.summary.answers)
    )
    left, right = panels(make("burden", [first, row], width="double"))
    assert len(drawn(left, "value")) == len(drawn(right, "value")) == 1


def test_accuracies_stand_beside_their_baselines() -> None:
    given = groups(3)
    words, sentences, repetition = panels(make("accuracy", given, width="double"))
    shares = [row.summary.subtests[1].share for row in given]
    assert drawn(words, "value") == [[share.accuracy().value] for share in shares]
    # One line each over all rows, behind the points.
    assert sorted(drawn(words, "tick")) == [[1 / 6] * 2, [1.0] * 2]
    assert sorted(drawn(sentences, "tick")) == [[0.5] * 2, [0.6] * 2]
    ticks, points = (
        [line.get_zorder() for line in words.lines if line.get_gid() == kind]
        for kind in ("tick", "value")
    )
    assert max(ticks) < min(points)
    assert drawn(repetition, "tick") == []


def test_cells_of_a_profile_have_the_shade_of_their_rate_and_undefined_ones_are_hatched() -> None:
    given = groups(8)
    figure = make("profile", given, features="all")
    (axes,) = (axes for axes in figure.axes if axes.get_label() == "profile")
    rows = records(figure.facts.table)
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    hatched = [patch for patch in cells if patch.get_gid() == "undefined"]
    assert len(cells) == len(rows) == 8 * 19
    assert len(hatched) == sum(row["value"] is None for row in rows)
    assert all(patch.get_hatch() for patch in hatched)
    colours = sorted(shade(row["value"]) for row in rows if row["value"] is not None)
    shown = [mpl.colors.to_hex(patch.get_facecolor()).upper() for patch in cells
             if patch.get_gid() == "cell"]  # fmt: skip
    assert sorted(shown) == colours


def test_numbers_in_cells_are_the_rates_in_per_cent() -> None:
    figure = make("profile", groups(3))
    rows = records(figure.facts.table)
    (axes,) = (axes for axes in figure.axes if axes.get_label() == "profile")
    words = sorted(text.get_text().split()[0] for text in axes.texts)
    assert words == sorted(f"{100 * row['value']:.0f}" for row in rows)


def test_a_profile_is_of_one_judge() -> None:
    first = group("a")
    judges = (*first.summary.judges, judge([[["anomia"]]], ("anomia",), "tab-2026:x"))
    summary = type(first.summary)(first.summary.subtests, judges, first.summary.answers)
    with pytest.raises(UsageError, match="several judges") as refused:
        make("profile", [type(first)(first.group, summary)])
    assert "--judge" in str(refused.value.hint)


def test_without_a_judge_there_is_no_burden() -> None:
    with pytest.raises(UsageError, match="no judge"):
        make("burden", [group("a", judged=False)])


def test_an_unknown_figure_option_or_value_is_refused() -> None:
    with pytest.raises(UsageError, match="no figure 'burdens'") as refused:
        make("burdens", groups(1))
    assert refused.value.hint == "did you mean 'burden'?"
    with pytest.raises(UsageError, match="no option 'policies'"):
        make("accuracy", groups(1), policies="exact")
    with pytest.raises(UsageError, match="'strict' is not a value of 'policy'") as refused:
        make("accuracy", groups(1), policy="strict")
    assert refused.value.allowed == "exact, normalised, extracted"


def test_without_groups_there_is_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="no administrations"):
        make("burden", [])


def test_without_matplotlib_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="needs the extra 'figures'") as refused:
        make("burden", groups(1))
    assert "install" in str(refused.value.hint)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_declared_by_the_module_of_its_name(name: str) -> None:
    kind = figure_kind(name)
    assert kind.id == name
    assert kind.shows.endswith(".") and kind.data.endswith(".")
    assert all(not option.allowed or option.default in option.allowed for option in kind.options)


def test_a_profile_shows_the_features_that_are_asked_for() -> None:
    chosen = ("jargon", "retracing")
    rows = [replace(row, summary=with_features(row.summary, chosen)) for row in groups(3)]
    assert set(figure_table("profile", rows)["feature"].to_list()) == set(chosen)

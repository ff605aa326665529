"""Numbers of figures of groups: those of the summaries, and those that are drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import matplotlib as mpl
import pytest

import tabwb
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.contrast import over_families, pairs_of
from tabwb.analysis.grouping import Grouped, grouped, names_of_groups, summarised
from tabwb.media.figures import FIGURES, figure_kind, figure_table, make
from tabwb.media.figures.groups import TimedGroup
from tabwb.media.figures.style import shade
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.records.ratings import Declaration, Rating, valued
from tests.analysis.given import BATTERY, CONDITIONS, SAMPLED, administration, answered
from tests.analysis.test_pairs import BASE, INSTRUCT, conditions, given
from tests.analysis.test_pairs import words as said
from tests.media.figures.made import (
    cells,
    drawn,
    faults,
    group,
    groups,
    judge,
    panels,
    records,
    results_of,
    texts,
    words,
)


def test_burdens_and_their_intervals_are_those_of_the_summaries() -> None:
    given = groups(8)
    (axes,) = panels(make("burden", given))
    burdens = [row.results.judges[0].burden for row in given if row.results.judges]
    assert drawn(axes, "value") == [[burden.symptom_burden.value] for burden in burdens]
    assert drawn(axes, "interval") == [
        [burden.interval.low, burden.interval.high] for burden in burdens if burden.interval
    ]


def test_intervals_for_these_prompts_are_drawn_when_asked_for() -> None:
    given = groups(3)
    (axes,) = panels(make("burden", given, interval="these-prompts"))
    ends = [row.results.judges[0].burden.intervals[1].interval for row in given]
    assert drawn(axes, "interval") == [[end.low, end.high] for end in ends if end is not None]


def test_few_usable_burdens_are_open_and_groups_without_a_value_are_left_out() -> None:
    (axes,) = panels(make("burden", groups(8)))
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_gid() == "value"]
    assert [face == "white" for face in faces] == [False, False, True, *[False] * 4]
    table = figure_table("burden", groups(8))
    assert sum(note.startswith("Left out: 1 group") for note in table.notes) == 1
    assert len(set(table["group"].to_list())) == 7


def test_means_of_items_are_points_below_the_interval_of_their_group() -> None:
    given = models(*family("a", 1))
    rows = records(figure_table("burden", given))
    items = [one["value"] for one in rows if one["item"]]
    (axes,) = panels(make("burden", given))
    (points,) = drawn(axes, "item")
    assert items and points == items
    for one in (row for row in rows if not row["item"]):
        own = [row for row in rows if row["item"] and row["group"] == one["group"]]
        assert one["value"] == pytest.approx(sum(row["value"] for row in own) / len(own))


def test_more_groups_than_rows_are_refused_with_a_way_out() -> None:
    many = groups(2) * 21
    several = [
        replace(one, group=replace(one.group, label=f"m{n}", short=f"m{n}"))
        for n, one in enumerate(many)
    ]
    with pytest.raises(UsageError, match="42 groups") as refused:
        figure_table("burden", several)
    assert "--limit 40" in (refused.value.hint or "")


def test_items_by_groups_are_the_shares_right_sorted_by_them() -> None:
    given = models(*family("a", 1), *family("b", 2))
    table = figure_table("items", given)
    named = dict(zip(names_of_groups(given), given, strict=True))
    for name, row in named.items():
        own = [one for one in records(table) if one["group"] == name]
        for part in {one["part"] for one in own}:
            items = [one for one in own if one["part"] == part]
            right = sum(one["value"] * one["n"] for one in items)
            assert right / sum(one["n"] for one in items) == pytest.approx(
                row.results.value("accuracy", part)
            )
    (axes,) = panels(make("items", given, width="double"))
    assert len(cells(axes)) == len(table)
    assert {tick.get_text() for tick in axes.get_yticklabels()} == {*named}


def test_the_reason_why_there_is_no_interval_is_in_the_caption() -> None:
    figure = make("burden", [group("a"), group("b", 2, replicates=1)])
    rows = records(figure.facts.table)
    reasons = {row["interval_reason"] for row in rows if row["low"] is None} - {None}
    assert all(reason in " ".join(figure.facts.notes) for reason in reasons)


def test_burdens_over_other_features_have_a_panel_of_their_own() -> None:
    first = group("a")
    other = judge([[["anomia"]], [[]]], ("anomia", "jargon"), "tab-2026:x")
    row = Grouped(first.group, results_of([other]))
    left, right = panels(make("burden", [first, row], width="double"))
    assert len(drawn(left, "value")) == len(drawn(right, "value")) == 1


def test_accuracies_stand_beside_their_baselines() -> None:
    given = groups(3)
    choices, sentences, repetition = panels(make("accuracy", given, width="double"))
    assert drawn(choices, "value") == [[row.results.value("accuracy", "words")] for row in given]
    assert sorted(drawn(choices, "tick")) == [[1 / 6] * 2] * 3 + [[1.0] * 2] * 3
    assert sorted(drawn(sentences, "tick")) == [[0.5] * 2] * 3 + [[0.6] * 2] * 3
    ticks, points = (
        [line.get_zorder() for line in choices.lines if line.get_gid() == kind]
        for kind in ("tick", "value")
    )
    assert max(ticks) < min(points)
    assert drawn(repetition, "tick") == []


def test_cells_of_a_profile_have_the_shade_of_their_rate_and_undefined_ones_are_hatched() -> None:
    figure = make("profile", groups(8), features="all")
    (axes,) = panels(figure)
    rows = records(figure.facts.table)
    hatched = cells(axes, "undefined")
    assert len(cells(axes)) + len(hatched) == len(rows) == 7 * 19  # one group has no judge
    assert len(hatched) == sum(row["value"] is None for row in rows)
    assert all(patch.get_hatch() for patch in hatched)
    colours = sorted(shade(row["value"]) for row in rows if row["value"] is not None)
    shown = [mpl.colors.to_hex(patch.get_facecolor()).upper() for patch in cells(axes)]
    assert sorted(shown) == colours


def test_rates_without_an_interval_have_their_number_beside_those_with_one() -> None:
    alone = Grouped(group("alone", 9).group, results_of([judge([[["jargon"]]])]))
    figure = make("profile", [*groups(6), alone], width=84)
    rows = records(figure.facts.table)
    assert any(row["low"] is None for row in rows if row["value"] is not None)
    (axes,) = panels(figure)
    assert len(words(axes, "value")) == sum(row["value"] is not None for row in rows)


@pytest.mark.parametrize("n", [2, 30])
def test_n_stands_beside_each_group_in_rows_and_in_columns(n: int) -> None:
    given = (*groups(n), group("many", 40, replicates=240))
    count = given[-1].results.judges[0].burden.n_burden
    figure = make("profile", given)
    assert count > 1000
    assert any(f"N {count})" in text.replace("\n", " ") for text, _ in texts(figure))
    assert faults(figure) == []


def test_the_set_of_the_judge_is_shown_unless_all_features_are_asked_for() -> None:
    own, every = (figure_table("profile", groups(2), **more) for more in ({}, {"features": "all"}))
    assert len(set(own["feature"].to_list())) == 7
    assert len(set(every["feature"].to_list())) == 19
    chosen = ("jargon", "retracing")
    rows = [replace(row, results=row.results.with_features(chosen)) for row in groups(3)]
    assert set(figure_table("profile", rows)["feature"].to_list()) == set(chosen)


def test_groups_that_the_judge_of_a_profile_did_not_judge_are_left_out_and_counted() -> None:
    third = replace(group("c", 3, judged=False), results=results_of([], parts=()))
    table = figure_table("profile", [group("a", 1), group("b", 2, judged=False), third])
    assert set(table["group"].to_list()) == {"a"}
    assert sum(note.startswith("Left out: 2 groups") for note in table.notes) == 1


def test_panels_below_each_other_have_the_groups_that_their_judge_judged() -> None:
    first, second, third = groups(3)
    own = first.results.judges[0]
    both = results_of([own, judge([[["anomia"]], [[]]], ("anomia", "jargon"), "tab-2026:x")])
    given = [replace(first, results=both), second, third]
    upper, lower = panels(make("burden", given))
    assert [len(drawn(axes, "value")) for axes in (upper, lower)] == [3, 1]
    assert [len(axes.get_yticks()) for axes in (upper, lower)] == [3, 1]
    assert not words(lower, "undefined")
    _, beside = panels(make("burden", given, width="double"))
    assert len(beside.get_yticks()) == 3 and len(words(beside, "undefined")) == 2


def test_a_profile_is_of_one_judge() -> None:
    first = group("a")
    judges = (*first.results.judges, judge([[["anomia"]]], ("anomia",), "tab-2026:x"))
    with pytest.raises(UsageError, match="several judges") as refused:
        make("profile", [Grouped(first.group, results_of(judges))])
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


def test_without_matplotlib_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="needs the extra 'figures'") as refused:
        make("burden", groups(1))
    assert "install" in str(refused.value.hint)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_declared(name: str) -> None:
    kind = figure_kind(name)
    assert kind.id == name
    assert all(not option.allowed or option.default in option.allowed for option in kind.options)


# -- differences ---------------------------------------------------------------------------------


def models(*chosen: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("model",)))


def family(name: str, number: int) -> tuple[AdministrationData, AdministrationData]:
    return (
        given(number, conditions("base", name), *BASE.trials),
        given(number + 1, conditions("instruct", name), *INSTRUCT.trials),
    )


FAMILIES = (*family("L-1", 1), *family("Q-2", 3), *family("S-3", 5))


def test_base_and_instruct_models_are_compared_family_by_family() -> None:
    groups = models(*FAMILIES)
    pairs = pairs_of(groups)
    burden, accuracy = panels(make("differences", groups, width="double"))
    means = over_families(pairs)
    assert drawn(burden, "value") == [
        *([pair.found.rows[0].difference] for pair in pairs), [means[0].difference]
    ]  # fmt: skip
    assert drawn(accuracy, "value")[0] == [pairs[0].found.rows[1].difference]
    like = pairs[0].found.rows[0].like.interval.interval
    assert like is not None
    assert drawn(burden, "interval")[0] == [like.low, like.high]


def test_p_values_of_pairs_are_corrected_over_their_family() -> None:
    figure = make("differences", models(*FAMILIES))
    rows = [row for row in records(figure.facts.table) if row["group"]]
    for measure in ("burden", "accuracy"):
        own = [row for row in rows if row["measure"] == measure]
        raw = sorted(row["p"] for row in own)
        stepped = [min(1.0, (len(raw) - at) * p) for at, p in enumerate(raw)]
        expected = dict(zip(raw, (max(stepped[: at + 1]) for at in range(len(raw))), strict=True))
        assert [row["p_adjusted"] for row in own] == [expected[row["p"]] for row in own]
        assert {row["correction"] for row in own} == {f"Holm over {len(own)} tests"}
    assert [words for words, _ in texts(figure)].count("p / corr.") == len(panels(figure))


def test_two_groups_that_are_no_pair_are_compared_first_less_second() -> None:
    plain = replace(conditions("base"), labels={})
    other = replace(conditions("instruct"), labels={})
    groups = models(given(1, plain, *BASE.trials), given(2, other, *INSTRUCT.trials))
    rows = records(figure_table("differences", groups))
    assert {row["comparison"] for row in rows} == {f"{groups[0].label} − {groups[1].label}"}
    (accuracy,) = (row for row in rows if row["measure"] == "accuracy" and not row["item"])
    assert accuracy["difference"] == pytest.approx(1 / 3 - 1)
    items = [row["difference"] for row in rows if row["measure"] == "accuracy" and row["item"]]
    assert sum(items) / len(items) == pytest.approx(accuracy["difference"])


def test_all_groups_are_compared_with_one_that_is_named() -> None:
    groups = models(*FAMILIES)
    table = figure_table("differences", groups, against=groups[1].label)
    rows = [row for row in records(table) if not row["item"]]
    assert {row["baseline"] for row in rows} == {groups[1].label}
    assert {row["group"] for row in rows} == {
        group.label for group in groups if group is not groups[1]
    }


def test_many_groups_without_a_pair_need_one_to_compare_with() -> None:
    groups = models(*FAMILIES)[::2]
    with pytest.raises(UsageError, match="there are 3 groups") as refused:
        make("differences", groups)
    assert "against=" in str(refused.value.hint)
    with pytest.raises(UsageError, match="no group is named 'zebra'"):
        make("differences", groups, against="zebra")


def test_pairs_of_one_family_and_size_have_rows_of_their_own() -> None:
    """A quantised instruct model beside the instruct model: two pairs with one base model."""
    quantised = conditions("instruct", "L-1")
    quantised = replace(quantised, examinee=f"{quantised.examinee}-q4")
    groups = models(*FAMILIES[:2], given(9, quantised, *BASE.trials))
    figure = make("differences", groups, measure="burden")
    names = [row["comparison"] for row in records(figure.facts.table) if not row["item"]]
    assert len(set(names)) == len(names) == 2
    assert all(" − " in name for name in names)
    assert len(drawn(panels(figure)[0], "value")) == 2


# -- agreement -----------------------------------------------------------------------------------

FEATURES = ("anomia", "jargon", "retracing")


def judged(n: int, second: str = "b:2") -> Grouped:
    """Two judges of n texts: anomia in every second, jargon in two, retracing by the first."""
    said: dict[str, Callable[[int], dict[str, float]]] = {
        "a:1": lambda at: {"anomia": at % 2, "jargon": at < 2, "retracing": at % 3 == 0},
        second: lambda at: {"anomia": (at + at // 9) % 2, "jargon": at < 3, "retracing": False},
    }
    trials = []
    for at in range(n):
        trial = answered("ct1", f"We went there {at} times.", number=at + 1, replicate=at)
        ratings: list[Rating] = [
            valued(rater, name, bool(value))
            for rater, of in said.items()
            for name, value in of(at).items()
        ]
        trials.append(type(trial)(trial.plan, trial.state, trial.attempts, tuple(ratings)))
    data = AdministrationData(
        administration(1, SAMPLED),
        BATTERY,
        tuple(trials),
        declarations={rater: Declaration(rater, FEATURES) for rater in said},
    )
    (group,) = summarised(grouped([data], ("administration",)))
    return group


def test_coefficients_are_those_of_the_table_of_verdicts() -> None:
    rows = records(figure_table("agreement", [judged(30)]))
    (row,) = (row for row in rows if row["feature"] == "anomia")
    names = ("both_absent", "second_present", "first_present", "both_present")
    assert [row[name] for name in names] == [10, 5, 7, 8]
    assert row["kappa"] == pytest.approx(0.2)
    assert row["kappa_low"] < 0.2 < row["kappa_high"]


def test_three_positives_or_fewer_have_their_table_instead() -> None:
    figure = make("agreement", [judged(30)])
    rows = {row["feature"]: row for row in records(figure.facts.table)}
    assert rows["jargon"]["few"] and rows["jargon"]["positive_agreement"] == 0.8
    assert rows["retracing"]["few"] and not rows["anomia"]["few"]
    (axes,) = panels(figure)
    assert sorted(words(axes, "undefined")) == ["0/10/0/20, 0.00", "2/0/1/27, 0.80"]
    assert len(drawn(axes, "value")) == 2 and faults(figure) == []


def test_without_two_judges_there_is_no_agreement() -> None:
    with pytest.raises(UsageError, match="no two judges"):
        make("agreement", models(*FAMILIES[:1]))
    with pytest.raises(UsageError, match="no two judges are called 'a:1,c:3'") as refused:
        make("agreement", [judged(5)], judges="a:1,c:3")
    assert refused.value.allowed == "a:1,b:2"


@pytest.mark.parametrize("called", ["a:1,b:m@x=1,y=2", "b, a:1", "a,b:m"])
def test_judges_are_called_by_spec_short_name_or_id(called: str) -> None:
    table = figure_table("agreement", [judged(5, "b:m@x=1,y=2")], judges=called)
    assert table.notes[0] == "Agreement of a:1 and b:m on each feature."


# -- latency -------------------------------------------------------------------------------------


def test_calibration_draws_the_rates_of_a_judge_against_people(tmp_path: Path) -> None:
    said = {"R1": "11110000", "R2": "11110000", "J": "11101000"}
    rows = [
        f"s{n},{who},jargon,{value}" for who, own in said.items() for n, value in enumerate(own)
    ]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(("response,rater,measure,value", *rows)), encoding="utf-8")
    found = tabwb.rater_agreement(ratings, judges=["J"], draws=0)
    (axes,) = panels(found.figure(of="calibration"))
    assert drawn(axes, "value") == [[0.75], [0.75]]
    people = tabwb.rater_agreement(ratings, judges=["J"], draws=0).figure()
    assert len(panels(people)) == 1


def timed(*times: Sequence[float]) -> list[TimedGroup]:
    right = said("lion", "boot", "knife")
    chosen = [given(n, replace(CONDITIONS, seed=n), *right) for n in range(1, len(times) + 1)]
    rows = summarised(grouped(chosen, ("administration",)))
    return [
        TimedGroup(row.group, row.results, tuple(own)) for row, own in zip(rows, times, strict=True)
    ]


def test_points_are_medians_and_boxes_quartiles() -> None:
    figure = make("latency", timed(times := [0.5, 1.0, 4.0], [0.25, 0.5, 0.75]))
    (axes,) = panels(figure)
    assert drawn(axes, "value") == [[median(times)], [0.5]]
    assert drawn(axes, "interval") == []  # three latencies have none
    boxes = [(box.get_x(), box.get_x() + box.get_width()) for box in cells(axes, "band")]
    assert boxes[1::2] == [(0.75, 2.5), (0.375, 0.625)]
    assert faults(figure) == []


@pytest.mark.parametrize(
    ("time", "unit", "shown"), [(2, "s", 2), (0.25, "ms", 250), (2e-5, "µs", 20)]
)
def test_latencies_below_a_second_are_drawn_in_smaller_units(
    time: float, unit: str, shown: float
) -> None:
    figure = make("latency", timed([time] * 3))
    (axes,) = panels(figure)
    assert drawn(axes, "value") == [[pytest.approx(shown)]]
    assert axes.get_xlabel() == f"latency ({unit})"
    assert figure.facts.table["value"].to_list() == [time]  # the table is in seconds

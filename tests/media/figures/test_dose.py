"""Lesions and other amounts against a measure, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest

from tabwb.media.figures import figure_table, lines, make
from tabwb.media.figures.estimates import records
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.report.summaries.doses import dose_of, lesion_dose
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tests.analysis.test_pairs import given, words
from tests.media.figures.looks import faults
from tests.media.figures.test_numbers import panels
from tests.report.given import SAMPLED, answered
from tests.report.test_doses import sweep

T4 = 2.7764451051977987
"""The 0.975 quantile of Student's t with 4 degrees of freedom (tables)."""
RIGHT = ("lion", "boot", "knife")


def lesioned(number: int, amount: str | None, seed: int, right: int) -> AdministrationData:
    spec = None if amount is None else f"mlp.down:zero:{amount}@seed={seed}"
    said = (*RIGHT[:right], *("no", "none", "nothing")[right:])
    return given(number, replace(SAMPLED, lesion=spec, seed=number), *words(*said))


def groups(*chosen: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("administration",)))


FIVE = [
    *(lesioned(n, "0.1", n, right) for n, right in enumerate((3, 3, 2, 3, 2), 1)),
    *(lesioned(n + 5, "0.5", n, right) for n, right in enumerate((1, 0, 1, 0, 0), 1)),
]
INTACT = lesioned(20, None, 1, 3)


def test_the_mean_over_five_seeds_has_a_t_interval() -> None:
    rows = records(figure_table("dose", groups(*FIVE, INTACT), measure="accuracy"))
    (first, second) = (row for row in rows if row["row"] == "mean")
    for row, right in ((first, (3, 3, 2, 3, 2)), (second, (1, 0, 1, 0, 0))):
        values = [n / 3 for n in right]
        half = T4 * stdev(values) / sqrt(5)
        assert row["value"] == pytest.approx(mean(values))
        assert row["low"] == pytest.approx(max(0, mean(values) - half))
        assert row["high"] == pytest.approx(min(1, mean(values) + half))
    assert [row["amount"] for row in (first, second)] == [0.1, 0.5]
    assert [row["n_seeds"] for row in (first, second)] == [5, 5]


def test_four_seeds_or_equal_ones_have_no_interval_over_seeds() -> None:
    four = records(figure_table("dose", groups(*FIVE[:4], *FIVE[5:9]), measure="accuracy"))
    assert {row["interval_reason"] for row in four if row["row"] == "mean"} == {
        "fewer than 5 seeds"
    }
    equal = [lesioned(n, "0.9", n, 0) for n in range(30, 35)]
    table = figure_table("dose", groups(*FIVE, *equal), measure="accuracy")
    (last,) = (row for row in records(table) if row["row"] == "mean" and row["amount"] == 0.9)
    assert last["value"] == 0 and last["low"] is None and "same value" in last["interval_reason"]


def test_a_seed_with_few_usable_responses_is_in_no_mean_and_not_in_its_n() -> None:
    def told(number: int, amount: str, *said: str) -> AdministrationData:
        lesion = f"mlp.down:zero:{amount}@seed={number % 10}"
        made = replace(SAMPLED, lesion=lesion, seed=number)
        answers = (
            answered("ct1", text, number=1, replicate=at, features=["retracing"] if text else None)
            for at, text in enumerate(said)
        )
        return given(number, made, *answers)

    there = ("We went there.", "We saw it.", "We slept.")
    seeds = [
        *(told(n, "0.1", *there) for n in range(1, 6)),
        *(told(n, "0.5", *there) for n in range(11, 15)),
        told(15, "0.5", there[0], "", ""),
    ]
    rows = records(figure_table("dose", groups(*seeds), measure="burden"))
    assert [(row["n_seeds"], row["n"]) for row in rows if row["row"] == "mean"] == [
        (5, 15),
        (4, 12),
    ]
    assert [row["n"] for row in rows if row.get("few_usable")] == [1]


def test_the_lines_are_the_seeds_the_mean_and_the_intact_band() -> None:
    figure = make("dose", groups(*FIVE, INTACT), measure="accuracy")
    (axes,) = panels(figure)
    rows = records(figure.facts.table)
    found = {gid: [line for line in axes.lines if line.get_gid() == gid]
             for gid in ("seed", "value", "intact", "interval")}  # fmt: skip
    assert len(found["seed"]) == 5 and len(found["interval"]) == 2
    (thick,) = found["value"]
    assert np.asarray(thick.get_ydata()).tolist() == [
        row["value"] for row in rows if row["row"] == "mean"
    ]
    (intact,) = (row for row in rows if row["row"] == "intact")
    assert np.asarray(found["intact"][0].get_ydata()).tolist() == [intact["value"]] * 2
    (band,) = (patch for patch in axes.patches if patch.get_gid() == "intact interval")
    ends = band.get_extents().transformed(axes.transData.inverted())
    assert (ends.y0, ends.y1) == pytest.approx((intact["low"], intact["high"]))


def test_a_temperature_is_an_amount_too() -> None:
    def at(number: int, temperature: float, right: int) -> AdministrationData:
        decoding = replace(SAMPLED.decoding, temperature=temperature)
        made = replace(SAMPLED, decoding=decoding, seed=number)
        return given(number, made, *words(*RIGHT[:right], *("no", "none", "nothing")[right:]))

    table = figure_table(
        "dose", groups(at(1, 0.5, 3), at(2, 1.5, 1)), x="temperature", measure="accuracy"
    )
    assert [(row["amount"], row["value"]) for row in records(table)] == [(0.5, 1.0), (1.5, 1 / 3)]


SIZES = {"350000000": 1, "1400000000": 2, "6900000000": 3}


def sized(number: int, size: str, right: int, model: str = "", **labels: str) -> AdministrationData:
    said = {"family": "pythia", "tuning": "base", "parameters": size, **labels}
    made = replace(SAMPLED, examinee=model or f"made-up-{size}", labels=said)
    return given(number, made, *words(*RIGHT[:right], *("no", "none", "nothing")[right:]))


BY_SIZE = [sized(n, size, right) for n, (size, right) in enumerate(SIZES.items(), 1)]


def test_models_of_a_family_are_a_line_over_their_sizes() -> None:
    figure = make("dose", groups(*BY_SIZE), x="parameters", measure="accuracy")
    rows = records(figure.facts.table)
    assert [(row["series"], row["amount"], row["value"]) for row in rows] == [
        ("pythia base", int(size), right / 3) for size, right in SIZES.items()
    ]
    (axes,) = panels(figure)
    assert axes.get_xscale() == "log" and axes.get_title() == ""
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["350M", "1.4B", "6.9B"]
    (line,) = (line for line in axes.lines if line.get_gid() == "value")
    assert np.asarray(line.get_xdata()).tolist() == pytest.approx([float(size) for size in SIZES])
    assert faults(figure) == []


def test_models_without_a_size_are_left_out_and_counted() -> None:
    unknown = given(9, SAMPLED, *words(*RIGHT))
    table = figure_table("dose", groups(*BY_SIZE, unknown), x="parameters", measure="accuracy")
    assert {row["row"] for row in records(table)} == {"seed"}
    assert "Left out: 1 administration without an amount." in table.notes


def test_two_models_of_one_size_are_never_one_point() -> None:
    twin = sized(9, "1400000000", 3, "pythia-1.4b-deduped")
    with pytest.raises(UsageError, match="2 models of pythia base") as refused:
        figure_table("dose", groups(*BY_SIZE, twin), x="parameters", measure="accuracy")
    assert "pythia-1.4b-deduped" in str(refused.value)


def test_sizes_that_no_profile_says_are_asked_for() -> None:
    with pytest.raises(UsageError, match=r"'parameters'.*: none") as refused:
        figure_table("dose", groups(*FIVE), x="parameters", measure="accuracy")
    assert "profiles" in str(refused.value.hint)


def test_an_amount_of_zero_has_no_place_on_a_log_axis() -> None:
    given = [lesioned(1, "0", 1, 3), lesioned(2, "0.5", 1, 1)]
    with pytest.raises(UsageError, match="0 cannot be shown on a logarithmic axis"):
        make("dose", groups(*given), measure="accuracy", scale="log")


def test_models_of_families_with_one_size_each_are_points_that_no_line_joins() -> None:
    alone = [
        sized(n, size, right, f"m{n}", family=f"family {n}")
        for n, (size, right) in enumerate(SIZES.items(), 1)
    ]
    alone.append(sized(9, "1400000000", 0, "m9", family="family 9", tuning="instruct"))
    alone.append(sized(10, "350000000", 0, "m10", family="family 9b", tuning="instruct"))
    figure = make("dose", groups(*alone), x="parameters", measure="accuracy")
    rows = records(figure.facts.table)
    assert {(row["series"], row["row"], row["seed"]) for row in rows} == {
        *(("base", "model", f"m{n}") for n in (1, 2, 3)),
        *(("instruct", "model", f"m{n}") for n in (9, 10)),
    }
    (axes,) = panels(figure)
    assert {line.get_linestyle() for line in axes.lines if line.get_gid() == "value"} == {"None"}


def families(n: int) -> list[AdministrationData]:
    return [
        sized(2 * at + more, size, right, f"family {at}-{size}", family=f"family {at}")
        for at in range(n) for more, (size, right) in enumerate(list(SIZES.items())[:2])
    ]  # fmt: skip


@pytest.mark.parametrize("width", [84, 174])
def test_more_than_four_series_have_a_panel_each_with_the_others_in_grey(width: int) -> None:
    figure = make("dose", groups(*families(5)), x="parameters", measure="accuracy", width=width)
    five = panels(figure)
    assert len(five) == 5 and faults(figure) == []
    for axes in five:
        gids = [line.get_gid() for line in axes.lines]
        assert (gids.count("value"), gids.count("other")) == (1, 4)


def test_four_series_share_a_panel() -> None:
    (axes,) = panels(make("dose", groups(*families(4)), x="parameters", measure="accuracy"))
    looks = {(line.get_color(), line.get_marker()) for line in axes.lines
             if line.get_gid() == "value"}  # fmt: skip
    assert len(looks) == 4


def test_the_panel_of_a_lesion_has_the_intact_model_that_it_was() -> None:
    def other(n: int) -> list[AdministrationData]:
        conditions = [replace(one.administration.conditions, examinee=f"m{n}")
                      for one in (*FIVE, INTACT)]  # fmt: skip
        return [replace(one, administration=replace(one.administration, conditions=made,
                                                    id=one.administration.id + 100 * n))
                for one, made in zip((*FIVE, INTACT), conditions, strict=True)]  # fmt: skip

    every = [one for n in range(5) for one in other(n)]
    for axes in panels(make("dose", groups(*every), measure="accuracy", width="double")):
        assert [line.get_gid() for line in axes.lines].count("intact") == 1


def test_of_many_lesions_the_control_is_in_the_panel_of_its_lesion() -> None:
    every = []
    for n in range(3):
        for one in sweep(seeds=2):
            made = replace(one.administration.conditions, examinee=f"m{n}")
            number = one.administration.id + 100 * n
            administration = replace(one.administration, conditions=made, id=number)
            every.append(replace(one, administration=administration))
    figure = make("dose", groups(*every), measure="accuracy", width="double")
    three = panels(figure)
    assert len(three) == 3 and faults(figure) == []
    for axes in three:
        gids = [line.get_gid() for line in axes.lines]
        looks = {line.get_marker() for line in axes.lines if line.get_gid() == "value"}
        assert len(looks) == 2  # the lesion and its control
        assert gids.count("other") == 2  # other lesions, not their controls


def test_22_models_in_three_panels_fit_one_figure() -> None:
    figure = make("dose", groups(*families(66)), x="parameters", measure="accuracy", width="double")
    assert len(panels(figure)) == 66 and faults(figure) == []


def test_more_panels_than_a_figure_can_show_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_FRAMES", 5)
    with pytest.raises(UsageError, match="6 series in 1 panels are more") as told:
        make("dose", groups(*families(6)), x="parameters", measure="accuracy")
    assert "--where model=NAME" in (told.value.hint or "")


def test_unlike_conditions_are_series_of_their_own() -> None:
    protocol = type(SAMPLED.protocol)("enforced")
    other = [
        replace(member, administration=replace(
            member.administration, id=member.administration.id + 50,
            conditions=replace(member.administration.conditions, protocol=protocol)))
        for member in FIVE
    ]  # fmt: skip
    rows = records(figure_table("dose", groups(*FIVE, *other), measure="accuracy"))
    assert {row["series"] for row in rows} == {
        "bundled + mlp.down:zero:* (protocol generate)",
        "bundled + mlp.down:zero:* (protocol enforced)",
    }


def test_one_amount_is_no_dose() -> None:
    with pytest.raises(UsageError, match=r"fewer than two amounts.*: 0\.1"):
        make("dose", groups(*FIVE[:5]))
    with pytest.raises(UsageError, match="'colour' is not an amount"):
        make("dose", groups(*FIVE), x="colour")


@pytest.mark.parametrize(
    ("spec", "key", "expected"),
    [
        ("zero:0.25", "", ("zero:*", 0.25, "")),
        ("mlp.down:zero:0.3@seed=7", "", ("mlp.down:zero:*", 0.3, "7")),
        ("noise:mlp@sigma=1e-2,seed=3", "", ("noise:mlp@sigma=*", 0.01, "3")),
        ("noise:mlp@seed=3,sigma=0.5", "", ("noise:mlp@sigma=*", 0.5, "3")),
        ("noise@layers=2,sigma=0.5", "sigma", ("noise@layers=2,sigma=*", 0.5, "")),
        (
            "mlp.up:noise:0.2@layers=1-2,sigma=3,seed=5+mlp.down:noise:0.2@sigma=3,seed=5",
            "",
            ("mlp.up:noise:*@layers=1-2,sigma=3+mlp.down:noise:*@sigma=3", 0.2, "5"),
        ),
        ("norm:scale:1@factor=0.5", "factor", ("norm:scale:1@factor=*", 0.5, "")),
    ],
)
def test_the_amount_of_a_lesion_is_its_number(
    spec: str, key: str, expected: tuple[str, float, str]
) -> None:
    assert lesion_dose(spec, key) == expected


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("zero:all", ""),
        ("a:1:2", ""),
        ("a@x=1", "y"),
        ("norm:zero:0.1+head:zero:0.2", ""),
        ("norm:zero:0.1@seed=1+head:zero:0.1@seed=2", ""),
        ("norm:zero:0.1", "factor"),
    ],
)
def test_a_lesion_without_one_amount_is_refused(spec: str, key: str) -> None:
    with pytest.raises(UsageError, match="has"):
        lesion_dose(spec, key)


def test_the_seed_is_the_lesions_else_the_runs() -> None:
    own = dose_of(Conditions("m", "model", seed=9, lesion="zero:0.1@seed=4"), "lesion")
    runs = dose_of(Conditions("m", "model", seed=9, lesion="zero:0.1"), "lesion")
    assert (own.seed, runs.seed) == ("4", "9")


def test_seeds_are_points_and_n_is_in_the_caption() -> None:
    figure = make("dose", groups(*FIVE[:2], *FIVE[5:7], INTACT), measure="accuracy")
    (axes,) = panels(figure)
    seeds = [line for line in axes.lines if line.get_gid() == "seed"]
    assert len(seeds) == 2 and all(line.get_marker() == "o" for line in seeds)
    notes = figure.facts.table.notes
    assert "N: 3 responses for each seed, amount and panel." in notes
    assert "Seeds behind a mean: 2." in notes


def test_points_of_one_amount_do_not_overlap() -> None:
    other = [
        replace(member, administration=replace(
            member.administration, id=member.administration.id + 50,
            conditions=replace(member.administration.conditions, examinee="echo")))
        for member in FIVE
    ]  # fmt: skip
    figure = make("dose", groups(*FIVE, *other), measure="accuracy")
    figure.draw_without_rendering()
    (axes,) = panels(figure)
    places = [
        axes.transData.transform((float(np.asarray(line.get_xdata())[0]), 0))[0]
        for line in axes.lines if line.get_gid() == "interval"
    ]  # fmt: skip
    gap = min(b - a for a, b in pairwise(sorted(places)))
    assert gap / figure.dpi * 72 >= 4.5  # points; a mark has 3.6


def test_a_part_of_a_battery_is_named_once() -> None:
    part = [
        replace(member, administration=replace(
            member.administration, id=member.administration.id + 50,
            conditions=replace(member.administration.conditions, part_subtests=("words",))))
        for member in FIVE
    ]  # fmt: skip
    rows = records(figure_table("dose", groups(*FIVE, *part), measure="accuracy"))
    assert {row["series"] for row in rows} == {
        "bundled + mlp.down:zero:* (whole battery)", "bundled + mlp.down:zero:* (part: words)",
    }  # fmt: skip


def test_texts_have_their_own_place() -> None:
    assert faults(make("dose", groups(*FIVE, INTACT), measure="accuracy")) == []


def test_a_series_with_one_amount_is_left_out_and_said_to_be() -> None:
    lesion = replace(SAMPLED, lesion="noise:0.2@seed=1", seed=40)
    table = figure_table(
        "dose", groups(*FIVE, given(40, lesion, *words(*RIGHT))), measure="accuracy"
    )
    assert {row["series"] for row in records(table)} == {"bundled + mlp.down:zero:*"}
    assert "Left out: 1 series with one amount." in table.notes


def test_a_panel_without_any_value_says_so_and_has_no_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undefined = {"panel": "Other", "value": None, "low": None, "high": None}
    monkeypatch.setattr(
        lines,
        "records",
        lambda table: [*(own := records(table)), *({**one, **undefined} for one in own)],
    )
    figure = make("dose", groups(*FIVE, INTACT), measure="accuracy")
    drawn, empty = panels(figure)
    assert [text.get_text() for text in empty.texts] == ["undefined"]
    assert list(empty.get_yticks()) == []
    assert [text.get_text() for text in drawn.texts] == []
    assert faults(figure) == []

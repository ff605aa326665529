"""Figures over amounts and sessions, and phoneme confusions, counted by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.media.figures import drawers, drawn, figure_table, make
from tabwb.media.figures.amounts import Steps, confusion_table, corpus_steps
from tabwb.media.figures.style import shade
from tabwb.media.studied import studied
from tabwb.phonology.batch import psst_costs, score
from tabwb.phonology.inventory import CLASSES
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.scoring.estimate import clopper_pearson
from tabwb.tables.table import table_of
from tests.analysis.given import CONDITIONS, SAMPLED, answered, changed
from tests.analysis.test_doses import sweep
from tests.analysis.test_pairs import given, words
from tests.media.figures.made import cells, faults, panels, records
from tests.media.figures.made import drawn as drawn_lines
from tests.media.figures.made import words as words_of

RIGHT = ("lion", "boot", "knife")


def answering(number: int, right: int, **conditions: Any) -> AdministrationData:
    said = (*RIGHT[:right], *("no", "none", "nothing")[right:])
    return given(number, replace(SAMPLED, **{"seed": number, **conditions}), *words(*said))


def lesioned(number: int, amount: str | None, seed: int, right: int) -> AdministrationData:
    spec = None if amount is None else f"mlp.down:zero:{amount}@seed={seed}"
    return answering(number, right, lesion=spec)


def groups(*chosen: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("administration",)))


FIVE = [
    *(lesioned(n, "0.1", n, right) for n, right in enumerate((3, 3, 2, 3, 2), 1)),
    *(lesioned(n + 5, "0.5", n, right) for n, right in enumerate((1, 0, 1, 0, 0), 1)),
]
INTACT = lesioned(20, None, 1, 3)


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


def test_seeds_that_no_judge_judged_are_undefined() -> None:
    def made(number: int, amount: str, judged: list[str] | None) -> AdministrationData:
        conditions = replace(SAMPLED, lesion=f"mlp:zero:{amount}@seed={number % 2}")
        text = answered("ct1", "We went there.", features=judged or [])
        made = given(number, conditions, text)
        if judged is None:
            return replace(made, trials=(replace(text, ratings=()),), declarations={})
        return made

    seeds = [made(1, "0.1", ["retracing"]), made(2, "0.1", []), made(3, "0.5", None),
             made(4, "0.5", None)]  # fmt: skip
    rows = records(figure_table("dose", groups(*seeds), measure="burden"))
    assert [row["amount"] for row in rows if row["status"] == "undefined"] == [0.5] * 3


def test_subtests_that_no_lesion_was_given_have_no_panel() -> None:
    whole = given(20, SAMPLED, *words(*RIGHT), answered("r1", "house.", number=9))
    table = figure_table("dose", groups(*FIVE, whole), measure="accuracy")
    assert len({row["part"] for row in records(table)}) == 1
    assert sum(note.startswith("Left out, without a value") for note in table.notes) == 1


def test_lines_are_named_at_their_ends_none_over_another() -> None:
    lesions = [
        f"{target}:zero:{amount}" for target in ("mlp", "attention") for amount in (0.1, 0.5)
    ]
    members = [answering(n, 1, lesion=lesion, seed=0) for n, lesion in enumerate(lesions, 1)]
    (axes,) = panels(make("dose", groups(*members), measure="accuracy", width="double"))
    named: list[Any] = [text for text in axes.texts if text.get_gid() == "end"]
    assert {text.get_text() for text in named} == {"attention", "mlp"}
    assert len({text.xy[1] for text in named}) == 2  # though both lines end at one value


SIZES = {"350000000": 1, "1400000000": 2, "6900000000": 3}


def sized(number: int, size: str, right: int, model: str = "", **labels: str) -> AdministrationData:
    said = {"family": "pythia", "tuning": "base", "parameters": size, **labels}
    return answering(number, right, examinee=model or f"made-up-{size}", labels=said, seed=0)


BY_SIZE = [sized(n, size, right) for n, (size, right) in enumerate(SIZES.items(), 1)]


def test_models_of_a_family_are_a_line_over_their_sizes() -> None:
    figure = make("dose", groups(*BY_SIZE), x="parameters", measure="accuracy")
    assert not [text for text in panels(figure)[0].texts if text.get_gid() == "end"]  # one line
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


def test_models_without_a_size_are_counted_and_two_of_one_size_are_never_one_point() -> None:
    unknown = given(9, SAMPLED, *words(*RIGHT))
    table = figure_table("dose", groups(*BY_SIZE, unknown), x="parameters", measure="accuracy")
    assert {row["row"] for row in records(table)} == {"seed"}
    assert "Left out: 1 administration without an amount." in table.notes
    twin = sized(9, "1400000000", 3, "pythia-1.4b-deduped")
    with pytest.raises(UsageError, match=r"2 models of pythia base.*1\.4b-deduped"):
        figure_table("dose", groups(*BY_SIZE, twin), x="parameters", measure="accuracy")


def test_an_amount_of_zero_has_no_place_on_a_log_axis() -> None:
    given = [lesioned(1, "0", 1, 3), lesioned(2, "0.5", 1, 1)]
    with pytest.raises(UsageError, match="0 cannot be shown on a logarithmic axis"):
        make("dose", groups(*given), measure="accuracy", scale="log")


def test_models_of_families_with_one_size_are_points_joined_by_family_alone() -> None:
    alone = [
        sized(n, size, right, f"m{n}", family=f"family {n}")
        for n, (size, right) in enumerate(SIZES.items(), 1)
    ]
    alone.append(sized(9, "1400000000", 0, "m9", family="family 2", tuning="instruct"))
    alone.append(sized(10, "350000000", 0, "m10", family="family 9b", tuning="instruct"))
    figure = make("dose", groups(*alone), x="parameters", measure="accuracy")
    rows = records(figure.facts.table)
    assert {(row["series"], row["row"], row["seed"]) for row in rows} == {
        *(("base", "model", f"m{n}") for n in (1, 2, 3)),
        *(("instruct", "model", f"m{n}") for n in (9, 10)),
    }
    (axes,) = panels(figure)
    assert {line.get_linestyle() for line in axes.lines if line.get_gid() == "value"} == {"None"}
    assert len(words_of(axes, "family")) == 1  # family 2 has a base and an instruct model


FAMILY = "a-family-of-models-with-a-long-name-that-takes-several-lines-{}"


def families(n: int) -> list[AdministrationData]:
    return [
        sized(2 * at + more, size, right, f"family {at}-{size}", family=FAMILY.format(at))
        for at in range(n) for more, (size, right) in enumerate(list(SIZES.items())[:2])
    ]  # fmt: skip


@pytest.mark.filterwarnings("error::UserWarning")  # of a layout without room
@pytest.mark.parametrize("width", [84, 174])
def test_more_than_four_series_have_a_panel_each_with_the_others_in_grey(width: int) -> None:
    figure = make("dose", groups(*families(5)), x="parameters", measure="accuracy", width=width)
    five = panels(figure)
    assert len(five) == 5 and faults(figure) == []
    for axes in five:
        gids = [line.get_gid() for line in axes.lines]
        assert (gids.count("value"), gids.count("other")) == (1, 4)


def test_of_many_lesions_the_control_is_in_the_panel_of_its_lesion() -> None:
    every = [changed(one, one.administration.id + 100 * n, examinee=f"m{n}")
             for n in range(3) for one in sweep(seeds=2)]  # fmt: skip
    figure = make("dose", groups(*every), measure="accuracy", width="double")
    three = panels(figure)
    assert len(three) == 3 and faults(figure) == []
    for axes in three:
        gids = [line.get_gid() for line in axes.lines]
        looks = {line.get_marker() for line in axes.lines if line.get_gid() == "value"}
        assert len(looks) == 2  # the lesion and its control
        assert gids.count("other") == 2  # other lesions, not their controls
        assert gids.count("intact") == 1  # what it was without the lesion


def test_more_panels_than_a_figure_can_show_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawers, "MOST_FRAMES", 5)
    with pytest.raises(UsageError, match="6 series in 1 panels are more") as told:
        make("dose", groups(*families(6)), x="parameters", measure="accuracy")
    assert "--where model=NAME" in (told.value.hint or "")


def test_one_amount_is_no_dose() -> None:
    with pytest.raises(UsageError, match=r"fewer than two amounts.*: 0\.1"):
        make("dose", groups(*FIVE[:5]))
    with pytest.raises(UsageError, match="'colour' is not an amount"):
        make("dose", groups(*FIVE), x="colour")
    with pytest.raises(UsageError, match=r"'parameters'.*: none"):
        make("dose", groups(*FIVE), x="parameters")


def test_points_of_one_amount_do_not_overlap() -> None:
    other = [changed(one, one.administration.id + 50, examinee="echo") for one in FIVE]
    figure = make("dose", groups(*FIVE, *other), measure="accuracy")
    figure.draw_without_rendering()
    (axes,) = panels(figure)
    places = [
        line.get_transform().transform((float(np.asarray(line.get_xdata())[0]), 0))[0]
        for line in axes.lines if line.get_gid() == "interval"
    ]  # fmt: skip
    gap = min(b - a for a, b in pairwise(sorted(places)))
    assert gap / figure.dpi * 72 >= 4.5  # points; a mark has 3.6


def test_a_series_with_one_amount_is_left_out_and_said_to_be() -> None:
    alone = answering(40, 3, lesion="noise:0.2@seed=1")
    table = figure_table("dose", groups(*FIVE, alone), measure="accuracy")
    assert {row["series"] for row in records(table)} == {"bundled + mlp.down:zero:*"}
    assert "Left out: 1 series with one amount." in table.notes


def test_a_panel_without_any_value_says_so_and_has_no_scale() -> None:
    table = figure_table("dose", groups(*FIVE, INTACT), measure="accuracy")
    none = {"panel": "Other", "value": None, "low": None, "high": None}
    every = [*records(table), *({**row, **none} for row in records(table))]
    rows = [[row[name] for name in table.names] for row in every]
    figure = drawn("dose", table_of("dose", table.columns, rows))
    first, empty = panels(figure)
    assert words_of(empty, "undefined") == ["undefined"] and words_of(first, "undefined") == []
    assert list(empty.get_yticks()) == [] and faults(figure) == []


# -- map -----------------------------------------------------------------------------------------


def test_the_map_has_a_square_for_each_target_and_layer() -> None:
    right = {("attention.q", 0): 2, ("attention.q", 1): 0, ("mlp.down", 0): 3}
    chosen = [
        answering(number, n, lesion=f"{target}:zero:0.5@layers={layer},seed=1", seed=1)
        for number, ((target, layer), n) in enumerate(right.items(), 1)
    ]
    (axes, *_) = panels(make("map", groups(INTACT, *chosen), measure="accuracy"))
    assert words_of(axes, "value") == ["-0.33", "-1.00", "0.00"]
    assert (len(cells(axes)), len(cells(axes, "undefined"))) == (3, 1)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["attention.q", "mlp.down"]
    lower = shade(-1.0)
    assert lower in {to_hex(cell.get_facecolor()).upper() for cell in cells(axes)}
    with pytest.raises(UsageError, match="no map of 'rate' with the feature 'x'"):
        figure_table("map", groups(*chosen), measure="rate", feature="x")


# -- change --------------------------------------------------------------------------------------


def session(number: int, day: str, *right: bool) -> AdministrationData:
    said = (answer if ok else "nothing" for answer, ok in zip(RIGHT, right, strict=True))
    made = replace(CONDITIONS, examinee="S-014", kind="speaker", session_date=day)
    return given(number, made, *words(*said))


THREE = groups(
    session(2, "2026-02-01", True, False, True),
    session(1, "2026-01-01", False, False, True),
    session(3, "2026-03-01", True, True, True),
)


def test_shares_have_exact_intervals_and_stand_by_their_days() -> None:
    upper, _ = panels(make("change", THREE))
    assert drawn_lines(upper, "value", "y") == [pytest.approx([1 / 3, 2 / 3, 1])]
    # 0, 31 and 59 days, over the width of three sessions.
    assert drawn_lines(upper, "value") == [pytest.approx([1, 1 + 2 * 31 / 59, 3])]
    ends = sorted(drawn_lines(upper, "interval", "y"))
    exact = [clopper_pearson(n, 3) for n in (1, 2, 3)]
    assert ends == sorted([one.low, one.high] for one in exact if one is not None)
    hidden = studied(THREE).drawn_rows
    unnamed, _ = panels(make("change", hidden))
    assert drawn_lines(unnamed, "value") == drawn_lines(upper, "value")
    days = figure_table("change", hidden)["date"].to_list()
    assert [*dict.fromkeys(days)] == [
        "session 1 (day 0)", "session 2 (day 31)", "session 3 (day 59)",
    ]  # fmt: skip


def test_cells_are_dark_white_or_hatched() -> None:
    missing = session(4, "2026-04-01", True, True, True)
    missing = replace(missing, trials=missing.trials[:2])
    figure = make("change", (*THREE, *groups(missing)), baselines="1")
    _, lower = panels(figure)
    looks = {shade(0.8): "right", "#FFFFFF": "wrong"}
    kinds = [
        "undefined" if patch.get_hatch() else looks[to_hex(patch.get_facecolor()).upper()]
        for patch in lower.patches
    ]
    assert kinds == [
        *("wrong", "right", "right", "right"),
        *("wrong", "wrong", "right", "right"),
        *("right", "right", "right", "undefined"),
    ]
    assert faults(figure) == []


def test_the_participant_is_numbered_in_every_text_of_the_figure() -> None:
    table = figure_table("change", studied(THREE).drawn_rows)
    assert any(note.startswith("participant 1. Dark") for note in table.notes)
    assert "S-014" not in " ".join(map(str, (*table.notes, *table.rows())))
    assert "2026-" not in " ".join(map(str, (*table.notes, *table.rows())))
    named = figure_table("change", studied(THREE, study_ids=True).drawn_rows)
    assert any(note.startswith("S-014. Dark") for note in named.notes)


def test_one_session_or_several_participants_are_refused() -> None:
    with pytest.raises(UsageError, match="one session"):
        make("change", THREE[:1])
    other = changed(session(9, "2026-02-01", True, True, True), examinee="S-2")
    with pytest.raises(UsageError, match="2 participants: S-014, S-2"):
        make("change", (*THREE, *groups(other)))


# -- confusion -----------------------------------------------------------------------------------


def test_steps_are_counted_with_their_share_of_the_target() -> None:
    steps = {("K", "K"): 3, ("K", "T"): 1, ("AE", "AE"): 4, ("T", None): 2, (None, "S"): 1}
    rows = records(confusion_table(steps, ["Phonemes."]))
    assert [(row["target"], row["heard"], row["n"], row["of"]) for row in rows] == [
        ("t", None, 2, 2), ("k", "t", 1, 4), ("k", "k", 3, 4), ("æ", "æ", 4, 4),
        (None, "s", 1, 1),
    ]  # fmt: skip
    assert [row["value"] for row in rows] == [1, 0.25, 0.75, 1, 1]


def test_steps_of_a_corpus_are_those_of_its_alignments() -> None:
    costs = psst_costs()
    scores = score([("K", "AE", "T"), ("D", "AO", "G")], [("T", "AE", "T"), ("D", "AO")], costs)
    assert corpus_steps(scores) == {
        ("K", "T"): 1, ("AE", "AE"): 1, ("T", "T"): 1, ("D", "D"): 1, ("AO", "AO"): 1,
        ("G", None): 1,
    }  # fmt: skip


def test_cells_have_the_number_of_steps() -> None:
    steps: Steps = {("K", "K"): 3, ("K", "T"): 1, ("T", None): 2}
    (axes,) = panels(drawn("confusion", confusion_table(steps, ["Phonemes."])))
    assert sorted(words_of(axes, "value")) == ["1", "2", "3"]


def test_nothing_transcribed_is_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="no response has been transcribed"):
        make("confusion", THREE)


def test_all_phonemes_have_their_own_place() -> None:
    every = [name for members in CLASSES.values() for name in members]
    some = random.Random(1)
    steps: Steps = {**{(a, some.choice(every)): 30 for a in every}, **{(None, a): 2 for a in every}}
    figure = drawn("confusion", confusion_table(steps, ["Phonemes."]))
    assert faults(figure) == []


def test_groups_have_the_same_phonemes_and_stand_beside_each_other() -> None:
    every = [name for members in CLASSES.values() for name in members]
    given: dict[str, Steps] = {
        "a": dict.fromkeys(zip(every, every, strict=True), 1),
        "b": {("T", "D"): 2}, "c": {("K", None): 1}, "d": {("T", "T"): 1},
    }  # fmt: skip
    rows = [
        (group, *row)
        for group, steps in given.items()
        for row in confusion_table(steps, ["Phonemes."]).rows()
    ]
    table = confusion_table({("T", "T"): 1}, ["Phonemes."])
    of_groups = table_of("confusion", [Column("group", "Group", ""), *table.columns], rows)
    wide, narrow = (drawn("confusion", of_groups, width=width) for width in ("double", "single"))
    labels = {tuple(text.get_text() for text in axes.get_yticklabels()) for axes in panels(wide)}
    assert len(panels(wide)) == 4 and {len(one) for one in labels} == {len(every)}
    assert wide.get_figheight() < 1.2 * wide.get_figwidth()
    assert len({round(axes.get_position().y0, 3) for axes in panels(wide)}) == 2
    assert len({round(axes.get_position().y0, 3) for axes in panels(narrow)}) == 4

"""Lesions by amount: one line for each seed, means over seeds, controls; counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import inf, sqrt
from statistics import mean, stdev
from typing import Any

import pytest
from scipy import stats

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.doses import values_of
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.series import Severity, lesion_dose, series_of
from tabwb.media.figures import figure_table
from tabwb.media.views.tables import named_table
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.tables.table import Table
from tests.analysis.given import SAMPLED, changed
from tests.analysis.test_pairs import given, texts, words

T4 = 2.7764451051977987
"""The 0.975 quantile of Student's t with 4 degrees of freedom (tables)."""
RIGHT = ("lion", "boot", "knife")
SIZES = {"0.1": 1000, "0.3": 3000}


def one(
    number: int,
    lesion: str | None,
    right: int,
    *,
    size: int = 0,
    control: bool = False,
    greedy: bool = False,
    **facts: str,
) -> AdministrationData:
    said = (*RIGHT[:right], *("no", "none", "nothing")[right:])
    decoding = replace(SAMPLED.decoding, temperature=0.0) if greedy else SAMPLED.decoding
    conditions = replace(SAMPLED, lesion=lesion, decoding=decoding)
    data = given(number, conditions, *texts(["jargon"], []), *words(*said))
    if size:
        facts["lesion_parameters"] = str(size)
    tags = ("small", "control") if control else ("small",)
    return replace(data, administration=replace(data.administration, tags=tags), model_facts=facts)


def sweep(
    seeds: int = 5, control_seeds: range | None = None, *, greedy: bool = False, first: int = 1
) -> list[AdministrationData]:
    """Return lesions at two amounts with right answers by :data:`OWN`, and their controls."""
    found = [one(first, None, 3, greedy=greedy, lesion_perplexity="8")]
    for seed in range(1, seeds + 1):
        for amount, right in zip(SIZES, OWN[seed - 1], strict=True):
            # By chance a few more or fewer parameters are taken.
            found.append(
                one(len(found) + first, f"mlp.down:zero:{amount}@seed={seed}", right,
                    greedy=greedy, size=SIZES[amount] + seed,
                    lesion_perplexity=str(2 ** (3 + seed)))
            )  # fmt: skip
    for seed in control_seeds or range(1, seeds + 1):
        for (amount, size), right in zip(SIZES.items(), CONTROL[seed % 5], strict=True):
            spec = f"projections:zero:{float(amount) / 4:g}@seed={seed}"
            number = len(found) + first
            found.append(
                one(number, spec, right, size=size - 9 * seed, control=True, greedy=greedy)
            )
    return found


OWN = ((3, 1), (2, 0), (3, 0), (2, 1), (3, 2))
CONTROL = ((3, 3), (3, 2), (2, 2), (3, 3), (3, 2))
"""Right answers of three at both amounts; of controls by seed modulo 5."""


def of_lesion(one: AdministrationData) -> str:
    return one.administration.conditions.lesion or ""


def groups(chosen: list[AdministrationData]) -> tuple[Grouped, ...]:
    return summarised(grouped(chosen, ("administration",)), interval=False)


def doses(chosen: list[AdministrationData]) -> Table:
    return named_table("doses", groups(chosen))


@cache
def swept(*, greedy: bool = False) -> Table:
    """Return the table of :func:`sweep`, from which most tests read a few rows."""
    return doses(sweep(greedy=greedy))


def rows(chosen: Table | list[AdministrationData] | None, **where: str) -> list[dict[str, Any]]:
    """Return rows of a table of doses: of :func:`swept` where nothing is chosen."""
    table = swept() if chosen is None else chosen if isinstance(chosen, Table) else doses(chosen)
    return table.where(**where).to_dicts()


def accuracy(chosen: Table | list[AdministrationData] | None, row: str) -> list[dict[str, Any]]:
    return rows(chosen, measure="accuracy", part="words", row=row)


def half(values: list[float]) -> float:
    """Half of the t interval of five values."""
    return T4 * stdev(values) / sqrt(5)


PAIRS = [(OWN[seed - 1], CONTROL[seed % 5]) for seed in range(1, 6)]
LAST = [own[1] / 3 for own in OWN]
HEIGHTS = [sum(own) / 6 for own in OWN]
LESS = [(sum(own) - sum(control)) / 6 for own, control in PAIRS]


def test_usable_responses_come_first_and_every_measure_has_its_rows() -> None:
    found = rows(None)
    measures = list(dict.fromkeys(row["measure"] for row in found))
    assert measures[:2] == ["usable", "surprisal"]
    assert {"burden", "rate", "accuracy", "words_mean"} <= set(measures)
    kinds = ["intact", *["seed"] * 5, "mean", "less intact", "control", "less control"]
    assert [row["row"] for row in found[: len(kinds)]] == kinds


def test_a_seed_has_one_line_and_means_are_over_seeds_with_t_intervals() -> None:
    for row, right in zip(accuracy(None, "seed"), OWN, strict=True):
        first, second = (n / 3 for n in right)
        assert (row["at_0_1"], row["at_0_3"]) == (first, second)
        assert row["slope"] == pytest.approx((second - first) / 0.2)
        assert row["height"] == pytest.approx((first + second) / 2)
    assert [row["seed"] for row in accuracy(None, "seed")] == ["1", "2", "3", "4", "5"]
    (row,) = accuracy(None, "mean")
    slopes = [(last - first) / 3 / 0.2 for first, last in OWN]
    assert row["slope"] == pytest.approx(mean(slopes))
    assert row["slope_low"] == pytest.approx(mean(slopes) - half(slopes))
    assert row["slope_high"] == pytest.approx(mean(slopes) + half(slopes))
    assert row["at_0_1_high"] == 1.0  # a share is not above 1
    assert row["n_seeds"] == 5 and 0 < row["slope_p"] < 0.05


def test_controls_of_the_same_size_and_seed_are_paired() -> None:
    (row,) = accuracy(None, "less control")
    assert row["test"] == "paired t over seeds"
    assert row["height"] == pytest.approx(mean(LESS))
    assert row["height_low"] == pytest.approx(mean(LESS) - half(LESS))
    assert row["at_0_3"] == pytest.approx(mean((own[1] - other[1]) / 3 for own, other in PAIRS))


def in_layers() -> list[AdministrationData]:
    """Return lesions of layer 1, with controls anywhere and in the layers 1 and 2 of one size."""
    found = [one(1, None, 3, greedy=True)]
    for seed in range(1, 6):
        for at, (amount, right) in enumerate(zip(SIZES, OWN[seed - 1], strict=True)):
            for spec, control, shown in (
                (f"mlp.down:zero:{amount}@layers=1,seed={seed}", False, right),
                (f"projections:zero:{amount}1@seed={seed}", True, 3),
                (f"projections:zero:{amount}2@layers=1,seed={seed}", True, CONTROL[seed % 5][at]),
                (f"projections:zero:{amount}2@layers=2,seed={seed}", True, 0),
            ):
                size = SIZES[amount]
                new = one(len(found) + 1, spec, shown, size=size, control=control, greedy=True)
                found.append(new)
    return found


def test_controls_in_the_layers_of_the_lesion_have_rows_of_their_own() -> None:
    found = {row["row"]: row for row in rows(in_layers(), measure="accuracy", part="words")}
    assert [*found][-4:] == ["control", "less control", "layer control", "less layer control"]
    assert found["control"]["height"] == 1.0
    # Not those of layer 2, which have the same size.
    assert found["layer control"]["height"] == pytest.approx(mean(sum(n) / 6 for n in CONTROL))
    less = found["less layer control"]
    assert less["test"] == "paired t over seeds"
    assert less["height"] == pytest.approx(mean(LESS))
    assert less["height_p"] == pytest.approx(stats.ttest_1samp(LESS, 0.0).pvalue)


def test_other_seeds_are_compared_by_welch() -> None:
    (row,) = accuracy(sweep(control_seeds=range(11, 16)), "less control")
    assert row["test"] == "Welch's t over seeds" and row["df"] < 8
    assert row["height"] == pytest.approx(mean(HEIGHTS) - mean(sum(n) / 6 for n in CONTROL))


def test_a_count_of_a_category_is_at_most_the_number_of_its_features() -> None:
    group = groups(sweep(greedy=True))[0]
    (judge,) = group.results.judges
    largest = {
        (cell.measure, cell.feature): value.largest for cell, value in values_of(group).items()
    }
    (categories,) = judge.groupings.values()
    assert {of.of for of in categories.values()} > {1}
    for name, category in categories.items():
        assert largest["category_count", name] == (category.of or inf)
    assert largest["burden", ""] == 7 and largest["words_mean", ""] == inf


def test_four_seeds_have_no_interval_and_say_why() -> None:
    (row,) = accuracy(sweep(4), "mean")
    assert row["slope"] is not None and row["slope_low"] is None and row["slope_p"] is None
    assert row["reason"] == "fewer than 5 seeds"


def test_a_control_of_another_size_or_operation_is_not_taken() -> None:
    controls = [one for one in sweep() if "control" in one.administration.tags]
    lesions = [one for one in sweep() if "control" not in one.administration.tags]
    far = [
        replace(one, model_facts={**one.model_facts, "lesion_parameters": "2000"})
        for one in controls
    ]
    assert not accuracy([*lesions, *far], "control")
    other = [changed(one, lesion=of_lesion(one).replace(":zero:", ":mean:")) for one in controls]
    assert not accuracy([*lesions, *other], "control")
    (series,), left = series_of(sweep())
    assert left == 0 and series.name.endswith(" + mlp.down:zero:*")
    assert {seed: list(line) for seed, line in series.controls["control"].items()} == {
        str(seed): [0.1, 0.3] for seed in range(1, 6)
    }


def test_surprisal_is_the_logarithm_of_the_stored_perplexity() -> None:
    found = rows(None, measure="surprisal")
    assert [row["intact"] for row in found if row["row"] == "intact"] == [3.0]
    assert [row["at_0_1"] for row in found if row["row"] == "seed"] == [4, 5, 6, 7, 8]
    (control,) = (row for row in found if row["row"] == "control")
    assert control["at_0_1"] is None and "no seed has a value" in control["reason"]


def test_the_mean_less_the_intact_model_has_an_interval_where_nothing_was_drawn() -> None:
    (row,) = accuracy(swept(greedy=True), "less intact")
    assert row["at_0_3"] == pytest.approx(mean(LAST) - 1)
    assert row["at_0_3_low"] == pytest.approx(max(mean(LAST) - half(LAST), 0) - 1)
    assert row["at_0_3_high"] == pytest.approx(mean(LAST) + half(LAST) - 1)
    assert row["height"] == pytest.approx(mean(HEIGHTS) - 1)
    assert row["height_p"] == pytest.approx(stats.ttest_1samp(HEIGHTS, 1.0).pvalue)
    assert (row["slope"], row["df"], row["n_seeds"]) == (None, 4, 5)
    # An intact model that answered once by chance has an unknown error.
    (drawn,) = accuracy(None, "less intact")
    assert drawn["at_0_3"] is not None and drawn["at_0_3_low"] is None
    assert drawn["height_p"] is None and "the intact model were drawn" in drawn["reason"]


def test_p_values_are_corrected_over_subtests_features_and_lesions() -> None:
    own = sweep()
    other = [
        changed(one, 100 + at, lesion=of_lesion(one).replace("mlp.down", "mlp.up"))
        for at, one in enumerate(own)
        if "mlp.down" in of_lesion(one)
    ]
    (alone,) = accuracy(None, "mean")
    assert alone["slope_p_adjusted"] == alone["slope_p"]
    both = accuracy([*own, *other], "mean")
    assert [row["slope_p_adjusted"] for row in both] == pytest.approx([2 * alone["slope_p"]] * 2)


def test_lesions_of_one_name_are_told_apart_by_their_conditions() -> None:
    both = accuracy([*sweep(), *sweep(greedy=True, first=200)], "mean")
    found = [row for row in both if row["severity"] == "amount of the lesion"]
    assert [row["series"].rpartition("* ")[2] for row in found] == ["(greedy)", "(temperature 1)"]
    assert [row["n_seeds"] for row in found] == [5, 5]


def at_amounts(
    amounts: tuple[float, ...], rights: Sequence[Sequence[int]] = OWN, **conditions: Any
) -> list[AdministrationData]:
    """Return the model under each amount for each seed; conditions are made of amount and seed."""
    found: list[AdministrationData] = []
    for seed, own in enumerate(rights, 1):
        for amount, right in zip(amounts, own, strict=True):
            made = {name: make(amount, seed) for name, make in conditions.items()}
            found.append(changed(one(len(found) + 2, None, right), **made))
    return found


INTACT = one(1, None, 3)


def test_temperatures_are_amounts_with_the_seeds_of_runs() -> None:
    warm = doses(
        at_amounts(
            (0.5, 1.5),
            decoding=lambda amount, _: replace(SAMPLED.decoding, temperature=amount),
            seed=lambda _, seed: seed,
        )
    )
    (row,) = accuracy(warm, "mean")
    assert (row["severity"], row["series"]) == ("temperature", "bundled, temperature *")
    slopes = [(last - first) / 3 for first, last in OWN]
    assert row["slope"] == pytest.approx(mean(slopes)) and row["n_seeds"] == 5
    # Each seed has its own streams.
    assert row["slope_high"] == pytest.approx(mean(slopes) + half(slopes))
    assert not accuracy(warm, "less intact")


def test_prompt_noise_has_amounts_seeds_and_the_model_without_it() -> None:
    noisy = at_amounts(
        (0.1, 0.3), prompt_noise=lambda amount, seed: f"words:drop:{amount}@seed={seed}"
    )
    table = doses([INTACT, *noisy])
    (row,) = accuracy(table, "mean")
    assert row["series"] == "bundled + prompt noise words:drop:*"
    assert row["at_0_3"] == pytest.approx(mean(LAST))
    (less,) = accuracy(table, "less intact")
    assert less["at_0_3"] == pytest.approx(row["at_0_3"] - 1)


def test_checkpoints_with_doses_are_a_series_beside_their_parent() -> None:
    def checkpoints(parent: str) -> list[AdministrationData]:
        """Return checkpoints after 100 and 200 steps with two run seeds each."""
        labels = {"parent": parent, "dose_name": "steps"}
        return at_amounts(
            (100, 200), ((2, 1), (3, 0)),
            examinee=lambda steps, _: f"transformers:tuned-{steps}",
            labels=lambda steps, _: {**labels, "dose": str(steps)}, seed=lambda _, seed: seed,
        )  # fmt: skip

    beside, alone = (doses([INTACT, *checkpoints(parent)]) for parent in ("bundled", "other"))
    (row,) = accuracy(beside, "mean")
    assert (row["severity"], row["series"]) == ("dose of the checkpoint", "bundled + steps *")
    assert [row["at_100"], row["at_200"]] == pytest.approx([5 / 6, 1 / 6])
    (less,) = accuracy(beside, "less intact")
    assert [less["at_100"], less["at_200"]] == pytest.approx([-1 / 6, -5 / 6])
    (apart,) = accuracy(alone, "mean")
    assert apart["series"] == "other + steps *"
    assert not accuracy(alone, "less intact")


def test_the_bits_of_rounded_weights_are_amounts() -> None:
    found = [one(1, None, 3, greedy=True)]
    for bits, right in ((8, 3), (4, 2), (2, 0)):
        found.append(one(bits, f"projections:quantise@bits={bits}", right, greedy=True))
    (row,) = accuracy(found, "mean")
    assert row["severity"] == "bits of the lesion"
    assert [row[f"at_{bits}"] for bits in (2, 4, 8)] == pytest.approx([0, 2 / 3, 1])
    assert row["slope"] > 0 and row["slope_low"] is None
    # The figure leaves out lesions without bits.
    found.append(one(9, "mlp:zero:0.5@seed=1", 1, greedy=True))
    table = figure_table("dose", groups(found), measure="accuracy", x="lesion", amount="bits")
    assert {row["amount"] for row in table.where(row="seed").to_dicts()} == {2.0, 4.0, 8.0}
    assert "Left out: 1 administration without an amount." in table.notes
    with pytest.raises(UsageError, match="has not one sigma"):
        figure_table("dose", groups(found), measure="accuracy", x="lesion", amount="sigma")


def test_without_two_amounts_there_is_no_table() -> None:
    for name, why in (("doses", "two amounts"), ("map", "one target in one layer")):
        with pytest.raises(UsageError, match=why):
            named_table(name, groups([one(1, None, 3), one(2, "mlp:zero:0.1@seed=1", 2)]))


@pytest.mark.parametrize("greedy", [True, False])
def test_the_figure_draws_the_means_of_the_table_and_controls_at_their_amounts(
    greedy: bool,
) -> None:
    drawn = figure_table("dose", groups(sweep(greedy=greedy)), measure="accuracy")
    (table,) = accuracy(swept(greedy=greedy), "mean")
    amounts: dict[str, set[float]] = {}
    for row in drawn.where(row="mean", part="words").to_dicts():
        series = row["series"].partition(" + ")[2]
        amounts.setdefault(series, set()).add(row["amount"])
        if "control" not in series:
            name = f"at_{row['amount']:g}".replace(".", "_")
            for end in ("", "_low", "_high"):
                assert row[end.lstrip("_") or "value"] == pytest.approx(table[name + end])
    assert amounts == {"mlp.down:zero:*": {0.1, 0.3}, "control of mlp.down:zero:*": {0.1, 0.3}}
    assert any(note.startswith("Control: ") for note in drawn.notes)


def selected(controls: int = 5) -> list[AdministrationData]:
    """Return a list of units at two amounts, with 1 and 0 right answers, and its controls."""
    place = "file=units.json,sha256=0123456789abcdef"
    found = [one(1, None, 3, greedy=True)]
    for amount, right in (("0.5", 1), ("1", 0)):
        spec = f"mlp.neurons:zero:{amount}@select=list,{place}"
        found.append(one(len(found) + 1, spec, right, size=100, greedy=True))
        for seed in range(1, controls + 1):
            spec = f"mlp.neurons:zero:{amount}@select=list-control,{place},seed={seed}"
            own = CONTROL[seed % 5][amount == "1"]
            found.append(one(len(found) + 1, spec, own, size=100, control=True, greedy=True))
    return found


def test_a_lesion_without_draws_is_one_case_beside_its_controls() -> None:
    table = doses(selected())
    (row,) = accuracy(table, "less control")
    last = [own[1] / 3 for own in CONTROL]
    assert row["test"] == "one lesion against controls" and row["df"] == 4
    assert row["at_1"] == pytest.approx(0 - mean(last))
    assert row["at_1_high"] == pytest.approx(-mean(last) + T4 * stdev(last) * sqrt(6 / 5))
    assert row["at_1_low"] == -1  # no control is above 1
    heights = [sum(own) / 6 for own in CONTROL]
    t = (1 / 6 - mean(heights)) / (stdev(heights) * sqrt(6 / 5))
    assert row["height"] == pytest.approx(1 / 6 - mean(heights))
    assert row["height_p"] == pytest.approx(2 * stats.t.sf(abs(t), 4))
    (alone,) = accuracy(table, "mean")
    assert alone["reason"] == "one condition without seeds"
    # Controls of selected units are those of the same list and amount; all have one size.
    (control,) = accuracy(table, "control")
    assert control["at_0_5"] == pytest.approx(mean(own[0] for own in CONTROL) / 3)
    assert control["at_1"] == pytest.approx(mean(last))
    (few,) = accuracy(selected(4), "less control")
    assert few["height"] is not None and few["height_p"] is None
    assert few["reason"] == "fewer than 5 controls"


def test_an_amount_that_takes_everything_is_in_no_slope_of_seeds() -> None:
    own = [changed(one, seed=77) for one in sweep(greedy=True)]
    whole = changed(one(200, "mlp.down:zero:1", 0, greedy=True, size=9000), seed=77)
    (row,), (before,) = accuracy([*own, whole], "mean"), accuracy(swept(greedy=True), "mean")
    assert row["over"] == "0.1, 0.3" and row["slope"] == before["slope"]
    assert row["at_1"] == 0 and row["at_1_n"] == 1 and row["at_1_low"] is None


PLACES = {("attention.q", 0): (3, 3, 2, 3, 2), ("attention.q", 1): (1, 0, 0, 2, 1),
         ("mlp.down", 0): (3, 3, 3, 3, 3)}  # fmt: skip


def lesions(*, greedy: bool = False) -> list[AdministrationData]:
    found = [one(1, None, 3, greedy=greedy)]
    for (target, layer), own in PLACES.items():
        for seed, right in enumerate(own, 1):
            spec = f"{target}:zero:0.5@layers={layer},seed={seed}"
            found.append(one(len(found) + 1, spec, right, greedy=greedy))
    # None of these is of one target in one layer, or a lesion's.
    others = ("mlp:zero:0.5", "mlp:zero:0.5@layers=0-1", "noise:mlp@severity=0.1")
    found += [one(100 + at, spec, 0) for at, spec in enumerate(others)]
    found.append(one(200, "mlp:zero:0.5@layers=0", 0, control=True))
    return found


def cells(chosen: list[AdministrationData]) -> dict[tuple[str, int], dict[str, Any]]:
    table = named_table("map", groups(chosen)).where(measure="accuracy", part="words")
    return {(row["target"], row["layer"]): row for row in table.to_dicts()}


def test_a_cell_is_the_mean_over_seeds_less_the_intact_model() -> None:
    found = cells(lesions())
    assert set(found) == set(PLACES)
    row = found["attention.q", 1]
    values = [n / 3 for n in PLACES["attention.q", 1]]
    assert (row["value"], row["intact"], row["n_seeds"]) == (pytest.approx(mean(values)), 1.0, 5)
    assert row["difference"] == pytest.approx(mean(values) - 1)
    assert row["difference_low"] is None and "drawn" in row["reason"]  # SAMPLED: not greedy
    assert row["value_high"] == pytest.approx(mean(values) + half(values))
    found = cells(lesions()[1:])  # without an intact model
    assert (found["mlp.down", 0]["value"], found["mlp.down", 0]["difference"]) == (1.0, None)
    assert found["mlp.down", 0]["reason"].startswith("all seeds have the same value")
    assert found["attention.q", 0]["reason"] == "the intact model was not given"


def test_differences_end_at_what_is_possible_and_are_corrected_over_the_cells_of_a_map() -> None:
    found = cells(lesions(greedy=True))
    first, second = found["attention.q", 0], found["attention.q", 1]
    values = [n / 3 - 1 for n in PLACES["attention.q", 0]]
    assert first["difference_low"] == pytest.approx(mean(values) - half(values))
    assert first["difference_high"] == 0.0  # nothing is better than all right
    assert found["mlp.down", 0]["p"] is None  # all seeds have the same value
    assert second["p_adjusted"] == pytest.approx(2 * second["p"])
    assert first["p_adjusted"] == pytest.approx(first["p"])


def test_single_heads_are_rows_of_one_map() -> None:
    right = {(0, 0): 3, (1, 0): 0, (0, 1): 1, (1, 1): 2}
    chosen = [one(1, None, 3, greedy=True)]
    for (head, layer), said in right.items():
        spec = f"attention.heads:zero:1@layers={layer},heads={head}"
        chosen.append(one(len(chosen) + 1, spec, said, greedy=True))
    chosen.append(one(9, "attention.heads:zero:1@layers=0", 0, greedy=True))
    chosen.append(one(10, "attention.heads:zero:1@layers=0,heads=0-1", 0, greedy=True))
    table = named_table("map", groups(chosen)).where(measure="accuracy", part="words")
    found = [(row["target"], row["unit"], row["layer"], row["value"]) for row in table.to_dicts()]
    # Several heads at once are another series.
    assert found == [
        ("attention.heads", None, 0, 0.0),
        *(("attention.heads", head, layer, right[head, layer] / 3)
          for head in (0, 1) for layer in (0, 1)),
        ("attention.heads", None, 0, 0.0),
    ]  # fmt: skip
    assert table["series"].to_list()[0].endswith("zero:1")


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
        ("zero:all", "", None),
        ("a:1:2", "", None),
        ("a@x=1", "y", None),
        ("norm:zero:0.1+head:zero:0.2", "", None),
        ("norm:zero:0.1@seed=1+head:zero:0.1@seed=2", "", None),
        ("norm:zero:0.1", "factor", None),
    ],
)
def test_the_amount_of_a_lesion_is_its_only_number(
    spec: str, key: str, expected: tuple[str, float, str] | None
) -> None:
    if expected is not None:
        assert lesion_dose(spec, key) == expected
        return
    with pytest.raises(UsageError, match="has"):
        lesion_dose(spec, key)


def test_the_seed_is_the_lesions_else_the_runs() -> None:
    given = (Conditions("m", "model", seed=9, lesion=f"zero:0.1{own}") for own in ("@seed=4", ""))
    assert [Severity("lesion").dose(one).seed for one in given] == ["4", "9"]

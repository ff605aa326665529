"""What a planned administration can show, from its plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.administer.session.smallest_difference import Showable, planned, said, showable
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Item
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol
from tabwb.scoring.detectable import Design
from tabwb.scoring.estimate import DETERMINISTIC, Estimand
from tests.report.given import BATTERY

SAMPLED = Conditions("m", "model", replicates=10, decoding=Decoding(temperature=1.0))
GREEDY = Conditions("m", "model", replicates=10)


def row(rows: tuple[Showable, ...], measure: str, estimand: Estimand) -> Showable:
    (found,) = (each for each in rows if (each.measure, each.estimand) == (measure, estimand))
    return found


@pytest.mark.parametrize("estimand", Estimand)
def test_items_and_replicates_come_from_the_plan_without_practice(estimand: Estimand) -> None:
    rows = showable(BATTERY, SAMPLED)
    assert row(rows, "symptom burden", estimand).design == Design(2, 10)
    # 3 of words (one more is practice), 3 sentences, 2 repetitions.
    accuracy = row(rows, "accuracy", estimand).design
    assert accuracy.items == 8
    assert accuracy.replicates == pytest.approx(10)


def test_clusters_of_items_are_the_units_of_sign_flips() -> None:
    text = BATTERY.subtests[0]
    items = tuple(Item(f"t{n}", f"Tell {n}.", cluster=f"theme {n // 4}") for n in range(20))
    battery = replace(BATTERY, subtests=(replace(text, items=items),))
    rows = showable(battery, SAMPLED)
    like = row(rows, "symptom burden", Estimand.PROMPTS_LIKE_THESE)
    assert like.design == Design(5, 40, "clusters")
    assert like.difference.reason == "sign flips over 5 clusters never reach .05"
    assert like.smallest_p == 0.0625
    these = row(rows, "symptom burden", Estimand.THESE_PROMPTS)
    assert these.design == Design(20, 10)
    assert these.difference.defined
    assert these.smallest_p is None  # that of sign flips is not of this test


def test_greedy_replicates_are_one_response() -> None:
    found = row(showable(BATTERY, GREEDY), "accuracy", Estimand.PROMPTS_LIKE_THESE)
    assert found.design == Design(8, 1)
    these = row(showable(BATTERY, GREEDY), "accuracy", Estimand.THESE_PROMPTS)
    assert these.difference.reason == DETERMINISTIC


def test_a_back_end_that_draws_nothing_under_a_protocol_is_deterministic_there() -> None:
    enforced = replace(SAMPLED, protocol=Protocol.ENFORCED)
    rows = showable(BATTERY, enforced, unsampled=("enforced",))
    assert row(rows, "accuracy", Estimand.THESE_PROMPTS).difference.reason == DETERMINISTIC
    drawn = showable(BATTERY, enforced)
    assert row(drawn, "accuracy", Estimand.THESE_PROMPTS).difference.defined


def test_without_a_judge_there_is_no_burden_to_compare() -> None:
    rows = showable(BATTERY, replace(SAMPLED, judges=()))
    assert {each.measure for each in rows} == {"accuracy"}


def test_the_lines_name_estimand_design_and_smallest_p() -> None:
    lines = list(said(showable(BATTERY, SAMPLED)))
    assert lines[0].startswith("smallest detectable difference between two examinees")
    assert lines[3].startswith("  accuracy, prompts like these (8 items x 10): ")
    assert lines[3].endswith(" percentage points by sign flips over items with t")
    assert any("over 2 items: p is at least 0.5, so it never reaches .05" in one for one in lines)
    assert list(said(())) == []


def test_no_difference_beyond_the_features_of_a_judge_is_told() -> None:
    plugins = Plugins.load()
    conditions = Conditions("echo", "model", judges=("rules",))
    tab = load_battery(plugins.find_battery("tab"))
    like, these, *_ = planned(plugins, tab, conditions)
    plugins.close()
    assert (like.n_features, like.difference.value) == (7, None)
    assert like.difference.reason == "sign flips over 5 items never reach .05"
    assert these.difference.reason == "deterministic"

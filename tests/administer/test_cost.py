"""What judges that ask a model will take, told before an administration begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.administer.cost import Forecast, forecasts
from tabwb.administer.session import setup
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding

PRICED = "tab-2026:openai:gpt-4o-mini"


@pytest.fixture
def plugins(tmp_path: Path) -> Plugins:
    return Plugins.load(Configuration(config_dir=tmp_path, data_dir=tmp_path))


def told(plugins: Plugins, *judges: str, limit: int = 256, replicates: int = 1) -> list[Forecast]:
    conditions = Conditions(
        "echo",
        "model",
        judges=judges,
        replicates=replicates,
        decoding=Decoding(max_tokens=limit),
        token_limits="run",
    )
    return list(forecasts(plugins, setup.find_battery(plugins, "tab"), conditions))


def test_judges_of_rules_ask_nobody_and_are_not_told_of(plugins: Plugins) -> None:
    assert told(plugins, "rules-2") == []


def test_connected_text_of_all_replicates_is_judged_each_with_one_repair(plugins: Plugins) -> None:
    (one,) = told(plugins, PRICED, replicates=2)
    # Five of TAB's 20 items are connected text.
    assert (one.answers, one.requests) == (10, 20)


def test_cost_grows_with_replicates_and_with_the_longest_answer(plugins: Plugins) -> None:
    (once,), (twice,) = told(plugins, PRICED), told(plugins, PRICED, replicates=2)
    (short,) = told(plugins, PRICED, limit=64)
    assert once.cost and twice.cost and short.cost
    assert twice.cost == pytest.approx(2 * once.cost)
    assert short.cost < once.cost
    assert short.answer_tokens == 64


def test_an_unknown_price_is_an_unknown_cost(plugins: Plugins) -> None:
    (one,) = told(plugins, "tab-2026:openai:a-model-without-a-price")
    assert one.cost is None
    assert "cost unknown" in one.line("then")


def test_nothing_is_charged_on_this_machine_and_no_money_is_named(plugins: Plugins) -> None:
    (one,) = told(plugins, "tab-2026:bundled")
    assert one.cost == 0
    assert "USD" not in one.line("then") and "cost" not in one.line("then")
    assert "5 answers, at most 10 requests" in one.line("then")

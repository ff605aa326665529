"""Prices: shipped ones, the user's own, none known, nothing charged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.plugin_api.remote.prices import FREE, cost_of, price_of, shipped
from tabwb.records.errors import UsageError
from tabwb.records.specs import parse_spec


def test_a_shipped_price_is_found_by_the_models_spec(tmp_path: Path) -> None:
    price = price_of(parse_spec("gemini:gemini-2.5-flash"), local=False, config_dir=tmp_path)
    assert price is not None
    # 6,720 responses of 1,500 tokens sent and 250 received, at 0.30 and 2.50 dollars a million:
    # 10.08 million x 0.30 + 1.68 million x 2.50.
    assert cost_of(price, 6720 * 1500, 6720 * 250) == pytest.approx(3.024 + 4.2)


def test_every_shipped_price_says_when_it_was_looked_up() -> None:
    assert all(price.as_of and price.source for price in shipped())


def test_the_users_price_goes_first(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(
        '[[price]]\nmodel = "gemini:*"\nprompt = 1\nreply = 2\n', encoding="utf-8"
    )
    price = price_of(parse_spec("gemini:gemini-2.5-flash"), local=False, config_dir=tmp_path)
    assert price is not None and (price.prompt, price.reply) == (1.0, 2.0)


@pytest.mark.parametrize(
    "spec", ["openai:no-such-model", "openai:gpt-4o@base_url=https://other.example/v1"]
)
def test_an_unknown_price_is_no_price(tmp_path: Path, spec: str) -> None:
    price = price_of(parse_spec(spec), local=False, config_dir=tmp_path)
    assert price is None and cost_of(price, 10, 10) is None


def test_what_runs_here_costs_nothing(tmp_path: Path) -> None:
    assert price_of(parse_spec("bundled"), local=True, config_dir=tmp_path) is FREE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price = 1", r"more than tables"),
        ("[[price]]\nprompt = 1", "'model' is missing"),
        ('[[price]]\nmodel = "a"\nprompt = -1\nreply = 1', "'prompt' is -1"),
        ('[[price]]\nmodel = "a"\nprompt = true\nreply = 1', "'prompt' is True"),
        ('[[price]]\nmodel = "a"\nprompt = nan\nreply = 1', "'prompt' is nan"),
        ('[[price]]\nmodel = "a"\nprompt = 1\nreply = 1\nprise = 3', "unknown key: prise"),
        ('[[price]]\nmodel = "a"\nprompt = 1\nreply = 1\nas_of = "May"', "'as_of' is 'May'"),
        ("[[price", "is not valid TOML"),
    ],
)
def test_a_malformed_file_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        price_of(parse_spec("gemini:x"), local=False, config_dir=tmp_path)
    assert caught.value.where is not None and str(path) in caught.value.where

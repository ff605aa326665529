"""docs/naming-rules.md says what the code does: tables, rules, the computed chance rate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import naming_rules
from tabwb.scoring.naming.attempts import PAUSE_S
from tabwb.scoring.naming.target import BREAK_S
from tabwb.scoring.naming.words import CHANCE_PAIRS, chance_rate
from tabwb.tasks.spoken_naming.rules import RULE_KEYS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "naming-rules.md").read_text(encoding="utf-8")


def test_codes_flags_rules_and_varieties_are_those_of_the_code() -> None:
    assert naming_rules.written(PAGE) == PAGE, "run: python docs/naming_rules.py"


@pytest.mark.parametrize("key", RULE_KEYS)
def test_every_rule_is_described(key: str) -> None:
    # Also the rule's fields: counts_cued.
    assert key == "rule" or re.search(rf"`{key}`|\b{key.capitalize()}\b", PAGE)


def test_the_figures_are_those_of_the_code() -> None:
    (rate,) = re.findall(r"\*\*(\d+) % of random pairs", PAGE)
    assert rate == f"{chance_rate():.0%}"[:-1]
    assert f"{CHANCE_PAIRS:,}\npairs" in PAGE
    assert f"**{PAUSE_S:.0f} second**" in PAGE
    assert f"({BREAK_S} s or a written silence" in PAGE


def test_no_word_says_more_than_the_figures() -> None:
    said = PAGE.lower()
    for word in ("patient", "diagnosis", "impaired", "normal", "passed", "failed", "validated"):
        assert not re.search(rf"\b{word}", said)
    assert "does not diagnose" in said

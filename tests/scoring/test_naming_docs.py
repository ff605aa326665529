"""docs/naming-rules.md says what the code does: codes, flags, rules, the computed chance rate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tabwb.battery.naming import RULE_KEYS
from tabwb.scoring.naming.attempts import PAUSE_S
from tabwb.scoring.naming.codes import CODES, FLAGS
from tabwb.scoring.naming.correct import BREAK_S
from tabwb.scoring.naming.similarity import CHANCE_PAIRS, chance_rate

PAGE = (Path(__file__).parents[2] / "docs" / "naming-rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_described_as_it_is(code: str) -> None:
    about = CODES[code]
    assert f"| `{code}` | {about.definition} | {about.proposer} |" in PAGE


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_is_described_as_it_is(flag: str) -> None:
    assert f"| `{flag}` | {FLAGS[flag]} |" in PAGE


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

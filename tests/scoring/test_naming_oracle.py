"""The decision table against the cases of ``tests/data/naming.tsv``; sources stand there."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tabwb.scoring.naming.case import Earlier, Settings
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.rules import RULES
from tabwb.scoring.naming.target import Accepted, NamingTarget, Tolerance
from tests.scoring.naming_parts import timed

DATA = Path(__file__).parents[1] / "data"
ITEMS = json.loads((DATA / "naming_items.json").read_text(encoding="utf-8"))["items"]
with (DATA / "naming.tsv").open(encoding="utf-8", newline="") as opened:
    CASES = list(csv.DictReader(opened, delimiter="\t"))
RIGHT = {"0": False, "1": True, "?": None}
ALSO = {"C124": {"guessed-sound"}, "C126": {"guessed-sound"}}
"""Flags beyond those of the table: ``guessed-sound`` is set wherever a sound is guessed."""


def target_of(name: str, settings: dict[str, str]) -> NamingTarget:
    item = ITEMS[name]
    forms = (
        Accepted(tuple(one["phonemes"].split()), one["reason"], one.get("word", ""))
        for one in item["accept"]
    )
    return NamingTarget(
        target=name,
        accept=tuple(forms),
        semantic=tuple(item["semantic"]),
        visual=tuple(item["visual"]),
        parts=tuple(item["parts"]),
        unrelated=tuple(settings.get("unrelated", "").split()),
    )


def settings_of(given: dict[str, str]) -> Settings:
    tolerance = None
    if "tolerance.slips" in given:
        tolerance = Tolerance(slips=int(given["tolerance.slips"]))
    if "tolerance.share" in given:
        tolerance = Tolerance(share=float(given["tolerance.share"]))
    return Settings(
        rule=given.get("rule", "correct-first"),  # type: ignore[arg-type]
        tolerance=tolerance,
        number=given.get("number", "ignored"),  # type: ignore[arg-type]
        varieties=(given["variety"],) if "variety" in given else (),  # type: ignore[arg-type]
    )


def earlier_of(text: str) -> tuple[Earlier, ...]:
    if not text:
        return ()
    item, said = text.split(":")
    if said.isupper():
        return (Earlier(item, tuple(said.split())),)
    return (Earlier(item, (), said),)


def test_the_oracle_is_whole() -> None:
    assert len(CASES) == 109
    assert {case["target"] for case in CASES} <= set(ITEMS)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_table_decides_as_the_oracle(case: dict[str, str]) -> None:
    given = dict(pair.split("=") for pair in case["settings"].split(";") if pair)
    found = propose_response(
        target_of(case["target"], given),
        timed(case["attempts"]),
        settings_of(given),
        heard=parse_heard(case["heard"]) if case["heard"] else None,
        earlier=earlier_of(case["earlier"]),
    )
    proposal = found.proposal
    assert proposal.code == case["code"], proposal
    wanted = set(filter(None, case["candidates"].split(",")))
    assert set(proposal.candidates) == wanted, proposal
    flags = set(filter(None, case["flags"].split(",")))
    assert set(proposal.flags) == flags | ALSO.get(case["id"], set()), proposal
    assert found.verdicts["correct-first"].value is RIGHT[case["correct_first"]]
    if case["correct_any"]:
        assert found.verdicts["correct-any"].value is RIGHT[case["correct_any"]]
    if case["clause_says"]:
        assert re.search(case["clause_says"], proposal.clause)
    if case["clause_says_not"]:
        assert case["clause_says_not"] not in proposal.clause


def test_every_rule_of_the_table_that_decides_is_used_by_a_case() -> None:
    numbers = {rule.number for rule in RULES}
    assert len(numbers) == len(RULES)

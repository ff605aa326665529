"""Scorers of plugins: which measure decides, whose measure it is, and what a failure does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tabwb.battery.model import Feature, Item, Subtest
from tabwb.cli.main import main
from tabwb.plugin_api import components
from tabwb.plugin_api.components import Response
from tabwb.records.ratings import Rating
from tests.plugin_api.conftest import Install

PLUGIN = """
from tabwb.records.ratings import undefined

class One:
    def __init__(self, id, measures, values, fails=False):
        self.id, self.measures, self.values, self.fails = id, measures, values, fails
    def score(self, subtest, item, response):
        if self.fails:
            raise RuntimeError("no rubric")
        return [valued(self.id, m, v) for m, v in zip(self.measures, self.values)]

@hookimpl
def tabwb_register_scorers(register):
    def add(id, *given, **more):
        register(Descriptor(id, id, lambda spec, options: One(id, *given, **more)))
    add("says-right", ("given", "f1"), (1, 0.5))
    add("says-f1", ("f1",), (0.75,))
    add("raises", ("given",), (1,), fails=True)
"""
BATTERY = """
[battery]
id = "own"
title = "Own"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "saying"
title = "Saying"
response = "verbatim"
template = "{prompt}"
scorers = SCORERS
item = [{ id = "s1", prompt = "house.", expected = "house." },
        { id = "s2", prompt = "boat.", expected = "boat." }]
"""


def run(
    install: Install, tmp_path: Path, scorers: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any], str]:
    install("scoring", PLUGIN)
    path = tmp_path / "own.toml"
    path.write_text(BATTERY.replace("SCORERS", scorers), encoding="utf-8")
    status = main(["run", str(path), "--model", "echo", "--judge", "none", "--json"])
    out, err = capsys.readouterr()
    return status, json.loads(out), err


def test_the_first_measure_decides_whatever_its_name(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document, _ = run(install, tmp_path, '["says-right"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    assert status == 0
    assert (subtest["correct"], subtest["n_scored"], subtest["accuracy"]) == (2, 2, 1.0)
    assert list(subtest["measures"]) == ["f1"]
    # It is stored with the administration: the same without the plugin at hand.
    assert main(["results", "1"]) == 0
    shown = capsys.readouterr().out
    assert "2 of 2" in shown
    assert "errors: f1" not in shown
    assert "f1 0.50" in shown


def test_a_measure_that_is_not_0_or_1_calls_nothing_right_or_wrong(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document, _ = run(install, tmp_path, '["says-f1"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    assert (subtest["correct"], subtest["accuracy"]) == (None, None)
    assert subtest["measures"]["f1"]["mean"] == 0.75


def test_measures_of_one_name_belong_to_their_raters(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document, _ = run(install, tmp_path, '["repetition", "says-right", "says-f1"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    measures = subtest["measures"]
    assert "f1" not in measures
    assert (measures["says-right: f1"]["mean"], measures["says-right: f1"]["n"]) == (0.5, 2)
    assert (measures["says-f1: f1"]["mean"], measures["says-f1: f1"]["n"]) == (0.75, 2)
    assert measures["says-f1: f1"]["rater"] == "says-f1"
    assert measures["given"]["rater"] == "says-right"


class PlainScorer:
    """Attributes as most people write them; mypy, strict, takes them for the contract's."""

    measures = ("exact",)

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        return []


class PlainExporter:
    suffix = ".txt"

    def export(self, document: Mapping[str, Any], out: Path) -> None:
        out.write_text("")


class PlainJudge:
    rater, features, caution = "plain", ("fragments",), "A rule."

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        return []


SCORER: components.Scorer = PlainScorer()
EXPORTER: components.Exporter = PlainExporter()
JUDGE: components.Judge = PlainJudge()


@pytest.mark.parametrize(
    ("contract", "members"),
    [
        (components.Scorer, ("measures",)),
        (components.Judge, ("rater", "features", "caution")),
        (components.ScopedJudge, ("scope",)),
        (components.ModelJudge, ("prompt_text", "examinee", "most_requests")),
        (components.Exporter, ("suffix",)),
        (components.Transcriber, ("unit",)),
    ],
)
def test_members_of_contracts_are_read_only(contract: type, members: tuple[str, ...]) -> None:
    assert all(isinstance(vars(contract)[name], property) for name in members)
    assert isinstance(SCORER, components.Scorer)


def test_a_scorer_that_fails_is_reported_once_everywhere(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document, err = run(install, tmp_path, '["repetition", "raises"]', capsys)
    assert status == 1
    assert err.count("RuntimeError: no rubric") == 1
    assert "'raises' failed on 2 of 2 responses" in err
    assert document["summary"]["subtests"][0]["correct"] == 2
    assert document["summary"]["failed_raters"] == [
        {"rater": "raises", "n": 2, "of": 2, "reason": "RuntimeError: no rubric"}
    ]
    assert main(["results", "1"]) == 0
    assert "'raises' failed on 2 of 2 responses" in " ".join(capsys.readouterr().out.split())
    assert main(["trial", "rescore", "1"]) == 1
    assert "'raises' failed on 2 of 2 responses" in capsys.readouterr().err

"""Scorers of plugins: which measure decides, whose measure it is, and what a failure does."""

from __future__ import annotations

import importlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy
import pytest

import tabwb
from tabwb.administer.session.raters import checked
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.model import Feature, Item, Subtest
from tabwb.cli.main import main
from tabwb.plugin_api import components
from tabwb.plugin_api.components import Response
from tabwb.records.ratings import Rating
from tabwb.records.states import RatingStatus
from tests.plugin_api.conftest import Install

PLUGIN = """
from tabwb.records.ratings import undefined

class One:
    def __init__(self, id, measures, values, fails=False, extra=()):
        self.id, self.measures, self.values, self.fails = id, measures, values, fails
        self.given = (*measures, *extra)
    def score(self, subtest, item, response):
        if self.fails:
            raise RuntimeError("no rubric")
        return [valued(self.id, m, v) for m, v in zip(self.given, self.values)]

@hookimpl
def tabwb_register_scorers(register):
    def add(id, *given, **more):
        register(Descriptor(id, id, lambda spec, options: One(id, *given, **more)))
    add("says-right", {"f1": "share", "given": "verdict"}, (0.5, 1))
    add("says-f1", ("f1",), (0.75,))
    add("says-1", {"f1": "share"}, (1,))
    add("says-half", {"given": "verdict", "n": "count"}, (0.5, 2))
    add("says-more", ("f1",), (0.75, 1), extra=("more",))
    add("raises", {"given": "verdict"}, (1,), fails=True)
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


def test_the_first_declared_verdict_decides_whatever_its_name(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document, _ = run(install, tmp_path, '["says-right"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    assert status == 0
    assert (subtest["correct"], subtest["n_scored"], subtest["accuracy"]) == (2, 2, 1.0)
    assert list(subtest["measures"]) == ["f1"]
    # It is stored with the administration: the same without the plugin at hand.
    assert main(["results", "1"]) == 0
    said, measured = (
        line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("Saying")
    )
    assert said[:5] == ["Saying", "2", "2", "2", "1.00"]
    assert measured == ["Saying", "f1", "0.50", "2"]


@pytest.mark.parametrize(
    ("scorer", "mean", "kind"), [("says-f1", 0.75, "number"), ("says-1", 1.0, "share")]
)
def test_a_measure_that_is_not_declared_a_verdict_calls_nothing_right_or_wrong(
    install: Install,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    scorer: str,
    mean: float,
    kind: str,
) -> None:
    _, document, _ = run(install, tmp_path, f'["{scorer}"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    assert (subtest["correct"], subtest["accuracy"]) == (None, None)
    assert (subtest["measures"]["f1"]["mean"], subtest["measures"]["f1"]["kind"]) == (mean, kind)
    assert main(["results", "--by", "model", "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert group["summary"]["subtests"][0]["measures"] == subtest["measures"]
    assert group["summary"]["subtests"][0]["correct"] is None
    with tabwb.open() as study:
        assert study.responses()["exact"].to_list() == [None, None]


def test_a_value_that_its_measure_cannot_have_is_in_error(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document, _ = run(install, tmp_path, '["says-half"]', capsys)
    (subtest,) = document["summary"]["subtests"]
    assert (status, subtest["correct"], subtest["measures"]["n"]["mean"]) == (1, None, 2)
    given = {rating["measure"]: rating for rating in document["trials"][0]["ratings"]}
    assert (given["given"]["status"], given["n"]["value"]) == ("error", 2)
    assert "0.5 is not a valid verdict" in given["given"]["reason"]


def test_a_measure_that_is_not_declared_is_in_error(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, document, _ = run(install, tmp_path, '["says-more"]', capsys)
    (rating,) = document["trials"][0]["ratings"]
    assert (status, rating["measure"], rating["status"]) == (1, "f1", "error")
    assert "'more'" in rating["reason"]


@pytest.mark.parametrize("value", [numpy.float32(1.5), numpy.bool_(True), Fraction(3, 2), 2**70])
def test_a_number_of_another_type_is_kept_as_a_plain_one(value: Any) -> None:
    (kept,) = checked("own", [Rating("own", "m", value, RatingStatus.VALUE)])
    assert (type(kept.value), kept.value) == (float, value)


def test_measures_declared_before_version_0_2_are_numbers_and_results_say_so(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(install, tmp_path, '["says-right"]', capsys)
    with tabwb.open() as study:
        path = study.location
    with closing(sqlite3.connect(path)) as store, store:
        digest = sha256(b'["given"]').digest()
        made = store.execute("INSERT INTO texts (sha256, text) VALUES (?, '[\"given\"]')", [digest])
        store.execute("UPDATE rater_declarations SET features_id = ?", [made.lastrowid])
    main(["results", "1", "--json"])
    document = json.loads(capsys.readouterr().out)
    (subtest,) = document["summary"]["subtests"]
    assert subtest["correct"] is None
    assert subtest["measures"]["given"]["mean"] == 1.0
    assert any("says-right" in notice and "rescore" in notice for notice in document["notices"])
    assert main(["trial", "rescore", "1"]) == 0
    capsys.readouterr()
    main(["results", "1", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["subtests"][0]["correct"] == 2


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


def test_a_scorer_that_is_gone_replaces_no_rating(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(install, tmp_path, '["says-right"]', capsys)
    before = results(capsys)
    for path in (tmp_path / "site").glob("*.dist-info"):
        path.rename(path.with_suffix(".gone"))
    importlib.invalidate_caches()
    assert main(["trial", "rescore", "1"]) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert "'says-right'" in err
    assert "scoring-package 1.0" in err
    assert results(capsys) == before


def test_a_scorer_that_fails_now_replaces_no_rating(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(install, tmp_path, '["says-right"]', capsys)
    before = results(capsys)
    path = next((tmp_path / "site").glob("*.py"))
    path.write_text(path.read_text("utf-8").replace("if self.fails", "if True"), "utf-8")
    forget(path)
    assert main(["trial", "rescore", "1"]) == 1
    assert "no rubric" in capsys.readouterr().err
    assert results(capsys) == before


def test_ratings_name_the_plugin_that_made_them_and_a_changed_one_is_seen(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, document, _ = run(install, tmp_path, '["choice", "says-right"]', capsys)
    path = next((tmp_path / "site").glob("*.py"))
    raters = {one["rater"]: one for one in document["summary"]["raters"]}
    (first,) = raters["says-right"]["plugins"]
    assert (first["distribution"], first["version"]) == ("scoring-package", "1.0")
    (ours,) = raters["choice"]["plugins"]
    assert (ours["distribution"], ours["version"]) == ("tabwb", tabwb.__version__)
    assert not [notice for notice in document["notices"] if "version" in notice]
    path.write_text(path.read_text("utf-8").replace("(0.5, 1)", "(0.5, 0)"), "utf-8")
    forget(path)
    assert main(["trial", "rescore", "1"]) == 0
    capsys.readouterr()
    document = results(capsys)
    assert document["summary"]["subtests"][0]["correct"] == 0
    raters = {one["rater"]: one for one in document["summary"]["raters"]}
    assert raters["says-right"]["plugins"][0] == first
    assert raters["says-right"]["plugins"][1]["sha256"] not in {"", first["sha256"]}
    assert len(raters["choice"]["plugins"]) == 1
    assert document["administration"]["rater_versions"]["says-right"].count("scoring-package") == 2
    (said,) = [notice for notice in document["notices"] if "several versions" in notice]
    assert first["sha256"][:8] in said


def results(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["results", "1", "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def forget(path: Path) -> None:
    """Have a module imported again, as by another start of the program."""
    sys.modules.pop(path.stem, None)
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    importlib.invalidate_caches()


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


ITEM_PLUGIN = """
def options():
    from pydantic import BaseModel, ConfigDict, Field
    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid")
        threshold: float = Field(0.1, ge=0, le=1, description="0 to 1")
    return Options

class Rubric:
    measures = {"met": "verdict"}
    def __init__(self, threshold):
        self.threshold = threshold
    def score(self, subtest, item, response):
        told = f"{response.expected}|{response.reference}|{response.metadata['weight']}"
        return [valued("rubric", "met", response.metadata["weight"] >= self.threshold, told)]

@hookimpl
def tabwb_register_scorers(register):
    register(Descriptor("rubric", "x", lambda spec, o: Rubric(o.threshold), options=options))
"""
ITEM_BATTERY = """
[battery]
id = "own"
title = "Own"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "telling"
title = "Telling"
response = "KIND"
template = "{prompt}"
scorers = ["rubric@threshold=0.3", "rubric@threshold=0.9"]

[[subtest.item]]
id = "t1"
prompt = "Tell me."
expected = "a story"
reference = "Mentions a place."
[subtest.item.metadata]
weight = 0.5
levels = ["a", "b"]
"""


@pytest.fixture
def battery(install: Install, tmp_path: Path) -> Path:
    install("rubrics", ITEM_PLUGIN)
    path = tmp_path / "own.toml"
    path.write_text(ITEM_BATTERY.replace("KIND", "free"), encoding="utf-8")
    return path


def test_items_of_every_kind_take_expected_reference_and_metadata(
    battery: Path, tmp_path: Path
) -> None:
    for kind in ("free", "connected-text", "verbatim"):
        battery.write_text(ITEM_BATTERY.replace("KIND", kind), encoding="utf-8")
        item = load_battery(battery).subtests[0].items[0]
        assert (item.expected, item.reference) == ("a story", "Mentions a place.")
        assert item.metadata == {"weight": 0.5, "levels": ["a", "b"]}


def test_a_scorer_is_told_them_and_has_its_options(
    battery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(battery), "--model", "echo", "--judge", "none", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    low, high = document["trials"][0]["ratings"]
    assert (low["rater"], low["value"]) == ("rubric@threshold=0.3", 1.0)
    assert (high["rater"], high["value"]) == ("rubric@threshold=0.9", 0.0)
    assert document["trials"][0]["reference"] == "Mentions a place."
    assert document["trials"][0]["item_metadata"] == {"weight": 0.5, "levels": ["a", "b"]}
    assert low["reason"] == "a story|Mentions a place.|0.5"
    (subtest,) = document["summary"]["subtests"]
    assert (subtest["correct"], subtest["n_scored"]) == (1, 1)
    assert subtest["measures"]["met"]["rater"] == "rubric@threshold=0.9"


@pytest.mark.parametrize(
    ("scorer", "said", "allowed"),
    [
        ("rubric@threshold=2", "'2' is not allowed", "0 to 1"),
        ("rubric@limit=1", "has no option 'limit'", "threshold"),
        ("rubrik@threshold=0.3", "there is no such scorer", "rubric"),
        ("rubric@threshold", "not a spec", "ID[:NAME]"),
    ],
)
def test_check_names_what_is_wrong_with_a_scorer(
    battery: Path, capsys: pytest.CaptureFixture[str], scorer: str, said: str, allowed: str
) -> None:
    text = battery.read_text(encoding="utf-8").replace("rubric@threshold=0.3", scorer)
    battery.write_text(text, encoding="utf-8")
    assert main(["battery", "check", str(battery), "--json"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert said in problem["message"]
    assert allowed in problem["allowed"]
    assert problem["key"] == "subtest[1].scorers[1]"


def test_metadata_holds_plain_values_only(battery: Path) -> None:
    text = battery.read_text(encoding="utf-8").replace("weight = 0.5", "weight = 2026-01-02")
    battery.write_text(text, encoding="utf-8")
    (problem,) = check_battery(battery)
    assert problem.message == "not a plain value"

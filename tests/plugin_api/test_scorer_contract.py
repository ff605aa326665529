"""Scorers of plugins: which measure decides, whose measure it is, and what a failure does."""

from __future__ import annotations

import importlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy
import pytest

import tabwb
from tabwb import plugin_api
from tabwb.administer.session.raters import checked
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.model import Feature, Item, Subtest
from tabwb.host.making import completed
from tabwb.plugin_api import components
from tabwb.plugin_api.components import Response
from tabwb.records.exchange import Wait
from tabwb.records.ratings import Rating, Verdict, valued
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus
from tests.cli.conftest import Outcome, Run
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


Scored = Callable[..., Outcome]


@pytest.fixture
def scored(install: Install, tmp_path: Path, run: Run) -> Scored:
    """Give the battery, scored by some of the plugin's scorers."""

    def call(*scorers: str, status: int = 0) -> Outcome:
        install("scoring", PLUGIN)
        path = tmp_path / "own.toml"
        path.write_text(BATTERY.replace("SCORERS", json.dumps(scorers)), encoding="utf-8")
        words = ["run", path, "--model", "echo", "--judge", "none", "--json"]
        return run(*words, status=status)

    return call


def subtest(document: Any) -> Any:
    (only,) = document["summary"]["subtests"]
    return only


def test_the_first_declared_verdict_decides_whatever_its_name(scored: Scored, run: Run) -> None:
    found = subtest(scored("says-right").document)
    assert (found["correct"], found["n_scored"], found["accuracy"]) == (2, 2, 1.0)
    assert list(found["measures"]) == ["f1"]
    # It is stored with the administration: the same without the plugin at hand.
    shown = run("results", 1).out.splitlines()
    said, measured = (line.split() for line in shown if line.startswith("Saying"))
    assert said[:5] == ["Saying", "2", "2", "2", "1.00"]
    assert measured == ["Saying", "f1", "0.50", "2"]
    # Measures that were declared before version 0.2 are numbers, and results say so.
    with tabwb.open() as study:
        path = study.location
    with closing(sqlite3.connect(path)) as store, store:
        digest = sha256(b'["given"]').digest()
        made = store.execute("INSERT INTO texts (sha256, text) VALUES (?, '[\"given\"]')", [digest])
        store.execute("UPDATE rater_declarations SET features_id = ?", [made.lastrowid])
    document = run("results", 1, "--json").document
    assert subtest(document)["correct"] is None
    assert subtest(document)["measures"]["given"]["mean"] == 1.0
    assert any("says-right" in notice and "rescore" in notice for notice in document["notices"])
    run("trial", "rescore", 1)
    assert subtest(run("results", 1, "--json").document)["correct"] == 2


@pytest.mark.parametrize(
    ("scorer", "mean", "kind"), [("says-f1", 0.75, "number"), ("says-1", 1.0, "share")]
)
def test_a_measure_that_is_not_declared_a_verdict_calls_nothing_right_or_wrong(
    scored: Scored, run: Run, scorer: str, mean: float, kind: str
) -> None:
    found = subtest(scored(scorer).document)
    assert (found["correct"], found["accuracy"]) == (None, None)
    assert (found["measures"]["f1"]["mean"], found["measures"]["f1"]["kind"]) == (mean, kind)
    (group,) = run("results", "--by", "model", "--json").document["groups"]
    assert subtest(group)["measures"] == found["measures"]
    assert subtest(group)["correct"] is None
    with tabwb.open() as study:
        assert study.responses()["exact"].to_list() == [None, None]


def test_a_value_or_measure_that_was_not_declared_is_in_error(scored: Scored) -> None:
    document = scored("says-half", "says-more", status=1).document
    given = {(one["rater"], one["measure"]): one for one in document["trials"][0]["ratings"]}
    half, n, more = (
        given[key] for key in (("says-half", "given"), ("says-half", "n"), ("says-more", "f1"))
    )
    assert len(given) == 3
    assert (subtest(document)["correct"], subtest(document)["measures"]["n"]["mean"]) == (None, 2)
    assert (half["status"], n["value"], more["status"]) == ("error", 2, "error")
    assert "0.5 is not a valid verdict" in half["reason"] and "'more'" in more["reason"]


@pytest.mark.parametrize("value", [numpy.float32(1.5), numpy.bool_(True), Fraction(3, 2), 2**70])
def test_a_number_of_another_type_is_kept_as_a_plain_one(value: Any) -> None:
    (kept,) = checked("own", [Rating("own", "m", value, RatingStatus.VALUE)])
    assert (type(kept.value), kept.value) == (float, value)


def test_measures_of_one_name_belong_to_their_raters(scored: Scored) -> None:
    measures = subtest(scored("repetition", "says-right", "says-f1").document)["measures"]
    assert "f1" not in measures
    assert (measures["says-right: f1"]["mean"], measures["says-right: f1"]["n"]) == (0.5, 2)
    assert (measures["says-f1: f1"]["mean"], measures["says-f1: f1"]["n"]) == (0.75, 2)
    assert measures["says-f1: f1"]["rater"] == "says-f1"
    assert measures["given"]["rater"] == "says-right"


def test_a_scorer_that_fails_now_or_is_gone_replaces_no_rating(
    scored: Scored, run: Run, tmp_path: Path
) -> None:
    scored("says-right")
    before = run("results", 1, "--json").document
    (path,) = (tmp_path / "site").glob("*.py")
    path.write_text(path.read_text("utf-8").replace("if self.fails", "if True"), "utf-8")
    forget(path)
    run("trial", "rescore", 1, status=1, err="no rubric")
    assert run("results", 1, "--json").document == before
    for info in (tmp_path / "site").glob("*.dist-info"):
        info.rename(info.with_suffix(".gone"))
    importlib.invalidate_caches()
    err = " ".join(run("trial", "rescore", 1, status=1).err.split())
    assert "'says-right'" in err and "scoring-package 1.0" in err
    assert run("results", 1, "--json").document == before


def test_ratings_name_the_plugin_that_made_them_and_a_changed_one_is_seen(
    scored: Scored, run: Run, tmp_path: Path
) -> None:
    document = scored("choice", "says-right").document
    (path,) = (tmp_path / "site").glob("*.py")
    raters = {one["rater"]: one for one in document["summary"]["raters"]}
    (first,), (ours,) = raters["says-right"]["plugins"], raters["choice"]["plugins"]
    assert (first["distribution"], first["version"]) == ("scoring-package", "1.0")
    assert (ours["distribution"], ours["version"]) == ("tabwb", tabwb.__version__)
    assert not [notice for notice in document["notices"] if "version" in notice]
    path.write_text(path.read_text("utf-8").replace("(0.5, 1)", "(0.5, 0)"), "utf-8")
    forget(path)
    run("trial", "rescore", 1)
    document = run("results", 1, "--json").document
    assert subtest(document)["correct"] == 0
    raters = {one["rater"]: one for one in document["summary"]["raters"]}
    before, now = raters["says-right"]["plugins"]
    assert before == first and now["sha256"] not in {"", first["sha256"]}
    assert len(raters["choice"]["plugins"]) == 1
    assert document["administration"]["rater_versions"]["says-right"].count("scoring-package") == 2
    (said,) = [notice for notice in document["notices"] if "several versions" in notice]
    assert first["sha256"][:8] in said


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
        out.write_text(f"{len(document['documents'])} {document['documents'][0]['trials']}")


class PlainJudge:
    features, caution = ("fragments",), "A rule."

    @property
    def rater(self) -> str:
        return "plain"

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        return [valued(self.rater, "fragments", len(response.text) < 3)]


class ManyJudge(components.Judge):
    rater, features, caution = "many", ("fragments",), "A model."
    examinee = "echo"

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: components.Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        for index in range(len(responses)):
            yield index, Wait(0.0, "slow")
            yield index, Verdict((valued(self.rater, "fragments", True),))


SCORER: components.Scorer = PlainScorer()
ANSWER = Response("no", ResponseStatus.OK, "p", "p", ResponseKind.CONNECTED_TEXT)


@pytest.mark.parametrize(
    ("contract", "members"),
    [(components.Scorer, ("measures",)), (components.Transcriber, ("unit",))],
)
def test_members_of_contracts_are_read_only(contract: type, members: tuple[str, ...]) -> None:
    assert all(isinstance(vars(contract)[name], property) for name in members)
    assert isinstance(SCORER, components.Scorer)


def test_what_a_judge_leaves_out_has_the_default_of_the_contract() -> None:
    judge = completed(PlainJudge(), components.Judge)
    ((_, verdict),) = judge.judge_many([ANSWER], (), components.Cancel())
    assert verdict == Verdict((valued("plain", "fragments", True),), requests=0)
    assert (judge.rater, judge.examinee, judge.scope, judge.writes) == ("plain", "", None, True)
    assert (judge.requests(ANSWER, ()), judge.open(), judge.close()) == ((), {}, None)
    many = ManyJudge()
    assert completed(many, components.Judge) is many
    assert many.judge(ANSWER, ()) == (valued("many", "fragments", True),)


def test_what_an_exporter_leaves_out_has_the_default_of_the_contract(tmp_path: Path) -> None:
    exporter = completed(PlainExporter(), components.Exporter)
    assert (exporter.suffix, exporter.sound, exporter.columns) == (".txt", False, ())
    exporter.expect((), ())
    exporter.export_stream(iter([{"trials": iter([1, 2])}]), tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text("utf-8") == "1 [1, 2]"


@pytest.mark.parametrize("name", ["ScopedJudge", "ModelJudge", "StreamingExporter"])
def test_an_old_name_of_a_contract_warns_and_is_the_new_one(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="until tabwb 0.3"):
        given = getattr(plugin_api, name)
    assert given in (components.Judge, components.Exporter)


def test_a_scorer_that_fails_is_reported_once_everywhere(scored: Scored, run: Run) -> None:
    done = scored("repetition", "raises", status=1)
    failed = "'raises' failed on 2 of 2 responses"
    assert done.err.count("RuntimeError: no rubric") == 1 and failed in done.err
    assert subtest(done.document)["correct"] == 2
    assert done.document["summary"]["failed_raters"] == [
        {"rater": "raises", "n": 2, "of": 2, "reason": "RuntimeError: no rubric"}
    ]
    assert failed in " ".join(run("results", 1).out.split())
    run("trial", "rescore", 1, status=1, err=failed)


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


def test_items_of_every_kind_take_expected_reference_and_plain_metadata(battery: Path) -> None:
    for kind in ("free", "connected-text", "verbatim"):
        battery.write_text(ITEM_BATTERY.replace("KIND", kind), encoding="utf-8")
        item = load_battery(battery).subtests[0].items[0]
        assert (item.expected, item.reference) == ("a story", "Mentions a place.")
        assert item.metadata == {"weight": 0.5, "levels": ["a", "b"]}
    text = battery.read_text(encoding="utf-8").replace("weight = 0.5", "weight = 2026-01-02")
    battery.write_text(text, encoding="utf-8")
    (problem,) = check_battery(battery)
    assert problem.message == "not a plain value"


def test_a_scorer_is_told_them_and_has_its_options(battery: Path, run: Run) -> None:
    document = run("run", battery, "--model", "echo", "--judge", "none", "--json").document
    (trial,) = document["trials"]
    low, high = trial["ratings"]
    assert (low["rater"], low["value"]) == ("rubric@threshold=0.3", 1.0)
    assert (high["rater"], high["value"]) == ("rubric@threshold=0.9", 0.0)
    assert trial["reference"] == "Mentions a place."
    assert trial["item_metadata"] == {"weight": 0.5, "levels": ["a", "b"]}
    assert low["reason"] == "a story|Mentions a place.|0.5"
    assert (subtest(document)["correct"], subtest(document)["n_scored"]) == (1, 1)
    assert subtest(document)["measures"]["met"]["rater"] == "rubric@threshold=0.9"


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
    battery: Path, run: Run, scorer: str, said: str, allowed: str
) -> None:
    text = battery.read_text(encoding="utf-8").replace("rubric@threshold=0.3", scorer)
    battery.write_text(text, encoding="utf-8")
    (problem,) = run("battery", "check", battery, "--json", status=1).document["problems"]
    assert said in problem["message"] and allowed in problem["allowed"]
    assert problem["key"] == "subtest[1].scorers[1]"

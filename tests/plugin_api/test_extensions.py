"""Statistics and commands of plugins; the example package of the documentation is one."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from scipy.stats import t

from tabwb.cli.main import main
from tests.plugin_api.conftest import Install

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pronoun-share" / "pronoun_share.py"
PRONOUNS = re.compile(
    r"\b(i|me|you|s?he|him|her|it|we|us|they|them|this|that|these|those|one|something)\b", re.I
)
STORIES = [
    "I went to the market and bought apples for the whole family.",
    "The boy climbs on the stool and she takes something from the shelf.",
    "We sailed along the coast until it rained and they found a harbour.",
    "My brother repaired the old clock that stood in the kitchen.",
    "First you boil water, then you pour it over the leaves.",
]
STATISTIC = """
from tabwb.plugin_api import Statistic, StatisticValue

def compute(responses):
    {body}

@hookimpl
def tabwb_register_statistics(register):
    register(Statistic("made-up", "made up", "a made-up statistic", compute{more}))
"""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a store with two administrations to one model, whose stories are :data:`STORIES`."""
    monkeypatch.setenv("TABWB_STORE", str(tmp_path / "echo.db"))
    file = tmp_path / "answers.jsonl"
    assert main(["run", "tab", "--model", "echo", "--quiet"]) == 0
    assert main(["export", "1", "--out", str(file)]) == 0
    stories = iter(STORIES)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for line in lines:
        if line["subtest"] == "connected-text":
            line["response"] = next(stories)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    store = str(tmp_path / "store.db")
    monkeypatch.setenv("TABWB_STORE", store)
    for _ in range(2):
        assert main(["run", "tab", "--model", f"replay:{file}@origin=model", "--quiet"]) == 0
    return store


def results(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["results", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def statistic(group: Any) -> Any:
    (found,) = group["summary"]["statistics"]
    return found


def test_the_example_gives_the_share_of_each_item_and_its_interval(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install("pronoun-share", EXAMPLE.read_text("utf-8"))
    (group,) = results(capsys, "--by", "model")["groups"]
    (value,) = statistic(group)["values"]
    shares = [len(PRONOUNS.findall(text)) / len(text.split()) for text in STORIES]
    mean, k = fmean(shares), len(shares)
    variance = sum((share - mean) ** 2 for share in shares) / (k - 1)
    half = t.ppf(0.975, k - 1) * (variance / k) ** 0.5
    assert value["value"] == pytest.approx(mean)
    assert (value["low"], value["high"]) == pytest.approx((max(0, mean - half), mean + half))


def test_a_statistic_is_in_the_table_and_in_the_csv(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = "return StatisticValue(0.25, 0.125, 0.5, 7)"
    install("stat", STATISTIC.format(body=body, more=", percent=True, digits=1"))
    capsys.readouterr()
    assert main(["results", "--by", "model"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"made up +25.0 % +12.5 %-50.0 % +7", shown)
    assert "made up: a made-up statistic" in shown
    file = tmp_path / "groups.csv"
    assert main(["results", "--by", "model", "--csv", str(file)]) == 0
    (row,) = csv.DictReader(file.read_text("utf-8").splitlines())
    assert [row[f"made-up {name}"] for name in ("value", "low", "high", "N")] == [
        "0.25", "0.125", "0.5", "7",
    ]  # fmt: skip


def test_per_subtest_it_sees_the_responses_and_ratings_of_one_subtest(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = 'return float(responses.values("choice", "exact").size)'
    install("stat", STATISTIC.format(body=body, more=', per="subtest"'))
    found = results(capsys, "1", "2")["groups"][0]["summary"]["statistics"]
    assert {each["subtest"]: each["values"][0]["value"] for each in found} == {
        "connected-text": 5, "word-comprehension": 5, "sentence-comprehension": 5, "repetition": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise RuntimeError('no luck')", "'made-up' failed: RuntimeError: no luck"),
        ("raise KeyboardInterrupt", "'made-up' failed: KeyboardInterrupt: "),
        ("return float('nan')", "undefined"),
        ("return StatisticValue(None, reason='too few')", "too few"),
        ("return '7'", "'made-up' failed: TypeError: '7' is a text"),
        ("import itertools; return itertools.count()", "'made-up' failed: ValueError: more than"),
    ],
)
def test_without_a_value_it_is_undefined_with_the_reason(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str], body: str, reason: str
) -> None:
    install("stat", STATISTIC.format(body=body, more=""))
    ((group),) = results(capsys, "--by", "model")["groups"]
    (value,) = statistic(group)["values"]
    assert (value["value"], value["status"]) == (None, "undefined")
    assert value["reason"].startswith(reason)


def test_a_number_of_numpy_is_a_number(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "import numpy as np; return np.int64(7)"
    install("stat", STATISTIC.format(body=body, more=""))
    (group,) = results(capsys, "--by", "model")["groups"]
    assert statistic(group)["values"][0]["value"] == 7


def test_two_statistics_with_one_id_are_both_refused(
    install: Install, stored: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install("one", STATISTIC.format(body="return 1.0", more=""))
    install("two", STATISTIC.format(body="return 2.0", more=""))
    (group,) = results(capsys, "--by", "model")["groups"]
    assert group["summary"]["statistics"] == []
    assert main(["plugins", "list"]) == 0
    assert "'made-up'" in capsys.readouterr().err


def test_the_command_of_the_example_runs_and_is_listed(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("pronoun-share", EXAMPLE.read_text("utf-8"))
    assert main(["pronouns", "It was this one, I think."]) == 0
    assert capsys.readouterr().out == "4 of 6 words\n"
    assert main(["plugins", "list"]) == 0
    listed = capsys.readouterr().out
    for title in ("Count the pronouns in a text.", "Frequent words", "pronouns"):
        assert title in listed


def test_a_command_that_cannot_be_loaded_names_its_plugin(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
        from tabwb.plugin_api import CommandSource

        def load():
            {}

        @hookimpl
        def tabwb_register_commands(register):
            register(CommandSource("broken", "Broken.", load))
    """
    install("bad", source.format("import no_such_module"))
    assert main(["broken"]) == 1
    said = capsys.readouterr().err
    assert "command 'broken' of the plugin 'bad' cannot be loaded: ModuleNotFoundError" in said


def test_a_word_that_is_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resluts"]) == 2
    assert "Did you mean 'results'?" in capsys.readouterr().err

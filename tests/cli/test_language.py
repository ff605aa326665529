"""Batteries in other languages: what check, run and results say, and what is never scored."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tabwb.battery.loader import (
    battery_from_canonical,
    check_battery,
    load_battery,
    read_assets,
)
from tests.cli.conftest import TAB, Run

HEAD = """
[battery]
id = "probe"
title = "Probe"
version = "1"
language = "{language}"
license = "MIT"
{words}
"""
ITEMS = """
[[subtest]]
id = "wahl"
title = "Wahl"
response = "choice"
template = "{prompt} ({options})"
[[subtest.item]]
id = "c1"
prompt = "Was misst man?"
options = ["Maße", "Masse", "Löwe"]
expected = "Maße"

[[subtest]]
id = "frage"
title = "Frage"
response = "yes-no"
[[subtest.item]]
id = "y1"
prompt = "Bellen Hunde?"
expected = "Ja"
[[subtest.item]]
id = "y2"
prompt = "Fliegen Hunde?"
expected = "Nein"

[[subtest]]
id = "nach"
title = "Nach"
response = "verbatim"
scorers = []
[[subtest.item]]
id = "v1"
prompt = "Sprechen Sie nach: Straße."
expected = "Straße."

[[subtest]]
id = "text"
title = "Text"
response = "connected-text"
scorers = ["lexical"]
[[subtest.item]]
id = "t1"
prompt = "Erzählen Sie von einer Reise."
"""
WORDS = 'yes = ["ja", "jawohl"]\nno = ["nein", "nee"]'
SAID = {
    "c1": "MAẞE.",
    "y1": "Jawohl!",
    "y2": "Nee, nie.",
    "v1": "Straße.",
    "t1": "Ich bin mit dem Zug gefahren und habe eine Stadt gesehen. Es war schön.",
}
NOT_IN_DE = "not available in de"


def written(folder: Path, language: str = "de", words: str = WORDS, features: bool = True) -> Path:
    text = HEAD.format(language=language, words=words) + ITEMS
    if features:
        tab = TAB.read_text("utf-8")
        text += tab[tab.index("[[feature]]") :]
    path = folder / "battery.toml"
    path.write_text(text, encoding="utf-8")
    return path


def given(run: Run, folder: Path, path: Path, said: dict[str, str] = SAID) -> Any:
    subtests = {item.id: one.id for one in load_battery(path).subtests for item in one.items}
    answers = folder / "answers.jsonl"
    rows = (
        {"subtest": subtests[item], "item": item, "replicate": 0, "response": text}
        for item, text in said.items()
    )
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    outcome = run("run", path, "--model", f"replay:{answers}", "--json")
    assert outcome.status == 0
    return outcome


def verdicts(document: Any, rater: str) -> dict[tuple[str, str], tuple[Any, str, str]]:
    return {
        (trial["item"], rating["measure"]): (rating["value"], rating["status"], rating["reason"])
        for trial in document["trials"]
        for rating in trial["ratings"]
        if rating["rater"] == rater
    }


def test_check_lists_what_works_and_who_scores(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path)
    document = run("battery", "check", path, "--json").document
    rows = {row["measure"]: row["reason"] for row in document["available"]}
    assert rows["choice: extracted"] == rows["text rules (rules-2, rules-1)"] == NOT_IN_DE
    assert rows["choice: exact, normalised"] is None
    assert rows["yes-no: extracted, yes-rate"] is None
    out = run("battery", "check", path).out
    assert "what works in de (German):" in out
    assert "wahl: scored by choice" in out
    assert "nach: not scored" in out
    assert "what works" not in run("battery", "check", "tab").out


def test_nothing_is_scored_as_english(run: Run, tmp_path: Path) -> None:
    outcome = given(run, tmp_path, written(tmp_path))
    assert "not available for German" in outcome.err
    document = outcome.document
    rules = verdicts(document, "rules-2")
    assert len(rules) == 2 * 19  # repetition is judged too
    assert set(rules.values()) == {(None, "undefined", NOT_IN_DE)}
    choice = verdicts(document, "choice")
    assert choice["c1", "normalised"][0] == 1
    assert choice["c1", "extracted"] == (None, "undefined", NOT_IN_DE)
    said = verdicts(document, "yes-no")
    assert [said[item, "extracted"][0] for item in ("y1", "y2")] == [1, 1]
    assert not verdicts(document, "repetition")
    summary = {one["id"]: one for one in document["summary"]["subtests"]}
    assert summary["frage"]["correct_extracted"] == 2
    assert summary["frage"]["baselines"]["always_yes"] == 0.5
    assert "Not available for German" in " ".join(run("results", "1").out.split())


def test_yes_and_no_without_words(run: Run, tmp_path: Path) -> None:
    said = {**SAID, "y1": "ja.", "y2": "Nein"}
    document = given(run, tmp_path, written(tmp_path, words=""), said).document
    found = verdicts(document, "yes-no")
    assert [found["y2", policy][0] for policy in ("exact", "normalised")] == [1, 1]
    assert (found["y1", "exact"][0], found["y1", "normalised"][0]) == (0, 1)
    assert found["y1", "extracted"] == (None, "undefined", NOT_IN_DE)


@pytest.mark.parametrize(
    ("words", "key"),
    [('yes = ["ja"]', "battery.no"), ('yes = ["oui"]\nno = ["non"]', "subtest[2].item[1].expected"),
     ('yes = ["ja", "Ja."]\nno = ["nein"]', "battery.yes[1]"),
     ('yes = ["ja"]\nno = ["nein", "JA"]', "battery.yes[1]")],
)  # fmt: skip
def test_words_for_yes_and_no_are_checked(tmp_path: Path, words: str, key: str) -> None:
    assert key in {problem.key for problem in check_battery(written(tmp_path, words=words))}


@pytest.mark.parametrize(
    ("language", "meant"),
    [("english", "en"), ("deutsch", "de"), ("de-de-de", ""), ("de_DE", "de-DE")],
)
def test_the_tag_is_checked(tmp_path: Path, language: str, meant: str) -> None:
    problems = check_battery(written(tmp_path, language, ""))
    (problem,) = [one for one in problems if one.key == "battery.language"]
    assert meant in problem.suggestion


def test_options_that_differ_in_unicode_form_are_given_twice(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text("utf-8")
    twice = '"Löwe", "' + unicodedata.normalize("NFD", "Löwe") + '"'
    path.write_text(text.replace('"Löwe"', twice), encoding="utf-8")
    assert {one.key for one in check_battery(path)} == {
        *("subtest[1].item[1].options[3]", "subtest[1].item[1].options[4]")
    }


def test_an_id_with_another_letter_says_why_and_names_one(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8").replace('"wahl"', '"wörter"'), encoding="utf-8")
    (problem,) = [one for one in check_battery(path) if one.key == "subtest[1].id"]
    assert problem.suggestion == "woerter"


def test_what_has_a_right_answer_is_scored_unless_switched_off(tmp_path: Path) -> None:
    battery = load_battery(written(tmp_path))
    assert {one.id: one.scorers for one in battery.subtests} == {
        "wahl": ("choice",), "frage": ("yes-no",), "nach": (), "text": ("lexical",),
    }  # fmt: skip
    stored = battery_from_canonical(battery.canonical)
    assert [one.scorers for one in stored.subtests] == [one.scorers for one in battery.subtests]
    assert load_battery(TAB).content_hash.startswith("4dcb950a177e6cfb")  # as in version 0.1


def test_a_battery_without_features_warns_with_the_default_judge(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "en", 'yes = ["Ja"]\nno = ["Nein"]', features=False)
    assert "has no features" in run("run", path, "--model", "echo", "--dry-run").err


@pytest.mark.parametrize(("phonemes", "fine"), [("hʊnt", True), ("buːx", False), ("a", False)])
def test_phonemes_of_another_language_are_refused(
    tmp_path: Path, phonemes: str, fine: bool
) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    naming = f"""
[[subtest]]
id = "bilder"
title = "Bilder"
response = "naming"
[[subtest.item]]
id = "n1"
picture = "x.png"
target = "Hund"
accept = [{{ phonemes = "{phonemes}", reason = "citation" }}]
[[subtest.item]]
id = "n2"
picture = "x.png"
target = "Tür"
"""
    path = tmp_path / "battery.toml"
    head = HEAD.format(language="de", words='examinees = ["speaker"]')
    path.write_text(head + naming, encoding="utf-8")
    keys = [problem.key for problem in check_battery(path)]
    assert keys == ([] if fine else ["subtest[1].item[1].accept[1].phonemes"])


def test_a_file_is_found_whatever_the_form_of_its_name(tmp_path: Path) -> None:
    forms = [unicodedata.normalize("NFC", "Tür.txt"), unicodedata.normalize("NFD", "Tür.txt")]
    for number, (stored, file) in enumerate((forms, forms[::-1])):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / stored).write_text("Lies!", encoding="utf-8")
        path = written(folder)
        text = path.read_text("utf-8").replace(
            'title = "Wahl"\n',
            f'title = "Wahl"\nadministrator = {{ file = "{file}", source = "ours" }}\n',
        )
        path.write_text(text, encoding="utf-8")
        assert check_battery(path) == ()
        battery = load_battery(path)
        assert list(read_assets(path, battery)) == [file]

"""``tabwb rate``: plan sets, list and show them, say how far raters are, close and reopen."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.analysis.rating_sets import set_tables, with_judges
from tabwb.battery.forms import form_from_canonical
from tabwb.cli.main import main
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Answer,
    SampleRating,
    SetEvent,
)
from tabwb.records.ratings import valued
from tabwb.records.speakers import Consent
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store.store import Store
from tests.cli.conftest import ANSWERS, Run, replayed
from tests.store.parts import attempt, begin, rated_set

HUMAN = [text.lower().replace(".", "").replace(",", "") for text in ANSWERS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a model's answers twice, and texts of a person as they are transcribed."""
    folder = tmp_path_factory.mktemp("rating")
    store, model = folder / "s.db", replayed(folder / "m.jsonl")
    person = folder / "p.jsonl"
    lines = (folder / "m.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    texts = iter(HUMAN)
    for answer in answers:
        answer["origin"] = "human"
        if answer["subtest"] == "connected-text":
            answer["response"] = next(texts)
    person.write_text("".join(json.dumps(one) + "\n" for one in answers), encoding="utf-8")
    for spec in (model, model, f"replay:{person}"):
        assert main(["run", "tab", "--model", spec, "--store", str(store), "-q"]) == 0
    return store


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "s.db"))


def test_a_dry_run_prints_the_same_plan_that_is_then_stored(run: Run, place: Path) -> None:
    plan = ("rate", "plan", "pilot", "--raters", "R1,R2,R3", "--stratify", "origin,item",
            "--per-stratum", "1", "--overlap", "4", "--raters-per-sample", "2", "--seed", "7",
            "--json", "--store", place)  # fmt: skip
    dry = run(*plan, "--dry-run")
    assert (dry.status, dry.document["uid"]) == (0, None), dry.err
    assert run("rate", "list", "--json", "--store", place).document["sets"] == []
    stored = run(*plan).document
    widths = dry.document["expected_intervals"]
    assert {(one["pairs"], one["samples"], one["kappa"]) for one in widths} == {
        (1, 1, 0.3), (1, 1, 0.6), (3, 4, 0.3), (3, 4, 0.6)
    }  # fmt: skip
    assert {**stored, "uid": None, "expected_intervals": widths} == dry.document
    with tabwb.open(place) as study:
        same = study.plan_ratings("pilot", "R1,R2,R3", stratify=["origin", "item"], per_stratum=1,
                                  overlap=4, raters_per_sample=2, seed=7, dry_run=True)  # fmt: skip
        assert same == dry.document
        methods = study.methods()
        assert "pilot" not in methods  # nobody has rated any of its samples
        with pytest.raises(UsageError, match="open for reading"):
            study.plan_ratings("other", "R1")
    assert (stored["samples"], stored["responses"], stored["rated_by_several"]) == (10, 15, 4)
    assert stored["left_out"] == {"of other subtests": 45}
    weights = {one["stratum"]: one["weight"] for one in stored["strata"]}
    assert weights["origin model, item connected-text/ct1"] == 2
    assert weights["origin human, item connected-text/ct5"] == 1
    assert sum(one["samples"] for one in stored["raters"]) == 14
    assert sum(one["samples"] for one in stored["pairs"]) == 4
    signs = {one["sign"]: one["tells"] for one in stored["signs_of_source"]}
    assert {name for name, tells in signs.items() if tells} == {"capital letters", "punctuation"}
    with Store.open(place) as store:
        kept = store.sets.get("pilot")
        assert kept.uid == stored["uid"]
        samples = store.sets.samples(kept.id)
        assert sum(one.weight for one in samples) == 15
        assert {one.text for one in samples} == {*ANSWERS, *HUMAN}
    hybrid = run("rate", "plan", "h", "--raters", "R1", "--hybrid", "--judge", "rules-2",
                 "--dry-run", "--json", "--store", place).document["hybrid"]  # fmt: skip
    assert (hybrid["responses"], hybrid["uncertain"], hybrid["audited"]) == (15, 0, 2)
    run(*plan, status=2, err="pilot")


def test_calibration_samples_come_first_and_each_line_of_their_file_is_checked(
    run: Run, place: Path, tmp_path: Path
) -> None:
    file = tmp_path / "c.csv"
    file.write_text(
        "response,measure,value\n1/1,jargon,absent\n1/1,anomia,1\n3/2,jargon,1\n1/1,off-topic,\n"
    )
    plan = ("rate", "plan", "p", "--raters", "R1,R2", "--store", place, "--calibration", file)
    assert run(*plan, "--json").document["samples"] == 13
    with Store.open(place) as store:
        samples = {one.number: one for one in store.sets.samples(1)}
        first = store.sets.assignments(1, "R2")[:2]
        assert [one.purpose for one in first] == ["calibration"] * 2
        consensus = {samples[one.sample].trial: samples[one.sample].consensus for one in first}
    assert consensus == {1: {"jargon": 0.0, "anomia": 1.0}, 2: {"jargon": 1.0}}
    for line, words in (
        ("1/1,jargn,1", "form 'tab-19' has no question 'jargn'"),
        ("1/1,jargon,3", "'jargon' cannot be 3"),
        ("one,jargon,1", "'one' is not a response"),
        ("1/1,jargon,1\n1/1,jargon,0", "1/1 has two values of 'jargon'"),
    ):
        file.write_text(f"response,measure,value\n{line}\n")
        run(*plan, status=2, err=f"{file}:{2 + line.count(chr(10))}: {words}")
    file.write_text("response,measure,value\n1/1,jargon,\n")
    run(*plan, status=2, err="1/1 has no value")
    file.write_text("response,measure,value\n1/20,jargon,1\n")
    run(*plan, status=2, err="calibration sample 1/20 is not among the responses")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--raters", "R 1"], "'R 1' is not a valid code of a rater"),
        (["--raters", "rules-2"], "'rules-2' is the id of a judge"),
        (["--raters", "R1,R1"], "rater 'R1' is named twice"),
        (["--raters", "R1", "--form", "tab-9"], "did you mean 'tab-19'?"),
        (["--raters", "R1", "--samples", "99"], "99 samples are asked for, and 15 responses"),
        (["--raters", "R1", "--hybrid"], "--judge: a hybrid plan needs a judge"),
        (["--raters", "R1", "--hybrid", "--judge", "tab-2026"], "has rated none of these"),
        (
            ["--raters", "R1", "--counts", "primary:R2"],
            "primary rater 'R2' is not a rater of this set",
        ),
        (["--raters", "R1", "--counts", "best"], "does not say whose ratings count"),
        (["--raters", "R1", "--status", "good"], "'good' is not a status"),
        (["--raters", "R1", "--form", "naming"], "no response can be rated"),
        (["--raters", "R1", "--guidelines", "none.txt"], "none.txt: there is no such file"),
        (["--raters", "R1", "--stratify", "modl"], "'modl' is not a key"),
        (["--raters", "R1", "--stratify", "lesion-severity"], "no response has a value of"),
    ],
)
def test_what_cannot_be_planned_is_refused_and_nothing_is_made(
    run: Run, made: Path, options: list[str], words: str
) -> None:
    refused = run("rate", "plan", "p", *options, "--store", made, status=2)
    assert refused.status in (1, 2) and refused.out == ""
    assert words in refused.err
    assert run("rate", "list", "--json", "--store", made).document["sets"] == []


def test_status_says_how_far_raters_are_and_a_closed_set_takes_no_rater(
    run: Run, place: Path
) -> None:
    at = ("--store", place)
    run("rate", "plan", "pilot", "--raters", "R1,R2", "--again", "0", "--ask-source", *at)
    with Store.open(place) as store:
        one = store.sets.assignments(1, "R1")[0]
        rating = SampleRating("R1", 1, one.sample, "rate", {"jargon": 1.0}, True, seconds=40)
        store.sets.rate(1, rating)
    first, second = run("rate", "status", "pilot", "--json", *at).document["progress"]
    assert (first["done"], first["assigned"], first["median_seconds"]) == (1, 15, 40)
    assert (second["done"], second["begun"], second["median_seconds"]) == (0, 0, None)
    assert run("rate", "status", "pilot", *at).out.splitlines()[1].split()[:3] == ["R1", "1", "15"]
    assert run("rate", "list", *at).out.splitlines()[1].split()[:5] == [
        "pilot",
        "tab-19",
        "open",
        "1",
        "30",
    ]
    closed = run("rate", "close", "pilot", "--reason", "all done", *at)
    assert closed.err == "rating set 'pilot' is closed; 29 ratings not given\n"
    run("rate", "close", "pilot", *at, err="is closed already")
    run("rate", "start", "pilot", "--rater", "R1", *at, status=1, err="tabwb rate reopen pilot")
    run("rate", "start", "pilot", "--rater", "R3", *at, status=2, err="allowed: R1, R2")
    run("rate", "reopen", "pilot", *at)
    run("rate", "start", "pilot", "--rater", "R1", *at, status=2, err="needs a terminal")
    document = run("rate", "show", "pilot", "--json", *at).document
    assert [one["kind"] for one in document["events"]] == ["planned", "closed", "reopened"]
    assert (document["ask_source"], document["samples"], document["calibration"]) == (True, 15, 0)
    assert "last question: person or machine?" in run("rate", "show", "pilot", *at).out


def test_forms_are_listed_shown_and_checked(run: Run, tmp_path: Path) -> None:
    listed = run("rate", "forms", "list", "--json").document["forms"]
    assert {one["id"]: one["questions"] for one in listed} == {
        "tab-19": 19, "aprocsa-27": 27, "naming": 3, "transcription": 1
    }  # fmt: skip
    shown = run("rate", "forms", "show", "aprocsa-27").out
    assert "0 not present, 1 mild, 2 moderate, 3 marked, 4 severe (present from 1)" in shown
    file = tmp_path / "f.toml"
    file.write_text('[form]\nid = "f"\n')
    checked = run("rate", "forms", "check", file, "--json", status=1)
    assert (checked.status, checked.document["ok"]) == (1, False)
    assert f"{file}:1: form.title: this key is missing" in checked.err
    assert run("rate", "forms", "check", "tab-19").out.startswith("ok: tab-19 2026.2, 19 questions")


JUDGE = "rules-2"


def said(rater: str, sample: int, measure: int) -> Answer:
    """What a rater says: sometimes they differ, once nobody can tell."""
    if (rater, sample, measure) == ("R2", 3, 0):
        return CANNOT_TELL
    return float((sample + measure * (2 if rater == "R3" else 1)) % 3 == 0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten responses that three people rated, one of them again, and one settled answer."""
    folder = tmp_path_factory.mktemp("export")
    place, model = folder / "s.db", replayed(folder / "m.jsonl")
    to = ("--store", str(place))
    for _ in range(2):
        assert main(["run", "tab", "--model", model, "--judge", "rules", "-q", *to]) == 0
    plan = ["rate", "plan", "pilot", "--raters", "R1,R2,R3", "--again", "0.1", "--repeated"]
    assert main([*plan, "--distance", "1", *to]) == 0
    with Store.open(place) as opened:
        kept = opened.sets.get("pilot")
        measures = [one.measure for one in form_from_canonical(kept.form).questions]
        for given in opened.sets.assignments(kept.id):
            answers = {
                measure: said(given.rater, given.sample, at) for at, measure in enumerate(measures)
            }
            rating = SampleRating(
                given.rater, given.position, given.sample, given.purpose, answers, complete=True
            )
            opened.sets.rate(kept.id, rating)
        settled = Adjudication(2, measures[1], 1.0, "as =defined", "A1")
        opened.sets.adjudicate(kept.id, settled)
    return place


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def described(path: Path) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["resources"]
    for one in resources:
        content = (path.parent / one["path"]).read_bytes()
        assert one["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    return resources


def test_a_table_has_a_row_for_each_answer(run: Run, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "ratings.csv"
    made = run("rate", "export", "pilot", "--out", out, "--store", store)
    assert (made.status, made.err) == (0, f"{out} written\n")
    found = rows(out)
    first = [one for one in found if one["rater"] == "R2" and one["occasion"] == "1"]
    assert len(first) == 10 * 19
    assert [one["value"] for one in first] == [
        "cannot-tell" if answer == CANNOT_TELL else f"{answer:g}"
        for answer in (said("R2", sample, at) for sample in range(1, 11) for at in range(19))
    ]
    (unsure,) = [one for one in first if one["value"] == "cannot-tell"]
    assert (unsure["response"], unsure["counted"]) == ("3", "")
    assert sum(one["occasion"] == "2" for one in found) == 3 * 19  # one sample of each rater
    (settled,) = [one for one in found if one["rater"] == "adjudicated"]
    assert (settled["response"], settled["value"], settled["note"]) == ("2", "1", "as =defined")
    assert (first[0]["model"], first[0]["item"]) == ("replay:m.jsonl", "ct1")
    (table,) = described(tmp_path / "ratings.csv.datapackage.json")
    assert [field["name"] for field in table["schema"]["fields"]] == list(found[0])
    again = run("rate", "export", "pilot", "--out", out, "--store", store, status=1)
    assert "the file already exists" in again.err
    run("rate", "export", "pilot", "--format", "csv", "--out", "-", "--store", store, status=2)
    assert not Path("-").exists()


def test_every_format_has_the_same_rows(run: Run, store: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        run("rate", "export", "pilot", "--judges", "--out", tmp_path / name, "--store", store)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == lines
    table = rows(tmp_path / "a.csv")
    assert [one["value"] or "" for one in lines] == [one["value"] for one in table]
    assert {one["value"] for one in lines if one["rater"] == JUDGE} >= {"0"}


def test_an_exported_table_gives_the_figures_of_the_set_also_when_it_is_imported(
    run: Run, store: Path, tmp_path: Path
) -> None:
    out, people = tmp_path / "all.csv", tmp_path / "ratings.csv"
    for table, more in ((out, ["--judges"]), (people, [])):
        export = ("rate", "export", "pilot", *more, "--out", table, "--store", store)
        run(*export)
    ask = ("agreement", "--draws", 50, "--json", "--store", store)
    of_set, of_table = (run(*ask, what).document for what in ("pilot", out))
    assert of_set["pairs"]
    assert of_set["intra"]
    for key in ("features", "pairs", "intra", "summary", "judges", "error_rates", "sensitivity"):
        assert untitled(of_set.get(key)) == untitled(of_table.get(key)), key
    assert of_set["features"][0]["kappa"] is not None
    new = tmp_path / "new.db"
    run("import", people, "--set", "copy", "--store", new)
    copied = run("agreement", "copy", "--draws", 50, "--json", "--store", new).document
    for key in ("features", "pairs", "intra", "summary", "sensitivity"):
        assert untitled(copied[key]) == untitled(of_set[key]), key


def untitled(document: Any) -> Any:
    """A document without what only the form of a set says of its questions."""
    if isinstance(document, dict):
        return {
            key: untitled(value)
            for key, value in document.items()
            if key not in ("title", "objective")
        }
    return [untitled(one) for one in document] if isinstance(document, list) else document


def test_python_has_the_same_table_and_writes_the_same_file(store: Path, tmp_path: Path) -> None:
    with tabwb.open(store) as study:
        pilot = study.rating_set("pilot")
        table = pilot.ratings().to_dicts()
        out = pilot.export(tmp_path / "a.jsonl")
        assert len(pilot.ratings(judges=True)) > len(table)
        with pytest.raises(tabwb.TabwbError, match="the file already exists"):
            pilot.export(out)
    assert [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] == table


def test_a_judge_gives_a_verdict_where_people_use_a_scale(store: Path, tmp_path: Path) -> None:
    with Store.open(shutil.copy(store, tmp_path / "s.db")) as opened:
        kept = opened.sets.get("pilot")
        form = form_from_canonical(kept.form)
        for one in opened.sets.samples(kept.id):
            found = (valued(JUDGE, "neologisms", 1.0),)
            opened.append(one.administration, [RatingsEntry(one.trial, one.attempt, found)])
        scales = [replace(one, kind="scale", high=4, cut=2) for one in form.questions]
        scaled = replace(kept, form=replace(form, questions=tuple(scales)).canonical)
        tables = set_tables(opened, scaled)
    judged = {(one["value"], one["counted"]) for one in tables.judges.to_dicts()}
    assert judged == {("1", 1.0), (None, None)}
    # In one column with the values of people it would be read as a value of the scale.
    assert JUDGE not in {one["rater"] for one in with_judges(tables).to_dicts()}


def test_a_folder_explains_and_describes_itself(run: Run, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    run("rate", "export", "pilot", "--out", out, "--store", store)
    files = [one["path"] for one in described(out / "datapackage.json")]
    assert files == ["ratings.csv", "judges.csv", "samples.csv", "set.json", "form.json"]
    assert [one["response"] for one in rows(out / "samples.csv")] == [str(n) for n in range(1, 11)]
    assert {one["rater"] for one in rows(out / "judges.csv")} == {JUDGE}
    assert json.loads((out / "set.json").read_text())["raters"] == ["R1", "R2", "R3"]
    readme = (out / "README.txt").read_text(encoding="utf-8")
    assert all(f"- {name}:" in readme for name in files)
    run("rate", "export", "pilot", "--out", out, "--store", store, status=1, err="already exists")


def test_what_was_confirmed_without_a_look_is_marked_and_counted_everywhere(
    tmp_path: Path, run: Run
) -> None:
    place, to = tmp_path / "s.db", ("--store", str(tmp_path / "s.db"))
    run("run", "tab", "--model", replayed(tmp_path / "m.jsonl"), "--judge", "none", "-q", *to)
    run("rate", "plan", "pilot", "--raters", "R1,R2", "--again", "0", "--repeated", *to)
    with tabwb.open(place, write=True) as study:
        pilot = study.rating_set("pilot")
        for sample in (1, 2, 3, 4):
            pilot.rate("R2", sample, {"anomia": 1}, seconds=60, rest_absent=True)
        with pytest.raises(tabwb.UsageError, match="rest_absent=True"):
            pilot.rate("R1", 1, {})
        for sample, (seconds, answers) in enumerate(
            ((60, {}), (4.7, {}), (4.7, {"anomia": 1}), (4.8, {"anomia": 1})), start=1
        ):
            pilot.rate("R1", sample, answers, seconds=seconds, rest_absent=True)
        with Store.open(place) as direct:  # as version 0.1 stored it
            kept = direct.sets.get("pilot")
            form = form_from_canonical(kept.form)
            (last,) = (one for one in direct.sets.assignments(kept.id, "R1") if one.sample == 5)
            absent: dict[str, Answer] = dict.fromkeys(form.measures, 0.0)
            old = SampleRating("R1", last.position, 5, "rate", absent, True, seconds=1.0)
            direct.sets.rate(kept.id, old)
            (other,) = (one for one in direct.sets.assignments(kept.id, "R2") if one.sample == 5)
            shown = SampleRating("R2", other.position, 5, "rate", absent | {"anomia": 1.0}, True,
                                 seconds=60, confirmed=(), evidence={"anomia": (0, 2)})  # fmt: skip
            direct.sets.rate(kept.id, shown)
            for words in ((2, 0), (0, 10**6)):
                with pytest.raises(tabwb.UsageError, match="words of the text"):
                    direct.sets.rate(kept.id, replace(shown, evidence={"anomia": words}))
            with pytest.raises(tabwb.UsageError, match="not present"):
                direct.sets.rate(kept.id, replace(shown, evidence={"jargon": (0,)}))
    flags = {"1": "untouched", "2": "untouched-fast", "3": "fast", "4": "", "5": "fast-unmarked"}
    looked = {("3", "anomia"): "yes", ("3", "jargon"): "no", ("5", "jargon"): ""}
    for at, out in enumerate((tmp_path / "x.csv", tmp_path / "folder")):
        run("rate", "export", "pilot", "--out", str(out), *to)
        written = rows(out / "ratings.csv" if at else out)
        assert {row["response"]: row["flag"] for row in written if row["rater"] == "R1"} == flags
        cells = {(row["response"], row["measure"]): row["looked_at"] for row in written
                 if row["rater"] == "R1"}  # fmt: skip
        assert {key: cells[key] for key in looked} == looked
        (shows,) = (row for row in written if row["evidence"])
        first, _, third, *_ = shows["text"].split()
        assert (shows["rater"], shows["evidence"]) == ("R2", f"{first} | {third}")
    described(tmp_path / "folder" / "datapackage.json")
    run("import", str(tmp_path / "folder"), "--set", "again", *to)
    run("import", str(tmp_path / "x.csv"), "--set", "table", *to)
    with Store.open(place) as direct:
        for name in ("pilot", "again", "table"):
            ratings = direct.sets.ratings(direct.sets.get(name).id)
            assert [(one.rater, one.evidence) for one in ratings if one.evidence] == [
                ("R2", {"anomia": (0, 2)})
            ]
    (tmp_path / "x.csv").write_text((tmp_path / "x.csv").read_text().replace(",0 2,", ",0 99,"))
    run("import", str(tmp_path / "x.csv"), "--set", "wrong", *to, status=2, err="words of the text")
    for name in ("pilot", "again"):
        document = json.loads(run("rate", "status", name, "--json", *to).out)
        assert document["min_seconds"] == 4.75
        counted = {row["rater"]: row["flagged"] for row in document["progress"]}
        assert counted == {"R1": 4, "R2": 0}
    for what in ("pilot", "again", str(tmp_path / "x.csv")):
        found = json.loads(run("agreement", what, "--draws", "0", "--json", *to).out)
        given = {row["rater"]: row["flagged"] for row in found["raters"]}
        assert given == {"R1": 4, "R2": 0}, what
        assert [line["without_flagged"] for line in found["sensitivity"]][-1] is True
        assert "R1 4" in run("agreement", what, "--draws", "0", *to).out


def test_a_file_cannot_say_that_a_present_feature_was_not_looked_at(
    tmp_path: Path, run: Run
) -> None:
    head = "response,rater,measure,value,text,source,looked_at"
    for value, looked in (("1", "no"), ("0", "perhaps")):
        file = tmp_path / "r.csv"
        file.write_text(f"{head}\nt1,R1,anomia,{value},some words,M1,{looked}\n")
        run("import", str(file), "--set", "x", "--origin", "model", status=1, err=f"{file}:2")


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A store with the set ``pilot`` of the raters R1 and R2."""
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        number = begin(store, 1).id
        store.append(number, [AttemptEntry(1, attempt())])
        rated_set(store, number, 1)
    return path


def links(linked: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run a command of links with ``--json``; return its document."""
    capsys.readouterr()
    assert main(["rate", "link", *arguments, "--store", str(linked), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["links"]


def test_each_rater_gets_a_link_whose_key_is_not_kept(
    linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = links(linked, capsys, "make", "pilot", "--url", "https://rate.example.org/")
    assert [one["rater"] for one in made] == ["R1", "R2"]
    keys = [one["link"].removeprefix("https://rate.example.org/rate#") for one in made]
    assert {len(key) for key in keys} == {43}
    dump = "\n".join(sqlite3.connect(linked).iterdump())
    for key in keys:
        assert key not in dump
        assert hashlib.sha256(key.encode()).hexdigest().upper() in dump.upper()
    lifetime = datetime.fromisoformat(made[0]["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=13.9) < lifetime < timedelta(days=14.1)
    assert "link" not in links(linked, capsys, "list")[0]


def test_a_new_link_revokes_the_older_one_of_its_rater(
    linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def states() -> list[tuple[str, str]]:
        return [(one["rater"], one["state"]) for one in links(linked, capsys, "list", "pilot")]

    links(linked, capsys, "make", "pilot")
    links(linked, capsys, "make", "pilot", "--rater", "R2", "--expires", "1m")
    assert states() == [("R1", "valid"), ("R2", "revoked"), ("R2", "valid")]
    assert main(["rate", "link", "revoke", "pilot", "--rater", "R1", "--store", str(linked)]) == 0
    assert states() == [("R1", "revoked"), ("R2", "revoked"), ("R2", "valid")]


def test_what_cannot_be_a_link_is_refused(run: Run, linked: Path) -> None:
    place = ("--store", linked)
    for arguments, message in (
        ("--rater R9", "'R9' is not a rater of rating set 'pilot'"),
        ("--expires 10s", "cannot expire '10s'"),
        ("--expires 367d", "cannot expire '367d'"),
        ("--expires 2026-02-30", "cannot expire '2026-02-30'"),
        ("--url https://me:secret@rate.example.org", "not an address of a server"),
        ("--url javascript:alert(1)", "not an address of a server"),
    ):
        run("rate", "link", "make", "pilot", *arguments.split(), *place, status=2, err=message)
    assert run("rate", "link", "list", "--json", *place).document["links"] == []


def test_a_closed_set_gets_no_link(linked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(linked) as store:
        store.sets.log(store.sets.get("pilot").id, SetEvent("closed"))
    assert main(["rate", "link", "make", "pilot", "--store", str(linked)]) == 1
    assert "rating set 'pilot' is closed" in capsys.readouterr().err


def test_responses_of_a_person_go_elsewhere_with_consent_only(
    linked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(linked) as store:
        number = begin(store, 1, conditions=Conditions("S-014", "speaker")).id
        store.append(number, [AttemptEntry(1, attempt())])
        rated_set(store, number, 1, name="spoken")
    make = ["rate", "link", "make", "spoken", "--store", str(linked)]
    assert main(make) == 0
    assert main([*make, "--url", "https://rate.example.org"]) == 1
    assert "S-014 has not consented to" in capsys.readouterr().err
    with Store.open(linked) as store:
        store.people.keep_consents([Consent("S-014", "remote", True, "2026-11-01", "form", "me")])
    assert main([*make, "--url", "https://rate.example.org"]) == 0


def test_a_server_for_others_needs_an_address(run: Run, linked: Path) -> None:
    for host in ("0.0.0.0", "::0", "192.0.2.7"):
        words = ("serve", "--host", host, "--store", linked)
        run(*words, status=2, err="--url https://rate.example.org")

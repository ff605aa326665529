"""``tabwb rate export``: every answer, its columns, and the figures that come back."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.analysis.rating_sets import set_tables, with_judges
from tabwb.battery.forms import form_from_canonical
from tabwb.cli.main import main
from tabwb.records.rating_sets import CANNOT_TELL, Adjudication, Answer, SampleRating
from tabwb.records.ratings import valued
from tabwb.records.trials import RatingsEntry
from tabwb.store.store import Store
from tests.cli.conftest import Run, replayed

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
    again = run("rate", "export", "pilot", "--out", out, "--store", store)
    assert "the file already exists" in again.err


def test_every_format_has_the_same_rows(run: Run, store: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        made = run("rate", "export", "pilot", "--judges", "--out", tmp_path / name,
                   "--store", store)  # fmt: skip
        assert made.status == 0, made.err
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
        assert run(*export).status == 0
    ask = ("agreement", "--draws", 50, "--json", "--store", store)
    of_set, of_table = (run(*ask, what).document for what in ("pilot", out))
    assert of_set["pairs"]
    assert of_set["intra"]
    for key in ("features", "pairs", "intra", "summary", "judges", "error_rates", "sensitivity"):
        assert untitled(of_set.get(key)) == untitled(of_table.get(key)), key
    assert of_set["features"][0]["kappa"] is not None
    new = tmp_path / "new.db"
    made = run("import", people, "--set", "copy", "--store", new)
    assert made.status == 0, made.err
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
    made = run("rate", "export", "pilot", "--out", out, "--store", store)
    assert made.status == 0, made.err
    files = [one["path"] for one in described(out / "datapackage.json")]
    assert files == ["ratings.csv", "judges.csv", "samples.csv", "set.json", "form.json"]
    assert [one["response"] for one in rows(out / "samples.csv")] == [str(n) for n in range(1, 11)]
    assert {one["rater"] for one in rows(out / "judges.csv")} == {JUDGE}
    assert json.loads((out / "set.json").read_text())["raters"] == ["R1", "R2", "R3"]
    readme = (out / "README.txt").read_text(encoding="utf-8")
    assert all(f"- {name}:" in readme for name in files)
    again = run("rate", "export", "pilot", "--out", out, "--store", store)
    assert again.status == 1
    assert "already exists" in again.err


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
    flags = {"1": "untouched", "2": "untouched-fast", "3": "fast", "4": "", "5": "fast-unmarked"}
    looked = {("3", "anomia"): "yes", ("3", "jargon"): "no", ("5", "jargon"): ""}
    for at, out in enumerate((tmp_path / "x.csv", tmp_path / "folder")):
        run("rate", "export", "pilot", "--out", str(out), *to)
        written = rows(out / "ratings.csv" if at else out)
        assert {row["response"]: row["flag"] for row in written if row["rater"] == "R1"} == flags
        cells = {(row["response"], row["measure"]): row["looked_at"] for row in written
                 if row["rater"] == "R1"}  # fmt: skip
        assert {key: cells[key] for key in looked} == looked
    described(tmp_path / "folder" / "datapackage.json")
    run("import", str(tmp_path / "folder"), "--set", "again", *to)
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
        done = run("import", str(file), "--set", "x", "--origin", "model")
        assert done.status == 1
        assert f"{file}:2" in done.err

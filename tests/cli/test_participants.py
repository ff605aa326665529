"""What is recorded of participants as keys, filters, groups and columns of every interface."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tabwb
from tabwb.store.store import Store
from tests.builders import built, copied, needs
from tests.cli.conftest import Run
from tests.conftest import BATTERY

needs("pandas")
import pandas as pd  # noqa: E402

N = 40
BANDS = {"mild": 75, "moderate": 50, "severe": 25, "very severe": -1}
STUDY = """
[study]
columns = [{ name = "seed", type = "whole" }, { name = "site", type = "choice",
             choices = ["Leeds", "York"] }]
[study.bands]
age_years = { young = 55, old = 120 }
"""


def people() -> Iterator[dict[str, Any]]:
    """Yield made participants; of some no quotient is known, of others no site."""
    draw = random.Random(7)
    for number in range(N):
        aq = "" if number % 13 == 0 else f"{draw.uniform(2, 93):.1f}"
        yield {
            "code": f"S-{number:03}", "WAB AQ": aq, "age_years": draw.randint(30, 80),
            "sex": draw.choice(["female", "male"]), "site": draw.choice(["Leeds", "York", ""]),
            "seed": number % 3,
        }  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one session of each participant and one of a model."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "battery.toml").write_text(BATTERY, encoding="utf-8")
    (folder / "tabwb-config").mkdir()
    (folder / "tabwb-config" / "tabwb.toml").write_text(STUDY, encoding="utf-8")
    draw, known = random.Random(5), list(people())
    right = {"words/w1": "dog", "words/w2": "wall", "saying/s1": "house."}
    answers = [
        {
            "participant": person["code"], "item": item,
            "response": said if draw.random() < float(person["WAB AQ"] or 50) / 100 else "no",
        }
        for person in known
        for item, said in right.items()
    ]  # fmt: skip
    table = write(folder / "people.csv", known)
    return built(
        folder,
        ["speaker", "import", table, "--column", "AQ=WAB AQ"],
        ["import", write(folder / "answers.csv", answers), "--battery", folder / "battery.toml"],
        ["run", folder / "battery.toml", "--model", "echo"],
    )


@pytest.fixture
def store(made: Path, tmp_path: Path) -> None:
    copied(made, tmp_path)


@pytest.fixture
def frame(made: Path, tmp_path: Path, run: Run) -> pd.DataFrame:
    """The exported answers with the verdicts, one row each, without the model's."""
    copied(made, tmp_path)
    out = tmp_path / "all.csv"
    run("export", "--where", "examinee=speaker", "--format", "csv", "--out", out)
    table = pd.read_csv(out)
    return table[table.measure == "exact"]


def band(aq: float) -> str:
    return "not recorded" if pd.isna(aq) else next(n for n, low in BANDS.items() if aq > low)


def expected(frame: pd.DataFrame, by: pd.Series[Any], subtest: str) -> dict[str, tuple[float, int]]:
    of = frame[frame.subtest == subtest]
    groups = of.groupby(by[of.index]).value
    return {name: (round(float(group.mean()), 9), len(group)) for name, group in groups}


def found(rows: list[dict[str, str]], subtest: str) -> dict[str, tuple[float, int]]:
    return {
        row["group"]: (round(float(row["value"]), 9), int(row["n"]))
        for row in rows
        if (row["part"], row["policy"]) == (subtest, "exact")
    }


def test_groups_are_those_of_pandas(frame: pd.DataFrame, run: Run, tmp_path: Path) -> None:
    by = frame.participant_AQ.map(band)
    assert frame.participant.nunique() == N and by.nunique() == 5
    words = expected(frame, by, "words")
    where = ("--by", "severity", "--where", "examinee=speaker")
    groups = run("results", *where, "--json").document["groups"]
    assert [group["by"]["severity"] for group in groups] == [*BANDS, "not recorded"]
    assert [group["values"]["severity"] for group in groups] == [*BANDS, "not recorded"]
    told = {
        group["name"]: (round(part["correct"] / part["n"], 9), part["n"])
        for group in groups
        for part in group["summary"]["subtests"]
        if part["id"] == "words"
    }
    assert told == words
    text = run("results", *where).out
    for name, (share, n) in words.items():
        line = next(one for one in text.splitlines() if one.startswith(f"{name} "))
        assert f" {share:.2f} " in line and f" {n + n // 2} " in line
    csv_rows = list(csv.DictReader(io.StringIO(run("results", *where, "--format", "csv").out)))
    scored = [row for row in csv_rows if row["measure"] == "accuracy" and not row["feature"]]
    assert found(scored, "words") == words
    assert {row["by_severity"] for row in csv_rows} == {*BANDS, "not recorded"}
    data = tmp_path / "numbers.csv"
    run("figure", "accuracy", *where, "--out", tmp_path / "figure.svg", "--data", data)
    with data.open(encoding="utf-8") as file:
        assert found(list(csv.DictReader(file)), "words") == words
    with tabwb.open() as study:
        table = study.results(by="severity", where="examinee=speaker").to_pandas()
    own = table[(table.measure == "accuracy") & (table.part == "words") & (table.policy == "exact")]
    values = own[own.feature.isna()].set_index("group").value.to_dict()
    assert values == pytest.approx({name: share for name, (share, _) in words.items()})


def test_filters_are_those_of_pandas(frame: pd.DataFrame, run: Run) -> None:
    record = frame.groupby("participant").first()
    aq, site, age = record.participant_AQ, record.participant_site, record.participant_age_years
    for where, chosen in (
        ("AQ<50", aq < 50),
        ("AQ>=50", aq >= 50),
        ("AQ=none", aq.isna()),
        ("severity=not recorded", aq.isna()),
        ("AQ=moderate,severe", (aq > 25) & (aq <= 75)),
        ("severity!=mild", ~(aq > 75)),
        ("site=york", site == "York"),
        ("sex=F", record.participant_sex == "female"),
        ("age_years=young", age <= 55),
        ("months_post_onset=none", aq.isna() | True),
        ("participant-seed=2", record.participant_seed == 2),
    ):
        given = run("results", "--where", "examinee=speaker", "--where", where, "--json").document
        assert {one["examinee"] for one in given["administrations"]} == {*record.index[chosen]}
        listed = run("speaker", "list", "--where", where, "--json").document["speakers"]
        assert {one["id"] for one in listed} == {*record.index[chosen]}, where
    run("results", "--where", "AQ=none", "--where", "AQ>3", status=2, err="no administration has")
    run("results", "--where", "site=Lees", status=2, err="Leeds")
    run("results", "--where", "sitee=York", status=2, err="site")
    run("speaker", "list", "--where", "model=echo", status=2, err="model")


def test_a_model_has_no_value_and_is_a_row_of_its_own(store: None, run: Run) -> None:
    groups = run("results", "--by", "sex,severity", "--json").document["groups"]
    models = [group for group in groups if group["kind"] == "model"]
    assert [(group["name"], group["values"]) for group in models] == [
        ("echo", {"sex": None, "severity": None})
    ]
    assert len(groups) == 11 and groups[0]["by"] == {"sex": "female", "severity": "mild"}
    with tabwb.open() as study:
        columns = {column.name: column for column in study.results(by="age_years").columns}
        assert columns["by_age_years"].title == "Age (years)"
    first = run("results", "--by", "age_years").out
    rows = [line for line in first.splitlines() if line.startswith(("young ", "old "))]
    assert [line.split()[0] for line in rows] == ["young", "old"]


def test_conditions_come_before_columns_of_the_same_name(store: None, run: Run) -> None:
    run("results", "--where", "seed=2", status=2, err="nothing has seed '2'")
    names = [group["name"] for group in
             run("results", "--by", "participant-seed", "--json").document["groups"]]  # fmt: skip
    assert names == ["seed 0", "seed 1", "seed 2", "echo"]


def test_other_commands_take_them(frame: pd.DataFrame, run: Run, tmp_path: Path) -> None:
    severity = frame.participant_AQ.map(band)
    words = frame[frame.subtest == "words"]
    share = words.groupby(severity[words.index]).value.mean()
    found = run("diff", "severity=mild", "severity=very severe", "--json").document
    assert (found["first"], found["second"]) == ("severity=mild", "severity=very severe")
    with tabwb.open() as study:
        rows = study.compare("severity=mild", "severity=very severe").to_pandas()
    own = rows[(rows.measure == "accuracy") & (rows.part == "words") & (rows.policy == "exact")]
    assert own[["n", "n_baseline"]].to_numpy().tolist() == [
        [(severity[words.index] == name).sum() for name in ("mild", "very severe")]
    ]
    assert own.difference.tolist() == pytest.approx([share["mild"] - share["very severe"]])

    run("report", "--by", "severity", "--where", "site=Leeds", "--out", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "very severe" in text and "S-001" not in text

    strata = run(
        "rate", "plan", "pilot", "--stratify", "severity", "--raters", "R1,R2", "--form", "tab-19",
        "--where", "AQ<60", "--subtest", "saying", "--per-stratum", 3, "--dry-run", "--json",
    ).document["strata"]  # fmt: skip
    told = {one["stratum"]: one["responses"] for one in strata}
    saying = severity[(frame.subtest == "saying") & (frame.participant_AQ < 60)]
    assert told == {f"severity {name}": n for name, n in saying.value_counts().items()}
    run("agreement", "AQ<50", status=2, err=f"of {(frame.participant_AQ < 50).sum() // 3} admin")


def test_deletion_and_consent_cover_the_columns(store: None, run: Run, tmp_path: Path) -> None:
    run("speaker", "set", "S-001", "site=York", "therapist=x", status=2)
    run("speaker", "set", "S-001", "aetiology=haemorrhage-xyz")
    out = tmp_path / "one.csv"
    run("export", 2, "--format", "csv", "--out", out, status=1, err="share")
    run("figure", "accuracy", "--by", "severity", "--where", "aetiology=haemorrhage-xyz", "--out",
        tmp_path / "f.svg", status=1, err="share")  # fmt: skip
    assert not out.exists() and not (tmp_path / "f.svg").exists()
    run("export", 2, "--format", "csv", "--out", out, "--within-study")
    assert pd.read_csv(out).participant_aetiology.unique().tolist() == ["haemorrhage-xyz"]
    assert "participant_aetiology" in (tmp_path / "one.csv.README.txt").read_text(encoding="utf-8")
    run("speaker", "consent", "S-001", "--scope", "share", "--given")
    run("export", 2, "--format", "jsonl", "--out", tmp_path / "one.jsonl")
    (line, *_) = (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["participant_record"]["aetiology"] == "haemorrhage-xyz"
    run("export", 2, "--format", "inspect", "--out", tmp_path / "one.eval")
    with zipfile.ZipFile(tmp_path / "one.eval") as log:
        metadata = json.loads(log.read("header.json"))["eval"]["metadata"]
    assert metadata["participant_record"]["aetiology"] == "haemorrhage-xyz"
    run("speaker", "delete", "S-001", "--reason", "withdrawn", "--yes")
    run("results", "--where", "aetiology=haemorrhage-xyz", status=2)
    for file in (tmp_path / "tabwb-data").rglob("*"):
        assert not file.is_file() or b"haemorrhage-xyz" not in file.read_bytes()


@pytest.mark.parametrize(("format_id", "name"), [("inspect", "a.eval"), ("lm-eval", "a")])
def test_logs_bring_the_records_back(
    store: None, made: Path, run: Run, tmp_path: Path, format_id: str, name: str
) -> None:
    out, again = tmp_path / name, tmp_path / "again.db"
    run("export", 2, "--format", format_id, "--out", out)
    into = ("import", out, "--battery", made / "battery.toml", "--store", again)
    run("speaker", "add", "S-001", "age_years=1", "--store", again)
    run("speaker", "consent", "S-001", "--scope", "record", "--given", "--store", again)
    (difference,) = run(*into, "--json").document["records"]["differences"]
    assert (difference["column"], difference["recorded"]) == ("age_years", 1)
    values = []
    for place in (tmp_path / "tabwb-data" / "tabwb.db", again):
        with Store.open(place, create=False) as opened:
            values.append(opened.people.speaker("S-001").values)
    before, after = values
    assert after == {**before, "age_years": 1} and len(after) > 3


def test_change_takes_the_filters_of_results(
    store: None, made: Path, run: Run, tmp_path: Path
) -> None:
    right = {"words/w1": "dog", "words/w2": "no", "saying/s1": "house."}
    for day in ("2026-02-02", "2026-03-02"):
        rows = [{"participant": "S-001", "item": item, "response": right[item]} for item in right]
        table = write(tmp_path / f"{day}.csv", rows)
        words = ("import", table, "--battery", made / "battery.toml", "--date", day, "--again")
        run(*words, "--tag", day[5:7])

    def items(*words: str) -> list[tuple[str, int]]:
        document = run("change", "S-001", *words, "--json").document
        tables = {table["name"]: table["rows"] for table in document["tables"]}
        sessions = len({row["session"] for row in tables["sessions"]})
        return [(row["item"], sessions) for row in tables["change-items"]]

    assert items() == [("w1", 3), ("w2", 3), ("s1", 3)]
    assert items("--where", "subtest=words", "--where", "tag=02,03") == [("w1", 2), ("w2", 2)]
    assert items("--where", "session>2026-01-01", "--where", "item=s1") == [("s1", 2)]
    run("change", "S-001", "--where", "tag=02", status=2)
    with tabwb.open() as study:
        found = study.change("S-001", where={"subtest": "saying"}, rows="items")
    assert found["item"].to_list() == ["s1"]


def test_an_export_of_models_has_no_columns_of_participants(
    store: None, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "models.csv"
    run("export", "--where", "examinee=model", "--format", "csv", "--out", out)
    assert [name for name in pd.read_csv(out) if name.startswith("participant_")] == []


def test_parquet_and_frames_have_typed_columns(store: None, run: Run, tmp_path: Path) -> None:
    needs("pyarrow")
    out = tmp_path / "all.parquet"
    for wide in ((), ("--wide",)):
        run("export", "--where", "site=York", "--format", "parquet", *wide, "--out", out, "--force")
        table = pd.read_parquet(out)
        assert table.participant_AQ.dtype == "float64" and set(table.participant_site) == {"York"}
    parts = tmp_path / "parts"
    run("export", "--where", "examinee=speaker", "--format", "parquet", "--partition-by",
        "participant_severity", "--out", parts)  # fmt: skip
    assert len(list(parts.iterdir())) == 5
    with tabwb.open() as study:
        sessions = study.administrations()
        assert sessions["participant_age_years"].to_list()[-1] is None
        responses = study.responses(where="AQ<50").to_pandas()
        assert responses.participant_AQ.max() < 50
        assert "participant_severity" in study.ratings(where="AQ<50").names


def test_an_exported_table_fills_the_records_again(store: None, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    run("export", "--where", "site=York", "--format", "jsonl", "--out", out)
    first = run("speaker", "show", "S-003", "--json").document["speaker"]["values"]
    other = ("--store", tmp_path / "other.db", "--battery", tmp_path / "battery.toml")
    (tmp_path / "battery.toml").write_text(BATTERY, encoding="utf-8")
    done = run("import", out, *other, "--json").document
    assert done["records"]["differences"] == []
    people = done["records"]["filled"]
    with tabwb.open() as study, tabwb.open(tmp_path / "other.db") as copy:
        for who in people:
            assert copy.store.people.speaker(who).values == study.store.people.speaker(who).values
    assert first and len(people) > 10


def test_a_refused_value_is_listed_with_what_is_allowed(
    store: None, run: Run, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text("code,AQ,sex,dialect\nS-300,120,X,\nS-301,50,F,'=1+1\n", encoding="utf-8")
    done = run("speaker", "import", table, "--json", err="female, male, other").document["records"]
    assert done["filled"] == ["S-301"]
    record = run("speaker", "show", "S-301", "--json").document["speaker"]
    assert record["values"] == {"AQ": 50, "sex": "female", "dialect": "=1+1"}  # as in our CSV
    assert "0 to 100" in next(one["why"] for one in done["differences"] if one["column"] == "AQ")


def test_a_table_of_answers_fills_records_and_lists_contradictions(
    store: None, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "battery.toml").write_text(BATTERY, encoding="utf-8")
    table = tmp_path / "more.csv"
    table.write_text(
        "participant,item,response,WAB,hand,participant_sex\n"
        "S-001,words/w1,dog,12.5,left,\nS-200,words/w1,dog,12.5,right,male\n",
        encoding="utf-8",
    )
    asked = ("import", table, "--battery", tmp_path / "battery.toml", "--column", "AQ=WAB")
    before = run("speaker", "show", "S-001", "--json").document["speaker"]
    dry = run(*asked, "--dry-run", "--json").document["records"]
    done = run(*asked, "--json", err="S-001: AQ is").document["records"]
    assert done == dry and done["filled"] == ["S-200"]
    assert [(one["speaker"], one["column"], one["stated"]) for one in done["differences"]] == [
        ("S-001", "AQ", "12.5")
    ]
    assert (
        run("speaker", "show", "S-001", "--json").document["speaker"]["values"]
        == (before["values"])
    )
    record = run("speaker", "show", "S-200", "--json").document["speaker"]
    assert (record["values"], record["derived"]) == (
        {"AQ": 12.5, "sex": "male"}, {"severity": "very severe"},
    )  # fmt: skip
    assert record["derived_from"] == {"severity": "AQ"}
    run(*asked, "--column", "AQQ=hand", "--again", status=1, err="AQ")


def test_a_record_that_contradicts_the_quotient_is_listed(store: None, run: Run) -> None:
    doubt = "severity is recorded as mild, and AQ 12 is very severe"
    run("speaker", "add", "S-300", "AQ=12", "severity=mild", err=doubt)
    run("speaker", "list", err=f"S-300: {doubt}")


def test_chat_fills_the_record_and_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    transcript = tmp_path / "adler01.cha"
    transcript.write_text(
        "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tPAR adler01 Participant\n"
        "@ID:\teng|Adler|PAR|71;06.|male|Anomic||Participant||48.8|\n*PAR:\thello there .\n@End\n",
        encoding="utf-8",
    )
    run("speaker", "add", "adler01", "sex=female", "severity=mild")
    run("speaker", "consent", "adler01", "--all", "--given")
    done = run("import", transcript, "--json").document["records"]
    assert [(one["column"], one["recorded"]) for one in done["differences"]] == [
        ("sex", "female"), ("AQ", None),
    ]  # fmt: skip
    values = run("speaker", "show", "adler01", "--json").document["speaker"]["values"]
    assert values == {
        "sex": "female", "severity": "mild", "language": "eng", "corpus": "Adler",
        "group": "Anomic", "role": "Participant", "age_years": 71.5,
    }  # fmt: skip

"""``tabwb export`` onto whatever may stand at the place that was named."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frictionless import validate

from benchmarks import wide_table
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.media.documents.exporting import Writer
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery
from tests.builders import built, copied, recordings, small_files, typed_table
from tests.cli.conftest import ANSWERS, Run, replayed

ECHO = ("run", "tab", "--model", "echo", "-q")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Administrations 1 to 3 of seeds 1 to 3; 4 and 5 of recorded answers in files of one name."""
    folder = tmp_path_factory.mktemp("exported")
    answers = folder / "answers.jsonl"
    places = [folder / "ada-lovelace", folder / "grace-hopper"]
    built(folder, *((*ECHO, "--seed", n) for n in (1, 2, 3)), ("export", 1, "--out", answers))
    for place in places:
        place.mkdir()
        shutil.copy(answers, place)
    replay = ("run", "tab", "-q", "--model")
    return built(folder, *((*replay, f"replay:{p}/answers.jsonl@origin=model") for p in places))


@pytest.fixture(autouse=True)
def given(made: Path, tmp_path: Path) -> None:
    """The store with administrations 1 to 5, as the store of this test."""
    copied(made, tmp_path)


def read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return list(csv.DictReader(file))
        return [json.loads(line) for line in file]


def test_files_have_the_stored_and_the_effective_status(run: Run, tmp_path: Path) -> None:
    # One sentence for every prompt: stored as ok, counted as a repeated answer.
    run("run", "tab", "--model", "echo@text=I was very happy that day.")
    for name, status, usable in (("a.csv", "trial_status", "false"), ("a.jsonl", "status", False)):
        run("export", 6, "--format", name[2:], "--out", tmp_path / name)
        texts = [one for one in read(tmp_path / name) if one["subtest"] == "connected-text"]
        found = {(one[status], one["effective_status"], one["usable"]) for one in texts}
        assert found == {("ok", "repeated-answer", usable)}
    assert len(texts) == 5


def test_all_or_those_with_a_value(run: Run, tmp_path: Path) -> None:
    for number, (words, seeds) in enumerate((
        ("--all", [1, 2, 3]), ("--where seed=1,3", [1, 3]), ("2 3 --where seed>2", [3])
    )):  # fmt: skip
        out = tmp_path / f"{number}.jsonl"
        run("export", *words.split(), "--out", out)
        assert list(dict.fromkeys(line["seed"] for line in read(out))) == seeds
    for wrong in ("", "1 --all", "--where item=wc1", "--where seed=9"):
        run("export", *wrong.split(), "--out", tmp_path / "no.jsonl", status=2)
    assert not (tmp_path / "no.jsonl").exists()


def test_table_2_of_the_docs_has_the_numbers_of_results(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each model answers twice. Of the greedy one, identical responses count once.
    said = replayed(tmp_path / "greedy.jsonl")
    again = "The dog the dog the dog went home with my sister before the day was over."
    for seed, text in enumerate((again, ANSWERS[0])):
        run("run", "tab", "--model", f"{said}@origin=model")
        texts = enumerate((text, *ANSWERS[1:]), start=1)
        lines = "".join(f'ct{n},"{one}",0.7,{seed},drawn\n' for n, one in texts)
        drawn = tmp_path / f"{seed}.csv"
        drawn.write_text(f"item,response,temperature,seed,model\n{lines}", encoding="utf-8")
        run("import", drawn, "--battery", "tab")
    wide = ("--format", "parquet", "--wide", "--partition-by", "model,subtest")
    run("export", "--all", *wide, "--out", tmp_path / "table")
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "tabwb-data" / "tabwb.db") as store:
        groups = selected_groups(store, (), Selection(by=("model",)))
    judged = [
        judge.burden
        for group in groups
        for judge in group.results.judges
        if judge.terms.rater == "rules-2" and judge.burden.n_burden
    ]
    expected = sorted((one.n_burden, one.symptom_burden.value or 0.0) for one in judged)
    assert [n for n, _ in expected] == [4, 8]
    assert expected[1][1] > expected[0][1] == 0
    for rows in (wide_table.by_duckdb(), wide_table.by_polars()):
        found = sorted((n, mean) for _, n, mean in rows if n)
        assert [n for n, _ in found] == [4, 8]
        assert [mean for _, mean in found] == pytest.approx([mean for _, mean in expected])


def test_options_of_parquet_are_refused_elsewhere(run: Run, tmp_path: Path) -> None:
    options = ("--format", "csv", "--wide", "--out", tmp_path / "a.csv")
    run("export", 1, *options, status=2, err="--wide and --partition-by are for --format parquet")
    assert not list(tmp_path.glob("a.csv*"))


def test_groups_are_described_too(run: Run, tmp_path: Path) -> None:
    run("results", "--by", "model", "--csv", tmp_path / "g.csv")
    report = validate(str(tmp_path / "g.csv.datapackage.json"), type="package")
    assert report.flatten(["fieldName", "note"]) == []
    (table,) = json.loads((tmp_path / "g.csv.datapackage.json").read_text("utf-8"))["resources"]
    types = {field["name"]: field["type"] for field in table["schema"]["fields"]}
    assert types["model"] == "string" and types["word-comprehension accuracy"] == "number"
    assert types["responses"] == "integer" and types["rules-2 burden few_usable"] == "boolean"


def test_of_files_of_one_name_no_folder_is_named(run: Run, made: Path, tmp_path: Path) -> None:
    second = "replay:answers.jsonl@origin=model (2)"
    for name in ("csv", "jsonl"):
        out = tmp_path / f"out.{name}"
        run("export", 1, 4, 5, "--format", name, "--out", out)
        assert list(dict.fromkeys(row["examinee"] for row in read(out))) == [
            *("echo", "replay:answers.jsonl@origin=model", second)
        ]
    run("results", "--by", "model", "--csv", tmp_path / "out-groups.csv")
    assert second in (tmp_path / "out-groups.csv").read_text("utf-8")
    written = list(tmp_path.glob("out*"))
    assert len(written) > 3
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert "ada-lovelace" not in text and "grace-hopper" not in text, path
    # The store keeps what was given.
    stored = run("results", 4, "--json").document["administration"]["examinee"]
    assert stored == f"replay:{made}/ada-lovelace/answers.jsonl@origin=model"


def test_a_typed_transcript_is_named_without_its_folder(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    typed = typed_table(tmp_path / "ada-lovelace" / "typed.tsv", dog="D AO G")
    run(
        *("name", naming_battery(tmp_path / "battery"), "--speaker", "S-014", "--date",
          "2026-03-09", "--input", recordings(tmp_path / "sounds", "dog")),
        *("--transcriber", f"manual:{typed}"), status=3,
    )  # fmt: skip # three items have no sound
    for name in ("csv", "jsonl", "chat", "psst", "attempts"):
        out = tmp_path / "out" / name
        out.parent.mkdir(exist_ok=True)
        run("export", 6, "--format", name, "--within-study", "--out", out)
        files = [out] if out.is_file() else [each for each in out.rglob("*") if each.is_file()]
        assert files
        assert not any(b"ada-lovelace" in each.read_bytes() for each in files)


def test_nothing_but_an_export_is_replaced(run: Run, tmp_path: Path) -> None:
    folder, pipe, store = (tmp_path / name for name in ("folder", "pipe", "tabwb-data/tabwb.db"))
    folder.mkdir()
    os.mkfifo(pipe)
    for out, said in (
        (folder, "this folder already exists"),
        (pipe, "this is a device or a pipe"),
        (store, "which no export replaces"),
    ):
        run("export", 1, "--out", out, "--force", status=1, err=said)
    assert list(tmp_path.glob("folder*")) == [folder] and pipe.is_fifo()
    run("results", 1)


def test_a_link_is_followed(run: Run, tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_text("mine")
    link.symlink_to(target)
    run("export", 1, "--out", link, status=1)
    assert target.read_text() == "mine"
    run("export", 1, "--out", link, "--force")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith('{"administration"')


@pytest.mark.parametrize("name", ["README.txt", "datapackage.json"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_file_of_others_beside_it_is_left_alone(
    run: Run, tmp_path: Path, name: str, force: tuple[str, ...]
) -> None:
    out, beside = tmp_path / "a.csv", tmp_path / f"a.csv.{name}"
    beside.write_text('{"mine": true}', encoding="utf-8")
    words = ("--format", "csv", "--out", out, *force)
    run("export", 1, *words, status=1, err="tabwb did not write")
    assert beside.read_text(encoding="utf-8") == '{"mine": true}'
    assert not out.exists()


def test_a_file_that_another_program_wrote_meanwhile_is_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a.jsonl"
    write = Writer.write

    def slowly(writer: Writer, draft: Path, place: Path) -> None:
        write(writer, draft, place)
        out.write_text("of another program")

    with monkeypatch.context() as patched:
        patched.setattr(Writer, "write", slowly)
        said = "another program wrote this file in the meantime"
        run("export", 1, "--out", out, status=1, err=said)
    assert out.read_text() == "of another program"
    assert list(tmp_path.glob("a.*")) == [out]
    run("export", 1, "--out", out, "--force")


def test_its_own_readme_is_replaced(run: Run, tmp_path: Path) -> None:
    for _ in range(2):
        run("export", 1, "--format", "csv", "--out", tmp_path / "a.csv", "--force")
    # What people said is for its user's eyes alone.
    files = list(tmp_path.glob("a.csv*"))
    assert [path.stat().st_mode & 0o777 for path in files] == [0o600] * 3


def test_parquet_holds_the_rows_of_csv_with_types(run: Run, tmp_path: Path) -> None:
    run("model", "add", "tiny", "echo", "--family", "demo", "--parameters", "7", "--force")
    run("run", "tab", "--model", "profile:tiny")
    for name in ("csv", "parquet"):
        run("export", 1, 6, "--format", name, "--out", tmp_path / f"a.{name}")
    table, rows = pq.read_table(tmp_path / "a.parquet"), read(tmp_path / "a.csv")
    assert table.num_rows == len(rows) and table.column_names == list(rows[0])
    assert sum(row["value"] != "" for row in rows) == len(rows) - table["value"].null_count
    assert {row["model_parameters"] for row in rows} == {"", "7"}
    assert set(table["model_parameters"].to_pylist()) == {None, 7}
    assert table.schema.field("practice").type == pa.bool_()
    assert table["options"].to_pylist()[-1] is not None
    assert "not a medical device" in table.schema.metadata[b"tabwb"].decode()


@pytest.mark.parametrize("name", ["nowhere/a.jsonl", "a" * 300, "circle"])
def test_what_cannot_be_written_is_said(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    outcome = run("export", 1, "--out", tmp_path / name, status=1, err=name)
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize(
    ("options", "largest"),
    # More than the explanation and SQLite's shared memory, less than the export.
    [("", 40_000), ("--format csv", 40_000), ("--format parquet --partition-by subtest", 33_000)],
)
def test_a_full_disk_leaves_nothing_behind(
    run: Run, tmp_path: Path, options: str, largest: int
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with small_files(largest):
        failed = run("export", 1, "--out", folder / "a", *options.split(), status=1)
    assert "/a: cannot be written: " in failed.err
    assert "too large" in failed.err
    assert list(folder.iterdir()) == []

"""Stored responses are transcribed by several systems, and the paper's tables are right."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tabwb_psst.made import COLUMNS, made_psst

import tabwb
from tabwb.cli.command import tools_of
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.operations.transcribing import TranscribeFiles
from tabwb.store.store import Store
from tests import psst_derivation
from tests.builders import at_home, needs
from tests.psst_derivation import (
    ORACLE,
    check_amounts,
    check_correctness,
    check_rates,
    contains,
    counts,
    printed_table,
    substituted,
)

needs("soundfile", "soxr", "scipy", "pyloudnorm")

EARS = """
import random

from tabwb.plugin_api import Descriptor, Segment, Transcript, hookimpl

WORDS = "D AO G|K AE T|HH AW S|<spn> G OW|S T AA <sil> P|T UW".split("|")


class Ear:
    unit = "phonemes"

    def __init__(self, name):
        self.name = name

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        for at, clip in enumerate(clips):
            chance = random.Random(f"{self.name} {clip.path.rpartition('/')[2]}")
            said = list(clip.accepted[0]) if chance.random() < 0.6 else []
            said = said or chance.choice(WORDS).split()
            if chance.random() < 0.3:
                said.insert(chance.randrange(len(said)), "<spn>")
            if chance.random() < 0.3:
                said[0] = "P"
            segments = tuple(Segment(one, i / 100, i / 100) for i, one in enumerate(said))
            if chance.random() < 0.1:
                yield at, Transcript("", "error", error="deaf")
            else:
                yield at, Transcript("", "ok", segments)

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    for name in ("ear-a", "ear-b"):
        register(Descriptor(name, "Hears", lambda spec, options, name=name: Ear(name)))
"""
TRANSCRIBE = ("transcribe", "--where", "battery=psst", "--transcriber", "ear-a")


def place_of(folder: Path) -> Path:
    return folder / "tabwb-data" / "tabwb.db"


def utterances(folder: Path) -> list[dict[str, Any]]:
    return psst_derivation.utterances(folder / "psst", place_of(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus in a store, heard by two systems."""
    folder = tmp_path_factory.mktemp("psst")
    made_psst(folder / "psst", speakers=12, utterances=72, sounds=False)
    table = folder / "psst" / "train" / "utterances.tsv"
    rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    rows[1][COLUMNS.index("transcript")] = rows[2][COLUMNS.index("correctness")] = ""
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "ears.py").write_text(EARS, encoding="utf-8")
    with at_home(folder):
        assert main(["plugins", "trust", str(folder / "ears.py")]) == 0
        assert main(["import", "psst", str(folder / "psst")]) == 0
        assert main([*TRANSCRIBE, "--transcriber", "ear-b"]) == 0
    return folder


@pytest.fixture(autouse=True)
def home(folder: Path) -> Iterator[None]:
    with at_home(folder):
        yield


@pytest.fixture
def printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def table(printed: Callable[..., str]) -> Callable[..., list[dict[str, Any]]]:
    def run(*words: str) -> list[dict[str, Any]]:
        (made,) = json.loads(printed("psst", "table", *words, "--json"))["tables"]
        rows: list[dict[str, Any]] = made["rows"]
        return rows

    return run


# ------------------------------------------------------------------ tables


def test_tables_1_2_3_and_7_equal_a_second_derivation_cell_by_cell(folder: Path) -> None:
    every, made = utterances(folder), printed_table(place_of(folder))
    assert check_amounts(every, made) == 3 + 3 * 5
    assert check_rates(every, made) == 2 + 2 * 4 + 2
    assert check_correctness(every, made) == 5 * 2 + 5 * 2 * 2
    kept, removed = (counts(every, "gold", kept=kept) for kept in (True, False))
    assert kept != removed, "the two variants are told apart"


def test_the_oracle_of_task_b_holds_for_both_variants() -> None:
    for case in ORACLE["task_b"]:
        said, forms = case["transcript"].split(), [one.split() for one in case["targets"]]
        assert contains(said, forms, kept=True) == case["match_code_as_published"]
        paper = case["match_paper_text_after_removing_sil_spn"]
        assert contains(said, forms, kept=False) == paper


def test_shared_errors_are_those_that_every_system_has(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    expected = Counter(
        (one["speaker"], one["prompt"])
        for one in utterances(folder)
        if one["correctness"]
        and len(one["systems"]) == 2
        and all(
            contains(heard, one["forms"], kept=False) != (one["correctness"] == "TRUE")
            for heard in one["systems"].values()
        )
    )
    rows = table("shared")
    with Store.open(place_of(folder), create=False) as store:
        for row in rows:
            trial = store.history(row["administration"]).trial(row["trial"])
            given = store.administration(row["administration"])
            assert given.conditions.person == row["speaker"] and trial.is_answered
    assert Counter((row["speaker"], row["prompt"]) for row in rows) == expected and expected
    assert {"system_1", "system_2"} <= rows[0].keys()
    own = [(row["system_1"], row["system_2"]) for row in rows]
    assert all(row["most"] in heard for row, heard in zip(rows, own, strict=True))


def test_confusions_add_up_to_the_phoneme_errors_of_feature_alignments(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    by_severity = table("confusion", "--by", "severity")
    for row in table("2", "--by", "severity"):
        own = [
            one for one in by_severity
            if (one["system"], one["severity"]) == (row["system"], row["severity"])
        ]  # fmt: skip
        indel = ORACLE["phoneme_indel"]
        cost = sum(
            one["count"] * (substituted(one["person"], one["heard"]) if one["step"] == "SUB"
                            else indel[one["person"] or one["heard"]])
            for one in own
        )  # fmt: skip
        assert cost == row["feature_errors"]
    changes = table("features")
    assert changes and all(row["count"] > 0 for row in changes)


def test_every_format_has_the_same_cells(
    printed: Callable[..., str], table: Callable[..., list[dict[str, Any]]]
) -> None:
    rows = table("3")
    read = list(csv.DictReader(io.StringIO(printed("psst", "table", "3", "--format", "csv"))))
    assert [[row["system"], row["silence"], int(row["tp"])] for row in read] == [
        [row["system"], row["silence"], row["tp"]] for row in rows
    ]
    for format_id in ("table", "latex", "markdown"):
        text = printed("psst", "table", "3", "--format", format_id)
        assert all(str(row["tp"]) in text for row in rows)
    with tabwb.open() as study:
        (made,) = study.do("psst table", which="3")["tables"]
    assert made.to_dicts() == rows


def test_a_document_names_the_files_of_recordings_where_that_is_asked() -> None:
    with tabwb.open() as study:
        for kept in study.document(1, sound=True)["recordings"]:
            sound = Path(kept["file"]).read_bytes()
            assert hashlib.sha256(sound).hexdigest() == kept["sha256"]
        assert all(kept["file"] is None for kept in study.document(1)["recordings"])


def test_who_has_not_agreed_to_share_is_named_beside_a_table_for_a_document(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with tabwb.open() as study:
        person = study.store.people.speakers()[0].id

    def named(*words: str) -> bool:
        capsys.readouterr()
        assert main(["psst", "table", "1", *words]) == 0
        return person in capsys.readouterr().err

    assert main(["speaker", "consent", person, "--scope", "record", "--given"]) == 0
    assert not named() and named("--format", "csv") and named("--json")
    assert main(["speaker", "consent", person, "--all", "--given"]) == 0
    assert not named("--format", "csv")


def test_a_folder_has_its_amounts_and_gold_without_a_store(
    folder: Path, table: Callable[..., list[dict[str, Any]]]
) -> None:
    stored, read = table("7"), table("7", str(folder / "psst"))
    assert [row["segments"] for row in stored] == [row["segments"] for row in read]
    gold, rows = table("3", str(folder / "psst")), table("3")
    assert gold == [row for row in rows if (row["system"], row["of"]) == ("gold", "all")]
    of = {row["of"]: row["responses"] for row in rows if row["system"] == "gold"}
    assert of.keys() == {"all", "ear-a", "ear-b"} and max(of["ear-a"], of["ear-b"]) < of["all"]
    assert main(["psst", "table", "2", str(folder / "psst")]) == 2


# ------------------------------------------------------------------ transcribing


def test_from_python_and_the_command_line_the_same_responses_wait(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*TRANSCRIBE, "--transcriber", "ear-a", "--json"]) == 1  # given twice, taken once
    document = json.loads(capsys.readouterr().out)
    assert document["planned"] == document["transcribed"] == document["errors"] > 0
    assert (document["transcribers"], document["refused"]) == (["ear-a"], [])
    assert document["n_administrations"] == 13  # "administrations" are listed ones, with ids
    with tabwb.open(write=True) as study, pytest.raises(tabwb.TabwbError):
        study.transcribe_stored("battery=psst", transcriber="ear-a")


def test_files_and_stored_responses_exclude_each_other(folder: Path) -> None:
    assert main(["transcribe", str(folder / "psst" / "train"), "--where", "battery=psst"]) == 2
    assert main(["transcribe"]) == 2
    assert main([*TRANSCRIBE, "--tsv"]) == 2


def test_an_administration_that_is_open_elsewhere_is_named_and_the_rest_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(place_of(folder), create=False) as store, store.lock(1):
        capsys.readouterr()
        assert main([*TRANSCRIBE, "--json"]) == 1
    out, err = capsys.readouterr()
    (refused,) = json.loads(out)["refused"]
    assert "administration 1" in refused and refused in err


def test_what_opens_elsewhere_before_its_turn_is_left_out(folder: Path) -> None:
    plugins = Plugins.load()
    tools = tools_of(plugins, str(place_of(folder)))
    work = TranscribeFiles(where=("battery=psst",), transcriber=("ear-a",))
    with closing(tools), Store.open(place_of(folder), create=False) as store, ExitStack() as held:
        for told in work.run(tools):
            if told.words == "opening the transcriber":
                for one in store.administrations():
                    held.enter_context(store.lock(one.id))
    assert tools.document["refused"] and tools.document["planned"] == 0
    assert tools.document["transcribed"] == tools.document["lost"] == 0
    plugins.close()


# ------------------------------------------------------------------ figures


@pytest.mark.parametrize("show", ["phonemes", "features"])
def test_figures_have_the_counts_of_the_tables(
    table: Callable[..., list[dict[str, Any]]], tmp_path: Path, show: str
) -> None:
    pytest.importorskip("matplotlib")
    data = tmp_path / "data.csv"
    words = ["--where", "battery=psst", "--by", "severity", "--option", "transcriber=ear-a"]
    options = ["--option", "notation=arpabet", "--option", f"show={show}", "--within-study"]
    out = ["--out", str(tmp_path / "f.svg"), "--data", str(data)]
    assert main(["figure", "confusion", *words, *options, *out]) == 0
    drawn: Counter[tuple[str, ...]] = Counter()
    with data.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["feature"],) if show == "features" else (row["target"], row["heard"])
            if show == "features" or row["target"] != row["heard"]:
                drawn[row["group"], *key] += int(row["n"])
    expected: Counter[tuple[str, ...]] = Counter()
    for line in table("confusion" if show == "phonemes" else "features", "--by", "severity"):
        if line["system"] == "ear-a":
            name = line.get("change", "").partition(" ")[0].lstrip("-+0")
            key = (name,) if show == "features" else (line["person"] or "", line["heard"] or "")
            expected[line["severity"], *key] += line["count"]
    assert +drawn == expected


def test_a_figure_of_an_unknown_transcriber_names_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    words = ["--where", "battery=psst", "--option", "transcriber=ear-c"]
    assert main(["figure", "confusion", *words, "--out", str(tmp_path / "f.svg")]) == 2
    assert "ear-a, ear-b" in capsys.readouterr().err

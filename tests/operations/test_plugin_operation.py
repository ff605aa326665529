"""An operation of a plugin: a command, a method of Python and a dialog from one declaration."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from textual.widgets import Static

import tabwb
from tabwb.cli.main import main
from tabwb.plugin_api import Plugins, Spec, Tools
from tabwb.records.errors import UsageError
from tests.workbench.seat import workbench

DOCS = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
_, CODE, _, PHONEMES, *_ = re.split("```(?:python)?\n", DOCS.partition("## Operations")[2])


@pytest.fixture
def store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A store of two administrations, and the plugin of the documentation."""
    file, store = tmp_path / "counting.py", tmp_path / "store.db"
    file.write_text(CODE, encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    for _ in range(2):
        words = ["run", "tab", "--model", "echo", "--judge", "none", "--limit", "1"]
        assert main([*words, "--store", str(store)]) == 0
    capsys.readouterr()
    return store


def test_command_and_method_give_one_document(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(store)]
    assert main(["count-words", "1", "2", "--least", "3", "--json", *where]) == 0
    printed = json.loads(capsys.readouterr().out)
    with tabwb.open(store) as study:
        assert {"format": 1, **study.do("count-words", ids=[1, 2], least=3)} == printed
        with pytest.raises(UsageError):
            study.do("count-word")
        with pytest.raises(UsageError):
            study.do("count-words")
        with pytest.raises(UsageError):
            study.do("count-words", ids=[1], most=1)
    counts = printed["words"]
    assert set(counts) == {"1", "2"}
    assert counts["1"] == counts["2"] > 0
    assert main(["count-words", "1", *where]) == 0
    assert capsys.readouterr().out.startswith("#1: ")
    assert main(["count-words", "1", "--least", "-1", *where]) == 2
    assert main(["count-words", "--help"]) == 0
    assert "--least" in capsys.readouterr().out


async def test_the_workbench_makes_a_dialog_of_it(store: Path, tmp_path: Path) -> None:
    async with partial(workbench, tmp_path)() as seat:
        await seat.begin(battery="tab", model="echo", judges="none")
        await seat.press("a", at="results")
        await seat.press("X", reads="Tables and pages")
        await seat.press("end", reads="Count words")
        await seat.press("enter")
        await seat.has("least")
        await seat.press("enter")
        said = seat.app.screen.query_one("#said", Static)
        await seat.until(lambda: str(said.content).startswith("✓"), "it is done")
        assert " words" in str(said.content)


def test_what_is_no_operation_is_refused_by_its_plugin(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        CODE.replace("count-words", "count-wrongly").replace("lambda: CountWords", "lambda: 7"),
        encoding="utf-8",
    )
    assert main(["plugins", "trust", str(file)]) == 0
    assert main(["count-wrongly", "1", "--store", str(store)]) == 1
    assert "operation 'count-wrongly' of the plugin 'wrong'" in capsys.readouterr().err


def test_an_id_of_two_words_is_a_command_in_a_group(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "grouped.py"
    file.write_text(CODE.replace("count-words", "corpus count"), encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    assert main(["corpus", "--help"]) == 0
    assert "count " in capsys.readouterr().out
    assert main(["corpus", "count", "1", "2", "--json", "--store", str(store)]) == 0
    printed = json.loads(capsys.readouterr().out)
    with tabwb.open(store) as study:
        assert {"format": 1, **study.do("corpus count", ids=[1, 2])} == printed
    assert main(["corpus", "add"]) == 2
    assert main(["corpus"]) == 2


def test_the_operation_of_the_page_counts_what_is_heard_by_severity(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soundfile = pytest.importorskip("soundfile")
    file, store, table = tmp_path / "lab.py", str(tmp_path / "s.db"), tmp_path / "typed.tsv"
    file.write_text(PHONEMES, encoding="utf-8")
    table.write_text("utterance_id\ttranscript\nS-014-dog\tD AO G\nS-015-add\tAE D\n")
    (tmp_path / "sounds").mkdir()
    for name in ("S-014-dog", "S-015-add"):
        soundfile.write(tmp_path / "sounds" / f"{name}.wav", [0.1, -0.1] * 4000, 16_000)
    assert main(["speaker", "add", "S-014", "AQ=30", "--store", store]) == 0
    assert main(["plugins", "trust", str(file)]) == 0
    capsys.readouterr()
    words = ["lab", "phonemes", str(tmp_path / "sounds"), "--transcriber", f"manual:{table}"]
    assert main([*words, "--format", "csv", "--store", store]) == 0
    assert capsys.readouterr().out.split() == [
        "severity,phoneme,n", "not", "recorded,AE,1", "not", "recorded,D,1",
        "severe,AO,1", "severe,D,1", "severe,G,1",
    ]  # fmt: skip


def test_sound_is_not_sent_where_nobody_is_known_to_agree() -> None:
    plugins = SimpleNamespace(
        resolve=lambda kind, spec: (None, Spec(spec)), reaches_out=lambda kind, spec: True
    )
    tools = Tools(cast("Plugins", plugins), lambda: None, print, print)
    with pytest.raises(UsageError, match="'far' sends sound over a network"):
        tools.transcripts("far", [])


TABLE = '''
from dataclasses import dataclass

from tabwb import Column, table_of
from tabwb.plugin_api import Operation, OperationSource, hookimpl


@dataclass(frozen=True, kw_only=True)
class Squares(Operation):
    """Make two tables."""

    NAME, TITLE, WRITES, TABLES = "squares", "Squares", False, True

    def do(self, tools):
        columns = [Column("n", "N", "a number", "integer"),
                   Column("share", "Share", "of all", "number", "share", 1, True)]
        for name, rows in (("first", [(1, 0.25), (2, None)]), ("second", [(3, 1.0)])):
            tools.tables.append((table_of(name, columns, rows, ["A note."]), name.capitalize()))


@hookimpl
def tabwb_register_operations(register):
    register(OperationSource("squares", "Make tables.", lambda: Squares))
'''


def test_typed_tables_of_an_operation_are_written_in_every_format(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "squares.py"
    file.write_text(TABLE, encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    capsys.readouterr()

    def printed(*words: str) -> str:
        assert main(["squares", *words, "--store", str(store)]) == 0
        return capsys.readouterr().out

    assert printed("--format", "csv").splitlines() == [
        "n,share",
        "1,0.25",
        "2,",
        "",
        "n,share",
        "3,1.0",
    ]
    tables = json.loads(printed("--json"))["tables"]
    assert tables == json.loads(printed("--format", "json"))["tables"]
    assert [row["share"] for row in tables[0]["rows"]] == [0.25, None]
    assert "\\toprule" in printed("--format", "latex")
    for format_id in ("table", "markdown"):
        shown = printed("--format", format_id)
        assert all(words in shown for words in ("First", "25.0 %", "Second", "A note."))
    assert main(["squares", "--json", "--format", "csv", "--store", str(store)]) == 2
    with tabwb.open(store) as study:
        made = study.do("squares")["tables"]
    assert [table.to_dicts()[0] for table in made] == [
        {"n": 1, "share": 0.25},
        {"n": 3, "share": 1.0},
    ]
    assert main(["squares", "--format", "svg", "--store", str(store)]) == 2

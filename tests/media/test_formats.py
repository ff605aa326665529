"""Tables as Markdown, LaTeX, CSV and JSON, the description beside an export, and terminals."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frictionless import Package, Resource, validate
from rich.cells import cell_len
from scipy.stats import beta

from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.captioned import Captioned, noted
from tabwb.analysis.tables.results import results_table
from tabwb.host.plugins import Plugins
from tabwb.media.documents.exporting import export
from tabwb.media.paper import (
    captioned_groups,
    checked_columns,
    latex,
    latex_text,
    markdown,
    presented,
    table_csv,
    table_json,
)
from tabwb.media.terminal import spec_lines
from tabwb.media.views.administration import burden_view
from tabwb.media.views.results import Groups, compact_table
from tabwb.media.views.typed import sectioned_view
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.store.store import Store
from tabwb.tables.table import Table, table_of
from tests.analysis.given import ANSWERS, BATTERY, CONDITIONS, DECLARED, printed, summarise, trials
from tests.analysis.test_frame import Made
from tests.analysis.test_grouping import given
from tests.media.test_methods import eight

NUMBER = Column("burden", "Burden", "a burden", "number", "features per response", 2)
ENDS = tuple(Column(f"burden_{end}", end, "an end", "number", "", 2) for end in ("low", "high"))
FEW = Column("burden_few", "Few", "marked", "boolean")
NAME = Column("group", "Model", "the name")
HOSTILE = r"a|b & 50% \input{/etc/passwd} $x$ <script>alert(1)</script> #_{}~^ *b* `c`"


def small(*rows: tuple[object, ...]) -> Captioned:
    table = table_of("compact", (NAME, NUMBER, *ENDS, FEW), rows)
    return Captioned(table, "A caption.")


def groups() -> tuple[Grouped, ...]:
    return summarised(grouped(eight(), "model"))


def read_latex(text: str) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the tabular; fails where braces or rules are not in order."""
    assert len(re.findall(r"(?<!\\){", text)) == len(re.findall(r"(?<!\\)}", text))
    body = re.search(r"\\toprule(.*?)\\midrule(.*?)\\bottomrule", text, re.DOTALL)
    assert body is not None
    (letters,) = re.findall(r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}", text)

    def cells(line: str) -> list[str]:
        found = [cell.strip() for cell in re.split(r"(?<!\\)&", line)]
        assert len(found) == len(letters)
        return found

    rows = [cells(line) for line in body[2].split(r" \\" + "\n") if line.strip()]
    return cells(body[1].strip().removesuffix(r" \\")), rows


def test_its_numbers_are_those_of_the_answers() -> None:
    compact = compact_table(Groups(summarised(grouped([given(1, CONDITIONS)], "model"))))
    words = compact.table.select(("words", "words_low", "words_high"))
    # One of three is right; Clopper and Pearson's limits by another library.
    assert next(words.rows()) == pytest.approx(
        (1 / 3, beta.ppf(0.025, 1, 3), beta.ppf(0.975, 2, 2))
    )
    assert compact.table["n"].to_list() == [2]


def test_a_value_and_its_interval_share_a_cell_in_markdown() -> None:
    text = markdown(small(("m", 0.6, 0.214, 1.346, False), ("n", None, None, None, None)))
    assert text == (
        "**A caption.**\n\n| Model |      Burden [95 %] |\n".replace("      ", "     ")
        + "| ----- | ----------------: |\n"
        "| m     | 0.60 [0.21, 1.35] |\n"
        "| n     |                 - |\n"
    )


def test_a_column_without_an_interval_is_not_headed_as_one_with_it() -> None:
    table = small(("m", 0.6, None, None, False), ("n", None, 0.1, 0.2, None))
    assert [heading.interval for heading in presented(table).headings] == [False, False]
    assert "95" not in markdown(table) + latex(table)


def test_a_burden_of_few_usable_responses_is_marked() -> None:
    marked = small(("m", 0.6, 0.21, 1.35, True))
    assert "0.60† [0.21, 1.35]" in markdown(marked)
    assert r"0.60\textdagger{} [0.21, 1.35]" in latex(marked)
    refused = dict.fromkeys(ANSWERS, "I'm sorry, but I can't help with that.")
    (table,) = captioned_groups(
        summarised(grouped([given(1, CONDITIONS, trials(refused))], "model"))
    )
    assert "fewer than half" in markdown(table)
    assert "Responses without a burden: 2 refused." in markdown(table)


def test_hostile_texts_are_texts_in_markdown() -> None:
    text = markdown(small((HOSTILE, 1.0, None, None, None)))
    row = text.splitlines()[4]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert not re.search(r"(?<!\\)[<*`$]", row)
    assert "\x1b" not in markdown(small(("a\x1b[31m\u202eb", 1.0, None, None, None)))


def test_hostile_texts_are_texts_in_latex() -> None:
    text = latex(small((HOSTILE, 1.0, 0.5, 1.5, None)))
    headings, ((name, value),) = read_latex(text)
    assert headings == ["Model", r"Burden [95 \%]"]
    assert r"\input" not in name
    assert r"\textbackslash{}input\{/etc/passwd\}" in name
    assert value == "1.00 [0.50, 1.50]"
    assert latex_text("a\x1b[31mb\n\nc") == "a[31mb c"


def test_numbers_of_latex_stand_below_each_other() -> None:
    text = latex(small(("a", 9.5, 8.25, 10.5, False), ("b", 12.25, 11.0, 13.0, False)))
    _, rows = read_latex(text)
    assert [row[1] for row in rows] == [
        r"9.50 [\phantom{0}8.25, 10.50]", r"12.25 [11.00, 13.00]",
    ]  # fmt: skip
    _, mixed = read_latex(
        latex(small(("a", -0.5, -1.0, 0.25, False), ("b", 0.5, 0.25, 1.0, False)))
    )
    assert [row[1] for row in mixed] == [
        "$-$0.50 [$-$1.00, 0.25]", r"0.50 [\phantom{$-$}0.25, 1.00]",
    ]  # fmt: skip
    _, (_, undefined) = read_latex(
        latex(small(("a", 1.0, 0.5, 1.5, False), ("b", None, None, None, None)))
    )
    assert undefined[1] == r"--\phantom{ [0.50, 0.50]}"


def long_names() -> Captioned:
    (table,) = captioned_groups(
        summarised(
            grouped(
                [
                    given(at, replace(CONDITIONS, examinee=f"transformers:an-organisation/{name}"))
                    for at, name in enumerate(("A_Model-of-70b.Instruct-2026-05-09", "b"), start=1)
                ],
                "model,seed",
            )
        )
    )
    names = ["transformers:an-organisation_of_the_north/A_Model-of-70b.Instruct-2026-05-09", "b"]
    rows = [(name, *row[1:]) for name, row in zip(names, table.table.rows(), strict=True)]
    return replace(table, table=table_of("compact", table.table.columns, rows))


def test_long_names_are_set_in_several_lines() -> None:
    text = latex(long_names())
    assert re.search(r"\\begin\{tabular\}\{@\{\}p\{\d+pt\}l", text)
    assert r"transformers:\allowbreak{}an-\allowbreak{}organisation\_\allowbreak{}of" in text


@pytest.mark.packaging
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX here")
def test_latex_compiles_without_a_table_that_is_too_wide(tmp_path: Path) -> None:
    (table,) = captioned_groups(groups())
    hostile = latex(small((HOSTILE[:40], 1.0, 0.5, 1.5, True), ("“é” – …", None, None, None, None)))
    (tmp_path / "a.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{latex(table)}\n{hostile}\n{latex(long_names())}\\end{{document}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_csv_reads_back_as_the_table_with_every_digit() -> None:
    table = results_table(groups())
    rows = list(csv.DictReader(io.StringIO(table_csv(table), newline="")))
    assert len(rows) == len(table)
    values = table["value"].to_list()
    assert [float(row["value"]) if row["value"] else None for row in rows] == values
    assert {row["few_usable"] for row in rows} == {"false"}


def test_json_has_columns_and_rows_and_null_for_what_is_missing() -> None:
    document = table_json(small(("m", None, None, None, None)).table)
    assert document["rows"] == [
        {"group": "m", "burden": None, "burden_low": None, "burden_high": None, "burden_few": None}
    ]
    assert document["columns"][1]["unit"] == "features per response"


def test_columns_are_chosen_with_their_interval_and_their_notes() -> None:
    (table,) = captioned_groups(groups(), ["group", "words"])
    assert table.table.names == ("group", "words", "words_low", "words_high", "words_why")
    notes = [note.text for note in table.notes]
    assert notes[0].startswith("Baselines of Word Comprehension:")
    assert not any(note.startswith("N:") for note in notes)
    with pytest.raises(UsageError, match="there is no column 'burdn'; did you mean 'burden'"):
        captioned_groups(groups(), ["burdn"])


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    table: Table = results_table(groups())
    assert checked_columns(table, ["group", "n-usable"]).names == ("group", "n_usable")
    with pytest.raises(UsageError, match="there is no column 'x'"):
        checked_columns(table, ["x"])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export in each format of two administrations and a person's."""
    folder = tmp_path_factory.mktemp("written")
    plugins = Plugins.load()
    with Store.open(folder / "s.db") as store:
        made = Made(store, 9)
        for _ in range(3):
            made.administration()
        for format_id in ("jsonl", "csv", "parquet"):
            export(store, plugins, (), format_id, folder / f"a.{format_id}", within_study=True)
    plugins.close()
    return folder


def described(file: Path) -> dict[str, Any]:
    document = json.loads(file.with_name(f"{file.name}.datapackage.json").read_text("utf-8"))
    assert [resource["path"] for resource in document["resources"]] == [file.name]
    resource: dict[str, Any] = document["resources"][0]
    return resource


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_every_row_is_as_its_columns_are_described(written: Path, name: str) -> None:
    report = validate(str(written / f"{name}.datapackage.json"), type="package")
    assert report.flatten(["rowNumber", "fieldName", "type", "note"]) == []
    assert report.tasks[0].stats["rows"] > 50


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_size_and_hash_are_those_of_the_file(written: Path, name: str) -> None:
    content = (written / name).read_bytes()
    resource = described(written / name)
    assert resource["bytes"] == len(content)
    assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    package = Package(str(written / f"{name}.datapackage.json"))
    assert Package.validate_descriptor(package.to_descriptor()).valid
    assert package.resources[0].schema.field_names == [
        field["name"] for field in resource["schema"]["fields"]
    ]


def test_a_changed_file_is_found_by_its_hash(written: Path, tmp_path: Path) -> None:
    for tail in ("", ".datapackage.json"):
        (tmp_path / f"a.csv{tail}").write_bytes((written / f"a.csv{tail}").read_bytes())
    (tmp_path / "a.csv").write_bytes((tmp_path / "a.csv").read_bytes().replace(b"Rain.", b"Rani."))
    resource = Package(str(tmp_path / "a.csv.datapackage.json")).resources[0]
    assert isinstance(resource, Resource)
    assert resource.validate().flatten(["type"]) == [["hash-count"]]


def test_the_battery_is_named_as_source(written: Path) -> None:
    document = json.loads((written / "a.csv.datapackage.json").read_text("utf-8"))
    (source,) = document["sources"]
    assert source["title"] == "Text Aphasia Battery (tab 2026.1)"
    assert source["license"] == "MIT" and "Gwilliams" in source["citation"]
    assert "not a medical device" in document["description"]


NUMBERS = tuple(
    Column(name, title, "a share", "number", digits=2)
    for name, title in (("share", "Share right"), ("share_low", "Low"), ("share_high", "High"))
)
DOSES = (
    Column("row", "Row", "what"),
    Column("intact", "Intact", "value of the intact model", "number", digits=2),
    Column("at_0_1", "0.1", "value", "number", digits=2),
    Column("reason", "Reason", "why"),
)


def test_no_line_is_wider_than_asked_for_and_every_value_is_there() -> None:
    columns = (Column("item", "Item", "the item"), *NUMBERS, Column("p", "p", "p", "number"))
    rows = [("a-long-name-of-an-item", 0.5, 0.25, 0.75, 0.125), ("b", 0.1, -0.2, 0.4, None)]
    text = sectioned_view(table_of("t", columns, rows), [], 30).plain
    assert max(map(len, text.splitlines())) <= 30
    assert all(value in text for value in ("0.50", "0.25 to 0.75", "-0.20 to 0.40", "0.125"))


def test_columns_are_as_wide_as_their_letters_are_shown() -> None:
    columns = (Column("model", "Model", "the model"), *NUMBERS)
    names = ("日本語モデル", "e\u0301cho", "ab")
    rows = [(name, 0.5, 0.25, 0.75) for name in names]
    for width in (24, 40):
        lines = sectioned_view(table_of("t", columns, rows), [], width).plain.splitlines()
        assert max(map(cell_len, lines)) <= width
        assert len({cell_len(line) for line in lines if "0.50" in line}) == 1
    assert list(spec_lines("日本語モデル", 5, 2)) == ["日本", "  語", "  モ", "  デ", "  ル"]


def test_each_reason_is_a_numbered_note_and_rows_without_a_value_are_counted() -> None:
    rows = [
        ("intact", 1.0, None, None),
        ("seed", None, 0.5, "few usable at 0.1, 0.2, in no mean"),
        ("mean", None, 0.5, "at 0.1: fewer than 5 seeds; all the same"),
        ("mean", None, None, "no seed has a value; too few amounts"),
        ("mean", 1.0, None, "no such feature"),
    ]
    table = noted(table_of("doses", DOSES, rows, ("A note.",)))
    assert table["row"].to_list() == ["intact", "seed", "mean"]
    assert table["notes"].to_list() == [None, "1 (0.1, 0.2)", "2 (0.1), 3"]
    assert table.notes[0] == "1: few usable, in no mean"
    assert "2 rows of 5 without any value" in table.notes[3] and table.notes[-1] == "A note."


def test_titles_of_categories_are_whole_in_a_narrow_panel() -> None:
    answers = trials(ANSWERS, ("retracing",))
    (judge,) = summarise(BATTERY, answers, CONDITIONS, declarations=DECLARED, interval=True).judges
    titles = dict.fromkeys(judge.burden.categories, "Perseverative")
    assert "Perseverative  ━" in printed(burden_view(judge, titles), width=34)

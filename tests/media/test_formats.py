"""Tables as Markdown, LaTeX, CSV and JSON: the same numbers, and no text that acts as markup."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import beta

from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.captioned import Captioned
from tabwb.analysis.tables.results import results_table
from tabwb.media.paper import (
    captioned_groups,
    checked_columns,
    latex,
    latex_text,
    markdown,
    table_csv,
    table_json,
)
from tabwb.media.views.results import Groups, compact_table
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.tables.table import Table, table_of
from tests.analysis.given import ANSWERS, CONDITIONS, trials
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

"""A typed table in the terminal: intervals as one column, sections, parts that fit."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from tabwb.media.views.typed import explained_view, sectioned_view
from tabwb.report.tables import views
from tabwb.tables.table import Column, table_of

COLUMNS = (
    Column("group", "Group", "the group"),
    Column("item", "Item", "the item"),
    Column("kind", "Kind", "the kind"),
    Column("share", "Share right", "a share", "number", digits=2),
    Column("share_low", "Low", "lower end", "number", digits=2),
    Column("share_high", "High", "upper end", "number", digits=2),
    Column("p", "p", "of no difference", "number", "probability", 3),
    Column("empty", "Empty", "nothing", "number"),
    Column("reason", "Reason", "why there is no share"),
)
TABLE = table_of(
    "example",
    COLUMNS,
    [
        ("a", "one", "k", 0.5, 0.25, 0.75, 0.0004, None, None),
        ("a", "two", "k", None, None, None, None, None, "nothing counted"),
        ("b", "one", "k", 0.125, 0.0, 1.0, 0.25, None, None),
    ],
    ("A note.",),
)


def printed(view: object, width: int = 80) -> list[str]:
    console = Console(width=width, file=StringIO(), record=True)
    console.print(view)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_rows_stand_below_what_they_have_in_common() -> None:
    assert sectioned_view(TABLE.select(TABLE.names[:7]), ["group"], 80).plain.splitlines() == [
        "            Share",
        "Item  Kind  right       95 %      p",
        "────  ────  ─────  ─────────  ─────",
        "a",
        "one   k      0.50  0.25-0.75  <.001",
        "two   k         -          -      -",
        "b",
        "one   k      0.12  0.00-1.00  0.250",
        "",
    ]


def test_columns_that_do_not_fit_stand_in_a_further_part() -> None:
    lines = sectioned_view(TABLE.select(("item", *TABLE.names[3:7])), [], 24).plain.splitlines()
    assert [line.split() for line in lines if line.startswith("one")] == [
        ["one", "0.50", "0.25-0.75"], ["one", "0.12", "0.00-1.00"],
        ["one", "<.001"], ["one", "0.250"],
    ]  # fmt: skip
    assert max(map(len, lines)) <= 24


def test_long_texts_have_several_lines() -> None:
    columns = (COLUMNS[0], COLUMNS[3])
    name = "a-model (temperature 0.7, option order as-given)"
    lines = sectioned_view(table_of("long", columns, [(name, 0.5)]), [], 50).plain.splitlines()
    first, *others = filter(str.strip, lines[lines.index("────────────────────  ─────") + 1 :])
    assert first.endswith("0.50") and len(others) > 1 and all(x.startswith("  ") for x in others)
    assert " ".join([first.removesuffix("0.50"), *others]).split() == name.split()


def test_what_is_the_same_in_all_rows_stands_above_and_reasons_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = views.View("an example", "", "group item kind share p", "group")
    monkeypatch.setitem(views._VIEWS, TABLE.name, view)
    lines = printed(explained_view(TABLE))
    assert lines[0] == "kind: k" and "Kind" not in " ".join(lines[1:])
    assert lines[-2:] == ["why there is no share: nothing counted", "A note."]


def test_ends_of_differences_have_words_between_them() -> None:
    table = table_of("d", COLUMNS[3:6], [(0.1, -0.2, 0.4)])
    assert "-0.20 to 0.40" in sectioned_view(table, [], 80).plain


def test_columns_without_values_are_left_out() -> None:
    text = sectioned_view(TABLE, [], 80).plain
    assert "Empty" not in text and "0.25-0.75" in text


def test_an_empty_table_says_so() -> None:
    assert sectioned_view(table_of("none", COLUMNS[:1], []), [], 80).plain == "no rows\n"


def test_the_ends_of_an_interval_of_a_value_are_one_column() -> None:
    columns = [Column("measure", "Measure", "what"), *(
        Column(name, name, "a share", "number", digits=2) for name in ("value", "low", "high")
    )]  # fmt: skip
    made = table_of("results", columns, [("burden", 0.5, 0.25, 1.0)])
    lines = sectioned_view(made, [], 80).plain.splitlines()
    assert lines[0].split() == ["Measure", "value", "95", "%"]
    assert lines[2].split() == ["burden", "0.50", "0.25-1.00"]

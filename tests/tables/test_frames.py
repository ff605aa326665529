"""Tables as data frames of pandas and polars, and as HTML."""

import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given

from tabwb.records.columns import Column
from tabwb.records.errors import MissingPackage
from tabwb.tables import frames
from tabwb.tables.html import SHOWN_ROWS
from tabwb.tables.table import Table, table_of
from tests.tables.test_table import COLUMNS, ROWS

Rows = list[tuple[object, ...]]


def example(rows: Rows) -> Table:
    return table_of("example", COLUMNS, rows, ("a note",))


@given(ROWS)
def test_a_polars_frame_has_the_values_of_the_table(rows: Rows) -> None:
    frame = example(rows).to_polars()
    assert frame.schema == {
        "name": pl.String, "tags": pl.List(pl.String), "n": pl.Int64, "share": pl.Float64,
        "few": pl.Boolean,
    }  # fmt: skip
    lists = [tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in frame.rows()]
    assert lists == rows


@given(ROWS)
def test_a_pandas_frame_has_the_values_of_the_table(rows: Rows) -> None:
    frame = example(rows).to_pandas()
    assert len(frame) == len(rows) and frame.attrs["notes"] == ["a note"]
    for at, column in enumerate(COLUMNS):
        values = [row[at] for row in rows]
        given = frame[column.name]
        absent = [value is None for value in values]
        assert given.isna().tolist() == absent
        known = [tuple(v) if isinstance(v, list) else v for v in given[~given.isna()].tolist()]
        assert known == [value for value in values if value is not None]


def test_pandas_types_are_those_of_the_columns() -> None:
    full = example([("a", ("x",), 1, 0.5, True)]).to_pandas().dtypes.astype(str).tolist()
    assert full == ["str", "object", "int64", "float64", "bool"]
    gaps = example([(None,) * 5, ("a", ("x",), 1, 0.5, True)]).to_pandas()
    assert gaps.dtypes.astype(str).tolist() == ["str", "object", "Int64", "float64", "boolean"]


def test_changing_a_frame_leaves_the_table_as_it_was() -> None:
    table = example([("a", ("x",), 1, 0.5, True)])
    frame = table.to_pandas()
    frame.loc[0, "share"] = 9.0
    assert table["share"].to_list() == [0.5]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_the_command(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "is_installed", lambda module: False)
    with pytest.raises(MissingPackage, match=f"pip install {package}"):
        getattr(example([]), f"to_{package}")()


def test_frames_need_no_pyarrow() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from tabwb.records.columns import Column\n"
        "from tabwb.tables.table import table_of\n"
        "t = table_of('t', [Column('s', 'S', 's'), Column('l', 'L', 'l', 'list of text')],"
        " [('a', ('b',)), (None, None)])\n"
        "print(t.to_pandas().shape, t.to_polars().shape)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "(2, 2) (2, 2)\n", run.stderr


def test_a_notebook_shows_the_first_and_the_last_rows() -> None:
    column = Column("n", "N", "a < b", "integer")
    html = table_of("long", [column], [(i,) for i in range(1000)])._repr_html_()
    assert html.count("<tr>") == SHOWN_ROWS + 2  # the head and the gap
    assert "1,000 rows" in html and ">14<" in html and ">15<" not in html and ">985<" in html
    assert 'title="a &lt; b"' in html


def test_a_printed_table_shows_the_first_and_the_last_rows() -> None:
    column = Column("n", "N", "a number", "integer")
    lines = str(table_of("long", [column], [(i,) for i in range(1000)])).splitlines()
    assert lines[:3] == ["long: 1,000 rows, 1 column", "  n", "  0"]
    assert lines[SHOWN_ROWS // 2 + 2 :][:2] == ["...", "985"] and lines[-1] == "999"
    assert str(table_of("none", [column], [])).splitlines() == ["none: 0 rows, 1 column", "n"]


def test_texts_in_html_are_escaped_and_cut() -> None:
    table = table_of("t", [Column("s", "S", "s")], [("<b>",), ("x" * 500,), (None,)])
    html = table._repr_html_()
    assert "&lt;b&gt;" in html and "x" * 79 + "…<" in html and "<td>-</td>" in html


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    table = example([])
    for wrong in (lambda: table["nam"], lambda: table.column("nam"), lambda: table.where(nam=1)):
        with pytest.raises(KeyError, match="no column 'nam'; there are name, tags"):
            wrong()

"""A table of ratings becomes arrays; what is wrong in it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.analysis.ratings import read_ratings
from tabwb.records.errors import TabwbError, UsageError
from tests.analysis.rating_parts import HEAD, rated, written


def test_values_become_verdicts_and_everything_else_is_missing(tmp_path: Path) -> None:
    rows = [
        ("a", "R2", "jargon", "present"),
        ("a", "R10", "jargon", 0),
        ("b", "R2", "jargon", ""),
        ("b", "R10", "jargon", "cannot-tell"),
        ("a", "rules-2", "jargon", 1),
        ("a", "adjudicated", "jargon", 1),
    ]
    found = rated(tmp_path, rows)
    assert found.raters == ("R2", "R10", "rules-2") and found.judges == {"rules-2"}
    assert found.verdicts[..., 0].tolist() == [[1, -1], [0, -2], [1, -1]]
    assert found.adjudicated is not None and found.adjudicated[:, 0].tolist() == [1, -1]


def test_a_spreadsheets_file_is_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(
        "\ufeffrater;value;response;measure;remark\r\nR1;1;a;jargon;x\r\n;;;\r\nR2;0;a;jargon\r\n"
        .encode()
    )  # fmt: skip
    assert read_ratings(path).verdicts.tolist() == [[[1]], [[0]]]


def test_kinds_of_measures_follow_from_their_values(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "anomia", 3), ("a", "R1", "code", "semantic"), ("a", "R1", "jargon", 1),
        ("a", "R1", "phonemes", "D AO G"), ("a", "R1", "heard", "dog"),
        ("a", "R2", "heard", "Dog"),
    ]  # fmt: skip
    found = rated(tmp_path, rows)
    kinds = {one.measure.id: one.measure.kind for one in found.others}
    assert kinds == {"anomia": "scale", "code": "choice", "phonemes": "phonemes", "heard": "text"}
    assert next(one.words for one in found.others if one.measure.kind == "text") == ("dog",)
    assert [feature.id for feature in found.features] == ["jargon"]
    as_codes = rated(tmp_path, rows, kinds={"jargon": "choice"})
    assert not as_codes.features


def test_later_occasions_and_speakers(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "jargon", 1, "second", "P1"),
        ("a", "R1", "jargon", 0, "first", "P1"),
        ("b", "R1", "jargon", 1, "first", "P1"),
        ("c", "R1", "jargon", 1, "first", ""),
        ("d", "R1", "jargon", 1, "first", ""),
    ]
    found = rated(tmp_path, rows, HEAD + ",occasion,speaker")
    assert found.verdicts[0, :, 0].tolist() == [1, 1, 1, 1]  # what stands first in the file counts
    assert found.again[0][0, :, 0].tolist() == [0, -1, -1, -1]
    assert found.speakers is not None
    first, second, third, fourth = found.speakers.tolist()
    assert first == second and len({first, third, fourth}) == 3


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["a,R1,jargon,1", "a,R1,jargon,0"], 3, "twice"),
        (["a,R1,jargon,1", "", "b,R1,jargon,2x"], 4, "'2x' is not a value of 'jargon'"),
        (["a,R1,jargon,present", "b,R1,jargon,absnt"], 3, "'absnt' is not a value"),
        (["a,R1,,1"], 2, "'measure' is empty"),
        (["a,R1,jargon,1,9"], 2, "5 cells"),
        (['a,R1,jargon,"1'], 2, "not valid CSV"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(
    tmp_path: Path, lines: list[str], line: int, message: str
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    with pytest.raises(TabwbError) as raised:
        read_ratings(path)
    assert raised.value.where == f"{path}:{line}" and message in raised.value.message


def test_columns_judges_and_measures_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [("a", "R1", "jargon", 1)])
    with pytest.raises(UsageError, match="no rater 'R3'"):
        read_ratings(path, judges=["R3"])
    with pytest.raises(UsageError, match="no measure 'jargn'"):
        read_ratings(path, kinds={"jargn": "choice"})
    with pytest.raises(TabwbError, match="no column 'rater'"):
        read_ratings(written(path, [("a", "R1", "j", 1)], "response,ratr,measure,value"))

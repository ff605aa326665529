"""Tables of transcripts as a corpus, and task B."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tabwb.phonology import transcripts
from tabwb.phonology.corpus import Classification, says_one_of
from tabwb.phonology.transcripts import Table, read_table
from tabwb.records.errors import TabwbError


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.tsv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        "utterance_id\ttranscript\na\tD AO G\nb\t\n",
        "\ufeffutterance_id\ttranscript\na\tD AO G\nb\t\n",
        "utterance_id\ttranscript\r\na\tD AO G\r\nb\t\r\n",
        "utterance_id\ttranscript\ra\tD AO G\rb\t",
        "\nutterance_id\ttranscript\n\na\tD AO G\n \nb\t\n\n\n",
        '"utterance_id"\t"transcript"\n"a"\t"D AO G"\n"b"\t""\n',
        " utterance_id \t transcript\na\t D AO G \n b\t\n",
    ],
    ids=["plain", "BOM", "CRLF", "CR", "blank lines", "quotes", "blanks"],
)
def test_one_table_in_several_writings(tmp_path: Path, content: str) -> None:
    table = read_table(write(tmp_path, content))
    assert table.columns == ("utterance_id", "transcript")
    assert [dict(row.cells) for row in table.rows] == [
        {"utterance_id": "a", "transcript": "D AO G"},
        {"utterance_id": "b", "transcript": ""},
    ]


def test_a_lone_quote_is_a_character_and_swallows_no_lines(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, 'utterance_id\tprompt\na\t"dog\nb\t5"\nc\t"a ""b"""\n'))
    assert [row.cells["prompt"] for row in table.rows] == ['"dog', '5"', 'a "b"']
    # Nor does a line separator of Unicode end a line.
    table = read_table(write(tmp_path, "utterance_id\tprompt\na\tdo\u2028g\u2029\n"))
    assert len(table.rows) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("utterance_id,transcript\na,D AO G\n", "table.tsv:1: the headings hold no tab, but"),
        ("utterance_id\ttranscript\na\n", "table.tsv:2: 1 columns, where the headings have 2"),
        ("utterance_id\ttranscript\n\na\tD\tG\n", "table.tsv:3: 3 columns"),
        ("utterance_id\tprompt\tprompt\n", "headings occur more than once: prompt"),
        (b"utterance_id\ttranscript\na\t\xe9\n", "table.tsv:2: byte 0xe9 is not valid UTF-8"),
        ("utterance_id\ttranscript\na\tD".encode("utf-16"), "the file is UTF-16"),
        ("utterance_id\ttranscript\na\tD\0\n", "table.tsv:2: the control character U+0000"),
        (
            "utterance_id\ttranscript\na\tD\na\t\x1b[2J\n",
            "table.tsv:3: the control character U+001B",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(TabwbError) as caught:
        read_table(write(tmp_path, content))
    assert message in str(caught.value)


def test_truth_in_several_spellings(tmp_path: Path) -> None:
    values = ["TRUE", "true", "1", "yes", "False", "0", "no", ""]
    rows = "".join(f"u{k}\t{value}\n" for k, value in enumerate(values))
    table = read_table(write(tmp_path, "utterance_id\tcorrectness\n" + rows))
    found = [row.truth("correctness") for row in table.rows]
    assert found == [True, True, True, True, False, False, False, None]


def test_both_readings_of_task_b(psst: Any) -> None:
    for case in psst["task_b"]:
        accepted = [target.split() for target in case["targets"]]
        said = case["transcript"].split()
        assert says_one_of(said, accepted, "code") is case["match_code_as_published"]
        expected = case["match_paper_text_after_removing_sil_spn"]
        assert says_one_of(said, accepted, "paper") is expected
    assert not says_one_of(["AE", "DH"], [["AE", "D"]])  # phonemes are whole
    assert not says_one_of(["AE"], [[]])
    assert not says_one_of(["AE"], [])


def test_the_papers_own_counts(psst: Any) -> None:
    for case in psst["classification"]:
        found = Classification(tp=case["tp"], fp=case["fp"], fn=case["fn"], tn=case["tn"])
        for measure in ("f1", "precision", "recall", "accuracy"):
            assert getattr(found, measure) == pytest.approx(case[measure], abs=1e-15)
    pairs = [(True, False), (True, False), (False, True), (True, True), (False, False)]
    assert Classification.of(pairs) == Classification(tp=1, fp=1, fn=2, tn=1)
    found = Classification(tp=3, fp=1, fn=1, tn=1)
    assert (found.specificity, found.balanced_accuracy) == (0.5, 0.625)


@pytest.mark.parametrize(
    ("found", "undefined"),
    [
        (
            Classification(),
            {"precision", "recall", "specificity", "f1", "accuracy", "balanced_accuracy"},
        ),
        (Classification(tn=2), {"precision", "recall", "f1", "balanced_accuracy"}),
        (Classification(tp=2), {"specificity", "balanced_accuracy"}),
        (Classification(fn=2), {"precision", "specificity", "balanced_accuracy"}),
        (Classification(fp=2), {"recall", "balanced_accuracy"}),
    ],
)
def test_undefined_where_the_denominator_is_0(found: Classification, undefined: set[str]) -> None:
    measures = ("precision", "recall", "specificity", "f1", "accuracy", "balanced_accuracy")
    assert {name for name in measures if getattr(found, name) is None} == undefined


def test_what_is_no_readable_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path("/dev/zero").exists():  # it never ends
        with pytest.raises(TabwbError, match="is not a regular file"):
            read_table(Path("/dev/zero"))
    with pytest.raises(TabwbError, match="this is a folder"):
        read_table(tmp_path)
    monkeypatch.setattr(transcripts, "MAX_BYTES", 10)
    with pytest.raises(TabwbError, match="too large"):
        read_table(write(tmp_path, "x" * 11))


@pytest.mark.parametrize(
    ("rows", "asked", "message"),
    [
        ("a\t\nb\t\na\t\nc\t\nb\t\nb\t\n", lambda table: table.by_id(),
         "ids occur more than once: a, b\n"),
        ("\tD\n", lambda table: table.by_id(), r"table\.tsv:2: 'utterance_id' is empty"),
        ("", lambda table: table.need("transcripts"),
         r"(?s)there is no column 'transcripts'.*is 'transcript' meant\?"),
        ("a\tmaybe\n", lambda table: table.rows[0].truth("transcript"),
         r"table\.tsv:2: 'maybe' in column 'transcript'"),
        *(
            (f"a\t{value}\n", lambda table: table.rows[0].number("transcript"), "is not a number")
            for value in ("high", "nan", "inf", "1,5")
        ),
    ],
)  # fmt: skip
def test_what_a_cell_or_a_column_lacks_is_named(
    tmp_path: Path, rows: str, asked: Callable[[Table], object], message: str
) -> None:
    table = read_table(write(tmp_path, "utterance_id\ttranscript\n" + rows))
    with pytest.raises(TabwbError, match=message):
        asked(table)

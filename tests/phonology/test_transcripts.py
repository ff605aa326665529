"""Tables of transcripts as a corpus, and task B."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tabwb.phonology import transcripts
from tabwb.phonology.corpus import Classification, says_one_of
from tabwb.phonology.transcripts import read_table
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


def test_a_line_separator_of_unicode_ends_no_line(tmp_path: Path) -> None:
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


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MAX_BYTES", 10)
    with pytest.raises(TabwbError, match="too large"):
        read_table(write(tmp_path, "x" * 11))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_without_an_end_is_refused() -> None:
    with pytest.raises(TabwbError, match="is not a regular file"):
        read_table(Path("/dev/zero"))


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(TabwbError, match="this is a folder"):
        read_table(tmp_path)


def test_ids_that_stand_twice_are_named(tmp_path: Path) -> None:
    rows = "".join(f"{name}\tD\n" for name in ("a", "b", "a", "c", "b", "b"))
    table = read_table(write(tmp_path, "utterance_id\ttranscript\n" + rows))
    with pytest.raises(TabwbError, match="ids occur more than once: a, b\n"):
        table.by_id()


def test_an_empty_id_is_named_with_its_line(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "utterance_id\ttranscript\n\tD\n"))
    with pytest.raises(TabwbError, match=r"table\.tsv:2: 'utterance_id' is empty"):
        table.by_id()


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "utterance_id\ttranscripts\n"))
    with pytest.raises(TabwbError) as caught:
        table.need("transcript")
    assert "there is no column 'transcript'" in str(caught.value)
    assert "is 'transcripts' meant?" in str(caught.value)


def test_truth_in_several_spellings(tmp_path: Path) -> None:
    values = ["TRUE", "true", "1", "yes", "False", "0", "no", ""]
    rows = "".join(f"u{k}\t{value}\n" for k, value in enumerate(values))
    table = read_table(write(tmp_path, "utterance_id\tcorrectness\n" + rows))
    found = [row.truth("correctness") for row in table.rows]
    assert found == [True, True, True, True, False, False, False, None]


def test_what_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "utterance_id\tcorrectness\na\tmaybe\n"))
    with pytest.raises(TabwbError, match=r"table\.tsv:2: 'maybe' in column 'correctness'"):
        table.rows[0].truth("correctness")


@pytest.mark.parametrize("value", ["high", "nan", "inf", "1,5"])
def test_what_is_no_number_is_refused(tmp_path: Path, value: str) -> None:
    table = read_table(write(tmp_path, f"utterance_id\taq_index\na\t{value}\n"))
    with pytest.raises(TabwbError, match="is not a number"):
        table.rows[0].number("aq_index")


def test_both_readings_of_task_b(psst: Any) -> None:
    for case in psst["task_b"]:
        accepted = [target.split() for target in case["targets"]]
        said = case["transcript"].split()
        assert says_one_of(said, accepted, "code") is case["match_code_as_published"]
        expected = case["match_paper_text_after_removing_sil_spn"]
        assert says_one_of(said, accepted, "paper") is expected


def test_phonemes_are_whole() -> None:
    """AE D is not a part of AE DH."""
    assert not says_one_of(["AE", "DH"], [["AE", "D"]])


def test_nothing_is_never_said() -> None:
    assert not says_one_of(["AE"], [[]])
    assert not says_one_of(["AE"], [])


def test_the_papers_own_counts(psst: Any) -> None:
    for case in psst["classification"]:
        found = Classification(tp=case["tp"], fp=case["fp"], fn=case["fn"], tn=case["tn"])
        for measure in ("f1", "precision", "recall", "accuracy"):
            assert getattr(found, measure) == pytest.approx(case[measure], abs=1e-15)


def test_specificity_and_balanced_accuracy() -> None:
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


def test_pairs_are_label_and_prediction() -> None:
    pairs = [(True, False), (True, False), (False, True), (True, True), (False, False)]
    assert Classification.of(pairs) == Classification(tp=1, fp=1, fn=2, tn=1)

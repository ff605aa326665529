"""Tables of answers: what is read, and one message for each thing that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tabwb_interchange.chat import Chat, Tiers
from tabwb_interchange.inspect_log import InspectLog
from tabwb_interchange.lm_eval import LmEvalSamples
from tabwb_interchange.table import Table

from tabwb.plugin_api import AnswerProblems, Importer, StopReason, TabwbError
from tabwb.records.answers import KnownDecoding, RecordedAnswer
from tabwb.records.errors import UsageError
from tabwb.speech.annotations import read_annotations
from tabwb.testing import check_importer


def read(path: Path, content: str | bytes, **names: str) -> tuple[RecordedAnswer, ...]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Table().read(path, names).answers


def problem(path: Path, content: str | bytes, **names: str) -> str:
    with pytest.raises(TabwbError) as caught:
        read(path, content, **names)
    return str(caught.value).replace(str(path), path.name)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


def test_every_field_of_a_row(csv: Path) -> None:
    header = "subtest,item,response,replicate,model,temperature,seed,latency,max_tokens,status,site"
    (answer,) = read(
        csv, f"{header}\nwords,w1, dog ,2,gpt-x,0.7,9007199254740993,1.5,64,truncated,Ulm"
    )
    assert (answer.subtest, answer.item, answer.text, answer.replicate) == (
        "words", "w1", " dog ", 2,
    )  # fmt: skip
    assert (answer.run.model, answer.run.origin) == ("gpt-x", "model")
    assert answer.decoding == KnownDecoding(64, 0.7, None, None, 9007199254740993)
    assert (answer.latency_s, answer.stop_reason) == (1.5, StopReason.LENGTH)
    assert answer.metadata == {"source.site": "Ulm"}
    assert answer.where == f"{csv}:2"
    (answer,) = read(csv, "question_id,text\nw1,dog", item="question_id", response="text")
    assert (answer.item, answer.text, answer.metadata) == ("w1", "dog", {})
    (answer,) = read(csv, "item,response,participant\nw1,dog,S-014")
    assert (answer.run.origin, answer.run.participant, answer.run.model) == ("human", "S-014", "")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'item,response\nw1,one\nw2,"two, with\na line"\n'),
        ("a.csv", '\ufeffitem;response\r\nw1;one\r\nw2;"two, with\na line"\r\n'),
        ("a.tsv", 'item\tresponse\nw1\tone\nw2\t"two, with\na line"\n'),
        (
            "a.jsonl",
            '{"item": "w1", "response": "one"}\n\n{"item": "w2", "response": "two, with\\na line"}',
        ),
    ],
)
def test_separators_and_lines(tmp_path: Path, name: str, content: str) -> None:
    answers = read(tmp_path / name, content)
    assert [(answer.item, answer.text) for answer in answers] == [
        ("w1", "one"),
        ("w2", "two, with\na line"),
    ]


def test_null_is_no_answer_and_ratings_that_are_not_kept_are_counted(tmp_path: Path) -> None:
    lines = [{"item": "w1", "response": None}, {"item": "w2", "response": ""}]
    path = tmp_path / "a.jsonl"
    missing, empty = read(path, "\n".join(map(json.dumps, lines)))
    assert (missing.text, empty.text) == (None, "")
    raters = ("choice", "tab-2026:echo", "person:R1", "tab-2026:echo")
    line = {"item": "w1", "response": "dog", "ratings": [{"rater": rater} for rater in raters]}
    path.write_text(json.dumps(line))
    counts = {reason.split()[2]: n for reason, n in Table().read(path, {}).left_out.items()}
    assert counts == {"tab-2026:echo": 2, "person:R1": 1}


@pytest.mark.parametrize(
    ("content", "names", "expected"),
    [
        (
            "item,reponse\nw1,dog",
            {},
            "a.csv:1: there is no column 'response' (columns: item, reponse); allowed: name the "
            "column: --column response=NAME; did you mean 'reponse'?",
        ),
        ("response\ndog", {}, "a.csv:1: there is no column 'item' and no column 'prompt'"),
        (
            "id,response\nw1,dog",
            {"item": "idd"},
            "a.csv:1: --column item=idd: there is no such column; found 'idd'; allowed: id, "
            "response; did you mean 'id'?",
        ),
        ("item,response\nw1,dog", {"itm": "item"}, "there is no such field; found 'itm'"),
        (
            "item,response,temperature\nw1,dog,0\nw2,cat,warm",
            {},
            "a.csv:3: column 'temperature': this is not a number; found 'warm'; allowed: a number, "
            "or an empty cell",
        ),
        ("item,response,temperature\nw1,dog,NaN", {}, "this is not a number; found 'NaN'"),
        ("item,response,temperature\nw1,dog,11", {}, "allowed: a number from 0 to 10"),
        (
            "item,response,replicate\nw1,dog,-1",
            {},
            "a.csv:2: column 'replicate': this is not allowed; found '-1'; allowed: a whole number "
            "from 0",
        ),
        (
            "item,response,origin\nw1,dog,humn",
            {},
            "a.csv:2: column 'origin': this is not allowed; found 'humn'; allowed: human, model, "
            "unknown; did you mean 'human'?",
        ),
        ("item,response\nw1,dog,cat", {}, "a.csv:2: more cells than columns"),
        ('item,response\nw1,"dog', {}, "a.csv:2: this is not valid CSV: unexpected end of data"),
        ("item,response,item\nw1,dog,w1", {}, "a.csv:1: this column is given twice; found 'item'"),
        ("item,response\n", {}, "a.csv: there are no answers"),
        ("text,language\nhallo,de\nhello,en", {}, "allowed: de"),
        ("", {}, "a.csv: is empty"),
        (b"item,response\nw1,caf\xe9", {}, "a.csv:2: is not UTF-8: byte 0xe9"),
        (b"item,response\nw1,a\0b", {}, "a.csv:2: holds a NUL byte"),
        ("item,response\nw1,dog".encode("utf-16"), {}, "a.csv: is UTF-16"),
        (
            "item,response,rater,measure,value\nw1,dog,choice,exact,1",
            {},
            "a.csv:1: this is a table of ratings, with several rows for one answer; allowed: one "
            "row for each answer (export with --format jsonl)",
        ),
    ],
)
def test_what_is_wrong_in_a_csv(
    csv: Path, content: str | bytes, names: dict[str, str], expected: str
) -> None:
    assert expected in problem(csv, content, **names)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"item": "w1", "response": "a"}\n{"item": ', "a.jsonl:2: is not JSON"),
        ('{"item": "w1", "response": "a"}\n[1]', "a.jsonl:2: the line is an array"),
        (
            '{"item": "w1", "response": 3}',
            "a.jsonl:1: column 'response': this is not text; found 3",
        ),
        ('{"item": ["w1"], "response": "a"}', "a.jsonl:1: column 'item': this is not text"),
        (
            '{"item": "w1", "response": "a"}\n{"item": "w2"}',
            "a.jsonl:2: column 'response': this key is missing",
        ),
        (
            '{"item": "w1", "response": "a", "temperature": NaN}',
            "a.jsonl:1: column 'temperature': this is not a number; found nan",
        ),
        ('{"item": "w1", "response": "a", "replicate": true}', "this is not a number; found True"),
        ("[" * 100_000, "a.jsonl:1: "),
        ('{"item": "w1", "response": "a", "seed": ' + "9" * 5_000 + "}", "a.jsonl:1: "),
    ],
)
def test_what_is_wrong_in_json_lines(tmp_path: Path, content: str, expected: str) -> None:
    assert expected in problem(tmp_path / "a.jsonl", content)


def test_every_problem_is_listed_and_no_more_than_twenty(csv: Path) -> None:
    rows = "".join(f"w{number},a,warm\n" for number in range(25))
    message = problem(csv, "item,response,temperature\n" + rows)
    assert message.count("this is not a number") == 20
    assert "and 5 problems more" in message


def test_a_large_file_is_not_read(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tabwb_interchange import reading

    csv.write_text("item,response\nw1,dog\n")
    with pytest.raises(TabwbError, match="too large"):
        reading.read_bytes(csv, 10)
    with pytest.raises(TabwbError, match="is a directory"):
        reading.read_bytes(csv.parent)


def test_our_own_export_keeps_its_decoding(tmp_path: Path) -> None:
    decoding: dict[str, Any] = {"max_tokens": 64, "temperature": 0.7, "top_p": 1.0, "seed": 5}
    line = {"administration": "u1", "subtest": "words", "item": "w1", "replicate": 0}
    line |= {"prompt": "Which?", "response": "dog", "examinee": "echo", "kind": "model", "seed": 3}
    rows = [
        {**line, "origin": "model", "reply": {"decoding": decoding}},
        {**line, "item": "w2", "origin": "model", "reply": {"decoding": {"temperature": None}}},
    ]
    sampled, weighed = read(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert sampled.decoding.seed == 5
    assert sampled.run == weighed.run
    assert (sampled.run.seed, sampled.run.decoding.temperature) == (3, 0.7)


def test_conformance(csv: Path) -> None:
    csv.write_text("item,response\nw1,dog\n")
    check_importer("table", csv)
    with pytest.raises(AnswerProblems):
        read(csv, "a,b\n1,2")


def test_the_model_of_an_answer_has_family_tuning_and_size(csv: Path) -> None:
    header = "item,response,model,model_family,model_tuning,model_parameters"
    (answer,) = read(csv, f"{header}\nw1,dog,OLMo-2-1B,OLMo-2,base,1.48B")
    assert answer.run.labels == (
        ("family", "OLMo-2"), ("tuning", "base"), ("parameters", "1480000000"),
    )  # fmt: skip
    wrong = problem(csv, f"{header}\nw1,dog,m,F,chat,big")
    assert "'chat'" in wrong
    assert "base, instruct" in wrong
    assert "'big' is not a number of parameters" in wrong


def test_one_seed_of_all_answers_is_the_runs(csv: Path) -> None:
    rows = "item,response,administration,seed\nw1,a,x,7\nw2,b,x,7\nw1,c,y,1\nw2,d,y,2\n"
    assert [answer.run.seed for answer in read(csv, rows)] == [7, 7, None, None]
    assert [answer.decoding.seed for answer in read(csv, rows)] == [7, 7, 1, 2]


@pytest.mark.parametrize(
    ("name", "content", "names"),
    [
        ("t.csv", "text,source,group\nIt rained.,S-01,mild aphasia", {}),
        ("t.csv", "said,source,group\nIt rained.,S-01,mild aphasia", {"text": "said"}),
        ("t.jsonl", '{"text": "It rained.", "source": "S-01", "group": "mild aphasia"}', {}),
    ],
)
def test_texts_of_no_battery(
    tmp_path: Path, name: str, content: str, names: dict[str, str]
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = Table().read(path, names)
    (answer,) = found.answers
    assert (found.texts, found.language, answer.text) == (True, "en", "It rained.")
    assert (answer.run.origin, answer.run.participant) == (None, "S-01")
    assert answer.run.tags == ("mild-aphasia",)


PRAAT = Path(__file__).parents[1] / "data" / "praat"


def test_the_labels_of_a_tier_are_the_utterances_of_a_text() -> None:
    source = Tiers().read(PRAAT / "utf-8.TextGrid", {"tier": "words", "language": "de"})
    assert [answer.text for answer in source.answers] == ['dog\nTür "quoted" x\nɾʌbɚ 東']
    assert (source.language, source.texts, source.spoken) == ("de", True, True)
    assert len(Tiers().read(PRAAT, {"tier": "points"}).answers) == 5
    for names in ({}, {"tier": "Wort"}, {"Tier": "words"}):
        with pytest.raises(TabwbError):
            Tiers().read(PRAAT / "utf-8.TextGrid", names)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Tiers(), "a.TextGrid"),
        (Chat(), "a.cha"),
        (InspectLog(), "a.eval"),
        (LmEvalSamples(), "samples_a_2024.jsonl"),
    ],
)
def test_a_link_out_of_a_folder_is_not_read(tmp_path: Path, source: Importer, name: str) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (tmp_path / name).write_text("private")
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match="outside the folder"):
        source.read(folder, {})
    grid, sound = folder / "b.TextGrid", folder / "b.wav"
    grid.write_bytes((PRAAT / "utf-8.TextGrid").read_bytes())
    sound.symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match="outside the folder"):
        read_annotations(grid)
    sound.unlink()
    sound.write_bytes(b"own")
    assert read_annotations(grid).sound == sound

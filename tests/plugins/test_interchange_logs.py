"""Files of inspect_ai and lm-evaluation-harness, written by themselves: what is read of them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_interchange import reading as zips
from tabwb_interchange.inspect_log import InspectLog
from tabwb_interchange.lm_eval import LmEvalSamples
from tabwb_interchange.reading import Archive

from tabwb.plugin_api import TabwbError, UsageError
from tabwb.records.answers import KnownDecoding
from tabwb.records.states import Protocol, StopReason
from tabwb.testing import check_importer

DATA = Path(__file__).parents[1] / "data" / "interchange"
LOG = DATA / "words.eval"
SAMPLES = DATA / "lm-eval"
Json = dict[str, Any]


def test_a_log_of_inspect() -> None:
    pytest.importorskip("zstandard")
    read = InspectLog().read(LOG, {})
    assert read.title == "inspect_ai 0.3.285, task words"
    assert [(a.item, a.replicate, a.text) for a in read.answers] == [
        ("wc1", 0, "lion"), ("unknown-7", 0, "Paris"), ("x3", 0, "violin"), ("wc1", 1, "The drum"),
        ("unknown-7", 1, "Paris"), ("x3", 1, "violin."),
    ]  # fmt: skip
    answer = read.answers[3]
    assert answer.decoding == KnownDecoding(max_tokens=64, temperature=0.7, seed=42)
    assert (answer.run.model, answer.run.seed) == ("mockllm/model", 42)
    assert answer.prompt.startswith("Which one is an animal with a mane? (lion")
    assert [(turn.role, turn.content) for turn in answer.messages] == [("user", answer.prompt)]
    assert (answer.prompt_tokens, answer.reply_tokens) == (11, 2)
    assert answer.given_at == "2026-11-22T11:43:52.354+00:00"
    assert answer.metadata["source.score.match"] == "I"
    assert answer.metadata["source.note"] == "é"


def log(tmp_path: Path, *samples: Json, **header: Any) -> Path:
    spec = {"task": "t", "model": "m", "created": "2026-01-02T03:04:05+00:00"}
    whole = {"version": 2, "status": "success", "eval": spec, **header, "samples": list(samples)}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def sample(**more: Any) -> Json:
    return {"id": 1, "epoch": 1, "input": "Which?", "output": {"completion": "dog"}, **more}


def test_a_json_log_and_its_conversation(tmp_path: Path) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "attachment://a1"},
        {"role": "assistant", "content": "cat"},
        {"role": "user", "content": [{"type": "text", "text": "Which one barks?"}]},
        {"role": "assistant", "content": "ignored for the output"},
    ]
    reply = {
        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a dog"}]
    }
    output = {"choices": [{"message": reply, "stop_reason": "max_tokens"}], "time": 0.5}
    path = log(
        tmp_path,
        sample(
            messages=turns, attachments={"a1": "Which one swims?"}, output=output, choices=["a"]
        ),
    )
    assert InspectLog().recognises(path)
    (answer,) = InspectLog().read(path, {}).answers
    assert (answer.text, answer.stop_reason) == ("a dog", StopReason.LENGTH)
    assert [turn.content for turn in answer.messages] == [
        "Be brief.", "Which one swims?", "cat", "Which one barks?",
    ]  # fmt: skip
    assert (answer.prompt, answer.latency_s, answer.options) == ("Which one barks?", 0.5, ("a",))
    assert answer.item == "1"


@pytest.mark.parametrize(
    ("given", "text", "stop_reason", "reasoning"),
    [
        ({"stop_reason": "stop"}, "x", StopReason.END, ""),
        ({"stop_reason": "model_length"}, "x", StopReason.LENGTH, ""),
        ({"stop_reason": "content_filter"}, "x", StopReason.REFUSED, ""),
        ({"stop_reason": "unknown"}, "x", StopReason.END, ""),
        ({"reasoning": "A mane."}, "lion", StopReason.END, "A mane."),
        ({"reasoning": "A mane.", "summary": "Hair."}, "lion", StopReason.END, "A mane."),
        ({"reasoning": "gAAAA=", "redacted": True, "summary": "Hair."}, "lion", StopReason.END,
         "Hair."),
        ({"reasoning": "gAAAA=", "redacted": True}, "lion", StopReason.END, ""),
    ],
)  # fmt: skip
def test_stop_reasons_and_reasoning_of_inspect(
    tmp_path: Path, given: dict[str, object], text: str, stop_reason: StopReason, reasoning: str
) -> None:
    content: object = "x"
    if "reasoning" in given:
        content = [{"type": "reasoning", **given}, {"type": "text", "text": "lion"}]
    reason = given.get("stop_reason", "stop")
    output = {"choices": [{"message": {"content": content}, "stop_reason": reason}]}
    (answer,) = InspectLog().read(log(tmp_path, sample(output=output)), {}).answers
    assert (answer.text, answer.stop_reason, answer.reasoning) == (text, stop_reason, reasoning)


def test_samples_in_error_have_no_answer_and_invalidated_ones_are_left_out(tmp_path: Path) -> None:
    failed = sample(output={"completion": ""}, error={"message": "timed out"})
    read = InspectLog().read(log(tmp_path, failed, sample(invalidation={"author": "x"})), {})
    (answer,) = read.answers
    assert (answer.text, answer.error) == (None, "timed out")
    assert read.left_out == {"invalidated samples": 1}
    with pytest.raises(UsageError, match="--column response=x: the fields of the format 'inspect'"):
        InspectLog().read(log(tmp_path, sample()), {"response": "x"})
    with pytest.raises(TabwbError, match="the log has no samples"):
        InspectLog().read(log(tmp_path), {})


def test_samples_of_lm_eval() -> None:
    read = LmEvalSamples().read(SAMPLES, {})
    generated = [a for a in read.answers if a.run.protocol is Protocol.GENERATE]
    chosen = [a for a in read.answers if a.run.protocol is Protocol.LIKELIHOOD]
    assert [(a.item, a.replicate, a.text) for a in generated] == [
        *(("wc1", replicate, "lol") for replicate in range(3)),
        *(("wc2", replicate, "lol") for replicate in range(3)),
    ]
    first = generated[0]
    assert first.decoding == KnownDecoding(32, 0.5, None, ("\n",), None)
    assert first.prompt == "Q: Which one is an animal with a mane?\nA:"
    assert first.question == "Which one is an animal with a mane?"
    assert (first.run.model, first.run.seed) == ("made/up-7b", 1234)
    assert first.run.session_date == "2026-11-22"
    assert dict(first.run.facts)["model_source"] == "dummy"
    # The largest of the logarithms in the file: -0.0898 of wc1, -0.3913 of wc2.
    assert [(a.item, a.text) for a in chosen] == [("wc1", "giraffe"), ("wc2", "boat")]
    assert chosen[0].options == ("lion", "drum", "violin", "giraffe", "boot", "boat")
    assert json.loads(chosen[0].metadata["option_log_probabilities"])[3] == -0.089824


def line(**more: Any) -> Json:
    return {
        "doc_id": 0,
        "doc": {"id": "w1", "question": "Which one barks?"},
        "arguments": {"gen_args_0": {"arg_0": "Which one barks?", "arg_1": {"do_sample": False}}},
        "resps": [["dog"]],
        "filter": "none",
        **more,
    }


def samples(tmp_path: Path, *lines: Json | str) -> Path:
    path = tmp_path / "samples_words_2026-01-02T03-04-05.jsonl"
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text(text, encoding="utf-8")
    return path


def test_one_answer_for_all_filters_of_a_document(tmp_path: Path) -> None:
    read = LmEvalSamples().read(samples(tmp_path, line(), line(filter="strict")), {})
    assert [answer.text for answer in read.answers] == ["dog"]
    assert read.answers[0].decoding.temperature == 0.0
    assert read.left_out == {"lines of further filters": 1}


def test_a_chat_and_letters_for_options(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]
    context = json.dumps(turns)
    letters = {
        f"gen_args_{at}": {"arg_0": context, "arg_1": f" {sign}"} for at, sign in enumerate("AB")
    }
    doc = {"id": "w1", "question": "Which?", "choices": {"text": ["dog", "cup"]}}
    weighed = [[["-2.5", "False"]], [["-0.5", "True"]]]
    path = samples(tmp_path, line(doc=doc, arguments=letters, resps=weighed))
    (answer,) = LmEvalSamples().read(path, {}).answers
    assert (answer.text, answer.options, answer.prompt) == ("cup", ("dog", "cup"), "Which?")
    assert [turn.role for turn in answer.messages] == ["system", "user"]


def test_tasks_over_other_documents_are_one_run_and_over_the_same_of_their_own(
    tmp_path: Path,
) -> None:
    asked = {f"gen_args_{at}": {"arg_0": "Which?", "arg_1": f" {o}"} for at, o in enumerate("xy")}
    weighed = [[["-2.5", "False"]], [["-0.5", "True"]]]
    other = line(doc={"id": "w2"}, arguments=asked, resps=weighed)
    samples(tmp_path, line()).rename(tmp_path / "samples_a_2026.jsonl")
    samples(tmp_path, other).rename(tmp_path / "samples_b_2026.jsonl")
    runs = {answer.run for answer in LmEvalSamples().read(tmp_path, {}).answers}
    assert [run.protocol for run in runs] == [Protocol.LIKELIHOOD]
    samples(tmp_path, line()).rename(tmp_path / "samples_b_2026.jsonl")
    read = LmEvalSamples().read(tmp_path, {})
    assert len({answer.run.id for answer in read.answers}) == 2


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("{", "is not JSON"),
        ("[1]", "the line is an array"),
        (line(doc_id="x"), "'doc_id' is 'x'"),
        (line(doc=None), "'doc' is missing"),
        (line(arguments=[]), "'arguments' is an array"),
        (line(resps=[]), "'resps' is "),
    ],
)
def test_what_is_wrong_in_samples(tmp_path: Path, wrong: Json | str, expected: str) -> None:
    with pytest.raises(TabwbError, match=expected) as caught:
        LmEvalSamples().read(samples(tmp_path, line(), wrong), {})
    assert (caught.value.where or "").endswith(".jsonl:2")
    rolling = line(arguments={"gen_args_0": {"arg_0": "Some text."}}, resps=[[-12.5]])
    with pytest.raises(TabwbError, match="hold no answers"):  # perplexities
        LmEvalSamples().read(samples(tmp_path, rolling), {})


def test_conformance(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    check_importer("inspect", LOG)
    check_importer("lm-eval", SAMPLES)
    results = next(SAMPLES.rglob("results_*.json"))
    assert len(LmEvalSamples().read(results, {}).answers) == 8


WRONG: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 1e308, float("nan"), "", "x", [], {}, [[]], {"a": 1}, 10**30, "\ud800"]
)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value in which some values are of another type, or missing."""
    if draw(st.integers(0, 19)) == 0:
        return draw(WRONG)
    if isinstance(value, dict):
        return {key: draw(damaged(part)) for key, part in value.items() if draw(st.integers(0, 19))}
    if isinstance(value, list):
        return [draw(damaged(part)) for part in value]
    return value


@given(st.data())
def test_values_of_the_wrong_type_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    turns = [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "dog"}]
    spec = {"task": "t", "model": "m", "created": "2026-01-02", "config": {"epochs": 1}}
    whole = {"version": 2, "eval": spec, "samples": [sample(messages=turns, scores={"s": {}})]}
    path = folder / "damaged.json"
    path.write_text(json.dumps(data.draw(damaged(whole))), encoding="utf-8")
    with suppress(TabwbError):
        assert InspectLog().read(path, {}).answers
    path = folder / "samples_damaged_2026.jsonl"
    path.write_text(json.dumps(data.draw(damaged(line()))), encoding="utf-8")
    with suppress(TabwbError):
        assert LmEvalSamples().read(path, {}).answers


def test_a_folder_of_logs_is_read_as_one_source(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    archives, texts, empty = (tmp_path / name for name in ("archives", "texts", "empty"))
    for folder in (archives, texts, empty):
        folder.mkdir()
    for name in ("a.eval", "b.eval"):
        (archives / name).write_bytes(LOG.read_bytes())
    read = InspectLog().read(archives, {})
    assert (read.title, len(read.answers)) == ("2 logs of inspect_ai", 12)
    assert [path.name for path in read.files] == ["a.eval", "b.eval"]
    for number in (1, 2):
        log(texts, sample(id=number)).rename(texts / f"{number}.json")
    (texts / "other.json").write_text("{}", encoding="utf-8")
    read = InspectLog().read(texts, {})
    assert (len(read.files), {answer.item for answer in read.answers}) == (2, {"1", "2"})
    known = [InspectLog().recognises(folder) for folder in (archives, texts, empty)]
    assert known == [True, True, False]


HEADER = '{"version": 2, "eval": {"task": "t", "model": "m", "created": "2026-01-02"}}'
SAMPLE = '{"id": "w1", "epoch": 1, "input": "a", "output": {"completion": "dog"}}'


def packed(
    path: Path, members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def log_with(tmp_path: Path) -> Path:
    return tmp_path / "a.eval"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read(log_with: Path, method: int) -> None:
    packed(log_with, {"a.json": "x" * 100_000, "b.json": ""}, method)
    with Archive.opened(log_with) as archive:
        assert archive.read("a.json") == b"x" * 100_000
        assert archive.read("b.json") == b""
    # Of two members with one name the last is read.
    with zipfile.ZipFile(log_with, "w") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("a", "first")
        file.writestr("a", "second")
    with Archive.opened(log_with) as archive:
        assert (archive.names, archive.read("a")) == (("a",), b"second")


def test_members_of_zstandard_are_read(log_with: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = HEADER.encode() * 1_000
    # Two frames one after the other, as inspect_ai writes large members.
    frames = zstandard.compress(text[:20_000]) + zstandard.compress(text[20_000:])
    content = packed(log_with, {"a.json": frames}, zipfile.ZIP_STORED).read_bytes()
    stored = zipfile.ZipFile(io.BytesIO(content)).getinfo("a.json")
    content = content.replace(struct.pack("<L", stored.CRC), struct.pack("<L", zlib.crc32(text)))
    central = content.index(b"PK\1\2")
    log_with.write_bytes(content[: central + 10] + struct.pack("<H", 93) + content[central + 12 :])
    with Archive.opened(log_with) as archive:
        assert archive.read("a.json") == text


def test_no_member_sum_or_table_of_contents_beyond_its_limit_is_read(
    log_with: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "MOST_MEMBER", 1_000_000)
    bomb = packed(log_with, {"a.json": b" " * 10_000_000}).read_bytes()
    # One that tells its size, and one that lies about it.
    lying = bomb.replace(struct.pack("<L", 10_000_000), struct.pack("<L", 10))
    for content in (bomb, lying):
        log_with.write_bytes(content)
        with Archive.opened(log_with) as archive, pytest.raises(TabwbError, match="too large"):
            archive.read("a.json")
    monkeypatch.setattr(zips, "MOST_WHOLE", 2_500)
    packed(log_with, {f"{name}.json": b"x" * 1_000 for name in "abc"})
    with Archive.opened(log_with) as archive:
        archive.read("a.json")
        archive.read("b.json")
        with pytest.raises(TabwbError, match="too large"):
            archive.read("c.json")
    packed(log_with, {f"{number}": "" for number in range(100)})
    monkeypatch.setattr(zips, "MOST_DIRECTORY", 1_000)
    with pytest.raises(TabwbError, match="too many members"), Archive.opened(log_with):
        pass


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda content: b"", "is not a zip archive"),
        (lambda content: b"PK\3\4" + b"\0" * 40, "is not a zip archive"),
        (lambda content: content[:-30], "zip archive"),
        (lambda content: content.replace(b"dog", b"cat"), "checksum is wrong"),
        (lambda content: content.replace(b"PK\3\4", b"PK\3\5"), "has no header"),
    ],
)
def test_damaged_archives(log_with: Path, change: object, expected: str) -> None:
    members = {"header.json": HEADER, "samples/a.json": SAMPLE}
    content = packed(log_with, members, zipfile.ZIP_STORED).read_bytes()
    assert callable(change)
    log_with.write_bytes(change(content))
    with pytest.raises(TabwbError, match=expected):
        InspectLog().read(log_with, {})


def test_names_that_lead_out_of_the_archive_lead_nowhere(log_with: Path) -> None:
    members = {"header.json": HEADER, "samples/../../evil.json": SAMPLE, "../x.json": "?"}
    (answer,) = InspectLog().read(packed(log_with, members), {}).answers
    assert answer.text == "dog"
    assert [path.name for path in log_with.parent.iterdir()] == ["a.eval"]
    assert not (log_with.parent.parent / "x.json").exists()


@pytest.mark.parametrize(
    ("header", "sample", "expected"),
    [
        ("[]", SAMPLE, "it is an array; allowed: a JSON object|it is an array"),
        ('{"version": 3, "eval": {}}', SAMPLE, "its format version is 3"),
        ('{"version": 2}', SAMPLE, "'eval' is missing"),
        (HEADER, "{", "is not JSON"),
        (HEADER, "[" * 50_000, "cannot be read"),
        (HEADER, '{"id": "w1", "epoch": "one"}', "'epoch' is 'one'"),
        (HEADER, b'{"id": "\xff"}', "is not UTF-8: byte 0xff"),
    ],
)
def test_members_that_are_something_else(
    log_with: Path, header: str, sample: str | bytes, expected: str
) -> None:
    with pytest.raises(TabwbError, match=expected):
        InspectLog().read(packed(log_with, {"header.json": header, "samples/a.json": sample}), {})


def test_numbers_of_the_wrong_kind_are_not_known(log_with: Path) -> None:
    header = HEADER.replace(
        '"model": "m"',
        '"model": "m", "model_generate_config": '
        '{"temperature": NaN, "max_tokens": "many", "seed": 1e400}',
    )
    sample = SAMPLE[:-1] + ', "working_time": -1, "completed_at": "soon", "scores": {"s": null}}'
    members = {"header.json": header, "samples/a.json": sample}
    (answer,) = InspectLog().read(packed(log_with, members), {}).answers
    assert answer.decoding.temperature is answer.decoding.max_tokens is answer.decoding.seed is None
    assert (answer.latency_s, answer.given_at, answer.run.session_date) == (None, "", "2026-01-02")

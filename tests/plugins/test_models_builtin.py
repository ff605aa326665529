"""Streaming text: pieces, stop strings, templates. Nothing here needs torch."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_builtin.models import ReplayModel, stream_text
from tabwb_transformers.prompts import PLAIN, load_template
from tabwb_transformers.writing import TextStream

from tabwb.administer.session import plan, setup
from tabwb.host.plugins import Plugins
from tabwb.plugin_api import StopStrings
from tabwb.plugin_api.components import ModelBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request
from tabwb.records.states import Protocol, StopReason


def asked(text: str, decoding: Decoding | None = None, **more: object) -> Request:
    return Request((Message("user", text),), decoding or Decoding(), **more)  # type: ignore[arg-type]


def answer(backend: ModelBackend, request: Request) -> tuple[list[str], Reply]:
    *pieces, reply = backend.reply(request, threading.Event())
    assert isinstance(reply, Reply)
    return [str(piece) for piece in pieces], reply


@given(st.text())
def test_pieces_join_to_the_reply(text: str) -> None:
    *pieces, reply = stream_text(text, Decoding(10_000), threading.Event())
    assert isinstance(reply, Reply)
    assert "".join(map(str, pieces)) == reply.text == text


def test_echo_says_the_last_message_word_by_word_or_what_it_is_told(plugins: Plugins) -> None:
    echo = plugins.open_model("echo")
    pieces, reply = answer(echo, asked(" two  words\n"))
    assert pieces == [" two", "  words\n"]
    assert (reply.text, reply.stop_reason) == (" two  words\n", StopReason.END)
    assert (reply.prompt_tokens, reply.reply_tokens) == (2, 2)
    _, reply = answer(echo, asked("one two three", Decoding(max_tokens=2)))
    assert (reply.text, reply.stop_reason) == ("one two", StopReason.LENGTH)
    _, reply = answer(echo, asked("one two three", Decoding(stop=("three", " two"))))
    assert (reply.text, reply.stop_reason) == ("one", StopReason.STOP_STRING)
    assert answer(plugins.open_model("echo@text=Yes"), asked("No?"))[1].text == "Yes"
    for protocol in (Protocol.ENFORCED, Protocol.LIKELIHOOD):
        with pytest.raises(ComponentError, match="allowed: generate"):
            answer(echo, asked("x", protocol=protocol))


def test_echo_waits_before_each_word_and_stops_at_once(plugins: Plugins) -> None:
    echo = plugins.open_model("echo@delay=30")
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    started = time.monotonic()
    (reply,) = echo.reply(asked("hello"), cancel)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.stop_reason) == ("", StopReason.CANCELLED)
    assert time.monotonic() - started < 25


def line(**changes: object) -> str:
    content: dict[str, object] = {
        "administration": "0190-a", "subtest": "words", "item": "w1", "replicate": 0,
        "prompt": "?", "response": " a  lion.\n", "status": "ok", "latency_s": 1.5, "ratings": [],
    }  # fmt: skip
    return json.dumps({**content, **changes}, ensure_ascii=False)


def test_a_replay_without_a_number_gives_all_replicates_of_the_file(
    plugins: Plugins, tmp_path: Path
) -> None:
    path = written(tmp_path, *(line(replicate=n, response=str(n)) for n in range(3)))
    asked_for = Conditions(f"replay:{path}", "model")
    assert plan.recorded_replicates(plugins, asked_for) == 3
    battery = setup.find_battery(plugins, "tab")
    said = plan.idle_replicates(plugins, battery, asked_for)
    assert "holds 3 replicates" in said
    assert plan.idle_replicates(plugins, battery, replace(asked_for, replicates=3)) == ""
    assert plan.recorded_replicates(plugins, Conditions("replay:/none.jsonl", "model")) == 0
    assert plan.recorded_replicates(plugins, Conditions("echo", "model")) == 0


@pytest.mark.parametrize("replicate", [-1, 100_000, 10**30])
def test_a_replicate_that_no_run_can_give_is_refused(tmp_path: Path, replicate: int) -> None:
    with pytest.raises(ComponentError, match="'replicate' is"):
        ReplayModel(written(tmp_path, line(replicate=replicate))).open()


@pytest.mark.parametrize(("second", "drawn"), [("No.", True), ("Yes.", False)])
def test_answers_that_were_sampled_stay_so_when_replayed(
    plugins: Plugins, tmp_path: Path, second: str, drawn: bool
) -> None:
    path = written(
        tmp_path,
        line(response="Yes."),
        line(replicate=1, response=second),
        line(item="w2", response="Yes."),
        line(item="w3", response="Yes.", reply={"decoding": {"temperature": 0.0}}),
        line(item="w4", reply={"decoding": {"temperature": 0.7}}),
        line(item="w5", reply=None),
        line(administration="another", item="w6", response="No."),
    )
    replay = plugins.open_model(f"replay:{path}")
    noted = [answer(replay, asked("", key=f"words/w{n}"))[1].metadata for n in range(1, 7)]
    # What the file states holds, answers to one prompt that differ were sampled, with all of
    # their run; and another administration is another run.
    assert ["replayed_sampled" in one for one in noted] == [drawn, drawn, False, True, drawn, False]


def written(folder: Path, *lines: str) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_replay_says_what_was_said(plugins: Plugins, tmp_path: Path) -> None:
    path = written(tmp_path, line(), "", line(replicate=1, response="", status="empty"))
    replay = plugins.open_model(f"replay:{path}")
    facts = replay.open()
    assert (facts["answers"], len(facts["file_sha256"])) == ("2", 64)
    pieces, reply = answer(replay, asked("ignored", Decoding(1), key="words/w1"))
    assert "".join(pieces) == reply.text == " a  lion.\n"
    decoding = ("max_tokens", "temperature", "top_p", "stop", "seed")
    assert reply.metadata == {
        **dict.fromkeys(decoding, "not sent"),
        "replayed_administration": "0190-a",
        "replayed_line": "1",
        "replayed_sampled": "yes",  # two answers to one prompt that differ
    }
    assert answer(replay, asked("ignored", key="words/w1", replicate=1))[1].text == ""
    with pytest.raises(ComponentError, match=r"holds no answer to words/w1 \(replicate 2\)"):
        answer(replay, asked("", key="words/w1", replicate=2))


@given(st.text().filter(lambda text: "\ud800" not in text))
def test_any_answer_survives(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        replay = ReplayModel(written(Path(folder), line(response=text)))
        assert answer(replay, asked("", key="words/w1"))[1].text == text


def test_the_stop_reason_is_read_from_the_status(plugins: Plugins, tmp_path: Path) -> None:
    reasons = {
        "ok": StopReason.END, "truncated": StopReason.LENGTH, "refused": StopReason.REFUSED
    }  # fmt: skip
    lines = (line(status=status, item=status) for status in reasons)
    replay = plugins.open_model(f"replay:{written(tmp_path, *lines)}")
    for status, reason in reasons.items():
        assert answer(replay, asked("", key=f"words/{status}"))[1].stop_reason is reason


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{", "answers.jsonl:2: is not JSON"),
        ("[]", "answers.jsonl:2: is not a JSON object"),
        (line(replicate="0"), "answers.jsonl:2: 'replicate' is '0'"),
        (line(replicate=True), "answers.jsonl:2: 'replicate' is True"),
        (line(response=None), "answers.jsonl:2: 'response' is None"),
        ('{"subtest": "a"}', "answers.jsonl:2: 'item' is missing"),
        (line(administration="0190-b"), "administration=0190-b"),
        (line(administration="0190-b", prompt="other"), "administration=0190-b"),
        (line(), "the first is in line 1"),
    ],
)
def test_a_malformed_line_is_named(plugins: Plugins, tmp_path: Path, bad: str, words: str) -> None:
    replay = plugins.open_model(f"replay:{written(tmp_path, line(), bad)}")
    with pytest.raises(ComponentError) as caught:
        replay.open()
    assert words in str(caught.value)


def test_one_administration_of_several_is_chosen(plugins: Plugins, tmp_path: Path) -> None:
    path = written(tmp_path, line(), line(administration="0190-b", response="drum"))
    replay = plugins.open_model(f"replay:{path}@administration=0190-b")
    replay.open()
    assert answer(replay, asked("", key="words/w1"))[1].text == "drum"
    with pytest.raises(ComponentError, match="holds no answers of administration 'x'"):
        plugins.open_model(f"replay:{path}@administration=x").open()


def test_an_item_given_with_rotated_options_is_answered_by_its_prompt(
    plugins: Plugins, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        line(prompt="? (lion, drum)", response="lion"),
        line(prompt="? (drum, lion)", response="drum"),
    )
    replay = plugins.open_model(f"replay:{path}")
    assert replay.open()["answers"] == "2"
    for prompt, said in (("? (drum, lion)", "drum"), ("? (lion, drum)", "lion")):
        assert answer(replay, asked(prompt, key="words/w1"))[1].text == said
    with pytest.raises(ComponentError, match="holds no answer"):
        answer(replay, asked("? (kite, lion)", key="words/w1"))


def test_a_file_that_is_not_there_or_not_text_is_said(plugins: Plugins, tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="No such file"):
        plugins.open_model(f"replay:{tmp_path}/none.jsonl").open()
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(b"{}\n\xff")
    with pytest.raises(ComponentError, match=r"bytes\.jsonl:2: is not UTF-8"):
        plugins.open_model(f"replay:{path}").open()


def decode_bytes(tokens: Sequence[int]) -> str:
    """The least tokenizer: a token is a byte."""
    return bytes(tokens).decode("utf-8", errors="replace")


def decode_words(tokens: Sequence[int]) -> str:
    """Like SentencePiece: every token is a word with a space, the first of a text without."""
    return "".join(f" w{token}" for token in tokens)[1:]


@given(st.text(st.characters(codec="utf-8")))
def test_characters_over_several_tokens_come_whole(text: str) -> None:
    stream = TextStream(decode_bytes, list(b"prompt: "))
    pieces = [stream.feed(token) for token in text.encode("utf-8")]
    assert "".join(pieces) + stream.flush() == text
    if "\N{REPLACEMENT CHARACTER}" not in text:
        assert all("\N{REPLACEMENT CHARACTER}" not in piece for piece in pieces)


@given(st.binary())
def test_bytes_that_are_no_text_are_not_lost(raw: bytes) -> None:
    stream = TextStream(decode_bytes, list(b"p"))
    joined = "".join(stream.feed(token) for token in raw) + stream.flush()
    sound = joined.replace("\N{REPLACEMENT CHARACTER}", "")
    expected = decode_bytes(raw).replace("\N{REPLACEMENT CHARACTER}", "")
    assert sound == expected


@given(st.lists(st.integers(0, 9), min_size=1))
def test_the_first_space_of_a_reply_is_kept(tokens: list[int]) -> None:
    stream = TextStream(decode_words, [1, 2, 3])
    pieces = [stream.feed(token) for token in tokens]
    assert pieces == [f" w{token}" for token in tokens]


small = st.text("ab\n", max_size=30)


@given(st.lists(small), st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3))
def test_a_reply_ends_before_the_first_stop_string(pieces: list[str], stops: list[str]) -> None:
    filtered = StopStrings(stops)
    got = "".join(filtered.feed(piece) for piece in pieces) + filtered.flush()
    whole = "".join(pieces)
    places = [whole.find(stop) for stop in stops if stop in whole]
    if filtered.found is None:
        assert not places
        assert got == whole
    else:
        # Piece by piece a short stop string may end the reply before a longer one is complete.
        assert whole.startswith(got + filtered.found)
        assert got == whole[: whole.find(filtered.found)]


@given(small, st.text("ab\n", min_size=1, max_size=4))
def test_one_stop_string_cuts_where_it_begins(whole: str, stop: str) -> None:
    filtered = StopStrings([stop])
    got = "".join(filtered.feed(letter) for letter in whole) + filtered.flush()
    assert got == whole.partition(stop)[0]


def test_the_plain_template_writes_a_conversation() -> None:
    template = load_template(PLAIN)
    messages = [
        Message("system", "Be brief."),
        Message("user", "Is {content} a word?"),
        Message("assistant", " No."),
        Message("user", "Sure?"),
    ]
    assert template.render(messages) == (
        "Be brief.\n\nQuestion: Is {content} a word?\nAnswer: No.\n\nQuestion: Sure?\nAnswer:"
    )
    assert template.stop == ("\nQuestion:", "\nAnswer:")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('id = "plain-1"\n', "", "id: must be a string"),
        ("{content}\\n\\n", "", "must hold {content}"),
        ("stop = [", "stop = 3 #", "stop: must be a list"),
        ("opening =", "openin =", "openin: unknown key"),
        ("opening =", "opening", "plain.toml:7"),
    ],
)
def test_a_malformed_template_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "plain.toml"
    text = PLAIN.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ComponentError) as caught:
        load_template(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)

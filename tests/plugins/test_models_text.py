"""Streaming text: pieces, stop strings, templates. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_transformers.templates import PLAIN, load_template
from tabwb_transformers.text import TextStream

from tabwb.plugin_api import StopStrings
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message


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

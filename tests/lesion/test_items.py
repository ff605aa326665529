"""The items of the localizer: what is shipped, and files of one's own."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import pytest

from tabwb.lesion.localizer import read_items, shipped_items
from tabwb.records.errors import UsageError
from training.localizer.build import written

SHIPPED = "cb09cfb0d38d429f90a3fc590e3e80168bf358830c93687be114d1c179977738"
"""Other items need another id: stored lesions name the items by it."""


def words(text: str) -> list[str]:
    assert text[0].isupper() and text.endswith(".")
    return text[:-1].lower().split(" ")


def test_nonwords_are_matched_in_words_and_letters_place_by_place() -> None:
    items = shipped_items()
    assert len(items.first.texts) == len(items.second.texts) == 80
    for sentence, nonwords in zip(items.first.texts, items.second.texts, strict=True):
        assert len(words(sentence)) == 12
        assert list(map(len, words(sentence))) == list(map(len, words(nonwords))), nonwords


def test_nonwords_are_no_words_and_none_comes_twice_in_a_list() -> None:
    items = shipped_items()
    known = set(files("tabwb.scoring").joinpath("data", "words.txt").read_text("ascii").split())
    known |= {word for text in items.first.texts for word in words(text)}
    nonwords = [words(text) for text in items.second.texts]
    assert not known & {word for several in nonwords for word in several}
    assert all(len(set(several)) == 12 for several in nonwords)
    long = [word for several in nonwords for word in several if len(word) > 3]
    assert len(long) == len(set(long))
    assert len(set(items.first.texts)) == 80


def test_the_script_gives_the_shipped_bytes() -> None:
    place = files("tabwb.lesion") / "data" / "language-1.toml"
    assert place.read_bytes() == written().encode()
    assert shipped_items().sha256 == SHIPPED
    assert shipped_items().contrast == "sentences > nonwords"


def test_items_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "items.toml"
    path.write_text(
        'format = 1\nname = "verbs"\n'
        '[first]\nlabel = "verbs"\ntexts = ["a", "b", "c", "d"]\n'
        '[second]\nlabel = "nouns"\ntexts = ["e", "f", "g", "h", "i"]\n'
    )
    items = read_items(path)
    assert (items.name, items.contrast, len(items.second.texts)) == ("verbs", "verbs > nouns", 5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x", "is not TOML"),
        ("format = 2\nname = 'a'", "of format 1"),
        ("format = 1", "of format 1"),
        ("format = 1\nname = 'a'\nfirst = []", r"no table \[first\]"),
        ("format = 1\nname = 'a'\nfirst = {label = 'a', texts = [' ']}", "empty or no text"),
        ("x = " + "9" * 5000, "is not TOML"),
        ("x = " + "[" * 5000, "is not TOML"),
        ("format = 1\nname = '" + "a" * 101 + "'", "a name that cannot be shown"),
        ("format = 1\nname = 'a'\nfirst = {label = '', texts = ['b']}", "first.label that cannot"),
        (
            "format = 1\nname = 'a'\nfirst = {label = 'a', texts = ['b', 'c', 'd', 'e']}\n"
            "second = {label = 'a', texts = ['f', 'g', 'h', 'e']}",
            "has a text twice: 'e'",
        ),
        ("format = 1\nname = 'a'\nfirst = {label = 'a', texts = ['b']}", "has 1 texts"),
    ],
)
def test_files_that_are_no_items(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "items.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=message) as caught:
        read_items(path)
    assert caught.value.where == str(path)


def test_items_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_items(tmp_path / "none.toml")


def test_a_pipe_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is not a regular file"):
        read_items(tmp_path / "pipe")

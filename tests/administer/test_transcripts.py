"""Transcribers are plugins: what one of them gives wrong harms no other response."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

import pytest

from tabwb.administer.transcription.transcribe import Job, Transcribing, checked
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import ComponentError
from tabwb.records.speech import Segment, Transcript

DOG = Path(__file__).parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"
GOOD = Segment("D", 0.1, 0.2, 1.0)
ODD = """
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.speech import Transcript


class Odd:
    unit = "phonemes"

    def __init__(self, name):
        self.name = name

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        if self.name == "raises":
            raise ValueError("boom")
        yield 0, None
        yield 7, Transcript("x", "empty")

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("raises", "Raises", lambda spec, options: Odd("raises")))
    register(Descriptor("miscounts", "Miscounts", lambda spec, options: Odd("miscounts")))
"""


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Plugins]:
    (tmp_path / "pyproject.toml").write_text('[project.entry-points.tabwb]\nodd = "odd_ears"\n')
    (tmp_path / "odd_ears.py").write_text(ODD)
    loaded = Plugins.load(Configuration(plugin_folders=(tmp_path,)))
    yield loaded
    loaded.close()


@pytest.mark.parametrize(
    ("segments", "wrong"),
    [
        ((Segment("d", 0.1, 0.2),), "'d' is not a phoneme"),
        ((Segment("D", nan, 0.2),), "is not a valid stretch"),
        ((Segment("D", 0.3, 0.2),), "is not a valid stretch"),
        ((Segment("D", 0.1, inf),), "is not a valid stretch"),
        ((Segment("D", 0.1, 0.2, nan),), "nan is not a confidence"),
        ((Segment("AO", 0.3, 0.4), GOOD), "not in order of time"),
        ((Segment("D", None, None),), "its values are not valid: TypeError"),  # type: ignore[arg-type]
        ((Segment("D", "0.1", "0.2"),), "its values are not"),  # type: ignore[arg-type]
        (("D", "AO"), "its values are not valid: AttributeError"),
        (None, "its values are not"),
    ],
)
def test_a_transcript_against_the_contract_is_in_error(
    segments: tuple[Segment, ...], wrong: str
) -> None:
    found = checked(Transcript("x", "ok", segments), "y")
    assert (found.transcriber, found.status, found.segments) == ("y", "error", ())
    assert wrong in found.error


def test_what_is_silence_only_is_empty() -> None:
    found = checked(Transcript("x", "ok", (Segment("<sil>", 0.0, 0.4),)), "x")
    assert (found.status, found.phonemes) == ("empty", ("<sil>",))


def test_two_that_begin_together_do_not_take_the_times_of_all() -> None:
    tied = (Segment("B", 0.5, 0.6), Segment("IY", 0.7, 0.7), Segment("Z", 0.7, 0.9))
    assert Transcript("x", "ok", tied, seconds=2.0).timed
    typed = (Segment("B", 0.0, 2.0), Segment("<sil>", 0.0, 0.0), Segment("IY", 0.0, 2.0))
    assert not Transcript("x", "ok", typed, seconds=2.0).timed


def test_one_that_keeps_it_is_left_as_it_is() -> None:
    given = Transcript("y", "ok", (GOOD, Segment("<spn>", 0.2, 0.2)), dropped=Counter(x=1))
    found = checked(given, "y")
    assert found == given
    assert type(found.dropped) is dict  # a Counter cannot be stored


def test_words_are_no_phonemes() -> None:
    given = Transcript("y", "ok", (Segment("dog", 0.1, 0.4),), unit="words")
    assert checked(given, "y") == given


def test_a_transcriber_that_raises_is_named(odd: Plugins) -> None:
    with (
        Transcribing(odd, "raises") as transcribing,
        pytest.raises(ComponentError, match="'raises' failed: ValueError: boom"),
    ):
        list(transcribing.run([Job(1, 1, DOG)], threading.Event()))


def test_one_that_miscounts_is_stopped_after_what_it_gave(odd: Plugins) -> None:
    heard: list[Transcript] = []
    with (
        Transcribing(odd, "miscounts") as transcribing,
        pytest.raises(ComponentError, match="gave the index 7"),
    ):
        heard.extend(said for _, said in transcribing.run([Job(1, 1, DOG)], threading.Event()))
    assert [said.error for said in heard] == ["'miscounts' gave None instead of a Transcript"]

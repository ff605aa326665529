"""Texts of a megabyte: both ends are read, in little time, and up to 40,000 characters all is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from time import process_time

import pytest
from tabwb_builtin.scorers import SCORERS

from benchmarks.scorers import READERS, shapes
from tabwb.records.ratings import Rating
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring.choice import read_choice
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules.passage import read
from tabwb.scoring.text import MOST_READ, PART_READ, count_words, fold_case, words
from tabwb.scoring.yes_no import read_yes_no

LIMIT_S = 2.0
"""Ten times what the benchmark allows: quadratic time takes minutes."""
SHAPES = tuple(shapes(1000))
SCORING = [reader for reader in READERS if reader not in ("naming by words", "reasoning")]
"""The others are of notes of a listener, and of a text that is never cut."""


@cache
def texts() -> Mapping[str, str]:
    return shapes()


@pytest.mark.parametrize("reader", SCORING)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_reader_needs_long_for_a_megabyte(reader: str, shape: str) -> None:
    text = texts()[shape]
    began = process_time()
    READERS[reader](text)
    assert process_time() - began < LIMIT_S


def test_an_echo_of_a_megabyte_is_one_wherever_its_end_begins() -> None:
    prompt = "Please repeat exactly: The lion drank the water."
    carrier = "Please repeat exactly: "
    said = [carrier * 40_000 + rest for rest in ("", "Please", "Please repeat ")]
    assert [response_status(text, StopReason.LENGTH, prompt) for text in said] == (
        [ResponseStatus.PROMPT_ECHO] * 3
    )
    other = carrier * 40_000 + "dog " * 20
    assert response_status(other, StopReason.LENGTH, prompt) is ResponseStatus.TRUNCATED


def test_the_end_of_a_long_text_counts() -> None:
    passage = ResponseKind.CONNECTED_TEXT
    looping = " ".join(f"w{at}" for at in range(4000)) + " the lake" * 100_000
    status = response_status(looping, StopReason.LENGTH, kind=passage)
    assert status is ResponseStatus.DEGENERATE
    assert response_status(" " * 100_000 + "\n", StopReason.END) is ResponseStatus.EMPTY
    padded = " " * 100_000 + "Yes"
    assert read_yes_no(padded).exact.chosen == "Yes"
    assert read_choice(padded + " boat", ("boot", "boat")).extracted.chosen == "boat"
    assert read_choice("so " * 100_000 + "boat", ("boot", "boat")).extracted.chosen == "boat"


def _ratings(scorer: str, text: str) -> dict[str, Rating]:
    reader = READERS[scorer](text)
    assert isinstance(reader, list)
    return {rating.measure: rating for rating in reader}


def test_a_measure_says_that_it_is_of_a_part() -> None:
    assert {one.id for one in SCORERS} <= set(READERS)
    for size, told in ((MOST_READ, False), (MOST_READ + 2, True)):
        text = ("dog house " * size)[: size - 1] + "."
        lexical, repetition = _ratings("lexical", text), _ratings("repetition", text)
        parts = [lexical["ttr"], lexical["mattr"], repetition["extracted"], repetition["insertion"]]
        assert [PART_READ in rating.reason for rating in parts] == [told] * 4
        assert (
            lexical["words"].value == len(words(text)) and PART_READ not in lexical["words"].reason
        )
        assert len(read(text).text) == (MOST_READ // 2 if told else size)


def test_words_are_counted_as_they_are_found() -> None:
    for text in ("हिन्दी में", "e\u0301te\u0301 \u0301 a", "Straße, ß", "\U0001f468\u200d x", ""):
        assert count_words(text) == len(words(text))
    assert fold_case("Maẞe \ue000 ßSS") == "maße \ue000 ßss"

"""Texts of a megabyte are read in little time, and runs of copies as a slow search finds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_builtin.scorers import SCORERS

from benchmarks.scorers import READERS, shapes
from tabwb.records.ratings import Rating
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring import repetition
from tabwb.scoring.choice import read_choice
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules import passage as runs
from tabwb.scoring.rules.passage import fills, find_runs, read
from tabwb.scoring.text import MOST_READ, PART_READ, count_words, fold_case, words
from tabwb.scoring.yes_no import read_yes_no

LIMIT_S = 2.0
"""Ten times what the benchmark allows: quadratic time takes minutes."""
SHAPES = tuple(shapes(1000))
SCORING = [reader for reader in READERS if reader not in ("naming by words", "reasoning")]
"""The others are of notes of a listener, and of a text that is never cut."""


@cache
def long_texts() -> Mapping[str, str]:
    return shapes()


@pytest.mark.parametrize("reader", SCORING)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_reader_needs_long_for_a_megabyte(reader: str, shape: str) -> None:
    text = long_texts()[shape]
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


def slow_fills(words: Sequence[str]) -> bool:
    """Try every size; compare every place."""
    copies: Counter[tuple[str, ...]] = Counter()
    for size in range(1, len(words) // 2 + 1):
        same = [word == later for word, later in zip(words, words[size:], strict=False)]
        at = 0
        while at < len(same):
            end = at
            while end < len(same) and same[end]:
                end += 1
            unit = tuple(words[at : at + size])
            whole = any(
                size % part == 0 and unit == unit[:part] * (size // part) for part in range(1, size)
            )
            if end - at >= size and not whole:
                copies[unit] += (end - at) // size + 1
            at = end + 1
    return any(n >= 3 and n * len(unit) * 2 >= len(words) for unit, n in copies.items())


parts = st.lists(st.sampled_from("abc"), min_size=1, max_size=5).flatmap(
    lambda unit: st.integers(1, 5).map(lambda times: unit * times)
)
texts = st.lists(parts, max_size=8).map(lambda made: [word for part in made for word in part])


@pytest.mark.parametrize("short", [1, 2, 6])
@given(words=texts)
def test_a_long_text_is_read_as_a_short_one(short: int, words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        expected = slow_fills(words)
        assert fills(words, 3, len(words) / 2) == expected
        patched.setattr(runs, "FEW", 0)
        patched.setattr(runs, "SHORT", short)
        if len(words) > 2:
            assert fills(words, 3, len(words) / 2) == expected
            copies: Counter[tuple[str, ...]] = Counter()
            for run in find_runs(words, 1, len(words)):
                copies[tuple(words[run.start : run.start + run.size])] += run.times
            found = Counter(runs._copies(runs._codes(words)))
            assert found == Counter((len(unit), n) for unit, n in copies.items())


@pytest.mark.parametrize("reader", READERS)
def test_a_long_text_does_not_hang(reader: str) -> None:
    for text in shapes(30_000).values():
        READERS[reader](text)  # what is not linear takes hours


def test_a_long_response_is_compared_as_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    for _ in range(300):
        said, wanted = (random.choices("abc", k=random.randrange(9)) for _ in range(2))
        counts = repetition.edit_counts(said, wanted)
        with monkeypatch.context() as patched:
            patched.setattr(repetition, "_LONG", -1)
            assert repetition.edit_counts(said, wanted) == counts


def test_an_answer_at_the_end_of_a_long_text_is_read() -> None:
    thought = "Let me think about it. " * 4000
    assert (
        read_choice(f"{thought}\nThe answer is lion.", ("lion", "drum")).extracted.chosen == "lion"
    )


def test_long_phrases_that_return() -> None:
    random = Random(3)
    phrase = [str(random.randrange(900)) for _ in range(150)]
    other = [str(random.randrange(900)) for _ in range(150)]
    assert fills(phrase * 4 + other, 3, 375)
    assert not fills((phrase + other[:1]) * 2 + other * 2, 3, 300)
    # Two runs of two copies each, with another text between them.
    assert fills(phrase * 2 + other + phrase * 2, 3, 375)
    assert not fills(phrase + other + phrase + other[::-1] + phrase, 3, 375)

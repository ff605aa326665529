"""Runs of copies: as a slow search finds them, and in texts that are long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scorers import READERS, shapes
from tabwb.scoring import repetition
from tabwb.scoring.choice import read_choice
from tabwb.scoring.rules import passage as runs
from tabwb.scoring.rules.passage import fills, find_runs


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

"""The localizer: its items, its statistics derived a second time, its report of two halves."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tabwb.lesion.declared import Part
from tabwb.lesion.localizer import (
    Condition,
    Items,
    Localized,
    Moments,
    effect_size,
    list_document,
    localize,
    read_items,
    shipped_items,
    split_half,
    welch_t,
)
from tabwb.lesion.taken import top
from tabwb.records.errors import ComponentError, Interrupted, UsageError
from training.localizer.build import written

PARTS = [
    Part("0.mlp.neurons", "mlp.neurons", 0, 3, 30, {}),
    Part("0.attention.heads", "attention.heads", 0, 2, 30, {}),
    Part("1.mlp.neurons", "mlp.neurons", 1, 2, 20, {}),
]


def items(first: int, second: int) -> Items:
    texts = [f"text {number}" for number in range(first + second)]
    one, two = (
        Condition("sentences", tuple(texts[:first])),
        Condition("lists", tuple(texts[first:])),
    )
    return Items("made-up", one, two, "")


def giving(values: np.ndarray, stop_after: int = 1000) -> Any:
    def activations(
        target: str, texts: Sequence[str], pool: str, cancel: threading.Event
    ) -> Iterator[np.ndarray]:
        assert target == "mlp.neurons" and pool == "mean" and len(texts) == len(values)
        yield from values[:stop_after].astype(np.float32)

    return activations


def found(values: np.ndarray, first: int, **more: int) -> Localized:
    contrast = items(first, len(values) - first)
    return localize(giving(values, **more), PARTS, "mlp.neurons", contrast, threading.Event())


def test_t_and_effect_size_are_those_of_scipy_and_of_numpy() -> None:
    values = np.random.default_rng(1).normal(size=(21, 5))
    values[:, 2] *= 1000
    values[:, 3] += 1e4
    values = values.astype(np.float32).astype(float)
    own = found(values, 12)
    first, second = values[:12], values[12:]
    expected = stats.ttest_ind(first, second, equal_var=False).statistic
    assert own.t == pytest.approx(expected, rel=1e-9)
    spread = np.sqrt((first.var(0, ddof=1) + second.var(0, ddof=1)) / 2)
    assert own.d == pytest.approx((first.mean(0) - second.mean(0)) / spread, rel=1e-9)
    for half in (0, 1):
        expected = stats.ttest_ind(first[half::2], second[half::2], equal_var=False).statistic
        assert own.halves[half] == pytest.approx(expected, rel=1e-9)
    assert list(own.scores) == ["0.mlp.neurons", "1.mlp.neurons"]
    assert own.scores["1.mlp.neurons"].tolist() == own.t[3:].tolist()


def test_the_t_of_a_worked_example() -> None:
    # Means 2 and 6, variances 1 and 8: (2 - 6) / sqrt(1 / 3 + 8 / 2).
    a, b = Moments(), Moments()
    for value in (1.0, 2.0, 3.0):
        a.add(np.array([value]))
    for value in (4.0, 8.0):
        b.add(np.array([value]))
    assert welch_t(a, b)[0] == pytest.approx(-4 / (13 / 3) ** 0.5)
    assert effect_size(a, b)[0] == pytest.approx(-4 / 4.5**0.5)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12),
)
def test_moments_of_two_sets_are_those_of_all_values(one: list[float], two: list[float]) -> None:
    first, second = Moments(), Moments()
    for value in one:
        first.add(np.array([value]))
    for value in two:
        second.add(np.array([value]))
    both = first.together(second)
    assert both.mean[0] == pytest.approx(np.mean(one + two), abs=1e-6)
    assert both.variance[0] == pytest.approx(np.var(one + two, ddof=1), rel=1e-6, abs=1e-6)


def test_a_unit_that_never_varies_has_no_t() -> None:
    values = np.random.default_rng(2).normal(size=(10, 5))
    values[:, 1] = 0.1
    own = found(values, 5)
    assert np.isnan(own.t).tolist() == [False, True, False, False, False]
    assert np.isnan(own.d).tolist() == [False, True, False, False, False]
    assert top(own.t, 1.0) is None
    assert 1 not in top(own.t, 0.8)  # type: ignore[operator]
    with pytest.raises(UsageError, match="more than the 4 that have a statistic"):
        list_document(own, 1.0, {}, items(5, 5), "mean")
    with pytest.raises(UsageError, match="takes none") as caught:
        list_document(own, 0.05, {}, items(5, 5), "mean")
    assert caught.value.allowed == "0.1 to 0.8"
    half = split_half(own, 1.0)
    assert half.dice is None and "undefined for units" in half.reason
    assert half.correlation is not None


def test_effect_size_of_groups_of_one_size_is_t_over_the_root_of_half_their_size() -> None:
    values = np.random.default_rng(3).normal(size=(16, 5))
    own = found(values, 8)
    assert own.t == pytest.approx(own.d * np.sqrt(8 / 2))
    one, two = Moments(), Moments()
    for row in values[:8]:
        one.add(row)
    for row in values[8:]:
        two.add(row)
    assert effect_size(one, two) == pytest.approx(own.d, abs=1e-6)


def localized(odd: Sequence[float], even: Sequence[float]) -> Localized:
    own = tuple(part for part in PARTS if part.target == "mlp.neurons")
    t = np.array(odd, dtype=float)
    return Localized(own, t, t, (t, np.array(even, dtype=float)))


def test_the_report_of_two_halves_by_hand() -> None:
    # Two of five units: 0 and 3 by the odd items, 0 and 1 by the even ones.
    half = split_half(localized([9, 1, 0, 8, 2], [5, 4, 0, 3, 1]), 0.4)
    assert (half.units, half.dice, half.chance) == (2, 0.5, 0.4)
    # In the layers: 1 x 2 of three units and 1 x 0 of two, over 2.
    assert half.layer_chance == pytest.approx((1 * 2 / 3 + 1 * 0 / 2) / 2)
    expected = stats.pearsonr([9, 1, 0, 8, 2], [5, 4, 0, 3, 1]).statistic
    assert half.correlation == pytest.approx(expected)
    assert half.whole == pytest.approx(2 * expected / (1 + expected))
    assert half.reason == ""


def test_the_overlap_by_chance_is_the_mean_over_random_halves() -> None:
    generator = np.random.default_rng(4)
    halves = [
        split_half(localized(*generator.normal(size=(2, 5)).tolist()), 0.4) for _ in range(4000)
    ]
    dice = np.array([half.dice for half in halves])
    assert dice.mean() == pytest.approx(0.4, abs=4 * dice.std() / np.sqrt(len(dice)))
    in_layers = np.array([half.layer_chance for half in halves])
    assert in_layers.mean() == pytest.approx(dice.mean(), abs=0.02)


def test_halves_without_a_correlation_say_why() -> None:
    half = split_half(localized([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]), 0.4)
    assert half.correlation is None and half.whole is None and "same for all" in half.reason
    assert split_half(localized([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]), 0.4).whole is None


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


def test_other_numbers_than_one_for_each_unit_and_text_are_an_error() -> None:
    values = np.ones((8, 5))
    values[3, 2] = np.nan
    with pytest.raises(ComponentError, match="each of 5 units for the text 'text 3'"):
        found(values, 4)
    with pytest.raises(ComponentError, match="each of 5 units"):
        found(np.ones((8, 4)), 4)
    with pytest.raises(Interrupted, match="after 3 of 8 texts"):
        found(np.ones((8, 5)), 4, stop_after=3)

    def twice(*asked: Any) -> Iterator[np.ndarray]:
        yield from giving(np.ones((8, 5)))(*asked)
        yield np.ones(5)

    contrast, event = items(4, 4), threading.Event()
    with pytest.raises(ComponentError, match="more numbers than for 8 texts"):
        localize(twice, PARTS, "mlp.neurons", contrast, event)
    with pytest.raises(UsageError, match=r"has no 'mlp\.neurons'"):
        localize(giving(np.ones((8, 5))), PARTS[1:2], "mlp.neurons", contrast, event)


def test_items_that_are_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        read_items(tmp_path / "none.toml")
    os.mkfifo(tmp_path / "pipe")  # refused unread
    with pytest.raises(UsageError, match="is not a regular file"):
        read_items(tmp_path / "pipe")

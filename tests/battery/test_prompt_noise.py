"""Prompt noise: its specs, what it takes, and what it does."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.prompt_noise import OPERATIONS, PromptNoise, parse_noise, perturbed
from tabwb.records.errors import UsageError

SENTENCE = "The old sailor's half-finished boat, painted red, wasn't sold before winter came."
NAME = "repetition/rp1"
NOISES = st.sampled_from(
    [(unit, operation) for unit, known in OPERATIONS.items() for operation in known]
)
AMOUNTS = st.floats(0.0, 1.0, exclude_min=True)
SEEDS = st.integers(0, 2**63 - 1)


def noise(unit: str, operation: str, amount: float, seed: int) -> PromptNoise:
    return parse_noise(f"{unit}:{operation}:{amount!r}@seed={seed}")


def words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)


@given(NOISES, AMOUNTS, SEEDS)
def test_text_form_and_parse_are_inverses(what: tuple[str, str], amount: float, seed: int) -> None:
    made = noise(*what, amount, seed)
    assert parse_noise(str(made)) == made
    assert (made.unit, made.operation, made.amount) == (*what, amount)
    assert made.seed == (seed if made.draws else 1)


@given(NOISES, AMOUNTS, SEEDS, st.text(max_size=60))
def test_any_text_is_perturbed_the_same_each_time(
    what: tuple[str, str], amount: float, seed: int, text: str
) -> None:
    made = noise(*what, amount, seed)
    assert perturbed(made, text, NAME) == perturbed(made, text, NAME)
    if what in (("words", "shuffle"), ("characters", "swap")):
        assert sorted(perturbed(made, text, NAME)) == sorted(text)


@given(st.sampled_from(["words", "characters"]), AMOUNTS, AMOUNTS, SEEDS)
def test_a_larger_amount_drops_what_a_smaller_one_drops(
    unit: str, one: float, other: float, seed: int
) -> None:
    less, more = sorted((one, other))
    kept, left = (perturbed(noise(unit, "drop", amount, seed), SENTENCE, NAME)
                  for amount in (less, more))  # fmt: skip
    letters = iter(kept)
    assert all(letter in letters for letter in left)  # a subsequence


@given(AMOUNTS, SEEDS)
def test_the_words_that_are_masked_are_those_below_the_amount(amount: float, seed: int) -> None:
    """A second derivation of the choice, from the published hash."""
    expected = []
    for number, word in enumerate(words(SENTENCE)):
        draw = f"tabwb-prompt-noise-1\0units\0{seed}\0{NAME}\0{number}".encode()
        bits = int(hashlib.blake2b(draw, digest_size=4).hexdigest(), 16)
        expected.append("___" if bits < round(amount * 2**32) else word)
    found = perturbed(noise("words", "mask", amount, seed), SENTENCE, NAME)
    assert words(found) == expected


@given(AMOUNTS, SEEDS)
def test_words_that_are_shuffled_keep_to_the_places_of_taken_words(
    amount: float, seed: int
) -> None:
    masked = words(perturbed(noise("words", "mask", amount, seed), SENTENCE, NAME))
    mixed = words(perturbed(noise("words", "shuffle", amount, seed), SENTENCE, NAME))
    assert sorted(mixed) == sorted(words(SENTENCE))
    for own, shown, new in zip(words(SENTENCE), masked, mixed, strict=True):
        assert shown == "___" or own == new


@given(SEEDS)
def test_swapped_letters_stay_in_their_word_and_the_rest_of_the_text_as_it_is(seed: int) -> None:
    found = perturbed(noise("characters", "swap", 1.0, seed), SENTENCE, NAME)
    assert [sorted(word) for word in words(found)] == [sorted(word) for word in words(SENTENCE)]
    assert re.sub(r"[A-Za-z]", "x", found) == re.sub(r"[A-Za-z]", "x", SENTENCE)


@given(SEEDS)
def test_replaced_letters_are_others_of_the_text_in_the_same_case(seed: int) -> None:
    found = perturbed(noise("characters", "replace", 1.0, seed), SENTENCE, NAME)
    for own, new in zip(SENTENCE, found, strict=True):
        if own.isalpha():
            assert new != own and new.lower() in SENTENCE.lower()
            assert new.isupper() == own.isupper()
        else:
            assert new == own


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("words:drop", ",,."),
        ("words:lower", "the old sailor's half-finished boat, painted red, wasn't sold before "
                        "winter came."),
        ("words:mask", "___ ___ ___ ___ ___, ___ ___, ___ ___ ___ ___ ___."),
        ("characters:drop", " ' - ,  , '    ."),
    ],
)  # fmt: skip
def test_everything_is_taken_without_an_amount(spec: str, expected: str) -> None:
    found = perturbed(parse_noise(spec), SENTENCE, NAME)
    assert found.split() == expected.split()


def test_marks_stay_with_their_letters() -> None:
    text = "हिन्दी भाषा"
    assert perturbed(parse_noise("words:mask"), text, NAME) == "___ ___"
    swapped = perturbed(parse_noise("characters:swap"), text, NAME)
    assert swapped != text and sorted(swapped) == sorted(text)
    assert not any(part[0] in "िाी्" for part in swapped.split())


def test_another_item_and_another_seed_are_drawn_by_themselves() -> None:
    made = parse_noise("characters:replace:0.5@seed=1")
    other = parse_noise("characters:replace:0.5@seed=2")
    texts = {perturbed(made, SENTENCE, NAME), perturbed(made, SENTENCE, "repetition/rp2"),
             perturbed(other, SENTENCE, NAME)}  # fmt: skip
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("letters:drop", "has the unit 'letters'"),
        ("words", "is not complete"),
        ("words:drop:0.1:2", "is not complete"),
        ("words:swap", "has the operation 'swap'"),
        ("words:drop:0", "has the amount '0'"),
        ("words:drop:1.5", "has the amount '1.5'"),
        ("words:drop:nan", "has the amount 'nan'"),
        ("words:drop:0.1@seed=-1", "has 'seed=-1' after @"),
        ("words:drop:0.1@", "has '' after @"),
        ("words:drop:0.1@seed=9999999999999999999", "after @"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_noise(spec)

"""Reading a judge's reply: everything that is asked for and nothing else, or nothing at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_judges.parse import Labels, Unreadable, read_labels

KEYS = ["Anomia", "Off-topic", "Conduite d'approche"]
GOOD = {"Anomia": 1, "Off-topic": 0, "Conduite d'approche": 0}
PROSE = st.text(st.characters(exclude_characters="{}`", codec="utf-8"))


def problem(text: str) -> str:
    read = read_labels(text, KEYS)
    assert isinstance(read, Unreadable)
    return read.problem


@given(st.lists(st.integers(0, 1), min_size=3, max_size=3), st.permutations(range(3)))
def test_labels_are_read_whatever_their_order(labels: list[int], order: list[int]) -> None:
    said = dict(zip(KEYS, labels, strict=True))
    text = json.dumps({KEYS[at]: said[KEYS[at]] for at in order}, ensure_ascii=False, indent=2)
    assert read_labels(text, KEYS) == Labels(said, extra=False)


@given(PROSE, PROSE)
def test_prose_around_the_object_is_allowed_and_told(before: str, after: str) -> None:
    read = read_labels(before + json.dumps(GOOD) + after, KEYS)
    assert read == Labels(GOOD, extra=bool((before + after).strip()))


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "```JSON\n{}```\n"])
def test_a_code_fence_is_no_extra_text(fence: str) -> None:
    assert read_labels(fence.replace("{}", json.dumps(GOOD)), KEYS) == Labels(GOOD, extra=False)


ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from([*KEYS, "Jargon", "anomia"]), st.sampled_from([0, 1]) | ANYTHING
    )
)
def test_only_exactly_these_keys_with_0_or_1_are_read(said: dict[str, Any]) -> None:
    read = read_labels(json.dumps(said), KEYS)
    right = set(said) == set(KEYS) and all(
        isinstance(value, int) and not isinstance(value, bool) and value in (0, 1)
        for value in said.values()
    )
    assert isinstance(read, Labels) == right
    if isinstance(read, Labels):
        assert read.values == said


@given(st.text())
def test_no_text_is_too_much(text: str) -> None:
    read = read_labels(text, KEYS)
    assert isinstance(read, Unreadable) or set(read.values) == set(KEYS)


@given(st.integers(0, len(json.dumps(GOOD)) - 1))
def test_a_reply_that_was_cut_says_nothing(length: int) -> None:
    assert problem(json.dumps(GOOD)[:length]) == "it holds no complete JSON object"


@pytest.mark.parametrize("value", ["true", '"1"', "0.0", "1.0", "2", "-1", "null", "[1]", "1e0"])
def test_a_value_that_is_not_the_number_0_or_1_is_named(value: str) -> None:
    text = json.dumps(GOOD).replace('"Off-topic": 0', f'"Off-topic": {value}')
    shown = {"[1]": "an array", "1e0": "1.0"}.get(value, value)
    assert problem(text) == f"the value of 'Off-topic' is {shown}, not 0 or 1"


def test_missing_and_further_keys_are_named() -> None:
    text = json.dumps({"Anomia": 1, "Off topic": 0, "Conduite d'approche": 0})
    assert problem(text) == "missing: 'Off-topic'; not asked for: 'Off topic'"


def test_a_key_that_stands_twice_is_refused_even_if_both_agree() -> None:
    text = json.dumps(GOOD).replace('{"Anomia": 1', '{"Anomia": 1, "Anomia": 1')
    assert problem(text) == "'Anomia' is given twice"


def test_two_objects_are_refused_even_if_both_are_good() -> None:
    text = json.dumps(GOOD)
    assert problem(f"{text}\nor rather\n{text}") == "it holds 2 JSON objects instead of one"


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 100_000, '{"a": ' + "9" * 5_000 + "}"])
def test_hostile_replies_are_given_up(text: str) -> None:
    assert problem(text) == "it holds no complete JSON object"

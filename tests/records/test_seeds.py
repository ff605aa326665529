"""Derived seeds: unambiguous, of a width that every back end takes."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.specs import mixed, reply_seed, seed_of

PARTS = st.lists(st.one_of(st.text(), st.integers(), st.lists(st.text())), max_size=4)


@given(PARTS)
def test_every_seed_fits_a_signed_32_bit_number(parts: list[object]) -> None:
    assert 0 <= seed_of(*parts) <= 2**31 - 1


@given(PARTS, PARTS)
def test_different_parts_have_different_seeds(one: list[object], other: list[object]) -> None:
    assert (seed_of(*one) == seed_of(*other)) == (one == other)


def test_the_seed_is_the_first_31_bits_of_sha256_of_a_json_array() -> None:
    digest = hashlib.sha256('["tabwb-reply-1",1,"tab","s","i",0,1,["ä"],[]]'.encode()).hexdigest()
    assert reply_seed(1, "tab", "s", "i", 0, 1, options=["ä"]) == int(digest[:8], 16) >> 1


def test_an_option_of_the_back_end_keeps_replies_apart() -> None:
    assert len({mixed(seed, 9) for seed in range(1000)}) == 1000

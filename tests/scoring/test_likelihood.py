"""Choosing by likelihood: the conventions of lm-evaluation-harness, ties and the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tabwb.records.exchange import Likelihood
from tabwb.scoring.choice import choose_by_likelihood


def test_choices_are_those_of_the_harness() -> None:
    """Its tasks compute ``acc`` by argmax(sums), ``acc_norm`` by argmax(sums / characters)."""
    options = ["lion", "a drum", "violin case", "boot"]
    sums = [-7.1, -7.0, -11.0, -7.4]
    weighed = {
        option: Likelihood(total, tokens)
        for option, total, tokens in zip(options, sums, (1, 2, 5, 1), strict=True)
    }
    choice = choose_by_likelihood(weighed)
    characters = np.array([float(len(option)) for option in options])
    assert choice.by_sum == options[int(np.argmax(sums))] == "a drum"
    assert choice.per_character == options[int(np.argmax(np.array(sums) / characters))]
    assert (choice.per_token, choice.per_character) == ("violin case", "violin case")


def test_of_equal_options_the_first_is_chosen() -> None:
    weighed = {"b": Likelihood(-1.0, 1), "a": Likelihood(-1.0, 1)}
    assert choose_by_likelihood(weighed).by_sum == "b"


def test_an_impossible_option_is_never_preferred() -> None:
    weighed = {"never": Likelihood(-math.inf, 1), "rarely": Likelihood(-99.0, 1)}
    choice = choose_by_likelihood(weighed)
    assert {choice.by_sum, choice.per_token, choice.per_character} == {"rarely"}


def test_no_options_are_refused() -> None:
    with pytest.raises(ValueError, match="no options"):
        choose_by_likelihood({})

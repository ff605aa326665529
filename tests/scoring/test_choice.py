from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.choice import POLICIES, positions, read_choice
from tests.scoring.readings import cases, item, prompts

KNIFE = ("knife", "kite", "lion", "drum", "violin", "giraffe")
BOOT = ("boot", "boat", "lion", "drum", "violin", "giraffe")
FOILS = {"boat": "phonological"}


def chosen(response: str, options: tuple[str, ...] = BOOT) -> tuple[str | None, ...]:
    answer = read_choice(response, options)
    return tuple(answer.reading(policy).chosen for policy in POLICIES)


@pytest.mark.parametrize(
    ("response", "readings"),
    [
        ("boot", ("boot", "boot", "boot")),
        ("  boot\n", ("boot", "boot", "boot")),
        ("Boot", (None, "boot", "boot")),
        ("Boot.", (None, "boot", "boot")),
        ('"boot."', (None, "boot", "boot")),
        ("“Boot”.", (None, "boot", "boot")),
        ("boot..", (None, None, "boot")),
        ("boot!", (None, None, "boot")),
        ("The answer is boot.", (None, None, "boot")),
        ("boots", (None, None, "boot")),
        ("shoe", (None, None, None)),
        ("", (None, None, None)),
        (".", (None, None, None)),
        ("boot, not boat", (None, None, "boot")),
    ],
)
def test_each_policy_reads_what_it_may(
    response: str, readings: tuple[str | None, str | None, str | None]
) -> None:
    assert chosen(response) == readings


def test_the_published_semantic_paraphasia_names_lion_and_is_wrong() -> None:
    # TAB, appendix C, example 2.
    response = (
        "Answer: lion. Explanation: The answer is correct. We can recognize the lion by its body "
        "shape, roof, and its behavior."
    )
    answer = read_choice(response, KNIFE)
    assert answer.exact.chosen is None
    assert answer.normalised.chosen is None
    assert answer.extracted.chosen == "lion"
    assert not answer.extracted.correct("knife")


def test_two_options_named_are_ambiguous_and_never_correct() -> None:
    extracted = read_choice("boot or boat", BOOT).extracted
    assert extracted.ambiguous
    assert extracted.named == ("boot", "boat")
    assert not extracted.correct("boot")
    assert not extracted.correct("boat")


def test_repeating_the_whole_list_is_ambiguous() -> None:
    assert read_choice("(" + ", ".join(BOOT) + ")", BOOT).extracted.ambiguous


def test_one_option_named_twice_is_one_option() -> None:
    assert read_choice("boot, I say boot", BOOT).extracted.chosen == "boot"


def test_the_longest_option_that_stands_at_a_place_is_named() -> None:
    options = ("boat", "sail boat")
    assert read_choice("a sail boat", options).extracted.chosen == "sail boat"
    assert read_choice("a boat", options).extracted.chosen == "boat"
    assert read_choice("a sail boat or a boat", options).extracted.ambiguous


def test_options_that_differ_only_in_case_are_told_apart_exactly() -> None:
    answer = read_choice("May", ("May", "may"))
    assert answer.exact.chosen == "May"
    assert answer.normalised.ambiguous


def test_the_error_is_the_foil_kind_of_the_option_chosen() -> None:
    assert read_choice("boat", BOOT).exact.error("boot", FOILS) == "phonological"
    assert read_choice("drum", BOOT).exact.error("boot", FOILS) == "other-option"
    assert read_choice("shoe", BOOT).exact.error("boot", FOILS) == "no-option"
    assert read_choice("boot", BOOT).exact.error("boot", FOILS) is None


WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=5)
OPTIONS = st.lists(WORDS, min_size=2, max_size=6, unique=True).map(tuple)


@given(OPTIONS, st.data())
def test_what_one_policy_reads_the_laxer_ones_read_too(
    options: tuple[str, ...], data: st.DataObject
) -> None:
    option = data.draw(st.sampled_from(options))
    dress = data.draw(st.sampled_from(["{}", " {} ", "{}.", '"{}"', "“{}.”", "'{}'."]))
    answer = read_choice(dress.format(option), options)
    if answer.exact.chosen is not None:
        assert answer.normalised.chosen == answer.exact.chosen
    assert answer.normalised.chosen == option
    assert answer.extracted.chosen == option


@given(st.text(), OPTIONS)
def test_only_options_are_ever_named(response: str, options: tuple[str, ...]) -> None:
    answer = read_choice(response, options)
    for policy in POLICIES:
        assert set(answer.reading(policy).named) <= set(options)


@given(st.text(), OPTIONS)
def test_the_order_of_the_options_decides_nothing(response: str, options: tuple[str, ...]) -> None:
    turned = options[::-1]
    for policy in POLICIES:
        first, second = (
            read_choice(response, order).reading(policy) for order in (options, turned)
        )
        assert set(first.named) == set(second.named)


@pytest.mark.parametrize("case", cases("choices"), ids=lambda case: case["text"][:50])
def test_extracted_is_the_answer_that_a_careful_reader_takes(case: dict[str, str]) -> None:
    options = item(case["item"]).options
    reading = read_choice(case["text"], options, prompts(case["item"])).extracted
    named = "ambiguous" if reading.ambiguous else (reading.chosen or "none")
    assert named == case["reading"]


def test_the_prompts_own_list_names_nothing() -> None:
    options, asked = item("wc3").options, prompts("wc3")
    assert read_choice(asked[0], options, asked).extracted.named == ()
    assert read_choice(asked[0], options).extracted.ambiguous


def test_the_share_of_a_position_is_of_the_answers_that_named_an_option() -> None:
    answers = [
        (("boot", "boat"), "boot", True, "boot"),
        (("boat", "boot"), "boot", False, "boat"),
        (("boot", "boat"), "boot", False, "boat"),
        (("boot", "boat"), "boot", False, None),
    ]
    first, second = positions(answers)
    assert (first.share.value, second.share.value) == (2 / 3, 1 / 3)
    assert (first.accuracy.value, second.accuracy.value) == (1 / 3, 0.0)
    (unnamed, _) = positions(answers[-1:])
    assert unnamed.share.value is None

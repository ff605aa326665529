from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.repetition import carrier, edit_counts, read_repetition
from tests.scoring.readings import cases

CARRIER = "Please repeat exactly: "
SUN = "The sun rises in the East."
JOURNALIST = "The ambitious journalist discovered where we'd be going."


@pytest.mark.parametrize("target", ["house.", "breakfast.", "catastrophe.", SUN, JOURNALIST])
def test_the_target_is_right_under_every_policy(target: str) -> None:
    answer = read_repetition(f" {target}\n", target, CARRIER + target)
    assert (answer.exact, answer.normalised, answer.extracted) == (True, True, True)
    assert not any(answer.errors.counts().values())


def test_either_apostrophe_is_exact() -> None:
    assert read_repetition(JOURNALIST.replace("'", "’"), JOURNALIST).exact
    assert read_repetition(JOURNALIST, JOURNALIST.replace("'", "’")).exact


@pytest.mark.parametrize(
    ("response", "policies"),
    [
        ("house", (False, True, True)),
        ("House.", (False, True, True)),
        ("HOUSE", (False, True, True)),
        ("house..", (False, False, True)),
        ('"house."', (False, False, True)),
        ("Please repeat exactly: house.", (False, False, True)),
        ("Sure: house!", (False, False, True)),
        ("hose.", (False, False, False)),
        ("houses.", (False, False, False)),
        ("", (False, False, False)),
    ],
)
def test_the_policies_differ_as_stated(response: str, policies: tuple[bool, bool, bool]) -> None:
    answer = read_repetition(response, "house.", CARRIER + "house.")
    assert (answer.exact, answer.normalised, answer.extracted) == policies


def test_the_words_of_a_sentence_must_stand_in_a_row() -> None:
    assert read_repetition("Well, the sun rises in the east, I think", SUN).extracted
    assert not read_repetition("The sun always rises in the East.", SUN).extracted


def test_the_published_errors_of_appendix_b4_are_counted_in_characters() -> None:
    short = read_repetition("catastroph", "catastrophe.").errors
    assert (short.insertion, short.deletion, short.substitution) == (0, 2, 0)
    assert short.unit == "characters"
    longer = read_repetition("catastrophically.", "catastrophe.").errors
    assert (longer.insertion, longer.deletion, longer.substitution) == (5, 0, 1)


def test_the_published_carrier_echo_is_counted_beside_the_insertions() -> None:
    # TAB, appendix C, example 3.
    response = "Please repeat exactly: house. republice. Please repeat exactly: house. republice"
    answer = read_repetition(response, "house.", CARRIER + "house.")
    assert not answer.exact
    assert not answer.normalised
    assert not answer.extracted
    assert answer.errors.carrier_echo == 2
    # What is left is "house. republice. house. republice": 28 characters more than the target.
    assert answer.errors.insertion == 28
    assert answer.errors.deletion == answer.errors.substitution == 0


def test_the_published_telegraphic_answer_deletes_four_words() -> None:
    # TAB, appendix C, example 5: sun, rises, in, the.
    errors = read_repetition("The East.", SUN, CARRIER + SUN).errors
    assert (errors.insertion, errors.deletion, errors.substitution) == (0, 4, 0)
    assert errors.unit == "words"


def test_a_missing_stop_of_a_sentence_is_one_deletion_and_no_wrong_word() -> None:
    errors = read_repetition(SUN.removesuffix("."), SUN).errors
    assert (errors.insertion, errors.deletion, errors.substitution) == (0, 1, 0)


def test_no_response_is_an_error_of_its_own() -> None:
    errors = read_repetition(" \n", SUN).errors
    assert errors.counts() == {
        "insertion": 0,
        "deletion": 0,
        "substitution": 0,
        "carrier-echo": 0,
        "no-response": 1,
        "spacing": 0,
    }


def test_the_carrier_alone_leaves_the_target_deleted() -> None:
    errors = read_repetition("please repeat  exactly", "house.", CARRIER + "house.").errors
    assert (errors.carrier_echo, errors.deletion, errors.insertion) == (1, 6, 0)


def test_white_space_inside_a_sentence_is_the_only_error_that_it_makes() -> None:
    errors = read_repetition("The  sun rises in the East.", SUN).errors
    assert errors.spacing == 1
    assert errors.insertion == errors.deletion == errors.substitution == 0


def test_the_carrier_is_what_stands_before_the_target() -> None:
    assert carrier("house.", "Please repeat exactly: house.") == "Please repeat exactly:"
    assert carrier("house.", "house.") == ""
    assert carrier("house.", "Say it again.") == ""


SIGNS = st.text(alphabet="abc", max_size=8)


def levenshtein(one: str, other: str) -> int:
    """A second derivation, by recursion on prefixes."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        levenshtein(one[:-1], other[:-1]) + (one[-1] != other[-1]),
        levenshtein(one[:-1], other) + 1,
        levenshtein(one, other[:-1]) + 1,
    )


SHORT_SIGNS = st.text(alphabet="abc", max_size=5)


@given(SHORT_SIGNS, SHORT_SIGNS)
def test_the_edits_are_as_few_as_they_can_be(said: str, wanted: str) -> None:
    assert sum(edit_counts(said, wanted)) == levenshtein(said, wanted)


@given(SIGNS, SIGNS)
def test_insertions_less_deletions_are_the_difference_in_length(said: str, wanted: str) -> None:
    inserted, deleted, substituted = edit_counts(said, wanted)
    assert inserted - deleted == len(said) - len(wanted)
    assert min(inserted, deleted, substituted) >= 0


@given(SIGNS, SIGNS)
def test_turning_the_comparison_round_swaps_insertions_and_deletions(one: str, two: str) -> None:
    inserted, deleted, substituted = edit_counts(one, two)
    assert edit_counts(two, one) == (deleted, inserted, substituted)


SENTENCES = st.text(alphabet="aB .'’\n", max_size=12)


@given(SENTENCES, SENTENCES.filter(str.strip))
def test_there_is_an_error_exactly_when_the_repetition_is_not_exact(
    response: str, target: str
) -> None:
    answer = read_repetition(response, target, CARRIER + target)
    assert answer.exact is not any(answer.errors.counts().values())
    assert answer.normalised or not answer.exact
    assert answer.extracted or not answer.normalised


@pytest.mark.parametrize("case", cases("repetitions"), ids=lambda case: case["text"][:50])
def test_extracted_wants_the_target_exactly_once(case: dict[str, str]) -> None:
    answer = read_repetition(case["text"], case["target"], CARRIER + case["target"])
    assert answer.extracted == (case["extracted"] == "1")


def test_an_insertion_and_a_deletion_are_no_matter_of_spacing() -> None:
    errors = read_repetition("ba", "ab").errors
    assert (errors.insertion, errors.deletion, errors.spacing) == (1, 1, 0)

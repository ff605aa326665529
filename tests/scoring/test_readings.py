"""How answers are read: a choice, yes or no, a repetition, the status of a response; likelihood."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.exchange import Likelihood
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring.choice import (
    POLICIES,
    choose_by_likelihood,
    positions,
    read_choice,
    read_reason,
    reason_of,
)
from tabwb.scoring.repetition import carrier, edit_counts, read_repetition
from tabwb.scoring.response_status import response_status
from tabwb.scoring.yes_no import AnswerWords, balanced_accuracy, read_yes_no
from tests.scoring.readings import cases, item, prompts

END, LENGTH = StopReason.END, StopReason.LENGTH
CARRIER = "Please repeat exactly: "
SUN = "The sun rises in the East."
BOOT = ("boot", "boat", "lion", "drum", "violin", "giraffe")
FOILS = {"boat": "phonological", "lion": "semantic"}
OWN = {
    "yes-no": None,
    "German": AnswerWords(("Ja", "jo", "jawohl"), ("Nein", "nee")),
    "French": AnswerWords(("Yes", "oui"), ("No", "non")),
}
WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=5)
OPTIONS = st.lists(WORDS, min_size=2, max_size=6, unique=True).map(tuple)
SIGNS = st.text(alphabet="abc", max_size=8)
SENTENCES = st.text(alphabet="aB .'’\n", max_size=12)


@pytest.mark.parametrize("case", cases("policies"), ids=lambda case: case["text"][:50])
def test_each_policy_reads_what_it_may(case: dict[str, str]) -> None:
    """Empty: not compared; ``-`` nothing (of a repetition in signs: undefined), ``?`` ambiguous."""
    text, language = case["text"], case["language"]
    wanted = tuple(filter(None, case["wanted"].split("|")))
    if case["how"] == "repetition":
        answer = read_repetition(text, case["wanted"], case["prompt"], language)
        values = {True: "1", False: "0", None: "-"}
        found = {policy: values[getattr(answer, policy)] for policy in POLICIES}
        assert not answer.exact or not any(answer.errors.counts().values())
    else:
        read = (
            read_choice(text, wanted, (), language)
            if case["how"] == "choice"
            else read_yes_no(text, wanted, (), language, OWN[case["how"]])
        )
        each = {policy: read.reading(policy) for policy in POLICIES}
        found = {
            policy: "?" if one.ambiguous else one.chosen or one.undefined or "-"
            for policy, one in each.items()
        }
    assert {policy: case[policy] or found[policy] for policy in POLICIES} == found


@pytest.mark.parametrize("case", cases("choices"), ids=lambda case: case["text"][:50])
def test_a_choice_is_the_answer_that_a_careful_reader_takes(case: dict[str, str]) -> None:
    options = item(case["item"]).options
    reading = read_choice(case["text"], options, prompts(case["item"])).extracted
    assert ("ambiguous" if reading.ambiguous else reading.chosen or "none") == case["reading"]


@pytest.mark.parametrize("case", cases("yes_no"), ids=lambda case: case["text"][:50])
def test_yes_or_no_is_the_answer_that_a_careful_reader_takes(case: dict[str, str]) -> None:
    reading = read_yes_no(case["text"], (), prompts(case["item"])).extracted
    assert ("ambiguous" if reading.ambiguous else reading.chosen or "none") == case["reading"]


@pytest.mark.parametrize("case", cases("repetitions"), ids=lambda case: case["text"][:50])
def test_extracted_wants_the_target_exactly_once(case: dict[str, str]) -> None:
    answer = read_repetition(case["text"], case["target"], CARRIER + case["target"])
    assert answer.extracted == (case["extracted"] == "1")


@pytest.mark.parametrize("case", cases("refusals"), ids=lambda case: case["text"][:50])
def test_a_refusal_is_a_reply_that_declines_and_does_not_answer(case: dict[str, str]) -> None:
    status = response_status(case["text"], END, kind=ResponseKind.CONNECTED_TEXT, language="en")
    assert status == case["status"]


@pytest.mark.parametrize("case", cases("statuses"), ids=lambda case: case["text"][:50])
def test_statuses_by_kind_of_response(case: dict[str, str]) -> None:
    stop = LENGTH if case["status"] == "truncated" else END
    prompt, kind = "Tell me about it.", ResponseKind(case["kind"])
    assert response_status(case["text"], stop, prompt, kind=kind, language="en") == case["status"]


@pytest.mark.parametrize("case", cases("status_cases"), ids=lambda case: case["text"][:50])
def test_statuses_by_prompt_and_language(case: dict[str, str]) -> None:
    found = response_status(
        case["text"],
        StopReason(case["stop"]),
        case["prompt"].replace("\\n", "\n"),
        case["expected"] or None,
        kind=ResponseKind(case["kind"]) if case["kind"] else None,
        language=case["language"],
        answers=tuple(filter(None, case["answers"].split("|"))),
    )
    assert found == case["status"]


def test_the_error_is_the_foil_kind_of_the_option_chosen() -> None:
    errors = {"boat": "phonological", "drum": "other-option", "shoe": "no-option", "boot": None}
    for said, error in errors.items():
        assert read_choice(said, BOOT).exact.error("boot", FOILS) == error
    both = read_choice("boot or boat", BOOT).extracted
    assert both.named == ("boot", "boat")
    assert not both.correct("boot")


def test_the_prompts_own_list_names_nothing() -> None:
    options, asked = item("wc3").options, prompts("wc3")
    assert read_choice(asked[0], options, asked).extracted.named == ()
    assert read_choice(asked[0], options).extracted.ambiguous


@given(OPTIONS, st.data())
def test_what_one_policy_reads_the_laxer_ones_read_too(
    options: tuple[str, ...], data: st.DataObject
) -> None:
    option = data.draw(st.sampled_from(options))
    dress = data.draw(st.sampled_from(["{}", " {} ", "{}.", '"{}"', "“{}.”", "'{}'."]))
    answer = read_choice(dress.format(option), options)
    assert answer.exact.chosen in (None, option)
    assert answer.normalised.chosen == answer.extracted.chosen == option


@given(st.text(), OPTIONS)
def test_only_options_are_named_and_their_order_decides_nothing(
    response: str, options: tuple[str, ...]
) -> None:
    one, other = read_choice(response, options), read_choice(response, options[::-1])
    for policy in POLICIES:
        assert set(one.reading(policy).named) <= set(options)
        assert set(one.reading(policy).named) == set(other.reading(policy).named)


@given(
    st.lists(st.sampled_from([*BOOT[:3], "Boot.", "or", "the", ""]), max_size=3).map(" ".join),
    st.sampled_from(POLICIES),
    st.sampled_from(["boot", "lion"]),
)
def test_the_reason_of_a_stored_verdict_gives_the_reading_back(
    answer: str, policy: str, expected: str
) -> None:
    reading = read_choice(answer, BOOT[:3]).reading(policy)
    reason = reason_of(reading, expected, FOILS, empty=not answer.strip())
    back = read_reason(reading.correct(expected), reason, expected, BOOT[:3], FOILS)
    assert back.error == reading.error(expected, FOILS)
    assert back.chosen == reading.chosen


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


def test_choices_by_likelihood_are_those_of_the_harness() -> None:
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
    # Of equal options the first; an impossible one never.
    alike = {"b": Likelihood(-1.0, 1), "a": Likelihood(-1.0, 1)}
    assert choose_by_likelihood(alike).by_sum == "b"
    choice = choose_by_likelihood({"never": Likelihood(-math.inf, 1), "rarely": weighed["boot"]})
    assert {choice.by_sum, choice.per_token, choice.per_character} == {"rarely"}
    with pytest.raises(ValueError, match="no options"):
        choose_by_likelihood({})


def test_balanced_accuracy_weighs_both_answers_alike() -> None:
    keys = ("Yes", "No", "No", "Yes", "Yes")  # TAB's five sentences (appendix B.3)
    # 2 of 3 Yes items and 1 of 2 No items: (2/3 + 1/2) / 2 = 7/12.
    said = ["Yes", "No", "Yes", None, "Yes"]
    assert balanced_accuracy(zip(keys, said, strict=True)).value == pytest.approx(7 / 12)
    assert balanced_accuracy([]).reason == "no item answered"
    assert balanced_accuracy([("Yes", "Yes")]).reason == "every expected answer is Yes"


@given(st.lists(st.tuples(st.sampled_from(["Yes", "No"]), st.sampled_from(["Yes", "No", None]))))
def test_balanced_accuracy_of_one_constant_answer_is_a_half(
    pairs: list[tuple[str, str | None]],
) -> None:
    expected = [key for key, _ in pairs]
    constant = balanced_accuracy((key, "Yes") for key in expected)
    assert constant.value == (0.5 if len(set(expected)) == 2 else None)
    estimate = balanced_accuracy(pairs)
    assert estimate.value is None or 0 <= estimate.value <= 1


@given(st.text(), st.text())
def test_any_text_has_a_reading(text: str, prompt: str) -> None:
    assert set(read_yes_no(text, (), (prompt,)).extracted.named) <= {"Yes", "No"}


@pytest.mark.parametrize(
    ("said", "target", "counts", "unit"),
    [
        # TAB, appendix B.4: insertions, deletions, substitutions, echoes of the carrier, spacing.
        ("catastroph", "catastrophe.", (0, 2, 0, 0, 0), "characters"),
        ("catastrophically.", "catastrophe.", (5, 0, 1, 0, 0), "characters"),
        # Appendix C, example 3: "house. republice. house. republice" is left.
        (
            "Please repeat exactly: house. republice. Please repeat exactly: house. republice",
            "house.",
            (28, 0, 0, 2, 0),
            "characters",
        ),
        ("please repeat  exactly", "house.", (0, 6, 0, 1, 0), "characters"),
        # Appendix C, example 5: sun, rises, in, the.
        ("The East.", SUN, (0, 4, 0, 0, 0), "words"),
        (SUN.removesuffix("."), SUN, (0, 1, 0, 0, 0), "words"),
        ("The  sun rises in the East.", SUN, (0, 0, 0, 0, 1), "words"),
        ("ba", "ab", (1, 1, 0, 0, 0), "characters"),
        ("天气很好。", "天气不好。", (0, 0, 1, 0, 0), "characters"),
    ],
)
def test_errors_of_a_repetition(said: str, target: str, counts: tuple[int, ...], unit: str) -> None:
    errors = read_repetition(said, target, CARRIER + target).errors
    names = ("insertion", "deletion", "substitution", "carrier-echo", "spacing")
    assert errors.counts() == dict(zip(names, counts, strict=True)) | {"no-response": 0}
    assert errors.unit == unit
    alone = read_repetition(" \n", SUN).errors.counts()
    assert alone == dict.fromkeys(names, 0) | {"no-response": 1}


def test_the_carrier_is_what_stands_before_the_target() -> None:
    assert carrier("house.", "Please repeat exactly: house.") == "Please repeat exactly:"
    assert carrier("house.", "house.") == carrier("house.", "Say it again.") == ""


def levenshtein(one: str, other: str) -> int:
    """A second derivation, by recursion on prefixes."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        levenshtein(one[:-1], other[:-1]) + (one[-1] != other[-1]),
        levenshtein(one[:-1], other) + 1,
        levenshtein(one, other[:-1]) + 1,
    )


@given(st.text(alphabet="abc", max_size=5), st.text(alphabet="abc", max_size=5))
def test_the_edits_are_as_few_as_they_can_be(said: str, wanted: str) -> None:
    assert sum(edit_counts(said, wanted)) == levenshtein(said, wanted)


@given(SIGNS, SIGNS)
def test_insertions_less_deletions_are_the_difference_in_length(said: str, wanted: str) -> None:
    inserted, deleted, substituted = edit_counts(said, wanted)
    assert inserted - deleted == len(said) - len(wanted)
    assert min(inserted, deleted, substituted) >= 0
    assert edit_counts(wanted, said) == (deleted, inserted, substituted)


@given(SENTENCES, SENTENCES.filter(str.strip))
def test_there_is_an_error_exactly_when_the_repetition_is_not_exact(
    response: str, target: str
) -> None:
    answer = read_repetition(response, target, CARRIER + target)
    assert answer.exact is not any(answer.errors.counts().values())
    assert answer.normalised or not answer.exact
    assert answer.extracted or not answer.normalised


@given(st.text(), st.sampled_from(list(StopReason)), st.text())
def test_every_text_has_a_status(text: str, stop: StopReason, prompt: str) -> None:
    for each in (text, text.strip() and "", " ", "\n\t"):
        status = response_status(each, stop, prompt)
        assert (status is ResponseStatus.EMPTY) == (not each.strip())


@pytest.mark.parametrize("kind", list(ResponseKind))
def test_the_expected_answer_is_never_degenerate_or_foreign(kind: ResponseKind) -> None:
    for answer in ("Yes", "house.", "the the the", "Le lion est un animal."):
        status = response_status(answer, END, expected=answer, kind=kind, language="en")
        assert status is ResponseStatus.OK

"""Rules 1, 3 and 10: what comes again."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabwb.records.states import ResponseKind
from tabwb.scoring.rules.passage import RULES_2, Outcome, Run, TextContext, find_runs, read
from tabwb.scoring.rules.repetition import (
    perseverations,
    retracing,
    stereotypies,
)

NOUNS = ("kite", "garden", "mother", "river", "window", "horse", "letter", "summer")
LINE = "My mother and I flew a small kite by the river that day"


def brute_force_runs(words: list[str], shortest: int, longest: int) -> set[Run]:
    """All runs by definition: maximal to both sides, of a unit that is not itself a repetition."""
    found = set()
    for size in range(shortest, longest + 1):
        for start in range(len(words)):
            if start and words[start - 1 : start] == words[start - 1 + size : start + size]:
                continue
            end = start + size
            while end < len(words) and words[end] == words[end - size]:
                end += 1
            times = (end - start) // size
            unit = words[start : start + size]
            parts = [part for part in range(1, size) if size % part == 0]
            if times > 1 and not any(unit == unit[:part] * (size // part) for part in parts):
                found.add(Run(start, size, times))
    return found


@given(st.lists(st.sampled_from("abc"), max_size=16))
def test_runs_are_those_of_the_definition(words: list[str]) -> None:
    assert set(find_runs(words, 1, 5)) == brute_force_runs(words, 1, 5)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The kite is the kite is flying.", "present"),
        ("The kite is, um, the kite is flying.", "present"),
        ("The ball the ball the ball was red.", "absent"),
        ("No no, he said, it was very very good.", "absent"),
        ("I saw it. I saw it.", "absent"),
        ("We walked on and on and on.", "absent"),
        ("It grew bigger and bigger and bigger.", "absent"),
        ("They sat side by side by side.", "absent"),
    ],
)
def test_retracing_is_two_copies_within_an_utterance(text: str, outcome: str) -> None:
    assert retracing(read(text)).outcome == outcome


def test_retracing_in_speech_is_a_rate() -> None:
    said = "the kite is the kite is flying"
    talk = " ".join(f"{noun} number {at}" for at, noun in enumerate(NOUNS * 6))
    assert retracing(read(TextContext(said, spoken=True))).outcome is Outcome.PRESENT
    assert retracing(read(TextContext(f"{said} {talk}", spoken=True))).outcome is Outcome.ABSENT
    assert retracing(read(f"{said} {talk}")).outcome is Outcome.PRESENT


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The ball, the ball, the ball kept bouncing.", "present"),
        ("The dog. The dog. The dog.", "present"),
        ("We went to the the the the shop.", "absent"),
        ("We went to " + "the " * 16, "present"),
        ("It was very, very, very, very cold.", "absent"),
        ("No, no, no, I said.", "absent"),
        ("Again and again and again and again we tried.", "absent"),
        (f"{LINE}. We sang. {LINE}.", "present"),
        ("We had a good time. We had a good time.", "present"),
        ("We had fun. It rained. We had fun.", "absent"),
        ("I like the red kite. I like the red kite.", "present"),
        (
            "My mother took me to the old house by the sea, and later my mother took me to the "
            "old house in town.",
            "present",
        ),
    ],
)
def test_perseverations_come_again_where_they_should_not(text: str, outcome: str) -> None:
    assert perseverations(read(text)).outcome == outcome


@given(st.sampled_from(NOUNS), st.integers(3, 8))
def test_taking_the_repeated_run_out_takes_the_perseveration_away(noun: str, times: int) -> None:
    run = " ".join([noun] * times)
    assert perseverations(read(f"We went out early and saw {run}.")).outcome is Outcome.PRESENT
    assert perseverations(read(f"We went out early and saw {noun}.")).outcome is Outcome.ABSENT


@given(st.text("abcdefgh ,.", min_size=1, max_size=40), st.sampled_from(NOUNS))
def test_saying_an_answer_three_times_perseverates(text: str, noun: str) -> None:
    answer = f"{text} {noun}"
    words = [token.word for token in read(answer).plain]
    assume(len(words) <= 6)
    verdict = perseverations(read(f"{answer}\n{answer}\n{answer}"))
    assert verdict.outcome is Outcome.PRESENT


def test_prompt_text_said_again_is_no_perseveration() -> None:
    prompt = "Tell me about the best trip you ever took."
    context = TextContext(f"{prompt} {prompt} It was in May.", prompt=prompt)
    assert perseverations(read(context)).outcome is Outcome.ABSENT
    assert perseverations(read(context.text)).outcome is Outcome.PRESENT


def test_the_target_said_over_and_over_is_a_perseveration() -> None:
    context = TextContext(
        "house. house. house. house.",
        ResponseKind.VERBATIM,
        prompt="Please repeat exactly: house.",
        expected="house.",
    )
    assert perseverations(read(context)).outcome is Outcome.PRESENT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dammit, dammit, dammit.", ("Dammit, dammit, dammit",)),
        ("Well you know you know you know it was.", ("you know you know you know",)),
        ("And snizz snizz snizz it went.", ("snizz snizz snizz",)),
        ("The kite, the kite, the kite.", ()),
        ("Yes, no, yes.", ()),
    ],
)
def test_stereotypies_are_overlearned_words_in_a_row(text: str, words: tuple[str, ...]) -> None:
    assert stereotypies(read(text)).words == words


def test_a_formula_in_three_answers_is_a_stereotypy() -> None:
    answer = "I went to Rome. That is that."
    twice = TextContext(answer, previous=("That is that.",))
    thrice = TextContext(answer, previous=("That is that.", "We ate. That is that!", "Nothing."))
    assert stereotypies(read(twice)).outcome is Outcome.UNDEFINED
    assert stereotypies(read(thrice)).words == ("that is that (in 3 answers)",)


def test_a_short_prompt_is_no_formula() -> None:
    answer = "Name a fruit. Apple."
    context = TextContext(answer, prompt="Name a fruit.", previous=("Name a fruit.",) * 2)
    assert stereotypies(read(context)).outcome is Outcome.UNDEFINED


def test_the_third_answer_with_a_formula_suffices() -> None:
    answer = "I went to Rome. That is that."
    context = TextContext(answer, previous=("That is that.", "We ate. That is that!"))
    assert stereotypies(read(context)).words == ("that is that (in 3 answers)",)


def test_a_phrase_that_returns_fills_a_quarter_of_the_text() -> None:
    text = (
        "We saw the red barn today. Then I drew the red barn slowly. She liked the red barn best."
    )
    rest = """ After lunch my uncle drove us over many hills toward one quiet village where several
    old friends had opened some tiny cafe with cheap soup, warm bread, good coffee plus local jam
    made by their neighbour Anna who also keeps bees."""
    assert perseverations(read(text, RULES_2)).words == ("the red barn",)
    assert perseverations(read(text + rest, RULES_2)).outcome is not Outcome.PRESENT

from __future__ import annotations

from tabwb.scoring.burden import ComparedAnswer, repeated_answers

PROMPTS = ("Tell me about a trip.", "Describe a memory.", "Tell me about a job.")


def given(*texts: str) -> list[ComparedAnswer]:
    return [
        ComparedAnswer(number, PROMPTS[number % len(PROMPTS)], text)
        for number, text in enumerate(texts)
    ]


def test_one_text_for_three_prompts_is_a_repeated_answer() -> None:
    answers = given("I like the sea.", "I like the sea.", "I like the sea.", "We had a dog.")
    assert repeated_answers(answers) == {0, 1, 2}


def test_case_punctuation_and_white_space_do_not_make_another_text() -> None:
    answers = given("I like the sea.", " i like  the sea", "“I like the sea!”")
    assert repeated_answers(answers) == {0, 1, 2}


def test_two_prompts_are_not_enough() -> None:
    assert repeated_answers(given("I like the sea.", "I like the sea.", "No.")) == frozenset()


def test_replicates_of_one_item_are_one_prompt() -> None:
    answers = [ComparedAnswer(number, PROMPTS[0], "I like the sea.") for number in range(9)]
    assert repeated_answers(answers) == frozenset()


def test_replicates_of_a_repeated_answer_are_repeated_too() -> None:
    assert len(repeated_answers(given(*["I like the sea."] * 6))) == 6


def test_texts_without_a_word_are_not_compared() -> None:
    assert repeated_answers(given("", " ", "...")) == frozenset()

"""Status of a response, from the stop reason and stated rules."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring.language import is_english, is_foreign
from tabwb.scoring.refusal import is_refusal
from tabwb.scoring.text import straight, word_set, words

REPETITIVE_SHARE = 0.5
"""A word or phrase that fills this share of the words or more makes a text degenerate."""
REPETITIVE_TIMES = 3
"""Minimum number of occurrences: a sentence said twice is a repetition, not a degenerate text."""
ANSWER_WORDS = 8
"""Where an answer is one word or one sentence, shorter texts are never degenerate."""
CLAUSE_WORDS = 8
"""A clause of function words alone ("I do not have any") is no longer than this."""
_AUXILIARIES = word_set(
    "am is are was were be have has had do does did can could will would shall should may might "
    "must cannot can't don't didn't doesn't won't wouldn't couldn't shouldn't isn't wasn't aren't "
    "weren't haven't hasn't hadn't"
)


def is_repetitive(words: Sequence[str]) -> bool:
    """Return whether one word or phrase, said three times or more, fills half the words or more.

    Every occurrence of a content word counts. A function word or a phrase counts where copies of it
    follow each other [ours]: "It was hot. It was fun." does not count. Source: docs/results.md;
    three times [ours], so that a sentence said twice (TAB, appendix C, example 4) remains a
    response.

    >>> is_repetitive("the the the the lake".split()), is_repetitive("we went and we went".split())
    (True, False)
    """
    total = len(words)
    counts = Counter(words)
    # Each word of such a phrase occurs three times: this decides most texts.
    if (
        sum(times for times in counts.values() if times >= REPETITIVE_TIMES)
        < REPETITIVE_SHARE * total
    ):
        return False
    from tabwb.scoring.rules.passage import is_content
    from tabwb.scoring.rules.repetition import find_runs

    word, most = counts.most_common(1)[0]
    if most >= REPETITIVE_TIMES and most >= REPETITIVE_SHARE * total and is_content(word):
        return True
    copies: Counter[tuple[str, ...]] = Counter()
    for run in find_runs(words, 1, total // 2):
        copies[tuple(words[run.start : run.start + run.size])] += run.times
    return any(
        times >= REPETITIVE_TIMES and times * len(unit) >= REPETITIVE_SHARE * total
        for unit, times in copies.items()
    )


def is_function_words_alone(words: Sequence[str]) -> bool:
    """Return whether the words hold no content word and are not a short English clause.

    A clause is a subject pronoun and an auxiliary at the beginning of up to
    :data:`CLAUSE_WORDS` words [ours]: "I do not have any." is an answer.

    >>> is_function_words_alone("of the and to".split())
    True
    >>> is_function_words_alone("i do not have any".split())
    False
    """
    from tabwb.scoring.rules.passage import is_content
    from tabwb.scoring.rules.vocabulary import SUBJECT_PRONOUNS

    if not words or any(map(is_content, words)):
        return False
    opens = words[0] in SUBJECT_PRONOUNS or words[0] in ("there", "this", "that", "these", "those")
    contracted = words[0].partition("'")[0] in SUBJECT_PRONOUNS and "'" in words[0]
    verb = contracted or (opens and len(words) > 1 and words[1] in _AUXILIARIES)
    return not (verb and len(words) <= CLAUSE_WORDS)


_ORDINARY = frozenset(".,;:!?'\"()[]-–—…_*/&%“”‘’«»„`´¿¡。、，！？")
ONE_LETTER = 8
"""This many letters, all the same, do not count as language."""
ECHO_WORDS = 3
"""A line of the prompt with fewer words can be an answer and does not count as an echo."""


PASSAGES = frozenset({ResponseKind.CONNECTED_TEXT, ResponseKind.FREE})
"""Kinds whose answer is a text, and not one word, one sentence or a repetition."""


def response_status(
    text: str,
    stop_reason: StopReason,
    prompt: str = "",
    expected: str | None = None,
    *,
    kind: ResponseKind | None = None,
    language: str = "",
) -> ResponseStatus:
    """Return the status of a response. The first rule that holds decides.

    1. *empty*: nothing but white space, whatever the stop reason.
    2. *refused*: the back end says so, or the content of a model's reply is that it will not or
       cannot answer (:func:`tabwb.scoring.refusal.is_refusal`). A person's "I can't" may be what
       is studied and is a response; stop reason ``none`` marks a person's answer.
    3. *not-language*: no letter or digit; or letters and digits are under half of all signs that
       are neither white space nor ordinary punctuation; or under half of the letters are of a
       script that the prompt is written in; or :data:`ONE_LETTER` letters or more, all the same.
       In connected and free text of an English battery also: the function words are those of
       another language, or under half of the words are known and none is an English function word
       (:mod:`tabwb.scoring.language`). One word or a repetition does not show a language.
    4. *prompt-echo*: the words are those of the prompt that was sent, of one of its lines, or of a
       line up to its last colon (the carrier), once or over and over (the last time perhaps cut),
       and nothing else. A carrier echo *with* something new (TAB, appendix C, example 3) is *ok*:
       it is a response, and repetition counts its carrier echoes.
    5. *degenerate* (:mod:`tabwb.scoring.response_status`): one word or phrase, three times or more,
       fills half of the words; or, in connected and free text, there are function words alone.
       In a choice, a yes-no question, a repetition or a naming item only from
       :data:`~tabwb.scoring.degenerate.ANSWER_WORDS` words on, so that no answer is degenerate.
    6. *truncated*: the token limit ended it.
    7. *ok*.

    Rules 3 and 5 never hold for the expected answer. *repeated-answer* needs all answers of an
    administration and is found by :func:`tabwb.report.summaries.counted.effective_statuses`.

    Args:
        text: the response, unaltered.
        stop_reason: why it ended.
        prompt: the user message as it was sent.
        expected: the right answer where there is one; giving it is never an echo.
        kind: what the subtest asks for; None applies the rules that hold for every kind.
        language: of the battery, as a BCP 47 tag; word lists exist for English.

    >>> str(response_status("  ", StopReason.END)), str(response_status("Boot.", StopReason.END))
    ('empty', 'ok')
    >>> str(response_status("I'm sorry, but I can't help with that.", StopReason.END))
    'refused'
    >>> str(response_status("Please repeat exactly:", StopReason.END, "Please repeat exactly: go."))
    'prompt-echo'
    >>> passage = ResponseKind.CONNECTED_TEXT
    >>> str(response_status("the the the the", StopReason.LENGTH, kind=passage))
    'degenerate'
    >>> str(response_status("Yes", StopReason.END, expected="Yes", kind=ResponseKind.YES_NO))
    'ok'
    >>> french = "Le meilleur voyage que j'ai fait était en Italie."
    >>> str(response_status(french, StopReason.END, kind=passage, language="en"))
    'not-language'
    """
    if not text.strip():
        return ResponseStatus.EMPTY
    by_model = stop_reason is not StopReason.NONE
    if stop_reason is StopReason.REFUSED or (by_model and is_refusal(text)):
        return ResponseStatus.REFUSED
    if not _is_language(text, prompt):
        return ResponseStatus.NOT_LANGUAGE
    is_answer = expected is not None and straight(text).strip() == straight(expected).strip()
    if not is_answer:
        spoken_words = words(text)
        english = language.partition("-")[0].lower() == "en"
        if (
            english
            and kind in PASSAGES
            and (is_foreign(spoken_words) or not is_english(spoken_words))
        ):
            return ResponseStatus.NOT_LANGUAGE
        if _echoes(spoken_words, prompt):
            return ResponseStatus.PROMPT_ECHO
        if _is_degenerate(spoken_words, kind, english=english):
            return ResponseStatus.DEGENERATE
    return ResponseStatus.TRUNCATED if stop_reason is StopReason.LENGTH else ResponseStatus.OK


def _is_degenerate(given_words: Sequence[str], kind: ResponseKind | None, *, english: bool) -> bool:
    if kind is None:
        return False
    if kind in PASSAGES:
        return is_repetitive(given_words) or (english and is_function_words_alone(given_words))
    return len(given_words) >= ANSWER_WORDS and is_repetitive(given_words)


def _is_language(text: str, prompt: str) -> bool:
    alphanumeric = sum(map(str.isalnum, text))
    # Combining marks belong to the letters before them.
    signs = sum(
        not (sign.isspace() or sign in _ORDINARY or unicodedata.combining(sign)) for sign in text
    )
    if alphanumeric == 0 or 2 * alphanumeric < signs:
        return False
    letters = [sign for sign in text.casefold() if sign.isalpha()]
    if len(letters) >= ONE_LETTER and len(set(letters)) == 1:
        return False
    if text.isascii() and prompt.isascii():
        return True
    scripts = {_script(sign) for sign in prompt if sign.isalpha()}
    known = sum(_script(sign) in scripts for sign in letters)
    return not scripts or 2 * known >= len(letters)


def _script(letter: str) -> str:
    # The first word of a letter's name is its script: LATIN SMALL LETTER A, CYRILLIC ...
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN").split(" ")[0]


def _echoes(given_words: list[str], prompt: str) -> bool:
    return any(_is_repeated(given_words, unit) for unit in _echo_units(prompt))


def _echo_units(prompt: str) -> Iterator[list[str]]:
    yield words(prompt)
    for line in prompt.splitlines():
        before, colon, _ = line.rpartition(":")
        for part in (line, before) if colon else (line,):
            unit = words(part)
            if len(unit) >= ECHO_WORDS:
                yield unit


def _is_repeated(given_words: list[str], unit: list[str]) -> bool:
    if not unit or len(given_words) < len(unit):
        return False
    return all(word == unit[at % len(unit)] for at, word in enumerate(given_words))

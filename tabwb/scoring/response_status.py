"""What kind of text came back, from the stop reason and stated rules (SCORING 1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tabwb.records.states import ResponseStatus, StopReason
from tabwb.scoring.text import straight, words

_ORDINARY = frozenset(".,;:!?'\"()[]-–—…_*/&%“”‘’«»„`´¿¡。、，！？")
_APOLOGY = (
    r"(?:(?:i'm|i am|we're|we are)? ?(?:very |so |really )?sorry|i apologi[sz]e|unfortunately)"
)
_UNABLE = (
    r"(?:can't|cannot|can not|could not|couldn't|won't|will not|"
    r"am unable to|am not able to|'m unable to|'m not able to)"
)
_ACTS = (
    r"(?:help|assist|answer|respond|reply|provide|comply|fulfil|fulfill|complete|share|discuss|"
    r"engage|participate|generate|create|continue|process|do (?:that|this|so))"
)
_MACHINE = r"(?:an ai|a language model|a large language model|an artificial intelligence|a chatbot)"
REFUSALS = (
    rf"(?:{_APOLOGY}[,.;]? ?(?:but )?)?(?:i|we) ?{_UNABLE} {_ACTS}\b",
    rf"(?:{_APOLOGY}[,.;]? ?(?:but )?)?(?:as|i'm|i am|i'm just|i am just) {_MACHINE}\b"
    rf"(?:\W*$|.{{0,80}}?\b(?:{_UNABLE}|don't|do not|no|never|lack|without)\b)",
    r"i (?:don't|do not) have (?:any )?personal (?:experiences?|memories|feelings|opinions)\b",
)
"""The closed list of openings that make a text a refusal, as regular expressions. They need an act
that is declined: "I can't find the word" is no refusal, nor is "As an AI, I can imagine one."
English only."""
_REFUSAL = re.compile("|".join(f"(?:{opening})" for opening in REFUSALS))
ONE_LETTER = 8
"""So many letters, all the same one, are no language."""
ECHO_WORDS = 3
"""A line of the prompt with fewer words can be an answer and is not taken for an echo."""


def response_status(
    text: str, stop_reason: StopReason, prompt: str = "", expected: str | None = None
) -> ResponseStatus:
    """The status of a response. The first rule that holds decides.

    1. *empty*: nothing but white space, whatever the stop reason.
    2. *refused*: the back end says so, or the text opens with one of :data:`REFUSALS`.
    3. *not-language*: no letter or digit; or letters and digits are under half of all signs that
       are neither white space nor ordinary punctuation; or under half of the letters are of a
       script that the prompt is written in; or :data:`ONE_LETTER` letters or more, all the same.
       (The rules judge has a finer test of its own, with a dictionary.)
    4. *prompt-echo*: the words are those of the prompt that was sent, of one of its lines, or of a
       line up to its last colon (the carrier), once or over and over (the last time perhaps cut),
       and nothing else. A carrier echo *with* something new (TAB, appendix C, example 3) is *ok*:
       it is a response, and repetition counts its carrier echoes.
    5. *truncated*: the token limit ended it.
    6. *ok*.

    Args:
        text: the response, unaltered.
        stop_reason: why it ended.
        prompt: the user message as it was sent.
        expected: the right answer where there is one; giving it is never an echo.

    >>> str(response_status("  ", StopReason.END)), str(response_status("Boot.", StopReason.END))
    ('empty', 'ok')
    >>> str(response_status("I'm sorry, but I can't help with that.", StopReason.END))
    'refused'
    >>> str(response_status("I can't find the word for that.", StopReason.END))
    'ok'
    >>> str(response_status("As an AI, I do not have a childhood.", StopReason.END))
    'refused'
    >>> str(response_status("As an AI, I can imagine one. We went to the lake.", StopReason.END))
    'ok'
    >>> str(response_status("Please repeat exactly:", StopReason.END, "Please repeat exactly: go."))
    'prompt-echo'
    """
    if not text.strip():
        return ResponseStatus.EMPTY
    if stop_reason is StopReason.REFUSED or _refuses(text):
        return ResponseStatus.REFUSED
    if not _is_language(text, prompt):
        return ResponseStatus.NOT_LANGUAGE
    is_answer = expected is not None and straight(text).strip() == straight(expected).strip()
    if not is_answer and _echoes(text, prompt):
        return ResponseStatus.PROMPT_ECHO
    return ResponseStatus.TRUNCATED if stop_reason is StopReason.LENGTH else ResponseStatus.OK


def _refuses(text: str) -> bool:
    opening = " ".join(straight(text[:200]).casefold().lstrip(" \t\r\n\"'“‘*").split())
    return _REFUSAL.match(opening) is not None


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


def _echoes(text: str, prompt: str) -> bool:
    said = words(text)
    return any(_is_repeated(said, unit) for unit in _echo_units(prompt))


def _echo_units(prompt: str) -> Iterator[list[str]]:
    yield words(prompt)
    for line in prompt.splitlines():
        before, colon, _ = line.rpartition(":")
        for part in (line, before) if colon else (line,):
            unit = words(part)
            if len(unit) >= ECHO_WORDS:
                yield unit


def _is_repeated(said: list[str], unit: list[str]) -> bool:
    if not unit or len(said) < len(unit):
        return False
    return all(word == unit[at % len(unit)] for at, word in enumerate(said))

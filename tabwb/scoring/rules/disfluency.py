"""Interrupted utterances and words: rules 2 (abandoned utterances) and 7 (false starts)."""

from __future__ import annotations

import re
from itertools import pairwise

from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.rules.passage import Passage, Token, Utterance, without_fillers
from tabwb.scoring.rules.thresholds import RULES_1, Thresholds
from tabwb.scoring.rules.verdicts import RuleVerdict, absent, present, undefined
from tabwb.scoring.rules.vocabulary import (
    LEFT_OPEN,
    LEFT_OPEN_CONJUNCTIONS,
    OPEN_BEFORE_DOTS,
    OPENING_AFTER_CONJUNCTION,
    OPENING_AFTER_DETERMINER,
    SHORT_WORDS,
    SUSPENDED,
)

NO_BOUNDARIES = "a transcript without punctuation does not show where utterances end"
_CLOSING = "\"')]}*\u201d "
_LAST_WORDS = 4
_JOINED = re.compile(r"(?:['\-/&.@_\w]|\d )$")
"""Signs that make letters part of something else: *21st street*, *1 c chopped*."""
_BETWEEN = re.compile(r"[ \t,]+")


def lacks_boundaries(passage: Passage, limits: Thresholds = RULES_1) -> bool:
    """Return whether a transcript of speech is one long stretch (rules 2 and 6 are undefined).

    Args:
        passage: the response.
        limits: thresholds of the version of the rules.
    """
    long = len(passage.tokens) > limits.unpunctuated
    return passage.context.spoken and long and len(passage.utterances) == 1


def abandoned_utterances(passage: Passage, limits: Thresholds = RULES_1) -> RuleVerdict:
    """Rule 2, two-sided: an utterance left incomplete before the next one.

    Any but the last utterance ends in ``...``, a dash or ``+...``, or in {the a an my your our
    their and but because}; or such a word stands directly before a capitalised question or subject
    word. Ours: no title (*the How and Why*), and *and I* is English. In ``rules-2`` three dots
    within a line of speech, and before a small letter, are a pause; in typed text three dots after
    a word that may end a sentence ("my life... I") can be style: noted, and not counted.

    Args:
        passage: the response.
        limits: thresholds of the version of the rules.

    >>> from tabwb.scoring.rules.passage import read
    >>> abandoned_utterances(read("I was going to say that the How are you doing today?")).words
    ('that the How are',)
    >>> abandoned_utterances(read("We went to the... It was fun.")).words
    ('We went to the...',)
    >>> abandoned_utterances(read("It was fun, but...")).outcome.value
    'absent'
    """
    if lacks_boundaries(passage, limits):
        return undefined(NO_BOUNDARIES)
    quotes: list[str] = []
    stylistic: list[str] = []
    for unfinished in passage.utterances[:-1]:
        if _is_left_open(unfinished):
            style = limits.form_based and not passage.context.spoken and _may_be_style(unfinished)
            (stylistic if style else quotes).append(_quote_end(passage, unfinished))
    for utterance in _finished(passage):
        tokens = utterance.tokens
        quotes += [
            passage.quote(tokens[max(0, at - 1) : at + 3])
            for at in range(len(tokens) - 1)
            if _breaks_off(tokens, at)
        ]
    note = f"not counted: {'; '.join(stylistic)} (a pause or style?)" if stylistic else ""
    return present(*quotes, note=note) if quotes else absent(note)


def _finished(passage: Passage) -> tuple[Utterance, ...]:
    """Return all utterances but one that the token limit cut."""
    return passage.utterances[:-1] if passage.is_cut else passage.utterances


def _is_left_open(utterance: Utterance) -> bool:
    text = utterance.text.rstrip(_CLOSING)
    if text.endswith(("...", "-", "–", "—")):
        return True
    last = without_fillers(utterance.tokens)[-1:]
    return bool(last) and last[0].text in LEFT_OPEN


def _may_be_style(utterance: Utterance) -> bool:
    """Return whether only three dots show a break, after a word that may end an utterance."""
    text = utterance.text.rstrip(_CLOSING)
    last = without_fillers(utterance.tokens)[-1:]
    return (
        text.endswith("...")
        and not text.endswith("+...")
        and bool(last)
        and last[0].word not in LEFT_OPEN | OPEN_BEFORE_DOTS
    )


def _quote_end(passage: Passage, utterance: Utterance) -> str:
    tokens = utterance.tokens[-_LAST_WORDS:]
    mark = utterance.text.rstrip(_CLOSING)[-3:]
    ending = mark if mark == "..." else mark[-1:] if mark[-1:] in "-–—" else ""
    return passage.quote(tokens) + ending


def _breaks_off(tokens: tuple[Token, ...], at: int) -> bool:
    word, following = tokens[at].text, tokens[at + 1].text
    if word in LEFT_OPEN_CONJUNCTIONS:
        opens = following in OPENING_AFTER_CONJUNCTION
    else:
        opens = word in LEFT_OPEN and following in OPENING_AFTER_DETERMINER
    beyond = tokens[at + 2].text if at + 2 < len(tokens) else ""
    return opens and beyond[:1].islower()


def false_starts(passage: Passage, limits: Thresholds = RULES_1) -> RuleVerdict:
    """Rule 7, two-sided: the abandoned beginning of a word.

    1-4 letters and a hyphen, and the next word starts with the same letter; or 1-3 letters that are
    not a real short word and begin the next word. An utterance that the token limit cut does not
    count. Ours: *two- to three-year* is a waiting hyphen; acronyms and capitals in a sentence are
    no fragments.

    Args:
        passage: the response.
        limits: thresholds of the version of the rules.

    >>> from tabwb.scoring.rules.passage import read
    >>> false_starts(read("I want to have a ca cat")).words
    ('ca cat',)
    >>> false_starts(read("I want a ca- cat.")).words
    ('ca- cat',)
    >>> false_starts(read("A two- to three-year plan.")).outcome.value
    'absent'
    """
    quotes: list[str] = []
    for utterance in _finished(passage):
        tokens = without_fillers(utterance.tokens)
        for at, (token, following) in enumerate(pairwise(tokens)):
            if token.hyphen:
                short = len(token.word) <= limits.hyphened_letters
                same = following.word[0] == token.word[0] and following.word not in SUSPENDED
                starts = short and same
            else:
                starts = _begins(passage.text, token, following, first=at == 0, limits=limits)
            if starts:
                quotes.append(passage.quote((token, following)))
    return present(*quotes) if quotes else absent()


def _begins(text: str, token: Token, following: Token, *, first: bool, limits: Thresholds) -> bool:
    if len(token.word) > limits.fragment_letters or not (
        following.word.startswith(token.word) and len(following.word) > len(token.word)
    ):
        return False
    is_real = token.word in SHORT_WORDS or load_lexicon().common(token.word)
    is_acronym = token.text.isupper() and not (first and len(token.text) == 1)
    is_piece = (
        _JOINED.search(text, max(0, token.start - 2), token.start) is not None or "'" in token.word
    )
    beside = _BETWEEN.match(text, token.end) is not None
    return beside and not (is_real or is_acronym or is_piece)

"""Interrupted speech: rules 2 (abandoned utterances), 7 (false starts) and 11 (conduite)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.passage import Passage, Token, Utterance, is_content, without_fillers
from tabwb.scoring.rules.verdicts import (
    NOT_SEEN,
    RuleVerdict,
    Thresholds,
    absent,
    present,
    undefined,
)
from tabwb.scoring.text import common_subsequence

NO_BOUNDARIES = "a transcript without punctuation does not show where utterances end"
_BREAKS = ("...", "-", "–", "—")
_LAST_WORDS = 4
_JOINED = re.compile(r"(?:['\-/&.@_\w]|\d )$")
"""Signs that make letters part of something else: *21st street*, *1 c chopped*."""
_BETWEEN = re.compile(r"[ \t,]+")


def lacks_boundaries(passage: Passage) -> bool:
    """Return whether a transcript of speech is one long stretch (rules 2 and 6 are undefined)."""
    long = len(passage.tokens) > passage.limits.unpunctuated
    return passage.context.spoken and long and len(passage.utterances) == 1


def abandoned_utterances(passage: Passage) -> RuleVerdict:
    """Rule 2, two-sided: an utterance left incomplete before the next one.

    Any but the last utterance ends in ``...``, a dash or ``+...``, or in {the a an my your our
    their and but because}; or such a word stands directly before a capitalised question or subject
    word. Ours: no title (*the How and Why*), and *and I* is English. In ``rules-2`` three dots
    within a line of speech, and before a small letter, are a pause; in typed text three dots after
    a word that may end a sentence ("my life... I") can be style: noted, and not counted.

    >>> from tabwb.scoring.rules.passage import read
    >>> abandoned_utterances(read("I was going to say that the How are you doing today?")).words
    ('that the How are',)
    >>> abandoned_utterances(read("We went to the... It was fun.")).words
    ('We went to the...',)
    >>> abandoned_utterances(read("It was fun, but...")).outcome.value
    'absent'
    """
    if lacks_boundaries(passage):
        return undefined(NO_BOUNDARIES)
    quotes: list[str] = []
    stylistic: list[str] = []
    for unfinished in passage.utterances[:-1]:
        if _is_left_open(unfinished):
            style = passage.typed_form and _may_be_style(unfinished)
            ending = next((mark for mark in _BREAKS if unfinished.bare.endswith(mark)), "")
            quote = passage.quote(unfinished.tokens[-_LAST_WORDS:]) + ending
            (stylistic if style else quotes).append(quote)
    for utterance in passage.finished:
        tokens = utterance.tokens
        quotes += [
            passage.quote(tokens[max(0, at - 1) : at + 3])
            for at in range(len(tokens) - 1)
            if _breaks_off(tokens, at)
        ]
    note = f"not counted: {'; '.join(stylistic)} (a pause or style?)" if stylistic else ""
    return present(*quotes, note=note) if quotes else absent(note)


def _is_left_open(utterance: Utterance) -> bool:
    last = without_fillers(utterance.tokens)[-1:]
    return utterance.bare.endswith(_BREAKS) or any(
        token.text in vocabulary.LEFT_OPEN for token in last
    )


def _may_be_style(utterance: Utterance) -> bool:
    """Return whether only three dots show a break, after a word that may end an utterance."""
    dots = utterance.bare.endswith("...") and not utterance.bare.endswith("+...")
    last = without_fillers(utterance.tokens)[-1:]
    return dots and any(
        token.word not in vocabulary.LEFT_OPEN | vocabulary.OPEN_BEFORE_DOTS for token in last
    )


def _breaks_off(tokens: tuple[Token, ...], at: int) -> bool:
    word, following = tokens[at].text, tokens[at + 1].text
    if word in vocabulary.LEFT_OPEN_CONJUNCTIONS:
        opens = following in vocabulary.OPENING_AFTER_CONJUNCTION
    else:
        opens = word in vocabulary.LEFT_OPEN and following in vocabulary.OPENING_AFTER_DETERMINER
    beyond = tokens[at + 2].text if at + 2 < len(tokens) else ""
    return opens and beyond[:1].islower()


def false_starts(passage: Passage) -> RuleVerdict:
    """Rule 7, two-sided: the abandoned beginning of a word.

    1-4 letters and a hyphen, and the next word starts with the same letter; or 1-3 letters that are
    not a real short word and begin the next word. An utterance that the token limit cut does not
    count. Ours: *two- to three-year* is a waiting hyphen; acronyms and capitals in a sentence are
    no fragments.

    >>> from tabwb.scoring.rules.passage import read
    >>> false_starts(read("I want to have a ca cat")).words
    ('ca cat',)
    >>> false_starts(read("I want a ca- cat.")).words
    ('ca- cat',)
    >>> false_starts(read("A two- to three-year plan.")).outcome.value
    'absent'
    """
    quotes: list[str] = []
    for utterance in passage.finished:
        tokens = without_fillers(utterance.tokens)
        for at, (token, following) in enumerate(pairwise(tokens)):
            if token.hyphen:
                short = len(token.word) <= passage.limits.hyphened_letters
                same = (
                    following.word[0] == token.word[0]
                    and following.word not in vocabulary.SUSPENDED
                )
                starts = short and same
            else:
                starts = _begins(passage, token, following, first=at == 0)
            if starts:
                quotes.append(passage.quote((token, following)))
    return present(*quotes) if quotes else absent()


def _begins(passage: Passage, token: Token, following: Token, *, first: bool) -> bool:
    if len(token.word) > passage.limits.fragment_letters or not (
        following.word.startswith(token.word) and len(following.word) > len(token.word)
    ):
        return False
    is_real = token.word in vocabulary.SHORT_WORDS or load_lexicon().common(token.word)
    is_acronym = token.text.isupper() and not (first and len(token.text) == 1)
    is_piece = (
        _JOINED.search(passage.text, max(0, token.start - 2), token.start) is not None
        or "'" in token.word
    )
    beside = _BETWEEN.match(passage.text, token.end) is not None
    return beside and not (is_real or is_acronym or is_piece)


_FREQUENT = 20
_EDITING = {term[0]: term for term in vocabulary.EDITING_TERMS}


def conduite(passage: Passage) -> RuleVerdict:
    """Rule 11, one-sided; see :func:`approaches`.

    >>> from tabwb.scoring.rules.passage import read
    >>> conduite(read("I want a pa- pen, I mean, pencil.")).words
    ('pa- pen', 'pen, I mean, pencil')
    """
    steps = approaches(passage)
    return present(*(passage.quote(step) for step in steps)) if steps else NOT_SEEN


def approaches(passage: Passage) -> tuple[tuple[Token, Token], ...]:
    """Return the steps from one attempt at a word to the next, in order.

    Either X, an editing term (*I mean*, *no*, *or rather*, *sorry*, a filler), Y, where Y begins
    with X or shares half its letters; or a fragment, an attempt and a final word of rising
    similarity, which are two steps. Ours: X and Y are content words of one first letter, "shares"
    means in the same order, an article may be said again before Y; *no* edits where a comma follows
    it or Y begins with X (*a heart, no hope* does not count).

    >>> from tabwb.scoring.rules.passage import read
    >>> [(x.word, y.word) for x, y in approaches(read("I want a pa pen I mean pencil"))]
    [('pa', 'pen'), ('pen', 'pencil')]
    >>> approaches(read("The kite, I mean, it flew."))
    ()
    """
    steps: dict[tuple[int, int], tuple[Token, Token]] = {}
    for utterance in passage.utterances:
        tokens = utterance.tokens
        for step in (*_edited(passage, tokens), *_rising(tokens, passage.limits)):
            steps[step[0].start, step[1].start] = step
    return tuple(steps[key] for key in sorted(steps))


def _edited(passage: Passage, tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    if not any(token.word in vocabulary.FILLERS or token.word in _EDITING for token in tokens):
        return
    for at, attempt in enumerate(tokens):
        after = at + 1
        while after < len(tokens) and tokens[after].word in vocabulary.FILLERS:
            after += 1
        after += _editing_term(tokens, after)
        if after == at + 1:
            continue
        term = tokens[after - 1]
        while after < len(tokens) and (
            tokens[after].word in vocabulary.FILLERS or tokens[after].word in vocabulary.RESUMED
        ):
            after += 1
        if after == len(tokens) or not _approaches(
            attempt.word, tokens[after].word, passage.limits
        ):
            continue
        final = tokens[after]
        if term.word == "no" and not (
            final.word.startswith(attempt.word) or "," in passage.text[term.end : final.start]
        ):
            continue
        yield attempt, final


def _editing_term(tokens: Sequence[Token], at: int) -> int:
    """Return how many words from ``at`` are an editing term; 0 where there is none."""
    term = _EDITING.get(tokens[at].word) if at < len(tokens) else None
    if term is None or tuple(token.word for token in tokens[at : at + len(term)]) != term:
        return 0
    return len(term)


def _approaches(attempt: str, final: str, limits: Thresholds) -> bool:
    if attempt == final or min(len(attempt), len(final)) < 2 or attempt[0] != final[0]:
        return False
    if not (is_content(attempt) and is_content(final)):
        return False
    shared = common_subsequence(attempt, final)
    return final.startswith(attempt) or shared >= limits.shared_letters * len(final)


def _rising(tokens: Sequence[Token], limits: Thresholds) -> Iterator[tuple[Token, Token]]:
    spoken = [token for token in without_fillers(tokens) if token.word not in vocabulary.RESUMED]
    plain: list[Token] = []
    at = 0
    while at < len(spoken):
        edited = _editing_term(spoken, at)
        if not edited:
            plain.append(spoken[at])
        at += edited or 1
    for fragment, attempt, final in zip(plain, plain[1:], plain[2:], strict=False):
        words = (fragment.word, attempt.word, final.word)
        if not words[0][0] == words[1][0] == words[2][0] or len(set(words)) < 3:
            continue
        if not (_may_break_off(fragment, limits) and all(map(is_content, words[1:]))):
            continue
        near = similarity(attempt.word, final.word)
        if similarity(fragment.word, final.word) < near and near >= limits.shared_letters:
            yield fragment, attempt
            yield attempt, final


def _may_break_off(token: Token, limits: Thresholds) -> bool:
    if token.hyphen:
        return True
    level = load_lexicon().level(token.word)
    rare = (level is None or level > _FREQUENT) and token.word not in vocabulary.SHORT_WORDS
    return len(token.word) <= limits.fragment_letters and rare and is_content(token.word)


def similarity(word: str, other: str) -> float:
    """Return twice the common subsequence over all letters of two words, 0 to 1.

    >>> similarity("pen", "pencil"), similarity("pa", "pencil")
    (0.6666666666666666, 0.25)
    """
    return 2 * common_subsequence(word, other) / (len(word) + len(other))

"""Rule 11 (conduite d'approche): successive approximations to a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.rules.passage import Passage, Token, is_content, without_fillers
from tabwb.scoring.rules.thresholds import RULES_1, Thresholds
from tabwb.scoring.rules.verdicts import NOT_SEEN, RuleVerdict, present
from tabwb.scoring.rules.vocabulary import EDITING_TERMS, FILLERS, RESUMED, SHORT_WORDS
from tabwb.scoring.text import common_subsequence

_FREQUENT = 20
_EDITING = {term[0]: term for term in EDITING_TERMS}


def conduite(passage: Passage, limits: Thresholds = RULES_1) -> RuleVerdict:
    """Rule 11, one-sided; see :func:`approaches`.

    Args:
        passage: the response.
        limits: thresholds of the version of the rules.

    >>> from tabwb.scoring.rules.passage import read
    >>> conduite(read("I want a pa- pen, I mean, pencil.")).words
    ('pa- pen', 'pen, I mean, pencil')
    """
    steps = approaches(passage, limits)
    return present(*(passage.quote(step) for step in steps)) if steps else NOT_SEEN


def approaches(passage: Passage, limits: Thresholds = RULES_1) -> tuple[tuple[Token, Token], ...]:
    """Return the steps from one attempt at a word to the next, in order.

    Either X, an editing term (*I mean*, *no*, *or rather*, *sorry*, a filler), Y, where Y begins
    with X or shares half its letters; or a fragment, an attempt and a final word of rising
    similarity, which are two steps. Ours: X and Y are content words of one first letter, "shares"
    means in the same order, an article may be said again before Y; *no* edits where a comma follows
    it or Y begins with X (*a heart, no hope* does not count).

    Args:
        passage: the response.
        limits: thresholds of the version of the rules.

    >>> from tabwb.scoring.rules.passage import read
    >>> [(x.word, y.word) for x, y in approaches(read("I want a pa pen I mean pencil"))]
    [('pa', 'pen'), ('pen', 'pencil')]
    >>> approaches(read("The kite, I mean, it flew."))
    ()
    """
    steps: dict[tuple[int, int], tuple[Token, Token]] = {}
    for utterance in passage.utterances:
        for step in (
            *_edited(passage.text, utterance.tokens, limits),
            *_rising(utterance.tokens, limits),
        ):
            steps[step[0].start, step[1].start] = step
    return tuple(steps[key] for key in sorted(steps))


def _edited(
    text: str, tokens: Sequence[Token], limits: Thresholds
) -> Iterator[tuple[Token, Token]]:
    if not any(token.word in FILLERS or token.word in _EDITING for token in tokens):
        return
    for at, attempt in enumerate(tokens):
        after = at + 1
        while after < len(tokens) and tokens[after].word in FILLERS:
            after += 1
        after += _editing_term(tokens, after)
        if after == at + 1:
            continue
        term = tokens[after - 1]
        while after < len(tokens) and (
            tokens[after].word in FILLERS or tokens[after].word in RESUMED
        ):
            after += 1
        if after == len(tokens) or not _approaches(attempt.word, tokens[after].word, limits):
            continue
        final = tokens[after]
        if term.word == "no" and not (
            final.word.startswith(attempt.word) or "," in text[term.end : final.start]
        ):
            continue
        yield attempt, final


def _editing_term(tokens: Sequence[Token], at: int) -> int:
    """Return how many words from ``at`` are an editing term; 0 where none stands."""
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
    spoken = [token for token in without_fillers(tokens) if token.word not in RESUMED]
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
    """Return whether a word may be a fragment: hyphened, or of 1-3 letters and infrequent."""
    if token.hyphen:
        return True
    level = load_lexicon().level(token.word)
    rare = (level is None or level > _FREQUENT) and token.word not in SHORT_WORDS
    return len(token.word) <= limits.fragment_letters and rare and is_content(token.word)


def similarity(word: str, other: str) -> float:
    """Return twice the common subsequence over all letters of two words, 0 to 1.

    Args:
        word: a word.
        other: a word.

    >>> similarity("pen", "pencil"), similarity("pa", "pencil")
    (0.6666666666666666, 0.25)
    """
    return 2 * common_subsequence(word, other) / (len(word) + len(other))

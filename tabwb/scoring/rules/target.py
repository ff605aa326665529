"""Words of a target and of its repetition: rules 12 to 14."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from tabwb.records.states import ResponseKind
from tabwb.scoring.repetition import edit_counts
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.disfluency import similarity
from tabwb.scoring.rules.lexical import is_word
from tabwb.scoring.rules.passage import Passage, is_content, read
from tabwb.scoring.rules.verdicts import (
    NOT_SEEN,
    RuleVerdict,
    absent,
    present,
    undefined,
)

NO_TARGET = "repetition only: elsewhere the intended word is not known"
NOTHING_SAID = "no word of the target was said"
_LEFT_OUT = 0.75


def align(
    target: Sequence[str], answer: Sequence[str]
) -> tuple[tuple[str | None, str | None], ...]:
    """Return pairs of a target's word and an answer's word; None where one has no counterpart.

    The cheapest alignment where a word left out or put in costs 0.75 and a pair costs one minus its
    :func:`~tabwb.scoring.rules.disfluency.similarity`; a pair wins a tie.

    >>> align(["the", "sun", "rises"], ["sun", "rise"])
    (('the', None), ('sun', 'sun'), ('rises', 'rise'))
    """
    rows, columns = len(target) + 1, len(answer) + 1
    costs = [[_LEFT_OUT * (row + column) for column in range(columns)] for row in range(rows)]
    pairs = [[1 - similarity(word, given) for given in answer] for word in target]
    for row in range(1, rows):
        for column in range(1, columns):
            costs[row][column] = min(
                costs[row - 1][column - 1] + pairs[row - 1][column - 1],
                costs[row - 1][column] + _LEFT_OUT,
                costs[row][column - 1] + _LEFT_OUT,
            )
    aligned: list[tuple[str | None, str | None]] = []
    row, column = rows - 1, columns - 1
    while row or column:
        here = costs[row][column]
        if row and column and here == costs[row - 1][column - 1] + pairs[row - 1][column - 1]:
            row, column = row - 1, column - 1
            aligned.append((target[row], answer[column]))
        elif row and (not column or here == costs[row - 1][column] + _LEFT_OUT):
            row -= 1
            aligned.append((target[row], None))
        else:
            column -= 1
            aligned.append((None, answer[column]))
    return tuple(reversed(aligned))


def _aligned(passage: Passage) -> tuple[tuple[str | None, str | None], ...]:
    return _aligned_to(passage.context.expected or "", tuple(t.word for t in passage.plain))


# Three rules use the alignment of the same answer, one after the other.
@lru_cache(maxsize=1)
def _aligned_to(target: str, answer: tuple[str, ...]) -> tuple[tuple[str | None, str | None], ...]:
    return align([token.word for token in read(target).tokens], answer)


def _has_target(passage: Passage) -> bool:
    return passage.context.kind is ResponseKind.VERBATIM and bool(passage.context.expected)


def lost_function_words(passage: Passage) -> RuleVerdict:
    """Rule 12 in repetition, two-sided: a function word deleted from the target.

    Ours: undefined where the target has no function word, and where no word of it was said.

    >>> from tabwb.scoring.rules.passage import TextContext
    >>> said = TextContext("Sun rises in East.", ResponseKind.VERBATIM,
    ...                    expected="The sun rises in the East.")
    >>> lost_function_words(read(said)).words
    ('the',)
    """
    if not _has_target(passage):
        return undefined(NO_TARGET)
    aligned = _aligned(passage)
    if all(is_content(word) for word, _ in aligned if word is not None):
        return undefined("the target has no function word")
    if not any(word == answer for word, answer in aligned):
        return undefined(NOTHING_SAID)
    lost = [word for word, answer in aligned if answer is None and word and not is_content(word)]
    return present(*lost, note="missing from the target") if lost else absent()


def _altered(passage: Passage, counts: Callable[[str, str], bool]) -> RuleVerdict:
    """Return *present* for the pairs of a target's word and the answer's that count."""
    if not _has_target(passage):
        return undefined(NO_TARGET)
    pairs = [
        (word, answer)
        for word, answer in _aligned(passage)
        if word and answer and counts(word, answer)
    ]
    if not pairs:
        return NOT_SEEN
    note = f"for {', '.join(word for word, _ in pairs)}"
    return present(*(answer for _, answer in pairs), note=note)


def lost_suffixes(passage: Passage) -> RuleVerdict:
    """Rule 13 in repetition, one-sided: the target's suffix is missing.

    >>> from tabwb.scoring.rules.passage import TextContext
    >>> said = TextContext("The sun rise in the East.", ResponseKind.VERBATIM,
    ...                    expected="The sun rises in the East.")
    >>> lost_suffixes(read(said)).words
    ('rise',)
    """
    return _altered(passage, _is_cut)


def _is_cut(word: str, answer: str) -> bool:
    return is_word(answer) and any(
        word != answer and word in (answer + suffix, answer.removesuffix("e") + suffix)
        for suffix in vocabulary.SUFFIXES
    )


def phonemic_paraphasias(passage: Passage) -> RuleVerdict:
    """Rule 14, one-sided, repetition only (TAB, appendix B.6).

    An answer that is a nonword, within a third of its letters of the aligned target; undefined
    elsewhere.

    >>> from tabwb.scoring.rules.passage import TextContext
    >>> said = TextContext("catastroph", ResponseKind.VERBATIM, expected="catastrophe.")
    >>> str(phonemic_paraphasias(read(said)))
    '"catastroph" - for catastrophe'
    """
    share = passage.limits.paraphasia_letters
    return _altered(
        passage,
        lambda word, answer: (
            not is_word(answer) and sum(edit_counts(word, answer)) <= share * len(answer)
        ),
    )

"""Whether a text is degenerate: one word or phrase over and over, or function words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tabwb.scoring.text import word_set

SHARE = 0.5
"""A word or phrase that fills this share of the words or more makes a text degenerate."""
TIMES = 3
"""It must occur so often: a sentence said twice is a repetition, not a degenerate text."""
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
    if sum(times for times in counts.values() if times >= TIMES) < SHARE * total:
        return False
    from tabwb.scoring.rules.passage import is_content
    from tabwb.scoring.rules.repetition import find_runs

    word, most = counts.most_common(1)[0]
    if most >= TIMES and most >= SHARE * total and is_content(word):
        return True
    copies: Counter[tuple[str, ...]] = Counter()
    for run in find_runs(words, 1, total // 2):
        copies[tuple(words[run.start : run.start + run.size])] += run.times
    return any(
        times >= TIMES and times * len(unit) >= SHARE * total for unit, times in copies.items()
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

"""Which listener's score, word and code of a response count: a rater's, or those of a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from tabwb.records.counting import (
    CANNOT,
    PERSON,
    Open,
    Rule,
    counting_value,
    majority,
    rule_of,
)
from tabwb.records.naming import SCORES, Coded, Heard, Score, Scored
from tabwb.records.trials import Trial
from tabwb.scoring.naming.target import CODES, right_by_score

Said = TypeVar("Said", Scored, Heard, Coded)
Settled = Mapping[str, object]
"""Answers of the adjudication by question (``score``, ``heard``, ``code``); None: cannot tell."""


def said_in_sets(trial: Trial) -> tuple[Scored | Coded, ...]:
    """Return the scores and codes of the counting attempt that are stored as ratings of listeners.

    What was given in rating sets is stored in this way alone; who scored in the session too has
    no other ratings than those of the session.
    """
    attempt = trial.counting
    if attempt is None:
        return ()
    said: list[Scored | Coded] = []
    for rating in trial.ratings:
        by = rating.rater
        if not by.startswith(PERSON):
            continue
        name, mark, code = rating.measure.partition(":")
        score = cast("Score", rating.reason)
        if name == "correct" and not mark and score in SCORES:
            said.append(
                Scored(attempt.number, score, by, "in a rating set" * (rating.value is None))
            )
        elif name == "code" and code in CODES:
            said.append(Coded(attempt.number, code, by))
    return tuple(said)


def is_rater(by: str, name: str) -> bool:
    """Return whether a rater as stored is the one that a name means.

    Args:
        by: the rater as stored.
        name: a study ID or a rater, or empty.

    >>> is_rater("person:R1", "R1"), is_rater("person:R1", "person:R1"), is_rater("person", "")
    (True, True, False)
    """
    return bool(name) and name in {by, by.partition(":")[2]}


def counting_score(
    scores: Sequence[Scored], counts: str, settled: Settled | None = None
) -> Scored | None:
    """Return the score that counts; None without one, and where the listeners' rule gives none.

    A rule takes the five scores as they are: of *right*, *self-corrected* and *error* none has a
    majority.

    Args:
        scores: of each listener the latest, in the order in which they began.
        counts: a rater or a rule (:mod:`tabwb.records.counting`); empty: whoever scored first.
        settled: of the adjudication.

    >>> said = [Scored(1, "right", "person:A"), Scored(1, "error", "person:B"),
    ...         Scored(1, "error", "person:C")]
    >>> [counting_score(said, counts).score for counts in ("", "B", "majority")]
    ['right', 'error', 'error']
    >>> counting_score(said[:2], "consensus", {"score": "right"}).by
    'consensus'
    """
    if (rule := rule_of(counts)) is None:
        return _first(scores, counts)
    value = _by_rule(rule, [said.score for said in scores], settled, "score")
    if value is None:
        return None
    named = next((said for said in scores if said.score == value), None)
    if named is None:
        number = scores[0].attempt if scores else 1
        return Scored(number, cast("Score", value), rule)
    seen = any(said.after_reveal for said in scores)
    return replace(named, by=rule, after_reveal=seen)


def counting_word(
    words: Sequence[Heard], counts: str, settled: Settled | None = None
) -> Heard | None:
    """Return what was heard, as it counts; words are alike in small letters.

    Args:
        words: of each listener the latest, in the order in which they began.
        counts: a rater or a rule; empty: whoever wrote first.
        settled: of the adjudication.
    """
    if (rule := rule_of(counts)) is None:
        return _first(words, counts)
    value = _by_rule(rule, [said.text.casefold() for said in words], settled, "heard")
    if value is None:
        return None
    named = next((said for said in words if said.text.casefold() == value.casefold()), None)
    if named is None:
        return Heard(words[0].attempt if words else 1, value, rule)
    return replace(named, by=rule)


def counting_code(
    codes: Sequence[Coded],
    score: Scored | None,
    counts: str,
    settled: Settled | None = None,
) -> Coded | None:
    """Return the code that counts.

    Of raters: the primary rater's, else the one of whoever gave the score that counts, else the
    first that says the same of right or not as this score. With a rule, flags are those that more
    than half of the listeners who gave its code set.

    Args:
        codes: of each listener the latest, in the order in which they began.
        score: the score that counts, or None.
        counts: a rater or a rule; empty: as the score.
        settled: of the adjudication.

    >>> codes = [Coded(1, "unrelated", "person:B")]
    >>> counting_code(codes, Scored(1, "right", "person:A"), "") is None
    True
    >>> counting_code(codes, Scored(1, "error", "person:A"), "").by
    'person:B'
    """
    rule = rule_of(counts)
    if rule is not None:
        value = _by_rule(rule, [said.code for said in codes], settled, "code")
        named = [said for said in codes if said.code == value]
        if value is None or not named:
            number = codes[0].attempt if codes else 1
            return None if value is None else Coded(number, value, rule)
        flags = dict.fromkeys(flag for said in named for flag in said.flags)
        shared = [
            flag for flag in flags if majority([flag in said.flags for said in named]) is True
        ]
        return replace(named[0], by=rule, flags=tuple(shared))
    if own := [said for said in codes if is_rater(said.by, counts)]:
        return own[0]
    if score is None:
        return next(iter(codes), None)
    right = right_by_score(score.score)
    same = [said for said in codes if said.by == score.by] or [
        said
        for said in codes
        if right is None or said.code == "undecided" or (said.code == "correct") == right
    ]
    return next(iter(same), None)


def _first(given: Sequence[Said], primary: str) -> Said | None:
    """Return what the primary rater said, else who said it first."""
    own = [said for said in given if is_rater(said.by, primary)]
    return next(iter(own or given), None)


def _by_rule(
    rule: Rule, given: Sequence[str], settled: Settled | None, question: str
) -> str | None:
    answer: str | Open | None = None
    if settled is not None and question in settled:
        answer = CANNOT if settled[question] is None else str(settled[question])
    value = counting_value(rule, given, answer)
    return None if isinstance(value, Open) else value

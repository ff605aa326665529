"""Which listener's score, word and code of a response count: a rater's, or those of a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, cast

from tabwb.records.naming import SCORES, Coded, Heard, Score, Scored
from tabwb.records.ratings import (
    CANNOT,
    PERSON,
    Open,
    Rule,
    counting_value,
    majority,
    rule_of,
)
from tabwb.records.trials import Trial
from tabwb.scoring.naming.target import CODES, code_by_score, right_by_score
from tabwb.scoring.naming.target import Rule as Correctness

Said = TypeVar("Said", Scored, Heard, Coded)
CodeSource = Literal["given", "score", "borrowed"]
"""``given`` by the rater whose score counts, or by the rule; following from that ``score``;
``borrowed`` from another rater."""


@dataclass(frozen=True, slots=True)
class CountingCode:
    """The code of a response in a profile.

    Attributes:
        by: a rater, or the rule.
        source: see :data:`CodeSource`.
    """

    code: str
    by: str
    flags: tuple[str, ...] = ()
    source: CodeSource = "given"


Of = TypeVar("Of", Scored, Heard, Coded, CountingCode)
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

    >>> is_rater("person:R1", "R1"), is_rater("person:R1", "person:R1"), is_rater("person", "")
    (True, True, False)
    """
    return bool(name) and name in {by, by.partition(":")[2]}


def counting_score(
    scores: Sequence[Scored],
    counts: str,
    settled: Settled | None = None,
    codes: Sequence[Coded] = (),
) -> Scored | None:
    """Return the score that counts; None without one, and where the listeners' rule gives none.

    A primary rater who gave a code alone has decided with it: no other rater's score counts.

    A rule takes the five scores as they are: of *right*, *self-corrected* and *error* none has a
    majority.

    >>> said = [Scored(1, "right", "person:A"), Scored(1, "error", "person:B"),
    ...         Scored(1, "error", "person:C")]
    >>> [counting_score(said, counts).score for counts in ("", "B", "majority")]
    ['right', 'error', 'error']
    >>> counting_score(said[:2], "consensus", {"score": "right"}).by
    'consensus'
    """
    if (rule := rule_of(counts)) is None:
        if any(is_rater(said.by, counts) and said.code != "undecided" for said in codes):
            scores = [said for said in scores if is_rater(said.by, counts)]
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
    """Return what was heard, as it counts; words are alike in small letters."""
    if (rule := rule_of(counts)) is None:
        return _first(words, counts)
    value = _by_rule(rule, [said.text.casefold() for said in words], settled, "heard")
    if value is None:
        return None
    named = next((said for said in words if said.text.casefold() == value.casefold()), None)
    if named is None:
        return Heard(words[0].attempt if words else 1, value, rule)
    return replace(named, by=rule)


def codes_of_listeners(
    codes: Sequence[Coded], scores: Sequence[Scored], decides: Correctness
) -> tuple[CountingCode, ...]:
    """Return the code of each listener: the one given, else the one that follows from the score.

    *Undecided* says less than a score from which a code follows.

    >>> said = [Scored(1, "no-response", "person:A"), Scored(1, "error", "person:B")]
    >>> [(one.by, one.code, one.source) for one in codes_of_listeners(
    ...     [Coded(1, "semantic", "person:B")], said, "correct-any")]
    [('person:A', 'no-response', 'score'), ('person:B', 'semantic', 'given')]
    """
    scored = {said.by: said.score for said in scores}
    given = {said.by: said for said in codes}
    found: list[CountingCode] = []
    for by in dict.fromkeys((*scored, *given)):
        implied = code_by_score(scored.get(by, ""), decides)
        own = given.get(by)
        if own is not None and not (implied and own.code == "undecided"):
            found.append(CountingCode(own.code, by, own.flags))
        elif implied:
            found.append(CountingCode(implied, by, () if own is None else own.flags, "score"))
    return tuple(found)


def fits(code: str, score: Score, decides: Correctness) -> bool:
    """Return whether a code says the same as a score: right, not right, nothing said.

    >>> [fits(code, "error", "correct-any") for code in ("correct", "no-response", "semantic")]
    [False, False, True]
    """
    right = right_by_score(score, decides)
    if right is None:
        return True
    return (code == "correct") == right and (code != "no-response" or score == "no-response")


def counting_code(
    codes: Sequence[Coded],
    scores: Sequence[Scored],
    counts: str,
    settled: Settled | None = None,
    decides: Correctness = "correct-any",
) -> CountingCode | None:
    """Return the code that counts: of the rater whose score counts.

    The code that this rater gave, else the one that follows from the score. For an error without a
    code it is borrowed from the first other rater whose code says the same of right or not. With a
    rule it is what was settled, else what follows from the score that counts, else the code that
    the rule takes from all listeners who coded, unless it contradicts that score; flags are those
    of more than half of the listeners with this code. It is *borrowed* where no more than half
    of the listeners gave it.

    >>> codes = [Coded(1, "semantic", "person:B")]
    >>> for score in ("right", "no-response", "error"):
    ...     found = counting_code(codes, [Scored(1, score, "person:A")], "A")
    ...     print(found.code, found.by, found.source)
    correct person:A score
    no-response person:A score
    semantic person:B borrowed
    """
    score = counting_score(scores, counts, settled, codes)
    own = codes_of_listeners(codes, scores, decides)
    if (rule := rule_of(counts)) is not None:
        listeners = len({*(said.by for said in scores), *(said.by for said in codes)})
        return _code_by_rule(rule, own, listeners, score, settled, decides)
    if score is None:
        return _first(own, counts)
    mine = next((one for one in own if one.by == score.by), None)
    if mine is not None:
        return mine
    others = (one for one in own if one.code != "undecided")
    fitting = (one for one in others if fits(one.code, score.score, decides))
    return next((replace(one, source="borrowed") for one in fitting), None)


def _code_by_rule(
    rule: Rule,
    own: Sequence[CountingCode],
    listeners: int,
    score: Scored | None,
    settled: Settled | None,
    decides: Correctness,
) -> CountingCode | None:
    given = [one for one in own if one.code != "undecided"]
    implied = "" if score is None else code_by_score(score.score, decides)
    source: CodeSource = "given"
    is_settled = rule != "majority" and settled is not None and "code" in settled
    if implied and not is_settled:
        value, source = implied, "score"
    else:
        found = _by_rule(rule, [one.code for one in given], settled, "code")
        if found is None or not (is_settled or score is None or fits(found, score.score, decides)):
            return None
        value = found
    named = [one for one in given if one.code == value]
    flags = dict.fromkeys(flag for one in named for flag in one.flags)
    shared = (flag for flag in flags if majority([flag in one.flags for one in named]) is True)
    by: str = rule
    if source == "given" and not is_settled and 2 * len(named) <= listeners:
        source, by = "borrowed", named[0].by if len(named) == 1 else rule
    return CountingCode(value, by, tuple(shared), source)


def _first(given: Sequence[Of], primary: str) -> Of | None:
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

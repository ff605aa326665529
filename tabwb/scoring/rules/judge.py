"""The rules judge: all rules on one response."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tabwb.records.languages import not_available, reads_english
from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.scoring.lexicon import is_english
from tabwb.scoring.rules import lexical, morphosyntax, repetition
from tabwb.scoring.rules.passage import (
    CURRENT,
    FEATURES,
    NEVER,
    ONE_SIDED,
    TWO_SIDED,
    Passage,
    RuleVerdict,
    TextContext,
    Thresholds,
    read,
    undefined,
)

Rule = Callable[[Passage], RuleVerdict]

_RULES: tuple[Rule, ...] = (
    *(repetition.retracing, lexical.abandoned_utterances, repetition.perseverations),
    *(lexical.neologisms, lexical.jargon, morphosyntax.short_utterances, lexical.false_starts),
    *(lexical.anomia, lexical.empty_speech, repetition.stereotypies, lexical.conduite),
    *(morphosyntax.omitted_function_words, morphosyntax.omitted_bound_morphemes),
    morphosyntax.phonemic_paraphasias,
)
RULES: Mapping[str, Rule] = dict(zip(TWO_SIDED + ONE_SIDED, _RULES, strict=True))
"""The rule of each feature that has one, in the order of docs/rules-judge.md."""

NO_RULE = undefined("no rule on the text alone can tell")
EMPTY = undefined("empty: there is no response")
NOT_LANGUAGE = undefined("not-language: not an English text in Latin script")


def judge(context: TextContext, limits: Thresholds = CURRENT) -> Mapping[str, RuleVerdict]:
    """Return the verdict on each of the 19 features.

    In a battery of another language every feature is undefined. An empty response and one that is
    not English leave every feature undefined; from ``rules-2`` on so does every unusable response
    (:attr:`ResponseStatus.usable`), with its status as reason. The test for known words is not made
    in repetition, where a nonword can be an answer.

    >>> verdicts = judge(TextContext("The kite is the kite is flying."))
    >>> str(verdicts["retracing"].outcome), str(verdicts["off-topic"].outcome)
    ('present', 'undefined')
    """
    if not reads_english(context.language):
        return dict.fromkeys(FEATURES, undefined(not_available(context.language)))
    if context.status is ResponseStatus.EMPTY or not context.text.strip():
        return dict.fromkeys(FEATURES, EMPTY)
    if limits.form_based and not context.status.usable:
        return dict.fromkeys(FEATURES, undefined(f"{context.status}: the response is unusable"))
    passage = read(context, limits)
    if not _is_language(passage):
        return dict.fromkeys(FEATURES, NOT_LANGUAGE)
    verdicts = {feature: rule(passage) for feature, rule in RULES.items()}
    return verdicts | dict.fromkeys(NEVER, NO_RULE)


def _is_language(passage: Passage) -> bool:
    if passage.context.status is ResponseStatus.NOT_LANGUAGE or not passage.tokens:
        return False
    if not passage.text.isascii():
        letters = [sign for sign in passage.text if sign.isalpha()]
        if 2 * sum(map(str.isascii, letters)) < len(letters):
            return False
    repeats = passage.context.kind is ResponseKind.VERBATIM
    words = [token.word for token in passage.tokens]
    return repeats or is_english(words, passage.limits.known_share)

"""Sentences: rules 6 (short utterances), 12 (function words) and 13 (bound morphemes)."""

from __future__ import annotations

import re
from statistics import median

from tabwb.records.states import ResponseKind
from tabwb.records.words import plural
from tabwb.scoring.rules import target
from tabwb.scoring.rules.disfluency import NO_BOUNDARIES, lacks_boundaries
from tabwb.scoring.rules.passage import Passage, Token, Utterance, is_content
from tabwb.scoring.rules.thresholds import RULES_1, Thresholds
from tabwb.scoring.rules.verdicts import NOT_SEEN, Verdict, absent, present, undefined
from tabwb.scoring.rules.vocabulary import (
    BARE_VERBS,
    CLAUSE_OPENERS,
    COUNTED_NOUNS,
    COUNTS,
    FOLLOWS_PLACE,
    MODALS_AND_DO,
    MOTION,
    NOT_PARTICIPLES,
    PLACES_WITH_ARTICLE,
    SUBJECT_PRONOUNS,
    UTTERANCE_OPENERS,
)

LIST_OF_STEPS = "steps to make a simple meal"
"""A prompt that asks for instructions, which people give in few function words."""
_COUNTED = re.compile(
    rf"\b(?:{COUNTS.replace(' ', '|')}|[2-9]|[1-9]\d+) (?:{COUNTED_NOUNS.replace(' ', '|')})\b"
    r"(?!['-])(?: +(?P<after>[A-Za-z]+))?",
    re.IGNORECASE,
)


def short_utterances(passage: Passage, limits: Thresholds = RULES_1) -> Verdict:
    """Rule 6, two-sided, connected text only: unusually brief utterances (SCORING 3).

    At least half the utterances have 4 words or fewer and the median is 5 or less; or one utterance
    under 8 words in all.

    >>> from tabwb.scoring.rules.passage import read
    >>> short_utterances(read("I go store. I buy carrot.")).words
    ('I go store.', 'I buy carrot.')
    >>> said = "We drove along the coast for two weeks. It was warm all the time."
    >>> short_utterances(read(said)).outcome.value
    'absent'
    """
    if passage.context.kind is not ResponseKind.CONNECTED_TEXT:
        return undefined("judged in connected text only")
    if lacks_boundaries(passage, limits):
        return undefined(NO_BOUNDARIES)
    lengths = [len(utterance.tokens) for utterance in passage.utterances]
    if len(lengths) == 1:
        if lengths[0] < limits.lone_utterance:
            return present(
                passage.utterances[0].text, note=f"one utterance of {plural(lengths[0], 'word')}"
            )
        return absent()
    short = [
        utterance
        for utterance in passage.utterances
        if len(utterance.tokens) <= limits.short_utterance
    ]
    middle = median(lengths)
    if len(short) < limits.short_share * len(lengths) or middle > limits.short_median:
        return absent()
    note = f"{len(short)} of {len(lengths)} utterances, median {middle:g} word{'s' * (middle != 1)}"
    return present(*(utterance.text for utterance in short), note=note)


def omitted_function_words(passage: Passage, limits: Thresholds = RULES_1) -> Verdict:
    """Rule 12, one-sided; in repetition :func:`tabwb.scoring.rules.target.lost_function_words`.

    Clause-initial pronoun + V-ing without *be*; go, come, walk, drive (to) + store, bank ...
    without article; function words under 30 % of 12 or more words, never for "steps to make a
    simple meal" (SCORING 3). Ours: no *be* is missed in a question or, since dialects leave it out
    by rule, in a speaker with a recorded dialect.

    >>> from tabwb.scoring.rules.passage import read
    >>> omitted_function_words(read("I going store.")).words
    ('I going', 'going store')
    >>> omitted_function_words(read("I went to the store.")).outcome.value
    'undefined'
    """
    if passage.context.kind is ResponseKind.VERBATIM:
        return target.lost_function_words(passage)
    found: list[str] = []
    for utterance in passage.utterances:
        for at in range(len(utterance.tokens) - 1):
            if not passage.context.dialect and _lacks_be(passage, utterance, at):
                found.append(passage.quote(utterance.tokens[at : at + 2]))
            if place := _place_without_article(utterance.tokens, at):
                found.append(passage.quote(utterance.tokens[at : place + 1]))
    total = len(passage.plain)
    function = sum(not is_content(token.word) for token in passage.plain)
    share = function / total if total else 1.0
    asked = f"{passage.context.prompt} {passage.context.sent}".lower()
    sparse = total >= limits.telegraphic_words and share < limits.telegraphic_share
    if sparse and LIST_OF_STEPS not in asked:
        note = f"{function} function words in {total} words"
        return present(*(found or [passage.quote(passage.plain)]), note=note)
    return present(*found) if found else NOT_SEEN


def _opens_clause(passage: Passage, tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a word begins its utterance or a clause, openers such as *so* set aside."""
    if at > 0 and tokens[at - 1].word in CLAUSE_OPENERS:
        return True
    if all(token.word in UTTERANCE_OPENERS for token in tokens[:at]):
        return True
    between = passage.text[tokens[at - 1].end : tokens[at].start]
    if tokens[at - 1].word == "and" and at > 1:
        between = passage.text[tokens[at - 2].end : tokens[at - 1].start]
    return any(sign in between for sign in ",;:")


def _lacks_be(passage: Passage, utterance: Utterance, at: int) -> bool:
    tokens = utterance.tokens
    subject, verb = tokens[at], tokens[at + 1]
    return (
        subject.word in SUBJECT_PRONOUNS
        and verb.word.endswith("ing")
        and verb.word not in NOT_PARTICIPLES
        and not utterance.is_question
        and passage.text[subject.end : verb.start].isspace()
        and _opens_clause(passage, tokens, at)
    )


def _place_without_article(tokens: tuple[Token, ...], at: int) -> int:
    """The position of the place after a verb of motion at ``at``, or 0."""
    if tokens[at].word not in MOTION:
        return 0
    place = at + 2 if tokens[at + 1].word == "to" else at + 1
    if place >= len(tokens) or tokens[place].word not in PLACES_WITH_ARTICLE:
        return 0
    last = place + 1 == len(tokens)
    return place if last or tokens[place + 1].word in FOLLOWS_PLACE else 0


def omitted_bound_morphemes(passage: Passage, limits: Thresholds = RULES_1) -> Verdict:
    """Rule 13, one-sided; in repetition :func:`tabwb.scoring.rules.target.lost_suffixes`.

    *he, she, it* + bare verb of a closed list, no modal, *do*, causative or question within two
    words; numeral or *many, several* + singular noun of a closed list. Undefined for a speaker with
    a recorded dialect: dialects drop -s by rule (SCORING 3). Ours: *it* must open its clause.

    >>> from tabwb.scoring.rules.passage import read
    >>> omitted_bound_morphemes(read("She go home. He has two dog.")).words
    ('She go', 'two dog')
    >>> omitted_bound_morphemes(read("Does she go home? I let him see it work.")).outcome.value
    'undefined'
    """
    if passage.context.dialect:
        return undefined(f"dialects drop -s by rule (recorded: {passage.context.dialect})")
    if passage.context.kind is ResponseKind.VERBATIM:
        return target.lost_suffixes(passage)
    found: list[tuple[int, str]] = []
    for utterance in passage.utterances:
        tokens = utterance.tokens
        found += [
            (tokens[at].start, passage.quote(tokens[at : at + 2]))
            for at in range(len(tokens) - 1)
            if _lacks_agreement(passage, utterance, at, limits)
        ]
    for match in _COUNTED.finditer(passage.text):
        after = match["after"]
        if after is None or not is_content(after.lower()):
            counted = match.group().removesuffix(after or "").rstrip()
            found.append((match.start(), counted))
    return present(*(words for _, words in sorted(found))) if found else NOT_SEEN


def _lacks_agreement(passage: Passage, utterance: Utterance, at: int, limits: Thresholds) -> bool:
    tokens = utterance.tokens
    subject, verb = tokens[at].word, tokens[at + 1].word
    if subject not in ("he", "she", "it") or verb not in BARE_VERBS or utterance.is_question:
        return False
    if passage.text[tokens[at].end : tokens[at + 1].start] != " ":
        return False
    before = tokens[max(0, at - limits.agreement_window) : at]
    # "and he go" opening an utterance joins it to what was said before, not to another subject.
    governing = [token for token in before if token.word in MODALS_AND_DO]
    if governing and not all(token.word in UTTERANCE_OPENERS for token in tokens[:at]):
        return False
    return subject != "it" or _opens_clause(passage, tokens, at)

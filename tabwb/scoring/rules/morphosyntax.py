"""Sentences: rules 6 (short utterances), 12 (function words) and 13 (bound morphemes)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import median

from tabwb.records.states import ResponseKind
from tabwb.records.words import plural
from tabwb.scoring.repetition import edit_counts
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.lexical import NO_BOUNDARIES, is_word, lacks_boundaries, similarity
from tabwb.scoring.rules.passage import (
    NOT_SEEN,
    Outcome,
    Passage,
    RuleVerdict,
    Thresholds,
    Token,
    Utterance,
    absent,
    is_content,
    present,
    read,
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
    :func:`~tabwb.scoring.rules.lexical.similarity`; a pair wins a tie.

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


# Three rules use the alignment of the same answer, one after the other.
@lru_cache(maxsize=1)
def _aligned(passage: Passage) -> tuple[tuple[str | None, str | None], ...]:
    target = read(passage.context.expected or "").tokens
    return align([token.word for token in target], [token.word for token in passage.plain])


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
    return _altered(
        passage,
        lambda word, answer: (
            is_word(answer)
            and any(
                word != answer and word in (answer + suffix, answer.removesuffix("e") + suffix)
                for suffix in vocabulary.SUFFIXES
            )
        ),
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


ASKS_FOR_A_LIST = re.compile(
    r"\b(?:steps?|lists?|recipe|instructions (?:for|to|on)|how (?:to|do you|would you|can you) "
    r"(?:make|cook|prepare|build|fix|do)|name (?:\w+ )?(?:two|three|four|five|some|as many))\b",
    re.IGNORECASE,
)
"""A prompt that asks for steps or a list, which people give in short lines (``rules-2``)."""
LIST_OF_STEPS = "steps to make a simple meal"
"""A prompt that asks for instructions, which people give in few function words."""
_NUMERALS, _NOUNS = vocabulary.COUNTS.replace(" ", "|"), vocabulary.COUNTED_NOUNS.replace(" ", "|")
_COUNTED = re.compile(
    rf"\b(?:{_NUMERALS}|[2-9]|[1-9]\d+) (?:{_NOUNS})\b"
    r"(?!['-])(?: +(?P<after>[A-Za-z]+))?",
    re.IGNORECASE,
)


def short_utterances(passage: Passage) -> RuleVerdict:
    """Rule 6, two-sided, connected text only: unusually brief utterances.

    At least half the utterances have 4 words or fewer and the median is 5 or less; or one utterance
    under 8 words in all. In ``rules-2`` undefined where the prompt asks for steps or a list, and
    without the utterances of lists and dialogue (:func:`beside_lists`).

    >>> short_utterances(read("I go store. I buy carrot.")).words
    ('I go store.', 'I buy carrot.')
    """
    if passage.context.kind is not ResponseKind.CONNECTED_TEXT:
        return undefined("judged in connected text only")
    if lacks_boundaries(passage):
        return undefined(NO_BOUNDARIES)
    if _asks_for_a_list(passage):
        return undefined("the prompt asks for steps or a list, which are given in short lines")
    verdict = _short(passage.utterances, passage.limits)
    if passage.limits.form_based and verdict.outcome is Outcome.PRESENT:
        own = beside_lists(passage)
        if len(own) < len(passage.utterances):
            return _short(own, passage.limits) if len(own) > _FEW else undefined(NOT_OWN)
    return verdict


def _asks_for_a_list(passage: Passage) -> bool:
    return passage.limits.form_based and bool(ASKS_FOR_A_LIST.search(passage.context.prompt))


NOT_OWN = "a list or a dialogue shows no utterances of the speaker's own"
_FEW = 2


def _short(utterances: Sequence[Utterance], limits: Thresholds) -> RuleVerdict:
    lengths = [len(utterance.tokens) for utterance in utterances]
    if len(lengths) == 1:
        note = f"one utterance of {plural(lengths[0], 'word')}"
        lone = lengths[0] < limits.lone_utterance
        return present(utterances[0].text, note=note) if lone else absent()
    short = [
        utterance for utterance in utterances if len(utterance.tokens) <= limits.short_utterance
    ]
    middle = median(lengths)
    if len(short) < limits.short_share * len(lengths) or middle > limits.short_median:
        return absent()
    note = f"{len(short)} of {len(lengths)} utterances, median {middle:g} word{'s' * (middle != 1)}"
    return present(*(utterance.text for utterance in short), note=note)


def omitted_function_words(passage: Passage) -> RuleVerdict:
    """Rule 12, one-sided; in repetition :func:`tabwb.scoring.rules.lost_function_words`.

    Clause-initial pronoun + V-ing without *be*; go, come, walk, drive (to) + store, bank ...
    without article; function words under 30 % of 12 or more words, never for "steps to make a
    simple meal". Ours: no *be* is missed in a question or, since dialects leave it out
    by rule, in a speaker with a recorded dialect.

    >>> omitted_function_words(read("I going store.")).words
    ('I going', 'going store')
    """
    if passage.context.kind is ResponseKind.VERBATIM:
        return lost_function_words(passage)
    limits = passage.limits
    quotes: list[str] = []
    for utterance in passage.utterances:
        for at in range(len(utterance.tokens) - 1):
            if not passage.context.dialect and _lacks_be(passage, utterance, at):
                quotes.append(passage.quote(utterance.tokens[at : at + 2]))
            if at == 0 and limits.form_based and _is_telegram(passage, utterance):
                quotes.append(passage.quote(utterance.tokens[:2]))
            if place := _place_without_article(utterance.tokens, at):
                quotes.append(passage.quote(utterance.tokens[at : place + 1]))
    total = len(passage.plain)
    function = sum(not is_content(token.word) for token in passage.plain)
    share = function / total if total else 1.0
    asked = f"{passage.context.prompt} {passage.context.sent}".lower()
    sparse = total >= limits.telegraphic_words and share < limits.telegraphic_share
    least = limits.telegraphic_words_short
    if least and least <= total < limits.telegraphic_words:
        several = len(passage.utterances) > 1
        later = (token for utterance in passage.utterances for token in utterance.tokens[1:])
        plain = _TABLE.search(passage.text) is None and not any(t.text[0].isupper() for t in later)
        sparse = several and plain and share < limits.telegraphic_share_short
    if sparse and LIST_OF_STEPS not in asked and not _asks_for_a_list(passage):
        note = f"{function} function words in {total} words"
        return present(*(quotes or [passage.quote(passage.plain)]), note=note)
    return present(*quotes) if quotes else NOT_SEEN


_LIST_LINE = re.compile(r"[ \t]*(?:[-*\u2022]|\(?\d{1,2}[.):]|step \d+\b|[A-Z]\w{0,15}:)", re.I)
_QUOTED = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_LIST_LINES = 2
_NEARLY_ALL = 0.9


def beside_lists(passage: Passage) -> tuple[Utterance, ...]:
    """Return the utterances outside lists, quotation marks and the turns of a script.

    A list has two lines or more that open with a marker (*1.*, *-*, *Step 1*, *Anna:*). Quotation
    marks around the whole text are ignored.

    >>> [each.text for each in beside_lists(read('She said: "Go. Now." We went home.'))]
    ['She said: "Go.', 'We went home.']
    """
    text = passage.text
    taken: list[tuple[int, int]] = [
        match.span()
        for match in _QUOTED.finditer(text)
        if match.end() - match.start() < _NEARLY_ALL * len(text.strip())
    ]
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if _LIST_LINE.match(line):
            lines.append((start, start + len(line)))
        start += len(line)
    if len(lines) >= _LIST_LINES:
        taken += lines
    return tuple(
        utterance
        for utterance in passage.utterances
        if not any(first <= utterance.tokens[0].start < last for first, last in taken)
    )


def _is_telegram(passage: Passage, utterance: Utterance) -> bool:
    """Return whether the first two words open a telegraphic utterance."""
    tokens = utterance.tokens
    if utterance.is_question or passage.context.dialect:
        return False
    first, second = tokens[0].word, tokens[1].word
    if passage.text[tokens[0].end : tokens[1].start] != " ":
        return False
    short = len(tokens) <= _TELEGRAM
    if short and first in vocabulary.OBJECT_SUBJECTS and is_content(second):
        return True
    verbs = vocabulary.BARE_VERBS | vocabulary.BARE_VERBS_AFTER_NOUN
    if first in vocabulary.PERSONS and (second in verbs or second[:-1] in vocabulary.BARE_VERBS):
        return True
    running = second.endswith("ing") and second not in vocabulary.NOT_PARTICIPLES
    person = first in vocabulary.PERSONS | vocabulary.RELATIVES
    return short and person and running and all(is_content(token.word) for token in tokens[1:3])


_TELEGRAM = 6
_TABLE = re.compile(r"[\d\"\u201c:;\[(-]")
"""Signs of quotations, recipes and headings, which have few function words too."""


def _opens_clause(passage: Passage, tokens: tuple[Token, ...], at: int) -> bool:
    if at > 0 and tokens[at - 1].word in vocabulary.CLAUSE_OPENERS:
        return True
    if all(token.word in vocabulary.UTTERANCE_OPENERS for token in tokens[:at]):
        return True
    between = passage.text[tokens[at - 1].end : tokens[at].start]
    if tokens[at - 1].word == "and" and at > 1:
        between = passage.text[tokens[at - 2].end : tokens[at - 1].start]
    return any(sign in between for sign in ",;:")


def _lacks_be(passage: Passage, utterance: Utterance, at: int) -> bool:
    tokens = utterance.tokens
    subject, verb = tokens[at], tokens[at + 1]
    return (
        subject.word in vocabulary.SUBJECT_PRONOUNS
        and verb.word.endswith("ing")
        and verb.word not in vocabulary.NOT_PARTICIPLES
        and not utterance.is_question
        and passage.text[subject.end : verb.start].isspace()
        and _opens_clause(passage, tokens, at)
    )


def _place_without_article(tokens: tuple[Token, ...], at: int) -> int:
    """Return the position of the place after a verb of motion at ``at``, or 0."""
    if tokens[at].word not in vocabulary.MOTION:
        return 0
    place = at + 2 if tokens[at + 1].word == "to" else at + 1
    if place >= len(tokens) or tokens[place].word not in vocabulary.PLACES_WITH_ARTICLE:
        return 0
    last = place + 1 == len(tokens)
    return place if last or tokens[place + 1].word in vocabulary.FOLLOWS_PLACE else 0


def omitted_bound_morphemes(passage: Passage) -> RuleVerdict:
    """Rule 13, one-sided; in repetition :func:`tabwb.scoring.rules.lost_suffixes`.

    *he, she, it* + bare verb of a closed list, no modal, *do*, causative or question within two
    words; numeral or *many, several* + singular noun of a closed list. Undefined for a speaker with
    a recorded dialect: dialects drop -s by rule. Ours: *it* must open its clause.

    >>> omitted_bound_morphemes(read("She go home. He has two dog.")).words
    ('She go', 'two dog')
    >>> omitted_bound_morphemes(read("Does she go home? I let him see it work.")).outcome.value
    'undefined'
    """
    if passage.context.dialect:
        return undefined(f"dialects drop -s by rule (recorded: {passage.context.dialect})")
    if passage.context.kind is ResponseKind.VERBATIM:
        return lost_suffixes(passage)
    quotes: list[tuple[int, str]] = []
    form_based = passage.limits.form_based
    for utterance in passage.utterances:
        tokens = utterance.tokens
        quotes += [
            (tokens[at].start, passage.quote(tokens[at : at + 2]))
            for at in range(len(tokens) - 1)
            if _lacks_agreement(passage, utterance, at)
            or (form_based and at < 2 and _noun_lacks_agreement(passage, utterance, at))
        ]
    for match in _COUNTED.finditer(passage.text):
        after = match["after"]
        if after is None or not is_content(after.lower()):
            quotes.append((match.start(), match.group().removesuffix(after or "").rstrip()))
    return present(*(words for _, words in sorted(quotes))) if quotes else NOT_SEEN


def _noun_lacks_agreement(passage: Passage, utterance: Utterance, at: int) -> bool:
    """Return whether a person's noun opens the utterance before a bare verb (*Boy climb*)."""
    tokens = utterance.tokens
    before = [token.word for token in tokens[:at]]
    opens = before in ([], ["the"], ["a"], ["my"], ["his"], ["her"], ["and"])
    return (
        opens
        and not utterance.is_question
        and tokens[at].word in vocabulary.PERSONS | vocabulary.RELATIVES
        and tokens[at + 1].word in vocabulary.BARE_VERBS_AFTER_NOUN
        and passage.text[tokens[at].end : tokens[at + 1].start] == " "
    )


def _lacks_agreement(passage: Passage, utterance: Utterance, at: int) -> bool:
    tokens = utterance.tokens
    subject, verb = tokens[at].word, tokens[at + 1].word
    bare = subject in ("he", "she", "it") and verb in vocabulary.BARE_VERBS
    adjacent = passage.text[tokens[at].end : tokens[at + 1].start] == " "
    if utterance.is_question or not (bare and adjacent):
        return False
    before = tokens[max(0, at - passage.limits.agreement_window) : at]
    # An opening "and he go" is joined to the previous utterance, not to another subject.
    governing = [token for token in before if token.word in vocabulary.MODALS_AND_DO]
    if governing and not all(token.word in vocabulary.UTTERANCE_OPENERS for token in tokens[:at]):
        return False
    return subject != "it" or _opens_clause(passage, tokens, at)

"""Words: rules 2 (abandoned utterances), 4, 5 (neologisms, jargon), 7 to 9 and 11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.passage import (
    NOT_SEEN,
    RULES_1,
    Passage,
    RuleVerdict,
    Thresholds,
    Token,
    absent,
    is_content,
    present,
    undefined,
    without_fillers,
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
    """
    if lacks_boundaries(passage):
        return undefined(NO_BOUNDARIES)
    quotes: list[str] = []
    stylistic: list[str] = []
    for unfinished in passage.utterances[:-1]:
        last = without_fillers(unfinished.tokens)[-1:]
        ending = next((mark for mark in _BREAKS if unfinished.bare.endswith(mark)), "")
        if ending or any(token.text in vocabulary.LEFT_OPEN for token in last):
            # Only three dots show a break, after a word that may end an utterance.
            dots = unfinished.bare.endswith("...") and not unfinished.bare.endswith("+...")
            style = (
                passage.typed_form
                and dots
                and any(
                    token.word not in vocabulary.LEFT_OPEN | vocabulary.OPEN_BEFORE_DOTS
                    for token in last
                )
            )
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


_STRETCHED = re.compile(r"(.)\1{2,}")
_BASE_LETTERS = 3


def is_word(word: str) -> bool:
    """Return whether a word (small letters) is known, derivable or made of two common words.

    Derivable: a common word with a beginning, an ending or both, and the doubled letter, the silent
    e or the y that spelling brings along; letters drawn out (*soooo*); *-in* for *-ing*; what
    is before an apostrophe.

    >>> [is_word(word) for word in ("plannable", "soooo", "backpatio", "blorf", "republice")]
    [True, True, True, False, False]
    """
    return _is_word(word, RULES_1.joined_part_letters)


@lru_cache(maxsize=8192)
def _is_word(word: str, part: int, loans: bool = False) -> bool:
    lexicon = load_lexicon()
    stem = word.removesuffix("n't").partition("'")[0]
    if loans and _is_loan(stem):
        return True
    if word in vocabulary.BARE_CONTRACTIONS or (stem != word and len(stem) < _BASE_LETTERS):
        return True
    return lexicon.known(stem) or _is_derived(stem) or _is_joined(stem, part)


def _is_loan(stem: str) -> bool:
    bases = {stem, stem.removesuffix("s"), stem.removesuffix("es")}
    return not bases.isdisjoint(vocabulary.LOAN_WORDS) or any(
        len(base) > _BASE_LETTERS and load_lexicon().known(base) for base in bases
    )


def _is_derived(word: str) -> bool:
    known, common = load_lexicon().known, load_lexicon().common
    if _STRETCHED.search(word) and any(known(_STRETCHED.sub(by, word)) for by in (r"\1", r"\1\1")):
        return True
    if word.endswith("in") and known(word + "g"):
        return True
    bases = (word.removeprefix(start) for start in vocabulary.BEGINNINGS if word.startswith(start))
    return _is_inflected(word) or any(
        len(base) > _BASE_LETTERS and (common(base) or _is_inflected(base)) for base in bases
    )


def _is_inflected(word: str) -> bool:
    bases = (word.removesuffix(ending) for ending in vocabulary.ENDINGS if word.endswith(ending))
    return any(
        len(base) >= _BASE_LETTERS and any(map(load_lexicon().common, _spellings(base)))
        for base in bases
    )


def _spellings(base: str) -> tuple[str, ...]:
    undoubled = base[:-1] if base[-1] == base[-2] else base
    return (base, base + "e", base + "y", undoubled)


def _is_joined(word: str, part: int) -> bool:
    common, longest = load_lexicon().common, load_lexicon().longest
    if len(word) > 2 * longest:
        return False
    return any(common(word[:at]) and common(word[at:]) for at in range(part, len(word) - part + 1))


@lru_cache(maxsize=8)
def nonwords(passage: Passage) -> tuple[tuple[Token, ...], tuple[tuple[Token, str], ...]]:
    """Return the words in no dictionary that count, and typing errors with the common word."""
    later = (token for utterance in passage.utterances for token in utterance.tokens[1:])
    names = {token.word for token in later if token.text[0].isupper()}
    limits = passage.limits
    counted: list[Token] = []
    slips: list[tuple[Token, str]] = []
    for utterance in passage.utterances:
        after = [token.text for token in utterance.tokens[1:]] + [""]
        for token, following in zip(utterance.tokens, after, strict=True):
            if (
                len(token.word) < limits.neologism_letters
                or token.word in names
                or (token.text.isupper() and len(token.text) > 1)
                or _is_beside_sign(passage.text, token, slash=not limits.form_based)
                # A first word that another capital follows is a name: "Zlatko Horvat came".
                or (token.text[0].isupper() and following[:1].isupper() and following != "I")
                or _is_word(token.word, limits.joined_part_letters, limits.form_based)
            ):
                continue
            near = load_lexicon().nearest_common(token.word, limits.slip_level)
            if near is None:
                counted.append(token)
            else:
                slips.append((token, near))
    return tuple(counted), tuple(slips)


def _is_beside_sign(text: str, token: Token, *, slash: bool) -> bool:
    before, after = text[token.start - 1 : token.start], text[token.end : token.end + 1]
    beyond = text[token.end + 1 : token.end + 2]
    if not slash and "/" in (before, after) and token.start in _alternatives(text):
        before, after = before.replace("/", ""), after.replace("/", "")
    return (
        (before != "" and (before in "@/_\\#&.~'" or before.isalnum()))
        or (after != "" and (after in "@/_\\~" or after.isalnum()))
        or (after == "." and beyond.isalnum())
    )


_RUN = re.compile(r"(?<![^ \n])\S+")
_ALTERNATIVES = re.compile(r"[A-Za-z']+(?:/[A-Za-z']+){1,2}")


@lru_cache(maxsize=8)
def _alternatives(text: str) -> frozenset[int]:
    """Return where words stand that are separated by a slash: two or three words, no address."""
    runs = (run for run in _RUN.finditer(text) if "/" in run.group())
    alike = (run for run in runs if _ALTERNATIVES.fullmatch(run.group().strip(".,;:!?()\"'")))
    return frozenset(at for run in alike for at in range(*run.span()))


def neologisms(passage: Passage) -> RuleVerdict:
    """Rule 4, two-sided: a word of 4 or more letters in no dictionary.

    Not capitalised inside a sentence, not all capitals, not beside a digit or a sign of an address,
    not derivable (common affixes, doubling), not two known words joined. Edit distance 1 from a
    common word: only a *candidate*, not counted, shown with the nearest word. Ours: two neighbours
    swapped are one edit too, and common are the 11,109 words of SCOWL's sizes 10 and 20, so that
    *republice* (appendix C) and *flimby* count.

    >>> from tabwb.scoring.rules.passage import read
    >>> verdict = neologisms(read("I want to recieve a blorf."))
    >>> verdict.words, verdict.note
    (('blorf',), 'not counted: recieve (receive?)')
    """
    counted, slips = nonwords(passage)
    candidates = dict.fromkeys(f"{token.text} ({near}?)" for token, near in slips)
    note = f"not counted: {', '.join(candidates)}" if candidates else ""
    if not counted:
        return absent(note)
    return present(*(token.text for token in counted), note=note)


JARGON_NAME = "neologistic jargon (rule)"
NEOLOGISTIC = f"{JARGON_NAME}: the rule sees words of no dictionary, not jargon of real words"


def jargon(passage: Passage) -> RuleVerdict:
    """Rule 5, two-sided: 3 or more words of rule 4 and at least 20 % of all (50 % under 20 words).

    >>> from tabwb.scoring.rules.passage import read
    >>> jargon(read("Flimby gorp snizz and blah.")).words
    ('Flimby', 'gorp', 'snizz')
    """
    limits = passage.limits
    strange, _ = nonwords(passage)
    total = len(passage.tokens)
    share = limits.jargon_share_short if total < limits.jargon_short_text else limits.jargon_share
    if len(strange) < limits.jargon_words or len(strange) < share * total:
        return absent(NEOLOGISTIC if limits.form_based else "")
    note = f"{len(strange)} of {total} words"
    if limits.form_based:
        note = f"{JARGON_NAME}: {note}"
    return present(*(token.text for token in strange), note=note)


_WORD_OR_NAME = r"(?:right |exact |proper )?(?:word|words|name|names|term)\b"
_COMMENT = re.compile(
    r"\b(?:(?:can'?t|cannot|can not|couldn'?t|could not) (?:seem to )?"
    r"(?:find|think of|remember|recall|come up with|get)"
    r"|(?:don'?t|do not|didn'?t) (?:know|remember|recall)|forgot|forget|forgotten|looking for)"
    rf" (?:the|its|his|her|their|that|a|what the) {_WORD_OR_NAME}"
    rf"|\bwhat(?:'s| is) (?:it|that|this|he|she) called\b|\bwhat(?:'s| is) the {_WORD_OR_NAME}"
    r"|\bwhat do you call (?:it|that|them|those|this)\b",
    re.IGNORECASE,
)
_COMMENT_LATER = re.compile(
    r"\btip of (?:my|the) tongue\b"
    r"|\b(?:forget|forgot|forgotten|don'?t know|can'?t remember|don'?t remember) what"
    r" (?:it|that|this|they|he|she)(?:'s| is| was|'re| are| were)? called\b"
    r"|\bcan'?t think of (?:it|that|what it'?s called)(?= *(?:[.,;!?-]|\n|$))"
    r"|\bthe (?:word|name) (?:escapes|has escaped|won'?t come)",
    re.IGNORECASE,
)
_BLANK = re.compile(r"(?<![\w\\])\\?_+(?!\w)")


def anomia(passage: Passage) -> RuleVerdict:
    """Rule 8, one-sided: unsuccessful word search.

    An explicit comment (can't find, think of, remember the word or name; what's it called), a blank
    (``_``), or rule 11 twice: two steps of approach, in one chain or in two (ours). Fillers alone
    never.

    >>> from tabwb.scoring.rules.passage import read
    >>> anomia(read("I can't find the word for that.")).words
    ("can't find the word",)
    """
    later = (_COMMENT_LATER,) if passage.limits.form_based else ()
    quotes = [
        " ".join(match.group().split())
        for pattern in (_COMMENT, *later, _BLANK)
        for match in pattern.finditer(passage.text)
    ]
    steps = approaches(passage)
    if len(steps) >= passage.limits.anomia_approaches:
        quotes += [passage.quote(step) for step in steps]
    return present(*quotes) if quotes else NOT_SEEN


def empty_speech(passage: Passage) -> RuleVerdict:
    """Rule 9, one-sided: 2 or more unspecific words, at least 15 % of content words.

    >>> from tabwb.scoring.rules.passage import read
    >>> empty_speech(read("You know, stuff and things.")).words
    ('stuff', 'things')
    """
    limits = passage.limits
    content = [token for token in passage.plain if is_content(token.word)]
    vague = [token for token in content if token.word in vocabulary.UNSPECIFIC]
    if limits.proform_words and (verdict := _proforms(passage, content)):
        return verdict
    few = len(vague) < limits.unspecific_words
    if few or len(vague) < limits.unspecific_share * len(content):
        return NOT_SEEN
    note = f"{len(vague)} of {len(content)} content words"
    return present(*(token.text for token in vague), note=note)


def _proforms(passage: Passage, content: Sequence[Token]) -> RuleVerdict | None:
    """Return *present* for a text of pro-forms (*it*, *they*, *did*) with few content words."""
    limits = passage.limits
    total = len(passage.plain)
    if total < limits.proform_words:
        return None
    named = [token for token in content if token.word not in vocabulary.PROFORMS]
    empty = [token for token in passage.plain if token.word in vocabulary.PROFORMS]
    if len(empty) < limits.proform_share * total or len(named) > limits.proform_content * total:
        return None
    note = f"{len(empty)} of {total} words stand for something, {len(named)} name it"
    return present(*(token.text for token in empty), note=note)

"""Words: rules 4 (neologisms), 5 (jargon), 8 (anomia), 9 (empty speech)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.rules import vocabulary
from tabwb.scoring.rules.disfluency import approaches
from tabwb.scoring.rules.passage import Passage, Token, is_content
from tabwb.scoring.rules.verdicts import (
    NOT_SEEN,
    RULES_1,
    RuleVerdict,
    absent,
    present,
)

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
    names = {
        token.word
        for utterance in passage.utterances
        for token in utterance.tokens[1:]
        if token.text[0].isupper()
    }
    limits = passage.limits
    counted: list[Token] = []
    slips: list[tuple[Token, str]] = []
    for utterance in passage.utterances:
        for at, token in enumerate(utterance.tokens):
            if (
                len(token.word) < limits.neologism_letters
                or token.word in names
                or (token.text.isupper() and len(token.text) > 1)
                or _is_beside_sign(passage.text, token, slash=not limits.form_based)
                or _opens_name(utterance.tokens, at)
                or _is_word(token.word, limits.joined_part_letters, limits.form_based)
            ):
                continue
            near = load_lexicon().nearest_common(token.word, limits.slip_level)
            if near is None:
                counted.append(token)
            else:
                slips.append((token, near))
    return tuple(counted), tuple(slips)


def _opens_name(tokens: tuple[Token, ...], at: int) -> bool:
    """Return whether a first word is followed by another capital: *Zlatko Horvat came*."""
    following = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return tokens[at].text[0].isupper() and following[:1].isupper() and following != "I"


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
    >>> neologisms(read("I need to buy a blorf from the store.")).words
    ('blorf',)
    >>> verdict = neologisms(read("I want to recieve it."))
    >>> verdict.outcome.value, verdict.note
    ('absent', 'not counted: recieve (receive?)')
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
    >>> jargon(read("I need to buy a blorf from the store.")).outcome.value
    'absent'
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
"""Further comments of ``rules-2``."""
_BLANK = re.compile(r"(?<![\w\\])\\?_+(?!\w)")


def anomia(passage: Passage) -> RuleVerdict:
    """Rule 8, one-sided: unsuccessful word search.

    An explicit comment (can't find, think of, remember the word or name; what's it called), a blank
    (``_``), or rule 11 twice: two steps of approach, in one chain or in two (ours). Fillers alone
    never.

    >>> from tabwb.scoring.rules.passage import read
    >>> anomia(read("I can't find the word for that.")).words
    ("can't find the word",)
    >>> anomia(read("I had a good _ with my parents.")).words
    ('_',)
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

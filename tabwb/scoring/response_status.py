"""Status of a response, from the stop reason and stated rules; refusals among them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tabwb.records.languages import is_english, reads_english
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring.lexicon import is_english as is_english_text
from tabwb.scoring.lexicon import is_foreign
from tabwb.scoring.text import (
    is_mark,
    is_unspaced,
    names_alike,
    normalised,
    read_parts,
    straight,
    word_set,
    words,
)

_INABILITY = (
    r"(?:can't|cannot|can not|won't|will not|(?:am|'m|are|'re|was|were) (?:\w+ )?"
    r"(?:unable to|not able to|not programmed to|not designed to|not allowed to|not permitted to))"
)
_ACT = (
    r"(?:help(?! (?:but|\w+ing)\b)|assist|answer|respond|reply|provide|comply|fulfil|fulfill|"
    r"complete|share|discuss|engage|participate|generate|create|continue|process|describe|"
    r"have|do (?:that|this|so))\b"
)
_MACHINE = (
    r"(?:\w+ )?(?:ai|language model|artificial intelligence|chatbot|computer program|"
    r"(?:virtual|digital) assistant|text-based (?:model|program))\b"
)
_I = r"(?:i|we)(?: (?:really|simply|just|also|personally|currently|therefore|still))?"
_LACK = (
    r"(?:don't|do not|never|lack|can't|cannot|haven't|have not|have no|have never|am not|'m not)"
)
_OPENING = (
    r"(?:(?:well|but|and|so|yet|while|although|though|since|because|sorry|unfortunately|however|"
    r"i'm afraid|i am afraid|to be honest|as such|therefore)[, ]+)*(?:that )?"
)
DECLINES = (
    rf"{_I} ?{_INABILITY} {_ACT}",
    rf"{_I} (?:can't|cannot|won't)$",
    rf"{_I} (?:would|'d) (?:rather|prefer) not\b|i(?:'d|'ll) (?:rather|prefer) not\b",
    rf"{_I} (?:prefer not to|must decline|have to decline|decline to|refuse)\b",
    rf"{_I} ?(?:am|'m|do not feel|don't feel) (?:not )?comfortable\b(?= (?:with |to )?"
    r"(?:shar|answer|discuss|talk|provid|giv|tell))",
    rf"{_I} (?:don't|do not) want to (?:talk about|discuss|answer|share|say|tell)\b",
    r"no comment$",
    rf"{_I} (?:don't|do not) (?:actually )?(?:have|possess) (?:a |an |any |the )?"
    r"(?:physical|personal|human|real-life|ability|capability|capacity|"
    r"emotions|consciousness|access to|body\b|"
    r"memories|experiences|feelings|opinions|preferences)",
    rf"{_I} (?:have no|lack) (?:a |any )?(?:physical|personal|human)\b",
    rf"(?:i'm|i am|being|as) (?:\w+ ){{0,2}}{_MACHINE}",
    r"(?:i'm|i am) (?:just |only )?not (?:a )?(?:human|person)\b",
)
_MACHINE_DECLINES = rf"(?:as (?:an?|such) [^,]*, )?{_I} ?{_LACK}\b"
"""In a reply that calls itself a machine any of these declines."""
ASIDES = (
    r"(?:i'm|i am|we're|we are)? ?(?:so |very |really |truly )?sorry$|sorry$",
    r"(?:my |our )?(?:sincere )?apologies|i apologi[sz]e|unfortunately$|however$",
    r"(?:hello|hi|hey|sure|certainly|of course|okay|ok|well|thanks|thank you)(?: there)?$",
    r"(?:thank you|thanks) for\b",
    r"(?:that's|that is|what) an? (?:\w+ )?(?:\w+ )?(?:question|prompt|topic|request|idea)$",
    r"(?:great|good|interesting) question$",
    r"(?:if|when) you(?:'d| would|'ll| have| need| want| like)\b",
    r"(?:would|do) you (?:like|want|have|need)\b|is there (?:any|some)",
    r"(?:please |just )?(?:let me know|feel free|ask me|don't hesitate)|please\b",
    r"(?:how|what) (?:else )?(?:can|may|could|would) (?:i|you)\b",
    r"i(?:'d| would) be (?:happy|glad|pleased|delighted)|i(?:'m| am) (?:here|happy|glad) to\b",
    r"i (?:can|could|may be able to) (?:certainly |still |instead |definitely |try to )?"
    r"(?:help|assist|provide|offer|share|tell you|give you|suggest|discuss|explain|generate|write|"
    r"answer|talk)\b",
    r"i (?:was|am|'m) (?:designed|created|trained|programmed|developed|made) (?:to|by|as|for)\b|"
    r"i'm (?:designed|created|trained|programmed|developed|made) (?:to|by|as|for)\b",
    r"(?:trained|designed|created|developed) (?:to|by)\b|i (?:only )?exist\b",
    r"my (?:purpose|function|role|goal|training|responses|knowledge|capabilities)\b",
    r"i (?:hope|understand)\b|(?:is|are) there\b|so my (?:answers|responses)\b",
    r"(?:so|and|nor|or) (?:i|we) (?:have|has|had) (?:never|not|no)\b",
    r"(?:so|and|therefore|nor|or) i "
    r"(?:can't|cannot|don't|do not|haven't|am not|am unable|have not)\b",
)
"""Beginnings of a clause that neither declines nor answers: politeness, offers, introductions."""
_DECLINES = _OPENING + "(?:" + "|".join(f"(?:{each})" for each in DECLINES) + ")"
_AS_MACHINE = _OPENING + f"(?:{_MACHINE_DECLINES})"
_ASIDE = _OPENING + "(?:" + "|".join(f"(?:{each})" for each in ASIDES) + ")"
_IS_MACHINE = re.compile(
    rf"\b(?:i'm|i am|as|being) (?:just |only |merely )?(?:an? )(?:\w+ ){{0,2}}{_MACHINE}"
)
_CLAUSE = re.compile(
    r"[.!?;:\n]+\s*|,? \b(?:but|however|though|yet|instead)\b,? |(?<=sorry), |, (?=i\b|if\b|we\b)"
)
_DECORATION = re.compile(r"[*_\"“”‘#>`]+")
_TRIGGER = re.compile(
    r"\b(?:can't|cannot|can not|won't|will not|unable|not able|not|no|don't|never|decline|refuse|"
    r"rather|lack|ai|language model|chatbot)\b"
)
CLAUSES = 40


def is_refusal(text: str) -> bool:
    """Return whether the content of a reply is that it will not or cannot answer; English only.

    The reply is cut into clauses (at stops, colons, before *but*, *however*, *if*). A clause
    *declines* when it begins as one of :data:`DECLINES`, is an *aside* when it begins as one of
    :data:`ASIDES`, and *answers* otherwise. A refusal declines at least once and never answers.

    >>> is_refusal("My apologies, but I'm not able to answer that.")
    True
    >>> is_refusal("I can't share everything, but my best trip was to Rome.")
    False
    >>> is_refusal("As an AI, I do not have a childhood. How can I help you?")
    True
    """
    folded = " ".join(_DECORATION.sub("", straight(text)).casefold().split(" "))
    if _TRIGGER.search(folded) is None:
        return False
    patterns = [_DECLINES] + [_AS_MACHINE] * (_IS_MACHINE.search(folded) is not None)
    clauses = [clause for part in _CLAUSE.split(folded) if (clause := part.strip(" ,-()'"))]
    declines = [
        any(_compiled(pattern).match(clause) for pattern in patterns)
        for clause in clauses[:CLAUSES]
    ]
    return any(declines) and all(
        declining or _compiled(_ASIDE).match(clause)
        for clause, declining in zip(clauses, declines, strict=False)
    )


# Compiled for the first text with a trigger word: compilation takes some milliseconds.
@lru_cache(maxsize=8)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


REPETITIVE_SHARE, REPETITIVE_TIMES = 0.5, 3
"""A word or phrase that fills this share of a text and occurs so often makes it degenerate."""
ANSWER_WORDS = 8
"""Where an answer is one word or one sentence, shorter texts are never degenerate."""
CLAUSE_WORDS = 8
"""A clause of function words alone ("I do not have any") is no longer than this."""
_AUXILIARIES = word_set(
    "am is are was were be have has had do does did can could will would shall should may might "
    "must cannot can't don't didn't doesn't won't wouldn't couldn't shouldn't isn't wasn't aren't "
    "weren't haven't hasn't hadn't"
)


def is_repetitive(words: Sequence[str], *, english: bool = True) -> bool:
    """Return whether one word or phrase, said three times or more, fills half the words or more.

    Every occurrence of a content word counts; a function word or a phrase only where copies follow
    each other [ours]. Source: docs/results.md; three times [ours], so that a sentence said twice
    (TAB, appendix C, example 4) remains a response.

    >>> is_repetitive("the the the the lake".split()), is_repetitive("we went and we went".split())
    (True, False)
    """
    total = len(words)
    counts = Counter(words)
    # Each word of such a phrase occurs three times: this decides most texts.
    often = sum(times for times in counts.values() if times >= REPETITIVE_TIMES)
    if not total or often < REPETITIVE_SHARE * total:
        return False
    from tabwb.scoring.rules.passage import fills, is_content

    word, most = counts.most_common(1)[0]
    enough = most >= REPETITIVE_TIMES and most >= REPETITIVE_SHARE * total
    if enough and english and is_content(word):
        return True
    return fills(words, REPETITIVE_TIMES, REPETITIVE_SHARE * total)


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


_ORDINARY = frozenset(".,;:!?'\"()[]-–—…_*/&%“”‘’«»„`´¿¡。、，！？：；・「」『』《》〈〉؟؛،۔।॥។።")
ONE_LETTER = 8
"""This many letters, all the same, do not count as language."""
ECHO_WORDS = 3
"""A line of the prompt with fewer words can be an answer and does not count as an echo."""
ECHO_LETTERS = 6
"""The same for a line of a script without spaces, which has no words to count [ours]."""


PASSAGES = frozenset({ResponseKind.CONNECTED_TEXT, ResponseKind.FREE})


def response_status(
    text: str,
    stop_reason: StopReason,
    prompt: str = "",
    expected: str | None = None,
    *,
    kind: ResponseKind | None = None,
    language: str = "",
    answers: Iterable[str] = (),
) -> ResponseStatus:
    """Return the status of a response. The first rule that holds decides.

    1. *empty*: nothing but white space, whatever the stop reason.
    2. *refused*: the back end says so, or the content of a model's reply is that it will not or
       cannot answer (:func:`is_refusal`; not available in another language than English). A
       person's "I can't" may be what is studied and is a response; stop reason ``none`` marks a
       person's answer.
    3. *not-language*: no letter or digit; or letters and digits are under half of all signs that
       are neither white space nor ordinary punctuation; or under half of the letters are of a
       script that the prompt is written in; or :data:`ONE_LETTER` letters or more, all the same.
       In connected and free text of an English battery also: the function words are those of
       another language, or under half of the words are known and none is an English function word
       (:mod:`tabwb.scoring.lexicon`). One word or a repetition does not show a language.
    4. *prompt-echo*: the words are those of the prompt that was sent, of one of its lines, or of a
       line up to its last colon (the carrier), once or over and over (the last time perhaps cut),
       and nothing else; never the expected answer, as it reads when normalised. A carrier echo
       *with* something new (TAB, appendix C, example 3) is *ok*: it is a response, and repetition
       counts its carrier echoes.
    5. *degenerate*: one word or phrase, three times or more, fills half of the words; or, in
       connected and free text, there are function words alone. Elsewhere only from
       :data:`ANSWER_WORDS` words on, so that no answer is degenerate.
    6. *truncated*: the token limit ended it.
    7. *ok*.

    Of a text of more than :data:`tabwb.scoring.text.MOST_READ` characters the beginning and the end
    are read. Rules 3 to 5 never hold for the expected answer, and rule 3 for none of the answers
    that the item allows, as they read when normalised. *repeated-answer* needs all answers of an
    administration and is found by :func:`tabwb.analysis.frame.effective_statuses`.

    ``prompt`` is the message as it was sent, ``expected`` the right answer, which is never an echo,
    ``answers`` what else the item allows: its options, words for yes and no, accepted names.

    >>> str(response_status("  ", StopReason.END)), str(response_status("Boot.", StopReason.END))
    ('empty', 'ok')
    >>> str(response_status("I'm sorry, but I can't help with that.", StopReason.END))
    'refused'
    >>> str(response_status("Please repeat exactly:", StopReason.END, "Please repeat exactly: go."))
    'prompt-echo'
    >>> passage = ResponseKind.CONNECTED_TEXT
    >>> str(response_status("the the the the", StopReason.LENGTH, kind=passage))
    'degenerate'
    >>> str(response_status("Yes", StopReason.END, expected="Yes", kind=ResponseKind.YES_NO))
    'ok'
    >>> str(response_status("東京", StopReason.END, "にほんの しゅと は？ よんで ください", "東京"))
    'ok'
    >>> french = "Le meilleur voyage que j'ai fait était en Italie."
    >>> str(response_status(french, StopReason.END, kind=passage, language="en"))
    'not-language'
    """
    beginning, end = read_parts(text.strip())
    text = f"{beginning}\n{end}" if end else beginning
    if not text:
        return ResponseStatus.EMPTY
    by_model = stop_reason is not StopReason.NONE
    if stop_reason is StopReason.REFUSED or (
        by_model and reads_english(language) and is_refusal(text)
    ):
        return ResponseStatus.REFUSED
    is_answer = expected is not None and straight(text).strip() == straight(expected).strip()
    allowed = [*answers] if expected is None else [expected, *answers]
    if not is_answer and not _is_language(text, prompt):
        said = normalised(text, language)
        if not said or said not in {normalised(answer, language) for answer in allowed}:
            return ResponseStatus.NOT_LANGUAGE
    if not is_answer:
        spoken_words = words(text)
        tested = is_english(language) and kind in PASSAGES
        if tested and (is_foreign(spoken_words) or not is_english_text(spoken_words)):
            return ResponseStatus.NOT_LANGUAGE
        if _is_echo(beginning, end, prompt) and (
            not expected or not names_alike(text, expected, language)
        ):
            return ResponseStatus.PROMPT_ECHO
        if _is_degenerate(spoken_words, kind, language):
            return ResponseStatus.DEGENERATE
    return ResponseStatus.TRUNCATED if stop_reason is StopReason.LENGTH else ResponseStatus.OK


def _is_degenerate(given_words: Sequence[str], kind: ResponseKind | None, language: str) -> bool:
    if kind is None:
        return False
    english = reads_english(language)
    if kind in PASSAGES:
        alone = is_english(language) and is_function_words_alone(given_words)
        return alone or is_repetitive(given_words, english=english)
    return len(given_words) >= ANSWER_WORDS and is_repetitive(given_words, english=english)


def _is_language(text: str, prompt: str) -> bool:
    numbers = Counter(text)
    alphanumeric = sum(n for sign, n in numbers.items() if sign.isalnum())
    signs = sum(
        n
        for sign, n in numbers.items()
        # Combining marks belong to the letters before them.
        if not (sign.isspace() or sign in _ORDINARY or is_mark(sign))
    )
    if alphanumeric == 0 or 2 * alphanumeric < signs:
        return False
    letters = {sign: n for sign, n in Counter(text.casefold()).items() if sign.isalpha()}
    n_letters = sum(letters.values())
    if n_letters >= ONE_LETTER and len(letters) == 1:
        return False
    if text.isascii() and prompt.isascii():
        return True
    scripts = {_script(sign) for sign in prompt if sign.isalpha()}
    known = sum(n for sign, n in letters.items() if _script(sign) in scripts)
    return not scripts or 2 * known >= n_letters


_ONE_WRITING = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "HALFWIDTH", "IDEOGRAPHIC")
"""Beginnings of the names of letters that are written together with Chinese characters."""


def _script(letter: str) -> str:
    # The first word of a letter's name is its script: LATIN SMALL LETTER A, CYRILLIC ...
    name = "LATIN" if letter.isascii() else unicodedata.name(letter, "UNKNOWN")
    return "CJK" if name.startswith(_ONE_WRITING) else name.split(" ")[0]


def _echo_units(prompt: str) -> Iterator[list[str]]:
    yield words(prompt)
    for line in prompt.splitlines():
        before, colon, _ = line.replace("：", ":").rpartition(":")
        for part in (line, before) if colon else (line,):
            unit = words(part)
            if len(unit) >= ECHO_WORDS or (
                is_unspaced(part) and sum(map(str.isalpha, part)) >= ECHO_LETTERS
            ):
                yield unit


def _is_echo(beginning: str, end: str, prompt: str) -> bool:
    first, last = words(beginning), words(end)[1:]  # of the end the first word may be cut
    return any(
        len(first) >= len(unit) > 0
        and _repeats(first, unit)
        and any(_repeats(last, unit[at:] + unit[:at]) for at in range(len(unit)))
        for unit in _echo_units(prompt)
    )


def _repeats(given_words: list[str], unit: list[str]) -> bool:
    return all(word == unit[at % len(unit)] for at, word in enumerate(given_words))

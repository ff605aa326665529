"""Yes or no: which of the two a response says, under the three policies of a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from unicodedata import category

from tabwb.records.languages import reads_english
from tabwb.scoring.choice import Choice, Reading, read_choice, read_equal
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.text import (
    TextSegment,
    answered,
    contains,
    fold_case,
    plain,
    read_part,
    segments,
    word_set,
    words,
)

_YES, _NO = 0, 1


YES_WORDS = word_set("yes yeah yep yup yea aye affirmative indeed uh-huh mm-hmm y")
NO_WORDS = word_set("no nope nah never negative n")
YES_ALONE = word_set("correct right true exactly agreed")
NO_ALONE = word_set("incorrect false wrong untrue")
"""These answer only as the whole segment."""
SURE = (("certainly",), ("definitely",), ("absolutely",), ("of", "course"), ("surely",), ("sure",))
"""Yes, and with *not* after them no."""
IDIOMS = word_set(
    "idea doubt clue comment one answer problem matter question opinion thanks worries wonder "
    "longer body thing"
)
"""*No* before these is not an answer: "no idea", "no doubt"."""
NOT_KNOWING = word_set("sure certain only necessarily that clear known")
"""*Not* before these is not an answer: "not sure"."""
_FRAMING = (
    "well um uh er erm hmm hm oh ah so then but and or because probably maybe perhaps wait sorry "
    "actually rather quite simply just very also therefore thus hence sometimes"
)
_FRAMING_PHRASES = (
    *("the correct answer is", "the correct answer would be", "my final answer is"),
    *("the final answer is", "the answer would be", "my answer would be", "the answer is"),
    *("my answer is", "final answer", "my answer", "the answer", "answer", "i would have to say"),
    *("i have to say", "i would say", "i'd say", "i say", "i think", "i believe", "i guess"),
    *("i suppose", "that would be", "it would be", "it is", "it's", "that is", "that's", "i mean"),
    "in short",
)
FRAMES = tuple(tuple(frame.split()) for frame in (*_FRAMING_PHRASES, *_FRAMING.split()))
"""Framing words before an answer; the longest match is removed first."""
_LONGEST_FRAME = max(map(len, FRAMES))
_FRAMES_BY_WORD = {
    word: tuple(frame for frame in FRAMES if frame[0] == word) for word, *_ in FRAMES
}
_AUXILIARIES = word_set(
    "am are is was were do does did have has had will would can could should must"
)
_PRONOUNS = word_set("i you he she it we they there that this")
_CUES = (("i", "mean"), ("wait",), ("sorry",), ("actually",), ("rather",), ("correction",))
_NEGATED_AFTER = word_set("wrong incorrect false")
_NOT = word_set("not cannot neither")
_BARE = 2


@dataclass(frozen=True, slots=True)
class _SegmentAnswer:
    """Yes or no in a segment; ``bare`` when the segment has hardly another word."""

    polarity: int
    segment: int
    bare: bool


def polarities(response: str, prompts: Sequence[str] = ()) -> tuple[int, ...]:
    """Return ``(0,)`` for yes, ``(1,)`` for no, both where it is ambiguous, or nothing.

    The item's own text is removed first, as is everything after a next question. A segment says yes
    or no when it begins with it, framing words ignored; when it ends in *yes* or *no*; or when it
    is a pronoun and an auxiliary alone ("They are."). "No idea", "no doubt", "not sure" and whole
    statements are not answers. Questions are ignored where something is stated. After a
    self-correction the last counts, else the first, unless a later segment says only the opposite:
    that is ambiguous.

    >>> polarities("Yes? No."), polarities("Not with an axe."), polarities("I have no idea.")
    ((1,), (1,), ())
    """
    asked = [plain(prompt) for prompt in prompts if prompt]
    marks = [["yes"], ["no"]]
    text = answered(plain(response, ("yes", "no")), asked, [*marks, ["yep"], ["nope"]])
    parts = segments(text, asked, marks)
    answers = list(filter(None, (_segment_answer(part, at) for at, part in enumerate(parts))))
    answers = [said for said in answers if not parts[said.segment].is_question] or answers
    if not answers:
        return (_YES, _NO) if any(map(_names_both, parts)) else ()
    answer = answers[0]
    read = answer.segment  # before it, from the answer on, stands no cue
    for later in answers[1:]:
        if later.polarity == answer.polarity:
            continue
        between = parts[read : later.segment + 1]
        read = later.segment + 1
        if any(
            cue[0] in part.words and contains(part.words, cue) for part in between for cue in _CUES
        ):
            answer, read = later, later.segment
        elif later.bare:
            return (_YES, _NO)
    return (answer.polarity,)


def _names_both(part: TextSegment) -> bool:
    words = part.words
    if len(words) < 2:
        return False
    both = {"yes", "no"}
    joined = any(
        {first, last} == both and middle in ("or", "and")
        for first, middle, last in zip(words, words[1:], words[2:], strict=False)
    )
    return not _is_negated(words) and (joined or set(words) == both)


def _is_negated(words: Sequence[str]) -> bool:
    return any(word in _NOT or word.endswith("n't") for word in words)


def _segment_answer(part: TextSegment, number: int) -> _SegmentAnswer | None:
    words = _without_frames(part.words)
    if not words or _names_both(part):
        return None
    polarity = _elliptical(words)
    if polarity is not None:
        return _SegmentAnswer(polarity, number, bare=False)
    polarity, size = _opening(words)
    if polarity is not None:
        bare = len(words) - size < _BARE and part.words[0] != "because"
        opposite = NO_WORDS if polarity == _YES else YES_WORDS
        if opposite & set(words[size : size + 1]):
            return None
        return _SegmentAnswer(polarity, number, bare)
    last = words[-1]
    if last in ("yes", "no") and len(words) > 1 and not _is_negated(words):
        return _SegmentAnswer(_YES if last == "yes" else _NO, number, bare=False)
    return None


def _without_frames(words: tuple[str, ...]) -> tuple[str, ...]:
    start = 0
    while start < len(words):
        following = words[start : start + _LONGEST_FRAME]
        if len(words) - start == 3 and following in (
            *(("i", "think", "so"), ("i", "believe", "so"), ("i", "guess", "so")),
        ):
            return ("yes",)
        frames = _FRAMES_BY_WORD.get(following[0], ())
        frame = next((phrase for phrase in frames if following[: len(phrase)] == phrase), None)
        label = (following[0].isdigit() or following[0] in ("a", "b")) and len(following) > 1
        if frame is None and not label:
            break
        start += len(frame) if frame else 1
    return words[start:]


def _elliptical(words: tuple[str, ...]) -> int | None:
    """Return the polarity of a pronoun and an auxiliary alone, or None."""
    if words[:2] in (("i", "don't"), ("i", "do")) and words[-2:] == ("think", "so"):
        return _NO if words[1] == "don't" or "not" in words else _YES
    if words[:2] == ("of", "course"):
        words = words[2:]
    if not 2 <= len(words) <= 3 or words[0] not in _PRONOUNS:
        return None
    verb = words[1].removesuffix("n't")
    negative = words[1].endswith("n't") or words[1] in ("cannot", "can't", "won't")
    if verb not in _AUXILIARIES and not negative:
        return None
    if len(words) == 3 and (words[2] != "not" or negative):
        return None
    return _NO if negative or len(words) == 3 else _YES


def _opening(words: tuple[str, ...]) -> tuple[int | None, int]:
    """Return the polarity of the first words, and how many of them say it."""
    first, rest = words[0], words[1:]
    following = rest[0] if rest else ""
    if first == "no" and following == "way":
        return _NO, 2
    if first == "no" and following in IDIOMS:
        return None, 0
    if first in NO_WORDS or first in YES_WORDS:
        if len(rest) > 1 and rest[0] in ("would", "is", "was") and _NEGATED_AFTER & set(rest):
            return None, 0
        same = NO_WORDS if first in NO_WORDS else YES_WORDS
        size = next((at for at, word in enumerate(words) if word not in same), len(words))
        return (_NO if first in NO_WORDS else _YES), size
    if first == "not":
        return (None, 0) if following in NOT_KNOWING else (_NO, 1)
    for opener in SURE:
        if words[: len(opener)] == opener:
            after = words[len(opener) : len(opener) + 1]
            return (_NO, len(opener) + 1) if after == ("not",) else (_YES, len(opener))
    if not rest and first in YES_ALONE | NO_ALONE:
        return (_YES if first in YES_ALONE else _NO), 1
    return None, 0


YES, NO = "Yes", "No"


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """The words of a battery that mean yes, and those that mean no; none: English alone is read.

    They are data of the battery (``yes`` and ``no``): nothing else is known of its language.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are both."""
        return bool(self.yes and self.no)


def read_yes_no(
    response: str,
    options: Sequence[str] = (),
    prompts: Sequence[str] = (),
    language: str = "",
    own: AnswerWords | None = None,
) -> Choice:
    """Read whether a response says Yes or No (TAB, appendix B.3; policies as in a choice).

    *extracted* reads the answers Yes and No of an English battery as :func:`polarities` does, with
    their synonyms; a battery's own words as :func:`listed_polarities` does. In another language it
    is undefined unless the battery lists the words.

    ``options`` are the two answers, yes first, where a battery has others; ``own`` are its words.
    The text of ``prompts`` does not count as an answer.

    >>> said = read_yes_no("yes.")
    >>> said.exact.chosen, said.normalised.chosen, said.extracted.chosen
    (None, 'Yes', 'Yes')
    >>> read_yes_no("Certainly not.").extracted.chosen, read_yes_no("No doubt.").extracted.chosen
    ('No', None)
    >>> read_yes_no("Yes and no.").extracted.ambiguous
    True
    >>> german = AnswerWords(("Ja", "jawohl"), ("Nein", "nee"))
    >>> read_yes_no("Nee, das stimmt nicht.", ("Ja", "Nein"), (), "de", german).extracted.chosen
    'Nein'
    """
    answers = tuple(options) or (YES, NO)
    in_english = tuple(map(str.casefold, answers)) == (YES.casefold(), NO.casefold())
    response = read_part(response.strip())
    choice = (
        read_equal(response, tuple(dict.fromkeys(answers)), language)
        if in_english
        else read_choice(response, answers, prompts, language)
    )
    if choice.normalised.named:
        return replace(choice, extracted=choice.normalised) if own else choice
    said: tuple[int, ...] = ()
    if reads_english(language):
        if not in_english:
            said = tuple(map(answers.index, choice.extracted.named))
        else:
            said = polarities(response, prompts)
    elif not own:
        return choice
    said = said or (listed_polarities(response, own, language) if own else ())
    return replace(choice, extracted=Reading(tuple(answers[at] for at in said)))


def listed_polarities(response: str, own: AnswerWords, language: str = "") -> tuple[int, ...]:
    """Return ``(0,)`` for yes, ``(1,)`` for no, both, or nothing, by a battery's own words.

    A stretch between two punctuation marks says yes or no when it is one of these words, and no
    more: of a language of which nothing else is known, "sure, no doubt" cannot be read.

    >>> words_of_de = AnswerWords(("ja",), ("nein",))
    >>> [listed_polarities(text, words_of_de) for text in ("Ja, klar.", "Ja? Nein.", "Wohl ja")]
    [(0,), (0, 1), ()]
    """

    def bare(text: str) -> str:
        return " ".join(words(fold_case(text, language)))

    listed = [{bare(word) for word in own.yes}, {bare(word) for word in own.no}]
    signs = ("\n" if category(sign)[0] == "P" and sign not in "'’-" else sign for sign in response)
    said = {bare(part) for part in "".join(signs).splitlines()} - {""}
    return tuple(polarity for polarity in (_YES, _NO) if listed[polarity] & said)


def balanced_accuracy(pairs: Iterable[tuple[str, str | None]]) -> Estimate:
    """Return the mean over the expected answers of the share answered correctly.

    ``(n(Yes|Yes)/n(Yes) + n(No|No)/n(No)) / 2`` over pairs (expected, said). An answer in which
    neither was read is not correct. Undefined unless two different answers are expected.

    >>> balanced_accuracy([("Yes", "Yes"), ("Yes", "Yes"), ("No", "Yes")]).value
    0.5
    """
    right: dict[str, int] = {}
    total: dict[str, int] = {}
    for (expected, given), n in Counter(pairs).items():
        total[expected] = total.get(expected, 0) + n
        right[expected] = right.get(expected, 0) + n * (given == expected)
    if len(total) < 2:
        only = "".join(f"every expected answer is {answer}" for answer in total)
        return Estimate(None, only or "no item answered")
    return Estimate(sum(right[answer] / total[answer] for answer in total) / len(total))

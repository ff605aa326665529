"""Choices: what a response names, the reason stored with a verdict, and positions."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from tabwb.records import ratings
from tabwb.records.exchange import Likelihood
from tabwb.records.languages import not_available, reads_english
from tabwb.scoring.estimate import Estimate, ratio
from tabwb.scoring.text import (
    TextSegment,
    answered,
    contains,
    names_alike,
    normalised,
    plain,
    read_part,
    regular_plurals,
    segments,
    word_set,
    words_of,
)

FRAME = word_set(
    "a an the it it's its is this that that's i i'd i'm think believe guess say said would go with "
    "choose pick select chose answer answers my correct right final be probably maybe perhaps "
    "definitely surely certainly obviously clearly likely um uh er erm well hmm oh ok okay so then "
    "but sure yes option word choice one of course therefore thus hence usually simply just only "
    "called must should looks like and"
)
"""Words that may surround an answer without further meaning."""
CUES = (
    *(("i", "mean"), ("no",), ("wait",), ("sorry",), ("actually",), ("or", "rather")),
    *(("correction",), ("scratch",), ("oops",), ("pardon",), ("make", "that"), ("should", "be")),
)
"""Said between an answer and the one that replaces it."""
_CUE_WORDS = frozenset(word for cue in CUES for word in cue) | word_set("meant or rather me let hm")
MARKERS = word_set("answer choose pick select choice go correct final chose")
"""Words that mark a following option in their segment as the answer."""
CONCLUDING = word_set("so therefore thus hence but")
NEGATORS = word_set("not cannot never neither nor without except unlike isn't")
REST = word_set("others rest remaining")
"""A list after one of these names the options that were not chosen."""
_ANYTHING_BUT = re.compile(r"\b(?:any|every)thing but\b|\ball but\b", re.IGNORECASE)
"""Phrases that negate; "nothing but a boot" is a boot."""
_BEFORE, _AFTER = 6, 3
_WRONG = word_set("wrong incorrect")
_JOINING = word_set("or and nor a an the")
_OVERLAP = 2
_EMPTY = word_set(
    "which what that this with from have does the and one are you your item object word it's for "
    "used usually typically"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An option named in a segment, from word ``start`` to word ``end``."""

    option: int
    segment: int
    start: int
    end: int


def named_options(
    response: str, options: Sequence[str], prompts: Sequence[str] = ()
) -> tuple[int, ...]:
    """Return the positions of the options that a careful reader takes as the answer.

    One position is an answer; none or several are not. The rules, in their order:

    1. The item's own text is removed, as is everything after a next question.
    2. An option is named by its words, as whole words, also in plural and genitive.
    3. An option is not chosen when it is negated before ("not a boat") or after ("a boat is not
       worn"), or questioned while another one is stated.
    4. After a self-correction ("boat, I mean boot") only what follows it counts.
    5. The last option marked as the answer ("the answer is boot", "so boot") decides, unless it is
       joined with another one.
    6. A first option on its own decides when the others are only mentioned.
    7. The only option described as in the question (two content words of it in the segment)
       decides.

    >>> named_options("Boot. A boat floats.", ["boot", "boat"])
    (0,)
    >>> named_options("It is not a boot.", ["boot", "boat"])
    ()
    """
    marks = [words_of(plain(option)) for option in options]
    asked = [plain(prompt) for prompt in prompts if prompt]
    text = answered(plain(response, ["".join(mark) for mark in marks]), asked, marks)
    text = _ANYTHING_BUT.sub("except", text)
    parts = _Parts(segments(text, asked, marks))
    named = [_in_segment(parts, marks, number) for number in range(len(parts))]
    mentions = [
        mention for beside in named for mention in beside if not _is_negated(parts, mention, beside)
    ]
    mentions = _without_the_rest(parts, _after_negated_lists(parts, named, mentions))
    stated = [mention for mention in mentions if not parts[mention.segment].is_question]
    mentions = _corrected(parts, stated or mentions)
    if len({mention.option for mention in mentions}) > 1:
        mentions = _decided(parts, mentions, asked)
    return tuple(sorted({mention.option for mention in mentions}))


@lru_cache(maxsize=256)
def _forms(word: str) -> frozenset[str]:
    """Return a word with its plural and genitive."""
    return frozenset({word, word + "'s", word + "s'", word + "'", *regular_plurals(word)})


def _in_segment(
    parts: Sequence[TextSegment], marks: Sequence[Sequence[str]], number: int
) -> list[Mention]:
    words = parts[number].words
    beginnings = tuple(mark[-1][:-2] or mark[-1] for mark in marks if mark)
    if not any(word.startswith(beginnings) for word in words):
        return []
    exact = {tuple(mark) for mark in marks}
    mentions: list[Mention] = []
    at = 0
    while at < len(words):
        here = [
            (len(mark), option)
            for option, mark in enumerate(marks)
            if mark and _names(words[at : at + len(mark)], mark, exact)
        ]
        longest = max((size for size, _ in here), default=0)
        mentions += [
            Mention(option, number, at, at + size) for size, option in here if size == longest
        ]
        at += max(longest, 1)
    return mentions


def _names(words: tuple[str, ...], mark: Sequence[str], exact: set[tuple[str, ...]]) -> bool:
    if len(words) != len(mark) or list(words[:-1]) != list(mark[:-1]):
        return False
    return words == tuple(mark) or (words not in exact and words[-1] in _forms(mark[-1]))


def _negates(word: str) -> bool:
    return word in NEGATORS or word.endswith("n't")


def _is_negated(parts: Sequence[TextSegment], mention: Mention, beside: Sequence[Mention]) -> bool:
    part = parts[mention.segment]
    before = part.words[max(0, mention.start - _BEFORE) : mention.start]
    for word, following in pairwise((*before, "")):
        contrasts = (word, following) in (("rather", "than"), ("instead", "of"))
        if contrasts or (_negates(word) and following != "only"):
            return True
    after = part.words[mention.end : mention.end + _AFTER]
    if beside[-1].start < mention.end and (any(map(_negates, after)) or _WRONG & set(after)):
        return True
    verdicts = (("no",), ("wrong",), ("incorrect",), ("false",))
    judged = any(next_part.words in verdicts for next_part in parts[mention.segment + 1 :][:1])
    return judged and mention.end == len(part.words) and part.after in (":", "=")


def _after_negated_lists(
    parts: Sequence[TextSegment], named: Sequence[Sequence[Mention]], mentions: list[Mention]
) -> list[Mention]:
    """Return the mentions without members of a negated list ("no boat, lion or drum")."""
    live = {(mention.segment, mention.start) for mention in mentions}
    dropped: set[int] = set()
    for number in range(1, len(parts)):
        every, earlier = named[number], named[number - 1]
        negated = number - 1 in dropped or (
            bool(earlier)
            and not any((mention.segment, mention.start) in live for mention in earlier)
            and any(map(_negates, parts[number - 1].words))
        )
        if not (negated and every and parts[number].before == ","):
            continue
        taken = {at for mention in every for at in range(mention.start, mention.end)}
        rest = {word for at, word in enumerate(parts[number].words) if at not in taken}
        listed = any({"or", "nor"} & set(part.words) for part in parts[number : number + 4])
        if rest <= _JOINING and listed:
            dropped.add(number)
    return [mention for mention in mentions if mention.segment not in dropped]


def _without_the_rest(parts: Sequence[TextSegment], mentions: list[Mention]) -> list[Mention]:
    """Return the mentions without a list of what was not chosen ("The others (boat, lion) ...")."""
    kept: list[Mention] = []
    rest: set[int] = set()
    by_segment = _by_segment(mentions)
    for number, part in enumerate(parts):
        here = by_segment.get(number, [])
        named = {at for mention in here for at in range(mention.start, mention.end)}
        listed = all(word in _JOINING for at, word in enumerate(part.words) if at not in named)
        if here and listed and number - 1 in rest:
            rest.add(number)
        else:
            kept += here
        if REST & set(part.words):
            rest.add(number)
    return kept or mentions


def _by_segment(mentions: Sequence[Mention]) -> dict[int, list[Mention]]:
    found: dict[int, list[Mention]] = {}
    for mention in mentions:
        found.setdefault(mention.segment, []).append(mention)
    return found


class _Parts(tuple[TextSegment, ...]):
    """The segments of a text; knows where words stand that mean something."""

    def __init__(self, parts: Sequence[TextSegment]) -> None:
        self._spans: dict[tuple[int, bool], tuple[int, int] | None] = {}

    def is_bare(self, mention: Mention, *, cues: bool = False) -> bool:
        """Return whether no further word of a mention's segment means anything but, say, a cue."""
        key = mention.segment, cues
        if key not in self._spans:
            allowed = FRAME | _CUE_WORDS if cues else FRAME
            places = [
                at
                for at, word in enumerate(self[mention.segment].words)
                if not (word in allowed or len(word) == 1 or word.isdigit())
            ]
            self._spans[key] = (places[0], places[-1]) if places else None
        span = self._spans[key]
        return span is None or (mention.start <= span[0] and span[1] < mention.end)


def _corrected(parts: _Parts, mentions: list[Mention]) -> list[Mention]:
    start = 0
    for at, (earlier, later) in enumerate(pairwise(mentions), 1):
        if earlier.option != later.option and _is_correction(parts, earlier, later):
            start = at
    return mentions[start:]


def _is_correction(parts: _Parts, earlier: Mention, later: Mention) -> bool:
    if not parts.is_bare(later, cues=True):
        return False
    for number in range(earlier.segment, later.segment + 1):
        start = earlier.end if number == earlier.segment else 0
        end = later.start if number == later.segment else None
        run = parts[number].words[start:end]
        for cue in CUES:
            if cue == ("no",):
                if run == cue or run[:2] == ("no", "wait") or run[:2] == ("no", "sorry"):
                    return True
            elif cue[0] in run and contains(run, cue):
                return True
    return False


def _decided(parts: _Parts, mentions: list[Mention], asked: Sequence[str]) -> list[Mention]:
    first_ends = {
        segment: min(mention.end for mention in beside)
        for segment, beside in _by_segment(mentions).items()
    }
    # What another option precedes in its segment is not marked.
    marked = [
        mention
        for mention in mentions
        if first_ends[mention.segment] > mention.start and _is_marked(parts, mention)
    ]
    if marked:
        return [marked[-1], *_joined(parts, mentions, marked[-1])]
    first = mentions[0]
    others = [mention for mention in mentions if mention.option != first.option]
    only_named = all(
        mention.segment != first.segment and not parts.is_bare(mention) for mention in others
    )
    if only_named and parts.is_bare(first):
        return [first]
    return _described(parts, mentions, asked) or mentions


def _is_marked(parts: _Parts, mention: Mention) -> bool:
    part = parts[mention.segment]
    before = set(part.words[: mention.start])
    if mention.segment and part.before in (":", "=", "->") and parts.is_bare(mention):
        before |= set(parts[mention.segment - 1].words)
        if parts[mention.segment - 1].words[-1] in CONCLUDING:
            return True
    concludes = mention.start > 0 and part.words[0] in CONCLUDING and parts.is_bare(mention)
    return concludes or bool(MARKERS & before)


def _joined(parts: _Parts, mentions: Sequence[Mention], mention: Mention) -> list[Mention]:
    """Return the other options that are joined with a marked one: "the answer is boot or boat"."""
    joined_mentions = []
    last = mention
    for other in mentions:
        if (other.segment, other.start) <= (last.segment, last.start):
            continue
        if other.segment == last.segment:
            joined = set(parts[other.segment].words[last.end : other.start]) <= _JOINING
        else:
            joined = (
                other.segment == last.segment + 1
                and parts[other.segment].before in (",", "/")
                and last.end == len(parts[last.segment].words)
                and parts.is_bare(other)
            )
        if not joined:
            break
        joined_mentions.append(other)
        last = other
    return joined_mentions


def _described(
    parts: Sequence[TextSegment], mentions: Sequence[Mention], asked: Sequence[str]
) -> list[Mention]:
    question = {word.removesuffix("s") for prompt in asked for word in words_of(prompt)} - _EMPTY
    shared: dict[int, int] = {}
    for segment, beside in _by_segment(mentions).items():
        option = beside[0].option
        if len({mention.option for mention in beside}) == 1:
            words = {word.removesuffix("s") for word in parts[segment].words if len(word) > 3}
            shared[option] = max(shared.get(option, 0), len(words & question))
    best = max(shared.values(), default=0)
    winners = [option for option, count in shared.items() if count == best]
    others = [count for option, count in shared.items() if count < best]
    if best < _OVERLAP or len(winners) != 1 or any(count > best - _OVERLAP + 1 for count in others):
        return []
    return [other for other in mentions if other.option == winners[0]]


POLICIES = ratings.POLICIES


@dataclass(frozen=True, slots=True)
class Reading:
    """The options that a response names under one policy, in the order of the options."""

    named: tuple[str, ...] = ()
    undefined: str = ""

    @property
    def chosen(self) -> str | None:
        """The option named where it is exactly one, else None."""
        return self.named[0] if len(self.named) == 1 else None

    @property
    def ambiguous(self) -> bool:
        """Whether two or more options are named: never correct."""
        return len(self.named) > 1

    def correct(self, expected: str) -> bool:
        """Return whether the one option named is the expected one."""
        return self.chosen == expected

    def error(self, expected: str, foils: Mapping[str, str]) -> str | None:
        """Return the foil kind, ``other-option``, ``ambiguous`` or ``no-option``; None if right.

        >>> Reading(("boat",)).error("boot", {"boat": "phonological"})
        'phonological'
        >>> Reading(("boat", "boot")).error("boot", {}), Reading().error("boot", {})
        ('ambiguous', 'no-option')
        """
        if self.chosen is None:
            return "ambiguous" if self.ambiguous else "no-option"
        return None if self.chosen == expected else foils.get(self.chosen, OTHER_OPTION)


OTHER_OPTION = "other-option"
"""The kind of a wrong option for which the battery names no foil kind."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The readings of one response under the three policies."""

    exact: Reading
    normalised: Reading
    extracted: Reading

    def reading(self, policy: str) -> Reading:
        """Return the reading of one of :data:`POLICIES`."""
        reading: Reading = getattr(self, policy)
        return reading


def read_choice(
    response: str, options: Sequence[str], prompts: Sequence[str] = (), language: str = ""
) -> Choice:
    """Read which option a response names.

    - *exact*: the response, outer white space trimmed, equals an option, case-sensitive [ours;
      TAB, appendix B.6 says only "an item from the provided list"].
    - *normalised*: the same after case is folded and outer quotes and one final stop are removed,
      on both sides (:func:`~tabwb.scoring.text.normalised`); where that is none, an answer in
      capitals also names an option with ß written SS.
    - *extracted*: as *normalised*, else the option that a careful reader takes for the answer
      (:func:`tabwb.scoring.choice.named_options`); English only. Of a response of more than
      :data:`tabwb.scoring.text.MOST_READ` characters its beginning and its end are read.

    The text of ``prompts``, what was sent and the item's own, does not count as an answer.

    >>> answer = read_choice("Boot.", ["boot", "boat"])
    >>> answer.exact.chosen, answer.normalised.chosen, answer.extracted.chosen
    (None, 'boot', 'boot')
    >>> read_choice("Answer: lion. It has a mane.", ["knife", "lion"]).extracted.chosen
    'lion'
    >>> read_choice("boot or boat", ["boot", "boat"]).extracted.ambiguous
    True
    """
    choices = tuple(dict.fromkeys(options))
    response = read_part(response.strip())
    equal = read_equal(response, choices, language)
    if equal.extracted.undefined or equal.normalised.named:
        return equal
    read = tuple(choices[at] for at in named_options(response, choices, prompts))
    return replace(equal, extracted=Reading(read))


def read_equal(response: str, choices: Sequence[str], language: str = "") -> Choice:
    """Return which option a response is, under the first two policies; *extracted* adds nothing."""
    trimmed, folded = _composed(response), normalised(response, language)
    exact = tuple(option for option in choices if _composed(option) == trimmed)
    plain = tuple(o for o in choices if folded and normalised(o, language) == folded)
    if not plain:
        plain = tuple(o for o in choices if names_alike(response, o, language))
    english = reads_english(language)
    extracted = Reading(plain) if english else Reading((), not_available(language))
    return Choice(Reading(exact), Reading(plain), extracted)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


@dataclass(frozen=True, slots=True)
class Position:
    """One place among the options shown."""

    number: int
    keyed: int
    correct: int
    chosen: int
    of: int

    @property
    def accuracy(self) -> Estimate:
        """Share right among the items whose key was there."""
        return ratio(self.correct, self.keyed, "the key was never there")

    @property
    def share(self) -> Estimate:
        """Share of the answers that named the option there; 1 / options without a bias."""
        return ratio(self.chosen, self.of, "no answer named an option")


def positions(
    answers: Iterable[tuple[tuple[str, ...], str, bool, str | None]],
) -> tuple[Position, ...]:
    """Count right answers by the position of the key, and answers by their own position.

    Answers are (options as shown, expected, right, option named or None), or a ``Counter`` of them.

    >>> first, second = positions([
    ...     (("boot", "boat"), "boot", True, "boot"), (("boat", "boot"), "boot", False, "boat"),
    ... ])
    >>> (first.keyed, first.correct, first.chosen), (second.keyed, second.correct, second.chosen)
    ((1, 1, 2), (1, 0, 0))
    """
    given = {answer: n for answer, n in Counter(answers).items() if answer[1] in answer[0]}
    longest = max((len(options) for options, *_ in given), default=0)
    keyed, correct, chosen = ([0] * longest for _ in range(3))
    for (options, expected, right, named), n in given.items():
        at = options.index(expected)
        keyed[at] += n
        correct[at] += n * right
        if named is not None and named in options:
            chosen[options.index(named)] += n
    total = sum(chosen)
    return tuple(
        Position(at + 1, keyed[at], correct[at], chosen[at], total) for at in range(longest)
    )


AMBIGUOUS, NO_OPTION, NO_RESPONSE = "ambiguous: ", "no option", "no response"
UNTOLD = "untold"


def reason_of(reading: Reading, expected: str, foils: Mapping[str, str], *, empty: bool) -> str:
    """Return what was read in a wrong answer; empty for a right one.

    >>> reason_of(Reading(("boat",)), "boot", {"boat": "phonological"}, empty=False)
    'boat (foil: phonological)'
    >>> reason_of(Reading(("boat", "boot")), "boot", {}, empty=False)
    'ambiguous: boat, boot'
    """
    if reading.correct(expected):
        return ""
    if empty or reading.chosen is None:
        named = AMBIGUOUS + ", ".join(reading.named) if reading.ambiguous else NO_OPTION
        return NO_RESPONSE if empty else named
    kind = foils.get(reading.chosen)
    return reading.chosen + (f" (foil: {kind})" if kind is not None else "")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The option that a stored verdict names, or None, and the kind of error, or ``untold``."""

    chosen: str | None
    error: str | None = None


def read_reason(
    correct: bool, reason: str, expected: str, options: Sequence[str], foils: Mapping[str, str]
) -> StoredAnswer:
    """Return what a stored verdict says about an answer, as :func:`reason_of` wrote it.

    >>> kinds = {"boat": "phonological"}
    >>> read_reason(False, "boat (foil: phonological)", "boot", ["boot", "boat"], kinds)
    StoredAnswer(chosen='boat', error='phonological')
    >>> read_reason(True, "", "boot", ["boot", "boat"], {})
    StoredAnswer(chosen='boot', error=None)
    >>> read_reason(False, "did not point", "boot", ["boot", "boat"], {}).error
    'untold'
    """
    if correct:
        return StoredAnswer(expected)
    for option in options:
        kind = foils.get(option)
        if reason == option or (kind is not None and reason == f"{option} (foil: {kind})"):
            return StoredAnswer(option, OTHER_OPTION if kind is None else kind)
    if reason.startswith(AMBIGUOUS):
        return StoredAnswer(None, "ambiguous")
    return StoredAnswer(None, "no-option" if reason in (NO_OPTION, NO_RESPONSE) else UNTOLD)


@dataclass(frozen=True, slots=True)
class LikelihoodChoice:
    """The most likely option by its log probability, summed and over its tokens and characters."""

    by_sum: str
    per_token: str
    per_character: str


def choose_by_likelihood(options: Mapping[str, Likelihood]) -> LikelihoodChoice:
    """Return the most likely of the options; of equal ones the first.

    With L(o) = sum over the tokens t_i of option o of ln p(t_i | prompt, t_1 ... t_(i-1)), in nats:
    ``by_sum`` maximises L(o), ``per_token`` L(o) / tokens(o), ``per_character`` L(o) /
    characters(o). The sum, the probability that the model writes the option, decides; it favours
    short options. lm-evaluation-harness calls them ``acc`` (sum) and ``acc_norm`` (per character).
    That the answer must be one of the options is TAB, appendix B.6 (one-token outputs enforced).

    >>> weighed = {"lion": Likelihood(-2.0, 1), "violin": Likelihood(-2.4, 3)}
    >>> choose_by_likelihood(weighed)
    LikelihoodChoice(by_sum='lion', per_token='violin', per_character='violin')
    """
    if not options:
        raise ValueError("there are no options to choose from")

    def best(units: Mapping[str, float]) -> str:
        return max(options, key=lambda option: options[option].log_probability / units[option])

    return LikelihoodChoice(
        best(dict.fromkeys(options, 1.0)),
        best({option: float(max(options[option].tokens, 1)) for option in options}),
        best({option: float(max(len(option), 1)) for option in options}),
    )

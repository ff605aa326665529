"""A response as the rules read it, what a rule says of it, and copies of words in a row."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.scoring.lexicon import FUNCTION_WORDS
from tabwb.scoring.rules.vocabulary import FILLERS
from tabwb.scoring.text import read_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    """Each word of a text as a number."""


TWO_SIDED = (
    "retracing",
    "abandoned-utterances",
    "perseverations",
    "neologisms",
    "jargon",
    "short-and-simplified-utterances",
    "false-starts",
)
"""May be present or absent; the burden of the rules judge is over these seven."""

ONE_SIDED = (
    "anomia",
    "empty-speech",
    "stereotypies-and-automatisms",
    "conduite-d-approche",
    "omission-of-function-words",
    "omission-of-bound-morphemes",
    "phonemic-paraphasias",
)
"""Present or undefined: a missed sign is not evidence of absence."""

NEVER = (
    "semantic-paraphasias",
    "paragrammatism",
    "meaning-unclear",
    "off-topic",
    "overall-communication-impairment",
)
"""Always undefined: no rule on the text alone can tell."""

FEATURES = TWO_SIDED + ONE_SIDED + NEVER


class Outcome(StrEnum):
    """The three outcomes of a rule. A rule that cannot tell does not return *absent*."""

    PRESENT = "present"
    ABSENT = "absent"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule's verdict."""

    outcome: Outcome
    words: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        quoted = "; ".join(f'"{words}"' for words in self.words)
        return " - ".join(part for part in (quoted, self.note) if part)


def present(*words: str, note: str = "") -> RuleVerdict:
    """Return the verdict that the sign is present in these words.

    >>> str(present("the ball the ball the ball"))
    '"the ball the ball the ball"'
    """
    return RuleVerdict(Outcome.PRESENT, tuple(dict.fromkeys(words)), note)


def absent(note: str = "") -> RuleVerdict:
    """Return the verdict that the sign is absent; only for two-sided features."""
    return RuleVerdict(Outcome.ABSENT, (), note)


def undefined(note: str) -> RuleVerdict:
    """Return an undefined verdict with its reason."""
    return RuleVerdict(Outcome.UNDEFINED, (), note)


NOT_SEEN = undefined(
    "no sign found; that a text rule finds no sign does not show that it is absent"
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Every number that a verdict depends on. Units are words unless something else is said.

    The closed lists of words in :mod:`tabwb.scoring.rules.vocabulary` belong to the version too.
    """

    version: int

    # Common to all rules
    form_based: bool = False
    """Whether the rules added after version 1 apply (docs/rules-judge.md)."""
    unpunctuated: int = 25
    """A single utterance longer than this does not show where a speaker's utterances end."""
    known_share: float = 0.5
    """Below this share of known words, and without an English function word: not English."""
    prompt_stretch: int = 3
    """This many words of the prompt in order are an echo of it."""

    # 1 Retracing, 3 Perseverations
    retraced_words: tuple[int, int] = (2, 6)
    retracings_per_100_spoken: float = 3.5
    perseverated_words: tuple[int, int] = (1, 6)
    perseverated_times: int = 3
    repeated_utterance: int = 5
    repeated_anywhere: int = 8
    repeated_across_stop: int = 4

    emphatic_times: int = 0
    """One word up to this number of times between commas in typed text is emphasis; 0: never."""
    returning_words: int = 0
    """A repeated phrase of this many words is a perseveration; 0: never."""
    returning_times: int = 3
    returning_share: float = 0.25
    """The copies of such a phrase fill this share of all words or more."""

    # 4 Neologisms, 5 Jargon
    neologism_letters: int = 4
    slip_level: int = 20
    """One edit from a word of SCOWL's sizes up to this one counts as a typing error."""
    joined_part_letters: int = 3
    jargon_words: int = 3
    jargon_share: float = 0.2
    jargon_share_short: float = 0.5
    jargon_short_text: int = 20

    # 6 Short and simplified utterances
    short_utterance: int = 4
    short_share: float = 0.5
    short_median: float = 5.0
    lone_utterance: int = 8

    # 7 False starts
    hyphened_letters: int = 4
    fragment_letters: int = 3

    # 8 Anomia, 9 Empty speech, 10 Stereotypies
    anomia_approaches: int = 2
    """Steps of approach, in one chain or in several."""
    unspecific_words: int = 2
    unspecific_share: float = 0.15
    stereotypy_times: int = 3
    formula_words: int = 5
    formula_answers: int = 3

    whole_answer_times: int = 0
    """One word or syllable this number of times as the whole answer is a stereotypy; 0: never."""
    proform_words: int = 0
    """A text of this many words can be empty of nouns; 0: this is not tested."""
    proform_share: float = 0.4
    proform_content: float = 0.15

    # 11 Conduite d'approche
    shared_letters: float = 0.5

    # 12 and 13 Omissions
    telegraphic_words: int = 12
    telegraphic_share: float = 0.3
    agreement_window: int = 2
    telegraphic_words_short: int = 0
    """With this many words a text of two utterances or more can be telegraphic; 0: never."""
    telegraphic_share_short: float = 0.05

    # 14 Phonemic paraphasias
    paraphasia_letters: float = 1 / 3


RULES_1 = Thresholds(version=1)
"""Kept so that studies judged with it can be continued and repeated."""
RULES_2 = Thresholds(
    version=2,
    form_based=True,
    emphatic_times=3,
    returning_words=3,
    whole_answer_times=4,
    proform_words=15,
    telegraphic_words_short=6,
)
CURRENT = RULES_2


def rater_id(thresholds: Thresholds) -> str:
    """Return the id of the rater under which verdicts are stored.

    >>> rater_id(RULES_1), rater_id(CURRENT)
    ('rules-1', 'rules-2')
    """
    return f"rules-{thresholds.version}"


_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u0060": "'"})
_TOKEN = re.compile(r"[A-Za-z]+(?:'[a-z]+)*(?:-(?=[ ,]))?")
_MARK = re.compile(r"\n|[.?!]+[\"')\]*]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|prof|sr|jr|vs|etc|mt|[b-hj-z])|\be\.g|\bi\.e)$", re.IGNORECASE
)
EVIDENCE_LETTERS = 80


@dataclass(frozen=True, slots=True)
class TextContext:
    """A response, unaltered, with what the rules may know about it.

    Attributes:
        kind: what the subtest asks for; *verbatim* is repetition.
        prompt, sent: the item's own prompt, and the exact message sent, instructions included.
        expected: the target of a repetition, or None.
        spoken: a transcript of speech, not typed text.
        previous: earlier answers of the same administration.
        dialect: the speaker's recorded dialect, or empty.
        language: of the battery, as a BCP 47 tag; the rules are for English.
    """

    text: str
    kind: ResponseKind = ResponseKind.CONNECTED_TEXT
    status: ResponseStatus = ResponseStatus.OK
    prompt: str = ""
    sent: str = ""
    expected: str | None = None
    spoken: bool = False
    previous: tuple[str, ...] = ()
    dialect: str = ""
    language: str = "en"


class Token(NamedTuple):
    """A word without a trailing hyphen: ``word`` in small letters, ``text`` as written."""

    word: str
    text: str
    start: int
    end: int
    utterance: int
    hyphen: bool


@dataclass(frozen=True, slots=True)
class Utterance:
    """The words between two ends, fillers included, and the text with the closing mark."""

    tokens: tuple[Token, ...]
    text: str

    @property
    def bare(self) -> str:
        """The text without closing quotation marks and brackets."""
        return self.text.rstrip("\"')]}*\u201d ")

    @property
    def is_question(self) -> bool:
        """Whether a question mark closes it."""
        return self.bare.endswith("?")


@dataclass(frozen=True, slots=True)
class Passage:
    """A response read once, for all rules of a version."""

    context: TextContext
    limits: Thresholds
    text: str
    utterances: tuple[Utterance, ...]
    tokens: tuple[Token, ...]
    plain: tuple[Token, ...]

    @property
    def typed_form(self) -> bool:
        """Whether the rules about the form of typed text apply (``rules-2``)."""
        return self.limits.form_based and not self.context.spoken

    @property
    def finished(self) -> tuple[Utterance, ...]:
        """All utterances but one that the token limit cut."""
        cut = self.context.status is ResponseStatus.TRUNCATED
        return self.utterances[:-1] if cut else self.utterances

    def quote(self, tokens: Sequence[Token]) -> str:
        """Return the text from the first token to the last, shortened to 80 characters."""
        quoted = " ".join(self.text[tokens[0].start : tokens[-1].end].split())
        if len(quoted) <= EVIDENCE_LETTERS:
            return quoted
        return quoted[: EVIDENCE_LETTERS - 3].rstrip() + "..."


def normalise(text: str) -> str:
    """Return a text with plain apostrophes, no accents, and three stops for an ellipsis sign.

    >>> normalise("we’d go to the café…")
    "we'd go to the cafe..."
    """
    if text.isascii():
        return text.replace("`", "'")
    decomposed = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def read(response: TextContext | str, limits: Thresholds = RULES_1) -> Passage:
    """Return the words of ``[A-Za-z]+('[a-z]+)*``, utterances ended by ``. ? !`` or a newline.

    A stop inside a number or a name (``3.5``, ``tabwb.toml``), after an initial and after a few
    abbreviations (*Mr.*, *e.g.*) does not end an utterance; from ``rules-2`` on nor do three dots
    before a small letter, and within a line of speech. A trailing hyphen is kept before a space or
    comma. Of a text of more than 40,000 characters the first 20,000 are read.

    >>> passage = read("I saw Dr. Bell at 3.5 miles. A ca- cat...")
    >>> [len(utterance.tokens) for utterance in passage.utterances]
    [6, 3]
    >>> passage.tokens[-2].word, passage.tokens[-2].hyphen
    ('ca', True)
    """
    context = response if isinstance(response, TextContext) else TextContext(response)
    text = normalise(read_parts(context.text)[0])
    utterances: list[Utterance] = []
    start = 0
    for end in (*_ends(text, limits.form_based, context.spoken), len(text)):
        number = len(utterances)
        tokens = tuple(
            Token(
                (bare := match.group().removesuffix("-")).lower(),
                bare,
                match.start(),
                match.start() + len(bare),
                number,
                len(bare) < len(match.group()),
            )
            for match in _TOKEN.finditer(text, start, end)
        )
        if tokens:
            utterances.append(Utterance(tokens, text[start:end].strip()))
        start = end
    every = tuple(token for utterance in utterances for token in utterance.tokens)
    return Passage(context, limits, text, tuple(utterances), every, without_fillers(every))


def _ends(text: str, dots_pause: bool, spoken: bool) -> Iterable[int]:
    for mark in _MARK.finditer(text):
        after = text[mark.end() : mark.end() + 1]
        if dots_pause and mark.group() == "..." and text[mark.start() - 1 : mark.start()] != "+":
            following = text[mark.end() : mark.end() + 2].lstrip(" ,")[:1]
            if following.islower() or (spoken and following not in ("", "\n")):
                continue
        if mark.group() == ".":
            inside = after.islower() or after.isdigit()
            if inside or _ABBREVIATION.search(text, max(0, mark.start() - 5), mark.start()):
                continue
        yield mark.end()


def without_fillers(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """Return the words without fillers."""
    return tuple(token for token in tokens if token.word not in FILLERS)


def is_content(word: str) -> bool:
    """Return whether a lower-case word is a content word; contracted function words are not.

    >>> [is_content(word) for word in ("kite", "the", "they'd", "don't", "kite's")]
    [True, False, False, False, True]
    """
    if word in FUNCTION_WORDS:
        return False
    stem, apostrophe, _ = word.partition("'")
    return not apostrophe or (
        stem not in FUNCTION_WORDS and not (word.endswith("n't") and word[:-3] in _NEGATED)
    )


_NEGATED = FUNCTION_WORDS | {"ca", "wo", "sha", "ai"}


def echoed(passage: Passage, stretch: int) -> frozenset[int]:
    """Return the positions in ``plain`` of words that belong to a stretch of the prompt.

    In repetition the target is the answer and is removed from the prompt first.

    >>> passage = read(TextContext("My first job was hard.", prompt="Say: your first job."))
    >>> echoed(passage, 2) == {1, 2}, echoed(passage, 3) == frozenset()
    (True, True)
    """
    context = passage.context
    prompts = [context.prompt, context.sent]
    if context.kind is ResponseKind.VERBATIM and context.expected:
        prompts = [prompt.replace(context.expected, "\n") for prompt in prompts]
    runs: set[tuple[str, ...]] = set()
    for prompt in set(prompts):
        words = [match.group().lower() for match in _TOKEN.finditer(normalise(prompt))]
        runs.update(tuple(words[at : at + stretch]) for at in range(len(words) - stretch + 1))
    words = [token.word for token in passage.plain]
    return frozenset(
        at + step
        for at in range(len(words) - stretch + 1)
        if tuple(words[at : at + stretch]) in runs
        for step in range(stretch)
    )


FEW = 400
"""In a text of so many words every size of a unit is tried."""
SHORT = 64
"""In a longer text so many sizes are tried; longer units are found by their order."""


class Run(NamedTuple):
    """``times`` copies of the same ``size`` words in a row, from position ``start``."""

    start: int
    size: int
    times: int

    @property
    def end(self) -> int:
        """The position after the last copy."""
        return self.start + self.size * self.times


def find_runs(words: Sequence[str], shortest: int, longest: int) -> Iterator[Run]:
    """Yield all maximal runs of two or more copies of a unit of words.

    A unit has no copies itself: *no no no no* is four times *no*, not twice *no no*. The time is
    proportional to the words and to the number of sizes.

    >>> list(find_runs("the kite is the kite is flying".split(), 2, 6))
    [Run(start=0, size=3, times=2)]
    """
    for size in range(shortest, min(longest, len(words) // 2) + 1):
        same = bytes(map(eq, words, words[size:]))
        for matched in re.finditer(rb"(?<!\x01)\x01{%d,}" % size, same):
            at = matched.start()
            if _is_primitive(words[at : at + size]):
                yield Run(at, size, (matched.end() - at) // size + 1)


def _is_primitive(unit: Sequence[str]) -> bool:
    size = len(unit)
    return not any(size % part == 0 and unit[part:] == unit[:-part] for part in range(1, size))


def fills(words: Sequence[str], times: int, least: float) -> bool:
    """Return whether copies of one unit in runs are so many and have so many words together.

    >>> fills("the lake and the lake and the lake and".split(), 3, 9)
    True
    """
    if len(words) <= FEW:
        copies: Counter[tuple[str, ...]] = Counter()
        for run in find_runs(words, 1, len(words) // 2):
            copies[tuple(words[run.start : run.start + run.size])] += run.times
        return any(n >= times and n * len(unit) >= least for unit, n in copies.items())
    codes = _codes(words)
    if any(_fills(codes, size, times, least) for size in range(1, SHORT + 1)):
        return True
    distances = _distances(codes)
    # A run of n copies of a unit of p words has more than (n - 1.5) p windows that come again, so
    # that runs which fill half of the text have an eighth of it.
    if 8 * distances.sum() < len(words):
        return False
    if _fills(codes, int(distances.argmax()), times, least):
        return True
    return any(n >= times and n * size >= least for size, n in _copies(codes) if size > SHORT)


def _codes(words: Sequence[str]) -> Codes:
    import numpy as np

    number: dict[str, int] = {}
    return np.array([number.setdefault(word, len(number)) for word in words], dtype=np.int64)


def _fills(codes: Codes, size: int, times: int, least: float) -> bool:
    """Return whether the copies of a unit of one size are enough."""
    import numpy as np

    if not 0 < size <= len(codes) // 2:
        return False
    edges = np.flatnonzero(codes[size:] != codes[:-size])
    edges = np.concatenate(([-1], edges, [len(codes) - size]))
    matched = np.diff(edges) - 1
    copies: Counter[bytes] = Counter()
    for at in np.flatnonzero(matched >= size):
        unit = codes[edges[at] + 1 : edges[at] + 1 + size]
        copies[unit.tobytes()] += int(matched[at]) // size + 1
    return any(
        n >= times
        and n * size >= least
        and _is_primitive(np.frombuffer(unit, dtype=np.int64).tolist())
        for unit, n in copies.items()
    )


def _distances(codes: Codes) -> Codes:
    """Return how many windows of words come again after each distance, from 0."""
    import numpy as np

    width = max(SHORT // 2, 1)

    # Windows that are equal have equal sums; others may, which costs time alone.
    base = np.uint64(0x9E3779B97F4A7C15)
    powers = np.cumprod(np.full(len(codes), base, dtype=np.uint64))
    values = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
    values ^= values >> np.uint64(29)
    sums = np.concatenate(([np.uint64(0)], np.cumsum(values * powers)))
    inverse = np.cumprod(np.full(len(codes), pow(int(base), -1, 2**64), dtype=np.uint64))
    windows = (sums[width:] - sums[:-width]) * inverse[: len(codes) - width + 1]
    order = np.argsort(windows, kind="stable")
    again = np.diff(windows[order]) == 0
    return np.bincount(np.diff(order)[again], minlength=1)


def _copies(codes: Codes) -> Iterator[tuple[int, int]]:
    """Yield size and number of copies, in all of its runs, of each unit of a text.

    Each run has a Lyndon root: the longest Lyndon word that begins somewhere, in one of the two
    orders of the alphabet. It ends where the next smaller suffix begins. Source: Bannai et al., The
    "runs" theorem, SIAM Journal on Computing 46 (2017).
    """
    import numpy as np

    runs: set[tuple[int, int, int]] = set()
    n = len(codes)
    for ordered in (codes, codes.max() - codes):
        ranks = _ranks(ordered)
        roots = _next_smaller(ranks[-1].tolist())
        start = np.arange(n)
        after = np.array(roots)
        inside = after < n
        start, after = start[inside], after[inside]
        forward, backward = np.zeros_like(start), np.zeros_like(start)
        for level in range(len(ranks) - 1, -1, -1):
            rank, width = ranks[level], 1 << level
            fits = after + forward + width <= n
            left, right = np.where(fits, start + forward, 0), np.where(fits, after + forward, 0)
            forward += width * (fits & (rank[left] == rank[right]))
            fits = start - backward - width >= 0
            left = np.where(fits, start - backward - width, 0)
            right = np.where(fits, after - backward - width, 0)
            backward += width * (fits & (rank[left] == rank[right]))
        sizes = after - start
        is_run = forward + backward >= sizes
        found = (start - backward)[is_run], sizes[is_run], (after + forward)[is_run]
        runs.update(zip(*(each.tolist() for each in found), strict=True))
    copies: Counter[tuple[int, int, int]] = Counter()
    for at, size, end in runs:
        level = size.bit_length() - 1
        unit = size, int(ranks[level][at]), int(ranks[level][at + size - (1 << level)])
        copies[unit] += (end - at) // size
    for (size, _, _), times in copies.items():
        yield size, times


def _ranks(codes: Codes) -> list[Codes]:
    """Return the order of the windows of 1, 2, 4 ... words; the last are whole suffixes."""
    import numpy as np

    n = len(codes)
    ranks = [np.unique(codes, return_inverse=True)[1]]
    width = 1
    while width < n:
        following = np.full(n, 0, dtype=np.int64)
        following[:-width] = ranks[-1][width:] + 1
        pairs = ranks[-1] * np.int64(n + 1) + following
        ranks.append(np.unique(pairs, return_inverse=True)[1])
        width *= 2
    return ranks


def _next_smaller(ranks: list[int]) -> list[int]:
    """Return the position of the next smaller number behind each, or the length."""
    found = [len(ranks)] * len(ranks)
    open_ones: list[int] = []
    for at, rank in enumerate(ranks):
        while open_ones and ranks[open_ones[-1]] > rank:
            found[open_ones.pop()] = at
        open_ones.append(at)
    return found

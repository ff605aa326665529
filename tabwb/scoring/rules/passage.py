"""A response as the rules read it: normalised text, words, utterances."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tabwb.records.states import ResponseKind, ResponseStatus
from tabwb.scoring.lexicon import FUNCTION_WORDS
from tabwb.scoring.rules.verdicts import RULES_1, Thresholds
from tabwb.scoring.rules.vocabulary import FILLERS
from tabwb.scoring.text import read_parts

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
    """A response read once, for all rules of a version.

    Attributes:
        text: with plain apostrophes, without accents, ellipses as three stops.
        utterances: those that hold a word.
        tokens, plain: the words of all utterances, with and without fillers.
    """

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

"""Words that all pages share: administrations, verdicts, texts in lines, texts that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from tabwb.records.conditions import Conditions, line_of
from tabwb.records.exchange import REASONING_TOKENS
from tabwb.records.ratings import Rating
from tabwb.records.speakers import SCOPES
from tabwb.records.states import (
    AdministrationStatus,
    RatingStatus,
    ResponseStatus,
    StopReason,
)
from tabwb.records.trials import Administration, Attempt
from tabwb.scoring.word_difference import Piece
from tabwb.workbench.engine.view_models import Item

if TYPE_CHECKING:
    from tabwb.administer.participants import Participant


ACCENT, QUIET, LINE, AMBER = "$accent", "$quiet", "$line", "$warning"
"""Theme variables that texts are styled with."""
LEAST = 20
"""No text is wrapped narrower, also before there is any room."""

LESIONED = "▲"
"""The glyph of a model under a lesion."""
RECORDING = "◉"
"""The glyph of a microphone that records."""
WITHDRAWN = "⊘"
"""The glyph of a consent that was withdrawn."""
ATTENTION = "!"
"""The glyph of what somebody has to look at: in error, interrupted, not saved."""
_STOPS = {
    StopReason.END: "complete",
    StopReason.STOP_STRING: "ended at a stop string",
    StopReason.CANCELLED: "stopped",
    StopReason.REFUSED: "refused",
}
_RESPONSES = {
    ResponseStatus.EMPTY: "no response",
    ResponseStatus.REFUSED: "refused",
    ResponseStatus.NOT_LANGUAGE: "not language",
    ResponseStatus.PROMPT_ECHO: "echo of the prompt",
    ResponseStatus.REPEATED_ANSWER: "repeated answer",
    ResponseStatus.DEGENERATE: "degenerate",
}


def spread(left: Content, right: Content, width: int) -> Content:
    """Return a line with one text at the left, which is cut, and one at the right.

    >>> spread(Content("item"), Content("1 of 2"), 14).plain
    'item    1 of 2'
    """
    room = width - right.cell_length - 1
    if left.cell_length > room:
        left = left.truncate(max(room, 0), ellipsis=True)
    return Content.assemble(left, " " * max(width - left.cell_length - right.cell_length, 0), right)


def stopped(item: Item) -> str:
    """Return why the answer ended and which kind of text it is, or an empty text."""
    attempt = item.attempt
    if attempt is None:
        return ""
    words = [_STOPS.get(attempt.stop_reason, "")]
    if attempt.stop_reason is StopReason.LENGTH:
        words.append(f"[cut at {item.token_limit} tokens]")
    status = item.status or attempt.status
    if status is not None:
        words.append(_RESPONSES.get(status, ""))
    return ", ".join(dict.fromkeys(word for word in words if word))


def reasoning_words(attempt: Attempt, *, text: bool = True) -> str:
    """Return what is said of the reasoning of a response: its tokens, its beginning."""
    tokens = attempt.metadata.get(REASONING_TOKENS)
    words = f"reasoning, {tokens} tokens" if tokens else "reasoning"
    words += " (no part of the response, not scored)"
    begin = " ".join(attempt.reasoning[:200].split())
    return f"{words}: {begin[:60]}{'…' if len(attempt.reasoning) > 60 else ''}" if text else words


PRESENT, ABSENT = "▣", "□"
"""A feature in a response; ● and ○ are other signs."""
_WITHOUT = {RatingStatus.UNPARSED: "?", RatingStatus.ERROR: "!", RatingStatus.UNDEFINED: "-"}


def verdict_words(rating: Rating | None, probability: float | None = None) -> str:
    """Return a judge's verdict on a feature with its probability, or why there is none.

    >>> from tabwb.records.ratings import undefined, valued
    >>> verdict_words(valued("j", "anomia", True), 0.7), verdict_words(valued("j", "anomia", False))
    ('▣ present 0.70', '□ absent')
    >>> verdict_words(undefined("j", "anomia", "empty")), verdict_words(None)
    ('- undefined', '- not asked')
    """
    if rating is None:
        return "- not asked"
    if rating.status is not RatingStatus.VALUE:
        return f"{_WITHOUT[rating.status]} {rating.status.value}"
    word = f"{PRESENT} present" if rating.value else f"{ABSENT} absent"
    return word if probability is None else f"{word} {probability:.2f}"


def wrapped(text: str, width: int) -> list[str]:
    """Return a line wrapped at blanks, where wide characters take two columns.

    >>> wrapped("the boy falls", 8), wrapped("男孩掉下", 5)
    (['the boy', 'falls'], ['男孩', '掉下'])
    """
    if cell_len(text) == len(text):
        return wrap(text, width)
    lines, line = [], ""
    for word in text.split():
        if line and cell_len(word) <= width < cell_len(f"{line} {word}"):
            lines.append(line)
            line = ""
        for character in f" {word}" if line else word:
            if cell_len(line + character) > width:
                lines.append(line.rstrip())
                line = ""
            line += character
    return [*lines, line] if line else lines


def folded(text: str, width: int, style: str = "", indent: int = 0) -> Iterator[Content]:
    """Yield a text in separate lines, each so many columns from the left."""
    for line in text.splitlines():
        for part in wrapped(line, max(width - indent, LEAST)) or [""]:
            yield Content.assemble(" " * indent, (part, style))


KEY = 8
"""Columns of a key before what it does."""


def key_lines(
    keys: Iterable[tuple[str, str]],
    width: int,
    *,
    room: int = KEY,
    style: str = f"bold {ACCENT}",
    quiet: str = QUIET,
) -> Iterator[Content]:
    """Yield what can be done with each key, or what each fact is, the words below each other."""
    for key, words in keys:
        for at, line in enumerate(folded(words, max(width - room, LEAST), quiet)):
            yield Content.assemble((("" if at else key).ljust(room), style), line)


def seconds(value: float | None) -> str:
    """Return a latency in words.

    >>> seconds(0.4142), seconds(63.21), seconds(None)
    ('0.41 s', '63.21 s', '')
    """
    return "" if value is None else f"{value:.2f} s"


def sentence(words: str) -> str:
    """Return words that a plugin declared as a sentence.

    >>> sentence("a text rule; not compared with expert raters")
    'A text rule; not compared with expert raters.'
    """
    return words[:1].upper() + words[1:].rstrip(".") + "." if words else ""


STATUS_GLYPHS = {
    AdministrationStatus.RUNNING: "▸",
    AdministrationStatus.PAUSED: "‖",
    AdministrationStatus.DONE: "✓",
    AdministrationStatus.DISCONTINUED: "■",
}
JOB_SIGNS = {
    "loading": "…", "running": "▸", "stopping": "…", "done": "✓", "stopped": "‖", "failed": "!",
    "refused": "!", "planned": "✓",
}  # fmt: skip
"""The sign of each phase of a job or sweep, wherever it is shown."""


def glyph_of(administration: Administration) -> str:
    """Return the sign of an administration's status."""
    return ATTENTION if administration.interrupted else STATUS_GLYPHS[administration.status]


def state_word(administration: Administration) -> str:
    """Return the state of an administration for people; documents have *done* for *complete*."""
    done = administration.status is AdministrationStatus.DONE
    return "complete" if done else administration.status_word


def status_words(administration: Administration) -> str:
    """Return glyph, state and progress of an administration."""
    words = f"{glyph_of(administration)} {state_word(administration)}"
    if administration.status is AdministrationStatus.DONE:
        return words
    return f"{words} {administration.answered}/{administration.planned}"


def name_of(administration: Administration) -> str:
    """Return the name of an administration, such as ``tab · bundled``."""
    lesion = f" + {administration.conditions.lesion}" if administration.conditions.lesion else ""
    return f"{administration.battery} · {administration.conditions.examinee}{lesion}"


def lesion_mark(administration: Administration | None) -> str:
    """Return the mark of an administration to a lesioned model in the title bar, or nothing."""
    lesion = administration.conditions.lesion if administration is not None else None
    return f"{LESIONED} lesion {lesion}" if lesion else ""


def conditions_words(administration: Administration) -> list[str]:
    """Return the conditions in words, the ones that are seldom set only where they are set.

    The lesion is shown with the name (:func:`name_of`).
    """
    return _condition_words(administration.conditions)


def _condition_words(given: Conditions) -> list[str]:
    return [words for name, words in line_of(given).items() if name != "lesion"]


def special_conditions(given: Conditions) -> list[str]:
    """Return the conditions that are not at their defaults in words, the seed last."""
    usual = _condition_words(Conditions(given.examinee, given.kind))
    words = [word for word in _condition_words(given) if word not in usual]
    words.sort(key=lambda word: word.startswith("seed "))  # the least telling last
    return words


def special_words(administration: Administration) -> list[str]:
    """Return title, tags and conditions that are not at their defaults: what tells runs apart."""
    titles = [administration.title] if administration.title else []
    return [*titles, *administration.tags, *special_conditions(administration.conditions)]


def head_words(administration: Administration) -> list[str]:
    """Return the conditions for one line, those that are not at their defaults first."""
    special = special_words(administration)
    usual = [word for word in conditions_words(administration) if word not in special]
    return [*special, *(word for word in usual if not word.startswith("protocol "))]


def consent_words(participant: Participant) -> str:
    """Return the number of consents in force, of all scopes, and the scopes withdrawn."""
    withdrawn = [scope for scope, one in participant.last.items() if not one.given]
    more = f", {WITHDRAWN} {', '.join(withdrawn)}" if withdrawn else ""
    return f"{len(participant.may)}/{len(SCOPES)}{more}"


DIFFERS = f"underline {AMBER}"
"""Style of a word that the other text lacks."""


def styled(pieces: Sequence[Piece], width: int) -> list[Content]:
    """Return a text in lines, the words underlined that the other text lacks."""
    parts: list[tuple[str, str]] = []
    for piece in pieces:
        word = piece.text.rstrip()
        parts += [
            (word, DIFFERS if piece.differs else "$foreground"),
            (piece.text[len(word) :], "$foreground"),
        ]
    lines: list[Content] = []
    for line in Content.assemble(*parts).split("\n"):
        lines += line.wrap(width) or [Content("")]
    return lines


def side_by_side(
    first: Sequence[Content], second: Sequence[Content], room: int
) -> Iterator[Content]:
    """Yield two texts beside each other."""
    empty = Content("")
    for at in range(max(len(first), len(second))):
        left = first[at] if at < len(first) else empty
        right = second[at] if at < len(second) else empty
        yield Content.assemble(left, " " * (room - left.cell_length), (" │ ", LINE), right)

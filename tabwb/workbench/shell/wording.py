"""Glyphs, words and lines for states and numbers, the same in all widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap

from rich.cells import cell_len
from textual.content import Content

from tabwb.records.exchange import REASONING_TOKENS
from tabwb.records.ratings import Rating
from tabwb.records.states import (
    RatingStatus,
    ResponseStatus,
    StopReason,
)
from tabwb.records.trials import Attempt
from tabwb.workbench.engine.view_models import Item

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


def key_lines(keys: Iterable[tuple[str, str]], width: int) -> Iterator[Content]:
    """Yield what can be done with each key, the words below each other."""
    for key, words in keys:
        first, *rest = folded(words, max(width - KEY, LEAST), QUIET)
        yield Content.assemble((f"{key:<{KEY}}", f"bold {ACCENT}"), first)
        yield from (Content.assemble(" " * KEY, line) for line in rest)


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

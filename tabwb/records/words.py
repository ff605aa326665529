"""Sentences that tabwb shows in public; numbers with nouns, near matches; text made safe to show.

Text that other people wrote is made safe for terminals, JSON files and spreadsheets.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TextIO, cast

NONE = "-"
"""Is shown where a value is undefined."""
RESEARCH_ONLY = (
    "tabwb is an instrument for research. It is not a medical device. It does not diagnose aphasia "
    "or any other condition, does not measure its severity, and must not be used to decide about a "
    "person's care."
)
"""Shown on the README's first screen, at the first opening, on every report and export."""

MODEL_CAUTION = "These figures describe text."
"""Shown beside every result of a model."""

LESION_CAUTION = (
    "A lesion here is a change of numbers in a model and says nothing about where damage in a "
    "brain would act."
)
"""Shown beside every result of a model under a lesion."""

RULES_CAUTION = "a text rule; not compared with expert raters"
FORM_BASED_CAUTION = (
    f"{RULES_CAUTION}; form-based: jargon and perseveration are seen in words, not in meaning"
)
"""Shown with every verdict of a rule-based judge."""


SPEECH_CAUTION = (
    "Speech: transcripts, proposed codes and scores of a machine are a draft until a trained "
    "listener has heard the recording."
)
"""Shown with everything that a machine says about a person's speech."""


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> plural(1, "item"), plural(20, "item"), plural(0, "battery", "batteries")
    ('1 item', '20 items', '0 batteries')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def near(word: str, words: Iterable[str]) -> str:
    """Return the word that begins with ``word`` or is most like it, or nothing.

    >>> near("choise", ["choice", "free"]), near("x", ["choice"]), near("age", ["tag", "age_years"])
    ('choice', '', 'age_years')
    """
    from difflib import get_close_matches

    words = list(words)
    longer = [one for one in words if one.startswith(f"{word}_")]
    return next(iter([*longer, *get_close_matches(word, words, n=1)]), "")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for a misspelt word, or an empty string.

    >>> did_you_mean("ecko", ["echo", "replay"])
    "; did you mean 'echo'?"
    """
    meant = near(word, words)
    return f"; did you mean '{meant}'?" if meant else ""


def separated(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names in a text with commas, or in several such texts.

    >>> separated("a, b,"), separated(["a,b", "c"])
    (('a', 'b'), ('a', 'b', 'c'))
    """
    texts = (given,) if isinstance(given, str) else given
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())


def common_start(texts: Sequence[str]) -> int:
    """Return how many characters texts have in common at their beginning.

    >>> common_start(["temperature 1", "temperature 0.7"])
    12
    """
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def size_text(n_bytes: int) -> str:
    """Return bytes for people.

    >>> size_text(999), size_text(31_457_280)
    ('999 bytes', '31.5 MB')
    """
    return f"{n_bytes} bytes" if n_bytes < 100_000 else f"{n_bytes / 1e6:,.1f} MB"


def time_left(seconds: float) -> str:
    """Return what is left of the time, with two spaces before it; nothing below 2 s.

    >>> time_left(1), time_left(30), time_left(600), time_left(7200)
    ('', '  about 30 s left', '  about 10 min left', '  about 2.0 h left')
    """
    if seconds < 2:
        return ""
    if seconds < 90:
        return f"  about {seconds:.0f} s left"
    minutes = seconds / 60
    if minutes < 90:
        return f"  about {minutes:.0f} min left"
    return f"  about {minutes / 60:.1f} h left"


_CONTROL = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f"  # C0 without tab and newline; delete
    "\x80-\x9f"  # C1: one character that acts as an escape sequence
    "\u2028\u2029"  # line and paragraph separator
    "\u202a-\u202e\u2066-\u2069"  # bidirectional embedding, override and isolate
    "]"
)
"""Characters that move the cursor, start a control sequence or reorder the text around them."""


def visible(text: str) -> str:
    r"""Return the text with every control character written as its Python escape.

    Tabs and newlines stay. A reply of a server, a file name or a battery can hold terminal
    sequences: they could rename the window, write to the clipboard or hide what was printed.

    >>> visible("a\x1b]0;title\x07b"), visible("good\tline\n")
    ('a\\x1b]0;title\\x07b', 'good\tline\n')
    >>> visible("\u202egnp.exe")
    '\\u202egnp.exe'
    """
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def without_controls(text: str) -> str:
    r"""Return the text without its control characters, for cells whose width is already laid out.

    Control characters take no cell, so the width does not change. Newlines stay.

    >>> without_controls("a\x1b[31mb")
    'a[31mb'
    """
    return _CONTROL.sub("", text)


def json_escaped(document: str) -> str:
    r"""Return a JSON document with its remaining control characters as JSON escapes.

    ``json.dumps(ensure_ascii=False)`` escapes C0 only. The value of the document is the same.

    >>> json_escaped('"a\x9bb"')
    '"a\\u009bb"'
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


class VisibleStream(io.TextIOWrapper):
    """A text stream that shows control characters instead of obeying them.

    Everything that commands print passes here, so no message has to remember to do it. Our own
    control sequences (colours, progress that rewrites its line) go through :func:`unfiltered`.
    """

    def write(self, text: str) -> int:
        """Write the text, with control characters as escapes (see :func:`visible`)."""
        super().write(visible(text))
        return len(text)


class _Unfiltered(io.TextIOBase):
    """Writes to the stream below its filter."""

    def __init__(self, stream: VisibleStream) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return io.TextIOWrapper.write(self._stream, text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def unfiltered(stream: TextIO) -> TextIO:
    """Return the stream below the filter where there is one, else the stream itself."""
    return cast("TextIO", _Unfiltered(stream)) if isinstance(stream, VisibleStream) else stream


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
CSV_CELLS = (
    "A text that begins with =, +, -, @, a tab or a carriage return has an apostrophe before it: a "
    "spreadsheet shows it and does not run it. JSON Lines and Parquet have every text unchanged."
)
"""The sentence for the notes beside a CSV file."""


CSV_END = "\r\n"
"""The end of a line of CSV."""


class CsvLines:
    r"""Makes lines of CSV (RFC 4180), with texts that are not formulas.

    >>> CsvLines().line(["w1", "=1+1", -2.5, None, True])
    "w1,'=1+1,-2.5,,True"
    """

    def __init__(self) -> None:
        import csv  # every command imports this module, few write a table

        self._text = io.StringIO(newline="")
        # Cells with a character of the line's end are quoted: the writer must know it.
        self._writer = csv.writer(self._text, lineterminator=CSV_END)

    def line(self, cells: Iterable[object]) -> str:
        """Return cells as a line without its end; None is an empty cell."""
        self._text.seek(0)
        self._text.truncate()
        self._writer.writerow([_cell(value) for value in cells])
        return self._text.getvalue()[: -len(CSV_END)]


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    r"""Return a table as CSV (RFC 4180), with texts that are not formulas.

    >>> csv_text(["item", "answer", "score"], [["w1", "=1+1", -2.5], ["w2", None, "-2.5"]])
    "item,answer,score\r\nw1,'=1+1,-2.5\r\nw2,,-2.5\r\n"
    """
    lines = CsvLines()
    return "".join(lines.line(row) + CSV_END for row in (columns, *rows))


def as_written(cell: str) -> str:
    """Return the text that :func:`csv_text` made a cell of.

    >>> as_written("'=1+1"), as_written("'tis"), as_written("-2.5")
    ('=1+1', "'tis", '-2.5')
    """
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text

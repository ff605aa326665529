"""Sentences that tabwb shows in public, in one place; numbers with nouns, and near matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

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
    """Return the word that is most like ``word``, or nothing.

    >>> near("choise", ["choice", "free"]), near("x", ["choice"])
    ('choice', '')
    """
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(words), n=1)), "")


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

"""How the text of a sample is shown: one policy for people and models.

Marks of typesetting that depend on where a text was made are always made alike: kinds of quotes,
dashes, spaces and lines, markup, invisible characters. A set's :class:`Presentation` decides about
case, punctuation and length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tabwb.records.rating_sets import Presentation

CUT = "[cut]"
"""Stands after a text of which the end is missing, whoever or whatever ended it."""

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛`´′ʼ＇", "'"),
        **dict.fromkeys("“”„‟«»″＂", '"'),
        **dict.fromkeys("‐‑‒−", "-"),
        "…": "...",
        **dict.fromkeys("–—―", " - "),
    }
)
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0e-\x1f\x7f-\x9f]"
)
_MARKUP = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•·]\s+|\d{1,3}[.)]\s+|>\s+)", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|~~)(?=\S)(.+?)(?<=\S)\1")
_DASHES = re.compile(r"(?<=\s)-+(?=\s|$)|--+")
_KEPT = re.compile(r"\w+(?:['-]\w+)*['-]?")


def presented(text: str, policy: Presentation, *, cut: bool = False) -> str:
    r"""Return a text as every rater of a set sees it.

    Args:
        text: as it was said or written.
        policy: of the set.
        cut: whether a limit ended it before its end.

    Returns:
        One line. Without punctuation a word keeps apostrophes and hyphens within it and at its end
        (``ca-``), because a false start is recognised by them.

    >>> presented("**The** kite\n\nis — “flying”…", Presentation())
    'The kite is - "flying"...'
    >>> presented("I want a ca- cat.", Presentation("lower", "none"))
    'i want a ca- cat'
    >>> presented("one two three", Presentation(max_words=2))
    'one two [cut]'
    """
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).replace("\t", " ")
    plain = _EMPHASIS.sub(r"\2", _MARKUP.sub("", plain)).translate(_ALIKE)
    plain = _DASHES.sub(" - ", plain)
    if policy.case == "lower":
        plain = plain.lower()
    words = _KEPT.findall(plain) if policy.punctuation == "none" else plain.split()
    if policy.max_words is not None and len(words) > policy.max_words:
        words, cut = words[: policy.max_words], True
    if cut and policy.cut_mark:
        words.append(CUT)
    return " ".join(words)


SIGNS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "capital letters": (re.compile(r"[^\W\d_a-zß-öø-ÿ]"), "--case lower"),
    "punctuation": (re.compile(r"[.,;:!?\"()]"), "--punctuation none"),
    CUT: (re.compile(re.escape(CUT)), "--max-words N, which cuts all alike, or --no-cut-mark"),
}
"""What of a shown text may tell its source, and the option that takes it away."""


@dataclass(frozen=True, slots=True)
class Sign:
    """In how many texts of people and of models something occurs that may tell the source.

    Attributes:
        name: of the sign.
        people, models: number of their texts with it.
        of_people, of_models: number of their texts.
        remedy: options that remove it.
    """

    name: str
    people: int
    models: int
    of_people: int
    of_models: int
    remedy: str

    @property
    def difference(self) -> float:
        """The share of texts with it among models minus that among people, from -1 to 1."""
        return self.models / self.of_models - self.people / self.of_people

    @property
    def tells(self) -> bool:
        """Whether the shares differ by more than :data:`TELLING`."""
        return abs(self.difference) > TELLING


TELLING = 0.2
"""A difference of shares above which the planner is warned; the number is ours."""


def signs_of(texts: Iterable[tuple[str, bool]]) -> tuple[Sign, ...]:
    """Return the signs in shown texts; nothing where all texts have one kind of source.

    Args:
        texts: each as it is shown, and whether a model made it.

    >>> [one.name for one in signs_of([("i go", False), ("We left.", True)]) if one.tells]
    ['capital letters', 'punctuation']
    """
    by_source: dict[bool, list[str]] = {False: [], True: []}
    for text, by_model in texts:
        by_source[by_model].append(text)
    people, models = by_source[False], by_source[True]
    if not (people and models):
        return ()
    found = []
    for name, (pattern, remedy) in SIGNS.items():
        numbers = [
            sum(pattern.search(_without_mark(text, name)) is not None for text in given)
            for given in (people, models)
        ]
        found.append(Sign(name, numbers[0], numbers[1], len(people), len(models), remedy))
    return tuple(found)


def _without_mark(text: str, name: str) -> str:
    return text if name == CUT else text.removesuffix(CUT)

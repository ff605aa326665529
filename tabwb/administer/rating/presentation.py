"""How the text of a sample is shown: one policy for people and models.

Marks of typesetting that depend on where a text was made are always made alike: kinds of quotes,
dashes, spaces (also before a stop or a comma) and lines, markup, invisible characters. A set's
:class:`Presentation` decides about case, punctuation and length.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

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
    "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\x00-\x08\x0e-\x1f\x7f-\x9f]"
)
_MARKUP = re.compile(r"^\s*(?:(?:#{1,6}|[-*+•·]|\d{1,3}[.)]|>)\s+)+", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*_~])(\*{1,3}|_{2,3}|~~)(?=\S)([^\n]{1,200}?)(?<=\S)\1(?![\w*_~])")
_DASHES = re.compile(r"(?<=\s)-+(?=\s|$)|--+")
_APART = re.compile(r"(?<=\w)\s+(?=[.,;:!?](?:\s|$))")
_KEPT = re.compile(r"\w+(?:['-]\w+)*['-]?")


def presented(text: str, policy: Presentation, *, cut: bool = False) -> str:
    r"""Return a text as every rater of a set sees it.

    >>> presented("**The** kite\n\nis — “flying”…", Presentation())
    'The kite is - "flying"...'
    >>> presented("I see a kite .  It flies .", Presentation())
    'I see a kite. It flies.'
    >>> presented("I want a ca- cat.", Presentation("lower", "none"))
    'i want a ca- cat'
    >>> presented("one two three", Presentation(max_words=2))
    'one two [cut]'
    """
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).replace("\t", " ")
    plain = _EMPHASIS.sub(r"\2", _MARKUP.sub("", plain)).translate(_ALIKE)
    plain = _APART.sub("", _MARKUP.sub("", _DASHES.sub(" - ", plain)))
    if policy.case == "lower":
        plain = plain.lower()
    words = _KEPT.findall(plain) if policy.punctuation == "none" else plain.split()
    if policy.max_words is not None and len(words) > policy.max_words:
        words, cut = words[: policy.max_words], True
    if cut and policy.cut_mark:
        words.append(CUT)
    return " ".join(words)


LONGER = "more words than the median"
PROMPT = "a prompt that the others did not get"
_MARKS: Mapping[str, re.Pattern[str]] = {
    "capital letters": re.compile(r"[^\W\d_a-zß-öø-ÿ]"),
    "punctuation": re.compile(r"[.,;:!?\"()]"),
    CUT: re.compile(re.escape(CUT)),
}
"""What of a shown text may tell its source."""
REMEDIES: Mapping[str, str] = {
    "capital letters": "--case lower",
    "punctuation": "--punctuation none",
    CUT: "--max-words N, which cuts all alike, or --no-cut-mark",
    LONGER: "--max-words N",
    PROMPT: "a choice of items that both were given, or a form without 'prompt',",
}
"""What takes each of the signs away."""
TELLING = 0.2
"""A share, or a difference of shares, above which the planner is warned; the number is ours."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text and its prompt as raters see them, and whether a model made the text."""

    text: str
    prompt: str
    by_model: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """In how many texts of people and of models something occurs that may tell the source.

    Attributes:
        name: of the sign.
        people, models: number of their texts with it.
        of_people, of_models: number of their texts.
    """

    name: str
    people: int
    models: int
    of_people: int
    of_models: int

    @property
    def tells(self) -> bool:
        """Whether the sign tells the source of more than a few texts.

        That is where the shares of texts with it differ by more than :data:`TELLING`; a prompt of
        one source alone tells it in either.
        """
        people, models = self.people / self.of_people, self.models / self.of_models
        telling = max(people, models) if self.name == PROMPT else abs(models - people)
        return telling > TELLING


def signs_of(samples: Iterable[Shown]) -> tuple[Sign, ...]:
    """Return the signs in shown samples; nothing where all have one kind of source.

    >>> shown = [Shown("i go", "Hi", False), Shown("We left.", "Hi", True)]
    >>> [one.name for one in signs_of(shown) if one.tells]
    ['capital letters', 'punctuation']
    """
    by_source: dict[bool, list[Shown]] = {False: [], True: []}
    for sample in samples:
        by_source[sample.by_model].append(sample)
    people, models = by_source[False], by_source[True]
    if not (people and models):
        return ()
    median = statistics.median(len(one.text.split()) for one in (*people, *models))
    prompts = {source: {one.prompt for one in given} for source, given in by_source.items()}
    found: dict[str, Callable[[Shown], bool]] = {
        name: partial(_has, pattern, name) for name, pattern in _MARKS.items()
    }
    found[LONGER] = lambda one: len(one.text.split()) > median
    found[PROMPT] = lambda one: one.prompt not in prompts[not one.by_model]
    return tuple(
        Sign(name, sum(map(has, people)), sum(map(has, models)), len(people), len(models))
        for name, has in found.items()
    )


def _has(pattern: re.Pattern[str], name: str, sample: Shown) -> bool:
    text = sample.text if name == CUT else sample.text.removesuffix(CUT)
    return pattern.search(text) is not None

"""A small table of facts: things by category, and their properties."""

from __future__ import annotations

from dataclasses import dataclass

from training.bundled.tables import Table
from training.bundled.words import with_article

_TABLE = Table("knowledge")
_MASS = _TABLE.words("without article")
_PLURAL = {"stairs"}
_UNIQUE = {"sun": "the sun", "moon": "the moon", "sea": "the sea"}


@dataclass(frozen=True)
class Property:
    """A property of things that questions use.

    ``heads`` are nouns that may follow "which"; a phrase is a kind (``is``, ``pp``, ``do``)
    with its words.
    """

    heads: tuple[str, ...]
    phrases: tuple[tuple[str, str], ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]


def _read_categories() -> dict[str, tuple[str, ...]]:
    pairs = (line.split(":") for line in _TABLE.lines("categories"))
    return {name: tuple(words.split()) for name, words in pairs}


CATEGORIES = _read_categories()
THINGS = tuple(thing for members in CATEGORIES.values() for thing in members)


def _expand(text: str) -> tuple[str, ...]:
    out: list[str] = []
    for name in text.split():
        out.extend(CATEGORIES[name[1:]] if name.startswith("@") else (name,))
    return tuple(dict.fromkeys(out))


def _read_phrase(text: str) -> tuple[str, str]:
    kind, _, words = text.strip().partition(" ")
    return (kind, words)


def _read_properties() -> tuple[Property, ...]:
    out = []
    for heads, phrases, yes, maybe in _TABLE.rows("properties"):
        true, open_ = _expand(yes), _expand(maybe)
        out.append(
            Property(
                heads=tuple(heads.split()),
                phrases=tuple(_read_phrase(p) for p in phrases.split(";")),
                yes=true,
                no=tuple(t for t in THINGS if t not in true and t not in open_),
            )
        )
    return tuple(out)


PROPERTIES = _read_properties()


def noun_phrase(thing: str) -> str:
    """Give ``thing`` with its article, or without one if English uses none.

    >>> noun_phrase("axe"), noun_phrase("milk"), noun_phrase("sun")
    ('an axe', 'milk', 'the sun')
    """
    if thing in _UNIQUE:
        return _UNIQUE[thing]
    return thing if thing in _MASS or thing in _PLURAL else with_article(thing)


def is_plural(thing: str) -> bool:
    """Return whether the verb after ``thing`` is plural."""
    return thing in _PLURAL

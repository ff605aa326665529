"""Titles and tags that people give to administrations; each change is an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tabwb.records.errors import UsageError
from tabwb.records.trials import EventEntry, EventKind
from tabwb.records.words import did_you_mean

LONGEST_TAG = 64
LONGEST_TITLE = 200
MARKS: frozenset[EventKind] = frozenset({"titled", "tagged", "untagged"})
"""Kinds of events that change a title or tags."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What people call an administration.

    Attributes:
        title: free text, or empty.
        tags: in the order given.
    """

    title: str = ""
    tags: tuple[str, ...] = ()


def marks_of(events: Iterable[tuple[str, str]]) -> Marks:
    """Return the title and the tags after events, each its kind and its text, in order.

    >>> marks_of([("tagged", "pilot"), ("titled", "First"), ("tagged", "a"), ("untagged", "a")])
    Marks(title='First', tags=('pilot',))
    """
    title = ""
    tags: dict[str, None] = {}
    for kind, text in events:
        if kind == "titled":
            title = text
        elif kind == "tagged":
            tags[text] = None
        elif kind == "untagged":
            tags.pop(text, None)
    return Marks(title, tuple(tags))


def check_tag(tag: str) -> str:
    """Return a tag without spaces around it."""
    text = tag.strip()
    if (
        not text
        or len(text) > LONGEST_TAG
        or not text.isprintable()
        or any(sign.isspace() or sign == "," for sign in text)
    ):
        raise UsageError(
            f"'{tag}' cannot be a tag",
            allowed=f"1 to {LONGEST_TAG} letters, digits and signs without spaces and commas, "
            "for example pilot",
        )
    return text


def check_title(title: str) -> str:
    """Return a title without spaces around it; an empty one removes the title."""
    text = title.strip()
    if len(text) > LONGEST_TITLE or not text.isprintable():
        raise UsageError(
            f"'{title[:40]}' cannot be a title", allowed=f"one line of up to {LONGEST_TITLE} signs"
        )
    return text


def changes(
    marks: Marks,
    *,
    title: str | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
) -> tuple[EventEntry, ...]:
    """Return the events that change a title and tags; nothing for what is so already.

    >>> [event.kind for event in changes(Marks(tags=("a",)), title="T", add=["a", "b"])]
    ['titled', 'tagged']
    """
    made: list[EventEntry] = []
    if title is not None and check_title(title) != marks.title:
        made.append(EventEntry("titled", None, check_title(title)))
    there = dict.fromkeys(marks.tags)
    for tag in map(check_tag, add):
        if tag not in there:
            made.append(EventEntry("tagged", None, tag))
            there[tag] = None
    for tag in map(check_tag, remove):
        if tag not in there:
            raise UsageError(
                f"there is no tag '{tag}'" + did_you_mean(tag, marks.tags),
                allowed=", ".join(marks.tags) or "it has no tags",
            )
        made.append(EventEntry("untagged", None, tag))
        del there[tag]
    return tuple(made)

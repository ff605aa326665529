"""Items of naming subtests, read from a battery's plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabwb.battery.model import Battery, Item
from tabwb.scoring.naming.target import Accepted
from tabwb.tasks.spoken_naming.rules import NamingItem, cues_in


def naming_item(item: Item) -> NamingItem:
    """Return the picture of an item that is answered aloud, and the pronunciations accepted."""
    from tabwb.phonology.inventory import parse_pronunciation

    given: Mapping[str, Any] = item.extra
    return NamingItem(
        id=item.id,
        picture=item.picture,
        prompt=item.prompt,
        target=given.get("target", ""),
        accept=tuple(
            Accepted(parse_pronunciation(form["phonemes"]), form["reason"], form.get("word", ""))
            for form in given.get("accept", ())
        ),
        cues=cues_in(given),
        practice=item.practice,
        **{
            key: tuple(word.casefold() for word in given.get(key, ()))
            for key in ("semantic", "visual", "parts", "unrelated")
        },
    )


def listed_words(battery: Battery) -> frozenset[str]:
    """Return every word that the naming items of a battery name, lower case."""
    return frozenset(
        word
        for subtest in battery.subtests
        if subtest.task.coded
        for item in subtest.items
        for word in naming_item(item).listed
    )

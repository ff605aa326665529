"""Items of naming subtests, and the pronunciations that the CMU dictionary has for their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabwb.battery.model import Battery, Item
from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.inventory import parse_pronunciation
from tabwb.records.languages import is_english
from tabwb.scoring.naming.target import Accepted
from tabwb.scoring.text import fold_case
from tabwb.tasks.spoken_naming.rules import NamingItem, cues_in


def naming_item(item: Item) -> NamingItem:
    """Return the picture of an item that is answered aloud, and the pronunciations accepted."""
    given: Mapping[str, Any] = item.extra
    return NamingItem(
        id=item.id,
        picture=item.picture,
        prompt=item.prompt,
        target=given.get("target", ""),
        accept=tuple(map(_accepted, given.get("accept", ()))),
        cues=cues_in(given),
        practice=item.practice,
        **{
            key: tuple(fold_case(word) for word in given.get(key, ()))
            for key in ("semantic", "visual", "parts", "unrelated")
        },
    )


def _accepted(form: Mapping[str, Any]) -> Accepted:
    text = form["phonemes"]
    written = "" if text.isascii() else text.strip().strip("/[]")
    phonemes = parse_pronunciation(text, beyond="keep")
    return Accepted(phonemes, form["reason"], form.get("word", ""), written)


def listed_words(battery: Battery) -> frozenset[str]:
    """Return every word that the naming items of a battery name, lower case."""
    return frozenset(
        word
        for subtest in battery.subtests
        if subtest.task.coded
        for item in subtest.items
        for word in naming_item(item).listed
    )


def listed_forms(battery: Battery) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the sounds of words that the naming items of a battery name, with the words.

    Of the names of items those that are accepted; of an English word of a list that no dictionary
    has the one that follows from its letters.
    """
    items = [
        naming_item(item)
        for subtest in battery.subtests
        if subtest.task.coded
        for item in subtest.items
    ]
    forms = {
        (fold_case(form.word or item.target), form.phonemes)
        for item in items
        for form in item.accept
    }
    named = {word for word, _ in forms}
    for word in listed_words(battery) - named if is_english(battery.language) else ():
        if not load_dictionary().pronunciations(word) and (guess := guessed_sound(word)):
            forms.add((word, guess))
    return tuple(sorted(forms))

"""Items of naming subtests, and the pronunciations that the CMU dictionary has for their words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabwb.battery.model import Battery, Item
from tabwb.phonology.dictionary import Pronunciation, guessed_sound, load_dictionary
from tabwb.phonology.inventory import parse_pronunciation, to_ipa
from tabwb.records.languages import is_english
from tabwb.scoring.naming.target import Accepted
from tabwb.scoring.text import fold_case
from tabwb.tasks.spoken_naming.rules import NamingItem, cues_in

_MOST = 8


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


@dataclass(frozen=True, slots=True)
class Form:
    """One way to say a word, or several words.

    Attributes:
        phonemes: ARPAbet without stress.
        arpabet: with the stress of the dictionary; empty for a form that is derived.
        reason: ``citation`` for the first, ``variant``, or ``flap``.
        homophones: other words with this sound; none for several words.
    """

    phonemes: tuple[str, ...]
    arpabet: str
    reason: str
    homophones: tuple[str, ...] = ()

    @property
    def ipa(self) -> str:
        """In IPA."""
        return to_ipa(self.phonemes)


def forms_of(words: str) -> tuple[Form, ...]:
    """Return every pronunciation of words separated by blanks or hyphens; none if unknown.

    The dictionary's first is the citation form; a form with the flap of American English follows
    each that allows it. Dialects are added by the author.

    >>> [(" ".join(form.phonemes), form.reason) for form in forms_of("water")]
    [('W AO T ER', 'citation'), ('W AO DX ER', 'flap')]
    >>> forms_of("blorf")
    ()
    """
    parts = [part for part in re.split(r"[\s-]+", words.strip()) if part]
    dictionary = load_dictionary()
    choices = [dictionary.pronunciations(part) for part in parts]
    forms: dict[tuple[str, ...], Form] = {}
    for way in itertools.islice(itertools.product(*choices), _MOST) if parts else ():
        joined = Pronunciation(
            tuple(itertools.chain.from_iterable(pronunciation.phonemes for pronunciation in way)),
            "".join(pronunciation.stress for pronunciation in way),
        )
        ways = [(joined.phonemes, joined.arpabet, "variant" if forms else "citation")]
        if joined.flapped is not None:
            ways.append((joined.flapped, "", "flap"))
        for phonemes, arpabet, why in ways:
            if phonemes not in forms:
                others = dictionary.homophones(phonemes)
                same = tuple(word for word in others if word != words.strip().lower())
                forms[phonemes] = Form(phonemes, arpabet, why, same)
    return tuple(forms.values())


def accept_toml(forms: Sequence[Form]) -> str:
    """Return the forms as the key ``accept`` of a battery.

    >>> print(accept_toml(forms_of("dog")))
    accept = [{ phonemes = "D AO G", reason = "citation" }]
    """
    tables = [
        f'{{ phonemes = "{" ".join(form.phonemes)}", reason = "{form.reason}" }}' for form in forms
    ]
    if len(tables) == 1:
        return f"accept = [{tables[0]}]"
    return "\n".join(["accept = [", *(f"  {table}," for table in tables), "]"])

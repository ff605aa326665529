"""Finds administrations by words: in the explorer, the dialog *Open* and the palette."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from time import perf_counter
from typing import NamedTuple

from tabwb.records.conditions import Conditions
from tabwb.records.trials import Administration
from tabwb.workbench.shell.administration_words import name_of, special_conditions, state_word

SLICE_S = 0.01
"""Seconds of work between two turns of the event loop."""


class Searched(NamedTuple):
    """The texts of an administration in which words are looked for, in lower case."""

    number: str
    names: str
    date: str


def searched(administration: Administration) -> Searched:
    """Return the texts in which words are looked for.

    What tells its conditions from the defaults is worked out once for all administrations that
    differ in examinee, seed and lesion only: a store may hold 10,000.
    """
    given = administration.conditions
    names = [
        name_of(administration),
        state_word(administration),
        administration.status_word,
        administration.title,
    ]
    names += [*administration.tags, f"seed {given.seed}", *_special(_without_names(given))]
    return Searched(
        str(administration.id), " ".join(names).lower(), administration.given_at.lower()
    )


def _without_names(given: Conditions) -> Conditions:
    decoding = replace(given.decoding, seed=1)
    return replace(given, examinee="", lesion=None, seed=1, decoding=decoding, session_date=None)


@cache
def _special(given: Conditions) -> list[str]:
    return special_conditions(given)


class Finder:
    """Finds administrations; keeps their texts, so that each key typed is answered at once."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Administration, Searched]] = {}

    def text(self, administration: Administration) -> Searched:
        """Return the texts of an administration, computed when it is new or has changed."""
        kept = self._texts.get(administration.id)
        if kept is not None and (kept[0] is administration or kept[0] == administration):
            return kept[1]
        made = searched(administration)
        self._texts[administration.id] = administration, made
        return made

    async def warm(self, administrations: Sequence[Administration]) -> None:
        """Compute the texts of all, the latest first, without holding up what is drawn."""
        began = perf_counter()
        for administration in reversed(administrations):
            self.text(administration)
            if perf_counter() - began > SLICE_S:
                await asyncio.sleep(0)
                began = perf_counter()

    def ranked(self, administrations: Sequence[Administration], words: str) -> list[Administration]:
        """Return those with every word: by number first, then name, then date, then the latest."""
        wanted = words.lower().split()
        if not wanted:
            return list(reversed(administrations))
        found = []
        for administration in reversed(administrations):
            text = self.text(administration)
            ranks = [rank for word in wanted if (rank := _rank(text, word)) is not None]
            if len(ranks) == len(wanted):
                found.append((ranks, administration))
        return [administration for _, administration in sorted(found, key=itemgetter(0))]


def _rank(text: Searched, word: str) -> int | None:
    """Return 0 for the number, 1 for its beginning, 2 for name or status, 3 for the date."""
    number = word.removeprefix("#")
    if number == text.number:
        return 0
    if number and text.number.startswith(number):
        return 1
    if word in text.names:
        return 2
    return 3 if word in text.date else None

"""How a prompt is put together, and noise in prompts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Message


def render_prompt(subtest: Subtest, item: Item, options: Sequence[str] | None = None) -> str:
    """Return the user message for one item."""
    shown = item.options if options is None else options
    template = subtest.template
    if subtest.instructions is None:
        template = template.replace("{instructions}\n", "").replace("{instructions}", "").lstrip()
    # One pass over the template, so that braces inside a prompt are never read as fields.
    fields = {
        "{instructions}": subtest.instructions.text if subtest.instructions else "",
        "{prompt}": item.prompt,
        "{options}": ", ".join(shown),
    }
    return re.sub("|".join(map(re.escape, fields)), lambda name: fields[name[0]], template)


NO_MESSAGE = "none"
"""As a system message: none is sent."""


def opening_messages(battery: Battery, given: str | None = None) -> tuple[Message, ...]:
    """Return the messages before the first prompt: the system message, if there is one.

    ``given`` takes the place of the battery's; :data:`NO_MESSAGE`: there is none.
    """
    text = given or (battery.system.text if battery.system is not None else NO_MESSAGE)
    return () if text == NO_MESSAGE else (Message("system", text),)


NOISE_VERSION: Final = "tabwb-prompt-noise-1"
"""Names the derivation of the draws; another one gets another name."""
FORM = "UNIT:OPERATION[:AMOUNT][@seed=N]"
EXAMPLE = "words:drop:0.2@seed=3"
BLANK = "___"
"""Stands for a masked word."""
SEED: Final = 1
LARGEST_SEED = 2**63 - 1
_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_SEED = re.compile(r"seed=(\d{1,19})")
_INSIDE = "'’-"
"""Belong to a word between two of its letters."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to the units that are taken.

    Attributes:
        meaning: for people, without a final stop.
        draws: whether it draws random numbers besides the choice of units.
        work: returns the text; gets its segments, which of them are taken, and the draws.
    """

    meaning: str
    draws: bool
    work: Callable[[list[str], Sequence[int], Draws], None]


@dataclass(frozen=True, slots=True)
class Draws:
    """Random bits of one text: BLAKE2b (RFC 7693) of version, purpose, seed, name and number."""

    seed: int
    name: str

    def bits(self, purpose: str, number: int) -> int:
        """Return 32 random bits, the same whatever else is drawn."""
        text = "\0".join((NOISE_VERSION, purpose, str(self.seed), self.name, str(number)))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


@dataclass(frozen=True, slots=True)
class PromptNoise:
    """A perturbation of prompts.

    Attributes:
        unit: ``characters`` or ``words``: what the amount counts.
        operation: one of those of the unit.
        amount: the probability with which each unit is taken, above 0 to 1.
        seed: of all draws.
    """

    unit: str
    operation: str
    amount: float = 1.0
    seed: int = SEED

    @property
    def draws(self) -> bool:
        """Whether the seed makes a difference."""
        return self.amount < 1.0 or NOISE_OPERATIONS[self.unit][self.operation].draws

    def kind(self) -> str:
        """Return the spec with ``*`` for the amount and without the seed."""
        return f"{self.unit}:{self.operation}:*"

    def without_seed(self) -> str:
        """Return the spec without the seed."""
        amount = "1" if self.amount == 1.0 else repr(self.amount)
        return f"{self.unit}:{self.operation}:{amount}"

    def __str__(self) -> str:
        return self.without_seed() + (f"@seed={self.seed}" if self.draws else "")


def parse_noise(text: str) -> PromptNoise:
    """Return the prompt noise of a spec.

    >>> str(parse_noise("words:drop:.20@seed=3")), str(parse_noise("words:lower@seed=3"))
    ('words:drop:0.2@seed=3', 'words:lower:1')
    """
    head, at, tail = text.strip().partition("@")
    unit, *rest = head.split(":")
    if unit not in NOISE_OPERATIONS:
        raise _wrong(text, f"has the unit '{unit}'", ", ".join(NOISE_OPERATIONS))
    if not 1 <= len(rest) <= 2:
        raise _wrong(text, "is not complete", f"{FORM}, for example {EXAMPLE}")
    if rest[0] not in NOISE_OPERATIONS[unit]:
        known = ", ".join(f"{unit}:{name}" for name in NOISE_OPERATIONS[unit])
        raise _wrong(text, f"has the operation '{rest[0]}'", known)
    amount = 1.0
    if len(rest) == 2:
        amount = float(rest[1]) if _NUMBER.fullmatch(rest[1]) else -1.0
        if not 0.0 < amount <= 1.0:
            raise _wrong(text, f"has the amount '{rest[1]}'", "above 0 to 1: the share of units")
    seed = _SEED.fullmatch(tail)
    if at and (seed is None or int(seed[1]) > LARGEST_SEED):
        raise _wrong(text, f"has '{tail}' after @", f"seed=N, from 0 to {LARGEST_SEED}")
    noise = PromptNoise(unit, rest[0], amount, int(seed[1]) if seed else SEED)
    # Nothing is drawn: specs that differ in the seed alone are the same noise.
    return noise if noise.draws else PromptNoise(unit, rest[0], amount)


def _wrong(text: str, what: str, allowed: str) -> UsageError:
    return UsageError(f"the prompt noise '{text}' {what}", allowed=allowed)


def perturbed(noise: PromptNoise, text: str, name: str) -> str:
    """Return a text under prompt noise.

    Each unit is taken with the probability of the amount, by itself: where its bits are below
    ``amount * 2**32``. So with one seed 30 % takes what 10 % takes, and more.

    >>> question = "Which animal barks, a cat or a dog?"
    >>> for spec in ("words:drop:0.3", "words:mask:0.3", "characters:swap:0.5"):
    ...     print(perturbed(parse_noise(spec), question, "naming/n1"))
    Which animal barks, a cat or dog?
    Which animal barks, a cat or ___ dog?
    Which animla bakrs, a cta or a dog?
    """
    operation = NOISE_OPERATIONS[noise.unit][noise.operation]
    draws = Draws(noise.seed, name)
    segments, units = _units(noise, text, draws)
    limit = round(noise.amount * 2**32)
    taken = [unit for number, unit in enumerate(units) if draws.bits("units", number) < limit]
    operation.work(segments, taken, draws)
    return "".join(segments)


# ---------------------------------------------------------------- the units


def _units(noise: PromptNoise, text: str, draws: Draws) -> tuple[list[str], list[int]]:
    """Return a text in segments, and the places of those that are units.

    Of ``characters:swap`` a unit is a pair of neighbouring letters of a word, named by its first.
    """
    if noise.unit == "words":
        return _split(text, list(_words(text)))
    letters = [span for first, last in _words(text) for span in _letters(text, first, last)]
    segments, units = _split(text, letters)
    if noise.operation == "swap":
        units = list(_pairs(units, draws))
    return segments, units


def _split(text: str, spans: Sequence[tuple[int, int]]) -> tuple[list[str], list[int]]:
    segments, units, end = [], [], 0
    for first, last in spans:
        if first > end:
            segments.append(text[end:first])
        units.append(len(segments))
        segments.append(text[first:last])
        end = last
    segments.append(text[end:])
    return segments, units


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where words begin and end: letters, marks and digits, with ``'`` and ``-`` inside."""
    own = [unicodedata.category(character)[0] in "LMN" for character in text]
    first = None
    for place, character in enumerate(text):
        inside = own[place] or (
            first is not None and character in _INSIDE and own[place + 1 : place + 2] == [True]
        )
        if inside and first is None:
            first = place
        elif not inside and first is not None:
            yield first, place
            first = None
    if first is not None:
        yield first, len(text)


def _letters(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield where the letters of a word begin and end, each with the marks that follow it."""
    place = first
    while place < last:
        end = place + 1
        while end < last and unicodedata.category(text[end])[0] == "M":
            end += 1
        if unicodedata.category(text[place])[0] == "L":
            yield place, end
        place = end


def _pairs(letters: Sequence[int], draws: Draws) -> Iterator[int]:
    """Yield the first letter of each pair: letters in a row, two by two, from the first or second.

    Which of both begins is drawn for each word, and does not depend on the amount.
    """
    runs: list[list[int]] = []
    for letter in letters:
        if runs and runs[-1][-1] == letter - 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    for number, run in enumerate(runs):
        begin = draws.bits("values", number) % 2 if len(run) > 2 else 0
        yield from (first for first, _ in list(pairwise(run))[begin::2])


# ---------------------------------------------------------------- what is done to them


def _drop(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place] = ""


def _drop_words(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place] = ""
        if any(segments[:place]):  # the space before a word goes with it
            segments[place - 1] = segments[place - 1].rstrip(" ")
        else:
            segments[place + 1] = segments[place + 1].lstrip(" ")


def _mask(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place] = BLANK


def _shuffle(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    order = sorted(taken, key=lambda place: (draws.bits("values", place), place))
    words = [segments[place] for place in order]
    for place, word in zip(taken, words, strict=True):
        segments[place] = word


def _lower(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place] = segments[place].lower()


def _upper(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place] = segments[place].upper()


def _replace(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    text = "".join(segments)
    alphabet = sorted({one for one in text.lower() if unicodedata.category(one)[0] == "L"})
    for place in taken:
        letter, marks = segments[place][0], segments[place][1:]
        others = [one for one in alphabet if one != letter.lower()]
        if others:
            other = others[draws.bits("values", place) * len(others) >> 32]
            segments[place] = (other.upper() if letter.isupper() else other) + marks


def _swap(segments: list[str], taken: Sequence[int], draws: Draws) -> None:
    for place in taken:
        segments[place : place + 2] = segments[place + 1], segments[place]


NOISE_OPERATIONS: Mapping[str, Mapping[str, Operation]] = MappingProxyType(
    {
        "characters": MappingProxyType(
            {
                "drop": Operation("letters are left out", False, _drop),
                "replace": Operation("letters become other letters of the text", True, _replace),
                "swap": Operation("neighbouring letters of a word change places", True, _swap),
            }
        ),
        "words": MappingProxyType(
            {
                "drop": Operation("words are left out", False, _drop_words),
                "mask": Operation(f"words become {BLANK}", False, _mask),
                "shuffle": Operation("words are put in a random order", True, _shuffle),
                "lower": Operation("words are written in small letters", False, _lower),
                "upper": Operation("words are written in capital letters", False, _upper),
            }
        ),
    }
)
"""Unit to the operations on it."""

"""Which item of a battery an answer from elsewhere belongs to; a battery made of bare texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from tabwb.battery.loader import NamedFiles, battery_from_canonical, canonical_json
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.prompts import render_prompt
from tabwb.plugin_api.components import AnswerFile
from tabwb.records.answers import RecordedAnswer
from tabwb.records.classes import dataclass, replace
from tabwb.records.words import near, plural
from tabwb.scoring.text import fold_case

How = Literal["id", "id alone", "prompt", "prompt within the text"]
"""How an item was found. ``id alone``: the text that was sent is not the item's."""
SHORTEST = 10
"""A prompt with fewer characters is not looked for within a longer text."""


@dataclass(frozen=True, slots=True)
class Match:
    """An answer with its item."""

    answer: RecordedAnswer
    subtest: Subtest
    item: Item
    how: How


@dataclass(frozen=True, slots=True)
class Unmatched:
    """An answer to no item of the battery.

    Attributes:
        column: the field that names no item.
        message: what is wrong with it.
        value: of the field.
        allowed: what it may be.
        suggestion: a near match, or empty.
    """

    answer: RecordedAnswer
    column: str
    message: str
    value: str
    allowed: str = ""
    suggestion: str = ""


class ItemIndex:
    """The items of a battery by id and prompt."""

    def __init__(self, battery: Battery) -> None:
        self._battery = battery
        self._places = [(subtest, item) for subtest in battery.subtests for item in subtest.items]
        self._by_key = {(subtest.id, item.id): (subtest, item) for subtest, item in self._places}
        self._by_item: dict[str, list[tuple[Subtest, Item]]] = {}
        self._by_prompt: dict[str, list[tuple[Subtest, Item]]] = {}
        for subtest, item in self._places:
            self._by_item.setdefault(item.id, []).append((subtest, item))
            if not item.prompt:
                continue
            for text in {_folded(item.prompt), _folded(render_prompt(subtest, item))}:
                self._by_prompt.setdefault(text, []).append((subtest, item))
        self._within: dict[str, list[tuple[Subtest, Item]]] = {}

    def match(self, answer: RecordedAnswer) -> Match | Unmatched:
        """Return the answer with its item.

        An id counts before a prompt. An id without a subtest is checked against the text that was
        sent: where that is another item's, the text counts.
        """
        if answer.subtest and answer.item:
            return self._keyed(answer, answer.subtest, answer.item)
        if answer.item:
            by_id = self._named(answer)
            if isinstance(by_id, Match):
                return self._checked(by_id)
            by_text = self._of_text(answer)
            return by_text if isinstance(by_text, Match) else by_id
        if answer.prompt or answer.question:
            return self._of_text(answer)
        return Unmatched(answer, "item", "this is empty", "", "an id of an item")

    def _keyed(self, answer: RecordedAnswer, subtest: str, item: str) -> Match | Unmatched:
        found = self._by_key.get((subtest, item))
        if found is not None:
            return Match(answer, *found, "id")
        subtests = [known.id for known in self._battery.subtests]
        if subtest not in subtests:
            return Unmatched(
                answer,
                "subtest",
                f"'{self._battery.id}' has no such subtest",
                _shortened(subtest),
                ", ".join(subtests),
                near(_shortened(subtest), subtests),
            )
        items = [known.id for known in self._battery.subtest(subtest).items]
        return self._no_item(answer, item, items, f"'{subtest}' has no such item")

    def _named(self, answer: RecordedAnswer) -> Match | Unmatched:
        for sign in "/.":
            subtest, _, item = answer.item.partition(sign)
            if (subtest, item) in self._by_key:
                return Match(answer, *self._by_key[subtest, item], "id")
        found = self._by_item.get(answer.item, [])
        if len(found) == 1:
            return Match(answer, *found[0], "id")
        if found:
            keys = ", ".join(f"{subtest.id}/{item.id}" for subtest, item in found)
            return Unmatched(
                answer, "item", "several subtests have an item of this id", found[0][1].id, keys
            )
        return self._no_item(
            answer, answer.item, list(self._by_item), f"'{self._battery.id}' has no such item"
        )

    def _no_item(
        self, answer: RecordedAnswer, item: str, items: Sequence[str], message: str
    ) -> Unmatched:
        allowed = ", ".join(items[:12]) + (", …" if len(items) > 12 else "")
        shown = _shortened(item)
        return Unmatched(answer, "item", message, shown, allowed, near(shown, items))

    def _checked(self, match: Match) -> Match:
        """Return a match by id, or by the text where that is another item's."""
        answer = match.answer
        if not answer.prompt and not answer.question:
            return match
        by_text = self._of_text(answer)
        if isinstance(by_text, Unmatched):
            is_own = _folded(match.item.prompt) in _folded(answer.prompt) and match.item.prompt
            return match if is_own else Match(answer, match.subtest, match.item, "id alone")
        return match if by_text.item is match.item else by_text

    def _of_text(self, answer: RecordedAnswer) -> Match | Unmatched:
        texts = [text for text in (answer.question, answer.prompt) if text]
        for text in texts:
            found = self._by_prompt.get(_folded(text), [])
            if len(found) == 1:
                return Match(answer, *found[0], "prompt")
        found = []
        for text in texts:
            found = self._inside(text)
            if len(found) == 1:
                return Match(answer, *found[0], "prompt within the text")
        shown = _shortened(texts[-1] if texts else "")
        if found:
            keys = ", ".join(f"{subtest.id}/{item.id}" for subtest, item in found[:6])
            return Unmatched(
                answer, "prompt", f"the prompts of several items are in it ({keys})", shown
            )
        return Unmatched(
            answer,
            "prompt",
            f"no item of '{self._battery.id}' has this prompt",
            shown,
            "the prompt of an item, whole or within a longer text",
        )

    def _inside(self, text: str) -> list[tuple[Subtest, Item]]:
        """Return the items whose prompts are in a text; not those that are parts of another."""
        folded = _folded(text)
        if folded not in self._within:
            inside: dict[str, list[tuple[Subtest, Item]]] = {}
            for subtest, item in self._places:
                prompt = _folded(item.prompt)
                if len(prompt) >= SHORTEST and _contains(folded, prompt):
                    inside.setdefault(prompt, []).append((subtest, item))
            self._within[folded] = [
                place
                for prompt, places in inside.items()
                if not any(prompt != other and prompt in other for other in inside)
                for place in places
            ]
        return self._within[folded]


def options_shown(match: Match) -> tuple[str, ...]:
    """Return the options of an item in the order in which they were shown.

    The source says it, or the text that was sent has them behind the item's prompt; otherwise it is
    the battery's order.
    """
    options, answer = match.item.options, match.answer
    if len(answer.options) == len(options) and sorted(answer.options) == sorted(options):
        return answer.options
    text, prompt = _folded(answer.prompt), _folded(match.item.prompt)
    if len(options) < 2 or not prompt or prompt not in text:
        return options
    behind = text.partition(prompt)[2]
    places = [_place(behind, _folded(option)) for option in options]
    if min(places) < 0 or len(set(places)) < len(places):
        return options
    return tuple(option for _, option in sorted(zip(places, options, strict=True)))


def _place(text: str, word: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return -1 if found is None else found.start()


def _shortened(text: str, most: int = 60) -> str:
    shown = " ".join(text[: 4 * most].split())
    return shown if len(shown) <= most and len(text) <= 4 * most else shown[: most - 1] + "…"


def _folded(text: str) -> str:
    return " ".join(fold_case(text).split())


def _contains(text: str, part: str) -> bool:
    return part in text and _place(text, part) >= 0


SUBTEST = "texts"
MADE = "texts-"
"""Begins the id of a battery that is made of texts."""
NO_PROMPT = "(The prompt is not known.)"
LONGEST_ID = 40


def with_battery(source: AnswerFile, features_of: Battery) -> tuple[AnswerFile, Battery]:
    """Return texts with the items they answer, and the battery that has these items.

    There is one item for each distinct prompt, and one for all texts whose prompt is not known.
    Equal prompts in equal languages make the same battery, so that texts from several files can
    be compared.
    """
    ids = _ids({_prompt(answer) for answer in source.answers})
    answers = tuple(
        replace(answer, subtest=SUBTEST, item=ids[_prompt(answer)], replicate=None)
        for answer in source.answers
    )
    return replace(source, answers=answers), _battery(source, ids, features_of)


def _prompt(answer: RecordedAnswer) -> str:
    return " ".join(answer.prompt.split()) or NO_PROMPT


def _ids(prompts: Iterable[str]) -> dict[str, str]:
    """Return prompt to id: its first words, and a number where another begins in the same way.

    >>> _ids(["The flood", "the flood!", "猫"])
    {'The flood': 'the-flood', 'the flood!': 'the-flood-2', '猫': 'text'}
    """
    ids: dict[str, str] = {}
    used: set[str] = set()
    for prompt in sorted(prompts):
        words = "-".join(re.findall(r"[a-z0-9]+", prompt.lower()))
        stem = "no-prompt" if prompt == NO_PROMPT else words[:LONGEST_ID].strip("-") or "text"
        number, name = 1, stem
        while name in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name)
        ids[prompt] = name
    return ids


def _battery(source: AnswerFile, ids: dict[str, str], features_of: Battery) -> Battery:
    spoken = {"metadata": {"spoken": True}} if source.spoken else {}
    rated = json.loads(features_of.canonical)
    kept = ("feature", "grouping")
    head = {
        "title": f"Texts on {plural(len(ids), 'prompt')}",
        "version": "1",
        "language": source.language,
        "license": "that of the texts",
        "notes": "Made for texts that were imported. Features and groupings: "
        f"{features_of.id} {features_of.version}.",
        **{
            name: rated["battery"][name]
            for name in ("definition_source", "judge_source")
            if name in rated["battery"]
        },
    }
    subtest = {
        "id": SUBTEST,
        "title": "Texts",
        "response": "connected-text",
        "template": "{prompt}",
        "scorers": ["lexical"],
        "item": [{"id": name, "prompt": prompt, **spoken} for prompt, name in ids.items()],
    }
    tables = {"battery": head, "subtest": [subtest], **{k: rated[k] for k in kept if k in rated}}
    digest = hashlib.sha256(canonical_json(tables, NamedFiles()).encode()).hexdigest()
    head["id"] = f"{MADE}{digest[:8]}"
    return battery_from_canonical(canonical_json(tables, NamedFiles()), "made for imported texts")

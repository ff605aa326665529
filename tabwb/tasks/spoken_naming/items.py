"""Items of naming subtests: as the rules take them, and as ``tabwb battery show`` prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.phonology.dictionary import guessed_sound, load_dictionary
from tabwb.phonology.inventory import mapped_letters, parse_pronunciation
from tabwb.records.languages import is_english
from tabwb.scoring.naming.target import Accepted, Tolerance
from tabwb.scoring.text import fold_case
from tabwb.tasks.spoken_naming.task import (
    RULE_KEYS,
    Cue,
    Discontinue,
    NamingItem,
    NamingRules,
    cues_in,
)


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


def item_lines(item: Item) -> list[str]:
    """Return what an item asks, accepts and lists."""
    lines: list[str] = []
    named = naming_item(item)
    if named.prompt:
        lines.append(f"asked: {named.prompt}")
    for form in named.accept:
        word = f" ({form.word})" if form.word else ""
        arpabet = " ".join(form.phonemes)
        told = ", ".join(mapped_letters(form.written))
        read = f"; read as {told}" if told else ""
        lines.append(f"accepted{word}: {arpabet}  /{form.ipa}/  {form.reason}{read}")
    neighbours = {key: getattr(named, key) for key in ("semantic", "visual", "parts", "unrelated")}
    lines += [f"{key}: {', '.join(words)}" for key, words in neighbours.items() if words]
    return lines + [f"cue {_cue(cue)}" for cue in named.cues]


def rule_lines(subtest: Subtest) -> list[str]:
    """Return the rules of a naming subtest, each with its source."""
    rules: NamingRules = subtest.rules
    lines = ["rules (docs/naming-rules.md):"]
    for key in RULE_KEYS:
        mark = f" [{rules.sources.get(key, 'ours')}]"
        if key == "cues":
            lines += [f"  cue {_cue(cue)}{mark}" for cue in rules.cues]
        else:
            lines.append(f"  {key}: {_value(key, getattr(rules, key))}{mark}")
    return lines


def _cue(cue: Cue) -> str:
    counts = "counts" if cue.counts else "does not count"
    when = f"; when {cue.when}" if cue.when else ""
    return f"{cue.kind} ({counts}): {cue.text}{when}"


def _value(key: str, value: Any) -> str:
    match key:
        case "time_limit":
            return "none" if value is None else f"{value:g} s"
        case "late_counts":
            return "a late answer counts" if value else "a late answer does not count"
        case "tolerance":
            return _tolerance(value)
        case "number":
            return "'cats' is right for 'cat'" if value == "ignored" else "'cats' is another ending"
        case "discontinue":
            return _discontinue(value)
        case "start_item":
            return value or "the first"
        case "basal":
            return f"{value} right in a row" if value else "none"
    return str(value)


def _tolerance(value: Tolerance | None) -> str:
    if value is None:
        return "none: an accepted form, exactly"
    reason = f" ({value.reason})" if value.reason else ""
    if value.slips is not None:
        return f"{value.slips} phoneme{'s' * (value.slips > 1)} wrong at most{reason}"
    return f"{value.share:.0%} of the phonemes at least{reason}"


def _discontinue(value: Discontinue | None) -> str:
    if value is None:
        return "never"
    cued = "counted as errors" if value.counts_cued else "not errors"
    return (
        f"after {value.after} errors in a row; right only after a cue that does not count: {cued}"
    )

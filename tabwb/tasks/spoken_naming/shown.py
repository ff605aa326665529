"""What ``tabwb battery show`` prints of a naming subtest: its rules, and what an item accepts."""

from __future__ import annotations

from typing import Any

from tabwb.battery.model import Item, Subtest
from tabwb.phonology.inventory import mapped_letters
from tabwb.scoring.naming.target import Tolerance
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.rules import RULE_KEYS, Cue, Discontinue, NamingRules


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

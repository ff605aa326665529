"""What ``tabwb battery show`` says of a naming subtest: rules with their sources, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabwb.battery.naming import naming_item
from tabwb.phonology.inventory import to_ipa
from tabwb.tasks.spoken_naming.rules import RULE_KEYS

if TYPE_CHECKING:
    from tabwb.battery.model import Battery, Item, Subtest
    from tabwb.scoring.naming.target import Tolerance
    from tabwb.tasks.spoken_naming.rules import Cue, Discontinue


def rule_lines(subtest: Subtest) -> list[str]:
    """Return one line for each rule, marked as ours or with its source."""
    rules = subtest.naming
    if rules is None:
        return []
    lines = ["rules (docs/naming-rules.md):"]
    for key in RULE_KEYS:
        mark = f" [{rules.sources.get(key, 'ours')}]"
        if key == "cues":
            lines += [f"  cue {_cue(cue)}{mark}" for cue in rules.cues]
        else:
            lines.append(f"  {key}: {_value(key, getattr(rules, key))}{mark}")
    return lines


def picture_line(found: Battery, picture: str) -> str:
    """Return the name of a picture of the battery and the beginning of its digest."""
    return f"picture {picture}, sha256 {found.assets.get(picture, '')[:16]}"


def item_lines(found: Battery, item: Item) -> list[str]:
    """Return the lines of an item: its picture, accepted forms, neighbours and own cues.

    Args:
        found: the battery, which has the digest of the picture.
        item: of a naming subtest.
    """
    named = naming_item(item)
    lines = [picture_line(found, named.picture)]
    if named.prompt:
        lines.append(f"asked: {named.prompt}")
    for form in named.accept:
        word = f" ({form.word})" if form.word else ""
        said = " ".join(form.phonemes)
        lines.append(f"accepted{word}: {said}  /{to_ipa(form.phonemes)}/  {form.reason}")
    for key in ("semantic", "visual", "parts", "unrelated"):
        words = getattr(named, key)
        if words:
            lines.append(f"{key}: {', '.join(words)}")
    return lines + [f"cue {_cue(cue)}" for cue in named.cues]


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

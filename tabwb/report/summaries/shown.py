"""What groups are called where they are shown: figures, tables and pages have the same names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tabwb.records.condition_table import compared
from tabwb.report.summaries.grouping import Group, phrase_in_name
from tabwb.report.summaries.groups import Grouped

Rename = Callable[[str, Grouped], str]
"""Returns how a text that names a group is printed."""
MOST_NAMED = 3
"""Labels that the sentence of :func:`shared_note` names before it counts the others."""


def _unchanged(text: str, row: Grouped) -> str:
    return text


def as_shown(rows: Sequence[Grouped]) -> tuple[Grouped, ...]:
    """Return groups whose names keep the conditions in which those *among them* differ.

    Groups of one first key and battery state the same conditions. What all of them share is left
    out of their names, and :func:`shared_note` says it once.
    """
    alike: dict[object, list[dict[str, str]]] = {}
    for row in rows:
        alike.setdefault(_kin(row.group), []).append(dict(row.group.apart))
    differing = {
        kin: {
            name for one in several for name in one
            if len({other.get(name) for other in several}) > 1
        }
        for kin, several in alike.items()
    }  # fmt: skip
    return tuple(_keeping(row, differing[_kin(row.group)]) for row in rows)


def names_of(rows: Sequence[Grouped]) -> list[str]:
    """Return a name for each group, no two alike: with its battery, or a number, where needed."""
    labels = [row.label for row in as_shown(rows)]
    batteries = [f"{row.battery.id} {row.battery.version}" for row in rows]
    named = [
        label if labels.count(label) == 1 else f"{label} ({battery})"
        for label, battery in zip(labels, batteries, strict=True)
    ]
    return [
        name if named.count(name) == 1 else f"{name} ({named[: at + 1].count(name)})"
        for at, name in enumerate(named)
    ]


def shared_note(rows: Sequence[Grouped], rename: Rename = _unchanged) -> list[str]:
    """Return the conditions that names leave out because all of their rows share them, each
    once.
    """
    left_out: dict[tuple[str, str], dict[str, None]] = {}
    for row in as_shown(rows):
        for fact in row.group.shared:
            label = rename(row.group.short or row.group.label, row)
            left_out.setdefault(fact, {})[label] = None
    said: dict[tuple[str, ...], list[str]] = {}
    for (name, value), labels in left_out.items():
        whose = () if _all_have(rows, name, value) else tuple(labels)
        said.setdefault(whose, []).append(phrase_in_name(name, value))
    return [f"{_listed(whose)}: {', '.join(phrases)}." for whose, phrases in said.items()]


def _kin(group: Group) -> tuple[object, ...]:
    first = group.values[0].name if group.values else group.label
    return first, group.battery.content_hash, group.has_model


def _keeping(row: Grouped, names: set[str]) -> Grouped:
    group = row.group
    left_out = tuple(fact for fact in group.apart if fact[0] not in names)
    if not left_out:
        return row
    kept = tuple(fact for fact in group.apart if fact[0] in names)
    return replace(row, group=replace(group, apart=kept, shared=(*group.shared, *left_out)))


def _all_have(rows: Sequence[Grouped], name: str, value: str) -> bool:
    return all(
        compared(member.administration.conditions).get(name) == value
        for row in rows
        for member in row.group.members
    )


def _listed(labels: Sequence[str]) -> str:
    if not labels:
        return "All groups"
    if len(labels) <= MOST_NAMED:
        return ", ".join(labels)
    return f"{', '.join(labels[:MOST_NAMED])} and {len(labels) - MOST_NAMED} more"

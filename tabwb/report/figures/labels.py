"""What groups are called in a figure: their names, without the conditions that all share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.records.condition_table import compared, phrase_of

if TYPE_CHECKING:
    from tabwb.report.summaries.grouping import Group
    from tabwb.report.summaries.groups import Grouped

_HASH = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")
MOST_NAMED = 3
"""Labels that the sentence of :func:`shared_note` names before it counts the others."""


def names_of(groups: Sequence[Grouped]) -> list[str]:
    """Return a name for each group, no two alike.

    It is the group's label with the conditions in which the groups of this label differ *among
    those shown*, and with its battery where needed.

    Args:
        groups: all that are shown.
    """
    differing = _differing(groups)
    labels = [_named(group.group, differing[_label(group.group)]) for group in groups]
    batteries = [f"{group.battery.id} {group.battery.version}" for group in groups]
    named = [
        label if labels.count(label) == 1 else f"{label} ({battery})"
        for label, battery in zip(labels, batteries, strict=True)
    ]
    return [
        name if named.count(name) == 1 else f"{name} ({named[: at + 1].count(name)})"
        for at, name in enumerate(named)
    ]


def shared_note(groups: Sequence[Grouped]) -> list[str]:
    """Return the conditions that :func:`names_of` leaves out of names, each once.

    Args:
        groups: all that are shown.
    """
    differing = _differing(groups)
    left_out: dict[tuple[str, str], dict[str, None]] = {}
    for group in groups:
        label = _label(group.group)
        for name, value in group.group.apart:
            if name not in differing[label]:
                left_out.setdefault((name, value), {})[label] = None
    said: dict[tuple[str, ...], list[str]] = {}
    for (name, value), labels in left_out.items():
        whose = () if _all_have(groups, name, value) else tuple(labels)
        said.setdefault(whose, []).append(_short(phrase_of(name, value)))
    return [f"{_listed(whose)}: {', '.join(phrases)}." for whose, phrases in said.items()]


def _differing(groups: Sequence[Grouped]) -> dict[str, set[str]]:
    """Return the conditions in which groups of one label differ, by label."""
    alike: dict[str, list[dict[str, str]]] = {}
    for group in groups:
        alike.setdefault(_label(group.group), []).append(dict(group.group.apart))
    return {
        label: {
            name for one in several for name in one
            if len({other.get(name) for other in several}) > 1
        }
        for label, several in alike.items()
    }  # fmt: skip


def _label(group: Group) -> str:
    return group.short or group.label


def _named(group: Group, differing: set[str]) -> str:
    said = [_short(phrase_of(name, value)) for name, value in group.apart if name in differing]
    return f"{_label(group)} ({', '.join(said)})" if said else _label(group)


def _short(phrase: str) -> str:
    """Return a phrase with the first eight digits of a hash alone.

    >>> _short("weights_sha256 " + "0123abcd" * 8)
    'weights_sha256 0123abcd…'
    """
    return _HASH.sub(r"\1…", phrase)


def _all_have(groups: Sequence[Grouped], name: str, value: str) -> bool:
    return all(
        compared(member.administration.conditions).get(name) == value
        for group in groups
        for member in group.group.members
    )


def _listed(labels: Sequence[str]) -> str:
    if not labels:
        return "All groups"
    if len(labels) <= MOST_NAMED:
        return ", ".join(labels)
    return f"{', '.join(labels[:MOST_NAMED])} and {len(labels) - MOST_NAMED} more"

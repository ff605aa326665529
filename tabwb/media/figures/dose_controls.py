"""Controls of lesions in figures: each at the amount of the lesion whose size it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.records.errors import UsageError
from tabwb.report.summaries.dose_lines import dose_lines
from tabwb.report.summaries.doses import Dose, dose_of
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.load import AdministrationData

Placed = list[tuple[Dose, Grouped, AdministrationData]]
"""Administrations, each with its dose and the group in which it was chosen."""


def with_doses(groups: Sequence[Grouped], by: str, key: str) -> tuple[Placed, int]:
    """Return administrations with their doses, and how many lesions lack the option ``key``."""
    found: Placed = []
    failed: list[UsageError] = []
    for group in groups:
        for member in group.group.members:
            try:
                found.append((dose_of(member.administration.conditions, by, key), group, member))
            except UsageError as error:
                if not key:
                    raise
                failed.append(error)
    if failed and all(dose.amount is None for dose, _, _ in found):
        raise failed[0]
    return found, len(failed)


def with_controls(placed: Placed) -> Placed:
    """Return the administrations with each control under the amount of a lesion of its size.

    A control of several lesions is drawn beside each; one without a lesion is a separate series.
    """
    try:
        found, _ = dose_lines(member for _, _, member in placed)
    except UsageError:  # there are no two amounts, which is told later
        return placed
    by_number = {one[2].administration.id: one for one in placed}
    beside: Placed = []
    matched: set[int] = set()
    for series in found:
        for role, lines in series.controls.items():
            placed_at = ((at, group) for line in lines.values() for at, group in line.items())
            for amount, pooled in placed_at:
                for one in pooled.group.members:
                    dose, group, member = by_number[one.administration.id]
                    kind = f"{role} of {series.kind}"
                    beside.append((replace(dose, kind=kind, amount=amount), group, member))
                    matched.add(one.administration.id)
    return [*(one for one in placed if one[2].administration.id not in matched), *beside]

"""What a key of groups and filters is; :mod:`tabwb.report.keys` declares the keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.battery.model import Item, Subtest

Value = str | int | float
"""Of a key; where there is none it is None."""
KeyKind = Literal["text", "number", "date"]
Level = Literal["administration", "response"]
Whom = Literal["all", "model", "speaker"]
Sort = Literal["burden", "name", "keys", "N", "accuracy"]
"""Orders of groups."""


class Key(NamedTuple):
    """The declaration of one key.

    Attributes:
        id: what people write after ``--by`` and ``--where``, in kebab-case.
        title: of its column.
        meaning: one line for people.
        values: of an administration: none, one, or several (then it belongs to several groups).
            A key of responses has none here.
        kind: of the values.
        level: what has the value.
        whom: to whom it applies; everybody else is a separate group.
        absent: the name of the group without a value; empty: everybody without one is a
            separate group.
        label: the name of a group, from a value and the examinee's name; None: the value, of
            numbers with the title.
        also: further texts by which ``--where`` finds the value.
        place: of a key of responses: the values of an item, or None where it is the replicate's.
        pooled: what :func:`~tabwb.records.condition_table.compared` must leave out so that
            responses are pooled over the key: ids of conditions, or empty.
        several: whether one administration or item may have several values.
        read: what a person typed as a value; None: as it is.
    """

    id: str
    title: str
    meaning: str
    values: Callable[[AdministrationData], tuple[Value, ...]] = lambda data: ()
    kind: KeyKind = "text"
    level: Level = "administration"
    whom: Whom = "all"
    absent: str = ""
    label: Callable[[AdministrationData, Value, str], str] | None = None
    also: Callable[[AdministrationData], tuple[str, ...]] = lambda data: ()
    place: Callable[[Subtest, Item], tuple[Value, ...]] | None = None
    pooled: tuple[str, ...] = ()
    several: bool = False
    read: Callable[[str], Value] | None = None

    def applies_to(self, data: AdministrationData) -> bool:
        """Return whether the key applies to the examinee of an administration."""
        return self.whom in ("all", data.administration.conditions.kind)

    def group_name(self, data: AdministrationData, value: Value | None, who: str) -> str:
        """Return the name of the group that an administration belongs to."""
        if not self.applies_to(data):
            return who
        if value is None:
            return self.absent or f"{who}, {self.title} unknown"
        if self.label is not None:
            return self.label(data, value, who)
        return f"{self.title} {written(value)}" if self.kind == "number" else written(value)


def written(value: Value) -> str:
    """Return a value as people write it.

    >>> written(0.70), written(7), written("generate")
    ('0.7', '7', 'generate')
    """
    return f"{value:.15g}" if isinstance(value, float) else str(value)

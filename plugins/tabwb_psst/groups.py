"""Groups of responses, by what is recorded of participants as in ``results --by``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Final, NamedTuple

from tabwb.plugin_api import UsageError
from tabwb.records.columns import Column as TableColumn
from tabwb.records.speakers import NOT_RECORDED, Study
from tabwb.records.words import did_you_mean, separated
from tabwb_psst.stored import Response

Stratum = tuple[str, ...]
"""The group of each key."""
LONG: Final = "participant-"
"""May stand before the name of a column, as in other commands."""


class Key(NamedTuple):
    """What groups responses: the groups of each (several only of several choices), in order."""

    id: str
    groups: Callable[[Response], tuple[str, ...]]
    order: tuple[str, ...] = ()

    def column(self, meaning: str) -> TableColumn:
        """Return the column of a table."""
        title = self.id.replace("_", " ")
        return TableColumn(self.id, title[:1].upper() + title[1:], meaning)

    def place(self, group: str) -> tuple[bool, int, float, str]:
        """Return what sorts groups: as declared, numbers, texts, *not recorded* last."""
        try:
            number = float(group)
        except ValueError:
            number = float("inf")
        known = self.order.index(group) if group in self.order else len(self.order)
        return group == NOT_RECORDED, known, number, group


OF_RESPONSES: Final = (
    Key("test", lambda response: (response.utterance.test or NOT_RECORDED,)),
    Key("prompt", lambda response: (response.utterance.prompt,)),
)


def keys_of(text: str, study: Study) -> tuple[Key, ...]:
    """Return the keys that a text names with commas between.

    >>> [key.id for key in keys_of("test, aq, participant-site", Study())]
    ['test', 'AQ', 'site']
    """
    known = {_plain(key.id): key for key in (*_of_records(study), *OF_RESPONSES)}
    found = []
    for name in dict.fromkeys(map(_plain, separated(text))):
        key = known.get(name) or known.get(name.removeprefix(LONG))
        if key is None:
            raise UsageError(f"'{name}' is not a key" + did_you_mean(name, known), where="by",
                             allowed=", ".join(one.id for one in known.values()))  # fmt: skip
        found.append(key)
    return tuple(dict.fromkeys(found))


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _of_records(study: Study) -> list[Key]:
    def key(name: str) -> Key:
        column = study.column(name)

        def groups(response: Response) -> tuple[str, ...]:
            values = column.parts(response.values.get(name))
            found = (column.group(value) for value in values)
            texts = (one if isinstance(one, str) else f"{one:.15g}" for one in found)
            return tuple(texts) or (NOT_RECORDED,)

        return Key(name, groups, column.order)

    return [key(column.name) for column in study.columns]


def strata_of(response: Response, keys: Sequence[Key]) -> tuple[Stratum, ...]:
    """Return the strata that a response is in."""
    return tuple(product(*(key.groups(response) for key in keys)))


def stratum_of(response: Response, keys: Sequence[Key]) -> Stratum:
    """Return the one stratum of a response: several choices together are one."""
    return tuple(", ".join(key.groups(response)) for key in keys)


def order_of(keys: Sequence[Key]) -> Callable[[Stratum], list[tuple[bool, int, float, str]]]:
    """Return what sorts strata."""
    return lambda stratum: [key.place(one) for key, one in zip(keys, stratum, strict=True)]

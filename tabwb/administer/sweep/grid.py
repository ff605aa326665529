"""The grid of a sweep: a TOML file that says which lesions and which other conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tabwb.administer.sweep.lesion_rows import (
    LESION_KEYS,
    Rows,
    combined,
    control_of,
    lesion_rows,
)
from tabwb.administer.sweep.other_rows import OTHERS, Checkpoint, Other, Resolve, other_rows
from tabwb.administer.sweep.point import Point, Role
from tabwb.administer.sweep.sweep import Model
from tabwb.host.settings import Table, toml_of
from tabwb.lesion.declared import CONTROL, Part
from tabwb.lesion.spec import control_role, lesion_text
from tabwb.lesion.taken import planned
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.trials import check_tag

MOST = 1_000_000
"""A grid with more conditions is refused."""
TOO_LARGE = 20_000_000
"""A longer file (bytes) is refused."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid as it was read.

    Attributes:
        name: of the sweep; its administrations get it as a tag.
        rows: its tables of lesions.
        others: its tables of other conditions.
    """

    name: str
    rows: tuple[Rows, ...]
    others: tuple[Other, ...] = ()

    def needed(self, model: Model) -> Sequence[Part]:
        """Return the parts of a model; without lesions none where they are not known."""
        return model.parts() if self.rows else model.known_parts()

    def points(
        self, parts: Sequence[Part], conditions: Conditions, resolve: Resolve = lambda given: given
    ) -> tuple[Point, ...]:
        """Return the conditions, each once: first the model as it is, models one after another."""
        found: dict[Conditions, Point] = {}

        def add(point: Point) -> None:
            found.setdefault(point.conditions, point)
            if len(found) > MOST:  # of "each" the number of layers is known only now
                raise UsageError(f"the grid has more than {MOST:,} conditions", hint="name fewer")

        add(Point("intact", conditions))
        lesions = []
        for role, lesion, matched in self._lesions(parts, conditions.examinee):
            lesions.append((role, lesion, matched))
            add(Point(role, replace(conditions, lesion=lesion), matched))
        family: dict[str, Mapping[str, str]] = {}
        for row in self.others:
            for setting in row.settings(conditions, resolve):
                if isinstance(row, Checkpoint):
                    row.add_to(family, setting.conditions)
                add(Point("perturbation", setting.conditions, setting=setting.words))
                for role, lesion, matched in lesions if setting.lesions else ():
                    lesioned = replace(setting.conditions, lesion=lesion)
                    add(Point(role, lesioned, matched, setting.words))
        return tuple(found.values())

    def _lesions(self, parts: Sequence[Part], model: str) -> Iterator[tuple[Role, str, str]]:
        """Yield role and spec of each lesion and control, and whose size a control has."""
        for rows in self.rows:
            for lesions, seed in combined(rows, parts):
                planned(lesions, parts, model)  # an error where the model lacks something
                text = lesion_text(lesions)
                yield "lesion", text, ""
                for kind in rows.controls:
                    control = control_of(lesions, seed, parts, model, kind)
                    yield control_role(control), control, text


def read_grid(path: Path) -> Grid:
    """Return the grid of a file."""
    raw = read_regular(path, TOO_LARGE)
    if raw is None:
        raise UsageError("cannot be read: there is no such file", where=str(path))
    return grid_of(toml_of(raw, path), path)


def grid_of(content: Mapping[str, Any], path: Path = Path("grid")) -> Grid:
    """Return a grid from its content.

    >>> row = {"targets": ["mlp"], "amounts": [0.1, 0.2]}
    >>> grid_of({"format": 1, "lesions": [row]}).rows[0].amounts
    (0.1, 0.2)
    """
    table = Table(path, content)
    table.refuse_unknown(("format", "name", "lesions", *OTHERS))
    if content.get("format") != 1:
        raise table.error("format", f"{content.get('format')!r} is not known", allowed="1")
    rows = tuple(
        lesion_rows(table.inner(f"lesions[{place}]", one, LESION_KEYS))
        for place, one in enumerate(table.get("lesions", list, []))
    )
    others = other_rows(table)
    if not rows and not others:
        kinds = ", ".join(f"[[{name}]]" for name in ("lesions", *OTHERS))
        raise table.error("lesions", "there are none", allowed=f"one or more tables {kinds}")
    if (count := sum(one.count for one in rows)) > MOST:
        raise table.error("lesions", f"there are {count:,}", allowed=f"at most {MOST:,}")
    if not rows and any(one.lesions for one in others):
        raise table.error("lesions", "there are none, and a table has lesions = true")
    return Grid(_name(table), rows, others)


def _name(table: Table) -> str:
    """Return the name of the sweep, which becomes a tag."""
    name = table.get("name", str, table.path.stem)
    if name == CONTROL:
        raise table.error("name", f"'{CONTROL}' is the tag of controls", allowed="another name")
    try:
        return check_tag(name)
    except UsageError as error:
        message = error.message
        if "name" not in table.content:
            message += " (without a name the file's is used)"
        raise table.error("name", message, allowed=error.allowed) from error

"""The grid of a sweep: a TOML file of lesions and other conditions; its text, and its sweep."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.administer.session import setup
from tabwb.administer.sweep.lesion_rows import (
    LESION_KEYS,
    Rows,
    combined,
    control_of,
    lesion_rows,
)
from tabwb.administer.sweep.other_rows import OTHERS, Checkpoint, Other, Resolve, other_rows
from tabwb.administer.sweep.point import Point, Role
from tabwb.administer.sweep.sweep import Model, Sweep
from tabwb.host.settings import Table, toml_of
from tabwb.lesion.declared import CONTROL, NUMBERS, TARGETS, UNIT_KEYS, Part
from tabwb.lesion.spec import Lesion, control_role, lesion_text, numbers_text
from tabwb.lesion.taken import planned
from tabwb.plugin_api.components import ModelJudge
from tabwb.records.classes import dataclass, replace
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.trials import check_tag

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.lesion.declared import Part
    from tabwb.records.conditions import Conditions


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
        stated = content.get("format")
        wrong = "is missing: format = 1" if stated is None else f"{stated!r} is not known"
        raise table.error("format", wrong, allowed="1")
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


OWN = "own"
"""The layers of the lesion itself."""
_TEXTS = ("operation", "select", "file", "sha256")


def grid_text(
    lesions: Sequence[Lesion],
    name: str,
    amounts: Sequence[float],
    seeds: Sequence[int],
    layers: str,
    *,
    controls: bool | str,
) -> str:
    """Return a grid as TOML: a lesion at several amounts, with several seeds.

    >>> from tabwb.lesion.spec import parse_lesions
    >>> lesions = parse_lesions("mlp.down:zero:0.3@layers=0-2,seed=7")
    >>> print(grid_text(lesions, "down", (0.1, 0.2), (1, 2), "own", controls=True))
    format = 1
    name = "down"
    <BLANKLINE>
    [[lesions]]
    targets = ["mlp.down"]
    operation = "zero"
    amounts = [0.1, 0.2]
    layers = ["0-2"]
    seeds = [1, 2]
    controls = true
    <BLANKLINE>
    """
    first = lesions[0]
    kinds = {TARGETS[one.target].unit for one in lesions}
    if any(replace(one, target=first.target) != first for one in lesions) or (
        first.units and len(kinds) > 1
    ):
        raise UsageError(
            f"the lesions of '{lesion_text(lesions)}' differ in more than their target",
            hint="give them one operation, choice and layers; or write the grid by hand",
        )
    own = numbers_text(first.layers) or "all"
    values: dict[str, object] = {
        "targets": ["+".join(one.target for one in lesions)],
        **{key: value for key in _TEXTS if (value := getattr(first, key)) not in ("", "random")},
        **{key: value for key in NUMBERS if (value := getattr(first, key)) is not None},
        "amounts": list(amounts),
        "layers": [own if layers == OWN else layers],
        **({UNIT_KEYS[kinds.pop()]: [numbers_text(first.units)]} if first.units else {}),
        "seeds": list(seeds),
        "controls": controls,
    }
    # JSON writes texts, numbers and lists of them as TOML does.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    head = f"format = 1\nname = {json.dumps(name, ensure_ascii=False)}\n\n[[lesions]]\n"
    return head + "\n".join(lines) + "\n"


def sweep_of(
    plugins: Plugins, battery: Battery, conditions: Conditions, grid: Grid, parts: Sequence[Part]
) -> Sweep:
    """Return the sweep of a grid."""
    points = grid.points(parts, conditions, partial(setup.resolve, plugins, battery))
    return Sweep(plugins, battery, conditions, grid.name, points, parts)


def resolved(plugins: Plugins, battery: Battery, asked: Conditions) -> Conditions:
    """Return the conditions of every administration of a sweep, specs resolved."""
    if asked.lesion is not None:
        raise UsageError("the grid defines the lesions", where="--lesion", hint="leave it out")
    conditions = setup.resolve(plugins, battery, asked)
    for judge in conditions.judges:
        if isinstance(plugins.judge(judge), ModelJudge):
            raise UsageError(
                f"the judge '{judge}' asks a model, which a sweep does not",
                where="--judge",
                hint="judge the responses when the sweep is done: tabwb judge run",
            )
    return conditions


def parse_shard(text: str) -> tuple[int, int]:
    """Return which share of the conditions is given, and of how many.

    >>> parse_shard("2/8")
    (2, 8)
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    first, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= first <= count:
        raise UsageError(
            f"'{text}' is not a share",
            where="--shard",
            allowed="I/N, for example 2/8: I from 1 to N",
        )
    return first, count

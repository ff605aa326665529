"""The grid of a sweep: a TOML file that says which lesions, layers, amounts and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from tabwb.administer.sweep.point import Point
from tabwb.lesion.declared import CONTROL, CONTROLS_OF, TARGETS
from tabwb.lesion.file_option import shown
from tabwb.lesion.part import Part
from tabwb.lesion.plan import planned
from tabwb.lesion.spec import Lesion, lesion_text, made, parse_numbers
from tabwb.lesion.unit_list import pinned
from tabwb.plugin_api.config.table import Table, toml_of
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.marks import check_tag

_KEYS = ("format", "name", "lesions")
_LESION_KEYS = (
    *("targets", "operation", "amounts", "layers", "seeds", "select", "file", "sha256"),
    *("factor", "sigma", "controls"),
)
_SAME = ("select", "file", "sha256", "factor", "sigma")
"""Keys whose value all lesions of a table have."""
CONTROLS = "projections"
"""The target over which controls spread their weights."""
IN_PLACE = {selection: control for control, selection in CONTROLS_OF.items()}
"""A selection of units to that of its control."""
MOST = 1_000_000
"""A grid with more conditions is refused."""
TOO_LARGE = 20_000_000
"""A longer file (bytes) is refused."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """One table ``[[lesions]]`` of a grid."""

    targets: tuple[str, ...]
    values: dict[str, Any]
    amounts: tuple[float, ...]
    layers: tuple[str, ...]
    seeds: tuple[int, ...]
    controls: bool
    where: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid as it was read.

    Attributes:
        name: of the sweep; its administrations get it as a tag.
        rows: its tables.
    """

    name: str
    rows: tuple[_Rows, ...]

    def points(self, parts: Sequence[Part], conditions: Conditions) -> tuple[Point, ...]:
        """Return the conditions, each once: the intact model, then lesions, each with its control.

        Args:
            parts: of the model.
            conditions: of the whole sweep, resolved.

        Raises:
            UsageError: the model lacks what the grid names.
        """
        model = conditions.examinee
        found = {"": Point("intact", conditions)}
        for rows in self.rows:
            for lesions, seed in _combined(rows, parts):
                planned(lesions, parts, model)  # an error where the model lacks something
                text = lesion_text(lesions)
                found.setdefault(text, Point("lesion", replace(conditions, lesion=text)))
                if len(found) > MOST:  # of "each" the number of layers is known only now
                    raise UsageError(
                        f"there are more than {MOST:,} lesions", where=rows.where, hint="name fewer"
                    )
                if rows.controls:
                    control = control_of(lesions, seed, parts, model)
                    lesioned = replace(conditions, lesion=control)
                    found.setdefault(control, Point("control", lesioned, text))
        return tuple(found.values())


def read_grid(path: Path) -> Grid:
    """Return the grid of a file.

    Args:
        path: a TOML file; docs/lesions.md has an example.

    Raises:
        UsageError: it cannot be read, or a value is not allowed; the message names file and key.
    """
    raw = read_regular(path, TOO_LARGE)
    if raw is None:
        raise UsageError("cannot be read: there is no such file", where=str(path))
    return grid_of(toml_of(raw, path), path)


def grid_of(content: Mapping[str, Any], path: Path = Path("grid")) -> Grid:
    """Return a grid from its content.

    Args:
        content: what a TOML file of a grid holds.
        path: of that file: for errors, and its name is the default name of the sweep.

    Raises:
        UsageError: a value is not allowed; the message names file and key.

    >>> row = {"targets": ["mlp"], "amounts": [0.1, 0.2]}
    >>> grid_of({"format": 1, "lesions": [row]}).rows[0].amounts
    (0.1, 0.2)
    """
    table = Table(path, content)
    table.refuse_unknown(_KEYS)
    if content.get("format") != 1:
        raise table.error("format", f"{content.get('format')!r} is not known", allowed="1")
    lesions = table.get("lesions", list)
    if not lesions:
        raise table.error("lesions", "there are none", allowed="one or more tables [[lesions]]")
    rows = tuple(
        _rows(table.inner(f"lesions[{place}]", one, _LESION_KEYS))
        for place, one in enumerate(lesions)
    )
    count = sum(
        len(one.targets) * len(one.amounts) * len(one.layers) * len(one.seeds) for one in rows
    )
    if count > MOST:
        raise table.error("lesions", f"there are {count:,}", allowed=f"at most {MOST:,}")
    return Grid(_name(table), rows)


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


def _rows(table: Table) -> _Rows:
    targets = _listed(table, "targets", str)
    rows = _Rows(
        targets,
        {key: table.content[key] for key in _SAME if key in table.content},
        _listed(table, "amounts", (int, float), [1.0]),
        _listed(table, "layers", str, ["all"]),
        _listed(table, "seeds", int, [1]),
        table.get("controls", bool, False),
        f"{table.path}: {table.key}",
    )
    rows.values["operation"] = table.get("operation", str, "zero")
    if file := table.get("file", str):
        rows.values["file"] = str(table.path.parent / Path(file).expanduser())
    for layers in rows.layers:
        if layers not in ("all", "each"):
            parse_numbers(layers, "layers", rows.where)
    first = (rows.targets[0], rows.amounts[0], rows.seeds[0])
    # A value is allowed or not whatever the others are; their products may be millions.
    for target in rows.targets:
        _joined(rows, target, first[1], (), first[2])
    for amount in rows.amounts:
        _joined(rows, first[0], amount, (), first[2])
    for seed in rows.seeds:
        _joined(rows, *first[:2], (), seed)
    return rows


def _listed(table: Table, key: str, kind: Any, default: list[Any] | None = None) -> tuple[Any, ...]:
    values = table.get(key, list, default)
    if not values:
        raise table.error(key, "there are none", allowed="a list with one value or more")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kind):
            allowed = {str: "texts", int: "whole numbers"}.get(kind, "numbers")
            raise table.error(key, f"{value!r} is not allowed", allowed=f"a list of {allowed}")
    return tuple(dict.fromkeys(values))


def _joined(
    rows: _Rows, target: str, amount: float, layers: Sequence[int], seed: int
) -> tuple[Lesion, ...]:
    """Return the lesions of a target, which may be several joined by a plus sign."""
    more: dict[str, object] = {"amount": amount, "seed": seed, **rows.values}
    if layers:
        more["layers"] = list(layers)
    return pinned(made({"target": one, **more}, rows.where) for one in target.split("+"))


def _combined(rows: _Rows, parts: Sequence[Part]) -> Iterator[tuple[tuple[Lesion, ...], int]]:
    """Yield the lesions of each condition, and the seed of its control."""
    count = max((part.layer for part in parts if part.layer is not None), default=0) + 1
    layers: list[tuple[int, ...]] = []
    for text in rows.layers:
        if text == "each":
            layers += [(number,) for number in range(count)]
        else:
            layers.append(() if text == "all" else parse_numbers(text, "layers", rows.where))
    # The seed varies fastest: after each amount of a series there is something to look at.
    for target, own, amount, seed in product(rows.targets, layers, rows.amounts, rows.seeds):
        yield _joined(rows, target, amount, own, seed), seed


def control_of(lesions: Sequence[Lesion], seed: int, parts: Sequence[Part], model: str) -> str:
    """Return the spec of the control of lesions: the same operation on as many parameters.

    Of units that a list or the localizer selects, as many random units in the same layers. Of other
    lesions as many weights, anywhere: they are drawn from all projections of attention and
    feed-forward networks, each with the probability that makes their expected number that of the
    lesions. So controls of all seeds have one amount; the numbers differ by chance alone.

    Args:
        lesions: applied together, with one operation, selection and seed.
        seed: of the random units; of weights that of the lesions is taken.
        parts: of the model.
        model: its name, for errors.

    Raises:
        UsageError: no control has as many parameters.
    """
    first = lesions[0]
    if first.select in IN_PLACE:
        return lesion_text(
            [replace(one, select=IN_PLACE[one.select], seed=seed) for one in lesions]
        )
    everywhere = sum(part.parameters for part in parts if part.target in TARGETS[CONTROLS].of)
    taken = sum(one.expected for one in planned(lesions, parts, model))
    if taken > everywhere:
        raise UsageError(
            f"the lesion '{shown(lesion_text(lesions))}' takes more parameters than the "
            f"projections of {model} have, so that no control has as many",
            hint="leave out controls = true for it",
        )
    # Six digits: differences below one weight in a million do not matter, and specs stay short.
    amount = float(f"{taken / everywhere:.6g}")
    control = replace(first, target=CONTROLS, layers=(), units=(), select="random", amount=amount)
    return str(control)

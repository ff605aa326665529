"""The tables ``[[lesions]]`` of a grid, and the controls of lesions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tabwb.host.settings import Table
from tabwb.lesion.declared import (
    CONTROLS,
    CONTROLS_OF,
    NUMBERS,
    OPERATIONS,
    SPREAD_OVER,
    TARGETS,
    UNIT_KEYS,
    Part,
)
from tabwb.lesion.spec import Lesion, lesion_text, made, numbers_text, parse_numbers, pinned, shown
from tabwb.lesion.taken import planned
from tabwb.records.classes import dataclass, replace
from tabwb.records.errors import UsageError
from tabwb.records.files import expanded

_SAME = ("select", "file", "sha256")
"""Keys whose value all lesions of a table have."""
LESION_KEYS = (
    "targets", "operation", "amounts", "layers", *UNIT_KEYS.values(), "seeds", *_SAME, *NUMBERS,
    "controls",
)  # fmt: skip
IN_PLACE = {selection: control for control, selection in CONTROLS_OF.items()}
"""A selection of units to that of its control."""


@dataclass(frozen=True, slots=True)
class Rows:
    """One table ``[[lesions]]`` of a grid.

    Attributes:
        targets, amounts, layers, units, seeds: each combination is a condition.
        unit_key: ``heads``, ``neurons`` or ``experts``: what the units are; empty: all are in
            question.
        numbers: as above,  of the operation (factors, sigmas or bits); one None where it needs
        none.
        values: what all its lesions have.
        controls: ids of the kinds of controls that each has.
        where: file and key, for errors.
    """

    targets: tuple[str, ...]
    values: dict[str, Any]
    amounts: tuple[float, ...]
    layers: tuple[str, ...]
    unit_key: str
    units: tuple[str, ...]
    numbers: tuple[float | None, ...]
    seeds: tuple[int, ...]
    controls: tuple[str, ...]
    where: str

    @property
    def count(self) -> int:
        """The number of combinations, with one layer and unit for ``each``."""
        listed = (
            self.targets, self.amounts, self.layers, self.units, self.numbers, self.seeds,
        )  # fmt: skip
        return math.prod(map(len, listed))


def lesion_rows(table: Table) -> Rows:
    """Return a table ``[[lesions]]`` of a grid, checked."""
    targets = listed(table, "targets", str)
    operation = table.get("operation", str, "zero")
    option = OPERATIONS[operation].option if operation in OPERATIONS else ""
    unit_key = next((key for key in UNIT_KEYS.values() if key in table.content), "")
    others = (*_SAME, *({*NUMBERS, *UNIT_KEYS.values()} - {option, unit_key}))
    rows = Rows(
        targets,
        {key: table.content[key] for key in others if key in table.content},
        listed(table, "amounts", (int, float), [1.0]),
        listed(table, "layers", str, ["all"]),
        unit_key,
        listed(table, unit_key, str) if unit_key else ("all",),
        _numbers(table, option),
        listed(table, "seeds", int, [1]),
        _controls(table),
        f"{table.path}: {table.key}",
    )
    rows.values["operation"] = operation
    if file := table.get("file", str):
        rows.values["file"] = str(table.path.parent / expanded(file))
    for key, given in (("layers", rows.layers), (unit_key, rows.units)):
        for text in given:
            if text not in ("all", "each"):
                parse_numbers(text, key, rows.where)
    first = (rows.targets[0], rows.amounts[0], rows.numbers[0], rows.seeds[0])
    # A value is allowed or not whatever the others are; their products may be millions.
    for place, values in enumerate((rows.targets, rows.amounts, rows.numbers, rows.seeds)):
        for value in values:
            chosen: list[Any] = [*first]
            chosen[place] = value
            target, amount, number, seed = chosen
            _joined(rows, target, amount, number, seed, units=(0,) if unit_key else ())
    return rows


def _controls(table: Table) -> tuple[str, ...]:
    """Return the kinds of controls: true is the first kind."""
    given = table.content.get("controls", False)
    if isinstance(given, bool):
        return tuple(CONTROLS)[:1] if given else ()
    kinds = given if isinstance(given, list) and given else [given]
    for kind in kinds:
        if not isinstance(kind, str) or kind not in CONTROLS:
            allowed = ", ".join(("true", "false", *(f'"{one}"' for one in CONTROLS)))
            raise table.error("controls", f"{kind!r} is not known", allowed=f"{allowed}, or a list")
    return tuple(dict.fromkeys(kinds))


def _numbers(table: Table, option: str) -> tuple[float | None, ...]:
    """Return the values of the number that the operation needs: one, or a list."""
    if not option or option not in table.content:
        return (None,)
    if isinstance(table.content[option], list):
        return listed(table, option, (int, float))
    return (table.content[option],)


def listed(table: Table, key: str, kind: Any, default: list[Any] | None = None) -> tuple[Any, ...]:
    """Return the values of a key that has a list, each once."""
    values = table.get(key, list, default)
    if not values:
        raise table.error(key, "there are none", allowed="a list with one value or more")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, kind):
            allowed = {str: "texts", int: "whole numbers"}.get(kind, "numbers")
            raise table.error(key, f"{value!r} is not allowed", allowed=f"a list of {allowed}")
    return tuple(dict.fromkeys(values))


def _joined(
    rows: Rows,
    target: str,
    amount: float,
    number: float | None,
    seed: int,
    layers: Sequence[int] = (),
    units: Sequence[int] = (),
) -> tuple[Lesion, ...]:
    """Return the lesions of a target, which may be several joined by a plus sign."""
    more: dict[str, object] = {"amount": amount, "seed": seed, **rows.values}
    if number is not None:
        more[OPERATIONS[rows.values["operation"]].option] = number
    if layers:
        more["layers"] = list(layers)
    if units:
        more[rows.unit_key] = list(units)
    return pinned(made({"target": one, **more}, rows.where) for one in target.split("+"))


def combined(rows: Rows, parts: Sequence[Part]) -> Iterator[tuple[tuple[Lesion, ...], int]]:
    """Yield the lesions of each condition, and the seed of its control."""
    count = max((part.layer for part in parts if part.layer is not None), default=0) + 1
    layers = _sets(rows.layers, "layers", rows.where, count)
    for target in rows.targets:
        own = [part.units for part in parts if part.target in target.split("+")]
        units = _sets(rows.units, rows.unit_key, rows.where, max(own, default=1))
        # The seed varies fastest: after each amount of a series there is something to look at.
        for inside, among, amount, number, seed in product(
            layers, units, rows.amounts, rows.numbers, rows.seeds
        ):
            yield _joined(rows, target, amount, number, seed, inside, among), seed


def _sets(texts: Sequence[str], key: str, where: str, count: int) -> list[tuple[int, ...]]:
    """Return sets of layers or units; an empty one is all of them."""
    found: list[tuple[int, ...]] = []
    for text in texts:
        if text == "each":
            found += [(number,) for number in range(count)]
        else:
            found.append(() if text == "all" else parse_numbers(text, key, where))
    return found


def control_of(
    lesions: Sequence[Lesion],
    seed: int,
    parts: Sequence[Part],
    model: str,
    kind: str = "anywhere",
) -> str:
    """Return the spec of the control of lesions: the same operation on as many parameters.

    Of units that a list or the localizer selects, as many random units in the same layers. Of other
    lesions as many weights: they are drawn from all projections of attention and feed-forward
    networks, of all layers or of those of the lesions, each with the probability that makes their
    expected number that of the lesions. So controls of all seeds have one amount; the numbers
    differ by chance alone. Lesions of all layers have one control of both kinds.
    """
    first = lesions[0]
    if first.select in IN_PLACE:
        return lesion_text(
            [replace(one, select=IN_PLACE[one.select], seed=seed) for one in lesions]
        )
    layers: tuple[int, ...] = ()
    text = shown(lesion_text(lesions))
    if CONTROLS[kind].in_layers:
        if outside := [one.target for one in lesions if not TARGETS[one.target].in_layers]:
            raise UsageError(
                f"the lesion '{text}' has no control in the same layers: '{outside[0]}' is in none",
                hint='give it controls = "anywhere", or none',
            )
        if all(one.layers for one in lesions):
            layers = tuple(dict.fromkeys(number for one in lesions for number in one.layers))
            layers = parse_numbers(layers, "layers", text)
    whole = replace(first, target=SPREAD_OVER, layers=layers, units=(), select="random", amount=1.0)
    there = sum(one.part.parameters for one in planned([whole], parts, model))
    taken = sum(one.expected for one in planned(lesions, parts, model))
    if taken > there or (layers and taken == there):
        where = f" in layers {numbers_text(layers)}" if layers else ""
        few = "as many parameters as or more than" if layers else "more parameters than"
        raise UsageError(
            f"the lesion '{text}' takes {few} the projections of {model} have{where}, so that no "
            "control has as many",
            hint="leave out its controls, or take smaller amounts",
        )
    # Six digits: differences below one weight in a million do not matter, and specs stay short.
    control = replace(whole, amount=float(f"{taken / there:.6g}"), seed=seed)
    if layers and str(control) == lesion_text(lesions):
        raise UsageError(
            f"the lesion '{text}' would be its own control in the same layers",
            hint='give it controls = "anywhere", or none',
        )
    return str(control)

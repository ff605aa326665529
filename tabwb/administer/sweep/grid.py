"""The grid of a sweep: a TOML file of lesions and other conditions; its text, and its sweep."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.administer.session import setup
from tabwb.administer.sweep.sweep import Model, Point, Role, Sweep
from tabwb.battery.prompts import parse_noise
from tabwb.host.settings import Table, toml_of
from tabwb.lesion.declared import (
    CONTROL,
    CONTROLS,
    CONTROLS_OF,
    NUMBERS,
    OPERATIONS,
    SPREAD_OVER,
    TARGETS,
    UNIT_KEYS,
    Part,
)
from tabwb.lesion.spec import (
    Lesion,
    control_role,
    lesion_text,
    made,
    numbers_text,
    parse_numbers,
    pinned,
    shown,
)
from tabwb.lesion.taken import planned
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT, Conditions, declared
from tabwb.records.declared_conditions import ConditionError
from tabwb.records.errors import UsageError
from tabwb.records.files import expanded, read_regular
from tabwb.records.trials import check_tag

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.lesion.declared import Part
    from tabwb.records.conditions import Conditions

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


Resolve = Callable[[Conditions], Conditions]
"""Returns conditions with specs as they are stored, checked against the battery."""
LONGEST_NAME = 60
"""A longer name of a dose is refused."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Conditions that replace those of a sweep.

    Attributes:
        words: what they replace, in words; empty: nothing.
        conditions: all of them, without a lesion.
        lesions: whether each lesion of the grid is given under them too.
    """

    words: str
    conditions: Conditions
    lesions: bool


@dataclass(frozen=True, slots=True)
class Temperatures:
    """One table ``[[temperatures]]``: each value with each seed.

    Attributes:
        values: 0 is greedy decoding.
        seeds: of the draws; empty: that of the sweep.
        lesions: see :class:`Setting`.
    """

    values: tuple[float, ...]
    seeds: tuple[int, ...]
    lesions: bool

    def settings(self, given: Conditions, resolve: Resolve) -> Iterator[Setting]:
        """Yield the settings."""
        for value, seed in product(self.values, self.seeds or (given.seed,)):
            # Greedy answers do not depend on the seed, unless an order does.
            ordered = given.item_order == given.option_order == "as-given"
            own = given.seed if value == 0.0 and ordered else seed
            decoding = replace(given.decoding, temperature=value, seed=own)
            words = f"temperature {value:g}" + (f", seed {own}" if own != given.seed else "")
            yield Setting(words, replace(given, seed=own, decoding=decoding), self.lesions)


@dataclass(frozen=True, slots=True)
class Prompts:
    """One table ``[[prompts]]``: specs of prompt noise.

    Attributes:
        noises: as administrations store them.
        lesions: see :class:`Setting`.
    """

    noises: tuple[str, ...]
    lesions: bool

    def settings(self, given: Conditions, resolve: Resolve) -> Iterator[Setting]:
        """Yield the settings."""
        for noise in self.noises:
            checked = resolve(replace(given, prompt_noise=noise))
            conditions = replace(given, prompt_noise=checked.prompt_noise)
            yield Setting(f"prompt noise {noise}", conditions, self.lesions)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One table ``[[checkpoints]]``: another model, with the model that it comes from.

    Attributes:
        model: a spec.
        parent: a spec; empty: the model of the sweep.
        dose: how far it is from the parent, for example steps of training; None: not said.
        dose_name: what the dose is.
        lesions: see :class:`Setting`.
        table: for errors.
    """

    model: str
    parent: str
    dose: float | None
    dose_name: str
    lesions: bool
    table: Table

    def settings(self, given: Conditions, resolve: Resolve) -> Iterator[Setting]:
        """Yield the setting."""
        own = self._resolved("model", self.model, given, resolve)
        parent = given.examinee
        if self.parent:
            parent = self._resolved("parent", self.parent, given, resolve).examinee
        if own.examinee in (parent, given.examinee):
            which = "the model of the sweep" if own.examinee == given.examinee else "its own parent"
            raise self.table.error("model", f"'{self.model}' is {which}", allowed="another model")
        declared_of = {PARENT: parent}
        if self.dose is not None:
            declared_of[DOSE] = f"{self.dose:.15g}"
            declared_of[DOSE_NAME] = self.dose_name
        labels = {**own.labels, **declared_of}
        yield Setting(own.examinee, replace(own, labels=labels), self.lesions)

    def add_to(self, family: dict[str, Mapping[str, str]], conditions: Conditions) -> None:
        """Add what is declared of the checkpoint to what the tables before declare."""
        own, labels = conditions.examinee, conditions.labels
        if family.setdefault(own, labels) != labels:
            message = f"'{self.model}' is given twice, with another parent or dose"
            raise self.table.error("model", message, allowed="one parent and one dose")
        ancestor = labels[PARENT]
        while ancestor != own and ancestor in family:
            ancestor = family[ancestor][PARENT]
        if ancestor == own:
            message = f"'{self.model}' is an ancestor of its own parent"
            raise self.table.error("parent", message, allowed="a model that does not come from it")

    def _resolved(self, key: str, spec: str, given: Conditions, resolve: Resolve) -> Conditions:
        try:
            return resolve(replace(given, examinee=spec))
        except UsageError as error:
            raise self.table.error(key, str(error.message), allowed=error.allowed) from error


Other = Temperatures | Prompts | Checkpoint


def other_rows(table: Table) -> tuple[Other, ...]:
    """Return the tables of a grid besides its lesions, checkpoints last."""
    return tuple(
        read(table.inner(f"{name}[{place}]", one, keys))
        for name, (keys, read) in OTHERS.items()
        for place, one in enumerate(table.get(name, list, []))
    )


def _temperatures(table: Table) -> Temperatures:
    values = listed(table, "values", (int, float))
    return Temperatures(
        tuple(_checked(table, "values", "temperature", one) for one in values),
        tuple(int(_checked(table, "seeds", "seed", one)) for one in _seeds(table, [])),
        table.get("lesions", bool, False),
    )


def _seeds(table: Table, default: Sequence[int]) -> tuple[int, ...]:
    return listed(table, "seeds", int) if "seeds" in table.content else tuple(default)


def _checked(table: Table, key: str, condition: str, value: float) -> float:
    try:
        return declared(condition).checked(value)  # type: ignore[no-any-return]
    except ConditionError as error:
        raise table.error(key, error.message, allowed=error.allowed) from error


def _prompts(table: Table) -> Prompts:
    amounts = listed(table, "amounts", (int, float), [1.0])
    noises = []
    for operation, amount, seed in product(
        listed(table, "operations", str), amounts, _seeds(table, [1])
    ):
        try:
            noises.append(str(parse_noise(f"{operation}:{float(amount)!r}@seed={seed}")))
        except UsageError as error:
            raise table.error("operations", error.message, allowed=error.allowed) from error
    return Prompts(tuple(dict.fromkeys(noises)), table.get("lesions", bool, False))


def _checkpoint(table: Table) -> Checkpoint:
    model = table.get("model", str)
    if not model:
        raise table.error("model", "there is none", allowed="the spec of a model")
    dose = table.content.get("dose")
    is_number = isinstance(dose, int | float) and not isinstance(dose, bool)
    if dose is not None and not (is_number and math.isfinite(dose) and dose >= 0):
        raise table.error("dose", f"{dose!r} is not allowed", allowed="a number, 0 or above")
    if dose is None and "dose_name" in table.content:
        raise table.error("dose_name", "it names no dose", allowed="dose = NUMBER beside it")
    dose_name = table.get("dose_name", str, "dose")
    if not (0 < len(dose_name.strip()) <= LONGEST_NAME and dose_name.isprintable()):
        allowed = f"1 to {LONGEST_NAME} printable characters"
        raise table.error("dose_name", "it cannot be shown", allowed=allowed)
    return Checkpoint(
        model,
        table.get("parent", str, ""),
        dose,
        dose_name,
        table.get("lesions", bool, False),
        table,
    )


OTHERS: dict[str, tuple[tuple[str, ...], Callable[[Table], Other]]] = {
    "temperatures": (("values", "seeds", "lesions"), _temperatures),
    "prompts": (("operations", "amounts", "seeds", "lesions"), _prompts),
    "checkpoints": (("model", "parent", "dose", "dose_name", "lesions"), _checkpoint),
}
"""Name of a table to its keys, and what reads it."""


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
        if plugins.judge(judge).examinee:
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

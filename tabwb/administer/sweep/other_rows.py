"""The tables of a grid besides its lesions: temperatures, prompt noise and checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from tabwb.administer.sweep.lesion_rows import listed
from tabwb.battery.prompts import parse_noise
from tabwb.host.settings import Table
from tabwb.records.classes import dataclass, replace
from tabwb.records.conditions import DOSE, DOSE_NAME, PARENT, Conditions, declared
from tabwb.records.declared_conditions import ConditionError
from tabwb.records.errors import UsageError

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

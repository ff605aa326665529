"""Lesion specs: ``TARGET:OP[:AMOUNT][@key=value,...]``, several joined by ``+``.

:func:`parse_lesions` and :func:`lesion_text` are inverses; the text is what administrations store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tabwb.lesion.declared import (
    CONTROLS_OF,
    NUMBERS,
    OPERATIONS,
    PRUNE,
    SELECTIONS,
    TARGETS,
    UNIT_KEYS,
    Target,
)
from tabwb.lesion.file_option import escaped, file_of, unescaped, wrong
from tabwb.lesion.numbers import numbers_text, parse_numbers
from tabwb.records.words import did_you_mean

FORM = "TARGET:OP[:AMOUNT][@key=value,...]"
EXAMPLE = "mlp.down:zero:0.3@layers=0-3,seed=7"
SEED: Final = 1
"""The seed of a lesion that names none."""
LARGEST_SEED = 2**63 - 1
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_LISTS = ("layers", "heads", "neurons", "experts")
_KEYS = (*_LISTS, "seed", "select", "file", "sha256", *NUMBERS)
_AMOUNTS = "more than 0, up to 1: the share of units"
_INTACT = "the intact model is a run without --lesion; a sweep gives it anyway"


@dataclass(frozen=True, slots=True)
class Lesion:
    """A change of one kind of part of a model.

    Attributes:
        target: one of :data:`TARGETS`.
        operation: one of :data:`OPERATIONS`.
        amount: the share of units that is taken: more than 0, up to 1 (0 in old stores).
        layers: in which parts are lesioned, negative ones from the end; empty: all.
        units: numbers of the heads, neurons or experts among which units are taken, negative ones
            from the end; empty: all.
        seed: of the choice of units, of noise and of orders.
        select: one of :data:`SELECTIONS`.
        factor: of ``scale``.
        sigma: of ``noise``.
        bits: of ``quantise``, a whole number.
        file: of ``select=list``: the path of a list of units.
        sha256: of the file's content, or its first digits; empty: not checked.
    """

    target: str
    operation: str
    amount: float = 1.0
    layers: tuple[int, ...] = ()
    units: tuple[int, ...] = ()
    seed: int = SEED
    select: str = "random"
    factor: float | None = None
    sigma: float | None = None
    bits: float | None = None
    file: str = ""
    sha256: str = ""

    @property
    def draws(self) -> bool:
        """Whether the seed makes a difference."""
        chosen = self.select == "random" and 0.0 < self.amount < 1.0
        chosen = chosen or (self.is_control and self.amount > 0.0)
        return chosen or (OPERATIONS[self.operation].draws and self.amount > 0.0)

    @property
    def source(self) -> str:
        """The selection; of a control the one whose numbers of units it has."""
        return CONTROLS_OF.get(self.select, self.select)

    @property
    def is_control(self) -> bool:
        """Whether it takes random units in place of selected ones, as many in each layer."""
        return self.select in CONTROLS_OF

    @property
    def number(self) -> float | None:
        """The factor, sigma or bits of the operation; None where it needs no number."""
        return getattr(self, OPERATIONS[self.operation].option or "", None)

    def kind(self, amount: str = "amount") -> str:
        """Return the spec without seed, and with ``*`` for a number."""
        return self._text(star=amount, seed=False)

    def __str__(self) -> str:
        return self._text()

    def _text(self, star: str = "", *, seed: bool = True) -> str:
        options = []
        if self.layers:
            options.append(f"layers={numbers_text(self.layers)}")
        if self.units:
            options.append(f"{UNIT_KEYS[TARGETS[self.target].unit]}={numbers_text(self.units)}")
        if self.select != "random":
            options.append(f"select={self.select}")
        if self.file:
            options.append(f"file={escaped(self.file)}")
        if self.sha256:
            options.append(f"sha256={self.sha256}")
        if self.number is not None:
            key = OPERATIONS[self.operation].option
            options.append(f"{key}={'*' if key == star else _plain(self.number)}")
        if self.draws and seed:
            options.append(f"seed={self.seed}")
        amount = "*" if star == "amount" else _plain(self.amount)
        head = f"{self.target}:{self.operation}:{amount}"
        return head + ("@" + ",".join(options) if options else "")


def lesion_text(lesions: Sequence[Lesion]) -> str:
    """Return the spec of lesions that are applied together."""
    return "+".join(map(str, lesions))


def parse_lesions(text: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec, in its order.

    Specs that are stored are read, also those of the amount 0, which :func:`asked_lesions` refuses.

    Raises:
        UsageError: the text is not a spec; the message names the wrong part.

    >>> first, second = parse_lesions("mlp.down:zero:0.3@layers=0-2,-1,seed=7+attention.heads:zero")
    >>> first.layers, first.seed, second.amount
    ((0, 1, 2, -1), 7, 1.0)
    >>> lesion_text(parse_lesions("attention.q:prune:.10"))
    'attention.q:zero:0.1@select=magnitude'
    """
    # A plus sign joins only before the name of a target: 1e+3 has one too.
    names = "|".join(map(re.escape, sorted(TARGETS, key=len, reverse=True)))
    parts = re.split(rf"\+(?=(?:{names}):)", text.strip())
    return tuple(_parsed(part, text) for part in parts)


def asked_lesions(text: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec that a person asks for."""
    return tuple(_acting(one, text) for one in parse_lesions(text))


def _acting(lesion: Lesion, where: str) -> Lesion:
    """Return a lesion of which some units are taken: no intact model is stored under a lesion."""
    if lesion.amount == 0.0:
        raise wrong(where, "has the amount 0, which changes nothing", _AMOUNTS, _INTACT)
    return lesion


def canonical(text: str) -> str:
    """Return the form of a spec in which administrations store it.

    >>> canonical("attention.heads:zero@layers=2,1")
    'attention.heads:zero:1@layers=1-2'
    """
    return lesion_text(asked_lesions(text))


def _parsed(part: str, text: str) -> Lesion:
    head, at, tail = part.partition("@")
    target, *rest = head.split(":")
    if target not in TARGETS:
        raise wrong(
            text,
            f"has no known target in '{part}'{did_you_mean(target, TARGETS)}",
            ", ".join(TARGETS),
        )
    if not rest or len(rest) > 2:
        raise wrong(text, f"is not complete in '{part}'", f"{FORM}, for example {EXAMPLE}")
    options = _options(tail, text) if at else {}
    values: dict[str, object] = {"target": target, "operation": rest[0]}
    if len(rest) == 2:
        values["amount"] = rest[1]
    return _made({**values, **options}, text)


def made(values: Mapping[str, object], where: str) -> Lesion:
    """Return the lesion that a table of TOML, or the parts of a spec, describe.

    >>> str(made({"target": "norm", "operation": "scale", "factor": 0.5, "layers": [0, 1]}, ""))
    'norm:scale:1@layers=0-1,factor=0.5'
    """
    return _acting(_made(values, where), where)


def _made(values: Mapping[str, object], where: str) -> Lesion:
    if values.get("operation") == PRUNE:
        if values.get("select", "magnitude") != "magnitude":
            raise wrong(where, "prunes by another choice than magnitude", "prune, or zero")
        values = {**values, "operation": "zero", "select": "magnitude"}
    target = _known(values, "target", TARGETS, where)
    operation = _known(values, "operation", OPERATIONS, where)
    kind = TARGETS[target]
    if kind.operations and operation not in kind.operations:
        raise wrong(where, f"cannot '{operation}' a {target}", ", ".join(kind.operations))
    unknown = set(values) - {"target", "operation", "amount", *_KEYS}
    if unknown:
        allowed = ", ".join(("amount", *_KEYS))
        raise wrong(where, f"has the unknown key '{min(unknown)}'", allowed)
    if OPERATIONS[operation].units and kind.unit not in OPERATIONS[operation].units:
        suited = (one.id for one in TARGETS.values() if one.unit in OPERATIONS[operation].units)
        raise wrong(where, f"cannot '{operation}' whole units of {target}", ", ".join(suited))
    select = _selection(values, kind, where)
    file, digest = file_of(values, select, where)
    lesion = Lesion(
        target,
        operation,
        amount=_amount(values.get("amount", 1.0), where),
        layers=_layers(values, kind, where),
        units=_units(values, kind, where),
        seed=_seed(values.get("seed", SEED), where),
        select=select,
        **_numbers(values, operation, where),
        file=file,
        sha256=digest,
    )
    # Nothing is drawn: specs that differ in the seed alone are the same lesion.
    return lesion if lesion.draws else replace(lesion, seed=SEED)


def _numbers(values: Mapping[str, object], operation: str, where: str) -> dict[str, float]:
    """Return the number that an operation needs, by its name; no other may be given."""
    needed = OPERATIONS[operation].option
    for key in NUMBERS:
        if key in values and key != needed:
            raise wrong(where, f"has {key}=, which '{operation}' does not use", "leave it out")
    if not needed:
        return {}
    if needed not in values:
        raise wrong(where, f"needs {needed}=", f"{operation}:...@{needed}=NUMBER")
    number = _number(values[needed], needed, where)
    if needed == "factor" and number == 1.0:
        raise wrong(where, "has factor=1, which changes nothing", "another number")
    if (needed == "sigma" and number <= 0.0) or (needed == "bits" and number not in range(2, 17)):
        raise wrong(where, f"has {needed}={_plain(number)}", NUMBERS[needed])
    return {needed: number}


def _layers(values: Mapping[str, object], kind: Target, where: str) -> tuple[int, ...]:
    if "layers" not in values:
        return ()
    if not kind.in_layers:
        raise wrong(where, f"has layers=, but '{kind.id}' is in no layer", "leave it out")
    return parse_numbers(values["layers"], "layers", where)


def _units(values: Mapping[str, object], kind: Target, where: str) -> tuple[int, ...]:
    own = UNIT_KEYS.get(kind.unit)
    for key in UNIT_KEYS.values():
        if key in values and key != own:
            allowed = f"{own}=" if own else "a target whose units are heads, neurons or experts"
            raise wrong(where, f"has {key}=, but its target is '{kind.id}'", allowed)
    if own is None or own not in values:
        return ()
    return parse_numbers(values[own], own, where)


def _selection(values: Mapping[str, object], kind: Target, where: str) -> str:
    select = str(values.get("select", "random"))
    if select not in SELECTIONS:
        raise wrong(where, f"has select={select}", ", ".join(SELECTIONS))
    if select == "magnitude" and kind.unit == "layer":
        raise wrong(where, "selects whole layers by magnitude", "random, or layers=")
    source = CONTROLS_OF.get(select, select)
    able = {"list": tuple(UNIT_KEYS), "localizer": ("head", "neuron")}.get(source)
    if able and kind.unit not in able:
        allowed = ", ".join(one.id for one in TARGETS.values() if one.unit in able)
        raise wrong(where, f"has select={select}, but its target is '{kind.id}'", allowed)
    return select


def _options(tail: str, text: str) -> dict[str, object]:
    """Return the options; a part without a key continues the list before it."""
    found: dict[str, object] = {}
    last = ""
    for part in tail.split(","):
        key, equals, value = part.partition("=")
        if equals and key in _KEYS:
            if key in found:
                raise wrong(text, f"has {key}= twice", "once")
            found[key], last = value, key
            if key == "file":
                found[key] = unescaped(value, text)
        elif not equals and last in _LISTS:
            found[last] = f"{found[last]},{part}"
        elif last == "file":
            allowed = "%2C for a comma in the path"
            raise wrong(text, f"has '{part}' after the path in file=", allowed)
        else:
            raise wrong(text, f"has '{part}' among its options", ", ".join(_KEYS))
    return found


def _known(values: Mapping[str, object], key: str, known: Mapping[str, object], where: str) -> str:
    value = values.get(key)
    if not isinstance(value, str) or value not in known:
        what = (
            f"lacks '{key}'"
            if value is None
            else f"has the {key} '{value}'{did_you_mean(str(value), known)}"
        )
        raise wrong(where, what, ", ".join(known))
    return value


def _number(value: object, key: str, where: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, str) and _NUMBER.fullmatch(value)):
        raise wrong(where, f"has {key}={value}", "a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise wrong(where, f"has {key}={value}", "a finite number")
    return number + 0.0  # -0.0 is 0


def _amount(value: object, where: str) -> float:
    amount = _number(value, "amount", where)
    if not 0.0 <= amount <= 1.0:
        raise wrong(where, f"has the amount {value}", _AMOUNTS)
    return amount


def _seed(value: object, where: str) -> int:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole and not (isinstance(value, str) and re.fullmatch(r"\d{1,19}", value)):
        raise wrong(where, f"has seed={value}", f"a whole number, 0 to {LARGEST_SEED}")
    seed = int(value)  # type: ignore[call-overload]
    if not 0 <= seed <= LARGEST_SEED:
        raise wrong(where, f"has seed={value}", f"a whole number, 0 to {LARGEST_SEED}")
    return int(seed)


def _plain(number: float) -> str:
    """Return the shortest text that reads back as the number.

    >>> _plain(1.0), _plain(0.3), _plain(1e-07)
    ('1', '0.3', '1e-07')
    """
    whole = int(number)
    return str(whole) if number == whole and abs(whole) < 2**53 else repr(number)

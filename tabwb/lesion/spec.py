"""Lesion specs: ``TARGET:OP[:AMOUNT][@key=value,...]``, joined by ``+``, and lists of units.

:func:`parse_lesions` and :func:`lesion_text` are inverses; the text is what administrations store.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, unquote_to_bytes

from tabwb.lesion.declared import (
    CONTROL,
    CONTROLS,
    CONTROLS_OF,
    NUMBERS,
    OPERATIONS,
    PRUNE,
    SELECTIONS,
    TARGETS,
    UNIT_KEYS,
    Target,
)
from tabwb.records.errors import UsageError
from tabwb.records.files import expanded, read_regular
from tabwb.records.words import did_you_mean

_DIGEST = re.compile(r"[0-9a-f]{16,64}")


_IN_GRID = re.compile(r": lesions\[\d+\]$")


def file_of(values: Mapping[str, object], select: str, where: str) -> tuple[str, str]:
    """Return the path of a list of units, and what the SHA-256 of its content begins with."""
    if CONTROLS_OF.get(select, select) != "list":
        for key in ("file", "sha256"):
            if key in values:
                raise wrong(where, f"has {key}= without select=list", "leave it out")
        return "", ""
    file, digest = values.get("file"), values.get("sha256", "")
    if not isinstance(file, str) or not file:
        raise wrong(where, f"needs file= for select={select}", "file=PATH of a list of units")
    try:
        is_text = "\0" not in file and bool(file.encode())
    except UnicodeEncodeError:
        is_text = False
    if not is_text:
        raise wrong(where, "has a path in file= that is not text", "a file named in UTF-8")
    if digest and not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
        raise wrong(where, f"has sha256={digest}", "16 to 64 digits, 0-9 and a-f")
    return file, str(digest)


def escaped(path: str) -> str:
    """Return a path as specs write it: commas, plus signs, ``%`` and spaces as in an address.

    >>> escaped("my lists/a,b+c.json")
    'my%20lists/a%2Cb%2Bc.json'
    """
    return "".join(
        quote(letter, safe="") if letter in ",+%" or letter.isspace() else letter for letter in path
    )


def unescaped(path: str, where: str) -> str:
    """Return the path that a spec writes; a ``%`` without two digits is itself."""
    try:
        return unquote_to_bytes(path).decode()
    except UnicodeError:
        raise wrong(where, "has a path in file= that is not UTF-8", "%25 for %") from None


def wrong(where: str, what: str, allowed: str, hint: str = "") -> UsageError:
    """Return the error for a spec."""
    if _IN_GRID.search(where):
        return UsageError(f"the lesion {shown(what)}", where=where, allowed=allowed, hint=hint)
    return UsageError(f"the lesion '{shown(where)}' {shown(what)}", allowed=allowed, hint=hint)


SHOWN = 300


def shown(text: str) -> str:
    """Return a text for a message, cut: a spec can be joined of thousands of lesions."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


MOST = 2**31 - 1
MOST_NUMBERS = 2**20
"""So many numbers of layers or units a lesion can name."""
_RANGE = re.compile(r"(-?\d{1,10})(?:-(-?\d{1,10}))?")


def numbers_text(numbers: Iterable[int]) -> str:
    """Return numbers in the form of specs: ranges for those in a row, negative ones singly.

    >>> numbers_text((0, 1, 2, 5, -2, -1))
    '0-2,5,-2,-1'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number >= 0 and runs[-1][-1] == number - 1 and number > 0:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def parse_numbers(value: object, key: str, where: str) -> tuple[int, ...]:
    """Return numbers of layers or units, each once: from 0 up in order, then negative ones."""
    allowed = f"{key}=0-3,-1 (negative numbers count from the end)"
    found: set[int] = set()
    items = value.split(",") if isinstance(value, str) else value
    for item in items if isinstance(items, list | tuple) else [items]:
        match = None if isinstance(item, bool) else _RANGE.fullmatch(str(item).strip())
        if match is None:
            raise wrong(where, f"has {key}={value}", allowed)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or (first < 0 <= last):
            raise wrong(where, f"has the range {item} in {key}=, which is empty", allowed)
        if last > MOST or first < -MOST or last - first >= MOST_NUMBERS:
            raise wrong(where, f"has a number out of bounds in {key}={item}", f"below {MOST}")
        found.update(range(first, last + 1))
        if len(found) > MOST_NUMBERS:
            raise wrong(where, f"has too many numbers in {key}=", f"up to {MOST_NUMBERS:,}")
    return (*sorted(n for n in found if n >= 0), *sorted(n for n in found if n < 0))


FORM = "TARGET:OP[:AMOUNT][@key=value,...]"
EXAMPLE = "mlp.down:zero:0.3@layers=0-3,seed=7"
SEED: Final = 1
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
    amount = _number(values.get("amount", 1.0), "amount", where)
    if not 0.0 <= amount <= 1.0:
        raise wrong(where, f"has the amount {values['amount']}", _AMOUNTS)
    if "layers" in values and not kind.in_layers:
        raise wrong(where, f"has layers=, but '{kind.id}' is in no layer", "leave it out")
    lesion = Lesion(
        target,
        operation,
        amount=amount,
        layers=parse_numbers(values["layers"], "layers", where) if "layers" in values else (),
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


def _seed(value: object, where: str) -> int:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if is_whole or (isinstance(value, str) and re.fullmatch(r"\d{1,19}", value)):
        seed = int(value)  # type: ignore[call-overload]
        if 0 <= seed <= LARGEST_SEED:
            return int(seed)
    raise wrong(where, f"has seed={value}", f"a whole number, 0 to {LARGEST_SEED}")


def _plain(number: float) -> str:
    """Return the shortest text that reads back as the number."""
    whole = int(number)
    return str(whole) if number == whole and abs(whole) < 2**53 else repr(number)


SpecValue = str | float | int
Read = Callable[[Sequence[Lesion]], SpecValue | None]
Role = Literal["intact", "lesion", "control", "layer control"]


def _common(value: Callable[[Lesion], SpecValue | None]) -> Read:
    def read(lesions: Sequence[Lesion]) -> SpecValue | None:
        found = {value(one) for one in lesions}
        return found.pop() if len(found) == 1 else None

    return read


PARTS: Mapping[str, Read] = {
    "target": lambda lesions: "+".join(dict.fromkeys(one.target for one in lesions)),
    "operation": _common(lambda one: one.operation),
    "amount": _common(lambda one: one.amount),
    "factor": _common(lambda one: one.factor),
    "sigma": _common(lambda one: one.sigma),
    "bits": _common(lambda one: one.bits),
    "layers": _common(lambda one: numbers_text(one.layers) or "all"),
    "seed": lambda lesions: _common(lambda one: one.seed)([one for one in lesions if one.draws]),
    "kind": lambda lesions: "+".join(one.kind() for one in lesions),
}
"""A value of a spec, as keys (``lesion-amount``) and columns (``lesion_amount``) name it, to the
function that returns what joined lesions share: None where they differ or have none. The columns
are declared in :data:`tabwb.records.columns.DECLARED`."""


@lru_cache(maxsize=4096)
def spec_values(spec: str) -> Mapping[str, SpecValue]:
    """Return the values of a spec by the ids of :data:`PARTS`, without those that it lacks.

    >>> spec_values("mlp.down:zero:0.3@layers=0-3,seed=7")["layers"], spec_values("made elsewhere")
    ('0-3', {})
    """
    try:
        lesions = parse_lesions(spec)
    except UsageError:
        return {}
    found = {name: read(lesions) for name, read in PARTS.items()}
    return {name: value for name, value in found.items() if value is not None}


def role_of(lesion: str | None, tags: Sequence[str]) -> Role:
    """Return what an administration to a model is in a lesion study.

    >>> role_of(None, []), role_of("mlp:zero", []), role_of("projections:zero:0.1", ["control"])
    ('intact', 'lesion', 'control')
    """
    if not lesion:
        return "intact"
    return control_role(lesion) if CONTROL in tags else "lesion"


@lru_cache(maxsize=4096)
def control_role(spec: str) -> Literal["control", "layer control"]:
    """Return the role of a control: whether it takes random units in the lesion's layers alone.

    >>> control_role("projections:zero:0.1@layers=2"), control_role("projections:zero:0.1")
    ('layer control', 'control')
    """
    try:
        lesions = parse_lesions(spec)
    except UsageError:  # made with another tool
        lesions = ()
    inside = bool(lesions) and all(one.layers and one.select == "random" for one in lesions)
    return next(one.role for one in CONTROLS.values() if one.in_layers == inside)


def row_of(target: str, unit: int | None) -> str:
    """Return what a row of a map is of: a target, or a single unit of it.

    >>> row_of("attention.heads", 3), row_of("mlp", None)
    ('attention.heads 3', 'mlp')
    """
    return target if unit is None else f"{target} {unit}"


FORMAT = 1
TOO_LARGE = 200_000_000
DIGITS = 16
_ALLOWED = (
    'a JSON object with "format": 1 and "units", a mapping of names of parts to numbers of units, '
    'for example {"format": 1, "units": {"3.mlp.neurons": [0, 17]}}'
)


@dataclass(frozen=True, slots=True)
class UnitList:
    """Units of a model."""

    units: Mapping[str, tuple[int, ...]]
    t: Mapping[str, tuple[float, ...]]
    sha256: str


def read_units(file: str, sha256: str = "") -> UnitList:
    """Return the list of a file."""
    path = expanded(file)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise UsageError("the list of units is not a file", where=file)
        found = _read(path, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError) as error:  # ValueError: a null character
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the list of units cannot be read: {words}", where=file) from error
    if not found.sha256.startswith(sha256):
        raise UsageError(
            f"the list of units has changed: its SHA-256 was {sha256}... and is "
            f"{found.sha256[: len(sha256)]}...",
            where=file,
            hint="restore the file, or begin again with the spec without sha256=",
        )
    return found


@lru_cache(maxsize=8)
def _read(path: Path, changed_ns: int, size: int) -> UnitList:
    """Return the list of a file in the state of this time and size."""
    content = read_regular(path, TOO_LARGE)
    if content is None:
        raise UsageError("the list of units cannot be read: there is no such file", where=str(path))
    try:
        document = json.loads(content, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, f"is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _wrong(path, "is not a list of units of format 1")
    units = _by_part(path, document, "units", _is_number)
    if not units:
        raise _wrong(path, "has no units")
    for name, numbers in units.items():
        if len(set(numbers)) < len(numbers):
            raise _wrong(path, f"names a unit of '{name}' twice")
    t = _by_part(path, document, "t", _is_statistic) if "t" in document else {}
    if t and {name: len(some) for name, some in t.items()} != {
        name: len(some) for name, some in units.items()
    }:
        raise _wrong(path, 'has another number of values in "t" than of units')
    return UnitList(units, t, hashlib.sha256(content).hexdigest())


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice in one mapping")
    return found


def pinned(lesions: Iterable[Lesion]) -> tuple[Lesion, ...]:
    """Return lesions as they are stored: lists by absolute path and SHA-256."""
    return tuple(_pinned(one) if one.file else one for one in lesions)


def stored_form(text: str) -> tuple[Lesion, ...]:
    """Return the lesions of a spec as they are stored; see :func:`pinned`."""
    return pinned(asked_lesions(text))


def _pinned(lesion: Lesion) -> Lesion:
    path = str(expanded(lesion.file).absolute())
    digest = read_units(path, lesion.sha256).sha256
    return replace(lesion, file=path, sha256=lesion.sha256 or digest[:DIGITS])


def _by_part(path: Path, document: Mapping[str, Any], key: str, valid: Any) -> dict[str, Any]:
    table = document.get(key)
    if not isinstance(table, dict):
        raise _wrong(path, f'has no mapping "{key}"')
    for name, values in table.items():
        if not isinstance(values, list) or not all(map(valid, values)):
            raise _wrong(path, f"has a value in \"{key}\" of '{name}' that is not a number there")
    return {name: tuple(values) for name, values in table.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _is_statistic(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)


def _wrong(path: Path, what: str) -> UsageError:
    return UsageError(f"the file {what}", where=str(path), allowed=_ALLOWED)


def units_text(units: Mapping[str, Sequence[int]]) -> str:
    """Return units as facts of an administration have them.

    >>> units_text({"0.mlp.neurons": [0, 1, 2, 7], "3.mlp.neurons": [5]})
    '0.mlp.neurons:0-2,7;3.mlp.neurons:5'
    """
    return ";".join(f"{name}:{numbers_text(numbers)}" for name, numbers in units.items())

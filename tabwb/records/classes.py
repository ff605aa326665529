"""``dataclass`` of the standard library, with less to compile for frozen classes.

The standard library compiles six functions for each frozen class: a quarter of the time of a short
command, which loads about 200 of them. Here only the constructor is compiled. All else is as there;
what is not frozen, is ordered or has a base that is a dataclass is made there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import (
    MISSING,
    Field,
    FrozenInstanceError,
    asdict,
    field,
    fields,
    is_dataclass,
    replace,
)
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

__all__ = ["asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Return the class with the methods of a dataclass, or a decorator that does."""
        if cls is None:
            return partial(dataclass, **options)
        own = options.keys() <= {"frozen", "slots", "kw_only", "eq", "repr"}
        inherits = any(map(is_dataclass, cls.__mro__[1:]))
        if not (own and options.get("frozen")) or inherits or "__init__" in vars(cls):
            return dataclasses.dataclass(cls, **options)
        return _frozen(cls, **options)


class _Made:
    """Stands for an argument that was not given, whose value a factory makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE: Final = _Made()


def _frozen(
    cls: type,
    *,
    frozen: bool,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> type:
    made: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
    )(cls)
    made.__dataclass_params__.frozen = frozen  # a subclass must be frozen too
    members = fields(made)
    made.__init__ = _constructor(made, members)
    made.__setattr__, made.__delattr__ = _refusals(made, {one.name for one in members})
    if slots:  # for pickle and copy
        given = vars(made)
        made.__getstate__ = given.get("__getstate__") or _state
        made.__setstate__ = given.get("__setstate__") or _set_state
    if repr and "__repr__" not in vars(cls):
        made.__repr__ = _shown([one.name for one in members if one.repr])
    if eq:
        compared = [one.name for one in members if one.compare]
        if "__eq__" not in vars(cls):
            made.__eq__ = _equal(_values(compared))
        if vars(cls).get("__hash__") is None:
            hashed = [
                one.name for one in members if (one.compare if one.hash is None else one.hash)
            ]
            made.__hash__ = _hashed(_values(hashed))
    return made  # type: ignore[no-any-return]


def _constructor(cls: type, members: tuple[Field[Any], ...]) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_MADE": _MADE}
    positional, keywords, body = ["self"], list[str](), list[str]()
    for one in members:
        value, parameter = one.name, one.name
        if one.default is not MISSING:
            names[f"_default_{one.name}"] = one.default
            parameter += f"=_default_{one.name}"
        elif one.default_factory is not MISSING:
            names[f"_make_{one.name}"] = one.default_factory
            parameter += "=_MADE"
            value = f"_make_{one.name}()"
            if one.init:
                value += f" if {one.name} is _MADE else {one.name}"
        if one.init:
            (keywords if one.kw_only else positional).append(parameter)
        elif one.default is not MISSING:
            value = f"_default_{one.name}"
        elif one.default_factory is MISSING:
            continue
        body.append(f"_set(self, {one.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keywords] if keywords else ())])
    source = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(source, names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {one.name: one.type for one in members if one.init} | {"return": None}
    return made


def _refusals(cls: type, names: set[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    def set_(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return set_, delete


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=False):
        object.__setattr__(self, one.name, value)


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _shown(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def shown(self: Any) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({inside})"

    return shown


def _equal(values: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        if type(other) is type(self):
            return values(self) == values(other)
        return NotImplemented

    return equal


def _hashed(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed

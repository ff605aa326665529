"""Frozen dataclasses behave as those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass as standard
from typing import Any, ClassVar

import pytest

from tabwb.records.classes import dataclass as ours
from tabwb.records.classes import field, fields, replace


def _classes(dataclass: Callable[..., Any]) -> tuple[Any, Any, Any]:
    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        x: float
        y: float = 0.0
        names: list[str] = field(default_factory=list, compare=False)
        told: str = field(default="", kw_only=True, repr=False)
        kind: ClassVar[str] = "point"
        twice: float = field(init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", self.x * 2)

    @dataclass(frozen=True, kw_only=True)
    class Open:
        """With a dictionary of its own."""

        one: int
        other: "Open | None" = None

    @dataclass(frozen=True, slots=True)
    class Beyond(Point):
        """A subclass."""

        z: int = 0

    return Point, Open, Beyond


Kept, _, Below = _classes(ours)
Kept.__qualname__, Below.__qualname__ = "Kept", "Below"  # pickle finds them here


def test_all_that_a_user_of_the_class_sees_is_equal() -> None:
    def seen(dataclass: Callable[..., Any]) -> list[Any]:
        point, opened, beyond = _classes(dataclass)
        one, same = point(1.0, 2.0, ["a"], told="x"), point(1.0, 2.0, ["b"], told="x")
        made = [one, point(3.0), opened(one=1, other=opened(one=2)), beyond(1.0, z=4)]
        return [
            [repr(each) for each in made],
            one == same, hash(one) == hash(same), one == point(1.0), one == 1.0,
            replace(one, y=5.0).y,
            [(each.name, each.kw_only, each.init) for each in fields(beyond)],
            point.__match_args__, point.__slots__, hasattr(one, "__dict__"),
            str(inspect.signature(point)), str(inspect.signature(opened)),
            point.__init__.__qualname__, dataclasses.asdict(one), one.twice,
            copy.copy(one), copy.deepcopy(one).names, vars(made[2]),
        ]  # fmt: skip

    for mine, theirs in zip(seen(ours), seen(standard), strict=True):
        assert str(mine) == str(theirs)


@pytest.mark.parametrize("dataclass", [ours, standard])
def test_nothing_can_be_set_or_deleted(dataclass: Callable[..., Any]) -> None:
    for made in (each(1.0) for each in (_classes(dataclass)[0], _classes(dataclass)[2])):
        with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'x'"):
            made.x = 2.0
        with pytest.raises(dataclasses.FrozenInstanceError, match="delete field 'x'"):
            del made.x
        with pytest.raises((AttributeError, TypeError)):
            made.other = 2.0


def test_wrong_arguments_are_named_with_the_class() -> None:
    with pytest.raises(TypeError, match=r"Kept|Point\.__init__\(\) missing 1 required .* 'x'"):
        Kept()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Kept(1.0, z=1)


def test_a_subclass_must_be_frozen_too() -> None:
    with pytest.raises(TypeError, match="frozen"):
        standard(type("Loose", (Kept,), {"__annotations__": {"more": int}}))


def test_an_instance_is_pickled() -> None:
    one = Kept(1.0, 2.0, ["a"])
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.names == ["a"]


def test_own_methods_are_kept() -> None:
    @ours(frozen=True, slots=True)
    class Told:
        """With methods of its own."""

        value: int

        def __repr__(self) -> str:
            return "told"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    assert (repr(Told(1)), Told(1) == Told(2), hash(Told(3))) == ("told", True, 7)


def test_identity_is_equality_without_eq() -> None:
    @ours(frozen=True, slots=True, eq=False, repr=False)
    class Single:
        """Compared by identity."""

        value: int

    one = Single(1)
    assert one != Single(1)
    assert {one: 2}[one] == 2
    assert repr(one).startswith("<")

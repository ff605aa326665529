"""What 339 commands print and write over five stores is what the golden files keep."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden import interfaces
from tests.golden.commands import Command, commands
from tests.golden.freeze import STORES, difference, output, unpacked

SHARED = (
    "tabwb.analysis.selection.selected",
    "tabwb.analysis.selection.groups_of",
    "tabwb.media.views.tables.named_table",
)
"""What several commands compute alike; computed once for all of them."""
AGREED = ("tabwb.analysis.stored_ratings.rated_of", "tabwb.analysis.agreement.agreement_of")
"""The same of the commands of one subject, which are of one store."""


def _subject(command: Command) -> str:
    """Return what a command shows: its name without the width or format."""
    return command.name.partition(".")[0]


def _subjects() -> list[tuple[str, str]]:
    return list(dict.fromkeys((s, _subject(command)) for s in STORES for command in commands(s)))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a store once for all tests."""
    known: dict[str, Path] = {}

    def found(store: str) -> Path:
        if store not in known:
            known[store] = unpacked(store, tmp_path_factory.mktemp(store))
        return known[store]

    return found


@pytest.fixture(scope="module")
def shared() -> Iterator[None]:
    """Compute once what commands share. Arguments are told apart by value, or by identity.

    Of a figure its numbers are compared; tests/media/figures draw it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tabwb.media.figures.files.save", lambda figure, out, **options: out)
        for name in SHARED:
            patch.setattr(name, _once(name))
        yield


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute once how far raters agree. What opens the store anew for each command is alike."""
    for name in AGREED:
        monkeypatch.setattr(name, _once(name, _alike))


def _alike(value: Any) -> Hashable:
    return callable(value) or (repr(value) if isinstance(value, dict) else _key(value))


def _once(name: str, plain: Callable[[Any], Hashable] | None = None) -> Callable[..., Any]:
    module, _, function = name.rpartition(".")
    compute = getattr(importlib.import_module(module), function)
    known: dict[Hashable, tuple[object, object]] = {}

    def call(*given: Any, **named: Any) -> Any:
        key = tuple(map(plain or _key, (*given, *named.values())))
        if key not in known:
            known[key] = (given, compute(*given, **named))  # given stay, so that ids stay theirs
        return known[key][1]

    return call


def _key(value: Any) -> Hashable:
    known: Hashable = getattr(value, "location", value)  # each command opens the store anew
    try:
        hash(known)
    except TypeError:
        return id(value)
    return known


@pytest.mark.parametrize(("store", "subject"), _subjects())
def test_commands_say_what_they_said(
    store: str,
    subject: str,
    stores: Callable[[str], Path],
    tmp_path: Path,
    shared: None,
    agreed: None,
) -> None:
    asked = [command for command in commands(store) if _subject(command) == subject]
    assert asked
    for command in asked:
        now = output(command, stores(store), tmp_path)
        assert difference(store, command.name, now) == ""


def test_commands_explain_themselves_as_they_did() -> None:
    for name, now in interfaces.helps():
        assert difference("help", name, now) == ""

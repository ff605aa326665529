"""What needs no open study: models and profiles here, checks of batteries and of stores."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Literal

from tabwb.api.engine import Place, does, done_without_store, named
from tabwb.operations.battery import CheckBattery
from tabwb.operations.model import AddProfile, ListModels, RemoveProfile, TryModel
from tabwb.operations.store import CheckStore


@does(ListModels)
def models() -> dict[str, Any]:
    """Return the back ends and profiles of models."""
    return done_without_store(ListModels, {})


@does(AddProfile)
def add_profile(
    name: str,
    spec: str,
    *,
    family: str = "",
    tuning: Literal["base", "instruct"] | None = None,
    parameters: str = "",
    force: bool = False,
) -> dict[str, Any]:
    """Write a profile of a model into your configuration."""
    return done_without_store(AddProfile, locals())


@does(RemoveProfile)
def remove_profile(name: str) -> dict[str, Any]:
    """Delete a profile from your configuration."""
    return done_without_store(RemoveProfile, locals())


@does(TryModel)
def try_model(spec: str, *, prompt: str = "Say hello.", max_tokens: int = 32) -> dict[str, Any]:
    """Load or reach a model, send one prompt, and return the reply."""
    return done_without_store(TryModel, locals())


@does(CheckBattery)
def check_battery(file: str | PathLike[str]) -> dict[str, Any]:
    """Check a battery: the document lists every problem with its line."""
    return done_without_store(CheckBattery, {"file": named(file)})


@does(CheckStore)
def check_store(store: Place = None) -> dict[str, Any]:
    """Check a store for damage; files beside it that no row names are removed."""
    return done_without_store(CheckStore, {"store": None if store is None else fspath(store)})

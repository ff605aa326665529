"""Keys of groups and filters that are parts of a spec of prompt noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.battery.prompt_noise import PromptNoise, parse_noise
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.report.key import Key, KeyKind, Value, written

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData

NOISE_SEED = "prompt-noise-seed"
"""The key over which responses under one kind and amount of prompt noise are pooled."""
_PARTS: tuple[tuple[str, str, KeyKind, Callable[[PromptNoise], Value | None]], ...] = (
    ("unit", "characters or words", "text", lambda noise: noise.unit),
    ("operation", "what is done to the units", "text", lambda noise: noise.operation),
    ("amount", "the share of units that is taken", "number", lambda noise: noise.amount),
    ("seed", "of all draws", "number", lambda noise: noise.seed if noise.draws else None),
)


def noise_of(given: Conditions) -> PromptNoise | None:
    """Return the prompt noise of conditions; None where there is none, or it is not a spec."""
    try:
        return parse_noise(given.prompt_noise) if given.prompt_noise else None
    except UsageError:  # imported from elsewhere
        return None


def without_noise_seed(given: Conditions) -> Conditions:
    """Return conditions without the seed of their prompt noise.

    >>> noisy = Conditions("echo", "model", prompt_noise="words:drop:0.2@seed=3")
    >>> without_noise_seed(noisy).prompt_noise
    'words:drop:0.2'
    """
    noise = noise_of(given)
    return given if noise is None else replace(given, prompt_noise=noise.without_seed())


def noise_keys() -> tuple[Key, ...]:
    """Return the keys: unit, operation, amount and seed of the prompt noise."""
    return tuple(
        Key(
            f"prompt-noise-{name}",
            f"prompt noise {name}",
            f"of the prompt noise: {meaning}",
            _values(read),
            kind=kind,
            whom="model",
            absent=f"no prompt noise {name}",
            label=_label(name),
            pooled=(NOISE_SEED,) if name == "seed" else (),
        )
        for name, meaning, kind, read in _PARTS
    )


def _values(
    read: Callable[[PromptNoise], Value | None],
) -> Callable[[AdministrationData], tuple[Value, ...]]:
    def values(data: AdministrationData) -> tuple[Value, ...]:
        noise = noise_of(data.administration.conditions)
        value = None if noise is None else read(noise)
        return () if value is None else (value,)

    return values


def _label(name: str) -> Callable[[AdministrationData, Value, str], str]:
    return lambda data, value, who: f"prompt noise {name} {written(value)}"

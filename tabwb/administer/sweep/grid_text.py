"""Writes the grid of a sweep from a lesion, with its amounts, layers, seeds and controls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tabwb.lesion.declared import NUMBERS, TARGETS, UNIT_KEYS
from tabwb.lesion.spec import Lesion, lesion_text, numbers_text
from tabwb.records.errors import UsageError

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

"""Keys of groups and filters that are parts of a lesion's spec."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

from tabwb.lesion.spec import parse_lesions
from tabwb.lesion.values import PARTS, role_of, spec_values
from tabwb.records.columns import DECLARED
from tabwb.records.errors import UsageError
from tabwb.records.specs import parse_spec
from tabwb.report.key import Key, Value, written

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData

LESION_SEED = "lesion-seed"
"""The key over which responses under one lesion are pooled."""


def _values(name: str) -> Callable[[AdministrationData], tuple[Value, ...]]:
    def values(data: AdministrationData) -> tuple[Value, ...]:
        given = data.administration.conditions
        if given.kind != "model" or not given.lesion:
            return ()
        found = spec_values(given.lesion)
        if not found:  # made with another tool
            return option_value(given.lesion, name, number=True)
        return (found[name],) if name in found else ()

    return values


def option_value(text: str, option: str, *, number: bool) -> tuple[Value, ...]:
    """Return the value of an option of a spec; none where the text is not such a spec.

    >>> option_value("noise@severity=0.50", "severity", number=True)
    (0.5,)
    """
    try:
        spec = parse_spec(text)
    except UsageError:  # not a spec, or stored by an earlier version
        return ()
    options = {name.replace("_", "-"): value for name, value in spec.options.items()}
    given = {"id": spec.id, "name": spec.name or "", **options}.get(option)
    return (_number(given) if number else given,) if given else ()


def _number(text: str) -> Value:
    """Return a finite number from its text; any other text as it is.

    >>> _number("0.5"), _number("mlp"), _number("nan")
    (0.5, 'mlp', 'nan')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def without_seed(lesion: str | None) -> str | None:
    """Return a lesion's spec without its seeds; of another tool's as it is.

    >>> without_seed("mlp:zero:0.3@layers=1,seed=7")
    'mlp:zero:0.3@layers=1'
    """
    try:
        return lesion and "+".join(one.kind(amount="") for one in parse_lesions(lesion))
    except UsageError:
        return lesion


def _label(name: str) -> Callable[[AdministrationData, Value, str], str]:
    return lambda data, value, who: f"lesion {name} {written(value)}"


def _role(data: AdministrationData) -> tuple[Value, ...]:
    given = data.administration.conditions
    return (role_of(given.lesion, data.administration.tags),) if given.kind == "model" else ()


def lesion_keys() -> tuple[Key, ...]:
    """Return the keys: role, target, operation, amount, layers, seed and kind of a lesion.

    Of joined lesions a key has the value that they share, and none where they differ. A lesion that
    another tool made has the options of its own spec.
    """
    role = Key(
        "lesion-role",
        "lesion role",
        "intact (no lesion), lesion, control or layer control (with the tag control)",
        _role,
        whom="model",
    )
    return (
        role,
        *(
            Key(
                f"lesion-{name}",
                f"lesion {name}",
                f"of the lesion: {DECLARED[f'lesion_{name}'].meaning}",
                _values(name),
                kind="text" if DECLARED[f"lesion_{name}"].type == "text" else "number",
                whom="model",
                absent=f"no lesion {name}",
                label=_label(name) if name == "layers" else None,
                pooled=(LESION_SEED,) if name == "seed" else (),
            )
            for name in PARTS
        ),
    )

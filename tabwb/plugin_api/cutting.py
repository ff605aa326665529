"""The option ``cut`` of every transcriber: whether it gets only the stretches with speech.

tabwb itself cuts the recording; the transcriber does not get the option.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import UsageError
from tabwb.records.specs import Spec
from tabwb.records.speech import is_typed

Cut = Literal["no", "speech", "energy"]
KEY = "cut"
MEANINGS: dict[Cut, str] = {
    "no": "the whole recording",
    "speech": "speech, found by a model of voice activity and by energy",
    "energy": "speech, found by energy alone",
}


def without_cut(spec: Spec) -> Spec:
    """Return the spec without the option ``cut``.

    >>> str(without_cut(Spec("x", "y", {"cut": "speech", "beam": "4"})))
    'x:y@beam=4'
    """
    return replace(spec, options={key: value for key, value in spec.options.items() if key != KEY})


def cut_of(descriptor: Descriptor, spec: Spec) -> Cut:
    """Return the value of ``cut`` for a transcriber.

    Args:
        descriptor: of the transcriber; one that cuts by itself always does.
        spec: its spec, with or without the option.

    Raises:
        UsageError: the value is not allowed for this transcriber.
    """
    default: Cut = "speech" if descriptor.cuts else "no"
    value = spec.options.get(KEY, default)
    if is_typed(spec.id):
        allowed: tuple[Cut, ...] = ("no",)
    else:
        allowed = ("speech", "energy") if descriptor.cuts else ("no", "speech", "energy")
    if value not in allowed:
        raise UsageError(
            f"option '{KEY}' of '{descriptor.id}': '{value}' is not allowed",
            allowed=", ".join(f"{name} ({MEANINGS[name]})" for name in allowed),
        )
    return value

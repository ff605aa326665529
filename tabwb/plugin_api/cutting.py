"""The option ``cut``, which every transcriber takes: whether it is given speech alone.

tabwb itself cuts (``administer/transcribing.py``); the transcriber never sees the option.
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
    """Return the spec with the options that are the transcriber's own.

    >>> str(without_cut(Spec("x", "y", {"cut": "speech", "beam": "4"})))
    'x:y@beam=4'
    """
    return replace(spec, options={key: each for key, each in spec.options.items() if key != KEY})


def cut_of(descriptor: Descriptor, spec: Spec) -> Cut:
    """Return how a transcriber's recordings are cut.

    Args:
        descriptor: of the transcriber; one that cuts by itself does so in any case.
        spec: its spec, with ``cut`` among its options or without.

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
            allowed=", ".join(f"{each} ({MEANINGS[each]})" for each in allowed),
        )
    return value

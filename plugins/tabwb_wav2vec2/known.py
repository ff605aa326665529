"""Public models by id, and vocabularies of models without one, from ``models.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import tomli


@dataclass(frozen=True, slots=True)
class Known:
    """A public model.

    Attributes:
        id: on the hub.
        labels: the set of its labels, or the name of a vocabulary (``psst``).
        licence: as the hub states it.
        remarks: one line.
    """

    id: str
    labels: str
    licence: str
    remarks: str


def known_models() -> tuple[Known, ...]:
    """Return every model of the list."""
    return _read()[0]


def known_model(name: str) -> Known | None:
    """Return the model with an id, or None where it is not listed.

    >>> known_model("rcgale/psst-apr-baseline").labels
    'psst'
    """
    return next((model for model in known_models() if model.id == name), None)


def listed_outputs(vocabulary: str) -> tuple[str, ...] | None:
    """Return the label of every output of a listed vocabulary; empty where it is unknown.

    >>> outputs = listed_outputs("psst")
    >>> len(outputs), outputs[0], outputs[4], outputs[43], outputs[45], set(outputs[1:4])
    (46, '<pad>', 'AA', 'ZH', '<spn>', {''})
    """
    return _read()[1].get(vocabulary)


@cache
def _read() -> tuple[tuple[Known, ...], dict[str, tuple[str, ...]]]:
    text = files("tabwb_wav2vec2").joinpath("models.toml").read_text(encoding="utf-8")
    document = tomli.loads(text)
    models = tuple(Known(**entry) for entry in document["model"])
    vocabularies: dict[str, tuple[str, ...]] = {}
    for name, entry in document["vocabulary"].items():
        outputs = [""] * entry["outputs"]
        outputs[entry["blank"]] = entry["labels"][0]
        for number, label in enumerate(entry["labels"][1:], 1):
            outputs[number + entry["offset"]] = label
        vocabularies[name] = tuple(outputs)
    return models, vocabularies

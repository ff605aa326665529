"""Checks of a model's folder before anything of it is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from tabwb.records.errors import ComponentError

INDEXES = "*.index.json"
WEIGHTS = ("*.safetensors", "*.bin")
MOST_LAYERS = 10_000
MOST_BYTES = 64 * 2**20
"""The longest JSON file that is read, in bytes."""
BITS = 2
"""No stored parameter takes fewer bits."""
SLACK_BYTES = 2**20


def check_folder(folder: Path) -> None:
    """Check that a model's files stay in its folder and hold the model that it describes.

    transformers opens whatever file an index of weights names, and begins to make a model of any
    size before it looks for its weights.
    """
    for index in sorted(folder.glob(INDEXES)):
        for name in sorted(set(_weight_names(_read(index), index))):
            if _leaves(name):
                raise ComponentError(
                    f"names weights outside the model's folder: {name!r}",
                    where=str(index),
                    allowed="names of files in the same folder",
                )
    config = _read(folder / "config.json")
    stored = sum(path.stat().st_size for pattern in WEIGHTS for path in folder.glob(pattern))
    if not stored:
        return  # transformers says what is missing
    for part in _configurations(config):
        least = least_parameters(part)
        if least * BITS / 8 > stored + SLACK_BYTES:
            raise ComponentError(
                f"describes a model of at least {least:,} parameters, but the weights in its "
                f"folder have {stored:,} bytes",
                where=str(folder / "config.json"),
            )


def least_parameters(config: dict[str, Any]) -> int:
    """Return a lower bound of the parameters of a transformer, from its configuration.

    ``vocabulary x width + layers x 2 x width^2``: the embedding, and of each layer only the
    projections of the query and of the output. 0 where the configuration does not say.

    >>> least_parameters({"vocab_size": 100, "hidden_size": 8, "num_hidden_layers": 2})
    1056
    """
    names = (
        ("vocab_size",),
        ("hidden_size", "n_embd", "d_model"),
        ("num_hidden_layers", "n_layer"),
    )
    vocabulary, width, layers = (_number(config, *choices) for choices in names)
    if layers > MOST_LAYERS:
        raise ComponentError(
            f"config.json describes {layers:,} layers", allowed=f"up to {MOST_LAYERS:,}"
        )
    # Some models have an embedding narrower than their layers.
    embedding = _number(config, "embedding_size", "word_embed_proj_dim") or width
    return vocabulary * min(embedding, width) + layers * 2 * width**2


def _configurations(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield config
    yield from (part for part in config.values() if isinstance(part, dict))


def _number(config: dict[str, Any], *names: str) -> int:
    values = (config.get(name) for name in names)
    return next((value for value in values if isinstance(value, int) and value > 0), 0)


def _leaves(name: str) -> bool:
    windows = PureWindowsPath(name)
    return len(PurePosixPath(name).parts) != 1 or len(windows.parts) != 1 or name in {"..", "."}


def _weight_names(index: dict[str, Any], path: Path) -> Iterator[str]:
    names = index.get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise ComponentError("has no map from parameters to files", where=str(path))
    yield from names.values()


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ComponentError(f"is longer than {MOST_BYTES:,} bytes", where=str(path))
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ComponentError(f"cannot be read as JSON: {error}", where=str(path)) from error
    if not isinstance(content, dict):
        raise ComponentError("is not a JSON object", where=str(path))
    return content

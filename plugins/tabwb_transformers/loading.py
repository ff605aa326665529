"""Finds and loads a model and its tokenizer."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import torch
import transformers
from safetensors import SafetensorError

from tabwb.plugin_api import is_offline, within
from tabwb.records.errors import ComponentError
from tabwb_transformers.options import DeviceOptions, LocalOptions, TransformersOptions

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


SMALL = 50_000_000
"""With fewer parameters one thread is faster than several."""
TOKENIZER = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.*", "merges.txt", "tokenizer.model", "spiece.model", "*.tiktoken", "chat_template.*",
)  # fmt: skip
"""The files of a tokenizer and its chat template, by name."""
HUB = "https://huggingface.co"
HUB_S = 4.0
"""Seconds in which the hub must answer."""
_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model with its tokenizer.

    Attributes:
        facts: what is stored with an administration.
        limit: the most tokens of prompt and reply together, or None where unknown.
    """

    model: Any
    tokenizer: Any
    device: torch.device
    facts: Mapping[str, str]
    limit: int | None


def source_of(name: str) -> Path | None:
    """Return the folder of a name, or None for the id of a hub."""
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ComponentError(
                "holds no config.json",
                where=str(path),
                allowed="a folder as save_pretrained() of transformers writes it",
            )
        check_folder(path)
        return path
    if name.startswith(("/", "./", "../", "~")) or path.exists() or not _ID.fullmatch(name):
        raise ComponentError(
            "there is no such folder",
            where=str(path),
            allowed="a folder with config.json, weights and tokenizer, or the id of a model "
            "on a hub (NAME or OWNER/NAME)",
        )
    return None


def load(name: str, options: LocalOptions, *, shown: str | None = None) -> Loaded:
    """Load a model.

    Args:
        name: a folder or an id.
        options: see their class; ``LocalOptions`` for a model whose dtype is fixed.
        shown: how the model is called in the facts; ``name`` when None.
    """
    folder = source_of(name)
    device = device_of(options.device)
    dtype, revision = "auto", None
    if isinstance(options, TransformersOptions):
        dtype, revision = options.dtype, options.revision
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    local = folder is not None or is_offline() or not hub_answers()
    source = str(folder) if folder is not None else name
    where = {"revision": revision, "local_files_only": local, "trust_remote_code": False}
    with loading_errors(source, local=folder is not None):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **where)
        model, loaded = transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=dtype, output_loading_info=True, **where
        )
        if loaded["missing_keys"]:  # transformers would fill them with random numbers
            missing = ", ".join(sorted(loaded["missing_keys"])[:3])
            raise ComponentError(f"its weights lack parameters: {missing}", where=source)
        model = model.to(device).eval()
    facts = {"model": shown or name, **facts_of(model, options, device, folder, revision)}
    if folder is not None:
        facts["tokenizer_sha256"] = files_hash(folder, TOKENIZER)
    limit = getattr(model.config, "max_position_embeddings", None)
    return Loaded(model, tokenizer, device, facts, limit if isinstance(limit, int) else None)


def hub_answers(limit_s: float = HUB_S) -> bool:
    """Return whether the hub can be reached: without it transformers would try for a minute."""
    address = os.environ.get("HF_ENDPOINT", "").strip() or HUB

    def ask() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=limit_s):
                return True
        except urllib.error.HTTPError:
            return True  # it answers
        except (OSError, ValueError):
            return False

    try:
        return within(limit_s, ask)
    except TimeoutError:
        return False


def facts_of(
    model: Any,
    options: DeviceOptions,
    device: torch.device,
    folder: Path | None,
    revision: str | None,
) -> dict[str, str]:
    """Return the facts of a model to store; a small one gets one thread where none was chosen."""
    parameters = int(model.num_parameters())
    if options.threads is None and parameters < SMALL:
        torch.set_num_threads(1)
    facts = {
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": str(device),
        "parameters": str(parameters),
        "threads": str(torch.get_num_threads()),
        "torch": str(torch.__version__),
        "transformers": str(transformers.__version__),
    }
    if folder is not None:
        facts["weights_sha256"] = files_hash(folder, WEIGHTS)
    elif commit := getattr(model.config, "_commit_hash", None) or revision:
        facts["revision"] = str(commit)
    return facts


def files_hash(folder: Path, patterns: Sequence[str]) -> str:
    """Return the SHA-256 (hex) of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            with path.open("rb") as weights:
                content = hashlib.file_digest(weights, "sha256").digest()
            digest.update(path.name.encode() + b"\0" + content)
    return digest.hexdigest()


def device_of(wish: str) -> torch.device:
    """Return the device of an option."""
    if wish == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if wish.startswith("cuda"):
        index = int(wish.partition(":")[2] or 0)
        if index >= torch.cuda.device_count():
            raise ComponentError(
                f"there is no device '{wish}' here",
                allowed=", ".join(
                    ["auto", "cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
                ),
            )
    elif wish == "mps" and not torch.backends.mps.is_available():
        raise ComponentError("there is no device 'mps' here", allowed="auto, cpu")
    return torch.device(wish)


class OutOfMemory(ComponentError):
    """There is not enough memory for a computation; a smaller one may fit."""


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turn torch's errors of memory into ours."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _no_memory() from error
    except RuntimeError as error:
        if "can't allocate memory" in str(error) or "out of memory" in str(error).lower():
            raise _no_memory() from error
        raise


def _no_memory() -> OutOfMemory:
    return OutOfMemory(
        "memory ran out",
        hint="take a smaller model, dtype=bfloat16, another device, a smaller batch_size, or a "
        "shorter conversation",
    )


@contextmanager
def loading_errors(
    source: str, *, local: bool, kind: str = "causal language model"
) -> Iterator[None]:
    """Turn the errors of transformers about a model that cannot be loaded into ours."""
    try:
        with memory_errors():
            yield
    except pickle.UnpicklingError as error:
        raise ComponentError(
            "its weights are a pickle that holds more than weights; it was not run",
            where=source,
            allowed="safetensors, or a pickle of tensors alone",
            hint="convert the weights to safetensors where you trust their source: "
            "save_pretrained() of transformers writes them",
        ) from error
    except (OSError, ValueError, RuntimeError, LookupError, ImportError, SafetensorError) as error:
        first = next((line for line in str(error).splitlines() if line.strip()), repr(error))
        if local:
            raise ComponentError(f"cannot be loaded: {first}", where=source) from error
        if not is_offline() and not hub_answers():
            raise ComponentError(
                f"model '{source}' is not in the local cache, and the hub cannot be reached",
                hint="check the network (HTTPS_PROXY, HF_ENDPOINT), or name a folder",
            ) from error
        if is_offline():
            raise ComponentError(
                f"model '{source}' is not in the local cache, and tabwb is offline",
                hint="leave out --offline once to download it, or name a folder",
            ) from error
        raise ComponentError(
            f"model '{source}' cannot be loaded: {first}",
            allowed=f"the id of a {kind} on the hub (OWNER/NAME), or a folder",
        ) from error

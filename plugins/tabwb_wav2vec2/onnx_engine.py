"""The forward pass by ONNX Runtime, with a copy of the model that is made once."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from tabwb.records.errors import ComponentError, MissingExtra
from tabwb.records.files import make_private_folder
from tabwb.records.system import import_onnxruntime
from tabwb_wav2vec2.engine import SAME, Features, Loaded, LogProbs

Precision = Literal["fp32", "int8"]
PROBE_S = (0.43, 1.0, 2.17)
"""Seconds of the noise on which the copy is compared with the model."""


class OnnxEngine:
    """ONNX Runtime on the processor, one clip at a time.

    One at a time, because int8 scales what flows through a layer by its largest value: in a batch a
    loud clip would change what is heard in its neighbours.
    """

    most_together = 1
    pads = False

    def __init__(self, loaded: Loaded, precision: Precision, folder: Path) -> None:
        runtime = _need("onnxruntime")
        path = exported(loaded, precision, folder)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = int(loaded.facts["threads"])
        options.log_severity_level = 3
        # Spinning threads slow down other programs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = runtime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ComponentError(
                f"the ONNX copy of the model cannot be used: {error}",
                where=str(path),
                hint="delete the file; it is made again",
            ) from error
        self.facts: Mapping[str, str] = {
            "onnx": precision,
            "onnxruntime": str(runtime.__version__),
        }

    def log_probs(self, features: Sequence[Features]) -> list[LogProbs]:
        """Return an array (frames, outputs) of natural logs for each clip."""
        return [self._one(feature) for feature in features]

    def _one(self, features: Features) -> LogProbs:
        logits = self._session.run(None, {"features": features[None]})[0][0].astype(np.float64)
        normalised: LogProbs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return normalised.astype(np.float32)


def exported(loaded: Loaded, precision: Precision, folder: Path) -> Path:
    """Return the path of the ONNX copy of a model, made on first use."""
    key = _key(loaded)
    path = folder / f"{key}-{precision}.onnx"
    if path.is_file():
        return path
    _need("onnx")
    quantisation = _need("onnxruntime.quantization")
    make_private_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix="making-") as making:
        whole = Path(making) / "fp32.onnx"
        with _quiet():
            _export(loaded, whole)
            if precision == "int8":
                quantisation.quantize_dynamic(
                    whole,
                    Path(making) / "int8.onnx",
                    op_types_to_quantize=["MatMul"],
                    per_channel=True,
                )
        (Path(making) / f"{precision}.onnx").replace(path)
    return path


class _Logits(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, features: torch.Tensor) -> Any:
        return self.model(features).logits


def _export(loaded: Loaded, path: Path) -> None:
    model = _Logits(loaded.model.float().cpu()).eval()
    noise = np.random.default_rng(0).normal(0, 0.05, 3 * loaded.rate).astype(np.float32)
    probes = [
        torch.from_numpy(loaded.features(noise[: int(seconds * loaded.rate)]))[None]
        for seconds in PROBE_S
    ]
    try:
        # By tracing: the newer exporter cannot do Wav2Vec2Bert's relative positions.
        torch.onnx.export(
            model,
            (probes[1],),
            str(path),
            input_names=["features"],
            output_names=["logits"],
            dynamic_axes={"features": {1: "time"}, "logits": {1: "frames"}},
            dynamo=False,
        )
    except Exception as error:
        raise ComponentError(
            f"the model cannot be written as ONNX: {error}".splitlines()[0],
            where=loaded.source,
            hint="leave out onnx=...",
        ) from error
    session = _need("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for probe in probes:
        with torch.inference_mode():
            wanted = model(probe).log_softmax(-1).numpy()
        logits = torch.from_numpy(session.run(None, {"features": probe.numpy()})[0])
        same_shape = logits.shape == wanted.shape
        if not same_shape or np.abs(logits.log_softmax(-1).numpy() - wanted).max() > SAME:
            raise ComponentError(
                "the ONNX copy gives other results than the model",
                where=loaded.source,
                hint="leave out onnx=...",
            )


def _key(loaded: Loaded) -> str:
    """Return a name of the weights and of everything that a copy depends on."""
    digest = hashlib.sha256()
    for name, tensor in sorted(loaded.model.state_dict().items()):
        digest.update(name.encode() + b"\0" + str(tuple(tensor.shape)).encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
    made_by = [str(loaded.model.config.to_json_string(use_diff=False)), torch.__version__]
    made_by.append(str(_need("onnxruntime").__version__))
    digest.update("\0".join(made_by).encode())
    return digest.hexdigest()[:24]


def _need(module: str) -> Any:
    try:
        if module.split(".", maxsplit=1)[0] == "onnxruntime":
            return import_onnxruntime(module)
        return import_module(module)
    except ImportError as error:
        raise MissingExtra("onnx=...", "onnx", package=module.split(".", maxsplit=1)[0]) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of exporter and quantiser about intended choices."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        root.setLevel(level)

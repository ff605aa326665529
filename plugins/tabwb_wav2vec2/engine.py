"""A loaded CTC model of transformers: front end, forward pass and batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from tabwb_transformers.loading import (
    device_of,
    facts_of,
    loading_errors,
    memory_errors,
    source_of,
)
from transformers.utils import cached_file

from tabwb.plugin_api import is_offline
from tabwb.records.errors import ComponentError
from tabwb_wav2vec2.options import TranscriberOptions, Wav2Vec2Options

Samples = NDArray[np.float32]
Features = NDArray[np.float32]
"""The input of a model for one clip: shape (samples,) or (frames, bins)."""
LogProbs = NDArray[np.float32]
HOP = 160
"""Samples from one spectrum to the next (10 ms)."""
FRAME, FFT, PRE_EMPHASIS, MEL_FLOOR = 400, 512, 0.97, 1.192092955078125e-07
"""Of ``SeamlessM4TFeatureExtractor``, as in Kaldi."""
SAME = 1e-3
"""The largest difference of log probabilities that rounding of float32 causes."""
KIND = "CTC model of speech"


class Engine(Protocol):
    """Computes log probabilities from features."""

    most_together: int
    """The number of clips in one call."""
    pads: bool
    """Whether a call with clips of different lengths gives the same results."""

    def log_probs(self, features: Sequence[Features]) -> list[LogProbs]:
        """Return an array (frames, outputs) of natural logs for each clip."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model.

    Attributes:
        model: of transformers, in evaluation mode.
        extractor: its front end.
        files: gives a file beside the weights by its name, or None.
        source: folder or id.
        rate: of the sound that it takes, in Hz.
        stride_s: seconds from one frame of its output to the next.
        facts: what is stored.
    """

    model: Any
    extractor: Any
    source: str
    revision: str | None
    rate: int
    stride_s: float
    facts: Mapping[str, str]

    def file(self, name: str) -> Path | None:
        """Return the path of a file next to the weights, or None."""
        return _file(self.source, name, self.revision)

    def features(self, samples: Samples) -> Features:
        """Return the input of the model for a clip."""
        if type(self.extractor) is transformers.SeamlessM4TFeatureExtractor:
            return log_mel(self.extractor, samples)
        made = self.extractor(
            samples, sampling_rate=self.rate, pad_to_multiple_of=None, return_tensors="np"
        )
        name = self.extractor.model_input_names[0]
        features: Features = np.asarray(made[name][0], dtype=np.float32)
        return features


def log_mel(extractor: Any, samples: Samples) -> Features:
    """Return what the extractor makes, of all frames at once: it makes one after another."""
    frames = np.lib.stride_tricks.sliding_window_view(samples * np.float64(2**15), FRAME)[::HOP]
    frames = frames - frames.mean(1, keepdims=True)
    frames[:, 1:] -= PRE_EMPHASIS * frames[:, :-1]
    frames[:, 0] *= 1 - PRE_EMPHASIS
    power = np.abs(np.fft.rfft(frames * extractor.window, FFT)) ** 2
    mel = np.log(np.maximum(power @ extractor.mel_filters, MEL_FLOOR)).astype(np.float32)
    mel = (mel - mel.mean(0)) / np.sqrt(mel.var(0, ddof=1) + 1e-7)
    stride = int(extractor.stride)
    made: Features = mel[: len(mel) - len(mel) % stride].reshape(-1, stride * mel.shape[1])
    return made


def load(name: str, options: TranscriberOptions, *, shown: str | None = None) -> Loaded:
    """Load a model. Pickles are read with ``weights_only``, so that none of their code runs."""
    folder = source_of(name)
    source = str(folder) if folder is not None else name
    device = device_of(options.device if options.onnx == "no" else "cpu")
    dtype, revision = "float32", None
    if isinstance(options, Wav2Vec2Options):
        dtype, revision = options.dtype, options.revision
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    local = folder is not None or is_offline()
    where = {"revision": revision, "local_files_only": local, "trust_remote_code": False}
    with loading_errors(source, local=folder is not None, kind=KIND):
        config = transformers.AutoConfig.from_pretrained(source, **where)
        if type(config) not in transformers.MODEL_FOR_CTC_MAPPING:
            raise ComponentError(
                f"is a model of type '{config.model_type}', no {KIND}", where=source
            )
        extractor = _extractor(source, config, where)
        model, loading = transformers.AutoModelForCTC.from_pretrained(
            source,
            config=config,
            dtype=dtype,
            weights_only=True,
            output_loading_info=True,
            **where,
        )
        model = model.to(device).eval()
    # The mask of training is not used here.
    missing = [key for key in loading["missing_keys"] if not key.endswith("masked_spec_embed")]
    if missing:
        raise ComponentError(
            f"was never trained to transcribe: its file holds no weights for '{missing[0]}'",
            where=source,
            hint="take a model that was fine-tuned with CTC",
        )
    facts = {
        "model": shown or name,
        "architecture": type(model).__name__,
        **facts_of(model, options, device, folder, revision),
    }
    rate = int(extractor.sampling_rate)
    stride_s = _stride(model.config, extractor) / rate
    return Loaded(model, extractor, source, revision, rate, stride_s, facts)


class TorchEngine:
    """The forward pass by torch.

    Whether padding leaves the results of a clip as they are is measured when it is made: some
    families normalise over time and would hear their own padding.
    """

    def __init__(self, loaded: Loaded, batch_size: int | None) -> None:
        self._model = loaded.model
        self._input = loaded.extractor.model_input_names[0]
        self._padding = float(getattr(loaded.extractor, "padding_value", 0.0))
        on_cpu = loaded.model.device.type == "cpu"
        self.most_together = batch_size or (8 if on_cpu else 32)
        self.pads = False
        self.pads = self._padding_is_harmless(loaded)

    def log_probs(self, features: Sequence[Features]) -> list[LogProbs]:
        """Return an array (frames, outputs) of natural logs for each clip."""
        lengths = [len(feature) for feature in features]
        longest = max(lengths)
        shape = (len(features), longest, *features[0].shape[1:])
        batch = np.full(shape, self._padding, dtype=np.float32)
        for row, clip_features in zip(batch, features, strict=True):
            row[: len(clip_features)] = clip_features
        inputs = {self._input: torch.from_numpy(batch).to(self._model.device, self._model.dtype)}
        frames = [None] * len(features)
        if min(lengths) < longest:
            mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
            inputs["attention_mask"] = mask.long().to(self._model.device)
            frames = self._model._get_feat_extract_output_lengths(torch.tensor(lengths)).tolist()
        with memory_errors(), torch.inference_mode():
            logits = self._model(**inputs).logits.float().log_softmax(-1).cpu().numpy()
        return [row[:count] for row, count in zip(logits, frames, strict=True)]

    def _padding_is_harmless(self, loaded: Loaded) -> bool:
        if self.most_together == 1 or self._model.dtype != torch.float32:
            return False
        if not getattr(loaded.extractor, "return_attention_mask", False):
            return False
        if not hasattr(self._model, "_get_feat_extract_output_lengths"):
            return False
        noise = np.random.default_rng(0).normal(0, 0.05, loaded.rate).astype(np.float32)
        short, long = (loaded.features(noise[: int(s * loaded.rate)]) for s in (0.43, 1.0))
        alone, beside = self.log_probs([short])[0], self.log_probs([short, long])[0]
        return alone.shape == beside.shape and bool(np.abs(alone - beside).max() < SAME)


def batches(lengths: Sequence[int], engine: Engine) -> list[list[int]]:
    """Return the indices of clips to compute together, shortest first.

    Where the engine pads, the longest of a batch is at most a tenth longer than its shortest;
    where it does not, all are of one length.

    >>> class Three:
    ...     most_together, pads = 3, True
    >>> batches([100, 50, 105, 52, 300, 51, 50], Three())
    [[1, 6, 5], [3], [0, 2], [4]]
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    made: list[list[int]] = []
    for index in order:
        if made and len(made[-1]) < engine.most_together:
            shortest = lengths[made[-1][0]]
            limit = shortest * 1.1 if engine.pads else shortest
            if lengths[index] <= limit:
                made[-1].append(index)
                continue
        made.append([index])
    return made


def _extractor(source: str, config: Any, where: Mapping[str, Any]) -> Any:
    if _file(source, "preprocessor_config.json", where["revision"]) is not None or (
        _file(source, "processor_config.json", where["revision"]) is not None
    ):
        return transformers.AutoFeatureExtractor.from_pretrained(source, **where)
    if hasattr(config, "conv_stride"):
        # Without a configuration the input is normalised audio at 16 kHz.
        masks = getattr(config, "feat_extract_norm", "layer") == "layer"
        return transformers.Wav2Vec2FeatureExtractor(return_attention_mask=masks)
    raise ComponentError(
        "does not describe its front end",
        where=source,
        allowed="preprocessor_config.json beside the weights",
    )


def _stride(config: Any, extractor: Any) -> int:
    """Return the samples from one frame of the output to the next."""
    if hasattr(config, "conv_stride"):
        stride = int(np.prod(config.conv_stride))
    else:
        stride = HOP * int(getattr(extractor, "stride", 1))
    if getattr(config, "add_adapter", False):
        stride *= int(config.adapter_stride) ** int(config.num_adapter_layers)
    return stride


def _file(source: str, name: str, revision: str | None) -> Path | None:
    if Path(source).is_dir():
        path = Path(source) / name
        return path if path.is_file() else None
    found = cached_file(
        source,
        name,
        revision=revision,
        local_files_only=is_offline(),
        _raise_exceptions_for_gated_repo=False,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return None if found is None else Path(found)

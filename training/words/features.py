"""Log-mel features of batches, equal to those of `SeamlessM4TFeatureExtractor`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import SeamlessM4TFeatureExtractor

STRIDE = 3
MELS = 80
FRAME_SECONDS = 0.01 * STRIDE
_FRAME, _HOP, _FFT = 400, 160, 512
_EXTRACTOR = SeamlessM4TFeatureExtractor(feature_size=MELS, num_mel_bins=MELS, stride=STRIDE)
_WINDOW = torch.tensor(_EXTRACTOR.window, dtype=torch.float32)
_FILTERS = torch.tensor(_EXTRACTOR.mel_filters, dtype=torch.float32)


def log_mel(samples: NDArray[np.float32]) -> torch.Tensor:
    """Return the log-mel spectrogram, float32 of shape (frames of 10 ms, `MELS`).

    As in Kaldi: samples as 16-bit numbers, frames of 25 ms, mean removed, pre-emphasis of 0.97,
    Povey window, power spectrum, triangles on the mel scale.
    """
    frames = torch.from_numpy(samples).unfold(0, _FRAME, _HOP) * 2.0**15
    frames = frames - frames.mean(1, keepdim=True)
    before = torch.cat([frames[:, :1], frames[:, :-1]], dim=1)
    power = torch.fft.rfft((frames - 0.97 * before) * _WINDOW, _FFT).abs().square()
    mel: torch.Tensor = (power @ _FILTERS).clamp_min(1.192092955078125e-07).log()
    return mel


def normalise(mel: torch.Tensor) -> torch.Tensor:
    """Give every mel bin mean 0 and variance 1 over the clip, and stack frames in threes.

    From (frames of 10 ms, `MELS`) to (frames of 30 ms, ``STRIDE * MELS``).
    """
    out = (mel - mel.mean(0)) / (mel.var(0) + 1e-7).sqrt()
    return out[: len(out) - len(out) % STRIDE].reshape(-1, STRIDE * MELS)


def pad(features: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad to (clips, longest, ``STRIDE * MELS``) and return the mask, int64 (clips, longest)."""
    lengths = torch.tensor([len(f) for f in features])
    padded = torch.nn.utils.rnn.pad_sequence(list(features), batch_first=True)
    return padded, (torch.arange(padded.shape[1]) < lengths[:, None]).long()

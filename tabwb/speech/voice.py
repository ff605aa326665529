"""Probability of speech in each 32 ms, by the Silero model of voice activity in ONNX Runtime.

The model file comes from the package silero-vad 6.2.3 (MIT, ``data/LICENSE-silero-vad.txt``). The
package itself needs torch and is not used.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.speech import Stretch
from tabwb.speech.files import Samples
from tabwb.speech.needs import is_installed, need

MODEL = Path(__file__).parent / "data" / "silero_vad_16k.onnx"
METHOD = "silero-6.2.3"
RATE = 16_000
FRAME = 512
"""Samples of one probability: 32 ms."""
CONTEXT = 64
"""Samples before a frame that the model is given with it."""
STATE = (1, 1, 128)
AT_ONCE = 512
"""Frames in one call, to bound the memory that a long recording takes."""
BEGINS, ENDS = 0.3, 0.15
"""Speech begins where the probability reaches the first and ends where it falls below the second
[ours; the package's default is 0.5 and 0.35, made for talk and not for single words]."""
AROUND_S = 0.060
LEAST_GAP_S = 0.30


def is_available() -> bool:
    """Return whether ONNX Runtime is installed, without importing it."""
    return is_installed("onnxruntime")


def voice_probabilities(samples: Samples) -> NDArray[np.float32]:
    """Return the probability of speech in each frame of 512 samples.

    Args:
        samples: one channel at 16 kHz, float32 in [-1, 1]; the last frame is filled with zeros.

    Returns:
        Shape (frames,), from 0 to 1.

    Raises:
        MissingExtra: onnxruntime is not installed.
    """
    if samples.size == 0:
        return np.zeros(0, dtype=np.float32)
    session = _session()
    count = -(-samples.size // FRAME)
    padded = np.zeros(CONTEXT + count * FRAME, dtype=np.float32)
    padded[CONTEXT : CONTEXT + samples.size] = samples
    framed = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + FRAME)[::FRAME]
    hidden, cell = np.zeros(STATE, np.float32), np.zeros(STATE, np.float32)
    probabilities = np.zeros(count, dtype=np.float32)
    for first in range(0, count, AT_ONCE):
        given = {"input": np.ascontiguousarray(framed[first : first + AT_ONCE])}
        probabilities[first : first + AT_ONCE], hidden, cell = session.run(
            ["speech_probs", "hn", "cn"], {**given, "h": hidden, "c": cell}
        )
    return probabilities


def stretches_of_voice(probabilities: NDArray[np.float32], seconds: float) -> tuple[Stretch, ...]:
    """Return the stretches of speech in a row of probabilities.

    A stretch begins with the first frame at 0.3 or more and ends before the next one below 0.15;
    60 ms are added on both sides, and gaps below 0.3 s are closed.

    Args:
        probabilities: of frames of 32 ms, as :func:`voice_probabilities` gives them.
        seconds: how long the recording is.

    >>> row = np.array([0, 0, 0.4, 0.2, 0.1, 0, 0], dtype=np.float32)
    >>> [(round(a, 3), round(b, 3)) for a, b in stretches_of_voice(row, 0.224)]
    [(0.004, 0.188)]
    """
    stretches: list[Stretch] = []
    began: int | None = None
    for at, probability in enumerate((*probabilities.tolist(), 0.0)):
        if began is None and probability >= BEGINS:
            began = at
        elif began is not None and probability < ENDS:
            start = max(began * FRAME / RATE - AROUND_S, 0.0)
            end = min(at * FRAME / RATE + AROUND_S, seconds)
            if stretches and start - stretches[-1].end_s < LEAST_GAP_S:
                stretches[-1] = Stretch(stretches[-1].start_s, end)
            else:
                stretches.append(Stretch(start, end))
            began = None
    return tuple(stretches)


@cache
def _session() -> Any:
    runtime = need("onnxruntime", "finding speech by a model", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])

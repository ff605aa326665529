"""Measure transcribers, compared with the plain pipeline of transformers."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import call, interleaved
from benchmarks.rows import Result

RATE = 16_000
SECONDS = 4.0
THREADS = 2


def transcription(rounds: int) -> Iterator[Result]:
    """Yield the rows of one clip of 4 s: wav2vec 2.0 base, and the bundled model.

    The weights are random, because they do not affect the time.
    """
    with tempfile.TemporaryDirectory() as folder:
        clip = _noise(Path(folder) / "clip.wav")
        yield from _base(Path(folder), clip, rounds)
        yield from _bundled(clip, rounds)


def _base(folder: Path, clip: Path, rounds: int) -> Iterator[Result]:
    import json

    import torch
    import transformers
    from tabwb_wav2vec2.options import Wav2Vec2Options
    from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

    from tabwb.phonology.inventory import PHONEMES
    from tabwb.records.speech import Clip
    from tabwb.speech.files import read_clip

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    base = folder / "base"
    labels = ("<pad>", "<s>", "</s>", "<unk>", *PHONEMES)
    configuration = transformers.Wav2Vec2Config(vocab_size=len(labels))
    transformers.Wav2Vec2ForCTC(configuration).save_pretrained(base)
    (base / "vocab.json").write_text(json.dumps({label: n for n, label in enumerate(labels)}))
    front = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=False)
    front.save_pretrained(base)
    tokenizer = transformers.Wav2Vec2CTCTokenizer(str(base / "vocab.json"))
    pipeline = transformers.pipeline(
        "automatic-speech-recognition",
        model=transformers.Wav2Vec2ForCTC.from_pretrained(base).eval(),
        feature_extractor=front,
        tokenizer=tokenizer,
        device="cpu",
    )
    samples, _ = read_clip(clip)

    def made(onnx: str) -> Wav2Vec2Transcriber:
        options = Wav2Vec2Options(onnx=onnx, threads=THREADS, device="cpu")  # type: ignore[arg-type]
        transcriber = Wav2Vec2Transcriber(str(base), options, cache=folder)
        transcriber.open()
        return transcriber

    ours = [made(onnx) for onnx in ("no", "fp32", "int8")]
    given = [Clip(str(clip))]
    *costs, plain = interleaved(
        *[
            lambda one=one: call(lambda: list(one.transcribe_many(given, threading.Event())), 1)
            for one in ours
        ],
        lambda: call(lambda: pipeline({"raw": samples, "sampling_rate": RATE}), 1),
        rounds=rounds,
    )
    names = ("torch", "ONNX fp32", "ONNX int8")
    budgets = ("no slower than the pipeline", "", "0.16 s (0.55 x the pipeline)")
    for name, budget, cost in zip(names, budgets, costs, strict=True):
        what = f"wav2vec 2.0 base, clip of 4 s, {THREADS} threads, {name}"
        yield Result(what, budget, cost, (("plain transformers pipeline", plain),))


def _bundled(clip: Path, rounds: int) -> Iterator[Result]:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.speech import Clip

    plugins = Plugins.load()
    transcriber = plugins.open_transcriber("bundled-words")
    transcriber.open()
    one, many = [Clip(str(clip))], [Clip(str(clip))] * 16
    alone, together = interleaved(
        lambda: call(lambda: list(transcriber.transcribe_many(one, threading.Event())), 1),
        lambda: call(lambda: list(transcriber.transcribe_many(many, threading.Event())), 1),
        rounds=rounds,
    )
    plugins.close()
    for cost, count in ((alone, 1), (together, 16)):
        share = cost.clock_s / (count * SECONDS)
        yield Result(
            f"bundled-words, {count} x 4 s, in its child (CPU: of the parent only); "
            f"real-time factor {share:.3f}",
            "",
            cost,
        )


def _noise(path: Path) -> Path:
    import numpy as np

    from tabwb.speech.files import write_wav

    samples = np.random.default_rng(0).normal(0, 0.05, int(SECONDS * RATE)).astype(np.float32)
    write_wav(path, samples, RATE)
    return path

"""Tiny CTC models of speech with random weights that are made on the spot, and clips for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tabwb_wav2vec2.options import Wav2Vec2Options
from tabwb_wav2vec2.transcriber import Wav2Vec2Transcriber

from tabwb.phonology.inventory import PHONEMES
from tabwb.records.speech import Clip, Transcript
from tabwb.speech.files import write_wav

RATE = 16_000
ARPABET = ("<pad>", "<s>", "</s>", "<unk>", *PHONEMES, "<sil>", "<spn>")
ESPEAK = ("<pad>", "<s>", "</s>", "<unk>", "b", "d", "ɔ", "ɡ", "ə", "ʌ", "əl", "iː", "y", "ɾ")
LETTERS = ("<pad>", "<s>", "</s>", "<unk>", "|", *"ETAONIHSRDLUMWCFGYPBVK'XJQZ")


def save_ctc(
    folder: Path,
    labels: Sequence[str] = ARPABET,
    kind: str = "Wav2Vec2",
    *,
    files: bool = True,
    seed: int = 7,
    **more: Any,
) -> Path:
    """A CTC model of two layers."""
    import torch
    import transformers

    torch.manual_seed(seed)
    shape: dict[str, Any] = {
        "vocab_size": len(labels),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "pad_token_id": 0,
        "apply_spec_augment": False,
    }
    if kind == "Wav2Vec2Bert":
        shape |= {"feature_projection_input_dim": 240, "conv_depthwise_kernel_size": 5}
        shape |= {"position_embeddings_type": "relative_key"}
        front: Any = transformers.SeamlessM4TFeatureExtractor(stride=3)
    else:
        shape |= {"conv_dim": (16,) * 7, "num_conv_pos_embedding_groups": 2}
        shape |= {"num_conv_pos_embeddings": 8, "feat_extract_norm": "layer"}
        masks = more.get("feat_extract_norm", "layer") == "layer"
        front = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=masks)
    configuration = getattr(transformers, f"{kind}Config")(**{**shape, **more})
    model = getattr(transformers, f"{kind}ForCTC")(configuration)
    with torch.no_grad():
        # Random weights say one thing throughout; a larger last layer says many.
        model.lm_head.weight *= 60
        for parameter in model.base_model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(3)
    model.save_pretrained(folder)
    if files:
        numbers = {label: number for number, label in enumerate(labels)}
        (folder / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
        front.save_pretrained(folder)
    return folder


def noises(folder: Path, *seconds: float, seed: int = 1) -> list[Clip]:
    """Clips of noise that swells and ebbs, so that a model says several things."""
    generator = np.random.default_rng(seed)
    clips = []
    for number, length in enumerate(seconds):
        size = round(length * RATE)
        swell = np.interp(np.arange(size), np.linspace(0, size, 9), generator.uniform(0, 1, 9))
        colour = np.cumsum(generator.normal(0, 0.05, size)) * 0.02
        samples = (generator.normal(0, 0.05, size) * swell + colour - colour.mean()).clip(-1, 1)
        path = folder / f"noise-{number}-{length:g}.wav"
        write_wav(path, samples.astype(np.float32), RATE)
        clips.append(Clip(str(path)))
    return clips


def transcriber(folder: Path, **options: Any) -> Wav2Vec2Transcriber:
    """One on the processor, not yet opened."""
    cache = folder.parent / "onnx-copies"
    return Wav2Vec2Transcriber(
        str(folder), Wav2Vec2Options(device="cpu", **options), shown="tiny", cache=cache
    )


def heard(made: Wav2Vec2Transcriber, clips: Sequence[Clip]) -> list[Transcript]:
    """The transcripts of clips, in their order."""
    found = dict(made.transcribe_many(clips, threading.Event()))
    return [found[index] for index in range(len(clips))]

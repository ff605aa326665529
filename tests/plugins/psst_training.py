"""A small encoder with random weights, and the corpora that recipes are trained on, from clips."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tabwb_psst.made import RATE, SPEECH, WORDS, write_table

from tabwb.speech.files import Samples, read_clip, write_wav

EIGHT = ("bed", "bird", "cat", "dog", "down", "four", "house", "nine")


def save_encoder(folder: Path, *, width: int = 256, convolutions: int = 32, seed: int = 1) -> Path:
    """An encoder of two layers, as pretraining leaves one: without an output layer."""
    import torch
    import transformers

    torch.manual_seed(seed)
    configuration = transformers.Wav2Vec2Config(
        hidden_size=width, num_hidden_layers=2, num_attention_heads=4, intermediate_size=2 * width,
        conv_dim=(convolutions,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
        feat_extract_norm="layer",
    )  # fmt: skip
    transformers.Wav2Vec2Model(configuration).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(folder)
    return folder


def save_corpus(root: Path, words: Sequence[str] = EIGHT) -> Path:
    """A corpus of two clips of each word; validation and test have the same, of other speakers."""
    clips_of: list[tuple[str, int, Samples]] = []
    for word in words:
        clips = sorted(SPEECH.glob(f"{word}_*.flac"))
        for number in range(2):
            samples, rate = read_clip(clips[number % len(clips)])
            assert rate == RATE
            if number and len(clips) == 1:
                samples = np.concatenate([np.zeros(RATE // 10, np.float32), 0.6 * samples])
            clips_of.append((word, number, samples))
    for split, aq in (("train", 80), ("valid", 60), ("test", 30)):
        made = []
        for word, number, samples in clips_of:
            name = f"{split}{number + 1:02}"
            file = Path("audio") / f"{name}a-{word}.wav"
            (root / split / file).parent.mkdir(parents=True, exist_ok=True)
            write_wav(root / split / file, samples, RATE)
            made.append((f"{name}a-{word}", f"{name}a", "BNT-SF", word, " ".join(WORDS[word]),
                         "TRUE", aq + number, len(samples), file))  # fmt: skip
        write_table(root / split / "utterances.tsv", made)
    return root


def save_recipe(
    path: Path, *, learning_rate: float = 0.001, still: bool = False, **schedule: int
) -> Path:
    """A recipe that differs from psst-a in its schedule; ``still``: without masks and dropout."""
    lines = ["extends = 'psst-a'", "id = 'own'", "[schedule]"]
    values = {"learning_rate": learning_rate, **schedule}
    lines += (f"{name} = [{value}, 'ours']" for name, value in values.items())
    if still:
        shares = ("hidden", "attention", "activation", "projection", "final", "layers")
        lines += ["[mask]", "time_probability = [0.0, 'ours']",
                  "channel_probability = [0.0, 'ours']", "[dropout]",
                  *(f"{name} = [0.0, 'ours']" for name in shares)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def timit(root: Path) -> Path:
    """Four utterances in TIMIT's layout, one with a glottal stop."""
    labels = {"SA1": "h# kcl k ae tcl t h#", "SA2": "h# bcl b eh dcl d h#",
              "SI1": "h# q ae tcl h#", "SX1": "h# dcl d ao gcl g h#"}  # fmt: skip
    for number, (name, line) in enumerate(labels.items()):
        word = ("cat", "bed", "cat", "dog")[number]
        folder = root / ("TRAIN" if number < 3 else "TEST") / "DR1" / f"FABC{number}"
        folder.mkdir(parents=True)
        samples, _ = read_clip(sorted(SPEECH.glob(f"{word}_*.flac"))[0])
        write_wav(folder / f"{name}.WAV", samples, RATE)
        rows = [f"{at * 900} {at * 900 + 900} {label}" for at, label in enumerate(line.split())]
        (folder / f"{name}.PHN").write_text("\n".join(rows) + "\n", encoding="ascii")
    return root


def librispeech(root: Path) -> Path:
    """Two utterances in LibriSpeech's layout, one with a word of no dictionary."""
    folder = root / "84" / "121"
    folder.mkdir(parents=True)
    words = {"84-121-0000": ("CAT", "cat"), "84-121-0001": ("BLORF", "zero")}
    for name, (_, word) in words.items():
        shutil.copy(sorted(SPEECH.glob(f"{word}_*.flac"))[0], folder / f"{name}.flac")
    lines = [f"{name} {said}" for name, (said, _) in words.items()]
    (folder / "84-121.trans.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def unlabelled(root: Path) -> Path:
    """Recordings of two speakers, and one of a speaker of the test split."""
    for name, word in (("ABC01a", "cat"), ("ABC02a", "zero"), ("test01b", "dog")):
        (root / name).mkdir(parents=True)
        shutil.copy(sorted(SPEECH.glob(f"{word}_*.flac"))[0], root / name / "part.flac")
    return root


def curve(folder: Path) -> list[str]:
    """The lines of a curve."""
    return (folder / "curve.csv").read_text(encoding="utf-8").splitlines()


def card(folder: Path) -> Mapping[str, object]:
    """What was written of a training."""
    found: dict[str, object] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return found

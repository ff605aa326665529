"""Score the model: ``python -m training.words.evaluate --speech FOLDER [--record] [--card FILE]``.

On recordings of held-out speakers, on background noise, and on synthesised words outside the
training.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCTC, Wav2Vec2BertForCTC

from tabwb.phonology.batch import confusions, rates_by, score
from training.bundled.intervals import clopper_pearson
from training.words.augment import clicks, coloured_noise, hum
from training.words.card import write_card
from training.words.decode import hear
from training.words.measure import nearest_words, over_speakers, rates
from training.words.other_words import OTHER_WORDS
from training.words.pronunciations import RECORDED_WORDS, Phonemes
from training.words.recordings import (
    RATE,
    Recording,
    Samples,
    of_split,
    read_recordings,
    read_samples,
    silence_files,
)
from training.words.shipped import hear_shipped
from training.words.synthesise import Order, look_up, say

Hear = Callable[[Sequence[Samples]], list[Phonemes]]
FOLDER = Path("plugins/tabwb_bundled/words")
UNKNOWN_WORDS = (
    *("anchor", "basket", "blanket", "cabin", "canoe", "castle", "cactus", "dolphin", "goggles"),
    *("helmet", "igloo", "jungle", "lizard", "magnet", "muffin", "napkin", "parade", "pirate"),
    *("robot", "shovel", "tractor", "tulip", "tunnel", "turkey", "velvet", "walnut", "wizard"),
    *("mask", "stilts", "harp", "rhino", "dart", "sphinx", "yacht", "wreath", "noose"),
)
_VOICES = (("slt", True, 180.0), ("rms", True, 110.0), ("en-us", False, 50.0))
_PAUSE = 0.5
_NOISES = 60


def _recorded(clips: Sequence[Recording], heard: Sequence[Phonemes]) -> dict[str, Any]:
    """Return figures over recordings: rates, nearest words, one row a word, confusions."""
    said = [RECORDED_WORDS[clip.word] for clip in clips]
    speakers, words = [c.speaker for c in clips], [c.word for c in clips]
    scores = score(said, heard)
    per, fer = rates(scores, speakers)
    near = nearest_words(heard)
    right = [n == word for n, word in zip(near, words, strict=True)]
    nearest = over_speakers([float(r) for r in right], [1.0] * len(right), speakers)
    exact = over_speakers(
        [float(a == b) for a, b in zip(said, heard, strict=True)], [1.0] * len(right), speakers
    )
    hits = Counter(word for word, hit in zip(words, right, strict=True) if hit)
    wrong = Counter(
        (word, n or "nothing") for word, n in zip(words, near, strict=True) if n != word
    )
    table = [
        {"word": rate.name, "clips": rate.utterances, "nearest": hits[rate.name], "per": rate.per}
        for rate in sorted(rates_by(scores, words), key=lambda r: r.name)
    ]
    return {
        "clips": len(clips),
        "speakers": len(set(speakers)),
        "per": asdict(per),
        "fer": asdict(fer),
        "nearest_word": asdict(nearest),
        "exact": asdict(exact),
        "words": table,
        "taken_for": [[*pair, count] for pair, count in wrong.most_common(12)],
        "confusions": [
            [c.step.ref or "", c.step.hyp or "", c.count] for c in confusions(scores)[:20]
        ],
    }


def rare(recorded: dict[str, Any], common: int = 100) -> dict[str, Any]:
    """Return the share of right nearest words, over the words with few recordings only."""
    rows = [row for row in recorded["words"] if row["clips"] < common // 4]
    right, clips = sum(r["nearest"] for r in rows), sum(r["clips"] for r in rows)
    low, high = clopper_pearson(right, clips)
    return {"words": len(rows), "clips": clips, "right": right, "low": low, "high": high}


def _pairs(clips: Sequence[Recording], hear: Hear) -> dict[str, Any]:
    """Return pairs of held-out clips of a speaker with a pause between, as in a second attempt."""
    rng = random.Random(5)
    by_speaker: dict[str, list[Recording]] = {}
    for clip in clips:
        by_speaker.setdefault(clip.speaker, []).append(clip)
    pause = np.zeros(int(_PAUSE * RATE), dtype=np.float32)
    drawn = [
        rng.sample(mine, 2)
        for _, mine in sorted(by_speaker.items())
        if len(mine) > 1
        for _ in range(5)
    ]
    sounds = [np.concatenate([read_samples(a.path), pause, read_samples(b.path)]) for a, b in drawn]
    said = [RECORDED_WORDS[a.word] + RECORDED_WORDS[b.word] for a, b in drawn]
    per, fer = rates(score(said, hear(sounds)), [a.speaker for a, _ in drawn])
    return {"clips": len(drawn), "pause_s": _PAUSE, "per": asdict(per), "fer": asdict(fer)}


def _padded(clips: Sequence[Recording], hear: Hear, seconds: float, noise: float) -> dict[str, Any]:
    """Return held-out clips with padding, as in a recording of a naming session."""
    rng = np.random.default_rng(7)
    sounds = []
    for clip in clips:
        sound = np.pad(read_samples(clip.path), int(seconds * RATE))
        hiss = coloured_noise(rng, len(sound))
        sounds.append((sound + noise * hiss / np.sqrt(np.mean(hiss**2))).astype(np.float32))
    said = [RECORDED_WORDS[clip.word] for clip in clips]
    per, fer = rates(score(said, hear(sounds)), [clip.speaker for clip in clips])
    return {"seconds": seconds, "noise_rms": noise, "per": asdict(per), "fer": asdict(fer)}


def made_noises(count: int) -> list[Samples]:
    """Make background noise without speech: coloured noise, some with hum or impact sounds."""
    rng = np.random.default_rng(99)
    out = []
    for i in range(count):
        length = int(rng.uniform(1, 4) * RATE)
        noise = coloured_noise(rng, length)
        noise = noise / np.sqrt(np.mean(noise**2))
        noise = noise + (hum(rng, length) if i % 3 == 1 else 0)
        noise = noise + (5 * clicks(rng, length) if i % 3 == 2 else 0)
        out.append((0.003 * noise).astype(np.float32))
    return out


def _noise(name: str, sounds: Sequence[Samples], model: Wav2Vec2BertForCTC) -> dict[str, Any]:
    heard = hear(model, sounds)
    seconds = sum(len(s) for s in sounds) / RATE
    return {
        "kind": name,
        "clips": len(sounds),
        "seconds": seconds,
        "empty": sum(not got for got in heard),
        "phonemes": sum(len(got) for got in heard),
        "heard": sorted({" ".join(got) for got in heard if got})[:8],
    }


def _unknown(model: Wav2Vec2BertForCTC) -> dict[str, Any]:
    """Return synthesised words outside the training lists, in voices of the training."""
    if known := set(UNKNOWN_WORDS) & (set(OTHER_WORDS) | set(RECORDED_WORDS)):
        raise ValueError(f"not unknown to the model: {sorted(known)}")
    orders = [
        Order(look_up(word), word, voice, 1.0, pitch, flite)
        for word in UNKNOWN_WORDS
        for voice, flite, pitch in _VOICES
    ]
    edge = np.zeros(RATE // 5, dtype=np.float32)
    rng = np.random.default_rng(3)
    sounds = []
    for order in orders:
        sound = np.concatenate([edge, say(order), edge])
        sounds.append(sound + (0.002 * rng.standard_normal(len(sound))).astype(np.float32))
    heard = hear(model, sounds)
    per, fer = rates(score([o.phonemes for o in orders], heard), [o.text for o in orders])
    forms = set(RECORDED_WORDS.values())
    return {
        "words": len(UNKNOWN_WORDS),
        "per": asdict(per),
        "fer": asdict(fer),
        "heard_as_recorded_word": sum(got in forms for got in heard),
        "examples": [
            [o.text, o.voice, " ".join(o.phonemes), " ".join(got)]
            for o, got in zip(orders, heard, strict=True)
        ][::9],
    }


def _figures(clips: Sequence[Recording], hear: Hear) -> dict[str, Any]:
    """Return figures over unchanged and over longer recordings."""
    return {
        "recorded": _recorded(clips, hear([read_samples(clip.path) for clip in clips])),
        "pairs": _pairs(clips, hear),
        "padded": [_padded(clips[::3], hear, 1.5, rms) for rms in (0.0, 0.001)],
    }


def evaluate(folder: Path, speech: Path) -> dict[str, Any]:
    """Measure everything in the card."""
    model = AutoModelForCTC.from_pretrained(folder, local_files_only=True)
    clips = of_split(read_recordings(speech), "test")
    alone = _figures(clips, partial(hear, model))
    silence = [read_samples(path) for path in silence_files(speech)[1]]
    return {
        **alone,
        "rare_words": rare(alone["recorded"]),
        "shipped": _figures(clips, partial(hear_shipped, folder)),
        "noise": [
            _noise("recorded background, kept out", silence, model),
            _noise("noise without speech, made", made_noises(_NOISES), model),
            _noise("nothing but zeros", [np.zeros(RATE, dtype=np.float32)], model),
        ],
        "unknown_words": _unknown(model),
    }


def main() -> None:
    """Read the command line, evaluate, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=FOLDER)
    parser.add_argument("--record", action="store_true", help="write into training.json")
    parser.add_argument("--card", type=Path, help="write the model card to this file")
    given = parser.parse_args()
    torch.set_num_threads(1)
    figures = evaluate(given.model, given.speech)
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    path = given.model / "training.json"
    if given.record:
        record = json.loads(path.read_text(encoding="utf-8")) | {"held_out": figures}
        text = json.dumps(record, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    if given.card:
        write_card(given.card, path)


if __name__ == "__main__":
    main()

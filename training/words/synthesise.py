"""Synthesise words: ``python -m training.words.synthesise OUT.npz --clips 25000``.

Speech of ``espeak-ng`` (formant synthesis; many voices and accents) and ``flite`` (four recorded
voices of the CMU). Pronunciations of real words come from flite's lexicon, which is made from the
CMU Pronouncing Dictionary; invented words are given to both as phonemes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile
import soxr

from training.words.other_words import NAMING_ERRORS, OTHER_WORDS
from training.words.pronunciations import PHONEMES, RECORDED_WORDS, VOWELS, Phonemes
from training.words.recordings import RATE, Samples

SEED = 2026
_ACCENTS = (
    *(("en-us",) * 6),
    *("en-us-nyc", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd"),
    "en-029",
)
# Flaps and vowels before R are American in all the others.
_AMERICAN = ("en-us", "en-us", "en-us", "en-us-nyc")
_ROBOTS = ("robo", "unirobot", "demonic", "announcer", "fast", "whisper", "tweaky")
_FLITE_VOICES = ("kal", "kal16", "awb", "rms", "slt", "slt", "rms")
_ESPEAK = {
    **{"AA": "A:", "AE": "a", "AH": "V", "AO": "O:", "AW": "aU", "AY": "aI", "EH": "E"},
    **{"ER": "3:", "EY": "eI", "IH": "I", "IY": "i:", "OW": "oU", "OY": "OI", "UH": "U"},
    **{"UW": "u:", "B": "b", "CH": "tS", "D": "d", "DH": "D", "DX": "t#", "F": "f", "G": "g"},
    **{"HH": "h", "JH": "dZ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "N", "P": "p"},
    **{"R": "r", "S": "s", "SH": "S", "T": "t", "TH": "T", "V": "v", "W": "w", "Y": "j"},
    **{"Z": "z", "ZH": "Z"},
}
_FLITE_ONLY = {"AX": ("AH",), "AXR": ("ER",), "EL": ("AH", "L"), "EN": ("AH", "N"), "PAU": ()}
_ONSETS = (
    *("P", "B", "T", "D", "K", "G", "F", "V", "TH", "S", "Z", "SH", "HH", "CH", "JH", "M", "N"),
    *(
        "L",
        "R",
        "W",
        "Y",
        "",
        "P R",
        "B R",
        "T R",
        "D R",
        "K R",
        "G R",
        "F R",
        "TH R",
        "P L",
        "B L",
        "K L",
        "G L",
    ),
    *("F L", "S L", "S P", "S T", "S K", "S M", "S N", "S W", "T W", "K W", "S T R", "DH"),
)
_CODAS = (
    *("P", "B", "T", "D", "K", "G", "F", "V", "TH", "S", "Z", "SH", "CH", "JH", "M", "N", "NG"),
    *(
        "L",
        "R",
        "ZH",
        "",
        "",
        "",
        "",
        "S T",
        "N D",
        "N T",
        "K S",
        "T S",
        "L D",
        "R D",
        "N Z",
        "D Z",
        "M P",
        "F T",
    ),
)


@dataclass(frozen=True)
class Order:
    """One clip to synthesise: a word, or only phonemes, and its voice."""

    phonemes: Phonemes
    text: str
    voice: str
    speed: float
    pitch: float
    flite: bool


def flap(phonemes: Phonemes) -> Phonemes:
    """Write T or D as DX between a vowel or R and an unstressed ending, as Americans say it.

    >>> flap(("W", "AO", "T", "ER"))
    ('W', 'AO', 'DX', 'ER')
    """
    out = list(phonemes)
    for i in range(1, len(out) - 1):
        after = out[i + 1] in ("ER", "IY", "AH", "IH", "OW")
        if out[i] in "TD" and (out[i - 1] in VOWELS or out[i - 1] == "R") and after:
            out[i] = "DX"
    return tuple(out)


def look_up(word: str) -> Phonemes:
    """Return flite's phonemes of a word."""
    command = ["flite", "-voice", "slt", "-ps", "-t", word, "-o", "none"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.upper()
    return tuple(p for label in said.split() for p in _FLITE_ONLY.get(label, (label,)))


def espeak_says_flap(word: str) -> bool:
    """Return whether espeak has a flap in the American pronunciation of a word."""
    command = ["espeak-ng", "-q", "-v", "en-us", "--ipa", word]
    return "ɾ" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


def variants() -> list[str]:
    """Return espeak's voice variants without machine voices and whispering."""
    command = ["espeak-ng", "--voices=variant"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    names = [line.split("!v/")[1].split()[0] for line in lines if "!v/" in line]
    return ["", *sorted(n for n in names if not any(r in n.lower() for r in _ROBOTS))]


def nonword(rng: random.Random) -> Phonemes:
    """Draw an invented word of one or two syllables."""
    parts: list[str] = []
    for last in (True,) if rng.random() < 0.6 else (False, True):
        parts += [*rng.choice(_ONSETS).split(), rng.choice(sorted(VOWELS))]
        if last or rng.random() < 0.25:
            parts += rng.choice(_CODAS).split()
    clean = tuple(p for i, p in enumerate(parts) if i == 0 or p != parts[i - 1])
    return flap(clean) if len(clean) > 1 else nonword(rng)


def _espeak_phonemes(phonemes: Phonemes) -> str:
    """Write phonemes for espeak, with the stress on the first vowel.

    >>> _espeak_phonemes(("D", "AO", "G", "AH"))
    "[[d'O:g@]]"
    """
    first = next(i for i, p in enumerate(phonemes) if p in VOWELS)
    weak = {"AH": "@", "ER": "3", "IY": "i"}
    codes = [
        "'" + _ESPEAK[p] if i == first else weak.get(p, _ESPEAK[p]) if i > first else _ESPEAK[p]
        for i, p in enumerate(phonemes)
    ]
    return "[[" + "".join(codes) + "]]"


def _flite_phonemes(phonemes: Phonemes) -> str:
    first = next(i for i, p in enumerate(phonemes) if p in VOWELS)
    weak = {"AH": "ax", "DX": "d"}  # its voices have no flap
    return " ".join(
        p.lower() + "1" if i == first else weak.get(p, p.lower()) + "0" * (p in VOWELS)
        for i, p in enumerate(phonemes)
    )


def _command(order: Order, out: Path) -> list[str]:
    if order.flite:
        return [
            *("flite", "-voice", order.voice, "--setf", f"duration_stretch={1 / order.speed:.3f}"),
            *("--setf", f"int_f0_target_mean={order.pitch:.0f}", "-o", str(out)),
            *("-p", _flite_phonemes(order.phonemes)),
        ]
    return [
        *("espeak-ng", "-v", order.voice, "-s", f"{170 * order.speed:.0f}"),
        *("-p", f"{order.pitch:.0f}", "-w", str(out)),
        order.text or _espeak_phonemes(order.phonemes),
    ]


def trim(samples: Samples) -> Samples:
    """Cut sound more than 40 dB below the peak from both ends, except for 20 ms.

    >>> len(trim(np.concatenate([np.zeros(8000), np.ones(100), np.zeros(8000)]).astype("f4")))
    740
    """
    loud = np.flatnonzero(np.abs(samples) > 0.01 * np.abs(samples).max())
    margin = RATE // 50
    return samples[max(loud[0] - margin, 0) : loud[-1] + margin + 1]


def say(order: Order) -> Samples:
    """Synthesise one clip: float32, mono, at `RATE`, at most 0.5 in size, trimmed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "clip.wav"
        subprocess.run(_command(order, out), check=True, capture_output=True)
        samples, rate = soundfile.read(out, dtype="float32")
    if not np.abs(samples).max(initial=0) > 1e-3:
        return np.zeros(0, dtype=np.float32)
    samples = soxr.resample(samples, rate, RATE)
    return trim(np.asarray(samples / (2 * np.abs(samples).max()), dtype=np.float32))


def orders(clips: int, seed: int) -> Iterator[Order]:
    """Draw what to synthesise: recorded words, other words, naming errors, invented words."""
    rng = random.Random(seed)
    voices = variants()
    with ThreadPoolExecutor(2) as pool:
        words = sorted(set(OTHER_WORDS) - set(RECORDED_WORDS))
        found = dict(zip(words, pool.map(look_up, words), strict=True))
        flaps = dict(zip(words, pool.map(espeak_says_flap, words), strict=True))
    known = RECORDED_WORDS | {"word": ("W", "ER", "D")}
    recorded = sorted(known)
    known |= {w: flap(p) if flaps[w] else p for w, p in found.items()}
    naming = ("bed", "bird", "cat", "dog", "house", "tree", "three")
    for _ in range(clips):
        place = rng.random()
        text = (
            rng.choice(recorded)
            if place < 0.25
            else rng.choice(naming)
            if place < 0.35
            else rng.choice(words)
            if place < 0.70
            else ""
        )
        phonemes = (
            known[text] if text else rng.choice(NAMING_ERRORS) if place < 0.78 else nonword(rng)
        )
        flite = rng.random() < 0.35
        if flite:
            voice, pitch = rng.choice(_FLITE_VOICES), rng.uniform(80, 240)
        else:
            accents = _ACCENTS if text else _AMERICAN
            accent, pitch = rng.choice(accents), min(max(rng.gauss(50, 20), 0), 99)
            voice = accent + ("+" + name if (name := rng.choice(voices)) else "")
            if text and "us" not in accent:
                phonemes = found.get(text, phonemes)
        yield Order(phonemes, text, voice, rng.uniform(0.65, 1.35), pitch, flite)


def save(out: Path, made: Iterable[tuple[Order, Samples]]) -> int:
    """Write clips into one file: sound (int16), ends of the clips, phonemes; return how many."""
    sounds, ends, labels = [], [0], []
    for order, samples in made:
        if len(samples) < RATE // 20 or len(samples) > 2 * RATE:
            continue
        sounds.append((samples * 32767).astype(np.int16))
        ends.append(ends[-1] + len(samples))
        labels.append(" ".join(order.phonemes))
    np.savez(out, sound=np.concatenate(sounds), ends=np.array(ends), labels=np.array(labels))
    return len(labels)


def load(path: Path) -> list[tuple[Samples, Phonemes]]:
    """Read what `save` wrote."""
    with np.load(path) as data:
        sound = data["sound"].astype(np.float32) / 32768
        ends, labels = data["ends"].tolist(), data["labels"].tolist()
    return [
        (sound[start:end], tuple(label.split()))
        for (start, end), label in zip(pairwise(ends), labels, strict=True)
    ]


def main() -> None:
    """Synthesise and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--clips", type=int, default=25_000)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    wanted = list(orders(arguments.clips, arguments.seed))
    if unknown := {p for order in wanted for p in order.phonemes} - set(PHONEMES):
        raise SystemExit(f"not among the labels: {sorted(unknown)}")
    with ThreadPoolExecutor(2) as pool:
        count = save(arguments.out, zip(wanted, pool.map(say, wanted), strict=True))
    print(f"{count} clips")


if __name__ == "__main__":
    main()

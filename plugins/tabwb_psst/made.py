"""A made corpus in the layout of the PSST corpus: who says what by seed, from recorded words.

Where tabwb runs from its sources the sounds are the clips of ``tests/data/speech`` (CC BY 4.0),
shifted so that no two files are equal. Without them, for words without a clip and with
``sounds=False`` a sound is a tone.
"""

from __future__ import annotations

import json
import random
import wave
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from tabwb.plugin_api import Arg, Operation, Tools, UsageError

SPEECH = Path(__file__).parents[2] / "tests" / "data" / "speech"
RATE = 16_000
SPLITS = ("train", "valid", "test")
SHARES = (0.70, 0.10, 0.20)
COLUMNS = (
    "utterance_id", "session", "test", "prompt", "transcript", "correctness", "aq_index",
    "duration_frames", "filename",
)  # fmt: skip
_WORDS = """
house HH AW S|dog D AO G|cat K AE T|bird B ER D|bed B EH D|tree T R IY|marvin M AA R V IH N
zero Z IY R OW|one W AH N|two T UW|three TH R IY|four F AO R|five F AY V|six S IH K S
seven S EH V AH N|go G OW|stop S T AA P|follow F AA L OW|learn L ER N|down D AW N|up AH P
left L EH F T|right R AY T|on AA N|off AO F|yes Y EH S|no N OW|wow W AW|happy HH AE P IY
visual V IH ZH UW AH L|backward B AE K W ER D|forward F AO R W ER D|eight EY T|nine N AY N
bark B AA R K|howl HH AW L|throw TH R OW
"""
WORDS = {
    word: tuple(phonemes)
    for word, *phonemes in (
        each.split() for line in _WORDS.strip().splitlines() for each in line.split("|")
    )
}
"""37 prompts with their pronunciation, as many as PSST has; the first 15 are of the BNT-SF."""
PROMPTS = tuple(WORDS)
TESTS = {word: "BNT-SF" if at < 15 else "VNT" for at, word in enumerate(PROMPTS)}
TWICE = ("bark", "howl", "throw")
"""Whose pronunciation stands twice in the list of accepted ones, as in PSST's own."""
_OTHERS = ("P", "T", "K", "S", "AH", "IY", "M", "L")


def accepted() -> dict[str, list[str]]:
    """Return the accepted pronunciations of each prompt: two where a near phoneme may stand."""
    forms = {}
    for word, phonemes in WORDS.items():
        other = [{"AO": "AA", "AA": "AO", "IH": "AH", "D": "DX"}.get(one, one) for one in phonemes]
        forms[word] = list(dict.fromkeys([" ".join(phonemes), " ".join(other)]))
        if word in TWICE:
            forms[word].append(forms[word][0])
    return forms


def made_psst(
    root: Path, *, speakers: int = 8, utterances: int = 40, seed: int = 1, sounds: bool = True
) -> Path:
    """Write a corpus: speakers of all splits and severities, each with as many utterances.

    The same arguments write the same files. Every tenth speaker or so has two sessions.
    """
    chance = random.Random(seed)
    people = [_speaker(number, speakers, chance) for number in range(speakers)]
    rows: dict[str, list[Sequence[object]]] = {split: [] for split in SPLITS}
    forms = accepted()
    for number in range(utterances):
        place, person = divmod(number, speakers)
        name, split, aq, sessions = people[person]
        prompt = PROMPTS[(place + 5 * person) % len(PROMPTS)]
        session = f"{name}{'ab'[place % sessions]}"
        said, transcript = _said(prompt, aq, chance)
        test, at = TESTS[prompt], PROMPTS.index(prompt) + 1
        again = f"-{place // len(PROMPTS) + 1}" if place >= len(PROMPTS) else ""
        identity = f"{session}-{test[:3]}{at:02}-{prompt}{again}"
        file = Path("audio") / test[:3].lower() / session / f"{identity}.wav"
        samples = _sound(said, chance, sounds)
        _write(root / split / file, samples)
        heard = " ".join(transcript)
        right = any(f" {form} " in f" {heard} " for form in forms[prompt])
        if chance.random() < 0.02:
            right = not right
        rows[split].append(
            (identity, session, test, prompt, heard, str(right).upper(), aq, len(samples), file)
        )
    for split, own in rows.items():
        write_table(root / split / "utterances.tsv", own)
    (root / "correctness.json").write_text(json.dumps(forms, indent=1), encoding="utf-8")
    return root


def write_table(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """Write a table of utterances."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(COLUMNS), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _speaker(number: int, of: int, chance: random.Random) -> tuple[str, str, float, int]:
    """Return a name, split, AQ and number of sessions; severities about as in the paper."""
    bands = ((75.1, 93.7), (50.1, 75.0), (25.1, 50.0), (5.0, 25.0))
    low, high = bands[(0, 1, 0, 1, 2, 0, 1, 0, 1, 3)[number % 10]]
    share = (number * 7 % of + 0.5) / of
    split = SPLITS[sum(share > bound for bound in (SHARES[0], SHARES[0] + SHARES[1]))]
    site = ("ACWT", "elman", "TAP")[number % 3]
    name = f"{site}{number + 1:02}"
    return name, split, round(chance.uniform(low, high), 1), 2 if number % 10 == 9 else 1


def _said(prompt: str, aq: float, chance: random.Random) -> tuple[str, list[str]]:
    """Return the word of the clip and what a person wrote; the lower the AQ, the more errors."""
    wrong = 0.1 + 0.5 * (1 - aq / 100)
    draw = chance.random()
    if draw < 0.02:
        return "", ["<sil>"]
    said = chance.choice(PROMPTS) if draw < wrong / 2 else prompt
    phonemes = list(WORDS[said])
    if chance.random() < wrong:
        at = chance.randrange(len(phonemes))
        phonemes[at] = chance.choice(_OTHERS)
    if chance.random() < 0.08:
        phonemes.insert(chance.randrange(len(phonemes) + 1), "<spn>")
    if chance.random() < 0.05:
        phonemes = [*phonemes[:2], "<sil>", *phonemes]
    return said, phonemes


@cache
def _clips() -> dict[str, list[np.ndarray]]:
    found: dict[str, list[np.ndarray]] = {}
    files = sorted(SPEECH.glob("*.flac"))
    if files:
        import soundfile
    for path in files:
        samples, rate = soundfile.read(path, dtype="int16")
        assert rate == RATE
        word = path.name.partition("_")[0]
        found.setdefault("" if word == "silence" else word, []).append(samples)
    return found


def _sound(word: str, chance: random.Random, recorded: bool) -> np.ndarray:
    """Return a clip after up to 50 ms of faint noise, or 0.2 s of a tone: int16 at 16 kHz."""
    noise = np.random.default_rng(chance.randrange(2**32))
    if recorded and word in _clips():
        lead = noise.integers(-8, 9, noise.integers(160, 800)).astype(np.int16)
        return np.concatenate([lead, chance.choice(_clips()[word])])
    times = np.arange(RATE // 5) / RATE
    tone = 8_000 * np.sin(2 * np.pi * (200 + len(word) * 40) * times) * (word != "")
    return (tone + noise.integers(-8, 9, len(times))).astype(np.int16)


def _write(path: Path, samples: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, len(samples), "NONE", ""))
        file.writeframes(samples.astype("<i2").tobytes())


@dataclass(frozen=True, kw_only=True)
class MakeCorpus(Operation):
    """Write a made corpus in the layout of the PSST corpus into FOLDER, to try commands with.

    The same values write the same files. What is computed from it says nothing about people.
    """

    NAME, TITLE = "psst made", "Write"
    WRITES: ClassVar[bool] = False
    STORE: ClassVar[bool] = False
    folder: Annotated[Path, Arg("A new folder.", "Folder", metavar="FOLDER", positional=True)]
    speakers: Annotated[int, Arg("Number of speakers.", "Speakers", low=3, high=10_000)] = 40
    utterances: Annotated[int, Arg("Number of utterances.", "Utterances", low=3, high=100_000)] = (
        800
    )
    seed: Annotated[int, Arg("Seed of everything.", "Seed", low=0)] = 1
    sounds: Annotated[bool, Arg("With recorded words, where there are any; otherwise tones.")] = (
        True
    )

    def do(self, tools: Tools) -> None:
        """Write it."""
        if self.folder.exists() and any(self.folder.iterdir()):
            raise UsageError("the folder is not empty", where=str(self.folder))
        made_psst(
            self.folder, speakers=self.speakers, utterances=self.utterances, seed=self.seed,
            sounds=self.sounds,
        )  # fmt: skip
        tools.document |= {
            "folder": str(self.folder), "speakers": self.speakers, "utterances": self.utterances,
            "seed": self.seed, "recorded": bool(self.sounds and _clips()),
        }  # fmt: skip

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was written."""
        sounds = "recorded words" if document["recorded"] else "tones"
        yield (
            f"{document['folder']}: {document['utterances']:,} utterances of "
            f"{document['speakers']} made speakers, with {sounds}"
        )

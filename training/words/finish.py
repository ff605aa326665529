"""Make the model folder: ``python -m training.words.finish SPEECH OUT --runs RUN...``.

OUT then has the files that ``AutoModelForCTC`` and ``AutoProcessor`` read without a network, and
``training.json``: data, seeds, split, runs, versions, credit. `training.words.evaluate` adds the
figures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    SeamlessM4TFeatureExtractor,
    Wav2Vec2BertForCTC,
    Wav2Vec2BertProcessor,
    Wav2Vec2PhonemeCTCTokenizer,
)

from training.words.features import FRAME_SECONDS, MELS, STRIDE
from training.words.other_words import OTHER_WORDS
from training.words.pronunciations import LABELS, RECORDED_WORDS
from training.words.recordings import (
    DEV_SHARE,
    RATE,
    SPLIT_SEED,
    TEST_SHARE,
    Split,
    of_split,
    read_recordings,
    silence_files,
)

CREDIT = (
    "Recorded words: Pete Warden (Google), *Speech Commands: A Dataset for Limited-Vocabulary "
    "Speech Recognition*, version 0.02, test set"
)
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"


def processor() -> Wav2Vec2BertProcessor:
    """Make the front end and the tokenizer, whose text is phonemes with spaces between."""
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "vocab.json"
        vocabulary.write_text(json.dumps({label: i for i, label in enumerate(LABELS)}))
        tokenizer = Wav2Vec2PhonemeCTCTokenizer(
            str(vocabulary),
            bos_token=None,
            eos_token=None,
            unk_token=LABELS[0],
            pad_token=LABELS[0],
            do_phonemize=False,
        )
    extractor = SeamlessM4TFeatureExtractor(
        feature_size=MELS, num_mel_bins=MELS, sampling_rate=RATE, stride=STRIDE
    )
    return Wav2Vec2BertProcessor(feature_extractor=extractor, tokenizer=tokenizer)


def describe_split(speech: Path) -> dict[str, Any]:
    """Count clips and speakers of each side, and clips of each word."""
    recordings = read_recordings(speech)
    out: dict[str, Any] = {"seed": SPLIT_SEED, "test_share": TEST_SHARE, "dev_share": DEV_SHARE}
    splits: tuple[Split, ...] = ("train", "dev", "test")
    for split in splits:
        part = of_split(recordings, split)
        words = Counter(r.word for r in part)
        out[split] = {
            "clips": len(part),
            "speakers": sorted({r.speaker for r in part}),
            "words": {word: words[word] for word in sorted(RECORDED_WORDS)},
        }
    kept = [path.name for path in silence_files(speech)[1]]
    return out | {"silence": {"train": len(silence_files(speech)[0]), "test": kept}}


def _version(*command: str) -> str:
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    return (said.stdout or said.stderr).strip().splitlines()[0].split("  Data at")[0]


def read_run(folder: Path) -> dict[str, Any]:
    """Read a run's record, without the paths of the computer it ran on."""
    run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["plan"]["start"] = "the run before" if run["plan"].get("start") else ""
    for row in run["history"]:
        row.update({name: round(value, 4) for name, value in row.items()})
    return run


def mean_of(folders: Sequence[Path]) -> Wav2Vec2BertForCTC:
    """Return the model whose weights are the mean of those in the folders."""
    model, *others = [Wav2Vec2BertForCTC.from_pretrained(folder) for folder in folders]
    weights = model.state_dict()
    for name, weight in weights.items():
        if weight.is_floating_point():
            weight.copy_(torch.stack([weight, *(m.state_dict()[name] for m in others)]).mean(0))
    return model


def finish(
    speech: Path,
    out: Path,
    runs: Sequence[Path],
    synthesised: Sequence[str],
    notes: Sequence[str],
    averaged: int = 1,
) -> None:
    """Write the folder with the mean of the weights of the last ``averaged`` runs."""
    out.mkdir(parents=True, exist_ok=True)
    model = mean_of([run / "last" for run in runs[-averaged:]])
    model.save_pretrained(out)
    made = processor()
    made.save_pretrained(out)
    made.feature_extractor.save_pretrained(out)
    records = [read_run(run) for run in runs]
    record = {
        "what": "Wav2Vec2BertForCTC from scratch; labels: the 40 phonemes of PSST and a blank",
        "parameters": sum(p.numel() for p in model.parameters()),
        "frame_seconds": FRAME_SECONDS,
        "recorded": {"credit": CREDIT, "licence": LICENCE, "split": describe_split(speech)},
        "synthesised": list(synthesised),
        "other_words": len(set(OTHER_WORDS) - set(RECORDED_WORDS)),
        "runs": records,
        "notes": list(notes),
        "versions": {
            "torch": records[-1]["torch"],
            "transformers": records[-1]["transformers"],
            "numpy": np.__version__,
            "espeak-ng": _version("espeak-ng", "--version"),
            "flite": _version("sh", "-c", "flite --version | sed -n 's/.*version: *//p'"),
        },
    }
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (out / "training.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Read the command line and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("speech", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=Path, nargs="+", required=True, help="in their order")
    parser.add_argument("--synthesised", nargs="+", required=True, help="how it was called")
    parser.add_argument("--note", nargs="*", default=[], help="what the runs do not tell")
    parser.add_argument("--averaged", type=int, default=1, help="mean weights of so many last runs")
    given = parser.parse_args()
    finish(given.speech, given.out, given.runs, given.synthesised, given.note, given.averaged)


if __name__ == "__main__":
    main()

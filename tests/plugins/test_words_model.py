"""The bundled speech model: small, loadable offline, and able to do on kept-out clips what it says.

The clips are chosen by word, one to five of each, so that the words with few recordings in the
training weigh more here than in the figures of the card.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCTC, AutoProcessor

from tabwb.phonology.batch import score
from tabwb.phonology.inventory import PHONEMES
from training.words.card import card_text
from training.words.decode import hear
from training.words.measure import nearest_words
from training.words.pronunciations import RECORDED_WORDS, Phonemes

ROOT = Path(__file__).parents[2]
BUNDLED = ROOT / "plugins" / "tabwb_bundled"
FOLDER = BUNDLED / "words"
CLIPS = ROOT / "tests" / "data" / "speech"
COMMON = frozenset(("down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes"))
# Measured: 9 of 10, 22 of 31, 0.228; another processor rounds otherwise.
LEAST_COMMON, LEAST_FEW, MOST_ERRORS = 8, 20, 0.25

Sound = NDArray[np.float32]


def read(name: str) -> Sound:
    samples, rate = soundfile.read(CLIPS / name, dtype="float32")
    assert rate == 16_000
    return np.asarray(samples, dtype=np.float32)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (CLIPS / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def model() -> Any:
    torch.set_num_threads(1)
    return AutoModelForCTC.from_pretrained(FOLDER, local_files_only=True).eval()


@pytest.fixture(scope="module")
def processor() -> Any:
    return AutoProcessor.from_pretrained(FOLDER, local_files_only=True)


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    text = (FOLDER / "training.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.fixture(scope="module")
def heard(model: Any, rows: list[dict[str, str]]) -> dict[str, Phonemes]:
    names = [row["file"] for row in rows]
    return dict(zip(names, hear(model, [read(name) for name in names]), strict=True))


def logits(model: Any, processor: Any, sounds: Sequence[Sound]) -> list[torch.Tensor]:
    inputs = processor(list(sounds), sampling_rate=16_000, return_tensors="pt")
    with torch.inference_mode():
        out = model(**inputs).logits
    lengths = inputs["attention_mask"].sum(1).tolist()
    return [row[:length] for row, length in zip(out, lengths, strict=True)]


def test_weights_take_at_most_ten_megabytes() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size <= 10_000_000


def test_labels_are_a_blank_and_the_phonemes_of_psst(processor: Any, model: Any) -> None:
    vocabulary = json.loads((FOLDER / "vocab.json").read_text(encoding="utf-8"))
    blank = model.config.pad_token_id
    assert set(vocabulary) == {"<pad>", *PHONEMES}
    assert sorted(vocabulary.values()) == list(range(model.config.vocab_size))
    assert vocabulary["<pad>"] == blank == processor.tokenizer.pad_token_id


def test_a_frame_lasts_thirty_milliseconds(model: Any, processor: Any) -> None:
    (out,) = logits(model, processor, [np.zeros(48_000, dtype=np.float32)])
    assert model.config.inputs_to_logits_ratio == 480
    assert len(out) == pytest.approx(3.0 / 0.03, abs=1)


def test_the_processor_writes_phonemes_with_spaces(model: Any, processor: Any) -> None:
    (out,) = logits(model, processor, [read("stop_189cbabe_0.flac")])
    assert processor.decode(out.argmax(-1)) == "S T AA P"


def test_the_training_front_end_is_the_processors(
    model: Any, processor: Any, rows: list[dict[str, str]], heard: dict[str, Phonemes]
) -> None:
    for row in rows[:12]:
        (out,) = logits(model, processor, [read(row["file"])])
        assert tuple(processor.decode(out.argmax(-1)).split()) == heard[row["file"]]


def test_a_clip_sounds_the_same_alone_and_beside_one_as_long(model: Any, processor: Any) -> None:
    """Beside a longer one it does not: the front end then counts one frame of padding as sound."""
    one, other = (read(name)[:15_000] for name in ("yes_189cbabe_0.flac", "no_189cbabe_0.flac"))
    (alone,) = logits(model, processor, [one])
    beside, _ = logits(model, processor, [one, other])
    assert torch.allclose(alone, beside, atol=1e-3)


def test_loudness_changes_nothing_that_is_heard(model: Any) -> None:
    sound = read("right_189cbabe_0.flac")
    loud, soft = hear(model, [sound, (sound * 0.1).astype(np.float32)])
    assert loud == soft != ()


def test_no_speaker_of_the_clips_is_in_the_training(
    rows: list[dict[str, str]], record: dict[str, Any]
) -> None:
    split = record["recorded"]["split"]
    speakers = {row["speaker"] for row in rows if row["word"]}
    assert speakers <= set(split["test"]["speakers"])
    assert not speakers & {*split["train"]["speakers"], *split["dev"]["speakers"]}


def test_common_words_are_heard(rows: list[dict[str, str]], heard: dict[str, Phonemes]) -> None:
    common = [row for row in rows if row["word"] in COMMON]
    near = nearest_words([heard[row["file"]] for row in common])
    right = sum(word == row["word"] for word, row in zip(near, common, strict=True))
    assert len(common) == 10
    assert right >= LEAST_COMMON


def test_words_with_few_recordings_are_heard(
    rows: list[dict[str, str]], heard: dict[str, Phonemes]
) -> None:
    few = [row for row in rows if row["word"] and row["word"] not in COMMON]
    near = nearest_words([heard[row["file"]] for row in few])
    right = sum(word == row["word"] for word, row in zip(near, few, strict=True))
    assert len(few) == 31
    assert right >= LEAST_FEW


def test_phoneme_error_rate_of_the_clips(
    rows: list[dict[str, str]], heard: dict[str, Phonemes]
) -> None:
    spoken = [row for row in rows if row["word"]]
    found = score(
        [RECORDED_WORDS[row["word"]] for row in spoken], [heard[row["file"]] for row in spoken]
    )
    assert found.per is not None
    assert found.per <= MOST_ERRORS


def test_next_to_nothing_is_heard_in_background_noise(
    rows: list[dict[str, str]], heard: dict[str, Phonemes]
) -> None:
    silent = [heard[row["file"]] for row in rows if not row["word"]]
    assert len(silent) == 2
    assert sum(len(phonemes) for phonemes in silent) <= 2


def test_the_card_tells_what_the_record_holds(record: dict[str, Any]) -> None:
    card = (BUNDLED / "WORDS-CARD.md").read_text(encoding="utf-8")
    assert card == card_text(record) + "\n"
    assert "It knows a few dozen words and tends to transcribe any sound as one of them." in card


def test_figures_and_split_agree(record: dict[str, Any]) -> None:
    split, held = record["recorded"]["split"], record["held_out"]["recorded"]
    assert held["clips"] == split["test"]["clips"] == sum(w["clips"] for w in held["words"])
    assert held["speakers"] == len(split["test"]["speakers"])

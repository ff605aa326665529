"""What the bundled speech model is trained on, and how it is measured."""

from __future__ import annotations

import itertools
import math
import random
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch
from transformers import SeamlessM4TFeatureExtractor

from tests.builders import SPEECH
from training.words.augment import Background, room, warp_frequency
from training.words.clips import choose
from training.words.examples import Batch, Examples, shares
from training.words.features import MELS, STRIDE, log_mel, normalise
from training.words.measure import over_speakers
from training.words.pronunciations import LABELS, PHONEMES, RECORDED_WORDS, encode
from training.words.recordings import Recording, Samples, of_split, split_of
from training.words.synthesise import Order, flap, nonword, say
from training.words.train import loss_of


def tone(seconds: float, pitch: float = 300.0) -> Samples:
    times = np.arange(int(seconds * 16_000)) / 16_000
    return (0.1 * np.sin(2 * np.pi * pitch * times)).astype(np.float32)


@pytest.fixture(scope="module")
def examples() -> Examples:
    recorded = [(tone(1.0), RECORDED_WORDS["up"])] * 9 + [(tone(0.9), RECORDED_WORDS["dog"])]
    made = [(tone(0.4, 500), ("K", "AE"))]
    return Examples(recorded, made, Background([], seed=1), seed=3, size=4, synthetic_share=0.3)


@pytest.mark.parametrize("samples", [16_000, 15_999, 16_321, 20_000, 48_123])
def test_features_are_those_of_the_shipped_front_end(samples: int) -> None:
    sound, _ = soundfile.read(SPEECH / "cat_4620dc14_0.flac", dtype="float32")
    sound = np.resize(sound, samples).astype(np.float32)
    extractor = SeamlessM4TFeatureExtractor(stride=STRIDE)
    theirs = extractor(sound, sampling_rate=16_000, return_tensors="pt")
    ours = normalise(log_mel(sound))
    there = theirs["input_features"][0][: len(ours)]
    assert abs(int(theirs["attention_mask"].sum()) - len(ours)) <= 1
    assert torch.allclose(ours, there, atol=2e-3)


def test_speakers_are_on_one_side_only_and_every_side_has_some() -> None:
    speakers = [f"{n:08x}" for n in range(2000)]
    recordings = [Recording(Path(w), w, s) for s in speakers for w in ("up", "dog")]
    sides = [{r.speaker for r in of_split(recordings, s)} for s in ("train", "dev", "test")]
    assert sum(len(side) for side in sides) == len(speakers) == len(set().union(*sides))
    counts = Counter(split_of(speaker) for speaker in speakers)
    assert counts["test"] / 2000 == pytest.approx(0.20, abs=0.03)
    assert counts["dev"] / 2000 == pytest.approx(0.08, abs=0.02)


def test_clips_for_the_tests_are_of_kept_out_speakers() -> None:
    recordings = [Recording(Path(f"{n}"), "dog", f"{n:08x}") for n in range(300)]
    chosen = choose(recordings)
    assert len(chosen) == 5
    assert {split_of(r.speaker) for r in chosen} == {"test"}


def test_every_pronunciation_has_labels() -> None:
    assert len(RECORDED_WORDS) == 35
    for phonemes in RECORDED_WORDS.values():
        assert [LABELS[number] for number in encode(phonemes)] == list(phonemes)
    assert len(PHONEMES) == 40 == len(set(PHONEMES))


def test_batches_are_the_same_with_the_same_seed(examples: Examples) -> None:
    first, again = (list(itertools.islice(examples, 2)) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        assert torch.equal(one.features, other.features)
        assert torch.equal(one.labels, other.labels)


def test_batches_of_two_processes_differ_and_are_about_as_long() -> None:
    made = [(tone(seconds, 500), ("K", "AE")) for seconds in (0.3, 0.9, 1.8)]
    several = [Examples(made, made, Background([], seed=1), 3, 8, 0.5, rank) for rank in (0, 1)]
    for one, other in itertools.islice(zip(*several, strict=True), 16):
        assert not torch.equal(one.features, other.features)
    first, second = ([b.features.shape[1] for b in itertools.islice(e, 24)] for e in several)
    assert np.corrcoef(first, second).min() > 0.8


def test_batches_have_frames_enough_for_their_labels(examples: Examples) -> None:
    for batch in itertools.islice(examples, 24):
        assert batch.features.shape[2] == STRIDE * MELS
        assert batch.features.shape[:2] == batch.mask.shape
        assert (batch.mask.sum(1) > batch.lengths).all()
        assert int(batch.lengths.sum()) == len(batch.labels)


def test_a_rare_word_is_drawn_more_often_than_it_was_recorded(examples: Examples) -> None:
    rng = np.random.default_rng(0)
    said = Counter(examples.sound(rng).phonemes for _ in range(400))
    alone = said[RECORDED_WORDS["dog"]] / (said[RECORDED_WORDS["dog"]] + said[RECORDED_WORDS["up"]])
    expected = 1 / (1 + 9**0.4)  # weights n ** -0.6 for each of n clips
    assert alone == pytest.approx(expected, abs=0.08)


def test_some_examples_hold_no_word_and_some_hold_two(examples: Examples) -> None:
    rng = np.random.default_rng(0)
    sizes = Counter(len(examples.sound(rng).phonemes) for _ in range(400))
    assert sizes[0] == pytest.approx(16, abs=12)
    assert sizes[4] + sizes[5] + sizes[6] > 20


def test_shares_cover_the_unit_interval() -> None:
    assert shares([0.2, 0.2, 0.4]).tolist() == pytest.approx([0.25, 0.5, 1.0])


def test_a_room_begins_with_the_direct_sound() -> None:
    for seed in range(20):
        response = np.abs(room(np.random.default_rng(seed)))
        assert response.argmax() == 80  # 5 ms
        assert response[:40].max() < 0.1 * response.max()


def test_warping_moves_a_peak_along_the_bins() -> None:
    mel = torch.zeros(3, MELS)
    mel[:, 40] = 1
    assert int(warp_frequency(mel, 0.8)[0].argmax()) == 50


def test_intervals_widen_when_clips_of_a_speaker_go_together() -> None:
    right = [1.0] * 10 + [0.0] * 10
    alike = over_speakers(right, [1.0] * 20, ["a"] * 10 + ["b"] * 10)
    apart = over_speakers(right, [1.0] * 20, [str(n) for n in range(20)])
    assert alike.value == apart.value == 0.5
    assert alike.high - alike.low > apart.high - apart.low


def test_invented_words_have_a_vowel_and_known_labels() -> None:
    rng = random.Random(4)
    for _ in range(200):
        phonemes = nonword(rng)
        assert set(phonemes) <= set(PHONEMES)
        assert all(a != b for a, b in itertools.pairwise(phonemes))


def test_a_flap_stands_between_vowels_only() -> None:
    assert flap(("B", "AH", "T", "ER")) == ("B", "AH", "DX", "ER")
    assert flap(("T", "R", "IY", "T")) == ("T", "R", "IY", "T")
    assert flap(("D", "AO", "K", "T", "ER")) == ("D", "AO", "K", "T", "ER")


@pytest.mark.skipif(
    not (shutil.which("espeak-ng") and shutil.which("flite")),
    reason="espeak-ng and flite make the training's speech (apt install espeak-ng flite)",
)
@pytest.mark.parametrize(
    "order",
    [
        Order(("D", "AO", "G", "AH"), "", "en-us", 1.0, 50, flite=False),
        Order(("HH", "AW", "S"), "house", "en-gb", 1.0, 50, flite=False),
        Order(("W", "AO", "DX", "ER"), "", "slt", 1.0, 160, flite=True),
    ],
)
def test_both_voices_say_words_and_phonemes(order: Order) -> None:
    sound = say(order)
    assert 0.15 < len(sound) / 16_000 < 1.2
    assert np.abs(sound).max() == pytest.approx(0.5, abs=1e-3)


def test_a_phoneme_counts_only_where_somebody_speaks() -> None:
    probabilities = torch.tensor([[[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]]])
    mask = torch.ones(1, 3, dtype=torch.long)
    spoken = torch.tensor([[False, True, False]])
    batch = Batch(torch.zeros(1, 3, 1), mask, spoken, torch.tensor([1]), torch.tensor([1]))
    model = SimpleNamespace(logits=probabilities.log())
    loss = loss_of(lambda **_: model, batch)
    assert loss.item() == pytest.approx(-math.log(0.5 * 0.75 * 0.5))


def test_the_words_of_an_example_are_where_it_says(examples: Examples) -> None:
    rng = np.random.default_rng(4)
    quiet = [s for s in (examples.sound(rng) for _ in range(60)) if len(s.spans) == 2]
    assert quiet
    for sound in quiet:
        (start, end), (after, last) = sound.spans
        assert 0 <= start < end <= after < last <= len(sound.samples)
        spoken = np.abs(sound.samples[start:end]).mean()
        assert spoken > 1.2 * np.abs(sound.samples[:start]).mean()

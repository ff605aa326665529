"""The bundled speech model: small, loadable offline, able to do on kept-out clips what it says."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from tabwb_bundled.plugin import WORDS
from tabwb_bundled.words_transcriber import TIMES, TwoHearings, WordsTranscriber
from tabwb_wav2vec2.engine import log_mel
from tabwb_wav2vec2.options import TranscriberOptions

from tabwb.phonology.batch import score
from tabwb.phonology.inventory import PHONEMES
from tabwb.records.speech import Clip, Transcript
from tabwb.scoring.naming.attempts import propose_attempts
from tests.builders import ROOT, SPEECH
from training.words.card import card_text
from training.words.decode import hear
from training.words.measure import nearest_words
from training.words.pronunciations import RECORDED_WORDS, Phonemes

BUNDLED = ROOT / "plugins" / "tabwb_bundled"
FOLDER = BUNDLED / "words"
CLIPS = ROOT / "tests" / "data" / "speech"
COMMON = frozenset(("down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes"))
# Measured: 10 of 10, 25 of 31, 0.169; another processor rounds otherwise.
LEAST_COMMON, LEAST_FEW, MOST_ERRORS = 9, 23, 0.19

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
    from transformers import AutoModelForCTC

    return AutoModelForCTC.from_pretrained(FOLDER, local_files_only=True).eval()


@pytest.fixture(scope="module")
def processor() -> Any:
    from transformers import AutoProcessor

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


def test_the_front_end_of_the_program_is_the_extractors(processor: Any) -> None:
    extractor, sound = processor.feature_extractor, read("stop_189cbabe_0.flac")
    made = extractor(sound, sampling_rate=16_000, pad_to_multiple_of=None, return_tensors="np")
    assert np.allclose(log_mel(extractor, sound), made["input_features"][0], atol=1e-3)


def test_of_two_hearings_the_likelier_is_kept() -> None:
    class Engine:
        most_together, pads = 8, True

        def log_probs(self, features: Sequence[Sound]) -> list[Sound]:
            """Doubt 1 where the first spectrum stands alone, be sure of 2 where it does not."""
            doubt, sure = (np.log([row], dtype="f4") for row in ([0.4, 0.5, 0.1], [0.1, 0.1, 0.8]))
            return [sure if clip[0, 0] == clip[0, 1] else doubt for clip in features]

    ((heard,), _) = TwoHearings(Engine()).log_probs([np.array([[0, 1, 2]], "f4")] * 2)
    assert heard.argmax() == 2


def test_a_clip_sounds_the_same_alone_and_beside_one_as_long(model: Any, processor: Any) -> None:
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


pytest.importorskip("torch")

RATE = 16_000


@pytest.fixture(scope="module")
def transcriber() -> Iterator[WordsTranscriber]:
    made = WordsTranscriber(WORDS, TranscriberOptions(threads=1), shown="bundled-words")
    made.open()
    yield made
    made.close()


def _word(name: str) -> np.ndarray:
    samples, _ = soundfile.read(next(SPEECH.glob(f"{name}_*.flac")), dtype="float32")
    return np.asarray(samples)


def _noise(seconds: float) -> np.ndarray:
    rng = np.random.default_rng(7)
    return (3e-4 * rng.standard_normal(round(seconds * RATE))).astype(np.float32)


def _hear(transcriber: WordsTranscriber, path: Path, *parts: np.ndarray) -> Transcript:
    soundfile.write(path, np.concatenate(parts), RATE)
    ((index, transcript),) = transcriber.transcribe_many([Clip(str(path))], threading.Event())
    assert index == 0
    return transcript


def test_silence_is_empty(transcriber: WordsTranscriber, tmp_path: Path) -> None:
    for seconds, loudness in ((0.8, 1), (5.0, 1), (0.8, 0), (5.0, 0)):
        heard = _hear(transcriber, tmp_path / "a.wav", loudness * _noise(seconds))
        assert (heard.status, heard.segments) == ("empty", ())
        assert heard.seconds == pytest.approx(seconds)


def test_two_words_with_a_pause_are_two_attempts_where_they_were_said(
    transcriber: WordsTranscriber, tmp_path: Path
) -> None:
    heard = _hear(
        transcriber, tmp_path / "a.wav",
        _noise(2.0), _word("dog"), _noise(1.5), _word("cat"), _noise(1.0),
    )  # fmt: skip
    first, second = propose_attempts(heard.segments)
    assert 2.0 <= first.onset_s < first.offset_s <= 3.1
    assert 4.5 <= second.onset_s < second.offset_s <= 5.6
    assert heard.metadata["times"] == TIMES


def test_phonemes_of_a_word_have_times_of_their_own(
    transcriber: WordsTranscriber, tmp_path: Path
) -> None:
    sound = _word("stop")
    heard = _hear(transcriber, tmp_path / "a.wav", _noise(2.0), sound, _noise(1.0))
    hiss = heard.segments[0]
    assert heard.phonemes == ("S", "T", "AA", "P")
    assert [one.end_s for one in heard.segments[:-1]] == [one.start_s for one in heard.segments[1:]]
    power = np.abs(np.fft.rfft(sound.reshape(-1, RATE // 50), axis=1)) ** 2
    loudest = 2.0 + 0.02 * float(power[:, 80:].sum(1).argmax())
    assert hiss.start_s <= loudest <= hiss.end_s + 0.06


def test_a_stretch_of_a_longer_file_has_its_own_clock(
    transcriber: WordsTranscriber, tmp_path: Path
) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.concatenate([_noise(3.0), _word("tree"), _noise(2.0)]), RATE)
    ((_, heard),) = transcriber.transcribe_many([Clip(str(path), 2.0, 5.5)], threading.Event())
    assert heard.seconds == pytest.approx(3.5)
    assert heard.segments
    assert 1.0 <= heard.segments[0].start_s < heard.segments[-1].end_s <= 2.1


def test_a_file_that_is_not_there_is_an_error_of_its_own(
    transcriber: WordsTranscriber, tmp_path: Path
) -> None:
    good = tmp_path / "good.wav"
    soundfile.write(good, _word("tree"), RATE)
    clips = [Clip(str(tmp_path / "gone.wav")), Clip(str(good))]
    found = dict(transcriber.transcribe_many(clips, threading.Event()))
    assert (found[0].status, found[1].status) == ("error", "ok")
    assert "gone.wav" in found[0].error


def test_many_clips_are_heard_as_one_by_one(transcriber: WordsTranscriber, tmp_path: Path) -> None:
    paths = []
    for number, word in enumerate(("dog", "cat", "tree")):
        paths.append(tmp_path / f"{number}.wav")
        soundfile.write(paths[-1], np.concatenate([_noise(number), _word(word)]), RATE)
    clips = [Clip(str(path)) for path in paths]
    together = dict(transcriber.transcribe_many(clips, threading.Event()))
    for number, clip in enumerate(clips):
        ((_, alone),) = transcriber.transcribe_many([clip], threading.Event())
        assert alone.phonemes == together[number].phonemes

"""``bundled-words`` hears each stretch of speech by itself, wherever it lies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tabwb.records.speech import Clip, Transcript
from tabwb.scoring.naming.attempts import propose_attempts

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("torch")
from tabwb_bundled.plugin import WORDS  # noqa: E402
from tabwb_bundled.words_transcriber import TIMES, WordsTranscriber  # noqa: E402
from tabwb_wav2vec2.options import TranscriberOptions  # noqa: E402

CLIPS = Path(__file__).parents[1] / "data" / "speech"
RATE = 16_000


@pytest.fixture(scope="module")
def transcriber() -> Iterator[WordsTranscriber]:
    made = WordsTranscriber(WORDS, TranscriberOptions(threads=1), shown="bundled-words")
    made.open()
    yield made
    made.close()


def _word(name: str) -> np.ndarray:
    samples, _ = soundfile.read(next(CLIPS.glob(f"{name}_*.flac")), dtype="float32")
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
    """The [s] of "stop" hisses: above 4 kHz there is most sound while it is said."""
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

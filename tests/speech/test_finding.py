"""Speech is found in long recordings, and told from other sounds."""

from __future__ import annotations

import numpy as np
import pytest

from tabwb.records.speech import Clip, Segment, Stretch, Transcript
from tabwb.speech import finding
from tabwb.speech.condition import condition
from tabwb.speech.finding import find_speech, joined, pieces, stretches_of_speech, windows
from tests.builders import SPEECH

soundfile = pytest.importorskip("soundfile")
onnxruntime = pytest.importorskip("onnxruntime")
RATE = 16_000
NAMES = ("dog_d1a4fb3f_0", "cat_4620dc14_0", "house_6e916de8_0", "bird_c7124b73_0")


def _clip(name: str) -> np.ndarray:
    samples, _ = soundfile.read(SPEECH / f"{name}.flac", dtype="float32")
    return np.asarray(samples)


def _noise(seconds: float, dbfs: float, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = 10 ** (dbfs / 20) * rng.standard_normal(round(seconds * RATE))
    return np.asarray(noise, dtype=np.float32)


def _long(name: str, seconds: float, dbfs: float, at_s: float) -> np.ndarray:
    """A word in a long recording of noise."""
    sound = _noise(seconds, dbfs)
    word = _clip(name)
    sound[round(at_s * RATE) : round(at_s * RATE) + word.size] += word
    return sound


def _cough(seconds: float = 0.4) -> np.ndarray:
    """Noise that swells and falls away: no voice."""
    burst = _noise(seconds, -22.0, seed=5)
    return np.asarray(burst * np.hanning(burst.size), dtype=np.float32)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seconds", [30.0, 120.0])
@pytest.mark.parametrize("kind", ["energy", "speech"])
def test_one_word_is_found_in_a_long_recording(name: str, seconds: float, kind: str) -> None:
    sound = _long(name, seconds, -75.0, 20.0)
    found = find_speech(sound, RATE, kind)  # type: ignore[arg-type]
    assert len(found.speech) == 1
    assert 19.9 <= found.speech[0].start_s < found.speech[0].end_s <= 21.1
    assert found.seconds == seconds


def test_energy_finds_the_word_whatever_its_share_of_the_recording() -> None:
    ends = [
        stretches_of_speech(_long("dog_d1a4fb3f_0", seconds, -75.0, 3.0), RATE)
        for seconds in (5.0, 60.0, 300.0)
    ]
    starts = [each[0].start_s for each in ends]
    assert [len(each) for each in ends] == [1, 1, 1]
    assert max(starts) - min(starts) < 0.05


def test_another_sound_is_no_speech_beside_a_word() -> None:
    sound = _long("house_6e916de8_0", 8.0, -70.0, 5.0)
    cough = _cough()
    sound[2 * RATE : 2 * RATE + cough.size] += cough
    found = find_speech(sound, RATE)
    assert [round(each.start_s) for each in found.speech] == [5]
    (other,) = found.sounds
    assert 1.9 <= other.start_s < other.end_s <= 2.5
    assert [len(find_speech(sound, RATE, "energy").speech)] == [2]


def test_where_the_model_finds_nothing_energy_decides() -> None:
    sound = _noise(4.0, -70.0)
    cough = _cough(0.2)
    sound[2 * RATE : 2 * RATE + cough.size] += cough
    found = find_speech(sound, RATE)
    assert found.speech == find_speech(sound, RATE, "energy").speech
    assert len(found.speech) == 1
    assert found.sounds == ()


def test_without_the_model_energy_finds_speech_and_the_method_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finding, "model_is_installed", lambda: False)
    found = find_speech(_long("dog_d1a4fb3f_0", 8.0, -70.0, 3.0), RATE)
    assert len(found.speech) == 1
    assert found.method.startswith("energy-2 (energy alone")
    assert finding.WITHOUT_MODEL in found.method


def test_silence_holds_no_speech() -> None:
    assert find_speech(_noise(5.0, -70.0), RATE).speech == ()
    assert find_speech(np.zeros(0, np.float32), RATE).speech == ()


@pytest.mark.parametrize("rate", [22_050, 44_100])
def test_other_rates_are_heard_alike(rate: int) -> None:
    import soxr

    sound = _long("cat_4620dc14_0", 8.0, -70.0, 3.0)
    ours = find_speech(sound, RATE).speech[0]
    other = find_speech(soxr.resample(sound, RATE, rate).astype("f4"), rate).speech[0]
    assert other.start_s == pytest.approx(ours.start_s, abs=0.07)


def test_frames_are_given_with_what_lies_before_them() -> None:
    sound = _long("dog_d1a4fb3f_0", 2.0, -70.0, 0.5)
    session = onnxruntime.InferenceSession(str(finding.MODEL), providers=["CPUExecutionProvider"])
    hidden = cell = np.zeros((1, 1, 128), np.float32)
    context, expected = np.zeros(64, np.float32), []
    for at in range(0, sound.size, 512):
        frame = np.zeros(512, np.float32)
        frame[: sound[at : at + 512].size] = sound[at : at + 512]
        row = np.concatenate([context, frame])[None]
        value, hidden, cell = session.run(None, {"input": row, "h": hidden, "c": cell})
        expected.append(float(value[0]))
        context = frame[-64:]
    assert finding.voice_probabilities(sound).tolist() == pytest.approx(expected, abs=1e-5)
    assert max(expected) > 0.5 > min(expected)


def test_loudness_is_that_of_the_speech() -> None:
    sound = _long("dog_d1a4fb3f_0", 60.0, -50.0, 20.0)
    short = _long("dog_d1a4fb3f_0", 22.0, -50.0, 20.0)
    gains = []
    for one in (sound, short):
        made = condition(one, RATE, find_speech(one, RATE).speech)
        assert made.parameters["loudness_of"] == "speech"
        gains.append(made.parameters["gain_db"])
    assert gains[0] == pytest.approx(gains[1], abs=0.2)


def test_pieces_are_joined_by_the_clock_of_the_whole() -> None:
    speech = (Stretch(2.0, 2.5), Stretch(6.0, 6.4))
    whole = Clip("a.wav", speech=speech, sounds=(Stretch(4.0, 4.2),))
    given = pieces(whole, 9.0)
    assert [(each.start_s, each.end_s) for each in given] == [(1.85, 2.65), (5.85, 6.55)]
    heard = [
        Transcript("x", "ok", (Segment("D", 0.2, 0.3),), dropped={"q": 1}, accepted_likelihood=-3),
        Transcript("x", "ok", (Segment("K", 0.1, 0.3),), dropped={"q": 2}, accepted_likelihood=-1),
    ]
    one = joined(heard, given, whole, 9.0, "x@cut=speech")
    assert [(each.phoneme, each.start_s) for each in one.segments] == [
        ("D", 2.05), ("<spn>", 4.0), ("K", 5.95),
    ]  # fmt: skip
    assert (one.dropped, one.accepted_likelihood, one.seconds) == ({"q": 3}, -1, 9.0)
    failed = joined([heard[0], Transcript("x", "error", error="no")], given, whole, 9.0, "x")
    assert (failed.status, failed.segments) == ("error", ())
    assert joined([], [], Clip("a.wav", speech=()), 9.0, "x").status == "empty"


def _word_clip(name: str) -> np.ndarray:
    samples, _ = soundfile.read(SPEECH / name, dtype="float32")
    return np.asarray(samples)


def _word_noise(seconds: float, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (3e-4 * rng.standard_normal(round(seconds * RATE))).astype(np.float32)


@pytest.mark.parametrize("name", ["dog_d1a4fb3f_0.flac", "cat_4620dc14_0.flac"])
def test_two_words_with_a_pause_are_two_stretches(name: str) -> None:
    word = _word_clip(name)
    sound = np.concatenate([_word_noise(1.0), word, _word_noise(1.5), word, _word_noise(2.0)])
    first, second = stretches_of_speech(sound, RATE)
    assert 1.0 <= first.start_s < first.end_s <= 2.05
    assert second.start_s - first.start_s == pytest.approx(2.5, abs=0.03)
    assert second.end_s - first.end_s == pytest.approx(2.5, abs=0.08)


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.5, 4.0])
def test_nothing_stands_out_of_steady_noise_or_silence(seconds: float) -> None:
    assert stretches_of_speech(_word_noise(seconds), RATE) == ()
    assert stretches_of_speech(np.zeros(round(seconds * RATE), np.float32), RATE) == ()


def test_a_click_is_no_stretch() -> None:
    sound = _word_noise(2.0)
    sound[RATE : RATE + 80] = 0.5
    assert stretches_of_speech(sound, RATE) == ()


def test_the_gain_changes_nothing() -> None:
    sound = np.concatenate([_word_noise(1.0), _word_clip("dog_d1a4fb3f_0.flac"), _word_noise(1.0)])
    quieter = (sound * 0.3).astype(np.float32)
    loud, soft = stretches_of_speech(sound, RATE), stretches_of_speech(quieter, RATE)
    assert [round(each.start_s, 2) for each in loud] == [round(each.start_s, 2) for each in soft]


def test_windows_are_long_enough_and_do_not_reach_into_each_other() -> None:
    stretches = [Stretch(0.1, 0.5), Stretch(1.0, 1.3), Stretch(5.0, 7.0)]
    first, second, third = windows(stretches, 7.5, 1.0, 0.15)
    assert first.start_s == 0.0
    assert first.end_s == second.start_s == 0.75
    assert second.end_s - second.start_s == pytest.approx(1.0)
    assert (third.start_s, third.end_s) == (4.85, 7.15)
    for window, stretch in zip((first, second, third), stretches, strict=True):
        assert window.start_s <= stretch.start_s
        assert window.end_s >= stretch.end_s

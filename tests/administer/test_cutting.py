"""Any transcriber can be given speech alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tabwb.administer.transcription import Job, Transcribing
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.errors import UsageError
from tests.builders import SPEECH

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("onnxruntime")
RATE = 16_000
EAR = """
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.speech import Segment, Transcript


class Ear:
    unit = "phonemes"

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        for index, clip in reversed(list(enumerate(clips))):
            end = 99.0 if clip.end_s is None else clip.end_s
            said = Segment("D", 0.0, round(end - clip.start_s, 4))
            yield index, Transcript("x", "ok", (said,))

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("ear", "Hears one sound in each clip", lambda spec, options: Ear()))
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Iterator[Plugins]:
    (tmp_path / "pyproject.toml").write_text('[project.entry-points.tabwb]\near = "one_ear"\n')
    (tmp_path / "one_ear.py").write_text(EAR)
    loaded = Plugins.load(Configuration(plugin_folders=(tmp_path,)))
    yield loaded
    loaded.close()


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    sound = (2e-4 * rng.standard_normal(40 * RATE)).astype(np.float32)
    for name, at_s in (("dog_d1a4fb3f_0", 10), ("cat_4620dc14_0", 30)):
        word, _ = soundfile.read(SPEECH / f"{name}.flac", dtype="float32")
        sound[at_s * RATE : at_s * RATE + word.size] += word
    soundfile.write(tmp_path / "long.wav", sound, RATE)
    return tmp_path / "long.wav"


@pytest.mark.parametrize(("spec", "count"), [("ear", 1), ("ear@cut=no", 1), ("ear@cut=speech", 2)])
def test_each_stretch_of_speech_is_given_by_itself(
    plugins: Plugins, recording: Path, spec: str, count: int
) -> None:
    with Transcribing(plugins, spec) as transcribing:
        ((_, heard),) = transcribing.run([Job(1, 1, recording)], threading.Event())
    assert (heard.transcriber, heard.status, len(heard.segments)) == (spec, "ok", count)
    assert heard.metadata["conditioning_speech_by"].startswith("silero")
    if count == 2:
        first, second = heard.segments
        assert 9.8 <= first.start_s < first.end_s <= 11.2
        assert 29.8 <= second.start_s < second.end_s <= 31.2
        assert heard.seconds == 40.0


def test_that_energy_works_alone_is_said(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    from tabwb.speech import finding

    with Transcribing(plugins, "ear@cut=speech") as transcribing:
        assert transcribing.caution == ""
        monkeypatch.setattr(finding, "model_is_installed", lambda: False)
        assert transcribing.caution.startswith("speech is found by energy alone")
    for spec in ("ear", "ear@cut=energy"):
        with Transcribing(plugins, spec) as transcribing:
            assert transcribing.caution == ""


def test_where_nobody_speaks_nothing_is_given(plugins: Plugins, tmp_path: Path) -> None:
    silence = 2e-4 * np.random.default_rng(1).standard_normal(5 * RATE)
    soundfile.write(tmp_path / "a.wav", silence, RATE)
    with Transcribing(plugins, "ear@cut=speech") as transcribing:
        ((_, heard),) = transcribing.run([Job(1, 1, tmp_path / "a.wav")], threading.Event())
    assert (heard.status, heard.segments, heard.seconds) == ("empty", (), 5.0)


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ("ear@cut=maybe", "no (the whole recording), speech"),
        ("bundled-words@cut=no", "speech (speech, found"),
        ("manual:a.tsv@cut=speech", "no (the whole recording)"),
    ],
)
def test_a_cut_that_is_not_allowed_is_refused(plugins: Plugins, spec: str, allowed: str) -> None:
    with pytest.raises(UsageError, match="option 'cut'") as refused:
        plugins.resolve("transcribers", spec)
    assert refused.value.allowed is not None
    assert refused.value.allowed.startswith(allowed)


@pytest.mark.torch
@pytest.mark.usefixtures("here")
def test_one_word_in_a_minute_of_noise_is_heard_as_by_itself(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    word, _ = soundfile.read(SPEECH / "cat_4620dc14_0.flac", dtype="float32")
    noise = 10 ** (-75 / 20) * np.random.default_rng(1).standard_normal(60 * RATE)
    noise[20 * RATE : 20 * RATE + word.size] += word
    soundfile.write(tmp_path / "long.wav", noise.astype(np.float32), RATE)
    loaded = Plugins.load(Configuration())
    jobs = [Job(1, 1, SPEECH / "cat_4620dc14_0.flac"), Job(2, 1, tmp_path / "long.wav")]
    with Transcribing(loaded, "bundled-words") as transcribing:
        heard = dict(transcribing.run(jobs, threading.Event()))
    loaded.close()
    alone, long = (heard[job] for job in jobs)
    assert alone.phonemes == long.phonemes == ("K", "AE", "T")
    assert 20.0 <= long.segments[0].start_s <= 21.0


def test_a_clip_without_a_transcript_is_in_error_and_changes_no_other(
    tmp_path: Path, recording: Path
) -> None:
    said = EAR.replace("in reversed(list(enumerate(clips))):", "in list(enumerate(clips))[1:]:")
    assert said != EAR
    (tmp_path / "pyproject.toml").write_text('[project.entry-points.tabwb]\near = "deaf_ear"\n')
    (tmp_path / "deaf_ear.py").write_text(said)
    loaded = Plugins.load(Configuration(plugin_folders=(tmp_path,)))
    jobs = [Job(1, 1, recording), Job(2, 1, SPEECH / "dog_d1a4fb3f_0.flac")]
    with Transcribing(loaded, "ear") as transcribing:
        heard = dict(transcribing.run(jobs, threading.Event()))
    loaded.close()
    assert [heard[job].status for job in jobs] == ["error", "ok"]
    assert heard[jobs[0]].error == "'ear' gave no transcript of this sound"

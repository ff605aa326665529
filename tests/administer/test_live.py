"""A naming session with a microphone that runs: words are spoken into it, and the file is kept."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.administer.transcription import Transcribing
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import NoConsent, StoreError
from tabwb.records.naming import RecordingEnded, Take, observation_of_json
from tabwb.records.speakers import Consent, Scope
from tabwb.speech.files import info, read_clip, write_wav
from tabwb.speech.level import Level
from tabwb.speech.process import pick
from tabwb.speech.recorder import Recorder, Recording
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.live import Live, adopt_recording, left_over
from tabwb.tasks.spoken_naming.strategy import SpokenStrategy
from tabwb.tasks.spoken_naming.task import spoken_in
from tests.administer.naming_parts import naming_battery
from tests.builders import DOG, SPEECH
from tests.speech.virtual_microphone import VirtualMicrophone, microphone, sound_server

__all__ = ["microphone", "sound_server"]
BIRD = SPEECH / "bird_c7124b73_0.flac"


@pytest.fixture
def session(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Session]:
    store.people.keep_consents([Consent("S-014", scope, True, "2026-11-21") for scope in _SCOPES])
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))
    conditions = Conditions("S-014", "speaker", judges=(), transcriber="bundled-words")
    conditions = setup.resolve(plugins, battery, conditions)
    with create_naming(store, plugins, battery, conditions) as opened:
        yield opened


_SCOPES: tuple[Scope, ...] = ("record", "transcribe")


def _live(session: Session) -> Live:
    chosen = pick(None)
    return Live(session, lambda path: Recorder(chosen, path))


def _speak(microphone: VirtualMicrophone, clip: Path) -> None:
    time.sleep(0.4)
    microphone.speak(clip).wait(10)
    time.sleep(0.5)


def test_a_response_lies_where_it_was_spoken_and_the_recording_is_kept(
    session: Session, store: Store, microphone: VirtualMicrophone
) -> None:
    live = _live(session)
    live.ready()
    live.show()
    _speak(microphone, DOG)
    live.score("right")
    live.show()
    _speak(microphone, BIRD)
    live.score("error")
    live.end()
    first, second = spoken_in(session).view(1), spoken_in(session).view(2)
    assert first is not None
    assert second is not None
    assert first.take is not None
    assert second.take is not None
    assert first.take.end_s <= second.take.start_s
    # paplay needs a moment to begin; the clip begins with silence (0.5 s)
    assert 0.5 < (first.latency_s or 0) < 2.0
    assert first.take.onset_method.startswith("energy")
    (kept,) = store.people.recordings(session.administration.id)
    path = store.people.recording_path(kept.sha256)
    assert not live.path.exists()
    assert takes.of_administration(store, session.administration.uid) == ()
    samples, rate = read_clip(path, first.take.start_s, first.take.end_s)
    assert abs(samples).max() > 0.05
    assert info(path).seconds == pytest.approx(kept.seconds)
    assert rate == kept.rate


@pytest.mark.usefixtures("here")
def test_transcription_reads_the_file_while_it_grows(
    session: Session, plugins: Plugins, microphone: VirtualMicrophone
) -> None:
    live = _live(session)
    live.ready()
    live.show()
    _speak(microphone, DOG)
    live.score("right")
    view = spoken_in(session).view()
    assert view is not None
    job = spoken_in(session).job_of(view)
    assert job is not None
    live.show()
    with Transcribing(plugins, "bundled-words") as transcribing:
        for done, transcript in transcribing.run([job], threading.Event()):
            spoken_in(session).transcribed(done.trial, done.attempt, transcript)
    assert session.awaiting
    live.end()
    heard = spoken_in(session).view(1)
    assert heard is not None
    assert heard.transcript is not None
    assert heard.transcript.status == "ok"
    assert heard.transcript.phonemes
    assert any(name.startswith("conditioning_") for name in heard.transcript.metadata)


def test_nobody_is_recorded_without_consent(
    session: Session, store: Store, microphone: VirtualMicrophone
) -> None:
    store.people.keep_consents([Consent("S-014", "record", False, "2026-11-22")])
    live = _live(session)
    with pytest.raises(NoConsent, match="record"):
        live.ready()
    assert not live.path.exists()


def test_an_interrupted_recording_is_kept_at_the_next_start(
    session: Session, store: Store, microphone: VirtualMicrophone
) -> None:
    live = _live(session)
    live.ready()
    live.show()
    _speak(microphone, DOG)
    assert isinstance(live.source, Recorder)
    os.kill(live.source.pid, signal.SIGKILL)
    time.sleep(0.3)
    ((recording, path),) = left_over(session)
    adopt_recording(session, recording, path)
    (kept,) = store.people.recordings(session.administration.id)
    assert kept.uid == live.recording
    assert kept.seconds > 1.0
    ended = [observation_of_json(text) for text in session.history.observations]
    assert isinstance(ended[-1], RecordingEnded)
    assert ended[-1].remarks == "interrupted"
    assert left_over(session) == ()


def test_the_examiner_is_marked_with_two_presses(
    session: Session, microphone: VirtualMicrophone
) -> None:
    live = _live(session)
    live.ready()
    live.show()
    assert live.examiner() == ()
    assert live.examiner_speaks
    began = time.monotonic()
    time.sleep(0.2)
    live.examiner()
    elapsed = time.monotonic() - began
    live.end()
    view = spoken_in(session).view()
    assert view is not None
    ((start, end),) = view.examiner
    assert 0.1 < end - start < elapsed + 0.8


np = pytest.importorskip("numpy")
pytest.importorskip("soundfile")

RATE = 16_000
Begin = Callable[..., Live]


class Played:
    """A source that has recorded everything; what time it is the test says."""

    device, rate, uncertainty_s, alarm = "played", RATE, 0.0, None
    level = Level()

    def __init__(self, path: Path, sounds: dict[tuple[float, float], float]) -> None:
        rng = np.random.default_rng(1)
        self.path, self.now_s, self.running = path, 0.0, False
        self.samples = (1e-4 * rng.standard_normal(RATE * 12)).astype(np.float32)
        for (start, end), loudness in sounds.items():
            size = int(end * RATE) - int(start * RATE)
            voice = loudness * np.sin(np.arange(size) * 0.3) * rng.uniform(0.5, 1, size)
            self.samples[int(start * RATE) : int(start * RATE) + size] += voice.astype(np.float32)

    def start(self) -> None:
        write_wav(self.path, self.samples, RATE)
        self.running = True

    def stop(self) -> Recording:
        self.running = False
        return Recording(self.path, RATE, 1, len(self.samples) / RATE, len(self.samples))


@pytest.fixture
def begin(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Begin]:
    with ExitStack() as closing:

        def make(*words: tuple[float, float], rules: str = "", thud: float = 0.0) -> Live:
            store.people.keep_consents([Consent("S-014", "record", True, "2026-11-21")])
            battery = setup.find_battery(plugins, str(naming_battery(tmp_path, rules)))
            conditions = setup.resolve(plugins, battery, Conditions("S-014", "speaker", judges=()))
            session = create_naming(store, plugins, battery, conditions)
            closing.enter_context(session)
            sounds = dict.fromkeys(words, 0.2)
            if thud:
                sounds[thud, thud + 0.05] = 0.2
            return Live(session, lambda path: Played(path, sounds))

        yield make


def at(live: Live, second: float) -> Live:
    assert isinstance(live.source, Played)
    live.source.now_s = second
    return live


def answered(live: Live) -> Take:
    view = spoken_in(live.session).view()
    assert view is not None
    assert view.take is not None
    return view.take


@pytest.mark.parametrize(
    ("rule", "end_s", "onset_s"), [("first-response", 3.0, None), ("whole-window", 6.0, 4.0)]
)
def test_the_batterys_rule_says_whether_asking_again_ends_the_response(
    begin: Begin, rule: str, end_s: float, onset_s: float | None
) -> None:
    live = begin((4.0, 4.5), rules=f'response_rule = "{rule}"')
    live.ready()
    at(live, 1.0).show()
    at(live, 3.0).re_prompt()
    at(live, 6.0).score("right")
    take = answered(live)
    assert (take.start_s, take.end_s) == (1.0, end_s)
    assert take.onset_s == (None if onset_s is None else pytest.approx(onset_s, abs=0.05))


def test_the_key_that_shows_the_picture_is_no_onset(begin: Begin) -> None:
    live = begin((2.5, 3.0), thud=1.0)
    live.ready()
    at(live, 1.0).show()
    at(live, 4.0).score("right")
    assert answered(live).onset_s == pytest.approx(2.5, abs=0.05)


def test_a_score_ends_what_the_administrator_says(begin: Begin) -> None:
    live = begin((2.0, 2.5))
    live.ready()
    at(live, 1.0).show()
    at(live, 1.5).examiner()
    at(live, 4.0).score("no-response")
    view = spoken_in(live.session).view()
    assert view is not None
    assert view.examiner == ((1.5, 4.0),)
    assert answered(live).onset_s is None


def test_a_recording_that_cannot_be_noted_is_stopped_and_removed(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = begin()

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(SpokenStrategy, "keep", full)
    with pytest.raises(StoreError, match="full"):
        live.ready()
    assert isinstance(live.source, Played)
    assert not live.source.running
    assert not live.path.exists()


def test_a_response_in_an_interrupted_recording_waits_until_that_is_kept(begin: Begin) -> None:
    live = begin((2.0, 2.5))
    live.ready()
    at(live, 1.0).show()
    at(live, 4.0).score("right")
    assert spoken_in(live.session).waiting("bundled-words") == ()
    assert [uid for uid, _ in left_over(live.session)] == [live.recording]
    live.end()
    (job,) = spoken_in(live.session).waiting("bundled-words")
    assert (job.start_s, job.end_s) == (1.0, 4.0)

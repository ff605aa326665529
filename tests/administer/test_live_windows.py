"""Where a response lies in a recording whose clock the test sets: windows, keys, the examiner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tabwb.administer.naming.live import Live, left_over
from tabwb.administer.naming.run import waiting
from tabwb.administer.naming.strategy import SpokenStrategy
from tabwb.administer.session import setup
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError
from tabwb.records.naming import Take
from tabwb.records.speakers import Consent
from tabwb.speech.level import Level
from tabwb.speech.recorder import Recording
from tabwb.store.store import Store
from tests.administer.naming_parts import naming_battery

np = pytest.importorskip("numpy")
pytest.importorskip("soundfile")
from tabwb.speech.files import write_wav  # noqa: E402

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
            session = setup.create_naming(store, plugins, battery, conditions)
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
    view = live.session.spoken.view()
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
    view = live.session.spoken.view()
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
    assert waiting(live.session, "bundled-words") == ()
    assert [uid for uid, _ in left_over(live.session)] == [live.recording]
    live.end()
    (job,) = waiting(live.session, "bundled-words")
    assert (job.start_s, job.end_s) == (1.0, 4.0)

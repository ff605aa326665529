"""A naming battery given in the workbench."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from tabwb.analysis.administrations import load_administrations
from tabwb.records.naming import observations_of
from tabwb.records.speakers import Consent
from tabwb.speech.files import Samples, read_clip
from tabwb.speech.level import Level, level
from tabwb.speech.recorder import Recording
from tabwb.speech.wav import WavWriter
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.task import NamingRules
from tabwb.tasks.spoken_naming.views import NamingView
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.trial.actions import TrialActions
from tabwb.workbench.trial.draft import Draft
from tests.builders import SPEECH
from tests.workbench.seat import Seat, workbench

RATE = 16_000
WORDS = {
    "dog": ("dog_d1a4fb3f_0.flac", "D AO G"),
    "cat": ("cat_83957201_0.flac", "K AE T"),
    "house": ("house_6e916de8_0.flac", "HH AW S"),
    "three": ("three_6736bc64_2.flac", "TH R IY"),
    "tree": ("tree_4620dc14_0.flac", "T R IY"),
    "bird": ("bird_c7124b73_0.flac", "B ER D"),
    "bed": ("bed_893705bb_2.flac", "B EH D"),
}
TRANSCRIBER = '''
import json
from pathlib import Path
import numpy as np
from scipy.signal import fftconvolve
from tabwb.records.speech import Segment, Transcript
from tabwb.speech.condition import condition
from tabwb.speech.files import read_clip

class Matcher:
    """Knows a few recordings and finds them again by correlation."""

    unit = "phonemes"

    def __init__(self, folder):
        self._folder = Path(folder)

    def open(self):
        if not self._folder.is_dir():
            raise ComponentError(f"{self._folder} is not there", hint="name the folder of words")
        self._words = {}
        for name, phonemes in json.loads((self._folder / "words.json").read_text()).items():
            made = condition(*read_clip(self._folder / name))
            self._words[name] = (np.asarray(made.samples), phonemes.split())
        return {"model": "matcher"}

    def transcribe_many(self, clips, cancel):
        for index, clip in enumerate(clips):
            samples, rate = read_clip(clip.path)
            found = []
            for word, phonemes in self._words.values():
                if len(samples) < len(word):
                    continue
                energy = np.sqrt(fftconvolve(samples**2, np.ones(len(word)), "valid").clip(1e-9))
                match = fftconvolve(samples, word[::-1], "valid") / energy
                at = int(np.argmax(match))
                if match[at] / np.sqrt((word**2).sum()) > 0.7:
                    found.append((at / rate, (at + len(word)) / rate, phonemes))
            segments = []
            for start, end, phonemes in sorted(found):
                edges = np.linspace(start + 0.3 * (end - start), end, len(phonemes) + 1)
                segments += [
                    Segment(phoneme, float(a), float(b), 0.9)
                    for phoneme, a, b in zip(phonemes, edges, edges[1:])
                ]
            status = "ok" if segments else "empty"
            yield index, Transcript("matcher", status, tuple(segments), seconds=len(samples) / rate)

    def close(self):
        pass

@hookimpl
def tabwb_register_transcribers(register):
    def make(spec, options):
        return Matcher(spec.name)
    register(Descriptor("matcher", "finds known recordings", make, name_help="FOLDER"))
'''


class PlayedSource:
    """A microphone into which recorded words are played; its clock is what was played so far."""

    uncertainty_s = 0.0

    def __init__(self, path: Path) -> None:
        self.path = path
        self.device = "played"
        self.rate = RATE
        self.alarm: str | None = None
        self.broken = ""
        self._writer: WavWriter | None = None
        self._level = Level()
        self._noise = np.random.default_rng(5)

    def start(self) -> None:
        self._writer = WavWriter(self.path, RATE, 1)
        self.wait(0.2)

    @property
    def now_s(self) -> float:
        return 0.0 if self._writer is None else self._writer.frames / RATE

    @property
    def level(self) -> Level:
        return self._level

    def wait(self, seconds: float) -> None:
        """A quiet room for so long."""
        self._play(np.zeros(round(seconds * RATE), np.float32))

    def say(self, *words: str, pause_s: float = 0.1) -> None:
        """Play words with pauses between them."""
        for at, word in enumerate(words):
            self.wait(pause_s if at else 0.3)
            self._play(read_clip(SPEECH / WORDS[word][0])[0])
        self.wait(0.3)

    def _play(self, samples: Samples) -> None:
        assert self._writer is not None
        noise = self._noise.normal(0.0, 10 ** (-70 / 20), len(samples)).astype(np.float32)
        heard = np.clip(samples + noise, -1.0, 1.0 - 2**-23)
        self._level = level(heard[-1600:].astype(np.float32))
        whole = (heard * 2**23).astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3]
        self._writer.write(whole.tobytes())

    def abandon(self) -> None:
        """The process is killed: the file is not ended, only let go."""
        assert self._writer is not None
        self._writer._file.close()

    def stop(self) -> Recording:
        assert self._writer is not None
        self._writer.close()
        frames = self._writer.frames
        return Recording(self.path, RATE, 1, frames / RATE, frames)


class NamingSeat:
    """Whoever administers, and a speaker whose words are played."""

    def __init__(self, seat: Seat, sources: list[PlayedSource]) -> None:
        self.seat = seat
        self.sources = sources

    @property
    def speaker(self) -> PlayedSource:
        return self.sources[-1]

    @property
    def now(self) -> NamingNow:
        assert isinstance(self.seat.work.extension, NamingNow)
        return self.seat.work.extension

    async def ready(self) -> None:
        await self.seat.press("space")
        await self.seat.until(lambda: self.now.microphone == "open", "the microphone")

    async def show(self) -> None:
        """Show the next picture."""
        await self.seat.press("space")
        await self.seat.until(lambda: self.now.waits, "the picture")

    async def score(self, *keys: str) -> None:
        await self.seat.press(*keys)
        await self.seat.until(lambda: not self.now.waits and self.now.score, "the score")

    async def give(self, *words: str, key: str) -> None:
        """One whole item."""
        await self.show()
        self.speaker.say(*words)
        await self.score(key)

    async def heard(self) -> None:
        """Until the transcriber has come to this response."""
        await self.seat.until(lambda: self.now.machine, "the machine's words")


Name = Callable[..., AbstractAsyncContextManager[NamingSeat]]


def views(given: NamingSeat) -> list[NamingView]:
    """What another program reads in the store."""
    one, trials = given.seat.stored()
    with Store.open(given.seat.store) as store:
        battery = load_administrations(store, (one.id,))[0].battery
    rules = battery.subtests[0].rules or NamingRules()
    subtest = battery.subtests[0]
    return [
        NamingView(trial, naming_item(subtest.item(trial.plan.item)), rules, observations_of(trial))
        for trial in trials
    ]


def draw(path: Path, colour: str) -> None:
    """A picture: something in this colour on clear ground."""
    picture = Image.new("RGBA", (120, 90), (0, 0, 0, 0))
    ImageDraw.Draw(picture).ellipse((15, 15, 105, 75), fill=colour)
    picture.save(path)


def naming_battery(folder: Path, rules: str = "", items: str = "dog cat tree house") -> Path:
    """A battery with pictures that can be seen."""
    folder.mkdir(exist_ok=True)
    colours = {"dog": "#8a5a2b", "cat": "#555555", "tree": "#3d7a3d", "house": "#b0452f"}
    near = {"dog": '["cat"]', "cat": '["dog"]'}
    lines = [
        '[battery]\nid = "pictures"\ntitle = "Pictures"\nversion = "1"\nlanguage = "en"',
        'license = "MIT"\nexaminees = ["speaker"]\n',
        '[[subtest]]\nid = "nouns"\ntitle = "Nouns"\nresponse = "naming"\ntime_limit = 20.0',
        rules,
    ]
    for word in items.split():
        draw(folder / f"{word}.png", colours[word])
        lines.append(
            f'[[subtest.item]]\nid = "{word}"\npicture = "{word}.png"\ntarget = "{word}"\n'
            f'accept = [{{ phonemes = "{WORDS[word][1]}", reason = "citation" }}]\n'
            f"semantic = {near.get(word, '[]')}"
        )
    path = folder / "battery.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def known_words(folder: Path) -> str:
    """Write the recorded words into ``folder`` and return the spec of their transcriber."""
    folder.mkdir()
    for name, _ in WORDS.values():
        (folder / name).write_bytes((SPEECH / name).read_bytes())
    (folder / "words.json").write_text(json.dumps(dict(WORDS.values())), encoding="utf-8")
    return f"matcher:{folder}"


@asynccontextmanager
async def naming(
    folder: Path,
    size: tuple[int, int] = (80, 24),
    *,
    transcriber: str,
    rules: str = "",
    consent: bool = True,
    **fields: str,
) -> AsyncIterator[NamingSeat]:
    """Open the workbench and begin a naming battery."""
    battery = naming_battery(folder / "pictures", rules)
    if consent:
        with Store.open(folder / "store.db") as store:
            given = Consent("S-014", "record", True, "2026-11-01")
            store.people.keep_consents(
                [given, replace(given, scope="transcribe"), replace(given, scope="play-back")]
            )
    sources: list[PlayedSource] = []

    def open_source(path: Path) -> PlayedSource:
        sources.append(PlayedSource(path))
        return sources[-1]

    async with workbench(folder, size) as seat:
        seat.desk.controller(NamingController).open_source = open_source
        draft = Draft(battery=str(battery), kind="speaker", speaker="S-014").filled(
            **{"transcriber": transcriber, "rater": "R7", **fields}
        )
        seat.desk.actions(TrialActions).begin(draft)
        await seat.until(lambda: seat.desk.work, "the administration")
        yield NamingSeat(seat, sources)

"""A set of recordings, what raters get to hear of it, and a server that shows it."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import soundfile
from aiohttp.test_utils import unused_port

from tabwb.administer.rating.access import digest, expiry, new_key
from tabwb.battery.forms import Form
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import Assignment, AudioCut, Sample, SampleRating
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, set_plan, small_battery
from tests.workbench.rating_parts import SPOKEN

RATE = 16_000
HEARD = replace(SPOKEN, shows=("audio", "target"))


def recording(seed: int, seconds: float = 1.5, *, subtype: str = "PCM_16") -> bytes:
    """A WAV file of bursts of noise, another for each seed."""
    random = np.random.default_rng(seed)
    loud = np.sin(np.linspace(0, 9, int(seconds * RATE))) ** 2
    whole = io.BytesIO()
    noise = (random.uniform(-0.8, 0.8, loud.size) * loud).astype(np.float32)
    soundfile.write(whole, noise, RATE, format="WAV", subtype=subtype)
    return whole.getvalue()


def heard_set(
    path: Path,
    raters: Sequence[str],
    n: int,
    form: Form = HEARD,
    name: str = "heard",
    *,
    sounds: Sequence[bytes] = (),
    text: str = "",
    prompt: str = "",
    target: str = "house",
    examinee: Conditions | None = None,
) -> tuple[Mapping[str, str], Sequence[bytes]]:
    """Make a set of recordings: the first is a stretch of a longer one, others are whole files.

    Return the keys of its raters, and what each sample sounds like, as bytes of a WAV file.
    """
    sounds = sounds or [recording(number) for number in range(n)]
    with Store.open(path) as store:
        given = begin(store, n, conditions=examinee or Conditions("secret-model", "model"))
        store.append(given.id, [AttemptEntry(trial, attempt()) for trial in range(1, n + 1)])
        assets = {f"{number}.wav": sound for number, sound in enumerate(sounds)}
        store.keep_battery(small_battery(version=name, content=name, assets=assets), assets)
        samples = []
        for number, sound in enumerate(sounds, 1):
            sha, about = hashlib.sha256(sound).hexdigest(), soundfile.info(io.BytesIO(sound))
            cut = AudioCut(sha, 0.5, 1.25) if number == 1 else AudioCut(sha, 0.0, about.duration)
            samples.append(
                Sample(number, given.id, number, 1, text, prompt, audio=cut, target=target)
            )
        assigned = [Assignment(rater, at, at) for rater in raters for at in range(1, n + 1)]
        kept = store.sets.create(set_plan(name, form.canonical, form.id, samples, assigned, raters))
        keys = {rater: new_key() for rater in raters}
        ends = expiry("1d", datetime.now(UTC))
        for rater, key in keys.items():
            store.sets.links.add(kept.id, rater, digest(key), expires_at=ends)
    return keys, sounds


class Server:
    """``tabwb serve`` of a store, which can be killed and started again."""

    def __init__(self, path: Path) -> None:
        self.path, self.port = path, unused_port()
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "tabwb", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, "--store", str(self.path)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("rating pages at")

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def link(self, key: str) -> str:
        return f"{self.address}/rate#{key}"

    def rows(self, rater: str, set_id: int = 1) -> list[SampleRating]:
        with Store.open(self.path) as store:
            return list(store.sets.ratings(set_id, rater))

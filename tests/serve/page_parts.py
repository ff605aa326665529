"""A set of recordings, and what raters get to hear of it."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import soundfile

from tabwb.administer.rating.access import digest, expiry, new_key
from tabwb.battery.forms import Form
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import Assignment, AudioCut, Sample
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
            samples.append(Sample(number, given.id, number, 1, "", "", audio=cut, target="house"))
        assigned = [Assignment(rater, at, at) for rater in raters for at in range(1, n + 1)]
        kept = store.sets.create(set_plan(name, form.canonical, form.id, samples, assigned, raters))
        keys = {rater: new_key() for rater in raters}
        ends = expiry("1d", datetime.now(UTC))
        for rater, key in keys.items():
            store.sets.links.add(kept.id, rater, digest(key), expires_at=ends)
    return keys, sounds

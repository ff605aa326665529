"""The model of the page *Dial*, in a process of its own; what it answers is kept until it ends."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tabwb.administer.session.setup import find_battery
from tabwb.administer.sweep.dial import Dial, items_of
from tabwb.administer.sweep.sweep import Model
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import TARGETS
from tabwb.records.errors import TabwbError
from tabwb.records.steps import Step
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.host.settings import Configuration
    from tabwb.workbench.engine.engine import Engine
    from tabwb.workbench.shell.pictures import Pixels

STEPS = 20
"""Amounts of a dial, besides 0."""
END_S = 3.0
"""Seconds that the current answers may take to stop."""
MOSTS = (0.2, 0.5, 1.0, 0.05)
"""Largest amounts, the usual one first."""


class Setting(NamedTuple):
    """What is dialled: one of these has all amounts.

    Attributes:
        item: ``SUBTEST/ITEM``.
        layers: of the lesion, as specs write them; ``all``.
        most: the largest amount.
    """

    item: str
    target: str
    layers: str = "all"
    seed: int = 1
    most: float = MOSTS[0]

    @property
    def amounts(self) -> tuple[float, ...]:
        """The amounts, without 0."""
        return tuple(round(self.most * step / STEPS, 6) for step in range(1, STEPS + 1))

    @property
    def where(self) -> str:
        """What is lesioned, in words."""
        layers = "all layers" if self.layers == "all" else f"layer {self.layers}"
        return f"{self.target}, {layers}"


@dataclass(frozen=True, slots=True)
class Facts:
    """The loaded model, or the person, and what can be dialled.

    Attributes:
        targets: of single weights, each with its layers.
        items: that can be asked, ``SUBTEST/ITEM``, with their prompts.
        titles: of the features, by their ids.
        days: of each session of a person, from the first one; None: not known. Of a model empty.
        pictures, hash: of a person: of the items, and of the battery that has them.
    """

    model: str
    battery: str
    targets: dict[str, list[int]]
    items: dict[str, str]
    titles: dict[str, str]
    days: tuple[int | None, ...] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    hash: str = ""


def read_sessions(engine: Engine, speaker: str, battery: str) -> tuple[Facts, tuple[Step, ...]]:
    """Return what a person said to each item at each session."""
    from tabwb.analysis.change import members_of
    from tabwb.analysis.sessions import session_steps, titles_of

    primary = engine.plugins.configuration.study.primary_rater
    members = members_of(engine.store, speaker, battery or None, primary=primary)
    steps, given = session_steps(engine.store, members), members[0].battery
    days = {one.amount: one.session.day for one in steps if one.session is not None}
    asked = {one.session.item: one.session.target for one in steps if one.session is not None}
    found = {name: given.subtest(name.split("/")[0]).item(name.split("/")[1]) for name in asked}
    items = {name: asked[name] or item.prompt for name, item in found.items()}
    pictures = {name: item.picture for name, item in found.items()}
    facts = Facts(
        speaker, given.id, {}, items, titles_of(given), tuple(days.values()), pictures,
        members[0].administration.battery_hash,
    )  # fmt: skip
    return facts, steps


def read_item_picture(engine: Engine, facts: Facts, item: str) -> tuple[Pixels | None, str]:
    """Return the picture of an item, if it has one, or why it cannot be shown."""
    from tabwb.workbench.shell.pictures import read_picture

    if not (name := facts.pictures[item]):
        return None, ""
    try:
        return read_picture(engine.store.battery_assets(facts.hash)[name], name), ""
    except KeyError as error:
        return None, str(error)
    except TabwbError as error:
        return None, error.message


class Dialled:
    """A loaded model with the dials of its items; methods may be called in any thread."""

    def __init__(
        self, configuration: Configuration, location: str | None, cancel: threading.Event
    ) -> None:
        self._plugins = Plugins.load(configuration)
        self._other = partial(Store.open, location, create=False)
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._cancels = [cancel]
        """Of the loading, and of all steps that were begun."""
        self._busy = threading.Lock()
        """Held by one setting at a time."""
        self._answering = threading.Lock()
        """Held while the model may be asked."""
        self._dials: dict[str, Dial] = {}
        self._model: Model | None = None

    def load(self, model: str, battery: str) -> Facts:
        """Load the model."""
        self._battery = find_battery(self._plugins, battery)
        loaded = self._model = Model.loaded(self._plugins, model, self._cancels[0])
        targets: dict[str, list[int]] = {}
        for part in loaded.parts():
            if part.layer is not None and TARGETS[part.target].unit == "weight":
                targets.setdefault(part.target, []).append(part.layer)
        targets.pop("norm", None)  # it has too few weights for small amounts
        items = {name: self.dial(name).prompt for name in items_of(self._battery)}
        titles = {one.id: one.title for one in self._battery.features}
        return Facts(model, battery, targets, items, titles)

    def dial(self, item: str) -> Dial:
        """Return the dial of an item."""
        assert self._model is not None
        if item not in self._dials:
            self._dials[item] = Dial(self._plugins, self._model, self._battery, item)
        return self._dials[item]

    def steps(self, setting: Setting, cancel: threading.Event) -> Iterator[Step]:
        """Yield the steps as they are answered."""
        self._cancels.append(cancel)
        with self._busy:
            if cancel.is_set():
                return
            dial = self.dial(setting.item)
            sweep = dial.sweep(setting.target, setting.amounts, (setting.seed,), setting.layers)
            own = partial(Store.open, self.file(setting))
            steps = dial.steps(sweep, own, cancel, self._other)
            while True:
                with self._answering:
                    step = None if self._cancels[0].is_set() else next(steps, None)
                if step is None:
                    return
                yield step

    def file(self, setting: Setting) -> Path:
        """Return the store of the answers under a setting."""
        words = (str(part).replace("/", "-") for part in setting)
        return Path(self._folder.name) / f"{' '.join(words)}.db"

    def close(self) -> None:
        """End the steps, then the model's process: one that is asked after its end begins again."""
        for cancel in self._cancels:
            cancel.set()
        ended = self._answering.acquire(timeout=END_S)
        if self._model is not None:
            self._model.backend.close()
        if ended:
            self._plugins.close()
            self._folder.cleanup()
            self._answering.release()

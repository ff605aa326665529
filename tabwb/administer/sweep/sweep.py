"""Runs the conditions of a sweep on one loaded model; what the store has is not run again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from tabwb.administer.session import setup
from tabwb.administer.session.drive import drive
from tabwb.administer.session.exchange import manipulation_facts
from tabwb.host.making import opened
from tabwb.lesion.declared import CONTROL, CONTROL_ROLES, OTHER, PARENT_PARTS, SAME, Part
from tabwb.plugin_api.components import Cancel, LesionableBackend, ModelBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import HeldElsewhere, Interrupted, TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import IDENTITY, Administration, Marks, changes

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.records.events import Event
    from tabwb.store.store import Store

Role = Literal["intact", "lesion", "control", "layer control", "perturbation"]


@dataclass(frozen=True, slots=True)
class Point:
    """One condition of a sweep: those of the whole sweep with some of them replaced.

    Attributes:
        role: the model as it is, a lesion of the grid, a control of either kind, or another
            perturbation without a lesion.
        conditions: of its administration; resolved, so that two points are one if these are equal.
        matches: of a control, the first lesion whose number of parameters it has; else empty.
        setting: what is replaced besides the lesion, in words; empty: nothing.
    """

    role: Role
    conditions: Conditions
    matches: str = ""
    setting: str = ""

    @property
    def lesion(self) -> str:
        """The spec of its lesion; empty of an intact model."""
        return self.conditions.lesion or ""

    @property
    def model(self) -> str:
        """The spec of its model."""
        return self.conditions.examinee

    @property
    def name(self) -> str:
        """The condition in words.

        >>> Point("intact", Conditions("bundled", "model")).name
        'intact'
        >>> lesioned = Conditions("bundled", "model", lesion="mlp:zero:0.1")
        >>> Point("lesion", lesioned, setting="temperature 0.7").name
        'mlp:zero:0.1, temperature 0.7'
        """
        return ", ".join(filter(None, (self.lesion, self.setting))) or "intact"


Known = dict[Conditions, Administration]
"""The administrations of a sweep that were begun, by their conditions."""
AMONG = 10
"""Among so many conditions that were begun one is looked for that says which model it had."""
TRIES = 3
"""A condition is given so often before it counts as failed; items in error are asked again."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that can be run, or continued where it stopped.

    Attributes:
        plugins: with the model.
        battery: to be given.
        conditions: of the whole sweep, resolved; a point replaces some of them.
        name: of the sweep, which is the tag of its administrations.
        points: its conditions.
        parts: of its model, with which checkpoints are compared; empty: they are not.
    """

    plugins: Plugins
    battery: Battery
    conditions: Conditions
    name: str
    points: Sequence[Point]
    parts: Sequence[Part] = ()

    def loaded(self, spec: str) -> Model:
        """Return the model of a spec, loaded for the points of the sweep.

        Of a checkpoint the facts say whether it has the parts of the sweep's model, where both are
        known.
        """
        model = Model.loaded(self.plugins, spec)
        if spec == self.conditions.examinee or not self.parts:
            return model
        if not (parts := model.known_parts()):
            return model
        same = SAME if _sizes(parts) == _sizes(self.parts) else OTHER
        return replace(model, facts={**model.facts, PARENT_PARTS: same})

    def known(self, store: Store) -> Known:
        """Return the points of the sweep that the store has: conditions to first administration.

        It is one of this sweep if battery and all conditions are the same, whoever began it.
        """
        own = {point.conditions for point in self.points}
        found: Known = {}
        for one in store.administrations():
            same = one.battery_hash == self.battery.content_hash and one.conditions in own
            if same and one.status is not AdministrationStatus.DISCONTINUED:
                found.setdefault(one.conditions, one)
        return found


@dataclass(frozen=True, slots=True)
class Told:
    """What happened to one condition of a sweep.

    Attributes:
        point: the condition.
        event: of its administration; None: it ended, or failed.
        failed: why it failed, or empty.
    """

    point: Point
    event: Event | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model.

    Attributes:
        backend: gives its answers.
        facts: what it says of itself.
        spec: of the model.
        refusal: the error for a lesion of a model that cannot have one.
    """

    backend: ModelBackend
    facts: Mapping[str, str]
    spec: str
    refusal: TabwbError

    @classmethod
    def loaded(cls, plugins: Plugins, spec: str, cancel: Cancel | None = None) -> Model:
        """Return the model of a spec, loaded.

        Args:
            plugins: with the model.
            spec: of the model.
            cancel: stops the loading.

        Raises:
            TabwbError: it cannot be loaded.
            Interrupted: the loading was stopped.
        """
        backend = plugins.open_model(spec)
        try:
            facts = opened(backend, cancel or Cancel())
            return cls(backend, facts, spec, plugins.no_lesions(spec))
        except BaseException:
            backend.close()
            raise

    def lesionable(self) -> LesionableBackend:
        """Return the back end of a model that can be lesioned.

        Raises:
            TabwbError: it cannot be.
        """
        if not isinstance(self.backend, LesionableBackend):
            raise self.refusal
        return self.backend

    def parts(self) -> Sequence[Part]:
        """Return the parts that can be lesioned.

        Raises:
            TabwbError: it cannot be lesioned, or its architecture is not known.
        """
        return self.lesionable().parts()

    def known_parts(self) -> Sequence[Part]:
        """Return the parts that can be lesioned; none where they are not known."""
        try:
            return self.parts()
        except TabwbError:
            return ()

    def under(self, lesion: str, cancel: Cancel) -> Mapping[str, str]:
        """Lesion the model; return what it says of itself now.

        Args:
            lesion: spec of the lesion; empty: the intact model.
            cancel: ends what is computed of the model.

        Raises:
            TabwbError: the lesion cannot be applied, or the model cannot be loaded.
        """
        facts = dict(self.facts)
        if isinstance(self.backend, LesionableBackend):
            facts |= self.backend.lesion(lesion)
        elif lesion:
            raise self.refusal
        return {**facts, **manipulation_facts(self.backend, cancel)}


def _sizes(parts: Sequence[Part]) -> dict[str, int]:
    return {part.name: part.parameters for part in parts}


class Lesioned(Protocol):
    """A model to which conditions are given: loaded here, or one that has answered elsewhere."""

    @property
    def backend(self) -> ModelBackend:
        """Gives the answers."""

    def under(self, lesion: str, cancel: Cancel) -> Mapping[str, str]:
        """Lesion the model; return what it says of itself now, see :meth:`Model.under`."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Gives conditions with one loaded model.

    Attributes:
        sweep: what to give.
        model: loaded once for all conditions, or its answers.
        store: of this thread.
        cancel: ends the condition at the next item.
        together: number of items put to the model at once.
    """

    sweep: Sweep
    model: Lesioned
    store: Store
    cancel: Cancel
    together: int

    def give(self, point: Point, known: Known) -> Iterator[Told]:
        """Give one condition, or what is left of it."""
        backend = self.model.backend
        facts = self.model.under(point.lesion, self.cancel)
        with self.begun(point, known, facts) as session:
            for event in drive(session, backend, self.cancel, together=self.together):
                yield Told(point, event)
            if session.status is AdministrationStatus.PAUSED:
                raise Interrupted(
                    f"administration {session.administration.id} is paused: "
                    f"{session.history.pause_reason or 'stopped'}"
                )

    def begun(self, point: Point, known: Known, facts: Mapping[str, str]) -> Session:
        """Return the session of a condition, running, with its tags and the facts of the model."""
        if point.conditions not in known:
            self._must_be_the_same(point.model, known, facts)
        session = self._session(point, known.get(point.conditions))
        try:
            record = known[point.conditions] = session.administration
            if session.status is AdministrationStatus.DONE:
                raise HeldElsewhere("another command has given it meanwhile")
            wanted = [self.sweep.name, *([CONTROL] if point.role in CONTROL_ROLES else [])]
            tags = [tag for tag in wanted if tag not in record.tags]
            session.commit(changes(Marks(record.title, record.tags), add=tags))
            if session.status is not AdministrationStatus.RUNNING:
                session.resume()
            session.opened(facts)
        except BaseException:
            session.close()
            raise
        return session

    def _must_be_the_same(self, spec: str, known: Known, facts: Mapping[str, str]) -> None:
        """Refuse a model with other weights than that of other conditions, which has its spec."""
        others = [one.id for one in list(known.values()) if one.conditions.examinee == spec]
        for number, found in zip(others, self.store.facts(others[:AMONG]), strict=False):
            if not found.model:
                continue  # it was begun, and ended before its model was known
            for key in IDENTITY:
                was, now = found.model.get(key), facts.get(key)
                if was != now:
                    raise TabwbError(
                        "the model is not the one that other conditions of the sweep were given "
                        f"with: in administration {number} {key} is {was}, and now it is {now}",
                        hint="use the model of that administration, or another store",
                    )
            return

    def _session(self, point: Point, known: Administration | None) -> Session:
        """Open the administration of a condition, or begin it.

        Two commands may give one grid into one store: who holds the claim of a condition looks
        whether the other has begun it meanwhile.
        """
        sweep, store = self.sweep, self.store
        if known is not None:
            return setup.resume(store, sweep.plugins, known.id)
        with store.lock(claim_of(sweep.battery, point.conditions)):
            for one in store.administrations_under(sweep.battery.content_hash, point.conditions):
                if one.status is not AdministrationStatus.DISCONTINUED:
                    return setup.resume(store, sweep.plugins, one.id)
            return setup.create(store, sweep.plugins, sweep.battery, point.conditions)


def claim_of(battery: Battery, conditions: Conditions) -> int:
    """Return the number of the lock under which an administration of a sweep is begun."""
    text = f"{battery.content_hash} {conditions}"
    return 2**30 + int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) // 4

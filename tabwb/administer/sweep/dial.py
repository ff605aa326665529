"""One prompt, answered by the intact model and at each step of a lesion's amount.

The steps are the conditions of a sweep, given in the order in which they are looked at: the intact
model, the lesions, then the controls.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.administer.sweep.grid import grid_of, resolved, sweep_of
from tabwb.administer.sweep.pool import begun_of, worked_here
from tabwb.administer.sweep.sweep import Known, Model, Point, Role, Sweep, Worker
from tabwb.battery.loader import battery_from_canonical
from tabwb.lesion.spec import spec_values
from tabwb.plugin_api.components import Cancel
from tabwb.records.conditions import conditions_of
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus
from tabwb.records.steps import Step, said_in
from tabwb.records.trials import IDENTITY
from tabwb.scoring.word_difference import word_difference

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store

NAME = "dial"
"""The tag of its administrations, and the id of a battery that has a prompt of the user."""
AMOUNTS = tuple(step / 100 for step in range(1, 21))
ORDER: Mapping[Role, int] = {"intact": 0, "lesion": 1, "control": 2}
TOGETHER = 64


def items_of(battery: Battery) -> list[str]:
    """Return the items that a dial can ask, ``SUBTEST/ITEM``: those of connected text first."""
    subtests = sorted(battery.subtests, key=lambda one: not one.task.connected)
    return [f"{one.id}/{item.id}" for one in subtests for item in one.items if not item.practice]


def with_prompt(battery: Battery, item: str, prompt: str) -> Battery:
    """Return a battery whose only item is one of another battery, with another prompt."""
    content = json.loads(battery.canonical)
    subtest, _, name = item.partition("/")
    for one in content["subtest"]:
        if one["id"] == subtest:
            chosen = next(each for each in one["item"] if each["id"] == name)
            content["subtest"] = [{**one, "item": [{**chosen, "prompt": prompt}]}]
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
    content["battery"] |= {"id": NAME, "title": "A prompt of the dial", "version": digest}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return battery_from_canonical(text)


class Dial:
    """A loaded model and one prompt.

    Attributes:
        battery, item: of the prompt; ``SUBTEST/ITEM``.
    """

    def __init__(
        self, plugins: Plugins, model: Model, battery: Battery, item: str = "", prompt: str = ""
    ) -> None:
        found = items_of(battery)
        self.item = item or found[0]
        if self.item not in found:
            raise TabwbError(
                f"battery '{battery.id}' has no item '{item}'", allowed=", ".join(found)
            )
        self.battery = with_prompt(battery, self.item, prompt) if prompt else battery
        self.model = model
        self._plugins = plugins
        asked = conditions_of(model.spec, "model", {"part_items": (self.item,)})
        self._conditions = resolved(plugins, self.battery, asked)

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        subtest, _, item = self.item.partition("/")
        return self.battery.subtest(subtest).item(item).prompt

    def sweep(
        self,
        target: str,
        amounts: Sequence[float] = AMOUNTS,
        seeds: Sequence[int] = (1,),
        layers: str = "all",
    ) -> Sweep:
        """Return the conditions: intact, a lesion of each amount and seed, a control of each."""
        row = {
            "targets": [target], "amounts": list(amounts), "layers": [layers],
            "seeds": list(seeds), "controls": True,
        }  # fmt: skip
        grid = grid_of({"format": 1, "name": NAME, "lesions": [row]})
        parts = self.model.parts()
        sweep = sweep_of(self._plugins, self.battery, self._conditions, grid, parts)
        return replace(sweep, points=sorted(sweep.points, key=lambda point: ORDER[point.role]))

    def steps(
        self,
        sweep: Sweep,
        opened: Callable[[], Store],
        cancel: Cancel,
        other: Callable[[], Store] | None = None,
    ) -> Iterator[Step]:
        """Yield each step as it is answered; first those that a store has.

        Args:
            sweep: of :meth:`sweep`.
            opened: opens the store that gets the answers.
            cancel: ends it after the current answers.
            other: opens a store whose answers are used too; it is not changed.
        """
        with opened() as store:
            intact = ""
            for point, there, problem in self._given(sweep, store, cancel, other):
                step = Step(point.role, *_place(point), point.lesion, reason=problem)
                if there is not None:
                    step = _answered(step, point, *there)
                if point.role == "intact":
                    if not step.answer and problem:
                        raise TabwbError(f"the intact model does not answer: {problem}")
                    intact = step.answer
                words = word_difference(intact, step.answer).second
                new = tuple(word.text.strip() for word in words if word.differs)
                yield replace(step, words=len(words), new_words=new)

    def _given(
        self, sweep: Sweep, store: Store, cancel: Cancel, other: Callable[[], Store] | None
    ) -> Iterator[tuple[Point, tuple[Store, int] | None, str]]:
        """Yield each condition with where its answer is, or the reason that there is none."""
        known = begun_of(sweep, sweep.points, store)
        worker = Worker(sweep, self.model, store, cancel, TOGETHER)
        for role in ORDER:
            own = [point for point in sweep.points if point.role == role]
            for point, place in self._stored(sweep, (*own,), store, known, other):
                own.remove(point)
                yield point, place, ""
            for told in worked_here(worker, own, known):
                if told.failed:
                    yield told.point, None, told.failed
                elif told.event is None:
                    yield told.point, (store, known[told.point.conditions].id), ""
            if cancel.is_set():
                return

    def _stored(
        self,
        sweep: Sweep,
        points: Sequence[Point],
        store: Store,
        known: Known,
        other: Callable[[], Store] | None,
    ) -> Iterator[tuple[Point, tuple[Store, int]]]:
        """Yield the conditions that are done."""
        left = []
        for point in points:
            begun = known.get(point.conditions)
            if begun is not None and begun.status is AdministrationStatus.DONE:
                yield point, (store, begun.id)
            else:
                left.append(point)
        if other is None or not left:
            return
        with other() as second:
            there = sweep.known(second)
            facts = dict(zip(
                (one.id for one in there.values()),
                second.facts([one.id for one in there.values()]), strict=True,
            ))  # fmt: skip
            for point in left:
                begun = there.get(point.conditions)
                if begun is None or begun.status is not AdministrationStatus.DONE:
                    continue
                was = facts[begun.id].model
                if all(was.get(key) == self.model.facts.get(key) for key in IDENTITY):
                    yield point, (second, begun.id)


def _place(point: Point) -> tuple[float, int | None]:
    """Return amount and seed."""
    if not point.lesion:
        return 0.0, None
    amount = spec_values(point.matches or point.lesion)["amount"]
    seed = spec_values(point.lesion).get("seed")
    return float(amount), None if seed is None else int(seed)


def _answered(step: Step, point: Point, store: Store, number: int) -> Step:
    trial = next((one for one in store.trials(number) if one.is_answered), None)
    if trial is None:
        return replace(step, reason=step.reason or "there is no answer")
    return said_in(step, trial, next(iter(point.conditions.judges), ""))

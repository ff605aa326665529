"""Conditions of a sweep side by side in one batch: the same answers, each in its administration."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.sweep.packs import packs_of
from tabwb.administer.sweep.point import Point
from tabwb.administer.sweep.pool import run_sweep
from tabwb.administer.sweep.sweep import Model, Told
from tabwb.cli.main import main
from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.lesionable import LesionableBackend
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import AdministrationStatus, Protocol
from tabwb.store.store import Store
from tests.administer.sweeping import CONDITIONS, Answers, answers, grid_in, made, undisturbed

SPEC = "lesionable"
pytestmark = pytest.mark.usefixtures("lesionable")


@dataclass
class Lanes:
    """A lesionable model that can also be asked under several lesions in one call.

    ``poison`` is a lesion that ends each call with others; ``faulty`` one whose first answer is an
    error; ``stop_after`` sets the cancel of the sweep after so many answers.
    """

    inner: Any
    most: int = 4
    poison: str | None = None
    faulty: str | None = None
    stop_after: int | None = None
    calls: list[tuple[str, ...]] = field(default_factory=list)
    given: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def lanes(self, specs: Sequence[str]) -> Sequence[int]:
        return [self.most] * len(specs)

    def reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        self.calls.append(tuple(lesions))
        if self.poison in lesions:
            raise ComponentError("the process ended")
        for lane, lesion in enumerate(lesions):
            self.inner.lesion(lesion)
            for index, (number, request) in enumerate(requests):
                if number == lane:
                    if self.given == self.stop_after:
                        cancel.set()
                        return
                    self.given += 1
                    *_, reply = self.inner.reply(request, cancel)
                    if lesion == self.faulty:
                        self.faulty, reply = None, ComponentError("no numbers")
                    yield index, reply


def sweep_with(
    plugins: Plugins, store: Path, cancel: threading.Event | None = None, **wishes: Any
) -> tuple[Lanes, list[Told]]:
    """Run the small sweep with lanes; return the model and what was told."""
    more = {name: wishes.pop(name) for name in ("lanes", "together") if name in wishes}
    loaded = Model.loaded(plugins, SPEC)
    model = Lanes(loaded.backend, **wishes)
    assert isinstance(model, LesionableBackend)
    with closing(loaded.backend):
        sweep = made(plugins, loaded, SPEC, store.parent)
        opened = lambda: Store.open(str(store))  # noqa: E731
        cancel = cancel or threading.Event()
        given = replace(loaded, backend=model)
        told = list(run_sweep(sweep, sweep.points, opened, cancel, model=given, **more))
    return model, told


def facts_of(store: Path) -> list[Mapping[str, str]]:
    with Store.open(str(store), create=False) as opened:
        return [opened.history(one.id).model_facts for one in opened.administrations()]


_EXPECTED: list[Answers] = []


@pytest.fixture
def expected(plugins: Plugins, tmp_path: Path) -> Answers:
    if not _EXPECTED:
        _EXPECTED.append(undisturbed(plugins, SPEC, tmp_path))
    return _EXPECTED[0]


@pytest.mark.parametrize(("wish", "sizes"), [(None, [4, 4, 1]), (3, [3, 3, 3]), (1, [])])
def test_packs_give_what_each_condition_gives_alone(
    plugins: Plugins, tmp_path: Path, expected: Answers, wish: int | None, sizes: list[int]
) -> None:
    model, told = sweep_with(plugins, tmp_path / "store.db", lanes=wish)
    assert answers(tmp_path / "store.db") == expected
    assert [len(call) for call in model.calls] == [size for size in sizes if size > 1]
    ended = [one.point for one in told if one.event is None]
    assert len(ended) == len(set(ended)) == CONDITIONS
    # Each answer is told under its condition, and each condition says how many shared its batch.
    recorded = [one.point for one in told if isinstance(one.event, events.AttemptRecorded)]
    assert {recorded.count(point) for point in ended} == {4}
    shared = [int(facts.get("lesion_lanes", 1)) for facts in facts_of(tmp_path / "store.db")]
    assert sorted(shared, reverse=True) == [n for n in sizes for _ in range(n)] or wish == 1
    assert wish != 1 or set(shared) == {1}


def test_a_condition_that_ends_the_model_takes_no_other_with_it(
    plugins: Plugins, tmp_path: Path, expected: Answers
) -> None:
    intact = Model.loaded(plugins, SPEC)
    with closing(intact.backend):
        poison = made(plugins, intact, SPEC, tmp_path).points[1].lesion
    model, told = sweep_with(plugins, tmp_path / "store.db", poison=poison)
    assert [len(call) for call in model.calls] == [4, 4]  # the first pack is given one by one
    assert not any(one.failed for one in told)
    assert answers(tmp_path / "store.db") == expected


def test_an_item_in_error_is_asked_again_alone(
    plugins: Plugins, tmp_path: Path, expected: Answers
) -> None:
    model, told = sweep_with(plugins, tmp_path / "store.db", faulty=list(expected)[2])
    assert not any(one.failed for one in told) and [len(call) for call in model.calls] == [4, 4]
    with Store.open(str(tmp_path / "store.db"), create=False) as store:
        tries = {
            one.conditions.lesion or "": [len(trial.attempts) for trial in store.trials(one.id)]
            for one in store.administrations()
        }
    assert {lesion for lesion, counts in tries.items() if sum(counts) > 4} == {list(expected)[2]}
    assert sum(tries[list(expected)[2]]) == 5
    assert answers(tmp_path / "store.db") == expected


def test_many_items_are_asked_in_several_batches(
    plugins: Plugins, tmp_path: Path, expected: Answers
) -> None:
    model, _ = sweep_with(plugins, tmp_path / "store.db", together=3)
    assert [len(call) for call in model.calls] == [4, 4, 4, 4]
    assert answers(tmp_path / "store.db") == expected


def test_a_lesion_that_cannot_be_applied_fails_alone(
    plugins: Plugins, tmp_path: Path, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    under, poison = Model.under, next(reversed(expected))

    def failing(self: Model, lesion: str, cancel: Cancel) -> Mapping[str, str]:
        if lesion == poison:
            raise ComponentError("cannot be applied")
        return under(self, lesion, cancel)

    monkeypatch.setattr(Model, "under", failing)
    model, told = sweep_with(plugins, tmp_path / "store.db", most=9)
    assert [(one.point.lesion, one.failed) for one in told if one.failed] == [
        (poison, "cannot be applied")
    ]
    assert [len(call) for call in model.calls] == [8]
    found = answers(tmp_path / "store.db")
    assert found == {lesion: texts for lesion, texts in expected.items() if lesion != poison}


@pytest.mark.parametrize("stop", [0, 3, 10])
def test_a_pack_that_was_stopped_is_continued(
    plugins: Plugins, tmp_path: Path, expected: Answers, stop: int
) -> None:
    store, cancel = tmp_path / "store.db", threading.Event()
    _, told = sweep_with(plugins, store, cancel, stop_after=stop)
    assert any(one.event is None for one in told) == (stop == 10)
    with Store.open(str(store), create=False) as opened:
        begun = opened.administrations()
    assert sum(one.answered for one in begun) == stop
    running = [one for one in begun if one.status is not AdministrationStatus.DONE]
    assert {one.status for one in running} == {AdministrationStatus.PAUSED}
    _, told = sweep_with(plugins, store)
    assert answers(store) == expected
    ended = [one.point for one in told if one.event is None]
    assert len(ended) == len(set(ended)) == CONDITIONS - (len(begun) - len(running))


POINTS = [
    Point("lesion" if spec else "intact", Conditions("m", "model", lesion=spec or None))
    for spec in ("", "mlp:zero:0.1", "norm:zero:0.1", "mlp:zero:0.2", "mlp:zero:0.3")
]


def packed(points: Sequence[Point], lanes: int | None = None) -> list[list[str]]:
    class Backend(Lanes):
        def lanes(self, specs: Sequence[str]) -> Sequence[int]:
            return [0 if spec.startswith("norm") else 2 for spec in specs]

    from tests.data.lesionable.lesionable_for_tests import Lesionable

    packs = packs_of(points, Backend(Lesionable(0.0)), "m", lanes)
    return [[point.lesion for point in pack] for pack in packs]


def test_a_pack_has_the_next_conditions_that_can_share_a_batch() -> None:
    one, two, three = "mlp:zero:0.1", "mlp:zero:0.2", "mlp:zero:0.3"
    assert packed(POINTS) == [["", one], ["norm:zero:0.1"], [two, three]]
    assert packed(POINTS, 3) == [["", one, two], ["norm:zero:0.1"], [three]]
    assert packed(POINTS, 1) == [[point.lesion] for point in POINTS]


@pytest.mark.parametrize(
    "change",
    [{"seed": 2}, {"examinee": "other"}, {"protocol": Protocol.LIKELIHOOD}, {"conversation": True}],
)
def test_a_pack_differs_in_nothing_but_the_lesion(change: dict[str, Any]) -> None:
    first, second = POINTS[1], POINTS[3]
    changed = replace(second, conditions=replace(second.conditions, **change))
    assert packed([first, second]) == [[first.lesion, second.lesion]]
    assert packed([first, changed]) == [[first.lesion], [second.lesion]]


def test_the_command_takes_the_number_of_lanes(
    tmp_path: Path, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Lanes] = []
    loaded = Model.loaded

    def with_lanes(plugins: Plugins, spec: str, cancel: Cancel | None = None) -> Model:
        model = loaded(plugins, spec, cancel)
        models.append(Lanes(model.lesionable()))
        return replace(model, backend=models[-1])

    monkeypatch.setattr(Model, "loaded", with_lanes)
    command = [
        *("lesion", "sweep", "tab", "--model", SPEC, "--grid", str(grid_in(tmp_path))),
        *("--limit", "1", "--judge", "none", "--store", str(tmp_path / "store.db")),
    ]
    assert main([*command, "--lanes", "3"]) == 0
    assert [len(call) for call in models[0].calls] == [3, 3, 3]
    assert answers(tmp_path / "store.db") == expected


def test_a_cluster_has_no_lanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["lesion", "sweep", "tab", "--model", SPEC, "--grid", str(grid_in(tmp_path))]
    assert main([*command, "--cluster", "tcp://127.0.0.1:1", "--lanes", "4"]) == 2
    assert "--lanes: it cannot be used together with --cluster" in capsys.readouterr().err

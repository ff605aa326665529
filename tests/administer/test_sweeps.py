"""Sweeps of lesions and other perturbations: shared out, continued after kills."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import tabwb
from tabwb.administer.session import setup
from tabwb.administer.session.drive import Difference, drive, repeat
from tabwb.administer.session.exchange import manipulation_facts, opened_facts
from tabwb.administer.sweep.pool import packs_of, run_sweep
from tabwb.administer.sweep.sweep import Model, Point, Told, Worker
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import LANES, PARENT_PARTS, SAME
from tabwb.plugin_api.components import Cancel, LesionableBackend
from tabwb.records import events
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, StoreError, UsageError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import AdministrationStatus, Protocol
from tabwb.records.trials import Administration
from tabwb.store.store import Store
from tests.administer.conftest import Begin
from tests.administer.sweeping import CONDITIONS, Answers, answers, grid_in, made, run, undisturbed

pytestmark = pytest.mark.usefixtures("lesionable")
HERE = "lesionable"
CHILD = "lesionable-child@delay=0.01"


def test_two_workers_and_two_shards_give_the_same(plugins: Plugins, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    for shard in ((0, 2), (1, 2)):
        list(run(plugins, HERE, store, shard, workers=2))
    assert answers(store) == undisturbed(plugins, HERE, tmp_path)
    assert list(run(plugins, HERE, store)) == []  # nothing is left to give


def test_a_worker_that_dies_loses_nothing(
    plugins: Plugins, tmp_path: Path, expected: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Model] = []
    loaded = Model.loaded

    def remembered(plugins: Plugins, spec: str) -> Model:
        models.append(loaded(plugins, spec))
        return models[-1]

    monkeypatch.setattr(Model, "loaded", remembered)
    store, deaths, ended = tmp_path / "store.db", 0, 0
    for told in run(plugins, CHILD, store, workers=2):
        ended += told.event is None
        assert not told.failed
        if ended >= 2 * (deaths + 1) and deaths < 2:
            pid = models[deaths % len(models)].backend.pid  # type: ignore[attr-defined]
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                deaths += 1
    assert deaths == 2 and answers(store) == expected


@pytest.mark.crash
def test_a_sweep_that_is_killed_is_continued_by_the_same_command(
    tmp_path: Path, expected: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, store = "lesionable-child@delay=0.05", tmp_path / "store.db"
    command = [
        *(sys.executable, "-m", "tabwb.cli.main", "lesion", "sweep", "tab"),
        *("--model", spec, "--grid", str(grid_in(tmp_path)), "--store", str(store)),
        *("--limit", "1", "--judge", "none"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and count(store) < 2:
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert main(command[3:]) == 0
    assert f"{CONDITIONS} conditions" in capsys.readouterr().out
    assert answers(store) == expected


def count(path: Path) -> int:
    if not path.exists():
        return 0
    with Store.open(str(path), create=False) as store:
        return len(store.administrations())


def test_a_condition_that_always_fails_does_not_stop_the_others(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model.loaded(plugins, HERE)
    with closing(model.backend):
        sweep = made(plugins, model, HERE, tmp_path)
        lesion = model.lesionable().lesion
        poison = sweep.points[3].lesion

        def failing(spec: str) -> object:
            if spec == poison:
                raise UsageError("cannot be applied")
            return lesion(spec)

        monkeypatch.setattr(model.backend, "lesion", failing)
        store = tmp_path / "store.db"
        ended = [
            told
            for told in run_sweep(
                sweep,
                sweep.points[:6],
                lambda: Store.open(str(store)),
                threading.Event(),
                model=model,
            )
            if told.event is None
        ]
    assert [told.failed for told in ended if told.failed] == ["cannot be applied"]
    assert len(answers(store)) == 5


def test_a_store_that_is_lost_stops_the_sweep_at_once(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Point] = []

    def lost(worker: Worker, point: Point, known: object) -> Iterator[Told]:
        calls.append(point)
        raise StoreError("the store cannot be written")
        yield Told(point)

    monkeypatch.setattr(Worker, "give", lost)
    with pytest.raises(StoreError, match="cannot be written"):
        list(run(plugins, HERE, tmp_path / "store.db"))
    assert len(calls) == 1


def test_the_conditions_of_a_sweep_have_one_model(plugins: Plugins, tmp_path: Path) -> None:
    model = Model.loaded(plugins, HERE)
    store = tmp_path / "store.db"
    failed: list[str] = []
    with closing(model.backend):
        sweep = made(plugins, model, HERE, tmp_path)
        for weights, points in (("a", sweep.points[:2]), ("b", sweep.points[1:3])):
            changed = replace(model, facts={**model.facts, "weights_sha256": weights})
            arguments = (lambda: Store.open(str(store)), threading.Event())
            ended = run_sweep(sweep, points, *arguments, model=changed)
            failed += [told.failed for told in ended if told.failed]
    (message,) = failed
    assert "in administration 1 weights_sha256 is a, and now it is b" in message
    assert count(store) == 2


SPEC = "lesionable"


@dataclass
class Lanes:
    """A lesionable model that can also be asked under several lesions in one call."""

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


LESION = "mlp.down:zero:0.5@seed=3"


def given(
    store: Store,
    plugins: Plugins,
    battery: Path,
    facts: Mapping[str, str] = MappingProxyType({}),
    /,
    **more: object,
) -> Administration:
    asked = Conditions("lesionable", "model", judges=(), **more)  # type: ignore[arg-type]
    conditions = setup.resolve(plugins, setup.find_battery(plugins, str(battery)), asked)
    backend = plugins.open_model(conditions.examinee, conditions.lesion)
    found = setup.find_battery(plugins, str(battery))
    with setup.create(store, plugins, found, conditions) as session:
        opened = opened_facts(backend, conditions.lesion, threading.Event())
        session.opened({**opened, **facts})
        list(drive(session, backend, threading.Event()))
        return session.administration


@pytest.mark.parametrize("more", [{}, {"replicates": 2}, {"conversation": True}])
def test_the_same_model_gives_the_same_answers(
    store: Store, plugins: Plugins, battery_file: Path, more: dict[str, object]
) -> None:
    one = given(store, plugins, battery_file, lesion=LESION, **more)
    responses = [trial.counting.response for trial in store.trials(one.id) if trial.counting]
    assert any("wug" in response for response in responses)
    before = store.administrations()
    for together in (1, 64):
        found = repeat(store, plugins, one, threading.Event(), together=together)
        assert (found.answers, found.different, found.facts) == (len(responses), (), ())
    assert store.administrations() == before


def test_how_a_sweep_gave_it_is_not_a_fact_of_the_model(
    store: Store, plugins: Plugins, battery_file: Path
) -> None:
    facts = {LANES: "16", PARENT_PARTS: SAME}
    one = given(store, plugins, battery_file, facts, lesion=LESION)
    assert store.history(one.id).model_facts.items() >= facts.items()
    assert repeat(store, plugins, one, threading.Event()).facts == ()


def test_the_perplexity_of_an_intact_model_of_a_sweep_is_computed_again(
    store: Store, plugins: Plugins, battery_file: Path
) -> None:
    backend = plugins.open_model("lesionable", None)
    backend.open()
    facts = manipulation_facts(backend, threading.Event())
    backend.close()
    assert facts
    one = given(store, plugins, battery_file, facts)
    assert repeat(store, plugins, one, threading.Event()).facts == ()


def test_another_precision_is_named_with_the_answers_that_it_changes(
    store: Store, plugins: Plugins, battery_file: Path
) -> None:
    one = given(store, plugins, battery_file, lesion=LESION)
    model = "lesionable@dtype=bfloat16"
    found = repeat(store, plugins, one, threading.Event(), model=model)
    assert found.facts == (Difference("dtype", "float32", "bfloat16"),)
    stored = {
        f"{trial.plan.subtest}/{trial.plan.item}": trial.counting.response
        for trial in store.trials(one.id)
        if trial.counting
    }
    assert found.different and found.answers == 3
    assert all(stored[each.what] == each.stored != each.now for each in found.different)


def test_another_version_is_named_though_the_answers_are_the_same(
    store: Store, plugins: Plugins, battery_file: Path, tmp_path: Path
) -> None:
    one = given(store, plugins, battery_file, lesion=LESION)
    with sqlite3.connect(tmp_path / "store.db") as database:
        database.execute("update administrations set versions = json_set(versions, '$.tabwb', '0')")
    found = repeat(store, plugins, store.administration(one.id), threading.Event())
    assert not found.different
    assert [(each.what, each.stored) for each in found.facts] == [("tabwb", "0")]


def test_a_person_is_not_asked_again(store: Store, plugins: Plugins, begin: Begin) -> None:
    session = begin()
    with pytest.raises(UsageError, match="is not one of a model"):
        repeat(store, plugins, session.administration, threading.Event())


GRID: dict[str, Any] = {
    "format": 1,
    "name": "many",
    "lesions": [{"targets": ["mlp"], "operation": "quantise", "bits": [8, 4]}],
    "temperatures": [{"values": [0, 0.7], "seeds": [1, 2]}],
    "prompts": [{"operations": ["words:drop"], "amounts": [0.5], "seeds": [1, 2]}],
    "checkpoints": [
        {"model": "lesionable-child", "dose": 100, "dose_name": "steps", "lesions": True}
    ],
}

POINTS_OF_OTHERS = 1 + 2 + 2 + 2 + 1 + 2


@pytest.mark.usefixtures("lesionable")
def test_all_are_given_once_and_a_model_is_loaded_once(
    battery_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabwb.administer.sweep.sweep import Model

    loads: list[str] = []
    loaded = Model.loaded.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Model], plugins: Any, spec: str, *more: Any) -> Model:
        loads.append(spec)
        return loaded(cls, plugins, spec, *more)  # type: ignore[no-any-return]

    monkeypatch.setattr(Model, "loaded", classmethod(counted))
    store = tmp_path / "store.db"
    for expected in (["lesionable", "lesionable-child"], ["lesionable"]):
        loads.clear()
        table = tabwb.sweep(battery_file, "lesionable", GRID, store=store)
        assert loads == expected  # the second time nothing is left
    rows = table.to_dicts()
    assert len(rows) == POINTS_OF_OTHERS and {row["status"] for row in rows} == {"done"}
    with Store.open(str(store), create=False) as opened:
        given = {one.id: one for one in opened.administrations()}
        assert len(given) == POINTS_OF_OTHERS
        for row in rows:
            one = given[row["administration"]]
            facts = opened.history(one.id).model_facts
            assert (one.conditions.lesion or None) == row["lesion"]
            assert "many" in one.tags
            child = one.conditions.examinee == "lesionable-child"
            assert facts.get("parent_parts") == ("the same" if child else None)
            assert one.conditions.labels.get("parent") == ("lesionable" if child else None)
        noisy = [one for one in given.values() if one.conditions.prompt_noise]
        prompts = {one.id: [trial.plan.prompt for trial in opened.trials(one.id)] for one in noisy}
        assert len(prompts) == 2 and len(set(map(str, prompts.values()))) == 2


def test_a_model_that_cannot_be_lesioned_has_temperatures_and_prompt_noise(
    battery_file: Path, tmp_path: Path
) -> None:
    grid = {name: GRID[name] for name in ("format", "name", "temperatures", "prompts")}
    table = tabwb.sweep(battery_file, "echo", grid, store=tmp_path / "store.db")
    assert [row["role"] for row in table.to_dicts()] == ["intact", *["perturbation"] * 4]
    with pytest.raises(UsageError, match="'echo' cannot be lesioned"):
        tabwb.sweep(battery_file, "echo", GRID, store=tmp_path / "store.db")


def test_what_another_sweep_gave_gets_the_tag_of_this_one_too(
    battery_file: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    grid = {"format": 1, "temperatures": [{"values": [0.5]}]}
    for name in ("first", "second"):
        tabwb.sweep(battery_file, "echo", {**grid, "name": name}, store=store)
    with Store.open(str(store), create=False) as opened:
        assert [one.tags for one in opened.administrations()] == [("first", "second")] * 2


def test_noise_that_changes_nothing_is_refused_before_anything_is_given(
    battery_file: Path, tmp_path: Path
) -> None:
    grid = {"format": 1, "prompts": [{"operations": ["words:drop"], "amounts": [1e-9]}]}
    with pytest.raises(UsageError, match="changes none of the 3 prompts"):
        tabwb.sweep(battery_file, "echo", grid, store=tmp_path / "store.db")

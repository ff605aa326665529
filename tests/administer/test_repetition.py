"""A stored condition given again: the same answers, or what differs."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tabwb.administer.repetition import Difference, repeat
from tabwb.administer.session import setup
from tabwb.administer.session.drive import drive
from tabwb.administer.sweep.manipulation import manipulation_facts, opened_facts
from tabwb.lesion.declared import LANES, PARENT_PARTS, SAME
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.trials import Administration
from tabwb.store.store import Store
from tests.administer.conftest import Begin

pytestmark = pytest.mark.usefixtures("lesionable")
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

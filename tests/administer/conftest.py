"""A store and sessions over real parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tests.administer.naming_parts import naming_battery

Begin = Callable[..., Session]


@pytest.fixture
def begin(store: Store, plugins: Plugins, battery_file: Path) -> Iterator[Begin]:
    """Begin an administration; sessions are closed at the end of the test."""
    with ExitStack() as closing:

        def make(examinee: str = "S-01", kind: str = "speaker", **more: object) -> Session:
            battery = setup.find_battery(plugins, str(battery_file))
            conditions = Conditions(examinee=examinee, kind=kind, judges=(), **more)  # type: ignore[arg-type]
            conditions = setup.resolve(plugins, battery, conditions)
            return closing.enter_context(setup.create(store, plugins, battery, conditions))

        yield make


@pytest.fixture
def begin_naming(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Begin]:
    """Begin a naming session of four pictures; sessions are closed at the end of the test."""
    with ExitStack() as closing:

        def make(rules: str = "", rater: str = "R1") -> Session:
            battery = setup.find_battery(plugins, str(naming_battery(tmp_path, rules)))
            conditions = Conditions("S-014", "speaker", judges=(), rater=rater)
            conditions = setup.resolve(plugins, battery, conditions)
            return closing.enter_context(create_naming(store, plugins, battery, conditions))

        yield make

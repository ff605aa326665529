"""Masses of responses are read and let go without holding up the screen."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.grouping import grouped, summarised
from tabwb.store.store import Store
from tabwb.workbench.comparison.table import without_trials
from tabwb.workbench.engine.threads import AT_ONCE, let_go, resting
from tests.workbench.stocked import stock


def test_collections_rest_until_the_last_reader_has_ended() -> None:
    for _ in range(1200):  # a reader of an earlier test may still be at work
        if gc.isenabled():
            break
        time.sleep(0.05)
    with resting():
        with resting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(OSError), resting():
        raise OSError
    assert gc.isenabled()


class Thing:
    pass


def test_things_go_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    things: list[object] = [Thing() for _ in range(2 * AT_ONCE + 1)]
    seen = [weakref.ref(thing) for thing in things]
    left: list[int] = []

    def rest(seconds: float) -> None:
        left.append(sum(ref() is not None for ref in seen))

    monkeypatch.setattr("tabwb.workbench.engine.threads.time.sleep", rest)
    let_go(things)
    assert left == [AT_ONCE + 1, 1, 0]


def test_nothing_that_grows_with_the_responses_is_kept(tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    with Store.open(tmp_path / "store.db") as store:
        chosen = load_administrations(store)
    assert any(one.judged for one in chosen)
    for row in map(without_trials, summarised(grouped(chosen, "model"))):
        assert not any((*one.trials, *one.judged) for one in row.group.members)
        assert not any(judge.judged for judge in row.results.judges)


def test_the_screen_s_thread_never_loads_numpy_for_the_results_by_model() -> None:
    code = (
        "import sys, tabwb.workbench.comparison.page, tabwb.workbench.comparison.actions\n"
        "import tabwb.workbench.comparison.loader\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

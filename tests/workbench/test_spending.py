"""What a run takes, shown while it runs: requests in flight, tokens, money, waits; many at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.records.states import AdministrationStatus, AttemptState, TrialState
from tabwb.store.store import Store
from tests.plugin_api import conftest as installed
from tests.workbench.seat import SIZES, Sit

install = installed.install
Install = installed.Install

CROWD = '''
from pathlib import Path


class Crowd:
    """Answers from the last to the first; NAME is a folder in which files say how.

    go: lets answers come after the wait; count: tokens are counted; fail: the keys that fail.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def open(self):
        return {"model": "crowd"}

    def close(self):
        pass

    def answer(self, request):
        failing = self.folder / "fail"
        if failing.exists() and request.key in failing.read_text().split():
            return ComponentError("the service is down")
        counted = (7, 3) if (self.folder / "count").exists() else (None, None)
        return Reply("dog", StopReason.END, 0.01, None, *counted)

    def reply(self, request, cancel):
        said = self.answer(request)
        if isinstance(said, ComponentError):
            raise said
        yield said

    def reply_many(self, requests, cancel):
        with (self.folder / "asked").open("a") as asked:
            print(len(requests), file=asked)
        for index in reversed(range(len(requests))):
            yield index, Wait(90.0, "rate limit, attempt 2 of 6")
            while not (self.folder / "go").exists():
                if cancel.wait(0.01):
                    return
            yield index, self.answer(requests[index])


@hookimpl
def tabwb_register_models(register):
    make = lambda spec, options: Crowd(spec.name)
    register(Descriptor("crowd", "Many at once", make, name_help="FOLDER", batches=True))
'''


@pytest.fixture
def folder(install: Install, tmp_path: Path) -> Path:
    install("crowd", CROWD)
    made = tmp_path / "crowd"
    made.mkdir()
    return made


def charge(tmp_path: Path) -> None:
    config = tmp_path / "tabwb-config"
    config.mkdir()
    price = '[[price]]\nmodel = "crowd:*"\nprompt = 100.0\nreply = 1000.0\n'
    (config / "prices.toml").write_text(price, encoding="utf-8")


@pytest.mark.parametrize("size", SIZES[:1])
async def test_many_at_once_with_a_wait_then_tokens_and_cost(
    sit: Sit, battery: str, folder: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    charge(tmp_path)
    (folder / "count").touch()
    async with sit(size) as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.reads("rate limit, attempt 2 of 6: ")
        await seat.reads("32 in flight")
        await seat.reads("many at once")
        shown = seat.text
        await seat.until(lambda: seat.text != shown, "the countdown's next second")
        (folder / "go").touch()
        await seat.until(lambda: seat.desk.page == "results", "the results")
    # 45 items: 32 together, then the 13 that are left. 45 x (7 x 100 + 3 x 1000) / 1,000,000 USD.
    assert (folder / "asked").read_text().split() == ["32", "13"]
    administration, trials = seat.stored()
    assert administration.status is AdministrationStatus.DONE
    assert all(len(trial.attempts) == 1 for trial in trials)
    async with sit(size) as seat:
        seat.desk.do(lambda: seat.desk.sessions.resume(1, go_on=False))
        await seat.reads("450 tokens, 0.1665 USD")


async def test_a_few_are_asked_one_by_one(sit: Sit, battery: str, folder: Path) -> None:
    (folder / "go").touch()
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="13")
        await seat.press("a")
        await seat.until(lambda: seat.desk.page == "results", "the results")
    assert not (folder / "asked").exists()


async def test_what_no_reply_counted_is_unknown_and_so_is_its_cost(
    sit: Sit, battery: str, folder: Path, tmp_path: Path
) -> None:
    charge(tmp_path)
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}")
        await seat.next()
        await seat.reads("tokens not counted, cost unknown")


async def test_of_a_free_model_tokens_are_told_and_no_money(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.next()
        # "Which one barks? (dog, tree, cup)" has six words, and echo says them again.
        await seat.reads("12 tokens")
        assert "USD" not in seat.text
        assert "cost" not in seat.text


async def test_of_a_person_nothing_is_counted(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, kind="speaker", speaker="S-01")
        assert seat.work.spending is None
        assert not seat.desk.query_one("#run-line").display


async def test_escape_stops_many_at_once_and_they_are_asked_again(
    sit: Sit, battery: str, folder: Path
) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.reads("32 in flight")
        await seat.press("escape")
        await seat.until(lambda: not seat.work.asking, "the stop")
        assert seat.work.status is AdministrationStatus.PAUSED
        assert "in flight" not in seat.text
        assert not any(trial.attempts for trial in seat.stored()[1])
        (folder / "go").touch()
        await seat.press("a")
        await seat.until(lambda: seat.desk.page == "results", "the results")


async def test_a_pause_comes_after_the_answers_under_way(
    sit: Sit, battery: str, folder: Path
) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.reads("32 in flight")
        await seat.press("p")
        await seat.reads("pausing after the current responses")
        (folder / "go").touch()
        await seat.until(lambda: seat.work.status is AdministrationStatus.PAUSED, "the pause")
        assert sum(trial.state is TrialState.ANSWERED for trial in seat.stored()[1]) == 32


async def test_a_service_that_is_down_rests_the_run_and_says_so(
    sit: Sit, battery: str, folder: Path
) -> None:
    (folder / "go").touch()
    (folder / "fail").write_text("words/w1 words/w2 saying/s1", encoding="utf-8")
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model=f"crowd:{folder}", replicates="15")
        await seat.press("a")
        await seat.until(lambda: seat.asked, "the trouble")
        await seat.reads("Auto-run has stopped")
        assert "the last one: the service is down" in seat.work.reason
        with Store.open(seat.store) as store:
            failed = [one for one in store.trials(1) if one.attempts]
        assert [one.attempts[0].state for one in failed] == [AttemptState.ERROR] * 3
        (folder / "fail").unlink()
        await seat.press("escape")
        await seat.press("a")
        await seat.until(lambda: seat.desk.page == "results", "the results")

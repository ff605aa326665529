"""The dialog of an operation: it never loses its job, and says every refusal."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input, Static

from tabwb.operations.judge import JudgeRun
from tabwb.operations.operation import Tools
from tabwb.operations.reproduce import ReproducePaper, papers
from tabwb.records.columns import Column
from tabwb.records.trials import Trial
from tabwb.store.store import Store
from tabwb.tables.table import table_of
from tabwb.workbench.engine.jobs import JobState, _responses
from tabwb.workbench.shell.operation_dialog import OperationScreen, ResponsesScreen
from tests.workbench.seat import Seat, Sit, workbench


@pytest.fixture
def sit(tmp_path: Path) -> Sit:
    """Open the workbench over a store of the test's own."""
    return partial(workbench, tmp_path)


async def opened(seat: Seat) -> None:
    """The dialog of judging, over the results of TAB."""
    await seat.begin(battery="tab", model="echo", judges="none")
    await seat.press("a", at="results")
    await seat.press("j")
    await seat.has("judge")


def said(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#said", Static).content)


def _wait(free: threading.Event) -> None:
    free.wait()


def raters_of(trial: Trial) -> set[str]:
    return {rating.rater for rating in trial.ratings}


async def test_pressed_twice_while_the_worker_is_busy_it_begins_once(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        seat.fill(judge="rules-1")
        free = threading.Event()
        seat.desk.do(partial(_wait, free))
        await seat.press_button("begin")
        await seat.press_button("begin")
        free.set()
        await seat.until(lambda: "5 verdicts" in said(seat), "the end")
        assert len(seat.desk.sessions.jobs.all) == 1
        with Store.open(seat.store) as store:
            judged = [trial for trial in store.trials(1) if "rules-1" in raters_of(trial)]
        assert len(judged) == 5


async def test_closed_while_the_worker_is_busy_its_job_is_done(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        seat.fill(judge="rules-1")
        free = threading.Event()
        seat.desk.do(partial(_wait, free))
        await seat.press_button("begin")
        await seat.press("escape")
        free.set()
        jobs = seat.desk.sessions.jobs
        await seat.until(lambda: jobs.all and not jobs.all[1].state.active, "the end")
        assert jobs.all[1].state.phase == "done"


async def test_an_estimate_that_fails_says_so(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: JudgeRun, tools: Tools) -> Any:
        raise ValueError("no such colour")

    monkeypatch.setattr(JudgeRun, "estimate", fails)
    async with sit() as seat:
        await opened(seat)
        seat.fill(judge="rules-1")
        await seat.press_button("estimate")
        await seat.until(lambda: "no such colour" in said(seat), "the refusal")


async def test_opened_again_it_shows_the_work_and_its_values(sit: Sit) -> None:
    async with sit((100, 30)) as seat:
        await opened(seat)
        seat.fill(judge="tab-2026:echo@delay=0.5", max_requests="8")
        await seat.press_button("begin")
        await seat.until(lambda: said(seat).startswith("▸ judged"), "the work")
        await seat.press("escape")
        await seat.press("j")
        await seat.has("judge")
        assert said(seat).startswith("▸ ")
        screen = seat.app.screen
        assert screen.query_one("#judge", Input).value == "tab-2026:echo@delay=0.5"
        assert screen.query_one("#max_requests", Input).value == "8"
        await seat.press_button("stop")
        await seat.until(lambda: said(seat).startswith("‖"), "the stop")


async def test_a_value_is_refused_at_its_field(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        seat.fill(judge="rules", repeats="200")
        await seat.press_button("begin")
        await seat.until(lambda: "Repeats: '200' cannot be used" in said(seat), "the refusal")
        assert seat.app.screen.focused is seat.app.screen.query_one("#repeats")
        seat.fill(max_requests="3")
        await seat.pilot.pause()
        assert said(seat).startswith("! Repeats")
        seat.fill(repeats="2")
        await seat.until(lambda: not said(seat).startswith("!"), "the end of the refusal")
        assert not seat.app.screen.query(".-wrong")
        seat.fill(judge="tab-2026:replay:/tmp/a b.jsonl", repeats="1")
        await seat.press_button("estimate")
        await seat.until(lambda: "5 to ask" in said(seat), "the whole spec")


async def test_keys_typed_on_after_an_estimate_stay_in_their_field(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        seat.fill(judge="nothing")
        field(seat, "max_requests").focus()
        await seat.pilot.pause()
        for key in ("enter", "1", "2"):
            seat.app.post_message(Key(key, key if len(key) == 1 else None))
        await seat.until(lambda: "nothing" in said(seat), "the refusal")
        seat.app.post_message(Key("3", "3"))
        await seat.until(lambda: field(seat, "max_requests").value == "123", "the keys")
        assert field(seat, "judge").value == "nothing"
        assert {one.id for one in seat.app.screen.query(".-wrong")} == {"judge"}


async def test_the_key_after_the_one_that_closes_a_dialog_is_for_the_page(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        for key in ("escape", "t"):
            seat.app.post_message(Key(key, key if len(key) == 1 else None))
        await seat.until(lambda: seat.app.screen is seat.desk, "the page")
        await seat.until(lambda: seat.app.screen.query("ResponsesView").first().display)


async def test_fields_that_mean_nothing_for_a_format_are_not_filled(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        await seat.press("escape", "e")
        await seat.until(lambda: seat.app.screen.query("#format"), "the dialog")
        screen = seat.app.screen
        assert "parquet only" in seat.text
        assert all(screen.query_one(f"#{name}").disabled for name in ("wide", "partition_by"))
        seat.fill(format="parquet", partition_by="model")
        await seat.until(lambda: not screen.query_one("#wide").disabled)
        seat.fill(format="csv")
        await seat.until(lambda: screen.query_one("#wide").disabled)
        assert isinstance(screen, OperationScreen)
        assert not {"wide", "partition_by"} & set(dict(screen._given()))


async def test_only_what_can_be_scrolled_takes_the_focus(sit: Sit) -> None:
    async with sit() as seat:
        await opened(seat)
        seen = []
        while seat.app.screen.focused.id not in seen:  # type: ignore[union-attr]
            seen.append(seat.app.screen.focused.id)  # type: ignore[union-attr]
            await seat.press("tab")
        assert "estimate" in seen and "said-pane" not in seen


def field(seat: Seat, name: str) -> Input:
    return seat.app.screen.query_one(f"#{name}", Input)


async def test_one_dialog_exports_reports_and_draws(sit: Sit, tmp_path: Path) -> None:
    async with sit((160, 48)) as seat:
        await seat.begin(battery="tab", model="echo", judges="none")
        await seat.press("a", at="results")
        for what, written in (("export", "a.csv"), ("report", "a.tex"), ("figure", "a.svg")):
            await seat.press("e")
            await seat.has("what")
            seat.fill(what=what)
            ending = {"report": "1.html", "figure": "1-burden.pdf"}.get(what, "1.jsonl")
            await seat.until(lambda: field(seat, "out").value.endswith(ending))  # noqa: B023
            if what == "export":
                seat.fill(format="csv")
                await seat.until(lambda: field(seat, "out").value == "administration-1.csv")
            if what == "figure":
                seat.fill(name="accuracy")
                await seat.until(lambda: "policy=" in said(seat), "the options of the figure")
                assert field(seat, "out").value == "administration-1-accuracy.pdf"
                seat.fill(width="9000")
                await seat.press_button("begin")
                await seat.until(lambda: seat.app.screen.focused is field(seat, "width"))
                seat.fill(width="single", out="x.jpg", option="policy=normalised")
                await seat.press_button("begin")
                await seat.until(lambda: ".pdf, .svg, .png" in said(seat), "the refusal")
            seat.fill(out=str(tmp_path / written))
            await seat.press_button("begin")
            await seat.closed()
            assert seat.news[-1] == f"Written: {tmp_path / written}"
    assert (tmp_path / "a.csv").read_text().startswith("administration,")
    assert (tmp_path / "a.tex").read_text().startswith("% needs")
    assert "policy=normalised" in (tmp_path / "a.svg").read_text()


async def test_a_path_is_completed(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    async with sit() as seat:
        await opened(seat)
        await seat.press("escape", "e")
        await seat.has("out")
        field(seat, "out").value = str(tmp_path / "ans")
        field(seat, "out").cursor_position = len(field(seat, "out").value)
        await seat.until(lambda: field(seat, "out")._suggestion.endswith("answers/"))
        await seat.press("right")
        assert field(seat, "out").value == f"{tmp_path}/answers/"


async def test_responses_of_a_table_are_played_and_shown(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [Column(name, name, "a number", "integer") for name in ("administration", "trial")]
    table = table_of("errors", columns, [(1, 4), (2, 7)])
    tools = SimpleNamespace(tables=[(table_of("other", columns[:1], [(1,)]), ""), (table, "")])
    assert _responses(tools) is table  # type: ignore[arg-type]
    asked: list[tuple[object, ...]] = []
    async with sit() as seat:
        screen = OperationScreen(seat.desk, ReproducePaper, "Errors")
        seat.app.push_screen(screen)
        await seat.has("paper")
        monkeypatch.setattr(seat.desk, "request", lambda *given: asked.append(given))
        screen._show(JobState(1, "", ""))
        screen._show(JobState(1, "", "", phase="done", responses=table))
        await seat.focuses("listen")
        await seat.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, ResponsesScreen), "the list")
        await seat.press("enter")
        await seat.press("down", "l")
        await seat.press("o")
        await seat.until(lambda: seat.app.screen is seat.desk, "the page")
    assert asked == [
        ("naming", "playback", 1, 4), ("naming", "playback", 2, 7), ("results", "show", 2, 7),
    ]  # fmt: skip


async def test_a_paper_is_one_of_those_that_are_known_or_a_path(sit: Sit) -> None:
    async with sit() as seat:
        seat.app.push_screen(OperationScreen(seat.desk, ReproducePaper, "Reproduce a paper"))
        await seat.has("paper")
        await seat.press("down", "enter")
        await seat.until(lambda: field(seat, "paper").value in papers(), "a paper")

"""Results of an administration: summary, responses, files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from tabwb.records.states import TrialState
from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.results.item_grid import ItemGrid
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.results.responses import ResponsesView
from tabwb.workbench.results.written_summary import NoteLine, WrittenSummary
from tabwb.workbench.shell.row_list import RowList
from tests.cli.conftest import in_process
from tests.workbench.seat import SIZES, Seat, Sit


async def finished(seat: Seat, battery: str, model: str = "echo@text=dog") -> None:
    await seat.begin(battery=battery, model=model)
    await seat.press("a")
    await seat.until(lambda: seat.desk.page == "results", "the results")


def listed(seat: Seat) -> Sequence[ResponseRow]:
    """The responses that are listed."""
    return seat.desk.query_one(ResponsesView)._rows


@pytest.mark.parametrize("size", SIZES)
async def test_the_summary_has_intervals_and_baselines(
    sit: Sit, size: tuple[int, int], battery: str
) -> None:
    async with sit(size) as seat:
        await finished(seat, battery)
        # Clopper-Pearson for 1 of 2: 0.0126 to 0.9874.
        await seat.reads("0.01-0.99")
        (row,) = [line for line in seat.text.splitlines() if "0.01-0.99" in line]
        assert "1/2" in row
        # On 0 to 1 the estimate is in the middle; always the first option, 1.00, is in the cell
        # of the upper end.
        low, value, first_option = row.index("├"), row.index("●"), row.rindex("◈")
        assert low < row.index("◆") < value < first_option  # guessing: one of three
        assert abs(low + first_option - 2 * value) <= 2
        assert "◆ baseline   ◈ one on ● or an end" in seat.text
        notes = seat.desk.query_one(NoteLine)
        assert RESEARCH_ONLY[:40] in " ".join(seat.text.split())
        before = notes.size.height
        notes.focus()
        await seat.press("enter")
        await seat.until(lambda: notes.size.height > before == 1, "all notes")


async def test_a_click_on_a_mark_opens_the_response(sit: Sit, battery: str) -> None:
    async with sit((160, 48)) as seat:
        await finished(seat, battery)
        grid = seat.desk.query_one(ItemGrid)
        await seat.until(lambda: grid._lines, "the marks")
        (column, _, trial) = grid._lines[0].targets[1]
        await seat.pilot.click(grid, offset=(column, 0))
        await seat.reads("w2 · 2 of 3")
        assert trial == 2
        assert not seat.desk.query_one("#written-summary").display


async def test_t_lists_the_responses_beside_the_marked_one(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("t")
        await seat.reads("✓ right")
        await seat.press("space")
        await seat.reads("expected fish")
        assert "exact ✗ wrong" in seat.text
        await seat.press("i")
        await seat.reads("Sent exactly")
        await seat.press("left")
        await seat.reads("w1 · 1 of 3")
        await seat.press("slash", "d", "u", "c", "k")
        await seat.reads("No response has the words 'duck'")
        await seat.press("escape", "slash", "w", "2", "enter")
        assert [row.item.place[0] for row in listed(seat)] == [2]
        await seat.press("escape")
        assert seat.desk.page == "results" and len(listed(seat)) == 3
        await seat.press("less_than_sign")
        await seat.reads("# ↓")
        assert [row.item.place[0] for row in listed(seat)] == [3, 2, 1]
        await seat.press("greater_than_sign")
        await seat.reads("item ↑")


async def test_f4_hides_the_response_and_results_open_with_their_summary(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("t", "f4")
        await seat.until(lambda: "w1 · 1 of 3" not in seat.text, "the list alone")
        await seat.press("f4")
        await seat.reads("w1 · 1 of 3")
        seat.show_results(1)
        summary = seat.desk.query_one(WrittenSummary)
        await seat.until(lambda: summary.has_focus_within, "the summary")


async def test_a_response_is_declared_void_afterwards(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.work is None)
        await seat.press("o", "enter")
        await seat.until(lambda: seat.desk.page == "results")
        await seat.press("t")
        await seat.until(lambda: isinstance(seat.app.focused, RowList))
        await seat.press("v")
        await seat.words("misread")
        await seat.reads("∅ void")
    _, trials = seat.stored()
    assert (trials[0].state, trials[0].reason) == (TrialState.VOID, "misread")


async def export(seat: Seat, path: str) -> None:
    """Ask for a file of this name."""
    await seat.press("e")
    await seat.until(lambda: seat.app.screen.query("#export-path"))
    seat.app.screen.query_one("#export-path", Input).value = path
    await seat.press("enter")


async def test_e_writes_a_file_and_names_it_with_its_folder(
    sit: Sit, battery: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with sit((160, 48)) as seat:
        await finished(seat, battery)
        await export(seat, "answers.jsonl")
        written = f"Written: {tmp_path / 'answers.jsonl'}"
        await seat.until(lambda: seat.news == [written], "the news")
        assert not seat.asked
    text = (tmp_path / "answers.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["item"] for line in text.splitlines()] == ["w1", "w2", "s1"]


async def test_a_report_and_a_table_are_written_from_the_same_dialog(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        for name, begins in (("md", "# "), ("tex", "% needs"), ("values.csv", "group,")):
            out = tmp_path / f"a.{name}"
            await write(seat, name, out)
            assert out.read_text(encoding="utf-8").startswith(begins)


async def write(seat: Seat, name: str, out: Path) -> None:
    """Choose a format in the dialog and write the file."""
    await seat.press("e")
    await seat.until(lambda: seat.app.screen.query("#formats"))
    formats = seat.app.screen.query_one("#formats", OptionList)
    formats.highlighted = formats.get_option_index(name)
    field = seat.app.screen.query_one("#export-path", Input)
    await seat.until(lambda: field.value == f"administration-1.{name}")
    field.value = str(out)
    await seat.press("enter")
    await seat.until(lambda: not seat.asked)


async def test_an_export_never_writes_over_a_file_and_its_dialog_stays(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    out.write_text("mine", encoding="utf-8")
    async with sit() as seat:
        await finished(seat, battery)
        await export(seat, str(out))
        await seat.reads("the file already exists")
        field = seat.app.screen.query_one("#export-path", Input)
        assert seat.app.focused is field
        assert field.value == str(out)
        await seat.press("end", "2", "enter")
        await seat.until(lambda: not seat.asked)
    assert out.read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "answers.jsonl2").exists()


async def test_arrows_go_through_the_export_dialog(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("e")
        await seat.until(lambda: seat.app.focused and seat.app.focused.id == "export-path")
        formats = seat.app.screen.query_one("#formats", OptionList)
        # However many exporters are installed: to the first, past it, to the last, past that.
        formats.highlighted = formats.option_count - 1
        last = formats.options[-1].id
        every = formats.option_count
        for keys, name in (
            (["up"], "formats"),
            (["up"] * every, "formats"),
            (["down"] * (every - 1), "formats"),
            (["down"], "export-path"),
            (["down"], "write"),
            (["right"], "cancel"),
            (["left"], "write"),
            (["up"], "export-path"),
        ):
            await seat.press(*keys)
            assert seat.app.focused is not None
            assert seat.app.focused.id == name
        field = seat.app.screen.query_one("#export-path", Input)
        assert field.value == f"administration-1-{last}.pdf"
        field.value = ""
        await seat.press("enter")
        await seat.reads("a file name is needed")


async def test_home_and_end_go_to_the_first_and_the_last_response(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("t")
        await seat.reads("t Summary")
        table = seat.app.focused
        assert isinstance(table, RowList)
        await seat.press("end")
        assert table.current == 2
        await seat.press("home")
        assert table.current == 0
        await seat.press("t")
        await seat.reads("t Responses")


async def test_b_scores_again_and_shows_the_same(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("f8")
        await seat.until(lambda: seat.desk.work is None)
        await seat.press("o", "enter")
        await seat.until(lambda: seat.desk.page == "results")
        before = seat.results
        await seat.press("b")
        await seat.until(lambda: seat.results is not before)
        assert seat.results == before


async def test_esc_goes_back_to_the_open_administration(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "trial")
        await seat.press("g")
        await seat.until(lambda: seat.desk.page == "results")


async def test_what_was_exported_is_replayed(sit: Sit, battery: str, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("e")
        await seat.until(lambda: seat.app.screen.query("#export-path"))
        seat.app.screen.query_one("#export-path", Input).value = str(out)
        await seat.press("enter")
        await seat.until(out.exists)
        await finished(seat, battery, f"replay:{out}")
    _, trials = seat.stored()
    assert [one.counting.response for one in trials if one.counting] == ["dog"] * 3


async def test_recorded_replicates_are_given_as_on_the_command_line(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    async with sit() as seat:
        for args in (
            ("run", battery, "--model", "echo", "--replicates", "2", "--temperature", "1"),
            ("export", "1", "--out", str(out)),
        ):
            outcome = await asyncio.to_thread(in_process, (*args, "--store", seat.store))
            assert outcome.status == 0, outcome.err
        await finished(seat, battery, f"replay:{out}")
    _, trials = seat.stored()
    assert [one.plan.replicate for one in trials if one.counting] == [0, 0, 0, 1, 1, 1]


async def test_the_first_page_knows_what_another_terminal_has_added(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        there = ("run", battery, "--model", "echo", "--store", seat.store)
        outcome = await asyncio.to_thread(in_process, there)
        assert outcome.status == 0, outcome.err
        await seat.press("f8")
        await seat.until(
            lambda: seat.desk.catalogue and len(seat.desk.catalogue.administrations) == 2
        )

"""Results of an administration: summary, responses, files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from textual.widgets import Input

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.statistics.summary import pool
from tabwb.media.wording import between
from tabwb.records.states import RatingStatus, TrialState
from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.comparison.plots import figure_of
from tabwb.workbench.comparison.table import ReadRows, bases, key_of
from tabwb.workbench.engine.presenters import _unjudged, row_of, scores_of
from tabwb.workbench.results.responses import ResponsesView
from tabwb.workbench.results.stored import ResponseRow, results_of
from tabwb.workbench.results.written import Shown, detail_lines
from tabwb.workbench.results.written_summary import (
    GridCell,
    GridRow,
    ItemGrid,
    NoteLine,
    WrittenSummary,
    grid_lines,
    profile_lines,
)
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.trial.transcript import LiveView, live_lines
from tests.analysis.given import (
    ANSWERS,
    BATTERY,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    summarise,
    trials,
)
from tests.cli.conftest import in_process
from tests.workbench.seat import Seat, Sit


async def finished(seat: Seat, battery: str, model: str = "echo@text=dog") -> None:
    await seat.begin(battery=battery, model=model)
    await seat.press("a", at="results")


def listed(seat: Seat) -> Sequence[ResponseRow]:
    """The responses that are listed."""
    return seat.desk.query_one(ResponsesView)._rows


async def summary_row(seat: Seat) -> None:
    """Read the row with the interval of the accuracy, and its baselines."""
    # Clopper-Pearson for 1 of 2: 0.0126 to 0.9874.
    await seat.reads("0.01-0.99", "◆ baseline   ◈ one on ● or an end")
    row = next(line for line in seat.text.splitlines() if "0.01-0.99" in line)
    assert "1/2" in row
    # On 0 to 1 the estimate is in the middle; always the first option, 1.00, is in the cell
    # of the upper end.
    low, value, first_option = row.index("├"), row.index("●"), row.rindex("◈")
    assert low < row.rindex("◆") < value < first_option  # guessing: one of three
    assert abs(low + first_option - 2 * value) <= 2


async def export(seat: Seat, path: str) -> None:
    """Ask for a file of this name."""
    await seat.press("e")
    await seat.has("out")
    seat.app.screen.query_one("#out", Input).value = path
    await seat.press("enter")


async def test_the_summary_has_intervals_and_files_are_written_and_replayed(
    sit: Sit, battery: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "answers.jsonl"
    async with sit() as seat:
        await finished(seat, battery)
        await summary_row(seat)
        notes = seat.desk.query_one(NoteLine)
        assert RESEARCH_ONLY[:40] in " ".join(seat.text.split())
        before = notes.size.height
        notes.focus()
        await seat.press("enter")
        await seat.until(lambda: notes.size.height > before == 1, "all notes")
        await seat.pilot.resize_terminal(160, 48)
        await summary_row(seat)

        grid = seat.desk.query_one(ItemGrid)
        await seat.until(lambda: grid._lines, "the marks")
        (column, _, trial) = grid._lines[0].targets[1]
        await seat.pilot.click(grid, offset=(column, 0))
        await seat.reads("w2 · 2 of 3")
        assert trial == 2
        assert not seat.desk.query_one("#written-summary").display

        await export(seat, "answers.jsonl")
        await seat.until(lambda: seat.news == [f"Written: {out}"], "the news")
        assert not seat.asked
        text = out.read_text(encoding="utf-8")
        assert [json.loads(line)["item"] for line in text.splitlines()] == ["w1", "w2", "s1"]
        await export(seat, str(out))
        await seat.reads("the file already exists")
        field = seat.app.screen.query_one("#out", Input)
        assert seat.app.focused is field
        assert field.value == str(out)
        await seat.press("end", "2", "enter")
        await seat.closed()
        assert out.read_text(encoding="utf-8") == text
        assert (tmp_path / "answers.jsonl2").exists()
        await finished(seat, battery, f"replay:{out}")
        replayed = [one.counting.response for one in seat.stored()[1] if one.counting]
        assert replayed == ["dog"] * 3

        # Recorded replicates are given as on the command line.
        twice = tmp_path / "twice.jsonl"
        for args in (
            ("run", battery, "--model", "echo", "--replicates", "2", "--temperature", "1"),
            ("export", "3", "--out", str(twice)),
        ):
            outcome = await asyncio.to_thread(in_process, (*args, "--store", seat.store))
            assert outcome.status == 0, outcome.err
        await finished(seat, battery, f"replay:{twice}")
        trials = seat.stored()[1]
        assert [one.plan.replicate for one in trials if one.counting] == [0, 0, 0, 1, 1, 1]
        # The first page knows what another terminal has added.
        await seat.press("f8")
        await seat.until(
            lambda: seat.desk.catalogue and len(seat.desk.catalogue.administrations) == 4,
            "what was added",
        )


async def test_responses_are_listed_filtered_sorted_scored_again_and_declared_void(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        await finished(seat, battery)
        await seat.press("escape", at="trial")
        await seat.press("g", at="results")
        await seat.press("t", reads="t Summary")
        table = seat.app.focused
        assert isinstance(table, RowList)
        await seat.press("end")
        assert table.current == 2
        await seat.press("home")
        assert table.current == 0
        await seat.press("f4")
        await seat.until(lambda: "w1 · 1 of 3" not in seat.text, "the list alone")
        await seat.press("f4", reads="w1 · 1 of 3")
        await seat.press("t", reads="t Responses")
        await seat.press("t", reads="✓ right")
        await seat.press("space", reads="expected fish")
        assert "exact ✗ wrong" in seat.text
        await seat.press("i", reads="Sent exactly")
        await seat.press("left", reads="w1 · 1 of 3")
        await seat.press("slash", *"duck", reads="No response has the words 'duck'")
        await seat.press("escape", "slash", "w", "2", "enter")
        assert [row.item.place[0] for row in listed(seat)] == [2]
        await seat.press("escape")
        assert seat.desk.page == "results" and len(listed(seat)) == 3
        await seat.press("less_than_sign", reads="# ↓")
        assert [row.item.place[0] for row in listed(seat)] == [3, 2, 1]
        await seat.press("greater_than_sign", reads="item ↑")
        seat.show_results(1)
        summary = seat.desk.query_one(WrittenSummary)
        await seat.until(lambda: summary.has_focus_within, "results open with their summary")

        await seat.press("f8")
        await seat.until(lambda: seat.desk.work is None, "the end of the administration")
        await seat.press("f7", "enter", at="results")
        before = seat.results
        await seat.press("B")
        await seat.until(lambda: seat.results is not before, "the scores")
        assert before is not None and seat.results is not None
        assert replace(seat.results, summary=before.summary) == before
        assert seat.results.summary.rows == before.summary.rows
        await seat.press("t")
        await seat.until(lambda: isinstance(seat.app.focused, RowList), "the list")
        await seat.press("home", "v")
        marked = listed(seat)[0].item.trial.plan.item
        await seat.words("misread")
        await seat.reads("∅ void")
        (void,) = [one for one in seat.stored()[1] if one.state is TrialState.VOID]
        assert (void.plan.item, void.reason) == (marked, "misread")

        # Results are renewed while the administration goes on.
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.next()
        await seat.press("g", at="results")
        await seat.until(partial(has_answers, seat, 1), "the results")
        await seat.press("t", "end")
        for given in (2, 3):
            seat.desk.do(seat.desk.sessions.next)
            await seat.until(partial(has_answers, seat, given), f"{given} responses")
        assert seat.desk.page == "results"
        await seat.reads("exact ✗ wrong")
        assert "s1 · 3 of 3" in seat.text, "the marked response stays marked"


def has_answers(seat: Seat, number: int) -> bool:
    return seat.results is not None and seat.results.administration.answered == number


def row(item: str, marks: str, subtest: str = "Words") -> GridRow:
    """An item with right (+), wrong (-) and open (.) responses."""
    states = {"+": "right", "-": "wrong", ".": "open"}
    cells = tuple(GridCell(10 * at, states[mark]) for at, mark in enumerate(marks, 1))
    return GridRow(subtest, item, cells)


def test_marks_of_replicates_are_drawn_with_their_share_and_know_their_trial() -> None:
    title, line = grid_lines([row("w1", "+-+.")], 60)
    assert title.text.plain == "Words       right"
    assert line.text.plain == "w1  ✓ ✗ ✓ ·   2/3  ━━━━━╸╌╌"
    assert [line.text.plain[first] for first, _, _ in line.targets] == ["✓", "✗", "✓", "·"]
    assert [trial for _, _, trial in line.targets] == [10, 20, 30, 40]


def test_more_replicates_than_columns_are_drawn_as_shares_of_their_parts() -> None:
    marks = "+" * 100 + "-" * 100 + "+-" * 50
    (_, line) = grid_lines([row("w1", marks)], 60)
    bars = line.text.plain.split()[1]
    third = len(bars) // 3
    assert set(bars[: third - 1]) == {"█"} and set(bars[third + 1 : 2 * third - 1]) == {"▁"}
    assert set(bars[2 * third + 1 :]) <= {"▄", "▅"}
    assert "150/300" in line.text.plain and line.targets == ()


def test_one_replicate_has_a_line_for_each_subtest() -> None:
    rows = [row("w1", "+"), row("w2", "-"), row("s1", ".", "Sentences")]
    assert [line.text.plain.split() for line in grid_lines(rows, 60)] == [
        ["Words", "✓", "✗"],
        ["Sentences", "·"],
    ]


def test_features_are_counted_over_responses_with_a_burden_with_intervals() -> None:
    given = (
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "", number=2),
        replace(answered("ct2", "I sold bread.", number=3), ratings=()),
        answered("ct2", "We sold bread again.", number=4),
    )
    data = AdministrationData(administration(1, SAMPLED), BATTERY, given, declarations=DECLARED)
    results = results_of(data)
    lines = [line.plain for line in profile_lines(results.profiles, 100)]
    (retracing,) = [line.split() for line in lines if line.startswith("retracing")]
    # Neither the empty response nor the one without verdicts is counted.
    assert retracing[1:3] == ["1/2", "█" * 8]
    found = results.summary.judges[0].burden.rate_intervals("retracing")[0].interval
    assert retracing[-1] == between(found)
    assert lines[1].startswith("burden 0.50  over 7 features")
    # The features that no judge rates are one line.
    assert sum("anomia" in line for line in lines) == 1 and lines[-1].startswith("12 ")


def test_the_mean_of_an_item_is_over_its_responses_with_a_burden() -> None:
    unseen = replace(
        answered("ct1", "We sailed.", number=3, replicate=2, features=["retracing", "jargon"]),
        ratings=(),
    )
    partly = answered("ct1", "We flew.", number=4, replicate=3, features=["retracing", "jargon"])
    (short,) = [one for one in partly.ratings if one.measure == "short-and-simplified-utterances"]
    lost = replace(short, value=None, status=RatingStatus.UNDEFINED)
    partly = replace(partly, ratings=tuple(lost if one is short else one for one in partly.ratings))
    given = (
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct1", "We ran.", number=2, replicate=1, features=["retracing", "jargon"]),
        unseen,
        partly,
        answered("ct1", "", number=5, replicate=4),
    )
    results = results_of(
        AdministrationData(administration(1, SAMPLED), BATTERY, given, declarations=DECLARED)
    )
    (row,) = results.grid
    # The mean of 1 and 2; the fourth lacks a verdict, so its 2 is not a burden.
    assert ([cell.drawn(person=False)[0] for cell in row.cells], row.told) == (
        ["1", "2", "●", "2", "●"],
        "1.50",
    )
    assert results.summary.judges[0].burden.symptom_burden.value == 1.5
    assert replace(row, cells=row.cells[3:]).told == "-"
    assert [one.found for one in results.responses] == [(1, 7), (2, 7), None, (2, 6), None]


def test_verdicts_on_a_response_that_is_not_usable_are_not_counted() -> None:
    same = {"ct1": "I was happy.", "ct2": "I was happy.", "r1": "I was happy."}
    given = trials(same, features=["retracing"])
    results = results_of(
        AdministrationData(administration(), BATTERY, given, declarations=DECLARED)
    )
    cells = {row.item: [cell.drawn(person=False)[0] for cell in row.cells] for row in results.grid}
    assert (cells["ct1"], cells["ct2"]) == (["●"], ["●"])
    assert {row.found for row in results.responses} == {None}


def test_a_response_has_those_to_the_same_item_in_other_replicates() -> None:
    first, second = answered("wc1", "boot", number=1), answered("wc1", "the boat", number=2)
    second = replace(second, plan=replace(second.plan, replicate=1))
    other = answered("ct1", "We went.", number=3)
    data = AdministrationData(administration(1, SAMPLED), BATTERY, (first, second, other))
    results = results_of(data)
    lines = [one.plain for one in detail_lines(results, results.responses[0], Shown(), 60)]
    assert lines[-2:] == ["The same item in other replicates", "  2  ✗ the boat"]
    told = detail_lines(results, results.responses[2], Shown(), 60)
    assert not any("other replicates" in one.plain for one in told)


def test_features_are_counted_among_the_responses_that_have_a_burden() -> None:
    unjudged = replace(answered("ct2", "I sold bread.", number=3), ratings=())
    given = (
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "", number=2),
        unjudged,
    )
    summary = summarise(BATTERY, given, SAMPLED, declarations=DECLARED)
    scores = scores_of(BATTERY, given, summary)
    said = [" ".join(line.plain.split()) for line in live_lines(LiveView(scores, ()), 40)]
    assert any(line.endswith("1/2 usable") for line in said)
    assert "retracing 1/1" in said
    # Nothing usable: undefined, not 0 of 0.
    summary = summarise(BATTERY, given[1:2], SAMPLED, declarations=DECLARED)
    scores = scores_of(BATTERY, given[1:2], summary)
    said = [" ".join(line.plain.split()) for line in live_lines(LiveView(scores, ()), 40)]
    assert "symptom burden -" in said and "retracing -" in said


def test_a_feature_without_a_verdict_has_no_bar() -> None:
    seen = [
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "We sold bread.", number=2),
    ]
    unknown = [
        replace(one, value=None, status=RatingStatus.UNDEFINED)
        if one.measure == "retracing"
        else one
        for one in seen[1].ratings
    ]
    given = (*seen, replace(seen[1], plan=replace(seen[1].plan, number=3), ratings=tuple(unknown)))
    summary = summarise(BATTERY, given, SAMPLED, declarations=DECLARED)
    scores = scores_of(BATTERY, given, summary)
    rows = [row_of(BATTERY, trial, {}) for trial in given]
    lines = [line.plain for line in live_lines(LiveView(scores, rows), 48)]
    drawn = {
        line.split()[0]: line[-10:-7] for line in lines if line.startswith(("retr", "jarg", "sym"))
    }
    # Present, absent, undefined; a burden needs a verdict on every feature.
    assert drawn == {"retracing": "█▁ ", "jargon": "▁▁▁", "symptom": "▃▁ "}
    scores = replace(scores, unusable=frozenset({1}))
    (retracing,) = [
        line.plain[-10:-7]
        for line in live_lines(LiveView(scores, rows), 48)
        if line.plain.startswith("retracing")
    ]
    assert retracing == " ▁ "


def test_an_unusable_response_says_so_and_keeps_its_verdicts() -> None:
    # One text for three prompts, two of them repetitions: stored as ok, counted as repeated.
    same = {**ANSWERS, "ct1": "I was happy.", "ct2": "I was happy.", "r1": "I was happy."}
    results = results_of(
        AdministrationData(administration(), BATTERY, trials(same), declarations=DECLARED)
    )
    row = next(one for one in results.responses if one.item.trial.plan.item == "ct1")
    attempt = row.item.attempt
    assert attempt is not None
    assert (attempt.status, row.item.status) == ("ok", "repeated-answer")
    assert any(rating.rater in DECLARED for rating in row.item.trial.ratings)
    said = " ".join(str(line) for line in detail_lines(results, row, Shown(), 100))
    assert "not usable (repeated answer): its features are undefined; verdicts are kept" in said
    assert "retracing" in said


def test_a_judge_that_stopped_before_the_end_has_responses_left() -> None:
    judged = answered("ct1", "We went.", number=1, features=["retracing"])
    left = replace(answered("ct2", "I sold bread.", number=2), ratings=())
    given = administration(2, replace(SAMPLED, judges=()))
    for second, expected in ((left, [("rules-2", 1)]), (replace(left, ratings=judged.ratings), [])):
        data = AdministrationData(given, BATTERY, (judged, second), declarations=DECLARED)
        assert list(_unjudged(data, pool([data]))) == expected


def read_row(label: str, *, model: bool = True) -> Grouped:
    group = SimpleNamespace(has_model=model, label=label, apart=(), shared=())
    battery = SimpleNamespace(content_hash="tab")
    return cast(Grouped, SimpleNamespace(label=label, group=group, battery=battery))


def test_a_row_stays_marked_until_everything_is_read_again() -> None:
    rows = ReadRows()
    rows.add(read_row("able"), 1, 2)
    rows.add(read_row("weak"), 2, 2)
    rows.turn_mark(key_of(read_row("weak")))
    rows.begin("model")
    rows.add(read_row("able"), 1, 2)
    assert [one.label for one in rows.all] == ["able", "weak"]
    assert rows.progress(rows.all) == "… reading, 1 of 2"
    assert [one.label for one in rows.selected(rows.all)] == ["weak"]
    rows.add(None, 2, 2)
    assert [one.label for one in rows.all] == ["able"]
    assert not rows.marked
    assert rows.progress(rows.all) == "1 of 1 models"
    rows.add(read_row("S-014", model=False), 2, 2)
    assert rows.progress(rows.all[1:]) == "0 of 1 models, 1 of 1 speakers"
    rows.begin("model")
    rows.add(read_row("S-014", model=False), 1, 1)
    assert rows.progress(rows.all) == "1 of 1 speakers"


def test_another_grouping_begins_without_rows_and_is_not_complete() -> None:
    rows = ReadRows()
    rows.add(read_row("able"), 1, 1)
    rows.begin("seed")
    assert not rows.all
    assert not rows.complete
    assert rows.progress([]) == "… reading"


def test_a_baseline_that_differs_between_rows_has_both_ends_as_in_the_table() -> None:
    # As given the key stands first; turned round it never does. The plot once showed 1.00 alone.
    given = ("lion", "drum", "violin", "giraffe", "boot", "boat")
    rows = summarised(
        grouped(
            [
                AdministrationData(
                    administration(number, replace(SAMPLED, examinee=name)),
                    BATTERY,
                    (answered("wc1", "lion", options=options),),
                    declarations=DECLARED,
                )
                for number, (name, options) in enumerate((("one", given), ("two", given[::-1])), 1)
            ],
            "model",
        )
    )
    points = figure_of("accuracies", rows, bases(rows)[0]).points
    first = next(one for one in points if one.label == "always first option")
    assert (first.low, first.value) == (0.0, 1.0)
    guessing = next(one for one in points if one.label == "guessing")
    assert guessing.baseline and guessing.low == guessing.value == 1 / 6

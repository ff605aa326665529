"""What the panes of the results draw: marks of items, features of judges; how lists move."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tabwb.analysis.administrations import AdministrationData
from tabwb.media.wording import between
from tabwb.records.states import RatingStatus
from tabwb.workbench.results.item_grid import GridCell, GridRow, grid_lines
from tabwb.workbench.results.presenter import results_of
from tabwb.workbench.results.profile import profile_lines
from tabwb.workbench.results.written_detail import Shown, detail_lines
from tests.report.given import BATTERY, DECLARED, SAMPLED, administration, answered, trials
from tests.workbench.seat import Seat, Sit


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
    assert [line.split()[1] for line in lines if line.startswith("anomia")] == ["-"]


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


async def test_results_are_renewed_while_the_administration_goes_on(sit: Sit, battery: str) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo@text=dog")
        await seat.next()
        await seat.press("g")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.press("t", "end")
        for given in (2, 3):
            seat.desk.do(seat.desk.sessions.next)
            await seat.until(partial(has_answers, seat, given), f"{given} responses")
        assert seat.desk.page == "results"
        await seat.reads("exact ✗ wrong")
        assert "s1 · 3 of 3" in seat.text, "the marked response stays marked"


def has_answers(seat: Seat, number: int) -> bool:
    return seat.results is not None and seat.results.administration.answered == number


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

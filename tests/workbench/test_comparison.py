"""Models side by side: features, plots, differences, where judges differ."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from tabwb.administer.session.corrections import change_marks
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.host.plugins import Plugins
from tabwb.store.store import Store
from tabwb.workbench.comparison.compare import ITEMS
from tabwb.workbench.comparison.detail import FeatureCells, rate_words
from tabwb.workbench.comparison.page import ModelsPage
from tabwb.workbench.comparison.table import ModelsTable, Order, key_of
from tabwb.workbench.engine.messages import Stored
from tabwb.workbench.shell.help import GENERAL, help_for
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Line, Pane
from tests.analysis.given import BATTERY, DECLARED, SAMPLED, answered, summarise
from tests.analysis.test_grouping import given as made
from tests.workbench.models_page import WIDE, by_model, column, drawn, names, table
from tests.workbench.seat import Seat, Sit
from tests.workbench.stocked import GOOD, give, stock


@pytest.fixture(autouse=True)
def stocked(tmp_path: Path) -> None:
    stock(tmp_path / "store.db")


async def compared(seat: Seat, out: Path) -> None:
    """Mark two models, compare them, and export them."""
    await by_model(seat, "tab-2026:x")
    await seat.press("c")
    await seat.until(lambda: "None marked" in seat.news[-1], "why nothing is compared")
    await seat.press("home", "down", "space", "up", "space")
    assert column(seat, "mark") == ["x", "x", "·"]
    await seat.press("c", reads="A  able")
    await seat.reads("B  weak", "┼")
    # Two of five items differ, both for A: 2 of 4 signs are as far.
    line = next(one for one in seat.text.splitlines() if re.search(r"1\.00 +0\.60 +\+0\.40", one))
    assert line.index("├") < line.index("●") < line.index("┤")
    assert line.index("┼") < line.index("●")  # no difference is within the interval
    assert re.search(r"-0\.\d\d to \+\d\.\d\d[ ,p]+0\.500", seat.text)
    await seat.press("t")
    await seat.reads("8 of 20")
    listed = seat.app.screen.query_one("#items-list", RowList)
    assert [[str(one.cell(row)) for one in ITEMS[:3]] for row in listed.rows] == [
        *([f"ct{number}", "●", "●"] for number in range(1, 6)),
        *([item, "✓", "✗"] for item in ("wc1", "wc2", "sc1")),
    ]
    listed.go(5)
    await seat.reads("nothing of the kind", "1 of 1 words only in A, 4 of 4 only in B")
    await seat.press("a")
    assert len(listed.rows) == 20
    await seat.press("escape")
    assert not seat.asked
    await seat.press("e", reads="Export 2 models")
    dialog = seat.app.screen.query_one(".dialog")
    buttons = seat.app.screen.query_one(".dialog-buttons")
    assert dialog.region.bottom - buttons.region.bottom <= 2  # as high as what it holds
    seat.app.screen.query_one("#out", Input).value = str(out)
    await seat.press("enter")
    await seat.closed()
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 3 * 20


async def judged(seat: Seat) -> None:
    """A burden of fewer responses says so, and judges differ on some."""
    # Of the two administrations of one model this judge was given one.
    await by_model(seat, "likelihood:y")
    assert column(seat, "burden") == ["0.40 n=5", "-", "-"], "of this judge alone"
    assert drawn(seat, "burden")[1] == "-    "  # figures are below each other
    at = names(seat).index("able")
    assert column(seat, "usable")[at] == "5/5"
    await seat.press("home")
    await seat.press("J")
    await seat.focuses("model-detail")
    await seat.reads("enter: where judges differ")
    assert not any("differ" in one for one in seat.news)
    await seat.press("J", reads="Where judges differ on Anomia")
    listed = seat.app.screen.query_one("#disputed", RowList)
    # 0.7 against absent; then 0.9 against present, and three times 0.1 against absent.
    lines = [listed.render_line(row).text[2:24] for row in range(2)]
    assert lines == ["0.70  1 of 2 present  ", "0.10  2 of 2 present  "]
    assert len(listed.rows) == 5
    told = str(seat.app.screen.query_one("#differing-told", Static).render())
    assert "verdicts are split on 1, and only probabilities differ on 4" in told
    for words in ("□ absent", "says anomia", "▣ present 0.70", "P(1) = 0.700"):
        assert words in seat.text
    await seat.press("escape")
    assert not seat.asked


async def listed(seat: Seat) -> None:
    """Every model has one row with its burden, its intervals and plots."""
    await by_model(seat, "tab-2026:x")
    assert "j Rated by" in seat.text.splitlines()[-1]
    # 2 + 1 + 1 of 5 responses; 1 of 10, two administrations pooled; not judged.
    assert names(seat)[:2] == ["weak", "able"]
    assert names(seat)[2].startswith("weak + m")
    assert column(seat, "usable") == ["5/5", "10/10", "-"]
    assert column(seat, "burden") == ["0.80", "0.10", "-"]
    # 3 of 5 words right, all of them, 4 of 5.
    assert column(seat, "right word-comprehension") == ["0.60", "1.00", "0.80"]
    assert "over 19" in " ".join(seat.text.split())
    await seat.press("g", reads="Share right")
    plotted = re.compile(r"weak .*0\.60.*├")
    await seat.until(lambda: plotted.search(seat.text), "the plot")
    line = next(one for one in seat.text.splitlines() if plotted.search(one))
    assert line.index("├") < line.index("●") < line.index("┤")
    assert "◆" in seat.text
    axis = next(one for one in seat.text.splitlines() if "0.2" in one and "0.4" in one)
    assert axis.split()[-6:] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    await seat.press("right", reads="Symptom burden")
    await seat.press("right", reads="Lexical, of 4")
    await seat.press("space")
    assert "g shows it" in seat.news[-1], "no row can be marked where none is shown"
    await seat.press("g")
    await seat.until(lambda: seat.app.focused is table(seat))
    await seat.press("home")
    # The detail: 3 of 5, Clopper-Pearson 0.1466 to 0.9473; 2 of 3 Yes and 2 of 2 No.
    await seat.reads("3/5  0.15-0.95", "balanced 0.83")
    await seat.press("t", "t")
    name = "right word-comprehension"
    await seat.until(lambda: table(seat).columns[2].name == name)
    assert column(seat, name)[:2] == ["0.60", "1.00"]
    weak, able, _ = drawn(seat, name, grown=True)
    assert "─●─" in weak
    # All right, as always the first option would be (◈); guessing would be right in 1 of 6.
    assert able[-1] == "◈"
    assert able.index("◆") == round((len(able) - 1) / 6)


async def test_models_are_judged_listed_plotted_compared_and_exported(
    sit: Sit, tmp_path: Path
) -> None:
    async with sit() as seat:
        await judged(seat)
        await listed(seat)
        await compared(seat, tmp_path / "two.jsonl")


async def test_battery_and_judge_are_chosen_once_before_the_first_row(
    sit: Sit, battery: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = Plugins.load()
    with Store.open(tmp_path / "store.db") as store:
        for name in ("oak-base", "oak-chat"):
            give(store, plugins, f"transformers:made-up/{name}@dtype=float32")
        for examinee in ("late", "later"):
            give(store, plugins, examinee, battery=battery)
    plugins.close()
    seen: list[tuple[str, str] | None] = []
    grow = ModelsPage.grow

    def grown(page: ModelsPage, row: Grouped | None, *more: Any) -> None:
        grow(page, row, *more)
        basis = page.basis
        assert basis is None or basis.terms is not None
        rater = basis.terms.rater if basis and basis.terms else ""
        seen.append((basis.short, rater) if basis else None)

    monkeypatch.setattr(ModelsPage, "grow", grown)
    async with sit(WIDE) as seat:
        await seat.reads("oak-base", "oak-chat")  # what differs between long names
        await seat.press("m")
        await seat.until(lambda: len(seen) == 8, "all rows")
        assert seen[0] is None and seen[1] == ("tab 2026.1", "rules-2")
        assert len(set(seen[1:])) == 1


async def test_a_model_is_read_again_when_something_of_it_is_stored(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.workbench.comparison.actions.RENEW_S", 0.01)
    async with sit(WIDE) as seat:
        await by_model(seat, "tab-2026:x")
        table(seat).go(names(seat).index("able"))
        with Store.open(tmp_path / "store.db") as store, closing(Plugins.load()) as plugins:
            number = give(store, plugins, "weak", text=f"Yes. {GOOD}", second={}, seed=3)
        seat.desk.tell(Stored(number))
        # 4 features in 5 responses, then none in 5 more; the cursor stays where it is.
        await seat.until(lambda: "0.40" in column(seat, "burden"))
        assert names(seat)[table(seat).current] == "able"


async def test_models_are_filtered_and_opened_and_esc_comes_back_to_where_one_was(sit: Sit) -> None:
    async with sit() as seat:
        await by_model(seat)
        assert names(seat)[1] == "able"  # which was read first
        assert table(seat).current == 0
        await seat.press("slash")
        await seat.type("weak")
        await seat.reads("2 of 3 models")
        await seat.press("enter")
        await seat.until(lambda: seat.app.focused is table(seat))
        assert all("weak" in name for name in names(seat))
        await seat.press("slash")
        await seat.type("zz")
        await seat.reads('No model has "zz" in its name')
        await seat.press("escape", reads="3 of 3 models")
        await by_model(seat, "tab-2026:x")
        await seat.press("home", "enter", at="results")
        assert seat.results is not None
        assert seat.results.administration.id == 3
        await seat.press("escape", at="models")
        await seat.press("down", "enter", reads="Administrations of able")
        await seat.reads("seed 2")
        await seat.press("down", "enter", at="results")
        assert seat.results.administration.id == 1
        await seat.press("f8", at="home")
        await seat.press("f7", "enter", at="results")
        await seat.press("escape", at="home")


async def test_features_sorting_help_and_groups(sit: Sit) -> None:
    async with sit(WIDE) as seat:
        await by_model(seat, "likelihood:y")
        await seat.press("home", reads="not rated yet: 5")
        await by_model(seat, "tab-2026:x")
        cells = seat.desk.query_one(FeatureCells)
        table(seat).go(0)
        cells.focus()
        await seat.until(lambda: seat.app.focused is cells, "the features")
        assert {len(shares) for shares in cells.shares.values()} == {19}
        # Anomia in 2 of 5, Jeffreys' interval 0.0944 to 0.7906; the row follows in the table.
        await seat.reads("Anomia  weak", "2 of 5 responses, 0.40 (0.09-0.79)")
        assert [own[0] for own in cells.shares.values()] == [0.4, 0.1, None]
        at = 2 + cells.room + 1  # after the cursor's bar and the name
        drawn = [cells.render_line(row).text[at : at + cells.wide].strip() for row in range(3)]
        assert drawn == ["▄", "▂", "-"]
        await seat.press("down", reads="1 of 10 responses, 0.10")
        assert table(seat).current == 1
        await seat.press("up", "enter", reads="Where judges differ on Anomia")
        await seat.press("escape")
        table(seat).focus()
        await seat.press("home")
        await seat.reads("Labels by a language model.")  # the caution of its judge
        detail = seat.desk.query_one("#model-detail")
        assert detail.region.x > table(seat).region.right - 1
        await seat.pilot.resize_terminal(80, 24)
        await seat.reads("3/5  0.15-0.95")
        assert detail.region.y >= table(seat).region.bottom
        assert names(seat)[0] == "weak"
        await seat.reads("word  sent")
        await seat.pilot.resize_terminal(*WIDE)
        await seat.reads("burden ↓")
        await seat.press("less_than_sign")
        assert "burden ↑" in seat.text
        assert [name[:8] for name in names(seat)] == ["able", "weak", "weak + m"]
        current = seat.desk.query_one(ModelsPage).current
        assert current is not None and current.label == "weak"
        await seat.press("greater_than_sign", reads="by word comprehension ↓")
        assert [name[:8] for name in names(seat)] == ["able", "weak + m", "weak"]
        for arrow in ("model ↑", "model ↓"):
            await seat.pilot.click(ModelsTable, offset=(8, 0))
            await seat.reads(arrow)
        assert names(seat)[-1] == "able"
        page = seat.desk.query_one(ModelsPage)
        for widget in seat.desk.focus_chain:
            if page in widget.ancestors:
                seat.desk.set_focus(widget)
                assert help_for(seat.app.screen) != GENERAL, widget
        table(seat).focus()
        await seat.press("b")
        await seat.has("lines")
        lines = seat.app.screen.query_one("#lines", RowList)
        offered = [key.id for key in lines.rows]
        assert offered[lines.current] == "model"
        lines.go(offered.index("lesion"))
        await seat.press("enter", reads="2 of 2 groups")
        await seat.reads("Results by lesion")
        assert sorted(names(seat))[1] == "no lesion"


def test_a_judged_model_without_a_burden_is_not_said_to_be_not_judged() -> None:
    (judge,) = summarise(BATTERY, (answered("ct1", ""),), declarations=DECLARED).judges
    assert not judge.burden.n_burden and not judge.not_judged
    assert rate_words(judge, "retracing") == "undefined: no response has a burden"
    assert rate_words(None, "retracing") == "not judged"


async def test_rows_of_a_large_sweep_differ_in_what_is_seen_and_stay_while_others_are_read(
    sit: Sit,
) -> None:
    lesions = [
        f"{target}:zero:{amount}@{layer}seed={seed}"
        for seed in range(1, 9)
        for target in ("mlp", "mlp.down", "attention")
        for amount, layer in (("0.05", ""), ("0.1", ""), ("0.25", "layers=1,"), ("0.5", ""))
    ]
    chosen = [made(n, replace(SAMPLED, lesion=lesion)) for n, lesion in enumerate((None, *lesions))]
    groups = grouped(chosen, "model")
    results = summarised(groups[:1], interval=False)[0].results
    rows = [Grouped(group, results) for group in groups[::-1]]
    async with sit((100, 30)) as seat:
        await seat.desk.go("models")
        page, shown = seat.desk.query_one(ModelsPage), table(seat)
        page.begin()
        page.order = Order("model", falling=False)
        page.grow(None, 0, len(rows), "", rows)
        page.grow(rows[0], 1, len(rows))
        await seat.until(lambda: shown._fitted is not None)
        seen: list[tuple[object, ...]] = []
        places: list[int] = []
        for done, row in enumerate(rows[1:], 2):
            page.grow(row, done, len(rows))
            if done % 24 == 0:
                page.lay_out(lower=False)
                assert shown._fitted is not None
                head = str(page.query_one("#models-head", Line).render())
                title = (
                    str(page.query_one("#models-pane", Pane).border_title)
                    .rpartition("↑")[2]
                    .strip()
                )
                seen.append((shown.chosen, head, shown._fitted.head.plain, title))
                places.append(shown.current)
        assert places == sorted({*places})
        assert len({*seen}) == 1
        assert seen[0][0] == key_of(rows[0])
        assert shown.current == 0  # as it was not moved meanwhile
        assert seen[0][3] == "· bundled · zero"
        fitted = shown._fitted
        assert fitted is not None
        keys = fitted.measured[1:5]
        heads = [str(one.column.head).split()[0] for one in keys]
        assert heads == ["target", "layer", "amount", "seed"]
        end = 2 * 5 + sum(int(one.width) for one in fitted.measured[:5])
        drawn = [shown.line_of(row, fitted).plain[:end] for row in shown.rows]
        assert len({*drawn}) == len(rows) == 97
        for line, row in zip(drawn, shown.rows, strict=True):
            cells = [str(one.column.cell(row)).strip() for one in keys]
            assert line.split()[1:] == [cell for cell in cells if cell]


@pytest.mark.parametrize("pooled", [False, True])
async def test_a_sweep_is_one_row_whose_rows_are_named_by_columns(
    sit: Sit, battery: str, tmp_path: Path, pooled: bool
) -> None:
    doses = [(dose, layer) for dose in (1, 3) for layer in range(5)]
    with Store.open(tmp_path / "store.db") as store, closing(Plugins.load()) as plugins:
        swept = [
            give(store, plugins, "oak", battery=battery, text=GOOD,
                 lesion=f"mlp.down:zero:0.{dose}@layers={layer},seed=1")
            for dose, layer in doses
        ]  # fmt: skip
        change_marks(store, swept, add=["doses"])
        if pooled:  # another run of one condition, without the tag
            lesion = "mlp.down:zero:0.3@layers=0,seed=1"
            swept.append(give(store, plugins, "oak", battery=battery, lesion=lesion, seed=2))
        give(store, plugins, "echo", battery=battery)
    async with sit((80, 24)) as seat:
        await seat.press("m", reads="11 of 14 models")
        page = seat.desk.query_one(ModelsPage)
        assert "--where" not in page.command()
        await seat.reads("doses · 10 conditions  by amount 0.1-0.3")
        assert len(table(seat).rows) == 2
        await seat.press("end", "enter", reads="10 of 14 models")
        shown = [one.head for one in table(seat).columns]
        assert shown[1:3] == ["layer", "amount"]
        page = seat.desk.query_one(ModelsPage)
        named = {tuple(one.cell(row) for one in table(seat).columns[1:3]) for row in page.shown}
        assert named == {(str(layer), f"0.{dose}") for dose, layer in doses}
        assert "mlp.down" in str(page.query_one("#models-pane").border_title)
        assert chosen_by(page.command(), tmp_path) == sorted(page.administrations()) == swept
        assert ("tag=doses" in page.command()) is not pooled
        await seat.press("home", "enter", reads="11 of 14 models")


def chosen_by(command: str, folder: Path) -> list[int]:
    """Return the administrations that a command of ``tabwb results`` takes."""
    words = shlex.split(command)
    where = [text for before, text in pairwise(words) if before == "--where"]
    numbers = [int(word) for word in words if word.isdigit()]
    with Store.open(folder / "store.db") as store:
        rows = selected_groups(store, numbers, Selection.of(where=where), interval=False)
    return sorted(member.administration.id for row in rows for member in row.group.members)

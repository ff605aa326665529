"""From the results by model: base and instruct models, and judges against each other."""

from __future__ import annotations

from pathlib import Path

from tabwb.host.plugins import Plugins
from tabwb.store.store import Store
from tabwb.workbench.comparison.table import ModelsTable
from tabwb.workbench.shell.help import help_for
from tests.workbench.seat import SIZES, Seat, Sit
from tests.workbench.stocked import give, stock


def stock_pair(path: Path) -> None:
    """A base model (2 of 5 words wrong, 3 features in 5 texts) and its instruct model."""
    plugins = Plugins.load()
    labels = {"family": "L-1", "parameters": "1240000000"}
    with Store.open(path) as store:
        give(
            store,
            plugins,
            "rough",
            wrong=("wc1", "wc2"),
            second={"anomia": ("ct1", "ct2"), "jargon": ("ct1",)},
            labels=labels | {"tuning": "base"},
        )
        give(store, plugins, "polite", second={}, labels=labels | {"tuning": "instruct"})
    plugins.close()


async def by_model(seat: Seat, models: int) -> None:
    await seat.press("m", reads=f"{models} of {models} models")


def line_of(seat: Seat, *words: str) -> str:
    return next(line for line in seat.text.splitlines() if all(word in line for word in words))


async def test_p_shows_base_and_instruct_with_the_differences(sit: Sit, tmp_path: Path) -> None:
    stock_pair(tmp_path / "store.db")
    async with sit() as seat:
        await by_model(seat, 2)
        for size in SIZES:
            await seat.pilot.resize_terminal(*size)
            await seat.press("P", reads="Base and instruct: 1 pair")
            assert "L-1, 1,240,000,000 parameters: base - instruct" in seat.text
            pane = seat.desk.query_one("#report-scroll")
            assert seat.app.focused is pane
            assert help_for(seat.app.screen).startswith("# Base and instruct")
            # 3 features in 5 texts against none; 3 of 5 against 5 of 5 words.
            for figures, difference in (
                ("0.60 1.00 -0.40 5 (5, 5)", "-0.40"),
                ("0.60 0.00 +0.60 5 (5, 5)", "+0.60"),
            ):
                while difference not in seat.text and pane.scroll_y < pane.max_scroll_y:
                    await seat.press("pagedown")
                assert figures in " ".join(line_of(seat, difference).split())
            pane.scroll_end(animate=False)
            await seat.reads("instruct polite")
            await seat.press("y")
            assert "tabwb results 1 2 --by model --store" in seat.news[-1]
            await seat.press("escape")
            assert seat.app.focused is seat.desk.query_one(ModelsTable)


async def test_a_sets_the_judges_of_models_against_each_other(sit: Sit, tmp_path: Path) -> None:
    stock(tmp_path / "store.db")
    async with sit() as seat:
        await by_model(seat, 3)
        await seat.press("P")
        assert "Family, tuning and parameters" in seat.news[-1], "there is no pair"
        assert not seat.asked
        table = seat.desk.query_one(ModelsTable)
        for size in SIZES:
            await seat.pilot.resize_terminal(*size)
            table.go([row.label for row in table.rows].index("able"))
            await seat.press("A", reads="Judges against each other: able")
            assert line_of(seat, "Judge", "Features", "Usable")
            assert line_of(seat, "rules-2", "10 of 10")
            assert line_of(seat, "Burden")
            assert line_of(seat, "rules-2", "0.50")
            assert line_of(seat, "likelihood", "5 of 5")
            pane = seat.desk.query_one("#report-scroll")
            pane.scroll_to(y=14 if size[0] == 80 else 0, animate=False)
            # Two judges share 5 responses: a mean over features needs 10.
            await seat.reads("agreement of every two judges")
            assert "1.00 6 0 1.00" in " ".join(line_of(seat, "rules-2 and ").split())
            assert help_for(seat.app.screen).startswith("# Judges against each other")
            await seat.press("escape")
        await seat.press("home", "space", "down", "space", "A")
        await seat.reads("Judges against each other: 2 models")

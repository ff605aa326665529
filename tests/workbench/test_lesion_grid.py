"""The dialog that writes the grid of a sweep; no model is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tabwb.administer.sweep.grid import read_grid
from tabwb.lesion.spec import parse_lesions
from tabwb.workbench.lesions.grid_dialog import GridScreen
from tests.workbench.seat import Sit

LESION = "mlp.down:scale:0.3@layers=0-1,factor=0.5,seed=7"


async def test_a_lesion_is_written_as_a_grid_and_no_other_file_is_lost(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written: list[str | None] = []
    async with sit() as seat:
        seat.app.push_screen(GridScreen(parse_lesions(LESION)), written.append)
        await seat.reads("Sweep with this lesion")
        await seat.reads("factor = 0.5")
        seat.fill(**{"grid-amounts": "0.1 2"})
        await seat.reads("has the amount 2.0")
        await seat.press("enter")
        assert not written
        for amount in ("nan", "9" * 400):
            seat.fill(**{"grid-amounts": amount})
            await seat.reads("is not an amount")
        seat.fill(**{"grid-file": "~nobody-has-this-name/down.toml"})
        seat.fill(**{"grid-amounts": "0.1, 0.2", "grid-seeds": "1-3", "grid-layers": "each"})
        (tmp_path / "there.toml").write_text("mine", encoding="utf-8")
        seat.fill(**{"grid-file": "there.toml"})
        await seat.press("enter")
        await seat.reads("choose another name")
        os.mkfifo(tmp_path / "pipe.toml")
        seat.fill(**{"grid-file": "pipe.toml"})
        await seat.press("enter")
        await seat.reads("is not a regular file")
        seat.fill(**{"grid-file": "new.toml"})
        await seat.press("enter")
        await seat.until(lambda: written, "the file")
    assert written == [str(tmp_path / "new.toml")]
    assert (tmp_path / "there.toml").read_text(encoding="utf-8") == "mine"
    grid = read_grid(tmp_path / "new.toml")
    (rows,) = grid.rows
    assert (grid.name, rows.targets, rows.layers) == ("new", ("mlp.down",), ("each",))
    assert (rows.amounts, rows.seeds, rows.controls) == ((0.1, 0.2), (1, 2, 3), ("anywhere",))
    assert (rows.values, rows.numbers) == ({"operation": "scale"}, (0.5,))

"""A condition that is declared appears everywhere by itself: nothing else has to be changed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

DIALOG = """
import asyncio, sys
from pathlib import Path
from tests.made_up_condition import declare
declare()
from tabwb.workbench.shell.dialogs import Selection
from tests.workbench.seat import workbench

async def begin(folder, battery):
    async with workbench(folder, (160, 48)) as seat:
        await seat.press("n")
        await seat.dialog()
        await seat.advanced()
        row = seat.app.screen.query_one("#tempo", Selection)
        assert row.help_text.splitlines()[2] == "How fast items follow each other."
        seat.fill(battery=battery, model="echo", tempo="slow")
        await seat.press_button("begin")
        await seat.until(lambda: seat.desk.work, "the administration")
        print(seat.work.administration.conditions.tempo)

asyncio.run(begin(Path(sys.argv[1]), sys.argv[2]))
"""


def _python(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_an_option_a_key_a_column_and_a_condition_that_must_be_alike(
    battery_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "ratings.csv"
    commands = [line.split() for line in (
        "run --help",
        f"run {battery_file} --model echo --tempo slow --json",
        f"run {battery_file} --model echo",
        "results 1",
        "results 2",
        "results --by model --json",
        "diff 1 2 --json",
        f"export 1 2 --format csv --out {out}",
    )]  # fmt: skip
    printed = json.loads(_python("-m", "tests.made_up_condition", json.dumps(commands)))
    told, slow, _, first, second, groups, compared, _ = printed
    assert "How fast items follow each other." in told
    assert json.loads(slow)["administration"]["tempo"] == "slow"
    assert "tempo slow" in first and "tempo" not in second
    groups = json.loads(groups)["groups"]
    assert [group["apart"]["tempo"] for group in groups] == ["slow", "normal"]
    unlike = {"tempo": {"first": "slow", "second": "normal"}}
    assert json.loads(compared)["unlike"] == unlike
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["id"], row["tempo"]) for row in rows} == {("1", "slow"), ("2", "normal")}
    notes = "\n".join(path.read_text() for path in tmp_path.glob("*.README.txt"))
    assert "tempo (text): how fast items followed each other" in notes


@pytest.mark.workbench
def test_it_is_a_field_of_the_dialog(battery_file: Path, tmp_path: Path) -> None:
    assert _python("-c", DIALOG, tmp_path, battery_file).split() == ["slow"]

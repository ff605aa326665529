"""Importing spoken naming in the workbench: sessions of others, and folders of recordings."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tabwb.operations import naming
from tabwb.operations.operation import Told, Tools
from tabwb.records.naming import Transcribed, observations_of
from tabwb.records.states import AdministrationStatus
from tabwb.store.store import Store
from tests import builders
from tests.administer.naming_parts import naming_battery
from tests.builders import typed_table
from tests.workbench.seat import Seat, Sit
from tests.workbench.test_importing import asked, message, refused, stored

soundfile = pytest.importorskip("soundfile")
SPOKEN = {
    "dog": "dog_d1a4fb3f_0.flac",
    "cat": "dog_d1a4fb3f_0.flac",
    "cat_2": "three_8c0e5970_0.flac",
    "tree": "three_8c0e5970_0.flac",
    "house": "silence_1024.flac",
}
TYPED = {"dog": "D AO G", "cat": "D AO G", "tree": "TH R IY", "house": "<sil>"}


class Gate:
    """Holds a job at one place until the test lets it go on."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def hold(self) -> None:
        self.reached.set()
        self.open.wait(60)


async def stop_at(seat: Seat, gate: Gate) -> None:
    """Close the dialog, stop the job at the gate, and wait until it has stopped."""
    await seat.until(gate.reached.is_set, "the job at its gate")
    await seat.press("escape", "J", at="jobs")
    await seat.press("x", reads="… Import")
    gate.open.set()
    await seat.reads("‖ Import")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A file for each take, and what a person typed for each item."""
    naming_battery(tmp_path)
    typed_table(tmp_path / "typed.tsv", **TYPED)
    return builders.recordings(tmp_path / "recordings", **SPOKEN)


async def test_a_folder_of_recordings_is_stored_once_across_two_openings_and_transcribed(
    sit: Sit, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()

    def counted(verb: str, done: int, of: int) -> Told:
        if done == 3:
            gate.hold()
        return Told(verb, done, of)

    monkeypatch.setattr(naming, "counted", counted)
    fields = {
        "path": recordings,
        "battery": tmp_path / "battery.toml",
        "transcriber": f"manual:{tmp_path / 'typed.tsv'}",
    }
    async with sit((100, 30)) as seat:
        await asked(seat, **fields)
        await seat.press("enter")
        await refused(seat, "participant code")
        seat.fill(speaker="S-014")
        await seat.press("enter")
        await seat.until(lambda: "5 recordings of 4 items" in message(seat), "the dry run")
        assert stored(seat) == []
        await seat.press_button("begin")
        await stop_at(seat, gate)
        (given,) = stored(seat)
        assert given.status is AdministrationStatus.PAUSED
        assert len(recordings_of(seat)) == 3
    async with sit((100, 30)) as seat:
        await asked(seat, **fields, speaker="S-014")
        await seat.press_button("begin")
        await seat.until(lambda: stored(seat)[0].status is AdministrationStatus.DONE, "the end")
        assert len(stored(seat)) == 1
        assert len(recordings_of(seat)) == 5
        await seat.until(lambda: not seat.asked and "Right names" in seat.text, "the results")
        _, trials = seat.stored()
        assert {one.plan.item: len(one.attempts) for one in trials} == {
            "dog": 1, "cat": 2, "tree": 1, "house": 1,
        }  # fmt: skip
        heard = [
            said for one in trials for said in observations_of(one) if isinstance(said, Transcribed)
        ]
        assert len(heard) == 4, "of each response that counts"
        await seat.press("escape")
        await seat.until(lambda: "Right names" not in seat.text, "the page before")
        await asked(seat, **fields, speaker="S-014")
        await seat.press_button("begin")
        await refused(seat, "in the store already: administration 1")
        assert len(stored(seat)) == 1


def recordings_of(seat: Seat) -> list[str]:
    with Store.open(seat.store) as store:
        return [one.uid for one in store.people.recordings(1)]


async def test_a_stop_between_sessions_leaves_whole_ones_and_the_import_continues(
    sit: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, check = Gate(), naming.check_stop

    def checked(tools: Tools, numbers: list[int]) -> None:
        if len(numbers) == 1:
            gate.hold()
        check(tools, numbers)

    monkeypatch.setattr(naming, "check_stop", checked)
    folder = tmp_path / "psst"
    folder.mkdir()
    rows = [f"{n}\tS-0{n}\tdog\tD AO G\n{n}b\tS-0{n}\tcat\tK AE T\n" for n in (14, 15, 16)]
    head = "utterance_id\tsession\tprompt\ttranscript\n"
    (folder / "utterances.tsv").write_text(head + "".join(rows), "utf-8")
    async with sit((100, 30)) as seat:
        await asked(seat, path=folder, battery="naming-demo", date="2026-03-09")
        await seat.press_button("begin")
        await stop_at(seat, gate)
        await seat.reads("stopped: imported 1 session")
        assert [one.answered for one in stored(seat)] == [2]
        await seat.press("r", reads="✓ Import")
        found = [(one.conditions.examinee, one.answered) for one in stored(seat)]
        assert found == [("S-014", 2), ("S-015", 2), ("S-016", 2)]

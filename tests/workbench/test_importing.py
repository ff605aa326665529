"""Importing answers in the workbench: a dry run first, then the import and its results."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from tabwb.records.trials import Administration
from tabwb.store.store import Store
from tabwb.workbench.importing import controller
from tests.workbench.seat import SIZES, Seat, Sit


def stored(seat: Seat) -> list[Administration]:
    with Store.open(seat.store) as store:
        return list(store.administrations())


def message(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#import-message", Static).content)


def focused(seat: Seat) -> str | None:
    return seat.app.focused.id if seat.app.focused else None


async def asked(seat: Seat, **fields: object) -> None:
    """The dialog is open and filled in."""
    await seat.press("i")
    await seat.until(lambda: seat.app.screen.query("#import-file"), "the dialog")
    for name, value in fields.items():
        seat.app.screen.query_one(f"#import-{name}", Input).value = str(value)


async def refused(seat: Seat, words: str) -> None:
    await seat.until(lambda: message(seat).startswith("! ") and words in message(seat), words)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("question,response\nrp1,house.\nrp2,breakfast.\nxx9,what?\n", "utf-8")
    return path


@pytest.mark.parametrize("size", SIZES)
async def test_what_will_be_taken_is_shown_then_it_is_imported(
    sit: Sit, size: tuple[int, int], answers: Path
) -> None:
    async with sit(size) as seat:
        await asked(seat, file=answers, battery="tab", name="some-model", columns="item=question")
        seat.app.screen.query_one("#import-by").value = "model"  # type: ignore[attr-defined]
        await seat.press("enter")
        await refused(seat, "'xx9'")
        await seat.press_button("skip")
        await seat.press_button("check")
        await seat.until(lambda: message(seat).startswith("≈ "), "the dry run")
        said = message(seat)
        assert "imported:some-model (model): 2 answers" in said
        assert "repetition/rp1 0: house." in said
        assert "left out: 1 answer to no item of 'tab'" in said
        assert "18 items without an answer" in said
        assert "Nothing is imported yet." in said
        assert stored(seat) == []
        await seat.press_button("import")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        await seat.reads("some-model")
        assert not seat.asked
        (given,) = stored(seat)
        assert (given.conditions.examinee, given.answered) == ("imported:some-model", 2)


async def test_what_is_refused_stores_nothing_and_can_be_corrected(
    sit: Sit, answers: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"PNG")
    async with sit((100, 30)) as seat:
        await asked(seat, battery="tab")
        await seat.press_button("import")
        assert "a file is needed" in message(seat)
        field = seat.app.screen.query_one("#import-file", Input)
        for value, said, wrong in (
            (tmp_path / "no.csv", "no such file", "import-file"),
            (picture, "picture.png", "import-file"),
            (answers, "'item=NAME' in Columns", "import-columns"),
        ):
            field.value = str(value)
            await seat.press_button("import")
            await refused(seat, said)
            await seat.until(lambda: focused(seat) == wrong, "the field")  # noqa: B023
        await seat.press("escape")
        assert not seat.asked
    assert stored(seat) == []


async def test_a_battery_for_models_is_refused_for_a_person(sit: Sit, tmp_path: Path) -> None:
    lines = [
        {"subtest": "repetition", "item": item, "replicate": 0, "response": said}
        for item, said in (("rp1", "house."), ("rp2", "what"))
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    async with sit((160, 48)) as seat:
        await asked(seat, file=file, battery="tab", name="S-014", date="2026-03-09")
        seat.app.screen.query_one("#import-by").value = "human"  # type: ignore[attr-defined]
        await seat.press_button("import")
        await refused(seat, "research")  # TAB is for models
    assert stored(seat) == []


async def test_pictures_named_elsewhere_are_imported(sit: Sit, tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    folder = tmp_path / "psst"
    folder.mkdir()
    (folder / "utterances.tsv").write_text(
        "utterance_id\tsession\tprompt\ttranscript\n1\tS-014\tdog\tD AO G\n2\tS-014\tcat\tD AO G\n",
        "utf-8",
    )
    async with sit((100, 30)) as seat:
        await asked(seat, file=folder, battery="naming-demo", date="2026-03-09")
        seat.app.screen.query_one("#import-by").value = "human"  # type: ignore[attr-defined]
        await seat.press("enter")
        await seat.until(lambda: "S-014 (human): 2 responses" in message(seat), "the dry run")
        await seat.press_button("import")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        (given,) = stored(seat)
        assert (given.conditions.examinee, given.answered) == ("S-014", 2)


async def test_transcripts_need_no_battery(sit: Sit, tmp_path: Path) -> None:
    file = tmp_path / "S-021.cha"
    file.write_text("@UTF8\n@Begin\n*PAR:\tI [/] I went home .\n@End\n", "utf-8")
    async with sit((100, 30)) as seat:
        await asked(seat, file=file)
        await seat.press_button("import")
        await seat.until(lambda: seat.desk.page == "results", "the results")
        (given,) = stored(seat)
    assert (given.conditions.examinee, given.battery_title) == ("S-021", "Texts on 1 prompt")


async def test_an_import_goes_on_in_the_background_is_stopped_and_started_again(
    sit: Sit, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    add = controller._Progress.add

    def slowly(progress: controller._Progress, count: int) -> None:
        begun.set()
        go_on.wait(60)
        add(progress, count)

    monkeypatch.setattr(controller._Progress, "add", slowly)
    answers.write_text("item,response\nrp1,house.\nrp2,breakfast.\n", "utf-8")
    async with sit((100, 30)) as seat:
        await asked(seat, file=answers, battery="tab", name="m")
        seat.app.screen.query_one("#import-by").value = "model"  # type: ignore[attr-defined]
        await seat.press_button("import")
        await seat.until(begun.is_set, "the import")
        await seat.press("escape")
        await seat.until(lambda: not seat.asked, "closed")
        await seat.reads("▸ import")  # in the title bar
        await seat.press("ctrl+q")
        await seat.reads("Quitting stops it after the")
        await seat.press("escape", "J")
        await seat.reads("▸ Import   running   answers.csv")
        await seat.press("x")
        await seat.reads("… Import   stopping  answers.csv")
        go_on.set()
        await seat.reads("‖ Import   stopped   answers.csv")
        assert "nothing was imported" in seat.text
        assert stored(seat) == []
        await seat.press("r")
        await seat.reads("✓ Import   complete  answers.csv")
        assert "2/2" in seat.text
        assert seat.desk.page == "jobs"  # whoever works elsewhere stays there
        (given,) = stored(seat)
        assert given.answered == 2
        await seat.press("home", "enter")
        await seat.until(lambda: seat.desk.page == "results", "the results")

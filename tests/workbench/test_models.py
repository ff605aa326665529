"""Models in the workbench: profiles written, used, removed; a first try."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import tomli
from textual.widgets import Input, Static

from tests.workbench.seat import Seat, Sit


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABWB_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "config"


def message(seat: Seat) -> str:
    return str(seat.app.screen.query_one("#models-message", Static).content)


def says(seat: Seat, words: str) -> bool:
    return words in message(seat)


async def open_models(seat: Seat) -> None:
    await seat.until(lambda: seat.desk.catalogue, "the catalogue")
    await seat.press("L")
    await seat.has("models-known")


async def test_a_profile_is_written_and_given_and_removed(sit: Sit, folders: Path) -> None:
    async with sit() as seat:
        await open_models(seat)
        seat.fill(**{"profile-name": "tiny", "profile-spec": "echo", "profile-family": "demo"})
        seat.fill(**{"profile-tuning": "base", "profile-parameters": "1.2M"})
        await seat.press_button("write")
        await seat.until(lambda: "is written to" in message(seat), "the file")
        assert "parameters = 1200000" in (folders / "tabwb.toml").read_text(encoding="utf-8")
        await seat.reads("profile:tiny")
        await seat.press("escape")
        await seat.begin(battery="tab", model="profile:tiny", judges="none")
        assert seat.work.administration.conditions.examinee == "echo"
        assert seat.work.administration.conditions.labels["family"] == "demo"
        await seat.press("f8", at="home")
        await seat.press("L")
        await seat.has("models-known")
        seat.fill(**{"profile-name": "tiny"})
        await seat.press_button("remove")
        assert message(seat) == "? Remove again removes profile:tiny from your file"
        seat.fill(**{"profile-name": "tin"})
        await seat.pilot.pause()
        assert message(seat).startswith("Enter copies the line")
        seat.fill(**{"profile-name": "tiny"})
        await seat.press_button("remove")
        assert "tiny" in (folders / "tabwb.toml").read_text(encoding="utf-8")
        await seat.press_button("remove")
        await seat.until(lambda: "is deleted from" in message(seat), "the end of it")
        assert "tiny" not in (folders / "tabwb.toml").read_text(encoding="utf-8")


FILE = """\
# mine
[profile.aa]  # kept
options = { text = "hello, you", delay = 0 }
id = "echo"
family = "Small"

[study]

[profile.bb]
tuning = "base"
id = "echo"
parameters = 1_200_000
[profile.bb.options]
delay = 0.00
text = "hi"
"""


async def test_a_profile_that_is_taken_over_is_tried_and_written_whole(
    sit: Sit, folders: Path
) -> None:
    folders.mkdir()
    path = folders / "tabwb.toml"
    path.write_text(FILE, encoding="utf-8")

    def profiles() -> object:
        return tomli.loads(path.read_text(encoding="utf-8"))["profile"]

    expected = tomli.loads(FILE)["profile"]
    async with sit((100, 30)) as seat:
        await open_models(seat)
        # The options of the first can stand in no spec.
        for at, name, spec, said in (
            (0, "aa", "profile:aa", "hello, you"),
            (1, "bb", "echo@delay=0.0,text=hi", "hi"),
        ):
            seat.app.screen.query_one("#models-known").focus()
            await seat.press("home", *["down"] * at, "enter")
            assert seat.app.screen.query_one("#profile-spec", Input).value == spec
            await seat.press_button("try")
            await seat.until(partial(says, seat, f"Say hello.  ->  {said}"), "the answer")
            before = path.read_text(encoding="utf-8")
            await seat.press_button("write")
            await seat.until(partial(says, seat, "is written to"), "the file")
            assert path.read_text(encoding="utf-8") == before
            seat.fill(**{"profile-family": "Other"})
            await seat.press_button("write")
            expected[name]["family"] = "Other"
            await seat.until(lambda: profiles() == expected, "the change")
        # A back end that is taken over then has nothing of the profile.
        seat.app.screen.query_one("#models-known").focus()
        await seat.press("end", "up", "enter")
        assert seat.app.screen.query_one("#profile-family", Input).value == ""


async def test_a_model_is_tried_and_what_cannot_be_done_is_said(sit: Sit) -> None:
    empty = dict.fromkeys(("profile-name", "profile-spec", "profile-parameters"), "")
    async with sit((100, 30)) as seat:
        await open_models(seat)
        for button, fields, words in (
            ("try", {}, "a spec is needed"),
            ("try", {"profile-spec": "ecco"}, "did you mean 'echo'"),
            ("write", {"profile-spec": "echo"}, "a name is needed"),
            ("write", {"profile-name": "A B", "profile-spec": "echo"}, "cannot name a profile"),
            (
                "write",
                {"profile-name": "a", "profile-spec": "echo", "profile-parameters": "many"},
                "not a number of parameters",
            ),
            ("remove", {"profile-name": "nobody"}, "there is no profile 'nobody'"),
            ("try", {"profile-spec": "echo"}, "Say hello.  ->  Say hello."),
        ):
            seat.fill(**(empty | fields))
            await seat.press_button(button)
            await seat.until(partial(says, seat, words), words)
        assert "answered in" in message(seat)

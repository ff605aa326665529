"""Fields of dialogs and pages."""

from __future__ import annotations

from time import monotonic

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Button, Input

from tabwb.workbench.shell.text_fields import TextField

PATH = "/home/me/study/of/lesions/grid-of-heads.toml"
LIMIT_S = 60.0
"""How long a line may take on a busy machine; a test that passes does not wait for it."""


class Fields(App[None]):
    """One field of 20 columns, and something else that can have the focus."""

    def compose(self) -> ComposeResult:
        field = TextField("path", PATH, "")
        field.styles.width = 20
        yield field
        yield Button("other")


async def test_a_field_without_the_focus_shows_the_end_of_a_long_path() -> None:
    app = Fields()
    async with app.run_test() as pilot:
        app.query_one(Button).focus()
        assert (await _line(pilot, ends=".toml")) == "…" + PATH[-18:]
        app.query_one(Input).focus()
        await pilot.press("home")
        assert (await _line(pilot, ends="of/le")).startswith("/home/me")
        app.query_one(Button).focus()
        assert (await _line(pilot, ends=".toml")).startswith("…")
        app.query_one(Input).value = "short"
        assert (await _line(pilot, ends="short")) == "short"


async def _line(pilot: Pilot[None], ends: str) -> str:
    """Return the line of the field once it ends so: it is drawn after the focus has moved."""
    end = monotonic() + LIMIT_S
    line = ""
    while not line.endswith(ends):
        assert monotonic() < end, line
        await pilot.pause()
        line = pilot.app.screen._compositor.render_strips()[0].text[:20].strip()
    return line

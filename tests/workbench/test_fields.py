"""Fields of dialogs and pages."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Button, Input

from tabwb.workbench.shell.fields import EndInput

PATH = "/home/me/study/of/lesions/grid-of-heads.toml"


class Fields(App[None]):
    """One field of 20 columns, and something else that can have the focus."""

    def compose(self) -> ComposeResult:
        field = EndInput(PATH, compact=True)
        field.styles.width = 20
        yield field
        yield Button("other")


async def test_a_field_without_the_focus_shows_the_end_of_a_long_path() -> None:
    app = Fields()
    async with app.run_test() as pilot:

        def shown() -> str:
            return app.screen._compositor.render_strips()[0].text[:20].strip()

        app.query_one(Button).focus()
        await pilot.pause()
        assert shown().startswith("…") and shown().endswith("grid-of-heads.toml"[-16:])
        app.query_one(Input).focus()
        await pilot.press("home")
        assert shown().startswith("/home/me")
        app.query_one(Button).focus()
        await pilot.pause()
        assert shown().endswith(".toml")
        app.query_one(Input).value = "short"
        await pilot.pause()
        assert shown() == "short"

"""Panes: their title, their border, the focused one."""

from __future__ import annotations

from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tabwb.workbench.shell import app, settings
from tabwb.workbench.shell.pane import Pane


class Stage(App[None]):
    """Two panes beside each other, in the styles of the workbench."""

    CSS_PATH = Path(app.__file__).parent / "app.tcss"
    VERTICAL_BREAKPOINTS = app.Workbench.VERTICAL_BREAKPOINTS

    def __init__(self) -> None:
        super().__init__()
        for theme in settings.THEMES:
            self.register_theme(theme)
        self.theme = "dark"

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Pane(Input(), title="tab[/b", id="one")
            yield Pane(Static("words"), Input(), title="Scores", id="two")

    @property
    def top(self) -> str:
        return self.screen._compositor.render_strips()[0].text


async def test_a_pane_has_a_title_and_the_focused_one_stands_out() -> None:
    stage = Stage()
    async with stage.run_test(size=(40, 34)) as pilot:
        await pilot.pause()
        assert stage.top.startswith("╭─ tab[/b ──")
        assert "╮╭─ Scores ──" in stage.top
        one, two = stage.query_one("#one"), stage.query_one("#two")
        accent = stage.theme_variables["accent"]
        assert one.styles.border_top[1].hex.lower() == accent.lower()
        assert two.styles.border_top[1].hex.lower() != accent.lower()
        await pilot.click("#two", offset=(12, 0))
        assert two.has_focus_within, "a click on the title focuses what is inside"
        assert two.styles.border_top[1].hex.lower() == accent.lower()
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert stage.top.startswith("─ tab[/b ──"), "few rows: the line with the title alone"
        assert "━ Scores ━━" in stage.top
        assert one.region.height - one.content_region.height == 1

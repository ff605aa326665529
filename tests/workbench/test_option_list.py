"""Lists of options that change while a click is on its way."""

from __future__ import annotations

from rich.style import Style
from textual.events import Click
from textual.widgets import OptionList

from tests.workbench.seat import Sit


async def test_a_click_on_a_line_that_is_gone_is_ignored(sit: Sit) -> None:
    async with sit((80, 24)) as seat:
        options = OptionList("one")
        await seat.app.screen.mount(options)
        for line in (7, 0):
            style = Style.from_meta({"option": line})
            options.post_message(Click(options, 1, 1, 0, 0, 1, False, False, False, style=style))
            await seat.pilot.pause()
        assert seat.app._exception is None
        assert options.highlighted == 0

"""The item that is shown: prompt, options, response, verdicts, findings."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.shell.widgets import Flow, Pane
from tabwb.workbench.trial.item_view import findings, opening, reply, verdict_rows

OPTION_GAP = 4
TALL = 32
"""The least lines for showing words to the administrator of a model."""


class ItemBody(VerticalScroll):
    """The item; scrolls."""


class ItemPane(Pane):
    """Shows one item of the open administration, or what is known before the first."""

    def __init__(self) -> None:
        super().__init__(title="Item", id="trial-item")
        self._shown: dict[str, Content] = {}
        """The texts that are shown, by the selector of their widget."""

    def compose(self) -> ComposeResult:
        """Yield the parts of an item."""
        with ItemBody(id="trial-body"):
            yield Static(id="instructions", markup=False)
            yield Static(id="prompt", markup=False)
            yield Flow(id="options")
            yield Static(id="sent", markup=False)
            yield Static(id="reply", markup=False)
            yield Flow(id="verdicts")
            yield Static(id="findings", markup=False)
            yield Static(id="administrator", markup=False)

    def show(self, work: Work, streamed: str, *, hidden: bool, sent: bool) -> None:
        """Show the current item."""
        item = work.item
        title = "Before the first item"
        if item is not None:
            at, of = item.in_subtest
            title = f"Item {item.place[0]} of {item.place[1]}   {item.subtest}, {at} of {of}"
        self.border_title = title
        self._put("#instructions", item.instructions if item and work.of_person else "")
        prompt = item.prompt if item else work.administration.battery_title
        self._put("#prompt", prompt if not item or not sent else "")
        options = item.options if item and not sent else ()
        self.query_one("#options", Flow).show([options], OPTION_GAP)
        self._put("#sent", f"sent, exactly:\n{item.sent}" if item and sent else "")
        self.stream(streamed if work.asking and not work.together else reply(work))
        gap = 6 if self.size.width >= 88 else 3
        rows = [row for row in verdict_rows(work, hidden=hidden) if row]
        self.query_one("#verdicts", Flow).show(rows, gap)
        self._put("#findings", findings(item, hidden=hidden) if item else opening(work))
        text = f"to the administrator: {item.administrator}" if item and item.administrator else ""
        roomy = work.of_person or self.app.size.height >= TALL
        self._put("#administrator", work.disclaimer if not item else text if roomy else "")

    def stream(self, response: str | Content) -> None:
        """Show the response so far."""
        self._put("#reply", response)

    def show_beginning(self) -> None:
        """Scroll to the beginning of the item."""
        self.query_one(ItemBody).scroll_home(animate=False)

    def follow_reply(self) -> None:
        """Scroll no further than needed to show the end of the response: the prompt stays."""
        body, reply = self.query_one(ItemBody), self.query_one("#reply")
        self.call_after_refresh(body.scroll_to_widget, reply, animate=False)

    def _put(self, selector: str, content: str | Content) -> None:
        shown = Content.from_text(content, markup=False)
        before = self._shown.get(selector)
        if before is None or not shown.is_same(before):
            self._shown[selector] = shown
            widget = self.query_one(selector, Static)
            widget.display = bool(shown)
            widget.update(shown)

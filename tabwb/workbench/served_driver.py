"""The driver of a rating page in a browser: textual-serve's, which ends with its server."""

from __future__ import annotations

from typing import Any, BinaryIO, TextIO

from textual.drivers.web_driver import WebDriver
from textual.events import Resize
from textual.message import Message
from textual.messages import ExitApp

MOST_WAITING = 500
"""Keys that may wait to be handled; the browser has to wait with more."""


class ServedDriver(WebDriver):
    """Draws through stdout and reads from stdin, as the protocol of textual-serve says."""

    def run_input_thread(self) -> None:
        """Read until stdin ends. Then the server is gone, also one that was killed; leave too."""
        super().run_input_thread()
        self._app.post_message(ExitApp())

    def process_message(self, message: Message) -> None:
        """Pass on keys and clicks, not faster than the page handles them.

        A size comes from the server, which bounds it; one that is typed as a terminal's sequence
        does not count.
        """
        if isinstance(message, Resize):
            return
        while self._waiting() > MOST_WAITING and not self.exit_event.wait(0.01):
            pass
        super().process_message(message)

    def _waiting(self) -> int:
        app = self._app
        handlers = (app, *app.screen_stack, *filter(None, [app.focused]))
        return sum(one.message_queue_size for one in handlers)

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Open nothing in the rater's browser."""

    def deliver_binary(self, binary: BinaryIO | TextIO, **facts: Any) -> None:
        """Give no file to the rater's browser."""
        binary.close()

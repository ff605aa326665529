"""The driver of a rating page in a browser: textual-serve's, which ends with its server."""

from __future__ import annotations

from typing import Any, BinaryIO, TextIO

from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp


class ServedDriver(WebDriver):
    """Draws through stdout and reads from stdin, as the protocol of textual-serve says."""

    def run_input_thread(self) -> None:
        """Read until stdin ends. Then the server is gone, also one that was killed; leave too."""
        super().run_input_thread()
        self._app.post_message(ExitApp())

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Open nothing in the rater's browser."""

    def deliver_binary(self, binary: BinaryIO | TextIO, **facts: Any) -> None:
        """Give no file to the rater's browser."""
        binary.close()

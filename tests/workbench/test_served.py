"""The driver of a rating page in a browser ends with its server, and opens nothing there."""

from __future__ import annotations

import io

import pytest
from textual.drivers.web_driver import WebDriver
from textual.events import Resize
from textual.geometry import Size
from textual.messages import ExitApp

from tabwb.workbench.served_driver import ServedDriver


class App:
    """What a driver needs of an application here."""

    def __init__(self) -> None:
        self.posted: list[object] = []

    def post_message(self, message: object) -> None:
        """Keep a message."""
        self.posted.append(message)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> ServedDriver:
    """A driver whose input has ended: its server was killed."""
    monkeypatch.setattr(WebDriver, "run_input_thread", lambda self: None)
    made = object.__new__(ServedDriver)
    made._app = App()  # type: ignore[assignment]
    return made


def test_the_page_ends_when_its_server_is_gone(driver: ServedDriver) -> None:
    driver.run_input_thread()
    (message,) = driver._app.posted  # type: ignore[attr-defined]
    assert isinstance(message, ExitApp)


def test_the_page_opens_no_address_and_gives_no_file(driver: ServedDriver) -> None:
    file = io.BytesIO(b"all ratings")
    driver.open_url("http://elsewhere.example")
    driver.deliver_binary(file, delivery_key="k")
    assert file.closed


def test_a_size_that_is_typed_does_not_count(driver: ServedDriver) -> None:
    driver.process_message(Resize(Size(50_000, 50_000), Size(50_000, 50_000)))
    assert driver._app.posted == []  # type: ignore[attr-defined]

"""What goes wrong is said, with what to do; nothing recorded is lost."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from time import sleep

import pytest
from textual.drivers.web_driver import WebDriver
from textual.events import Resize
from textual.geometry import Size
from textual.messages import ExitApp

from tabwb.administer.session import setup
from tabwb.administer.transcription import Transcribing
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.states import AdministrationStatus, AttemptState, TrialState
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.engine.threads import aside
from tabwb.workbench.naming.controller import listen
from tabwb.workbench.naming.pictures import SpeakerSheet
from tabwb.workbench.second_terminal import SecondTerminal
from tabwb.workbench.served_driver import ServedDriver
from tabwb.workbench.trial.actions import TrialActions
from tabwb.workbench.trial.draft import default_draft
from tabwb.workbench.trial.participant import Card, Link, Typed
from tests.workbench.seat import Sit

FRAGILE = '''
import os
from pathlib import Path
from queue import SimpleQueue
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.exchange import Reply
from tabwb.records.states import StopReason

class Fragile:
    """Dies until the file that is its name is there."""
    def __init__(self, name):
        self.healed = Path(name)
    def open(self):
        there = self.healed.exists()
        return {"model": "fragile", "weights_sha256": self.healed.read_text() if there else ""}
    def reply(self, request, cancel):
        yield "do"
        if not self.healed.exists():
            os._exit(3)
        yield "g"
        yield Reply("dog", StopReason.END, 0.1)
    def close(self):
        pass

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("fragile", "Dies", lambda spec, options: Fragile(spec.name), runs="child",
                        name_help="FILE", name_required=True))
'''
PROJECT = """
[project]
name = "tabwb-fragile"
version = "1"
[project.entry-points.tabwb]
fragile = "tabwb_fragile"
"""


def fragile_plugin(tmp_path: Path) -> None:
    """A model in a child process that dies, brought by a folder of the user's."""
    folder = tmp_path / "fragile"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "tabwb_fragile.py").write_text(FRAGILE, encoding="utf-8")
    configuration = tmp_path / "tabwb-config"
    configuration.mkdir(exist_ok=True)
    (configuration / "tabwb.toml").write_text(f'plugin_folders = ["{folder}"]\n', encoding="utf-8")


class Slow:
    """A model that is loaded until it is closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def open(self) -> Mapping[str, str]:
        self.closed.wait(60)
        raise ComponentError("it was closed")

    def close(self) -> None:
        self.closed.set()


async def test_esc_stops_the_loading_of_a_model(
    sit: Sit, battery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(Plugins, "open_model", lambda plugins, spec, lesion=None: slow)
    async with sit() as seat:
        assert seat.desk.catalogue is not None
        draft = default_draft(seat.desk.catalogue).filled(battery=battery, model="echo")
        seat.desk.actions(TrialActions).begin(draft)
        await seat.until(lambda: seat.desk.work and seat.work.loading, "the loading")
        await seat.press("escape", reads="Loading was stopped")
        assert slow.closed.is_set()
        assert not seat.work.loading
    assert seat.stored()[0].status is AdministrationStatus.PAUSED


async def test_a_dying_model_is_shown_and_can_be_asked_again_and_a_changed_one_is_not(
    sit: Sit, battery: str, tmp_path: Path
) -> None:
    fragile_plugin(tmp_path)
    healed = tmp_path / "healed"
    async with sit() as seat:
        await seat.begin(battery=battery, model=f"fragile:{healed}")
        await seat.press("space", reads="No answer to item 1 of 3")
        _, trials = seat.stored()
        assert trials[0].attempts[0].state is AttemptState.ERROR
        assert trials[0].state is TrialState.PLANNED
        healed.touch()
        await seat.press("enter")
        await seat.until(lambda: seat.work.item and seat.work.item.attempt, "the answer")
        assert [one.response for one in seat.stored()[1][0].attempts][-1] == "dog"

        # An auto-run stops at an error.
        await seat.begin(battery=battery, model=f"fragile:{tmp_path / 'never'}")
        await seat.press("a", reads="No answer to item 1 of 3")
        assert not seat.work.auto
        await seat.press("right", "enter")
        await seat.until(lambda: seat.work.status is AdministrationStatus.PAUSED, "the pause")

        await seat.press("f2")
        await seat.dialog()
        seat.fill(battery=battery, model="replay:/nowhere/answers.jsonl")
        await seat.press("enter")
        await seat.reads("cannot be opened", "Try again")
        assert "Correct it" not in seat.text
        await seat.press("escape")
        assert seat.work.item is None
    healed.write_text("other weights", encoding="utf-8")
    async with sit() as seat:
        await seat.press("f7", "1", "enter", reads="Continue #1?")
        await seat.press("enter", reads="The model has changed")
        await seat.reads("Restore the model that it began with")
        assert "Try again" not in seat.text
        await seat.press("enter")
        await seat.dialog()
        with Store.open(seat.store) as store:
            assert store.administrations()[0].answered == 1


async def test_what_is_open_elsewhere_is_refused_and_a_moved_model_is_offered_another_path(
    sit: Sit, battery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sit() as seat:
        await seat.begin(battery=battery, model="echo")
        await seat.next()
    with (
        closing(Plugins.load()) as plugins,
        Store.open(seat.store) as store,
        setup.resume(store, plugins, 1),
    ):
        async with sit() as seat:
            await seat.reads("Continue")
            await seat.press("enter", reads="Continue #1?")
            await seat.press("enter", reads="The store refused to record it")

    def gone(plugins: Plugins, spec: str, lesion: str | None = None) -> None:
        raise ComponentError("there is no such folder")

    monkeypatch.setattr(Plugins, "open_model", gone)
    async with sit() as seat:
        await seat.press("enter")
        await seat.reads("'Model moved' continues with the same model at another path.")
        await seat.press("enter", reads="cannot be opened")
        await seat.reads("take 'Model moved'")


async def test_a_store_that_cannot_be_opened_is_told(sit: Sit, tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(
        b"this is not a database, and long enough to be read as one" * 9
    )
    async with sit() as seat:
        await seat.reads("could not start")
        assert seat.desk.saved is False


def heard_by(
    opened: Callable[[Cancel], Transcribing], cancel: Cancel, failed: list[TabwbError]
) -> None:
    listen(opened, SimpleQueue(), cancel, {}, lambda job, heard: None, failed.append)


def test_an_error_of_a_transcriber_is_reported_unless_its_loading_was_stopped() -> None:
    loading = threading.Event()
    failed: list[TabwbError] = []

    def opened(cancel: Cancel) -> Transcribing:
        loading.set()
        while not cancel.is_set():
            sleep(0.01)
        raise ValueError("closed while it was loaded")

    cancel = threading.Event()
    thread = aside("listener", lambda: heard_by(opened, cancel, failed))
    assert loading.wait(5)
    cancel.set()
    thread.join(5)
    assert not thread.is_alive()
    assert failed == []

    def broken(cancel: Cancel) -> Transcribing:
        raise ValueError("no weights")

    heard_by(broken, threading.Event(), failed)
    assert [error.message for error in failed] == ["ValueError: no weights"]


async def test_what_is_typed_there_is_recorded_with_the_latency_measured_there(
    sit: Sit, battery: str
) -> None:
    async with sit() as seat:
        with Store.open(seat.store) as store:
            link = Link(takes.folder_of(store))
        link.watch()
        await seat.begin(battery=battery, kind="speaker", speaker="S-014")
        await seat.until(lambda: (card := link.asked()) and card.next, "the first card")
        link.give(Typed(""))
        await seat.until(lambda: (card := link.asked()) and card.key, "the item")
        card = link.asked()
        assert card is not None
        assert (card.prompt, card.options) == ("Which one barks?", ("dog", "tree", "cup"))
        await seat.reads("shown in the second terminal")
        link.give(Typed("another item", "cat", 0.5))
        await seat.until(lambda: link.take() is None and seat.work.awaiting)
        link.give(Typed(card.key, "dog", 1.25))
        await seat.until(lambda: not seat.work.awaiting, "the answer")
    _, trials = seat.stored()
    given = trials[0].counting
    assert given is not None
    assert (given.response, given.latency_s) == ("dog", 1.25)
    assert link.asked() is None, "nothing is shown any more"


async def test_the_terminal_shows_the_item_and_hands_the_answer_over(tmp_path: Path) -> None:
    link = Link(tmp_path)
    card = Card("a/1/0", prompt="Which one barks?", options=("dog", "tree"))
    link.ask(card)
    terminal = SecondTerminal(tmp_path)
    async with terminal.run_test() as pilot:
        assert link.watched
        await pilot.pause(0.1)
        await pilot.press("d", "o", "g", "enter")
        await pilot.pause()
        await terminal.query_one(SpeakerSheet).remove()
        terminal._look()  # while it is closed
    typed = link.take()
    assert typed is not None
    assert (typed.key, typed.text) == ("a/1/0", "dog")
    assert 0 < typed.latency_s < 60
    assert link.take() is None, "an answer is taken once"
    assert not link.watched


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


def test_a_served_page_ends_with_its_server_opens_no_address_and_gives_no_file(
    driver: ServedDriver,
) -> None:
    file = io.BytesIO(b"all ratings")
    driver.open_url("http://elsewhere.example")
    driver.deliver_binary(file, delivery_key="k")
    assert file.closed
    driver.process_message(Resize(Size(50_000, 50_000), Size(50_000, 50_000)))
    assert driver._app.posted == [], "a size that is typed does not count"  # type: ignore[attr-defined]
    driver.run_input_thread()
    (message,) = driver._app.posted  # type: ignore[attr-defined]
    assert isinstance(message, ExitApp)

"""The thread in which responses are transcribed."""

from __future__ import annotations

import threading
from time import sleep

from tabwb.administer.transcription.transcribe import Transcribing
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import TabwbError
from tabwb.workbench.naming.listener import Listener


def test_an_error_in_a_loading_that_was_stopped_is_not_reported() -> None:
    loading = threading.Event()
    failed: list[TabwbError] = []

    def opened(cancel: Cancel) -> Transcribing:
        loading.set()
        while not cancel.is_set():
            sleep(0.01)
        raise ValueError("closed while it was loaded")

    listener = Listener(opened, lambda job, heard: None, failed.append)
    listener.start()
    assert loading.wait(5)
    listener.close()
    assert not listener.is_alive()
    assert failed == []


def test_a_transcriber_that_cannot_be_opened_is_reported_with_the_kind_of_error() -> None:
    failed: list[TabwbError] = []

    def opened(cancel: Cancel) -> Transcribing:
        raise ValueError("no weights")

    listener = Listener(opened, lambda job, heard: None, failed.append)
    listener.start()
    listener.join(5)
    assert [error.message for error in failed] == ["ValueError: no weights"]

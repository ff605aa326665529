"""Limits of calls of plugins: time, memory, ctrl+c."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tabwb.plugin_api.time_limit import LimitReached, limited
from tests.waiting import until


def forever() -> None:
    while True:
        time.sleep(0.001)


def test_the_result_and_the_error_of_a_call_are_its_own() -> None:
    def late() -> int:
        raise TimeoutError("of its own")

    assert limited("page 'x'", 5, lambda: 3) == 3
    with pytest.raises(TimeoutError, match="of its own"):
        limited("page 'x'", 5, late)


def test_a_call_that_does_not_end_is_stopped() -> None:
    ended = threading.Event()

    def call() -> None:
        try:
            forever()
        finally:
            ended.set()

    with pytest.raises(LimitReached, match=r"page 'x' did not end within 0\.1 s") as refused:
        limited("page 'x'", 0.1, call)
    assert refused.value.allowed == "0.1 s"
    assert ended.wait(30)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_a_call_that_takes_endless_memory_is_stopped() -> None:
    def call() -> None:
        held = []
        while True:
            held.append(bytearray(1_000_000))

    with pytest.raises(LimitReached, match=r"statistic 's' took more than 0\.2 GiB of memory"):
        limited("statistic 's'", 60, call, memory=200 * 1024**2)


def test_ctrl_c_says_what_was_running() -> None:
    main = threading.get_ident()
    begun = threading.Event()

    def call() -> None:
        begun.set()
        forever()

    def press() -> None:
        begun.wait()
        signal.pthread_kill(main, signal.SIGINT)

    before = threading.active_count()
    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt, match="statistic 's' was running"):
        limited("statistic 's'", 60, call)
    ended: Callable[[], bool] = lambda: threading.active_count() <= before  # noqa: E731
    until(ended)

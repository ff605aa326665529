from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.administer.sweep.address import scheduler_address
from tabwb.records.errors import UsageError


@pytest.mark.parametrize(
    "text", ["tcp://127.0.0.1:8786", "tls://node-1.cluster:1", "tcp://[::1]:65535"]
)
def test_an_address_and_the_file_that_names_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(f'{{"type": "Scheduler", "address": "{text}"}}')
    assert scheduler_address(text) == scheduler_address(str(path)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "tcp://",
        "127.0.0.1",
        "tcp://a:abc",
        "tcp://[::1",
        "http://a:1",
        "ucx://a:1",
        "tcp://a:0",
        "tcp://a:65536",
        "inproc://a:1",
        "tcp://a:1\n",
        "\x1b[31m",
    ],
)
def test_what_is_no_address_is_refused_before_a_client_is_made(text: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a scheduler"):
        scheduler_address(text)


@pytest.mark.parametrize("content", ["", "{", "[1]", "{}", "5", "[" * 100_000])
def test_a_file_that_is_no_scheduler_file(content: str, tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="is not a scheduler file"):
        scheduler_address(str(path))
    with pytest.raises(UsageError, match="there is no such file"):
        scheduler_address(str(tmp_path / "none.json"))

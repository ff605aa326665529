"""Files of one user."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from tabwb.records.files import is_inside, open_file, sync_file

ROOT = Path(__file__).parents[2]


def test_a_file_is_synced_through_a_descriptor_that_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    path = tmp_path / "file"
    path.write_bytes(b"kept")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: synced.append(os.write(descriptor, b"")))
        sync_file(path)
    assert (synced, path.read_bytes()) == ([0], b"kept")


def test_no_file_is_synced_that_was_opened_for_reading() -> None:
    reading = re.compile(r"open\([\"']rb[\"']\) as (\w+):\s+os\.fsync\(\1")
    files = [*ROOT.glob("tabwb/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    assert [file for file in files if reading.search(file.read_text(encoding="utf-8"))] == []


def test_a_name_stays_inside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "out").symlink_to("/")
    assert is_inside(tmp_path, "a/../b.wav")
    for name in ("..", "../x", "/etc/passwd", str(tmp_path / "x"), "out/etc", "a\0b", "a/../../x"):
        assert not is_inside(tmp_path, name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_files_and_the_pipes_of_a_shell_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), tmp_path):
            with pytest.raises(OSError, match=r"is not a regular file|is a directory"):
                open_file(path)
    reading, writing = os.pipe()
    os.write(writing, b"from a command")
    os.close(writing)
    with open_file(Path(f"/dev/fd/{reading}")) as file:
        assert file.read() == b"from a command"
    os.close(reading)
    with open_file(Path(os.devnull)) as file:
        assert file.read() == b""

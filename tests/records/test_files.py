"""Files of one user, and work folders that are removed also after a crash."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.records import files
from tabwb.records.files import WorkFolder, is_inside, open_file, sweep, sync_file

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


def killed(work: Callable[[], None]) -> None:
    """Do some work in a fork that is killed after it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def inside(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("work-*"))


def test_a_work_folder_is_private_and_goes_with_its_process(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with WorkFolder(tmp_path / "data" / "work") as work:
            assert {path.stat().st_mode & 0o777 for path in (work.path, work.path.parent)} == {
                0o700
            }
            (work.path / "dog.wav").write_bytes(b"a voice")
    finally:
        os.umask(before)
    assert inside(tmp_path / "data") == []


def test_the_next_start_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    def work() -> None:
        folder = WorkFolder(tmp_path / "work")
        (folder.path / "dog.wav").write_bytes(b"a voice")
        folder.draft(tmp_path / "copy.db").write_bytes(b"a store")

    killed(work)
    assert len(inside(tmp_path)) == 1
    assert len(list(tmp_path.glob(".tabwb-draft-*"))) == 1
    sweep(tmp_path / "work")
    assert inside(tmp_path) == []
    assert list(tmp_path.glob(".tabwb-draft-*")) == []


def test_a_draft_inside_a_draft_keeps_no_work_folder(tmp_path: Path) -> None:
    def work() -> None:
        outer, inner = WorkFolder(tmp_path / "work"), WorkFolder(tmp_path / "work")
        folder = outer.draft(tmp_path / "a.jsonl")
        folder.mkdir()
        inner.draft(folder / "b").touch()
        shutil.rmtree(folder)  # as sweeping the outer one first does

    killed(work)
    sweep(tmp_path / "work")
    assert inside(tmp_path) == []
    assert list((tmp_path / "work").glob("work-*")) == []


def test_a_living_process_keeps_its_work_folder(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "work") as work:
        draft = work.draft(tmp_path / "copy.db")
        draft.touch()
        killed(lambda: sweep(tmp_path / "work"))
        with WorkFolder(tmp_path / "work"):
            pass
        assert work.path.is_dir()
        assert draft.exists()


def test_a_draft_on_a_medium_that_is_not_there_is_removed_later(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    killed(lambda: WorkFolder(tmp_path / "work").draft(stick / "copy.db").touch())
    stick.rename(tmp_path / "unplugged")
    sweep(tmp_path / "work")
    (tmp_path / "unplugged").rename(stick)
    assert len(list(stick.iterdir())) == 1
    sweep(tmp_path / "work")
    assert list(stick.iterdir()) == []


def test_a_folder_that_got_its_name_stays_only_with_what_it_belongs_to(tmp_path: Path) -> None:
    def work(*, whole: bool, name: str) -> None:
        folder = WorkFolder(tmp_path / "work")
        draft = folder.draft(tmp_path / f"{name}.blobs")
        draft.mkdir()
        folder.moving(draft, tmp_path / f"{name}.blobs", unless=tmp_path / name)
        if whole:
            (tmp_path / name).touch()

    killed(lambda: work(whole=False, name="half.db"))
    killed(lambda: work(whole=True, name="whole.db"))
    sweep(tmp_path / "work")
    assert not (tmp_path / "half.db.blobs").exists()
    assert (tmp_path / "whole.db.blobs").is_dir()
    assert list((tmp_path / "whole.db.blobs").iterdir()) == []


def test_a_journal_removes_nothing_that_is_no_draft(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("mine")
    left = tmp_path / "work" / "work-abc"
    left.mkdir(parents=True)
    (left / "drafts.json").write_text(f'[["{mine}", ""], ["{tmp_path / "other"}", ""]]')
    sweep(tmp_path / "work")
    assert mine.read_text() == "mine"
    assert not left.exists()


def test_a_second_folder_of_this_process_removes_nothing_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_lock", lambda descriptor: True)  # a disk without locks
    with WorkFolder(tmp_path / "work") as first:
        draft = first.draft(tmp_path / "out.txt")
        draft.write_text("kept", encoding="utf-8")
        with WorkFolder(tmp_path / "work"):
            assert draft.read_text(encoding="utf-8") == "kept"
            assert first.path.is_dir()
    assert not draft.exists()

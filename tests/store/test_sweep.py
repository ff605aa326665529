"""What killed processes left beside a store is found and removed; what living ones do is not."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from tabwb.records.conditions import Conditions
from tabwb.records.files import claim, release
from tabwb.records.speakers import KeptRecording
from tabwb.store import blobs, takes
from tabwb.store.maintenance import check, remove_unnamed
from tabwb.store.store import Store
from tests.store.parts import begin, small_battery

VOICE = b"RIFF a voice"


@pytest.fixture
def orphan(file: Path) -> Path:
    """A named file without a row, as a process leaves that is killed before its commit."""
    with Store.open(file) as store:
        begin(store)
    path = blobs.path_of(blobs.folder_of(file), "ab" * 32)
    path.parent.mkdir(parents=True)
    path.write_bytes(VOICE)
    return path


def test_check_finds_and_removes_a_file_without_a_row(file: Path, orphan: Path) -> None:
    assert remove_unnamed(file) == (orphan,)
    assert not orphan.exists()
    assert check(file) == ()
    assert remove_unnamed(file) == ()


def test_the_next_opening_removes_what_a_mark_without_an_owner_tells_of(
    file: Path, orphan: Path
) -> None:
    mark = blobs.folder_of(file) / f"{blobs.NEW}1{blobs.MARK}"
    half = blobs.folder_of(file) / f"{blobs.NEW}1"
    mark.touch()
    half.write_bytes(VOICE)
    Store.open(file).close()
    assert not orphan.exists()
    assert list(blobs.folder_of(file).glob(".new-*")) == []


def test_a_file_that_is_being_copied_is_left_to_its_process(file: Path, orphan: Path) -> None:
    mark = blobs.folder_of(file) / f"{blobs.NEW}1{blobs.MARK}"
    half = blobs.folder_of(file) / f"{blobs.NEW}1"
    held = claim(mark)
    assert held is not None
    half.write_bytes(VOICE)
    assert remove_unnamed(file) == (orphan,)
    assert half.exists()
    assert mark.exists()
    release(held, mark)


def test_a_deletion_removes_files_without_a_row(file: Path, orphan: Path) -> None:
    with Store.open(file) as store:
        store.keep_battery(small_battery(), {})
        store.create_administration(
            small_battery(), Conditions("S-014", "speaker"), [], {"tabwb": "0"}
        )
        store.people.delete_speaker("S-014", "withdrawn")
    assert not orphan.exists()


def _keep(file: Path, sound: Path, count: int) -> None:
    with Store.open(file) as store:
        for number in range(count):
            sound.write_bytes(VOICE + f"{os.getpid()} {number}".encode())
            uid = f"{os.getpid()}-{number}"
            store.people.keep_recording(1, KeptRecording(uid, 1, 16_000), sound)


def _open_again_and_again(file: Path, until_s: float) -> None:
    while time.monotonic() < until_s:
        Store.open(file).close()
        remove_unnamed(file)


def test_sweeping_takes_nothing_from_living_writers(file: Path, tmp_path: Path) -> None:
    with Store.open(file) as store:
        begin(store)
    context = multiprocessing.get_context("spawn")
    until = time.monotonic() + 60
    sweepers = [context.Process(target=_open_again_and_again, args=(file, until)) for _ in range(2)]
    writers = [
        context.Process(target=_keep, args=(file, tmp_path / f"{number}.wav", 8))
        for number in range(2)
    ]
    for process in (*sweepers, *writers):
        process.start()
    for process in writers:
        process.join()
    for process in sweepers:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    assert [process.exitcode for process in writers] == [0, 0]
    with Store.open(file) as store:
        kept = store.people.recordings(1)
        assert len(kept) == 16
        for recording in kept:
            store.people.recording_path(recording.sha256)
    assert check(file) == ()


def test_a_recording_that_grows_is_found_by_its_administration(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        path = takes.path_of(store, "uid-1", "rec-1")
        path.write_bytes(b"")
        assert takes.of_administration(store, "uid-1") == (path,)
        assert takes.of_administration(store, "uid-2") == ()
        assert takes.folder_of(store).stat().st_mode & 0o777 == 0o700


def test_the_deletion_of_a_speaker_sweeps_what_a_dead_process_left(tmp_path: Path) -> None:
    from tabwb.store.people import remove_takes

    path = tmp_path / "store.db"
    with Store.open(path) as store:
        left = takes.work_root(store) / "work-abc" / "files"
        left.mkdir(parents=True)
        (left / "dog.wav").write_bytes(b"a voice")
        remove_takes(path, ["uid-1"])
        assert not left.parent.exists()

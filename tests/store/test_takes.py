"""Folders beside a store for what is being recorded and worked on."""

from __future__ import annotations

from pathlib import Path

from tabwb.store import takes
from tabwb.store.store import Store


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

"""SIGKILL while people's data are written to files: every file that is there is in the log."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tabwb.cli.main import main
from tabwb.media.figures import files
from tabwb.records.speakers import exports
from tabwb.store.store import Store
from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
COUNTED = {"os.rename", "os.remove", "os.rmdir"}
SECRET = b"my dog is a xylophonist"


@pytest.fixture
def place(run: Run, tmp_path: Path, battery_file: Path) -> Path:
    """A store in which a person answered, and a folder for what is written."""
    typed = f"{SECRET.decode()}\n\nfish\n\nhouse.\n\n"
    run("run", battery_file, "--speaker", "S-014", stdin=typed)
    (tmp_path / "out").mkdir()
    return tmp_path


def killed(arguments: list[str], place: Path, step: int) -> int:
    """Run a command in a fork that dies at a step, counted from the first in ``out``; 0: never."""
    said = place / "steps"
    said.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        steps, begun = 0, False

        def count(event: str, given: tuple[object, ...]) -> None:
            nonlocal steps, begun
            begun = begun or (bool(given) and str(place / "out") in str(given[0]))
            if begun and event in COUNTED and str(place) in str(given[0]):
                steps += 1
                if steps == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            sys.addaudithook(count)
            if main(arguments) == 0:
                said.write_text(str(steps))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return int(said.read_text()) if said.exists() else 0


@pytest.mark.crash
@pytest.mark.parametrize(
    "words",
    [("export", "1", "--out"), ("report", "1", "--study-ids", "--responses", "3", "--out")],
    ids=lambda words: words[0],
)
def test_a_file_of_people_is_in_the_log_and_the_older_one_stays_until_it_is_there(
    place: Path, words: tuple[str, ...]
) -> None:
    out, data, before = place / "out", place / "tabwb-data", place / "before"
    file = out / ("a.md" if words[0] == "report" else "a.jsonl")
    arguments = [*words, str(file), "--within-study", "--force"]
    shutil.copytree(data, before)

    def restore() -> None:
        for folder in (data, out):
            shutil.rmtree(folder)
        shutil.copytree(before, data)
        out.mkdir()
        file.write_text("older")

    assert main(arguments) == 0  # forks find what this process has imported
    restore()
    steps = killed(arguments, place, 0)
    assert steps > 2
    seen, drafts = set(), 0
    for step in range(1, steps + 1):
        restore()
        assert killed(arguments, place, step) == 0
        there = file.read_text() != "older"
        drafts += len(list(out.glob(".*")))
        with Store.open(data / "tabwb.db") as store:
            written = exports(store.people.log_entries("S-014"))
            assert store.people.data_of("S-014")["exports"] == len(written)
        assert not there or len(written) == 1, f"step {step} of {steps}"
        seen.add((there, *written.values()))
        assert list(out.glob(".*")) == [], "who opens the store next removes drafts"
    assert drafts
    # Before the file and with it, begun and not finished; nothing of the store comes later.
    assert seen == {(False, False), (True, False)}


def test_a_figure_that_cannot_be_written_was_logged_as_begun(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")

    def fails(*given: object, **options: object) -> None:
        raise OSError("no room")

    words = ["figure", "accuracy", "1", "--within-study", "--out", str(place / "out" / "a.svg")]
    with monkeypatch.context() as patched:
        patched.setattr(files, "save", fails)
        assert main(words) == 1
    with Store.open(place / "tabwb-data" / "tabwb.db") as store:
        assert list(exports(store.people.log_entries("S-014")).values()) == [False]
    assert main(words) == 0
    with Store.open(place / "tabwb-data" / "tabwb.db") as store:
        assert list(exports(store.people.log_entries("S-014")).values()) == [True]

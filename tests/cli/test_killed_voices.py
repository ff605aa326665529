"""SIGKILL while voices are kept, transcribed or backed up."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from tabwb.cli.main import main
from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, typed_table

pytest.importorskip("soundfile")
CLIP = {
    "dog": "dog_d1a4fb3f_0.flac",
    "cat": "up_189cbabe_0.flac",
    "tree": "three_8c0e5970_0.flac",
    "house": "silence_1024.flac",
}
KILLS = int(os.environ.get("TABWB_TORTURE_KILLS", "3"))
COUNTED = {"open", "os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.chmod"}
MOMENT_S = 0.004


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sounds, a battery, a table of what was said, and a temporary folder of our own."""
    naming_battery(tmp_path / "battery")
    recordings(tmp_path / "sounds", **CLIP)
    typed_table(tmp_path / "typed.tsv", **dict.fromkeys(CLIP, "D AO G"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


def forked(
    place: Path, arguments: list[str], step: int, moment_s: float, by: int = signal.SIGKILL
) -> tuple[bool, int]:
    """Run a command in a fork that dies at its ``step``-th step; (killed, steps without a kill)."""
    said = place / "steps"
    child = os.fork()
    if child == 0:
        steps = 0

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal steps
            if event in COUNTED and str(place) in str(arguments[0]):
                steps += 1
                if steps == step:
                    if moment_s:
                        signal.setitimer(signal.ITIMER_REAL, moment_s)
                    else:
                        os.kill(os.getpid(), by)

        try:
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process as SIGKILL does
            sys.addaudithook(count)
            main(arguments)
            said.write_text(str(steps))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status), int(said.read_text() or 0) if said.exists() else 0


def left(place: Path, *, kept: bool) -> list[str]:
    """Files that hold a part of a voice, or that nobody knows of; ``kept``: the store holds it."""
    probes = []
    for sound in (place / "sounds").iterdir():
        content = sound.read_bytes()
        probes += [content[at : at + 48] for at in range(200, len(content) - 48, 997)]
    found = [str(path) for path in (place / "tmp").rglob("*") if path.is_file()]
    found += [str(path) for path in (place / "out").rglob("*") if path.name.startswith(".")]
    for folder in (place / "out").glob("*.blobs"):
        if not folder.with_name(folder.name.removesuffix(".blobs")).exists():
            found.append(str(folder))
    data = place / "tabwb-data"
    for path in [each for each in data.rglob("*") if each.is_file()]:
        if kept and path.parent.parent.name == "tabwb.db.blobs":
            continue
        content = path.read_bytes()
        if (
            any(probe in content for probe in probes)
            or b"RIFF" in content[:4]
            or path.name.startswith(".new-")
        ):
            found.append(str(path))
    store = data / "tabwb.db"
    with sqlite3.connect(store) as connection:
        known = {row[0] for row in connection.execute("SELECT sha256 FROM assets")}
    connection.close()
    blobs = store.with_name("tabwb.db.blobs")
    found += [str(path) for path in blobs.glob("??/*") if path.name not in known]
    return found


def trials(
    place: Path, arguments: list[str], then: list[str], seed: int, *, kept: bool = False
) -> int:
    """Kill a command at random steps; after each kill ``then`` is done and nothing is left."""
    data, before = place / "tabwb-data", place / "before"
    assert main(["run", "tab", "--model", "echo", "--judge", "none"]) == 0
    assert main(["speaker", "consent", "S-014", "--all", "--given"]) == 0
    shutil.copytree(data, before)

    def restore() -> None:
        shutil.rmtree(data)
        shutil.copytree(before, data)
        for folder in ("tmp", "out"):
            shutil.rmtree(place / folder)
            (place / folder).mkdir()

    assert main(arguments) == 0  # forks find what this process has imported
    restore()
    killed, steps = forked(place, arguments, 0, 0.0)
    assert not killed
    assert left(place, kept=True) == []
    assert steps > 20, steps
    generator = random.Random(seed)
    kills = 0
    while kills < KILLS:
        restore()
        (place / "steps").unlink(missing_ok=True)
        step = generator.randint(1, steps)
        moment = generator.random() * MOMENT_S if generator.random() < 0.5 else 0.0
        killed, _ = forked(place, arguments, step, moment)
        kills += killed
        main(then)
        assert left(place, kept=kept) == [], (
            f"step {step} of {steps}, {moment * 1000:.1f} ms after it"
        )
    return kills


DELETE = ["speaker", "delete", "S-014", "--reason", "withdrawn", "--yes"]


@pytest.mark.timeout(600)
def test_name_killed_and_the_speaker_deleted_leaves_no_byte_of_the_voice(place: Path) -> None:
    arguments = [
        *("name", str(place / "battery" / "battery.toml"), "--speaker", "S-014"),
        *("--input", str(place / "sounds"), "--transcriber", f"manual:{place / 'typed.tsv'}"),
    ]
    assert trials(place, arguments, DELETE, 20261122) == KILLS


@pytest.mark.timeout(600)
def test_transcribe_killed_leaves_no_copy_after_the_next_start(place: Path) -> None:
    sounds = [str(path) for path in sorted((place / "sounds").iterdir())]
    arguments = ["transcribe", *sounds, "--transcriber", f"manual:{place / 'typed.tsv'}"]
    assert trials(place, arguments, ["model", "list"], 20261123) == KILLS


@pytest.mark.timeout(600)
def test_backup_killed_leaves_no_copy_after_the_next_start(place: Path) -> None:
    name = [
        *("name", str(place / "battery" / "battery.toml"), "--speaker", "S-015"),
        *("--input", str(place / "sounds"), "--transcriber", "none"),
    ]
    assert main(name) == 0
    arguments = ["store", "backup", str(place / "out" / "copy.db")]
    assert trials(place, arguments, ["store", "info"], 20261124, kept=True) == KILLS


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_backup_that_is_told_to_end_removes_its_draft_itself(
    place: Path, by: signal.Signals
) -> None:
    name = [
        *("name", str(place / "battery" / "battery.toml"), "--speaker", "S-015"),
        *("--input", str(place / "sounds"), "--transcriber", "none"),
    ]
    assert main(name) == 0
    out = place / "out" / "copy.db"
    _, steps = forked(place, ["store", "backup", str(out)], 0, 0.0)
    assert out.exists()
    shutil.rmtree(place / "out")
    (place / "out").mkdir()
    (place / "steps").unlink()
    forked(place, ["store", "backup", str(out)], steps // 2, 0.0, by)
    assert list((place / "out").iterdir()) == []
    assert left(place, kept=True) == []

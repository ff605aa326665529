"""Child processes, the command that adds a package, and telemetry that stays off."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.host.process import child_environment
from tabwb.host.settings import Configuration
from tabwb.records import files, system
from tabwb.records.errors import MissingPackage
from tabwb.records.files import WorkFolder, is_inside, open_file, sweep, sync_file
from tabwb.records.system import (
    SWITCHES,
    child_environ,
    extra_command,
    import_onnxruntime,
    package_command,
    switch_telemetry_off,
)

ROOT = Path(__file__).parents[2]
OTHER_WAY = re.compile(
    r"Popen\(|create_subprocess|subprocess_(exec|shell)\(|\bmultiprocessing\b|ProcessPoolExecutor"
    r"|subprocess\.(run|call|check|getoutput|getstatus)|from subprocess import"
    r"|\bos\.(system|popen|fork|forkpty|spawn|exec|posix_spawn|startfile)|\bpty\.(spawn|fork)"
)
PROGRAM = """
import os, signal, sys
from tabwb.records import system

started = system.start([sys.executable, "-c", "input()"], os.environ, stdin=system.PIPE)
os.killpg(started.pid, signal.SIGSTOP)
os.waitpid(started.pid, os.WUNTRACED)  # it is stopped now, and cannot see that its input ended
print(started.pid, flush=True)
raise KeyboardInterrupt
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupted_program_leaves_no_stopped_child() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60
    )
    assert "KeyboardInterrupt" in done.stderr
    assert not _is_stopped(int(done.stdout))


def _is_stopped(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


def test_every_child_is_started_in_one_place() -> None:
    files = [*ROOT.glob("tabwb/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if OTHER_WAY.search(file.read_text(encoding="utf-8"))
    }
    assert len(files) > 500
    assert found == {"tabwb/records/system.py"}


def test_a_child_runs_no_code_of_the_current_folder_and_no_program_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "tabwb"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')", encoding="utf-8")
    program = tmp_path / "pactl"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", os.defpath]))
    started = system.start(system.python("json.tool"), child_environ(os.environ))
    started.wait()
    assert not (tmp_path / "ran").exists()
    assert system.find_program("pactl") != str(program)
    monkeypatch.setenv("PATH", os.pathsep.join([".", str(tmp_path)]))
    assert system.find_program("pactl") == str(program)


RECEIPT = """
[tool]
requirements = [{ name = "tabwb", extras = ["audio"] }, { name = "my-words" }]
"""


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the environment."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("prefix")
def test_pip_is_the_default() -> None:
    assert extra_command("local") == 'pip install "tabwb[local]"'
    assert package_command("whisper") == "pip install whisper"


def test_pipx_injects_what_the_extra_requires(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").touch()
    assert extra_command("keyring") == 'pipx inject tabwb "keyring>=25"'
    assert package_command("whisper") == "pipx inject tabwb whisper"


def test_uv_is_told_again_what_is_there(prefix: Path) -> None:
    (prefix / "uv-receipt.toml").write_text(RECEIPT, encoding="utf-8")
    assert extra_command("local") == 'uv tool install "tabwb[audio,local]" --with my-words'
    assert package_command("whisper") == (
        'uv tool install "tabwb[audio]" --with my-words --with whisper'
    )


def test_a_damaged_receipt_still_gives_a_command(prefix: Path) -> None:
    (prefix / "uv-receipt.toml").write_text("[tool", encoding="utf-8")
    assert extra_command("local") == 'uv tool install "tabwb[local]"'


def test_a_plugin_can_name_its_own_command() -> None:
    assert "conda install whisper" in str(MissingPackage("'x'", "whisper", "conda install whisper"))


CLIP = Path(__file__).parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"
FIND = """
import soundfile, sys
from tabwb.speech.finding import voice_probabilities
sound, rate = soundfile.read(sys.argv[1], dtype="float32")
assert voice_probabilities(sound).max() > 0.5
"""
IMPORT = """
from tabwb.records.system import import_onnxruntime
import sys
import_onnxruntime(sys.argv[1])
"""


def in_a_process(source: str, argument: str, place: Path) -> None:
    """Run a script with its own temporary folder and nothing set about telemetry."""
    # Few variables: the package is quiet where it sees a test or a CI service.
    variables = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    variables |= {"HOME": str(place), "TMPDIR": str(place)}
    subprocess.run([sys.executable, "-c", source, argument], env=variables, check=True, timeout=120)


def test_finding_speech_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    pytest.importorskip("onnxruntime")
    in_a_process(FIND, str(CLIP), tmp_path)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("module", ["onnxruntime", "onnxruntime.quantization"])
def test_importing_a_module_of_it_leaves_nothing(module: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    in_a_process(IMPORT, module, tmp_path)
    assert list(tmp_path.rglob("*")) == []


def test_the_switch_of_the_package_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = pytest.importorskip("onnxruntime")
    called: list[bool] = []
    monkeypatch.setattr(runtime, "disable_telemetry_events", lambda: called.append(True))
    import_onnxruntime()
    assert called == [True]


def test_child_processes_have_it_off(tmp_path: Path) -> None:
    configuration = Configuration(data_dir=tmp_path, config_dir=tmp_path)
    child = child_environment(configuration, None, {"ORT_DISABLE_TELEMETRY": "0"})
    assert {child[name] for name in SWITCHES} == {"1"}


def test_the_program_has_it_off_before_plugins_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    from tabwb.cli.main import main

    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    assert main(["--version"]) == 0
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_switching_off_keeps_other_variables() -> None:
    variables = {"HOME": "/h"}
    switch_telemetry_off(variables)
    assert variables == {"HOME": "/h", **dict.fromkeys(SWITCHES, "1")}


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

"""ONNX Runtime, which can send telemetry, sends and leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tabwb.plugin_api.child.environment import child_environment
from tabwb.plugin_api.config.settings import Configuration
from tabwb.records.system import SWITCHES, import_onnxruntime, switch_telemetry_off

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

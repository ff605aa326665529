"""The run of all tests runs those that failed once more, alone, and lists what passes then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run import main

FIRST_TIME_ONLY = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("n", range({n}))
def test_first(n):
    seen = Path(__file__).with_name(f"seen-{{n}}")
    if not seen.exists():
        seen.touch()
        raise AssertionError
"""


def run(folder: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> int:
    (folder / "test_it.py").write_text(content, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of the time
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    return main(["-n0", "test_it.py"])


@pytest.mark.parametrize(("unstable", "status"), [(3, 0), (4, 1)])
def test_few_unstable_tests_do_not_fail_the_run(
    unstable: int,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(tmp_path, FIRST_TIME_ONLY.format(n=unstable), monkeypatch) == status
    assert capfd.readouterr().out.count("\nunstable: test_it.py::test_first[") == unstable


def test_a_test_that_fails_twice_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "def test_never():\n    assert False\n", monkeypatch) == 1
    assert "\nfailed twice: test_it.py::test_never" in capfd.readouterr().out


def test_a_module_that_cannot_be_imported_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, "import no_such_module\n", monkeypatch) != 0

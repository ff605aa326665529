"""``tabwb plugins new --kind`` and ``plugins check``: each kind works as it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb import testing
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.host.scaffold import ONE_FILE


def test_each_kind_keeps_its_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ONE_FILE:
        assert main(["plugins", "new", f"my-{kind}", "--kind", kind, "--in", str(tmp_path)]) == 0
        assert main(["plugins", "trust", str(tmp_path / f"my_{kind}.py")]) == 0
    for kind in ONE_FILE:
        capsys.readouterr()
        status = main(["plugins", "check", f"my-{kind}", "--json"])
        checks = json.loads(capsys.readouterr().out)["checks"]
        assert [(one["kind"], one["status"]) for one in checks] == [(kind, "ok")], checks
        assert status == 0


BROKEN = """
from tabwb.plugin_api import CommandSource, PageSource, hookimpl, statistic

@statistic("our-share", "Share", "what it is")
def share(responses):
    return 1 / 0

@hookimpl
def tabwb_register_pages(register):
    register(PageSource("our-page", "Page", "A page.", lambda data: 7))

@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("our-command", "A command.", lambda: 7))

@hookimpl
def tabwb_on_event(event):
    raise ValueError("no")
"""


def test_what_does_not_conform_is_named_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN, encoding="utf-8")
    assert main(["plugins", "trust", str(file)]) == 0
    capsys.readouterr()
    assert main(["plugins", "check", "broken", "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    found = {one["kind"]: one["status"] for one in checks}
    assert found == dict.fromkeys(("statistic", "page", "command", "observer"), "failed")
    assert main(["plugins", "check", "nothing"]) == 2
    other = tmp_path / "not_loaded.py"
    other.write_text("import no_such_package", encoding="utf-8")
    assert main(["plugins", "trust", str(other)]) == 0
    capsys.readouterr()
    assert main(["plugins", "check", "not-loaded"]) == 1
    assert "no_such_package" in capsys.readouterr().err


def test_batteries_of_tabwb_conform() -> None:
    plugins = Plugins.load()
    testing.check_battery("tab", plugins=plugins)
    with pytest.raises(testing.NonConformance):
        testing.check_battery("nothing", plugins=plugins)
    plugins.close()

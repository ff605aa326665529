"""``tabwb plugins new --kind`` and ``plugins check``: each kind works as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb import testing
from tabwb.host.plugins import Plugins
from tabwb.host.scaffold import ONE_FILE
from tests.cli.conftest import Run


def test_each_kind_keeps_its_contract(tmp_path: Path, run: Run) -> None:
    for kind in ONE_FILE:
        run("plugins", "new", f"my-{kind}", "--kind", kind, "--in", tmp_path)
        run("plugins", "trust", tmp_path / f"my_{kind}.py")
    for kind in ONE_FILE:
        checks = run("plugins", "check", f"my-{kind}", "--json").document["checks"]
        assert [(one["kind"], one["status"]) for one in checks] == [(kind, "ok")], checks


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


def test_what_does_not_conform_is_named_and_fails(tmp_path: Path, run: Run) -> None:
    file, other = tmp_path / "broken.py", tmp_path / "not_loaded.py"
    file.write_text(BROKEN, encoding="utf-8")
    run("plugins", "trust", file)
    checks = run("plugins", "check", "broken", "--json", status=1).document["checks"]
    found = {one["kind"]: one["status"] for one in checks}
    assert found == dict.fromkeys(("statistic", "page", "command", "observer"), "failed")
    run("plugins", "check", "nothing", status=2)
    other.write_text("import no_such_package", encoding="utf-8")
    run("plugins", "trust", other)
    run("plugins", "check", "not-loaded", status=1, err="no_such_package")


def test_batteries_of_tabwb_conform() -> None:
    plugins = Plugins.load()
    testing.check_battery("tab", plugins=plugins)
    with pytest.raises(testing.NonConformance):
        testing.check_battery("nothing", plugins=plugins)
    plugins.close()

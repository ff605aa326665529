"""``tabwb plugins new --kind`` and ``plugins check``: each kind works as it is written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tabwb import testing
from tabwb.host.guarded import LimitReached, PluginExit, limited, plugin_code
from tabwb.host.plugins import Plugins
from tabwb.host.scaffold import ONE_FILE
from tests.cli.conftest import Run


def test_each_kind_keeps_its_contract(tmp_path: Path, run: Run) -> None:
    for kind in ONE_FILE:
        run("plugins", "new", f"my-{kind}", "--kind", kind, "--in", tmp_path)
        run("plugins", "trust", tmp_path / f"my_{kind}.py")
    for kind in ONE_FILE:
        checks = run("plugins", "check", f"my-{kind}", "--json").document["checks"]
        noun = {"task": "task type", "subject": "kind of subject"}.get(kind, kind)
        assert [(one["kind"], one["status"]) for one in checks] == [(noun, "ok")], checks


@pytest.mark.parametrize(
    ("name", "kind"),
    [("tab", ""), ("choice", "scorer"), ("rules", "judge"), ("burden", "statistic"),
     ("run", "command"), ("echo", "model"), ("naming", "task")],
)  # fmt: skip
def test_an_id_that_tabwb_has_is_refused(name: str, kind: str, tmp_path: Path, run: Run) -> None:
    words = ["--kind", kind] if kind else []
    run("plugins", "new", name, *words, "--in", tmp_path / "made", status=2)
    assert not (tmp_path / "made").exists()


BROKEN = """
import time
import click
from tabwb.plugin_api import CommandSource, PageSource, hookimpl, statistic

@statistic("our-long", "Long", "what it is", limit_s=0.2)
def long(responses):
    while True:
        time.sleep(0.01)

@statistic("burden-rank-correlation", "Ours", "an id that tabwb has")
def taken(responses):
    return 1.0

@statistic("our-share", "Share", "what it is")
def share(responses):
    return 1 / 0

@hookimpl
def tabwb_register_pages(register):
    register(PageSource("our-page", "Page", "A page.", lambda data: 7))

@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("our-command", "A command.", lambda: 7))
    register(CommandSource("results", "One that tabwb has.", lambda: click.Command("results")))

@hookimpl
def tabwb_on_event(event):
    raise ValueError("no")
"""


OLDER = """
from tabwb.plugin_api import hookimpl

@hookimpl
def tabwb_on_finished(event):
    raise ValueError("no")
"""


def test_what_does_not_conform_is_named_and_fails(tmp_path: Path, run: Run) -> None:
    file, other = tmp_path / "broken.py", tmp_path / "not_loaded.py"
    file.write_text(BROKEN, encoding="utf-8")
    run("plugins", "trust", file)
    checks = run("plugins", "check", "broken", "--json", status=1).document["checks"]
    found = {one["kind"]: one["status"] for one in checks}
    kinds = "statistic", "page", "command", "observer", "hook"  # the last: an id of tabwb's own
    assert found == dict.fromkeys(kinds, "failed")
    assert [one["id"] for one in checks if one["kind"] == "command"] == ["our-command", "results"]
    assert all(one["status"] == "failed" for one in checks)
    assert sum(one["kind"] == "statistic" for one in checks) == 2
    quiet = tmp_path / "quiet.py"  # is not asked what another plugin's observer does
    quiet.write_text(ONE_FILE["observer"], encoding="utf-8")
    run("plugins", "trust", quiet)
    run("plugins", "check", "quiet")
    older = tmp_path / "older.py"
    older.write_text(OLDER, encoding="utf-8")
    run("plugins", "trust", older)
    with pytest.warns(DeprecationWarning, match="tabwb_on_finished"):
        checks = run("plugins", "check", "older", "--json", status=1).document["checks"]
    (observer,) = (one for one in checks if one["kind"] == "observer")
    assert (observer["id"], observer["status"]) == ("tabwb_on_finished", "failed")
    run("plugins", "check", "nothing", status=2)
    other.write_text("import no_such_package", encoding="utf-8")
    run("plugins", "trust", other)
    run("plugins", "check", "not-loaded", status=1, err="no_such_package")


LOADING = "from tabwb.records.system import Interrupt\nraise Interrupt"
SCORING = """
from tabwb.plugin_api import scorer
from tabwb.records.system import Interrupt

@scorer("endless", "Never ends")
def score(response) -> bool:
    raise Interrupt
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [(LOADING, "plugin 'endless' was loading"), (SCORING, "scorer 'endless' was running")],
)
def test_ctrl_c_names_what_did_not_end(text: str, words: str, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "endless.py"
    file.write_text(text, encoding="utf-8")
    run("plugins", "trust", file)
    run("plugins", "check", "endless", status=130, err=words)


OTHERS = """
from tabwb.plugin_api import Broken, TaskType, exporter, hookimpl, scorer

@exporter("endless", "Never ends")
def written(documents):
    return ""

@scorer("failing", "Fails", measures={"words": "count"})
def failing(subtest, response):
    return len(response.text) if subtest.response != "our-task" else 1 / 0

@hookimpl
def tabwb_register_tasks(register):
    register(TaskType(kind="our-task", scorers=("failing",)))
    register(TaskType(kind="our-named", needs=("target",)))
    register(TaskType(kind="our-strict", check=lambda path, subtest: [Broken(path, "no")]))
"""


def test_what_does_not_end_fails_and_a_task_type_is_given(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limited(name: str, seconds: float, work: Callable[[], None]) -> None:
        if "endless" in name:
            raise LimitReached(f"{name} did not end within {seconds} s")
        work()

    monkeypatch.setattr("tabwb.testing.plugin.limited", limited)
    file = tmp_path / "others.py"
    file.write_text(OTHERS, encoding="utf-8")
    run("plugins", "trust", file)
    checks = run("plugins", "check", "others", "--json", status=1).document["checks"]
    assert [(one["id"], one["status"]) for one in checks] == [
        ("failing", "ok"), ("endless", "failed"), ("our-task", "failed"), ("our-named", "skipped"),
        ("our-strict", "skipped"),
    ]  # fmt: skip
    assert "ZeroDivisionError" in checks[2]["words"]


def test_code_of_a_plugin_that_is_abandoned_ends() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                with suppress(PluginExit), plugin_code:
                    ended.wait(0.01)
        finally:
            ended.set()

    with pytest.raises(LimitReached):
        limited("it", 0.1, work)
    assert ended.wait(60)


def test_batteries_of_tabwb_conform() -> None:
    plugins = Plugins.load()
    testing.check_battery("tab", plugins=plugins)
    with pytest.raises(testing.NonConformance):
        testing.check_battery("nothing", plugins=plugins)
    plugins.close()

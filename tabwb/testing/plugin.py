"""Checks of what plugins add besides components, and of whole plugins."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.battery.problems import BatteryProblems
from tabwb.host.guarded import LimitReached, interrupts_say, limited
from tabwb.host.index import EXTENSIONS, KINDS, Component, check_needs
from tabwb.host.plugins import Plugins
from tabwb.records.errors import TabwbError
from tabwb.records.specs import Spec
from tabwb.store.store import Store
from tabwb.testing.checks import (
    Checks,
    NonConformance,
    document_of,
    expect,
    plugins_of,
    run_checks,
)
from tabwb.testing.models import check_model, check_transcriber
from tabwb.testing.raters import check_judge, check_scorer
from tabwb.testing.results import check_exporter, check_statistic

OBSERVER_S = 1.0
"""Seconds that an observer may take for one event: it runs between two prompts."""


def check_page(page_id: str, *, plugins: Plugins | None = None, battery: str = "tab") -> None:
    """Check a result page: what it builds of responses of ``echo`` to a battery can be shown.

    Args:
        page_id: its id.
        plugins: with the page; None for those installed.
        battery: an id or path.

    Raises:
        NonConformance: the page does not keep its contract.
    """
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.grouping import grouped, summarised
    from tabwb.analysis.statistics.plugins import plugin_responses_of
    from tabwb.analysis.tables.results import results_table
    from tabwb.media.plugin_pages import built
    from tabwb.plugin_api.extensions import PageData

    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        source = _extension(loaded, "pages", page_id)
        document_of(loaded, Path(name), battery)
        with Store.open(Path(name) / "sample.db") as store:
            rows = summarised(grouped(load_columns(store), "model"))
            responses = [(row.label, plugin_responses_of(row.group.members)) for row in rows]
            data = PageData((1,), results_table(rows), responses)
            run_checks(f"page '{page_id}'", {"contract": lambda: _ignored(built(source, data))})


def check_command(command_id: str, *, plugins: Plugins | None = None) -> None:
    """Check a command: it is one of click, and shows its help.

    Args:
        command_id: its id, also of an operation.
        plugins: with the command; None for those installed.

    Raises:
        NonConformance: the command does not keep its contract.
    """
    from click import Command
    from click.testing import CliRunner

    from tabwb.cli.command import command
    from tabwb.cli.main import COMMANDS
    from tabwb.operations.operation import plugin_operation

    def check() -> None:
        expect(command_id not in COMMANDS, "it is not used: tabwb has a command of this name")
        kind = plugin_operation(loaded, command_id)
        if kind is None:
            made = _extension(loaded, "commands", command_id).load()
            expect(isinstance(made, Command), f"load() gave {type(made).__name__}, not a command")
        else:
            expect(kind.__doc__, "the class has no docstring, which is its help")
            made = command(kind, command_id)
        result = CliRunner().invoke(made, ["--help"])
        expect(result.exit_code == 0, f"--help ended with {result.exception or result.exit_code}")

    with plugins_of(plugins) as loaded:
        run_checks(f"command '{command_id}'", {"contract": check})


def check_observer(plugin: str, *, plugins: Plugins | None = None, battery: str = "tab") -> None:
    """Check the observer of a plugin: it gets the events of an administration and is fast.

    Args:
        plugin: the name of its entry point.
        plugins: with the plugin; None for those installed.
        battery: an id or path, which is given to ``echo``.

    Raises:
        NonConformance: the observer raised, or was slow.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        took: list[float] = []
        notify = loaded.notify

        def timed(event: Any, *, only: str = "") -> None:
            began = time.perf_counter()
            notify(event, only=plugin)
            took.append(time.perf_counter() - began)

        def check() -> None:
            loaded.notify = timed  # type: ignore[method-assign]
            try:
                document_of(loaded, Path(name), battery)
            finally:
                del loaded.notify
            failed = [one.error for one in loaded.failed_observers if one.plugin == plugin]
            expect(not failed, "; ".join(failed))
            slowest = max(took, default=0.0)
            allowed = f"at most {OBSERVER_S:g} s: it runs between two prompts"
            expect(slowest <= OBSERVER_S, f"an event took {slowest:.1f} s; allowed: {allowed}")

        run_checks(f"observer of '{plugin}'", {"contract": check})


def check_battery(battery_id: str, *, plugins: Plugins | None = None) -> None:
    """Check a battery: its file has no problem, and it can be given to ``echo``.

    Args:
        battery_id: its id or path.
        plugins: with the battery; None for those installed.

    Raises:
        NonConformance: the battery cannot be used.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        run_checks(f"battery '{battery_id}'", _battery_checks(loaded, battery_id, Path(name)))


def check_task(kind: str, *, plugins: Plugins | None = None) -> None:
    """Check a task type: a battery with a sample item can be given to ``echo``, and scored.

    Args:
        kind: what ``response`` says in a battery; one whose items need keys of its own has to be
            checked with a battery of yours (:func:`check_battery`).
        plugins: with the task type; None for those installed.

    Raises:
        NonConformance: the battery cannot be given, or a scorer fails.
        TabwbError: the task type fails, or refuses the item (BatteryProblems).
    """
    from tabwb.battery.loader import load_battery

    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        task = _extension(loaded, "tasks", kind)
        file = Path(name) / "battery.toml"
        lines = [
            f"{key} = {json.dumps(value)}" for key, value in SAMPLE.items() if key in task.needs
        ]
        about = (json.dumps(kind), json.dumps(task.instructions), json.dumps(task.scorers))
        file.write_text(BATTERY.format(*about, "\n".join(lines)), encoding="utf-8")
        load_battery(file)
        run_checks(f"task type '{kind}'", _battery_checks(loaded, str(file), Path(name)))


def _battery_checks(plugins: Plugins, battery: str, folder: Path) -> Checks:
    from tabwb.battery.loader import load_battery

    def check_file() -> None:
        load_battery(plugins.find_battery(battery))

    def check_given() -> None:
        if "model" not in load_battery(plugins.find_battery(battery)).examinees:
            return
        document = document_of(plugins, folder, battery)
        errors = [
            f"{trial['item']}, {rating['rater']}: {rating['reason']}"
            for part in document["documents"]
            for trial in part["trials"]
            for rating in trial["ratings"]
            if rating["status"] == "error"
        ]
        expect(not errors, "; ".join(errors[:3]))

    return {"contract, its file": check_file, "contract, given": check_given}


SAMPLE = {
    "prompt": "Which of them lives?", "options": ["dog", "bed"], "expected": "dog",
    "reference": "A dog lives.",
}  # fmt: skip
"""What an item of any kind may have."""
BATTERY = """\
[battery]
id = "sample"
title = "Sample"
version = "1"
language = "en"
license = "CC0-1.0"

[[subtest]]
id = "sample"
title = "Sample"
response = {}
instructions = {{ text = {}, source = "ours" }}
scorers = {}

[[subtest.item]]
id = "sample"
{}
"""


NEEDS_BATTERY = "it needs a battery: check_battery in tests of yours"
CHECK_S = 60.0
"""Seconds that the check of a part that is called for each response may take."""


def checks_of(name: str, plugins: Plugins) -> Iterator[dict[str, str]]:
    """Check what a plugin registers; yield kind, id, status and words of each part.

    Args:
        name: of the plugin.
        plugins: with the plugin.
    """
    for problem in plugins.problems:
        if name in problem.plugin.split(", "):
            yield {"kind": "hook", "id": problem.what, "status": "failed", "words": problem.error}
    for kind in KINDS:
        for component in plugins.components(kind):
            if component.owner == name:
                yield _checked(kind[:-1], component.descriptor.id, *_component(component, plugins))
    for source in plugins.batteries():
        if source.owner == name:
            yield _checked("battery", source.id, partial(check_battery, source.id, plugins=plugins))
    of_extensions: dict[str, Callable[..., None]] = {
        "statistics": check_statistic,
        "pages": check_page,
        "commands": check_command,
        "operations": check_command,
    }
    for extension, check in of_extensions.items():
        for known in plugins.extensions(extension):  # type: ignore[arg-type]
            if known.owner == name:
                one = known.extension.id
                noun = EXTENSIONS[extension][0]  # type: ignore[index]
                yield _checked(noun, one, partial(check, one, plugins=plugins))
    for known in plugins.extensions("tasks"):
        if known.owner == name:
            yield _checked("task type", known.extension.id, *_task(known.extension, plugins))
    for known in plugins.extensions("subjects"):
        if known.owner == name:  # its columns were looked at when it was registered
            yield _checked("kind of subject", known.extension.id, lambda: None)
    if hooks := plugins.observing(name):
        watched = partial(check_observer, name, plugins=plugins)
        yield _checked("observer", ", ".join(hooks), watched)


def _component(component: Component, plugins: Plugins) -> tuple[Callable[[], None] | None, str]:
    """Return the check of a component, or None and why it cannot be checked by itself."""
    descriptor, kind = component.descriptor, component.kind
    spec = f"{descriptor.id}:echo" if descriptor.wraps == "models" else descriptor.id
    checks: dict[str, Callable[..., None]] = {
        "models": check_model,
        "judges": check_judge,
        "scorers": check_scorer,
        "exporters": check_exporter,
        "transcribers": check_transcriber,
    }
    check = checks.get(kind)
    if check is None:
        return None, f"it needs a file: check_{kind[:-1]} in tests of yours"
    if descriptor.name_required and descriptor.wraps != "models":
        return None, f"it needs a name: check_{kind[:-1]} in tests of yours"
    if descriptor.reaches_out(Spec(descriptor.id)):
        return None, f"it needs a network: check_{kind[:-1]} in tests of yours"
    try:
        check_needs(descriptor)
    except TabwbError as error:
        return None, error.hint or error.message
    checked = partial(check, spec, plugins=plugins)
    if kind not in {"judges", "scorers", "exporters"}:
        return checked, ""
    return partial(limited, f"{kind[:-1]} '{spec}'", CHECK_S, checked), ""


def _task(task: Any, plugins: Plugins) -> tuple[Callable[[], None] | None, str]:
    """Return the check of a task type, or None and why it cannot be checked by itself."""
    if task.typed and set(task.needs) <= {*SAMPLE}:
        return partial(check_task, task.kind, plugins=plugins), ""
    return None, NEEDS_BATTERY


def _checked(
    noun: str, name: str, check: Callable[[], None] | None, why: str = ""
) -> dict[str, str]:
    if check is None:
        return {"kind": noun, "id": name, "status": "skipped", "words": why}
    try:
        with interrupts_say(f"{noun} '{name}' was being checked"):
            check()
    except BatteryProblems:  # a task type whose items need more than the sample has
        return {"kind": noun, "id": name, "status": "skipped", "words": NEEDS_BATTERY}
    except LimitReached as error:
        return {"kind": noun, "id": name, "status": "failed", "words": error.message}
    except (NonConformance, TabwbError) as error:
        return {"kind": noun, "id": name, "status": "failed", "words": str(error)}
    return {"kind": noun, "id": name, "status": "ok", "words": ""}


def _extension(plugins: Plugins, kind: Any, name: str) -> Any:
    known = {one.extension.id: one.extension for one in plugins.extensions(kind)}
    expect(name in known, f"there is no {EXTENSIONS[kind][0]} {name!r}: {', '.join(known)}")
    return known[name]


def _ignored(value: object) -> None:
    return None

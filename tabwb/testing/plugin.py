"""Checks of what plugins add besides components, and of whole plugins."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.host.guarded import interrupts_say
from tabwb.host.index import EXTENSIONS, KINDS, Component, check_needs
from tabwb.host.plugins import Plugins
from tabwb.records.errors import TabwbError
from tabwb.records.specs import Spec
from tabwb.store.store import Store
from tabwb.testing.checks import NonConformance, document_of, expect, plugins_of, run_checks
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
    from tabwb.battery.loader import load_battery

    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:

        def check_file() -> None:
            load_battery(loaded.find_battery(battery_id))

        def check_given() -> None:
            battery = load_battery(loaded.find_battery(battery_id))
            if "model" not in battery.examinees:
                return
            document = document_of(loaded, Path(name), battery_id)
            errors = [
                f"{trial['item']}, {rating['rater']}: {rating['reason']}"
                for part in document["documents"]
                for trial in part["trials"]
                for rating in trial["ratings"]
                if rating["status"] == "error"
            ]
            expect(not errors, "; ".join(errors[:3]))

        run_checks(
            f"battery '{battery_id}'",
            {"contract, its file": check_file, "contract, given": check_given},
        )


_REGISTERED = {
    "tasks": "its declaration is right; it needs a battery: check_battery in tests of yours",
    "subjects": "its columns are right; nothing else of it can be checked",
}
"""What is checked when it is registered: why nothing else is."""


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
    for extension, why in _REGISTERED.items():
        for known in plugins.extensions(extension):  # type: ignore[arg-type]
            if known.owner == name:
                noun = EXTENSIONS[extension][0]  # type: ignore[index]
                yield _checked(noun, known.extension.id, None, why)
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
    return partial(check, spec, plugins=plugins), ""


def _checked(
    noun: str, name: str, check: Callable[[], None] | None, why: str = ""
) -> dict[str, str]:
    if check is None:
        return {"kind": noun, "id": name, "status": "skipped", "words": why}
    try:
        with interrupts_say(f"{noun} '{name}' was being checked"):
            check()
    except (NonConformance, TabwbError) as error:
        return {"kind": noun, "id": name, "status": "failed", "words": str(error)}
    return {"kind": noun, "id": name, "status": "ok", "words": ""}


def _extension(plugins: Plugins, kind: Any, name: str) -> Any:
    known = {one.extension.id: one.extension for one in plugins.extensions(kind)}
    expect(name in known, f"there is no {EXTENSIONS[kind][0]} {name!r}: {', '.join(known)}")
    return known[name]


def _ignored(value: object) -> None:
    return None

"""``tabwb plugins`` and ``trust``, and the commands that plugins bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import command
from tabwb.cli.common import configuration, heading, json_option, note, opened_plugins, print_json
from tabwb.host.guarded import error_words, interrupts_say, plugin_code
from tabwb.host.index import Component, check_needs
from tabwb.host.loading import PluginInfo, folder_entries, installed_entries
from tabwb.host.scaffold import ONE_FILE, write_plugin
from tabwb.host.settings import folder_file
from tabwb.operations.operation import plugin_operation
from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.specs import Spec
from tabwb.records.words import near
from tabwb.store.location import without_password

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins


@click.group()
def plugins() -> None:
    """List, write and trust plugins."""


@plugins.command("list")
@click.option("--times", is_flag=True, help="How long each plugin took to be imported.")
@json_option
def list_plugins(times: bool, as_json: bool) -> None:
    """List plugins, their components, and errors."""
    with opened_plugins() as loaded:
        document = _document(loaded)
        seconds = loaded.seconds
    if as_json:
        if times:
            for plugin in document["plugins"]:
                plugin["import_s"] = round(seconds[plugin["name"]], 4)
        print_json(document)
        return
    for plugin in document["plugins"]:
        heading(plugin["name"], newline=False)
        took = f"  {seconds[plugin['name']]:.3f} s" if times else ""
        click.echo(f"  {PluginInfo(**plugin).source}{took}")
    for kind, components in document["components"].items():
        if components:
            heading(f"\n{kind}")
        width = max((len(component["id"]) for component in components), default=0)
        for component in components:
            status = "" if component["status"] == "ok" else f"  [{component['status']}]"
            words = [component["title"], component.get("meaning", ""), component.get("path", "")]
            title = ": ".join(filter(None, words))
            click.echo(f"  {component['id']:<{width}}  {title} ({component['owner']}){status}")
    for problem in document["problems"]:
        lines = problem["error"].splitlines() or [""]
        note(f"\n! {problem['plugin']}: {problem['what']}: {lines[0]}")
        for line in lines[1:]:
            note(f"    {line}")


@plugins.command("new")
@click.argument("name")
@click.option(
    "--kind", type=click.Choice(tuple(ONE_FILE)), help="One file with a plugin of this kind."
)
@click.option(
    "--in",
    "parent",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The folder to write into (default: the current one).",
)
def new_plugin(name: str, kind: str | None, parent: Path) -> None:
    """Write a working plugin NAME: a battery, a scorer, a transcriber and tests that pass."""
    from tabwb.cli.main import COMMANDS

    with opened_plugins() as loaded:
        made = {f"{kind}s"} if kind else {"batteries", "scorers", "transcribers"}
        taken = {one: loaded.reserved(one) for one in made if one != "observers"}
    for one in {"commands", "operations"} & made:
        taken[one] |= set(COMMANDS)
    for one, words in taken.items():
        if name.replace("_", "-") in words:
            raise UsageError(
                f"'{name}' is an id of tabwb's own {one}", hint="choose another name for the plugin"
            )
    written = write_plugin(name, parent, kind or "")
    for path in written:
        click.echo(path)
    if kind:
        check = f"tabwb plugins check {written[0].stem.replace('_', '-')}"
        note(f"try it:  tabwb plugins trust {written[0]}  and then  {check}")
        return
    root = written[0].parent
    note(f"try it:  tabwb plugins trust {root}  and then  tabwb run {root.name} --model echo")


@plugins.command("check")
@click.argument("name")
@json_option
@click.pass_context
def check_plugin(context: click.Context, name: str, as_json: bool) -> None:
    """Check that the parts of plugin NAME keep their contracts.

    They are run as their tests would run them: scorers and judges rate texts, formats write an
    administration of the model echo to TAB, statistics and pages are computed of it. What needs a
    network, a name or a file of yours is not checked.
    """
    from tabwb.testing.plugin import checks_of

    with opened_plugins() as loaded:
        if name not in [plugin.name for plugin in loaded.plugins]:
            for problem in loaded.problems:
                if name in {problem.plugin, Path(problem.plugin).stem.replace("_", "-")}:
                    raise TabwbError(f"plugin '{name}' is not loaded: {problem.error}")
            raise UsageError(
                f"there is no plugin '{name}'",
                allowed=", ".join(plugin.name for plugin in loaded.plugins),
                hint="tabwb plugins list shows those that are not loaded, and why",
            )
        found = []
        for check in checks_of(name, loaded):
            found.append(check)
            if not as_json:
                text = f": {check['words']}" if check["words"] else ""
                click.echo(f"{check['status']:<8}  {check['kind']} {check['id']}{text}")
    if as_json:
        print_json({"format": 1, "plugin": name, "checks": found})
    elif not found:
        note(f"'{name}' registers nothing")
    context.exit(int(any(check["status"] == "failed" for check in found)))


@plugins.command("trust")
@click.argument("path", type=click.Path(path_type=Path))
def trust_folder(path: Path) -> None:
    """Trust the plugin in folder or file PATH, in its present state.

    Its code will run whenever tabwb starts: look at it first. A folder or file that changes
    afterwards is no longer used until it is trusted again.
    """
    trusted = configuration().trust_list
    entries = [entry for entry, _ in folder_entries(path.resolve())]
    names = ", ".join(entry.name for entry in entries)
    before = trusted.read()["folders"].get(path.resolve())
    digest = trusted.add_folder(path)
    if before == digest:
        change = "was trusted already"
    elif before is None:
        change = "is trusted as it is now"
    else:
        change = f"has changed (it was {before[:12]}) and is trusted as it is now"
    click.echo(f"{path.resolve()} ({names}) {change}: SHA-256 {digest[:12]}")
    for other in _others(path.resolve()):
        if other.name in [entry.name for entry in entries]:
            note(f"warning: '{other.source}' has a plugin '{other.name}' too; only one is used")


@plugins.command("untrust")
@click.argument("path", type=click.Path(path_type=Path))
def untrust_folder(path: Path) -> None:
    """Trust the plugin in folder or file PATH no longer; it need not exist any more."""
    configuration().trust_list.remove_folder(path)
    click.echo(f"{path.resolve()} is no longer trusted")


def _others(folder: Path) -> Iterator[PluginInfo]:
    """Yield the plugins that are installed or in other trusted folders."""
    for installed, _ in installed_entries():
        yield installed
    for other in configuration().trust_list.read()["folders"]:
        if other != folder:
            with suppress(TabwbError):  # 'plugins list' shows it
                for entry, _ in folder_entries(other):
                    yield entry


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@json_option
def trust(folder: Path, as_json: bool) -> None:
    """Trust the tabwb.toml in FOLDER (default: the current one), in its present state.

    It may then choose the store, plugins, servers, keys and what the study requires, whenever tabwb
    starts in that folder. Read it first. The plugin folders that it names are trusted too: their
    code will run. What changes afterwards is ignored until it is trusted again.
    """
    trusted = configuration().trust_list
    file = folder_file(folder.resolve())
    if file is None:
        raise UsageError(
            "there is no tabwb.toml in this folder",
            where=str(folder.resolve()),
            hint="to trust a plugin folder: tabwb plugins trust PATH",
        )
    for place in file.plugin_folders:
        folder_entries(place)
    plugins = {str(place): trusted.add_folder(place) for place in file.plugin_folders}
    trusted.add_file(file.path, file.digest)
    store = None if file.store is None else without_password(file.store)
    if as_json:
        document = {
            "file": str(file.path),
            "sha256": file.digest,
            "settings": list(file.settings),
            "store": store,
            "plugin_folders": plugins,
        }
        print_json({"format": 1, "trusted": document})
        return
    click.echo(f"{file.path} is trusted as it is now: SHA-256 {file.digest[:12]}")
    click.echo(f"it sets: {', '.join(file.settings) or 'nothing'}")
    if store is not None:
        click.echo(f"store: {store}")
    for path, digest in plugins.items():
        click.echo(f"plugin folder {path} is trusted as it is now: SHA-256 {digest[:12]}")


def _document(loaded: Plugins) -> dict[str, Any]:
    from tabwb.host.index import EXTENSIONS, KINDS

    components = {
        kind: [_component(component, loaded) for component in loaded.components(kind)]
        for kind in KINDS
    }
    batteries = [
        {"id": file.id, "title": "", "owner": file.owner, "path": str(file.path), "status": "ok"}
        for file in loaded.batteries()
    ]
    extensions = {
        kind: [
            {"id": made.id, "title": getattr(made, "title", "") or getattr(made, "asks_for", ""),
             "owner": known.owner,
             "meaning": getattr(made, "meaning", "") or getattr(made, "help", ""),
             "status": _refused(kind, made.id) or "ok"}
            for known in loaded.extensions(kind)
            for made in [known.extension]
        ]
        for kind in EXTENSIONS
    }  # fmt: skip
    return {
        "format": 1,
        "plugins": [asdict(plugin) for plugin in loaded.plugins],
        "components": {**components, "batteries": batteries, **extensions},
        "problems": [asdict(problem) for problem in loaded.problems],
    }


def _refused(kind: str, name: str) -> str:
    from tabwb.cli.main import COMMANDS

    own = kind in ("commands", "operations") and name.partition(" ")[0] in COMMANDS
    return "not used: tabwb has a command of this name" if own else ""


def _component(component: Component, loaded: Plugins) -> dict[str, Any]:
    descriptor = component.descriptor
    status = "ok"
    try:
        check_needs(descriptor)
    except TabwbError as error:
        status = error.hint or error.message
    needs_network = descriptor.reaches_out(Spec(descriptor.id))
    if status == "ok" and needs_network and loaded.configuration.offline:
        depends = callable(descriptor.needs_network)
        status = "offline only on this machine" if depends else "not while offline"
    return {
        "id": descriptor.id,
        "title": descriptor.title,
        "owner": component.owner,
        "aliases": list(descriptor.aliases),
        "name": descriptor.name_help,
        "needs": list(descriptor.needs),
        "needs_network": needs_network,
        "runs": descriptor.runs,
        "remarks": descriptor.remarks,
        "status": status,
    }


def plugin_command(name: str) -> click.Command | None:
    """Return the command of a plugin, or None where no plugin has one of this name."""
    from tabwb.cli.main import COMMANDS

    with opened_plugins() as plugins:
        for known in plugins.extensions("commands"):
            if known.extension.id == name:
                return _loaded(name, known.owner, known.extension.load)
        ids = [known.extension.id for known in plugins.extensions("operations")]
        if name in ids:
            return _operation_command(plugins, name)
        if inside := [one for one in ids if one.startswith(f"{name} ")]:
            return _OperationGroup(plugins, name, inside)
        failed = tuple(dict.fromkeys((*plugins.unused("commands"), *plugins.unused("operations"))))
    if not failed or near(name, COMMANDS):
        return None
    raise UsageError(
        f"No such command '{name}'",
        hint="\n".join((*failed, "'tabwb plugins list' shows every command of plugins")),
    )


class _OperationGroup(click.Group):
    """Operations of plugins whose ids begin with one word; each is loaded when it is used."""

    def __init__(self, plugins: Plugins, name: str, ids: Sequence[str]) -> None:
        sources = {one.extension.id: one.extension for one in plugins.extensions("operations")}
        super().__init__(name, help=sources[ids[0]].group or f"Commands of a plugin: {name}.")
        self._plugins = plugins
        self._sources = {one.rpartition(" ")[2]: sources[one] for one in ids}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name them."""
        return list(self._sources)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one."""
        source = self._sources.get(cmd_name)
        return None if source is None else _operation_command(self._plugins, source.id)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(word, source.help) for word, source in self._sources.items()])


def _operation_command(plugins: Plugins, name: str) -> click.Command | None:
    kind = plugin_operation(plugins, name)
    if kind is None:
        return None
    made = command(kind)
    _guard(made, f"operation '{name}' of a plugin", set())
    return made


def _loaded(name: str, owner: str, load: object) -> click.Command:
    where = f"command '{name}' of the plugin '{owner}'"
    try:
        with plugin_code:
            loaded = load()  # type: ignore[operator]
    except Exception as error:
        raise ComponentError(f"{where} cannot be loaded: {error_words(error)}") from error
    if not isinstance(loaded, click.Command):
        raise ComponentError(f"{where} is not a click command but {type(loaded).__name__}")
    _guard(loaded, where, set())
    return loaded


def _guard(command: click.Command, where: str, seen: set[int]) -> None:
    """Let what a command, or one inside it, raises name the plugin."""
    if id(command) in seen:
        return
    seen.add(id(command))
    if command.callback is not None:
        command.callback = _guarded(command.callback, where)
    for inner in getattr(command, "commands", {}).values():
        _guard(inner, where, seen)


def _guarded(callback: Any, where: str) -> Any:
    @wraps(callback)
    def called(*arguments: Any, **options: Any) -> Any:
        with _named(where):
            return callback(*arguments, **options)

    return called


@contextmanager
def _named(where: str) -> Iterator[None]:
    try:
        with interrupts_say(f"{where} was running"):
            yield
    except (TabwbError, click.ClickException, click.exceptions.Exit, click.Abort, OSError):
        raise
    except Exception as error:
        raise ComponentError(
            f"{where} failed: {error_words(error)}",
            hint="report it to the plugin's author; TABWB_DEBUG=1 shows its location",
        ) from error

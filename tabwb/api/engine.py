"""Plugins, store and configuration for one call of the Python interface; operations from Python."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from tabwb.analysis.keys import Sort
from tabwb.api.functions import Answering, plugin_of
from tabwb.operations.operation import Operation, Tools, followed, made, values_of
from tabwb.records.errors import TabwbWarning, UsageError

if TYPE_CHECKING:
    from tabwb.analysis.keys import Filter
    from tabwb.api.study import Study
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.host.settings import Configuration
    from tabwb.operations.operation import Told
    from tabwb.records.events import Event
    from tabwb.store.store import Store

Place = str | PathLike[str] | None
"""A store: path of an SQLite file, URL of a PostgreSQL database, or None for the configured one."""


_HERE = str(Path(__file__).parents[1]) + os.sep


def warn(*messages: str) -> None:
    """Issue each message that is not empty as a :class:`TabwbWarning` of the user's code."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and (
        frame.f_code.co_filename.startswith(_HERE)
        or frame.f_globals.get("__name__") == "contextlib"
    ):
        level, frame = level + 1, frame.f_back
    for message in filter(None, messages):
        warnings.warn(message, TabwbWarning, stacklevel=level)


def configuration(*, offline: bool | None = None) -> Configuration:
    """Return the user's settings, as the command line reads them."""
    from tabwb.host.offline import go_offline
    from tabwb.host.settings import Configuration
    from tabwb.records.files import FOLDER, sweep

    loaded = Configuration.load()
    if offline is not None:
        loaded = replace(loaded, offline=offline)
    if loaded.offline:
        go_offline()  # for the whole process, and not to be taken back
    sweep(loaded.data_dir / FOLDER)
    named = [key for key in loaded.ignored if key != "store"]  # the store has its own error
    if named:
        warn(
            f"ignored, because this folder is not trusted: {', '.join(named)} "
            f"({loaded.untrusted}/tabwb.toml; read it, then run: tabwb trust {loaded.untrusted})"
        )
    return loaded


@contextmanager
def opened_plugins(
    *, offline: bool | None = None, function: Answering | None = None, workers: int = 1
) -> Iterator[Plugins]:
    """Yield the plugins with the user's settings."""
    from tabwb.host.plugins import Plugins

    settings = configuration(offline=offline)
    with closing(Plugins.load(settings, modules=plugin_of(function, workers))) as plugins:
        yield plugins


def place_of(place: Place, settings: Configuration) -> str | Path | None:
    """Return the place of a store as :class:`tabwb.store.store.Store` opens it."""
    if place is not None and not isinstance(place, str | PathLike):
        raise UsageError(
            f"{place!r:.60} is not a store",
            where="store",
            allowed="a path, the URL of a PostgreSQL database, or None for the configured store",
        )
    return settings.store_at(None if place is None else str(place))


def open_store(place: Place, settings: Configuration, *, create: bool = False) -> Store:
    """Return the store of a place."""
    from tabwb.store.store import Store

    return Store.open(place_of(place, settings), create=create)


Progress = bool | Callable[["Event"], object]
"""True: a line on stderr. A function: it gets each event of the engine, after the commit."""
Ids = int | str | Iterable[int | str] | None
"""Numbers or uids of administrations; None: all of the store."""
Names = str | Iterable[str]
"""One name, several with commas between, or a sequence of names."""
Where = str | Iterable["str | Filter"] | Mapping[str, object]
"""Filters: ``"temperature>0"``, several such texts, or keys with a value or several each."""
Changes = Literal["change", "sessions", "items"]
"""What a row of :meth:`tabwb.Study.change` is."""


class Choosing(TypedDict, total=False):
    """Which responses; see :meth:`tabwb.Study.responses`."""

    where: Where
    subtests: Names
    items: Names


class Rated(Choosing, total=False):
    """Which ratings; see :meth:`tabwb.Study.ratings`."""

    judge: str | None


class Limited(Rated, total=False):
    """What is chosen for groups, and how many; see :meth:`tabwb.Study.results`."""

    limit: int | None
    together: Names
    sort: Sort | None
    primary: str


class Chosen(Limited, total=False):
    """What is chosen for groups; see :meth:`tabwb.Study.results`."""

    features: Names


class Drawn(Limited, total=False):
    """What is chosen for a figure, and the options of figures (``tabwb figure --list``)."""

    against: str
    amount: str
    baselines: str
    feature: str
    features: str
    interval: str
    judges: str
    measure: str
    notation: str
    order: str
    policy: str
    scale: str
    sets: str
    show: str
    transcriber: str
    x: str


class Grouping(Chosen, total=False):
    """What is chosen, and how it is grouped; see :meth:`tabwb.Study.groups`."""

    by: Names


class Planning(TypedDict, total=False):
    """What a rating set is to be; see :meth:`tabwb.Study.plan_ratings`.

    What is left out has the default of the command.
    """

    where: Where
    subtests: Names
    items: Names
    statuses: Names
    repeated: bool
    stratify: Names
    samples: int | None
    per_stratum: int | None
    overlap: int | None
    raters_per_sample: int | None
    per_rater: int | None
    again: float
    distance: int
    calibration: str | PathLike[str] | None
    calibration_set: str
    guidelines: str | PathLike[str] | None
    context: int
    case: Literal["as-said", "lower"]
    punctuation: Literal["kept", "none"]
    max_words: int | None
    cut_mark: bool
    ask_source: bool
    counts: str
    seed: int
    hybrid: str  # a judge; then only what a person rates first is planned
    frequent: float
    margin: float
    audit: float


@contextmanager
def python_names() -> Iterator[None]:
    """Let an error name the parameter of Python (``where``), not the option (``--where``)."""
    try:
        yield
    except UsageError as error:
        if error.where is not None and error.where.startswith("--"):
            error.where = error.where.removeprefix("--").replace("-", "_")
        raise


def check_options(options: Mapping[str, object]) -> None:
    """Check the types of what is chosen."""
    for name in ("by", "together", "subtests", "items", "features"):
        value = options.get(name, ())
        texts = value if isinstance(value, Iterable) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(
                f"{value!r:.60} cannot be used", where=name, allowed="one name or several"
            )
    limit = options.get("limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise UsageError(
            f"{limit!r:.60} cannot be used", where="limit", allowed="1 or more, or None"
        )


def references_of(ids: Ids) -> list[int | str]:
    """Return numbers and uids as a list; empty for all.

    >>> references_of(3), references_of(None), references_of([1, 2])
    ([3], [], [1, 2])
    """
    if ids is None:
        return []
    chosen = [ids] if isinstance(ids, int | str) else list(ids)
    if not chosen:
        raise UsageError("no administration is named", allowed="numbers or uids; None for all")
    return chosen


def named_references(ids: Ids) -> list[int | str]:
    """Return numbers and uids as a list; all of a store are never meant."""
    if ids is None:
        raise UsageError("no administration is named", allowed="one number or uid, or several")
    return references_of(ids)


def load_battery(name: str | PathLike[str]) -> Battery:
    """Return a battery: its subtests, items and features as frozen records.

    Args:
        name: an id (``"tab"``) or the path of a battery file.

    Raises:
        UsageError: there is none of this id.
        BatteryProblems: the file has problems; the message lists all of them.

    >>> [subtest.id for subtest in load_battery("tab").subtests][:2]
    ['connected-text', 'word-comprehension']
    """
    from tabwb.administer.session.setup import find_battery

    with opened_plugins() as plugins:
        return find_battery(plugins, named(name))


def named(name: str | PathLike[str]) -> str:
    """Return a battery's id or path as the engine reads it: a path object is never an id.

    >>> from pathlib import Path
    >>> named("tab"), named(Path("tab"))
    ('tab', './tab')
    """
    text = os.fspath(name)
    return text if isinstance(name, str) or "/" in text else f"./{text}"


def shown_by(progress: Progress, what: str) -> Callable[[Told | None], None]:
    """Return a function that shows what an operation tells; None: it has ended."""
    line = ""

    def show(told: Told | None) -> None:
        nonlocal line
        if told is None:
            if line:
                print(file=sys.stderr)
        elif callable(progress):
            if told.event is not None:
                progress(told.event)
        elif progress and told.planned:
            before, line = line, f"{told.what or what} {told.done} of {told.planned}"
            if line != before:
                print(f"\r{line}", end="", file=sys.stderr)

    return show


F = TypeVar("F", bound=Callable[..., Any])
DOCUMENT = """
    Returns:
        The document that the command of this name prints with ``--json``.

    Raises:
        UsageError: a value cannot be used, or the store is not open for writing.
    """


def tools_of(plugins: Plugins, place: Place = None, lent: Store | None = None) -> Tools:
    """Return what an operation of Python works with: warnings are Python's, lines are not said."""
    return Tools(
        plugins, lambda: place_of(place, plugins.configuration), lent=lent, same="the same call",
        say=lambda line: None, warn=warn,
    )  # fmt: skip


def worked(operation: Operation, tools: Tools, progress: Progress = False) -> dict[str, Any]:
    """Do an operation and return its document."""
    show = shown_by(progress, operation.TOLD)
    with closing(tools):
        try:
            followed(operation.run(tools), show)
        except BaseException:
            tools.cancel.set()  # threads of the work end at their next item
            raise
        finally:
            show(None)
    if tools.tables:
        return {**tools.document, "tables": [table for table, _ in tools.tables]}
    return tools.document


def does(kind: type[Operation], more: str = "") -> Callable[[F], F]:
    """Add to the docstring of a method of :class:`tabwb.Study` what an operation declares.

    Args:
        kind: the operation.
        more: lines of the docstring's end, such as *Returns*.
    """

    def decorate(function: F) -> F:
        helps = {value.name: _lowered(value.arg.help) for value in values_of(kind)}
        if kind.ESTIMATE:
            helps["dry_run"] = _lowered(kind.ESTIMATE)
        helps["progress"] = "True for a line on stderr, or a function that gets each event."
        order = [name for name in inspect.signature(function).parameters if name != "self"]
        lines = [inspect.getdoc(function) or "", *(["", "Args:"] if order else [])]
        lines += [f"    {name}: {helps[name]}" for name in order]
        lines += ["", *inspect.cleandoc(more or DOCUMENT).splitlines()]
        function.__doc__ = "\n".join(lines)
        return function

    return decorate


def _lowered(text: str) -> str:
    return text[0].lower() + text[1:]


def done(study: Study, kind: type[Operation], given: Mapping[str, Any]) -> dict[str, Any]:
    """Do an operation on the store of a study with the arguments of a method."""
    operation = made(kind, {name: one for name, one in given.items() if name != "self"})
    dry = given.get("dry_run", False)
    if operation.writes and not dry:
        study.writable(f"'{kind.NAME}' changes it")
    with python_names():
        plugins = study._plugins()
        operation.check(plugins)
        tools = tools_of(plugins, lent=study.store)
        tools.writing = study.writable
        if dry:
            for _ in operation.estimate(tools):
                pass
            return tools.document
        return worked(operation, tools, given.get("progress", False))


def done_without_store(kind: type[Operation], given: Mapping[str, Any]) -> dict[str, Any]:
    """Do an operation that needs no store with the arguments of a function."""
    operation = made(kind, given)
    with python_names(), opened_plugins() as plugins:
        operation.check(plugins)
        return worked(operation, tools_of(plugins))

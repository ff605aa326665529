"""Shared by all commands; imports only click and records, so that ``--help`` stays instant."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tabwb.cli.process import is_utf8
from tabwb.records.errors import Interrupted, TabwbError
from tabwb.records.words import json_escaped, unfiltered, visible

if TYPE_CHECKING:
    from pathlib import Path

    from tabwb.host.plugins import Plugins
    from tabwb.host.settings import Configuration
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.store.store import Store

_told: set[Path | None] = set()
Command = TypeVar("Command", bound=Callable[..., Any])


class Finite(click.FloatRange):
    """A number in a range; unlike click's own it refuses NaN, which is in no range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


store_option = click.option(
    "--store",
    "store_location",
    metavar="PATH|URL",
    help="Where results are kept (default: your data folder).",
)
primary_option = click.option(
    "--primary",
    "--counts",
    "primary",
    metavar="RATER|RULE",
    default="",
    help="If several people rated a response, the ratings of RATER count, or those of a rule: "
    "majority, consensus, adjudicated (default: [study] in tabwb.toml, else the first rater).",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
)
offline_option = click.option(
    "--offline",
    is_flag=True,
    default=None,
    help="Use no network except this machine's own addresses.",
)
_verbosity = [0]


def verbosity_options(command: Command) -> Command:
    """``-q`` and ``-v``: how much is written to stderr."""

    def flag(short: str, name: str, level: int, text: str) -> Callable[[Command], Command]:
        def keep(context: click.Context, parameter: click.Parameter, given: bool) -> None:
            if given:
                _verbosity[0] = level

        return click.option(short, name, is_flag=True, expose_value=False, callback=keep, help=text)

    quiet = flag("-q", "--quiet", -1, "Print only warnings and errors on stderr.")
    verbose = flag(
        "-v",
        "--verbose",
        1,
        "Print a line on stderr for each item, even if stderr is not a terminal.",
    )
    return quiet(verbose(command))


def reset_verbosity() -> None:
    """Begin a command: neither quiet nor verbose."""
    _verbosity[0] = 0


def is_quiet() -> bool:
    """Return whether ``-q`` was given."""
    return _verbosity[0] < 0


def is_verbose() -> bool:
    """Return whether ``-v`` was given."""
    return _verbosity[0] > 0


def inform(message: str) -> None:
    """Print one line on stderr that ``-q`` leaves out."""
    if not is_quiet():
        note(message)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one document; a number that is not finite, which JSON does not have, becomes null.

    Where stdout cannot hold every character, JSON's own escapes stand for those beyond ASCII.
    """
    escaped = not is_utf8(sys.stdout)
    try:
        text = json.dumps(document, ensure_ascii=escaped, allow_nan=False, indent=2)
    except ValueError:
        # A sum of scores near the largest float is infinite: what follows from it is undefined.
        text = json.dumps(_finite(document), ensure_ascii=escaped, indent=2)
    click.echo(json_escaped(text))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def note(message: str, *, newline: bool = True) -> None:
    """Print one line on stderr; a closed pipe or a full disk must not end an administration."""
    with suppress(OSError):
        click.echo(message, nl=newline, err=True)


def statistics_of(plugins: Plugins) -> tuple[Statistic, ...]:
    """Return the statistics of plugins; those that are not used are named on stderr."""
    for line in plugins.unused("statistics"):
        note(line)
    return plugins.statistics()


def renew_line(text: str = "") -> None:
    """Replace the current line of stderr by this text; the next call replaces it again."""
    with suppress(OSError):
        stream = unfiltered(sys.stderr)
        stream.write(f"\r\x1b[K{visible(text)}")
        stream.flush()


def heading(text: str, *, err: bool = False, newline: bool = True, **style: Any) -> None:
    """Print text, on a terminal in a style, or in bold where none is given."""
    stream = unfiltered(sys.stderr if err else sys.stdout)
    click.echo(click.style(visible(text), **(style or {"bold": True})), file=stream, nl=newline)


def configuration(offline: bool | None = None) -> Configuration:
    """Remove old work folders; return the configuration, offline if it or the flag says so."""
    from dataclasses import replace

    from tabwb.host.settings import Configuration
    from tabwb.records.files import FOLDER, sweep

    loaded = Configuration.load()
    if offline:
        loaded = replace(loaded, offline=True)
    if loaded.offline:
        from tabwb.host.offline import go_offline

        go_offline()
    sweep(loaded.data_dir / FOLDER)
    named = [key for key in loaded.ignored if key != "store"]  # the store has its own error
    if named and loaded.untrusted not in _told:
        _told.add(loaded.untrusted)
        note(
            f"ignored, because this folder is not trusted: {', '.join(named)} "
            f"({loaded.untrusted}/tabwb.toml; read it, then run: tabwb trust {loaded.untrusted})"
        )
    return loaded


@contextmanager
def opened_plugins(offline: bool | None = None, *, dry: bool = False) -> Iterator[Plugins]:
    """Yield the plugins, with the user's configuration."""
    from tabwb.host.plugins import Plugins

    with closing(Plugins.load(configuration(offline), dry=dry)) as plugins:
        yield plugins


def open_store(location: str | None, plugins: Plugins, *, create: bool = True) -> Store:
    """Return the store that flag, environment or configuration names."""
    from tabwb.store.store import Store

    return Store.open(plugins.configuration.store_at(location), create=create)


@contextmanager
def opened_store(
    location: str | None, offline: bool | None = None, *, dry: bool = False
) -> Iterator[tuple[Plugins, Store]]:
    """Yield the plugins and the store, which must exist."""
    with (
        opened_plugins(offline, dry=dry) as plugins,
        open_store(location, plugins, create=False) as store,
    ):
        yield plugins, store


def missing_store(location: str | None, plugins: Plugins) -> Path | None:
    """Return where the store would be made; None where there is one, or a server."""
    from pathlib import Path

    from tabwb.store.location import resolve

    place = resolve(plugins.configuration.store_at(location))
    return place if isinstance(place, Path) and not place.exists() else None


def fail(error: TabwbError) -> int:
    """Print an error on stderr, headed "error" unless it only stopped early; return its status."""
    lines = shortened(str(error)).splitlines()
    if not isinstance(error, Interrupted):
        with suppress(OSError):
            heading("error: ", err=True, newline=False, bold=True, fg="red")
    note(lines[0])
    for line in lines[1:]:
        note(f"  {line}")
    return error.exit_status


_LONG = re.compile(r"'[^'\n]{400,}'|[^\s']{400,}")


def shortened(text: str) -> str:
    """Return a message whose long values are cut.

    >>> len(shortened(f"'{'a' * 1000}' is not a number"))
    87
    """
    return _LONG.sub(lambda found: f"{found[0][:60]}…{found[0][-10:]}", text)


def on_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr.isatty()

"""Rating forms by their id: those that come with tabwb, and the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tabwb.battery.form_files import FindBattery, load_form
from tabwb.battery.forms import Form
from tabwb.host.settings import own_files
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import is_kebab
from tabwb.records.words import near

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins


def form_files() -> tuple[dict[str, Path], list[str]]:
    """Return the files of forms by id, and the problems of other files' names."""
    return own_files("forms", "form", _name_problem)


def find_form(argument: str) -> Path:
    """Return the file of a form; an argument with ``/`` or ending in ``.toml`` is a path.

    Raises:
        UsageError: there is no form with this id; the message lists those that are.
    """
    if "/" in argument or argument.endswith(".toml") or argument == "-":
        return Path(argument)
    files, _ = form_files()
    if argument not in files:
        meant = near(argument, files)
        raise UsageError(
            f"there is no form '{argument}'",
            allowed=f"{', '.join(files)}, or the path of a .toml file",
            hint=f"did you mean '{meant}'?" if meant else None,
        )
    return files[argument]


def open_form(argument: str, find_battery: FindBattery) -> Form:
    """Return a form by its id or path.

    Raises:
        UsageError: there is no such form.
        FormProblems: the file cannot be used.
    """
    return load_form(find_form(argument), find_battery)


def check_raters(raters: Iterable[str], plugins: Plugins) -> None:
    """Check that no code of a person is the id of a judge or a scorer.

    Raises:
        UsageError: one is.
    """
    kinds: tuple[Literal["judges", "scorers"], ...] = ("judges", "scorers")
    for kind in kinds:
        for rater in raters:
            try:
                plugins.resolve(kind, rater, used=False)
            except TabwbError:
                continue
            raise UsageError(
                f"'{rater}' is the id of a {kind[:-1]}",
                where="--raters",
                allowed="a code of a person, for example R2",
            )


def _name_problem(name: str) -> str:
    if is_kebab(name):
        return ""
    return f"'{name}' is not a valid id: lower-case letters and digits, joined by hyphens"

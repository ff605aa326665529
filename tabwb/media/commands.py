"""Commands that give a battery again under the conditions of an administration."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tabwb.media.studied import Studied, is_persons
from tabwb.records import declared_conditions as declared
from tabwb.records.condition import Condition, Option
from tabwb.records.condition_kinds import Components, Switch
from tabwb.records.conditions import FUNCTION, Conditions
from tabwb.records.counting import is_derived
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.load import AdministrationData


def run_commands(about: Studied) -> tuple[str, ...]:
    """Return the commands that give the batteries to the models of a study again, each once.

    Files are named without their folders. For people, for a function that was given from Python,
    and for answers that were imported, a comment says so: no command gives them again.
    """
    commands = [
        f"# {member.administration.battery} was given to people; no command gives it again"
        if is_persons(member)
        else run_command(member.administration.battery, _with_judges(member))
        for member in about.members
    ]
    return tuple(dict.fromkeys(commands))


def _with_judges(member: AdministrationData) -> Conditions:
    """Return the conditions, with the judges that rated the responses later, without people."""
    given = member.administration.conditions
    later = (
        rater
        for rater, declared_by in member.declarations.items()
        if declared_by.kind != "person" and not is_derived(rater)
    )
    return replace(given, judges=tuple(dict.fromkeys((*given.judges, *later))))


def run_command(battery: str, given: Conditions) -> str:
    """Return the command that gives a battery to a model under the same conditions.

    >>> run_command("tab", Conditions("bundled", "model", seed=3, replicates=2))
    'tabwb run tab --model bundled --seed 3 --replicates 2 --judge rules-2'
    >>> run_command("tab", Conditions("python:mine", "model"))
    '# tab was given to the Python function python:mine (tabwb.run); no command gives it again'
    """
    name = without_folders(given.examinee)
    if given.is_imported:
        return f"# the answers of {name} to {battery} were imported; no command gives them again"
    if given.examinee.startswith(FUNCTION):
        return (
            f"# {battery} was given to the Python function {name} (tabwb.run); no command gives it "
            "again"
        )
    words = ["tabwb", "run", battery, "--model", name]
    if given.lesion is not None:
        given = replace(given, lesion=without_folders(given.lesion))
    for condition in declared.CONDITIONS:
        if condition.applies_to("model"):
            words += _options(condition, given)
    return shlex.join(words)


def _options(condition: Condition, given: Conditions) -> Iterator[str]:
    options = [option for option in condition.options if option.command == "run"]
    value = condition.of(given)
    if not options or (condition.id == "max_tokens" and given.token_limits == "battery"):
        return
    if isinstance(condition.kind, Components):
        yield from _components(options[0], value)
        return
    if value == condition.of(Conditions("", "model")):
        return
    for option in options:
        if option.value is not None:
            if option.value == value:
                yield option.flag
        elif isinstance(condition.kind, Switch):
            yield option.flag
        else:
            for each in value if isinstance(value, tuple) else (value,):
                yield from (option.flag, f"{each:g}" if isinstance(each, float) else str(each))


def _components(option: Option, specs: Sequence[str]) -> Iterable[str]:
    named = [without_folders(spec) for spec in specs] or ["none"]
    return [word for name in named for word in (option.flag, name)]

"""What an import of answers will store, and what it leaves out: known before anything is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tabwb.administer.answers.conditions import check_names, import_conditions
from tabwb.administer.answers.examinee import Stated
from tabwb.administer.answers.importing import told
from tabwb.administer.answers.plan import ImportPlan, PlannedRun, plan_import
from tabwb.administer.answers.texts import with_battery
from tabwb.administer.session import checks, setup
from tabwb.battery.model import Battery
from tabwb.host.guarded import recognising
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, Importer
from tabwb.records.conditions import Conditions, declared
from tabwb.records.declared_conditions import ConditionError
from tabwb.records.errors import UsageError
from tabwb.records.speakers import read_day
from tabwb.records.words import plural

RATED = "tab"
"""The battery whose features are rated in texts without a battery."""
SHOWN = 5
"""How many places or items one line names."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported, as the user says it.

    Attributes:
        path: of the file or folder.
        battery: its id or path; None for texts without a battery.
        stated: who responded.
        columns: of a table: field to the name of its column.
        number_replicates: take further answers to an item as replicates.
        skip_unknown: leave out answers that match no item of the battery.
        judges: specs; empty: those of a run.
        research_protocol: under which a person was given a battery for models.
        date: of the session, where the file does not say it; empty: not known.
    """

    path: Path
    battery: str | None
    stated: Stated
    columns: Mapping[str, str] = field(default_factory=dict)
    number_replicates: bool = False
    skip_unknown: bool = False
    judges: Sequence[str] = ()
    research_protocol: str | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class PreparedImport:
    """What :func:`tabwb.administer.answers.importing.import_answers` stores."""

    battery: Battery
    plan: ImportPlan
    conditions: tuple[Conditions, ...]


def importer_of(plugins: Plugins, path: Path, format_id: str | None) -> Importer | None:
    """Return the importer of a file: the one asked for, else the first that knows it, or None."""
    if format_id is not None:
        return plugins.importer(format_id)
    known = plugins.descriptors("importers")
    return recognising((partial(plugins.importer, one.id) for one in known), path)


def prepare_import(plugins: Plugins, importer: Importer, request: ImportRequest) -> PreparedImport:
    """Read a file of answers, and return what will be stored of it; nothing is stored."""
    day = read_day(request.date, "--date") if request.date else ""
    judges = checks.resolved_judges(plugins, checked_judges(request.judges))
    battery = None if request.battery is None else setup.find_battery(plugins, request.battery)
    source = importer.read(request.path, dict(request.columns))
    made = battery is None
    if battery is None:
        source, battery = _texts(plugins, source, request.path)
    elif (
        source.strict
        and not {"item", "prompt"} & source.names.keys()
        and not any(answer.item or answer.prompt for answer in source.answers)
    ):
        raise UsageError(
            f"neither items nor prompts are named, by which the items of '{battery.id}' are found",
            where=str(request.path),
            hint="name the column: --column item=NAME or --column prompt=NAME; or leave "
            "out --battery: texts without a battery make one",
        )
    plan = plan_import(
        source,
        battery,
        number_replicates=request.number_replicates or made,
        lenient=request.skip_unknown,
    )
    if made:  # the items are the prompts: nothing was looked for
        plan = replace(plan, runs=tuple(replace(run, matched={}) for run in plan.runs))
    check_names(plan, request.stated, request.path)
    conditions = (
        import_conditions(
            plugins,
            battery,
            run,
            request.stated,
            source=request.path,
            judges=judges,
            session_date=day,
            research_protocol=request.research_protocol,
        )
        for run in plan.runs
    )
    return PreparedImport(battery, plan, tuple(conditions))


def _texts(plugins: Plugins, source: AnswerFile, path: Path) -> tuple[AnswerFile, Battery]:
    """Return texts without a battery, and a battery made of their prompts."""
    if not source.texts:
        raise UsageError(
            "the battery whose items were answered is not named",
            where=str(path),
            hint="name it with --battery ID; texts without a battery are in a column 'text' "
            "(--column text=NAME)",
        )
    return with_battery(source, setup.find_battery(plugins, RATED))


def columns_of(texts: Sequence[str]) -> dict[str, str]:
    """Return fields by the names of their columns, from texts ``FIELD=NAME``."""
    columns: dict[str, str] = {}
    for text in texts:
        field, sign, name = text.partition("=")
        if not sign or not field or not name:
            raise UsageError(
                f"'{text}' is not FIELD=NAME",
                where="--column",
                allowed="for example response=text, item=question_id",
            )
        if field in columns:
            raise UsageError(f"'{field}' is given twice", where="--column")
        columns[field] = name
    return columns


def planned_lines(run: PlannedRun, given: Conditions, shown: int) -> list[str]:
    """Return what will be stored of a run: who answered, how the items were found, first
    answers.
    """
    date = f", session of {given.session_date}" if given.session_date else ""
    drawn = f"; {given.drawn}" if given.kind == "model" else ""
    lines = [f"{given.examinee} ({given.made_by}): {told(run)}{drawn}{date}"]
    for each in [planned for planned in run.planned if planned.answer][:shown]:
        assert each.answer is not None
        said = " ".join((each.answer.text or "").split())
        said = said if len(said) <= 60 else said[:59] + "…"
        lines.append(f"  {each.trial.subtest}/{each.trial.item} {each.trial.replicate}: {said}")
    if shown and run.answers > shown:
        lines.append(f"  and {run.answers - shown:,} more")
    return lines


def left_out(plan: ImportPlan, battery: str) -> list[str]:
    """Return what of a file is not imported, and which items have no answer, a line for each."""
    lines = [f"left out: {count:,} {reason}" for reason, count in plan.source.left_out.items()]
    if plan.unmatched:
        first = plan.unmatched[0]
        lines.append(
            f"left out: {plural(len(plan.unmatched), 'answer')} to no item of '{battery}', the "
            f"first at {first.answer.where}: {first.column} '{first.value}': {first.message}"
        )
    of_runs = Counter(line for run in plan.runs for line in _left_out_of(run))
    lines += [
        line + (f", in each of {times} administrations" if times > 1 else "")
        for line, times in of_runs.items()
    ]
    return lines


def _left_out_of(run: PlannedRun) -> Iterator[str]:
    if run.repeated:
        yield (
            f"left out: {plural(len(run.repeated), 'second answer')} to an item and replicate "
            f"({_some(run.repeated)})"
        )
    if run.missing:
        yield (
            f"not administered: {plural(len(run.missing), 'item')} without an answer "
            f"({_some(run.missing)})"
        )
    if run.gaps:
        yield f"not administered: {plural(run.gaps, 'replicate')} of items without an answer"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}"


def checked_judges(judges: Sequence[str]) -> tuple[str, ...]:
    """Return the judges of an import: those asked for, ``rules`` by default, none for ``none``."""
    condition = declared("judges")
    try:
        checked: tuple[str, ...] = condition.checked(tuple(judges) or condition.asked)
    except ConditionError as error:
        raise UsageError(error.message, where="--judge", allowed=error.allowed) from None
    return checked

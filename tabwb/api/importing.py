"""``tabwb.import_answers``: answers that were given elsewhere, scored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tabwb.api.administration import Administration, stored_in
from tabwb.api.batteries import named
from tabwb.api.engine import Place, open_store, opened_plugins, warn
from tabwb.api.judging import judge_one
from tabwb.plugin_api.registry.guarded_importer import recognising
from tabwb.records.condition import ConditionError
from tabwb.records.condition_table import declared
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.speakers import read_day
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.answers.importing import Imported
    from tabwb.administer.answers.plan import ImportPlan
    from tabwb.plugin_api.components import Importer
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store


def import_answers(
    path: str | PathLike[str],
    battery: str | PathLike[str],
    *,
    model: str | None = None,
    speaker: str | None = None,
    origin: Literal["human", "model", "unknown"] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    number_replicates: bool = False,
    skip_unknown: bool = False,
    judges: str | Sequence[str] | None = None,
    research_protocol: str | None = None,
    date: str | None = None,
    again: bool = False,
    store: Place = None,
) -> list[Administration]:
    """Return the administrations of answers that were given elsewhere, after they are scored.

    A table (CSV, TSV, JSON lines) with the columns item and response, a log of inspect_ai, or
    samples of lm-evaluation-harness. All answers of a file are stored, or none. What is left out is
    a warning. The options are those of ``tabwb import``.

    Args:
        path: of the file or folder.
        battery: an id or path: the battery whose items were answered.
        model: who answered: a spec, or any name; None: as in the file.
        speaker: the participant code of a person; None: as in the file.
        origin: who answered; ``unknown`` is protected as a person's. None: as in the file.
        format: ``table``, ``inspect`` or ``lm-eval``; None: as the file looks.
        columns: of a table: field to the name of its column (``{"response": "text"}``).
        number_replicates: of a table: take further answers to an item as replicates.
        skip_unknown: of a table: leave out answers to no item of the battery.
        judges: specs of judges; empty: no judge. Default: ``rules``.
        research_protocol: under which a person was given a battery for models.
        date: the day of the session, ``2026-03-09``; None: as in the file.
        again: store them although the store has the answers of this file already.
        store: a path, a URL, or None for the configured store; it is made where there is none.

    Raises:
        UsageError: the file cannot be read as answers, or an option cannot be used, or
            the store has the answers of the file already.
        NoConsent: a registered speaker has not agreed; nothing was stored.
        TabwbError: a scorer or judge failed (all responses are stored).
    """
    from tabwb.administer.answers import importing
    from tabwb.administer.answers.examinee import Stated
    from tabwb.administer.answers.plan import plan_import
    from tabwb.administer.consent import Guard
    from tabwb.administer.session import setup

    place = Path(path)
    if not place.exists():
        raise UsageError("there is no such file or folder", where=str(place))
    with opened_plugins() as plugins:
        given = setup.find_battery(plugins, named(battery))
        specs = setup.resolved_judges(plugins, _checked(judges))
        source = _importer(plugins, place, format).read(place, dict(columns or {}))
        plan = plan_import(source, given, number_replicates=number_replicates, lenient=skip_unknown)
        stated = Stated(model, speaker, origin)
        importing.check_names(plan, stated, place)
        conditions = [
            importing.import_conditions(
                plugins, given, run, stated, source=place, judges=specs,
                session_date=read_day(date, "date") if date else "",
                research_protocol=research_protocol,
            )
            for run in plan.runs
        ]  # fmt: skip
        with open_store(store, plugins.configuration, create=True) as opened:
            imported = importing.import_answers(
                opened, plugins, given, plan, conditions, again=again
            )
            warn(*_left_out(plan, given.id))
            warn(*(note for one in conditions for note in Guard(opened, plugins, one).notices()))
            _judge(opened, plugins, imported)
            settings = plugins.configuration
            where = stored_in(opened, settings.store_at(None if store is None else str(store)))
    failed = dict.fromkeys(str(rater) for one in imported for rater in one.failed)
    if failed:
        numbers = ", ".join(str(one.administration.id) for one in imported)
        raise TabwbError(
            "\n".join(failed),
            hint=f"every response is stored (administrations {numbers}); after the cause is "
            "removed: tabwb trial rescore",
        )
    return [Administration(one.administration.id, where) for one in imported]


def _checked(judges: str | Sequence[str] | None) -> tuple[str, ...]:
    condition = declared("judges")
    if judges is None:
        asked: Sequence[str] = condition.asked
    else:
        asked = (judges,) if isinstance(judges, str) else tuple(judges) or ("none",)
    try:
        checked: tuple[str, ...] = condition.checked(asked)
    except ConditionError as error:
        raise UsageError(error.message, where="judges", allowed=error.allowed) from None
    return checked


def _importer(plugins: Plugins, path: Path, format_id: str | None) -> Importer:
    if format_id is not None:
        return plugins.importer(format_id)
    known = [plugins.importer(one.id) for one in plugins.descriptors("importers")]
    found = recognising(known, path)
    if found is not None:
        return found
    raise UsageError(
        "is in no format of answers",
        where=str(path),
        allowed=", ".join(one.id for one in plugins.descriptors("importers")),
        hint="spoken naming is imported by the command: tabwb import",
    )


def _left_out(plan: ImportPlan, battery: str) -> list[str]:
    told = [f"left out: {count:,} {reason}" for reason, count in plan.source.left_out.items()]
    if plan.unmatched:
        first = plan.unmatched[0]
        told.append(
            f"left out: {plural(len(plan.unmatched), 'answer')} to no item of '{battery}', the "
            f"first at {first.answer.where}: {first.column} '{first.value}': {first.message}"
        )
    for run in plan.runs:
        if run.repeated:
            told.append(
                f"left out: {plural(len(run.repeated), 'second answer')} to an item and replicate"
            )
        if run.missing:
            told.append(
                f"not administered: {plural(len(run.missing), 'item')} without an answer: "
                + ", ".join(run.missing)
            )
        if run.gaps:
            told.append(
                f"not administered: {plural(run.gaps, 'replicate')} of items without an answer"
            )
    return told


def _judge(store: Store, plugins: Plugins, imported: Sequence[Imported]) -> None:
    """Run the judges that ask a model, now that every answer is stored."""
    for spec in imported[0].administration.conditions.judges:
        if plugins.resolve("judges", spec)[0].wraps is not None:
            for one in imported:
                with store.lock(one.administration.id):
                    judge_one(store, plugins, one.administration.id, spec, lambda event: None)

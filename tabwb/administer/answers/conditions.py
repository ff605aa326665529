"""The conditions of administrations whose answers were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tabwb.administer.answers.examinee import Stated, examinee_of
from tabwb.administer.answers.plan import ImportPlan, PlannedRun
from tabwb.administer.session.checks import check_raters
from tabwb.administer.session.exchange import token_limit
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records.answers import RecordedRun
from tabwb.records.conditions import Conditions, OptionOrder
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding

SEEDS = 2**53
"""Seeds beyond this, positive or negative, are kept as text only."""
NAMED = 5
"""How many models or participants a message names."""


def check_names(plan: ImportPlan, stated: Stated, path: Path) -> None:
    """Refuse one name for answers of several models or people."""
    models = dict.fromkeys(run.run.model for run in plan.runs if run.run.model)
    people = dict.fromkeys(
        run.run.participant for run in plan.runs if not run.run.participant_is_own
    )
    people.pop("", None)
    for option, names, what in (
        (stated.model, models, "models"),
        (stated.speaker, people, "participants"),
    ):
        if option and len(names) > 1:
            raise UsageError(
                f"holds answers of {len(names)} {what}: {', '.join(list(names)[:NAMED])}",
                where=str(path),
                hint="without a model's or a speaker's name each keeps its own",
            )


def import_conditions(
    plugins: Plugins,
    battery: Battery,
    planned: PlannedRun,
    stated: Stated,
    *,
    source: Path,
    judges: Sequence[str] = (),
    session_date: str = "",
    research_protocol: str | None = None,
) -> Conditions:
    """Return the conditions under which the answers of one run are stored."""
    run = planned.run
    examinee = examinee_of(run, stated, plugins, source)
    known = run.decoding
    limit = _limit(battery, planned)
    stops = {each.answer.decoding.stop for each in planned.planned if each.answer}
    stop = next(iter(stops)) if len(stops) == 1 else None
    usual = Decoding()
    seed = run.seed if run.seed is not None and abs(run.seed) <= SEEDS else 1
    decoding = Decoding(
        max_tokens=limit or usual.max_tokens,
        temperature=known.temperature or 0.0,
        top_p=known.top_p or usual.top_p,
        stop=stop or (),
        seed=seed,
    )
    is_model = examinee.kind == "model"
    conditions = Conditions(
        examinee=examinee.examinee,
        kind=examinee.kind,
        seed=seed,
        replicates=planned.replicates,
        protocol=run.protocol,
        decoding=decoding if is_model else usual,
        conversation=run.conversation,
        option_order=cast("OptionOrder", planned.option_order),
        judges=tuple(judges),
        research_protocol=research_protocol,
        lesion=run.lesion if is_model else None,
        prompt_noise=run.prompt_noise if is_model else None,
        labels=_labels(plugins, stated, run) if is_model else {},
        origin=examinee.origin,
        session_date=run.session_date or session_date,
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
        token_limits="run" if limit and is_model else "battery",
        unknown=_unknown(run) if is_model else (),
    )
    check_raters(plugins, battery, conditions)
    return conditions


def _unknown(run: RecordedRun) -> tuple[str, ...]:
    """Return the conditions of a model's answers that the source does not state."""
    known = {
        "seed": run.seed,
        "temperature": run.decoding.temperature,
        "top_p": run.decoding.top_p,
    }
    if run.decoding.temperature == 0:
        known["top_p"] = 1.0  # nothing was drawn
    return tuple(name for name, value in known.items() if value is None)


def _limit(battery: Battery, planned: PlannedRun) -> int | None:
    """Return the token limit of all answers; None where it is the battery's, or not one."""
    limits = {
        (each.trial.subtest, each.answer.decoding.max_tokens)
        for each in planned.planned
        if each.answer is not None
    }
    usual = Conditions("", "model")
    if all(limit == token_limit(battery.subtest(subtest), usual) for subtest, limit in limits):
        return None
    values = {limit for _, limit in limits}
    return next(iter(values)) if len(values) == 1 else None


def _labels(plugins: Plugins, stated: Stated, run: RecordedRun) -> dict[str, str]:
    """Return the labels of the model: the profile's that is named, over those of the file."""
    named = stated.model or ("" if run.exported else run.model)
    own = {} if stated.model and run.exported else dict(run.labels)
    return {**own, **plugins.labels_of(named)} if named.startswith("profile:") else own

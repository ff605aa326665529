"""Give the items of a battery to a model or to a person who types, then let the judges judge."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from tabwb.administer.consent import Guard
from tabwb.administer.cost import Spending
from tabwb.administer.limits import NO_LIMITS, Limits, Meter, limits_of
from tabwb.administer.session import remarks, setup
from tabwb.administer.session.drive import drive
from tabwb.administer.session.opening import opened_facts
from tabwb.administer.session.pausing import pausing
from tabwb.administer.session.raters import check_failed, failed_raters
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import AdministrationData, exported_columns, recordings_of
from tabwb.battery.model import Battery
from tabwb.cli.command import judged
from tabwb.cli.common import (
    inform,
    is_quiet,
    is_verbose,
    note,
    on_terminal,
    open_store,
    opened_plugins,
    opened_store,
    print_json,
)
from tabwb.cli.options import requested_conditions
from tabwb.cli.progress import Progress
from tabwb.cli.shown_cautions import cautions_for
from tabwb.cli.signals import stopping
from tabwb.cli.typing import give_to_typist
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import ModelBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Marks, changes

OpenModel = tuple[ModelBackend, Mapping[str, str], threading.Event]
"""A model that is loaded, what it says of itself (revision, dtype), and what ctrl+c sets."""


def run_battery(options: Mapping[str, Any]) -> None:
    """Give a battery from its first item, as the options of ``tabwb run`` say."""
    as_json = options["as_json"]
    marked = changes(Marks(), title=options["title"], add=options["tags"])
    with opened_plugins(options["offline"], dry=options["dry_run"]) as plugins:
        battery = setup.find_battery(plugins, options["battery"])
        asked, exactly = _conditions(options), options["replicates"] is not None
        conditions = setup.resolve(plugins, battery, asked, exactly=exactly)
        _check_typed(battery, conditions, options["battery"])
        if conditions.replicates != asked.replicates:
            note(f"{conditions.replicates} replicates, as in the file")
        if idle := remarks.idle_replicates(plugins, battery, conditions):
            note(f"warning: {idle}")
        for text in remarks.before_run(plugins, battery, conditions, asked=bool(options["judges"])):
            note(f"warning: {text}")
        if options["dry_run"]:
            from tabwb.cli.dry_run import dry_run

            dry_run(plugins, battery, conditions, as_json=as_json)
            return
        limits = limits_of(plugins, conditions, options["max_requests"], options["max_cost"])
        with (
            open_store(options["store_location"], plugins) as store,
            _opened_model(
                plugins, conditions, conditions.examinee, perplexity=options["perplexity"]
            ) as model,
            setup.create(store, plugins, battery, conditions) as session,
        ):
            if conditions.kind == "model":
                for notice in Guard(store, plugins, conditions).notices():
                    note(notice)
            session.commit(marked)
            give(session, model, options["batch_size"], limits, as_json=as_json)


def resume_administration(
    administration: str,
    model: str | None,
    batch_size: int,
    perplexity: bool,
    store_location: str | None,
    as_json: bool,
    offline: bool | None,
    max_requests: int | None,
    max_cost: float | None,
) -> None:
    """Give the items that an administration has left."""
    with (
        opened_store(store_location, offline) as (plugins, store),
        setup.resume(store, plugins, administration, model) as session,
    ):
        number = session.administration.id
        if session.status is AdministrationStatus.DISCONTINUED:
            raise UsageError(
                f"administration {number} was discontinued",
                hint=f"'tabwb trial undo {number}' takes that back",
            )
        if session.status is AdministrationStatus.DONE:
            note(f"administration {number} is done: no items are left")
            show(session, as_json=as_json)
            return
        if command := _named_next(session):
            raise UsageError(
                f"the remaining items of administration {number} are named aloud",
                hint=f"continue with: {command}",
            )
        conditions = session.administration.conditions
        with _opened_model(
            plugins, conditions, session.model_spec, perplexity=perplexity
        ) as opened:
            limits = limits_of(plugins, conditions, max_requests, max_cost)
            session.resume()
            give(session, opened, batch_size, limits, as_json=as_json)


def _check_typed(battery: Battery, conditions: Conditions, asked: str) -> None:
    typed = any(subtest.task.typed for subtest in battery.subtests)
    if conditions.kind == "speaker" and not typed:
        raise UsageError(
            f"the pictures of '{battery.id}' are named aloud",
            hint=f"give it with: tabwb name {shlex.quote(asked)} --speaker {conditions.examinee} "
            "--input FOLDER|mic",
        )


def _conditions(options: Mapping[str, Any]) -> Conditions:
    model, speaker = options["model"], options["speaker"]
    if (model is None) == (speaker is None):
        raise UsageError(
            "name one examinee: --model SPEC or --speaker ID",
            hint="for example: tabwb run tab --model bundled",
        )
    if model is None:
        return requested_conditions("run", speaker, "typed", options)
    return requested_conditions("run", model, "model", options)


@contextmanager
def _opened_model(
    plugins: Plugins, conditions: Conditions, spec: str, *, perplexity: bool
) -> Iterator[OpenModel | None]:
    """Yield the examinee's model, loaded; None for a person.

    It is loaded before an administration begins: a model that cannot be loaded leaves none.
    """
    if conditions.kind != "model":
        yield None
        return
    backend = plugins.open_model(spec, conditions.lesion)
    cancel = threading.Event()
    if on_terminal():
        inform(f"loading {spec}")
    try:
        # ctrl+c ends this at once: nothing has been asked yet
        facts = opened_facts(backend, conditions.lesion, cancel, perplexity=perplexity)
        with stopping(cancel):
            yield backend, facts, cancel
    finally:
        backend.close()
        for problem in plugins.failed_closings:
            note(f"warning: plugin {problem}")


def give(
    session: Session,
    model: OpenModel | None,
    together: int,
    limits: Limits = NO_LIMITS,
    *,
    as_json: bool,
) -> None:
    """Give every item that is left and print the results."""
    number = session.administration.id
    # Said at once, so that it is known however the run ends.
    inform(f"administration {number}")
    # What the results need is imported while the answers are awaited.
    needed = "tabwb.analysis.statistics.summary"
    threading.Thread(target=import_module, args=[needed], name="results").start()
    with pausing(session):
        if model is not None:
            limits = _give_to_model(session, model, together, limits, quiet=as_json)
        else:
            give_to_typist(session, aside=as_json)
    failure = None
    if session.status is AdministrationStatus.DONE and (judges := session.raters.later):
        numbers = [number]
        failure = judged(
            session.plugins, session.store, numbers, judges, limits, quiet=as_json, held=True
        )
        session.reload()
    for problem in session.plugins.failed_observers:
        note(f"warning: plugin {problem}")
    try:
        show(session, as_json=as_json)
    finally:
        # Also when no one reads the results: that items remain is more important.
        if session.status is AdministrationStatus.PAUSED:
            for failed in failed_raters(session.trials, session.raters.later):
                note(f"warning: {failed}")
            reason = session.history.pause_reason or "by the user"
            raise Interrupted(
                f"administration {number} is paused: {reason}",
                hint=f"continue with: {_named_next(session) or f'tabwb resume {number}'}",
            )
        if failure is not None:
            raise failure
    check_failed(session)


def _named_next(session: Session) -> str:
    """Return the command that continues where only pictures to be named are left, or nothing."""
    given = session.administration
    if not session.is_spoken:
        return ""
    if session.waiting(aloud=False) or not session.waiting(aloud=True):
        return ""
    return (
        f"tabwb name {session.battery.id} --speaker {given.conditions.examinee} "
        f"--resume {given.id} --input FOLDER|mic"
    )


def _give_to_model(
    session: Session, model: OpenModel, together: int, limits: Limits, *, quiet: bool
) -> Limits:
    """Give every item that is left; return what is left of the limits."""
    backend, facts, cancel = model
    meter = Meter(limits, session.plugins, session.administration.conditions)
    price = session.plugins.price(session.administration.conditions.examinee)
    done = sum(trial.counting is not None for trial in session.trials)
    spending = Spending.of(session.trials, price)
    progress = Progress(
        len(session.trials), done, spending, quiet=quiet or is_quiet(), each=is_verbose()
    )
    try:
        session.opened(facts)
        for event in drive(session, backend, cancel, together=together, meter=meter):
            progress.show(event)
    finally:
        progress.status.close()
    return limits.after(meter)


def show(session: Session, *, as_json: bool) -> None:
    """Print the results so far."""
    administration = session.store.administration(session.administration.id)
    data = AdministrationData(
        administration,
        session.battery,
        session.trials,
        session.history.model_facts,
        session.history.notes,
        session.history.declarations,
        recordings=recordings_of(session.store, administration),
        primary=session.plugins.configuration.study.primary_rater,
        speaker=exported_columns(session.speaker_record),
    )
    if as_json:
        from tabwb.media.documents.document import administration_document

        print_json(administration_document(data, interval=True))
        return
    from tabwb.analysis.statistics.summary import pool  # loads numpy
    from tabwb.media.terminal import print_view
    from tabwb.media.views.administration import administration_view

    results = pool([data], interval=True)
    written = cautions_for(session.store.location, whole=False)
    print_view(administration_view(administration, session.battery, results, written=written))

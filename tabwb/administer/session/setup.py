"""Beginning and resuming administrations: everything is checked before anything is asked."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from tabwb.administer import consent
from tabwb.administer.session import remarks
from tabwb.administer.session.checks import (
    check_part,
    check_protocol,
    check_raters,
    resolved_judges,
)
from tabwb.administer.session.plan import plan_trials
from tabwb.administer.session.same_model import stand_in
from tabwb.administer.session.session import Session
from tabwb.battery.loader import battery_from_canonical, load_battery, read_assets
from tabwb.battery.model import Battery
from tabwb.battery.prompt_noise import parse_noise
from tabwb.host.plugins import Plugins
from tabwb.lesion.spec import lesion_text, stored_form
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Act, LogEntry, check_id
from tabwb.records.words import plural
from tabwb.store.store import Store


def find_battery(plugins: Plugins, argument: str) -> Battery:
    """Return the battery that an id or a path names, read and checked.

    Args:
        plugins: with the batteries.
        argument: an id, or a path.

    Raises:
        UsageError: there is none of this id.
        BatteryProblems: the file has problems; the message lists all of them.
    """
    return load_battery(plugins.find_battery(argument))


def resolve(
    plugins: Plugins, battery: Battery, conditions: Conditions, *, exactly: bool = False
) -> Conditions:
    """Return the conditions with specs as they are stored, checked against the battery.

    Recorded answers are given as often as they were recorded.

    Args:
        plugins: with batteries and components.
        battery: to be given.
        conditions: as asked for.
        exactly: one replicate was asked for; it is not the default.

    Raises:
        UsageError: a spec names nothing, or the battery may not be given to this examinee.
        TabwbError: a judge cannot be made.
    """
    check_raters(plugins, battery, conditions)
    check_part(battery, conditions)
    check_protocol(plugins, conditions)
    examinee, labels = conditions.examinee, conditions.labels
    if conditions.kind == "model":
        descriptor, spec = plugins.resolve("models", examinee)
        labels = plugins.labels_of(examinee)
        examinee = str(spec)
        if conditions.lesion is not None:
            if not descriptor.lesions:
                raise plugins.no_lesions(examinee)
            stored = lesion_text(stored_form(conditions.lesion))
            conditions = replace(conditions, lesion=stored)
        if conditions.prompt_noise is not None:
            conditions = _with_noise(battery, conditions, recorded=descriptor.made_by is not None)
        recorded = remarks.recorded_replicates(plugins, conditions)
        if recorded > 1 and conditions.replicates == 1 and not exactly:
            conditions = replace(conditions, replicates=recorded)
        if descriptor.made_by is not None:
            origin, participant = descriptor.made_by(spec)
            if origin != "model":
                if participant:
                    check_id(participant)
                conditions = replace(conditions, origin=origin, participant=participant)
    transcriber = conditions.transcriber
    if transcriber is not None:
        transcriber = str(plugins.resolve("transcribers", transcriber)[1])
    return replace(
        conditions,
        examinee=examinee,
        judges=resolved_judges(plugins, conditions.judges),
        labels=labels,
        transcriber=transcriber,
    )


def _with_noise(battery: Battery, conditions: Conditions, *, recorded: bool) -> Conditions:
    """Return conditions with the prompt noise as it is stored, after checking that it acts."""
    if recorded:
        raise UsageError(
            f"the answers of '{conditions.examinee}' are recorded: no prompt is sent",
            where="prompt noise",
            hint="leave it out",
        )
    noise = str(parse_noise(conditions.prompt_noise or ""))
    conditions = replace(conditions, prompt_noise=noise)
    plain = plan_trials(battery, replace(conditions, prompt_noise=None))
    if plan_trials(battery, conditions) == plain:
        raise UsageError(
            f"the prompt noise '{noise}' changes none of the {plural(len(plain), 'prompt')}",
            hint="take a larger amount, or another seed",
        )
    return conditions


def by_microphone(battery: Battery, conditions: Conditions) -> bool:
    """Return whether the workbench records answers of an administration."""
    return battery.coded or (battery.spoken and conditions.transcriber is not None)


def create(store: Store, plugins: Plugins, battery: Battery, conditions: Conditions) -> Session:
    """Begin an administration; its battery and plan are stored before the session is returned."""
    consent.Guard(store, plugins, conditions).check_giving()
    assets = read_assets(Path(battery.origin), battery) if battery.assets else {}
    store.keep_battery(battery, assets)
    plan = plan_trials(battery, conditions)
    administration = store.create_administration(battery, conditions, plan, versions_of(plugins))
    if conditions.guarded:
        act: Act = "imported" if conditions.origin else "recorded"
        store.people.log(LogEntry(act, conditions.person, administration.id, battery.id))
    return _open(store, plugins, battery, administration.id)


def resume(
    store: Store,
    plugins: Plugins,
    reference: int | str,
    model: str | None = None,
    *,
    locked: Callable[[int], AbstractContextManager[object]] | None = None,
) -> Session:
    """Open an administration again, with its battery as it was; its status stays as it is.

    Args:
        store: with the administration.
        plugins: with the components.
        reference: its id or uid.
        model: spec of the model that answers from now on: the same one at another path, which is
            checked when it is loaded. None: the examinee.
        locked: holds the administration; None: for this process alone.

    Raises:
        StoreError: there is none, or it is open elsewhere.
        UsageError: ``model`` cannot continue for the examinee.
    """
    administration = store.administration(reference)
    spec = None if model is None else stand_in(plugins, administration.conditions, model)
    battery = battery_from_canonical(store.battery_canonical(administration.battery_hash))
    session = _open(store, plugins, battery, administration.id, locked)
    session.model_spec = spec or session.model_spec
    return session


def _open(
    store: Store,
    plugins: Plugins,
    battery: Battery,
    number: int,
    locked: Callable[[int], AbstractContextManager[object]] | None = None,
) -> Session:
    held = ExitStack()
    held.enter_context((locked or store.lock)(number))
    try:
        # Read after the lock is held: what another session wrote until then is seen.
        administration = store.administration(number)
        session = Session(store, plugins, battery, administration, held=held)
        if administration.conditions.kind == "speaker":
            made = (subtest.task.strategy for subtest in battery.subtests)
            if (strategy := next(filter(None, made), None)) is not None:
                session.strategy = strategy(session)
        return session
    except BaseException:
        held.close()
        raise


def versions_of(plugins: Plugins) -> dict[str, str]:
    """Return the versions of tabwb, Python and the packages of plugins."""
    versions = {"tabwb": version("tabwb"), "python": platform.python_version()}
    return versions | {
        plugin.distribution: plugin.version
        for plugin in plugins.plugins
        if plugin.distribution and plugin.version
    }

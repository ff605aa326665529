"""Beginning and resuming administrations: everything is checked before anything is asked."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from tabwb.administer import consent
from tabwb.administer.session.exchange import stand_in
from tabwb.administer.session.plan import plan_trials, recorded_replicates
from tabwb.administer.session.session import Session
from tabwb.battery.loader import battery_from_canonical, load_battery, read_assets
from tabwb.battery.model import Battery
from tabwb.battery.prompts import parse_noise
from tabwb.host.plugins import Plugins
from tabwb.lesion.spec import lesion_text, stored_form
from tabwb.plugin_api.components import LikelihoodBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Act, LogEntry, check_id
from tabwb.records.states import Protocol
from tabwb.records.words import did_you_mean, plural
from tabwb.store.store import Store


def check_raters(plugins: Plugins, battery: Battery, conditions: Conditions) -> None:
    """Check that task types and scorers of a battery are there, and that it is for the examinee."""
    battery.check_tasks()
    for subtest in battery.subtests:
        for scorer in subtest.scorers:
            plugins.resolve("scorers", scorer)
    _check_examinee(battery, conditions)


def resolved_judges(plugins: Plugins, specs: Iterable[str]) -> tuple[str, ...]:
    """Return the specs of judges as they are stored, each once."""
    judges = dict.fromkeys(str(plugins.resolve("judges", spec)[1]) for spec in specs)
    for judge in judges:
        plugins.judge(judge)  # one that cannot be made is better known now than after all answers
    return tuple(judges)


def lacks_protocol(battery: Battery, conditions: Conditions) -> bool:
    """Return whether a battery for models would be given to a person outside a study."""
    for_models = "speaker" not in battery.examinees
    return conditions.kind == "speaker" and for_models and not conditions.research_protocol


def _check_examinee(battery: Battery, conditions: Conditions) -> None:
    if lacks_protocol(battery, conditions):
        raise UsageError(
            f"'{battery.id}' is made for models, not for people"
            + (f": {battery.disclaimer}" if battery.disclaimer else ""),
            hint="in a study, name its approved protocol: --research-protocol ID",
        )
    if conditions.kind == "speaker":
        check_id(conditions.examinee)
    elif "model" not in battery.examinees:
        raise UsageError(
            f"'{battery.id}' is not made for models", allowed=", ".join(battery.examinees)
        )


def check_protocol(plugins: Plugins, conditions: Conditions) -> None:
    """Check that an examinee can answer under the protocol of items with options."""
    protocols: tuple[str, ...] = (Protocol.GENERATE.value,)
    examinee = conditions.examinee
    if conditions.kind == "model":
        descriptor, spec = plugins.resolve("models", examinee)
        examinee, protocols = str(spec), descriptor.answers_under
        if conditions.protocol is Protocol.LIKELIHOOD and descriptor.runs == "here":
            with closing(plugins.open_model(examinee)) as backend:
                if isinstance(backend, LikelihoodBackend):
                    return
    if conditions.protocol.value not in protocols:
        raise UsageError(
            f"'{examinee}' cannot answer under the protocol '{conditions.protocol.value}'",
            allowed=", ".join(protocols),
        )


def check_part(battery: Battery, conditions: Conditions) -> None:
    """Check that a battery has the subtests and items to which conditions limit it."""
    subtests = [subtest.id for subtest in battery.subtests]
    for name in conditions.part_subtests:
        if name not in subtests:
            raise UsageError(
                f"'{battery.id}' has no subtest '{name}'" + did_you_mean(name, subtests),
                allowed=", ".join(subtests),
            )
    own = [
        (subtest.id, item.id)
        for subtest in battery.subtests
        for item in subtest.items
        if not item.practice
        and (not conditions.part_subtests or subtest.id in conditions.part_subtests)
    ]
    known = {name for subtest, item in own for name in (item, f"{subtest}/{item}")}
    for name in conditions.part_items:
        if name not in known:
            chosen = " in the chosen subtests" if conditions.part_subtests else ""
            raise UsageError(
                f"'{battery.id}' has no item '{name}'{chosen}" + did_you_mean(name, known),
                allowed=", ".join(item for _, item in own),
            )


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
        recorded = recorded_replicates(plugins, conditions)
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

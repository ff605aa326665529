"""``tabwb.run`` and ``tabwb.resume``: give a battery to a model."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from tabwb.api.engine import (
    Names,
    Place,
    Progress,
    named,
    open_store,
    opened_plugins,
    teller,
    warn,
)
from tabwb.api.functions import ID, Answering, spec_of, takes_request
from tabwb.api.operations import judge_later
from tabwb.api.study import Administration, stored_in
from tabwb.records import declared_conditions as declared
from tabwb.records.conditions import FUNCTION, conditions_of
from tabwb.records.declared_conditions import NONE, Whole
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from tabwb.administer.limits import Limits
    from tabwb.administer.session.session import Session
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import ModelBackend
    from tabwb.records.conditions import Conditions

LABELS = ("family", "tuning", "parameters")


def run(
    battery: str | PathLike[str],
    model: str | Answering,
    *,
    judges: str | Sequence[str] | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    protocol: Literal["generate", "enforced", "likelihood"] | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    max_tokens: int | None = None,
    stop: str | Sequence[str] | None = None,
    conversation: bool | None = None,
    item_order: Literal["as-given", "shuffled"] | None = None,
    option_order: Literal["as-given", "shuffled", "rotated"] | None = None,
    lesion: str | None = None,
    prompt_noise: str | None = None,
    system_message: str | None = None,
    subtests: Names = (),
    items: Names = (),
    limit: int | None = None,
    name: str | None = None,
    labels: Mapping[str, str | float] | None = None,
    store: Place = None,
    batch_size: int = 64,
    perplexity: bool = True,
    workers: int = 1,
    max_requests: int | None = None,
    max_cost: float | None = None,
    offline: bool | None = None,
    progress: Progress = False,
) -> Administration:
    """Return an administration of a battery to a model, after all items are given and rated.

    Every response is in the store before the next prompt goes out. A condition that is None has its
    default, that of ``tabwb run``.

    Args:
        battery: an id (``"tab"``) or the path of a battery file.
        model: a spec (``"bundled"``), or a function that takes a prompt and returns the response.
            A parameter named ``request`` gets the whole request: messages, decoding with the
            seed of this reply, options.
        judges: specs of judges; empty: no judge. Default: ``rules``.
        replicates: number of times each item is given; of recorded answers as in the file.
        seed: of random orders and sampling.
        protocol: how items with options are answered.
        temperature: 0 is greedy decoding. Of a function, the temperature that it uses; without
            it, the decoding of a function without ``request`` is not known.
        top_p: nucleus mass.
        max_tokens: token limit of every reply; default: the battery's.
        stop: texts that end a reply.
        conversation: keep one context over all items.
        item_order: of the items within their subtest.
        option_order: of the options of each item; rotated: each item in all rotations.
        lesion: of the model (``"mlp.down:zero:0.3@seed=7"``); a function has none.
        prompt_noise: perturbation of the items' texts (``"words:drop:0.2@seed=3"``).
        system_message: sent in place of the battery's; ``"none"``: no system message is sent.
        subtests: give only these.
        items: give only these; ids, or ``SUBTEST/ITEM``.
        limit: give only so many items of each subtest, the first ones.
        name: of a function in the store (``python:NAME``); default: its own name.
        labels: of a function: ``family``, ``tuning`` (base, instruct), ``parameters``. Other models
            have those of their profile.
        store: a path, a URL, or None for the configured store; it is made where there is none.
        batch_size: number of items given at once to a model that can batch.
        perplexity: under a lesion store the perplexity of a fixed text, which checks that it acts.
        workers: calls of a function at one time, each in its own thread.
        max_requests: stop after so many, of model and judges together.
        max_cost: stop before more is spent, in US dollars; needs a price of the model.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: an argument cannot be used; nothing was begun.
        Interrupted: items are left; :func:`resume` continues.
        TabwbError: the model cannot be loaded, or a scorer or judge failed (all responses are
            stored).
    """
    spec, function = spec_of(model, name)
    own = _labels(labels, function)
    asked = asked_conditions(
        spec, judges=judges, replicates=replicates, seed=seed, protocol=protocol,
        temperature=temperature, top_p=top_p, max_tokens=max_tokens, stop=stop,
        conversation=conversation, item_order=item_order, option_order=option_order,
        lesion=lesion, prompt_noise=prompt_noise, system_message=system_message,
        part_subtests=subtests, part_items=items, part_limit=limit,
    )  # fmt: skip
    from tabwb.administer.consent import Guard
    from tabwb.administer.limits import limits_of
    from tabwb.administer.session import remarks, setup

    with opened_plugins(offline=offline, function=function, workers=workers) as plugins:
        given = setup.find_battery(plugins, named(battery))
        conditions = setup.resolve(plugins, given, asked, exactly=replicates is not None)
        if own:
            conditions = replace(conditions, labels=own)
        if function is not None and temperature is None and not takes_request(function):
            # It is not told how to decode, and does not say how it does.
            conditions = replace(conditions, unknown=("temperature", "top_p"))
        warn(remarks.idle_replicates(plugins, given, conditions))
        warn(*remarks.before_run(plugins, given, conditions, asked=judges is not None))
        limits = limits_of(plugins, conditions, max_requests, max_cost)
        with (
            open_store(store, plugins.configuration, create=True) as opened,
            _loaded(plugins, conditions, conditions.examinee, perplexity=perplexity) as loaded,
            setup.create(opened, plugins, given, conditions) as session,
        ):
            warn(*Guard(opened, plugins, conditions).notices())
            _give(session, loaded, batch_size, progress, limits)
            where = stored_in(opened, plugins.configuration, store)
            return Administration(session.administration.id, where)


def resume(
    store: Place,
    administration: int | str,
    model: str | Answering | None = None,
    *,
    batch_size: int = 64,
    perplexity: bool = True,
    workers: int = 1,
    max_requests: int | None = None,
    max_cost: float | None = None,
    offline: bool | None = None,
    progress: Progress = False,
) -> Administration:
    """Return an administration after the items that it had left are given and rated.

    Args:
        store: as for :func:`run`.
        administration: its number or uid.
        model: the function, where a function is the examinee; else the spec of the same model at
            another path, whose weights and tokenizer must be equal.
        batch_size: number of items given at once to a model that can batch.
        perplexity: under a lesion store the perplexity of a fixed text, which checks that it acts.
        workers: calls of a function at one time, each in its own thread.
        max_requests: stop after so many, of model and judges together.
        max_cost: stop before more is spent, in US dollars; needs a price of the model.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: it was discontinued, a person is the examinee, the function is missing, or
            ``model`` cannot continue for the examinee.
        Interrupted: items are left again.
        TabwbError: the model cannot be loaded, or a scorer or judge failed.
    """
    from tabwb.administer.limits import limits_of
    from tabwb.administer.session import setup

    function, spec = (None, model) if isinstance(model, str) else (model, None)
    with (
        opened_plugins(offline=offline, function=function, workers=workers) as plugins,
        open_store(store, plugins.configuration) as opened,
        setup.resume(opened, plugins, administration, spec) as session,
    ):
        number, conditions = session.administration.id, session.administration.conditions
        handle = Administration(number, stored_in(session.store, plugins.configuration, store))
        if session.status is AdministrationStatus.DONE:
            return handle
        if session.status is AdministrationStatus.DISCONTINUED:
            raise UsageError(
                f"administration {number} was discontinued",
                hint=f"'tabwb trial undo {number}' takes that back",
            )
        if conditions.kind != "model":
            raise UsageError(
                f"administration {number} is of a person",
                hint=f"continue in a terminal: tabwb resume {number}",
            )
        if function is not None and not conditions.examinee.startswith(FUNCTION):
            raise UsageError(
                f"the examinee of administration {number} is '{conditions.examinee}'; a function "
                "cannot continue for it",
                hint="leave it out, or give the spec of the same model at another path",
            )
        if function is None and conditions.examinee.startswith(FUNCTION):
            raise UsageError(
                f"the examinee of administration {number} is the function '{conditions.examinee}'",
                hint="give it: tabwb.resume(store, administration, function)",
            )
        limits = limits_of(plugins, conditions, max_requests, max_cost)
        with _loaded(plugins, conditions, session.model_spec, perplexity=perplexity) as loaded:
            session.resume()
            _give(session, loaded, batch_size, progress, limits)
        return handle


def asked_conditions(spec: str, **values: Any) -> Conditions:
    """Return the conditions that are asked for, each value checked by its declaration.

    Of the judges None is the default, and an empty list none.
    """
    for name in ("judges", "stop", "part_subtests", "part_items"):
        if isinstance(value := values.get(name), str):
            values[name] = (value,)
        elif value is not None and name != "stop":
            values[name] = tuple(value) or ((NONE,) if name == "judges" else None)
    for condition in declared.CONDITIONS:
        value = values.get(condition.id)
        if value is None:
            continue
        try:
            if isinstance(condition.kind, Whole):
                values[condition.id] = value = operator.index(value)
            condition.checked(value)
        except UsageError as error:
            raise UsageError(
                error.message, where=condition.id, allowed=error.allowed, hint=error.hint
            ) from None
        except (TypeError, ValueError):
            raise UsageError(
                f"{value!r} cannot be used",
                where=condition.id,
                allowed=condition.kind.allowed or None,
            ) from None
    return conditions_of(spec, "model", values)


def _labels(
    labels: Mapping[str, str | float] | None, function: Answering | None
) -> dict[str, str] | None:
    from tabwb.host.settings import TUNINGS, number_of_parameters

    if not labels:
        return None
    if function is None:
        raise UsageError(
            "the labels of a spec are those of its profile",
            where="labels",
            hint="'tabwb model add' makes one",
        )
    for key, value in labels.items():
        if key not in LABELS:
            raise UsageError(f"'{key}' cannot be used", where="labels", allowed=", ".join(LABELS))
        if key == "tuning" and value not in TUNINGS:
            raise UsageError(
                f"{value!r} cannot be used", where="labels: tuning", allowed=", ".join(TUNINGS)
            )
    return {
        key: str(number_of_parameters(str(value))) if key == "parameters" else str(value)
        for key, value in labels.items()
    }


Loaded = tuple["ModelBackend", Mapping[str, str]]


@contextmanager
def _loaded(
    plugins: Plugins, conditions: Conditions, spec: str, *, perplexity: bool
) -> Iterator[Loaded]:
    """Yield the model, loaded before an administration begins, with what it says of itself."""
    from tabwb.administer.session.opening import opened_facts

    backend = plugins.open_model(spec, conditions.lesion)
    try:
        cancel = threading.Event()
        yield backend, opened_facts(backend, conditions.lesion, cancel, perplexity=perplexity)
    finally:
        backend.close()
        warn(*(f"plugin {problem}" for problem in plugins.failed_closings))


def _give(
    session: Session, loaded: Loaded, together: int, progress: Progress, limits: Limits
) -> None:
    number = session.administration.id
    function = session.administration.conditions.examinee.startswith(f"{ID}:")
    again = f"tabwb.resume(store, {number}{', FUNCTION' if function else ''})"
    try:
        from tabwb.administer.limits import Meter
        from tabwb.administer.session.drive import drive
        from tabwb.administer.session.raters import check_failed

        backend, facts = loaded
        meter = Meter(limits, session.plugins, session.administration.conditions)
        told = teller(progress, len(session.trials))
        session.opened(facts)
        for event in drive(session, backend, threading.Event(), together=together, meter=meter):
            told(event)
    except BaseException as error:
        if session.status is AdministrationStatus.RUNNING:
            with suppress(TabwbError):
                session.pause("stopped in the middle")
        error.add_note(f"administration {number} can be continued: {again}")
        raise
    if session.status is AdministrationStatus.PAUSED:
        raise Interrupted(
            f"administration {number} is paused: {session.history.pause_reason or 'stopped'}",
            hint=f"continue with: {again}",
        )
    try:
        judge_later(
            session.plugins, session.store, [number], session.raters.later, told,
            limits.after(meter), held=True,
        )  # fmt: skip
    finally:
        session.reload()
    warn(*(f"plugin {problem}" for problem in session.plugins.failed_observers))
    check_failed(session)

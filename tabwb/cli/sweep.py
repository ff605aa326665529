"""``tabwb lesion sweep``: a battery under every condition of a grid."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from tabwb.administer.session import setup
from tabwb.administer.session.remarks import of_language
from tabwb.administer.session.smallest_difference import to_json
from tabwb.administer.sweep.forecast import forecast
from tabwb.administer.sweep.grid import Grid, read_grid
from tabwb.administer.sweep.over_seeds import over_seeds_json
from tabwb.administer.sweep.point import Point
from tabwb.administer.sweep.pool import run_sweep, waiting
from tabwb.administer.sweep.suited import parse_shard, resolved, sweep_of
from tabwb.administer.sweep.sweep import Model, Sweep, Told
from tabwb.battery.model import Battery
from tabwb.cli.common import (
    inform,
    is_quiet,
    missing_store,
    note,
    on_terminal,
    open_store,
    opened_plugins,
    print_json,
)
from tabwb.cli.options import requested_conditions
from tabwb.cli.progress import Countdown
from tabwb.cli.signals import stopping
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import OTHER, PARENT_PARTS
from tabwb.records.conditions import Conditions
from tabwb.records.errors import Interrupted, MissingExtra, TabwbError, UsageError
from tabwb.records.words import plural
from tabwb.store.store import Store


def sweep_battery(options: Mapping[str, Any]) -> None:
    """Give a battery under every condition of a grid, as the options of the command say."""
    grid = read_grid(Path(options["grid"]))
    first, count = parse_shard(options["shard"])
    cancel = threading.Event()
    with opened_plugins(options["offline"]) as plugins, stopping(cancel):
        battery, conditions = _asked(plugins, options)
        if options["cluster"] is not None:
            _on_cluster(plugins, battery, conditions, grid, (first, count), options, cancel)
            return
        if on_terminal():
            inform(f"loading {conditions.examinee}")
        model = Model.loaded(plugins, conditions.examinee, cancel)
        with closing(model.backend):
            sweep = sweep_of(plugins, battery, conditions, grid, grid.needed(model))
            own = sweep.points[first - 1 :: count]
            if options["dry_run"]:
                _dry_run(sweep, own, model, options)
            else:
                run = partial(
                    run_sweep,
                    model=model,
                    workers=options["workers"],
                    together=options["batch_size"],
                    lanes=options["lanes"],
                )
                _run(run, sweep, own, options, cancel)


def _on_cluster(
    plugins: Plugins,
    battery: Battery,
    conditions: Conditions,
    grid: Grid,
    shard: tuple[int, int],
    options: Mapping[str, Any],
    cancel: threading.Event,
) -> None:
    """Give the conditions on the workers of a cluster; the model is not loaded here."""
    others = {"dry_run": False, "workers": 1, "lanes": None}
    if wrong := [name for name, default in others.items() if options[name] != default]:
        raise UsageError(
            "it cannot be used together with --cluster",
            where="--" + wrong[0].replace("_", "-"),
            hint="leave out --cluster, or the other option",
        )
    if find_spec("distributed") is None:
        raise MissingExtra("--cluster", "cluster", package="distributed")
    from tabwb.administer.sweep.cluster import Cluster, run_on_cluster

    offline = plugins.configuration.offline
    if on_terminal():
        inform(f"waiting for a worker of {options['cluster']}")
    with Cluster(options["cluster"], conditions.examinee, cancel, offline=offline) as cluster:
        parts = cluster.parts(cancel) if grid.rows else ()
        sweep = sweep_of(plugins, battery, conditions, grid, parts)
        points = sweep.points
        run = partial(run_on_cluster, cluster=cluster, together=options["batch_size"])
        _run(run, sweep, points[shard[0] - 1 :: shard[1]], options, cancel)


def _asked(plugins: Plugins, options: Mapping[str, Any]) -> tuple[Battery, Conditions]:
    battery = setup.find_battery(plugins, options["battery"])
    asked = requested_conditions("run", options["model"], "model", options)
    for text in of_language(battery):
        note(f"warning: {text}")
    return battery, resolved(plugins, battery, asked)


def _run(
    run: Callable[..., Iterator[Told]],
    sweep: Sweep,
    own: Sequence[Point],
    options: Mapping[str, Any],
    cancel: threading.Event,
) -> None:
    def open_own() -> Store:
        return open_store(options["store_location"], sweep.plugins)

    as_json = options["as_json"]
    countdown = Countdown("condition", len(own), quiet=as_json or is_quiet())
    failed: list[Told] = []
    given = 0
    with open_own() as store:
        done = _count_done(sweep, own, store)
    try:
        for told in run(sweep, own, open_own, cancel):
            name = told.point.name
            if told.failed:
                failed.append(told)
                countdown.status.interrupt(f"{name}: {told.failed}")
            elif told.event is None:
                given += 1
                countdown.show(done + given, f"  {name}", timed=given)
    finally:
        countdown.status.close()
    left = len(own) - done - given - len(failed)
    if left:  # unless another command has given them meanwhile
        with open_own() as store:
            left = len(own) - _count_done(sweep, own, store) - len(failed)
    if as_json:
        print_json(
            {
                "format": 1,
                "name": sweep.name,
                "conditions": len(own),
                "done_before": done,
                "given": given,
                "failed": [{**_document(one.point), "reason": one.failed} for one in failed],
                "left": left,
            }
        )
    else:
        click.echo(
            f"sweep '{sweep.name}': {plural(len(own), 'condition')}, {done} done before, "
            f"{given} given now"
        )
        _say_unlike(sweep, own, open_own)
    if failed:
        raise TabwbError(
            f"{plural(len(failed), 'condition')} failed: {failed[0].failed}",
            hint="all others are stored; the same command tries again",
        )
    if left:
        elsewhere = (
            "" if cancel.is_set() else "; conditions that another command is giving are skipped"
        )
        raise Interrupted(
            f"{plural(left, 'condition')} of the sweep left",
            hint=f"the same command continues{elsewhere}",
        )


def _say_unlike(sweep: Sweep, own: Sequence[Point], open_own: Callable[[], Store]) -> None:
    """Say which checkpoints are not of the architecture of the sweep's model."""
    checkpoints = [
        one for one in own if one.role == "perturbation" and one.model != sweep.conditions.examinee
    ]
    if not checkpoints:
        return
    with open_own() as store:
        known = sweep.known(store)
        for one in checkpoints:
            begun = known.get(one.conditions)
            facts = {} if begun is None else store.history(begun.id).model_facts
            if facts.get(PARENT_PARTS) == OTHER:
                note(
                    f"{one.model} has other parts than {sweep.conditions.examinee}: they differ in "
                    "architecture or size, not only in training"
                )


def _count_done(sweep: Sweep, own: Sequence[Point], store: Store) -> int:
    known = sweep.known(store)
    return len(own) - len(waiting(own, known))


def _dry_run(sweep: Sweep, own: Sequence[Point], model: Model, options: Mapping[str, Any]) -> None:
    """Say what the sweep would give, how long it takes, and what it can show."""
    done = 0
    if missing_store(options["store_location"], sweep.plugins) is None:
        with open_store(options["store_location"], sweep.plugins, create=False) as store:
            done = _count_done(sweep, own, store)
    found = forecast(sweep, own, model, done, options["batch_size"], threading.Event())
    if options["as_json"]:
        print_json(
            {
                "format": 1,
                "name": sweep.name,
                "conditions": len(own),
                "roles": found.roles,
                "done_before": done,
                "responses": found.responses,
                "seconds_each": found.seconds_each,
                "seconds": found.seconds(options["workers"]),
                "smallest_difference": to_json(found.can_show),
                "smallest_difference_over_seeds": over_seeds_json(found.over_seeds),
                "points": [{**_document(one), "matches": one.matches} for one in own],
            }
        )
        return
    width = max(map(len, found.roles))
    for point in own:
        matched = f"  (as many parameters as {point.matches})" if point.matches else ""
        click.echo(f"{point.role:{width}} {'-' if point.role == 'intact' else point.name}{matched}")
    for line in found.lines(options["workers"]):
        note(line)


def _document(point: Point) -> dict[str, str]:
    """Return what names a condition in JSON: of temperatures and the like it is the setting."""
    return {"role": point.role, "lesion": point.lesion, "setting": point.setting}

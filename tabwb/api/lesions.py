"""Lesions from Python: the parts of a model, what a lesion changes, sweeps."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tabwb.api.engine import Names, Place, Progress, named, open_store, opened_plugins
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.sweep.point import Point
    from tabwb.administer.sweep.sweep import Sweep, Told
    from tabwb.plugin_api.components import LesionableBackend
    from tabwb.records.conditions import Conditions
    from tabwb.records.trials import Administration
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


def lesion_parts(model: str, *, offline: bool | None = None) -> Table:
    """Return the parts of a model that can be lesioned, one in a row, with their sizes.

    Args:
        model: a spec (``"bundled"``); the model is loaded for it.
        offline: use no network from now on, in the whole process; None: as configured.

    Raises:
        UsageError: models of this spec cannot be lesioned.
        TabwbError: the model cannot be loaded, or its architecture is not known.
    """
    from tabwb.analysis.tables.lesions import parts_table

    with _loaded(model, offline) as (backend, _):
        return parts_table(backend.parts())


def lesion_plan(model: str, lesion: str, *, offline: bool | None = None) -> Table:
    """Return what a lesion would change in a model, one part in a row; nothing is changed.

    Args:
        model: a spec (``"bundled"``); the model is loaded for it.
        lesion: ``TARGET:OPERATION[:AMOUNT][@key=value,...]``, several joined by ``+``.
        offline: use no network from now on, in the whole process; None: as configured.

    Raises:
        UsageError: it is not a lesion, or the model lacks what it names.
        TabwbError: the model cannot be loaded, or its architecture is not known.
    """
    from tabwb.analysis.tables.lesions import plan_table
    from tabwb.lesion.localizer import localizer_scores
    from tabwb.lesion.spec import lesion_text, stored_form
    from tabwb.lesion.taken import planned, whole

    lesions = stored_form(lesion)
    with _loaded(model, offline) as (backend, facts):
        parts = backend.parts()
        plan = planned(lesions, parts, model, localizer_scores(backend, parts, lesions, model))
        return plan_table(plan, lesion_text(lesions), whole(parts, facts))


def sweep(
    battery: str | PathLike[str],
    model: str,
    grid: str | PathLike[str] | Mapping[str, Any],
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
    prompt_noise: str | None = None,
    subtests: Names = (),
    items: Names = (),
    limit: int | None = None,
    store: Place = None,
    workers: int = 1,
    lanes: int | None = None,
    batch_size: int = 64,
    shard: str = "1/1",
    dry_run: bool = False,
    offline: bool | None = None,
    progress: Progress = False,
) -> Table:
    """Return the conditions of a sweep, one in a row, after the battery is given under each.

    Each condition is an administration, tagged with the name of the grid. What the store has
    already is not given again: the same call continues a sweep that was stopped.

    Args:
        battery: an id (``"tab"``) or the path of a battery file.
        model: a spec (``"bundled"``).
        grid: the path of a TOML file, or its content as a dictionary.
        judges: specs of judges that are not models; empty: no judge. Default: ``rules``.
        replicates: number of times each item is given.
        seed: of random orders and sampling.
        protocol: how items with options are answered.
        temperature: 0 is greedy decoding.
        top_p: nucleus mass.
        max_tokens: token limit of every reply; default: the battery's.
        stop: texts that end a reply.
        conversation: keep one context over all items.
        item_order: of the items within their subtest.
        option_order: of the options of each item; rotated: each item in all rotations.
        prompt_noise: perturbation of the items' texts under all conditions.
        subtests: give only these.
        items: give only these; ids, or ``SUBTEST/ITEM``.
        limit: give only so many items of each subtest, the first ones.
        store: a path, a URL, or None for the configured store; it is made where there is none.
        workers: number of models that work at one time, each in a separate process.
        lanes: number of conditions in one batch of the model, 1 for none; None: as many as are
            faster together, in float32.
        batch_size: number of items given at once.
        shard: ``I/N``: give only the Ith of N shares of the conditions.
        dry_run: give nothing; return the conditions, with what the store has of them.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: an argument or the grid cannot be used, or the model lacks what it names.
        Interrupted: conditions are left.
        TabwbError: the model cannot be loaded, or conditions failed (all others are stored).
    """
    from tabwb.administer.session import setup
    from tabwb.administer.sweep.grid import grid_of, read_grid
    from tabwb.administer.sweep.pool import run_sweep
    from tabwb.administer.sweep.suited import parse_shard, resolved, sweep_of
    from tabwb.administer.sweep.sweep import Model
    from tabwb.analysis.tables.lesions import Condition, sweep_table
    from tabwb.api.running import asked_conditions
    from tabwb.store.location import resolve

    for name, number in (("workers", workers), ("lanes", lanes)):
        if number is not None and number < 1:
            raise UsageError(f"{number} cannot be used", where=name, allowed="1 or more")
    wanted = grid_of(grid) if isinstance(grid, Mapping) else read_grid(Path(grid))
    first, count = parse_shard(shard)
    asked = asked_conditions(
        model, judges=judges, replicates=replicates, seed=seed, protocol=protocol,
        temperature=temperature, top_p=top_p, max_tokens=max_tokens, stop=stop,
        conversation=conversation, item_order=item_order, option_order=option_order,
        prompt_noise=prompt_noise, part_subtests=subtests, part_items=items, part_limit=limit,
    )  # fmt: skip
    with opened_plugins(offline=offline) as plugins:
        given = setup.find_battery(plugins, named(battery))
        conditions = resolved(plugins, given, asked)
        if not dry_run:
            open_store(store, plugins.configuration, create=True).close()
        loaded = Model.loaded(plugins, conditions.examinee)
        with closing(loaded.backend):
            whole = sweep_of(plugins, given, conditions, wanted, wanted.needed(loaded))

            points = whole.points[first - 1 :: count]

            def opened() -> Store:
                return open_store(store, plugins.configuration)

            if dry_run:
                named_store = None if store is None else str(store)
                place = resolve(plugins.configuration.store_at(named_store))
                known: Mapping[Conditions, Administration] = {}
                if not isinstance(place, Path) or place.exists():
                    with opened() as written:
                        known = whole.known(written)
            else:
                run = partial(
                    run_sweep, model=loaded, workers=workers, together=batch_size, lanes=lanes
                )
                _give(run, whole, points, opened, progress)
                with opened() as written:
                    known = whole.known(written)
    rows = [Condition(point, known.get(point.conditions)) for point in points]
    left = sum(one.status != "done" for one in rows)
    if left and not dry_run:
        raise Interrupted(
            f"{plural(left, 'condition')} of the sweep left", hint="the same call continues"
        )
    return sweep_table(whole.name, rows)


def _give(
    run: Callable[..., Iterator[Told]],
    whole: Sweep,
    points: Sequence[Point],
    opened: Callable[[], Store],
    progress: Progress,
) -> None:
    """Give the conditions that the store lacks."""
    cancel = threading.Event()
    failed: list[Told] = []
    told = _teller(progress, len(points))
    try:
        for one in run(whole, points, opened, cancel):
            told(one)
            if one.failed:
                failed.append(one)
    except BaseException as error:
        # The workers' threads end at the next item; what they have answered is stored.
        cancel.set()
        error.add_note("the same call continues the sweep")
        raise
    if failed:
        raise TabwbError(
            f"{plural(len(failed), 'condition')} failed, first '{failed[0].point.name}': "
            f"{failed[0].failed}",
            hint="all others are stored; the same call tries again",
        )


def _teller(progress: Progress, planned: int) -> Callable[[Told], object]:
    if callable(progress):
        return lambda told: None if told.event is None else progress(told.event)
    if not progress:
        return lambda told: None
    ended = 0

    def show(told: Told) -> None:
        nonlocal ended
        if told.event is None:
            ended += 1
            print(f"\rcondition {ended} of {planned}", end="", file=sys.stderr)

    return show


@contextmanager
def _loaded(
    model: str, offline: bool | None
) -> Iterator[tuple[LesionableBackend, Mapping[str, str]]]:
    """Yield a model that can be lesioned, loaded, and its facts."""
    from tabwb.administer.sweep.sweep import Model

    with opened_plugins(offline=offline) as plugins:
        loaded = Model.loaded(plugins, model)
        with closing(loaded.backend):
            yield loaded.lesionable(), loaded.facts

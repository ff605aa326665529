"""Lesions from Python: the parts of a model, what a lesion changes, sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from tabwb.api.engine import (
    Names,
    Place,
    Progress,
    named,
    opened_plugins,
    python_names,
    tools_of,
    worked,
)
from tabwb.operations.dial import DialLesion
from tabwb.operations.lesion import LesionTargets, LocalizeUnits, PlanLesion, SweepLesions
from tabwb.operations.operation import Operation, Tools, made

if TYPE_CHECKING:
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

    tools = _done(LesionTargets, {"model": model}, offline)
    return parts_table(tools.result)


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

    tools = _done(PlanLesion, {"model": model, "lesion": lesion}, offline)
    document = tools.document
    return plan_table(tools.result, document["lesion"], document["of_parameters"])


def localize(
    model: str,
    out: str | PathLike[str],
    *,
    target: str = "mlp.neurons",
    share: float = 0.01,
    items: str | PathLike[str] | None = None,
    tokens: Literal["mean", "last"] = "mean",
    force: bool = False,
    offline: bool | None = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Write a list of the units that respond more to sentences than to nonwords; return it.

    Args:
        model: a spec (``"bundled"``); the model is loaded for it.
        out: the JSON file of the list, for ``select=list,file=FILE`` of a lesion.
        target: which units are measured.
        share: of all units that the list gets: those with the largest t.
        items: a TOML file with two conditions in place of sentences and nonwords.
        tokens: the response to a text: the mean over its tokens, or that at the last one.
        force: overwrite an existing file.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: an argument cannot be used, or models of this spec give no activations.
        TabwbError: the model cannot be loaded, or the file cannot be written.
    """
    given = {
        "model": model, "out": out, "target": target, "share": share, "items": items,
        "tokens": tokens, "force": force,
    }  # fmt: skip
    return _done(LocalizeUnits, given, offline, progress).document


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
    from tabwb.analysis.tables.lesions import Condition, sweep_table

    operation = made(SweepLesions, {
        "battery": named(battery), "model": model, "grid": grid, "workers": workers,
        "lanes": lanes, "shard": shard, "batch_size": batch_size,
        "asked": {
            "judges": judges, "replicates": replicates, "seed": seed, "protocol": protocol,
            "temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "stop": stop,
            "conversation": conversation, "item_order": item_order, "option_order": option_order,
            "prompt_noise": prompt_noise, "part_subtests": subtests, "part_items": items,
            "part_limit": limit,
        },
    })  # fmt: skip
    assert isinstance(operation, SweepLesions)
    with opened_plugins(offline=offline) as plugins, python_names():
        operation.check(plugins)
        tools = tools_of(plugins, store)
        tools.creates = not dry_run
        if dry_run:
            with closing(tools):
                operation.planned(tools)
        else:
            worked(operation, tools, progress)
    swept = tools.result
    rows = [Condition(point, swept.known.get(point.conditions)) for point in swept.points]
    return sweep_table(swept.name, rows)


def dial(
    model: str,
    *,
    target: str = "mlp",
    amounts: Sequence[float] = (),
    seeds: int | Sequence[int] = 1,
    layers: str = "all",
    battery: str | PathLike[str] = "tab",
    item: str = "",
    prompt: str = "",
    out: str | PathLike[str] | None = None,
    force: bool = False,
    keep: bool = False,
    store: Place = None,
    offline: bool | None = None,
    progress: Progress = False,
) -> Table:
    """Return the answers to one prompt, intact and at each step of a lesion's amount.

    For each lesion there is a control of the same size. ``new_words`` are those that the intact
    model does not say at their place; each feature that the rules judge rated is a column.

    Args:
        model: a spec (``"bundled"``); the model is loaded for it.
        target: what is lesioned.
        amounts: shares of units, above 0 to 1; empty: 0.01 to 0.2 in steps of 0.01.
        seeds: of the choice of units.
        layers: in which, ``"0-3,-1"``.
        battery: an id or the path of a battery file.
        item: which is asked, ``SUBTEST/ITEM``; empty: the first one of connected text.
        prompt: ask this in place of the item's prompt.
        out: write one HTML file with a slider.
        force: overwrite the file.
        keep: store the answers as the conditions of a sweep, with the tag ``dial``.
        store: where they are kept.
        offline: use no network from now on, in the whole process; None: as configured.
        progress: True for a line on stderr, or a function that gets each event.

    Raises:
        UsageError: an argument cannot be used, or the model lacks what it names.
        TabwbError: the model cannot be loaded, or does not answer.
    """
    numbers = [seeds] if isinstance(seeds, int) else seeds
    given = {
        "model": model, "target": target, "layers": layers, "battery": named(battery),
        "amounts": ",".join(map(repr, amounts)), "seeds": ",".join(map(str, numbers)),
        "item": item, "prompt": prompt, "out": out, "force": force, "keep": keep,
    }  # fmt: skip
    table: Table = _done(DialLesion, given, offline, progress, store if keep else None).result
    return table


def _done(
    kind: type[Operation],
    given: Mapping[str, Any],
    offline: bool | None,
    progress: Progress = False,
    store: Place = None,
) -> Tools:
    """Do an operation that needs no store, or makes one."""
    operation = made(kind, given)
    with opened_plugins(offline=offline) as plugins, python_names():
        operation.check(plugins)
        tools = tools_of(plugins, store)
        tools.creates = operation.creates
        worked(operation, tools, progress)
        return tools

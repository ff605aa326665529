"""``tabwb lesion``: what a model has that can be lesioned, and what a lesion would change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from tabwb.cli.common import (
    force_option,
    json_option,
    offline_option,
    opened_plugins,
    print_json,
    store_option,
    verbosity_options,
)
from tabwb.cli.options import condition_options
from tabwb.cli.run import batch_option
from tabwb.lesion.declared import MEASURES, Pool
from tabwb.records.words import plural, size_text

if TYPE_CHECKING:
    from rich.tree import Tree

    from tabwb.lesion.declared import Part
    from tabwb.plugin_api.components import LesionableBackend

_model_option = click.option(
    "--model", required=True, metavar="SPEC", help="The model, for example bundled."
)


@click.group()
def lesion() -> None:
    """Show which parts of a model can be lesioned, and what a lesion would change.

    A lesion here is a change of numbers in a model. It is given with: tabwb run BATTERY --model
    SPEC --lesion LESION.
    """


@lesion.command()
@_model_option
@json_option
@offline_option
def targets(model: str, as_json: bool, offline: bool | None) -> None:
    """Show the parts of a model that can be lesioned, as a tree with sizes."""
    from tabwb.media.terminal import print_view

    with _loaded(model, offline) as (backend, _):
        parts = backend.parts()
        if as_json:
            print_json({"format": 1, "model": model, "parts": list(map(_part_document, parts))})
        else:
            print_view(_tree(model, parts))


@lesion.command()
@click.argument("lesion")
@_model_option
@json_option
@offline_option
def plan(lesion: str, model: str, as_json: bool, offline: bool | None) -> None:
    """Show which tensors LESION would change in a model, and which share of its parameters."""
    from tabwb.lesion.localizer import localizer_scores
    from tabwb.lesion.spec import lesion_text, stored_form
    from tabwb.lesion.taken import change_text, kept, planned, whole
    from tabwb.media.terminal import print_view, table

    lesions = stored_form(lesion)
    with _loaded(model, offline) as (backend, facts):
        parts = backend.parts()
        found = planned(lesions, parts, model, localizer_scores(backend, parts, lesions, model))
    taken, of = sum(one.parameters for one in found), whole(parts, facts)
    if as_json:
        document = {
            "format": 1,
            "model": model,
            "lesion": lesion_text(lesions),
            "parameters": taken,
            "of_parameters": of,
            "kept_bytes": kept(found),
            "parts": [
                {
                    "lesion": str(one.lesion),
                    **_part_document(one.part),
                    "taken_units": one.units,
                    "taken_parameters": one.parameters,
                }
                for one in found
            ],
        }
        print_json(document)
        return
    view = table("units", "of", "parameters", first=("part", "tensors"), fold=True)
    for one in found:
        view.add_row(
            one.part.name,
            "\n".join(one.part.tensors),
            f"{one.units:,}",
            f"{one.part.units:,}",
            f"{one.parameters:,}",
        )
    print_view(view)
    click.echo(f"{lesion_text(lesions)} in {model} {change_text(taken, of)}")
    click.echo(f"kept to restore them: {size_text(kept(found))}")


@lesion.command()
@click.argument("battery")
@_model_option
@click.option(
    "--grid", required=True, metavar="FILE", help="A TOML file with lesions, amounts and seeds."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Number of models that work at one time, each in a separate process.",
)
@click.option(
    "--lanes",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Number of conditions in one batch of the model; 1: each alone. Default: up to 16 where "
    "that is faster, in float32.",
)
@click.option(
    "--shard",
    metavar="I/N",
    default="1/1",
    show_default=True,
    help="Give only the Ith of N shares of the conditions, for job arrays of a cluster.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Scheduler of a Dask cluster whose workers answer: tcp://HOST:PORT, or its .json file.",
)
@condition_options("run", "replicates", "seed", "protocol")
@batch_option
@click.option(
    "--dry-run", is_flag=True, help="Show the conditions, the time and the detectable differences."
)
@verbosity_options
@store_option
@json_option
@offline_option
def sweep(**options: Any) -> None:
    """Give BATTERY to a model under every lesion of a grid, and to the intact model.

    Each condition is a separate administration, tagged with the name of the grid. Conditions that
    the store has are not given again, so the same command continues a stopped sweep.

    Exit status: 0 done; 1 conditions failed; 3 stopped early, the same command continues.
    """
    from tabwb.cli.sweep import sweep_battery

    sweep_battery(options)


@lesion.command()
@_model_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The JSON file of the list, for select=list,file=FILE.",
)
@click.option(
    "--target",
    type=click.Choice(list(MEASURES)),
    default="mlp.neurons",
    show_default=True,
    help="Which units are measured.",
)
@click.option(
    "--share",
    type=float,
    default=0.01,
    show_default=True,
    help="The share of all units that the list gets: those with the largest t.",
)
@click.option(
    "--items",
    type=click.Path(path_type=Path),
    help="A TOML file with two conditions in place of sentences and nonwords.",
)
@click.option(
    "--tokens",
    type=click.Choice(get_args(Pool)),
    default="mean",
    show_default=True,
    help="The response to a text: the mean over its tokens, or that at the last one.",
)
@force_option
@verbosity_options
@json_option
@offline_option
def localize(**options: Any) -> None:
    """Write a list of the units that respond more to sentences than to lists of nonwords.

    For each unit Welch's t of its responses to both is computed. The list is lesioned with:
    --lesion mlp.neurons:zero@select=list,file=FILE. The agreement of two halves of the items is
    printed.
    """
    from tabwb.cli.localize import localize_units

    localize_units(options)


@lesion.command()
@click.argument("administration")
@click.option(
    "--model",
    metavar="SPEC",
    help="Another model, for example in another precision; default: the stored one.",
)
@batch_option
@store_option
@json_option
@offline_option
def repeat(**options: Any) -> None:
    """Give the condition of ADMINISTRATION again, and compare the answers; nothing is stored.

    The stored lesion is applied to the model, each item is asked with the seed that it had, and
    the differences are shown: answers, and the model facts and versions that may cause them.

    Exit status: 0 the answers are the same; 1 some are not.
    """
    from tabwb.cli.repeat import repeat_condition

    repeat_condition(options)


@contextmanager
def _loaded(
    model: str, offline: bool | None
) -> Iterator[tuple[LesionableBackend, Mapping[str, str]]]:
    """Yield a model that can be lesioned, loaded, and its facts."""
    from tabwb.plugin_api.components import LesionableBackend

    with opened_plugins(offline) as plugins, closing(plugins.open_model(model)) as backend:
        if not isinstance(backend, LesionableBackend):
            raise plugins.no_lesions(model)
        yield backend, backend.open()


def _part_document(part: Part) -> dict[str, object]:
    return {
        "part": part.name,
        "target": part.target,
        "layer": part.layer,
        "units": part.units,
        "parameters": part.parameters,
        "tensors": dict(part.tensors),
    }


def _tree(model: str, parts: Sequence[Part]) -> Tree:
    """Return the parts under their layers; what is in no layer comes first."""
    from rich.text import Text
    from rich.tree import Tree

    from tabwb.lesion.declared import TARGETS

    tree = Tree(Text(model))
    layers: dict[int | None, Tree] = {None: tree}
    for part in sorted(parts, key=lambda one: -1 if one.layer is None else one.layer):
        if part.layer not in layers:
            layers[part.layer] = tree.add(Text(f"layer {part.layer}"))
        unit = TARGETS[part.target].unit
        units = "" if unit == "weight" else f"{plural(part.units, unit)}, "
        layers[part.layer].add(Text(f"{part.target}  {units}{part.parameters:,} parameters"))
    return tree

"""``tabwb run`` and ``tabwb resume``: give a battery, here in the terminal."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    note,
    offline_option,
    open_store,
    opened_plugins,
    store_option,
    verbosity_options,
)
from tabwb.cli.giving import give, named_next, opened_model, show
from tabwb.cli.options import condition_options, requested_conditions
from tabwb.records.errors import UsageError
from tabwb.records.states import AdministrationStatus

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.records.conditions import Conditions


TOGETHER = 64
"""Items that a batching model gets at once; on a laptop more gains nothing."""


batch_option = click.option(
    "--batch-size",
    type=click.IntRange(1, 10_000),
    default=TOGETHER,
    show_default=True,
    help="Number of items given to a model at once, if it can batch; 1 streams each reply.",
)


@click.command()
@click.argument("battery")
@click.option("--model", metavar="SPEC", help="The model, for example bundled or replay:FILE.")
@click.option("--speaker", metavar="ID", help="A person who types: participant code, never a name.")
@condition_options(
    *("run", "research_protocol", "judges", "replicates", "seed", "protocol", "conversation"),
    *("item_order", "option_order", "max_tokens"),
)
@batch_option
@click.option("--dry-run", is_flag=True, help="Print every prompt as it would be sent.")
@verbosity_options
@store_option
@json_option
@offline_option
def run(**options: Any) -> int:
    """Give BATTERY (an id or a path) to a model or to a person who types.

    Exit status: 0 done; 1 failed, also if a scorer or judge failed (the responses are stored);
    3 stopped early but resumable; 130 after a second ctrl+c.
    """
    from tabwb.administer.consent import notices
    from tabwb.administer.session import setup

    with opened_plugins(options.get("offline"), dry=bool(options.get("dry_run"))) as plugins:
        battery = setup.find_battery(plugins, options["battery"])
        conditions = _conditions(options)
        conditions = setup.resolve(plugins, battery, conditions)
        _check_typed(battery, conditions, options["battery"])
        recorded = setup.recorded_replicates(plugins, conditions)
        if options.get("replicates") is None and recorded > 1:
            conditions = replace(conditions, replicates=recorded)
            note(f"{recorded} replicates, as in the file")
        if idle := setup.idle_replicates(plugins, battery, conditions):
            note(f"warning: {idle}")
        if options.get("judges") and (idle := setup.idle_judges(battery, conditions)):
            note(f"warning: {idle}")
        if options.get("dry_run"):
            from tabwb.cli.dry_run import dry_run

            as_json = bool(options.get("as_json"))
            return dry_run(plugins, battery, conditions, as_json=as_json)
        with (
            open_store(options.get("store_location"), plugins) as store,
            opened_model(plugins, conditions) as model,
            setup.create(store, plugins, battery, conditions) as session,
        ):
            if conditions.kind == "model":
                for told in notices(store, plugins, conditions):
                    note(told)
            together = options.get("batch_size", TOGETHER)
            return give(session, model, together, as_json=bool(options.get("as_json")))


@click.command()
@click.argument("administration")
@batch_option
@verbosity_options
@store_option
@json_option
@offline_option
def resume(
    administration: str,
    batch_size: int,
    store_location: str | None,
    as_json: bool,
    offline: bool | None,
) -> int:
    """Resume ADMINISTRATION (its number or uid) where it stopped."""
    from tabwb.administer.session import setup

    with (
        opened_plugins(offline) as plugins,
        open_store(store_location, plugins, create=False) as store,
        setup.resume(store, plugins, administration) as session,
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
            return 0
        if command := named_next(session):
            raise UsageError(
                f"the remaining items of administration {number} are named aloud",
                hint=f"continue with: {command}",
            )
        with opened_model(plugins, session.administration.conditions) as model:
            session.resume()
            return give(session, model, batch_size, as_json=as_json)


def _check_typed(battery: Battery, conditions: Conditions, asked: str) -> None:
    """Refuse a person a battery of which nothing is typed; it was ``asked`` for by id or path."""
    typed = any(subtest.task.typed for subtest in battery.subtests)
    if conditions.kind == "speaker" and not typed:
        raise UsageError(
            f"the pictures of '{battery.id}' are named aloud",
            hint=f"give it with: tabwb name {shlex.quote(asked)} --speaker {conditions.examinee} "
            "--input FOLDER|mic",
        )


def _conditions(options: dict[str, Any]) -> Conditions:
    model, speaker = options.get("model"), options.get("speaker")
    if (model is None) == (speaker is None):
        raise UsageError(
            "name one examinee: --model SPEC or --speaker ID",
            hint="for example: tabwb run tab --model bundled",
        )
    if model is None:
        return requested_conditions("run", str(speaker), "typed", options)
    return requested_conditions("run", str(model), "model", options)

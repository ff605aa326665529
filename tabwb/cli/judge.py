"""``tabwb judge``: judge stored answers, compare judges, look at the prompts of judges."""

from __future__ import annotations

import click

from tabwb.cli.common import json_option, open_store, opened_plugins, print_json, store_option
from tabwb.cli.judge_prompts import check, list_judges, show
from tabwb.cli.judge_run import run
from tabwb.records.errors import UsageError


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge with a model is named with it: tab-2026:gemini:gemini-2.5-flash.
    """


@click.command("report")
@click.argument("administrations", metavar="ID...", nargs=-1, required=True)
@store_option
@json_option
def report(administrations: tuple[str, ...], store_location: str | None, as_json: bool) -> int:
    """Compare the judges of administrations ID....

    One row for each judge with its burden, the agreement of every two judges, the features on which
    they differ most, and what most of them say. The administrations must be of one battery.
    """
    from tabwb.report.summaries.load import load_administrations, sources_of
    from tabwb.report.summaries.robustness import robustness

    with (
        opened_plugins() as plugins,
        open_store(store_location, plugins, create=False) as store,
    ):
        chosen = load_administrations(store, administrations)
    if len({one.battery.content_hash for one in chosen}) != 1:
        raise UsageError("the administrations must be of one battery")
    found = robustness(sources_of(chosen))
    if as_json:
        print_json({"format": 1, **found.to_json()})
        return 0
    from tabwb.report.render.printing import print_view
    from tabwb.report.render.robustness import robustness_view

    titles = {feature.id: feature.title for feature in chosen[0].battery.features}
    print_view(robustness_view(found, titles))
    return 0


for command in (run, report, list_judges, show, check):
    judge.add_command(command)

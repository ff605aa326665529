"""``tabwb responses``: what was said, with the words on which features were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import (
    json_option,
    missing_store,
    open_store,
    opened_plugins,
    print_json,
    store_option,
)
from tabwb.cli.result_formats import warn_unshared
from tabwb.cli.selecting import where_option
from tabwb.operations.files import resolved_selection

if TYPE_CHECKING:
    from tabwb.analysis.administrations import AdministrationData
    from tabwb.store.store import Store

SHOWN = 200
"""Responses that are printed where ``--limit`` does not say how many."""
OF_RESPONSE = (
    "administration", "examinee", "subtest", "item", "replicate", "prompt", "response",
    "expected", "exact", "effective_status", "usable", "words", "latency_s",
)  # fmt: skip


@click.command()
@click.argument("administrations", nargs=-1)
@where_option
@click.option("--subtest", multiple=True, metavar="ID", help="Only responses to this; repeatable.")
@click.option("--item", multiple=True, metavar="ID", help="Only responses to this; repeatable.")
@click.option(
    "--feature",
    multiple=True,
    metavar="ID",
    help="Only responses in which a rater found this; repeatable: one of them is enough.",
)
@click.option("--judge", metavar="RATER", help="Only features that this rater found.")
@click.option("--reasoning", is_flag=True, help="Also show what a model wrote in its thinking.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help=f"At most N; default: {SHOWN}.")
@store_option
@json_option
def responses(
    administrations: tuple[str, ...],
    where: tuple[str, ...],
    subtest: tuple[str, ...],
    item: tuple[str, ...],
    feature: tuple[str, ...],
    judge: str | None,
    reasoning: bool,
    limit: int | None,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Show the responses of ADMINISTRATIONS, or of all, with the features that raters found.

    Each feature has its rater and the reason, in which the rules judge quotes the words.
    """
    from tabwb.analysis.selection import Selection, selected

    with opened_plugins() as plugins:
        if not administrations and missing_store(store_location, plugins):
            found: list[dict[str, Any]] = []
        else:
            choice = Selection.of(
                "administration", where, judge=judge, subtests=subtest, items=item
            )
            with open_store(store_location, plugins, create=False) as store:
                choice = resolved_selection(choice, plugins, "")
                chosen = selected(store, administrations, choice)
                given = (one.administration for one in chosen)
                warn_unshared(store, plugins, given, "json" if as_json else "text")
                found = list(_responses(store, chosen, choice.judge, feature))
                if reasoning:
                    _add_reasoning(store, found)
    if as_json:
        rows = found if limit is None else found[:limit]
        print_json({"format": 1, "responses": rows})
        return
    shown = found[: limit or SHOWN]
    for row in shown:
        click.echo("\n".join(_lines(row)))
    if len(found) > len(shown):
        click.echo(f"{len(found) - len(shown):,} more; --limit N shows N, --json all")
    if not found:
        click.echo("no responses")


def _responses(
    store: Store,
    chosen: tuple[AdministrationData, ...],
    judge: str | None,
    features: tuple[str, ...],
) -> Iterator[dict[str, Any]]:
    """Yield the responses with what raters found in them; of ``features``, one is needed."""
    from tabwb.analysis.selection import check_features
    from tabwb.analysis.tables.responses import ratings_table, responses_table

    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    rated: dict[str, None] = {}
    known = {feature.id for one in chosen for feature in one.battery.features}
    ratings = ratings_table(store, chosen, judge)
    names = ("id", "trial_number", "rater", "measure", "value", "rating_reason")
    for number, trial, rater, measure, value, reason in zip(
        *(ratings[name].to_list() for name in names), strict=True
    ):
        if measure not in known:
            continue
        rated[measure] = None
        if value == 1:
            said = {"feature": measure, "rater": rater, "reason": reason or ""}
            found.setdefault((number, trial), []).append(said)
    check_features(rated, features)
    table = responses_table(store, chosen)
    own = {name: table[name].to_list() for name in ("id", "trial_number", *OF_RESPONSE)}
    for place in range(len(table)):
        row = {name: values[place] for name, values in own.items()}
        row["features"] = found.get((row["id"], row["trial_number"]), [])
        wanted = {each["feature"] for each in row["features"]} & set(features)
        if wanted or not features:
            yield row


def _add_reasoning(store: Store, rows: list[dict[str, Any]]) -> None:
    trials = {
        number: {trial.plan.number: trial for trial in store.trials(number)}
        for number in {row["id"] for row in rows}
    }
    for row in rows:
        counting = trials[row["id"]][row["trial_number"]].counting
        row["reasoning"] = counting.reasoning if counting is not None else ""


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one response."""
    from tabwb.records.words import visible

    status = row["effective_status"]
    parts = [f"#{row['id']}", row["examinee"], f"{row['subtest']}/{row['item']}"]
    if row["replicate"]:
        parts.append(f"replicate {row['replicate'] + 1}")
    if status != "ok":
        parts.append(status if row["usable"] else f"{status}, not usable")
    if row["exact"] is not None:
        parts.append("right" if row["exact"] else f"wrong; expected: {row['expected']}")
    yield visible("  ".join(parts))
    if row.get("reasoning"):
        yield f"  thinking: {visible(' '.join(row['reasoning'].split()))}"
    for line in (row["response"] or "(no text)").split("\n"):
        yield f"  {visible(line)}"
    for each in row["features"]:
        reason = f": {' '.join(each['reason'].split())}" if each["reason"] else ""
        yield visible(f"    {each['feature']} ({each['rater']}){reason}")
    yield ""

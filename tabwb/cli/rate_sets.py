"""``tabwb rate list``, ``show``, ``status``, ``close``, ``reopen`` and ``start``."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, opened_store, print_json, store_option
from tabwb.records.errors import UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.records.rating_sets import RatingSet
    from tabwb.store.store import Store

_set = click.argument("reference", metavar="SET")


@click.command("list")
@store_option
@json_option
def list_sets(store_location: str | None, as_json: bool) -> None:
    """List the rating sets."""
    with opened_store(store_location) as (_, store):
        rows = [{**_head(one), **_totals(store, one)} for one in store.sets.all()]
    if as_json:
        print_json({"format": 1, "sets": rows})
        return
    if not rows:
        note("no rating set; make one: tabwb rate plan NAME --raters R1,R2")
        return
    names, forms = (max(8, *(len(row[key]) for row in rows)) for key in ("set", "form"))
    click.echo(f"{'set':<{names}}  {'form':<{forms}}  status    done      of  raters")
    for row in rows:
        click.echo(
            f"{row['set']:<{names}}  {row['form']:<{forms}}  {row['status']:<6} "
            f"{row['done']:>7} {row['assigned']:>7}  {', '.join(row['raters'])}"
        )


def _when(at: str | None) -> str:
    """Return a stored time to the minute, in words."""
    return f"{at[:16].replace('T', ' ')} UTC" if at else "-"


@click.command()
@_set
@store_option
@json_option
def show(reference: str, store_location: str | None, as_json: bool) -> None:
    """Show the plan and the history of SET, without samples and ratings."""
    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
        samples = store.sets.samples(kept.id)
        events = store.sets.events(kept.id)
        document: dict[str, Any] = {
            "format": 1,
            **_head(kept),
            **_totals(store, kept),
            "presentation": asdict(kept.presentation),
            "seed": kept.seed,
            "ask_source": kept.ask_source,
            "guidelines": kept.guidelines or None,
            "samples": sum(one.consensus is None for one in samples),
            "calibration": sum(one.consensus is not None for one in samples),
            "strata": dict(Counter(one.stratum for one in samples if one.consensus is None)),
            "events": [asdict(event) for event in events],
        }
    if as_json:
        print_json(document)
        return
    policy = kept.presentation
    shown = f"case {policy.case}, punctuation {policy.punctuation}"
    shown += ", cuts marked" if policy.cut_mark else ", cuts not marked"
    shown += f", at most {policy.max_words} words" if policy.max_words else ""
    lines = [
        f"{kept.name}  ({kept.uid}), {kept.status}, made {_when(kept.created_at)}",
        f"form {kept.form_id}; counts: {kept.counts}; seed {kept.seed}",
        f"{document['samples']} samples, {document['calibration']} for calibration; {shown}",
        f"raters: {', '.join(document['raters'])}",
    ]
    lines += ["last question: person or machine?"] if kept.ask_source else []
    lines += [f"guidelines: {len(kept.guidelines.split())} words"] if kept.guidelines else []
    lines += [
        " ".join(filter(None, (_when(event.recorded_at), event.kind, event.text, event.who)))
        for event in events
    ]
    click.echo("\n".join(lines))


@click.command()
@_set
@store_option
@json_option
def status(reference: str, store_location: str | None, as_json: bool) -> None:
    """Show the progress of each rater of SET; no answer is shown.

    Flagged: samples that were confirmed without an answer, or in less time than the form's minimum.
    """
    from tabwb.store.sets import asked_by

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
        rows = _progress(store, kept)
        least = asked_by(kept).least_seconds
    if as_json:
        print_json({"format": 1, **_head(kept), "min_seconds": least, "progress": rows})
        return
    column = max([11, *(len(row["rater"]) for row in rows)])
    click.echo(f"{'rater':<{column}} done    of  begun  minutes  s/sample  flagged  last")
    for row in rows:
        median = "-" if row["median_seconds"] is None else f"{row['median_seconds']:.0f}"
        click.echo(
            f"{row['rater']:<{column}} {row['done']:>4} {row['assigned']:>5} {row['begun']:>6} "
            f"{row['minutes']:>8.0f} {median:>9} {row['flagged']:>8}  {_when(row['last'])}"
        )
    if flagged := sum(row["flagged"] for row in rows):
        note(
            f"warning: {plural(flagged, 'sample')} confirmed without any answer or in less than "
            f"{least:g} s; 'tabwb rate export {kept.name}' names them in the column flag"
        )


@click.command()
@_set
@click.option("--reason", default="", help="The reason; stored.")
@store_option
def close(reference: str, reason: str, store_location: str | None) -> None:
    """Close SET: nobody can rate in it until it is opened again. Answers can still be settled."""
    _change(reference, "closed", reason, store_location)


@click.command()
@_set
@click.option("--reason", default="", help="The reason; stored.")
@store_option
def reopen(reference: str, reason: str, store_location: str | None) -> None:
    """Open SET again."""
    _change(reference, "reopened", reason, store_location)


def _change(reference: str, kind: str, reason: str, store_location: str | None) -> None:
    from tabwb.records.rating_sets import SetEvent

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
        wanted = "closed" if kind == "closed" else "open"
        if kept.status == wanted:
            note(f"rating set '{kept.name}' is {wanted} already")
            return
        store.sets.log(kept.id, SetEvent(kind, reason))
        unfinished = sum(row["assigned"] - row["done"] for row in _progress(store, kept))
    rest = (
        f"; {plural(unfinished, 'rating')} not given" if unfinished and wanted == "closed" else ""
    )
    note(f"rating set '{kept.name}' is {wanted}{rest}")


@click.command()
@_set
@click.option("--rater", metavar="CODE", required=True, help="Who rates.")
@store_option
@click.pass_context
def start(context: click.Context, reference: str, rater: str, store_location: str | None) -> None:
    """Rate SET: open the rating page of one rater at the first incomplete sample.

    Needs a terminal.
    """
    from tabwb.store.sets import refuse_closed

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
    if rater not in kept.raters:
        raise UsageError(
            f"'{rater}' is not a rater of '{kept.name}'",
            where="--rater",
            allowed=", ".join(kept.raters),
        )
    refuse_closed(kept)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("rating needs a terminal", hint="run this command in a terminal")
    faces = context.find_root().obj
    if faces is None or faces[2] is None:
        raise UsageError("the workbench is not part of this call; use the program 'tabwb'")
    context.exit(faces[2](store_location, kept.uid, rater))


def _head(kept: RatingSet) -> dict[str, Any]:
    return {
        "set": kept.name,
        "id": kept.id,
        "uid": kept.uid,
        "form": kept.form_id,
        "status": kept.status,
        "counts": kept.counts,
        "created_at": kept.created_at,
    }


def _totals(store: Store, kept: RatingSet) -> dict[str, Any]:
    rows = _progress(store, kept)
    assigned, done = (sum(row[name] for row in rows) for name in ("assigned", "done"))
    return {"raters": list(kept.raters), "assigned": assigned, "done": done}


def _progress(store: Store, kept: RatingSet) -> list[dict[str, Any]]:
    from tabwb.analysis.rating_sets import progress_of

    return [asdict(one) for one in progress_of(store, kept)]

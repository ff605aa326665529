"""``tabwb rate disputed`` and ``tabwb rate settle``: what raters differ on, and what settles it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import click

from tabwb.cli.common import json_option, note, opened_store, print_json, store_option
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.rating.adjudication import Adjudicator, Which
    from tabwb.administer.rating.disputes import Dispute


@click.command()
@click.argument("reference", metavar="SET")
@click.option("--measure", "measures", metavar="MEASURE", multiple=True,
              help="Only this question; repeatable.")  # fmt: skip
@click.option("--sample", "samples", metavar="N", type=click.IntRange(1), multiple=True,
              help="Only this sample; repeatable.")  # fmt: skip
@click.option("--settled", "which", flag_value="settled", help="Only settled answers.")
@click.option("--all", "which", flag_value="all", help="Settled answers too.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True,
              help="Maximum number of answers to print; --json has all.")  # fmt: skip
@store_option
@json_option
def disputed(
    reference: str,
    measures: tuple[str, ...],
    samples: tuple[int, ...],
    which: str | None,
    limit: int,
    store_location: str | None,
    as_json: bool,
) -> None:
    """List the answers of SET on which raters, and judges, differ most.

    They are sorted by the share of pairs of people who differ, then by that of pairs of a person
    and a judge. Each verdict has its rater; where a sample comes from is not shown.
    """
    from tabwb.administer.rating.adjudication import Adjudicator
    from tabwb.analysis.names import judge_names

    with opened_store(store_location) as (plugins, store):
        adjudicator = Adjudicator(store, plugins, reference)
        found = adjudicator.disputes(
            which=cast("Which", which or "open"), measures=measures, samples=samples
        )
        settled, of = adjudicator.progress()
        if as_json:
            print_json(
                {
                    "format": 1,
                    "set": adjudicator.set.name,
                    "counts": adjudicator.set.counts,
                    "settled": settled,
                    "of": of,
                    "withheld": adjudicator.withheld,
                    "disputes": [_plain(adjudicator, one) for one in found],
                }
            )
            return
        names = judge_names(judge for one in found for judge, _ in one.judges)
        for one in found[:limit]:
            click.echo("\n".join(_lines(adjudicator, one, names)) + "\n")
        if adjudicator.withheld:
            samples_words = plural(adjudicator.withheld, "sample")
            note(f"{samples_words} withheld: the speakers do not agree to rating")
        rest = len(found) - limit
        note(
            f"{plural(len(found), 'answer')}; {settled} of {of} that people differ on are settled"
            + (f"; {rest} more with --limit {len(found)}" if rest > 0 else "")
        )


@click.command()
@click.argument("reference", metavar="SET")
@click.argument("sample", type=click.IntRange(1))
@click.argument("measure")
@click.argument("value", required=False)
@click.option("--reason", default="", help="The reason; required and stored.")
@click.option("--who", metavar="CODE", default="", help="Who settles; default: your login name.")
@click.option(
    "--undo",
    is_flag=True,
    help="Take back the settled value; the one before it counts again.",
)
@store_option
@json_option
def settle(
    reference: str,
    sample: int,
    measure: str,
    value: str | None,
    reason: str,
    who: str,
    undo: bool,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Settle MEASURE of SAMPLE of SET with VALUE; the ratings of people are not changed.

    VALUE is present, absent, a number of the scale, an option, words or phonemes, or cannot-tell.
    """
    from tabwb.administer.rating.adjudication import Adjudicator

    if undo == (value is not None):
        raise click.UsageError("give either VALUE or --undo")
    with opened_store(store_location) as (plugins, store):
        adjudicator = Adjudicator(store, plugins, reference, who)
        if value is None:
            decision = adjudicator.take_back(sample, measure)
        else:
            answer = adjudicator.read(measure, value)
            decision = adjudicator.settle(sample, measure, answer, reason)
        held = "not settled" if decision is None else adjudicator.words(measure, decision.answer)
        if as_json:
            rows = adjudicator.history(sample, measure)
            print_json(
                {
                    "format": 1,
                    "set": adjudicator.set.name,
                    "sample": sample,
                    "measure": measure,
                    "answer": None if decision is None else decision.answer,
                    "history": [
                        {"answer": row.answer, "reason": row.reason, "who": row.who,
                         "at": row.recorded_at}
                        for row in rows
                    ],
                }
            )  # fmt: skip
            return
        settled, of = adjudicator.progress()
        note(f"sample {sample}, {measure}: {held}; {settled} of {of} settled")


_INDENTED = partial(wrap, width=78, initial_indent="  ", subsequent_indent="  ")


def _lines(adjudicator: Adjudicator, one: Dispute, names: Mapping[str, str]) -> list[str]:
    sample = adjudicator.shown(one.sample)
    given = [adjudicator.said(one, said) for said in one.verdicts]
    judges = [
        f"{names[judge]} {adjudicator.words(one.measure, value)}" for judge, value in one.judges
    ]
    shown = sample.text or f"{sample.prompt}  {sample.target}"
    text = " ".join(shown.split())
    lines = [
        f"sample {one.sample}  {one.measure}  ({one.title})",
        *_INDENTED(text if len(text) <= TEXT else f"{text[:TEXT]} …"),
        *_INDENTED(", ".join(given)),
        *_INDENTED(", ".join(judges)),
    ]
    if one.settled is not None:
        answer = adjudicator.words(one.measure, one.settled.answer)
        when = f"{one.settled.recorded_at[:16].replace('T', ' ')} UTC"
        lines += _INDENTED(f"settled: {answer}, {one.settled.who}, {when}: {one.settled.reason}")
    return lines


TEXT = 200
"""Characters of a sample's text that are printed."""


def _plain(adjudicator: Adjudicator, one: Dispute) -> dict[str, Any]:
    sample, settled = adjudicator.shown(one.sample), one.settled
    return {
        "sample": one.sample,
        "measure": one.measure,
        "text": sample.text,
        "prompt": sample.prompt,
        "people": [
            {"rater": said.rater, "answer": said.answer, "confidence": said.confidence,
             "note": said.note or None, "looked_at": said.looked_at}
            for said in one.verdicts
        ],
        "judges": [{"rater": judge, "value": value} for judge, value in one.judges],
        "people_differ": one.people_differ,
        "judges_differ": one.judges_differ,
        "majority": one.majority,
        "settled": None
        if settled is None
        else {"answer": settled.answer, "reason": settled.reason, "who": settled.who,
              "at": settled.recorded_at},
    }  # fmt: skip

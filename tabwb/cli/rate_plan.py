"""``tabwb rate plan``: make a rating set of stored responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tabwb.cli.common import Finite, json_option, note, opened_store, print_json, store_option
from tabwb.cli.selecting import where_option
from tabwb.records.errors import UsageError
from tabwb.records.words import plural, separated

if TYPE_CHECKING:
    from tabwb.analysis.rating_plan import PlannedSet
    from tabwb.battery.forms import Form

Command = TypeVar("Command", bound=Callable[..., Any])
_SHARE = Finite(0, 1)
_OPTIONS = (
    click.option("--form", "form_name", metavar="FORM", default="tab-19", show_default=True,
                 help="Id or path of a form ('tabwb rate forms list')."),
    click.option("--raters", metavar="CODE[,CODE...]", required=True,
                 help="Who rates: a code each, such as R1,R2; never a name."),
    where_option,
    click.option("--subtest", "subtests", multiple=True, metavar="ID",
                 help="Only responses to this; repeatable. Default: connected text, or naming "
                 "where the form has no text."),
    click.option("--item", "items", multiple=True, metavar="ID",
                 help="Only responses to this; repeatable."),
    click.option("--status", "statuses", metavar="STATUS[,STATUS...]", default="",
                 help="Statuses of responses (default: the usable ones, ok and truncated)."),
    click.option("--repeated", is_flag=True,
                 help="Keep equal texts that an examinee gave to one item; otherwise one of them."),
    click.option("--stratify", metavar="KEY[,KEY...]", default="",
                 help="Draw from strata by keys, such as origin,lesion-amount,item."),
    click.option("--samples", type=click.IntRange(1), metavar="N",
                 help="Draw N responses, in proportion to the strata (default: all)."),
    click.option("--per-stratum", type=click.IntRange(1), metavar="N",
                 help="Draw N of each stratum, or all where it has fewer."),
    click.option("--overlap", type=click.IntRange(0), metavar="N",
                 help="Number of samples that several raters rate (default: all)."),
    click.option("--raters-per-sample", type=click.IntRange(1), metavar="N",
                 help="Number of raters for each of these (default: all)."),
    click.option("--per-rater", type=click.IntRange(1), metavar="N",
                 help="Maximum number of samples of one rater; an error if that is not enough."),
    click.option("--again", type=Finite(0, 0.5), default=0.1, show_default=True,
                 help="Share of a rater's samples that is shown again later."),
    click.option("--distance", type=click.IntRange(0), default=20, show_default=True,
                 help="Least number of samples between the two showings, where the list allows."),
    click.option("--calibration", type=click.Path(path_type=Path), metavar="FILE",
                 help="CSV with response (ADMINISTRATION/TRIAL), measure, value: samples with a "
                 "known consensus, shown first, with feedback."),
    click.option("--calibration-set", metavar="SET", default="",
                 help="The same from an earlier set with this form: its samples whose every answer "
                 "is settled, or given alike by two raters or more."),
    click.option("--guidelines", type=click.Path(path_type=Path), metavar="FILE",
                 help="A text (Markdown) that raters read before they begin."),
    click.option("--context", type=click.IntRange(0, 5), default=0, show_default=True,
                 help="Responses before and after that are shown with each."),
    click.option("--case", type=click.Choice(["as-said", "lower"]), default="as-said",
                 show_default=True, help="How texts are shown: letter case."),
    click.option("--punctuation", type=click.Choice(["kept", "none"]), default="kept",
                 show_default=True, help="How texts are shown: punctuation."),
    click.option("--max-words", type=click.IntRange(1), metavar="N",
                 help="Cut every text after N words."),
    click.option("--no-cut-mark", is_flag=True, help="Do not mark texts that were cut."),
    click.option("--ask-source", is_flag=True,
                 help="Ask at the end whether a person or a machine produced the sample."),
    click.option("--counts", metavar="RULE", default="majority", show_default=True,
                 help="Whose ratings count: primary:CODE, majority, consensus, adjudicated."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed of every draw and order."),
    click.option("--hybrid", is_flag=True,
                 help="Plan only the responses that a person rates first where a judge rates all."),
    click.option("--judge", metavar="JUDGE", help="Hybrid: the judge that rated the responses."),
    click.option("--frequent", type=_SHARE, default=0.2, show_default=True,
                 help="Hybrid: a feature in at least this share of the responses is frequent."),
    click.option("--margin", type=Finite(0, 0.5), default=0.2, show_default=True,
                 help="Hybrid: a probability this near to 0.5 is uncertain."),
    click.option("--audit", type=_SHARE, default=0.1, show_default=True,
                 help="Hybrid: share of the other responses that is audited."),
    click.option("--dry-run", is_flag=True, help="Print the plan; make nothing."),
)  # fmt: skip


def _options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("name", metavar="NAME")
@click.argument("administrations", metavar="[ADMINISTRATION]...", nargs=-1)
@_options
@store_option
@json_option
def plan(
    name: str,
    administrations: tuple[str, ...],
    form_name: str,
    raters: str,
    no_cut_mark: bool,
    hybrid: bool,
    judge: str | None,
    dry_run: bool,
    store_location: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Make the rating set NAME of stored responses (of all administrations, or of those named).

    Every rater gets the calibration samples first, then their own samples in their own order; some
    of these are shown again later. The samples of each rater are printed with the expected
    minutes. --dry-run also prints the expected width of the intervals of agreement.
    """
    from tabwb.analysis.rating_plan import plan_document, plan_with
    from tabwb.plugin_api.forms import check_raters, open_form

    if hybrid and not judge:
        raise UsageError("--hybrid needs --judge", hint="the judge that has rated the responses")
    if judge and not hybrid:
        raise UsageError("--judge is for --hybrid", hint="add --hybrid, or leave it out")
    codes = separated(raters)
    chosen: Any = {**options, "cut_mark": not no_cut_mark, "hybrid": judge or ""}
    with opened_store(store_location) as (plugins, store):
        form = open_form(form_name, plugins.find_battery)
        check_raters(codes, plugins)
        made = plan_with(store, plugins, name, form, codes, chosen, administrations)
        uid = None if dry_run else store.sets.create(made.plan).uid
    if as_json:
        print_json(plan_document(made, uid))
        return
    click.echo("\n".join(_lines(made, form, dry=dry_run)))
    if uid is None:
        note("nothing was made (--dry-run)")
    else:
        first = made.plan.kept.raters[0]
        note(f"rating set '{name}' made; next: tabwb rate start {name} --rater {first}")


def _lines(made: PlannedSet, form: Form, *, dry: bool) -> Iterator[str]:
    expected, found = made.planned, made.candidates
    plan = made.plan
    total = sum(taken for _, taken in expected.strata.values())
    learned = len(plan.samples) - total
    responses = plural(len(found.found), "response")
    yield f"{plan.kept.name}: {plural(total, 'sample')} of {responses}, form {form.id}"
    if found.scope:
        yield f"subtests: {', '.join(found.scope)} (--subtest chooses others)"
    if found.left_out:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.left_out.items())
        yield f"left out: {reasons}"
    if made.queue is not None:
        yield from _queue_lines(made)
    several = f"{expected.several} rated by several" if len(plan.kept.raters) > 1 else ""
    if several:
        yield several + (f"; calibration: {learned}" if learned else "")
    yield from _strata_lines(expected.strata)
    yield ""
    column = max([11, *(len(one.rater) for one in expected.work)])
    yield f"{'rater':<{column}} samples  again  calibration  minutes"
    for one in expected.work:
        yield (
            f"{one.rater:<{column}} {one.samples:>7} {one.again:>6} {one.calibration:>12} "
            f"{one.seconds / 60:>8.0f}"
        )
    if expected.measured is None:
        yield "minutes: assumed (200 words a minute, 3 s for each feature, 5 s for other questions)"
    else:
        yield f"minutes: from the median of stored ratings, {expected.measured:.0f} s each"
    yield from _shared_lines(made)
    if dry:
        yield from _width_lines(made)
    for sign in expected.signs:
        if sign.tells:
            yield (
                f"form reveals the source: {sign.name} in {sign.people} of {sign.of_people} "
                f"texts of people and {sign.models} of {sign.of_models} of models; {sign.remedy} "
                "removes it"
            )


def _strata_lines(strata: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    if set(strata) <= {""}:
        return
    yield ""
    yield "responses  samples  weight  stratum"
    for name, (size, taken) in list(strata.items())[:MOST]:
        yield f"{size:>9} {taken:>8} {size / taken:>7.2f}  {name}"
    if len(strata) > MOST:
        yield f"... {len(strata) - MOST} more strata (--json has all)"


def _shared_lines(made: PlannedSet) -> Iterator[str]:
    pairs = made.planned.pairs
    if not pairs:
        return
    fewest, most = min(pairs.values()), max(pairs.values())
    shared = str(most) if fewest == most else f"{fewest} to {most}"
    yield ""
    yield f"samples that each pair of raters shares: {shared}"
    if most < LEAST_SHARED:
        yield f"  agreement lists pairs with fewer than {LEAST_SHARED}, and averages none of them"
    elif fewest < LEAST_SHARED:
        yield f"  agreement lists pairs with fewer than {LEAST_SHARED}, and does not average them"


def _width_lines(made: PlannedSet) -> Iterator[str]:
    widths = made.planned.widths()
    if not widths:
        return
    yield "expected width of the 95 % interval for one feature; - where too few samples have it"
    prevalences = list(dict.fromkeys(one.prevalence for one in widths))
    yield "  prevalence                 " + " ".join(f"{one:>5.0%}" for one in prevalences)
    for number, n in dict.fromkeys((one.pairs, one.n) for one in widths):
        what = f"{plural(number, 'pair')}, {plural(n, 'sample')}"
        for kappa in dict.fromkeys(one.kappa for one in widths):
            row = [one for one in widths if (one.pairs, one.n, one.kappa) == (number, n, kappa)]
            for label, values in (
                ("kappa", [one.of_kappa for one in row]),
                ("AC1", [one.of_ac1 for one in row]),
            ):
                cells = " ".join("    -" if each is None else f"{each:>5.2f}" for each in values)
                yield f"  {what:<21} {label:<5} {cells}  where kappa is {kappa:g}"


def _queue_lines(made: PlannedSet) -> Iterator[str]:
    queue = made.queue
    assert queue is not None
    share = queue.to_person / queue.responses
    yield (
        f"judged by {queue.judge}: {queue.responses:,}; to a person first: {queue.to_person:,} "
        f"({share:.0%})"
    )
    how = (
        "" if queue.has_probabilities else " (the judge gives no probability: failed verdicts only)"
    )
    yield f"  judge uncertain {queue.uncertain:,}{how}"
    features = ", ".join(f"{measure} {value:.0%}" for measure, value in queue.frequent)
    yield f"  frequent feature present {queue.with_frequent:,} ({features or 'none is frequent'})"
    yield f"  audit {queue.audited:,} of the other {queue.rest:,}"


MOST = 30
"""Strata that are printed."""
LEAST_SHARED = 10
"""Samples that a pair must share for its agreement to be averaged."""

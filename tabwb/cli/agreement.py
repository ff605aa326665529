"""``tabwb agreement`` and ``judge``: raters compared, judges and what they said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.command import add_commands
from tabwb.cli.common import (
    json_option,
    note,
    opened_plugins,
    opened_store,
    print_json,
    store_option,
)
from tabwb.operations.judge import CheckPrompt, JudgeRun, ListJudges, ShowJudge
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from tabwb.analysis.agreement import Agreement
    from tabwb.battery.forms import Form
    from tabwb.store.store import Store


@click.command()
@click.argument("what", metavar="SET|ID...|FILTER...|RATINGS.csv", nargs=-1, required=True)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="RATER",
    help="In a table: RATER is not a person; repeatable. In a set: only these judges.",
)
@click.option(
    "--ties",
    type=click.Choice(["drop", "positive", "negative", "adjudicated"]),
    default="drop",
    show_default=True,
    help="The value of a tie of the consensus. The page shows all rules.",
)
@click.option(
    "--cannot-tell",
    type=click.Choice(["missing", "absent"]),
    default="missing",
    show_default=True,
    help='The value of "cannot tell". The page shows both.',
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="MEASURE=KIND",
    help="In a table: present-absent, scale, choice, phonemes or text, if the values do not show "
    "it; repeatable.",
)
@click.option(
    "--details", is_flag=True, help="Also print the intervals of the raters' error rates."
)
@click.option(
    "--draws",
    type=click.IntRange(0, 100_000),
    help="Number of draws for the intervals; 0: no intervals. [default: 2,000; of more than "
    "10,000 samples fewer]",
)
@click.option("--seed", type=click.IntRange(0), default=20260, show_default=True,
              help="Seed of the draws.")  # fmt: skip
@click.option(
    "--figure",
    "figure_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also draw kappa and AC1 by feature: a .pdf, .svg or .png; never overwritten.",
)
@click.option(
    "--draw",
    type=click.Choice(["agreement", "calibration"]),
    default="agreement",
    show_default=True,
    help="What the figure shows; calibration: sensitivity and specificity of judges by feature.",
)
@store_option
@json_option
def agreement(
    what: tuple[str, ...],
    judges: tuple[str, ...],
    kinds: tuple[str, ...],
    details: bool,
    figure_file: Path | None,
    draw: str,
    store_location: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Show how far raters agree: of a rating set, of administrations, or of a table.

    A FILTER such as 'AQ<50' or 'site=A model!=echo' stands for the administrations that it chooses.

    RATINGS.csv has the columns response, rater, measure and value; an empty value is not rated.
    Columns speaker and occasion are used too; the rater 'adjudicated' has the settled values.

    People are compared with each other, every judge with each person (like with like) and with the
    consensus of the people.
    """
    from tabwb.analysis.agreement import Choices, agreement_of
    from tabwb.analysis.stored_ratings import rated_of
    from tabwb.host.forms import open_form
    from tabwb.media.terminal import print_view
    from tabwb.media.views.agreement import agreement_document, agreement_view

    if figure_file is not None:
        from tabwb.media.destination import check_destination
        from tabwb.media.figures import format_of

        format_of(figure_file)
        check_destination(figure_file)

    @contextmanager
    def opened() -> Iterator[Store]:
        with opened_store(store_location) as (_, store):
            yield store

    def form_of(name: str) -> Form:
        with opened_plugins() as plugins:
            return open_form(name, plugins.find_battery)

    rated = rated_of(what, opened, form_of, judges=judges, kinds=_pairs(kinds))
    found = agreement_of(rated, Choices(**choices))
    if figure_file is not None:
        _draw(found, figure_file, draw)
    if as_json:
        print_json(agreement_document(found))
    else:
        print_view(agreement_view(found, details=details))


def _pairs(kinds: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for text in kinds:
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise UsageError(f"'{text}' is not MEASURE=KIND", where="--kind")
        pairs[name] = kind
    return pairs


def _draw(found: Agreement, out: Path, name: str) -> None:
    from tabwb.media.figures import drawn, save
    from tabwb.media.figures.groups import agreement_table, calibration_table

    table = (calibration_table if name == "calibration" else agreement_table)(found)
    place = save(drawn(name, table, command="tabwb agreement"), out)
    note(f"{place} written")


@click.group()
def judge() -> None:
    """Judge stored responses, compare judges, show their prompts.

    A judge that asks a model is written with the model: tab-2026:gemini:gemini-2.5-flash.
    """


add_commands(judge, JudgeRun, ListJudges, ShowJudge, CheckPrompt)


@judge.command()
@click.argument("administrations", metavar="ID...", nargs=-1, required=True)
@store_option
@json_option
def report(administrations: tuple[str, ...], store_location: str | None, as_json: bool) -> None:
    """Compare the judges of administrations ID....

    One row with the burden for each judge and each examinee under like conditions, the agreement
    of every two judges over all responses, the features on which they differ most, and the
    majority verdicts of each examinee. The administrations must be of one battery.
    """
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.judges import judges_of
    from tabwb.media.terminal import print_view
    from tabwb.media.views.judges import judges_document, judges_view

    with opened_store(store_location) as (_, store):
        chosen = load_columns(store, administrations)
    if len({data.battery.content_hash for data in chosen}) != 1:
        raise UsageError("the administrations must be of one battery")
    compared = judges_of(chosen)
    if as_json:
        print_json(judges_document(compared))
    else:
        print_view(judges_view(compared))

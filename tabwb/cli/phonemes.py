"""``tabwb phonemes``: transcripts against references, by phonemes and by features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tabwb.battery.loader import load_battery
from tabwb.cli.common import json_option, note, opened_plugins, print_json
from tabwb.phonology.labels import label_set
from tabwb.records.errors import UsageError
from tabwb.records.files import is_stdin
from tabwb.records.languages import is_english, not_available
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.phonology.batch import Scores
    from tabwb.phonology.corpus import Accepted, Match, Missing, Unmapped

Command = Callable[..., None]
_LABELS = ("arpabet", "cmu", "espeak-ipa", "timit-61", "timit-39")
_FILE = click.Path(exists=True, allow_dash=True, path_type=Path)


def _choice(flag: str, choices: Sequence[str], text: str) -> Callable[[Command], Command]:
    """Return an option with choices, the first of which is the default."""
    return click.option(
        flag, type=click.Choice(choices), default=choices[0], show_default=True, help=text
    )


@click.command()
@click.argument("ref", metavar="REF.tsv", type=_FILE)
@click.argument("hyp", metavar="HYP.tsv", type=_FILE)
@click.option("--trace", is_flag=True, help="Show each utterance's alignment by features.")
@click.option(
    "--accept",
    metavar="FILE|BATTERY",
    help="Accepted pronunciations: a TSV of prompt and pronunciation, PSST's correctness.json, or "
    "a naming battery.",
)
@_choice(
    "--match",
    ("paper", "code"),
    "With --accept: 'paper' removes silence and noise first; for 'code' they interrupt.",
)
@_choice(
    "--missing",
    ("error", "empty", "skip"),
    "Ids that HYP lacks: refuse, score as silence, or leave out.",
)
@_choice(
    "--unmapped",
    ("drop", "error"),
    "Labels of HYP without a phoneme: drop and count, or refuse.",
)
@_choice("--labels", _LABELS, "The set of labels in HYP.")
@_choice(
    "--inventory",
    ("psst", "panphon"),
    "PSST's 40 phonemes, or any IPA by panphon's features (other rates, not PSST's).",
)
@click.option(
    "--by",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Rates by a column of REF: prompt, session, ...; 'item' is prompt,"
    " 'severity' bands of aq_index.",
)
@click.option("--tables", is_flag=True, help="With --json: also classes, confusions, features.")
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Rows of each table."
)
@click.option(
    "--figure",
    "figure_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also draw the confusions: a .pdf, .svg or .png; never overwritten.",
)
@json_option
def phonemes(
    ref: Path,
    hyp: Path,
    trace: bool,
    accept: str | None,
    match: Match,
    missing: Missing,
    unmapped: Unmapped,
    labels: str,
    inventory: Literal["psst", "panphon"],
    columns: tuple[str, ...],
    tables: bool,
    top: int,
    figure_file: Path | None,
    as_json: bool,
) -> None:
    """Score the transcripts of HYP.tsv against those of REF.tsv.

    REF has the columns utterance_id and transcript, HYP utterance_id and asr_transcript: ARPAbet
    separated by blanks; REF may be IPA, HYP too with --labels espeak-ipa. '-' for one of them is
    standard input. Task B: with correctness in REF, and prediction in HYP or --accept.
    """
    from tabwb.analysis.statistics import phonemes as summaries
    from tabwb.phonology import corpus as reading
    from tabwb.phonology.batch import rate_of, rates_by
    from tabwb.phonology.corpus import task_b

    if inventory == "panphon" and (accept is not None or labels != "arpabet"):
        raise UsageError(
            "--inventory panphon reads IPA; it has no labels to map and no accepted pronunciations"
        )
    if match == "code" and accept is None:
        raise UsageError("--match needs --accept", hint="add --accept FILE")
    if figure_file is not None:
        from tabwb.media.destination import check_destination
        from tabwb.media.figures import format_of

        format_of(figure_file)
        check_destination(figure_file)
    if is_stdin(ref) and is_stdin(hyp):
        raise UsageError("only one of REF and HYP can be standard input ('-')")
    accepted = None if accept is None else _accepted(accept)
    corpus = reading.read_corpus(
        ref, hyp, labels=labels, inventory=inventory, missing=missing, unmapped=unmapped
    )
    scores = corpus.score()
    if corpus.extra and as_json:
        note(f"{plural(len(corpus.extra), 'id')} of {hyp} left out, because {ref} has no such id")
    best = reading.ceiling(corpus, labels)
    psst = inventory == "psst"
    report = summaries.PhonemeReport(
        corpus,
        scores,
        task_b(corpus, accepted, match),
        summaries.Tables.of(scores, psst=psst) if scores and (tables or not as_json) else None,
        {column: rates_by(scores, corpus.groups(column)) for column in columns}
        if scores and columns
        else None,
        None if best is None else (label_set(labels), rate_of("ceiling", best)),
        inventory,
    )
    if figure_file is not None:
        _draw(scores, len(corpus.utterances), figure_file, ipa=psst)
    if as_json:
        print_json(summaries.document(report))
        return
    from tabwb.media.views.phonemes import print_report

    print_report(report, trace=trace, top=top)


def _draw(scores: Scores | None, utterances: int, out: Path, *, ipa: bool) -> None:
    from tabwb.media.figures import drawn, save
    from tabwb.media.figures.amounts import confusion_table, corpus_steps

    if scores is None:
        raise UsageError("there are no transcripts to draw", where="--figure")
    what = "Phonemes of the reference (rows) and of the hypothesis (columns), aligned by features; "
    notes = [what + f"{plural(utterances, 'utterance')}."]
    table = confusion_table(corpus_steps(scores), notes, ipa=ipa)
    place = save(drawn("confusion", table, width="one-and-half", command="tabwb phonemes"), out)
    note(f"{place} written")


def _accepted(argument: str) -> Accepted:
    path = Path(argument)
    # What ends so was meant as a table also where it is not there.
    if path.suffix.lower() in (".tsv", ".txt", ".csv", ".json") or (
        path.is_file() and path.suffix.lower() != ".toml"
    ):
        from tabwb.phonology.corpus import read_accepted

        return read_accepted(path)
    with opened_plugins() as plugins:
        battery = load_battery(plugins.find_battery(argument))
    if not is_english(battery.language):
        reason = not_available(battery.language)
        raise UsageError(
            f"accepted pronunciations of the battery '{battery.id}' are {reason}", where=argument
        )
    accepted: dict[str, list[tuple[str, ...]]] = {}
    for subtest in battery.subtests:
        if subtest.task.coded and subtest.task.read_item is not None:
            for item in map(subtest.task.read_item, subtest.items):
                for prompt in {item.id.casefold(), item.target.casefold()}:
                    accepted.setdefault(prompt, []).extend(item.accepted)
    if not accepted:
        raise UsageError(f"the battery '{battery.id}' has no naming items", where=argument)
    return accepted

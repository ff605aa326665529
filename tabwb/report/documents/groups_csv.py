"""Groups of administrations as a table for other programs: one row for each, every figure.

Of models alone: what a person said is written by an export, which asks for consent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from tabwb.plugin_api.writing import write_text
from tabwb.records.csv_text import CSV_CELLS, csv_text
from tabwb.records.errors import TabwbError
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.documents.exporting import check_destination
from tabwb.report.documents.file_names import file_names, named
from tabwb.report.summaries.cautions import cautions
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary, judge_labels
from tabwb.report.summaries.subtests import SubtestSummary
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimand, EstimatedInterval
from tabwb.scoring.usable import Usable
from tabwb.tasks.task_type import task_type

Row = dict[str, object]
"""Column to value; None is undefined and becomes an empty cell."""

NOTE = (
    "One row for each group of administrations of models, RFC 4180, UTF-8; an empty cell is "
    "undefined, or does not belong to that row. Responses of a group are pooled. What its "
    "administrations differ in stands in one cell, divided by ' | '. low and high are the ends of "
    "95 % intervals for prompts like these, these_low and these_high for exactly these prompts "
    "(empty where they need replicates or nothing was drawn). "
    "usable of n responses can be described, causes says why the others can not; few_usable marks "
    "burdens that must not be ranked. "
    "N are the responses that a judge has judged, of which with_burden have a burden; not_judged "
    "are not in N. Accuracies are by the policy exact."
)


def groups_csv(made: Sequence[Grouped]) -> str:
    """The table's text.

    Raises:
        TabwbError: there is nothing to write.
    """
    if not made:
        raise TabwbError("there are no administrations of models to write")
    rows = _rows(made)
    columns = columns_of(rows)
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


def columns_of(rows: Sequence[Row]) -> list[str]:
    """Return every column of any row, in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def write_groups(made: Sequence[Grouped], out: Path) -> Path:
    """Write the table, and what must be known of it beside it; the file that was written.

    Raises:
        TabwbError: there is nothing to write, the file is there already, or it cannot be written.
    """
    text = groups_csv(made)
    said = (sentence for one in made for sentence in cautions(one.battery, one.summary, model=True))
    place = check_destination(out)
    told = dictionary(columns_of(_rows(made)))
    names = file_names(_specs(made))
    cautioned = (named(sentence, names) for sentence in (RESEARCH_ONLY, *said))
    write_text(place, text, [*dict.fromkeys(cautioned), NOTE, CSV_CELLS, told])
    return place


def _rows(made: Sequence[Grouped]) -> list[Row]:
    """Return the row of each group, its specs without folders of this machine."""
    names = file_names(_specs(made))
    return [
        {
            named(column, names): named(value, names) if isinstance(value, str) else value
            for column, value in _row(one, made).items()
        }
        for one in made
    ]


def _specs(made: Sequence[Grouped]) -> Iterator[str]:
    """Every spec of model, lesion and judge in the table."""
    for one in made:
        for member in one.group.members:
            conditions = member.administration.conditions
            yield conditions.examinee
            yield from conditions.judges
            if conditions.lesion is not None:
                yield conditions.lesion
        yield from (judge.terms.rater for judge in one.summary.judges)


def _row(one: Grouped, made: Sequence[Grouped]) -> Row:
    group, answers = one.group, one.summary.answers
    labels = group.labels
    row: Row = {
        group.by: group.label,
        "apart": " | ".join(f"{name} {value}" for name, value in group.apart) or None,
        "battery": one.battery.id,
        "battery_version": one.battery.version,
        "administrations": " ".join(str(each.administration.id) for each in group.members),
        "family": labels.get("family"),
        "tunings": " | ".join(group.tunings),
        "parameters": labels.get("parameters"),
        **{f"given_{name}": " | ".join(values) for name, values in group.circumstances.items()},
        **{
            f"differing_{name}": " | ".join(values)
            for name, values in group.mixed.items()
            if name not in group.circumstances
        },
        **_usable("answers_", answers.usable),
        "answers": answers.n,
        "answers_distinct": answers.n_distinct,
        "answers_words_mean": answers.words_mean.value,
        "answers_not_ok": sum(n for status, n in answers.statuses.items() if status != "ok"),
        "answers_batch_inexact": answers.inexact,
    }
    kinds = dict.fromkeys(judge.terms for each in made for judge in each.summary.judges)
    first = {judge.terms: judge for each in made for judge in each.summary.judges}
    labels_of_judges = judge_labels([first[terms] for terms in kinds])
    names = judge_names(labels_of_judges)
    for terms, name, label in zip(kinds, names, labels_of_judges, strict=True):
        if name != label:
            row[name] = label
        judge = next((each for each in one.summary.judges if each.terms == terms), None)
        figures = {} if judge is None else dict(_burden(judge))
        figures["not_judged"] = one.not_judged(terms.rater)
        row |= {f"{name} {what}": value for what, value in figures.items()}
    for subtest in one.summary.subtests:
        if subtest.share.scored:
            row |= {f"{subtest.id} {what}": value for what, value in _accuracy(subtest)}
    return row


def _ends(found: Sequence[EstimatedInterval]) -> Iterator[tuple[str, object]]:
    intervals = {each.estimand: each.interval for each in found}
    for prefix, estimand in (("", Estimand.PROMPTS_LIKE_THESE), ("these_", Estimand.THESE_PROMPTS)):
        interval = intervals.get(estimand)
        yield f"{prefix}low", None if interval is None else interval.low
        yield f"{prefix}high", None if interval is None else interval.high


def _usable(prefix: str, found: Usable) -> Row:
    causes = " | ".join(f"{name} {n}" for name, n in found.causes.items())
    return {
        f"{prefix}usable": found.usable,
        f"{prefix}n": found.n,
        f"{prefix}causes": causes or None,
        f"{prefix}few_usable": "true" if found.few else "false",
    }


def _burden(judge: JudgeSummary) -> Iterator[tuple[str, object]]:
    burden = judge.burden
    yield from _usable("", burden.usable).items()
    yield "burden", burden.symptom_burden.value
    yield from _ends(burden.intervals)
    yield "features", len(burden.features)
    yield "scope", judge.scope
    yield "prompt", judge.prompt_hash
    yield "N", burden.n_responses
    yield "with_burden", burden.n_burden
    yield "distinct", burden.n_distinct
    yield "words_mean", burden.words_mean.value


def _accuracy(subtest: SubtestSummary) -> Iterator[tuple[str, object]]:
    share = subtest.share
    yield "N", share.n
    yield "scored", share.scored
    for policy in POLICIES:
        yield f"correct_{policy}", share.correct[policy]
    yield "accuracy", share.accuracy().value
    yield from _ends(share.intervals())
    yield "repeated", subtest.repeated
    for name, baseline in subtest.baselines.items():
        yield f"baseline_{name}", baseline.value
    yield "chance_corrected", subtest.chance_corrected.value
    if task_type(subtest.kind).answers:
        yield "yes_rate", subtest.yes_rate["exact"].value
        yield "balanced_accuracy", subtest.balanced_accuracy["exact"].value


LONGEST = 24
"""A judge with a longer name, or with an address in it, is called ``judge1``, ``judge2`` ..."""

GROUP: Mapping[str, str] = {
    "administration": "the administration that makes the group",
    "model": "the model's spec, with its lesion",
    "battery": "the battery's id",
    "lesion": "the lesion's spec",
    "protocol": "how answers were obtained",
    "family": "of the model, as its profile says",
    "tuning": "of the model, as its profile says",
    "apart": "the conditions by which this row is apart from others of the same name",
    "battery_version": "the battery's version",
    "administrations": "numbers of the administrations in the group",
    "tunings": "of the models in the group, as their profiles say",
    "parameters": "number of parameters, as the profile says",
    "answers": "responses that count",
    "answers_usable": "of these, how many can be described",
    "answers_n": "the same as answers",
    "answers_causes": "why the others cannot be described, with their numbers",
    "answers_few_usable": "true: fewer than half of the responses can be described",
    "answers_distinct": "different texts among the responses",
    "answers_words_mean": "mean number of words of a usable response",
    "answers_not_ok": "responses whose status is not ok",
    "answers_batch_inexact": "greedy responses that may change with batch size or device",
}
FIGURES: Mapping[str, str] = {
    "usable": "responses that can be described",
    "n": "responses",
    "causes": "why the others cannot be described, with their numbers",
    "few_usable": "true: the burden must not be ranked",
    "burden": "mean number of features present per response",
    "low": "lower end of the 95 % interval for prompts like these",
    "high": "upper end of the 95 % interval for prompts like these",
    "these_low": "lower end of the 95 % interval for exactly these prompts",
    "these_high": "upper end of the 95 % interval for exactly these prompts",
    "features": "number of features in the set",
    "scope": "which responses are judged",
    "prompt": "SHA-256 of the judge's prompt",
    "N": "responses judged or scored",
    "with_burden": "of these, responses that have a burden",
    "distinct": "different texts among them",
    "words_mean": "mean number of words of a usable response",
    "not_judged": "responses that this judge has not judged yet",
    "scored": "responses with a verdict under the policy exact",
    "correct_exact": "right answers under the policy exact",
    "correct_normalised": "right answers under the policy normalised",
    "correct_extracted": "right answers under the policy extracted",
    "accuracy": "share of right answers, policy exact",
    "repeated": "responses beyond the first to the same item",
    "baseline_always_first": "accuracy of always choosing the first option",
    "baseline_always_yes": "accuracy of always saying yes",
    "baseline_guessing": "accuracy of guessing",
    "chance_corrected": "(accuracy - guessing) / (1 - guessing), where a guess must be an option",
    "yes_rate": "share of answers that are yes, policy exact",
    "balanced_accuracy": "mean of the accuracies of yes and of no questions, policy exact",
}


def judge_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a short name for each judge, as the columns are called by it.

    >>> judge_names(["rules-1", "tab-2026:openai:m@base_url=http://localhost:1/v1"])
    ('rules-1', 'judge1')
    """
    numbers = count(1)
    return tuple(
        label if len(label) <= LONGEST and not set(label) & set(":/@") else f"judge{next(numbers)}"
        for label in labels
    )


def dictionary(columns: Sequence[str]) -> str:
    """Return what each column holds, one line each, for the text beside the table.

    >>> print(dictionary(["model", "rules-1 burden"]))
    Columns:
    - model: the model's spec, with its lesion
    - rules-1 burden: mean number of features present per response
    """
    return "\n".join(["Columns:", *_lines(columns)])


def _lines(columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        _, _, figure = column.rpartition(" ")
        if column in GROUP:
            meaning = GROUP[column]
        elif column.startswith("given_"):
            meaning = f"{column.removeprefix('given_')} under which the group was given"
        elif column.startswith("differing_"):
            meaning = f"{column.removeprefix('differing_')} in which the group's members differ"
        elif " " in column:
            meaning = FIGURES[figure]
        else:
            meaning = "the judge whose columns begin with this name"
        yield f"- {column}: {meaning}"

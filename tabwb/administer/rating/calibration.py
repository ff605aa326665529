"""Calibration samples: responses whose right answers are known, from a file or an earlier set."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.administer.rating.consensus import by_sample
from tabwb.battery.forms import Form, completed, missing
from tabwb.battery.loader import read_text
from tabwb.battery.problems import Problem
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import Answer
from tabwb.records.words import did_you_mean

if TYPE_CHECKING:
    from tabwb.store.store import Store

COLUMNS = ("response", "measure", "value")
"""Of a file of calibration samples."""
Consensus = Mapping[tuple[int, int], Mapping[str, Answer]]
"""The right answers, by administration and trial."""


def text_of(path: Path, expected: str) -> str:
    """Return the text of a file."""
    text = read_text(path, expected)
    if isinstance(text, Problem):
        raise UsageError(str(text))
    return text


def read_consensus(path: Path, form: Form) -> Consensus:
    """Return the right answers of calibration samples.

    The file is CSV with the columns ``response`` (``ADMINISTRATION/TRIAL``), ``measure`` and
    ``value`` (as a rater gives it; empty: not said).
    """
    reader = csv.DictReader(text_of(path, ",".join(COLUMNS)).splitlines())
    names = tuple(reader.fieldnames or ())
    if missing := [name for name in COLUMNS if name not in names]:
        raise UsageError(
            f"there is no column '{missing[0]}'" + did_you_mean(missing[0], names),
            where=f"{path}:1",
            allowed=", ".join(COLUMNS),
        )
    consensus: dict[tuple[int, int], dict[str, Answer]] = {}
    for row in reader:
        where = f"{path}:{reader.line_num}"
        administration, _, trial = (row["response"] or "").strip().partition("/")
        if not (administration.isdecimal() and trial.isdecimal()):
            raise UsageError(
                f"'{row['response']}' is not a response",
                where=where,
                allowed="ADMINISTRATION/TRIAL, two numbers such as 3/12",
            )
        key, measure = (int(administration), int(trial)), (row["measure"] or "").strip()
        try:
            answer = form.question(measure.partition("#")[0]).read(row["value"] or "")
        except TabwbError as error:
            raise UsageError(error.message, where=where, allowed=error.allowed) from error
        if consensus.setdefault(key, {}).setdefault(measure, answer) != answer:
            raise UsageError(f"{key[0]}/{key[1]} has two values of '{measure}'", where=where)
    known = {}
    for key, given in consensus.items():
        known[key] = {measure: value for measure, value in given.items() if value is not None}
        if not known[key]:
            raise UsageError(f"{key[0]}/{key[1]} has no value of any measure", where=str(path))
    return known


def consensus_of_set(store: Store, reference: str, form: Form) -> Consensus:
    """Return the samples of an earlier set whose every answer is known.

    An answer is known where it is settled, or else where two raters or more gave the same and none
    another. Answers are as the raters gave them, before any cut of a scale.
    """
    kept = store.sets.get(reference)
    if kept.form != form.canonical:
        raise UsageError(
            f"set '{kept.name}' has another form ({kept.form_id})",
            where="--calibration-set",
            allowed=f"a set with the form '{form.id}' as it is now",
        )
    settled = {(one.sample, one.measure): one.answer for one in store.sets.adjudications(kept.id)}
    given = by_sample(store.sets.ratings(kept.id))
    known: dict[tuple[int, int], dict[str, Answer]] = {}
    for sample in store.sets.samples(kept.id):
        ratings = [completed(form, one.answers) for one in given.get(sample.number, ())]
        answers: dict[str, Answer] = {}
        for key in dict.fromkeys(key for rating in ratings for key in rating):
            said = [rating.get(key) for rating in ratings]
            if (sample.number, key) in settled:
                answers[key] = settled[sample.number, key]
            elif len(said) > 1 and len(set(said)) == 1 and said[0] is not None:
                answers[key] = said[0]
        if answers and not missing_answers(form, answers):
            known[sample.administration, sample.trial] = answers
    if not known:
        raise UsageError(
            f"no sample of set '{kept.name}' has a consensus on every question",
            where="--calibration-set",
            hint=f"settle where raters differ: tabwb rate disputed {kept.name}",
        )
    return known


def missing_answers(form: Form, answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the measures without an answer, also of questions that are absent unless marked."""
    asked = [one for one in form.questions if one.kind == "present-absent" and not one.optional]
    unmarked = tuple(one.measure for one in asked if answers.get(one.measure) is None)
    return unmarked or missing(form, answers)

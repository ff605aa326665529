"""A rating set that tabwb wrote as a folder: its plan, samples, ratings and what judges say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tabwb.administer.rating.elsewhere.reading import (
    Label,
    LabelledText,
    Labels,
    Row,
    Sheet,
    confidence_of,
    read_rows,
    read_text,
    seconds_of,
)
from tabwb.battery.forms import Form, with_source_question
from tabwb.records.errors import TabwbError
from tabwb.records.files import file_inside
from tabwb.records.rating_sets import UNSURE_WORDS, Presentation, RatingSet, checked_counts
from tabwb.records.ratings import UNSURE, Rating, undefined, valued
from tabwb.records.specs import is_kebab
from tabwb.records.words import as_written

PLAN, FORM, SAMPLES, RATINGS = "set.json", "form.json", "samples.csv", "ratings.csv"
NEEDED = (PLAN, FORM, SAMPLES, RATINGS)

T = TypeVar("T")


@dataclass(slots=True)
class Study:
    """What a folder says besides the ratings.

    Attributes:
        kept: what is to be stored of the set.
        form: as it was stored.
        samples: response to what else is said of it, in order; the fields of a sample.
        judged: response to what judges say of it.
    """

    kept: RatingSet
    form: Form
    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    judged: dict[str, tuple[Rating, ...]] = field(default_factory=dict)

    @property
    def asked(self) -> Form:
        """The form with all its questions."""
        return with_source_question(self.form) if self.kept.ask_source else self.form


def is_study(path: Path) -> bool:
    """Return whether a folder has the files of a rating set."""
    return path.is_dir() and all((path / name).is_file() for name in NEEDED)


def read_study(folder: Path) -> tuple[Study, Labels]:
    """Return the plan and the ratings of a folder.

    A response is named by the administration, the trial and the attempt from which it was taken.
    """
    guidelines, judges = folder / "guidelines.txt", folder / "judges.csv"
    for name in (*NEEDED, guidelines.name, judges.name):
        if (folder / name).is_file():
            file_inside(folder, name, str(folder))
    plan, form = _json(folder / PLAN), _form(folder / FORM)
    try:
        kept = RatingSet(
            _typed(str, plan["name"], folder / PLAN), form.canonical, form.id,
            raters=_typed(tuple[str, ...], plan["raters"], folder / PLAN),
            presentation=_typed(Presentation, plan["presentation"], folder / PLAN),
            seed=int(plan["seed"]),
            guidelines=read_text(guidelines) if guidelines.is_file() else "",
            ask_source=bool(plan["ask_source"]), counts=checked_counts(str(plan["counts"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TabwbError(f"is not the plan of a set: {error}", where=str(folder / PLAN)) from error
    study, labels = Study(kept, form), Labels("rating set in a folder", folder / RATINGS)
    names = {}
    for where, row in read_rows(folder / SAMPLES):
        number = _cell(row, "response", where)
        names[number] = _reference(row, where)
        labels.texts[names[number]] = _text(row, where)
        texts = ("context_before", "context_after", "stratum")
        facts = {name: as_written(row.get(name, "")) for name in texts}
        weight = _weight(row.get("weight", ""), where)
        study.samples[names[number]] = {**facts, "weight": weight}
    for where, row in read_rows(folder / RATINGS):
        _add(labels, _named(row, names, where), row, where)
    for where, row in read_rows(judges) if judges.is_file() else ():
        response = _named(row, names, where)
        if rating := _verdict(row, where):
            study.judged[response] = (*study.judged.get(response, ()), rating)
    calibration = folder / "calibration.csv"
    for _ in read_rows(calibration) if calibration.is_file() else ():
        labels.leave_out("answers to calibration samples")
    return study, labels


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise TabwbError(f"is not JSON: {error}", where=str(path)) from error
    if not isinstance(value, dict):
        raise TabwbError("is not an object", where=str(path))
    return value


def _form(path: Path) -> Form:
    """Return the form of a folder, which anybody may have written."""
    form = _typed(Form, _json(path), path)
    if not form.questions or len(set(form.measures)) < len(form.questions):
        raise TabwbError("a form has questions, and each measure once", where=str(path))
    for question in form.questions:
        if not is_kebab(question.measure):
            raise TabwbError(f"'{question.measure}' is not the id of a measure", where=str(path))
        if not -100 <= question.low <= question.high <= 100:
            raise TabwbError(f"the scale of '{question.measure}' is not valid", where=str(path))
    return form


def _typed(kind: type[T], value: object, path: Path) -> T:
    """Return JSON as a record of which every field has its type."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise TabwbError(
            f"{key}: {first['msg']}" if key else first["msg"], where=str(path)
        ) from error


def _cell(row: Row, name: str, where: str) -> str:
    value = row.get(name, "").strip()
    if not value:
        raise TabwbError(f"'{name}' is empty", where=where)
    return value


def _weight(text: str, where: str) -> float:
    try:
        weight = float(text or 1)
    except ValueError:
        weight = 0.0
    if not 0 < weight < 1e9:
        raise TabwbError(f"'{text}' is not a weight", where=where, allowed="a number above 0")
    return weight


def _reference(row: Row, where: str) -> str:
    columns = ("administration", "trial_number", "response_attempt")
    return "/".join(_cell(row, column, where) for column in columns)


def _text(row: Row, where: str) -> LabelledText:
    cells = {name: as_written(row.get(name, "")) for name in ("prompt", "speaker", "model")}
    return LabelledText(where, as_written(row.get("text", "")), **cells)


def _named(row: Row, names: Mapping[str, str], where: str) -> str:
    number = _cell(row, "response", where)
    if number not in names:
        raise TabwbError(f"{SAMPLES} has no sample '{number}'", where=where)
    return names[number]


def _add(labels: Labels, response: str, row: Row, where: str) -> None:
    rater, occasion = _cell(row, "rater", where), row.get("occasion", "")
    note = as_written(row.get("note", ""))
    measure, value = _cell(row, "measure", where), as_written(row.get("value", ""))
    shown = row.get("looked_at", ""), row.get("evidence_positions", "")
    labels.labels.append(Label(where, response, rater, measure, value, occasion, note, *shown))
    labels.sheets[rater, response, occasion] = Sheet(
        note, seconds_of(row.get("seconds", ""), where),
        confidence=confidence_of(row.get("confidence", ""), where),
    )  # fmt: skip


def _verdict(row: Row, where: str) -> Rating | None:
    """Return what a judge says; None where it says nothing."""
    value = row.get("value", "").strip()
    judge, measure = _cell(row, "rater", where), _cell(row, "measure", where)
    if value.casefold() in UNSURE_WORDS:
        return undefined(judge, measure, UNSURE)
    if value not in ("", "0", "1"):
        raise TabwbError(f"'{value}' is not a verdict", where=where, allowed="1, 0 or nothing")
    return valued(judge, measure, float(value)) if value else None

"""Label Studio's JSON export: tasks, each with the annotations of several people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tabwb.administer.rating.elsewhere.labels import (
    Label,
    LabelledText,
    Labels,
    Sheet,
    SheetKey,
    plain,
)
from tabwb.administer.rating.elsewhere.mapping import FileMapping
from tabwb.records.errors import TabwbError

RESPONSE = ("id", "response", "response_id", "text_id")
"""Keys of a task's data that name the response, the first that is there."""
CHOSEN = ("choices", "taxonomy", "labels")
"""Keys of a value that list what was chosen."""
LISTED = "present"
"""The value of a name in a list of choices."""


def read_tasks(tasks: Any, path: Path, mapping: FileMapping, known: Mapping[str, str]) -> Labels:
    """Return the annotations of tasks as ratings.

    A control with the name of a question is its answer. One whose choices have names of questions
    lists features that are present; those that are not chosen are unmarked.
    """
    if isinstance(tasks, dict):
        tasks = [tasks]
    labels = Labels("Label Studio export", path)
    for number, task in enumerate(tasks, start=1):
        where = f"{path}: task {number}"
        annotations = _annotations(task, where)
        data = task.get("data") or {}
        if not isinstance(data, dict):
            raise TabwbError("its data are not an object", where=where)
        response = _response(task, data, mapping, where)
        _keep_text(labels, response, data, mapping, where)
        seen: dict[str, int] = {}
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise TabwbError("an annotation is not an object", where=where)
            if annotation.get("was_cancelled"):
                labels.leave_out("skipped tasks")
                continue
            rater = _rater(annotation.get("completed_by"), mapping, where)
            seen[rater] = seen.get(rater, 0) + 1
            occasion = "" if seen[rater] == 1 else str(seen[rater])
            _annotation(labels, annotation, (rater, response, occasion), where, mapping, known)
    _empty_ones(labels)
    if not labels.labels and not labels.sheets:
        raise TabwbError("there is no annotation in it", where=str(path))
    return labels


def _annotations(task: Any, where: str) -> list[Any]:
    found = task.get("annotations", task.get("completions")) if isinstance(task, dict) else None
    if not isinstance(found, list):
        raise TabwbError(
            "this is not a task with annotations",
            where=where,
            allowed="Label Studio's export 'JSON' (JSON-MIN leaves out who answered nothing)",
        )
    return found


def _response(
    task: Mapping[str, Any], data: Mapping[str, Any], mapping: FileMapping, where: str
) -> str:
    if name := mapping.columns.get("response"):
        if name not in data:
            raise TabwbError(
                f"its data have no '{name}'", where=where, allowed=", ".join(map(str, data))
            )
        return str(data[name])
    found = next((data[name] for name in RESPONSE if name in data), task.get("id", ""))
    return str(found)


def _keep_text(
    labels: Labels, response: str, data: Mapping[str, Any], mapping: FileMapping, where: str
) -> None:
    names = ("text", "prompt", "speaker", "model", "source", "group")
    cells = {own: data.get(mapping.columns.get(own, own)) for own in names}
    texts = {own: value for own, value in cells.items() if isinstance(value, str)}
    if not texts.get("text"):
        return
    known = labels.texts.setdefault(response, LabelledText(where, **texts))
    if known.text != texts["text"]:
        raise TabwbError(
            f"response '{response}' has another text than at {known.where}", where=where
        )


def _rater(by: Any, mapping: FileMapping, where: str) -> str:
    """Return who annotated, as the mapping names them: by e-mail, else by number."""
    if isinstance(by, dict):
        for name in (by.get("email"), by.get("username"), by.get("id")):
            if name is not None and str(name) in mapping.raters:
                return str(name)
        by = by.get("id", by.get("email"))
    if by is None:
        raise TabwbError("an annotation does not say who made it (completed_by)", where=where)
    return str(by)


def _annotation(
    labels: Labels,
    annotation: Mapping[str, Any],
    key: SheetKey,
    where: str,
    mapping: FileMapping,
    known: Mapping[str, str],
) -> None:
    rater, response, occasion = key
    note, listed = "", False
    for control, values in _results(annotation, where, labels):
        if control == mapping.columns.get("note", "note"):
            note = " ".join(values)
        elif plain(control) not in known and all(plain(value) in known for value in values):
            listed = True
            for value in values:
                labels.labels.append(Label(where, response, rater, value, LISTED, occasion))
        else:
            value = ", ".join(values)
            labels.labels.append(Label(where, response, rater, control, value, occasion))
    lead = annotation.get("lead_time")
    seconds = float(lead) if isinstance(lead, int | float) and 0 <= lead < 1e9 else 0.0
    labels.sheets[key] = Sheet(note, seconds, listed or not annotation.get("result"))


def _empty_ones(labels: Labels) -> None:
    """Leave out annotations without a result, where no control lists what is present."""
    if any(label.value == LISTED for label in labels.labels):
        return
    for key in [key for key, sheet in labels.sheets.items() if sheet.unmarked]:
        del labels.sheets[key]
        labels.leave_out("annotations without a result")


def _results(
    annotation: Mapping[str, Any], where: str, labels: Labels
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each control and its values."""
    results = annotation.get("result") or []
    if not isinstance(results, list):
        raise TabwbError("a result is not a list", where=where)
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        control = result.get("from_name") if isinstance(result, dict) else None
        if not isinstance(value, dict) or not isinstance(control, str):
            labels.leave_out("results without a control and a value")
            continue
        chosen = next((value[name] for name in CHOSEN if isinstance(value.get(name), list)), None)
        if chosen is not None:
            names = [str(name[-1] if isinstance(name, list) and name else name) for name in chosen]
            if names:
                yield control, names
        elif isinstance(text := value.get("text"), list):
            yield control, [" ".join(map(str, text))]
        else:
            number = value.get("rating", value.get("number", text))
            if isinstance(number, int | float | str):
                yield control, [f"{number}"]
            else:
                labels.leave_out(f"results of type {result.get('type', 'unknown')}")

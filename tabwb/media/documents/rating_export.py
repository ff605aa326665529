"""Ratings of a rating set in files: one table, or the whole study as a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tabwb.administer.consent import Permit, check_export, logged
from tabwb.analysis.administrations import batteries_of
from tabwb.analysis.rating_sets import (
    SetTables,
    administrations_of,
    set_tables,
    with_judges,
)
from tabwb.host.plugins import Plugins
from tabwb.host.writing import draft_of, write_text, write_with
from tabwb.media.documents.datapackage import (
    NAME,
    Described,
    check_description,
    package,
    write_description,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import write_private
from tabwb.records.rating_sets import RatingSet
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY, csv_text
from tabwb.store.store import Store
from tabwb.tables.table import Table

FOLDER = "folder"
FORMATS = ("csv", "jsonl", "parquet", FOLDER)
NOTE = (
    "One row for each answer of each rater to each sample. The rater 'adjudicated' has the "
    "settled values. tabwb agreement reads the columns response, rater, measure, value, speaker "
    "and occasion; tabwb import reads the texts too."
)
_FILES = {
    "ratings.csv": "answers of people and settled values: tabwb agreement ratings.csv",
    "judges.csv": "verdicts of judges on the same responses, with the same columns",
    "calibration.csv": "answers to the samples of known consensus that raters learned on",
    "samples.csv": "the responses as raters saw them, with their sources",
    "set.json": "how the set was planned: seed, presentation, raters, whose ratings count",
    "form.json": "the questions and the allowed answers",
    "guidelines.txt": "the guidelines that raters read",
}
"""What the files of a folder hold."""


def format_of(out: Path, given: str | None) -> str:
    """Return the format of an export: as given, else by the ending of the name, else a folder.

    >>> format_of(Path("a.csv"), None), format_of(Path("study"), None)
    ('csv', 'folder')
    """
    ending = out.suffix.removeprefix(".").lower()
    return given or (ending if ending in FORMATS[:3] else FOLDER)


def export_set(
    store: Store,
    plugins: Plugins,
    reference: int | str,
    format_id: str,
    out: Path,
    *,
    judges: bool = False,
    within_study: bool = False,
) -> Permit:
    """Write the ratings of a set, and log of whom."""
    if format_id not in FORMATS:
        raise UsageError(f"'{format_id}' is not a format", allowed=", ".join(FORMATS))
    if format_id == FOLDER and out.exists():
        raise TabwbError("already exists", where=str(out), hint="choose a new name")
    kept = store.sets.get(reference)
    chosen = administrations_of(store, kept)
    permit = check_export(store, plugins, chosen, format_id, out, within_study=within_study)
    with logged(store, permit.acts), store.unchanged():
        tables = set_tables(store, kept)
        batteries = batteries_of(store, chosen)
        title = f"Ratings of the rating set {kept.name}"
        if format_id == FOLDER:
            _write_folder(tables, kept, out, lambda files: package(files, batteries, title))
            return permit
        table = with_judges(tables) if judges else tables.ratings
        check_description(out)
        _write_table(table, format_id, out)
        write_description([Described(out, out.name, table.columns)], out, batteries, title)
    return permit


def _write_table(table: Table, format_id: str, out: Path) -> None:
    notes = (RESEARCH_ONLY, *table.notes, NOTE, *_dictionary(table))
    if format_id == "parquet":
        from tabwb.tables.frames import arrow_table

        made = arrow_table(table)
        import pyarrow.parquet as pq

        write_with(out, lambda path: pq.write_table(made, path), notes)
    elif format_id == "jsonl":
        write_text(out, _json_lines(table), notes)
    else:
        write_text(out, csv_text(table.names, table.rows()), (*notes, CSV_CELLS))


def _json_lines(table: Table) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_dicts())


def _dictionary(table: Table) -> Sequence[str]:
    lines = (
        f"- {one.name} ({one.type}{f', {one.unit}' if one.unit else ''}): {one.meaning}"
        for one in table.columns
    )
    return ("Columns:\n" + "\n".join(lines),)


def _write_folder(
    tables: SetTables,
    kept: RatingSet,
    out: Path,
    described: Callable[[list[Described]], str],
) -> None:
    """Write a folder beside ``out`` and then rename it: a failure leaves nothing."""
    made = {
        "ratings.csv": tables.ratings,
        "judges.csv": tables.judges,
        "calibration.csv": tables.calibration,
        "samples.csv": tables.samples,
    }
    texts = {
        "set.json": json.dumps(_plan(kept), ensure_ascii=False, indent=2) + "\n",
        "form.json": json.dumps(json.loads(kept.form), ensure_ascii=False, indent=2) + "\n",
        "guidelines.txt": kept.guidelines,
    }
    try:
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            files = []
            for name, table in made.items():
                if len(table) or name in ("ratings.csv", "samples.csv"):
                    write_private(draft / name, csv_text(table.names, table.rows()))
                    files.append(Described(draft / name, name, table.columns))
            for name, text in texts.items():
                if text:
                    write_private(draft / name, text)
                    files.append(Described(draft / name, name))
            write_private(draft / "README.txt", _readme(tables, kept, [one.path for one in files]))
            write_private(draft / NAME, described(files))
            draft.rename(out)
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise TabwbError(problem, where=str(out), hint="choose another place") from error


def _plan(kept: RatingSet) -> Mapping[str, object]:
    plan = asdict(kept)
    return {name: plan[name] for name in plan if name not in ("id", "form", "guidelines")}


def _readme(tables: SetTables, kept: RatingSet, files: Sequence[str]) -> str:
    listed = "\n".join(f"- {name}: {_FILES[name]}" for name in files)
    parts = (
        RESEARCH_ONLY,
        f"The rating set {kept.name} (form {kept.form_id}), exported by tabwb.",
        f"{listed}\n- {NAME}: type, unit and meaning of every column, SHA-256 of every file",
        NOTE,
        "An empty cell has no value.",
        CSV_CELLS,
        *_dictionary(tables.ratings),
    )
    return "\n\n".join(parts) + "\n"

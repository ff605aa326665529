"""What needs no open study: tables and figures in files, models and profiles, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tabwb.api.engine import Place, does, done_without_store, named
from tabwb.operations.battery import CheckBattery
from tabwb.operations.model import AddProfile, ListModels, RemoveProfile, TryModel
from tabwb.operations.norms import AddNorms, ListNorms
from tabwb.operations.reproduce import ReproducePaper
from tabwb.operations.store import CheckStore
from tabwb.records.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.tables.table import Table


@does(ListModels)
def models() -> dict[str, Any]:
    """Return the back ends and profiles of models."""
    return done_without_store(ListModels, {})


@does(AddProfile)
def add_profile(
    name: str,
    spec: str,
    *,
    family: str = "",
    tuning: Literal["base", "instruct"] | None = None,
    parameters: str = "",
    force: bool = False,
) -> dict[str, Any]:
    """Write a profile of a model into your configuration."""
    return done_without_store(AddProfile, locals())


@does(RemoveProfile)
def remove_profile(name: str) -> dict[str, Any]:
    """Delete a profile from your configuration."""
    return done_without_store(RemoveProfile, locals())


@does(TryModel)
def try_model(spec: str, *, prompt: str = "Say hello.", max_tokens: int = 32) -> dict[str, Any]:
    """Load or reach a model, send one prompt, and return the reply."""
    return done_without_store(TryModel, locals())


@does(CheckBattery)
def check_battery(file: str | PathLike[str]) -> dict[str, Any]:
    """Check a battery: the document lists every problem with its line."""
    return done_without_store(CheckBattery, {"file": named(file)})


@does(CheckStore)
def check_store(store: Place = None) -> dict[str, Any]:
    """Check a store for damage; files beside it that no row names are removed."""
    return done_without_store(CheckStore, {"store": None if store is None else fspath(store)})


@does(ListNorms)
def norms() -> dict[str, Any]:
    """Return the groups of norms, and the problems of files that cannot be used."""
    return done_without_store(ListNorms, {})


@does(AddNorms)
def add_norms(file: str | PathLike[str], *, name: str = "") -> dict[str, Any]:
    """Check a file of norms and copy it into your configuration."""
    return done_without_store(AddNorms, {"file": named(file), "name": name})


@does(ReproducePaper, "Returns:\n    The document, with the tables of entries and of values.")
def reproduce(
    paper: str | PathLike[str] | None = None,
    *,
    data: Mapping[str, str | PathLike[str]] | None = None,
    stand_in: bool = False,
    seed: int = 1,
    work: str | PathLike[str] | None = None,
    cells: bool = False,
) -> dict[str, Any]:
    """Compute the printed values of a paper again, and compare them."""
    given = locals()
    pairs = {name: fspath(folder) for name, folder in (data or {}).items()}
    return done_without_store(
        ReproducePaper, given | {"paper": None if paper is None else fspath(paper), "data": pairs}
    )


Format = Literal["markdown", "latex", "csv", "json"]
ENDINGS: dict[str, Format] = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".json": "json"}
"""Ending of a file: the format of the table in it."""
PARQUET = ".parquet"


def table_text(table: Table, format: Format = "markdown", *, caption: str = "") -> str:
    """Return a table as text for a document, or with every value for a program.

    Markdown and LaTeX (for the package booktabs) round values as the columns say; CSV and JSON have
    all digits.

    Args:
        table: any table.
        format: ``markdown``, ``latex``, ``csv`` or ``json``.
        caption: above the table, in Markdown and LaTeX.

    Raises:
        UsageError: there is no such format.
    """
    from tabwb.analysis.tables.captioned import Captioned, Footnote
    from tabwb.media import paper

    if format == "csv":
        return paper.table_csv(table)
    if format == "json":
        document = {"format": 1, "tables": [paper.table_json(table)]}
        return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    captioned = Captioned(table, caption, tuple(map(Footnote, table.notes)))
    if format == "markdown":
        return paper.markdown(captioned)
    if format == "latex":
        from tabwb.media.paper import latex

        return latex(captioned)
    raise UsageError(
        f"there is no format '{format}' of tables", allowed=", ".join(ENDINGS.values())
    )


def save_table(
    table: Table, path: str | PathLike[str], *, caption: str = "", force: bool = False
) -> Path:
    """Write a table in the format that the file's name ends in, and return its path.

    Consent is not asked for: a table of people's data is the user's responsibility.

    Args:
        table: any table.
        path: a file that ends in ``.csv``, ``.json``, ``.md``, ``.tex`` or ``.parquet``.
        caption: above the table, in Markdown and LaTeX.
        force: replace a file.

    Raises:
        UsageError: the file's name ends in no format of tables, or it is not a table.
        MissingExtra: Parquet needs pyarrow.
        TabwbError: it cannot be written, or already exists.
    """
    from tabwb.host.writing import write_bytes
    from tabwb.media.destination import IN_PYTHON, check_destination
    from tabwb.tables.table import Table

    if not isinstance(table, Table):
        raise UsageError(f"this is not a table but {type(table).__name__}", allowed="a tabwb.Table")
    ending = Path(path).suffix.lower()
    if ending not in (*ENDINGS, PARQUET):
        raise UsageError(
            f"'{Path(path).name}' does not end in the name of a format of tables",
            allowed=", ".join((*ENDINGS, PARQUET)),
        )
    place = check_destination(Path(path), force=force, remedy=IN_PYTHON)
    if ending == PARQUET:
        content = _parquet(table)
    else:
        content = table_text(table, ENDINGS[ending], caption=caption).encode()
    write_bytes(place, content)
    return place


def _parquet(table: Table) -> bytes:
    data = table.to_arrow()
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(data, sink)
    return bytes(sink.getvalue())


def save_figure(
    figure: Figure, path: str | PathLike[str], *, dpi: float = 300.0, force: bool = False
) -> Path:
    """Write a figure and return its path: the same bytes each time, with fonts and facts.

    The caption of a figure of tabwb is written to ``PATH.README.txt``. Consent is not asked for: a
    figure of people's data is the user's responsibility.

    Args:
        figure: of :meth:`tabwb.Study.figure`, or any other of matplotlib.
        path: a file that ends in ``.pdf``, ``.svg`` or ``.png``.
        dpi: dots per inch of a PNG.
        force: replace a file.

    Raises:
        UsageError: the file's name ends in no format of figures, or it is not a figure.
        TabwbError: it cannot be written, or already exists.
    """
    from tabwb.media.destination import IN_PYTHON, check_destination
    from tabwb.media.figures import save

    if not hasattr(figure, "savefig"):
        raise UsageError(
            f"this is not a figure but {type(figure).__name__}",
            allowed="a matplotlib.figure.Figure, as Study.figure returns",
        )
    check_destination(Path(path), force=force, remedy=IN_PYTHON)
    return save(figure, Path(path), dpi=dpi, force=force)

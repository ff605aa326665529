"""Figures to files, for the command line and the workbench: consents, the file, its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabwb.administer.consent import Permit, check_export, logged
from tabwb.media.figures import figure_kind, make, save
from tabwb.media.figures.saving import format_of
from tabwb.media.figures.source import figure_groups
from tabwb.media.figures.style import width_mm
from tabwb.media.paper import table_csv
from tabwb.media.studied import studied
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.writing import write_text
from tabwb.records.errors import UsageError
from tabwb.records.installation import need
from tabwb.records.visible import CSV_CELLS
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.destination import check_destination
from tabwb.report.documents.groups_csv import left_out, of_models
from tabwb.report.selection import Selection
from tabwb.report.summaries.load import AdministrationData
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class FigureRequest:
    """What figure is to be written, and where.

    Attributes:
        name: of the figure.
        out: the file; its ending is the format.
        data: where to write the numbers drawn as CSV, or None.
        width: see :func:`tabwb.media.figures.make`, as ``caption`` and ``footer``.
        options: of the figure.
        words: options of ``tabwb figure`` that make it, for the file's metadata.
        study_ids: name participants by their study IDs; otherwise they are numbered.
        within_study: the files stay with those who collected the data.
        force: replace files.
    """

    name: str
    out: Path
    data: Path | None = None
    width: str = "single"
    caption: bool = True
    footer: bool = False
    dpi: float = 300.0
    options: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()
    study_ids: bool = False
    within_study: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class WrittenFigure:
    """The files written, and what whoever asked for them is to read."""

    files: tuple[Path, ...]
    notices: tuple[str, ...] = ()


def write_figure(
    store: Store,
    plugins: Plugins,
    references: Sequence[int | str],
    selection: Selection | None,
    wanted: FigureRequest,
) -> WrittenFigure:
    """Write a figure, and log of whom where people are drawn.

    People who are named, or whom a figure is about, must have agreed to ``share``, as for an
    export; where a figure compares whatever is in the store, they are left out.
    """
    kind = figure_kind(wanted.name)
    need("matplotlib", "a figure", "figures")  # before anything is read
    kind.checked(wanted.options)
    width_mm(wanted.width)
    format_of(wanted.out)
    remedy = "choose another name, or use --force"
    out = check_destination(wanted.out, force=wanted.force, remedy=remedy)
    data = None
    if wanted.data is not None:
        data = check_destination(wanted.data, force=wanted.force, remedy=remedy)
    permits: list[Permit] = []
    notices: list[str] = []

    def check(chosen: Sequence[AdministrationData]) -> Sequence[AdministrationData]:
        if not references and not kind.people:
            models, people, unknown = of_models(chosen)
            remedy = "; to draw them, name them (tabwb figure NAME 1 2)"
            notices.extend(left_out(people, unknown, remedy))
            return models
        given = [member.administration for member in chosen]
        what = f"figure {wanted.name}" + ("" if data is None else f" with its numbers in {data}")
        permits.append(
            check_export(store, plugins, given, what, out, within_study=wanted.within_study)
        )
        return chosen

    groups = figure_groups(kind, store, references, selection, check=check)
    if not groups and notices:
        raise UsageError("there are no administrations of models to draw", hint="; ".join(notices))
    uids = [member.administration.uid for group in groups for member in group.group.members]
    words = ["tabwb figure", wanted.name, *(uids if references else ()), *wanted.words]
    about = studied(groups, study_ids=wanted.study_ids)
    figure = make(
        wanted.name,
        about.drawn_rows,
        width=wanted.width,
        caption=wanted.caption,
        footer=wanted.footer,
        command=about.unless_named(" ".join(words)),
        **dict(wanted.options),
    )
    notices += [f"warning: {permit.notice}" for permit in permits if permit.notice]
    files = [out]
    with logged(store, [act for permit in permits for act in permit.acts]):
        save(figure, out, dpi=wanted.dpi, force=True)
        if data is not None:
            table = figure.facts.table
            meanings = "\n".join(f"- {column.name}: {column.meaning}" for column in table.columns)
            notes = [RESEARCH_ONLY, *table.notes, CSV_CELLS, f"Columns:\n{meanings}"]
            write_text(data, table_csv(table), notes)
            files.append(data)
    return WrittenFigure(tuple(files), tuple(notices))

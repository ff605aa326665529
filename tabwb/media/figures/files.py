"""Figures to files: groups of a store, consents, the file with its numbers, SVG for a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.administer.consent import Permit, check_export, logged
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.keys import read_keys
from tabwb.analysis.selection import Selection, groups_of, selected
from tabwb.host.plugins import Plugins
from tabwb.host.writing import write_text
from tabwb.media.figures import (
    MISSING_LETTERS,
    TooManyGroups,
    drawn,
    figure_kind,
    figure_table,
    format_of,
    make,
    save,
)
from tabwb.media.figures.groups import TimedGroup, is_aloud
from tabwb.media.figures.kind import FigureKind
from tabwb.media.figures.style import width_mm
from tabwb.media.paper import table_csv
from tabwb.media.studied import Studied, followed, studied
from tabwb.media.wide import left_out, of_models
from tabwb.records.errors import MissingExtra, UsageError
from tabwb.records.system import need
from tabwb.records.words import CSV_CELLS, RESEARCH_ONLY
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.media.figures.sheet import PaperFigure


def as_drawn(kind: FigureKind, store: Store, groups: Sequence[Grouped]) -> tuple[Grouped, ...]:
    """Return groups with the latencies of their responses, where a figure draws them."""
    timed = kind.loads == "latencies" and groups
    return tuple(_timed(store, groups)) if timed else tuple(groups)


def _timed(store: Store, groups: Sequence[Grouped]) -> Iterator[TimedGroup]:
    import numpy as np

    from tabwb.analysis.frame import table_of

    prepared = next(
        member.columns[0] for group in groups for member in group.group.members if member.columns
    )
    latencies = store.attempt_details(prepared.ids).latencies
    for group in groups:
        sources = [member for member in group.group.members if not is_aloud(member)]
        rows = table_of(sources).rows if sources else np.zeros(0, np.int64)
        found = latencies[rows]
        yield TimedGroup(group.group, group.results, tuple(found[~np.isnan(found)].tolist()))


@dataclass(frozen=True, slots=True)
class FigureRequest:
    """What figure is to be written, and where.

    ``words`` are options of ``tabwb figure`` that make it, for the file's metadata. Participants
    are numbered unless ``study_ids``; ``within_study``: the files stay with those who collected
    the data. ``writing`` is told why the store is written.
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
    writing: Callable[[str], object] = lambda why: None


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

    People who are named, or whom a figure or a key is about, must have agreed to ``share``, as for
    an export; where a figure compares whatever is in the store, they are left out.
    """
    kind = figure_kind(wanted.name)
    need("matplotlib", "a figure", "figures")  # before anything is read
    kind.checked(wanted.options)
    width_mm(wanted.width)
    format_of(wanted.out)
    out, data = wanted.out, wanted.data
    permits: list[Permit] = []
    notices: list[str] = []

    chosen_by = selection or Selection(by=read_keys(kind.by))

    def check(chosen: Sequence[AdministrationData]) -> Sequence[AdministrationData]:
        if not (references or kind.people or chosen_by.is_of_people):
            models, people, unknown = of_models(chosen)
            remedy = "; to draw them, name them (tabwb figure NAME 1 2)"
            notices.extend(left_out(people, unknown, remedy))
            return models
        given = [member.administration for member in chosen]
        if any(one.conditions.guarded for one in given):
            wanted.writing("a figure of people's data is logged in the store")
        what = f"figure {wanted.name}" + ("" if data is None else f" with its numbers in {data}")
        permits.append(
            check_export(store, plugins, given, what, out, within_study=wanted.within_study)
        )
        return chosen

    members = tuple(check(selected(store, references, chosen_by)))
    groups = as_drawn(kind, store, groups_of(members, chosen_by) if members else ())
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
    notices += [permit.notice for permit in permits if permit.notice]
    notices += [MISSING_LETTERS] if MISSING_LETTERS in figure.facts.notes else []
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


DRAWN = ("burden", "accuracy", "items", "profile")
"""Figures that need no further choice; those without data are left out."""
LESIONED = (("dose", "burden"), ("dose", "accuracy"), ("map", "burden"))
"""Figures of lesions, each with its measure."""
WIDTH = "double"
MOST_FOLLOWED = 6
"""Of so many participants the sessions are drawn; the tables have those of all."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """A figure of a report.

    Attributes:
        title: of the figure, with its battery where there are several.
        svg: the file's content.
        notes: the sentences below it.
        narrow: the same figure for a telephone, of the one that may stand first; else empty.
    """

    id: str
    title: str
    svg: bytes
    notes: tuple[str, ...]
    narrow: bytes = b""

    @property
    def alternative(self) -> str:
        """What stands for the figure where it cannot be seen."""
        told = " ".join((f"{self.title}.", *self.notes))
        return f"{told} The numbers are in the tables of this report."


LEAD = 0.5
"""The height of a figure in parts of its width, up to which it may stand first in a report."""


FIRST = 8
"""Groups of the figure that stands first where those of all groups are tall."""


def pictured(about: Studied, command: str = "") -> tuple[tuple[Pictured, ...], str]:
    """Return the figures, and why there are none; empty where there are some.

    The first one that is not tall is drawn for a telephone too. If all are tall, the burdens by the
    first judge, else the accuracies, of the first groups are that figure.
    """
    found: list[Pictured] = []
    many = ""

    def add(id_: str, of: str, name: str, rows: Sequence[Grouped], **options: Any) -> None:
        keep(id_, of, partial(make, name, rows, **options))

    def keep(id_: str, of: str, drawing: Callable[..., PaperFigure], first: str = "") -> None:
        made = drawing(width=WIDTH, caption=False, command=command)
        from tabwb.media.figures.sheet import figure_bytes  # loads matplotlib

        width, height = made.get_size_inches()
        leads = height <= LEAD * width and not any(one.narrow for one in found)
        if leads or not first:
            small = drawing(caption=False, command=command) if leads else None
            narrow = figure_bytes(small, "svg") if small else b""
            title = f"{of}{made.facts.title}{first}"
            found.append(Pictured(id_, title, figure_bytes(made, "svg"), made.facts.notes, narrow))

    def begin(rows: Sequence[Grouped]) -> None:
        for name, n in product(("burden", "accuracy"), (FIRST, FIRST // 2)):
            if any(one.narrow for one in found):
                return
            with suppress(UsageError):
                table = figure_table(name, rows[:n])
                by = ", by the first judge" if name == "burden" else ""
                told = f": of {len(rows)} groups the first {n}{by}"
                keep(f"first-{name}", "", partial(drawn, name, table), told)

    try:
        for battery in about.batteries:
            rows = [
                row for row in about.drawn_rows if row.battery.content_hash == battery.content_hash
            ]
            of = f"{battery.title}: " if len(about.batteries) > 1 else ""
            for name, measure in LESIONED if _has_lesions(rows) else ():
                with suppress(UsageError):  # lesions of one amount only, or of all layers
                    add(f"{name}-{measure}-{battery.id}", of, name, rows, measure=measure)
            of_judge = _of_first_judge(rows)
            for name in DRAWN:
                if name == "profile" and battery is about.batteries[0]:
                    begin(of_judge)
                try:
                    add(f"{name}-{battery.id}", of, name, of_judge if name == "profile" else rows)
                except TooManyGroups as error:
                    many = f"{error.message}: {error.allowed}."
                except UsageError:  # these groups have nothing that it shows
                    continue
        shown = list(islice(followed(about), MOST_FOLLOWED + 1))
        for own in shown if len(shown) <= MOST_FOLLOWED else ():
            sessions = summarised(grouped(own.members, ("administration",)))
            id_ = f"change-{own.battery.id}-{len(found)}"
            add(id_, f"{own.battery.title}: ", "change", sessions, sets=",".join(own.sets))
    except MissingExtra as missing:
        return (), f"{missing.message}. {missing.hint}"
    return tuple(found), many or ("" if found else "No figure can be drawn of these results.")


def _of_first_judge(rows: Sequence[Grouped]) -> Sequence[Grouped]:
    """Return the groups with the verdicts of the first judge alone."""
    raters = [judge.terms.rater for row in rows for judge in row.results.judges][:1]
    return [replace(row, results=row.results.only_judges(raters)) for row in rows]


def _has_lesions(rows: Sequence[Grouped]) -> bool:
    return any(one.administration.conditions.lesion for row in rows for one in row.group.members)

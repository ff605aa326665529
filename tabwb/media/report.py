"""The content of a report: methods, tables, figures, cautions, and what the columns mean.

:mod:`tabwb.media.report_html` and :mod:`tabwb.media.formats` write it.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import tabwb
from tabwb.analysis.contrast import pairs_of
from tabwb.media.commands import run_commands
from tabwb.media.examples import Example
from tabwb.media.figures.files import Pictured, pictured
from tabwb.media.methods import Methods, methods_about
from tabwb.media.over_sessions import change_tables, followed
from tabwb.media.paper import Presented, compact_of, presented
from tabwb.media.studied import Studied
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.file_names import without_folders
from tabwb.report.summaries.cautions import group_cautions
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import Grouped, summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.tables import beside, details
from tabwb.report.tables.captioned import Captioned, Footnote
from tabwb.report.tables.contrasts import pairs_table
from tabwb.tables.table import Column

TITLES = (
    "Burden", "Features", "Accuracy", "Measures", "Naming", "What was said",
    "Change between sessions", "Positions", "Errors", "Base and instruct", "Responses",
    "Statistics of plugins",
)  # fmt: skip
"""The sections behind the table for a paper; those without a table are left out."""


@dataclass(frozen=True, slots=True)
class Section:
    """Tables under a heading."""

    id: str
    title: str
    tables: tuple[Presented, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a report shows.

    Attributes:
        disclaimers: the sentence about research, then the batteries' own.
        sections: tables; the first is the table for a paper.
        figures: drawn figures; ``no_figures`` says why there are none.
        cautions: what must be known of the results.
        dictionary: the columns of all tables.
        commands: that give the batteries again, and the one that made the report.
        versions: package to version.
    """

    title: str
    about: Studied
    disclaimers: tuple[str, ...]
    methods: Methods
    sections: tuple[Section, ...]
    figures: tuple[Pictured, ...]
    no_figures: str
    cautions: tuple[str, ...]
    examples: tuple[Example, ...]
    dictionary: tuple[Column, ...]
    commands: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]


def report_of(
    about: Studied,
    *,
    title: str = "",
    command: str = "",
    examples: Sequence[Example] = (),
    figures: bool = True,
) -> Report:
    """Return the content of a report."""
    captioned = list(_sections(about))
    drawn, no_figures = pictured(about, command) if figures else ((), "None were asked for.")
    disclaimers = (RESEARCH_ONLY, *(battery.disclaimer for battery in about.batteries))
    told = dict.fromkeys(
        sentence for sentence in group_cautions(about.rows) if sentence not in disclaimers
    )
    columns = {
        (column.name, column.meaning): column
        for _, _, tables in captioned
        for table in tables
        for name in table.columns
        for column in (table.table.column(name),)
    }
    return Report(
        title or _title(about),
        about,
        tuple(dict.fromkeys(filter(None, disclaimers))),
        methods_about(about),
        tuple(
            Section(name, heading, tuple(map(presented, tables)))
            for name, heading, tables in captioned
            if tables
        ),
        drawn,
        no_figures,
        tuple(told),
        tuple(examples),
        tuple(columns.values()),
        tuple(filter(None, (*run_commands(about), command))),
        tuple(_versions(with_figures=bool(drawn))),
    )


def _title(about: Studied) -> str:
    titles = [f"{battery.title} {battery.version}" for battery in about.batteries]
    return f"{', '.join(titles) or 'tabwb'}: results"


def _sections(about: Studied) -> Iterator[tuple[str, str, list[Captioned]]]:
    names = about.group_names
    yield "results", "Results", list(compact_of(about, disclaimers=False))
    parts: dict[str, list[Captioned]] = {title: [] for title in TITLES}
    for battery in about.batteries:
        rows = about.rows_of(battery)
        found: dict[str, list[Captioned]] = {
            "Burden": list(details.burden_tables(rows, names)),
            "Features": list(details.feature_tables(battery, rows, names)),
            "Accuracy": list(details.accuracy_tables(battery, rows, names)),
            "Measures": list(beside.measure_tables(battery, rows, names)),
            "Naming": list(beside.naming_tables(rows, names)),
            "What was said": list(beside.said_tables(_members(rows), partial(_session, about))),
            "Errors": list(details.error_tables(battery, rows, names)),
            "Responses": [details.status_table(rows, names)],
            "Statistics of plugins": list(beside.statistics_tables(rows, names)),
        }
        of = f"{battery.title}: " if len(about.batteries) > 1 else ""
        for title, tables in found.items():
            parts[title] += [replace(table, caption=of + table.caption) for table in tables]
    for participant in followed(about):
        parts["Change between sessions"] += change_tables(about, participant)
    parts["Positions"] += _positions(about)
    if pairs := _pairs(about):
        parts["Base and instruct"].append(pairs)
    for title, tables in parts.items():
        yield title.lower().replace(" ", "-"), title, tables


def _members(rows: Sequence[Grouped]) -> list[AdministrationData]:
    """Return the administrations of groups, each once, by number."""
    found = {one.administration.id: one for row in rows for one in row.group.members}
    return [found[number] for number in sorted(found)]


def _session(about: Studied, member: AdministrationData) -> str:
    """Return the name of a session as it may be printed."""
    day = about.sessions.get(member.administration.id, "")
    when = member.administration.session_date if about.study_ids else day
    return ", ".join(filter(None, (about.name(member), when, f"#{member.administration.id}")))


def _positions(about: Studied) -> Iterator[Captioned]:
    """Yield right answers and choices by position, where the order of options varied."""
    from tabwb.report.tables.named import TABLES, named_table, shown_columns
    from tabwb.report.tables.positions import has_orders

    rows = [row for row in about.printable_rows if has_orders(row)]
    if not rows:
        return
    table = named_table("positions", rows)
    caption = f"{TABLES['positions'][:1].upper()}{TABLES['positions'][1:]}."
    notes = tuple(Footnote(note) for note in table.notes)
    yield Captioned(table.select(shown_columns(table)), caption, notes)


def _pairs(about: Studied) -> Captioned | None:
    models = [member for member in about.members if member.administration.conditions.labels]
    if not models:
        return None
    rows = summarised(grouped(models, "model"), interval=False)
    short = {
        known: without_folders(row.group.name)
        for row in rows
        for known in (row.group.title, row.group.label, row.group.whole_name)
    }
    return pairs_table(pairs_of(rows), lambda name: short.get(name, without_folders(name)))


def _versions(*, with_figures: bool) -> Iterator[tuple[str, str]]:
    yield "tabwb", tabwb.__version__
    yield "Python", platform.python_version()
    for package in ("numpy", *(("matplotlib",) if with_figures else ())):
        try:
            yield package, version(package)
        except PackageNotFoundError:  # imported from elsewhere
            yield package, "unknown"

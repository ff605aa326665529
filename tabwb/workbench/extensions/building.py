"""Builds tables of results and lets plugins build their pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tabwb.records.words import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tabwb.plugin_api.extensions import PageData
    from tabwb.workbench.engine.engine import Engine


CHANGE = "Change between sessions"
"""The title of the tables of one participant."""


class Built(NamedTuple):
    """A page: its title, of which administrations it is, the view, what it shows or nothing."""

    title: str
    what: str
    view: RenderableType
    about: str = ""


def page_data(engine: Engine, numbers: Sequence[int]) -> PageData:
    """Return what a page of a plugin is built from."""
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.grouping import grouped, summarised
    from tabwb.analysis.statistics.plugins import plugin_responses_of
    from tabwb.analysis.tables.results import results_table
    from tabwb.plugin_api.extensions import PageData

    loaded = load_columns(
        engine.store,
        tuple(numbers),
        statistics=engine.plugins.statistics(),
        primary=engine.plugins.configuration.study.primary_rater,
    )
    rows = summarised(grouped(loaded, "model"))
    given = tuple(sorted(member.administration.id for row in rows for member in row.group.members))
    responses = [(row.label, plugin_responses_of(row.group.members)) for row in rows]
    return PageData(given, results_table(rows), responses)


def table(engine: Engine, name: str, title: str, numbers: Sequence[int], what: str) -> Built:
    """Return a table of results."""
    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.grouping import grouped, summarised
    from tabwb.media.views.tables import VIEWS, named_table
    from tabwb.media.views.typed import explained_view

    by = VIEWS[name].by
    statistics = engine.plugins.statistics() if name == "results" else ()
    primary = engine.plugins.configuration.study.primary_rater
    loaded = load_columns(engine.store, tuple(numbers), statistics=statistics, primary=primary)
    rows = summarised(grouped(loaded, by))
    return Built(title, what, explained_view(named_table(name, rows)), VIEWS[name].has)


def change(engine: Engine, participant: str, battery: str) -> Built:
    """Return the tables of change over the sessions of a participant.

    Tags that divide the items, such as trained and untrained, are separate sets.
    """
    from rich.console import Group

    from tabwb.analysis.administrations import load_columns
    from tabwb.analysis.change import (
        change_items_table,
        change_of,
        change_table,
        sessions_of,
        sessions_table,
        sets_of_tags,
        tags_as_sets,
    )
    from tabwb.media.views.typed import explained_view

    primary = engine.plugins.configuration.study.primary_rater
    sessions = sessions_of(engine.store, participant, battery)
    members = load_columns(engine.store, [one.id for one in sessions], primary=primary)
    subtests = members[0].battery.subtests
    found = change_of(members, sets_of_tags(subtests, tags_as_sets(subtests)))
    tables = (change_table(found), sessions_table(found), change_items_table(found))
    what = f"{participant}, {battery}, {plural(len(sessions), 'session')}"
    return Built(CHANGE, what, Group(*map(explained_view, tables)))

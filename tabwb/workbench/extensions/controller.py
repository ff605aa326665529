"""Builds tables of results and lets plugins build their pages, in the worker's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tabwb.plugin_api.extensions import PageSource
from tabwb.records.errors import ComponentError
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController

if TYPE_CHECKING:
    from rich.console import RenderableType


CHANGE = "Change between sessions"
"""The title of the tables of one participant."""


@dataclass(frozen=True, slots=True)
class PageBuilt:
    """A page has been built; ``what`` says of which administrations."""

    title: str
    what: str
    view: RenderableType


class ExtensionController(Controller):
    """Reads responses for tables and for the pages of plugins."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)

    def build(self, source: PageSource, numbers: Sequence[int], what: str) -> None:
        """Build a page and send it.

        Args:
            source: the page, as its plugin registered it.
            numbers: of the administrations; all of the store when there is none.
            what: names them.

        Raises:
            ComponentError: the plugin failed, or built something that cannot be shown.
        """
        from tabwb.plugin_api.extensions import PageData
        from tabwb.plugin_api.registry.guarded import error_words, plugin_code
        from tabwb.report.summaries.grouping import grouped
        from tabwb.report.summaries.groups import summarised
        from tabwb.report.summaries.load import load_columns
        from tabwb.report.summaries.statistics import plugin_responses_of
        from tabwb.report.tables.results import results_table

        rows = summarised(grouped(load_columns(self.store, tuple(numbers)), "model"))
        given = tuple(
            sorted(member.administration.id for row in rows for member in row.group.members)
        )
        responses = [(row.label, plugin_responses_of(row.group.members)) for row in rows]
        try:
            with plugin_code:
                built = source.build(PageData(given, results_table(rows), responses))
                _try(built)
        except Exception as error:
            raise ComponentError(f"page '{source.id}' failed: {error_words(error)}") from error
        self.say(PageBuilt(source.title, what, _view(source, built)))

    def table(self, name: str, numbers: Sequence[int], what: str) -> None:
        """Build a table of results and send it.

        Args:
            name: one of :data:`tabwb.report.tables.named.TABLES`.
            numbers: of the administrations; all of the store when there is none.
            what: names them.
        """
        from tabwb.report.render.typed import explained_view
        from tabwb.report.summaries.grouping import grouped
        from tabwb.report.summaries.groups import summarised
        from tabwb.report.summaries.load import load_columns
        from tabwb.report.tables.named import (
            DEFAULT_BY,
            SECTIONS,
            TABLES,
            named_table,
            shown_columns,
        )

        by = DEFAULT_BY.get(name, "model")
        rows = summarised(grouped(load_columns(self.store, tuple(numbers)), by))
        made = named_table(name, rows)
        view = explained_view(made, shown_columns(made), SECTIONS[name])
        self.say(PageBuilt(_title(TABLES[name]), what, view))

    def change(self, participant: str, battery: str) -> None:
        """Build the tables of change over the sessions of a participant and send them.

        Tags that divide the items, such as trained and untrained, are sets of their own.

        Args:
            participant: study ID.
            battery: id of the battery that the sessions have in common.
        """
        from rich.console import Group

        from tabwb.report.render.typed import explained_view
        from tabwb.report.summaries.change import change_of
        from tabwb.report.summaries.load import load_columns
        from tabwb.report.summaries.sessions import sessions_of, sets_of_tags, tags_as_sets
        from tabwb.report.tables.change import change_items_table, change_table, sessions_table
        from tabwb.report.tables.named import SECTIONS, shown_columns

        sessions = sessions_of(self.store, participant, battery)
        members = load_columns(self.store, [one.id for one in sessions])
        subtests = members[0].battery.subtests
        found = change_of(members, sets_of_tags(subtests, tags_as_sets(subtests)))
        tables = (change_table(found), sessions_table(found), change_items_table(found))
        views = (
            explained_view(one, shown_columns(one), SECTIONS.get(one.name, ())) for one in tables
        )
        what = f"{participant}, {battery}, {plural(len(sessions), 'session')}"
        self.say(PageBuilt(CHANGE, what, Group(*views)))


def _title(words: str) -> str:
    return words[:1].upper() + words[1:]


def _try(built: Any) -> None:
    """Lay out a renderable once here, where its failure is the plugin's and ends nothing."""
    from io import StringIO

    from rich.console import Console
    from rich.protocol import is_renderable

    if not isinstance(built, str) and is_renderable(built):
        Console(file=StringIO(), width=80).render_lines(built)


def _view(source: PageSource, built: Any) -> RenderableType:
    from rich.protocol import is_renderable
    from rich.text import Text

    from tabwb.report.render.typed import table_view
    from tabwb.tables.table import Table

    if isinstance(built, Table):
        return table_view(built)
    if isinstance(built, str):
        return Text(built)  # as it is: no markup
    if is_renderable(built):
        return built  # type: ignore[no-any-return]
    raise ComponentError(
        f"page '{source.id}' built {type(built).__name__}",
        allowed="text, a Rich renderable, or a table",
    )

"""Builds tables of results and lets plugins build their pages, in the worker's thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabwb.plugin_api.extensions import PageSource
from tabwb.records.errors import ComponentError
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Controller, Engine, title_of
from tabwb.workbench.engine.messages import Failed
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import ErrorReport

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tabwb.operations.operation import Operation


CHANGE = "Change between sessions"
"""The title of the tables of one participant."""


@dataclass(frozen=True, slots=True)
class PageBuilt:
    """A page has been built.

    Attributes:
        what: says of which administrations.
        about: says what it shows; may be empty.
    """

    title: str
    what: str
    view: RenderableType
    about: str = ""


class ExtensionController(Controller):
    """Reads responses for tables and for the pages of plugins."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._turn = 0
        """Counts the pages asked for."""

    @property
    def _counts(self) -> str:
        """Whose ratings count in this study: a rater or a rule."""
        return self.plugins.configuration.study.primary_rater

    def operation(self, name: str) -> type[Operation]:
        """Return an operation of a plugin."""
        from tabwb.operations.operation import plugin_operation

        found = plugin_operation(self.plugins, name)
        assert found is not None, name
        return found

    def build(self, source: PageSource, numbers: Sequence[int], what: str) -> None:
        """Let a plugin build a page in its own thread, and send it.

        The worker can do other things meanwhile; of several pages the last one asked for is sent.
        """
        from tabwb.analysis.administrations import load_columns
        from tabwb.analysis.grouping import grouped, summarised
        from tabwb.analysis.statistics.plugins import plugin_responses_of
        from tabwb.analysis.tables.results import results_table
        from tabwb.media.plugin_pages import built
        from tabwb.plugin_api.extensions import PageData

        statistics, counts = self.plugins.statistics(), self._counts
        loaded = load_columns(self.store, tuple(numbers), statistics=statistics, primary=counts)
        rows = summarised(grouped(loaded, "model"))
        given = tuple(
            sorted(member.administration.id for row in rows for member in row.group.members)
        )
        responses = [(row.label, plugin_responses_of(row.group.members)) for row in rows]
        data = PageData(given, results_table(rows), responses)
        self._turn += 1
        turn = self._turn

        def make() -> None:
            message: PageBuilt | Failed
            try:
                message = PageBuilt(source.title, what, built(source, data))
            except ComponentError as error:
                message = Failed(ErrorReport.of(title_of(error), error))
            if self._turn == turn:
                self.say(message)

        threading.Thread(target=make, name="page", daemon=True).start()

    def table(self, name: str, title: str, numbers: Sequence[int], what: str) -> None:
        """Build a table of results and send it."""
        from tabwb.analysis.administrations import load_columns
        from tabwb.analysis.grouping import grouped, summarised
        from tabwb.media.views.tables import VIEWS, named_table
        from tabwb.media.views.typed import explained_view

        by = VIEWS[name].by
        statistics = self.plugins.statistics() if name == "results" else ()
        loaded = load_columns(
            self.store, tuple(numbers), statistics=statistics, primary=self._counts
        )
        rows = summarised(grouped(loaded, by))
        self.say(PageBuilt(title, what, explained_view(named_table(name, rows)), VIEWS[name].has))

    def change(self, participant: str, battery: str) -> None:
        """Build the tables of change over the sessions of a participant and send them.

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

        sessions = sessions_of(self.store, participant, battery)
        members = load_columns(self.store, [one.id for one in sessions], primary=self._counts)
        subtests = members[0].battery.subtests
        found = change_of(members, sets_of_tags(subtests, tags_as_sets(subtests)))
        tables = (change_table(found), sessions_table(found), change_items_table(found))
        what = f"{participant}, {battery}, {plural(len(sessions), 'session')}"
        self.say(PageBuilt(CHANGE, what, Group(*map(explained_view, tables))))

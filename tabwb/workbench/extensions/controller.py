"""Lets a plugin build its result page, in the worker's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tabwb.plugin_api.extensions import PageSource
from tabwb.records.errors import ComponentError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class PageBuilt:
    """A plugin has built its page; ``what`` says of which administrations."""

    title: str
    what: str
    view: RenderableType


class ExtensionController(Controller):
    """Reads responses for the pages of plugins."""

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
        from tabwb.report.summaries.groups import grouped, summarised
        from tabwb.report.summaries.load import load_columns
        from tabwb.report.summaries.statistics import responses_of_group
        from tabwb.report.tables.results import results_table

        rows = summarised(grouped(load_columns(self.store, tuple(numbers)), "model"))
        given = tuple(
            sorted(member.administration.id for row in rows for member in row.group.members)
        )
        responses = [(row.label, responses_of_group(row.group.members)) for row in rows]
        try:
            with plugin_code:
                built = source.build(PageData(given, results_table(rows), responses))
        except Exception as error:
            raise ComponentError(f"page '{source.id}' failed: {error_words(error)}") from error
        self.say(PageBuilt(source.title, what, _view(source, built)))


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

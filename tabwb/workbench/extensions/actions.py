"""Asks which table or page of a plugin is wanted, and shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from textual.content import Content

from tabwb.media.views.tables import VIEWS
from tabwb.operations.operation import made, values_of
from tabwb.plugin_api.extensions import OperationSource
from tabwb.records.errors import TabwbError
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import title_of
from tabwb.workbench.engine.messages import Failed
from tabwb.workbench.engine.operations import JobController
from tabwb.workbench.engine.view_models import ErrorReport
from tabwb.workbench.extensions.controller import CHANGE, ExtensionController, PageBuilt
from tabwb.workbench.extensions.page import ExtensionPage
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import PickScreen
from tabwb.workbench.shell.operation_dialog import OperationScreen
from tabwb.workbench.shell.page import Actions
from tabwb.workbench.shell.wording import QUIET

SHOWN_HERE = ("features", "items", "item-models", "positions", "foils", "doses", "map")
"""Tables of results; differences need a baseline, and two models are compared by other commands."""
_Entry = tuple[str, str, Callable[[], None] | None]
"""Title, help, and what builds the page in the worker's thread; None for an operation."""


class ExtensionActions(Actions):
    """Runs the commands of tables and of the pages of plugins."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._from = "home"
        desk.listen(PageBuilt, self.built)

    def plugin_page(self) -> None:
        """Choose a page; it is shown when it has been built."""
        desk = self.desk
        numbers = desk.current.administrations()
        what = plural(len(numbers), "administration") if numbers else "all administrations"
        catalogue = desk.catalogue
        operations = {} if catalogue is None else {one.id: one for one in catalogue.operations}
        entries: list[_Entry] = [(one.id, one.help, None) for one in operations.values()]
        entries += self._entries(numbers, what)
        self._from = desk.page

        def picked(at: int | None) -> None:
            if at is not None:
                title, _, build = entries[at]
                if build is None:
                    desk.app.run_worker(self._begin(operations[title], numbers))
                    return
                desk.notify(f"{title}: computing …", timeout=2, markup=False)
                desk.do(build)

        lines = [
            Content.assemble((title, "bold"), (f"\n  {words}", QUIET))
            for title, words, _ in entries
        ]
        desk.app.push_screen(PickScreen(f"Tables and pages, {what}", lines), picked)

    def _entries(self, numbers: Sequence[int], what: str) -> Iterator[_Entry]:
        catalogue = self.desk.catalogue
        controller = self.desk.controller(ExtensionController)
        for page in () if catalogue is None else catalogue.pages:
            yield page.title, page.help, partial(controller.build, page, numbers, what)
        stored = () if catalogue is None else catalogue.administrations
        for shown in stored:
            own = shown.conditions.study_id
            if own is not None and tuple(numbers) == (shown.id,):
                change = partial(controller.change, own, shown.battery)
                yield CHANGE, f"the sessions of {own} with {shown.battery}, item by item", change
        for name in SHOWN_HERE:
            title = name.replace("-", " ").capitalize()
            yield title, VIEWS[name].has, partial(controller.table, name, title, numbers, what)

    async def _begin(self, source: OperationSource, numbers: Sequence[int]) -> None:
        """Open the dialog of an operation; one that asks for nothing begins at once."""
        desk = self.desk
        try:
            kind = await desk.ask(desk.controller(ExtensionController).operation, source.id)
            values = values_of(kind)
            takes_ids = any(one.name == "ids" for one in values)
            known: dict[str, Any] = {"ids": tuple(numbers)} if takes_ids else {}
            if any(one.arg.label for one in values) and not kind.CONFIRMS:
                desk.app.push_screen(OperationScreen(desk, kind, kind.TITLE, **known))
                return
            await desk.ask(desk.controller(JobController).begin, made(kind, known))
        except TabwbError as error:
            desk.tell(Failed(ErrorReport.of(title_of(error), error)))

    async def built(self, message: PageBuilt) -> None:
        """Show the page."""
        await self.desk.go("extension")
        self.desk.query_one(ExtensionPage).show(
            message.title, message.about, message.what, message.view
        )
        self.desk.call_after_refresh(self.desk.show_frame)  # the focus has moved by then

    async def leave_page(self) -> None:
        """Return to where the page was asked for."""
        await self.desk.go(self._from)

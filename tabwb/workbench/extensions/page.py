"""The page that shows a table of results, or what a plugin built; it asks which is wanted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult
from textual.content import Content

from tabwb.media.plugin_pages import built
from tabwb.media.views.tables import VIEWS
from tabwb.operations.operation import made, plugin_operation, values_of
from tabwb.plugin_api.extensions import OperationSource, PageSource
from tabwb.records.words import plural
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane, pick
from tabwb.workbench.shell.operation_dialog import OperationScreen
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, ReportView
from tabwb.workbench.shell.wording import QUIET

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

    from tabwb.analysis.change import (
        change_items_table,
        change_of,
        change_table,
        members_of,
        sessions_table,
        sets_of_tags,
        tags_as_sets,
    )
    from tabwb.media.views.typed import explained_view

    primary = engine.plugins.configuration.study.primary_rater
    members = members_of(engine.store, participant, battery, primary=primary)
    subtests = members[0].battery.subtests
    found = change_of(members, sets_of_tags(subtests, tags_as_sets(subtests)))
    tables = (change_table(found), sessions_table(found), change_items_table(found))
    what = f"{participant}, {battery}, {plural(len(members), 'session')}"
    return Built(CHANGE, what, Group(*map(explained_view, tables)))


HELP = """\
# Table of results, or page of a plugin

It was built from the responses named above it. Arrows scroll, **esc** goes back.
"""
SHOWN_HERE = ("features", "items", "item-models", "positions", "foils", "doses", "map")
"""Tables of results; differences need a baseline, and two models are compared by other commands."""
_Choice = tuple[str, str, Callable[[], Coroutine[Any, Any, Built | None]]]
"""Title, help, and what builds the page, or begins an operation."""


class ExtensionPage(Page):
    """The title, the administrations, and the view below."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._title = ""

    def compose(self) -> ComposeResult:
        """Yield head and view."""
        yield Line(id="extension-head")
        with Pane(id="extension-frame"), ScrollPane(id="extension-pane", help_text=HELP):
            yield ReportView(id="extension-view")

    def want(self, *wanted: Any) -> None:
        """Show what was built."""
        (made,) = wanted
        self._title = made.title
        about, what = Content.styled(made.about, QUIET), Content.styled(made.what, QUIET)
        self.query_one(Line).show(about, what)
        self.query_one(Pane).border_title = made.title
        self.query_one(ReportView).show(made.view)

    def open_title(self) -> str | None:
        """Return the title of the page."""
        return self._title

    def focus_inside(self) -> None:
        """Give the keys to the view."""
        pane = self.query_one(ScrollPane)
        pane.focus()
        pane.scroll_home(animate=False)

    async def leave_page(self) -> None:
        """Return to where the page was asked for."""
        await self.desk.back()


def choose(desk: Desk) -> None:
    """Choose a table or a page; it is shown when it has been built, of several the last."""
    numbers = desk.current.administrations()
    what = plural(len(numbers), "administration") if numbers else "all administrations"
    operations = () if desk.catalogue is None else desk.catalogue.operations
    begins: list[_Choice] = [
        (one.label, one.help, partial(_begin, desk, one, numbers)) for one in operations
    ]
    choices = [*_choices(desk, numbers, what), *begins]
    page = desk.page

    async def show(build: Callable[[], Coroutine[Any, Any, Built | None]]) -> None:
        if (found := await build()) is None:
            return
        await desk.go("extension", found)
        desk.return_to = page
        desk.call_after_refresh(desk.show_frame)  # the focus has moved by then

    def picked(choice: _Choice) -> None:
        title, _, build = choice
        if choice not in begins:
            desk.notify(f"{title}: computing …", timeout=2, markup=False)
        desk.start(show, build, group="extension")

    columns: Sequence[Column[_Choice]] = (Column("", lambda one: one[0], least=20, style="bold"),)
    pick(
        desk.app, f"Tables and pages, {what}", choices, picked, columns=columns,
        below=lambda one, _: Content.styled(f"  {one[1]}", QUIET),
    )  # fmt: skip


def _choices(desk: Desk, numbers: Sequence[int], what: str) -> Iterator[_Choice]:
    engine, catalogue = desk.engine, desk.catalogue
    for page in () if catalogue is None else catalogue.pages:
        yield page.title, page.help, partial(_of_plugin, desk, page, numbers, what)
    stored = () if catalogue is None else catalogue.administrations
    for shown in stored:
        own = shown.conditions.study_id
        if own is not None and tuple(numbers) == (shown.id,):
            words = f"the sessions of {own} with {shown.battery}, item by item"
            yield CHANGE, words, partial(desk.ask, change, engine, own, shown.battery)
    for name in SHOWN_HERE:
        title = name.replace("-", " ").capitalize()
        build = partial(desk.ask, table, engine, name, title, numbers, what)
        yield title, VIEWS[name].has, build


async def _of_plugin(desk: Desk, page: PageSource, numbers: Sequence[int], what: str) -> Built:
    """Let a plugin build its page beside the worker, which can do other things meanwhile."""
    data = await desk.ask(page_data, desk.engine, numbers)
    return Built(page.title, what, await desk.ask(built, page, data, aside=True))


async def _begin(desk: Desk, source: OperationSource, numbers: Sequence[int]) -> None:
    """Open the dialog of an operation; one that asks for nothing begins at once."""
    kind = await desk.ask(plugin_operation, desk.engine.plugins, source.id)
    assert kind is not None, source.id
    values = values_of(kind)
    takes_ids = any(one.name == "ids" for one in values)
    known: dict[str, Any] = {"ids": tuple(numbers)} if takes_ids else {}
    if any(one.arg.label for one in values) and not kind.CONFIRMS:
        desk.app.push_screen(OperationScreen(desk, kind, kind.TITLE, **known))
    else:
        await desk.ask(desk.sessions.jobs.begin, made(kind, known))

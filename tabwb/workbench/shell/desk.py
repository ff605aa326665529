"""The desk: title bar, explorer, the page in the middle, scores, foot. It runs the commands."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal

from tabwb.records.words import RESEARCH_ONLY
from tabwb.workbench.engine import messages
from tabwb.workbench.engine.snapshots import Catalogue, Results, Trouble, Work
from tabwb.workbench.naming.screen import CLOCK_S, Naming
from tabwb.workbench.shell import themes
from tabwb.workbench.shell.commands import (
    BY_ID,
    Page,
    Situation,
    available,
    bindings,
)
from tabwb.workbench.shell.dock import Dock
from tabwb.workbench.shell.explorer import Entry, Explorer
from tabwb.workbench.shell.footer import Foot
from tabwb.workbench.shell.home_page import HomePage
from tabwb.workbench.shell.reasons import why_not
from tabwb.workbench.shell.title_bar import TitleBar
from tabwb.workbench.trial.score_panel import ScorePanel


class Desk(Naming):
    """Everything that always stands; pages and dialogs are imported when they are opened."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("everywhere")]
    AUTO_FOCUS = "HomePage"

    def __init__(
        self, *, location: str | None, offline: bool, battery: str | None, model: str | None
    ) -> None:
        super().__init__(id="desk")
        self._location, self._offline = location, offline
        self._wish = (battery, model)
        self._greeted = False
        self._drawer = ""
        self.page: Page = "home"
        self.catalogue: Catalogue | None = None
        self.work: Work | None = None
        self.results: Results | None = None
        self.listeners: dict[int, str] = {}
        self.saved: bool | None = None

    def compose(self) -> ComposeResult:
        """The frame, with the home page in it."""
        yield TitleBar()
        with Horizontal(id="middle"):
            yield Dock(Explorer(), "left", id="explorer-dock")
            with Container(id="pages"):
                yield HomePage()
            yield Dock(ScorePanel(id="scores"), "right", id="scores-dock")
        yield Foot()

    def on_mount(self) -> None:
        """Paint first, then open plugins and store in the worker."""
        self.lay_out()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.start_worker(self._location, self._offline)
        if not self.workbench.remembered.notice_seen:
            from tabwb.workbench.shell.choice import ChoiceScreen

            self.app.push_screen(
                ChoiceScreen(
                    "Before you begin", RESEARCH_ONLY, (("read", "I have read this"),), alone=True
                ),
                self._noticed,
            )

    def _welcome(self, catalogue: Catalogue) -> None:
        if catalogue.theme in themes.NAMES and not self.workbench.remembered.theme:
            self.app.theme = catalogue.theme
        if catalogue.problems:
            count = len(catalogue.problems)
            what = "A plugin has a problem" if count == 1 else f"{count} problems with plugins"
            self.notify(f"{what}; F9 shows it.", severity="warning")

    def _noticed(self, choice: str | None) -> None:
        if choice:
            self.workbench.remember(notice_seen=True)
        self._greet()

    def _greet(self) -> None:
        # Once, when the store is open and the first notice was read.
        notice = self.workbench.remembered.notice_seen
        if self.catalogue is None or self._greeted or not notice:
            return
        self._greeted = True
        if any(self._wish) and self.saved:
            battery, model = self._wish
            self.open_dialog(battery=battery, model=model)

    # ---------------------------------------------------------------- what the worker says

    def on_ready(self, message: messages.Ready) -> None:
        """There is a catalogue."""
        if self.catalogue is None:
            self._welcome(message.catalogue)
            if self.workbench.when_ready is not None:
                self.call_after_refresh(self.workbench.when_ready)
        self.catalogue = message.catalogue
        self.saved = bool(message.catalogue.store) or None
        self.query_one(HomePage).show(message.catalogue)
        self._show_frame()
        self._greet()

    async def on_changed(self, message: messages.Changed) -> None:
        """The open administration has changed."""
        self.take_work(message.work)
        if self._worker is None:
            return  # a message that was on its way when the program began to end
        if message.work is None:
            await self.go("home")
            return
        self.saved = True
        if message.opened or (self.page in {"trial", "naming"} and self.page != self.work_page):
            await self.go(self.work_page)
        if self.page in {"trial", "naming"}:
            self.show_work()
        administration = message.work.administration
        # A person sees verdicts by choice only.
        if message.over and message.work.auto and administration.conditions.kind == "model":
            self.do(partial(self.bench.results, administration.id))
        self._show_frame()

    def on_streamed(self, message: messages.Streamed) -> None:
        """A reply grows."""
        if self.page == "trial" and self.work is not None and self.work.asking:
            self.trial_page.stream(message.text)

    async def on_results_ready(self, message: messages.ResultsReady) -> None:
        """Results have come."""
        new = message.results
        self._renew_response(new)
        shown = None if self.results is None else self.results.administration.id
        if message.again and (self.page != "results" or shown != new.administration.id):
            return
        self.results = new
        self.queued = False
        if message.again:
            self.results_page.show(new, scores_beside=self._scores_stand)
        else:
            if self.query("#results-page"):
                self.results_page.open_summary()
            await self.go("results")
        self._show_frame()

    def _renew_response(self, results: Results) -> None:
        """An open response shows what was said of it just now, whatever page lies behind it."""
        from tabwb.workbench.results.response import ResponseScreen

        rows = {(results.administration.id, row.item.place[0]): row for row in results.responses}
        for screen in self.app.screen_stack:
            if isinstance(screen, ResponseScreen) and screen.at in rows:
                screen.renew(rows[screen.at])

    def on_failed(self, message: messages.Failed) -> None:
        """Something needs a person."""
        self.queued = False
        self.workbench.keys.drop()
        if message.trouble.unsaved:
            self.saved = False
        if self.query("#trial-page"):
            self.trial_page.answer_again()
        self._show_frame()
        self.show_trouble(message.trouble)

    async def on_exported(self, message: messages.Exported) -> None:
        """The export's dialog goes when the file is written; else it says why not."""
        from tabwb.workbench.results.export import ExportScreen

        dialog = next((one for one in self.app.screen_stack if isinstance(one, ExportScreen)), None)
        if message.refused is None:
            if dialog is not None:
                await dialog.dismiss(None)  # news on a screen that goes are not seen
            self.notify(f"Written: {message.path}", timeout=10, markup=False)
        elif dialog is not None:
            dialog.refuse(message.refused)
        else:
            self.show_trouble(message.refused)

    def on_told(self, message: messages.Told) -> None:
        """News."""
        self.notify(message.text, timeout=4, markup=False)

    def show_trouble(self, trouble: Trouble) -> None:
        """A modal with what is wrong and what to do."""
        from tabwb.workbench.shell.choice import ChoiceScreen, trouble_text

        def chosen(action: str | None) -> None:
            if action and action != "close":
                self.perform(action)

        choices = tuple((action, words) for action, words in trouble.asks)
        self.app.push_screen(
            ChoiceScreen(trouble.title, trouble_text(trouble), (*choices, ("close", "Close"))),
            chosen,
        )

    # ---------------------------------------------------------------- pages

    async def go(self, page: Page) -> None:
        """Put a page into the middle and give it the focus."""
        pages = self.query_one("#pages")
        if page == "trial" and not self.query("#trial-page"):
            from tabwb.workbench.trial.page import TrialPage

            await pages.mount(TrialPage())
        if page == "naming" and not self.query("#naming-page"):
            from tabwb.workbench.naming.page import NamingPage
            from tabwb.workbench.naming.speaker_sheet import SpeakerSheet

            await pages.mount(NamingPage())
            await self.mount(SpeakerSheet(id="speaker-sheet"))
            self.set_interval(CLOCK_S, self._show_frame)
        if page == "results" and not self.query("#results-page"):
            from tabwb.workbench.results.page import ResultsPage

            await pages.mount(ResultsPage())
        if page == "models" and not self.query("#models-page"):
            from tabwb.workbench.comparison.page import ModelsPage

            await pages.mount(ModelsPage())
        self.page = page
        self.from_models &= page in {"results", "models"}
        self._drawer = ""
        for child in pages.children:
            child.display = child.id == f"{page}-page"
        self.lay_out()
        if page in {"trial", "naming"}:
            self.show_work()
        elif page == "results" and self.results is not None:
            self.results_page.show(self.results, scores_beside=self._scores_stand)
        self.focus_page()

    def focus_page(self) -> None:
        """Give the keys to the page."""
        if self.page == "results":
            page = self.results_page
            page.show_responses(page.responses_shown)
        elif self.page == "models":
            self.models_page.focus_inside()
        elif self.page == "naming":
            self.naming_page.focus()
        elif self.page == "trial":
            self.trial_page.focus()
            self.trial_page.enter_answer()
        else:
            home = self.query_one(HomePage)
            options = home.query_one("#home-open")
            (options if options.display else home).focus()

    def show_work(self) -> None:
        """Show the open administration in its page and beside it."""
        if self.work is None:
            return
        if self.naming is not None:
            self.show_naming(narrow=not self._scores_stand)
            self._show_scores()
        elif self.query("#trial-page"):
            self.trial_page.show(self.work, narrow=not self._scores_stand, pausing=self.pausing)
            self._show_scores()

    # ---------------------------------------------------------------- commands

    def situation(self) -> Situation:
        """What decides which commands make sense now."""
        work = self.work
        stored = bool(self.catalogue and self.catalogue.administrations)
        if work is None:
            return Situation(page=self.page, results=self.results is not None, stored=stored)
        item = work.item
        now = Situation(
            page=self.page,
            kind=work.administration.conditions.kind,
            status=work.status,
            item=item.place[0] if item else None,
            state=item.trial.state if item else None,
            awaiting=work.awaiting,
            asking=work.asking or self.queued,
            loading=bool(work.loading),
            answered=item is not None and item.attempt is not None,
            undoable=work.undoable,
            results=self.results is not None,
            stored=stored,
        )
        return self.naming_situation(now)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a command can be used now, or says why it cannot."""
        group, _, verb = action.partition("_")
        command = BY_ID.get(f"{group}.{verb.replace('_', '-')}")
        if command is None:
            return True
        now = self.situation()
        return available(command, now) or bool(why_not(command.id, now))

    def perform(self, name: str) -> None:
        """Run a command by its id or action, if it can be used now."""
        action = BY_ID[name].action if name in BY_ID else name
        if self.check_action(action, ()):
            self.call_later(self.run_action, action)

    def on_foot_chosen(self, message: Foot.Chosen) -> None:
        """A key at the foot was clicked."""
        if message.action == "administer_record":
            self.trial_page.record_answer()
        elif message.action == "administer_keys":
            self.trial_page.take_keys()
        elif message.action:
            self.perform(message.action)

    def on_title_bar_menu_wanted(self, message: TitleBar.MenuWanted) -> None:
        """A menu was clicked."""
        self.open_menu(message.group)

    def on_home_page_wanted(self, message: HomePage.Wanted) -> None:
        """An open administration was chosen."""
        self.offer(message.number)

    def on_explorer_opened(self, message: Explorer.Opened) -> None:
        """An entry of the explorer was chosen."""
        entry: Entry = message.entry
        if entry.kind == "administration":
            self.offer(int(entry.name))
        elif entry.kind == "battery":
            self.open_dialog(battery=entry.name)
        elif entry.kind == "examinee":
            self.open_dialog(examinee=entry.name)
        elif entry.kind == "more":
            self.action_file_open()

    def action_view_home(self) -> None:
        """Leave the page; an open administration is paused."""
        if self.work is not None:
            self.do(self.bench.leave)
        else:
            self.do(self.bench.refresh)  # another terminal may have added to the store
            self.run_worker(self.go("home"))

    async def action_file_quit(self) -> None:
        """Quit."""
        await self.workbench.action_leave()

    def action_help_focused(self) -> None:
        """Help for what is focused."""
        self.workbench.action_help_for_focus()

    def action_help_commands(self) -> None:
        """The palette."""
        self.app.action_command_palette()

    def action_help_keys(self) -> None:
        """All keys."""
        from tabwb.workbench.shell.keys import KeysScreen

        self.app.push_screen(KeysScreen(self.situation()))

    def action_help_menu(self) -> None:
        """The menus."""
        self.open_menu("administer" if self.page in {"trial", "naming"} else "file")

    def open_menu(self, group: str) -> None:
        """Open one menu."""
        from tabwb.workbench.shell.menu import MenuScreen

        def chosen(name: str | None) -> None:
            if name:
                self.perform(name)

        self.app.push_screen(MenuScreen(group, self.situation()), chosen)

    def action_help_about(self) -> None:
        """What tabwb is."""
        from tabwb.workbench.shell.choice import ChoiceScreen, about_text

        self.app.push_screen(
            ChoiceScreen("About tabwb", about_text(self.catalogue), (("close", "Close"),))
        )

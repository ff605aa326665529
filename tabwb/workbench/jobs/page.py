"""The page of background jobs, and what the title bar says of them on every page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from tabwb.operations.operation import Operation, values_of
from tabwb.records.words import plural, time_left
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.shell.columns import Column, laid
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.page import Actions, Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, JOB_SIGNS, QUIET, folded, key_lines

WORDS = {"done": "complete", "refused": "failed"}
"""Phases in words, where they differ."""
BAR = 30
NONE = (
    "No job since the program started. Long work runs in the background: other pages can be used "
    "meanwhile, and the title bar shows how far it is. Each job is listed here with its progress "
    "and how it ended."
)
BEGUN = (
    ("j", "in results: another judge rates the responses"),
    ("B", "in results: the responses are scored and judged again"),
    ("M", "in results of pictures that were named: a transcriber hears the recordings"),
    ("i", "on the first page: files with responses are imported"),
    ("T", "on the first page: sound files are transcribed"),
    ("w", "on the first page: a model is given a battery under many lesions"),
)
"""How jobs are begun, with the key."""
INTERRUPTED = (
    "Jobs that quitting stopped are not listed here. Continue on the first page lists judging with "
    "responses left; w on the first page continues a sweep; M in results transcribes what is left."
)
MARK = "jobs"
HELP = """\
# Background jobs

Judging, scoring again, transcribing, importing and sweeps work in the background; the title bar
shows how far they are, and the workbench can be used meanwhile.

- **enter** shows the results that a job changes, or the page of the sweep
- **x** stops a job after the current calls or items; what is stored stays
- **r** starts a stopped job again with the rest
"""


class JobsPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        desk.listen(JobState, self._changed)

    def compose(self) -> ComposeResult:
        """Yield the list."""
        with Pane(title="Background jobs"):
            yield RowList(id="jobs-list", help_text=HELP)
            with ScrollPane(id="jobs-scroll", help_text=HELP):
                yield WrappedText(self._below, id="jobs-below")

    def on_mount(self) -> None:
        """Show the jobs."""
        self.update_page()

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "jobs"

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what cannot be done with this job."""
        state = self._current
        usable = {
            "file.show-job": state is not None,
            "file.stop-job": state is not None and state.active,
            "file.resume-job": state is not None and state.resumable,
        }
        return super().foot_rank(command) if usable.get(command.id, True) else 0

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Show the words of the highlighted job, and what can be done with it."""
        self.query_one("#jobs-below").refresh(layout=True)
        self.desk.show_foot()

    def focus_inside(self) -> None:
        """Give the keys to the list."""
        self.query_one(RowList).focus()

    def start_at_work(self) -> None:
        """Highlight the newest job that works, else the newest: what stop and start act on."""
        states = self.desk.sessions.jobs.states
        wanted = next((one for one in states if one.active), states[0] if states else None)
        if wanted is not None:
            self.query_one(RowList).choose(wanted.number)

    def update_page(self) -> None:
        """Show the present states; the same job stays highlighted."""
        if self.is_mounted:
            states = self.desk.sessions.jobs.states
            self.query_one(RowList).show(JOBS, states, ids=lambda state: state.number)
            self.query_one("#jobs-below").refresh(layout=True)

    def _below(self, width: int) -> Iterator[Content]:
        state = self._current
        return without_jobs(width) if state is None else self._of_job(state, width)

    def _of_job(self, state: JobState, width: int) -> Iterator[Content]:
        """Yield how a job is, what it was asked for, and how others are begun."""
        yield from words_of(state, width)
        yield Content("")
        asked = asked_of(self.desk.sessions.jobs.all[state.number].wanted)
        yield from key_lines(asked, width, room=20, style=QUIET, quiet="")
        if state.document:
            yield Content("")
            yield Content.styled("What it did, as --json prints it", QUIET)
            for line in json.dumps(state.document, indent=2, ensure_ascii=False).splitlines():
                yield from folded(line, width, indent=len(line) - len(line.lstrip()))
        yield from begun_lines(width)

    def _changed(self, state: JobState) -> None:
        if self.desk.current is self:
            self.update_page()
            self.desk.show_foot()

    @property
    def _current(self) -> JobState | None:
        at, states = self.query_one(RowList).current, self.desk.sessions.jobs.states
        return states[at] if 0 <= at < len(states) else None

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Open the result of the job that was chosen."""
        self.desk.perform("file.show-job")

    async def show_job(self) -> None:
        """Show the results that the job changes, or its page."""
        state = self._current
        if state is None:
            return
        if state.page:
            await self.desk.go(state.page)
        elif state.administration is not None:
            self.desk.request("results", "show", state.administration)
        else:
            active = state.active
            self.show_message(f"It has not stored anything{' yet' if active else ''}.")

    def stop_job(self) -> None:
        """Stop the job."""
        state = self._current
        if state is None or not state.active:
            self.show_message("This job is not running.")
        else:
            self.desk.sessions.jobs.stop(state.number)

    def resume_job(self) -> None:
        """Start the job again."""
        state = self._current
        if state is None or not state.resumable:
            running = state is not None and state.active
            self.show_message("This job is running." if running else "Nothing is left to do.")
        else:
            self.desk.do(partial(self.desk.sessions.jobs.again, state.number))

    async def leave_jobs(self) -> None:
        """Return to the page before."""
        await self.desk.back()


class JobsActions(Actions):
    """Opens the page and the dialogs of jobs that belong to no page; tells how jobs end."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        desk.listen(JobState, self.changed)

    async def jobs(self) -> None:
        """Open the page, at the newest job that works."""
        await self.desk.go("jobs")
        if self.desk.page == "jobs":
            page = self.desk.query_one(JobsPage)
            page.update_page()
            page.start_at_work()

    def open_import(self) -> None:
        """Open the dialog of an import, then the results of what was imported."""
        from tabwb.operations.importing import ImportFile

        self._ask(ImportFile, "Import", then=self._imported)

    def _imported(self, state: JobState) -> None:
        given = (state.document or {}).get("administrations", ())
        words = f"Imported: {plural(len(given), 'administration')}" if given else state.words
        self.desk.notify(words, timeout=8, markup=False)
        if given:
            self.desk.request("results", "show", given[0]["id"])

    def transcribe_files(self) -> None:
        """Open the dialog that transcribes sound files."""
        from tabwb.operations.transcribing import TranscribeFiles

        self._ask(TranscribeFiles, "Transcribe sound files")

    def reproduce(self) -> None:
        """Open the dialog that computes the values of a paper again."""
        from tabwb.operations.reproduce import ReproducePaper

        self._ask(ReproducePaper, "Reproduce a paper")

    def add_norms(self) -> None:
        """Open the dialog that adds a file of norms."""
        from tabwb.operations.norms import AddNorms

        self._ask(AddNorms, "Add norms")

    def make_norms(self) -> None:
        """Open the dialog that makes norms of the people in the store."""
        from tabwb.operations.norms import MakeNorms

        self._ask(MakeNorms, "Make norms")

    def transcribe(self, number: int, transcriber: str = "") -> None:
        """Transcribe stored responses; ask with which transcriber where none is named."""
        from tabwb.operations.transcribing import TranscribeResponses

        desk, jobs = self.desk, self.desk.sessions.jobs
        if not transcriber:
            given = () if desk.catalogue is None else desk.catalogue.administrations
            spec = next((one.conditions.transcriber for one in given if one.id == number), None)
            self._ask(
                TranscribeResponses, f"Transcribe #{number}",
                administration=number, transcriber=spec,
            )  # fmt: skip
        elif jobs.working(TranscribeResponses.DOING, number) is None:
            wanted = TranscribeResponses(administration=number, transcriber=transcriber)
            desk.start(desk.ask, jobs.begin, wanted)

    def _ask(self, kind: type[Operation], title: str, **known: Any) -> None:
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        self.desk.app.push_screen(OperationScreen(self.desk, kind, title, **known))

    def changed(self, state: JobState) -> None:
        """Show in the title bar what works; tell how an operation ended."""
        mark = mark_of([one for one in self.desk.sessions.jobs.states if one.active])
        if self.desk.marks.get(MARK, "") != mark:
            self.desk.marks[MARK] = mark
            self.desk.show_frame()
        self._tell_end(state)

    def _tell_end(self, state: JobState) -> None:
        """Tell how an operation ended whose dialog was closed."""
        if state.active or (state.page and self.desk.page == state.page):
            return
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        screens = self.desk.app.screen_stack
        dialogs = (one for one in screens if isinstance(one, OperationScreen))
        if not any(one.shows(state.number) for one in dialogs):
            self.desk.notify(f"{state.kind}: {state.words}", timeout=8, markup=False)


def mark_of(active: list[JobState]) -> str:
    """Return what the title bar says of the jobs that work.

    >>> mark_of([JobState(1, "Judging", "rules on #3", done=12, planned=40)])
    '▸ judging 12/40'
    >>> mark_of([JobState(1, "Judging", "a"), JobState(2, "Import", "b")]), mark_of([])
    ('▸ 2 jobs', '')
    """
    if len(active) != 1:
        return f"▸ {plural(len(active), 'job')}" if active else ""
    state = active[0]
    if state.phase == "stopping":
        return f"▸ {state.kind.lower()} stops"
    return f"▸ {state.kind.lower()}" + (f" {state.done}/{state.planned}" if state.planned else "")


EXAMPLE = JobState(1, "Judging", "#3 with tab-2026:bundled", "stopped", 12, 40, resumable=True)


def without_jobs(width: int) -> Iterator[Content]:
    """Yield what the page is for, where jobs are begun, and an example."""
    yield from folded(NONE, width)
    yield from begun_lines(width)
    yield Content("")
    yield Content.styled("A job that was stopped, for example:", QUIET)
    yield Content("")
    yield from laid(JOBS, [EXAMPLE], width)[1:]
    yield from words_of(EXAMPLE, width)


def begun_lines(width: int) -> Iterator[Content]:
    """Yield how jobs are begun."""
    yield Content("")
    yield from key_lines(BEGUN, width)
    yield Content("")
    yield from folded(INTERRUPTED, width)


def asked_of(wanted: Operation) -> list[tuple[str, str]]:
    """Return the values of an operation by their labels, without those that are empty.

    >>> from tabwb.operations.judge import JudgeRun
    >>> asked_of(JudgeRun(ids=(3, 4), judge=("rules",)))[:2]
    [('Ids', '3, 4'), ('Judge', 'rules')]
    >>> from tabwb.operations.lesion import SweepLesions
    >>> asked_of(SweepLesions(battery="tab", model="bundled", grid={"name": "few"}))[:3]
    [('Battery', 'tab'), ('Model', 'bundled'), ('Grid', 'few')]
    """
    found = []
    for value in values_of(type(wanted)):
        given = getattr(wanted, value.name)
        words = ", ".join(map(str, given)) if value.many else "yes" if given is True else given
        words = words.get("name") if isinstance(words, dict) else words  # a grid, by its name
        label = value.arg.label or value.name.replace("_", " ").capitalize()
        if words:
            found.append((label, str(words)))
    return found


def _title(state: JobState) -> Content:
    return Content.styled(f"{JOB_SIGNS[state.phase]} {state.kind}", "bold")


def _phase(state: JobState) -> Content:
    style = AMBER if state.phase == "refused" else QUIET
    return Content.styled(WORDS.get(state.phase, state.phase), style)


def _left(state: JobState) -> str:
    if state.phase != "running" or not state.done:
        return ""
    return time_left(state.seconds / state.done * (state.planned - state.done)).strip()


def _share(state: JobState, width: int) -> Content:
    return bar(state.done / state.planned, width) if state.planned else Content("")


JOBS: Sequence[Column[JobState]] = (
    Column("", _title),
    Column("", _phase),
    Column("", lambda state: state.title, least=12),
    Column("", _share, grow=(6, BAR), rank=1),
    Column("", lambda state: f"{state.done}/{state.planned}" if state.planned else "", right=True),
    Column("", _left, rank=2, style=QUIET),
)


def words_of(state: JobState, width: int) -> Iterator[Content]:
    """Yield what a job says, and how it is continued."""
    yield from folded(state.words, width, AMBER if state.phase == "refused" else "", indent=2)
    if state.resumable:
        yield Content.assemble("  ", ("r", f"bold {ACCENT}"), (" continues it", QUIET))

"""Opens the page of jobs; shows on every page how far they are."""

from __future__ import annotations

from tabwb.records.words import plural
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.operations import DRY_RUN, JobController
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.page import Actions

MARK = "jobs"
WORKS = (
    "{}: {} is running. Quitting stops it after the current calls. What is stored stays; "
    "started again, it continues with the rest."
)


class JobsActions(Actions):
    """Runs the command *Background jobs*.

    Attributes:
        states: of every job of this program, by number.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.states: dict[int, JobState] = {}
        desk.listen(JobState, self.changed)

    async def jobs(self) -> None:
        """Open the page, at the newest job that works."""
        from tabwb.workbench.jobs.page import JobsPage

        await self.desk.go("jobs")
        if self.desk.page == "jobs":
            page = self.desk.query_one(JobsPage)
            page.update_page()
            page.start_at_work()

    def changed(self, state: JobState) -> None:
        """Show in the title bar what works; quitting asks first."""
        self.states[state.number] = state
        key = f"job {state.number}"
        if state.active and state.kind != DRY_RUN:
            self.desk.jobs[key] = WORKS.format(state.kind, state.title)
        else:
            self.desk.jobs.pop(key, None)
        self._tell_end(state)
        mark = mark_of([one for one in self.states.values() if one.active])
        if self.desk.marks.get(MARK, "") != mark:
            self.desk.marks[MARK] = mark
            self.desk.show_frame()

    def _tell_end(self, state: JobState) -> None:
        """Tell how an operation ended whose dialog was closed."""
        if state.active or not self.desk.controller(JobController).is_operation(state.number):
            return
        if state.page and self.desk.page == state.page:
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

"""The subject *jobs*: judging, transcribing, importing and sweeps in the background."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

HERE = ("jobs",)
PAGE = (
    Command("file.show-job", "Result of the job", "Open", "enter", HERE, 1,
            "Show the results that the job changes, or the page of the sweep."),
    Command("file.stop-job", "Stop the job", "Stop", "x", HERE, 2,
            "Stop after the present calls or items; what is stored stays."),
    Command("file.resume-job", "Start it again", "Start again", "r", HERE, 3,
            "Start a job that was stopped or refused again with what is left."),
    Command("file.leave-jobs", "Back", "Back", "escape", HERE, 12,
            "Return to the page before; the jobs go on."),
)  # fmt: skip
COMMANDS = (
    Command("file.jobs", "Background jobs", "Jobs", "J", ("home", "explorer"), 10,
            "Judging, transcribing, imports, sweeps in the background: progress, stop, again."),
)  # fmt: skip
SUBJECT = Subject(
    "jobs",
    pages=(PageSpec("jobs", "tabwb.workbench.jobs.page:JobsPage", PAGE),),
    commands=COMMANDS,
    actions="tabwb.workbench.jobs.actions:JobsActions",
    controller="tabwb.workbench.jobs.controller:JobsController",
    styles=(Path(__file__).with_name("page.tcss"),),
)

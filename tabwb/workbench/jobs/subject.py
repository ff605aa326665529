"""The subject *jobs*: judging, transcribing, importing and sweeps in the background.

It also has the commands that begin those that belong to no page.
"""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import PageSpec, Subject

PAGE = (
    Command("file.show-job", "Results of the job", "Open", "enter", 1,
            "Show the results that the job changes, or the page of the sweep."),
    Command("file.stop-job", "Stop the job", "Stop", "x", 2,
            "Stop after the current calls or items; what is stored stays."),
    Command("file.resume-job", "Start it again", "Start again", "r", 3,
            "Start a stopped or refused job again with the rest."),
    Command("file.leave-jobs", "Back", "Back", "escape", 12,
            "Return to the page before; the jobs continue."),
)  # fmt: skip
COMMANDS = (
    Command("file.open-import", "Import…", "Import", "i", 8,
            "Answers of a table, inspect_ai or lm_eval; spoken naming; recordings; ratings. "
            "Estimate first.",
            where=ON_HOME),
    Command("file.transcribe-files", "Transcribe sound files…", "", "T", 0,
            "Phonemes of sound files and folders of them (nothing is stored), or of stored "
            "responses.",
            where=ON_HOME),
    Command("file.reproduce", "Reproduce a paper…", "", "R", 0,
            "The printed values of a paper, computed again; its data or made ones.",
            where=ON_HOME),
    Command("file.add-norms", "Add norms…", "", "N", 0,
            "A file of groups with which people's values are compared.", where=ON_HOME),
    Command("file.make-norms", "Make norms…", "", "M", 0,
            "A file of norms from the people in this store.", where=ON_HOME),
    Command("file.jobs", "Background jobs", "Jobs", "J", 10,
            "Judging, transcribing, imports, sweeps in the background: progress, stop, again.",
            where=ON_HOME),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("jobs", "page:JobsPage", "the background jobs", PAGE),),
    actions="page:JobsActions",
)

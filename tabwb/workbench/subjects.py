"""The subjects of the workbench, in the order of their commands in menus and palette."""

from __future__ import annotations

from tabwb.workbench.adjudication.subject import SUBJECT as ADJUDICATION
from tabwb.workbench.comparison.subject import SUBJECT as COMPARISON
from tabwb.workbench.extensions.subject import SUBJECT as EXTENSIONS
from tabwb.workbench.home.subject import SUBJECT as HOME
from tabwb.workbench.jobs.subject import SUBJECT as JOBS
from tabwb.workbench.lesions.subject import SUBJECT as LESIONS
from tabwb.workbench.models.subject import SUBJECT as MODELS
from tabwb.workbench.naming.subject import SUBJECT as NAMING
from tabwb.workbench.participants.subject import SUBJECT as PARTICIPANTS
from tabwb.workbench.rating.subject import SUBJECT as RATING
from tabwb.workbench.results.subject import SUBJECT as RESULTS
from tabwb.workbench.shell.desk_commands import SUBJECT as DESK
from tabwb.workbench.trial.subject import SUBJECT as TRIAL

SUBJECTS = tuple(
    subject
    for subject in (
        TRIAL,
        HOME,
        NAMING,
        MODELS,
        JOBS,
        PARTICIPANTS,
        RESULTS,
        ADJUDICATION,
        COMPARISON,
        EXTENSIONS,
        LESIONS,
        RATING,
        DESK,
    )
    if subject.is_installed
)

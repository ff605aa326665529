"""The subject *transcribing*: stored recordings, transcribed in the background."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Subject

SUBJECT = Subject(
    "transcribing",
    actions="tabwb.workbench.transcribing.actions:TranscribingActions",
    controller="tabwb.workbench.transcribing.controller:TranscribingController",
)

"""The subject *transcribing*: stored recordings, transcribed in the background."""

from __future__ import annotations

from tabwb.workbench.shell.page import Subject

SUBJECT = Subject(
    __name__,
    actions="actions:TranscribingActions",
    controller="controller:TranscribingController",
)

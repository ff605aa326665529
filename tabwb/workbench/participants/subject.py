"""The subject *participants*: records, consents, sessions and deletion of people."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

HERE = ("participants",)
PAGE = (
    Command("file.consent", "Consent…", "Consent", "c", HERE, 1,
            "Record consents or withdrawals: scopes, day, signed form."),
    Command("file.new-session", "New administration…", "New", "n", HERE, 2,
            "Give a battery to this participant."),
    Command("file.edit-record", "Edit the record…", "Edit", "e", HERE, 3,
            "Record new values; earlier versions are kept."),
    Command("file.add-participant", "Add a participant…", "Add", "a", HERE, 4,
            "Register a participant by code, with a record."),
    Command("file.consent-form", "Consent form…", "Form", "f", HERE, 5,
            "A form to print, as text, with a question for each scope."),
    Command("file.find-participant", "Filter…", "Filter", "slash", HERE, 6,
            "Show only participants whose code or record has these words."),
    Command("file.delete-participant", "Delete…", "Delete", "x", HERE, 7,
            "Delete all data of this participant; first you see what goes and what stays."),
    Command("file.leave-participants", "Back", "Back", "escape", HERE, 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.participants", "Participants", "People", "p", ("home", "explorer"), 9,
            "People by their codes: records, consents, sessions, deletion."),
)  # fmt: skip
SUBJECT = Subject(
    "participants",
    pages=(PageSpec("participants", "tabwb.workbench.participants.page:ParticipantsPage", PAGE),),
    commands=COMMANDS,
    actions="tabwb.workbench.participants.actions:ParticipantsActions",
    controller="tabwb.workbench.participants.controller:ParticipantsController",
    styles=(Path(__file__).with_name("page.tcss"),),
)

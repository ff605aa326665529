"""The subject *participants*: records, consents, sessions and deletion of people."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import PageSpec, Subject

PAGE = (
    Command("file.consent", "Consent…", "Consent", "C", 1,
            "Record consents or withdrawals: scopes, day, signed form."),
    Command("file.new-session", "New administration…", "New", "N", 2,
            "Give a battery to this participant."),
    Command("file.edit-record", "Edit the record…", "Edit", "E", 3,
            "Record new values; earlier versions are kept."),
    Command("file.add-participant", "Add a participant…", "Add", "a", 4,
            "Register a participant by code, with a record."),
    Command("file.import-participants", "Import a table…", "Import", "T", 8,
            "Fill records from a CSV file with one line for each participant."),
    Command("file.sessions-dial", "Sessions on the dial", "Dial", "z", 6,
            "What this participant said to each item, session by session; with sound."),
    Command("file.consent-form", "Consent form…", "Form", "f", 5,
            "A printable form with a question for each scope."),
    Command("file.find-participant", "Filter…", "Filter", "slash", 6,
            "Show only participants whose code or record has these words."),
    Command("file.delete-participant", "Delete…", "Delete", "x", 7,
            "Delete all data of this participant, after a preview."),
    Command("file.leave-participants", "Back", "Back", "escape", 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.participants", "Participants", "People", "p", 9,
            "People by their codes: records, consents, sessions, deletion.", where=ON_HOME,
            run=lambda desk: desk.go("participants")),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("participants", "page:ParticipantsPage", "the participants", PAGE),),
)

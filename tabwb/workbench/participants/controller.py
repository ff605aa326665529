"""Reads and records participants, in the worker's thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tabwb.administer import participants
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Scope
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.messages import Told
from tabwb.workbench.engine.scored import scored_or_problem
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.participants.view_models import (
    DeletionReady,
    ParticipantDeleted,
    ParticipantRead,
    ParticipantsListed,
)

MOST_USES = 200
"""The number of latest log entries shown."""


class ParticipantsController(Controller):
    """Commands of the page of participants."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions
        self.latest = ""
        """The participant who is shown; requests for others are not read."""

    def list_all(self) -> None:
        """Read all participants."""
        self.say(
            ParticipantsListed(
                participants.participants(self.store),
                self.store.people.tombstones(),
                self.plugins.configuration.study,
            )
        )

    def read(self, code: str) -> None:
        """Read what is stored of one participant, unless another one is shown by now."""
        if code != self.latest:
            return
        people = self.store.people
        uses = people.log_entries(code)[-MOST_USES:]
        primary = self.plugins.configuration.study.primary_rater
        scored = {
            one.id: scored_or_problem(self.store, one, primary)
            for one in self.store.administrations()
            if one.conditions.guarded and one.conditions.person == code
        }
        self.say(ParticipantRead(code, people.data_of(code), tuple(reversed(uses)), scored))

    def keep_record(self, code: str, texts: Mapping[str, str], new: bool) -> None:
        """Record values of a participant, or a new participant."""
        study = self.plugins.configuration.study
        participants.keep_record(self.store, study, code, texts, new=new)
        self._changed(code, f"{code} is registered." if new else f"The record of {code} is saved.")

    def keep_consents(
        self,
        code: str,
        scopes: Sequence[Scope],
        given: bool,
        day: str,
        document: str,
        note: str,
    ) -> None:
        """Record consents to scopes, or their withdrawal."""
        keep = partial(participants.keep_consents, self.store, code, scopes, given=given, day=day)
        keep(document=document, note=note)
        if self._sessions.session is not None:
            self._sessions.reload_notices()
        word = "Consent of" if given else "Withdrawal of consent of"
        self._changed(code, f"{word} {code} to {', '.join(scopes)} is recorded.")

    def preview_deletion(self, code: str) -> None:
        """Read what a deletion would remove and leave."""
        self.say(DeletionReady(participants.deletion_preview(self.store, code)))

    def delete(self, code: str, reason: str) -> None:
        """Delete a participant with everything that was recorded of them."""
        session = self._sessions.session
        if session is not None and session.administration.conditions.person == code:
            raise UsageError(
                f"administration {session.administration.id} of {code} is open",
                hint="leave it (F8), then delete",
            )
        stone = self.store.people.delete_speaker(code, reason)
        self.engine.refresh()
        self.say(ParticipantDeleted(stone))
        self.list_all()

    def _changed(self, code: str, words: str) -> None:
        self.say(Told(words))
        self.engine.refresh()
        self.list_all()

"""What a listener says of a stored response: what was heard, its code, its onset and limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.administer import consent
from tabwb.administer.naming.responses import measured_limits, rating_entries, write_text
from tabwb.administer.naming.scores import check_code, machine_ratings
from tabwb.administer.session.session import Events
from tabwb.records import naming
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import LimitsSet, Take
from tabwb.records.ratings import check_own
from tabwb.records.trials import Attempt, Trial
from tabwb.store.database import now

if TYPE_CHECKING:
    from tabwb.administer.naming.strategy import SpokenStrategy


class Listening:
    """What a listener says of the current response; see :attr:`SpokenStrategy.listening`.

    Every command commits first. Raises ``TabwbError`` where the current item has no response yet.
    """

    def __init__(self, spoken: SpokenStrategy) -> None:
        self.spoken = spoken

    @contextmanager
    def to(
        self, number: int, doing: str, *, listener: str = "", seen: bool = False
    ) -> Iterator[None]:
        """Make an item that has an answer the current one, to score or code it by ear."""
        session, state = self.spoken.session, self.spoken.session.state
        check_own(listener)
        if state.awaiting:
            hint = "score, skip or void it first"
            raise TabwbError("an item still waits for its answer", hint=hint)
        trial = session.history.trial(number)
        self.spoken.item(trial)
        if trial.counting is None:
            raise TabwbError(f"item {number} has no response to look at")
        before = state.number, self.spoken.listener
        state.number, self.spoken.listener = number, listener or self.spoken.listener
        try:
            store, given = session.store, session.administration
            acts = consent.Guard(store, session.plugins, given.conditions).check_listening(
                self.spoken.rater
            )
            of = f", item {trial.plan.item}, {doing}"
            store.people.log(
                *(replace(act, administration=given.id, detail=act.detail + of) for act in acts)
            )
            if seen:
                self.reveal()
            yield
        finally:
            state.number, self.spoken.listener = before

    def hear(self, text: str) -> Events:
        """Store what was heard in the current response: a word, phonemes or a whole description."""
        trial, attempt = self._answered("write down")
        if not self.spoken.is_coded(trial):
            return write_text(self.spoken, trial, attempt.number, text.strip(), self.spoken.rater)
        parsed = self.spoken.speech.read(text)
        pronunciations = tuple(" ".join(form) for form in parsed.pronunciations)
        heard = naming.Heard(
            attempt.number, text.strip(), self.spoken.rater, pronunciations, parsed.word
        )
        view = self.spoken.whole_view(trial)
        view = replace(view, observations=(*view.observations, heard))
        ratings = machine_ratings(view, view.transcripts)
        return self.spoken.keep(trial.plan.number, heard, rating_entries(trial, attempt, ratings))

    def code(self, code: str, flags: Sequence[str] = (), *, reason: str = "") -> Events:
        """Store a person's code of the current response, with flags."""
        check_code(code, flags)
        self.spoken.coded_trial("code")
        trial, attempt = self._answered("code")
        unique = tuple(dict.fromkeys(flags))
        coded = naming.Coded(attempt.number, code, self.spoken.rater, unique, reason.strip(), now())
        return self.spoken.keep(
            trial.plan.number, coded, [self.spoken.person_rated(trial, attempt, coded)]
        )

    def set_onset(self, onset_s: float, *, reason: str = "") -> Events:
        """Move the onset of the current response to this second of the recording."""
        trial, attempt = self._answered("mark")
        take = self._recorded(trial)
        if not take.start_s <= onset_s <= take.end_s:
            raise UsageError(
                f"an onset at {onset_s:g} s is outside of the response",
                allowed=f"{take.start_s:g} to {take.end_s:g} s of the recording",
            )
        onset = naming.OnsetSet(attempt.number, onset_s, self.spoken.rater, reason.strip(), now())
        return self.spoken.keep(trial.plan.number, onset)

    def set_limits(self, start_s: float, end_s: float, *, reason: str = "") -> Events:
        """Set from where to where the current response lies in its recording.

        The onset is measured again in between, and the rules look at what lies there. Transcripts
        made before are cut to it until a transcriber hears the response again.
        """
        trial, attempt = self._answered("mark")
        take = self._recorded(trial)
        limits = LimitsSet(attempt.number, start_s, end_s, self.spoken.rater, reason.strip(), now())
        measured = measured_limits(limits, self.spoken.recordings.file(take.recording))
        return self.spoken.keep(
            trial.plan.number, measured, self.spoken.rated_with(trial, measured)
        )

    def reveal(self) -> Events:
        """Note that the machine's verdict on the current response is shown from now on."""
        trial, attempt = self._answered("reveal")
        if self.spoken.view_of(trial).revealed:
            return ()
        return self.spoken.keep(trial.plan.number, naming.Revealed(attempt.number))

    def _answered(self, what: str) -> tuple[Trial, Attempt]:
        trial = self.spoken.current_trial(what)
        if trial.counting is None:
            raise TabwbError("this item has no response yet", hint="score it first")
        return trial, trial.counting

    def _recorded(self, trial: Trial) -> Take:
        take = self.spoken.view_of(trial).take
        if take is None:
            raise TabwbError("nothing was recorded of this response")
        return take

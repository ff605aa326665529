"""Spoken responses and what people say of them, checked and completed before they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tabwb.records import events
from tabwb.records.entries import AttemptEntry, Entry, EventEntry
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import (
    SCORES,
    LimitsSet,
    Observation,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    Take,
    observation_to_json,
)
from tabwb.records.states import AttemptState, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, Trial
from tabwb.records.words import near
from tabwb.scoring.naming.target import CODES, FLAGS, NO_RESPONSE_KINDS

UNWRITTEN = "not transcribed yet"
"""Why a recorded description has no text."""


def check_score(score: str, reason: str) -> None:
    """Check a score and its reason.

    Args:
        score: see :data:`tabwb.records.naming.Score`.
        reason: needed for ``not-scorable``, any text; of ``no-response`` what kind it was
            (:data:`tabwb.scoring.naming.target.NO_RESPONSE_KINDS`); of others none.

    Raises:
        UsageError: the score, or its reason, is not one of those allowed.
        TabwbError: a reason is missing.
    """
    if score not in SCORES:
        raise UsageError(f"'{score}' is not a valid score", allowed=", ".join(SCORES))
    if score == "not-scorable" and not reason.strip():
        raise TabwbError("what cannot be scored needs a reason", allowed="any text")
    if score == "no-response" and reason.strip() and reason.strip() not in NO_RESPONSE_KINDS:
        raise UsageError(
            f"'{reason.strip()}' is not a kind of no response",
            allowed=", ".join(NO_RESPONSE_KINDS),
            hint="leave it out where none of them fits",
        )
    if score not in {"no-response", "not-scorable"} and reason.strip():
        raise UsageError(
            f"'{score}' takes no reason",
            hint="a remark on the response is a note: tabwb trial note",
        )


def check_code(code: str, flags: Sequence[str]) -> None:
    """Check a response code and its flags.

    Args:
        code: of :data:`tabwb.scoring.naming.target.CODES`.
        flags: of :data:`tabwb.scoring.naming.target.FLAGS`.

    Raises:
        UsageError: no such code or flag; the message lists those that are.
    """
    if code not in CODES:
        meant = near(code, CODES)
        raise UsageError(
            f"'{code}' is not a valid response code",
            allowed=", ".join(CODES),
            hint=f"did you mean '{meant}'?" if meant else None,
        )
    for flag in flags:
        if flag not in FLAGS:
            meant = near(flag, FLAGS)
            raise UsageError(
                f"'{flag}' is not a valid flag",
                allowed=", ".join(FLAGS),
                hint=f"did you mean '{meant}'?" if meant else None,
            )


def measured_limits(said: LimitsSet, recording: Path) -> LimitsSet:
    """Return limits with the onset within them.

    Args:
        said: from where to where, in seconds of the recording.
        recording: its file.

    Raises:
        UsageError: they are not a stretch of the recording.
    """
    from tabwb.speech.files import info, read_clip
    from tabwb.speech.level import onset

    seconds = info(recording).seconds
    if not 0.0 <= said.start_s < said.end_s <= seconds:
        raise UsageError(
            f"{said.start_s:g} to {said.end_s:g} s is not a stretch of the recording",
            allowed=f"0 to {seconds:g} s, the start before the end",
        )
    found = onset(*read_clip(recording, said.start_s, said.end_s))
    if found is None:
        return said
    return replace(
        said,
        onset_s=said.start_s + found.s,
        onset_uncertainty_s=found.uncertainty_s,
        onset_method=found.method,
    )


def imported_entries(
    administration: int,
    trial: Trial,
    began: RecordingBegan | None,
    take: Take | None,
    ended: RecordingEnded | None,
    *,
    coded: bool = True,
) -> tuple[list[Entry], list[events.Event]]:
    """Return what is stored of a response that was given elsewhere, and the events.

    An answer that the item has already becomes void.

    Args:
        administration: its number.
        trial: of the item.
        began: the recording, or None where there is none.
        take: the response's stretch of it, or None.
        ended: the end of the recording, or None.
        coded: as for :func:`spoken_attempt`.
    """
    number = trial.plan.number
    attempt = spoken_attempt(trial, take, coded=coded)
    entries: list[Entry] = []
    made: list[events.Event] = []
    if trial.counting is not None:
        reason = "another take follows"
        entries.append(EventEntry("voided", number, reason))
        made.append(events.TrialVoided(administration, number, reason))
    entries.append(EventEntry("trial-started", number))
    if began is not None:
        entries += [observed(None, began), observed(number, PictureShown(began.recording))]
    entries.append(AttemptEntry(number, attempt))
    if ended is not None:
        entries.append(observed(None, ended))
    made += [
        events.TrialStarted(administration, trial.plan),
        events.AttemptRecorded(administration, number, attempt),
    ]
    return entries, made


def now() -> str:
    """Return the present time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def observed(number: int | None, observation: Observation) -> EventEntry:
    """Return the entry of an observation.

    Args:
        number: of the trial; None: of the whole administration.
        observation: what was observed.
    """
    return EventEntry("observed", number, observation_to_json(observation))


def spoken_attempt(trial: Trial, take: Take | None, *, coded: bool = True) -> Attempt:
    """Return the next attempt of a trial that is answered aloud.

    Args:
        trial: as it stands.
        take: the response's stretch of a recording; None: nothing was recorded.
        coded: whether phonemes and codes count; else its text does, which is still to be written.
    """
    metadata = {} if take is None else take.to_metadata()
    return Attempt(
        number=len(trial.attempts) + 1,
        response="",
        state=AttemptState.OK,
        status=ResponseStatus.OK if coded else ResponseStatus.EMPTY,
        stop_reason=StopReason.NONE,
        latency_s=None if take is None else take.latency_s,
        metadata=metadata if coded else {**metadata, "cause": UNWRITTEN},
        recorded_at=now(),
    )

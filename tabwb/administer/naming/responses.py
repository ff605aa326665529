"""What is changed of a recorded response: the text of a description, the limits of any response."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.administer.naming.views import observed, with_onset
from tabwb.administer.session.exchange import storable
from tabwb.administer.session.session import Events, Session
from tabwb.records.errors import UsageError
from tabwb.records.naming import LimitsSet, TextSet
from tabwb.records.ratings import Rating, failed
from tabwb.records.speech import Transcript
from tabwb.records.states import StopReason
from tabwb.records.trials import Attempt, RatingsEntry, Trial
from tabwb.scoring.response_status import response_status
from tabwb.store.database import now

if TYPE_CHECKING:
    from tabwb.administer.naming.strategy import SpokenStrategy
CHANGED = "the text was changed after it was judged"
"""The reason of the ratings of a judge that read another text; it can judge again."""


def text_of(transcript: Transcript, attempt: Attempt) -> str | None:
    """Return the text that a transcript gives a response."""
    if transcript.unit != "words" or transcript.status == "error":
        return None
    by = attempt.metadata.get("text_by", "")
    text = storable(" ".join(segment.phoneme for segment in transcript.segments))
    return None if TextSet.is_person(by) or (by and text == attempt.response) else text


def write_text(spoken: SpokenStrategy, trial: Trial, attempt: int, text: str, by: str) -> Events:
    """Store the text of a response, with the ratings of the scorers and judges.

    Args:
        spoken: of the session.
        trial: of the response.
        attempt: number of the response.
        text: the text.
        by: the transcriber's spec, or the rater.
    """
    session, number, text = spoken.session, trial.plan.number, storable(text)
    status = response_status(
        text,
        StopReason.NONE,
        trial.plan.prompt,
        kind=session.battery.subtest(trial.plan.subtest).task.text_kind,
        language=session.battery.language,
    )
    written = TextSet(attempt, text, status.value, by, now())
    history = session.history.with_entry(observed(number, written))
    return spoken.keep(number, written, [rated_text(session, history.trial(number))])


def rated_text(session: Session, trial: Trial) -> RatingsEntry:
    """Return the ratings of a text; those of judges that read another text are in error."""
    attempt = trial.counting
    assert attempt is not None  # there is a text
    rated = session.raters.rate(trial.plan, attempt, session.history.standing)
    raters = {rating.rater for rating in rated}
    stale = tuple(
        failed(rating.rater, rating.measure, CHANGED)
        for rating in trial.ratings
        if rating.rater not in raters
    )
    return RatingsEntry(trial.plan.number, attempt.number, (*rated, *stale))


def rating_entries(trial: Trial, attempt: Attempt, ratings: Sequence[Rating]) -> list[RatingsEntry]:
    """Return the entry that stores ratings of a response; none without ratings."""
    if not ratings:
        return []
    return [RatingsEntry(trial.plan.number, attempt.number, tuple(ratings))]


def measured_limits(limits: LimitsSet, recording: Path) -> LimitsSet:
    """Return limits with the onset within them."""
    from tabwb.speech.files import info, read_clip
    from tabwb.speech.level import onset

    seconds = info(recording).seconds
    if not 0.0 <= limits.start_s < limits.end_s <= seconds:
        raise UsageError(
            f"{limits.start_s:g} to {limits.end_s:g} s is not a stretch of the recording",
            allowed=f"0 to {seconds:g} s, the start before the end",
        )
    return with_onset(limits, onset(*read_clip(recording, limits.start_s, limits.end_s)))

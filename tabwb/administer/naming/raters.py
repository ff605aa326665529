"""Ratings of spoken responses: by the rules over a transcript, and by the person who listened.

Both give binary measures, so that their agreement can be computed like that of any two raters.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.administer.naming.scores import RATER, Naming, naming_of
from tabwb.administer.naming.views import NamingView
from tabwb.records.naming import Coded, Observation, Scored
from tabwb.records.ratings import Rating, failed, undefined, valued
from tabwb.records.speech import Transcript
from tabwb.scoring.naming.codes import right_by_score

CORRECT = "correct"
"""The measure of a person's score: 1 right or self-corrected, 0 error or no response."""
CODE = "code:"
"""Before the code in a measure: ``code:semantic`` is 1 where that is the response's code."""
LIKELIHOOD = "correct-likelihood"
"""The measure of :attr:`~tabwb.records.speech.Transcript.accepted_likelihood`, natural log."""


def transcript_ratings(naming: Naming, transcript: Transcript) -> tuple[Rating, ...]:
    """Return what the rules say of a response as one transcriber has it; the rater names both.

    Right or wrong and the distance are of the transcript alone, the proposed code is of what a
    listener heard where one did. A transcript in error gives ratings in error, no wrong answer.

    Args:
        naming: the trial.
        transcript: one of its transcripts.
    """
    rater = f"{RATER}:{transcript.transcriber}"
    if transcript.status == "error":
        return tuple(
            failed(rater, rule, transcript.error) for rule in ("correct-any", "correct-first")
        )
    alone = naming_of(naming.view, transcript, heard=False) if naming.by_ear else naming
    if alone.verdicts is None:
        return ()
    ratings = [
        undefined(rater, rule, verdict.clause)
        if verdict.value is None
        else valued(rater, rule, verdict.value, verdict.clause)
        for rule, verdict in alone.verdicts.items()
    ]
    distance = alone.distance
    if distance is not None:
        form = " ".join(distance.form.phonemes)
        ratings += [
            valued(rater, "phoneme-distance", distance.phoneme_rate, form),
            valued(rater, "feature-distance", distance.feature_rate, form),
        ]
    if transcript.accepted_likelihood is not None:
        told = "best accepted form against free decoding, natural log"
        ratings.append(valued(rater, LIKELIHOOD, transcript.accepted_likelihood, told))
    if naming.proposal is not None and naming.proposal.code:
        measure = f"{CODE}{naming.proposal.code}"
        ratings.append(valued(rater, measure, 1.0, naming.proposal.clause))
    return tuple(ratings)


def machine_ratings(view: NamingView, transcripts: Sequence[Transcript]) -> tuple[Rating, ...]:
    """Return what the rules say of a response, as each of its transcripts has it.

    Args:
        view: the trial.
        transcripts: of its response.
    """
    if not view.item.coded:
        return ()
    return tuple(
        rating for each in transcripts for rating in transcript_ratings(naming_of(view, each), each)
    )


def person_ratings(observations: Sequence[Observation], attempt: int) -> tuple[Rating, ...]:
    """What people say of one attempt, whether it is right and its code; the raters are they.

    Args:
        observations: of the trial, in order; of each rater the last score and the last code hold.
        attempt: number of the attempt.
    """
    scored: dict[str, Scored] = {}
    coded: dict[str, Coded] = {}
    for each in observations:
        if isinstance(each, Scored) and each.attempt == attempt:
            scored[each.by] = each
        elif isinstance(each, Coded) and each.attempt == attempt:
            coded[each.by] = each
    ratings: list[Rating] = []
    for rater in dict.fromkeys((*scored, *coded)):
        if (score := scored.get(rater)) is not None:
            right = right_by_score(score.score)
            said = score.score if not score.reason else f"{score.score}: {score.reason}"
            ratings.append(
                undefined(rater, CORRECT, score.reason)
                if right is None
                else valued(rater, CORRECT, right, said)
            )
        if (code := coded.get(rater)) is not None:
            flags = ", ".join(code.flags)
            ratings.append(valued(rater, f"{CODE}{code.code}", 1.0, flags))
    return tuple(ratings)

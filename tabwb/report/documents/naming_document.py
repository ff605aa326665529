"""Spoken naming in the results documents: what was said to each picture, and who says so."""

from __future__ import annotations

from tabwb.administer.naming.scores import RATER, Naming
from tabwb.administer.naming.views import NamingView, is_rater
from tabwb.phonology.inventory import to_ipa
from tabwb.phonology.letters import pronounced
from tabwb.records.naming import Coded, LimitsSet, OnsetSet
from tabwb.records.speech import Segment, Transcript
from tabwb.report.plain import Json, picked, picked_or_none


def spoken_json(naming: Naming) -> Json:
    """Return what a trial that is answered aloud has besides any other trial.

    Of a description that is all of ``description``; its response is its text. Of a picture that is
    named it is phonemes, codes and all of ``naming``; its response is what was heard, in ARPAbet,
    and empty where nothing was heard.
    """
    view, transcript = naming.view, naming.transcript
    if not view.item.coded:
        return {"description": description_json(naming)}
    codes: list[Json] = [
        {"rater": each.by, "code": each.code, "flags": list(each.flags)} for each in view.codes
    ]
    if naming.proposal is not None:
        by = "heard" if naming.by_ear or transcript is None else transcript.transcriber
        codes.append({"rater": f"{RATER}:{by}", **naming.proposal.to_json()})
    said: Json = {"phonemes": list(naming.phonemes), "codes": codes, "naming": naming_json(naming)}
    if view.attempt is not None and transcript is not None:
        silent = transcript.status == "empty"
        said["response"] = "" if silent else " ".join(naming.phonemes)
        said["status"] = "empty" if silent else "ok"
    return said


def description_json(naming: Naming) -> Json:
    """Return where a description lies in its recording, who wrote its text, and its transcripts.

    Times are seconds of the recording; None where they are not known.
    """
    view, take, attempt = naming.view, naming.view.take, naming.view.attempt
    shown = view.shown
    return {
        **picked_or_none(take, "recording", "start_s", "end_s"),
        "shown_s": None if shown is None else shown.at_s,
        "onset_s": view.onset_s,
        "latency_s": view.latency_s,
        "sound": None if take is None else take.remarks,
        "text_by": None if attempt is None else attempt.metadata.get("text_by"),
        "transcripts": [transcript_json(transcript) for transcript in naming.transcripts],
    }


def naming_json(naming: Naming) -> Json:
    """Return a naming trial; times are seconds of the recording, unknown values are None.

    ``score``, ``heard`` and ``code`` are a person's, ``proposed`` and ``verdicts`` the machine's:
    neither ever replaces the other.
    """
    view, take = naming.view, naming.view.take
    score, heard, code = view.score, view.heard, view.code
    shown = view.shown
    timed = naming.transcript is not None and naming.transcript.timed
    return {
        "target": view.item.target,
        "accepted": [" ".join(form) for form in view.item.accepted],
        **picked_or_none(take, "recording", "start_s", "end_s", "onset_uncertainty_s"),
        "shown_s": None if shown is None else shown.at_s,
        "onset_s": view.onset_s,
        "onset_by": view.onset_by or None,
        "latency_s": view.latency_s,
        "sound": None if take is None else take.remarks,
        "score": None if score is None else score.score,
        "score_by": None if score is None else score.by,
        "score_reason": None if score is None else score.reason,
        "scored_after_reveal": None if score is None else score.after_reveal,
        "heard": None if heard is None else heard.text,
        "heard_by": None if heard is None else heard.by,
        "code": None if code is None else code.code,
        "code_by": None if code is None else code.by,
        "raters": raters_json(view),
        "counts": None if score is None else which_counts(view),
        "corrections": [_correction(each) for each in view.corrections],
        "flags": sorted(naming.flags),
        "cues": [picked(cue, "kind", "counts", "at_s") for cue in view.cues],
        "marks": list(view.marks),
        "examiner": [list(stretch) for stretch in view.examiner],
        "phonemes": list(naming.phonemes),
        "ipa": to_ipa(naming.phonemes),
        "by_ear": naming.by_ear,
        "attempts": _attempts_json(naming, timed=timed),
        "rule": view.rules.rule,
        "verdicts": {
            name: each.to_json() | ({} if timed else {"start_s": None, "end_s": None})
            for name, each in (naming.verdicts or {}).items()
        },
        "proposed": None if naming.proposal is None else naming.proposal.to_json(),
        "distance": None if naming.distance is None else naming.distance.to_json(),
        "transcripts": [transcript_json(each) for each in naming.transcripts],
    }


def raters_json(view: NamingView) -> list[Json]:
    """Return what each listener said of a response, in the order in which they began."""
    scores = {each.by: each for each in view.scores}
    heard = {each.by: each for each in view.words_heard}
    codes = {each.by: each for each in view.codes}
    found: list[Json] = []
    for rater in view.raters:
        score, word, code = scores.get(rater), heard.get(rater), codes.get(rater)
        found.append(
            {
                "rater": rater,
                "score": None if score is None else score.score,
                "score_reason": None if score is None else score.reason,
                "scored_after_reveal": None if score is None else score.after_reveal,
                "heard": None if word is None else word.text,
                "code": None if code is None else code.code,
                "flags": [] if code is None else list(code.flags),
                "score_counts": score is not None and score == view.score,
            }
        )
    return found


def which_counts(view: NamingView) -> str:
    """Return why a score counts: it is the ``primary`` rater's, the ``first`` or the ``only``."""
    if len(view.scores) < 2 or view.score is None:
        return "only"
    return "primary" if is_rater(view.score.by, view.primary) else "first"


def _correction(said: OnsetSet | LimitsSet | Coded) -> Json:
    """Return one correction: the kind, the new value, its author, the time and the reason."""
    what: Json
    if isinstance(said, OnsetSet):
        what = {"what": "onset", "onset_s": said.onset_s}
    elif isinstance(said, LimitsSet):
        what = {"what": "limits", "start_s": said.start_s, "end_s": said.end_s}
    else:
        what = {"what": "code", "code": said.code, "flags": list(said.flags)}
    return {**what, "by": said.by, "at": said.at or None, "reason": said.reason or None}


def _attempts_json(naming: Naming, *, timed: bool) -> list[Json]:
    """Return each attempt; ``heard`` is a listener's word, ``code`` the proposed one."""
    return [
        {
            "onset_s": attempt.onset_s if timed else None,
            "offset_s": attempt.offset_s if timed else None,
            "phonemes": list(attempt.phonemes),
            "ipa": to_ipa(attempt.phonemes),
            "complete": attempt.complete,
            "heard": said.word or None,
            "by_ear": said.ear,
            "code": None if proposal is None else proposal.code,
        }
        for attempt, said, proposal in zip(
            naming.attempts, naming.spoken, naming.proposals, strict=True
        )
    ]


def transcript_json(transcript: Transcript) -> Json:
    """Return what one transcriber heard; times are seconds from the start of the response.

    The times of phonemes that have none of their own, as typed ones, are None. ``unit`` is what the
    transcriber gave; of words, ``words`` holds them and ``phonemes`` how they usually sound.
    """
    timed = transcript.timed
    sounds = pronounced(transcript)
    return {
        **picked(
            transcript,
            *("transcriber", "status", "unit", "seconds", "dropped", "accepted_likelihood"),
        ),
        "phonemes": list(sounds.phonemes),
        "segments": [_segment(segment, "phoneme", timed=timed) for segment in sounds.segments],
        **(
            {"words": [_segment(each, "word", timed=timed) for each in transcript.segments]}
            if transcript.unit == "words"
            else {}
        ),
        "error": transcript.error or None,
        "metadata": dict(sounds.metadata),
    }


def _segment(segment: Segment, what: str, *, timed: bool) -> Json:
    return {
        what: segment.phoneme,
        "start_s": segment.start_s if timed else None,
        "end_s": segment.end_s if timed else None,
        "confidence": segment.confidence,
    }

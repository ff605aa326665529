"""Spoken naming in the results documents: what was said to each picture, and who says so."""

from __future__ import annotations

from collections.abc import Mapping

from tabwb.analysis.plain import Json, picked, picked_or_none
from tabwb.analysis.statistics.naming import NamedDifference, NamedSubtest, facts_of
from tabwb.analysis.statistics.naming_agreement import code_agreements, rater_agreements
from tabwb.phonology.dictionary import pronounced
from tabwb.phonology.inventory import to_ipa
from tabwb.records.naming import Coded, LimitsSet, OnsetSet, Scored
from tabwb.records.ratings import is_derived, rule_of
from tabwb.records.speech import Segment, Transcript
from tabwb.scoring.naming.case import sounds_of_names
from tabwb.tasks.spoken_naming.scores import RATER, Naming
from tabwb.tasks.spoken_naming.views import NamingView, is_rater


def spoken_json(naming: Naming) -> Json:
    """Return what a trial answered aloud has besides; the response to a picture is in ARPAbet."""
    view, transcript = naming.view, naming.transcript
    if not view.item.coded:
        return {"description": _description_json(naming)}
    codes: list[Json] = [
        {"rater": coded.by, "code": coded.code, "flags": list(coded.flags)} for coded in view.codes
    ]
    if naming.proposal is not None:
        by = "heard" if naming.by_ear or transcript is None else transcript.transcriber
        codes.append({"rater": f"{RATER}:{by}", **naming.proposal.to_json()})
    document = {**picked(naming, "phonemes"), "codes": codes, "naming": naming_json(naming)}
    if view.attempt is not None and transcript is not None:
        silent = transcript.status == "empty"
        document["response"] = "" if silent else " ".join(naming.phonemes)
        document["status"] = "empty" if silent else "ok"
    return document


def _description_json(naming: Naming) -> Json:
    view, take, attempt = naming.view, naming.view.take, naming.view.attempt
    return {
        **picked_or_none(take, "recording", "start_s", "end_s"),
        **_of(view.shown, shown_s="at_s"),
        "onset_s": view.onset_s,
        "latency_s": view.latency_s,
        "sound": None if take is None else take.remarks,
        "text_by": None if attempt is None else attempt.metadata.get("text_by"),
        "transcripts": list(map(transcript_json, naming.transcripts)),
    }


def naming_json(naming: Naming) -> Json:
    """Return a naming trial; times are seconds of the recording, unknown values are None.

    ``score``, ``heard`` and ``code`` are a person's, ``proposed`` and ``verdicts`` the machine's:
    neither ever replaces the other.
    """
    view, take = naming.view, naming.view.take
    timed = naming.transcript is not None and naming.transcript.timed
    return {
        "target": view.item.target,
        "accepted": [" ".join(form) for form in view.item.accepted],
        **picked_or_none(take, "recording", "start_s", "end_s", "onset_uncertainty_s"),
        **_of(view.shown, shown_s="at_s"),
        "onset_s": view.onset_s,
        "onset_by": view.onset_by or None,
        "latency_s": view.latency_s,
        "sound": None if take is None else take.remarks,
        **_of(view.score, score="score", score_by="by", score_reason="reason"),
        **_of(view.score, scored_after_reveal="after_reveal"),
        **_of(view.heard, heard="text", heard_by="by"),
        **_of(view.code, code="code", code_by="by", code_source="source"),
        "raters": _raters_json(view),
        "counts": _which_counts(view),
        "corrections": list(map(_correction, view.corrections)),
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
            name: verdict.to_json() | ({} if timed else {"start_s": None, "end_s": None})
            for name, verdict in (naming.verdicts or {}).items()
        },
        "proposed": None if naming.proposal is None else naming.proposal.to_json(),
        "distance": None if naming.distance is None else naming.distance.to_json(),
        "transcripts": [
            transcript_json(one, sounds_of_names(view.item)) for one in naming.transcripts
        ],
    }


def _of(record: object | None, **names: str) -> Json:
    return {key: None if record is None else getattr(record, name) for key, name in names.items()}


def _raters_json(view: NamingView) -> list[Json]:
    scores = {score.by: score for score in view.scores}
    heard = {word.by: word for word in view.words_heard}
    codes = {coded.by: coded for coded in view.codes}
    raters: list[Json] = []
    for rater in view.raters:
        score, code = scores.get(rater), codes.get(rater)
        raters.append(
            {
                "rater": rater,
                **_of(score, score="score", score_reason="reason"),
                **_of(score, scored_after_reveal="after_reveal"),
                **_of(heard.get(rater), heard="text"),
                **_of(code, code="code"),
                "flags": [] if code is None else list(code.flags),
                "score_counts": _score_counts(score, view.score),
            }
        )
    return raters


def _score_counts(score: Scored | None, counting: Scored | None) -> bool:
    """Return whether a rater's score counts, itself or as one of those a rule agrees with."""
    if score is None or counting is None:
        return False
    return score == counting or (is_derived(counting.by) and score.score == counting.score)


def _which_counts(view: NamingView) -> str | None:
    """Return why a score counts: the rule, or it is of the ``primary``, ``first``, ``only`` rater.

    With a rule the score is None where the raters differ and the rule gives none.
    """
    if (rule := rule_of(view.primary)) is not None:
        return rule if view.scores or view.score is not None else None
    if view.score is None:
        return "primary" if view.scores else None  # by a code of theirs
    if len(view.scores) < 2:
        return "only"
    return "primary" if is_rater(view.score.by, view.primary) else "first"


def _correction(change: OnsetSet | LimitsSet | Coded) -> Json:
    if isinstance(change, OnsetSet):
        value: Json = {"what": "onset", **picked(change, "onset_s")}
    elif isinstance(change, LimitsSet):
        value = {"what": "limits", **picked(change, "start_s", "end_s")}
    else:
        value = {"what": "code", **picked(change, "code", "flags")}
    return {**value, "by": change.by, "at": change.at or None, "reason": change.reason or None}


def _attempts_json(naming: Naming, *, timed: bool) -> list[Json]:
    return [
        {
            "onset_s": attempt.onset_s if timed else None,
            "offset_s": attempt.offset_s if timed else None,
            "phonemes": list(attempt.phonemes),
            "ipa": to_ipa(attempt.phonemes),
            "complete": attempt.complete,
            "heard": spoken.word or None,
            "by_ear": spoken.ear,
            "code": None if proposal is None else proposal.code,
        }
        for attempt, spoken, proposal in zip(
            naming.attempts, naming.spoken, naming.proposals, strict=True
        )
    ]


def transcript_json(
    transcript: Transcript, names: Mapping[str, tuple[str, ...]] | None = None
) -> Json:
    """Return what one transcriber heard; times are seconds from the start of the response.

    The times of phonemes without times, such as typed ones, are None. ``unit`` is what the
    transcriber gave; of words, ``words`` holds them and ``phonemes`` how they usually sound.
    """
    timed = transcript.timed
    sounds = pronounced(transcript, names)
    return {
        **picked(
            transcript,
            *("transcriber", "status", "unit", "seconds", "dropped", "accepted_likelihood"),
        ),
        "phonemes": list(sounds.phonemes),
        "segments": [_segment(segment, "phoneme", timed=timed) for segment in sounds.segments],
        **(
            {"words": [_segment(word, "word", timed=timed) for word in transcript.segments]}
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


def named_json(subtest: NamedSubtest) -> Json:
    """Return a naming subtest of a summary; what is not known is None."""
    summary = subtest.summary
    return {
        "rule": subtest.rules.rule,
        "primary_rater": None if rule_of(subtest.primary) else subtest.primary or None,
        "counts": rule_of(subtest.primary) or ("primary" if subtest.primary else "first"),
        "scored_by_several": sum(bool(item.other_scores) for item in subtest.items),
        "accuracy": {
            share.basis: {
                **picked(share, "correct", "n", "open", "rate", "interval"),
                "status": "undefined" if share.rate is None else "value",
            }
            for share in summary.accuracy
        },
        "items": dict(summary.statuses),
        **picked(
            summary,
            "codes",
            "borrowed",
            "proposed",
            "flags",
            "cues",
            "latency_median_s",
            "latency_n",
        ),
        "by_tag": {
            tag: picked(share, "correct", "n", "rate", "interval")
            for tag, share in subtest.by_tag.items()
        },
        "agreement": [one.to_json() for one in rater_agreements(subtest.items)],
        "code_agreement": [one.to_json() for one in code_agreements(subtest.items)],
        "decided_by": {"listener": summary.by_listener, "rule": summary.by_rule},
    }


def naming_difference_json(difference: NamedDifference) -> Json:
    """Return the difference of two naming subtests; what is not known is None."""
    return {
        "subtest": difference.id,
        "changed": [
            {
                **picked(changed, "basis", "items", "left_out"),
                "first_right": changed.first,
                "second_right": changed.second,
                **picked_or_none(changed.test, "gained", "lost", "p", "mid_p"),
                "test": None if changed.test is None else "McNemar, exact, two-sided",
                "status": "undefined" if changed.test is None else "value",
            }
            for changed in difference.changed
        ],
        "codes": dict(zip(("first", "second"), map(dict, difference.codes), strict=True)),
        "items": [
            {
                **picked(pair, "item", "target", "differs"),
                "first": list(map(facts_of, pair.first)),
                "second": list(map(facts_of, pair.second)),
            }
            for pair in difference.pairs
        ],
    }

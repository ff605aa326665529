"""What the rules and people say of a spoken response, and the ratings stored of it.

Ratings by rules and by people are binary measures, so that their agreement can be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tabwb.phonology.dictionary import guessed_phonemes
from tabwb.phonology.inventory import SILENT
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import CORRECT, SCORES, Coded, Observation, Scored
from tabwb.records.ratings import Rating, failed, rule_of, undefined, valued
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import TrialState
from tabwb.records.words import near
from tabwb.scoring.naming.attempts import AttemptReading, SpokenAttempt
from tabwb.scoring.naming.case import Proposal, Settings, sounds_of_names
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.summary import NamedItem, Status, is_late, outcome_of
from tabwb.scoring.naming.target import (
    CODES,
    FLAGS,
    NO_RESPONSE_KINDS,
    Correctness,
    Rule,
    TargetDistance,
    distance_from_target,
    right_by_score,
)
from tabwb.tasks.spoken_naming.views import NamingView, codes_of_listeners

RATER = "naming-3"
"""The rules as they are here; changing one that changes a score makes it naming-4."""


@dataclass(frozen=True, slots=True)
class Naming:
    """A naming trial with what the rules make of one transcript of it.

    Attributes:
        view: the trial in its present state.
        transcript: what was transcribed, or None where nobody has transcribed it.
        transcripts: all there are of the counting attempt, the one given last.
        attempts: as a listener heard them, else as proposed; seconds on the clock of the
            transcript.
        verdicts: both rules of correctness; None without a transcript or a word heard.
        distance: of the judged attempt from the nearest accepted form, or None where nothing was
            said.
        proposal: the code that the rules propose; None without a transcript or a word heard.
        by_ear: whether attempts, verdicts, distance and proposal rest on what a listener heard.
        spoken: each attempt as the rules read it.
        proposals: of each attempt, None for a fragment.
    """

    view: NamingView
    transcript: Transcript | None = None
    transcripts: tuple[Transcript, ...] = ()
    attempts: tuple[SpokenAttempt, ...] = ()
    verdicts: dict[Rule, Correctness] | None = None
    distance: TargetDistance | None = None
    proposal: Proposal | None = None
    by_ear: bool = False
    spoken: tuple[AttemptReading, ...] = ()
    proposals: tuple[Proposal | None, ...] = ()

    @property
    def phonemes(self) -> tuple[str, ...]:
        """What was transcribed, or nothing; of a transcriber of words how they sound."""
        return () if self.transcript is None else self.view.sounds(self.transcript).phonemes

    @property
    def flags(self) -> frozenset[str]:
        """A person's flags and those that follow from rules and times."""
        view = self.view
        flags = set(() if view.code is None else view.code.flags)
        verdict = (self.verdicts or {}).get(view.rules.rule)
        if verdict is not None and verdict.value:
            flags |= set(verdict.flags)
        if self.proposal is not None:
            flags |= set(self.proposal.flags)
        if is_late(view.latency_s, view.rules.time_limit):
            flags.add("late")
        if view.cues:
            flags.add("after-cue")
        if view.score is not None and view.score.score == "self-corrected":
            flags.add("self-corrected")
        return frozenset(flags)

    @property
    def is_by_sound(self) -> bool:
        """Whether the code, or a candidate for it, is one that the distance describes."""
        code, proposal = self.view.code, self.proposal
        if code is not None:
            codes: tuple[str, ...] = (code.code,)
        else:
            codes = () if proposal is None else (proposal.code, *proposal.candidates)
        return any(CODES[code].phonological for code in codes if code in CODES)


def naming_of(
    view: NamingView, transcript: Transcript | None = None, *, heard: bool = True
) -> Naming:
    """Return a trial scored by the rules."""
    chosen = transcript or view.transcript
    usable = chosen is not None and chosen.status != "error"
    heard_as = view.heard_as if heard else None
    transcripts = view.transcripts
    if not view.item.coded:
        return Naming(view, chosen if usable else None, transcripts)
    if view.attempt is None or chosen is None or not usable:
        if heard_as is None:
            return Naming(view, transcripts=transcripts)
        heard_segments: list[tuple[Segment, bool]] = []
        marks: list[float] = []
        chosen = None
    else:
        others = (other for other in transcripts if other.transcriber != chosen.transcriber)
        transcripts = (*others, chosen)
        heard_segments = _heard_of_speaker(view, chosen)
        marks = [mark - _start(view) for mark in view.marks]
    settings = settings_of(view)
    response = propose_response(
        view.item,
        [segment for segment, _ in heard_segments],
        settings,
        heard=heard_as,
        marks=marks,
        earlier=view.earlier,
        guessed=[guessed for _, guessed in heard_segments],
    )
    judged = response.judged_phonemes(view.item, settings)
    return Naming(
        view,
        chosen,
        transcripts,
        response.attempts,
        response.verdicts,
        distance_from_target(judged, view.item.accept),
        response.proposal,
        heard_as is not None,
        response.readings,
        response.proposals,
    )


def settings_of(view: NamingView) -> Settings:
    """Return what decides besides the item: the battery's rules and how the speaker talks."""
    rules = view.rules
    return Settings(
        rules.rule,
        rules.tolerance,
        rules.number,
        view.speech.varieties,
        view.listed,
        view.forms,
        view.speech.language,
    )


_STATUSES: Mapping[TrialState, Status] = {
    TrialState.PLANNED: "planned",
    TrialState.SKIPPED: "skipped",
    TrialState.VOID: "void",
    TrialState.NOT_ADMINISTERED: "not-administered",
}


def named_item(naming: Naming) -> NamedItem:
    """Return a trial as the summaries count it.

    Whether it is right as the battery counts it is the person's score where there is one, else the
    person's code, else the rule that decides, over what was heard or transcribed.
    """
    view = naming.view
    trial, score = view.trial, view.score
    person = None if score is None else right_by_score(score.score)
    rules: dict[str, bool | None] = {
        name: verdict.value for name, verdict in (naming.verdicts or {}).items()
    }
    status: Status = _STATUSES.get(trial.state, "answered")
    if status == "answered" and score is not None and score.score == "not-scorable":
        status = "not-scorable"
    decides = view.rules.rule
    code = "" if view.code is None else view.code.code
    # Listeners who differ, and a rule that gives no score: the item is open, no transcript decides.
    is_open = score is None and bool(view.scores) and rule_of(view.primary) is not None
    by_person = score is not None or code not in {"", "undecided"}
    if is_open:
        right = None
    elif score is not None:
        right = right_by_score(score.score, decides)
    else:
        right = code == "correct" if by_person else rules.get(decides)
    outcome = outcome_of(
        right,
        late=is_late(view.latency_s, view.rules.time_limit),
        late_counts=view.rules.late_counts,
        cues_count=[cue.counts for cue in view.cues],
    )
    heard = view.heard
    return NamedItem(
        item=trial.plan.item,
        target=view.item.target,
        status=status,
        reason=trial.reason or ("" if score is None else score.reason),
        person=person,
        rules=rules,
        outcome=outcome,
        code=code,
        code_by="" if view.code is None else view.code.by,
        code_source="" if view.code is None else view.code.source,
        proposed="" if naming.proposal is None else naming.proposal.code,
        flags=tuple(sorted(naming.flags)),
        cues=tuple((cue.kind, cue.counts) for cue in view.cues),
        latency_s=view.latency_s,
        heard="" if heard is None else heard.text,
        phonemes=_parted(naming),
        score="" if score is None else score.score,
        transcriber="" if naming.transcript is None else naming.transcript.transcriber,
        score_by="" if score is None else score.by,
        other_scores=tuple((other.by, other.score) for other in view.scores if other != score),
        listener_codes=listener_codes(view),
        decided_by=""
        if is_open
        else "listener"
        if by_person
        else "rule"
        if right is not None
        else "",
    )


def listener_codes(view: NamingView) -> tuple[tuple[str, str], ...]:
    """Return each listener's code: the one given, else the one that follows from the score."""
    found = codes_of_listeners(view.codes, view.scores, view.rules.rule)
    return tuple((one.by, one.code) for one in found if one.code != "undecided")


def _heard_of_speaker(view: NamingView, transcript: Transcript) -> list[tuple[Segment, bool]]:
    """Return the phonemes, each with whether it is guessed, without the administrator's."""
    guessed = guessed_phonemes(transcript, sounds_of_names(view.item))
    phonemes = zip(view.sounds(transcript).segments, guessed, strict=True)
    if not transcript.timed:
        return list(phonemes)
    start = _start(view)
    return [
        (segment, guess)
        for segment, guess in phonemes
        if not any(
            first <= start + (segment.start_s + segment.end_s) / 2 < last
            for first, last in view.examiner
        )
    ]


def _parted(naming: Naming) -> tuple[str, ...]:
    """What was transcribed, with a silence between two attempts that a pause or a mark parts."""
    attempts = [attempt.phonemes for attempt in naming.attempts]
    spoken = [phoneme for phoneme in naming.phonemes if phoneme not in SILENT]
    if naming.by_ear or len(attempts) < 2 or spoken != [*chain.from_iterable(attempts)]:
        return naming.phonemes
    first, *others = attempts
    return (*first, *(phoneme for other in others for phoneme in (SILENT[0], *other)))


def _start(view: NamingView) -> float:
    return 0.0 if view.take is None else view.take.start_s


CODE = "code:"
"""Before the code in a measure: ``code:semantic`` is 1 where that is the response's code."""
LIKELIHOOD = "correct-likelihood"
"""The measure of :attr:`~tabwb.records.speech.Transcript.accepted_likelihood`, natural log."""


def _transcript_ratings(naming: Naming, transcript: Transcript) -> tuple[Rating, ...]:
    """What the rules say of a response as one transcriber has it; the rater names both.

    Right or wrong and the distance are of the transcript alone, the proposed code is of what a
    listener heard where one did. A transcript in error gives ratings in error, no wrong answer.
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
        reason = "best accepted form against free decoding, natural log"
        ratings.append(valued(rater, LIKELIHOOD, transcript.accepted_likelihood, reason))
    if naming.proposal is not None and naming.proposal.code:
        ratings.append(valued(rater, f"{CODE}{naming.proposal.code}", 1.0, naming.proposal.clause))
    return tuple(ratings)


def machine_ratings(view: NamingView, transcripts: Sequence[Transcript]) -> tuple[Rating, ...]:
    """Return what the rules say of a response, as each of its transcripts has it."""
    if not view.item.coded:
        return ()
    return tuple(
        rating
        for transcript in transcripts
        for rating in _transcript_ratings(naming_of(view, transcript), transcript)
    )


def person_ratings(observations: Sequence[Observation], attempt: int) -> tuple[Rating, ...]:
    """Return whether each person says that an attempt is right, and the person's code of it."""
    scored: dict[str, Scored] = {}
    coded: dict[str, Coded] = {}
    for observation in observations:
        if isinstance(observation, Scored) and observation.attempt == attempt:
            scored[observation.by] = observation
        elif isinstance(observation, Coded) and observation.attempt == attempt:
            coded[observation.by] = observation
    ratings: list[Rating] = []
    for rater in dict.fromkeys((*scored, *coded)):
        if (score := scored.get(rater)) is not None:
            right = right_by_score(score.score)
            words = score.score if not score.reason else f"{score.score}: {score.reason}"
            ratings.append(
                undefined(rater, CORRECT, score.reason)
                if right is None
                else valued(rater, CORRECT, right, words)
            )
        if (code := coded.get(rater)) is not None:
            ratings.append(valued(rater, f"{CODE}{code.code}", 1.0, ", ".join(code.flags)))
    return tuple(ratings)


def check_score(score: str, reason: str) -> None:
    """Check a score and its reason."""
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
    """Check a response code and its flags."""
    named = [(code, CODES, "response code"), *((flag, FLAGS, "flag") for flag in flags)]
    for name, allowed, kind in named:
        if name not in allowed:
            meant = near(name, allowed)
            raise UsageError(
                f"'{name}' is not a valid {kind}",
                allowed=", ".join(allowed),
                hint=f"did you mean '{meant}'?" if meant else None,
            )

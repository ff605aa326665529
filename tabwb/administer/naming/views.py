"""One naming trial as it stands: what was shown, given, marked, scored, heard and transcribed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tabwb.phonology.inventory import Notation
from tabwb.phonology.letters import pronounced
from tabwb.records.naming import (
    Coded,
    Cued,
    ExaminerSpoke,
    Heard,
    LimitsSet,
    Marked,
    Observation,
    OnsetSet,
    PictureShown,
    RePrompted,
    Revealed,
    Scored,
    Take,
    Transcribed,
    observation_of_json,
)
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.naming.case import Earlier
from tabwb.scoring.naming.heard import HeardAs, parse_heard
from tabwb.scoring.naming.target import VARIETIES, Variety
from tabwb.tasks.spoken_naming.rules import NamingItem, NamingRules, cues_of

Kind = TypeVar("Kind")
Said = TypeVar("Said", Scored, Heard, Coded)


@dataclass(frozen=True, slots=True)
class Speech:
    """How a speaker talks, and how what was heard of it is written.

    Attributes:
        varieties: what differs from General American.
        notation: how letters of IPA are read.
    """

    varieties: tuple[Variety, ...] = ()
    notation: Notation = "us"


def speech_of(values: Mapping[str, object]) -> Speech:
    """Return how a speaker talks by the columns ``variety`` and ``ipa`` of their record.

    >>> speech_of({"variety": "non-rhotic, h-dropping", "ipa": "uk"}).varieties
    ('non-rhotic', 'h-dropping')
    """
    recorded = {part.strip() for part in str(values.get("variety", "")).split(",")}
    return Speech(
        tuple(variety for variety in VARIETIES if variety in recorded),
        "uk" if values.get("ipa") == "uk" else "us",
    )


@dataclass(frozen=True, slots=True)
class NamingView:
    """A naming trial with all that was observed of it, oldest first, what was taken back left out.

    Attributes:
        trial, item, rules: what was given, and the rules that score it.
        observations: of this trial.
        earlier: what was said to the items before it, oldest first.
        primary: the rater whose score, code and word count; empty: whoever said it first.
        speech: how the speaker talks, as recorded.
        listed: words of the battery's lists, which are words whatever their frequency.
    """

    trial: Trial
    item: NamingItem
    rules: NamingRules
    observations: tuple[Observation, ...]
    earlier: tuple[Earlier, ...] = ()
    primary: str = ""
    speech: Speech = Speech()
    listed: frozenset[str] = frozenset()

    @property
    def attempt(self) -> Attempt | None:
        """The attempt that counts."""
        return self.trial.counting

    @property
    def take(self) -> Take | None:
        """Where the counting attempt lies in a recording; None where nothing was recorded.

        Where a person corrected its limits, within those.
        """
        taken = None if self.attempt is None else Take.of_metadata(self.attempt.metadata)
        moved = self.limits
        if taken is None or moved is None:
            return taken
        return replace(
            taken,
            start_s=moved.start_s,
            end_s=moved.end_s,
            onset_s=moved.onset_s,
            onset_uncertainty_s=moved.onset_uncertainty_s,
            onset_method=moved.onset_method,
        )

    @property
    def limits(self) -> LimitsSet | None:
        """The limits of the counting attempt as a person corrected them last."""
        return _latest(self._counting(LimitsSet))

    @property
    def shown(self) -> PictureShown | None:
        """When the picture was shown last."""
        return _latest(_of(PictureShown, self.observations))

    @property
    def cues(self) -> tuple[Cued, ...]:
        """The cues given since the picture was shown last."""
        return tuple(_of(Cued, self._since_shown()))

    @property
    def cue_texts(self) -> tuple[str, ...]:
        """What the administrator says for each cue of the item, in order."""
        return tuple(cue.text for cue in cues_of(self.rules, self.item))

    @property
    def marks(self) -> tuple[float, ...]:
        """Where a person says that attempts begin, seconds of the recording."""
        return tuple(sorted(mark.at_s for mark in _of(Marked, self._since_shown())))

    @property
    def examiner(self) -> tuple[tuple[float, float], ...]:
        """Stretches in which the administrator speaks, seconds of the recording."""
        spoke = _of(ExaminerSpoke, self._since_shown())
        return tuple(sorted((stretch.start_s, stretch.end_s) for stretch in spoke))

    @property
    def re_prompted(self) -> RePrompted | None:
        """When the administrator asked again first; the first response ends there."""
        return next(iter(_of(RePrompted, self._since_shown())), None)

    @property
    def score(self) -> Scored | None:
        """The score of the counting attempt that counts: see :attr:`primary`."""
        return self._that_counts(self.scores)

    @property
    def scores(self) -> tuple[Scored, ...]:
        """The score of the counting attempt by each person who gave one, the latest of each."""
        return _by_rater(self._counting(Scored))

    @property
    def heard(self) -> Heard | None:
        """What was heard in the counting attempt, as it counts: see :attr:`primary`."""
        return self._that_counts(self.words_heard)

    @property
    def words_heard(self) -> tuple[Heard, ...]:
        """What each person heard in the counting attempt, the latest of each."""
        return _by_rater(self._counting(Heard))

    @property
    def heard_as(self) -> HeardAs | None:
        """What a person heard, as the rules read it."""
        return None if self.heard is None else parse_heard(self.heard.text, self.speech.notation)

    @property
    def code(self) -> Coded | None:
        """The person's code of the counting attempt that counts: see :attr:`primary`."""
        return self._that_counts(self.codes)

    @property
    def codes(self) -> tuple[Coded, ...]:
        """The code of the counting attempt by each person who gave one, the latest of each."""
        return _by_rater(self._counting(Coded))

    @property
    def raters(self) -> tuple[str, ...]:
        """Who said anything of the counting attempt by ear, in the order in which they began."""
        return tuple(
            dict.fromkeys(
                given.by
                for given in self.observations
                if isinstance(given, Scored | Heard | Coded) and self._is_counting(given)
            )
        )

    @property
    def corrections(self) -> tuple[OnsetSet | LimitsSet | Coded, ...]:
        """Every onset, limit and code that a person gave the counting attempt, oldest first."""
        return tuple(
            given
            for given in self.observations
            if isinstance(given, OnsetSet | LimitsSet | Coded) and self._is_counting(given)
        )

    @property
    def revealed(self) -> bool:
        """Whether what the machine says of the counting attempt was shown."""
        return bool(self._counting(Revealed))

    @property
    def onset_s(self) -> float | None:
        """Onset of the counting attempt, seconds of the recording: a person's, else measured."""
        moved = self._onset_set
        if moved is not None:
            return moved.onset_s
        return None if self.take is None else self.take.onset_s

    @property
    def onset_by(self) -> str:
        """Who or what says so: a rater, a method, or empty."""
        moved = self._onset_set
        if moved is not None:
            return moved.by
        return "" if self.take is None else self.take.onset_method

    @property
    def latency_s(self) -> float | None:
        """Seconds from the picture to the onset, or None where either is unknown."""
        take = self.take
        if take is None or take.shown_s is None or self.onset_s is None:
            return None
        return self.onset_s - take.shown_s

    @property
    def transcript(self) -> Transcript | None:
        """The transcript that is shown first: a person's before a machine's, the latest of each."""
        if self.attempt is None:
            return None
        transcripts = self.transcripts_of(self.attempt.number)
        good = [transcript for transcript in transcripts if transcript.status != "error"]
        typed = [transcript for transcript in good if is_typed(transcript.transcriber)]
        return _latest(typed or good or transcripts)

    @property
    def spoken(self) -> Earlier | None:
        """What was said, as far as it is known; None where nothing is."""
        heard, transcript = self.heard_as, self.transcript
        if not self.item.coded:
            return None
        if heard is not None:
            first = heard.attempts[0]
            return Earlier(self.trial.plan.item, first.phonemes, first.word)
        if transcript is None or not transcript.phonemes:
            return None
        return Earlier(self.trial.plan.item, pronounced(transcript).phonemes)

    def transcripts_of(self, attempt: int) -> tuple[Transcript, ...]:
        """What was heard in an attempt, by transcriber; of each the latest, in order.

        What was transcribed before the attempt's limits were corrected is cut to those limits.
        """
        return tuple(
            transcript if limits is None else _within(transcript, limits, self._limits_of(attempt))
            for transcript, limits in self._transcribed(attempt).values()
        )

    def outdated(self, attempt: int) -> frozenset[str]:
        """Transcribers that heard an attempt before its limits were corrected."""
        return frozenset(
            name for name, (_, limits) in self._transcribed(attempt).items() if limits is not None
        )

    def _transcribed(
        self, attempt: int
    ) -> dict[str, tuple[Transcript, tuple[float, float] | None]]:
        """By transcriber, what it heard, and within which limits where these are others now."""
        transcripts: dict[str, tuple[Transcript, tuple[float, float]]] = {}
        taken = next((given for given in self.trial.attempts if given.number == attempt), None)
        take = None if taken is None else Take.of_metadata(taken.metadata)
        limits = (0.0, 0.0) if take is None else (take.start_s, take.end_s)
        for observation in self.observations:
            if isinstance(observation, LimitsSet) and observation.attempt == attempt:
                limits = observation.start_s, observation.end_s
            elif isinstance(observation, Transcribed) and observation.attempt == attempt:
                transcripts.pop(observation.transcript.transcriber, None)
                transcripts[observation.transcript.transcriber] = observation.transcript, limits
        return {
            name: (transcript, None if then == limits else then)
            for name, (transcript, then) in transcripts.items()
        }

    def _limits_of(self, attempt: int) -> tuple[float, float]:
        """The limits of an attempt as they were corrected last."""
        moved = [set_ for set_ in _of(LimitsSet, self.observations) if set_.attempt == attempt]
        return (moved[-1].start_s, moved[-1].end_s) if moved else (0.0, 0.0)

    def _since_shown(self) -> Sequence[Observation]:
        first = 0
        for place, observation in enumerate(self.observations):
            if isinstance(observation, PictureShown):
                first = place + 1
        return self.observations[first:]

    @property
    def _onset_set(self) -> OnsetSet | None:
        """The onset as a person corrected it last, unless it lies outside of the limits now."""
        moved, take = _latest(self._counting(OnsetSet)), self.take
        if moved is None or take is None or take.start_s <= moved.onset_s <= take.end_s:
            return moved
        return None

    @property
    def _counting_number(self) -> int | None:
        return None if self.attempt is None else self.attempt.number

    def _is_counting(self, observation: Observation) -> bool:
        """Whether an observation is of the attempt that counts."""
        return getattr(observation, "attempt", None) == self._counting_number

    def _counting(self, kind: type[Kind]) -> list[Kind]:
        return _of(kind, list(filter(self._is_counting, self.observations)))

    def _that_counts(self, given: Sequence[Said]) -> Said | None:
        """What the primary rater said, else who said it first."""
        own = [observation for observation in given if is_rater(observation.by, self.primary)]
        return next(iter(own or given), None)


def view_of(
    trial: Trial,
    item: NamingItem,
    rules: NamingRules,
    earlier: Sequence[Earlier],
    primary: str = "",
    speech: Speech = Speech(),
    listed: frozenset[str] = frozenset(),
) -> NamingView:
    """A trial with its observations read.

    Args:
        trial: as it stands.
        item: what it asks for.
        rules: of its subtest.
        earlier: what was said to the items before it.
        primary: the rater whose score counts; empty: whoever scored first.
        speech: how the speaker talks.
        listed: words of the battery's lists.
    """
    read = tuple(observation_of_json(text) for text in trial.observations)
    return NamingView(trial, item, rules, read, tuple(earlier), primary, speech, listed)


def is_recorded(trial: Trial) -> bool:
    """Return whether the response that counts was given aloud."""
    attempt = trial.counting
    return attempt is not None and Take.of_metadata(attempt.metadata) is not None


def is_rater(by: str, name: str) -> bool:
    """Return whether a rater as stored is the one that a name means.

    Args:
        by: the rater as stored.
        name: a study ID or a rater, or empty.

    >>> is_rater("person:R1", "R1"), is_rater("person:R1", "person:R1"), is_rater("person", "")
    (True, True, False)
    """
    return bool(name) and name in {by, by.partition(":")[2]}


def _by_rater(given: Sequence[Said]) -> tuple[Said, ...]:
    """The latest of each rater, in the order in which the raters began."""
    return tuple({observation.by: observation for observation in given}.values())


def _within(
    transcript: Transcript, then: tuple[float, float], now: tuple[float, float]
) -> Transcript:
    """A transcript of a stretch as one of another: what lies outside is left out.

    Phonemes without times of their own stay: nobody knows which of them lie outside.
    """
    length = round(now[1] - now[0], 4)
    if not transcript.timed:
        return replace(transcript, seconds=length)
    by_s = then[0] - now[0]
    inside = tuple(
        replace(part, start_s=max(part.start_s + by_s, 0.0), end_s=min(part.end_s + by_s, length))
        for part in transcript.segments
        if 0.0 <= (part.start_s + part.end_s) / 2 + by_s <= length
    )
    status = "empty" if transcript.status == "ok" and not inside else transcript.status
    return replace(transcript, segments=inside, status=status, seconds=length)


def _of(kind: type[Kind], observations: Sequence[Observation]) -> list[Kind]:
    return [observation for observation in observations if isinstance(observation, kind)]


def _latest(given: Sequence[Kind]) -> Kind | None:
    return given[-1] if given else None

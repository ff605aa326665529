"""One spoken trial in its present state, read from its observations, and how to add new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from tabwb.administer.naming.counting import (
    CountingCode,
    Said,
    Settled,
    counting_code,
    counting_score,
    counting_word,
    said_in_sets,
)
from tabwb.phonology.dictionary import pronounced
from tabwb.phonology.inventory import Notation
from tabwb.records import naming
from tabwb.records.naming import Coded, Heard, LimitsSet, Observation, OnsetSet, Scored, Take
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.states import AttemptState, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, EventEntry, Trial
from tabwb.scoring.naming.case import Earlier, sounds_of_names
from tabwb.scoring.naming.heard import HeardAs, parse_heard
from tabwb.scoring.naming.target import VARIETIES, Variety
from tabwb.store.database import now
from tabwb.tasks.spoken_naming.rules import NamingItem, NamingRules

if TYPE_CHECKING:
    from tabwb.speech.level import Onset

Kind = TypeVar("Kind")
Stretch = TypeVar("Stretch", Take, LimitsSet)
Limits = tuple[float, float]
"""Start and end, seconds of the recording."""
UNWRITTEN = "not transcribed yet"
"""Why a recorded description has no text."""


@dataclass(frozen=True, slots=True)
class Speech:
    """How a speaker talks, and how what was heard of it is written.

    Attributes:
        varieties: what differs from General American.
        notation: how letters of IPA are read.
        language: of the battery, as a BCP 47 tag.
    """

    varieties: tuple[Variety, ...] = ()
    notation: Notation = "us"
    language: str = "en"

    def read(self, text: str) -> HeardAs:
        """Return what a listener wrote, as the rules read it."""
        return parse_heard(text, self.notation, self.language)


def speech_of(values: Mapping[str, object], language: str = "en") -> Speech:
    """Return how a speaker talks by the columns ``variety`` and ``ipa`` of their record.

    >>> speech_of({"variety": "non-rhotic, h-dropping", "ipa": "uk"}).varieties
    ('non-rhotic', 'h-dropping')
    """
    recorded = {part.strip() for part in str(values.get("variety", "")).split(",")}
    return Speech(
        tuple(variety for variety in VARIETIES if variety in recorded),
        "uk" if values.get("ipa") == "uk" else "us",
        language,
    )


@dataclass(frozen=True, slots=True)
class NamingView:
    """A naming trial with all that was observed of it, oldest first, what was taken back left out.

    Attributes:
        trial, item, rules: what was given, and the rules that score it.
        observations: of this trial.
        earlier: what was said to the items before it, oldest first.
        primary: the rater, or the rule (:mod:`tabwb.records.ratings`), whose score, code and word
            count; empty: whoever said it first.
        speech: how the speaker talks, as recorded.
        listed: words of the battery's lists, which are words whatever their frequency.
        settled: what the adjudication of a rating set says of the counting attempt, or None.
        forms: words of the battery's lists with their sounds.
    """

    trial: Trial
    item: NamingItem
    rules: NamingRules
    observations: tuple[Observation, ...]
    earlier: tuple[Earlier, ...] = ()
    primary: str = ""
    speech: Speech = Speech()
    listed: frozenset[str] = frozenset()
    settled: Settled | None = None
    forms: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def attempt(self) -> Attempt | None:
        """The attempt that counts."""
        return self.trial.counting

    @property
    def take(self) -> Take | None:
        """Where the counting attempt lies in a recording, as corrected; None: nothing recorded."""
        taken = self._recorded
        limits = _latest(_of(LimitsSet, self._of_attempt))
        if taken is None or limits is None:
            return taken
        names = ("start_s", "end_s", "onset_s", "onset_uncertainty_s", "onset_method")
        return replace(taken, **{name: getattr(limits, name) for name in names})

    @property
    def shown(self) -> naming.PictureShown | None:
        """When the picture was shown last."""
        return _latest(_of(naming.PictureShown, self.observations))

    @property
    def cues(self) -> tuple[naming.Cued, ...]:
        """The cues given since the picture was shown last."""
        return tuple(_of(naming.Cued, self._since_shown))

    @property
    def marks(self) -> tuple[float, ...]:
        """Where a person says that attempts begin, seconds of the recording."""
        return tuple(sorted(mark.at_s for mark in _of(naming.Marked, self._since_shown)))

    @property
    def examiner(self) -> tuple[Limits, ...]:
        """Stretches in which the administrator speaks, seconds of the recording."""
        spoke = _of(naming.ExaminerSpoke, self._since_shown)
        return tuple(sorted((stretch.start_s, stretch.end_s) for stretch in spoke))

    @property
    def re_prompted(self) -> naming.RePrompted | None:
        """When the administrator asked again first; the first response ends there."""
        return next(iter(_of(naming.RePrompted, self._since_shown)), None)

    @property
    def score(self) -> Scored | None:
        """The score of the counting attempt that counts: see :attr:`primary`."""
        return counting_score(self.scores, self.primary, self.settled, self.codes)

    @property
    def scores(self) -> tuple[Scored, ...]:
        """The score of the counting attempt by each person who gave one, the latest of each."""
        return self._by_rater(Scored)

    @property
    def heard(self) -> Heard | None:
        """What was heard in the counting attempt, as it counts: see :attr:`primary`."""
        return counting_word(self.words_heard, self.primary, self.settled)

    @property
    def words_heard(self) -> tuple[Heard, ...]:
        """What each person heard in the counting attempt, the latest of each."""
        return self._by_rater(Heard)

    @property
    def heard_as(self) -> HeardAs | None:
        """What a person heard, as the rules read it."""
        return None if self.heard is None else self.speech.read(self.heard.text)

    @property
    def code(self) -> CountingCode | None:
        """The code of the counting attempt, of the rater whose score counts: :attr:`primary`."""
        return counting_code(self.codes, self.scores, self.primary, self.settled, self.rules.rule)

    @property
    def codes(self) -> tuple[Coded, ...]:
        """The code of the counting attempt by each person who gave one, the latest of each."""
        return self._by_rater(Coded)

    @property
    def raters(self) -> tuple[str, ...]:
        """Who said anything of the counting attempt by ear, in the order in which they began."""
        judgements = (
            given for given in self._of_attempt if isinstance(given, Scored | Heard | Coded)
        )
        everything = (*judgements, *said_in_sets(self.trial))
        return tuple(dict.fromkeys(given.by for given in everything))

    @property
    def corrections(self) -> tuple[OnsetSet | LimitsSet | Coded, ...]:
        """Every onset, limit and code that a person gave the counting attempt, oldest first."""
        return tuple(
            given for given in self._of_attempt if isinstance(given, OnsetSet | LimitsSet | Coded)
        )

    @property
    def revealed(self) -> bool:
        """Whether what the machine says of the counting attempt was shown."""
        return bool(_of(naming.Revealed, self._of_attempt))

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
    def transcripts(self) -> tuple[Transcript, ...]:
        """The latest transcript of each transcriber, cut to the limits of the counting attempt."""
        transcribed, limits = self._transcribed()
        return tuple(
            transcript if then == limits else _within(transcript, then, limits)
            for transcript, then in transcribed.values()
        )

    @property
    def outdated(self) -> frozenset[str]:
        """Transcribers that heard the counting attempt before its limits were corrected."""
        transcribed, limits = self._transcribed()
        return frozenset(name for name, (_, then) in transcribed.items() if then != limits)

    @property
    def transcript(self) -> Transcript | None:
        """The transcript that is shown first: a person's before a machine's, the latest of each."""
        transcripts = self.transcripts
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
        return Earlier(self.trial.plan.item, self.sounds(transcript).phonemes)

    def sounds(self, transcript: Transcript) -> Transcript:
        """Return a transcript in phonemes; a name of the item sounds as it is accepted."""
        return pronounced(transcript, sounds_of_names(self.item))

    def _transcribed(self) -> tuple[dict[str, tuple[Transcript, Limits]], Limits]:
        """By transcriber what it heard and within which limits, and the limits as they are now."""
        transcribed: dict[str, tuple[Transcript, Limits]] = {}
        taken = self._recorded
        limits = (0.0, 0.0) if taken is None else (taken.start_s, taken.end_s)
        for observation in self._of_attempt:
            if isinstance(observation, LimitsSet):
                limits = observation.start_s, observation.end_s
            elif isinstance(observation, naming.Transcribed):
                transcript = observation.transcript
                transcribed.pop(transcript.transcriber, None)
                transcribed[transcript.transcriber] = transcript, limits
        return transcribed, limits

    @property
    def _recorded(self) -> Take | None:
        return None if self.attempt is None else Take.of_metadata(self.attempt.metadata)

    @property
    def _since_shown(self) -> Sequence[Observation]:
        first = 0
        for place, observation in enumerate(self.observations):
            if isinstance(observation, naming.PictureShown):
                first = place + 1
        return self.observations[first:]

    @property
    def _onset_set(self) -> OnsetSet | None:
        """The onset as a person corrected it last, unless it lies outside of the limits now."""
        moved, take = _latest(_of(OnsetSet, self._of_attempt)), self.take
        if moved is None or take is None or take.start_s <= moved.onset_s <= take.end_s:
            return moved
        return None

    @property
    def _of_attempt(self) -> Iterator[Observation]:
        if (attempt := self.attempt) is not None:
            for observation in self.observations:
                if getattr(observation, "attempt", None) == attempt.number:
                    yield observation

    def _by_rater(self, kind: type[Said]) -> tuple[Said, ...]:
        said = {given.by: given for given in _of(kind, self._of_attempt)}
        for given in _of(kind, said_in_sets(self.trial)):
            said.setdefault(given.by, given)
        return tuple(said.values())


def observations_of(trial: Trial) -> tuple[Observation, ...]:
    """Return what was observed of a trial, oldest first."""
    return tuple(map(naming.observation_of_json, trial.observations))


def is_recorded(trial: Trial) -> bool:
    """Return whether the response that counts was given aloud."""
    attempt = trial.counting
    return attempt is not None and Take.of_metadata(attempt.metadata) is not None


def observed(number: int | None, observation: Observation) -> EventEntry:
    """Return the entry of an observation."""
    return EventEntry("observed", number, naming.observation_to_json(observation))


def spoken_attempt(trial: Trial, take: Take | None, *, coded: bool = True) -> Attempt:
    """Return the next attempt of a trial that is answered aloud."""
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


def with_onset(stretch: Stretch, onset: Onset | None, uncertainty_s: float = 0.0) -> Stretch:
    """Return a stretch of a recording with the onset of speech in it."""
    if onset is None:
        return stretch
    return replace(
        stretch,
        onset_s=stretch.start_s + onset.s,
        onset_uncertainty_s=onset.margin_s + uncertainty_s,
        onset_method=onset.method,
    )


def _within(transcript: Transcript, then: Limits, now: Limits) -> Transcript:
    """A transcript of one stretch cut to another; phonemes without times stay."""
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


def _of(kind: type[Kind], observations: Iterable[Observation]) -> list[Kind]:
    return [observation for observation in observations if isinstance(observation, kind)]


def _latest(given: Sequence[Kind]) -> Kind | None:
    return given[-1] if given else None

"""One spoken trial in its present state, read from its observations, and how to add new ones.

Which listener's score, word and code of a response count (a rater's, or those of a rule) is said by
the functions ``counting_*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from tabwb.phonology.dictionary import pronounced
from tabwb.phonology.inventory import Notation
from tabwb.records import naming
from tabwb.records.naming import (
    SCORES,
    Coded,
    Heard,
    LimitsSet,
    Observation,
    OnsetSet,
    Score,
    Scored,
    Take,
)
from tabwb.records.ratings import (
    CANNOT,
    PERSON,
    Open,
    Rule,
    counting_value,
    majority,
    rule_of,
)
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.states import AttemptState, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, EventEntry, Trial
from tabwb.scoring.naming.case import Earlier, sounds_of_names
from tabwb.scoring.naming.heard import HeardAs, parse_heard
from tabwb.scoring.naming.target import CODES, VARIETIES, Variety, code_by_score, right_by_score
from tabwb.scoring.naming.target import Rule as Correctness
from tabwb.store.database import now
from tabwb.tasks.spoken_naming.task import NamingItem, NamingRules

if TYPE_CHECKING:
    from tabwb.speech.level import Onset


Said = TypeVar("Said", Scored, Heard, Coded)
CodeSource = Literal["given", "score", "borrowed"]
"""``given`` by the rater whose score counts, or by the rule; following from that ``score``;
``borrowed`` from another rater."""


@dataclass(frozen=True, slots=True)
class CountingCode:
    """The code of a response in a profile.

    Attributes:
        by: a rater, or the rule.
        source: see :data:`CodeSource`.
    """

    code: str
    by: str
    flags: tuple[str, ...] = ()
    source: CodeSource = "given"


Of = TypeVar("Of", Scored, Heard, Coded, CountingCode)
Settled = Mapping[str, object]
"""Answers of the adjudication by question (``score``, ``heard``, ``code``); None: cannot tell."""


def said_in_sets(trial: Trial) -> tuple[Scored | Coded, ...]:
    """Return the scores and codes of the counting attempt that are stored as ratings of listeners.

    What was given in rating sets is stored in this way alone; who scored in the session too has
    no other ratings than those of the session.
    """
    attempt = trial.counting
    if attempt is None:
        return ()
    said: list[Scored | Coded] = []
    for rating in trial.ratings:
        by = rating.rater
        if not by.startswith(PERSON):
            continue
        name, mark, code = rating.measure.partition(":")
        score = cast("Score", rating.reason)
        if name == "correct" and not mark and score in SCORES:
            said.append(
                Scored(attempt.number, score, by, "in a rating set" * (rating.value is None))
            )
        elif name == "code" and code in CODES:
            said.append(Coded(attempt.number, code, by))
    return tuple(said)


def is_rater(by: str, name: str) -> bool:
    """Return whether a rater as stored is the one that a name means.

    >>> is_rater("person:R1", "R1"), is_rater("person:R1", "person:R1"), is_rater("person", "")
    (True, True, False)
    """
    return bool(name) and name in {by, by.partition(":")[2]}


def counting_score(
    scores: Sequence[Scored],
    counts: str,
    settled: Settled | None = None,
    codes: Sequence[Coded] = (),
) -> Scored | None:
    """Return the score that counts; None without one, and where the listeners' rule gives none.

    A primary rater who gave a code alone has decided with it: no other rater's score counts.

    A rule takes the five scores as they are: of *right*, *self-corrected* and *error* none has a
    majority.

    >>> said = [Scored(1, "right", "person:A"), Scored(1, "error", "person:B"),
    ...         Scored(1, "error", "person:C")]
    >>> [counting_score(said, counts).score for counts in ("", "B", "majority")]
    ['right', 'error', 'error']
    >>> counting_score(said[:2], "consensus", {"score": "right"}).by
    'consensus'
    """
    if (rule := rule_of(counts)) is None:
        if any(is_rater(said.by, counts) and said.code != "undecided" for said in codes):
            scores = [said for said in scores if is_rater(said.by, counts)]
        return _first(scores, counts)
    value = _by_rule(rule, [said.score for said in scores], settled, "score")
    if value is None:
        return None
    named = next((said for said in scores if said.score == value), None)
    if named is None:
        number = scores[0].attempt if scores else 1
        return Scored(number, cast("Score", value), rule)
    seen = any(said.after_reveal for said in scores)
    return replace(named, by=rule, after_reveal=seen)


def counting_word(
    words: Sequence[Heard], counts: str, settled: Settled | None = None
) -> Heard | None:
    """Return what was heard, as it counts; words are alike in small letters."""
    if (rule := rule_of(counts)) is None:
        return _first(words, counts)
    value = _by_rule(rule, [said.text.casefold() for said in words], settled, "heard")
    if value is None:
        return None
    named = next((said for said in words if said.text.casefold() == value.casefold()), None)
    if named is None:
        return Heard(words[0].attempt if words else 1, value, rule)
    return replace(named, by=rule)


def codes_of_listeners(
    codes: Sequence[Coded], scores: Sequence[Scored], decides: Correctness
) -> tuple[CountingCode, ...]:
    """Return the code of each listener: the one given, else the one that follows from the score.

    *Undecided* says less than a score from which a code follows.

    >>> said = [Scored(1, "no-response", "person:A"), Scored(1, "error", "person:B")]
    >>> [(one.by, one.code, one.source) for one in codes_of_listeners(
    ...     [Coded(1, "semantic", "person:B")], said, "correct-any")]
    [('person:A', 'no-response', 'score'), ('person:B', 'semantic', 'given')]
    """
    scored = {said.by: said.score for said in scores}
    given = {said.by: said for said in codes}
    found: list[CountingCode] = []
    for by in dict.fromkeys((*scored, *given)):
        implied = code_by_score(scored.get(by, ""), decides)
        own = given.get(by)
        if own is not None and not (implied and own.code == "undecided"):
            found.append(CountingCode(own.code, by, own.flags))
        elif implied:
            found.append(CountingCode(implied, by, () if own is None else own.flags, "score"))
    return tuple(found)


def fits(code: str, score: Score, decides: Correctness) -> bool:
    """Return whether a code says the same as a score: right, not right, nothing said.

    >>> [fits(code, "error", "correct-any") for code in ("correct", "no-response", "semantic")]
    [False, False, True]
    """
    right = right_by_score(score, decides)
    if right is None:
        return True
    return (code == "correct") == right and (code != "no-response" or score == "no-response")


def counting_code(
    codes: Sequence[Coded],
    scores: Sequence[Scored],
    counts: str,
    settled: Settled | None = None,
    decides: Correctness = "correct-any",
) -> CountingCode | None:
    """Return the code that counts: of the rater whose score counts.

    The code that this rater gave, else the one that follows from the score. For an error without a
    code it is borrowed from the first other rater whose code says the same of right or not. With a
    rule it is what was settled, else what follows from the score that counts, else the code that
    the rule takes from all listeners who coded, unless it contradicts that score; flags are those
    of more than half of the listeners with this code. It is *borrowed* where no more than half
    of the listeners gave it.

    >>> codes = [Coded(1, "semantic", "person:B")]
    >>> for score in ("right", "no-response", "error"):
    ...     found = counting_code(codes, [Scored(1, score, "person:A")], "A")
    ...     print(found.code, found.by, found.source)
    correct person:A score
    no-response person:A score
    semantic person:B borrowed
    """
    score = counting_score(scores, counts, settled, codes)
    own = codes_of_listeners(codes, scores, decides)
    if (rule := rule_of(counts)) is not None:
        listeners = len({*(said.by for said in scores), *(said.by for said in codes)})
        return _code_by_rule(rule, own, listeners, score, settled, decides)
    if score is None:
        return _first(own, counts)
    mine = next((one for one in own if one.by == score.by), None)
    if mine is not None:
        return mine
    others = (one for one in own if one.code != "undecided")
    fitting = (one for one in others if fits(one.code, score.score, decides))
    return next((replace(one, source="borrowed") for one in fitting), None)


def _code_by_rule(
    rule: Rule,
    own: Sequence[CountingCode],
    listeners: int,
    score: Scored | None,
    settled: Settled | None,
    decides: Correctness,
) -> CountingCode | None:
    given = [one for one in own if one.code != "undecided"]
    implied = "" if score is None else code_by_score(score.score, decides)
    source: CodeSource = "given"
    is_settled = rule != "majority" and settled is not None and "code" in settled
    if implied and not is_settled:
        value, source = implied, "score"
    else:
        found = _by_rule(rule, [one.code for one in given], settled, "code")
        if found is None or not (is_settled or score is None or fits(found, score.score, decides)):
            return None
        value = found
    named = [one for one in given if one.code == value]
    flags = dict.fromkeys(flag for one in named for flag in one.flags)
    shared = (flag for flag in flags if majority([flag in one.flags for one in named]) is True)
    by: str = rule
    if source == "given" and not is_settled and 2 * len(named) <= listeners:
        source, by = "borrowed", named[0].by if len(named) == 1 else rule
    return CountingCode(value, by, tuple(shared), source)


def _first(given: Sequence[Of], primary: str) -> Of | None:
    """Return what the primary rater said, else who said it first."""
    own = [said for said in given if is_rater(said.by, primary)]
    return next(iter(own or given), None)


def _by_rule(
    rule: Rule, given: Sequence[str], settled: Settled | None, question: str
) -> str | None:
    answer: str | Open | None = None
    if settled is not None and question in settled:
        answer = CANNOT if settled[question] is None else str(settled[question])
    value = counting_value(rule, given, answer)
    return None if isinstance(value, Open) else value


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

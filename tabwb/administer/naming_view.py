"""One naming trial as it stands: what was shown, given, marked, scored, heard and transcribed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tabwb.battery.naming import NamingItem, NamingRules, cues_of
from tabwb.records.naming import (
    Coded,
    Cued,
    ExaminerSpoke,
    Heard,
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
from tabwb.scoring.naming.heard import HeardAs
from tabwb.scoring.naming.propose import Earlier

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class NamingView:
    """A naming trial with all that was observed of it, oldest first, what was taken back left out.

    Attributes:
        trial, item, rules: what was given, and the rules that score it.
        observations: of this trial.
        earlier: what was said to the items before it, oldest first.
    """

    trial: Trial
    item: NamingItem
    rules: NamingRules
    observations: tuple[Observation, ...]
    earlier: tuple[Earlier, ...] = ()

    @property
    def attempt(self) -> Attempt | None:
        """The attempt that counts."""
        return self.trial.counting

    @property
    def take(self) -> Take | None:
        """Where the counting attempt lies in a recording; None where nothing was recorded."""
        return None if self.attempt is None else Take.of_metadata(self.attempt.metadata)

    @property
    def shown(self) -> PictureShown | None:
        """When the picture was shown last."""
        return _latest([each for each in self.observations if isinstance(each, PictureShown)])

    @property
    def cues(self) -> tuple[Cued, ...]:
        """The cues given since the picture was shown last."""
        return tuple(each for each in self._since_shown() if isinstance(each, Cued))

    @property
    def cue_texts(self) -> tuple[str, ...]:
        """What the administrator says for each cue of the item, in order."""
        return tuple(cue.text for cue in cues_of(self.rules, self.item))

    @property
    def marks(self) -> tuple[float, ...]:
        """Where a person says that attempts begin, seconds of the recording."""
        return tuple(sorted(each.at_s for each in self._since_shown() if isinstance(each, Marked)))

    @property
    def examiner(self) -> tuple[tuple[float, float], ...]:
        """Stretches in which the administrator speaks, seconds of the recording."""
        spoke = (each for each in self._since_shown() if isinstance(each, ExaminerSpoke))
        return tuple(sorted((each.start_s, each.end_s) for each in spoke))

    @property
    def re_prompted(self) -> RePrompted | None:
        """When the administrator asked again first; the first response ends there."""
        return next((each for each in self._since_shown() if isinstance(each, RePrompted)), None)

    @property
    def score(self) -> Scored | None:
        """The person's score of the counting attempt."""
        return _latest(self._counting(Scored))

    @property
    def heard(self) -> Heard | None:
        """What a person heard in the counting attempt."""
        return _latest(self._counting(Heard))

    @property
    def heard_as(self) -> HeardAs | None:
        """What a person heard, as the rules read it."""
        heard = self.heard
        if heard is None:
            return None
        ways = tuple(tuple(way.split()) for way in heard.pronunciations)
        return HeardAs(heard.text, heard.word, ways)

    @property
    def code(self) -> Coded | None:
        """The person's code of the counting attempt."""
        return _latest(self._counting(Coded))

    @property
    def codes(self) -> tuple[Coded, ...]:
        """The code of the counting attempt by each person who gave one, the latest of each."""
        latest: dict[str, Coded] = {}
        for each in self._counting(Coded):
            latest.pop(each.by, None)
            latest[each.by] = each
        return tuple(latest.values())

    @property
    def revealed(self) -> bool:
        """Whether what the machine says of the counting attempt was shown."""
        return bool(self._counting(Revealed))

    @property
    def onset_s(self) -> float | None:
        """Onset of the counting attempt, seconds of the recording: a person's, else measured."""
        moved = _latest(self._counting(OnsetSet))
        if moved is not None:
            return moved.onset_s
        return None if self.take is None else self.take.onset_s

    @property
    def onset_by(self) -> str:
        """Who or what says so: a rater, a method, or empty."""
        moved = _latest(self._counting(OnsetSet))
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
        said = self.transcripts_of(self.attempt.number)
        good = [each for each in said if each.status != "error"]
        typed = [each for each in good if is_typed(each.transcriber)]
        best = typed or good or list(said)
        return best[-1] if best else None

    @property
    def spoken(self) -> Earlier | None:
        """What was said, as far as it is known; None where nothing is."""
        heard, transcript = self.heard, self.transcript
        if heard is not None:
            first = heard.pronunciations[0].split() if heard.pronunciations else ()
            return Earlier(self.trial.plan.item, tuple(first), heard.word)
        if transcript is None or not transcript.phonemes:
            return None
        return Earlier(self.trial.plan.item, transcript.phonemes)

    def transcripts_of(self, attempt: int) -> tuple[Transcript, ...]:
        """What was heard in an attempt, by transcriber; of each the latest, in order."""
        latest: dict[str, Transcript] = {}
        for each in self.observations:
            if isinstance(each, Transcribed) and each.attempt == attempt:
                latest.pop(each.transcript.transcriber, None)
                latest[each.transcript.transcriber] = each.transcript
        return tuple(latest.values())

    def _since_shown(self) -> Sequence[Observation]:
        first = 0
        for place, each in enumerate(self.observations):
            if isinstance(each, PictureShown):
                first = place + 1
        return self.observations[first:]

    def _counting(self, kind: type[Kind]) -> list[Kind]:
        counting = self.attempt
        number = None if counting is None else counting.number
        return [
            each
            for each in self.observations
            if isinstance(each, kind) and getattr(each, "attempt", None) == number
        ]


def view_of(
    trial: Trial, item: NamingItem, rules: NamingRules, earlier: Sequence[Earlier]
) -> NamingView:
    """A trial with its observations read.

    Args:
        trial: as it stands.
        item: what it asks for.
        rules: of its subtest.
        earlier: what was said to the items before it.
    """
    read = tuple(observation_of_json(text) for text in trial.observations)
    return NamingView(trial, item, rules, read, tuple(earlier))


def _latest(found: Sequence[Kind]) -> Kind | None:
    return found[-1] if found else None

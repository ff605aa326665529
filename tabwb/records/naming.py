"""Observations while a person names pictures: takes, cues, marks, scores, transcripts.

Observations are entries of an administration (``EventEntry`` of kind ``observed``): appended, never
changed, taken back by ``undone``. Times are seconds from the beginning of the recording they belong
to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from tabwb.records.errors import StoreError
from tabwb.records.speech import Segment, Transcript, is_typed
from tabwb.records.trials import Trial

Score = Literal["right", "self-corrected", "error", "no-response", "not-scorable"]
"""A person's score of a response; codes are more detailed."""
TIME_UNKNOWN = " (time unknown)"
"""Follows the kind of a cue in a tier, where its place is not when it was given."""
SCORES: tuple[Score, ...] = get_args(Score)
SCORE_KEYS: Mapping[str, Score] = {str(key): score for key, score in enumerate(SCORES, start=1)}
"""The key of each score, in every part of the program."""
CORRECT = "correct"
"""The measure of a person's score: 1 right or self-corrected, 0 error or no response."""


@dataclass(frozen=True, slots=True)
class Take:
    """The segment of a recording with one response: from the picture to the end of the window.

    Attributes:
        recording: uid of the recording.
        start_s, end_s: the stretch.
        shown_s: when the picture was drawn, or None if not known (a file).
        onset_s: when speech began, as measured, or None if none was found.
        onset_uncertainty_s: of the onset, seconds; None where it is not known.
        onset_method: how it was measured, or empty.
        remarks: problems of the sound (``clipped``, ``too quiet``), or empty.
    """

    recording: str
    start_s: float
    end_s: float
    shown_s: float | None = None
    onset_s: float | None = None
    onset_uncertainty_s: float | None = None
    onset_method: str = ""
    remarks: str = ""

    @property
    def latency_s(self) -> float | None:
        """Seconds from the picture to the onset, or None where either is unknown."""
        if self.shown_s is None or self.onset_s is None:
            return None
        return self.onset_s - self.shown_s

    def to_metadata(self) -> dict[str, str]:
        """Return as the plain strings that an attempt carries.

        >>> Take("r1", 0.5, 3.25).to_metadata()
        {'recording': 'r1', 'start_s': '0.5', 'end_s': '3.25'}
        """
        return {
            name: value if isinstance(value, str) else repr(value)
            for name, value in asdict(self).items()
            if value is not None and value != ""
        }

    @classmethod
    def of_metadata(cls, metadata: Mapping[str, str]) -> Self | None:
        """Read back from an attempt's strings; None where the attempt was not spoken.

        >>> Take.of_metadata(Take("r1", 0.5, 3.25).to_metadata()) == Take("r1", 0.5, 3.25)
        True
        """
        if "recording" not in metadata:
            return None
        names = [field.name for field in fields(cls) if field.name in metadata]
        values: dict[str, Any] = {
            name: float(metadata[name]) if name.endswith("_s") else metadata[name] for name in names
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class RecordingBegan:
    """The microphone is open, or a file was imported: then ``device`` is ``file``."""

    recording: str
    file: str
    device: str
    rate: int


@dataclass(frozen=True, slots=True)
class RecordingEnded:
    """A recording is complete and stored.

    ``remarks`` are problems during the recording (gaps, a disconnected device), or empty.
    """

    recording: str
    sha256: str
    seconds: float
    remarks: str = ""


@dataclass(frozen=True, slots=True)
class PictureShown:
    """The picture was drawn: time 0 of the latency; ``recording`` is empty where none runs."""

    recording: str = ""
    at_s: float | None = None
    uncertainty_s: float | None = None


@dataclass(frozen=True, slots=True)
class Cued:
    """A cue was given; ``cue`` is its place among the item's cues, from 0."""

    cue: int
    kind: str
    counts: bool
    at_s: float | None = None


@dataclass(frozen=True, slots=True)
class RePrompted:
    """The administrator asked again: later speech is not the first response."""

    at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """The administrator marks the beginning of a new spoken attempt."""

    at_s: float


@dataclass(frozen=True, slots=True)
class ExaminerSpoke:
    """The administrator speaks in this stretch."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class OnsetSet:
    """A person sets the onset of the response."""

    attempt: int
    onset_s: float
    by: str
    reason: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class LimitsSet:
    """A person sets the limits of the response in the recording.

    The onset is that of speech within them, as measured again; None where none was found.
    """

    attempt: int
    start_s: float
    end_s: float
    by: str
    reason: str = ""
    at: str = ""
    onset_s: float | None = None
    onset_uncertainty_s: float | None = None
    onset_method: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A person's score of one response.

    Attributes:
        reason: why it cannot be scored, or what kind of no response it was.
        after_reveal: the rater had seen the machine's result.
    """

    attempt: int
    score: Score
    by: str
    reason: str = ""
    after_reveal: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A plain word or phonemes that a person heard, ``text`` as typed.

    Attributes:
        pronunciations: what it stands for, each ARPAbet with spaces; none for a word that is in no
            dictionary.
        word: the word, or empty if phonemes were typed.
    """

    attempt: int
    text: str
    by: str
    pronunciations: tuple[str, ...] = ()
    word: str = ""


@dataclass(frozen=True, slots=True)
class Coded:
    """A person's code of one response, with flags (:mod:`tabwb.scoring.naming.target`)."""

    attempt: int
    code: str
    by: str
    flags: tuple[str, ...] = ()
    reason: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Revealed:
    """The machine's verdict and transcript of this attempt were shown."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Transcribed:
    """A transcript of one attempt, by a transcriber or typed by a person."""

    attempt: int
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class TextSet:
    """The text of a spoken response, from a transcriber (its spec) or a person.

    It becomes :attr:`tabwb.records.trials.Attempt.response`, and ``status`` its
    :class:`~tabwb.records.states.ResponseStatus`.
    """

    attempt: int
    text: str
    status: str
    by: str
    at: str = ""

    @staticmethod
    def is_person(by: str) -> bool:
        """Return whether ``by`` is a person."""
        return by.partition(":")[0] == "person"


Observation = (
    RecordingBegan | RecordingEnded | PictureShown | Cued | RePrompted | Marked | ExaminerSpoke
    | OnsetSet | LimitsSet | Scored | Heard | Coded | Revealed | Transcribed | TextSet
)  # fmt: skip
_KINDS: Mapping[str, tuple[type[Observation], str]] = {
    "recording-began": (RecordingBegan, ""),
    "recording-ended": (RecordingEnded, ""),
    "picture-shown": (PictureShown, ""),
    "cued": (Cued, "cue"),
    "re-prompted": (RePrompted, "re-prompt"),
    "marked": (Marked, "mark of an attempt"),
    "examiner-spoke": (ExaminerSpoke, "mark of the examiner's voice"),
    "onset-set": (OnsetSet, "onset"),
    "limits-set": (LimitsSet, "limits of the response"),
    "scored": (Scored, "score"),
    "heard": (Heard, "word heard"),
    "coded": (Coded, "code"),
    "revealed": (Revealed, ""),
    "transcribed": (Transcribed, ""),
    "text-set": (TextSet, ""),
}
"""The class of each kind, and what it is called where it can be taken back."""
_NAMES = {kind: name for name, (kind, _) in _KINDS.items()}


def observation_to_json(observation: Observation) -> str:
    """Return an observation as one line of JSON.

    >>> observation_to_json(Marked(1.25))
    '{"what":"marked","at_s":1.25}'
    """
    plain = {"what": _NAMES[type(observation)], **asdict(observation)}
    if isinstance(observation, Transcribed):
        transcript = plain["transcript"]
        transcript["segments"] = [list(segment.values()) for segment in transcript["segments"]]
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def observation_of_json(text: str) -> Observation:
    """Read back what :func:`observation_to_json` wrote."""
    try:
        plain = json.loads(text)
        kind, _ = _KINDS[plain.pop("what")]
        if kind is Transcribed:
            transcript = plain["transcript"]
            transcript["segments"] = tuple(Segment(*segment) for segment in transcript["segments"])
            plain["transcript"] = Transcript(**transcript)
        for name, value in plain.items():
            if isinstance(value, list):
                plain[name] = tuple(value)
        return kind(**plain)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"the store holds an observation that cannot be read: {error}") from error


def undoable_observation(text: str) -> str | None:
    """Return what an observation is called where it can be taken back; None where it cannot.

    >>> undoable_observation('{"what":"cued","cue":0}'), undoable_observation('{"what":"revealed"}')
    ('cue', None)
    """
    written = text_set(text)
    if written is not None:
        return "text" if TextSet.is_person(written.by) else None
    _, name = _KINDS.get(str(json.loads(text).get("what")), (None, ""))
    return name or None


def text_set(text: str) -> TextSet | None:
    """Return the words of a response that an observation (JSON) sets; None for any other."""
    if not text.startswith('{"what":"text-set"'):
        return None
    written = observation_of_json(text)
    return written if isinstance(written, TextSet) else None


def observations_of(trial: Trial) -> tuple[Observation, ...]:
    """Return what was observed of a trial, oldest first."""
    return tuple(map(observation_of_json, trial.observations))


def transcripts_of(trial: Trial) -> tuple[Transcript | None, dict[str, Transcript]]:
    """Return the last transcript that a person typed of the response that counts, and machines'.

    Of each transcriber the last one; one in error only where there is no other.
    """
    typed: Transcript | None = None
    machines: dict[str, Transcript] = {}
    number = None if trial.counting is None else trial.counting.number
    for seen in observations_of(trial):
        if not isinstance(seen, Transcribed) or seen.attempt != number:
            continue
        by = seen.transcript.transcriber
        if is_typed(by):
            typed = seen.transcript
        elif seen.transcript.status != "error":
            machines[by] = seen.transcript
        else:
            machines.setdefault(by, seen.transcript)
    return typed, machines


def is_recorded(trial: Trial) -> bool:
    """Return whether the response that counts was given aloud."""
    attempt = trial.counting
    return attempt is not None and Take.of_metadata(attempt.metadata) is not None


@dataclass(frozen=True, slots=True)
class Named:
    """One response that was given elsewhere.

    Attributes:
        item: its id, SUBTEST/ITEM where that names several, or its target.
        start_s, end_s: its stretch of the recording; ``end_s`` None: to the end.
        transcripts: by machines and people, the one that is shown first last; times count from the
            beginning of the response; the transcriber is empty where the source does not name it.
        score: a person's, or None.
        heard, code: a person's, or empty.
        examiner: stretches of the recording in which the administrator speaks.
        sound: the file of the recording, or None.
        rater: whose score it is, where the source says it.
        cues: kind of each cue that was given, and its second, or None where it is not known.
        marks: seconds at which the administrator marked a new attempt.
        shown_s, onset_s: when the picture was drawn and when speech began.
        onset_method: who or what set the onset.
        note: on the response, or empty.
    """

    item: str
    start_s: float = 0.0
    end_s: float | None = None
    transcripts: tuple[Transcript, ...] = ()
    score: Score | None = None
    heard: str = ""
    code: str = ""
    examiner: tuple[tuple[float, float], ...] = ()
    sound: Path | None = None
    rater: str = ""
    cues: tuple[tuple[str, float | None], ...] = ()
    marks: tuple[float, ...] = ()
    shown_s: float | None = None
    onset_s: float | None = None
    onset_method: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """The responses of one speaker in one session.

    Attributes:
        speaker: as the source calls it, or empty.
        source: the file that the responses are listed in.
        responses: in the order given.
        date: when the session was held, ISO 8601; empty where the source does not say it.
        title: of the administration, or empty.
        stated: what the source says of the speaker: texts by column of the record, several where
            it says so several times.
    """

    speaker: str
    source: Path
    responses: tuple[Named, ...]
    date: str = ""
    title: str = ""
    stated: tuple[Mapping[str, str], ...] = ()

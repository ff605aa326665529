"""Stretches of recordings conditioned and given to a transcriber; originals are only read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, get_args

from tabwb.administer.consent import Guard, record_of
from tabwb.host.making import cut_of, opened
from tabwb.host.plugins import Plugins
from tabwb.phonology.inventory import PHONEMES, SILENT
from tabwb.plugin_api.components import Cancel
from tabwb.records.conditions import Conditions
from tabwb.records.errors import ComponentError, TabwbError, error_text
from tabwb.records.files import WorkFolder
from tabwb.records.speech import Clip, Transcript, TranscriptStatus, is_typed
from tabwb.speech.finding import joined, pieces
from tabwb.store import takes
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.speech.finding import Finding, FoundSpeech

TOGETHER = 32
"""Clips that a transcriber gets at once: enough to fill a batch, few enough to show progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt that waits for its transcript.

    Attributes:
        source: the recording, as it was made (it may still be growing).
        start_s, end_s: the attempt's stretch of it; None: to the end.
        accepted: pronunciations whose likelihood is asked for.
        name: of the conditioned copy, without suffix: what a transcriber by name uses.
    """

    trial: int
    attempt: int
    source: Path
    start_s: float = 0.0
    end_s: float | None = None
    accepted: tuple[tuple[str, ...], ...] = ()
    name: str = "response"


@dataclass(frozen=True, slots=True)
class _Ready:
    """A conditioned copy: the whole, what a transcriber is given of it, and what was done."""

    job: Job
    whole: Clip
    parts: tuple[Clip, ...]
    seconds: float
    metadata: Mapping[str, str]


Stretched: TypeAlias = tuple[Path, float, float | None, str]
"""A recording, from when to when, and how speech is found in it."""


@dataclass(slots=True)
class Conditioned:
    """Conditioned copies of stretches that several transcribers are given one after another."""

    copies: dict[Stretched, tuple[Path, Mapping[str, Any], FoundSpeech]] = field(
        default_factory=dict
    )
    made: int = 0

    def clear(self) -> None:
        """Remove the copies."""
        for path, *_ in self.copies.values():
            path.unlink(missing_ok=True)
        self.copies.clear()


class Transcribing:
    """One transcriber, opened once, given job after job. Used from one thread.

    Attributes:
        spec: of the transcriber, as stored.
        facts: what it says of itself (model, revision, labels).
    """

    def __init__(
        self,
        plugins: Plugins,
        spec: str,
        root: Path | None = None,
        cancel: Cancel | None = None,
        shared: Conditioned | None = None,
    ) -> None:
        self.spec = spec
        self._shared = shared
        descriptor = plugins.resolve("transcribers", spec)[0]
        self._cut = cut_of(descriptor, plugins.stands_for("transcribers", spec))
        self._cuts_itself = descriptor.cuts
        self._transcriber = plugins.open_transcriber(spec)
        try:
            self._work = WorkFolder(root or takes.user_work_root())
        except OSError as error:
            self._transcriber.close()
            raise TabwbError(
                f"copies of recordings cannot be made: {error.strerror}",
                where=str(error.filename or root),
                hint="allow writing there, or make room",
            ) from error
        self._folder = self._work.path
        try:
            self.facts: Mapping[str, str] = opened(self._transcriber, cancel or Cancel())
        except BaseException:
            self.close()
            raise

    @property
    def caution(self) -> str:
        """What is to be said of how speech is found; empty where there is nothing to say."""
        from tabwb.speech.finding import WITHOUT_MODEL, model_is_installed

        wanted = self._cut == "speech" and not is_typed(self.spec)
        if not wanted or model_is_installed():
            return ""
        return f'speech is found by {WITHOUT_MODEL}: pip install "tabwb[onnx]"'

    def run(self, jobs: Sequence[Job], cancel: Cancel) -> Iterator[tuple[Job, Transcript]]:
        """Yield each job with its transcript, in whatever order they come.

        A job whose sound cannot be read, or that the transcriber fails on, yields a transcript in
        status ``error``. Where ``cancel`` is set the rest yields nothing.
        """
        for first in range(0, len(jobs), TOGETHER):
            if cancel.is_set():
                return
            yield from self._batch(jobs[first : first + TOGETHER], cancel)

    def close(self) -> None:
        """Give the model back and remove the conditioned copies; may be called twice."""
        self._transcriber.close()
        self._work.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _given(self, clips: Sequence[Clip], cancel: Cancel) -> Iterator[tuple[object, object]]:
        try:
            yield from self._transcriber.transcribe_many(clips, cancel)
        except TabwbError:
            raise
        except Exception as error:
            raise ComponentError(
                f"transcriber '{self.spec}' failed: {error_text(error)}"
            ) from error

    def _batch(self, jobs: Sequence[Job], cancel: Cancel) -> Iterator[tuple[Job, Transcript]]:
        ready: list[_Ready] = []
        for number, job in enumerate(jobs):
            place = number
            if self._shared is not None:
                place = self._shared.made = self._shared.made + 1
            copy = self._folder / str(place) / f"{job.name}.wav"
            copy.parent.mkdir(exist_ok=True)
            try:
                ready.append(self._conditioned(job, copy))
            except TabwbError as error:
                yield job, Transcript(self.spec, "error", error=str(error))
        try:
            for sound, transcript in self._transcribed(ready, cancel):
                metadata = {**sound.metadata, **transcript.metadata}
                yield sound.job, replace(transcript, metadata=metadata)
        finally:
            for sound in ready if self._shared is None else ():
                Path(sound.whole.path).unlink(missing_ok=True)

    def _conditioned(self, job: Job, copy: Path) -> _Ready:
        from tabwb.speech.condition import condition_file

        finding: Finding = "energy" if self._cut == "energy" or is_typed(self.spec) else "speech"
        key = (job.source, job.start_s, job.end_s, finding)
        known = None if self._shared is None else self._shared.copies.get(key)
        if known is not None:
            copy, parameters, speech = known
        else:
            parameters, speech = condition_file(job.source, copy, job.start_s, job.end_s, finding)
            if self._shared is not None:
                self._shared.copies[key] = copy, parameters, speech
        whole = Clip(str(copy), accepted=job.accepted, speech=speech.speech, sounds=speech.sounds)
        cuts = self._cut != "no" and not self._cuts_itself
        parts = pieces(whole, speech.seconds) if cuts else (whole,)
        metadata = {f"conditioning_{name}": str(value) for name, value in parameters.items()}
        return _Ready(job, whole, parts, speech.seconds, metadata | {"cut": self._cut})

    def _transcribed(
        self, ready: Sequence[_Ready], cancel: Cancel
    ) -> Iterator[tuple[_Ready, Transcript]]:
        places = [(sound, part) for sound in ready for part in range(len(sound.parts))]
        heard: dict[int, dict[int, Transcript]] = {id(sound): {} for sound in ready}
        yield from ((sound, self._whole(sound, {})) for sound in ready if not sound.parts)
        clips = [sound.parts[part] for sound, part in places]
        for index, given in self._given(clips, cancel) if clips else ():
            if not isinstance(index, int) or not 0 <= index < len(places):
                raise ComponentError(
                    f"transcriber '{self.spec}' gave a transcript of clip {index!r}",
                    allowed=f"0 to {len(places) - 1}",
                )
            sound, part = places[index]
            transcripts = heard[id(sound)]
            transcripts[part] = checked(given, self.spec)
            if len(transcripts) == len(sound.parts):
                yield sound, self._whole(sound, transcripts)
        if not cancel.is_set():
            for sound in ready:
                if len(heard[id(sound)]) < len(sound.parts):
                    error = f"'{self.spec}' gave no transcript of this sound"
                    yield sound, Transcript(self.spec, "error", error=error)

    def _whole(self, sound: _Ready, heard: Mapping[int, Transcript]) -> Transcript:
        if sound.parts == (sound.whole,):
            return heard[0]
        transcripts = [heard[part] for part in range(len(sound.parts))]
        together = joined(transcripts, sound.parts, sound.whole, sound.seconds, self.spec)
        return checked(together, self.spec)


KNOWN = frozenset((*PHONEMES, *SILENT))
HIGHEST = 1.0 + 1e-6
"""Confidence; a probability that was added up in single precision may be a hair above 1."""


def checked(transcript: object, spec: str) -> Transcript:
    """Return a transcript under the spec it was asked by; in error where it breaks the contract.

    >>> from tabwb.records.speech import Segment
    >>> checked(Transcript("x", "ok", (Segment("QQ", 0.0, 0.1),)), "x").error
    "'QQ' is not a phoneme: a transcriber must map its own labels"
    >>> checked(None, "x").status, checked(Transcript("y", "ok"), "x").status
    ('error', 'empty')
    """
    if not isinstance(transcript, Transcript):
        return Transcript(spec, "error", error=f"it returned {transcript!r}, not a transcript")
    try:
        return _looked_at(transcript, spec)
    except Exception as error:  # noqa: BLE001 - a plugin's own values, of any type
        problem = f"its values are not valid: {error_text(error)}"
        return Transcript(spec, "error", error=problem)


def _looked_at(transcript: Transcript, spec: str) -> Transcript:
    if wrong := wrong_in(transcript):
        return Transcript(spec, "error", error=wrong, seconds=transcript.seconds)
    empty = transcript.status == "ok" and all(phoneme in SILENT for phoneme in transcript.phonemes)
    return replace(
        transcript,
        transcriber=spec,
        status="empty" if empty else transcript.status,
        dropped=dict(transcript.dropped),
        metadata={name: str(value) for name, value in transcript.metadata.items()},
    )


def wrong_in(transcript: Transcript) -> str:
    """Return what is wrong with a transcript; empty: nothing."""
    if transcript.status not in get_args(TranscriptStatus):
        return f"'{transcript.status}' is not a valid status"
    if not isfinite(transcript.seconds):
        return "its length is not a finite number"
    for segment in transcript.segments:
        name, confidence = segment.phoneme, segment.confidence
        if transcript.unit == "phonemes" and name not in KNOWN:
            return f"'{name}' is not a phoneme: a transcriber must map its own labels"
        if not (0.0 <= segment.start_s <= segment.end_s and isfinite(segment.end_s)):
            return f"'{name}' from {segment.start_s} s to {segment.end_s} s is not a valid stretch"
        if confidence is not None and not 0.0 <= confidence <= HIGHEST:
            return f"{confidence} is not a confidence from 0 to 1"
    if any(first.start_s > second.start_s for first, second in pairwise(transcript.segments)):
        return "its segments are not in order of time"
    score = transcript.accepted_likelihood
    return "" if score is None or isfinite(score) else "its likelihood is not a finite number"


def permit(session: Session, spec: str, *, log: bool = True) -> None:
    """Check the consent before a transcriber hears the speaker, and log the act."""
    given = session.administration
    acts = Guard(session.store, session.plugins, given.conditions).check_transcribing(spec)
    if log:
        session.store.people.log(*(replace(act, administration=given.id) for act in acts))


def notated(
    store: Store, plugins: Plugins, conditions: Conditions, transcriber: str | None
) -> str | None:
    """Return the spec of typed transcripts with the notation that the speaker's record names.

    IPA of a speaker with ``ipa=uk`` is read as British dictionaries write it; a spec may say
    otherwise.
    """
    if transcriber is None or not is_typed(transcriber):
        return transcriber
    spec = plugins.stands_for("transcribers", transcriber)
    if "ipa" in spec.options or record_of(store, conditions).get("ipa") != "uk":
        return transcriber
    return str(replace(spec, options={**spec.options, "ipa": "uk"}))

"""``transcribe``: sound files, and stored spoken responses, to phonemes."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools, numbers_of
from tabwb.operations.trial import ADMINISTRATION, session_of
from tabwb.records.errors import HeldElsewhere, Interrupted, NoConsent, TabwbError, UsageError
from tabwb.records.files import make_private_folder
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.administer.transcription import Job, Transcribing
    from tabwb.host.plugins import Plugins
    from tabwb.records.speech import Segment, Transcript

Forms = tuple[tuple[str, ...], ...]
STORED_S = 0.5
"""Transcripts are stored together, after so many seconds at the latest."""


@dataclass(frozen=True, kw_only=True)
class TranscribeFiles(Operation):
    """Transcribe sound files, and those in folders, to phonemes; or stored responses (--where).

    WAV, FLAC, OGG, MP3 or AIFF of any rate. Each file is copied and conditioned as in the PSST
    challenge. Transcripts are a draft until a trained listener has heard the recording. Of stored
    responses each transcriber hears those that it has not heard; the transcripts are stored.

    Exit status: 0 done, 1 a file could not be transcribed (the others were), 3 stopped by ctrl+c.
    """

    NAME, TITLE, DOING, TOLD = "transcribe", "Transcribe", "Transcription", "file"
    SAFE: ClassVar[str] = "finished transcripts are kept"
    files: Annotated[
        tuple[Path, ...],
        Arg("Sound files, and folders of them.", "Files", metavar="[FILE]...", positional=True),
    ] = ()
    where: Annotated[
        tuple[str, ...],
        Arg("Instead of files: the recorded responses of administrations with this value. Also "
            "KEY=A,B, KEY!=VALUE, KEY<NUMBER, KEY>NUMBER.", "Responses",
            metavar="KEY=VALUE", pairs=True, blank="files, not stored responses"),
    ] = ()  # fmt: skip
    transcriber: Annotated[
        tuple[str, ...],
        Arg("The transcriber, for example wav2vec2:PATH-OR-ID (tabwb plugins list); with --where "
            "several.", "Transcriber", metavar="SPEC", kind="transcribers"),
    ] = ("bundled-words",)  # fmt: skip
    keep_conditioned: Annotated[
        Path | None,
        Arg("Keep the conditioned copies: high-passed, levelled, 16 kHz mono.", "Copies",
            metavar="FOLDER", blank="not kept"),
    ] = None  # fmt: skip
    accept: Annotated[
        tuple[str, ...],
        Arg("Also give the log likelihood ratio of the best of these to free decoding: 'D AO G' or "
            "dɔɡ. For transcribers with likelihoods.", metavar="PRONUNCIATION"),
    ] = ()  # fmt: skip
    speaker: Annotated[
        str | None,
        Arg("The speaker, whose consents are checked; required if a transcriber needs a network.",
            "Participant", metavar="ID", blank="not known"),
    ] = None  # fmt: skip
    tsv: Annotated[bool, Arg("Print utterance_id and asr_transcript, for 'phonemes'.")] = False

    @property
    def about(self) -> str:
        """The files, or the values of the administrations."""
        return ", ".join([*(path.name for path in self.files), *self.where])

    @property
    def writes(self) -> bool:
        """Transcripts of stored responses are, and that a speaker's recording was heard."""
        return self.speaker is not None or bool(self.where)

    def check(self, plugins: Plugins) -> None:
        """Check what can be known before a file is read."""
        if bool(self.files) == bool(self.where):
            raise UsageError("either sound files, or --where KEY=VALUE for stored responses")
        if self.where:
            only_files = ("keep_conditioned", "accept", "speaker", "tsv")
            for name in (name for name in only_files if getattr(self, name)):
                raise UsageError("this is for files, not for stored responses", where=name)
            for spec in self.transcriber:
                plugins.resolve("transcribers", spec)
            return
        if len(self.transcriber) > 1:
            raise UsageError("files are given to one transcriber", where="transcriber")
        if self.tsv and self.accept:
            raise UsageError("--tsv has no column for the result of --accept", hint="use --json")
        _accepted(self.accept)
        spec = str(plugins.resolve("transcribers", self.transcriber[0])[1])
        if self.speaker is None and plugins.reaches_out("transcribers", spec):
            raise UsageError(
                f"'{self.transcriber[0]}' sends sound over a network, and the speaker is not known",
                hint="give --speaker ID, to check consent to 'transcribe' and 'remote'",
            )
        if self.tsv:
            count = Counter(path.stem for path in _sounds(self.files)[0])
            if twice := [str(one) for one in _sounds(self.files)[0] if count[one.stem] > 1]:
                raise UsageError(
                    f"files of one name would have one utterance_id: {', '.join(twice)}",
                    hint="rename them, give one folder at a time, or use --json",
                )

    def _filters(self) -> str:
        return "".join(f" --where {shlex.quote(one)}" for one in self.where)

    def run(self, tools: Tools) -> Progress:
        """Transcribe one file, or administration, after another."""
        from tabwb.records.speech import Transcript

        if self.where:
            numbers = numbers_of(tools, (), self.where, everything=False)
            yield from _transcribed(tools, numbers, self.transcriber)
            if tools.document["transcribed"]:
                tools.say(f"next: tabwb psst table 2{self._filters()}")
            return
        descriptor, resolved = tools.plugins.resolve("transcribers", self.transcriber[0])
        spec, accepted = str(resolved), _accepted(self.accept)
        self._permit(tools, spec)
        if descriptor.remarks:
            tools.say(f"{descriptor.id}: {descriptor.remarks}")
        if self.tsv:
            tools.show("utterance_id\tasr_transcript")
        rows = tools.document["files"] = []

        def add(path: Path, transcript: Transcript) -> None:
            rows.append(_file(path, transcript, accepted))
            self._tell(tools, path, transcript, accepted)

        sounds, failed = _sounds(self.files)
        for path, words in failed:
            add(path, Transcript(spec, "error", error=words))
        for number, transcript in _in_order(heard(tools, spec, sounds, accepted)):
            add(sounds[number], transcript)
            if self.keep_conditioned is not None and transcript.status != "error":
                _keep(sounds[number], self.keep_conditioned)
            done = len(rows) - len(failed)
            yield Told("", done, len(sounds), done)
        if left := len(sounds) + len(failed) - len(rows):
            words = f"stopped: {plural(left, 'file')} left"
            raise Interrupted(words, hint="run the same command with these files")

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield which files, or administrations, could not be transcribed."""
        if refused := document.get("refused", ()):
            yield f"! left out: {plural(len(refused), 'administration')}"
        if lost := document.get("lost"):
            yield f"! left out: {plural(lost, 'recording')}"
        for row in document.get("files", ()):
            if row["status"] == "error":
                message = (row["error"].splitlines() or ["no reason was given"])[0]
                yield f"! {message if row['file'] in message else row['file'] + ': ' + message}"

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was heard in each file."""
        for row in document.get("files", ()):
            if row["status"] != "error":
                words = " ".join(row["phonemes"]) or "nothing was heard"
                yield f"{Path(row['file']).name}  {words}"

    def _permit(self, tools: Tools, spec: str) -> None:
        """Ask for the consents of the speaker, where one is named."""
        if self.speaker is not None:
            from tabwb.administer.consent import Guard
            from tabwb.records.conditions import Conditions

            conditions = Conditions(self.speaker, "speaker", judges=())
            guard = Guard(tools.store, tools.plugins, conditions)
            tools.store.people.log(*guard.check_transcribing(spec))

    def _tell(self, tools: Tools, path: Path, transcript: Transcript, accepted: Forms) -> None:
        from tabwb.phonology.dictionary import GUESSED, pronounced
        from tabwb.phonology.inventory import to_ipa

        if transcript.status == "error":
            return
        sounds = pronounced(transcript)
        if guessed := sounds.metadata.get(GUESSED):
            tools.warn(f"{path}: pronounced by their letters: {', '.join(json.loads(guessed))}")
        if self.tsv:
            tools.show(f"{path.stem}\t{' '.join(sounds.phonemes)}")
            return
        heard = " ".join(transcript.phonemes)
        if transcript.status != "ok":
            heard = heard or "nothing was heard"
        elif ipa := to_ipa(sounds.phonemes):
            heard += f"  /{ipa}/"
        if accepted:
            score = transcript.accepted_likelihood
            none = "none: the transcriber has no likelihoods"
            heard += "  accepted against free decoding: " + (
                none if score is None else f"{score:+.2f}"
            )
        tools.show(f"{path}  {heard}")


def _accepted(forms: Sequence[str]) -> Forms:
    from tabwb.phonology.inventory import parse_pronunciation

    read: list[tuple[str, ...]] = []
    for form in forms:
        try:
            read.append(parse_pronunciation(form, beyond="allophones"))
        except TabwbError as error:
            raise UsageError(error.message, where="accept", allowed=error.allowed) from error
    return tuple(read)


def _sounds(files: Sequence[Path]) -> tuple[list[Path], list[tuple[Path, str]]]:
    from tabwb.speech.files import sound_files

    sounds: dict[Path, None] = {}
    failed: list[tuple[Path, str]] = []
    for path in files:
        try:
            sounds |= dict.fromkeys(sound_files([path]))
        except TabwbError as error:
            failed.append((path, str(error)))
    return list(sounds), failed


def heard(
    tools: Tools, spec: str, sounds: Sequence[Path], accepted: Forms = ()
) -> Iterator[tuple[int, Transcript]]:
    """Yield the place of each sound file and its transcript, as each is made."""
    from tabwb.administer.transcription import Job, Transcribing

    if not sounds:
        return
    jobs = [
        Job(number, 1, path, accepted=accepted, name=path.stem)
        for number, path in enumerate(sounds)
    ]
    try:
        transcribing = Transcribing(tools.plugins, spec, cancel=tools.cancel)
    except Interrupted:  # the caller says what is left
        return
    with transcribing:
        if transcribing.caution:
            tools.warn(transcribing.caution)
        for job, transcript in transcribing.run(jobs, tools.cancel):
            yield job.trial, transcript


def _in_order(heard: Iterator[tuple[int, Transcript]]) -> Iterator[tuple[int, Transcript]]:
    """Yield in the order of the numbers: each as soon as all before it are there."""
    waiting: dict[int, Transcript] = {}
    following = 0
    for number, transcript in heard:
        waiting[number] = transcript
        while following in waiting:
            yield following, waiting.pop(following)
            following += 1
    yield from sorted(waiting.items())  # cut short by ctrl+c


def _file(path: Path, transcript: Transcript, accepted: Forms) -> dict[str, Any]:
    from tabwb.phonology.dictionary import pronounced

    sounds = pronounced(transcript)
    document: dict[str, Any] = {
        "file": str(path),
        "phonemes": list(sounds.phonemes),
        "segments": [_segment(segment, "phoneme") for segment in sounds.segments],
    }
    if transcript.unit == "words":
        words = [_segment(segment, "word") for segment in transcript.segments]
        document |= {"unit": "words", "words": words}
    document |= {
        "transcriber": transcript.transcriber,
        "seconds": transcript.seconds,
        "status": transcript.status,
    }
    if accepted:
        document["accepted_likelihood"] = transcript.accepted_likelihood
    if transcript.status == "error":
        document["error"] = transcript.error
    return document


def _segment(segment: Segment, what: str) -> dict[str, Any]:
    row = asdict(segment)
    return {what: row.pop("phoneme"), **row}


def _keep(path: Path, folder: Path) -> None:
    """Keep the conditioned copy of a file; of two files with one name the second is numbered."""
    from tabwb.speech.condition import condition_file

    make_private_folder(folder)
    copy = folder / f"{path.stem}.wav"
    number = 1
    while copy.exists():
        number += 1
        copy = folder / f"{path.stem}-{number}.wav"
    condition_file(path, copy)


@dataclass(frozen=True, kw_only=True)
class TranscribeResponses(Operation):
    """Transcribe the recorded responses of ADMINISTRATION that have no transcript yet.

    Earlier transcripts stay in the store. The participant must have consented to 'transcribe'.
    """

    NAME, TITLE, DOING, TOLD = "trial transcribe", "Transcribe", "Transcribing", "response"
    SAFE: ClassVar[str] = "finished transcripts are stored"
    NOTE: ClassVar[str] = "Transcription works in the background. The title bar shows its progress."
    LOCKS: ClassVar[bool] = False
    administration: Annotated[int | str, ADMINISTRATION]
    transcriber: Annotated[
        str | None,
        Arg("The transcriber, for example wav2vec2:PATH-OR-ID (tabwb plugins list); default: that "
            "of the administration.", "Transcriber", metavar="SPEC", kind="transcribers",
            more="**down** lists those that are installed. The participant must have consented to "
            "*transcribe*."),
    ] = None  # fmt: skip
    again: Annotated[
        bool,
        Arg("Also responses that another transcriber has transcribed.", "Responses",
            words=("without a transcript", "all, with this transcriber")),
    ] = False  # fmt: skip

    @property
    def about(self) -> str:
        """The administration and the transcriber."""
        return f"#{self.administration} with {self.transcriber or 'its transcriber'}"

    def check(self, plugins: Plugins) -> None:
        """Check the transcriber."""
        if self.transcriber is not None:
            plugins.resolve("transcribers", self.transcriber)

    def run(self, tools: Tools) -> Progress:
        """Transcribe what waits; transcripts are stored together, twice a second."""
        number = tools.store.administration(self.administration).id
        asked = () if self.transcriber is None else (self.transcriber,)
        yield from _transcribed(tools, [number], asked, by_any=not self.again, single=True)


Waiting = Mapping[str, tuple["Job", ...]]
"""Transcriber to the responses that wait for it."""


def _transcribed(
    tools: Tools,
    numbers: Sequence[int],
    asked: Sequence[str],
    *,
    by_any: bool = False,
    single: bool = False,
) -> Progress:
    """Have what waits transcribed; transcripts are stored together, twice a second.

    Of several administrations one that is open elsewhere, or without the consent, is left out and
    named; both are asked again when its turn comes. A response is conditioned once for all
    transcribers.
    """
    from tabwb.administer.transcription import Conditioned, Transcribing
    from tabwb.store.takes import work_root

    document, shared = tools.document, Conditioned()
    found: list[tuple[int, Waiting]] = []
    refused: list[str] = []

    def refuse(error: TabwbError) -> None:
        if single:
            raise error
        refused.append(error.message)
        tools.warn(error.message)

    lost = set[str]()
    jobs_of = partial(_jobs, asked=asked, by_any=by_any, lost=lost)
    if not single:
        people = {one.id for one in tools.store.administrations() if one.conditions.guarded}
        numbers = [number for number in numbers if number in people]
    for number in numbers:
        if not single:
            if tools.cancel.is_set():
                raise Interrupted("stopped before anything was transcribed")
            yield Told(f"looking for responses in {plural(len(numbers), 'administration')}")
        try:
            with _within(tools, number) as within:
                found.append((number, within(jobs_of)))
        except (NoConsent, HeldElsewhere) as error:
            refuse(error)
    planned = sum(_count(waiting) for _, waiting in found)
    specs = list(dict.fromkeys(spec for _, waiting in found for spec in waiting))
    document |= (
        {"administration": numbers[0], "transcriber": specs[0]}
        if single
        else {"n_administrations": len(found), "transcribers": specs, "refused": refused}
    )
    document |= {"planned": planned, "transcribed": 0, "errors": 0}
    if not planned:
        _tell_lost(tools, lost)
        which = f"of administration {numbers[0]} " if single else ""
        tools.say(f"no recorded response {which}waits for a transcript")
        return
    yield Told("opening the transcriber", 0, planned, what="response")
    with ExitStack() as held:
        held.callback(shared.clear)
        opened: dict[str, Transcribing] = {}
        for number, before in found:
            if tools.cancel.is_set():
                break
            planned -= _count(before)
            try:
                with _within(tools, number) as within:
                    waiting = within(partial(jobs_of, begins=True))
                    planned += _count(waiting)
                    for spec, jobs in waiting.items():
                        if jobs and spec not in opened:
                            root = work_root(tools.store)
                            made = Transcribing(tools.plugins, spec, root, tools.cancel, shared)
                            opened[spec] = held.enter_context(made)
                            if made.caution:
                                tools.warn(made.caution)
                        for _ in _heard_in(tools, within, opened[spec], jobs) if jobs else ():
                            done = document["transcribed"]
                            yield Told("", done, planned, done, what="response")
            except (NoConsent, HeldElsewhere) as error:
                refuse(error)
            shared.clear()
    document["planned"] = planned
    _tell_lost(tools, lost)
    yield from _told(tools, planned)


def _tell_lost(tools: Tools, lost: set[str]) -> None:
    """Warn of the recordings that cannot be read."""
    tools.document["lost"] = len(lost)
    if lost:
        words = f"{plural(len(lost), 'recording')} cannot be heard, first: {min(lost)}"
        tools.warn(words.replace("\n", "; "))


def _count(waiting: Waiting) -> int:
    return sum(map(len, waiting.values()))


def _heard_in(
    tools: Tools,
    within: Callable[[Callable[[Session], Any]], Any],
    transcribing: Transcribing,
    jobs: Sequence[Job],
) -> Iterator[None]:
    """Transcribe responses of one administration and store the transcripts; yield after each."""
    document = tools.document
    batch: list[tuple[Job, Transcript]] = []
    stored_at = time.monotonic()
    try:
        for job, transcript in transcribing.run(jobs, tools.cancel):
            document["transcribed"] += 1
            document["errors"] += transcript.status == "error"
            batch.append((job, transcript))
            if time.monotonic() - stored_at > STORED_S:
                stored_at = time.monotonic()
                within(partial(_stored, heard=tuple(batch)))
                batch.clear()
            yield
    finally:
        if batch:
            within(partial(_stored, heard=tuple(batch)))


def _told(tools: Tools, planned: int) -> Progress:
    done, failed = tools.document["transcribed"], tools.document["errors"]
    words = f"transcribed {plural(done, 'response')}"
    words += f", of these {failed} without a transcript (error)" if failed else ""
    if done < planned:
        raise Interrupted(words, hint=f"{tools.same} continues")
    if done and failed == done:
        raise TabwbError(words)
    tools.say(words)
    return iter(())


def _jobs(
    session: Session, asked: Sequence[str], *, by_any: bool, lost: set[str], begins: bool = False
) -> Waiting:
    """Return the responses that wait for each transcriber; ask for the consent.

    ``lost`` gets why others cannot be heard. ``begins``: they are heard now, which is logged.
    """
    from tabwb.administer.transcription import notated, permit

    given = session.administration.conditions
    wanted = [*asked] or [given.transcriber or ""]
    if not all(wanted):
        raise UsageError("a transcriber is needed", where="transcriber", hint="tabwb plugins list")
    waiting: dict[str, tuple[Job, ...]] = {}
    for one in wanted:
        spec = str(session.plugins.resolve("transcribers", one)[1])
        spec = notated(session.store, session.plugins, given, spec) or spec
        waiting[spec] = session.spoken.waiting(spec, by_any=by_any, lost=lost)
        if waiting[spec]:
            permit(session, spec, log=begins)
    return waiting


def _stored(session: Session, heard: Sequence[tuple[Job, Transcript]]) -> list[Any]:
    """Store transcripts; return the events."""
    return [
        event
        for job, transcript in heard
        for event in session.spoken.transcribed(job.trial, job.attempt, transcript)
    ]


@contextmanager
def _within(tools: Tools, number: int) -> Iterator[Callable[[Callable[[Session], Any]], Any]]:
    """Yield what calls a function with the session of an administration."""
    if tools.within is not None:
        yield partial(tools.within, number)
        return
    with session_of(tools, number) as session:
        yield lambda work: work(session)

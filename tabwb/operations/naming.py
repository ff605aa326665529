"""``name``: a battery is answered aloud, from recordings in a folder or through the microphone.

With the microphone a person sits before a terminal or before the workbench's naming page; both stay
special, because they record, time and cue while the speaker speaks. What is given, with which
checks, transcriber and end, is said here and in :mod:`tabwb.tasks.spoken_naming` for all of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from tabwb.operations.importing import NOTHING, SHOWN, ImportFile, Source, stored
from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools, asked_conditions
from tabwb.operations.run import BATTERY, NEEDED, TAGS, TITLE, data_of, results_document
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Marks, changes
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import Importer, SpokenFile
    from tabwb.records.conditions import Conditions
    from tabwb.records.declared_conditions import Audience
    from tabwb.records.trials import Administration
    from tabwb.tasks.spoken_naming.imports import TakeFile

MICROPHONE = "mic"
MOST_PROBLEMS = 20
"""Problems of a corpus that are shown."""


@dataclass(frozen=True, kw_only=True)
class NameAloud(Operation):
    """Give BATTERY (an id or a path) to the speaker ID, who names pictures or describes aloud.

    Recordings are stored unchanged; transcripts and scores are a draft until a trained listener has
    heard the recordings. All files of a folder are imported, whatever the battery's order; practice
    items and items below the basal may have no file. All other items (choice, free ...) are
    typed: here with --input mic, otherwise with 'tabwb resume'.

    Exit status: 0 done, 3 stopped early, items without a file or responses without a transcript
    (resumable), 130 after a second ctrl+c.
    """

    NAME, TITLE, DOING, TOLD, NEEDED = "name", "Name", "Naming", "response", NEEDED
    AT_ONCE: ClassVar[bool] = True
    battery: Annotated[str, BATTERY]
    speaker: Annotated[str, Arg("Participant code, never a name.", metavar="ID")]
    source: Annotated[
        str | None,
        Arg("Sound files named ITEM[_TAKE].wav (or flac, ogg, mp3), or listed in manifest.tsv "
            "with columns file, item, take; or the microphone.", flag="--input",
            metavar="FOLDER|mic", usual=MICROPHONE),
    ] = None  # fmt: skip
    asked: Annotated[
        Mapping[str, Any],
        Arg("The conditions under which it is given.",
            conditions=("name", "transcriber", "rater", "seed")),
    ] = field(default_factory=dict)  # fmt: skip
    reference: Annotated[
        str | None, Arg("Resume this administration.", flag="--resume", metavar="ID")
    ] = None
    again: Annotated[bool, Arg("Store recordings that the store has once more.")] = False
    discontinue: Annotated[
        str,
        Arg("Items without a recording were not given: end here, for this reason.",
            metavar="REASON"),
    ] = ""  # fmt: skip
    date: Annotated[
        str | None,
        Arg("When the recordings of FOLDER were made. Default: the column date of manifest.tsv, "
            "else the date inside the sound files, else not known.", metavar="YYYY-MM-DD"),
    ] = None  # fmt: skip
    device: Annotated[
        str | None, Arg("The microphone (tabwb microphone list).", metavar="NAME")
    ] = None
    title: Annotated[str, TITLE] = ""
    tags: Annotated[tuple[str, ...], TAGS] = ()

    documented = results_document

    @property
    def about(self) -> str:
        """Who is given which battery."""
        return f"{self.battery} to {self.speaker}"

    @property
    def creates(self) -> bool:
        """An administration is made, with a store where there is none."""
        return self.reference is None

    def check(self, plugins: Plugins) -> None:
        """Refuse a title of an administration that was begun."""
        if self._marked() and self.reference is not None:
            raise UsageError(
                "--title and --tag are for a new administration",
                hint=f"of this one: tabwb tag {self.reference} --title TEXT --add TAG",
            )

    def run(self, tools: Tools) -> Progress:
        """Take the recordings, transcribe them, and end or pause the administration."""
        from tabwb.administer.session import setup
        from tabwb.administer.transcription import notated
        from tabwb.tasks.spoken_naming.giving import resume_naming
        from tabwb.tasks.spoken_naming.task import spoken_in

        store, plugins = tools.store if self.reference else None, tools.plugins
        if store is None:
            yield from self._begun(tools)
            return
        with resume_naming(store, plugins, self.reference or "") as session:
            battery = session.battery  # as it was when it was begun, whatever the file says now
            same = self.battery == battery.id
            asked = battery if same else setup.find_battery(plugins, self.battery)
            self._check_same(session, asked.id)
            given = session.administration.conditions
            spec = given.transcriber
            if "transcriber" in self.asked:
                spec = setup.resolve(plugins, battery, self._conditions(battery)).transcriber
                spec = notated(store, plugins, given, spec)
            spoken_in(session).listener = self._rater
            yield from self._given(tools, session, self._files(tools, battery), spec)

    def _begun(self, tools: Tools) -> Progress:
        """Begin an administration, or continue the one that a stopped command began."""
        from tabwb.administer.consent import check
        from tabwb.administer.session import setup
        from tabwb.speech.process import pick
        from tabwb.tasks.spoken_naming.giving import create_naming, resume_naming
        from tabwb.tasks.spoken_naming.task import spoken_in

        plugins = tools.plugins
        battery = setup.find_battery(plugins, self.battery)
        files = self._files(tools, battery)
        conditions = replace(
            self._conditions(battery), session_date=self._session_date(tools, files)
        )
        conditions = setup.resolve(plugins, battery, conditions)
        store = tools.store
        with store.lock_import() if files else nullcontext():
            begun = self._begun_earlier(tools, battery, conditions, files)
            if self._aloud_now:  # checked before an administration begins
                check(store, self.speaker, "record")
                pick(self.device)
            if begun is None:
                opened = create_naming(store, plugins, battery, conditions)
            else:
                opened = resume_naming(store, plugins, begun.id)
        with opened as session:
            if begun is not None:
                self._check_same(session, battery.id)
                spoken_in(session).listener = self._rater
            session.commit(self._marked())
            spec = session.administration.conditions.transcriber
            yield from self._given(tools, session, files, spec)

    def _given(
        self, tools: Tools, session: Session, files: Sequence[TakeFile], spec: str | None
    ) -> Progress:
        from tabwb.administer.consent import Guard
        from tabwb.administer.session.plan import of_language

        plugins, given = session.plugins, session.administration
        guard = Guard(session.store, plugins, given.conditions)
        if spec is not None:
            guard.check_transcribing(spec)
            if remarks := plugins.resolve("transcribers", spec)[0].remarks:
                tools.say(f"{spec}: {remarks}")
        session.resume()
        for text in of_language(session.battery):
            tools.warn(text)
        for notice in guard.notices():
            tools.say(notice)
        tools.say(f"administration {given.id}")
        _keep_interrupted(tools, session)
        try:
            yield from self._taken(tools, session, files, spec)
            tools.result = data_of(session)
            self._check_left(tools, session, spec)
        except Interrupted:
            raise
        except TabwbError:
            tools.say(f"the recording is kept; continue with: {self._resumed(given)}")
            raise

    def _taken(
        self, tools: Tools, session: Session, files: Sequence[TakeFile], spec: str | None
    ) -> Progress:
        """Take the responses and have them transcribed; end or pause the administration."""
        from tabwb.administer.session.session import pausing
        from tabwb.tasks.spoken_naming.giving import give_files, other_sounds, settle

        cancel = tools.cancel
        only_ends = self.reference and self.discontinue and self.source is None
        yield Told("", 0, len(session.trials))
        with pausing(session):
            if not self._aloud_now:
                if others := other_sounds(session, files):
                    tools.say(
                        f"kept as they were recorded first, not as in {', '.join(others)}; "
                        "save a further take as a new file: ITEM_2.wav"
                    )
                for event in give_files(session, files):
                    yield Told(event=event)
                    if cancel.is_set():
                        break
            elif session.status is AdministrationStatus.RUNNING and not only_ends:
                if tools.person is None:
                    raise UsageError("here recordings are taken from a folder", where="source")
                tools.person(session, tools)
            if spec is not None:
                yield from self._transcribed(tools, session, spec)
        if session.status is AdministrationStatus.RUNNING:
            words = settle(session, discontinue=self.discontinue, stopped=cancel.is_set())
            if words:
                tools.say(words)

    def _transcribed(self, tools: Tools, session: Session, spec: str) -> Progress:
        """Transcribe every response that this transcriber, or any, has not transcribed yet."""
        from tabwb.administer.transcription import Transcribing
        from tabwb.records.events import Observed
        from tabwb.records.naming import Transcribed
        from tabwb.store.takes import work_root
        from tabwb.tasks.spoken_naming.giving import transcribe
        from tabwb.tasks.spoken_naming.task import spoken_in

        cancel = tools.cancel
        jobs = spoken_in(session).waiting(spec, by_any=self._by_any, typed_again=True)
        if not jobs or cancel.is_set():
            return
        try:
            transcribing = Transcribing(session.plugins, spec, work_root(session.store), cancel)
        except Interrupted:  # the caller says what is left
            return
        done = 0
        with transcribing:
            if transcribing.caution:
                tools.say(transcribing.caution)
            for event in transcribe(session, transcribing, jobs, cancel):
                told = Told("", done, len(jobs), event=event)
                if isinstance(event, Observed) and isinstance(event.observation, Transcribed):
                    done += 1
                    told = told._replace(done=done, timed=done)
                    transcript = event.observation.transcript
                    if transcript.status == "error" and event.trial is not None:
                        item = session.trials[event.trial - 1].plan.item
                        why = transcript.error.splitlines() or ["no reason was given"]
                        told = told._replace(problem=f"! {item}: {why[0]}")
                yield told

    def _check_left(self, tools: Tools, session: Session, spec: str | None) -> None:
        """Say what is left: items without a response, responses without a transcript."""
        from tabwb.tasks.spoken_naming.task import spoken_in

        number = session.administration.id
        again = f"continue with: {self._resumed(session.administration)}"
        if unwritten := spoken_in(session).unwritten:
            tools.say(
                f"no text yet: {', '.join(unwritten)}; write it with: "
                f"tabwb trial heard {number} ITEM TEXT"
            )
        aloud, typed = session.waiting(aloud=True), session.waiting(aloud=False)
        if aloud or tools.cancel.is_set():
            names = ", ".join(trial.plan.item for trial in aloud)
            raise Interrupted(f"no response yet: {names}" if aloud else "stopped", hint=again)
        if typed:
            raise Interrupted(
                f"no answer yet: {', '.join(trial.plan.item for trial in typed)}",
                hint=f"they are typed: tabwb resume {number}",
            )
        if spec is not None and (jobs := spoken_in(session).waiting(spec, by_any=self._by_any)):
            names = ", ".join(job.name for job in jobs)
            raise Interrupted(f"not transcribed: {names}", hint=f"correct it, then {again}")

    @property
    def _aloud_now(self) -> bool:
        return self.source in (None, MICROPHONE)

    @property
    def _by_any(self) -> bool:
        return "transcriber" not in self.asked

    @property
    def _rater(self) -> str:
        return self.asked.get("rater") or ""

    def _marked(self) -> Any:
        return changes(Marks(), title=self.title, add=self.tags)

    def _conditions(self, battery: Battery) -> Conditions:
        audience: Audience = "described" if battery.judged_aloud else "spoken"
        return asked_conditions(self.speaker, audience, self.asked)

    def _files(self, tools: Tools, battery: Battery) -> tuple[TakeFile, ...]:
        if self._aloud_now:
            return ()
        from tabwb.tasks.spoken_naming.giving import read_folder

        files, left_out = read_folder(Path(self.source or ""), battery)
        if left_out:
            tools.say(left_out)
        return files

    def _session_date(self, tools: Tools, files: Sequence[TakeFile]) -> str | None:
        from tabwb.records.speakers import read_day
        from tabwb.tasks.spoken_naming.imports import date_of

        if self._aloud_now:
            if self.date is not None:
                raise UsageError(
                    "a recording made now has today's date", where="date", hint="leave it out"
                )
            return None
        day = date_of(files) if self.date is None else read_day(self.date, "date")
        if not day:
            tools.say("the date of the session is not known; give it with --date YYYY-MM-DD")
        return day

    def _begun_earlier(
        self, tools: Tools, battery: Battery, conditions: Conditions, files: Sequence[TakeFile]
    ) -> Administration | None:
        """Return the administration that a stopped command began with these files, or None."""
        from tabwb.administer.transcription import notated
        from tabwb.tasks.spoken_naming.imports import begun_earlier

        if not files or self.again:
            return None
        spec = notated(tools.store, tools.plugins, conditions, conditions.transcriber)
        return begun_earlier(
            tools.store, battery, replace(conditions, transcriber=spec),
            [file.path for file in files], tools.say,
            lambda given: f"to transcribe what it has: {self._resumed(given)}",
        )  # fmt: skip

    def _check_same(self, session: Session, battery: str) -> None:
        """Refuse to continue an administration that began with something else."""
        given = session.administration
        began = given.conditions
        wanted = (
            ("speaker", began.examinee, self.speaker),
            ("battery", session.battery.id, battery),
            ("date of the session", began.session_date, self.date or began.session_date),
            ("seed", began.seed, self.asked.get("seed", began.seed)),
            ("order", began.item_order, self.asked.get("item_order", began.item_order)),
        )
        differs = ", ".join(f"{name} {has}" for name, has, asked in wanted if has != asked)
        if differs:
            raise UsageError(
                f"administration {given.id} began with another: {differs}",
                hint=f"continue with: {self._resumed(given)}",
            )

    def _resumed(self, given: Administration) -> str:
        """Return the command that continues."""
        transcriber = self.asked.get("transcriber")
        return shlex.join([
            *("tabwb", "name", self.battery, "--speaker", given.conditions.examinee),
            *("--resume", str(given.id), "--input", self.source or MICROPHONE),
            *(("--transcriber", transcriber) if transcriber else ()),
        ])  # fmt: skip


def _keep_interrupted(tools: Tools, session: Session) -> None:
    from tabwb.tasks.spoken_naming.live import adopt_recording, left_over

    for recording, path in left_over(session):
        try:
            adopt_recording(session, recording, path)
        except TabwbError as error:
            tools.say(f"an interrupted recording could not be kept: {error}")
        else:
            tools.say(f"an interrupted recording is kept: {path.name}")


# -------------------------------------------------------------------- import


def source_of_naming(wanted: ImportFile) -> Source:
    """Return what reads spoken naming that was given elsewhere."""
    from tabwb.tasks.spoken_naming.giving import holds_recordings

    if wanted.battery is None:
        raise UsageError("spoken naming needs a battery", hint="name it with --battery ID")
    return (Recordings if holds_recordings(wanted.path) else Sessions)(wanted, wanted.path)


class Sessions(Source):
    """Pictures that were named elsewhere."""

    KIND = "spoken naming"

    def read(self, plugins: Plugins) -> None:
        """Read the sessions."""
        from tabwb.tasks.spoken_naming.giving import NamingImport, prepare_sessions

        wanted = self.wanted
        assert wanted.battery is not None
        request = NamingImport(
            self.path, wanted.battery, speaker=wanted.speaker, origin=wanted.origin,
            session=wanted.session, rater=wanted.rater or "", tiers=_tiers(wanted.tier),
            research_protocol=wanted.research_protocol, date=wanted.date or "",
        )  # fmt: skip
        self._prepared = prepare_sessions(plugins, request)

    def document(self) -> dict[str, Any]:
        """Return the sessions."""
        return {
            **self._told_records(),
            "imports": [
                {
                    "source": str(session.source), "examinee": given.examinee, "kind": given.kind,
                    "origin": given.made_by, "answers": len(session.responses),
                }
                for session, given in self._prepared.sessions
            ],
        }  # fmt: skip

    def _told_records(self) -> dict[str, Any]:
        stated = any(session.stated for session, _ in self._prepared.sessions)
        return {"records": self._records.to_json()} if stated else {}

    def lines(self) -> Iterator[str]:
        """Yield the first sessions."""
        for session, given in self._prepared.sessions[:SHOWN]:
            held = plural(len(session.responses), "response")
            yield f"{given.examinee} ({given.made_by}): {held}"
        if (more := len(self._prepared.sessions) - SHOWN) > 0:
            yield f"and {plural(more, 'session')} more"

    def tell(self, tools: Tools) -> None:
        """Tell what the study has to know."""
        for line in self._prepared.notes:
            tools.warn(line)
        self._records = self._plan_records(
            tools,
            ((given.person, texts) for session, given in self._prepared.sessions
             for texts in session.stated),
        )  # fmt: skip

    def store(self, tools: Tools) -> Progress:
        """Fill the records of participants, and store one session after another.

        A stop leaves whole sessions.
        """
        from tabwb.administer.participants import store_records
        from tabwb.tasks.spoken_naming.giving import import_sessions

        store_records(tools.store, self._records, self.path.name)
        tools.document |= self._told_records()
        of, numbers = len(self._prepared.sessions), list[int]()

        def step() -> None:
            check_stop(tools, numbers)

        try:
            for number, held in import_sessions(
                tools.store, tools.plugins, self._prepared, tools.warn, self._marks(), step,
                again=self.wanted.again,
            ):  # fmt: skip
                numbers.append(number)
                tools.say(f"administration {number}: {held}")
                yield Told("", len(numbers), of)
        finally:
            stored(tools, numbers)


class Corpus(Sessions):
    """A corpus that a plugin reads: its battery, its sessions, what it says of participants."""

    KIND = "a corpus"

    def __init__(self, wanted: ImportFile, path: Path, importer: Importer) -> None:
        super().__init__(wanted, path)
        self._importer = importer

    def read(self, plugins: Plugins) -> None:
        """Read the corpus."""
        from tabwb.tasks.spoken_naming.giving import prepare_corpus

        names = {} if self.wanted.correctness is None else {
            "correctness": str(self.wanted.correctness)
        }  # fmt: skip
        self._file = cast("SpokenFile", self._importer.read(self.path, names))
        self._prepared = prepare_corpus(plugins, self._file, self.wanted.battery)

    def document(self) -> dict[str, Any]:
        """Return the sessions, and what is left out."""
        return {
            **super().document(),
            "battery": self._prepared.battery.id,
            "left_out": dict(self._file.left_out),
            "problems": list(self._file.problems),
        }

    def tell(self, tools: Tools) -> None:
        """Tell what was read and what is left out, a line each, and how many of each kind."""
        tools.say(self._file.title)
        for line in self._file.problems[:MOST_PROBLEMS]:
            tools.warn(line)
        if (more := len(self._file.problems) - MOST_PROBLEMS) > 0:
            tools.warn(f"and {plural(more, 'problem')} more; --json has all of them")
        if counts := ", ".join(f"{what} {n}" for what, n in self._file.left_out.items()):
            tools.warn(f"left out: {counts}")
        super().tell(tools)

    def store(self, tools: Tools) -> Progress:
        """Fill the records of participants, and store one session after another."""
        from tabwb.administer.participants import store_records
        from tabwb.tasks.spoken_naming.giving import import_sessions

        prepared, numbers = self._prepared, list[int]()
        sizes = [len(session.responses) for session, _ in prepared.sessions]
        store_records(tools.store, self._records, self.path.name)
        done = 0
        try:
            for number, _ in import_sessions(
                tools.store, tools.plugins, prepared, tools.warn, self._marks(),
                lambda: check_stop(tools, numbers), again=self.wanted.again,
            ):  # fmt: skip
                done += sizes[len(numbers)]
                numbers.append(number)
                yield Told("", done, sum(sizes), done)
        finally:
            stored(tools, numbers)
        tools.document |= self.document()
        tools.say(f"{plural(done, 'response')} in {plural(len(numbers), 'administration')}")
        if done:
            where = f"battery={prepared.battery.id}"
            tools.say(f"next: tabwb transcribe --where {where} --transcriber SPEC")


def check_stop(tools: Tools, numbers: Sequence[int]) -> None:
    """Raise Interrupted where the user has stopped; it says what is stored."""
    if tools.cancel.is_set():
        words = f"stopped: imported {plural(len(numbers), 'session')}" if numbers else NOTHING
        raise Interrupted(words, hint=f"{tools.same} continues")


def _tiers(texts: Sequence[str]) -> dict[str, str]:
    from tabwb.tasks.spoken_naming.imports import TIERS

    tiers: dict[str, str] = {}
    for text in texts:
        ours, sign, theirs = text.partition("=")
        if not sign or ours not in TIERS:
            allowed = f"OURS=THEIRS with OURS one of {', '.join(TIERS)}"
            name = ours if sign else text
            raise UsageError(f"'{name}' is not a tier", where="tier", allowed=allowed)
        tiers[ours] = theirs
    return tiers


class Recordings(Source):
    """A folder of recordings: stored, then transcribed."""

    KIND = "recordings"

    def read(self, plugins: Plugins) -> None:
        """Find the recordings of the items."""
        from tabwb.records.conditions import declared, default_text
        from tabwb.tasks.spoken_naming.giving import FolderImport, prepare_folder

        wanted = self.wanted
        spec = wanted.transcriber or default_text(declared("transcriber"))
        assert wanted.battery is not None
        request = FolderImport(
            self.path, wanted.battery, wanted.speaker or "", spec, wanted.date or ""
        )
        self._prepared = prepare_folder(plugins, request)

    def document(self) -> dict[str, Any]:
        """Return the recordings."""
        prepared = self._prepared
        given = prepared.conditions
        return {
            "imports": [
                {
                    "source": str(self.path), "examinee": given.examinee, "kind": given.kind,
                    "origin": given.made_by, "answers": len(prepared.files),
                    "transcriber": given.transcriber,
                }
            ]
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Yield how many recordings of how many items there are."""
        prepared = self._prepared
        items = {file.item for file in prepared.files}
        given = prepared.conditions
        yield (
            f"{given.examinee}: {plural(len(prepared.files), 'recording')} of "
            f"{plural(len(items), 'item')} of '{prepared.battery.id}', "
            f"transcriber {given.transcriber or 'none'}"
        )

    def tell(self, tools: Tools) -> None:
        """Tell what is to be known of the folder."""
        for line in self._prepared.notes:
            tools.warn(line)

    def store(self, tools: Tools) -> Progress:
        """Store and transcribe what is not stored yet."""
        from tabwb.administer.session.session import pausing
        from tabwb.records.states import AdministrationStatus
        from tabwb.tasks.spoken_naming.giving import settle

        stopped = tools.cancel.is_set
        with self._opened(tools) as session:
            number = session.administration.id
            session.resume()
            try:
                with pausing(session):
                    yield from self._give(tools, session)
                    if not stopped():
                        yield from self._transcribe(tools, session)
                running = session.status is AdministrationStatus.RUNNING
                if running and (words := settle(session, stopped=stopped())):
                    tools.warn(words)
                waiting = session.waiting(aloud=True)
            finally:
                stored(tools, [number])
        if stopped():
            raise Interrupted(
                "stopped: the recordings so far are stored", hint=f"{tools.same} continues"
            )
        if waiting:
            items = ", ".join(trial.plan.item for trial in waiting)
            tools.warn(f"administration {number} is paused; no recording of: {items}")

    @contextmanager
    def _opened(self, tools: Tools) -> Iterator[Session]:
        from tabwb.administer.consent import Guard
        from tabwb.tasks.spoken_naming.giving import create_naming, resume_naming

        plugins, store, prepared = tools.plugins, tools.store, self._prepared
        conditions = prepared.conditions
        guard = Guard(store, plugins, conditions)
        if conditions.transcriber:
            guard.check_transcribing(conditions.transcriber)
        with store.lock_import():
            begun = None if self.wanted.again else self._begun_earlier(tools)
            if begun is not None:
                opened = resume_naming(store, plugins, begun)
            else:
                opened = create_naming(store, plugins, prepared.battery, conditions)
        if begun is None:
            for notice in guard.notices():
                tools.warn(notice)
        with opened as session:
            yield session

    def _begun_earlier(self, tools: Tools) -> int | None:
        """Return the administration to continue that an earlier import of the folder began."""
        from tabwb.administer.transcription import notated
        from tabwb.tasks.spoken_naming.imports import begun_earlier

        plugins, store, prepared = tools.plugins, tools.store, self._prepared
        spec = notated(store, plugins, prepared.conditions, prepared.conditions.transcriber)
        conditions = replace(prepared.conditions, transcriber=spec)
        sounds = [file.path for file in prepared.files]
        given = begun_earlier(store, prepared.battery, conditions, sounds, tools.warn)
        return None if given is None else given.id

    def _give(self, tools: Tools, session: Session) -> Progress:
        from tabwb.records.events import AttemptRecorded
        from tabwb.tasks.spoken_naming.giving import give_files

        files = self._prepared.files
        done = sum(len(trial.attempts) for trial in session.trials)
        for event in give_files(session, files):
            if isinstance(event, AttemptRecorded):
                done += 1
                yield counted("stored", done, len(files))
            if tools.cancel.is_set():
                return

    def _transcribe(self, tools: Tools, session: Session) -> Progress:
        from tabwb.administer.transcription import Transcribing
        from tabwb.records.events import Observed
        from tabwb.records.naming import Transcribed
        from tabwb.store.takes import work_root
        from tabwb.tasks.spoken_naming.giving import transcribe

        spec = session.administration.conditions.transcriber
        jobs = session.spoken.waiting(spec, by_any=True) if spec else ()
        if not spec or not jobs:
            return
        yield Told(f"opening {spec}")
        try:
            root = work_root(session.store)
            transcribing = Transcribing(tools.plugins, spec, root, tools.cancel)
        except Interrupted:
            return  # the caller pauses the administration
        with transcribing:
            if transcribing.caution:
                tools.warn(transcribing.caution)
            done = 0
            for event in transcribe(session, transcribing, jobs, tools.cancel):
                if isinstance(event, Observed) and isinstance(event.observation, Transcribed):
                    done += 1
                    yield counted("transcribed", done, len(jobs))


def counted(verb: str, done: int, of: int) -> Told:
    """Return how many recordings are done."""
    return Told(verb, done, of, done)

"""``import``: answers, spoken naming, recordings and ratings that were given elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools, values_of
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.answers.importing import Imported
    from tabwb.administer.participants import Filling, Stated
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import Importer

NAMING = "naming"
"""The format of spoken naming, which no plugin reads."""
ANNOTATIONS = (".textgrid", ".eaf")
NOT_FOR: Mapping[str, tuple[str, ...]] = {
    "answers": (),
    "spoken naming": ("model", "judge"),
    "recordings": ("model", "judge", "origin", "research_protocol", "title", "tag"),
    "a corpus": (
        "model", "judge", "origin", "research_protocol", "speaker", "date", "title",
    ),
    "ratings": (
        "battery", "format", "again", "date", "research_protocol", "title", "tag",
    ),
}  # fmt: skip
"""Values for several kinds of files that are not for this kind."""
SHOWN = 5
"""How many administrations, sessions and answers are shown."""
NOTHING = "stopped: nothing was imported"


@dataclass(frozen=True, kw_only=True)
class ImportFile(Operation):
    """Read answers that were given elsewhere from PATH, and score them with the battery.

    A table (CSV, TSV, JSON lines) with the columns item and response, or text and prompt; a log of
    inspect_ai, or a folder of them; samples of lm-evaluation-harness; CHAT transcripts (.cha); or
    spoken naming: a TextGrid, an EAF, a folder of them or with utterances.tsv, with the sound files
    beside them; or a folder of recordings, ITEM.wav. All answers of a file are stored, or none.
    'tabwb import psst DIR' reads the PSST corpus, session by session, with a battery of its own.

    Ratings made elsewhere (a table with the columns response, rater, measure, value, Label Studio's
    JSON, a REDCap table with --mapping) become the rating set --set NAME; the folder that 'tabwb
    rate export' wrote is restored as a set.
    """

    NAME, TITLE, DOING, TOLD = "import", "Import", "Import", "imported"
    ESTIMATE: ClassVar[str] = "Show what would be imported."
    SAFE: ClassVar[str] = "what is stored stays"
    NOTE: ClassVar[str] = "Estimate shows what will be imported. Nothing is stored before Import."
    path: Annotated[
        Path, Arg("The file or folder.", "File", metavar="PATH", positional=True, kind="file")
    ]
    battery: Annotated[
        str | None,
        Arg("The battery whose items were answered. Texts without a battery need none: their "
            "prompts become the items of one.", "Battery", metavar="ID|PATH", kind="batteries"),
    ] = None  # fmt: skip
    format: Annotated[
        str | None,
        Arg("table, chat, inspect, lm-eval, naming, tiers (running speech of a TextGrid or EAF), "
            "or one of a plugin (psst), also before PATH; default: recognised from the file.",
            "Format", metavar="F", blank="as the file looks", short=True),
    ] = None  # fmt: skip
    date: Annotated[
        str | None,
        Arg("The date of the session. Default: as the file says (a sound file: the date in it); "
            "otherwise it is not known.", "Date", metavar="YYYY-MM-DD", blank="as the file states",
            short=True),
    ] = None  # fmt: skip
    origin: Annotated[
        Literal["human", "model", "unknown"] | None,
        Arg("Who responded; default: as the file says. 'unknown' is protected as a person's.",
            "Answered by", words=("as the file states", "a person", "a model", "not known")),
    ] = None  # fmt: skip
    again: Annotated[
        bool,
        Arg("Store the answers or sessions even if the store has them already.", "In the store",
            words=("refused", "stored again")),
    ] = False  # fmt: skip
    speaker: Annotated[
        str | None,
        Arg("The participant code; default: the file's.", "Participant", metavar="ID",
            blank="as the file states", short=True),
    ] = None  # fmt: skip
    model: Annotated[
        str | None,
        Arg("The model: a spec or a name; default: the file's.", "Model", metavar="NAME",
            blank="as the file states", short=True),
    ] = None  # fmt: skip
    judge: Annotated[
        tuple[str, ...],
        Arg("Answers: a judge of connected text, as in 'tabwb run'. Default: rules.", "Judge",
            metavar="SPEC", kind="judges", blank="rules"),
    ] = ()  # fmt: skip
    research_protocol: Annotated[
        str | None,
        Arg("The protocol under which a battery made for models was given to a person.",
            "Protocol", metavar="ID", blank="none", short=True),
    ] = None  # fmt: skip
    title: Annotated[
        str, Arg("A title for the administration.", "Title", metavar="TEXT", short=True)
    ] = ""
    tag: Annotated[
        tuple[str, ...],
        Arg("A tag for the administration.", "Tags", metavar="TAG", names=True, short=True),
    ] = ()
    columns: Annotated[
        tuple[str, ...],
        Arg("Tables: the column that has a field, for example response=text. CHAT: "
            "participant=PAR, pauses=kept, unit=file. tiers: tier=NAME, language=de.", "Columns",
            "--column", metavar="FIELD=NAME", pairs=True, of="answers",
            blank="as they are named"),
    ] = ()  # fmt: skip
    number_replicates: Annotated[
        bool,
        Arg("Tables without a column 'replicate': the second answer to an item is its replicate "
            "2.", "Repeated", of="answers", words=("refused", "replicates")),
    ] = False  # fmt: skip
    skip_unknown: Annotated[
        bool,
        Arg("Tables: leave out answers that match no item of the battery.", "No item",
            of="answers", words=("refused", "left out")),
    ] = False  # fmt: skip
    session: Annotated[
        str | None,
        Arg("Naming: only this session of several.", "Session", metavar="NAME",
            of="spoken naming", blank="all", short=True),
    ] = None  # fmt: skip
    rater: Annotated[
        str | None,
        Arg("Naming: the rater who transcribed and scored. Default: as the source says, else "
            "import.", "Rater", metavar="ID", of="spoken naming", blank="as the source says",
            short=True),
    ] = None  # fmt: skip
    tier: Annotated[
        tuple[str, ...],
        Arg("Naming: the tier that has OURS, for example item=Wort; 'code=' leaves one out.",
            "Tiers", metavar="OURS=THEIRS", pairs=True, of="spoken naming",
            blank="as they are named"),
    ] = ()  # fmt: skip
    transcriber: Annotated[
        str | None,
        Arg("Recordings: the transcriber, or none. Default: bundled-words.", "Transcriber",
            metavar="SPEC", kind="transcribers", of="recordings", blank="bundled-words"),
    ] = None  # fmt: skip
    correctness: Annotated[
        Path | None,
        Arg("PSST: the accepted pronunciations of each prompt (JSON). Default: correctness.json in "
            "the folder.", "Accepted", metavar="FILE", of="a corpus", kind="file",
            blank="correctness.json"),
    ] = None  # fmt: skip
    set: Annotated[
        str | None,
        Arg("Ratings: the rating set to make of them.", "Set", metavar="NAME", of="ratings",
            blank="not ratings", short=True),
    ] = None  # fmt: skip
    form: Annotated[
        str | None,
        Arg("Ratings: the form that they answer. Default: tab-19.", "Form", metavar="ID|PATH",
            of="ratings", blank="tab-19", short=True),
    ] = None  # fmt: skip
    mapping: Annotated[
        Path | None,
        Arg("Ratings: a file (TOML) that maps columns, raters and values.", "Mapping",
            metavar="FILE", of="ratings", kind="file"),
    ] = None  # fmt: skip
    counts: Annotated[
        str | None,
        Arg("Ratings: whose count: primary:CODE, majority (default), consensus, adjudicated.",
            "Counts", metavar="RULE", of="ratings", blank="majority", short=True),
    ] = None  # fmt: skip

    @property
    def about(self) -> str:
        """The file."""
        return self.path.name

    @property
    def creates(self) -> bool:
        """What is imported first makes the store."""
        return True

    def check(self, plugins: Plugins) -> None:
        """Read the file, before a store is made."""
        path = self.path
        if str(path) != "-" and not path.exists():
            raise UsageError("there is no such file or folder", where=str(path))
        source = self._source(plugins, path)
        self._check_for(source.KIND)
        source.read(plugins)
        self.__dict__["_read"] = source  # of a frozen record: what check has read, for run

    def _source(self, plugins: Plugins, path: Path) -> Source:
        from tabwb.administer.answers.importing import importer_of
        from tabwb.operations.naming import Corpus, source_of_naming
        from tabwb.operations.rate import source_of_ratings

        source = _installed("tabwb.administer.rating", lambda: source_of_ratings(self))
        if source is None and self.format != NAMING:
            importer = importer_of(plugins, path, self.format)
            if importer is not None:
                spoken = getattr(importer, "spoken", False)
                source = (Corpus if spoken else Answers)(self, path, importer)
        other = path.is_file() and path.suffix.lower() not in ANNOTATIONS
        if source is None and (self.format == NAMING or not other):
            source = _installed("tabwb.tasks.spoken_naming", lambda: source_of_naming(self))
        if source is None:
            known = [descriptor.id for descriptor in plugins.descriptors("importers")]
            raise UsageError(
                "is not a file of a known format", where=str(path),
                allowed="CSV, TSV and JSON lines of answers, CHAT transcripts (.cha), a log of "
                "inspect_ai, samples of lm_eval, TextGrid, EAF, formats of plugins",
                hint=f"name it: --format {', '.join([*known, NAMING])}; save a spreadsheet as "
                "CSV",
            )  # fmt: skip
        return source

    def _check_for(self, kind: str) -> None:
        """Refuse values that mean nothing for what is read."""
        for value in values_of(type(self)):
            of = value.arg.of
            if getattr(self, value.name) in (value.default, None, (), ""):
                continue
            if value.name in NOT_FOR[kind] or (kind == "ratings" and of not in ("", kind)):
                raise UsageError(f"this is not for {kind}", where=value.name)
            if of not in ("", kind):
                hint = "name the format of the file with --format"
                if of == "ratings":
                    hint = "--set NAME imports ratings"
                raise UsageError(f"this is for {of}", where=value.name, hint=hint)

    @property
    def kind(self) -> str:
        """What the file holds, after :meth:`check`: a name of :data:`NOT_FOR`."""
        return self._read.KIND

    @property
    def _read(self) -> Source:
        found: Source = self.__dict__["_read"]
        return found

    def estimate(self, tools: Tools) -> Progress:
        """Tell what would be stored and left out."""
        source = self._read
        source.tell(tools)
        if tools.detail:
            tools.document |= source.document()
        else:
            for line in source.lines():
                yield Told(line)
        yield Told("nothing is imported yet")

    def run(self, tools: Tools) -> Progress:
        """Store everything, or what a stop leaves."""
        source = self._read
        source.tell(tools)
        yield from source.store(tools)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what would be imported, or the rating set."""
        if "rating_set" in document:
            made = document["rating_set"]
            yield (f"rating set {made['id']} ({made['name']}); see: tabwb agreement {made['name']}")
        elif "administrations" not in document:
            yield from self._read.lines()

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many administrations were made, or the rating set."""
        made = document.get("administrations", ())
        yield from self.lines(document)
        if made:
            yield f"imported {plural(len(made), 'administration')}"


class Source:
    """What is imported: read first, then told or stored."""

    KIND: ClassVar[str]

    def __init__(self, wanted: ImportFile, path: Path) -> None:
        self.wanted, self.path = wanted, path

    def read(self, plugins: Plugins) -> None:
        """Read it; nothing is stored."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return what would be stored, in plain values."""
        return {}

    def lines(self) -> Iterator[str]:
        """Yield what would be stored."""
        return iter(())

    def tell(self, tools: Tools) -> None:
        """Tell what is left out, and what else is to be known."""

    def store(self, tools: Tools) -> Progress:
        """Store it."""
        raise NotImplementedError

    def _plan_records(self, tools: Tools, stated: Stated) -> Filling:
        """Tell what becomes of the records of participants; return what is to be stored."""
        from tabwb.administer.participants import planned_records

        store = tools.store if tools.there else None
        filling = planned_records(store, tools.plugins.study, stated)
        if filling.new:
            tools.say(f"new values of {plural(len(filling.new), 'participant')}")
        for line in filling.lines():
            tools.warn(line)
        return filling

    def _marks(self) -> Any:
        from tabwb.records.trials import Marks, changes

        return changes(Marks(), title=self.wanted.title, add=self.wanted.tag)


def _installed(package: str, find: Callable[[], Source | None]) -> Source | None:
    """Return what reads a file; None: nothing, or the package that would is not installed."""
    try:
        return find()
    except ModuleNotFoundError as error:
        if not f"{error.name}.".startswith(f"{package}."):
            raise
        return None


def stored(tools: Tools, numbers: Sequence[int]) -> None:
    """Write the administrations into the document."""
    from tabwb.media.documents.document import list_document

    made = list_document([tools.store.administration(number) for number in numbers])
    tools.document["administrations"] = made["administrations"]


class Answers(Source):
    """Answers of a table or of another tool."""

    KIND = "answers"

    def __init__(self, wanted: ImportFile, path: Path, importer: Importer) -> None:
        super().__init__(wanted, path)
        self._importer = importer

    def read(self, plugins: Plugins) -> None:
        """Read the file, and plan what will be stored."""
        from tabwb.administer.answers.importing import ImportRequest, columns_of, prepare_import
        from tabwb.administer.answers.plan import Stated
        from tabwb.administer.session.plan import before_run

        wanted = self.wanted
        request = ImportRequest(
            self.path, wanted.battery, Stated(wanted.model, wanted.speaker, wanted.origin),
            columns=columns_of(wanted.columns), number_replicates=wanted.number_replicates,
            skip_unknown=wanted.skip_unknown, judges=wanted.judge,
            research_protocol=wanted.research_protocol, date=wanted.date or "",
        )  # fmt: skip
        self._prepared = prepare_import(plugins, self._importer, request)
        self._runs = list(zip(self._prepared.plan.runs, self._prepared.conditions, strict=True))
        battery, given = self._prepared.battery, self._prepared.conditions[0]
        self._remarks = list(before_run(plugins, battery, given, asked=bool(wanted.judge)))

    def document(self) -> dict[str, Any]:
        """Return the runs with their answers."""
        plan = self._prepared.plan
        records = {"records": self._records.to_json()} if self._stated else {}
        return {
            **records,
            "imports": [
                {
                    "source": run.run.tool or plan.source.title,
                    "examinee": given.examinee,
                    "kind": given.kind,
                    "origin": given.made_by,
                    "decoding": given.drawn,
                    "replicates": run.replicates,
                    "answers": run.answers,
                    "matched": dict(run.matched),
                    "unmatched": len(plan.unmatched),
                    "left_out": dict(plan.source.left_out),
                    "repeated": list(run.repeated),
                    "missing": list(run.missing),
                    "missing_replicates": run.gaps,
                }
                for run, given in self._runs
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield each run with its first answers."""
        from tabwb.administer.answers.importing import planned_lines

        for run, given in self._runs:
            yield from planned_lines(run, given, SHOWN)

    def tell(self, tools: Tools) -> None:
        """Tell how many answers there are, and what is left out."""
        from tabwb.administer.answers.importing import left_out, stated_records

        plan = self._prepared.plan
        tools.say(f"{plan.source.title}: {plural(len(plan.source.answers), 'answer')}")
        for line in left_out(plan, self._prepared.battery.id):
            tools.warn(line)
        self._stated = tuple(stated_records(self._prepared))
        self._records = self._plan_records(tools, self._stated)
        for line in self._remarks:
            tools.warn(line)

    def store(self, tools: Tools) -> Progress:
        """Rate and store all answers, or none; then let judges that ask a model rate them."""
        from tabwb.administer.answers.importing import import_answers, told
        from tabwb.administer.consent import Guard

        prepared, store, plugins = self._prepared, tools.store, tools.plugins
        planned, done = len(prepared.plan.source.answers), 0

        def rated(count: int) -> None:
            nonlocal done
            if tools.cancel.is_set():
                raise Interrupted(NOTHING)
            done += count
            if done % 100 == 0 or done == planned:
                tools.tell(Told("", done, planned, done))

        imported = import_answers(
            store, plugins, prepared.battery, prepared.plan, prepared.conditions, rated,
            again=self.wanted.again, marks=self._marks(), records=self._records,
        )  # fmt: skip
        for notice in Guard.notices_of(Guard(store, plugins, one) for _, one in self._runs):
            tools.warn(notice)
        numbers = [each.administration.id for each in imported]
        for number, (run, given) in zip(numbers, self._runs, strict=True):
            tools.say(f"administration {number}: {given.examinee}: {told(run)}")
        failure = yield from self._judged(tools, numbers, imported)
        stored(tools, numbers)
        tools.document |= self.document()
        _show(tools, numbers)
        if failure is not None:
            raise failure
        _check_raters(imported)

    def _judged(
        self, tools: Tools, numbers: Sequence[int], imported: Sequence[Imported]
    ) -> Generator[Told, None, TabwbError | None]:
        """Let judges that ask a model rate what was stored; return why one could not."""
        from tabwb.operations.judge import judged_after

        specs = imported[0].administration.conditions.judges
        later = [one for one in specs if tools.plugins.resolve("judges", one)[0].wraps is not None]
        return (yield from judged_after(tools, numbers, later))


def _show(tools: Tools, numbers: Sequence[int]) -> None:
    """Show the results of the first administrations, where somebody reads them."""
    if not tools.stdout:
        return
    from tabwb.analysis.administrations import load_administrations
    from tabwb.analysis.statistics.summary import pool
    from tabwb.media.views.administration import administration_view

    for number in numbers[:SHOWN]:
        (data,) = load_administrations(tools.store, [number])
        results = pool([data], interval=True)
        tools.show(administration_view(data.administration, data.battery, results))
    if len(numbers) > SHOWN:
        tools.say(f"and {plural(len(numbers) - SHOWN, 'administration')} more: tabwb results")


def _check_raters(imported: Sequence[Imported]) -> None:
    failed = [(each, rater) for each in imported for rater in each.failed]
    if failed:
        numbers = dict.fromkeys(each.administration.id for each, _ in failed)
        raise TabwbError(
            "\n".join(dict.fromkeys(str(rater) for _, rater in failed)),
            hint="every response is stored; after the cause is removed: "
            + "; ".join(f"tabwb trial rescore {number}" for number in numbers),
        )

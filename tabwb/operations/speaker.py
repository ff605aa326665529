"""What a study knows of its speakers, what they agreed to, who did what, deletion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools
from tabwb.records.errors import UsageError
from tabwb.records.speakers import SCOPES, Scope, check_id, in_force
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.administer.participants import Filling
    from tabwb.host.plugins import Plugins

TODAY = "today"
SPEAKER = Arg("The participant code, never a name.", metavar="ID", positional=True)


@dataclass(frozen=True, kw_only=True)
class ListSpeakers(Operation):
    """List speakers with their consents and recorded values, and deleted speakers."""

    NAME, TITLE = "speaker list", "List"
    WRITES: ClassVar[bool] = False
    may: Annotated[Scope | None, Arg("Only speakers with consent to this.")] = None
    where: Annotated[
        tuple[str, ...],
        Arg("Only speakers of whom this is recorded. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, "
            "KEY>NUMBER.", metavar="KEY=VALUE", pairs=True),
    ] = ()  # fmt: skip

    def do(self, tools: Tools) -> None:
        """Read them."""
        from tabwb.administer.participants import participants
        from tabwb.analysis.keys import read_filter, records_filter

        study = tools.plugins.study
        has_all = records_filter([read_filter(text) for text in self.where])
        everybody = participants(tools.store)
        known = {person.id: study.values_of(person.speaker.values) for person in everybody}
        people = [
            person
            for person in everybody
            if self.may is None or self.may in person.may
            if has_all(known[person.id])
        ]
        tools.document["speakers"] = [
            {
                "id": person.id,
                "version": person.speaker.version,
                "may": list(person.may),
                "administrations": len(person.sessions),
                "values": known[person.id],
            }
            for person in people
        ]
        tools.document["deleted"] = list(map(asdict, tools.store.people.tombstones()))
        for person in people:
            for doubt in study.doubts(person.speaker.values):
                tools.warn(f"{person.id}: {doubt}")

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each speaker."""
        rows, stones = document["speakers"], document["deleted"]
        width = max((len(row["id"]) for row in rows), default=0)
        for row in rows:
            agreed = ", ".join(row["may"]) or "no consent recorded"
            known = "" if row["version"] else ", no record"
            values = ", ".join(f"{name} {value}" for name, value in row["values"].items())
            given_to = plural(row["administrations"], "administration")
            told = f"{agreed}{known}{f'; {values}' if values else ''}"
            yield f"{row['id']:<{width}}  {given_to:<19} {told}"
        for stone in stones:
            yield _deleted(stone)
        if not rows and not stones:
            yield "no speakers"


def _record(_: Operation, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the record, the consents and the number of data."""
    from tabwb.administer.participants import counted

    speaker = document["speaker"]
    version, day = speaker["version"], (speaker["recorded_at"] or "")[:10]
    recorded = f"version {version}, {day}, by {speaker['by']}" if version else "no record"
    yield f"{speaker['id']}  {recorded}"
    for name, value in speaker["values"].items():
        unit = speaker["units"].get(name, "")
        yield f"  {name}  {value}{f' {unit}' if unit else ''}"
    for name, value in speaker["derived"].items():
        yield f"  {name}  {value} (not recorded: from {speaker['derived_from'][name]})"
    yield from _consents(speaker)
    yield f"  {counted(speaker['data'])}"


@dataclass(frozen=True, kw_only=True)
class ShowSpeaker(Operation):
    """Show all records of the speaker ID."""

    NAME, TITLE = "speaker show", "Show"
    WRITES: ClassVar[bool] = False
    lines = _record
    speaker: Annotated[str, SPEAKER]

    def do(self, tools: Tools) -> None:
        """Read them."""
        _show(tools, self.speaker)


@dataclass(frozen=True, kw_only=True)
class AddSpeaker(Operation):
    """Register the speaker ID with its record, for example S-014 with AQ=71.3 and group=A."""

    NAME, TITLE = "speaker add", "Register"
    lines = _record
    speaker: Annotated[str, SPEAKER]
    values: Annotated[
        tuple[str, ...],
        Arg("The values of the record.", metavar="[COLUMN=VALUE]...", positional=True, pairs=True),
    ] = ()

    @property
    def creates(self) -> bool:
        """The first speaker may be registered before anything is given."""
        return True

    def check(self, plugins: Plugins) -> None:
        """Check the values before a store is made."""
        _check_values(plugins, self.values)

    def do(self, tools: Tools) -> None:
        """Record it."""
        _warn(tools, self.speaker)
        _keep(tools, self.speaker, self.values, new=True)


@dataclass(frozen=True, kw_only=True)
class SetSpeaker(Operation):
    """Record new values of the speaker ID; COLUMN= removes a value.

    Earlier versions stay.
    """

    NAME, TITLE = "speaker set", "Save"
    lines = _record
    speaker: Annotated[str, SPEAKER]
    values: Annotated[
        tuple[str, ...],
        Arg("The new values.", metavar="COLUMN=VALUE...", positional=True, pairs=True),
    ]

    def check(self, plugins: Plugins) -> None:
        """Check the values."""
        _check_values(plugins, self.values)

    def do(self, tools: Tools) -> None:
        """Record them."""
        _keep(tools, self.speaker, self.values, new=False)


@dataclass(frozen=True, kw_only=True)
class ImportSpeakers(Operation):
    """Fill the records of speakers from a table at PATH: CSV or TSV, one line for each speaker.

    Columns that are called as a column of the record are taken. What a record contradicts, and what
    cannot be read, is listed and not stored: nothing is overwritten. Nobody is registered by it.
    """

    NAME, TITLE, DOING, TOLD = "speaker import", "Import", "Import", "imported"
    ESTIMATE: ClassVar[str] = "Show what would be stored."
    path: Annotated[
        Path, Arg("The table.", "File", metavar="PATH", positional=True, kind="file")
    ]  # fmt: skip
    id: Annotated[
        str,
        Arg("The column with the participant codes. Default: id, participant, speaker or code.",
            "Codes in", metavar="NAME", blank="id, participant, speaker, code", short=True),
    ] = ""  # fmt: skip
    columns: Annotated[
        tuple[str, ...],
        Arg("The table's name of a column of the record, for example AQ=WAB_AQ.", "Columns",
            "--column", metavar="COLUMN=NAME", pairs=True, blank="as they are named"),
    ] = ()  # fmt: skip

    @property
    def creates(self) -> bool:
        """Speakers may be known before anything is given."""
        return True

    def check(self, plugins: Plugins) -> None:
        """Read the table, before a store is made."""
        from tabwb.administer.participants import read_participants

        names = pairs_of(self.columns)
        self.__dict__["_read"] = read_participants(self.path, plugins.study, self.id, names)

    def estimate(self, tools: Tools) -> Progress:
        """Tell what would be stored."""
        from tabwb.administer.participants import planned_records

        stated, ignored = self.__dict__["_read"]
        store = tools.store if tools.there else None
        self._tell(tools, planned_records(store, tools.plugins.study, stated), ignored)
        for line in self.lines(tools.document):
            yield Told(line)

    def do(self, tools: Tools) -> None:
        """Store it in one commit."""
        from tabwb.administer.participants import fill_records

        stated, ignored = self.__dict__["_read"]
        filling = fill_records(tools.store, tools.plugins.study, stated, self.path.name)
        self._tell(tools, filling, ignored)

    def _tell(self, tools: Tools, filling: Filling, ignored: Sequence[str]) -> None:
        if ignored:
            tools.warn(f"columns that no record has: {', '.join(ignored)}")
        for line in filling.lines():
            tools.warn(line)
        stated, _ = self.__dict__["_read"]
        read = len({speaker for speaker, _ in stated})
        tools.document["records"] = {"read": read, **filling.to_json(), "ignored": list(ignored)}

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many records there are."""
        found = document["records"]
        differing = plural(len(found["differences"]), "difference")
        read, filled = plural(found["read"], "participant"), len(found["filled"])
        yield f"{read}: new values for {filled}, {differing}"


@dataclass(frozen=True, kw_only=True)
class ConsentOfSpeaker(Operation):
    """Record consents or withdrawals of the speaker ID; without options show them."""

    NAME, TITLE = "speaker consent", "Record"
    EPILOG: ClassVar[tuple[str, ...]] = tuple(f"{one:<12}{what}" for one, what in SCOPES.items())
    speaker: Annotated[str, SPEAKER]
    scope: Annotated[tuple[Scope, ...], Arg("The scope of the consent.", names=True)] = ()
    everything: Annotated[bool, Arg("Every scope.", flag="--all")] = False
    given: Annotated[
        str | None,
        Arg("The day on which it was given (2026-11-21), or today.", metavar="[DAY]",
            alone=TODAY),
    ] = None  # fmt: skip
    withdrawn: Annotated[
        str | None,
        Arg("The day on which it was withdrawn, or today.", metavar="[DAY]", alone=TODAY),
    ] = None
    document: Annotated[str, Arg("The place of the signed form.", metavar="WHERE")] = ""
    note: Annotated[str, Arg("A note.", metavar="TEXT")] = ""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that are recorded."""
        return tuple(SCOPES) if self.everything else self.scope

    def check(self, plugins: Plugins) -> None:
        """Refuse what does not go together."""
        if self.given is not None and self.withdrawn is not None:
            raise UsageError("a consent is given or withdrawn, not both", where="withdrawn")
        if not self.creates and (self.scopes or self.document or self.note):
            raise UsageError("no day is given", where="given", allowed="a day, or today")
        if self.creates and not self.scopes:
            raise UsageError("no scope is given", where="scope", allowed=", ".join(SCOPES))

    @property
    def creates(self) -> bool:
        """A consent may be the first that a store has."""
        return self.given is not None or self.withdrawn is not None

    @property
    def writes(self) -> bool:
        """Without options consents are only shown."""
        return self.creates

    def do(self, tools: Tools) -> None:
        """Record them in one commit."""
        from tabwb.administer.participants import keep_consents

        day = self.withdrawn if self.given is None else self.given
        if day is None:
            tools.store.people.speaker(self.speaker)
        else:
            _warn(tools, self.speaker)
            keep_consents(
                tools.store, self.speaker, self.scopes, given=self.given is not None,
                day=date.today().isoformat() if day == TODAY else day,
                document=self.document, note=self.note,
            )  # fmt: skip
        _show(tools, self.speaker)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the latest of each scope."""
        yield from _consents(document["speaker"])


@dataclass(frozen=True, kw_only=True)
class LogOfSpeakers(Operation):
    """Show the log of uses of people's data, oldest first: all, or of the speaker ID."""

    NAME, TITLE = "speaker log", "Log"
    WRITES: ClassVar[bool] = False
    speaker: Annotated[
        str | None, Arg("Only of this speaker.", metavar="[ID]", positional=True)
    ] = None
    administration: Annotated[
        int | None, Arg("Only of this administration.", metavar="N", low=1)
    ] = None

    def do(self, tools: Tools) -> None:
        """Read it."""
        entries = tools.store.people.log_entries(self.speaker, self.administration)
        tools.document["log"] = list(map(asdict, entries))

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each use."""
        for entry in document["log"]:
            number = entry["administration"]
            of = "" if number is None else f"administration {number}"
            parts = (entry["at"][:19], entry["who"], entry["act"], entry["speaker"], of,
                     entry["detail"])  # fmt: skip
            yield "  ".join(part for part in parts if part)
        if not document["log"]:
            yield "the log is empty"


@dataclass(frozen=True, kw_only=True)
class DeleteSpeaker(Operation):
    """Delete the speaker ID with all records; this cannot be undone.

    The ID, the day, the reason, who deleted, counts, and the log of earlier uses stay.
    """

    NAME, TITLE = "speaker delete", "Delete"
    CONFIRMS: ClassVar[str] = "speaker"
    speaker: Annotated[str, SPEAKER]
    reason: Annotated[
        Literal["withdrawn", "retention-ended", "entered-by-mistake", "other"],
        Arg("The reason; kept permanently."),
    ]

    def estimate(self, tools: Tools) -> Progress:
        """Tell what goes and what stays."""
        from tabwb.administer.participants import deletion_preview

        preview = deletion_preview(tools.store, self.speaker)
        yield Told(preview.goes, part=f"speaker {self.speaker}")
        for sentence in preview.stays:
            yield Told(sentence)

    def do(self, tools: Tools) -> None:
        """Delete everything that was recorded of a person."""
        from tabwb.administer.participants import deletion_preview

        preview = deletion_preview(tools.store, self.speaker)
        stone = tools.store.people.delete_speaker(self.speaker, self.reason)
        tools.document |= {
            "deleted": asdict(stone),
            "exports": list(preview.copies),
            "kept_recordings": [{"sha256": one, "also_of": of} for one, of in preview.shared],
        }
        if not stone.finished:
            tools.warn(
                "another program has the store open; remaining traces are removed when the store "
                "is opened next"
            )

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield that it is done."""
        yield _deleted(document["deleted"])


def pairs_of(values: Sequence[str]) -> dict[str, str]:
    """Return texts COLUMN=VALUE as names with values.

    >>> pairs_of(["AQ=71.3", "group="])
    {'AQ': '71.3', 'group': ''}
    """
    pairs: dict[str, str] = {}
    for text in values:
        name, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"'{text}' is not COLUMN=VALUE", allowed="for example AQ=71.3")
        if name in pairs:
            raise UsageError(f"'{name}' is given twice")
        pairs[name] = value
    return pairs


def _check_values(plugins: Plugins, values: Sequence[str]) -> None:
    from tabwb.administer.participants import record_values

    record_values(plugins.study, pairs_of(values))


def _keep(tools: Tools, speaker: str, values: Sequence[str], *, new: bool) -> None:
    from tabwb.administer.participants import keep_record

    keep_record(tools.store, tools.plugins.study, speaker, pairs_of(values), new=new)
    _show(tools, speaker)


def _warn(tools: Tools, speaker: str) -> None:
    """Warn of a new ID that is not as the study writes them."""
    check_id(speaker)
    remark = tools.plugins.configuration.study.remark(speaker)
    if remark and speaker not in {person.id for person in tools.store.people.speakers()}:
        tools.warn(remark)


def _show(tools: Tools, code: str) -> None:
    people = tools.store.people
    speaker, consents = people.speaker(code), people.consents(code)
    rows = map(asdict, consents)
    study = tools.plugins.study
    units = {column.name: column.unit for column in study.columns}
    known = study.values_of(speaker.values)
    for doubt in study.doubts(speaker.values):
        tools.warn(f"{speaker.id}: {doubt}")
    tools.document["speaker"] = {
        "id": speaker.id,
        "version": speaker.version,
        "values": dict(speaker.values),
        "derived": {name: known[name] for name in known if name not in speaker.values},
        "derived_from": {
            column.name: column.bands_of
            for column in study.columns
            if column.name in known and column.name not in speaker.values
        },
        "units": {name: units[name] for name in speaker.values if units.get(name)},
        "recorded_at": speaker.recorded_at or None,
        "by": speaker.by or None,
        "may": list(in_force(consents)),
        "consents": [
            {key: value for key, value in row.items() if key != "speaker"} for row in rows
        ],
        "data": people.data_of(code),
    }


def _deleted(stone: Mapping[str, Any]) -> str:
    return f"{stone['speaker']} was deleted on {stone['deleted_at'][:10]} ({stone['reason']})"


def _consents(speaker: Mapping[str, Any]) -> Iterator[str]:
    last = {row["scope"]: row for row in speaker["consents"]}
    for scope in SCOPES:
        row = last.get(scope)
        if row is None:
            yield f"  - {scope:<10}  not recorded"
            continue
        sign, word = ("✓", "given") if row["given"] else ("✗", "withdrawn")
        more = "".join(f", {row[key]}" for key in ("document", "note") if row[key])
        yield f"  {sign} {scope:<10}  {word} {row['on']}{more}"

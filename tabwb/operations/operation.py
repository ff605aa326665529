"""One operation: the values that it takes, and what it does. Three interfaces are made from it."""

from __future__ import annotations

import dataclasses
import itertools
import operator
import os
import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tabwb.records.conditions import conditions_of
from tabwb.records.declared_conditions import (
    CONDITIONS,
    NONE,
    Components,
    ConditionError,
    Texts,
    Whole,
)
from tabwb.records.declared_conditions import (
    Ids as SeveralIds,
)
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.files import expanded
from tabwb.records.words import separated

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.declared_conditions import Audience
    from tabwb.records.events import Event
    from tabwb.records.speech import Transcript
    from tabwb.store.store import Store
    from tabwb.tables.table import Table

Ids = tuple[int | str, ...]
"""Numbers or uids of administrations."""
MOST = 2**53
"""The largest number: what every store and every reader of JSON keeps exactly."""
FEW = 3
"""Steps after which the time that is left can be told."""


@dataclass(frozen=True, slots=True)
class Arg:
    """What an interface needs to know of a value, beside its name, type and default.

    Attributes:
        help: for ``--help``, the reference of Python, F1.
        more: what a dialog says further.
        label: in a dialog; empty: not in the dialog, because what is shown decides it.
        flag: on the command line, or several with spaces between; empty: the name.
        metavar: what ``--help`` writes for the value.
        alone: the value of a flag that is given without one.
        positional: it needs no flag on the command line.
        choices: what may be given, where the type does not say it.
        low, high: the range; with ``above``, ``low`` itself is not in it.
        kind: components that are offered, such as ``judges``; a dialog takes one of them. Of a
            path: ``new``, a file to write.
        of: what it applies to only, such as ``answers``; the heading of its part of a dialog.
        pairs: NAME=VALUE, or a mapping; several values of a name are joined with commas.
        usual: what ``--help`` shows as the default, where the value is then None.
        conditions: they are the conditions of an administration, by their ids: the command that
            declares their options, and those that ``--help`` shows first.
        hidden: only Python gives it.
        names: one text may have several values, with commas between.
        words: for a dialog: the choices in words, in the order of the values (no, yes).
        blank: for a dialog: what an empty field means.
        only: another value and what it has to be for this one to mean something (``@``: a
            component with options); a dialog takes this one only then.
        short: for a dialog: half a row is enough.
    """

    help: str
    label: str = ""
    flag: str = ""
    metavar: str = ""
    more: str = ""
    alone: str = ""
    positional: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: bool = False
    kind: str = ""
    of: str = ""
    pairs: bool = False
    names: bool = False
    usual: str = ""
    conditions: tuple[str, ...] = ()
    hidden: bool = False
    words: tuple[str, ...] = ()
    blank: str = ""
    short: bool = False
    only: tuple[str, str] | None = None


IDS = Arg("Numbers or uids of administrations.", metavar="[ID]...", positional=True)
EVERYTHING = Arg("Every administration of the store.", flag="--all")
WHERE = Arg(
    "Only administrations with this value. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, KEY>NUMBER.",
    metavar="KEY=VALUE",
    pairs=True,
)


MAX_REQUESTS = Arg(
    "Stop after this many requests.", "Max requests", low=1, blank="no limit",
    more="A reply that cannot be read costs a second request. Empty: no limit.",
)  # fmt: skip
MAX_COST = Arg(
    "Stop before the cost exceeds this; needs a price of the model.", "Max cost", metavar="USD",
    low=0, above=True, blank="US dollars; no limit", more="In US dollars. Empty: no limit.",
)  # fmt: skip


class Value(NamedTuple):
    """A declared value with its type taken apart; ``many`` values are a tuple."""

    name: str
    arg: Arg
    type: type
    choices: tuple[str, ...]
    many: bool
    default: Any

    @property
    def needed(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING

    @property
    def flags(self) -> list[str]:
        """Its options on the command line."""
        return self.arg.flag.split() or ["--" + self.name.replace("_", "-")]

    @property
    def flag(self) -> str:
        """Its option on the command line, the first of several."""
        return self.flags[0]

    @property
    def allowed(self) -> str:
        """What may be given, in words; empty: anything."""
        low, high = self.arg.low, self.arg.high
        if self.choices:
            return ", ".join(self.choices)
        if low is None:
            return _NAMES.get(self.type, "")
        if self.arg.above:
            return f"more than {low:g}" + ("" if high is None else f", at most {high:g}")
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"

    def checked(self, given: Any) -> Any:
        """Return one value in its type, or refuse it."""
        try:
            value = _CONVERTED[self.type](given)
        except (OverflowError, TypeError, ValueError):
            raise self.refused(given) from None
        low, high = self.arg.low, self.arg.high
        outside = self.type in (int, float) and (
            not -MOST <= value <= MOST  # neither is what is not a number
            or (low is not None and (value <= low if self.arg.above else value < low))
            or (high is not None and value > high)
        )
        if outside or (self.choices and value not in self.choices):
            raise self.refused(given)
        return value

    def refused(self, given: object) -> UsageError:
        """Return the error of a value that cannot be used."""
        shown = f"{given!r:.60}"
        return UsageError(f"{shown} cannot be used", where=self.name, allowed=self.allowed or None)


def _whole(given: Any) -> int:
    if isinstance(given, bool):
        raise TypeError
    return int(given) if isinstance(given, str) else operator.index(given)


def _number(given: Any) -> float:
    if isinstance(given, bool):
        raise TypeError
    return float(given)


def _text(given: Any) -> str:
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if not isinstance(given, str):
        raise TypeError
    return given


def _file_or_content(given: Any) -> str | Mapping[str, Any]:
    return given if isinstance(given, Mapping) else _text(given)


def _truth(given: Any) -> bool:
    if not isinstance(given, bool):
        raise TypeError
    return given


def _path(given: Any) -> Path:
    if not isinstance(given, str | os.PathLike):
        raise TypeError
    if "\0" in os.fspath(given):
        raise ValueError
    return expanded(Path(given))


def _reference(given: Any) -> int | str:
    if isinstance(given, bool):
        raise TypeError
    return given if isinstance(given, str) else operator.index(given)


_CONVERTED: Mapping[type, Callable[[Any], Any]] = {
    bool: _truth, int: _whole, float: _number, str: _text, Path: _path, object: _reference,
    Mapping: _file_or_content,
}  # fmt: skip
_NAMES = {
    bool: "True, False", int: "a whole number", str: "a text", Path: "the path of a file",
    object: "a number or a uid",
}  # fmt: skip


class Told(NamedTuple):
    """How far an operation is.

    Attributes:
        words: what it does, or what was spent.
        timed: of ``done``, those that took time, from which the time that is left follows.
        part: of what; a part begins, and ``words`` say what it takes.
        waits: it waits for something outside.
        event: of the engine, for who listens to these.
        what: is counted; empty: what the operation says.
        problem: what failed and does not end the work.
    """

    words: str = ""
    done: int = 0
    planned: int = 0
    timed: int = 0
    part: str = ""
    waits: bool = False
    event: Event | None = None
    what: str = ""
    problem: str = ""


Progress = Iterator[Told]


@dataclass
class Tools:
    """What an operation works with, and where it says what it does.

    Attributes:
        plugins: with which components are made.
        place: returns that of the store, as ``tabwb.open`` takes it.
        say: takes a line about what is done; ``-q`` leaves it out.
        warn: takes a warning, which is also shown with ``-q``.
        lent: the store, where it is open already; it stays open.
        holds: holds an administration while work changes it; None: as the store does.
        creates: a store is made where there is none.
        person: gives the items of a session to a person; None: this interface cannot.
        same: what continues work that has stopped.
        resumed: how the administration of a number is resumed.
        cancel: once it is set, work that takes time ends.
        document: what was done so far, in plain values; kept when the work stops early.
        result: what was made, for who shows it; what it is the operation says.
        tables: each :class:`tabwb.Table` that was made, with its caption; every interface writes
            them.
        chosen: the administrations that were asked for by filters, or of which all were taken.
        detail: an estimate also lists what would be sent, each as it is read.
        keeps: its document has that too.
        tell: hears how far work is that cannot yield it.
        show: takes a line or a view of the document as soon as it is known, for people.
        writing: is told why an operation that only reads writes nevertheless; may refuse it.
        stdout: a file may be ``-``, standard output.
        called: returns how the interface calls a value, for sentences about it.
        within: calls a function with the session of an administration, in the thread that owns
            sessions, and returns what it returns; None: the operation opens the session.
    """

    plugins: Plugins
    place: Callable[[], str | Path | None]
    say: Callable[[str], object]
    warn: Callable[[str], object]
    lent: Store | None = None
    holds: Callable[[int], AbstractContextManager[object]] | None = None
    creates: bool = False
    person: Callable[[Any, Tools], object] | None = None
    same: str = "the same again"
    resumed: Callable[[int], str] = "tabwb resume {}".format
    cancel: threading.Event = field(default_factory=threading.Event)
    document: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    tables: list[tuple[Table, str]] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    detail: bool = False
    keeps: bool = True
    tell: Callable[[Told], object] = lambda told: None
    show: Callable[[Any], object] = lambda line: None
    writing: Callable[[str], object] = lambda why: None
    stdout: bool = False
    called: Callable[[str], str] = str
    within: Callable[[int, Callable[[Session], Any]], Any] | None = None
    _own: Store | None = None

    @property
    def store(self) -> Store:
        """The store; an error says that there is none."""
        if self.lent is not None:
            return self.lent
        if self._own is None:
            self._own = self.opened()
        return self._own

    @property
    def there(self) -> bool:
        """Whether there is a store."""
        from tabwb.store.location import resolve

        if self.lent is not None:
            return True
        place = resolve(self.place())
        return not isinstance(place, Path) or place.exists()

    def opened(self) -> Store:
        """Return the store opened once more, for a thread of its own."""
        from tabwb.store.store import Store

        return Store.open(self.place(), create=self.creates)

    def locked(self, number: int) -> AbstractContextManager[object]:
        """Hold an administration while work changes it."""
        return (self.holds or self.store.lock)(number)

    def transcripts(
        self, transcriber: str, sounds: Sequence[Path]
    ) -> Iterator[tuple[int, Transcript]]:
        """Yield the place of each sound file and its transcript, as each is made.

        It ends early where the work is stopped. Nothing is stored.

        Raises:
            UsageError: the transcriber needs a network, or there is none of this spec.
        """
        from tabwb.operations.transcribing import heard

        spec = str(self.plugins.resolve("transcribers", transcriber)[1])
        if self.plugins.reaches_out("transcribers", spec):
            raise UsageError(
                f"'{transcriber}' sends sound over a network, and it is not known whether the "
                "speakers agree",
                where="transcriber",
            )
        return heard(self, spec, sounds)

    def close(self) -> None:
        """Close the store if it was opened here."""
        if self._own is not None:
            self._own.close()


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation; its fields are its values, each ``Annotated`` with an :class:`Arg`.

    The docstring of a subclass is its help. NAME is that of its command.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    DOING: ClassVar[str] = ""
    """What its background job is called, such as *Judging*; empty: it is done at once."""
    TOLD: ClassVar[str] = "done"
    """What is counted while it works, such as *judged*."""
    ESTIMATE: ClassVar[str] = ""
    """Help of ``--dry-run``; empty: there is no estimate."""
    WRITES: ClassVar[bool] = True
    """Whether the store is changed; :attr:`writes` where that depends on values."""
    LOGS: ClassVar[bool] = False
    """Whether the log of people's data is all that it writes; it asks for the store itself."""
    STORE: ClassVar[bool] = True
    """Whether it works with a store."""
    SETTINGS: ClassVar[bool] = False
    """Whether the user's settings are changed."""
    CONFIRMS: ClassVar[str] = ""
    """The value that a person types again before it is done; the estimate is shown first."""
    EPILOG: ClassVar[tuple[str, ...]] = ()
    """Lines that follow the options in ``--help``."""
    NOTE: ClassVar[str] = ""
    """What a dialog says before anything is done."""
    WHAT: ClassVar[str] = ""
    """What it is in a dialog of several operations, such as *Report*."""
    NAMED_BY: ClassVar[str] = ""
    """The value that is part of the proposed name of a file."""
    CONTINUES: ClassVar[str] = ""
    """What a dialog says of work that was stopped; empty: it begins anew."""
    LOCKS: ClassVar[bool] = True
    """Whether others must not change its administrations while it works."""
    SAFE: ClassVar[str] = "all answers are saved"
    """What is said while it is being stopped."""
    PAGE: ClassVar[str] = ""
    """The page of the workbench that shows more of it than the list of jobs."""
    AT_ONCE: ClassVar[bool] = False
    """Whether ctrl+c ends it at once until it tells how much there is to do: nothing is lost."""
    SECRET: ClassVar[str] = ""
    """A value in rows of its document: its lines are shown once, and no list of jobs keeps it."""
    NEEDED: ClassVar[str] = ""
    """A module that showing the result needs; it can be imported while the work waits."""
    TABLES: ClassVar[bool] = False
    """Whether it makes typed tables (``tools.tables``); its command has ``--format``."""

    @property
    def about(self) -> str:
        """What it works on, in a few words."""
        return ""

    @classmethod
    def remark(cls, chosen: str, plugins: Plugins) -> str:
        """Return what a dialog says of a component that was chosen."""
        return cls.NOTE

    @property
    def rest(self) -> Operation:
        """What continues it after it was stopped."""
        return self

    @property
    def writes(self) -> bool:
        """Whether the store is changed."""
        return self.WRITES and not self.LOGS

    @property
    def to_stdout(self) -> bool:
        """Whether standard output is a file that it writes, and nothing else is printed there."""
        return False

    @property
    def creates(self) -> bool:
        """Whether a store is made where there is none."""
        return False

    def numbers(self, store: Store) -> list[int]:
        """Return the administrations that are changed, as far as they are named."""
        if self.LOGS:
            return []
        named = (*getattr(self, "ids", ()), getattr(self, "administration", None))
        return [store.administration(one).id for one in named if one is not None]

    def check(self, plugins: Plugins) -> None:
        """Refuse values that cannot be used together, before a store is opened."""

    def estimate(self, tools: Tools) -> Progress:
        """Tell what :meth:`run` would take, part by part, or document it; do nothing else."""
        return iter(())

    def run(self, tools: Tools) -> Progress:
        """Work and tell how far it is; write what was done into ``tools.document``."""
        self.do(tools)
        return iter(())

    def do(self, tools: Tools) -> None:
        """Do what takes no time; write what was done into ``tools.document``."""
        raise NotImplementedError

    def documented(self, tools: Tools) -> dict[str, Any]:
        """Return what was done in plain values; tables as ``--format json`` has them."""
        if not tools.tables:
            return tools.document
        from tabwb.media.paper import table_json

        return {**tools.document, "tables": [table_json(table) for table, _ in tools.tables]}

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the document for people: lines, or views for a terminal."""
        return iter(())

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was found to be wrong; the exit status of a command is then 1."""
        return iter(())

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the document in a few lines, for a dialog; trees and tables are for terminals."""
        return (line for line in self.lines(document) if isinstance(line, str))


def followed(work: Progress, show: Callable[[Told], object]) -> None:
    """Do the work of an operation and show how far it is; where that fails the work ends in order.

    What was being given is paused before the error goes on.
    """
    for told in work:
        try:
            show(told)
        except BaseException as error:
            if isinstance(work, Generator):
                work.throw(error)
            raise


def values_of(kind: type[Operation]) -> list[Value]:
    """Return the values of an operation in their order."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for one in dataclasses.fields(kind):
        assert get_origin(hints[one.name]) is Annotated, one.name
        base, arg = get_args(hints[one.name])[:2]
        many = get_origin(base) is tuple
        inner = get_args(base)[0] if many else base
        if get_origin(inner) in (Union, UnionType):
            several = [each for each in get_args(inner) if each is not type(None)]
            contents = [each for each in several if get_origin(each) is Mapping]
            inner = several[0] if len(several) == 1 else (contents or [object])[0]
        inner = Mapping if get_origin(inner) is Mapping else inner
        choices = get_args(inner) if get_origin(inner) is Literal else arg.choices
        found.append(Value(one.name, arg, str if choices else inner, choices, many, one.default))
    return found


def made(kind: type[Operation], given: Mapping[str, Any]) -> Operation:
    """Return an operation with checked values; None is the default, as is not one of several.

    Raises:
        UsageError: a value is missing or cannot be used; ``where`` is its name.
    """
    checked: dict[str, Any] = {}
    for value in values_of(kind):
        one = given.get(value.name)
        if value.arg.conditions:
            checked[value.name] = _conditions(one or {})
            continue
        if value.many and one is not None:
            several = map(value.checked, _several(value, one))
            # Of pairs a name that is given twice is refused by who reads them.
            one = tuple(several if value.arg.pairs else dict.fromkeys(several))
        if one is None or (value.many and not one):
            if value.needed:
                words = "a value is needed"
                raise UsageError(words, where=value.name, allowed=value.allowed or None)
            continue
        if value.arg.names and not value.many and not isinstance(one, str):
            one = _joined(list(_several(value, one)))
        checked[value.name] = one if value.many else value.checked(one)
    return kind(**checked)


def _conditions(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return conditions by id, each checked by its declaration; None is the default.

    Of the judges an empty list is none.
    """
    checked: dict[str, Any] = {}
    value: Any
    for condition in CONDITIONS:
        value, kind = given.get(condition.id), condition.kind
        if value is None:
            continue
        try:
            if isinstance(kind, Texts | SeveralIds | Components):
                value = (value,) if isinstance(value, str) else tuple(value)
            if value == () and isinstance(kind, SeveralIds):
                continue
            if value == () and isinstance(kind, Components):
                value = (NONE,)
            if isinstance(kind, Whole):
                value = operator.index(value)
            condition.checked(value)
        except UsageError as error:
            error.where = condition.id
            raise
        except (TypeError, ValueError):
            words = f"{value!r} cannot be used"
            raise UsageError(words, where=condition.id, allowed=kind.allowed or None) from None
        checked[condition.id] = value
    return checked


def asked_conditions(examinee: str, audience: Audience, asked: Mapping[str, Any]) -> Conditions:
    """Return the conditions that are asked for, specs not yet resolved."""
    try:
        return conditions_of(examinee, audience, asked)
    except ConditionError as error:
        error.where = error.condition.id
        raise


def _several(value: Value, given: Any) -> Iterable[Any]:
    if value.arg.pairs and isinstance(given, Mapping):
        return [f"{name}={_joined(one)}" for name, one in given.items()]
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    texts: Iterable[Any] = given if several else [given]
    # Of several texts each may name several only where help says so: a tag has no comma.
    if not value.arg.names or (several and "," not in value.arg.metavar):
        return texts
    parts = (separated(one) if isinstance(one, str) else [one] for one in texts)
    return itertools.chain.from_iterable(parts)


def _joined(one: Any) -> str:
    if one is None:
        return ""
    return ",".join(map(str, one)) if isinstance(one, list | tuple | set) else str(one)


def labelled(kind: type[Operation], text: str) -> tuple[str, str]:
    """Return an engine's sentence with labels in place of options, and the first value it names.

    >>> from tabwb.operations.judge import JudgeRun
    >>> labelled(JudgeRun, "no price is known: use --max-requests")
    ("no price is known: use 'Max requests'", 'max_requests')
    """
    flags = {
        flag: value for value in values_of(kind) if value.arg.label for flag in value.flags
    }  # fmt: skip
    first = ""

    def words(found: re.Match[str]) -> str:
        nonlocal first
        value = flags.get(found[0])
        if value is None:
            return found[0]
        first = first or value.name
        return f"'{value.arg.label}'"

    return re.sub(r"--[a-z][a-z-]*[a-z]", words, text), first


def words_of(operation: Operation, names: Iterable[str]) -> list[str]:
    """Return the words of a command line that give some values again, without those that are empty.

    >>> from tabwb.operations.judge import JudgeRun
    >>> words_of(JudgeRun(judge=("rules",), everything=True), ("judge", "everything", "where"))
    ['--judge', 'rules', '--all']
    """
    words, values = [], {value.name: value for value in values_of(type(operation))}
    for name in names:
        given = getattr(operation, name)
        for each in given if values[name].many else (given,):
            if each:
                words += [values[name].flag] + ([] if each is True else [str(each)])
    return words


def check_chosen(ids: Sequence[int | str], where: Sequence[str], *, everything: bool) -> None:
    """Check that it is known which administrations are meant: all are never meant by themselves."""
    if not (ids or everything or where):
        raise UsageError(
            "no administration is chosen",
            allowed="numbers or uids, conditions (where), or all",
        )
    if ids and everything:
        raise UsageError("administrations cannot be named together with all")


def numbers_of(
    tools: Tools, ids: Sequence[int | str], where: Sequence[str], *, everything: bool
) -> list[int]:
    """Return the numbers of the administrations that are named or match, each once."""
    from tabwb.analysis.selection import matching

    if where or everything:
        tools.chosen[:] = dict.fromkeys(matching(tools.store, ids, where))
        return [*tools.chosen]
    return list(dict.fromkeys(tools.store.administration(one).id for one in ids))


def plugin_operation(plugins: Plugins, name: str) -> type[Operation] | None:
    """Return an operation that a plugin registers; None where none has this name.

    Raises:
        ComponentError: it cannot be used.
    """
    from tabwb.host.guarded import error_words, plugin_code

    found = [one for one in plugins.extensions("operations") if one.extension.id == name]
    if not found:
        return None
    where = f"operation '{name}' of the plugin '{found[0].owner}'"
    try:
        with plugin_code:
            kind = found[0].extension.load()
            if not (isinstance(kind, type) and issubclass(kind, Operation)):
                raise TypeError(f"load() gave {kind!r:.80}, not a subclass of Operation")
            if getattr(kind, "NAME", "") != name or not getattr(kind, "TITLE", ""):
                raise TypeError(f"it needs NAME = '{name}' and a TITLE")
            values_of(kind)
    except Exception as error:
        raise ComponentError(f"{where} cannot be used: {error_words(error)}") from error
    return kind

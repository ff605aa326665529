"""The declaration of each condition under which a battery is given, and what it is made of.

A new condition is a field of :class:`~tabwb.records.conditions.Conditions` and its entry in
:data:`CONDITIONS`; the command line, the dialog, the store, documents, exports and comparisons take
it from there. Declarations are named tuples: every start imports them, and a frozen dataclass takes
three times as long to make.
"""

# ruff: noqa: D102 - what the methods of a kind do is said once, below

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tabwb.records.errors import UsageError
from tabwb.records.states import Protocol

if TYPE_CHECKING:
    from tabwb.records.conditions import Conditions

NONE = "none"
"""Stands for no component, where one can be named."""
ColumnType = Literal["text", "integer", "number", "boolean", "list of text"]


class BadValue(ValueError):
    """A text or a value is not one of a kind; the message says what is wrong."""


# Of a kind of values, ``read`` gives what a person typed as a value, ``checked`` the value as it is
# stored, or raises BadValue; ``written`` gives the text back. ``allowed`` says what is accepted.


def _number(make: Callable[[str], Any], text: str) -> Any:
    try:
        return make(text)
    except ValueError:
        raise BadValue(f"'{text}' cannot be used") from None


def _accepted(value: Any, accepted: bool) -> Any:
    if not accepted:
        raise BadValue(f"'{value}' cannot be used")
    return value


class Whole(NamedTuple):
    """A whole number between two limits; ``optional``: nothing typed is None."""

    low: int
    high: int
    optional: bool = False
    column: ColumnType = "integer"

    @property
    def allowed(self) -> str:
        between = f" from {self.low} to {self.high}" if self.low >= 0 else ""
        return f"a whole number{between}"

    def read(self, text: str) -> int | None:
        return None if self.optional and not text.strip() else _number(int, text)

    def checked(self, value: Any) -> int:
        return int(_accepted(value, self.low <= value <= self.high))

    def written(self, value: Any) -> str:
        return "" if value is None else str(value)


class Real(NamedTuple):
    """A finite number between two limits; ``above``: the lower limit itself is excluded."""

    low: float
    high: float
    above: bool = False
    column: ColumnType = "number"

    @property
    def allowed(self) -> str:
        return f"{'above' if self.above else 'from'} {self.low:g} to {self.high:g}"

    def read(self, text: str) -> float:
        return float(_number(float, text))

    def checked(self, value: Any) -> float:  # NaN lies between no limits
        excluded = self.above and value == self.low
        _accepted(f"{value:g}", self.low <= value <= self.high and not excluded)
        return float(value)

    def written(self, value: Any) -> str:
        return f"{value:g}"


class OneOf(NamedTuple):
    """One of a few values, each as text with its words in the dialog; ``make`` reads the text."""

    values: Mapping[str, str]
    make: Callable[[str], Any] = str
    column: ColumnType = "text"

    @property
    def allowed(self) -> str:
        return ", ".join(self.values)

    def read(self, text: str) -> str:
        return text

    def checked(self, value: Any) -> Any:
        return self.make(_accepted(value, str(value) in self.values))

    def written(self, value: Any) -> str:
        return str(value)


class Switch(NamedTuple):
    """True or false; ``off`` and ``on`` are their words."""

    off: str
    on: str
    column: ColumnType = "boolean"
    allowed: str = "yes, no"

    @property
    def values(self) -> Mapping[str, str]:
        return {"no": self.off, "yes": self.on}

    def read(self, text: str) -> bool:
        return text == "yes"

    def checked(self, value: Any) -> bool:
        return bool(value)

    def written(self, value: Any) -> str:
        return "yes" if value else "no"


class Text(NamedTuple):
    """One line of text; ``empty`` is the value where nothing is given."""

    empty: str | None = None
    column: ColumnType = "text"
    allowed: str = ""

    def read(self, text: str) -> str | None:
        return text.strip() or self.empty

    def checked(self, value: Any) -> str | None:
        return value or self.empty

    def written(self, value: Any) -> str:
        return value or ""


class Texts(NamedTuple):
    r"""Several texts, two spaces between them; ``\n`` stands for a new line."""

    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        return tuple(part.replace("\\n", "\n") for part in text.split("  ") if part)

    def checked(self, value: Any) -> tuple[str, ...]:
        if "" in value:
            raise BadValue("an empty text would end every reply at once")
        return tuple(value)

    def written(self, value: Any) -> str:
        return "  ".join(text.replace("\n", "\\n") for text in value)


class Ids(NamedTuple):
    """Several ids with spaces or commas between; one that occurs twice counts once."""

    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        return tuple(text.replace(",", " ").split())

    def checked(self, value: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for text in value for part in self.read(text)))

    def written(self, value: Any) -> str:
        return " ".join(value)


class Component(NamedTuple):
    """The spec of a component, or ``none`` for no component (the value is None)."""

    registry: Literal["transcribers"]
    column: ColumnType = "text"
    allowed: str = ""

    def read(self, text: str) -> str:
        return text.strip()

    def checked(self, value: Any) -> str | None:
        return None if value in (None, "", NONE) else str(value)

    def written(self, value: Any) -> str:
        return value or NONE


class Components(NamedTuple):
    """The specs of several components with spaces between, or ``none`` (the value is empty)."""

    registry: Literal["judges"]
    column: ColumnType = "list of text"
    allowed: str = ""

    def read(self, text: str) -> tuple[str, ...]:
        return tuple(text.split()) or (NONE,)

    def checked(self, value: Any) -> tuple[str, ...]:
        if NONE in value and len(value) > 1:
            raise BadValue(f"'{NONE}' cannot be combined with others")
        return () if NONE in value else tuple(value)

    def written(self, value: Any) -> str:
        return " ".join(value) or NONE


Kind = Whole | Real | OneOf | Switch | Text | Texts | Ids | Component | Components
Audience = Literal["model", "typed", "spoken", "described"]
AUDIENCES: Mapping[Audience, str] = {
    "model": "models",
    "typed": "people who type",
    "spoken": "people who answer aloud",
    "described": "people whose spoken answers are judged",
}
"""To whom a battery is given."""
MODEL: frozenset[Audience] = frozenset({"model"})
SPOKEN: frozenset[Audience] = frozenset({"spoken", "described"})
WRITTEN: frozenset[Audience] = frozenset({"model", "typed"})
ANYBODY: frozenset[Audience] = frozenset(AUDIENCES)
PERSON: frozenset[Audience] = ANYBODY - MODEL


class ConditionError(UsageError):
    """A condition has a value that cannot be used."""

    def __init__(self, condition: Condition, message: str, allowed: str | None = None) -> None:
        super().__init__(message, where=condition.name, allowed=allowed)
        self.condition = condition


class Option(NamedTuple):
    """An option of a command, as click takes it.

    ``default`` is shown in ``--help``, None is not; ``value`` is what a flag stands for.
    """

    flag: str
    help: str | None
    command: str = "run"
    metavar: str | None = None
    default: object = None
    value: object = None


class Field(NamedTuple):
    """A field of the new-administration dialog; ``help`` has no final stop."""

    label: str
    help: str
    placeholder: str = ""


class Column(NamedTuple):
    """A column of the exported table.

    Conditions of ``decoding`` have what was sent with each request under ``decoding_NAME``, the
    others their value under their key in documents.
    """

    meaning: str
    unit: str = ""


class Line(NamedTuple):
    """A part of the line of conditions; ``always``: where the default is shown too."""

    template: str = "{}"
    always: Callable[[Conditions], bool] = lambda conditions: False


class Comparison(NamedTuple):
    """How a condition is compared; administrations in which it differs are not pooled."""

    name: str  # in documents and tables; conditions with one name are shown as one
    title: str
    bare: bool = False  # the value says what it is: the title is left out beside it
    applies: Callable[[Conditions], bool] = lambda conditions: True  # it can change an answer
    stated: str | None = None  # the name in a group's description; None: ``name``; empty: left out


class Condition(NamedTuple):
    """The declaration of one condition."""

    id: str
    kind: Kind
    path: str = ""  # the attribute of the record (``decoding.temperature``); empty: as ``id``
    given_to: frozenset[Audience] = ANYBODY
    asked: Any = None  # the value where nobody names one; None: the record's default
    otherwise: Any = None  # for whom it does not apply to; None: the record's default
    options: tuple[Option, ...] = ()
    field: Field | None = None
    key: str | None = None  # its place in JSON documents; None: as ``path``; empty: none
    column: Column | None = None
    stored: bool = False  # whether the store has its own column, beside the JSON of all
    before: Any = None  # of administrations stored before it existed; None: the record's default
    words: Callable[[Conditions], str] | None = None  # None: as the kind writes the value
    reported: Callable[[Conditions], Any] | None = None  # in documents; None: the value itself
    line: Line | None = None
    comparison: Comparison | None = None  # None: administrations that differ are pooled

    def applies_to(self, kind: str) -> bool:
        """Return whether it applies to ``model`` or to some ``speaker``."""
        return bool(self.given_to & (MODEL if kind == "model" else PERSON))

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.id.replace("_", " ")

    @property
    def document_key(self) -> str:
        """Its place in JSON documents; empty where they leave it out."""
        return (self.path or self.id) if self.key is None else self.key

    @property
    def place(self) -> tuple[str, str]:
        """The record that holds the value (empty: the conditions themselves) and its attribute."""
        record, _, attribute = (self.path or self.id).rpartition(".")
        return record, attribute

    def of(self, conditions: Conditions) -> Any:
        """Return the value under which an administration is given."""
        return attrgetter(self.path or self.id)(conditions)

    def in_words(self, conditions: Conditions) -> str:
        """Return the value in words."""
        if self.words:
            return self.words(conditions)
        unknown = self.id in conditions.unknown
        return "not known" if unknown else self.kind.written(self.of(conditions))

    def restored(self, value: Any) -> Any:
        """Return the value from plain data of a document or the store."""
        if isinstance(value, list):
            return tuple(value)
        return self.kind.make(value) if isinstance(self.kind, OneOf) else value

    def in_document(self, conditions: Conditions) -> Any:
        """Return the value as a document holds it."""
        if self.id in conditions.unknown:
            return None
        return plain(self.of(conditions) if self.reported is None else self.reported(conditions))

    def checked(self, value: object) -> Any:
        """Return a value after checking it, or raise :class:`ConditionError`."""
        return self._guarded(self.kind.checked, value)

    def read(self, text: str) -> Any:
        """Return the value that a person typed, or raise :class:`ConditionError`."""
        return self._guarded(self.kind.read, text)

    def _guarded(self, work: Callable[[Any], Any], value: object) -> Any:
        try:
            return work(value)
        except BadValue as error:
            raise ConditionError(self, str(error), self.kind.allowed or None) from None


def plain(value: Any) -> Any:
    """Return a value as plain data: numbers, texts, lists."""
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, Enum) else value


def _token_limit(conditions: Conditions) -> str:
    limit = conditions.decoding.max_tokens
    if conditions.token_limits == "battery":
        return "the battery's token limits"
    return f"{limit} tokens" if conditions.token_limits == "run" else f"at most {limit} tokens"


def _draws(conditions: Conditions) -> bool:
    """Return whether anything may be drawn at random: a person has only orders."""
    orders = conditions.item_order, conditions.option_order
    return conditions.kind == "model" or "shuffled" in orders


CONDITIONS: tuple[Condition, ...] = (
    Condition(
        "seed", Whole(-(2**53), 2**53),  # what every store and every reader of JSON keeps exactly
        options=(Option("--seed", "The seed of random orders and sampling.", default=1),
            Option("--seed", "Of the items' order.", command="name", default=1)),
        field=Field("Seed", "of random orders and of sampling; greedy answers do not depend on it"),
        column=Column("of the run; decoding_seed is the reply's own"), stored=True,
        line=Line("seed {}", always=_draws),
    ),
    Condition(
        "temperature", Real(0, 10), path="decoding.temperature", given_to=MODEL,
        options=(Option("--temperature", "0 is greedy decoding.", default=0.0),),
        field=Field("Temperature",
            "0 is greedy decoding; above 0 answers are sampled, by the seed"),
        column=Column("sent with this response's request; 0 is greedy"),
        words=lambda conditions: conditions.drawn, line=Line(always=lambda conditions: True),
        comparison=Comparison("decoding", "decoding", bare=True),
    ),
    Condition(
        "top_p", Real(0, 1, above=True), path="decoding.top_p", given_to=MODEL,
        options=(Option("--top-p", None, default=1.0),),
        field=Field("Top p", "nucleus mass, above 0 to 1"),
        column=Column("sent with this request; empty if it was not", "probability"),
        words=lambda conditions: conditions.drawn,
        comparison=Comparison("decoding", "decoding", bare=True),
    ),
    Condition(
        "max_tokens", Whole(1, 100_000, optional=True), path="decoding.max_tokens", given_to=MODEL,
        options=(Option("--max-tokens",
            "Token limit of every reply, instead of the battery's own limits. Without "
            "it each subtest's limit holds, and 256 where it has none."),),
        field=Field("Max tokens",
            "token limit of every reply; empty: the battery's limits (256 where it has none)",
            "as in the battery"),
        # Where each subtest has its own, no one number is true of the whole.
        reported=lambda conditions: (
            None if conditions.token_limits == "battery" else conditions.decoding.max_tokens
        ),
        column=Column("token limit sent with this request", "tokens"), words=_token_limit,
        comparison=Comparison("limits", "token limits", bare=True, stated="decoding"),
    ),
    Condition(
        "token_limits", OneOf({"battery": "", "run": "", "smaller": ""}),
        key="decoding.token_limits", given_to=MODEL,
        before="smaller",  # the only rule before there was a choice
        words=_token_limit,
        comparison=Comparison("limits", "token limits", bare=True, stated="decoding"),
    ),
    Condition(
        "stop", Texts(), path="decoding.stop", given_to=MODEL,
        options=(Option("--stop", "Ends a reply; repeatable.", metavar="TEXT"),),
        field=Field("Stop sequences",
            "texts that end a reply, two spaces between them; \\n is a new line"),
        column=Column("stop sequences of this request"),
        words=lambda conditions: " | ".join(conditions.decoding.stop),
        comparison=Comparison("stop", "stop sequences", stated=""),
    ),
    Condition(
        "replicates", Whole(1, 100_000), given_to=WRITTEN,
        options=(Option("--replicates",
            "Number of times each item is given. Default: 1; for replay:FILE as in the file."),),
        field=Field("Replicates", "how often each item is given; greedy answers repeat themselves"),
        column=Column("the planned number of times of each item"), line=Line("{} replicates"),
    ),
    Condition(
        "protocol",
        OneOf({"generate": "written freely (generate)",
            "enforced": "held to the options (enforced)",
            "likelihood": "the likeliest option (likelihood)"}, Protocol), given_to=MODEL,
        options=(Option("--protocol",
            "How a model answers items with options: freely, restricted to the options,"
            " or by the likeliest option. Items without options are always answered freely.",
            default="generate"),),
        field=Field("Answers",
            "how items with options are answered; the others are always answered freely"),
        column=Column("of the run: generate, enforced or likelihood"), stored=True,
        line=Line("protocol {}", always=lambda conditions: True),
        comparison=Comparison("protocol", "protocol"),
    ),
    Condition(
        "lesion", Text(), given_to=MODEL,
        options=(Option("--lesion",
            "Lesion of the model: TARGET:OP[:AMOUNT][@key=value,...], several joined by"
            " +, for example mlp.down:zero:0.3@seed=7. 'tabwb lesion targets' lists "
            "what a model has.", metavar="SPEC"),),
        field=Field("Lesion", "TARGET:OPERATION[:AMOUNT][@key=value,...], for example "
            "mlp.down:zero:0.3@seed=7; empty: the intact model. The laboratory (b on "
            "the first page) makes such a spec", "none"), column=Column("the lesion's spec"),
        stored=True, line=Line("lesion {}"), comparison=Comparison("lesion", "lesion", stated=""),
    ),
    Condition(
        "prompt_noise", Text(), given_to=MODEL,
        options=(Option("--prompt-noise",
            "Perturbation of the items' texts: UNIT:OPERATION[:AMOUNT][@seed=N], for "
            "example words:drop:0.2@seed=3 or characters:swap:0.1. Options and instructions stay.",
            metavar="SPEC"),), column=Column("the spec of the perturbation of the items' texts"),
        line=Line("prompt noise {}"), comparison=Comparison("prompt-noise", "prompt noise"),
    ),
    Condition(
        "system_message", Text(), given_to=MODEL,
        options=(Option("--system",
            "Send this system message in place of the battery's; 'none' sends no system message.",
            metavar="TEXT"),),
        column=Column("the system message sent in place of the battery's, or none"),
        line=Line("system message {}"), comparison=Comparison("system-message", "system message"),
    ),
    Condition(
        "conversation", Switch("fresh for each", "one conversation"), given_to=MODEL,
        options=(Option("--conversation", "Keep one context over all items."),),
        field=Field("Context",
            "one conversation: earlier items and answers are sent before each prompt"),
        column=Column("whether the context contains the earlier items"),
        words=lambda conditions: "one conversation" if conditions.conversation else "item by item",
        line=Line(), comparison=Comparison("context", "context", bare=True),
    ),
    Condition(
        "item_order", OneOf({"as-given": "as given", "shuffled": "shuffled"}),
        options=tuple(
            Option("--shuffle-items", "Shuffle items within their subtest.", command=command,
                value="shuffled")
            for command in ("run", "name")
        ),
        field=Field("Items", "items keep to their subtest"), column=Column("as-given or shuffled"),
        line=Line("items {}"),
        # The order matters only in one conversation: elsewhere each item is sent by itself.
        comparison=Comparison("items", "item order",
            applies=lambda conditions: conditions.conversation),
    ),
    Condition(
        "option_order",
        OneOf({"as-given": "as given", "shuffled": "shuffled", "rotated": "in all rotations"}),
        given_to=WRITTEN,
        options=(Option("--shuffle-options", "Shuffle the options of each item.", value="shuffled"),
            Option("--rotate-options", "Give each item in all its rotations.", value="rotated")),
        field=Field("Options",
            "in all rotations: each item once for every rotation of its options"),
        column=Column("as-given, shuffled or rotated"), line=Line("options {}"),
        comparison=Comparison("options", "option order"),
    ),
    Condition(
        "part_subtests", Ids(), given_to=WRITTEN,
        options=(Option("--subtest", "Give only this subtest; repeatable.", metavar="ID"),),
        field=Field("Subtests", "ids of the subtests to give, with spaces between; empty: all"),
        column=Column("the subtests given; empty: all"), words=lambda conditions: conditions.part,
        line=Line(), comparison=Comparison("part", "part of the battery", bare=True),
    ),
    Condition(
        "part_items", Ids(), given_to=WRITTEN,
        options=(Option("--item",
            "Give only this item; repeatable. SUBTEST/ITEM if the id is not unique.",
            metavar="ID"),),
        field=Field("Items only", "ids of the items to give, with spaces between; empty: all"),
        column=Column("the items given; empty: all"), words=lambda conditions: conditions.part,
        comparison=Comparison("part", "part of the battery", bare=True),
    ),
    Condition(
        "part_limit", Whole(1, 100_000, optional=True), given_to=WRITTEN,
        options=(Option("--limit",
            "Give only this number of items of each subtest, the first ones."),),
        field=Field("Item limit", "number of items of each subtest, the first ones; empty: all",
            "all"), column=Column("the number of items of each subtest; empty: all", "items"),
        words=lambda conditions: conditions.part,
        comparison=Comparison("part", "part of the battery", bare=True),
    ),
    Condition(
        "research_protocol", Text(), given_to=PERSON,
        options=(Option("--research-protocol",
            "The protocol under which a battery made for models is given to a person.",
            metavar="ID"),),
        field=Field("Protocol ID",
            "the approved protocol under which this battery is given to a person"),
        column=Column("the protocol under which a person took a battery for models"), stored=True,
        line=Line("research protocol {}"),
    ),
    Condition(
        "judges", Components("judges"), given_to=WRITTEN | {"described"}, asked=("rules",),
        otherwise=(),
        options=(Option("--judge",
            "Judge of connected text; repeatable. Default: rules. 'none': no judge.",
            metavar="SPEC"),),
        field=Field("Judges",
            "specs of judges with spaces between, or none; down lists them; one that "
            "asks a model is named with it (tab-2026:gemini:gemini-2.5-flash) and "
            "judges afterwards"),
    ),
    Condition(
        "transcriber", Component("transcribers"), given_to=SPOKEN, asked="bundled-words",
        options=(Option("--transcriber",
            "The transcriber of the responses; 'none': no transcription. With --resume:"
            " the transcriber from now on.", command="name", metavar="SPEC",
            default="bundled-words"),),
        field=Field("Transcriber",
            "what hears the responses, a draft; or none: descriptions are then typed"), key="",
    ),
    Condition(
        "rater", Text(""), given_to=SPOKEN,
        options=(Option("--rater", "Rater code of the person who scores by ear.", command="name",
            metavar="ID"),),
        field=Field("Scored by", "the rater code of the person who scores by ear; may be empty"),
        key="",
    ),
)  # fmt: skip
"""Every condition, in the order in which documents, tables and screens have them."""


SUBJECT = frozenset({
    "examinee", "kind", "decoding", "labels", "origin", "participant", "session_date", "unknown",
})  # fmt: skip
"""Fields of the record that say who was given a battery and when; ``decoding`` holds conditions."""

"""The conditions under which a battery is given to an examinee.

Each is declared in :mod:`tabwb.records.declared_conditions`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tabwb.records import declared_conditions
from tabwb.records.declared_conditions import (
    AUDIENCES,
    PERSON,
    Audience,
    ColumnType,
    Comparison,
    Condition,
    ConditionError,
    Whole,
)
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol

if TYPE_CHECKING:
    from tabwb.records.speakers import Origin

ExamineeKind = Literal["model", "speaker"]
OptionOrder = Literal["as-given", "shuffled", "rotated"]
ItemOrder = Literal["as-given", "shuffled"]
TokenLimits = Literal["battery", "run", "smaller"]

IMPORTED = "imported:"
"""Begins the spec of a model whose answers were imported and that no back end here can ask."""
RECORDED = "replay:"
"""Begins the spec of the model that reads recorded answers."""
FUNCTION = "python:"
"""Begins the spec of a function that was given from Python."""
PARENT, DOSE, DOSE_NAME = "parent", "dose", "dose_name"
"""Labels of a checkpoint: the model that it comes from, how far it is from it, and in what."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that fixes how a battery is given; a change of it is another administration.

    Attributes:
        examinee: a model's spec or a speaker's study id.
        seed: of item order, option order and sampling; each reply's own seed is derived from it
            (:func:`tabwb.records.specs.reply_seed`).
        decoding: how text is drawn (models only).
        conversation: keep one context over all items instead of a fresh one for each.
        option_order: rotated: one trial per rotation of the options.
        judges: specs of the raters to run on each response, besides the subtests' scorers.
        research_protocol: names the protocol under which a model-only battery is given to a person.
        labels: what the user's profile says of the model (``family``, ``tuning``, ``parameters``),
            and its name (``profile``); of a checkpoint also ``parent``, ``dose`` and ``dose_name``.
        rater: who scores spoken answers by ear: a study ID, or empty.
        origin: of an import, or of recorded answers that are replayed, who made the answers; None
            where they were given here.
        session_date: the day of the answers, ``2024-03-09``; empty where it is not known; None for
            answers given here, which are of the day of the administration.
        token_limits: which limit a reply has. ``battery``: the subtest's own, else
            ``decoding.max_tokens``. ``run``: ``decoding.max_tokens``. ``smaller``: the smaller of
            both, as in administrations of earlier versions.
        participant: of a person's recorded answers that are replayed, the person's study ID.
        part_subtests, part_items: ids of what is given of the battery; empty: everything. An item
            is named by its id, or as ``SUBTEST/ITEM``.
        part_limit: of each subtest only so many of its first items are given; None: all.
        unknown: ids of conditions that the source of imported answers does not state, or that a
            function in Python does not get; their fields have the defaults.
        system_message: sent to the model in place of the battery's system message, ``none`` for no
            message; None: the battery's.
    """

    examinee: str
    kind: ExamineeKind
    seed: int = 1
    replicates: int = 1
    protocol: Protocol = Protocol.GENERATE
    decoding: Decoding = field(default_factory=Decoding)
    conversation: bool = False
    item_order: ItemOrder = "as-given"
    option_order: OptionOrder = "as-given"
    judges: tuple[str, ...] = ("rules-2",)
    research_protocol: str | None = None
    lesion: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    transcriber: str | None = None
    rater: str = ""
    origin: Origin | None = None
    session_date: str | None = None
    token_limits: TokenLimits = "battery"
    participant: str = ""
    part_subtests: tuple[str, ...] = ()
    part_items: tuple[str, ...] = ()
    part_limit: int | None = None
    unknown: tuple[str, ...] = ()
    prompt_noise: str | None = None
    system_message: str | None = None

    @property
    def drawn(self) -> str:
        """How a model's answers were drawn, in words; recorded answers were not drawn here.

        >>> sampled = Decoding(temperature=0.7, top_p=0.9)
        >>> Conditions("bundled", "model", decoding=sampled).drawn
        'temperature 0.7, top-p 0.9'
        >>> Conditions("bundled", "model").drawn, Conditions("replay:answers.jsonl", "model").drawn
        ('greedy', 'recorded answers')
        >>> Conditions("python:f", "model", unknown=("temperature", "top_p")).drawn
        'decoding not known'
        """
        if "temperature" in self.unknown and self.examinee.startswith(FUNCTION):
            return "decoding not known"
        if self.examinee.startswith(RECORDED) or "temperature" in self.unknown:
            return "recorded answers"
        if self.decoding.greedy:
            return "greedy"
        nucleus = f", top-p {self.decoding.top_p:g}" if self.decoding.top_p != 1 else ""
        return f"temperature {self.decoding.temperature:g}{nucleus}"

    @property
    def is_part(self) -> bool:
        """Whether only a part of the battery is given."""
        return bool(self.part_subtests or self.part_items) or self.part_limit is not None

    @property
    def part(self) -> str:
        """What is given of the battery, in words.

        >>> Conditions("echo", "model").part
        'whole battery'
        >>> Conditions("echo", "model", part_subtests=("naming",), part_limit=3).part
        'part: naming, 3 of each subtest'
        """
        first = [] if self.part_limit is None else [f"{self.part_limit} of each subtest"]
        named = (*self.part_subtests, *self.part_items, *first)
        return f"part: {', '.join(named)}" if self.is_part else "whole battery"

    @property
    def is_imported(self) -> bool:
        """Whether the answers are a model's that were imported: no model here is to be asked.

        >>> Conditions("imported:openai/gpt-4o", "model", origin="model").is_imported
        True
        """
        if self.kind != "model" or self.examinee.startswith(RECORDED):
            return False
        return self.origin == "model" or self.examinee.startswith(IMPORTED)

    @property
    def made_by(self) -> Origin:
        """Who made the answers: of an import as it says, else what the examinee is.

        >>> Conditions("S-014", "speaker").made_by, Conditions("echo", "model").made_by
        ('human', 'model')
        >>> Conditions("somebody", "speaker", origin="unknown").made_by
        'unknown'
        """
        return self.origin or ("model" if self.kind == "model" else "human")

    @property
    def person(self) -> str:
        """Whose consents count where the answers are guarded: a study ID, if one is known.

        >>> Conditions("replay:a.jsonl", "model", origin="human", participant="S-014").person
        'S-014'
        """
        return self.participant or self.examinee

    @property
    def study_id(self) -> str | None:
        """The study ID of whoever made the answers; None of a model, and where it is not known.

        >>> Conditions("S-014", "speaker").study_id
        'S-014'
        """
        return self.participant or (self.examinee if self.kind == "speaker" else None)

    @property
    def guarded(self) -> bool:
        """Whether the answers are, or may be, a person's: then consents are asked for.

        >>> Conditions("somebody", "model", origin="unknown").guarded
        True
        """
        return self.made_by != "model"


def declared(condition_id: str) -> Condition:
    """Return the condition of this id."""
    return next(known for known in declared_conditions.CONDITIONS if known.id == condition_id)


def default_text(condition: Condition) -> str:
    """Return what a field of the dialog holds before anything is typed.

    >>> [default_text(declared(name)) for name in ("seed", "max_tokens", "judges", "transcriber")]
    ['1', '', 'rules', 'bundled-words']
    """
    if isinstance(condition.kind, Whole) and condition.kind.optional:
        return ""
    asked = condition.asked
    return condition.kind.written(condition.of(Conditions("", "model")) if asked is None else asked)


def conditions_of(examinee: str, audience: Audience, values: Mapping[str, object]) -> Conditions:
    """Return the conditions of an administration that is to begin, specs not yet resolved.

    >>> conditions_of("echo", "model", {"seed": 3, "judges": ("none",)}).judges
    ()
    """
    records: dict[str, dict[str, Any]] = {"": {}, "decoding": {}}
    usual = Conditions("", "model")
    for condition in declared_conditions.CONDITIONS:
        record, attribute = condition.place
        value, default = values.get(condition.id), condition.of(usual)
        applies = audience in condition.given_to
        if value is not None:
            value = condition.checked(value)
            if not applies and value != default:
                people = condition.given_to >= PERSON
                named = condition.given_to - PERSON if people else condition.given_to
                meant = [words for name, words in AUDIENCES.items() if name in named]
                meant += ["people"] if people else []
                raise ConditionError(condition, f"applies only to {' and '.join(meant)}")
        elif applies and condition.asked is not None:
            value = condition.checked(condition.asked)
        else:
            value = default
        if not applies and condition.otherwise is not None:
            value = condition.otherwise
        records[record][attribute] = value
    own = records[""]
    if values.get("max_tokens") is not None:
        own["token_limits"] = "run"
    records["decoding"]["seed"] = own["seed"]
    return Conditions(
        examinee=examinee,
        kind="model" if audience == "model" else "speaker",
        decoding=Decoding(**records["decoding"]),
        **own,
    )


def conditions_from(data: Mapping[str, Any]) -> Conditions:
    """Return conditions from the plain data of ``asdict``, also of an earlier version."""
    records: dict[str, dict[str, Any]] = {"": dict(data), "decoding": dict(data["decoding"])}
    for condition in declared_conditions.CONDITIONS:
        record, attribute = condition.place
        holder = records[record]
        if attribute in holder:
            holder[attribute] = condition.restored(holder[attribute])
        elif condition.before is not None:
            holder[attribute] = condition.before
    records[""]["unknown"] = tuple(data.get("unknown", ()))
    return Conditions(**{**records[""], "decoding": Decoding(**records["decoding"])})


def document_of(given: Conditions) -> dict[str, Any]:
    """Return the conditions as a JSON document holds them; ``decoding`` is None for a person.

    >>> document_of(Conditions("echo", "model", seed=7))["seed"]
    7
    """
    document: dict[str, Any] = {"decoding": {}}
    for condition in declared_conditions.CONDITIONS:
        group, _, name = condition.document_key.rpartition(".")
        if name:
            (document[group] if group else document)[name] = condition.in_document(given)
    document["decoding"]["seed"] = None if "seed" in given.unknown else given.decoding.seed
    return document if given.kind == "model" else {**document, "decoding": None}


def decoding_columns() -> dict[str, ColumnType]:
    """Return the type of each part of the decoding that is sent with a request.

    >>> sorted(decoding_columns())
    ['max_tokens', 'seed', 'stop', 'temperature', 'top_p']
    """
    places = ((one.place, one.kind.column) for one in declared_conditions.CONDITIONS)
    sent = {name: column for (record, name), column in places if record == "decoding"}
    return {**sent, "seed": "integer"}


def line_of(given: Conditions) -> dict[str, str]:
    """Return the line of conditions: condition to words, where they are to be shown.

    The seed is shown of a person only where something is shuffled, or where it is not the default.

    >>> list(line_of(Conditions("echo", "model", seed=7, replicates=3)).values())
    ['seed 7', 'greedy', '3 replicates', 'protocol generate']
    >>> line_of(Conditions("S-014", "speaker"))
    {}
    """
    usual = Conditions(given.examinee, given.kind)
    return {
        condition.id: condition.line.template.format(condition.in_words(given))
        for condition in declared_conditions.CONDITIONS
        if condition.line is not None
        and condition.applies_to(given.kind)
        and (condition.line.always(given) or condition.in_words(given) != condition.in_words(usual))
    }


def compared(given: Conditions, pooled: Collection[str] = ()) -> dict[str, str]:
    """Return what must be alike for responses to be pooled: name to value in words.

    >>> compared(Conditions("echo", "model"))["decoding"]
    'greedy'
    >>> compared(Conditions("echo", "model"), ["temperature"])["top_p"]
    '1'
    """
    conditions = declared_conditions.CONDITIONS
    partly = {one.comparison.name for one in conditions if one.comparison and one.id in pooled}
    facts: dict[str, str] = {}
    for condition, words in _comparable(given):
        comparison = condition.comparison
        assert comparison is not None
        if condition.id in pooled or not comparison.applies(given):
            continue
        if comparison.name in partly:
            facts[condition.id] = condition.kind.written(condition.of(given))
        else:
            facts[comparison.name] = words
    return facts


def described(given: Conditions) -> dict[str, str]:
    """Return how an administration is described beside others: name to value in words.

    >>> described(Conditions("echo", "model"))["decoding"]
    "greedy, the battery's token limits"
    """
    parts: dict[str, dict[str, None]] = {}
    for condition, words in _comparable(given):
        assert condition.comparison is not None
        name = condition.comparison.stated
        name = condition.comparison.name if name is None else name
        if name:
            parts.setdefault(name, {})[words] = None
    return {name: ", ".join(words) for name, words in parts.items()}


def title_of(name: str) -> str:
    """Return what people read for a name in :func:`compared`; of anything else the name itself."""
    comparison = _comparison(name)
    return name if comparison is None else comparison.title


def phrase_of(name: str, value: str) -> str:
    """Return a value of :func:`compared` with its title, where it needs one.

    >>> phrase_of("options", "shuffled"), phrase_of("decoding", "greedy")
    ('option order shuffled', 'greedy')
    """
    comparison = _comparison(name)
    bare = comparison is not None and comparison.bare
    return value if bare else f"{title_of(name)} {value}"


def _comparison(name: str) -> Comparison | None:
    comparisons = (condition.comparison for condition in declared_conditions.CONDITIONS)
    return next((known for known in comparisons if known and known.name == name), None)


def _comparable(given: Conditions) -> Iterator[tuple[Condition, str]]:
    for condition in declared_conditions.CONDITIONS:
        if condition.comparison is not None and condition.applies_to(given.kind):
            words = condition.in_words(given)
            if words:
                yield condition, words

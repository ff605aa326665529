"""What the declarations of conditions give: values, documents, lines and comparisons.

Every function reads :data:`tabwb.records.declared_conditions.CONDITIONS` when it is called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tabwb.records import declared_conditions
from tabwb.records.conditions import Conditions
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


def declared(condition_id: str) -> Condition:
    """Return the condition of this id."""
    return next(
        condition for condition in declared_conditions.CONDITIONS if condition.id == condition_id
    )


def default_of(condition: Condition) -> Any:
    """Return the value of a condition in a record that does not name it."""
    return condition.of(Conditions("", "model"))


def default_text(condition: Condition) -> str:
    """Return what a field of the dialog holds before anything is typed.

    >>> [default_text(declared(name)) for name in ("seed", "max_tokens", "judges", "transcriber")]
    ['1', '', 'rules', 'bundled-words']
    """
    if isinstance(condition.kind, Whole) and condition.kind.optional:
        return ""
    value = default_of(condition) if condition.asked is None else condition.asked
    return condition.kind.written(value)


def _audience_words(given_to: frozenset[Audience]) -> str:
    people = ["people"] if given_to >= PERSON else []
    named = given_to - PERSON if people else given_to
    names = [words for name, words in AUDIENCES.items() if name in named] + people
    return " and ".join(names)


def conditions_of(examinee: str, audience: Audience, values: Mapping[str, object]) -> Conditions:
    """Return the conditions of an administration that is to begin, specs not yet resolved.

    >>> conditions_of("echo", "model", {"seed": 3, "judges": ("none",)}).judges
    ()
    """
    records: dict[str, dict[str, Any]] = {"": {}, "decoding": {}}
    for condition in declared_conditions.CONDITIONS:
        record, attribute = condition.place
        value = values.get(condition.id)
        applies = audience in condition.given_to
        if value is not None:
            value = condition.checked(value)
            if not applies and value != default_of(condition):
                meant = _audience_words(condition.given_to)
                raise ConditionError(condition, f"applies only to {meant}")
        elif applies and condition.asked is not None:
            value = condition.checked(condition.asked)
        else:
            value = default_of(condition)
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
    places = (
        (condition.place, condition.kind.column) for condition in declared_conditions.CONDITIONS
    )
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
    partly = {
        condition.comparison.name
        for condition in declared_conditions.CONDITIONS
        if condition.comparison is not None and condition.id in pooled
    }
    facts: dict[str, str] = {}
    for condition, words in _comparable(given):
        comparison = condition.comparison
        if comparison is None or condition.id in pooled or not comparison.applies(given):
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

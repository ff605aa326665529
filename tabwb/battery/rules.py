"""What must hold of a battery file beyond the types of its keys, and how all of it is checked."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from tabwb.battery.problems import control_character
from tabwb.battery.task_type import TaskType, code_of, plugins_of_tasks, task_type, tasks_for
from tabwb.battery.toml_schema import (
    BatteryFile,
    BatteryTable,
    GroupingTable,
    SourcedTextTable,
    SubtestKeys,
    allowed_keys,
    battery_file,
    required_keys,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.languages import tag_problem
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.specs import parse_spec
from tabwb.records.words import near
from tabwb.scoring.text import normalised

FIELDS = ("{instructions}", "{prompt}", "{options}")
_FIELD = re.compile(r"\{\s*\w*\s*\}")
_OF_EVERY_SUBTEST = (
    *("id", "title", "response", "source", "expected_source", "administrator", "instructions"),
    *("template", "scorers", "max_tokens", "item"),
)
_OF_EVERY_ITEM = ("id", "tags", "cluster", "practice", "reference", "metadata")


@dataclass(frozen=True, slots=True)
class Scorers:
    """The ids that a battery may name, and what is wrong with the options of a spec, or None."""

    ids: Collection[str]
    problem: Callable[[str], TabwbError | None] = lambda spec: None


def broken_rules(battery: BatteryFile, scorers: Scorers | None = None) -> Iterator[Broken]:
    """Yield every rule that does not hold."""
    yield from unique_ids(("subtest",), [subtest.id for subtest in battery.subtest], "subtest")
    yield from unique_ids(("feature",), [feature.id for feature in battery.feature], "feature")
    yield from unique_ids(("grouping",), [grouping.id for grouping in battery.grouping], "grouping")
    keys = Counter(feature.key for feature in battery.feature)
    for index, feature in enumerate(battery.feature):
        if keys[feature.key] > 1:
            where = ("feature", index, "key")
            yield Broken(where, "this key is given twice", shortened(feature.key))
    yield from _sourced(("battery", "system"), battery.battery.system)
    yield from _language(battery.battery)
    head = battery.battery.model_dump(exclude_unset=True)
    for index, subtest in enumerate(battery.subtest):
        yield from _subtest(("subtest", index), subtest, scorers, head)
    for subtest in battery.subtest:
        if "model" in battery.battery.examinees and any(item.picture for item in subtest.item):
            yield Broken(
                ("battery", "examinees"),
                f"a model is shown no pictures ('{subtest.id}' has some)",
                ", ".join(battery.battery.examinees),
                'examinees = ["speaker"]',
            )
            break
    yield from control_characters((), battery.model_dump(exclude_defaults=True))
    features = [feature.id for feature in battery.feature]
    for index, grouping in enumerate(battery.grouping):
        yield from _grouping(("grouping", index), grouping, features)


def _language(head: BatteryTable) -> Iterator[Broken]:
    path = ("battery", "language")
    if problem := tag_problem(head.language):
        message, meant = problem
        allowed = "a BCP 47 tag: en, de, pt-BR, zh-Hant"
        yield Broken(path, message, shortened(head.language), allowed, meant)
    for key, other in (("yes", "no"), ("no", "yes")):
        words = getattr(head, key)
        if words and not getattr(head, other):
            yield Broken(("battery", other), "this key is missing", "", f"the words for {other}")
        folded = Counter(normalised(word, head.language) for word in words)
        against = {normalised(word, head.language) for word in getattr(head, other)}
        for index, word in enumerate(words):
            name, wrong = normalised(word, head.language), ""
            if not name:
                wrong = "this is not a word"
            elif folded[name] > 1:
                wrong = "this word is given twice"
            elif name in against:
                wrong = f"this word is in '{other}' too"
            if wrong:
                yield Broken(("battery", key, index), wrong, shortened(word))


def _subtest(
    path: KeyPath, subtest: SubtestKeys, scorers: Scorers | None, head: Mapping[str, Any]
) -> Iterator[Broken]:
    yield from unique_ids((*path, "item"), [item.id for item in subtest.item], "item")
    for name in ("administrator", "instructions"):
        yield from _sourced((*path, name), getattr(subtest, name))
    task = task_type(subtest.response)
    table = subtest.model_dump(exclude_unset=True)
    yield from _template(path, subtest, task)
    for key in table:
        if key not in _OF_EVERY_SUBTEST and key not in task.rules:
            problem = f"a subtest of response '{task.kind}' has no such rule"
            yield Broken((*path, key), problem, "", "none")
    for index, item in enumerate(table["item"]):
        yield from _item((*path, "item", index), item, task)
    with code_of(task):
        problems = list(task.check(path, {**table, "battery": head}))
    yield from problems
    if all(item.practice for item in subtest.item):
        problem = "every item is a practice item"
        yield Broken((*path, "item"), problem, "", "at least one that counts")
    for index, scorer in enumerate(subtest.scorers or ()):
        yield from _scorer((*path, "scorers", index), scorer, scorers)


def _scorer(path: KeyPath, scorer: str, scorers: Scorers | None) -> Iterator[Broken]:
    try:
        spec = parse_spec(scorer, examples="choice or x@threshold=0.5")
    except UsageError as error:
        yield Broken(path, error.message, shortened(scorer), error.allowed or "")
        return
    if scorers is None:
        return
    if spec.id not in scorers.ids:
        known = sorted(scorers.ids)
        what, allowed = "there is no such scorer", ", ".join(known)
        yield Broken(path, what, shortened(scorer), allowed, near(spec.id, known))
    elif (problem := scorers.problem(scorer)) is not None:
        yield Broken(path, problem.message, shortened(scorer), problem.allowed or "")


def _plain_values(path: KeyPath, value: Any) -> Iterator[Broken]:
    """Yield what JSON cannot hold: dates, times, and numbers that are not finite."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain_values((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _plain_values((*path, index), inner)
    elif not isinstance(value, (str, int)) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        allowed = "strings, numbers, true, false, arrays, tables"
        yield Broken(path, "not a plain value", shortened(str(value)), allowed)


def _template(path: KeyPath, subtest: SubtestKeys, task: TaskType) -> Iterator[Broken]:
    where, template = (*path, "template"), subtest.template
    value = shortened(template)
    if "{prompt}" not in template:
        yield Broken(where, "the prompt has no place", value, "{prompt}")
    for field in dict.fromkeys(_FIELD.findall(template)):
        if field not in FIELDS:
            yield Broken(where, "no such field", field, ", ".join(FIELDS), near(field, FIELDS))
    if subtest.instructions is not None and "{instructions}" not in template:
        problem = "the instructions have no place, so they would never be sent"
        yield Broken(where, problem, value, "{instructions}")
    if not task.options and "{options}" in template:
        problem = f"response '{subtest.response}' has no options, so {{options}} would be empty"
        yield Broken(where, problem, value, "{instructions}, {prompt}")
    if task.options and "{options}" not in template:
        problem = "the options have no place, so the examinee would never see them"
        yield Broken(where, problem, value, "{options}")


def _item(path: KeyPath, item: Mapping[str, Any], task: TaskType) -> Iterator[Broken]:
    for key in task.needs:
        value = item.get(key)
        if key not in item:
            allowed = "at least one" if key == "accept" else ""
            yield Broken((*path, key), f"this key is missing (response '{task.kind}')", "", allowed)
        elif not value or (isinstance(value, str) and not value.strip()):
            yield Broken((*path, key), "this is empty", shortened(value), "at least one")
    for key, value in item.items():
        if value and key not in _OF_EVERY_ITEM and key not in (*task.needs, *task.takes):
            problem = f"an item of response '{task.kind}' takes no {key}"
            yield Broken((*path, key), problem, shortened(value), task.instead.get(key, "none"))
    expected = item.get("expected")
    if expected is not None and expected != expected.strip():
        problem = "leading or trailing white space: no answer could equal this"
        yield Broken((*path, "expected"), problem, shortened(expected))
    yield from _plain_values((*path, "metadata"), item.get("metadata", {}))


def _sourced(path: KeyPath, text: SourcedTextTable | None) -> Iterator[Broken]:
    if text is not None and (text.text is None) == (text.file is None):
        yield Broken(path, "exactly one of 'text' and 'file' is needed", "", "text or file")


def _grouping(path: KeyPath, grouping: GroupingTable, features: Sequence[str]) -> Iterator[Broken]:
    ids = [category.id for category in grouping.category]
    yield from unique_ids((*path, "category"), ids, "category")
    seen: dict[str, str] = {}
    for number, category in enumerate(grouping.category):
        for index, feature in enumerate(category.features):
            where = (*path, "category", number, "features", index)
            if feature not in features:
                problem, allowed = "there is no such feature", ", ".join(features)
                yield Broken(where, problem, shortened(feature), allowed, near(feature, features))
            elif feature in seen:
                problem = f"this feature is in '{seen[feature]}' already"
                yield Broken(where, problem, shortened(feature))
            seen.setdefault(feature, category.id)
    if missing := [feature for feature in features if feature not in seen]:
        yield Broken(path, f"features in no category: {', '.join(missing)}")


def unique_ids(path: KeyPath, ids: Sequence[str], what: str) -> Iterator[Broken]:
    """Yield a problem for each id that occurs twice in the array of tables at ``path``."""
    first: dict[str, int] = {}
    for index, identifier in enumerate(ids):
        if identifier in first:
            message = f"this {what} id is given twice (first in number {first[identifier] + 1})"
            yield Broken((*path, index, "id"), message, shortened(identifier), "a different id")
        first.setdefault(identifier, index)


def control_characters(path: KeyPath, value: Any) -> Iterator[Broken]:
    """Yield a problem for each string with control characters, which could steer a terminal."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if control := control_character(key):
                problem = f"{control} is not allowed in a key"
                yield Broken((*path, key), problem, "", "printable text")
            yield from control_characters((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from control_characters((*path, index), inner)
    elif isinstance(value, str) and (control := control_character(value)):
        yield Broken(path, f"{control} is not allowed", shortened(value), "printable text")


_MOST_COMPLETED = 500
"""With more wrong types than this, rules are not checked."""


def validate(
    tables: dict[str, Any], scorers: Scorers | None = None
) -> tuple[BatteryFile | None, list[Broken]]:
    """Return the file with right types, and everything that is wrong with it.

    Rules are checked with wrong types too, but problems that may only follow from one are left out.
    """
    model = battery_file(tasks_for(_kinds(tables)))
    try:
        file = model.model_validate(tables)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        wrong = list(type_problems(errors, model))
        few = len(errors) <= _MOST_COMPLETED
        completed = _with_placeholders(tables, errors, model) if few else None
        if completed is not None:
            wrong += [
                rule
                for rule in broken_rules(completed, scorers)
                if not any(_may_follow(rule.path, error["loc"]) for error in errors)
            ]
        return None, wrong
    return file, list(broken_rules(file, scorers))


def _kinds(tables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kinds of response of a file, whose tables may have wrong types."""
    subtests = tables.get("subtest")
    for subtest in subtests if isinstance(subtests, list) else ():
        kind = subtest.get("response") if isinstance(subtest, dict) else None
        if isinstance(kind, str):
            yield kind


_ARRAYS_OF_TABLES = frozenset({"subtest", "item", "feature", "grouping", "category", "example"})
_NAMES = {
    "string_type": "string", "int_type": "integer", "bool_type": "boolean", "list_type": "array",
    "float_type": "number", "dict_type": "table", "model_type": "table",
    "model_attributes_type": "table",
}  # fmt: skip


def type_problems(errors: Iterable[Any], file: type[BaseModel]) -> Iterator[Broken]:
    """Yield what pydantic found, in the words of a TOML file."""
    errors = list(errors)
    misspelt = {
        (*error["loc"][:-1], _meant(error["loc"], file)) for error in errors if _unknown(error)
    }
    for error in errors:
        where: KeyPath = error["loc"]
        kind, context, value = error["type"], error.get("ctx", {}), shortened(error["input"])
        if _unknown(error):
            allowed = ", ".join(allowed_keys(where[:-1], file))
            yield Broken(where, "there is no such key", "", allowed, _meant(where, file))
        elif kind == "missing":
            if where not in misspelt:  # otherwise reported at the misspelt key
                yield Broken(where, "this key is missing")
        elif kind == "literal_error":
            allowed = context["expected"].replace(" or ", ", ").replace("'", "")
            suggestion = near(str(error["input"]), allowed.split(", ")) if value else ""
            problem = "this is not one of the allowed values"
            if where[::2] == ("subtest", "response") and not suggestion:
                problem = _unknown_task()
            yield Broken(where, problem, value, allowed, suggestion)
        elif kind == "string_pattern_mismatch":
            allowed = (
                "letters a to z, digits and hyphens, because ids are parts of commands, columns "
                "and file names; title and target may have any letters"
            )
            yield Broken(where, "this is not a valid id", value, allowed, plain_id(error["input"]))
        elif kind in {"too_short", "string_too_short"}:
            yield Broken(where, "this is empty", "", "at least one")
        elif kind == "string_too_long":
            allowed = f"up to {context['max_length']} characters"
            yield Broken(where, "this is too long", value, allowed)
        elif kind in {"greater_than_equal", "less_than_equal", "greater_than", "finite_number"}:
            words = {"ge": "at least", "le": "at most", "gt": "above"}
            bounds = [f"{words[name]} {bound:,.10g}" for name, bound in context.items()]
            yield Broken(where, "this is out of range", value, *bounds or ["finite numbers"])
        elif kind in _NAMES:
            problem = f"this has the wrong type ({_toml_type(error['input'])})"
            yield Broken(where, problem, value, _allowed_type(where, kind))
        else:
            yield Broken(where, error["msg"], value)


def _unknown_task() -> str:
    """Return what is said of a kind of response that no plugin brings."""
    lines = (line.removeprefix("not used: ") for line in plugins_of_tasks().unused("tasks"))
    found = "; ".join(lines) or "none has failed; 'tabwb plugins list' shows those that are there"
    return f"there is no such task type; a plugin that is not loaded may bring it ({found})"


def _allowed_type(where: KeyPath, kind: str) -> str:
    names = [part for part in where if isinstance(part, str)]
    if names[-1] in _ARRAYS_OF_TABLES and kind == "list_type":
        return f"an array of tables, each begun with [[{'.'.join(names)}]]"
    return _NAMES[kind]


def _unknown(error: Any) -> bool:
    return bool(error["type"] == "extra_forbidden")


def _meant(where: KeyPath, file: type[BaseModel]) -> str:
    return near(str(where[-1]), allowed_keys(where[:-1], file))


def _toml_type(value: object) -> str:
    names = {bool: "boolean", str: "string", int: "integer", float: "float", list: "array"}
    return names.get(type(value), "table" if isinstance(value, dict) else type(value).__name__)


def _with_placeholders(
    tables: dict[str, Any], errors: Iterable[Any], file: type[BatteryFile]
) -> BatteryFile | None:
    """Return the table with placeholders for wrong types; None where that does not suffice."""
    for number, error in enumerate(errors):
        where: KeyPath = error["loc"]
        table: Any = tables
        for part in where[:-1]:
            table = table[part]
        key: Any = where[-1]
        if _unknown(error):
            value, meant = table.pop(key), _meant(where, file)
            if meant and meant not in table:
                table[meant] = value
        elif error["type"] == "missing" and key in table:
            continue  # a misspelt key stood for it
        elif isinstance(key, str) and key not in required_keys(where[:-1], file):
            table.pop(key)
        else:
            table[key] = _placeholder(where, number, file)
    try:
        return file.model_validate(tables)
    except ValidationError:
        return None


def _placeholder(where: KeyPath, number: int, file: type[BatteryFile]) -> Any:
    names = [part for part in where if isinstance(part, str)]
    name, element = names[-1], isinstance(where[-1], int)
    if name == "battery" or name in _ARRAYS_OF_TABLES:
        path = (*where, 0) if name != "battery" and not element else where
        keys = required_keys(path, file)
        table = {key: _placeholder((*path, key), number, file) for key in keys}
        return table if element or name == "battery" else [table]
    word = {"response": "free", "examinees": "model"}.get(name, f"placeholder-{number}")
    return [word] if name == "features" and not element else word


def _may_follow(rule: KeyPath, place: KeyPath) -> bool:
    """Return whether a problem at ``rule`` may follow only from a wrong type at ``place``."""
    if place[:1] == ("feature",) and rule[:1] == ("grouping",):
        return True
    if place[:1] == ("subtest",) and len(place) > 2:
        if place[2] == "item" and len(place) > 4:
            unit = place[:4]
        elif place[2] in {"item", "response"}:
            unit = place[:2]
        else:
            return rule[:2] == place[:2] and rule[2:3] != ("item",)
    else:
        unit = place[:2]
    size = min(len(rule), len(unit))
    return rule[:size] == unit[:size]


_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"}
)


def plain_id(text: str) -> str:
    """Return a valid id that is like a text, or nothing.

    >>> plain_id("Löwe 1"), plain_id("déjà_vu"), plain_id("東京")
    ('loewe-1', 'deja-vu', '')
    """
    spelled = unicodedata.normalize("NFC", str(text)).casefold().translate(_SPELLED)
    spread = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return "-".join(re.findall("[a-z0-9]+", spread))[:64].strip("-")

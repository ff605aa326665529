"""What ties the keys of a battery together: the rules that types cannot say."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tabwb.battery.locate import KeyPath
from tabwb.battery.naming_problems import NAMING, models_name_nothing, naming_problems
from tabwb.battery.problems import Broken, control_character, near, shortened
from tabwb.battery.toml_schema import (
    BatteryFile,
    GroupingTable,
    ItemTable,
    SourcedTextTable,
    SubtestTable,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import parse_spec
from tabwb.scoring.text import normalised

FIELDS = ("{instructions}", "{prompt}", "{options}")
YES_NO = ("Yes", "No")
_FIELD = re.compile(r"\{\s*\w*\s*\}")
_KEYED = frozenset({"choice", "yes-no", "verbatim"})


@dataclass(frozen=True, slots=True)
class Scorers:
    """The scorers that a battery may name.

    Attributes:
        ids: of those that exist.
        problem: what is wrong with a spec whose id exists (its options), or None.
    """

    ids: Collection[str]
    problem: Callable[[str], TabwbError | None] = lambda spec: None


def broken_rules(battery: BatteryFile, scorers: Scorers | None = None) -> Iterator[Broken]:
    """Yield every rule that does not hold.

    Args:
        battery: of right types.
        scorers: the scorers that exist, or None where that is not known.
    """
    yield from unique_ids(("subtest",), [subtest.id for subtest in battery.subtest], "subtest")
    yield from unique_ids(("feature",), [feature.id for feature in battery.feature], "feature")
    yield from unique_ids(("grouping",), [grouping.id for grouping in battery.grouping], "grouping")
    keys = Counter(feature.key for feature in battery.feature)
    for index, feature in enumerate(battery.feature):
        if keys[feature.key] > 1:
            yield Broken(
                ("feature", index, "key"), "this key is given twice", shortened(feature.key)
            )
    if battery.battery.system is not None:
        yield from _sourced(("battery", "system"), battery.battery.system)
    for index, subtest in enumerate(battery.subtest):
        yield from _subtest(("subtest", index), subtest, scorers)
    yield from models_name_nothing(battery)
    yield from control_characters((), battery.model_dump(exclude_defaults=True))
    features = [feature.id for feature in battery.feature]
    for index, grouping in enumerate(battery.grouping):
        yield from _grouping(("grouping", index), grouping, features)


def _subtest(path: KeyPath, subtest: SubtestTable, scorers: Scorers | None) -> Iterator[Broken]:
    yield from unique_ids((*path, "item"), [item.id for item in subtest.item], "item")
    for name in ("administrator", "instructions"):
        text = getattr(subtest, name)
        if text is not None:
            yield from _sourced((*path, name), text)
    yield from naming_problems(path, subtest)
    yield from _template(path, subtest)
    for index, item in enumerate(subtest.item):
        yield from _item((*path, "item", index), subtest, item)
    if all(item.practice for item in subtest.item):
        yield Broken(
            (*path, "item"), "every item is a practice item", "", "at least one that counts"
        )
    for index, scorer in enumerate(subtest.scorers):
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
        yield Broken(
            path,
            "there is no such scorer",
            shortened(scorer),
            ", ".join(known),
            near(spec.id, known),
        )
    elif (problem := scorers.problem(scorer)) is not None:
        yield Broken(path, problem.message, shortened(scorer), problem.allowed or "")


def _plain_values(path: KeyPath, value: Any) -> Iterator[Broken]:
    """Whatever JSON cannot hold: dates, times, and numbers that are not finite."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _plain_values((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _plain_values((*path, index), inner)
    elif not isinstance(value, (str, int)) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        yield Broken(
            path,
            "not a plain value",
            shortened(str(value)),
            "strings, numbers, true, false, arrays, tables",
        )


def _template(path: KeyPath, subtest: SubtestTable) -> Iterator[Broken]:
    where = (*path, "template")
    if "{prompt}" not in subtest.template:
        yield Broken(where, "the prompt has no place", shortened(subtest.template), "{prompt}")
    for field in dict.fromkeys(_FIELD.findall(subtest.template)):
        if field not in FIELDS:
            yield Broken(where, "no such field", field, ", ".join(FIELDS), near(field, FIELDS))
    if subtest.instructions is not None and "{instructions}" not in subtest.template:
        yield Broken(
            where,
            "the instructions have no place, so they would never be sent",
            shortened(subtest.template),
            "{instructions}",
        )
    if subtest.response != "choice" and "{options}" in subtest.template:
        yield Broken(
            where,
            f"response '{subtest.response}' has no options, so {{options}} would be empty",
            shortened(subtest.template),
            "{instructions}, {prompt}",
        )
    if subtest.response == "choice" and "{options}" not in subtest.template:
        yield Broken(
            where,
            "the options have no place, so the examinee would never see them",
            shortened(subtest.template),
            "{options}",
        )


def _item(path: KeyPath, subtest: SubtestTable, item: ItemTable) -> Iterator[Broken]:
    kind, expected = subtest.response, item.expected
    if kind in _KEYED and expected is None:
        yield Broken(
            path, f"an item of response '{kind}' needs its expected answer", "", "expected"
        )
    elif expected is not None and expected != expected.strip():
        yield Broken(
            (*path, "expected"),
            "outer white space: no answer could equal this",
            shortened(expected),
        )
    if kind == "choice":
        yield from _options(path, item)
    elif item.options:
        yield Broken(
            (*path, "options"), f"an item of response '{kind}' takes no options", "", "none"
        )
    if kind == "yes-no" and expected is not None and expected not in YES_NO:
        yield Broken(
            (*path, "expected"),
            "not an answer to a yes/no question",
            shortened(expected),
            ", ".join(YES_NO),
            near(expected.capitalize(), YES_NO),
        )
    if kind != "choice" and item.foils:
        yield Broken((*path, "foils"), f"an item of response '{kind}' takes no foils", "", "none")
    if kind == NAMING:
        pass  # a picture needs no question
    elif "prompt" not in item.model_fields_set:
        yield Broken((*path, "prompt"), "this key is missing")
    elif not item.prompt.strip():
        yield Broken((*path, "prompt"), "this is empty", shortened(item.prompt))
    if kind == NAMING and expected is not None:
        yield Broken(
            (*path, "expected"),
            "the right answer of a naming item is its target",
            shortened(expected),
            "target and accept",
        )
    yield from _plain_values((*path, "metadata"), item.metadata)


def _options(path: KeyPath, item: ItemTable) -> Iterator[Broken]:
    options = item.options
    if len(options) < 2:
        yield Broken(
            (*path, "options") if options else path,
            "a choice needs options",
            str(len(options)),
            "two or more",
        )
        return
    folded = Counter(normalised(option) for option in options)
    for index, option in enumerate(options):
        if folded[normalised(option)] > 1:
            yield Broken(
                (*path, "options", index),
                "this option is given twice",
                shortened(option),
                "options that differ in more than case, quotes and a final stop",
            )
        if option != option.strip():
            yield Broken(
                (*path, "options", index), "outer white space in an option", shortened(option)
            )
    if item.expected is not None and item.expected not in options:
        yield Broken(
            (*path, "expected"),
            "the expected answer is not one of the options",
            shortened(item.expected),
            ", ".join(options),
            near(item.expected, options),
        )
    for foil in item.foils:
        if foil not in options or foil == item.expected:
            wrong = [option for option in options if option != item.expected]
            yield Broken(
                (*path, "foils", foil),
                "the foil is not one of the wrong options",
                shortened(foil),
                ", ".join(wrong),
                near(foil, wrong),
            )


def _sourced(path: KeyPath, text: SourcedTextTable) -> Iterator[Broken]:
    if (text.text is None) == (text.file is None):
        yield Broken(path, "exactly one of 'text' and 'file' is needed", "", "text or file")


def _grouping(path: KeyPath, grouping: GroupingTable, features: Sequence[str]) -> Iterator[Broken]:
    ids = [category.id for category in grouping.category]
    yield from unique_ids((*path, "category"), ids, "category")
    known = frozenset(features)
    seen: dict[str, str] = {}
    for number, category in enumerate(grouping.category):
        for index, feature in enumerate(category.features):
            where = (*path, "category", number, "features", index)
            if feature not in known:
                yield Broken(
                    where,
                    "there is no such feature",
                    shortened(feature),
                    ", ".join(features),
                    near(feature, features),
                )
            elif feature in seen:
                yield Broken(
                    where, f"this feature stands in '{seen[feature]}' already", shortened(feature)
                )
            seen.setdefault(feature, category.id)
    missing = [feature for feature in features if feature not in seen]
    if missing:
        yield Broken(path, f"features in no category: {', '.join(missing)}")


def unique_ids(path: KeyPath, ids: Sequence[str], what: str) -> Iterator[Broken]:
    """Yield a problem for each id that occurs twice in the array of tables at ``path``."""
    first: dict[str, int] = {}
    for index, one in enumerate(ids):
        if one in first:
            yield Broken(
                (*path, index, "id"),
                f"this {what} id is given twice (first in number {first[one] + 1})",
                shortened(one),
                "an id of its own",
            )
        first.setdefault(one, index)


def control_characters(path: KeyPath, value: Any) -> Iterator[Broken]:
    """Yield a problem for each string with control characters, which could steer a terminal."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if control := control_character(key):
                yield Broken((*path, key), f"{control} stands in a key", "", "printable text")
            yield from control_characters((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from control_characters((*path, index), inner)
    elif isinstance(value, str) and (control := control_character(value)):
        yield Broken(path, f"{control} stands here", shortened(value), "printable text")

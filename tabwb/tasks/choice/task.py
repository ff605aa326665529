"""The task type ``choice``: one of the item's options is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tabwb.battery.task_type import TaskType
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind
from tabwb.records.words import near
from tabwb.scoring.text import normalised, straight


def _check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    language = subtest.get("battery", {}).get("language", "en")
    for index, item in enumerate(subtest["item"]):
        yield from _options((*path, "item", index), item, language)


def _options(path: KeyPath, item: Mapping[str, Any], language: str) -> Iterator[Broken]:
    options = item.get("options", [])
    if len(options) < 2:
        yield Broken(
            (*path, "options") if options else path,
            "a choice needs options",
            str(len(options)),
            "two or more",
        )
        return
    folded = Counter(normalised(option, language) for option in options)
    for index, option in enumerate(options):
        where = (*path, "options", index)
        if folded[normalised(option, language)] > 1:
            yield Broken(
                where,
                "this option is given twice",
                shortened(option),
                "options that differ in more than case, quotes, a final stop and Unicode form",
            )
        if option != option.strip():
            yield Broken(where, "leading or trailing white space in an option", shortened(option))
    expected = item.get("expected")
    if expected is not None and expected not in options:
        yield Broken(
            (*path, "expected"),
            f"the expected answer is not one of the options{_other_form(expected, options)}",
            shortened(expected),
            ", ".join(options),
            near(expected, options),
        )
    wrong = [option for option in options if option != expected]
    for foil in item.get("foils", {}):
        if foil not in wrong:
            yield Broken(
                (*path, "foils", foil),
                f"the foil is not one of the wrong options{_other_form(foil, wrong)}",
                shortened(foil),
                ", ".join(wrong),
                near(foil, wrong),
            )


def _other_form(text: str, options: Sequence[str]) -> str:
    """Return what is said where only the Unicode form of a text differs (ö, o with two dots)."""
    same = straight(text) in map(straight, options)
    return " (it is one in another Unicode form; copy the option)" if same else ""


TASK = TaskType(
    kind=ResponseKind.CHOICE,
    asks_for="one of the options",
    instructions="Answer with exactly one of the listed words and nothing else.",
    scorers=("choice",),
    needs=("prompt", "expected"),
    takes=("options", "foils"),
    check=_check,
    options=True,
    judged="on-demand",
    right_or_wrong=True,
)

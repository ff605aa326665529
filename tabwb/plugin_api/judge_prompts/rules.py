"""The rules of a judge prompt that concern several keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.battery.rules import control_characters, unique_ids
from tabwb.plugin_api.judge_prompts.files import name_problem
from tabwb.plugin_api.judge_prompts.prompt import PLACEHOLDER
from tabwb.plugin_api.judge_prompts.schema import JudgeFile
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import near

_CONSTANT = ("definitions", "examples", "recap")
PLACEHOLDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "system": (_CONSTANT, ()),
    "user": ((*_CONSTANT, "transcript", "prompt"), ("transcript",)),
    "definition": (("name", "definition"), ("definition",)),
    "illustration": (("name", "example"), ("example",)),
    "example": (("number", "transcript", "json"), ("transcript", "json")),
    "repair": (("problem",), ("problem",)),
}
"""Key of [prompt]: the allowed placeholders, and those that are required once each."""


def broken_rules(file: JudgeFile, stem: str) -> Iterator[Broken]:
    """Yield every broken rule.

    Args:
        file: with valid types.
        stem: the file's name without ``.toml``.
    """
    yield from control_characters((), file.model_dump())
    if problem := name_problem(file.judge.id):
        yield Broken(("judge", "id"), problem)
    elif file.judge.id != stem:
        yield Broken(
            ("judge", "id"),
            f"the file is called '{stem}.toml'",
            shortened(file.judge.id),
            "the file's name without '.toml'",
        )
    yield from unique_ids(("feature",), [feature.id for feature in file.feature], "feature")
    yield from _keys([feature.key for feature in file.feature])
    for key in PLACEHOLDERS:
        yield from _placeholders(key, getattr(file.prompt, key))
    yield from _unused(file)
    for number, feature in enumerate(file.feature):
        if feature.example and not feature.definition:
            where = ("feature", number, "example")
            yield Broken(where, "an example is shown only after a definition")
    yield from _labels(file)


def _keys(keys: Sequence[str]) -> Iterator[Broken]:
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield Broken(
                ("feature", index, "key"),
                f"this JSON key is given twice (first in number {keys.index(key) + 1})",
                shortened(key),
                "a key of its own",
            )


def _placeholders(key: str, template: str) -> Iterator[Broken]:
    where: KeyPath = ("prompt", key)
    allowed, needed = PLACEHOLDERS[key]
    found = PLACEHOLDER.findall(template)
    listed = ", ".join(f"{{{name}}}" for name in allowed)
    for name in dict.fromkeys(found):
        if name not in allowed:
            meant = near(name, allowed)
            yield Broken(
                where,
                f"nothing can be filled in for {{{name}}} here",
                "",
                listed,
                f"{{{meant}}}" if meant else "",
            )
    for name in needed:
        if found.count(name) != 1:
            times = "is missing" if name not in found else f"stands {found.count(name)} times"
            yield Broken(where, f"{{{name}}} {times}", "", f"{{{name}}} once")


def _unused(file: JudgeFile) -> Iterator[Broken]:
    """Yield texts that no placeholder shows."""
    shown = set(PLACEHOLDER.findall(file.prompt.system + file.prompt.user))
    written: dict[str, KeyPath | None] = {
        "definitions": ("feature",)
        if any(feature.definition for feature in file.feature)
        else None,
        "examples": ("example",) if file.example else None,
        "recap": ("prompt", "recap") if file.prompt.recap else None,
    }
    for name, where in written.items():
        if where is not None and name not in shown:
            allowed = f"{{{name}}} in prompt.system or prompt.user"
            yield Broken(where, "this is shown nowhere", "", allowed)


def _labels(file: JudgeFile) -> Iterator[Broken]:
    known = [feature.id for feature in file.feature]
    for number, example in enumerate(file.example):
        for index, feature in enumerate(example.present):
            where = ("example", number, "present", index)
            if feature not in known:
                yield Broken(
                    where,
                    "there is no such feature",
                    shortened(feature),
                    ", ".join(known),
                    near(feature, known),
                )
            elif feature in example.present[:index]:
                yield Broken(where, "this feature is given twice", shortened(feature))

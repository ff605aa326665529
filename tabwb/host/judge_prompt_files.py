"""Reads judge prompts and reports every problem of a file with its line.

A variant names its ``base`` and has only what differs; a base has no base itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from tabwb.battery.loader import read_tables, read_text
from tabwb.battery.problems import Problem, dotted, line_of, locate
from tabwb.battery.rules import control_characters, type_problems, unique_ids
from tabwb.battery.toml_tables import Table, Text
from tabwb.host.judge_prompts import (
    PLACEHOLDER,
    JudgePrompt,
    bundled_folder,
    name_problem,
    prompt_files,
)
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import near

FeatureId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
JudgeId = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(\+[a-z0-9]+(-[a-z0-9]+)*)*$", max_length=64),
]


class JudgeTable(Table):
    """What the judge is."""

    id: JudgeId = Field(description="Names the judge; the file is called ID.toml.")
    title: Text = Field(description="For people.")
    version: Text = Field(description="Changes whenever the prompt changes.")
    license: Text = Field(description="SPDX id or words.")
    caution: Text = Field(description="The sentence shown with every verdict.")
    citation: str = Field("", description="How to cite it.")
    sources: str = Field("", description="Whose words which parts are.")
    known_gaps: list[Text] = Field([], description="What the prompt is known to lack.")
    base: JudgeId | None = Field(
        None,
        description="Id of a prompt that this one changes; what is missing here is taken from it.",
    )


class PromptTable(Table):
    """The messages, with placeholders in braces."""

    system: str = Field("", description="The system message; empty for none.")
    user: Text = Field(
        description="The user's message: {transcript} once, and where wanted {prompt} (of the "
        "item), {definitions}, {examples}, {recap}."
    )
    definition: Text = Field(
        "{name}: {definition}", description="A line of {definitions}: {name}, {definition}."
    )
    illustration: Text = Field(
        "Example: {example}", description="The line after it, where the feature has an {example}."
    )
    example: Text = Field(
        "{transcript}\n\n{json}",
        description="One of {examples}: {number}, {transcript}, {json} (its labels).",
    )
    recap: str = Field("", description="Replaces {recap}.")
    repair: Text = Field(
        description="Sent once after a reply that cannot be read: {problem} says what is wrong."
    )


class DecodingTable(Table):
    """How a reply is drawn."""

    temperature: float = Field(0.0, ge=0, le=2, description="0 is greedy.")
    max_tokens: int = Field(2048, ge=1, le=100_000, description="The most tokens of a reply.")


class LikelihoodTable(Table):
    """For judges that compare the log probabilities of 0 and 1."""

    threshold: float = Field(
        0.5, gt=0, lt=1, description="A feature is present where its probability is above this."
    )
    null: str = Field("N/A", description="The passage without content for calibration.")


class FeatureTable(Table):
    """One feature; their order is that of the JSON keys."""

    id: FeatureId = Field(description="The feature's id in batteries.")
    key: Text = Field(description="Its JSON key.")
    name: str = Field("", description="Its name in {definitions}; the key where empty.")
    definition: str = Field("", description="Shown in {definitions}; left out there where empty.")
    example: str = Field("", description="Shown after the definition.")


class ExampleTable(Table):
    """One labelled transcript."""

    transcript: Text = Field(description="What was said.")
    present: list[str] = Field(description="Ids of the features labelled 1; all others are 0.")


class JudgeFile(Table):
    """A judge prompt's file."""

    judge: JudgeTable = Field(description="What the judge is.")
    prompt: PromptTable = Field(description="The messages.")
    decoding: DecodingTable = Field(
        default_factory=lambda: DecodingTable.model_validate({}), description="Drawing a reply."
    )
    likelihood: LikelihoodTable = Field(
        default_factory=lambda: LikelihoodTable.model_validate({}),
        description="Reading labels off log probabilities.",
    )
    feature: list[FeatureTable] = Field(min_length=1, description="The features, in order.")
    example: list[ExampleTable] = Field([], description="Labelled transcripts.")


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
    """Yield every broken rule."""
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
            message = f"this JSON key is given twice (first in number {keys.index(key) + 1})"
            yield Broken(("feature", index, "key"), message, shortened(key), "a different key")


def _placeholders(key: str, template: str) -> Iterator[Broken]:
    where: KeyPath = ("prompt", key)
    allowed, needed = PLACEHOLDERS[key]
    names = PLACEHOLDER.findall(template)
    listed = ", ".join(f"{{{name}}}" for name in allowed)
    for name in dict.fromkeys(names):
        if name not in allowed:
            meant = near(name, allowed)
            message = f"nothing can be filled in for {{{name}}} here"
            yield Broken(where, message, "", listed, f"{{{meant}}}" if meant else "")
    for name in needed:
        if names.count(name) != 1:
            times = f"occurs {names.count(name)} times" if name in names else "is missing"
            yield Broken(where, f"{{{name}}} {times}", "", f"{{{name}}} once")


def _unused(file: JudgeFile) -> Iterator[Broken]:
    shown = set(PLACEHOLDER.findall(file.prompt.system + file.prompt.user))
    written: tuple[tuple[str, KeyPath, bool], ...] = (
        ("definitions", ("feature",), any(feature.definition for feature in file.feature)),
        ("examples", ("example",), bool(file.example)),
        ("recap", ("prompt", "recap"), bool(file.prompt.recap)),
    )
    for name, where, is_written in written:
        if is_written and name not in shown:
            allowed = f"{{{name}}} in prompt.system or prompt.user"
            yield Broken(where, "no part of the prompt shows this", "", allowed)


def _labels(file: JudgeFile) -> Iterator[Broken]:
    known = [feature.id for feature in file.feature]
    for number, example in enumerate(file.example):
        for index, feature in enumerate(example.present):
            where = ("example", number, "present", index)
            if feature not in known:
                message, allowed = "there is no such feature", ", ".join(known)
                yield Broken(where, message, shortened(feature), allowed, near(feature, known))
            elif feature in example.present[:index]:
                yield Broken(where, "this feature is given twice", shortened(feature))


Tables = dict[str, Any]
_OWN = frozenset({"id", "title", "version"})


class PromptProblems(TabwbError):
    """A judge prompt cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def load_prompt(path: Path) -> JudgePrompt:
    """Read and check a prompt's file.

    Raises:
        PromptProblems: with every problem of the file.
    """
    try:
        return _read(path)
    except RecursionError:
        message = "tables or arrays are nested too deeply"
        raise PromptProblems([Problem(str(path), 1, "", message)]) from None


def read_prompt(path: Path) -> tuple[JudgePrompt | None, tuple[Problem, ...]]:
    """Return the prompt of a file (None where it cannot be used) and all its problems."""
    try:
        return load_prompt(path), ()
    except PromptProblems as error:
        return None, error.problems


def _read(path: Path) -> JudgePrompt:
    text, own = _tables(path)
    lines = locate(text)
    base = _base(path, own)
    if isinstance(base, Broken):
        raise PromptProblems(_located(path, lines, [base], lambda where: where))
    tables, place = _joined(own, base)
    try:
        file = JudgeFile.model_validate(tables)
    except ValidationError as error:
        wrong = type_problems(error.errors(include_url=False), JudgeFile)
        raise PromptProblems(_located(path, lines, wrong, place)) from error
    if problems := _located(path, lines, broken_rules(file, path.stem), place):
        raise PromptProblems(problems)
    values = {**dict(file.judge), **dict(file.decoding), **dict(file.likelihood)}
    return JudgePrompt(
        **values, templates=file.prompt, features=file.feature, examples=file.example, path=path
    )


def _tables(path: Path) -> tuple[str, Tables]:
    text = read_text(path, "[judge], [prompt] and [[feature]] tables")
    if isinstance(text, Problem):
        raise PromptProblems([text])
    tables = read_tables(path, text)
    if isinstance(tables, Problem):
        raise PromptProblems([tables])
    return text, tables


def _base(path: Path, own: Tables) -> Tables | Broken:
    """Return the tables of the base, or what is wrong with its name; none without a base."""
    head = own.get("judge")
    name = head.get("base") if isinstance(head, dict) else None
    if not isinstance(name, str):
        return {}
    bundled = {file.stem: file for file in bundled_folder().glob("*.toml")}
    beside = {file.stem: file for file in path.parent.glob("*.toml") if file != path}
    known = prompt_files()[0] | beside | bundled
    if name not in known:
        allowed = sorted(known)
        message = "there is no such prompt"
        return Broken(("judge", "base"), message, repr(name), ", ".join(allowed), near(name, known))
    _, tables = _tables(known[name])
    if isinstance(tables.get("judge"), dict) and "base" in tables["judge"]:
        alone = sorted(name for name, file in known.items() if not _is_variant(file))
        message = "a base cannot have a base, and this one has one"
        return Broken(("judge", "base"), message, repr(name), ", ".join(alone))
    load_prompt(known[name])
    return tables


def _is_variant(path: Path) -> bool:
    try:
        head = _tables(path)[1].get("judge")
    except PromptProblems:
        return False
    return isinstance(head, dict) and "base" in head


def _joined(own: Tables, base: Tables) -> tuple[Tables, Callable[[KeyPath], KeyPath]]:
    """Return a variant's tables joined with its base's, and what maps a place to the variant's.

    Tables are joined key by key, features by their ids; an array of examples is replaced whole.
    """
    if not base:
        return own, lambda where: where
    head = {key: value for key, value in base["judge"].items() if key not in _OWN}
    whole: Tables = {**base, "judge": head}
    for key, value in own.items():
        below = whole.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            whole[key] = {**below, **value}
        else:
            whole[key] = value
    own_features = own.get("feature", [])
    if not isinstance(own_features, list) or not all(isinstance(x, dict) for x in own_features):
        return whole, _place(own, {})
    features = [dict(feature) for feature in base["feature"]]
    at = {feature["id"]: index for index, feature in enumerate(features)}
    taken: dict[int, int] = {}
    for index, feature in enumerate(own_features):
        known = at.get(feature["id"]) if isinstance(feature.get("id"), str) else None
        if known is None or known in taken:
            features.append(feature)
            taken[len(features) - 1] = index
        else:
            features[known] |= feature
            taken[known] = index
    whole["feature"] = features
    return whole, _place(own, taken)


def _place(own: Tables, features: Mapping[int, int]) -> Callable[[KeyPath], KeyPath]:
    def place(where: KeyPath) -> KeyPath:
        if len(where) > 1 and where[0] == "feature" and isinstance(where[1], int):
            mine = features.get(where[1])
            return ("judge", "base") if mine is None else ("feature", mine, *where[2:])
        return where if where and where[0] in own else ("judge", "base")

    return place


def _located(
    path: Path,
    lines: dict[KeyPath, int],
    broken: Iterable[Broken],
    place: Callable[[KeyPath], KeyPath],
) -> tuple[Problem, ...]:
    problems = []
    for problem in broken:
        where = place(problem.path)
        line = line_of(lines, where)
        key = dotted(problem.path if where[:2] == ("judge", "base") else where)
        details = (problem.message, problem.value, problem.allowed, problem.suggestion)
        problems.append(Problem(str(path), line, key, *details))
    return tuple(sorted(problems, key=lambda problem: problem.line))

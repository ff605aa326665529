"""Reads judge prompts and reports every problem of a file with its line.

A variant names its ``base`` and has only what differs; a base has no base itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tabwb.battery.files import read_text
from tabwb.battery.loader import read_tables
from tabwb.battery.locate import line_of, locate
from tabwb.battery.problems import Problem, dotted
from tabwb.battery.validation import type_problems
from tabwb.plugin_api.judge_prompts.prompt import JudgePrompt, bundled_folder, prompt_files
from tabwb.plugin_api.judge_prompts.schema import JudgeFile, broken_rules
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, KeyPath
from tabwb.records.words import near

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

"""Reading a rating form from TOML, with every problem at its line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tabwb.battery.files import read_text
from tabwb.battery.forms import Form, Group, Option, Question
from tabwb.battery.loader import load_battery, read_tables
from tabwb.battery.locate import locate
from tabwb.battery.model import Battery
from tabwb.battery.problems import Problem, located
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken
from tabwb.records.words import plural

FindBattery = Callable[[str], Path]
"""Returns the file of a battery by its id or path; raises a TabwbError where there is none."""


class FormProblems(TabwbError):
    """A form cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = plural(len(problems), "problem")
        super().__init__(f"the form has {count}", hint="\n".join(map(str, problems)))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def load_form(path: Path, find_battery: FindBattery) -> Form:
    """Read and check a form."""
    form, problems = read_form(path, find_battery)
    if form is None:
        raise FormProblems(problems)
    return form


def read_form(path: Path, find_battery: FindBattery) -> tuple[Form | None, tuple[Problem, ...]]:
    """Return the form of a file (None where it cannot be used) and all its problems."""
    text = read_text(path, "[form] and [[question]] tables")
    if isinstance(text, Problem):
        return None, (text,)
    try:
        tables = read_tables(path, text)
        if isinstance(tables, Problem):
            return None, (tables,)
        made = _form(tables, find_battery, path.parent)
    except RecursionError:
        return None, (Problem(str(path), 1, "", "tables or arrays are nested too deeply"),)
    if isinstance(made, Form):
        return made, ()
    return None, tuple(located(str(path), locate(text), made))


def _form(tables: dict[str, Any], find_battery: FindBattery, folder: Path) -> Form | list[Broken]:
    from pydantic import ValidationError

    from tabwb.battery.form_schema import FormFile, broken_form_rules
    from tabwb.battery.validation import type_problems

    try:
        file = FormFile.model_validate(tables)
    except ValidationError as error:
        return list(type_problems(error.errors(include_url=False), FormFile))
    battery = _battery(file.form.battery, find_battery, folder)
    if isinstance(battery, Broken):
        return [battery, *broken_form_rules(file, None)]
    if broken := list(broken_form_rules(file, battery)):
        return broken
    groups = tuple(Group(group.id, group.title) for group in file.group)
    category: dict[str, str] = {}
    if battery is not None and file.form.grouping:
        (chosen,) = (each for each in battery.groupings if each.id == file.form.grouping)
        groups = tuple(Group(each.id, each.title) for each in chosen.categories)
        category = {feature: each.id for each in chosen.categories for feature in each.features}
    questions = tuple(_question(given, file, battery, category) for given in file.question)
    head = file.form.model_dump(exclude={"battery", "grouping"})
    return Form(**{**head, "shows": tuple(head["shows"])}, questions=questions, groups=groups)


def _battery(name: str, find_battery: FindBattery, folder: Path) -> Battery | Broken | None:
    if not name:
        return None
    where = ("form", "battery")
    beside = folder / name
    try:
        is_path = "/" in name or name.endswith(".toml")
        return load_battery(beside if is_path else find_battery(name))
    except TabwbError as error:
        return Broken(where, f"this battery cannot be used: {error}", repr(name))


def _question(given: Any, file: Any, battery: Battery | None, category: dict[str, str]) -> Question:
    shared = given.model_dump(
        include={"key", "kind", "example", "cannot_tell", "objective", "per_attempt", "optional"}
    )
    options = _options(given)
    if given.kind == "scale":
        scale = file.scale
        shared |= {"low": scale.low, "high": scale.high, "cut": scale.cut}
        options = tuple(
            Option(str(scale.low + place), label, number=float(scale.low + place))
            for place, label in enumerate(scale.labels)
        )
    if given.feature is not None:
        assert battery is not None  # a rule: the form names one
        (feature,) = (each for each in battery.features if each.id == given.feature)
        group = given.group or category.get(feature.id, "")
        return Question(
            feature.id,
            feature.title,
            feature.definition,
            group=group,
            options=options,
            **shared,
        )
    return Question(
        given.measure,
        given.title,
        given.definition,
        group=given.group,
        options=options,
        **shared,
    )


def _options(given: Any) -> tuple[Option, ...]:
    if given.options_of is None:
        return tuple(Option(**option.model_dump()) for option in given.options)
    from tabwb.records.naming import SCORE_KEYS
    from tabwb.scoring.naming.target import CODES, PERSON_SCORES, right_by_score

    if given.options_of == "naming-codes":
        return tuple(
            Option(code, code, meaning.definition, incomplete=code == "fragment")
            for code, meaning in CODES.items()
            if code != "undecided"  # a rater answers "cannot tell"
        )
    options = []
    for key, score in SCORE_KEYS.items():
        right = right_by_score(score)
        number = None if right is None else float(right)
        options.append(Option(score, score, PERSON_SCORES[score], key, number))
    return tuple(options)

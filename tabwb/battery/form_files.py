"""Rating forms as TOML files: their pydantic models, and how they are read and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from tabwb.battery.forms import SOURCE, Form, Group, Kind, Option, Question, Shown, Unmarked
from tabwb.battery.loader import load_battery, read_tables, read_text
from tabwb.battery.model import Battery
from tabwb.battery.problems import Problem, locate, located
from tabwb.battery.rules import control_characters, type_problems, unique_ids
from tabwb.battery.toml_tables import Id, Table, Text
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import near, plural

RESERVED_KEYS = {"z": "back", "?": "help", " ": "the sound"}
"""Keys of the rating page that no question can have."""
KEYS = "lower-case letters except z, and , . ; ' / - = [ ]"
"""Of questions. Digits are values of a scale, options, and how sure a rater is."""
_KEYS = frozenset("abcdefghijklmnopqrstuvwxy,.;'/-=[]")
OPTION_KEYS = f"digits, {KEYS}"
_OPTION_KEYS = _KEYS | frozenset("0123456789")
OptionsOf = Literal["naming-scores", "naming-codes"]


class FormTable(Table):
    """The form as a whole."""

    id: Id = Field(description="Identifies the form, together with its version.")
    title: Text = Field(description="For people.")
    version: Text = Field(description="Changes whenever the content changes.")
    license: Text = Field(description="SPDX id or text.")
    citation: str = Field("", description="How to cite it.")
    doi: str = Field("", description="Without 'https://doi.org/'.")
    notes: str = Field("", description="Notes for its users.")
    unmarked: Unmarked = Field(
        "ask",
        description="A question of present or absent without a mark: 'absent', when the rater "
        "confirms it in a second step, or 'ask': the rater must answer.",
    )
    min_seconds: float | None = Field(
        None,
        ge=0,
        le=3600,
        description="A rating of a sample in less time is asked back and flagged. By default 0.25 "
        "for each question, but at least 1.",
    )
    shows: list[Shown] = Field(
        ["text", "prompt"],
        min_length=1,
        description="What raters get of a sample; of a spoken one 'audio', 'picture', 'target'.",
    )
    battery: str = Field(
        "",
        description="Id or path of a battery whose features the questions name; titles and "
        "definitions come from there.",
    )
    grouping: str = Field(
        "", description="Id of a grouping of that battery: its categories are the groups."
    )
    objective_source: str = Field(
        "", description="Where the division into objective and subjective questions is from."
    )


class ScaleTable(Table):
    """The scale of every question of kind 'scale'."""

    low: int = Field(0, ge=-100, le=100, description="The lowest value.")
    high: int = Field(ge=-100, le=100, description="The highest value; at most 20 above low.")
    cut: int | None = Field(
        None,
        description="From this value on a feature counts as present in results (1), below as "
        "absent (0). Without it the value itself is counted. The raw value is always kept.",
    )
    labels: list[Text] = Field([], description="A name of each value, from low to high.")


class GroupTable(Table):
    """Questions that are shown together on the page."""

    id: Id = Field(description="Unique within the form.")
    title: Text = Field(description="For people.")


class OptionTable(Table):
    """One allowed answer of a choice."""

    value: Id = Field(description="What is stored.")
    title: Text = Field(description="For people.")
    definition: str = Field("", description="For people.")
    key: str = Field("", max_length=1, description=f"Of the keyboard: {OPTION_KEYS}.")
    number: float | None = Field(
        None,
        ge=-1e6,
        le=1e6,
        description="The value in results. If no option has one, each option is counted by itself.",
    )
    incomplete: bool = Field(
        False,
        description="An attempt with this answer (a fragment) is passed over for the answer of the "
        "whole response.",
    )


class QuestionTable(Table):
    """One question."""

    measure: Id | None = Field(
        None, description="Name of the measure in results; with 'feature' it is the feature's id."
    )
    feature: Id | None = Field(
        None, description="Id of a feature of the form's battery, instead of measure and title."
    )
    title: Text | None = Field(None, description="For people.")
    definition: str = Field("", description="For people; of a feature the battery's.")
    example: str = Field("", description="For people.")
    key: str = Field("", max_length=1, description=f"Of the keyboard: {KEYS}.")
    group: str = Field("", description="Id of a group; of a feature its category.")
    kind: Kind = Field("present-absent", description="The kind of answer.")
    options: list[OptionTable] = Field([], description="Choice: the allowed answers.")
    options_of: OptionsOf | None = Field(
        None,
        description="Choice: instead of options, the scores or codes of spoken naming.",
    )
    cannot_tell: bool = Field(False, description="Whether a rater may answer 'cannot tell'.")
    objective: bool | None = Field(
        None, description="True: a clear criterion. False: a judgement of the whole."
    )
    per_attempt: bool = Field(
        False, description="Whether each attempt of a response has its own answer."
    )
    optional: bool = Field(False, description="Whether a complete rating may lack the answer.")


class FormFile(Table):
    """A form file."""

    form: FormTable = Field(description="What the form is.")
    scale: ScaleTable | None = Field(None, description="The scale of its questions.")
    group: list[GroupTable] = Field([], description="The groups, in order.")
    question: list[QuestionTable] = Field(min_length=1, description="The questions, in order.")


def broken_form_rules(file: FormFile, battery: Battery | None) -> Iterator[Broken]:
    """Yield every rule that does not hold."""
    yield from control_characters((), file.model_dump(exclude_defaults=True))
    yield from unique_ids(("group",), [group.id for group in file.group], "group")
    measures = Counter(question.measure or question.feature for question in file.question)
    keys = Counter(question.key for question in file.question if question.key)
    groups = [group.id for group in file.group]
    if battery is not None:
        yield from _grouping(file, battery)
    for index, question in enumerate(file.question):
        where: KeyPath = ("question", index)
        name = question.measure or question.feature
        named = "measure" if question.measure else "feature"
        if name is not None and measures[name] > 1:
            yield Broken((*where, named), "this measure is asked twice", shortened(name))
        if name == SOURCE:
            message = "this measure is that of the question 'person or machine?'"
            yield Broken((*where, named), message, shortened(name), "another name")
        if question.key and keys[question.key] > 1:
            yield Broken((*where, "key"), "this key is given twice", shortened(question.key))
        yield from _key((*where, "key"), question.key, _KEYS, KEYS)
        if question.group and file.form.grouping == "" and question.group not in groups:
            allowed = ", ".join(groups) or "none: the file has no [[group]]"
            suggestion = near(question.group, groups)
            value = shortened(question.group)
            yield Broken((*where, "group"), "there is no such group", value, allowed, suggestion)
        yield from _feature(where, question, file, battery)
        yield from _kind(where, question, file)
    yield from _scale(file)


def _grouping(file: FormFile, battery: Battery) -> Iterator[Broken]:
    ids = [grouping.id for grouping in battery.groupings]
    if file.form.grouping and file.form.grouping not in ids:
        value, suggestion = shortened(file.form.grouping), near(file.form.grouping, ids)
        where = ("form", "grouping")
        message = f"battery '{battery.id}' has no such grouping"
        yield Broken(where, message, value, ", ".join(ids), suggestion)


def _key(where: KeyPath, key: str, known: Set[str], allowed: str) -> Iterator[Broken]:
    if key in RESERVED_KEYS:
        message = f"this key of the rating page is taken ({RESERVED_KEYS[key]})"
        yield Broken(where, message, shortened(key), allowed)
    elif key and key not in known:
        yield Broken(where, "this cannot be a key here", shortened(key), allowed)


def _feature(
    where: KeyPath, question: QuestionTable, file: FormFile, battery: Battery | None
) -> Iterator[Broken]:
    if question.feature is None:
        if question.measure is None:
            yield Broken((*where, "measure"), "this key is missing", "", "measure, or feature")
        if question.title is None:
            yield Broken((*where, "title"), "this key is missing")
        return
    for key in ("measure", "title", "definition"):
        if getattr(question, key):
            message = "a feature has this from its battery"
            yield Broken(
                (*where, key), message, "", f"a question without {key}, or without feature"
            )
    if not file.form.battery:
        message = "the form names no battery"
        yield Broken((*where, "feature"), message, "", "battery = 'ID' in [form]")
    elif battery is not None:
        ids = [feature.id for feature in battery.features]
        if question.feature not in ids:
            message = f"battery '{battery.id}' has no such feature"
            value, suggestion = shortened(question.feature), near(question.feature, ids)
            yield Broken((*where, "feature"), message, value, ", ".join(ids), suggestion)


def _kind(where: KeyPath, question: QuestionTable, file: FormFile) -> Iterator[Broken]:
    if question.kind == "choice":
        if bool(question.options) == (question.options_of is not None):
            message = "exactly one of 'options' and 'options_of' is needed"
            yield Broken(where, message, "", "options or options_of")
        values = Counter(option.value for option in question.options)
        keys = Counter(option.key for option in question.options if option.key)
        for index, option in enumerate(question.options):
            place = (*where, "options", index)
            if values[option.value] > 1:
                yield Broken((*place, "value"), "this is given twice", shortened(option.value))
            if keys[option.key] > 1:
                yield Broken((*place, "key"), "this key is given twice", shortened(option.key))
            yield from _key((*place, "key"), option.key, _OPTION_KEYS, OPTION_KEYS)
        if len(question.options) == 1:
            yield Broken((*where, "options"), "a choice needs two options or more")
        return
    given: dict[str, Any] = {"options": question.options, "options_of": question.options_of}
    for key, value in given.items():
        if value:
            message = f"a question of kind '{question.kind}' takes no {key}"
            yield Broken((*where, key), message, "", "kind = 'choice'")
    if question.per_attempt and question.kind in {"present-absent", "scale"}:
        message = "a feature is rated once for each sample"
        yield Broken((*where, "per_attempt"), message, "true", "choice, text, phonemes")
    if question.kind == "scale" and file.scale is None:
        yield Broken((*where, "kind"), "the file has no [scale]", "", "a table [scale] with high")


def _scale(file: FormFile) -> Iterator[Broken]:
    scale = file.scale
    if scale is None:
        return
    number = scale.high - scale.low + 1
    if not 2 <= number <= 21:
        allowed = f"{scale.low + 1} to {scale.low + 20}"
        yield Broken(("scale", "high"), "this is out of range", str(scale.high), allowed)
    elif scale.labels and len(scale.labels) != number:
        found = str(len(scale.labels))
        yield Broken(("scale", "labels"), "each value needs a name", found, f"{number} names")
    if scale.cut is not None and not scale.low < scale.cut <= scale.high:
        allowed = f"{scale.low + 1} to {scale.high}"
        yield Broken(("scale", "cut"), "this is out of range", str(scale.cut), allowed)
    if not any(question.kind == "scale" for question in file.question):
        yield Broken(("scale",), "no question uses the scale", "", "kind = 'scale'")


def form_json_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a form file."""
    schema = FormFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


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

"""Pydantic models of a battery file; their descriptions become the reference page."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, create_model

from tabwb.battery.task_type import TaskType, own_tasks
from tabwb.battery.toml_tables import Id, Table, Text, one_of

Examinee = Literal["model", "speaker"]


class SourcedTextTable(Table):
    """A text with its source: the text itself, or a file."""

    model_config = one_of("text", "file")

    text: Text | None = Field(None, description="The text.")
    file: Text | None = Field(
        None, description="Instead of text: a UTF-8 file inside the battery's folder."
    )
    source: Text = Field(description="A section of the paper ('B.1'), or 'ours'.")


class BatteryTable(Table):
    """The battery as a whole."""

    id: Id = Field(description="Identifies the battery, together with its version.")
    title: Text = Field(description="For people.")
    version: Text = Field(description="Changes whenever the content changes.")
    language: Text = Field(description="BCP 47 tag, for example 'en' or 'de-AT'.")
    yes: list[Text] = Field(
        [],
        description="Yes-no: the words for yes, the usual one first. Needed in other languages "
        "than English to read answers beyond the expected ones; in English they are added.",
    )
    no: list[Text] = Field([], description="Yes-no: the words for no; with 'yes' or not at all.")
    license: Text = Field(description="SPDX id or text.")
    citation: str = Field("", description="How to cite it.")
    doi: str = Field("", description="Without 'https://doi.org/'.")
    url: str = Field("", description="Its web page.")
    notes: str = Field("", description="Notes for its users.")
    disclaimer: str = Field("", description="Shown wherever the battery is used.")
    examinees: list[Examinee] = Field(
        ["model", "speaker"],
        min_length=1,
        description="Who may take it; both if the key is left out. Without 'speaker', a person "
        "needs a research protocol.",
    )
    system: SourcedTextTable | None = Field(None, description="System message for models.")
    definition_source: str = Field(
        "", description="Where the features' definitions are from: a section, a table, or 'ours'."
    )
    judge_source: str = Field(
        "", description="The same for judge_definition and judge_example of the features."
    )


class ItemKeys(Table):
    """The keys of an item, whatever its task type."""

    id: Id = Field(description="Unique within its subtest.")
    prompt: str = Field(
        "",
        description="The question as the examinee reads it. Required except for naming and "
        "description, where a picture may take its place.",
    )
    options: list[Text] = Field([], description="Options in the battery's order (choice).")
    expected: Text | None = Field(
        None,
        description="The right answer, exactly. Required for choice, yes-no and verbatim; for "
        "connected text, descriptions and free items it is shown to scorers and exported. Naming "
        "has 'target'.",
    )
    reference: Text | None = Field(
        None, description="A model answer or rubric: shown to scorers, never to the examinee."
    )
    metadata: dict[str, Any] = Field(
        {}, description="A table of your own, of any plain values: shown to scorers, exported."
    )
    foils: dict[str, Text] = Field(
        {}, description="The kind of error of each wrong option ('phonological')."
    )
    tags: list[Text] = Field([], description="For results by tag.")
    cluster: Text | None = Field(
        None,
        description="The theme that the item shares with others. Items of one cluster, also of "
        "different subtests, are one unit of intervals and of sign flips.",
    )
    practice: bool = Field(False, description="Given first, never counted.")
    picture: Text | None = Field(
        None, description="Naming, description: a PNG or JPEG file inside the battery's folder."
    )


class SubtestKeys(Table):
    """The keys of a subtest, whatever its task type."""

    id: Id = Field(description="Unique within the battery.")
    title: Text = Field(description="For people.")
    response: str = Field(description="The kind of response.")
    source: str = Field(
        "", description="Where prompts and options are from: a section ('B.2'), or 'ours'."
    )
    expected_source: str = Field("", description="Where the expected answers are from.")
    administrator: SourcedTextTable | None = Field(
        None, description="Text for the examiner: shown, never sent."
    )
    instructions: SourcedTextTable | None = Field(None, description="Sent before the prompt.")
    template: Text = Field(
        "{instructions}\n{prompt}",
        description="The message: {instructions}, {prompt}, {options} (joined by ', ').",
    )
    scorers: list[Text] | None = Field(
        None,
        description="Scorers, with options where they have some ('x@threshold=0.5'); see 'tabwb "
        "plugins list'. Without the key choice, yes-no and verbatim items have the scorer of "
        "their kind; [] switches scoring off.",
    )
    max_tokens: int | None = Field(
        None, ge=1, le=100_000, description="The token limit of a model's reply."
    )
    if TYPE_CHECKING:  # declared last, with the keys of the task types
        item: list[ItemKeys]


class FeatureTable(Table):
    """One binary feature of connected text."""

    id: Id = Field(description="Names the feature; also the name of its measure.")
    key: Text = Field(description="The judge's JSON key.")
    title: Text = Field(description="For people.")
    definition: Text = Field(description="For people.")
    judge_definition: Text | None = Field(None, description="What a judge is shown.")
    judge_example: Text | None = Field(None, description="The example a judge is shown.")


class CategoryTable(Table):
    """Features that are counted together."""

    id: Id = Field(description="Unique within its grouping.")
    title: Text = Field(description="For people.")
    features: list[Text] = Field(min_length=1, description="Ids of features.")


class GroupingTable(Table):
    """A division of the features into categories; every feature is in exactly one."""

    id: Id = Field(description="Unique within the battery.")
    title: Text = Field(description="For people.")
    source: Text = Field(description="Where it comes from.")
    category: list[CategoryTable] = Field(min_length=1, description="The categories.")


class BatteryFile(Table):
    """A battery file, its subtests and items with the keys of every task type."""

    battery: BatteryTable = Field(description="What the battery is.")
    subtest: list[SubtestKeys] = Field(min_length=1, description="The subtests, in order.")
    feature: list[FeatureTable] = Field([], description="The features of connected text.")
    grouping: list[GroupingTable] = Field([], description="Divisions of the features.")


def battery_file(tasks: tuple[TaskType, ...] = ()) -> type[BatteryFile]:
    """Return the model of a battery file, with the keys of task types; by default of tabwb's."""
    return _composed(tasks or tuple(own_tasks().values()))


@lru_cache(maxsize=4)  # plugins that are loaded again bring other task types
def _composed(tasks: tuple[TaskType, ...]) -> type[BatteryFile]:
    own = [task.tables() for task in tasks if task.tables is not None]
    make: Any = create_model  # of classes that are not known to type checkers
    array: Any = list
    item = make("ItemTable", __base__=(*(of for _, of in own), ItemKeys), __doc__="One item.")
    subtest = make(
        "SubtestTable",
        __base__=(*(of for of, _ in own), SubtestKeys),
        __doc__="Items with the same instructions and scorers.",
        response=(
            Literal[tuple(task.id for task in tasks)],
            SubtestKeys.model_fields["response"],
        ),
        item=(array[item], Field(min_length=1, description="The items, in order.")),
    )
    file: type[BatteryFile] = make(
        "BatteryFile",
        __base__=BatteryFile,
        __doc__="A battery file.",
        subtest=(array[subtest], BatteryFile.model_fields["subtest"]),
    )
    return file


def allowed_keys(path: tuple[str | int, ...], file: type[BaseModel] | None = None) -> list[str]:
    """Return the allowed keys of the table at ``path``, for near matches and messages.

    >>> allowed_keys(("grouping", 0, "category", 1))
    ['id', 'title', 'features']
    """
    model = _model_at(path, file or battery_file())
    return [] if model is None else list(model.model_fields)


def required_keys(path: tuple[str | int, ...], file: type[BaseModel] | None = None) -> list[str]:
    """Return the required keys of the table at ``path``.

    >>> required_keys(("subtest", 0, "item", 0, "accept", 0))
    ['phonemes', 'reason']
    """
    model = _model_at(path, file or battery_file())
    fields = {} if model is None else model.model_fields
    return [key for key, field in fields.items() if field.is_required()]


def _model_at(path: tuple[str | int, ...], file: type[BaseModel]) -> type[BaseModel] | None:
    model: type[BaseModel] | None = file
    for part in path:
        if isinstance(part, str) and model is not None:
            field = model.model_fields.get(part)
            model = None if field is None else _model_of(field.annotation)
    return model


def _model_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        model = _model_of(inner)
        if model is not None:
            return model
    return None


def json_schema(tasks: tuple[TaskType, ...] = ()) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of ``battery.toml``; see :func:`battery_file`."""
    schema = battery_file(tasks).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

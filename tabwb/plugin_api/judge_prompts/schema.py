"""The tables and keys of a judge prompt's file, as pydantic models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]
FeatureId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
JudgeId = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(\+[a-z0-9]+(-[a-z0-9]+)*)*$", max_length=64),
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class JudgeTable(_Table):
    """What the judge is."""

    id: JudgeId = Field(description="Names the judge; the file is called ID.toml.")
    title: Text = Field(description="For people.")
    version: Text = Field(description="Changes whenever the prompt changes.")
    license: Text = Field(description="SPDX id or words.")
    caution: Text = Field(description="The sentence that stands with every verdict.")
    citation: str = Field("", description="How to cite it.")
    sources: str = Field("", description="Whose words which parts are.")
    known_gaps: list[Text] = Field([], description="What the prompt is known to lack.")
    base: JudgeId | None = Field(
        None,
        description="A prompt that this one changes: what is not said here is as there.",
    )


class PromptTable(_Table):
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
    recap: str = Field("", description="Stands where {recap} is.")
    repair: Text = Field(
        description="Sent once after a reply that cannot be read: {problem} says what is wrong."
    )


class DecodingTable(_Table):
    """How a reply is drawn."""

    temperature: float = Field(0.0, ge=0, le=2, description="0 is greedy.")
    max_tokens: int = Field(2048, ge=1, le=100_000, description="The most tokens of a reply.")


class LikelihoodTable(_Table):
    """For judges that compare the log probabilities of 0 and 1."""

    threshold: float = Field(
        0.5, gt=0, lt=1, description="A feature is present where its probability is above this."
    )
    null: str = Field("N/A", description="The passage without content for calibration.")


class FeatureTable(_Table):
    """One feature; their order is that of the JSON keys."""

    id: FeatureId = Field(description="The feature's id in batteries.")
    key: Text = Field(description="Its JSON key.")
    name: str = Field("", description="Its name in {definitions}; the key where empty.")
    definition: str = Field("", description="Shown in {definitions}; left out there where empty.")
    example: str = Field("", description="Shown after the definition.")


class ExampleTable(_Table):
    """One labelled transcript."""

    transcript: Text = Field(description="What was said.")
    present: list[str] = Field(description="Ids of the features labelled 1; all others are 0.")


class JudgeFile(_Table):
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

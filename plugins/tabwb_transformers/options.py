"""The options of ``transformers:...@key=value``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tabwb.host.services import ChatKeywords, ReasoningTokens
from tabwb.records.reasoning import AUTO


class DeviceOptions(BaseModel):
    """Options of everything that computes with torch."""

    model_config = ConfigDict(extra="forbid")

    device: Annotated[
        str,
        Field(
            pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$",
            description="auto (cuda, else mps, else cpu), cpu, mps, cuda, cuda:0, cuda:1 ...",
        ),
    ] = "auto"
    threads: Annotated[
        int | None,
        Field(ge=1, le=1024, description="number of compute threads, 1 to 1024"),
    ] = None


class LocalOptions(DeviceOptions):
    """Options of every model that runs on this machine."""

    reasoning: Annotated[str, Field(description="as of every model")] = AUTO
    reasoning_tokens: ReasoningTokens = 0
    seed: Annotated[
        int | None,
        Field(ge=0, lt=2**63, description="mixed into the seed of every reply"),
    ] = None
    batch_size: Annotated[
        int | None,
        Field(
            ge=1,
            le=4096,
            description="maximum number of replies at once, 1 to 4096 (by the free memory, at "
            "most 16 on a processor and 64 on an accelerator); halved where memory runs out",
        ),
    ] = None


class TransformersOptions(LocalOptions):
    """Options of ``transformers``."""

    chat: ChatKeywords = Field(default_factory=dict)
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16"],
        Field(description="auto (as stored), float32, bfloat16, float16"),
    ] = "auto"
    revision: Annotated[
        str | None,
        Field(min_length=1, description="a branch, tag or commit of the model's repository"),
    ] = None
    template: Annotated[
        str,
        Field(
            min_length=1,
            description="auto (chat where the tokenizer has a template, else plain), chat, plain, "
            "examples, or the path of a TOML file like plain.toml",
        ),
    ] = "auto"

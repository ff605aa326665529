"""The options ``@key=value`` of ``wav2vec2:...``, ``bundled-words`` and ``manual:...``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from tabwb_transformers.options import DeviceOptions

Labels = Literal["auto", "arpabet", "cmu", "espeak-ipa", "timit-61", "timit-39", "psst", "words"]


class TranscriberOptions(DeviceOptions):
    """Options of every CTC model."""

    beam: Annotated[
        int,
        Field(ge=1, le=500, description="prefixes kept while decoding, 1 (greedy) to 500"),
    ] = 1
    batch_size: Annotated[
        int | None,
        Field(ge=1, le=1024, description="maximum number of clips at once, 1 to 1024"),
    ] = None
    onnx: Annotated[
        Literal["no", "fp32", "int8"],
        Field(description="no, fp32, int8 (exported once into your cache folder)"),
    ] = "no"


class Wav2Vec2Options(TranscriberOptions):
    """Options of ``wav2vec2``."""

    labels: Annotated[
        Labels,
        Field(
            description="auto (from the model's vocabulary), arpabet, cmu, espeak-ipa, timit-61, "
            "timit-39, psst (numbered as PSST's baseline), words (of an orthographic model)",
        ),
    ] = "auto"
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"],
        Field(description="float32, bfloat16, float16"),
    ] = "float32"
    revision: Annotated[
        str | None,
        Field(min_length=1, description="a branch, tag or commit of the model's repository"),
    ] = None


class ManualOptions(BaseModel):
    """Options of ``manual``."""

    model_config = ConfigDict(extra="forbid")

    ipa: Annotated[
        Literal["us", "uk"],
        Field(description="how IPA is read: us (PSST), uk (British dictionaries: e as in bed)"),
    ] = "us"

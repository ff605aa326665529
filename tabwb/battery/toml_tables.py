"""What the pydantic models of TOML files are made of: batteries, rating forms, judge prompts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]
Id = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=64,
        description="kebab-case: letters a to z and digits, joined by hyphens",
    ),
]


class Table(BaseModel):
    """A table of a file: no other keys, no conversion of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def one_of(*keys: str) -> ConfigDict:
    """Return the configuration of a table that has exactly one of these keys."""
    return ConfigDict(json_schema_extra={"oneOf": [{"required": [key]} for key in keys]})

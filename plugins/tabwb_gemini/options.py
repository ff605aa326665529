"""The options of ``gemini:NAME@key=value``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tabwb.host.services import RemoteOptions

ROOM_TO_THINK = 1024
"""Thinking counts against the limit of tokens: below so many it may leave no room for an answer."""


class GeminiOptions(RemoteOptions):
    """Options of ``gemini``."""

    SERVICE: ClassVar = "gemini"
    ADDRESS: ClassVar = "https://generativelanguage.googleapis.com/"
    HOSTS: ClassVar = "*.googleapis.com"
    KEY_VARIABLES: ClassVar = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    thinking_budget: Annotated[
        int | None,
        Field(
            ge=-1,
            le=65536,
            description="tokens that the model may think, added to the token limit of every reply; "
            "0 for none, -1 for the model's choice; when not given, none for answers "
            f"of fewer than {ROOM_TO_THINK} tokens where the model allows that, else left to the "
            "model",
        ),
    ] = None
    safety: Annotated[
        Literal["default", "off"],
        Field(
            description="default (the service's filters), off (blocks only what the service "
            "always blocks)"
        ),
    ] = "default"
    structured: Annotated[
        Literal["auto", "none"],
        Field(description="auto (replies follow a schema where one is requested), none"),
    ] = "auto"
    seed: Annotated[
        int | None,
        Field(ge=0, lt=2**31, description="mixed into the seed of every reply"),
    ] = None

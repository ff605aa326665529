"""The options of ``openai:NAME@key=value``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tabwb.host.services import ChatKeywords, ReasoningTokens, RemoteOptions

ON_SOCKET = "http://localhost/v1"

Structured = Literal["auto", "json-schema", "choice", "guided-choice", "none"]
TokenParameter = Literal["auto", "max_tokens", "max_completion_tokens"]
SystemRole = Literal["system", "developer", "user"]


class OpenAIOptions(RemoteOptions):
    """Options of ``openai``."""

    SERVICE: ClassVar = "openai"
    ADDRESS: ClassVar = "https://api.openai.com/v1"
    HOSTS: ClassVar = "api.openai.com"
    KEY_VARIABLES: ClassVar = ("OPENAI_API_KEY",)

    base_url: Annotated[
        str | None,
        Field(
            description="address of the server up to /v1, http:// or https://, without a user, a "
            "password or anything after ?",
        ),
    ] = None
    socket: Annotated[
        str | None,
        Field(min_length=1, description="path of a unix socket on which the server listens"),
    ] = None
    structured: Annotated[
        Structured,
        Field(
            description="how an answer is enforced: auto and json-schema (response_format), choice "
            "(vLLM's structured_outputs), guided-choice (older vLLM), none",
        ),
    ] = "auto"
    token_parameter: Annotated[
        TokenParameter,
        Field(description="auto, max_tokens, max_completion_tokens"),
    ] = "auto"
    reasoning_effort: Annotated[
        Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None,
        Field(
            description="how much a model reasons before it answers: none, minimal, low, medium, "
            "high, xhigh, those that it supports; default: the model's",
        ),
    ] = None
    reasoning_tokens: ReasoningTokens = 0
    chat: ChatKeywords = Field(default_factory=dict)
    system_role: Annotated[
        SystemRole,
        Field(
            description="how a system message is sent: system, developer, or user (in front of the "
            "first user message, for models without a system role)",
        ),
    ] = "system"
    seed: Annotated[
        int | None,
        Field(ge=0, lt=2**63, description="mixed into the seed of every reply"),
    ] = None

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.base_url or (ON_SOCKET if self.socket else self.ADDRESS)

    @property
    def is_own(self) -> bool:
        """Whether requests go to OpenAI itself, which alone gets its key."""
        return self.socket is None and super().is_own

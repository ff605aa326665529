"""What ``openai:NAME@key=value`` can be told."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tabwb.plugin_api.remote.model import REPLY_S
from tabwb.plugin_api.remote.options import ReplySeconds

OPENAI = "https://api.openai.com/v1"
ON_SOCKET = "http://localhost/v1"

Structured = Literal["auto", "json-schema", "choice", "guided-choice", "none"]
TokenParameter = Literal["auto", "max_tokens", "max_completion_tokens"]
SystemRole = Literal["system", "developer", "user"]


class OpenAIOptions(BaseModel):
    """Options of ``openai``."""

    model_config = ConfigDict(extra="forbid")

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
    key_env: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            description="name of the environment variable that holds the key (never the key)",
        ),
    ] = None
    concurrency: Annotated[int, Field(ge=1, le=256, description="requests at once, 1 to 256")] = 8
    timeout_s: Annotated[
        float,
        Field(
            gt=0,
            le=3600,
            allow_inf_nan=False,
            description="seconds of silence after which a request failed, up to 3600",
        ),
    ] = 120.0
    reply_s: ReplySeconds = REPLY_S
    retries: Annotated[
        int, Field(ge=0, le=50, description="how often a request is tried again, 0 to 50")
    ] = 5
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
            "high, xhigh, those that it knows; its own default when not given",
        ),
    ] = None
    reasoning_tokens: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="tokens for reasoning, added to the token limit of every reply, because "
            "services count reasoning against it",
        ),
    ] = 0
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

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)  # raises ValueError where the brackets of an address are off
        _ = parts.port  # likewise
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("not an address")
        # A user or a query may hold a key, and the spec is stored.
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("more than an address")
        return value.rstrip("/")

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.base_url or (ON_SOCKET if self.socket else OPENAI)

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own service."""
        parts = urlsplit(self.address)
        https = parts.scheme == "https"
        return self.socket is None and https and parts.hostname == "api.openai.com"

    @property
    def service(self) -> str:
        """The name under which the system keyring keeps the key: ``openai``, or the host."""
        return "openai" if self.is_openai else urlsplit(self.address).netloc.lower()

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Where the key may stand. OpenAI's own is sent to nobody else."""
        if self.key_env:
            return (self.key_env,)
        return ("OPENAI_API_KEY",) if self.is_openai else ()

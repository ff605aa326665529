"""What ``gemini:NAME@key=value`` can be told."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tabwb.plugin_api.remote.model import REPLY_S
from tabwb.plugin_api.remote.options import ReplySeconds

KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
SERVICE = "gemini"
ADDRESS = "https://generativelanguage.googleapis.com/"
"""Google's own."""
ROOM_TO_THINK = 1024
"""Thinking counts against the limit of tokens: below so many it may leave no room for an answer."""


class GeminiOptions(BaseModel):
    """Options of ``gemini``."""

    model_config = ConfigDict(extra="forbid")

    base_url: Annotated[
        str | None,
        Field(description="address of a proxy or a server of your own, http:// or https://"),
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
    thinking_budget: Annotated[
        int | None,
        Field(
            ge=-1,
            le=65536,
            description="tokens that the model may think, added to the token limit of every reply; "
            "0 for none, -1 for as it likes within that limit; when not given, none for answers "
            f"of fewer than {ROOM_TO_THINK} tokens where the model allows that, else left to the "
            "model",
        ),
    ] = None
    safety: Annotated[
        Literal["default", "off"],
        Field(description="default (the service's filters), off (blocks nothing that it need not)"),
    ] = "default"
    structured: Annotated[
        Literal["auto", "none"],
        Field(description="auto (replies are kept to a schema where one is asked for), none"),
    ] = "auto"
    seed: Annotated[
        int | None,
        Field(ge=0, lt=2**31, description="mixed into the seed of every reply"),
    ] = None

    key_env: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            description="name of the environment variable that holds the key (never the key)",
        ),
    ] = None

    @property
    def is_google(self) -> bool:
        """Whether it is Google's own service."""
        if self.base_url is None:
            return True
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        return parts.scheme == "https" and host.endswith(".googleapis.com")

    @property
    def service(self) -> str:
        """The name under which the system keyring keeps the key: ``gemini``, or the host."""
        return SERVICE if self.is_google else urlsplit(self.base_url or "").netloc.lower()

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Where the key may stand. Google's own is sent to nobody else."""
        if self.key_env:
            return (self.key_env,)
        return KEY_VARIABLES if self.is_google else ()

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

"""Options that back ends of services share, and those about reasoning and chat templates."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from tabwb.host.remote_model import REPLY_S
from tabwb.records.reasoning import AUTO

Keyword = str | int | float | bool | None


def _keyword(value: object) -> object:
    """Return a keyword as the template gets it: a number, true, false, null, or text.

    >>> [_keyword(text) for text in ("false", "True", "1024", "low")]
    [False, True, 1024, 'low']
    """
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value.lower() if value in ("True", "False", "None") else value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, Keyword) else value


def _keywords(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError("chat.NAME=VALUE, for example chat.enable_thinking=false")
    return {name: _keyword(given) for name, given in value.items()}


ChatKeywords = Annotated[
    dict[str, Keyword],
    BeforeValidator(_keywords),
    Field(
        description="chat.NAME=VALUE: a keyword of the model's chat template, for example "
        "chat.enable_thinking=false; a number, true, false, or text"
    ),
]
"""The field ``chat`` of options: ``chat.NAME=VALUE`` for each keyword."""
ReasoningTokens = Annotated[
    int,
    Field(
        ge=0,
        le=1_000_000,
        description="token limit of reasoning, apart from that of the response, up to 1000000; "
        "0: both share the limit of the response",
    ),
]


class RemoteOptions(BaseModel):
    """The base of a service's options, which sets the four names in capitals."""

    model_config = ConfigDict(extra="forbid")
    SERVICE: ClassVar[str]  # the name under which the keyring keeps the key
    ADDRESS: ClassVar[str]  # where requests go without base_url
    HOSTS: ClassVar[str]  # a pattern of the service's own hosts
    KEY_VARIABLES: ClassVar[tuple[str, ...]]  # environment variables with its key

    base_url: str | None = Field(
        default=None, description="address of a proxy or a server of your own, http:// or https://"
    )
    key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="name of the environment variable that holds the key (never the key)",
    )
    concurrency: int = Field(
        default=8,
        ge=1,
        le=256,
        description="maximum number of requests at once, 1 to 256",
    )
    timeout_s: float = Field(
        default=120.0,
        gt=0,
        le=3600,
        allow_inf_nan=False,
        description="seconds without a byte after which a try fails, up to 3600",
    )
    reply_s: float = Field(
        default=REPLY_S,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="seconds that all tries of a reply may take together, up to 86400",
    )
    reasoning: str = Field(default=AUTO, description="as of every model")
    retries: int = Field(
        default=5, ge=0, le=50, description="how often a request is tried again, 0 to 50"
    )

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)  # raises ValueError where the brackets of an address are off
        _ = parts.port  # as above
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("not an address")
        # A user or a query may hold a key, and the spec is stored.
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError("more than an address")
        return value.rstrip("/")

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.base_url or self.ADDRESS

    @property
    def is_own(self) -> bool:
        """Whether requests go to the service itself, which alone gets its key."""
        parts = urlsplit(self.address)
        return parts.scheme == "https" and fnmatchcase(parts.hostname or "", self.HOSTS)

    @property
    def service(self) -> str:
        """The name under which the system keyring keeps the key: of the service, or the host."""
        return self.SERVICE if self.is_own else urlsplit(self.address).netloc.lower()

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables in which the key is looked for."""
        if self.key_env:
            return (self.key_env,)
        return self.KEY_VARIABLES if self.is_own else ()

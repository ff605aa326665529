"""Options that the back ends of all services share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

ReplySeconds = Annotated[
    float,
    Field(
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="seconds after which an incomplete reply counts as failed, up to 86400",
    ),
]

"""The two records that the generators return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Task = Literal["connected", "choice", "yes_no", "repetition", "small_talk"]


@dataclass(frozen=True)
class Turn:
    """One request and its answer.

    ``options`` are the listed words of a choice item in the order shown; ``question`` is the
    request without instruction and options.
    """

    task: Task
    user: str
    assistant: str
    question: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """An optional system message and the turns that follow it."""

    system: str | None
    turns: tuple[Turn, ...] = field(default=())

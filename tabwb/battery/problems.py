"""Problems of a battery file: each with its line, what stands there and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabwb.records.errors import TabwbError


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a battery file.

    Attributes:
        file: the file as the user named it.
        line: 1-based, or 0 where the whole file is meant.
        key: dotted path of the key (``subtest[2].item[1].expected``), or empty.
        message: what is wrong.
        value: what stands there, shortened, or empty.
        allowed: what would be accepted, or empty.
        suggestion: a near match for something misspelt, or empty.
    """

    file: str
    line: int
    key: str
    message: str
    value: str = ""
    allowed: str = ""
    suggestion: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = [f"{place}: " + (f"{self.key}: " if self.key else "") + self.message]
        if self.value:
            parts.append(f"found {self.value}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.suggestion:
            parts.append(f"did you mean '{self.suggestion}'?")
        return "; ".join(parts)


class BatteryProblems(TabwbError):
    """A battery cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"the battery has {count}", hint="\n".join(str(one) for one in problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def shortened(value: object, most: int = 60) -> str:
    """A value as it may stand in a message.

    >>> shortened("x" * 100, 10)
    "'xxxxxxxx…"
    """
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"

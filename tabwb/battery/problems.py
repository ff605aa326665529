"""Problems of a battery file, each with its line, value and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tabwb.battery.locate import line_of
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.words import plural

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MOST_PARTS = 12


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a battery file.

    Attributes:
        file: the file as the user named it.
        line: 1-based, or 0 where the whole file is meant.
        key: dotted path of the key (``subtest[2].item[1].expected``), or empty.
        message: what is wrong.
        value: the value, shortened, or empty.
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
        return _printable("; ".join(parts))


class BatteryProblems(TabwbError):
    """A battery cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = plural(len(problems), "problem")
        super().__init__(f"the battery has {count}", hint="\n".join(map(str, problems)))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def dotted(path: KeyPath) -> str:
    """Return a key path as people read it, arrays counted from 1.

    >>> dotted(("subtest", 1, "item", 0, "expected")), dotted(("foils", "a b"))
    ('subtest[2].item[1].expected', "foils.'a b'")
    """
    text = ""
    for part in path[:_MOST_PARTS]:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += "." if text else ""
            text += part if _BARE.fullmatch(part) else shortened(part)
    return text + ("…" if len(path) > _MOST_PARTS else "")


def located(
    file: str,
    lines: dict[KeyPath, int],
    broken: Iterable[Broken],
    name: Callable[[KeyPath], str] = dotted,
) -> list[Problem]:
    """Return the problems with file and line, in the order of the lines."""
    problems = [
        Problem(
            file,
            line_of(lines, rule.path),
            name(rule.path),
            *(rule.message, rule.value, rule.allowed, rule.suggestion),
        )
        for rule in broken
    ]
    return sorted(problems, key=lambda problem: problem.line)


def control_character(text: str) -> str:
    r"""Return the code point of the first control character except tab and newline, or nothing.

    >>> control_character("a\x1b[31m"), control_character("a\tb\n")
    ('the control character U+001B', '')
    """
    match = _CONTROL.search(text)
    return f"the control character U+{ord(match[0]):04X}" if match else ""


def _printable(text: str) -> str:
    # Control characters of a battery could steer the terminal.
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

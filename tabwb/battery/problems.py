"""Problems of files that people write: what is wrong, and on which line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

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


_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


def locate(text: str) -> dict[KeyPath, int]:
    r"""Return the 1-based line of every key, table and array element of a valid TOML text.

    >>> locate('a = 1\n[[b]]\nc = [2,\n 3]\n')[("b", 0, "c", 1)]
    4
    """
    return _Scanner(text).scan()


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """Return the line of ``path`` or, for a missing key, of the nearest parent."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return 1


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.newlines = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[KeyPath, int] = {}
        self.lengths: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return self.lines
            start = self.at
            if self.text.startswith("[[", start):
                self.at += 2
                table = self._element(self._keys())
                self._mark(table, start)
                self.at = self.text.index("]]", self.at) + 2
            elif self.text[start] == "[":
                self.at += 1
                table = self._inside(self._keys())
                self._mark(table, start)
                self.at = self.text.index("]", self.at) + 1
            else:
                self._pair(table)

    def _pair(self, table: KeyPath) -> None:
        start = self.at
        path = table
        for key in self._keys():
            path = self._inside_one(path, key)
            self._mark(path, start)
        self.at = self.text.index("=", self.at) + 1
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        first = self.text[self.at]
        if first == "[":
            for index, _ in enumerate(self._members("]")):
                self._mark((*path, index), self.at)
                self._value((*path, index))
        elif first == "{":
            for _ in self._members("}"):
                self._pair(path)
        elif not self._string():
            self._skip(_BARE_VALUE)

    def _members(self, closing: str) -> Iterator[None]:
        """Stop at each member of an array or inline table, which the caller then reads."""
        self.at += 1
        while True:
            self._skip(_BLANK)
            character = self.text[self.at]
            if character not in (closing, ","):
                yield
                continue
            self.at += 1
            if character == closing:
                return

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            start = self.at
            if self._string():
                quoted = self.text[start : self.at]
                keys.append(_unescaped(quoted[1:-1]) if quoted[0] == '"' else quoted[1:-1])
            else:
                self._skip(_BARE_KEY)
                keys.append(self.text[start : self.at])
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _string(self) -> bool:
        return any(self._skip(pattern) for pattern in _STRINGS)

    def _inside(self, keys: list[str]) -> KeyPath:
        path: KeyPath = ()
        for key in keys:
            # A header also makes the tables around it, where they are not there yet.
            self._mark((*path, key), self.at)
            path = self._inside_one(path, key)
        return path

    def _inside_one(self, path: KeyPath, key: str) -> KeyPath:
        path = (*path, key)
        # A key that names an array of tables means its newest element.
        return (*path, self.lengths[path] - 1) if path in self.lengths else path

    def _element(self, keys: list[str]) -> KeyPath:
        array = (*self._inside(keys[:-1]), keys[-1])
        index = self.lengths.get(array, 0)
        self.lengths[array] = index + 1
        self._mark(array, self.at)
        return (*array, index)

    def _mark(self, path: KeyPath, at: int) -> None:
        self.lines.setdefault(path, bisect_right(self.newlines, at - 1) + 1)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match is not None


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])

    return _ESCAPE.sub(one, text)

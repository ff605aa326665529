"""One table of a TOML file, read with checks: an error names the file and the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean

_TYPES = {bool: "true or false", str: "a string", list: "a list", dict: "a table"}


def toml_of(raw: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Args:
        raw: its bytes.
        path: of the file, for errors.

    Raises:
        UsageError: it is malformed; the message names the file and, where it is known, the line.
    """
    import tomli

    try:
        return tomli.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 (byte {error.start})", where=str(path)) from error
    except tomli.TOMLDecodeError as error:
        raise UsageError(f"is not TOML: {error.msg}", where=f"{path}:{error.lineno}") from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", where=str(path)) from error
    except ValueError as error:  # a number with thousands of digits
        raise UsageError(f"has a value that cannot be read: {error}", where=str(path)) from error


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file at a key (``study.columns[0]``), which is empty for the whole file."""

    path: Path
    content: Mapping[str, Any]
    key: str = ""

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """Return the value of a key.

        Args:
            key: in this table.
            kind: the allowed type: ``bool``, ``str``, ``list`` or ``dict``.
            default: the value where the key is not set.

        Raises:
            UsageError: the value has another type.
        """
        value = self.content.get(key)
        if value is None:
            return default
        if type(value) is not kind:
            raise self.error(key, f"{value!r} is not {_TYPES[kind]}", allowed=_TYPES[kind])
        return value

    def inner(self, key: str, content: object, known: Iterable[str]) -> Table:
        """Return a table inside this one.

        Args:
            key: its place in this table.
            content: to be checked.
            known: the keys that it may have.

        Raises:
            UsageError: it is not a table, or has another key.
        """
        if not isinstance(content, Mapping):
            raise self.error(key, f"{content!r} is not a table", allowed=", ".join(known))
        table = Table(self.path, content, self._place(key))
        table.refuse_unknown(known)
        return table

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Check that every key is known.

        Raises:
            UsageError: one is not; the message names the nearest.
        """
        for key in self.content:
            if key not in known:
                hint = did_you_mean(key, known)
                raise self.error(key, f"unknown key{hint}", allowed=", ".join(known))

    def error(self, key: str, message: str, *, allowed: str | None = None) -> UsageError:
        """Return an error that names the file and the key.

        Args:
            key: in this table.
            message: what is wrong.
            allowed: what is allowed there, or None.
        """
        return UsageError(f"{self._place(key)}: {message}", where=str(self.path), allowed=allowed)

    def _place(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key else key

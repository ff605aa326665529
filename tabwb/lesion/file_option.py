"""The option ``file=`` of lesion specs: a path in their text, and the hash of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote_to_bytes

from tabwb.lesion.declared import CONTROLS_OF
from tabwb.records.errors import UsageError

_DIGEST = re.compile(r"[0-9a-f]{16,64}")
"""The first digits of a SHA-256."""


_IN_GRID = re.compile(r": lesions\[\d+\]$")


def file_of(values: Mapping[str, object], select: str, where: str) -> tuple[str, str]:
    """Return the path of a list of units, and what the SHA-256 of its content begins with."""
    if CONTROLS_OF.get(select, select) != "list":
        for key in ("file", "sha256"):
            if key in values:
                raise wrong(where, f"has {key}= without select=list", "leave it out")
        return "", ""
    file, digest = values.get("file"), values.get("sha256", "")
    if not isinstance(file, str) or not file:
        raise wrong(where, f"needs file= for select={select}", "file=PATH of a list of units")
    try:
        is_text = "\0" not in file and bool(file.encode())
    except UnicodeEncodeError:
        is_text = False
    if not is_text:
        raise wrong(where, "has a path in file= that is not text", "a file named in UTF-8")
    if digest and not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
        raise wrong(where, f"has sha256={digest}", "16 to 64 digits, 0-9 and a-f")
    return file, str(digest)


def escaped(path: str) -> str:
    """Return a path as specs write it: commas, plus signs, ``%`` and spaces as in an address.

    >>> escaped("my lists/a,b+c.json")
    'my%20lists/a%2Cb%2Bc.json'
    """
    return "".join(
        quote(letter, safe="") if letter in ",+%" or letter.isspace() else letter for letter in path
    )


def unescaped(path: str, where: str) -> str:
    """Return the path that a spec writes; a ``%`` without two digits is itself."""
    try:
        return unquote_to_bytes(path).decode()
    except UnicodeError:
        raise wrong(where, "has a path in file= that is not UTF-8", "%25 for %") from None


def wrong(where: str, what: str, allowed: str, hint: str = "") -> UsageError:
    """Return the error for a spec."""
    if _IN_GRID.search(where):
        return UsageError(f"the lesion {shown(what)}", where=where, allowed=allowed, hint=hint)
    return UsageError(f"the lesion '{shown(where)}' {shown(what)}", allowed=allowed, hint=hint)


def shown(text: str, most: int = 300) -> str:
    """Return a text for a message, cut: a spec can be joined of thousands of lesions."""
    return text if len(text) <= most else text[: most - 1] + "…"

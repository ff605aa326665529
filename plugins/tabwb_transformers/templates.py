"""Declared plain templates: how a conversation is written for a model without a chat format."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message

PLAIN = Path(__file__).with_name("plain.toml")
_TURNS = ("system", "user", "assistant")
_KEYS = ("id", *_TURNS, "opening", "stop")


@dataclass(frozen=True, slots=True)
class PlainTemplate:
    """A template that is data.

    Attributes:
        id: names it in what is stored.
        system, user, assistant: how a turn is written, with ``{content}``.
        opening: what stands before the reply.
        stop: strings at which a reply ends.
        sha256: of the file.
    """

    id: str
    system: str
    user: str
    assistant: str
    opening: str
    stop: tuple[str, ...]
    sha256: str

    def render(self, messages: Sequence[Message]) -> str:
        r"""The prompt for a conversation.

        >>> load_template(PLAIN).render([Message("user", "What barks?")])
        'Question: What barks?\nAnswer:'
        """
        turns = {"system": self.system, "user": self.user, "assistant": self.assistant}
        written = [turns[each.role].replace("{content}", each.content) for each in messages]
        return "".join(written) + self.opening


def load_template(path: Path) -> PlainTemplate:
    """Read a template's TOML file.

    Raises:
        ComponentError: it cannot be read or a key is missing or malformed.
    """
    import tomli

    try:
        raw = path.read_bytes()
        table = tomli.loads(raw.decode("utf-8"))
    except OSError as error:
        raise ComponentError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise ComponentError("is not UTF-8", where=str(path)) from error
    except tomli.TOMLDecodeError as error:
        raise ComponentError(error.msg, where=f"{path}:{error.lineno}") from error
    for key in table:
        if key not in _KEYS:
            raise ComponentError(f"unknown key '{key}'", where=str(path), allowed=", ".join(_KEYS))
    for key in _KEYS[:-1]:
        if not isinstance(table.get(key), str):
            raise ComponentError(f"{key}: must be a string", where=str(path))
        if key in _TURNS and "{content}" not in table[key]:
            raise ComponentError(f"{key}: must hold {{content}}", where=str(path))
    stop = table.get("stop")
    if not isinstance(stop, list) or not all(isinstance(each, str) and each for each in stop):
        raise ComponentError("stop: must be a list of strings, none empty", where=str(path))
    texts = {key: table[key] for key in _KEYS[:-1]}
    return PlainTemplate(**texts, stop=tuple(stop), sha256=hashlib.sha256(raw).hexdigest())

"""Plain templates: the form of a conversation for a model without a chat format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.battery.problems import dotted, line_of, locate
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message
from tabwb.records.problems import KeyPath
from tabwb.records.states import ResponseKind

PLAIN = Path(__file__).with_name("plain.toml")
SHIPPED = {"plain": PLAIN, "examples": Path(__file__).with_name("examples.toml")}
"""The templates that come with tabwb, by name."""
_TURNS = ("system", "user", "assistant")
_TEXTS = ("id", *_TURNS, "opening")
_KEYS = (*_TEXTS, "reply", "stop", "example")
_EXAMPLE_KEYS = ("kind", "user", "assistant")
_CONTENT = "{content}"


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answer, shown before the conversation.

    Attributes:
        user: the question.
        assistant: the answer, without the blank before it.
        kind: the kind of response for which it is shown, or None for all.
    """

    user: str
    assistant: str
    kind: ResponseKind | None = None


@dataclass(frozen=True, slots=True)
class PlainTemplate:
    """A template that is data.

    Attributes:
        id: names it in what is stored.
        system, user, assistant: how a turn is written, with ``{content}``.
        opening: the text before the reply.
        reply: how an answer that is not the model's own (of an example, an option) is written
            after the opening, with ``{content}``; after a space where a file does not say.
        stop: strings at which a reply ends.
        examples: shown between the system's turns and the conversation.
        sha256: of the file.
    """

    id: str
    system: str
    user: str
    assistant: str
    opening: str
    reply: str
    stop: tuple[str, ...]
    sha256: str
    examples: tuple[Example, ...] = ()

    def render(self, messages: Sequence[Message], kind: ResponseKind | None = None) -> str:
        r"""Return the prompt of a conversation.

        >>> load_template(PLAIN).render([Message("user", "What barks?")])
        'Question: What barks?\nAnswer:'
        """
        first = next((n for n, turn in enumerate(messages) if turn.role != "system"), len(messages))
        shown: list[Message] = []
        for example in self.examples:
            if example.kind is None or example.kind is kind:
                answer = self.reply_of(example.assistant)
                shown += [Message("user", example.user), Message("assistant", answer)]
        turns = {"system": self.system, "user": self.user, "assistant": self.assistant}
        written = [
            turns[turn.role].replace(_CONTENT, turn.content)
            for turn in (*messages[:first], *shown, *messages[first:])
        ]
        return "".join(written) + self.opening

    def reply_of(self, answer: str) -> str:
        """Return a given answer as it is written after the opening.

        >>> load_template(PLAIN).reply_of("dog")
        ' dog'
        """
        return self.reply.replace(_CONTENT, answer)


def load_template(path: Path) -> PlainTemplate:
    """Read a template's TOML file."""
    import tomli

    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
        table = tomli.loads(text)
    except OSError as error:
        raise ComponentError(
            f"cannot be read: {error.strerror}",
            where=str(path),
            allowed=f"auto, chat, {', '.join(SHIPPED)}, or the path of a TOML file",
        ) from error
    except UnicodeDecodeError as error:
        raise ComponentError("is not UTF-8", where=str(path)) from error
    except tomli.TOMLDecodeError as error:
        raise ComponentError(error.msg, where=f"{path}:{error.lineno}") from error
    for place, message, allowed in _problems(table):
        line = line_of(locate(text), place)
        raise ComponentError(
            f"{dotted(place)}: {message}", where=f"{path}:{line}", allowed=allowed or None
        )
    examples = tuple(
        Example(
            example["user"],
            example["assistant"],
            ResponseKind(example["kind"]) if "kind" in example else None,
        )
        for example in table.get("example", [])
    )
    texts = {key: table[key] for key in _TEXTS}
    return PlainTemplate(
        **texts,
        reply=table.get("reply", _CONTENT if table["opening"][-1:].isspace() else f" {_CONTENT}"),
        stop=tuple(table["stop"]),
        sha256=hashlib.sha256(raw).hexdigest(),
        examples=examples,
    )


def _problems(table: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield key path, problem and allowed values of every mistake."""
    for key in table:
        if key not in _KEYS:
            yield (key,), "unknown key", ", ".join(_KEYS)
    for key in _TEXTS:
        if not isinstance(table.get(key), str):
            yield (key,), "must be a string", ""
        elif key in _TURNS and _CONTENT not in table[key]:
            yield (key,), f"must hold {_CONTENT}", ""
    reply = table.get("reply", _CONTENT)
    if not isinstance(reply, str) or _CONTENT not in reply:
        yield ("reply",), f"must be a string that holds {_CONTENT}", ""
    stop = table.get("stop")
    if not isinstance(stop, list) or not all(isinstance(text, str) and text for text in stop):
        yield ("stop",), "must be a list of strings, none empty", ""
    examples = table.get("example", [])
    if not isinstance(examples, list) or not all(isinstance(example, dict) for example in examples):
        yield ("example",), "must be an array of tables", "[[example]] user = ... assistant = ..."
        return
    for number, example in enumerate(examples):
        for key in example:
            if key not in _EXAMPLE_KEYS:
                yield ("example", number, key), "unknown key", ", ".join(_EXAMPLE_KEYS)
        for key in ("user", "assistant"):
            if not isinstance(example.get(key), str) or not example[key].strip():
                yield ("example", number, key), "must be a string with text", ""
        kinds = [kind.value for kind in ResponseKind]
        if "kind" in example and example["kind"] not in kinds:
            yield ("example", number, "kind"), "is not a kind of response", ", ".join(kinds)

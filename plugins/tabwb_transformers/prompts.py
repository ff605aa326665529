"""The rendered prompt of a request and its tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabwb.battery.problems import dotted, line_of, locate
from tabwb.plugin_api import within
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Message, Request
from tabwb.records.problems import KeyPath
from tabwb.records.reasoning import AUTO, SPECIAL, closing_of, is_tag, opened_by
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


_ANCHOR = "\n"
TEMPLATE_S = 10.0
"""Seconds that a chat template may take: it is a program and may loop."""


class Prompts:
    """Renders requests for one tokenizer."""

    def __init__(
        self,
        name: str,
        tokenizer: Any,
        wish: str,
        keywords: Mapping[str, object] | None = None,
        reasoning: str = AUTO,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._fast = getattr(tokenizer, "backend_tokenizer", None)
        self.template = self._chosen(wish)
        self._chat_template_hangs = False
        self.reasoning = reasoning
        self._keywords = dict(keywords or {})
        self._check_keywords()
        self.special = frozenset(tokenizer.all_special_ids) - self._tags()

    @property
    def id(self) -> str:
        """The name of the template in the store."""
        return "chat" if self.template is None else self.template.id

    @property
    def stops(self) -> tuple[str, ...]:
        """Strings that end a reply."""
        return () if self.template is None else self.template.stop

    def opened_by(self, rendered: str) -> str:
        """Return the tag with which a prompt begins the model's thinking, or nothing."""
        return opened_by(rendered, self.reasoning)

    def encode(self, request: Request, *, answers: bool = False) -> tuple[str, list[int]]:
        """Return the rendered prompt and its tokens.

        Without messages the prompt is empty: its only token is the one that begins texts, where the
        tokenizer has one.
        """
        if not request.messages:
            begin = getattr(self._tokenizer, "bos_token_id", None)
            return "", [] if begin is None else [int(begin)]
        if self.template is not None:
            rendered = self.template.render(request.messages, request.kind)
            return rendered, self._tokens(rendered, special=True)
        turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
        try:
            rendered = within(TEMPLATE_S, lambda: self._by_chat_template(turns))
        except TimeoutError:
            self._chat_template_hangs = True
            raise ComponentError(
                f"the chat template of '{self._name}' did not finish within {TEMPLATE_S:g} s",
                hint="template=plain writes the prompt without the model's own format",
            ) from None
        except Exception as error:
            raise ComponentError(
                f"the chat template of '{self._name}' refuses this conversation: {error}",
                hint="template=plain writes it without the model's own format",
            ) from error
        if answers and (opened := self.opened_by(rendered)):
            rendered = f"{rendered.rstrip()}\n\n{closing_of(opened, self.reasoning)}\n\n"
        # The chat template writes the special tokens itself.
        return rendered, self._tokens(rendered, special=False)

    def _by_chat_template(self, turns: list[dict[str, str]]) -> str:
        if self._chat_template_hangs:
            raise TimeoutError
        return str(
            self._tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, **self._keywords
            )
        )

    def _tags(self) -> frozenset[int]:
        """Return the special tokens that are tags of reasoning, which must be written out."""
        named = {
            self._tokenizer.convert_ids_to_tokens(n): n for n in self._tokenizer.all_special_ids
        }
        tags = {n for token, n in named.items() if is_tag(str(token), self.reasoning)}
        if self.reasoning == AUTO and SPECIAL[0] in named:
            tags |= {named[token] for token in SPECIAL if token in named}
        return frozenset(tags)

    def _check_keywords(self) -> None:
        """Check that the chat template reads every keyword: it would pass over another one."""
        if not self._keywords:
            return
        if self.template is not None:
            raise ComponentError(
                f"chat.{next(iter(self._keywords))}: the template '{self.id}' has no keywords",
                allowed="template=chat, for a tokenizer with a chat template",
            )
        given = self._tokenizer.chat_template
        text = "\n".join(given.values()) if isinstance(given, Mapping) else str(given)
        words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text))
        for name in self._keywords:
            if name not in words:
                known = sorted(word for word in words if "think" in word or "reason" in word)
                raise ComponentError(
                    f"the chat template of '{self._name}' has no keyword '{name}'",
                    allowed="a name that the template reads"
                    + (f", such as {', '.join(known[:6])}" if known else ""),
                )

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, with special tokens written out."""
        if self._fast is not None:  # without the wrapper, which costs more than the work
            return str(self._fast.decode(list(tokens), skip_special_tokens=False))
        return str(
            self._tokenizer.decode(
                tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )

    def written(self, option: str) -> str:
        """Return an option as it is written after the prompt."""
        return option if self.template is None else self.template.reply_of(option)

    def ways(self, rendered: str, ids: Sequence[int], option: str) -> list[tuple[int, ...]]:
        """Return the token sequences of an allowed answer.

        As the template declares, and with and without a space before it; after a space without.
        """
        bare = option.lstrip()
        texts = [bare]
        if rendered and not rendered[-1].isspace():
            texts = [self.written(option), bare, f" {bare}"]
        return list(dict.fromkeys(tuple(self.after(rendered, ids, text)) for text in texts))

    def after(self, rendered: str, ids: Sequence[int], text: str) -> list[int]:
        """Return the tokens of a continuation as the model would write it after the prompt.

        Prompt and continuation are tokenised together. If the result begins with the prompt's
        tokens, the rest is the continuation. If a token spans the boundary, the model cannot write
        it, because the prompt's tokens are fixed: the continuation is then tokenised after a line
        break, whose tokens are removed; if even those are merged, it is tokenised alone.
        """
        if not rendered:
            return self._tokens(text, special=False)
        whole = self._tokens(rendered + text, special=self.template is not None)
        if whole[: len(ids)] == list(ids):
            return whole[len(ids) :]
        anchor = self._tokens(_ANCHOR, special=False)
        anchored = self._tokens(_ANCHOR + text, special=False)
        if anchored[: len(anchor)] == anchor:
            return anchored[len(anchor) :]
        return self._tokens(text, special=False)

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def _chosen(self, wish: str) -> PlainTemplate | None:
        has_chat = bool(getattr(self._tokenizer, "chat_template", None))
        if wish == "chat" and not has_chat:
            raise ComponentError(
                f"the tokenizer of '{self._name}' has no chat template",
                allowed=f"template={' or '.join(SHIPPED)}, or the path of a TOML file",
            )
        if wish == "chat" or (wish == "auto" and has_chat):
            return None
        wish = "plain" if wish == "auto" else wish
        return load_template(SHIPPED.get(wish) or Path(wish).expanduser())

"""A model behind chat completions, through OpenAI's client.

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import openai

from tabwb.host.remote_model import (
    HEADERS,
    FailureKind,
    client_arguments,
    client_failures,
    deepest,
    failure_of,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)
from tabwb.host.remote_model import StreamedReply
from tabwb.plugin_api import (
    RemoteFailure,
    RemoteModel,
    Retries,
    find_key,
    missing_key,
    redact,
    within,
)
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import NOT_SENT, Reply, Request, Wait
from tabwb.records.reasoning import passed_on
from tabwb.records.states import Protocol, StopReason
from tabwb_openai.backend import CONCESSIONS, arguments
from tabwb_openai.backend import Heard, chosen
from tabwb_openai.options import OpenAIOptions

_QUOTA = {insufficient_quota, billing_hard_limit_reached, billing_not_active}


def client_failure(error: Exception) -> RemoteFailure | None:
    Return the failure of an error of the client; None for any other error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import openai

from tabwb.host.remote_model import (
    HEADERS,
    FailureKind,
    StreamedReply,
    client_arguments,
    client_failures,
    deepest,
    failure_of,
    is_enforced,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)
from tabwb.plugin_api import (
    RemoteFailure,
    RemoteModel,
    Retries,
    find_key,
    missing_key,
    redact,
    within,
)
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import NOT_SENT, THOUGHT_AWAY, Message, Reply, Request, Wait
from tabwb.records.reasoning import passed_on
from tabwb.records.specs import mixed
from tabwb.records.states import Protocol, StopReason
from tabwb_openai.options import OpenAIOptions, SystemRole

STOPS = 4
"""The API accepts no more stop strings; replies are cut here as well, at all of them."""
CONCESSIONS = ("stream_options", "seed", "response_format")
"""Parameters that are left out where a server refuses them; the reply's metadata says so."""


def arguments(
    model: str, request: Request, options: OpenAIOptions, not_taken: frozenset[str]
) -> dict[str, Any]:
    """Return the arguments of ``chat.completions.create`` for a request."""
    decoding = request.decoding
    asked: dict[str, Any] = {
        "model": model,
        "messages": turns(request.messages, options.system_role),
        "temperature": decoding.temperature,
        token_parameter(options, not_taken): decoding.max_tokens + options.reasoning_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if not decoding.greedy:
        asked["seed"] = mixed(decoding.seed, options.seed)
        if decoding.top_p < 1.0:
            asked["top_p"] = decoding.top_p
    if options.reasoning_effort is not None:
        asked["reasoning_effort"] = options.reasoning_effort
    if options.chat:
        asked["extra_body"] = {"chat_template_kwargs": dict(options.chat)}
    if decoding.stop:
        asked["stop"] = list(decoding.stop[:STOPS])
    if is_enforced(request):
        shape = dict(_enforcement(list(dict.fromkeys(request.options)), options))
        if extra := {**asked.get("extra_body", {}), **shape.pop("extra_body", {})}:
            asked["extra_body"] = extra
        asked |= shape
    elif request.json_schema and options.structured in {"auto", "json-schema"}:
        asked |= _response_format(json.loads(request.json_schema), "reply")
    return {name: value for name, value in asked.items() if name not in not_taken}


def token_parameter(options: OpenAIOptions, not_taken: frozenset[str]) -> str:
    """Return the server's name of the token limit; the other name where it refused one."""
    if options.token_parameter != "auto":
        return options.token_parameter
    names = ["max_tokens", "max_completion_tokens"]
    if options.is_own:
        names.reverse()
    return names[1] if names[0] in not_taken else names[0]


def turns(messages: Sequence[Message], system_role: SystemRole) -> list[dict[str, str]]:
    r"""Return the conversation in the API's form.

    >>> turns([Message("system", "Be brief."), Message("user", "Hello")], "user")
    [{'role': 'user', 'content': 'Be brief.\n\nHello'}]
    """
    if system_role != "user":
        names = {"system": system_role}
        return [{"role": names.get(m.role, m.role), "content": m.content} for m in messages]
    system = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    first = next((n for n, message in enumerate(rest) if message.role == "user"), -1)
    return [
        {
            "role": message.role,
            "content": "\n\n".join([*system, message.content]) if n == first else message.content,
        }
        for n, message in enumerate(rest)
    ]


def _enforcement(choices: list[str], options: OpenAIOptions) -> Mapping[str, Any]:
    """Return the arguments that restrict a reply to the choices."""
    match options.structured:
        case "none":
            raise ComponentError(
                "structured=none cannot answer under the protocol 'enforced'",
                allowed="structured=auto, json-schema, choice, guided-choice",
            )
        case "choice":
            return {"extra_body": {"structured_outputs": {"choice": choices}}}
        case "guided-choice":
            return {"extra_body": {"guided_choice": choices}}
        case "auto" | "json-schema":
            schema = {
                "type": "object",
                "properties": {"answer": {"type": "string", "enum": choices}},
                "required": ["answer"],
                "additionalProperties": False,
            }
            return _response_format(schema, "answer")


def _response_format(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    wrapped = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}


REASONS: Mapping[str, StopReason] = {
    "stop": StopReason.END,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}
"""Finish reason: why the reply ended. Other reasons of services are kept unaltered."""


@dataclass(slots=True)
class Heard:
    """The state of a completion besides its text.

    Attributes:
        finish: why it ended, in the service's word; None until it ends.
        stop_string: the string at which the server ended the reply, where it says so.
        refused: the model sent a refusal.
        prompt_tokens, reply_tokens: as the service counts, or None.
        reasoning: what the service sent as reasoning, in fields of its own.
        thoughts: tokens of reasoning, which the service counts among those of the reply.
        has_text: whether there was any text.
        facts: of the service (model, fingerprint, id of the completion).
        chunks: number of chunks.
    """

    finish: str | None = None
    stop_string: str | None = None
    refused: bool = False
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    reasoning: str = ""
    thoughts: int = 0
    has_text: bool = False
    facts: dict[str, str] = field(default_factory=dict)
    chunks: int = 0

    def take(self, chunk: Any) -> str:
        """Read a chunk; return its text.

        Raises:
            RemoteFailure: it is not a chunk of a chat completion.
        """
        try:
            self._count(getattr(chunk, "usage", None))
            self._note(chunk)
            choices = chunk.choices or []
            text = "".join(self._choice(choice) for choice in choices if not choice.index)
            self.has_text = self.has_text or bool(text.strip())
        except (AttributeError, TypeError, ValueError) as error:
            raise RemoteFailure(
                "malformed", f"a part of the answer has not the form of one: {error}"
            ) from None
        self.chunks += 1
        return text

    @property
    def stop_reason(self) -> StopReason:
        """Why the reply ended."""
        if self.refused:
            return StopReason.REFUSED
        if self.stop_string is not None:
            return StopReason.STOP_STRING
        return REASONS.get(self.finish or "", StopReason.END)

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata to keep with the reply."""
        kept = dict(self.facts)
        if self.finish is not None:
            kept["finish_reason"] = self.finish
        if self.refused:
            kept["refusal"] = "yes"
        if self.stop_string is not None:
            kept["stop_string"] = self.stop_string
        if self.reasoning:
            kept["reasoning_characters"] = str(len(self.reasoning))
        if self.thoughts:
            kept["thought_tokens"] = str(self.thoughts)
        if self.finish == "length" and not self.has_text and (self.reasoning or self.thoughts):
            kept["cause"] = THOUGHT_AWAY
        return kept

    def _choice(self, choice: Any) -> str:
        finish = getattr(choice, "finish_reason", None)
        if finish is not None:
            self.finish = str(finish)
            reason = getattr(choice, "stop_reason", None)  # vLLM has the string
            self.stop_string = reason if isinstance(reason, str) else None
        delta = getattr(choice, "delta", None)
        if delta is None:
            return ""
        self.reasoning += _reasoning(delta)
        refusal = getattr(delta, "refusal", None) or ""
        self.refused = self.refused or bool(refusal)
        return _text(getattr(delta, "content", None)) + refusal

    def _count(self, usage: Any) -> None:
        prompt, reply = (
            getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")
        )
        if isinstance(prompt, int) and isinstance(reply, int):
            self.prompt_tokens, self.reply_tokens = prompt, reply
        details = getattr(usage, "completion_tokens_details", None)
        thoughts = getattr(details, "reasoning_tokens", None)
        if isinstance(thoughts, int):
            self.thoughts = thoughts

    def _note(self, chunk: Any) -> None:
        names = {"model": "model", "system_fingerprint": "system_fingerprint", "id": "response_id"}
        for name, kept in names.items():
            value = getattr(chunk, name, None)
            if isinstance(value, str) and value:
                self.facts[kept] = value


def _reasoning(delta: Any) -> str:
    """Return the reasoning of a chunk; services name its field differently, some by two names."""
    for name in ("reasoning_content", "reasoning", "thinking", "thought"):
        if isinstance(text := getattr(delta, name, None), str) and text:
            return text
    details = getattr(delta, "reasoning_details", None)  # OpenRouter
    parts = details if isinstance(details, list) else []
    content = getattr(delta, "content", None)  # Mistral: a list of parts
    parts = [*parts, *(content if isinstance(content, list) else [])]
    return "".join(_parts(parts, thought=True))


def _text(content: object) -> str:
    """Return the text of a message; of a list of parts, without those of its thinking."""
    return content if isinstance(content, str) else "".join(_parts(content, thought=False))


def _parts(content: object, *, thought: bool) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        kind = str(part.get("type", "text"))
        if ("thinking" in kind or "reasoning" in kind) != thought:
            continue
        text = part.get("thinking", part.get("text", part.get("summary", "")))
        yield text if isinstance(text, str) else "".join(_parts(text, thought=False))


def chosen(raw: str, choices: Sequence[str]) -> str:
    """Return the answer in an enforced reply; the reply itself where it has none.

    >>> chosen('{"answer": "lion"}', ["lion", "drum"]), chosen("A lion.", ["lion", "drum"])
    ('lion', 'A lion.')
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    answer = document.get("answer") if isinstance(document, dict) else None
    return answer if isinstance(answer, str) and answer in choices else raw


_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}


def client_failure(error: Exception) -> RemoteFailure | None:
    """Return the failure of an error of the client; None for any other error."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APITimeoutError):
        return RemoteFailure("timeout", deepest(error))
    if isinstance(error, openai.APIConnectionError):
        return RemoteFailure("connection", deepest(error))
    if isinstance(error, openai.APIResponseValidationError):
        return malformed(error)
    if isinstance(error, openai.APIError):  # sent in the middle of a stream
        return RemoteFailure(_kind_in_stream(error), shortened(_message(error)))
    return None


def is_blocked(error: openai.APIStatusError) -> bool:
    """Return whether a content filter refused the prompt, in Azure's form."""
    return error.status_code == 400 and error.code == "content_filter"


def names_parameter(error: openai.APIStatusError, parameter: str) -> bool:
    """Return whether a server refuses a request because of a parameter."""
    if error.status_code not in {400, 422}:
        return False
    return error.param == parameter or parameter in _message(error)


def _of_status(error: openai.APIStatusError) -> RemoteFailure:
    kind = kind_of_status(error.status_code)
    if error.status_code == 402 or _QUOTA & {error.code, error.type}:
        kind = "quota"
    return RemoteFailure(
        kind,
        shortened(_message(error)),
        status=error.status_code,
        retry_after_s=retry_after(error.response.headers),
    )


def _kind_in_stream(error: openai.APIError) -> FailureKind:
    codes = {error.code, error.type}
    if _QUOTA & codes:
        return "quota"
    if codes & {"rate_limit_exceeded", "rate_limit_error", "429"}:
        return "rate-limit"
    numbers = [int(code) for code in codes if code and code.isdecimal() and len(code) == 3]
    return kind_of_status(numbers[0]) if numbers and numbers[0] >= 400 else "server"


def _message(error: openai.APIError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        return str(body["message"])
    if isinstance(body, str) and body and not isinstance(error, openai.APIStatusError):
        return body
    return error.message


CONNECT_S = 10.0
"""Seconds that a connection may take."""
LOOK_S = 10.0
"""Seconds that the server may take to list its models."""
OVERRUN = 8
"""Pieces that a server may send after a stop string."""


class OpenAIModel(RemoteModel):
    """A model of any server with the chat completions protocol."""

    def __init__(
        self, name: str, options: OpenAIOptions, *, local: bool, retries: Retries | None = None
    ) -> None:
        super().__init__(
            concurrency=options.concurrency,
            retries=retries or Retries(attempts=options.retries + 1),
            reply_s=options.reply_s,
            silence_s=options.timeout_s,
            title=f"openai:{name}",
        )
        self._name = name
        self._options = options
        self._local = local
        self._client: openai.OpenAI | None = None
        self._not_taken: frozenset[str] = frozenset()

    def open(self) -> Mapping[str, str]:
        """Make the client and check that the server answers."""
        self.close()
        self._client = self._connect()
        try:
            self._check_server(self._client)
        except ComponentError:
            self.close()
            raise
        return {
            "model": self._name,
            "base_url": self._options.address,
            "client": f"openai {openai.__version__}",
        }

    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Try once, streaming. An enforced answer is one piece."""
        if request.protocol is Protocol.LIKELIHOOD:
            raise ComponentError(
                f"{self.title} cannot answer under the protocol 'likelihood'",
                allowed="generate, enforced",
            )
        started = time.monotonic()
        with client_failures(client_failure):
            try:
                stream, asked = self._begin(request)
            except openai.APIStatusError as error:
                if not is_blocked(error):
                    raise
                metadata = {"finish_reason": "content_filter", "blocked": "the prompt"}
                latency = time.monotonic() - started
                yield Reply("", StopReason.REFUSED, latency, metadata=metadata)
                return
            with stream:
                yield from self._listen(request, asked, stream, cancel, started)

    def close(self) -> None:
        """Close the connections of the client."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    # ---------------------------------------------------------------- asking

    def _begin(self, request: Request) -> tuple[Any, dict[str, Any]]:
        """Return the open stream and the arguments, without those that the server refuses."""
        if self._client is None:
            self.open()
        assert self._client is not None
        while True:
            asked = arguments(self._name, request, self._options, self._not_taken)
            try:
                return self._client.chat.completions.create(**asked), asked
            except openai.APIStatusError as error:
                refused = self._refused_parameter(error, asked)
                if refused is None:
                    raise
                self._not_taken |= {refused}

    def _refused_parameter(
        self, error: openai.APIStatusError, asked: Mapping[str, Any]
    ) -> str | None:
        """Return the parameter that a request failed for and that can be left out, or None."""
        optional = set(CONCESSIONS) & set(asked)
        if self._options.structured != "auto":
            optional.discard("response_format")
        if self._options.token_parameter == "auto":
            # Decided by this request, because another thread may have changed _not_taken.
            names = {"max_tokens", "max_completion_tokens"}
            optional |= {
                name for name in names & set(asked) if not (names - {name}) & self._not_taken
            }
        return next((name for name in sorted(optional) if names_parameter(error, name)), None)

    # ---------------------------------------------------------------- listening

    def _listen(
        self,
        request: Request,
        asked: Mapping[str, Any],
        stream: Any,
        cancel: Cancel,
        started: float,
    ) -> Iterator[str | Wait | Reply]:
        structured = "response_format" in asked
        heard, overrun = Heard(), 0
        reply = StreamedReply(
            request,
            title=self.title,
            structured=structured,
            started=started,
            reasoning=self._options.reasoning,
        )
        for chunk in stream:
            if cancel.is_set():
                reply.cancelled = True
                break
            text = heard.take(chunk)
            yield from passed_on(reply, reply.feed(text))
            if reply.stop_string is not None:
                # A server that knows the stop string ends the reply itself and reports its counts.
                overrun += bool(text)
                if reply.stop_string not in asked.get("stop", ()) or overrun > OVERRUN:
                    break
        if not reply.is_cut:
            _check_complete(heard)
        metadata = heard.metadata | self._marks(asked)
        if self._options.reasoning_tokens:
            metadata["max_tokens"] = str(
                request.decoding.max_tokens + self._options.reasoning_tokens
            )
            metadata["reasoning_limit"] = str(self._options.reasoning_tokens)
        if self._options.reasoning_effort is not None:
            metadata["reasoning_effort"] = self._options.reasoning_effort
        if not request.decoding.greedy:
            metadata["seed"] = str(asked.get("seed", NOT_SENT))

        def read(raw: str) -> str:
            return chosen(raw, request.options) if structured else raw

        yield from reply.finish(heard, metadata, read)

    def _marks(self, asked: Mapping[str, Any]) -> dict[str, str]:
        """Return the metadata on how the answer was requested."""
        marks = {}
        if "response_format" in asked:
            marks["structured"] = "json-schema"
        elif _shapes(asked):
            marks["structured"] = self._options.structured
        if self._not_taken:
            marks["not_taken_by_server"] = ", ".join(sorted(self._not_taken))
        return marks

    # ---------------------------------------------------------------- the client

    def _connect(self) -> openai.OpenAI:
        options = self._options
        key = find_key(options.key_variables, options.service)
        if key is None and (options.is_own or options.key_env):
            raise missing_key(self.title, options.key_variables, options.service)
        client = openai.OpenAI(
            # The client requires a key; servers on this machine accept any word.
            api_key="none" if key is None else key.reveal(),
            base_url=options.address,
            timeout=openai.Timeout(options.timeout_s, connect=min(options.timeout_s, CONNECT_S)),
            max_retries=0,  # RemoteModel tries again, and reports it
            default_headers=HEADERS,
            http_client=self._http(),
        )
        if not options.is_own:
            # The client reads them from the environment; they are for OpenAI only.
            for name in ("organization", "project", "admin_api_key"):
                if hasattr(client, name):
                    setattr(client, name, None)
        return client

    def _http(self) -> Any:
        bounds = client_arguments(heard=self.heard)
        if not self._local:
            return openai.DefaultHttpxClient(**bounds)
        if self._options.socket is None:
            return openai.DefaultHttpxClient(trust_env=False, **bounds)
        # The HTTP library of this version of the client.
        library = sys.modules[openai.DefaultHttpxClient.__base__.__module__.partition(".")[0]]
        transport = library.HTTPTransport(uds=self._options.socket)
        return openai.DefaultHttpxClient(transport=transport, trust_env=False, **bounds)

    def _check_server(self, client: openai.OpenAI) -> None:
        """List the models, which is free; raise only where requests will certainly fail."""
        try:
            within(LOOK_S, client.with_options(timeout=LOOK_S).models.with_raw_response.list)
        except (openai.APITimeoutError, TimeoutError):
            return  # perhaps busy
        except openai.AuthenticationError as error:
            raise ComponentError(
                f"{self._options.address} refuses the key: {redact(error.message)}",
                hint=f"set it with: tabwb key set {self._options.service}",
            ) from None
        except openai.APIConnectionError as error:
            failure = failure_of(error, client_failure)
            if isinstance(failure, ComponentError):
                raise failure from None
            raise ComponentError(
                f"no server answers at {self._options.address}: {redact(str(failure))}",
                hint="is the server running, and is base_url its address up to /v1?",
            ) from None
        except openai.OpenAIError:
            return  # not every server has such a list


def _shapes(asked: Mapping[str, Any]) -> bool:
    """Return whether a request keeps the reply to choices by a parameter of the server's own."""
    return bool({"structured_outputs", "guided_choice"} & set(asked.get("extra_body", {})))


def _check_complete(heard: Heard) -> None:
    """Check that the reply is complete: else the connection was cut."""
    if not heard.chunks:
        raise RemoteFailure("malformed", "the reply is not a valid stream")
    if heard.finish is None:
        raise RemoteFailure("connection", "the answer broke off")

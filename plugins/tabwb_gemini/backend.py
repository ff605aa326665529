r"""A Gemini model, through Google's client.

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from tabwb.host.remote_model import (
    HEADERS,
    client_arguments,
    client_failures,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)
from tabwb.host.remote_model import StreamedReply
from tabwb.plugin_api import RemoteFailure, RemoteModel, Retries, find_key, missing_key
from tabwb.plugin_api.components import Cancel
from tabwb.records.exchange import Reply, Request, Wait
from tabwb.records.reasoning import passed_on
from tabwb_gemini.backend import (
    configuration,
    contents,
    is_structured,
    thinking_budget,
)
from tabwb_gemini.backend import Heard
from tabwb_gemini.options import GeminiOptions

_SECONDS = re.compile(r([0-9]+(?:\.[0-9]+)?)s)


def client_failure(error: Exception) -> RemoteFailure | None:
    Return the failure of an error of the client; None for any other error.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from tabwb.host.remote_model import (
    HEADERS,
    StreamedReply,
    client_arguments,
    client_failures,
    is_enforced,
    kind_of_status,
    malformed,
    retry_after,
    shortened,
)
from tabwb.plugin_api import RemoteFailure, RemoteModel, Retries, find_key, missing_key
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import THOUGHT_AWAY, Reply, Request, Wait
from tabwb.records.reasoning import passed_on
from tabwb.records.specs import mixed
from tabwb.records.states import Protocol, StopReason
from tabwb_gemini.options import ROOM_TO_THINK, GeminiOptions

MOST_STOPS = 5
"""Stop sequences that the API accepts; more are searched for here."""
_ROLES = {"user": "user", "assistant": "model"}
_HARMS = (
    types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    types.HarmCategory.HARM_CATEGORY_HATE_SPEECH,
    types.HarmCategory.HARM_CATEGORY_SEXUALLY_EXPLICIT,
    types.HarmCategory.HARM_CATEGORY_DANGEROUS_CONTENT,
)
"""The filters of text that the API can switch off. It refuses requests with the client's other
filters, which are for images or another service; civic integrity is deprecated."""


def contents(request: Request) -> list[types.Content]:
    """Return the conversation without system messages, which belong to the configuration."""
    return [
        types.Content(role=_ROLES[message.role], parts=[types.Part(text=message.content)])
        for message in request.messages
        if message.role != "system"
    ]


def thinking_budget(request: Request, options: GeminiOptions) -> int | None:
    """Return the tokens that the model may think before it answers; None: the model decides.

    Without the option the model does not think where the limit is below ``ROOM_TO_THINK``.

    >>> from tabwb.records.exchange import Decoding
    >>> [thinking_budget(Request((), Decoding(max_tokens=n)), GeminiOptions()) for n in (64, 2048)]
    [0, None]
    """
    if options.thinking_budget is not None:
        return options.thinking_budget
    return 0 if request.decoding.max_tokens < ROOM_TO_THINK else None


def room_to_think(options: GeminiOptions) -> int:
    """Return the tokens to add to a reply's limit, against which the service counts thinking.

    A thinking budget of the options is an additional limit. Where the model decides, thinking and
    text share the limit of the reply.

    >>> [room_to_think(GeminiOptions(thinking_budget=n)) for n in (None, -1, 0, 512)]
    [0, 0, 0, 512]
    """
    return max(options.thinking_budget or 0, 0)


def configuration(
    request: Request, options: GeminiOptions, budget: int | None
) -> types.GenerateContentConfig:
    """Return everything of a request besides the conversation."""
    decoding = request.decoding
    system = "\n\n".join(m.content for m in request.messages if m.role == "system")
    asked: dict[str, Any] = {
        "temperature": decoding.temperature,
        "max_output_tokens": decoding.max_tokens + room_to_think(options),
        "stop_sequences": list(decoding.stop[:MOST_STOPS]) or None,
        "system_instruction": system or None,
    }
    if not decoding.greedy:
        asked |= {"top_p": decoding.top_p, "seed": mixed(decoding.seed, options.seed)}
    if budget is not None:
        asked["thinking_config"] = types.ThinkingConfig(thinking_budget=budget)
    if options.safety == "off":
        threshold = types.HarmBlockThreshold.BLOCK_NONE
        asked["safety_settings"] = [
            types.SafetySetting(category=harm, threshold=threshold) for harm in _HARMS
        ]
    return types.GenerateContentConfig(**asked, **_shape(request, options))


def _shape(request: Request, options: GeminiOptions) -> dict[str, Any]:
    """Return what makes the reply follow the options or a schema."""
    if request.protocol is Protocol.LIKELIHOOD:
        raise ComponentError(
            "Gemini's API does not return the likelihood of an answer", allowed="generate, enforced"
        )
    if is_enforced(request):
        if options.structured == "none":
            raise ComponentError(
                "structured=none cannot answer under the protocol 'enforced'",
                allowed="structured=auto",
            )
        choices = list(dict.fromkeys(request.options))
        return {
            "response_mime_type": "text/x.enum",
            "response_schema": {"type": "STRING", "enum": choices},
        }
    if request.json_schema and options.structured == "auto":
        return {
            "response_mime_type": "application/json",
            "response_json_schema": json.loads(request.json_schema),
        }
    return {}


def is_structured(config: types.GenerateContentConfig) -> bool:
    """Return whether the reply must follow options or a schema."""
    return config.response_mime_type is not None


_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "ESCALATION",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
"""Finish reasons of answers that the service withholds."""
_WHOLE = frozenset({"STOP", "MAX_TOKENS"})
"""Finish reasons of complete answers. Any other reason is a failure."""


@dataclass(slots=True)
class Heard:
    """The state of a reply besides its text.

    Attributes:
        finish: why it ended, in the service's word; None until it ends.
        blocked: why the prompt was refused, in the service's word, or None.
        prompt_tokens, reply_tokens: as the service counts, including thinking; or None.
        facts: of the service (model version, id of the reply).
        chunks: number of chunks.
        candidates: number of chunks with a part of an answer.
        has_text: whether there was any text.
        thoughts: tokens of thinking.
        reasoning: its summary, where the service sends one.
    """

    finish: str | None = None
    blocked: str | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    candidates: int = 0
    has_text: bool = False
    thoughts: int = 0
    reasoning: str = ""

    def take(self, chunk: types.GenerateContentResponse) -> str:
        """Read a chunk; return its text without thoughts."""
        self.chunks += 1
        for name in ("model_version", "response_id"):
            value = getattr(chunk, name, None)
            if value:
                self.facts[name] = str(value)
        self._count(chunk.usage_metadata)
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self.blocked = feedback.block_reason.value
        if not chunk.candidates:
            return ""
        self.candidates += 1
        candidate = chunk.candidates[0]
        if candidate.finish_reason is not None:
            self.finish = candidate.finish_reason.value
        parts = (candidate.content.parts if candidate.content else None) or []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        self.reasoning += "".join(part.text for part in parts if part.text and part.thought)
        self.has_text = self.has_text or bool(text.strip())
        return text

    def check(self) -> None:
        """Check that the reply is complete: else the connection was cut.

        Raises:
            RemoteFailure: it is not, or the service failed.
        """
        if self.blocked is not None:
            return
        if not self.chunks:
            raise RemoteFailure("malformed", "the reply is not a valid stream")
        if not self.candidates:
            raise RemoteFailure("malformed", "the service sent no candidate of an answer")
        if self.finish is None:
            raise RemoteFailure("connection", "the answer broke off")
        if self.finish not in _WHOLE | _BLOCKED:
            raise RemoteFailure("server", f"the service ended the reply with {self.finish}")

    @property
    def stop_reason(self) -> StopReason:
        """Why the reply ended."""
        if self.blocked is not None or self.finish in _BLOCKED:
            return StopReason.REFUSED
        return StopReason.LENGTH if self.finish == "MAX_TOKENS" else StopReason.END

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata to keep with the reply."""
        kept = dict(self.facts)
        if self.finish is not None:
            kept["finish_reason"] = self.finish
        if self.blocked is not None:
            kept |= {"blocked": "the prompt", "block_reason": self.blocked}
        if self.finish == "MAX_TOKENS" and self.thoughts and not self.has_text:
            kept["cause"] = THOUGHT_AWAY
        return kept

    def _count(self, usage: types.GenerateContentResponseUsageMetadata | None) -> None:
        if usage is None:
            return
        thoughts = self.thoughts = usage.thoughts_token_count or self.thoughts
        if usage.prompt_token_count is not None:
            self.prompt_tokens = usage.prompt_token_count
        if usage.candidates_token_count is not None or thoughts:
            self.reply_tokens = (usage.candidates_token_count or 0) + thoughts
        if thoughts:
            self.facts["thought_tokens"] = str(thoughts)


_SECONDS = re.compile(r"([0-9]+(?:\.[0-9]+)?)s")


def client_failure(error: Exception) -> RemoteFailure | None:
    """Return the failure of an error of the client; None for any other error."""
    if isinstance(error, errors.APIError):
        return _of_status(error)
    if isinstance(error, ValidationError | errors.UnknownApiResponseError):
        return malformed(error)
    return None


def _of_status(error: errors.APIError) -> RemoteFailure:
    details = list(_details(error.details))
    kind = kind_of_status(error.code)
    if error.code == 429 and any(map(_is_spent, details)):
        kind = "quota"
    if error.code == 400 and any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
        kind = "authentication"
    asked_s = next((s for detail in details if (s := _delay(detail)) is not None), None)
    headers = getattr(error.response, "headers", None) or {}
    return RemoteFailure(
        kind,
        shortened(error.message or str(error.status or "")),
        status=error.code,
        retry_after_s=asked_s if asked_s is not None else retry_after(headers),
    )


def _details(response: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the details of an error in Google's form (``google.rpc.Status``)."""
    error = response.get("error", response) if isinstance(response, Mapping) else {}
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping):
            yield detail


def _is_spent(detail: Mapping[str, Any]) -> bool:
    """Return whether a daily quota is used up: waiting for seconds does not help."""
    violations = detail.get("violations")
    return isinstance(violations, list) and any(
        "perday" in str(violation.get("quotaId", "")).lower()
        for violation in violations
        if isinstance(violation, Mapping)
    )


def _delay(detail: Mapping[str, Any]) -> float | None:
    """Return the seconds that the service asks to wait (``RetryInfo``), or None."""
    match = _SECONDS.fullmatch(str(detail.get("retryDelay", "")))
    return float(match[1]) if match else None


class GeminiModel(RemoteModel):
    """A Gemini model."""

    def __init__(
        self, name: str, options: GeminiOptions, *, local: bool, retries: Retries | None = None
    ) -> None:
        super().__init__(
            concurrency=options.concurrency,
            retries=retries or Retries(attempts=options.retries + 1),
            reply_s=options.reply_s,
            silence_s=options.timeout_s,
            title=f"gemini:{name}",
        )
        self._name = name
        self._options = options
        self._local = local
        self._client: genai.Client | None = None
        self._must_think = False

    def open(self) -> Mapping[str, str]:
        """Make the client; no request is sent."""
        self.close()
        options = self._options
        key = find_key(options.key_variables, options.service)
        if key is None and (options.is_own or options.key_env):
            raise missing_key(self.title, options.key_variables, options.service)
        self._client = genai.Client(
            # Given, because the client would read it from the environment.
            enterprise=False,
            api_key="none" if key is None else key.reveal(),
            http_options=types.HttpOptions(
                # Given for Google too: else an address in the environment would get the key.
                base_url=options.address,
                timeout=round(options.timeout_s * 1000),
                # RemoteModel tries again, and reports it.
                retry_options=types.HttpRetryOptions(attempts=1),
                headers=HEADERS,
                # A redirection would send the key to another host.
                client_args={"trust_env": not self._local, **client_arguments(heard=self.heard)},
            ),
        )
        facts = {"model": self._name, "client": f"google-genai {genai.__version__}"}
        if options.base_url:
            facts["base_url"] = options.base_url
        if options.thinking_budget is not None:
            facts["thinking_budget"] = str(options.thinking_budget)
        if options.safety != "default":
            facts["safety"] = options.safety
        return facts

    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Wait | Reply]:
        """Try once, streaming. An enforced answer is one piece.

        A model that refuses a request without thinking gets it again, and thinks from then on.
        """
        budget = thinking_budget(request, self._options)
        is_default = budget == 0 and self._options.thinking_budget is None
        if is_default and self._must_think:
            budget = None
        try:
            yield from self._call(request, budget, cancel)
        except RemoteFailure as failure:
            if not (is_default and budget == 0 and _names_thinking(failure)):
                raise
            self._must_think = True
            yield from self._call(request, None, cancel)

    def _call(
        self, request: Request, budget: int | None, cancel: Cancel
    ) -> Iterator[str | Wait | Reply]:
        started = time.monotonic()
        config = configuration(request, self._options, budget)
        if self._client is None:
            self.open()
        assert self._client is not None
        with client_failures(client_failure):
            stream = self._client.models.generate_content_stream(
                model=self._name, contents=contents(request), config=config
            )
            try:
                yield from self._listen(request, config, stream, cancel, started)
            finally:
                with suppress(Exception):
                    stream.close()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close the connections of the client."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _listen(
        self,
        request: Request,
        config: types.GenerateContentConfig,
        stream: Iterator[types.GenerateContentResponse],
        cancel: Cancel,
        started: float,
    ) -> Iterator[str | Wait | Reply]:
        structured = is_structured(config)
        heard = Heard()
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
            yield from passed_on(reply, reply.feed(heard.take(chunk)))
            if reply.is_cut:
                break
        if not reply.is_cut:
            heard.check()
        metadata = heard.metadata
        if config.seed is not None:
            metadata["seed"] = str(config.seed)
        if config.max_output_tokens is not None:
            metadata["max_tokens"] = str(config.max_output_tokens)
        if config.thinking_config is not None:
            metadata["thinking_budget"] = str(config.thinking_config.thinking_budget)
        if structured:
            metadata["structured"] = "enum" if reply.enforced else "json-schema"
        yield from reply.finish(heard, metadata, str.strip)


def _names_thinking(failure: RemoteFailure) -> bool:
    """Return whether the service refuses a request because the model must think."""
    return failure.status == 400 and "think" in failure.message.lower()

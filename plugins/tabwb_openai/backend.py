"""A model behind chat completions, through OpenAI's client."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import openai

from tabwb.host.failures import (
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
from tabwb_openai.asking import CONCESSIONS, arguments
from tabwb_openai.hearing import Heard, chosen
from tabwb_openai.options import OpenAIOptions

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

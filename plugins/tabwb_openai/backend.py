"""A model behind chat completions, over OpenAI's own client."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import openai

from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.remote.failures import RemoteFailure
from tabwb.plugin_api.remote.http import HEADERS, client_arguments
from tabwb.plugin_api.remote.keys import find_key, missing_key, redact
from tabwb.plugin_api.remote.model import RemoteModel, Retries
from tabwb.plugin_api.stops import StopStrings
from tabwb.plugin_api.time_limit import within
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import NOT_SENT, Reply, Request
from tabwb.records.states import Protocol, StopReason
from tabwb_openai.asking import CONCESSIONS, arguments, is_enforced
from tabwb_openai.failures import failure_of, is_blocked, names_parameter
from tabwb_openai.hearing import Heard, chosen
from tabwb_openai.options import OpenAIOptions

CONNECT_S = 10.0
"""How long a connection may take to be made."""
LONGEST_REPLY = 1_000_000
"""Characters after which a reply is taken for one that never ends."""
LOOK_S = 10.0
"""How long the server may take to say that it is there."""
OVERRUN = 8
"""Pieces after a stop string that a server may send before it is cut off."""


class OpenAIModel(RemoteModel):
    """A model of any server that speaks the chat completions protocol.

    Args:
        name: what the server calls the model.
        options: as validated.
        local: the server is this machine's own; no proxy is used.
        retries: how patiently; as the options say when None.
    """

    def __init__(
        self, name: str, options: OpenAIOptions, *, local: bool, retries: Retries | None = None
    ) -> None:
        super().__init__(
            concurrency=options.concurrency,
            retries=retries or Retries(attempts=options.retries + 1),
            reply_s=options.reply_s,
            title=f"openai:{name}",
        )
        self._name = name
        self._options = options
        self._local = local
        self._client: openai.OpenAI | None = None
        self._not_taken: frozenset[str] = frozenset()

    def open(self) -> Mapping[str, str]:
        """Make the client and look whether the server is there.

        Raises:
            ComponentError: no key where one is needed, nobody there, or the key is refused.
        """
        self.close()
        self._client = self._connect()
        try:
            self._look(self._client)
        except ComponentError:
            self.close()
            raise
        return {
            "model": self._name,
            "base_url": self._options.address,
            "client": f"openai {openai.__version__}",
        }

    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Try once, streaming. An enforced answer comes as one piece."""
        if request.protocol is Protocol.LIKELIHOOD:
            raise ComponentError(
                f"{self.title} cannot answer under the protocol 'likelihood'",
                allowed="generate, enforced",
            )
        started = time.monotonic()
        with _failures():
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
        """Close the client's connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    # ---------------------------------------------------------------- asking

    def _begin(self, request: Request) -> tuple[Any, dict[str, Any]]:
        """The open stream and what was asked; without what the server does not take."""
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
        """The parameter because of which a request failed and that can be done without."""
        can_do_without = set(CONCESSIONS) & set(asked)
        if self._options.structured != "auto":
            can_do_without.discard("response_format")
        if self._options.token_parameter == "auto":
            # What this request asked decides: another thread may have learned it meanwhile.
            names = {"max_tokens", "max_completion_tokens"}
            can_do_without |= {
                name for name in names & set(asked) if not (names - {name}) & self._not_taken
            }
        return next((name for name in sorted(can_do_without) if names_parameter(error, name)), None)

    # ---------------------------------------------------------------- listening

    def _listen(
        self,
        request: Request,
        asked: Mapping[str, Any],
        stream: Any,
        cancel: Cancel,
        started: float,
    ) -> Iterator[str | Reply]:
        enforced = is_enforced(request)
        structured = "response_format" in asked
        stops = StopStrings(() if structured else request.decoding.stop)
        heard, said, first = Heard(), list[str](), None
        cancelled, overrun, length = False, 0, 0
        for chunk in stream:
            if cancelled := cancel.is_set():
                break
            text = heard.take(chunk)
            length += len(text)
            if length > LONGEST_REPLY:
                raise ComponentError(f"{self.title}: the answer does not end; it is not kept")
            sure = stops.feed(text)
            if stops.found is not None:
                # A server that was told the stop string ends by itself and says what it counted.
                overrun += bool(text)
                if stops.found not in asked.get("stop", ()) or overrun > OVERRUN:
                    break
            if sure:
                first = time.monotonic() - started if first is None else first
                said.append(sure)
                if not enforced:
                    yield sure
        if stops.found is None and not cancelled:
            _check_complete(heard)
        rest = stops.flush()
        said.append(rest)
        if rest and not enforced:
            yield rest
        text = "".join(said)
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
        metadata["protocol"] = (Protocol.ENFORCED if enforced else Protocol.GENERATE).value
        if enforced:
            raw, text = text, chosen(text, request.options) if structured else text
            metadata["constrained"] = "yes" if text in request.options else "no"
            if raw != text:
                metadata["raw_reply"] = raw
            if text:
                yield text
        reason = heard.stop_reason
        if cancelled:
            reason = StopReason.CANCELLED
        elif stops.found is not None:
            reason = StopReason.STOP_STRING
            metadata["stop_string"] = stops.found
        yield Reply(
            text,
            reason,
            time.monotonic() - started,
            first,
            heard.prompt_tokens,
            heard.reply_tokens,
            metadata,
        )

    def _marks(self, asked: Mapping[str, Any]) -> dict[str, str]:
        """What a reader of the answer should know of how it was asked for."""
        marks = {}
        if "response_format" in asked:
            marks["structured"] = "json-schema"
        elif "extra_body" in asked:
            marks["structured"] = self._options.structured
        if self._not_taken:
            marks["not_taken_by_server"] = ", ".join(sorted(self._not_taken))
        return marks

    # ---------------------------------------------------------------- the client

    def _connect(self) -> openai.OpenAI:
        options = self._options
        key = find_key(options.key_variables, options.service)
        if key is None and (options.is_openai or options.key_env):
            raise missing_key(self.title, options.key_variables, options.service)
        client = openai.OpenAI(
            # The client insists on a key; servers on one's own machine take any word.
            api_key="none" if key is None else key.reveal(),
            base_url=options.address,
            timeout=openai.Timeout(options.timeout_s, connect=min(options.timeout_s, CONNECT_S)),
            max_retries=0,  # retries are RemoteModel's, which tells of them
            default_headers=HEADERS,
            http_client=self._http(),
        )
        if not options.is_openai:
            # Taken from the environment by the client; nobody else's business.
            for name in ("organization", "project", "admin_api_key"):
                if hasattr(client, name):
                    setattr(client, name, None)
        return client

    def _http(self) -> Any:
        bounds = client_arguments()
        if not self._local:
            return openai.DefaultHttpxClient(**bounds)
        if self._options.socket is None:
            return openai.DefaultHttpxClient(trust_env=False, **bounds)
        # Whichever HTTP library this version of the client is made with.
        library = sys.modules[openai.DefaultHttpxClient.__base__.__module__.partition(".")[0]]
        transport = library.HTTPTransport(uds=self._options.socket)
        return openai.DefaultHttpxClient(transport=transport, trust_env=False, **bounds)

    def _look(self, client: openai.OpenAI) -> None:
        """Ask for the list of models, which costs nothing; only what is certain is an error."""
        try:
            within(LOOK_S, client.with_options(timeout=LOOK_S).models.with_raw_response.list)
        except (openai.APITimeoutError, TimeoutError):
            return  # busy, perhaps
        except openai.AuthenticationError as error:
            raise ComponentError(
                f"{self._options.address} refuses the key: {redact(error.message)}",
                hint=f"set it with: tabwb key set {self._options.service}",
            ) from None
        except openai.APIConnectionError as error:
            failure = failure_of(error)
            if isinstance(failure, ComponentError):
                raise failure from None
            raise ComponentError(
                f"no server answers at {self._options.address}: {redact(str(failure))}",
                hint="is the server running, and is base_url its address up to /v1?",
            ) from None
        except openai.OpenAIError:
            return  # not every server has such a list


@contextmanager
def _failures() -> Iterator[None]:
    """Turn what the client raises into failures."""
    try:
        yield
    except (RemoteFailure, ComponentError):
        raise
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        raise failure from None


def _check_complete(heard: Heard) -> None:
    """Check that the service said that the reply ended: else the connection was cut.

    Raises:
        RemoteFailure: it did not.
    """
    if not heard.chunks:
        raise RemoteFailure("malformed", "the reply is not a valid stream")
    if heard.finish is None:
        raise RemoteFailure("connection", "the answer broke off")

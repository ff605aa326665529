"""A Gemini model, over Google's own client."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from google import genai
from google.genai import types

from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.remote.failures import RemoteFailure
from tabwb.plugin_api.remote.http import HEADERS, client_arguments
from tabwb.plugin_api.remote.keys import find_key, missing_key
from tabwb.plugin_api.remote.model import RemoteModel, Retries
from tabwb.plugin_api.stops import StopStrings
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request
from tabwb.records.states import Protocol, StopReason
from tabwb_gemini.asking import (
    configuration,
    contents,
    is_structured,
    thinking_budget,
)
from tabwb_gemini.failures import failure_of
from tabwb_gemini.hearing import Heard
from tabwb_gemini.options import ADDRESS, GeminiOptions

LONGEST = 1_000_000
"""Characters of a reply; what is longer does not end."""


class GeminiModel(RemoteModel):
    """A Gemini model.

    Args:
        name: as Google calls it.
        options: as validated.
        local: the server is this machine's own; no proxy is used, and any word is a key.
        retries: how patiently; as the options say when None.
    """

    def __init__(
        self, name: str, options: GeminiOptions, *, local: bool, retries: Retries | None = None
    ) -> None:
        super().__init__(
            concurrency=options.concurrency,
            retries=retries or Retries(attempts=options.retries + 1),
            reply_s=options.reply_s,
            title=f"gemini:{name}",
        )
        self._name = name
        self._options = options
        self._local = local
        self._client: genai.Client | None = None
        self._must_think = False

    def open(self) -> Mapping[str, str]:
        """Make the client; nothing is asked yet.

        Raises:
            ComponentError: there is no key.
        """
        self.close()
        options = self._options
        key = find_key(options.key_variables, options.service)
        if key is None and (options.is_google or options.key_env):
            raise missing_key(self.title, options.key_variables, options.service)
        self._client = genai.Client(
            # Said, because the client would look into the environment by itself.
            enterprise=False,
            api_key="none" if key is None else key.reveal(),
            http_options=types.HttpOptions(
                # Said for Google too: else an address in the environment would get its key.
                base_url=options.base_url or ADDRESS,
                timeout=round(options.timeout_s * 1000),
                # Retries are RemoteModel's, which tells of them.
                retry_options=types.HttpRetryOptions(attempts=1),
                headers=HEADERS,
                # A redirection would take the key along to another host.
                client_args={"trust_env": not self._local, **client_arguments()},
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

    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Try once, streaming. An enforced answer comes as one piece.

        A model that cannot do without thinking is asked again and left to it from then on.
        """
        budget = thinking_budget(request, self._options)
        chosen_here = budget == 0 and self._options.thinking_budget is None
        if chosen_here and self._must_think:
            budget = None
        try:
            yield from self._call(request, budget, cancel)
        except RemoteFailure as failure:
            if not (chosen_here and budget == 0 and _names_thinking(failure)):
                raise
            self._must_think = True
            yield from self._call(request, None, cancel)

    def _call(self, request: Request, budget: int | None, cancel: Cancel) -> Iterator[str | Reply]:
        started = time.monotonic()
        config = configuration(request, self._options, budget)
        if self._client is None:
            self.open()
        assert self._client is not None
        with _failures():
            stream = self._client.models.generate_content_stream(
                model=self._name, contents=contents(request), config=config
            )
            try:
                yield from self._listen(request, config, stream, cancel, started)
            finally:
                with suppress(Exception):
                    stream.close()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close the client's connections."""
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
    ) -> Iterator[str | Reply]:
        structured = is_structured(config)
        whole = request.protocol is Protocol.ENFORCED and bool(request.options)
        stops = StopStrings(() if structured else request.decoding.stop)
        heard, said, first = Heard(), list[str](), None
        cancelled = False
        for chunk in stream:
            if cancelled := cancel.is_set():
                break
            sure = stops.feed(heard.take(chunk))
            if sure:
                first = time.monotonic() - started if first is None else first
                said.append(sure)
                if not whole:
                    yield sure
            if stops.found is not None:
                break
            if sum(map(len, said)) > LONGEST:
                raise ComponentError(f"{self.title}: the reply does not end")
        if not cancelled and stops.found is None:
            heard.check()
        rest = stops.flush()
        if rest:
            said.append(rest)
            if not whole:
                yield rest
        text = "".join(said)
        metadata: dict[str, Any] = heard.metadata
        metadata["protocol"] = (Protocol.ENFORCED if whole else Protocol.GENERATE).value
        if config.seed is not None:
            metadata["seed"] = str(config.seed)
        if config.max_output_tokens is not None:
            metadata["max_tokens"] = str(config.max_output_tokens)
        if config.thinking_config is not None:
            metadata["thinking_budget"] = str(config.thinking_config.thinking_budget)
        if structured:
            metadata["structured"] = "enum" if whole else "json-schema"
        if whole:
            text = text.strip()
            metadata["constrained"] = "yes" if text in request.options else "no"
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


def _names_thinking(failure: RemoteFailure) -> bool:
    """Whether the service refuses a request because it was to be answered without thinking."""
    return failure.status == 400 and "think" in failure.message.lower()


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

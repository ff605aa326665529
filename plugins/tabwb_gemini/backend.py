"""A Gemini model, through Google's client."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from tabwb.host.failures import (
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
from tabwb_gemini.asking import (
    configuration,
    contents,
    is_structured,
    thinking_budget,
)
from tabwb_gemini.hearing import Heard
from tabwb_gemini.options import GeminiOptions

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

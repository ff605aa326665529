"""A function of the user's as the examinee: ``prompt -> text``, under the spec ``python:NAME``."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import SimpleNamespace
from typing import Any

from tabwb.plugin_api.components import Cancel
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import Register, hookimpl
from tabwb.records.errors import ComponentError, UsageError, error_text
from tabwb.records.exchange import NOT_SENT, Reply, Request
from tabwb.records.specs import Spec
from tabwb.records.states import Protocol, StopReason

ID = "python"
"""The component of functions; an administration's examinee is then ``python:NAME``."""
Answering = Callable[..., str]
"""Takes the prompt as text and returns the response. A parameter named ``request`` gets the
:class:`~tabwb.plugin_api.Request` too: messages, decoding with this reply's seed, options."""
_DECODING = ("max_tokens", "temperature", "top_p", "stop", "seed")


def name_of(function: Answering) -> str:
    """Return the name under which a function is recorded.

    >>> def my_model(prompt: str) -> str: ...
    >>> name_of(my_model), name_of(lambda prompt: prompt)
    ('my_model', 'lambda')
    """
    name = getattr(function, "__name__", "") or type(function).__name__
    return re.sub(r"[^A-Za-z0-9_.-]+", "", name) or "function"


class FunctionModel:
    """A function as a model back end."""

    def __init__(self, function: Answering, name: str) -> None:
        self.function = function
        self.name = name
        self._takes_request = takes_request(function)

    def open(self) -> Mapping[str, str]:
        """Return what is known of the function; its source is not stored."""
        where = getattr(self.function, "__module__", "") or ""
        called = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return {"model": f"{ID}:{self.name}", "function": f"{where}.{called}".strip(".")}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Yield the text that the function returns, then the reply."""
        if request.protocol is not Protocol.GENERATE:
            raise ComponentError(
                f"a function cannot answer under the protocol '{request.protocol.value}'",
                allowed="generate",
            )
        if cancel.is_set():
            yield Reply("", StopReason.CANCELLED, 0.0)
            return
        prompt = "\n\n".join(message.content for message in request.messages)
        given = {"request": request} if self._takes_request else {}
        started = time.monotonic()
        text = self.function(prompt, **given)
        latency = time.monotonic() - started
        if not isinstance(text, str):
            raise ComponentError(
                f"the function '{self.name}' returned {type(text).__name__}", allowed="str"
            )
        unsent = {} if self._takes_request else dict.fromkeys(_DECODING, NOT_SENT)
        if text:
            yield text
        yield Reply(text, StopReason.END, latency, metadata=unsent)

    def close(self) -> None:
        """Do nothing: the function is the user's."""


class ParallelModel(FunctionModel):
    """A function that is called for several items at once, each call in its own thread."""

    def __init__(self, function: Answering, name: str, workers: int) -> None:
        super().__init__(function, name)
        self.concurrency = workers

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        """Yield each reply with the place of its request, as calls end."""
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="tabwb-function")
        try:
            calls = {pool.submit(self._answer, one, cancel): at for at, one in enumerate(requests)}
            for call in as_completed(calls):
                answer = call.result()
                if answer is not None:
                    yield calls[call], answer
        finally:
            # A call in progress cannot be stopped; its answer is not waited for.
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, request: Request, cancel: Cancel) -> Reply | ComponentError | None:
        try:
            *_, reply = self.reply(request, cancel)
        except ComponentError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything
            return ComponentError(error_text(error))
        assert isinstance(reply, Reply)
        return None if reply.stop_reason is StopReason.CANCELLED else reply


def takes_request(function: Answering) -> bool:
    """Return whether a function has a parameter named ``request``.

    >>> takes_request(lambda prompt, *, request: prompt), takes_request(lambda prompt: prompt)
    (True, False)
    """
    try:
        return "request" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of C without a signature
        return False


def plugin_of(function: Answering | None, workers: int = 1) -> dict[str, object]:
    """Return the plugin that registers a function, for ``Plugins.load(modules=...)``."""
    if workers < 1:
        raise UsageError(f"{workers} cannot be used", where="workers", allowed="1 or more")
    if function is None:
        return {}

    def factory(spec: Spec, options: Any) -> FunctionModel:
        name = spec.name or name_of(function)
        if workers > 1:
            return ParallelModel(function, name, workers)
        return FunctionModel(function, name)

    @hookimpl
    def tabwb_register_models(register: Register) -> None:
        register(
            Descriptor(
                ID,
                "A Python function that was given to tabwb.run",
                factory,
                name_help="NAME",
                name_required=True,
                batches=workers > 1,
            )
        )

    return {ID: SimpleNamespace(tabwb_register_models=tabwb_register_models)}


def spec_of(model: str | Answering, name: str | None) -> tuple[str, Answering | None]:
    """Return the spec of a model, and the function where it is one."""
    if isinstance(model, str):
        if name is not None:
            raise UsageError("'name' is for a function; a spec has its own name", where="name")
        return model, None
    if not callable(model):
        raise UsageError(
            f"a model is a spec or a function, not {type(model).__name__}", where="model"
        )
    given = {"request": None} if takes_request(model) else {}
    try:
        inspect.signature(model).bind("prompt", **given)
    except ValueError:  # a function of C without a signature
        pass
    except TypeError as error:
        raise UsageError(
            f"the function cannot be called with a prompt: {error}",
            where="model",
            allowed="a function of the prompt, with or without a parameter named request",
        ) from None
    return f"{ID}:{name_of(model) if name is None else name}", model

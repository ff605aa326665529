"""A model that can be lesioned and has no weights: what a lesion takes decides which words it says.

``lesionable`` runs in the program itself, ``lesionable-child`` in its own process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel

from tabwb.lesion.declared import Part
from tabwb.lesion.draw import VERSION
from tabwb.lesion.spec import lesion_text, parse_lesions
from tabwb.lesion.taken import Planned, planned
from tabwb.plugin_api import Descriptor, hookimpl
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Reply, Request
from tabwb.records.specs import Spec
from tabwb.records.states import StopReason

UNITS = {
    **dict.fromkeys(("attention.q", "attention.k", "attention.v", "attention.o"), 64),
    "attention.heads": 4,
    **dict.fromkeys(("mlp.gate", "mlp.up", "mlp.down"), 128),
    "mlp.neurons": 16,
}
PARAMETERS = {"attention.heads": 64, "mlp.neurons": 128}
"""Of targets whose unit has several weights."""
TENSORS = {"attention.heads": "attention.o", "mlp.neurons": "mlp.down"}


def _part(layer: int, target: str, units: int) -> Part:
    name = f"{layer}.{target}"
    size = PARAMETERS.get(target, units)
    tensors = {f"{layer}.{TENSORS.get(target, target)}": 4 * size}
    return Part(name, target, layer, units, size, tensors)


PARTS = [_part(layer, target, units) for layer in (0, 1) for target, units in UNITS.items()]
WEIGHTS = sum(part.parameters for part in PARTS if part.target not in PARAMETERS)


class Options(BaseModel):
    """Options of the model."""

    delay: float = 0.0
    dtype: str = "float32"


class Lesionable:
    """Says the prompt back; under a lesion it says other words in place of some.

    Args:
        delay: seconds before each reply.
        dtype: a fact of the model; another one changes words under a lesion.
    """

    concurrency = 8

    def __init__(self, delay: float, dtype: str = "float32") -> None:
        self._delay = delay
        self._dtype = dtype
        self._lesion = ""
        self._is_ready = True
        self._damage = 0.0

    def open(self) -> Mapping[str, str]:
        return {"model": "lesionable", "dtype": self._dtype, **self.lesion(self._lesion)}

    def close(self) -> None:
        pass

    def parts(self) -> Sequence[Part]:
        return PARTS

    def lesion(self, spec: str) -> Mapping[str, str]:
        self._lesion, self._is_ready, self._damage = spec, False, 0.0
        found: list[Planned] = []
        facts: dict[str, str] = {}
        if spec:
            lesions = parse_lesions(spec)
            found = planned(lesions, PARTS, "lesionable")
            taken = sum(one.parameters for one in found)
            facts = {
                "lesion": lesion_text(lesions),
                "lesion_parameters": str(taken),
                "lesion_draws": VERSION,
            }
            self._damage = min(1.0, (taken / WEIGHTS) ** 0.5)
        self._is_ready = True
        return facts

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        if not self._is_ready:
            raise ComponentError("the lesion was not applied")
        prompt = request.messages[-1].content
        words = [self._said(prompt, place, word) for place, word in enumerate(prompt.split())]
        words = words[: request.decoding.max_tokens]
        if cancel.wait(self._delay) if self._delay else cancel.is_set():
            yield Reply("", StopReason.CANCELLED, self._delay)
            return
        text = " ".join(words)
        yield text
        yield Reply(text, StopReason.END, self._delay, self._delay, len(prompt.split()), len(words))

    def reply_many(
        self, requests: Sequence[Request], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | ComponentError]]:
        for index, request in enumerate(requests):
            *_, reply = self.reply(request, cancel)
            assert isinstance(reply, Reply)
            if reply.stop_reason is StopReason.CANCELLED:
                return
            yield index, reply

    def activations(
        self, target: str, texts: Sequence[str], pool: str, cancel: Cancel
    ) -> Iterator[Any]:
        import numpy as np

        units = sum(part.units for part in PARTS if part.target == target)
        for text in texts:
            found = np.random.default_rng(list(text.encode())).random(units, dtype=np.float32)
            yield found + (text.count("a") > 1)

    def likelihood(
        self, request: Request, continuations: Sequence[str], cancel: Cancel
    ) -> Sequence[Likelihood]:
        counts = [len(text.split()) for text in continuations]
        return [Likelihood(-count * (1.0 + 8.0 * self._damage), count) for count in counts]

    def _said(self, prompt: str, place: int, word: str) -> str:
        text = "\0".join((self._lesion, self._dtype, prompt, str(place)))
        drawn = blake2b(text.encode(), digest_size=1).digest()[0] / 256
        return "wug" if drawn < self._damage else word


def _made(spec: Spec, options: Any) -> Lesionable:
    return Lesionable(options.delay, options.dtype)


@hookimpl
def tabwb_register_models(register: Any) -> None:
    for name, runs in (("lesionable", "here"), ("lesionable-child", "child")):
        register(
            Descriptor(
                name,
                "Changes words under a lesion",
                _made,
                options=lambda: Options,
                runs=runs,  # type: ignore[arg-type]
                batches=True,
                lesions=True,
                likelihood=True,
            )
        )

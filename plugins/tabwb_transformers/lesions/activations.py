"""How strongly heads and neurons respond to a text. Imported only where torch is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tabwb.lesion.declared import MEASURES, Pool
from tabwb.lesion.localizer import localize, shipped_items
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Scores
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Request
from tabwb_transformers.engine import Engine
from tabwb_transformers.lesions.anatomy import Located
from tabwb_transformers.lesions.surgery import Surgery
from tabwb_transformers.prompts import Prompts


class Responses:
    """The responses of one model's units, and what the localizer makes of them.

    Args:
        engine: of the model.
        prompts: of its tokenizer.
        check: raises where tokens do not fit into the model.
        surgery: of the model.
    """

    def __init__(
        self,
        engine: Engine,
        prompts: Prompts,
        check: Callable[[list[int]], object],
        surgery: Surgery,
    ) -> None:
        self._engine, self._prompts, self._check = engine, prompts, check
        self._surgery = surgery
        self._scores: dict[str, Scores] = {}

    def activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the response of each unit to each text, of the model as it is now.

        Args:
            target: ``mlp.neurons`` or ``attention.heads``.
            texts: each is read alone, after the token that begins texts where there is one.
            pool: of the tokens the mean, or the last one.
            cancel: ends the computation.

        Raises:
            ComponentError: the target has no units that can be measured, or a text does not fit.
        """
        if target not in MEASURES:
            message = f"the units of '{target}' cannot be measured"
            raise ComponentError(message, allowed=", ".join(MEASURES))
        rendered, before = self._prompts.encode(Request((), Decoding()))
        located = self._surgery.of_target(target)
        for text in texts:
            if cancel.is_set():
                return
            ids = [*before, *self._prompts.after(rendered, before, text)]
            self._check(ids)
            yield _measured(self._engine, located, ids, len(before), pool)

    def scores(self, lesions: Sequence[Lesion]) -> Scores | None:
        """Return the scores of the localizer on the intact model, None where no lesion needs them.

        It is run once for each target; the model is restored for it.

        Args:
            lesions: applied together.
        """
        targets = {one.target for one in lesions if one.source == "localizer"}
        if not targets:
            return None
        parts = self._surgery.parts
        for target in targets - {*self._scores}:
            if self._surgery.of_target(target):  # else the lesion is an error, said elsewhere
                self._surgery.restore()
                items, cancel = shipped_items(), threading.Event()
                self._scores[target] = localize(
                    self.activations, parts, target, items, cancel
                ).scores
        return {name: own for scores in self._scores.values() for name, own in scores.items()}


def _measured(
    engine: Engine, located: Sequence[Located], ids: Sequence[int], first: int, pool: Pool
) -> NDArray[np.float32]:
    """Return the response of each unit to a text, which is read alone.

    Neurons and heads are measured where they are lesioned: what a lesion takes away is their value
    at the input of the last projection, times its weights. The size of a neuron's value says how
    much the neuron adds, whatever its sign; of a head, which has several values, the 2-norm does,
    and does not depend on how a model spreads them over its axes.

    Returns:
        Shape (units,), float32: the units of all parts in their order.
    """
    if len(ids) <= first:
        raise ComponentError("a text of the localizer has no tokens")
    found: dict[str, torch.Tensor] = {}

    def watched(one: Located) -> Callable[[Any, Any], None]:
        def see(_: Any, inputs: Any) -> None:
            states = inputs[0][0, first:].detach()
            states = states if states.dtype == torch.float64 else states.float()
            sizes = torch.linalg.vector_norm(states.unflatten(-1, (one.part.units, -1)), dim=-1)
            found[one.part.name] = sizes[-1] if pool == "last" else sizes.mean(0)

        return see

    with ExitStack() as hooks:
        for one in located:
            # Of both targets the only piece is the projection that the units feed.
            handle = one.pieces[0].module.register_forward_pre_hook(watched(one))
            hooks.callback(handle.remove)
        engine.alone(ids)
    values = [found[one.part.name].float().cpu() for one in located]
    return torch.cat(values).numpy() if values else np.empty(0, dtype=np.float32)

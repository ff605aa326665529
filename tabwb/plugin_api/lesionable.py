"""The contracts of model back ends that can be lesioned, and what they may do beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tabwb.lesion.declared import Part, Pool
from tabwb.plugin_api.components import Cancel, ModelBackend
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request, Wait

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class LesionableBackend(ModelBackend, Protocol):
    """A model back end whose weights can be lesioned; see docs/lesions.md."""

    def parts(self) -> Sequence[Part]:
        """Return the parts that can be lesioned, in the order of the layers.

        Raises:
            ComponentError: the model's architecture or weights cannot be lesioned.
        """

    def lesion(self, spec: str) -> Mapping[str, str]:
        """Answer under this lesion from now on, in place of an earlier one; return facts to store.

        Before ``open`` the lesion is kept until the model is loaded. It does not end with a reply,
        an error or ``close``.

        Args:
            spec: one or more lesions joined by ``+``; empty: the intact model.

        Raises:
            TabwbError: the spec is wrong, or the model lacks what it names; no request is answered
                until a lesion could be applied.
        """


@runtime_checkable
class ActivationBackend(LesionableBackend, Protocol):
    """A lesionable back end that says how strongly its units respond to texts."""

    def activations(
        self, target: str, texts: Sequence[str], pool: Pool, cancel: Cancel
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the response of each unit to each text, in their order, of the model as it is now.

        Of a neuron its absolute value, of a head the 2-norm of its values, at each token of the
        text; tokens that the model puts before texts are not counted.

        Args:
            target: ``mlp.neurons`` or ``attention.heads``.
            texts: each is given alone, without a prompt.
            pool: of the tokens the mean, or the last one.
            cancel: once it is set, fewer are yielded.

        Yields:
            Shape (units,), float32: the units of all parts of the target, in the order of
            ``parts``.
        """


@runtime_checkable
class LaneBackend(LesionableBackend, Protocol):
    """A back end that answers under several lesions in one batch; see docs/large-sweeps.md."""

    def lanes(self, specs: Sequence[str]) -> Sequence[int]:
        """Return for each lesion how many conditions like it should share a batch.

        Args:
            specs: of the lesions; empty: the intact model.

        Returns:
            0 where the lesion cannot be beside others; 1 where it can, but gains nothing or changes
            texts by rounding.

        Raises:
            TabwbError: a spec is wrong, or the model lacks what it names.
        """

    def reply_lanes(
        self, lesions: Sequence[str], requests: Sequence[tuple[int, Request]], cancel: Cancel
    ) -> Iterator[tuple[int, Reply | Wait | ComponentError]]:
        """Yield ``(index, reply)`` in any order, as ``reply_many`` does.

        The lesion that was set with ``lesion`` plays no part, and is in force again afterwards.

        Args:
            lesions: specs for which :meth:`lanes` is not 0.
            requests: each with the number of its lesion.
            cancel: once it is set, requests without an answer yield nothing.

        Raises:
            ComponentError: no request can be answered.
        """

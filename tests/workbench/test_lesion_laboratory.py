"""A model of the laboratory, without a workbench around it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tabwb.lesion.declared import Part
from tabwb.plugin_api.components import Cancel
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Reply, Request
from tabwb.workbench.lesions.laboratory import Laboratory


class Fragile:
    """A model that, as the contract says, answers nothing after a lesion that does not fit."""

    given: str = ""

    def open(self) -> Mapping[str, str]:
        return {}

    def close(self) -> None: ...

    def parts(self) -> Sequence[Part]:
        return []

    def lesion(self, spec: str) -> Mapping[str, str]:
        self.given = spec
        if spec.startswith("experts"):
            raise ComponentError("there are no experts")
        return {}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield self.given


class Plugins:
    def __init__(self, model: Fragile) -> None:
        self.model = model

    def open_model(self, spec: str) -> Any:
        return self.model


def test_the_model_is_intact_after_a_lesion_that_does_not_fit() -> None:
    model = Fragile()
    laboratory = Laboratory(Plugins(model), "fragile", threading.Event())  # type: ignore[arg-type]
    laboratory.apply("mlp:zero:1")
    with pytest.raises(ComponentError, match="no experts"):
        laboratory.apply("experts:zero:1")
    assert laboratory.lesion == model.given == ""

"""The different texts of responses, with what summaries need of each."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tabwb.records.reasoning import holds_reasoning
from tabwb.scoring.text import words


class Texts(Sequence[str]):
    """Different responses; summaries need the texts themselves only to show them."""

    def __init__(
        self,
        values: Sequence[str],
        sizes: NDArray[np.integer[Any]],
        blank: NDArray[np.bool_],
        spoken: NDArray[np.integer[Any]],
        checks: NDArray[np.uint32],
        thinks: NDArray[np.bool_],
    ) -> None:
        self.values, self.sizes, self.blank = values, sizes, blank
        self.spoken, self.checks, self.thinks = spoken, checks, thinks

    @classmethod
    def of(cls, values: Sequence[str]) -> Texts:
        """Return texts with what is needed of each."""
        n = len(values)
        sizes, spoken = np.empty(n, np.int32), np.empty(n, np.int32)
        checks = np.empty(n, np.uint32)
        codes = {"": 0}
        for at, text in enumerate(values):
            parts = words(text)
            said = " ".join(parts)
            sizes[at], checks[at] = len(parts), zlib.crc32(said.encode())
            spoken[at] = codes.setdefault(said, len(codes))
        blank = np.fromiter((not text.strip() for text in values), np.bool_, n)
        thinks = np.fromiter(map(holds_reasoning, values), np.bool_, n)
        return cls(values, sizes, blank, spoken, checks, thinks)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...

    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Return a text, or several."""
        return self.values[at]

    def code(self, text: str) -> int:
        """Return ``spoken`` of the texts with the same words as another; -1 where none has."""
        said = words(text)
        for at in np.flatnonzero(self.checks == zlib.crc32(" ".join(said).encode())).tolist():
            if words(self.values[at]) == said:
                return int(self.spoken[at])
        return -1

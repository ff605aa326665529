"""Files between the workbench and a second terminal, in which a participant reads and types.

The workbench writes what is asked; the terminal writes what was typed. Both are in the folder of
the store's recordings, which nobody else can read, and are removed when the administration ends.
"""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tabwb.workbench.trial.participant import Card

ASKED, TYPED, WATCHED = "asked", "typed", "watched"
"""Names of the files: what is asked, what was typed, and that a terminal shows it."""
ALIVE_S = 3.0
"""A file that was not touched for so many seconds is of a program that has ended."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What the participant did.

    Attributes:
        key: of the card that was shown.
        text: the response, exactly; None: the next item is asked for.
        latency_s: seconds from the item to the response, measured in the terminal.
    """

    key: str
    text: str | None = None
    latency_s: float = 0.0


class Link:
    """The files in one folder. An error of reading or writing never stops an administration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    # ---------------------------------------------------------------- the workbench

    def ask(self, card: Card) -> None:
        """Show a card in the terminal."""
        self._write(ASKED, asdict(card))

    def keep(self) -> None:
        """Say that the workbench still runs; call it at least every second."""
        self._touch(ASKED)

    def end(self) -> None:
        """Remove the files: the administration has ended."""
        for name in (ASKED, TYPED):
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)

    def take(self) -> Typed | None:
        """Return what was typed since the last call, once; None where nothing was."""
        value = self._read(TYPED)
        if value is None:
            return None
        with suppress(OSError):
            (self._folder / TYPED).unlink(missing_ok=True)
        key, text, latency_s = (value.get(name) for name in ("key", "text", "latency_s"))
        if not isinstance(key, str) or not isinstance(text, str | None):
            return None
        if not isinstance(latency_s, int | float) or not 0 <= latency_s < math.inf:
            return None
        return Typed(key, text, float(latency_s))

    @property
    def watched(self) -> bool:
        """Whether a terminal shows what is asked."""
        return self._is_alive(WATCHED)

    # ---------------------------------------------------------------- the terminal

    def asked(self) -> Card | None:
        """Return what the workbench asks; None where no participant types."""
        value = self._read(ASKED) if self._is_alive(ASKED) else None
        if value is None:
            return None
        options = value.get("options")
        return Card(
            key=str(value.get("key", "")),
            instructions=str(value.get("instructions", "")),
            prompt=str(value.get("prompt", "")),
            options=tuple(map(str, options)) if isinstance(options, list) else (),
            words=str(value.get("words", "")),
            next=value.get("next") is True,
        )

    def give(self, typed: Typed) -> None:
        """Hand over what the participant typed."""
        self._write(TYPED, asdict(typed))

    def watch(self) -> None:
        """Say that a terminal shows what is asked; call it at least every second."""
        self._touch(WATCHED)

    def leave(self) -> None:
        """Say that no terminal shows it any more."""
        with suppress(OSError):
            (self._folder / WATCHED).unlink(missing_ok=True)

    # ---------------------------------------------------------------- files

    def _write(self, name: str, value: dict[str, object]) -> None:
        passing = self._folder / f".{name}.{os.getpid()}"
        with suppress(OSError):
            passing.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(passing, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(value, file)
            passing.replace(self._folder / name)

    def _read(self, name: str) -> dict[str, object] | None:
        try:
            value = json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def _touch(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).touch(mode=0o600)

    def _is_alive(self, name: str) -> bool:
        try:
            return time.time() - (self._folder / name).stat().st_mtime < ALIVE_S
        except OSError:
            return False

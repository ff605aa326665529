"""Stop strings in streamed text, for back ends without stop strings of their own."""

from __future__ import annotations

from collections.abc import Sequence


class StopStrings:
    r"""Ends a stream at the first stop string; text that may begin one is held back.

    >>> stops = StopStrings(["\nQ:"])
    >>> stops.feed("lion\n"), stops.feed("Q: and"), stops.found
    ('lion', '', '\nQ:')
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.found: str | None = None

    def feed(self, text: str) -> str:
        """Take in text; return the text that certainly belongs to the reply."""
        if self.found is not None:
            return ""
        self._held += text
        places = [(self._held.find(stop), stop) for stop in self._stops if stop in self._held]
        if places:
            at, self.found = min(places, key=lambda place: (place[0], -len(place[1])))
            sure, self._held = self._held[:at], ""
            return sure
        keep = self._beginning()
        sure, self._held = self._held[: len(self._held) - keep], self._held[-keep:] if keep else ""
        return sure

    def flush(self) -> str:
        """Return the text that was held back, at the end of the stream."""
        held, self._held = self._held, ""
        return held

    def _beginning(self) -> int:
        """Return the length of the longest end of the held text that begins a stop string."""
        longest = min(len(self._held), max(map(len, self._stops), default=1) - 1)
        for length in range(longest, 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stops):
                return length
        return 0

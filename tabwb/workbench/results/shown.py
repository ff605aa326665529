"""What the results page shows, as far as it decides which commands can be used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResultsShown:
    """What the results page shows.

    Attributes:
        listed: the responses, and not the summary.
        marked: one of them is marked.
        named: they are names of pictures.
        recorded: the marked one was given aloud and recorded.
    """

    listed: bool
    marked: bool
    named: bool
    recorded: bool = False

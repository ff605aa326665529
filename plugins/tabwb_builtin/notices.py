"""What exporters of tables share: the documents, their notices, the responses that count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tabwb.records.words import RESEARCH_ONLY
from tabwb_builtin.columns import Part, Rated


class Notices:
    """Collects what is said of documents while they are written."""

    def __init__(self, *explanation: str) -> None:
        self._explanation = explanation
        self._heard: dict[str, None] = {RESEARCH_ONLY: None}

    def heard(self, documents: Iterable[Part]) -> Iterator[Part]:
        """Yield the documents again, after noting what is said of each."""
        for document in documents:
            self._heard.update(dict.fromkeys(document.get("notices", ())))
            yield document

    def notes(self) -> list[str]:
        """Return the program's purpose, the cautions, the explanation."""
        return [*self._heard, *self._explanation]


def documents_of(document: Part) -> Sequence[Part]:
    """Return the documents of administrations: itself, or those under ``documents``."""
    several = document.get("documents")
    return [document] if several is None else several


def answered(document: Part) -> Iterator[Part]:
    """Yield the trials whose responses count."""
    return (trial for trial in document["trials"] if trial["state"] == "answered")


def rated(trial: Part) -> list[Rated]:
    """Return the ratings of a trial with the calls of judges; one without any if it has none."""
    calls = {call["rater"]: call for call in trial.get("judgements", ()) if call["repeat"] == 0}
    if not trial["ratings"]:
        return [Rated({}, calls.get(None, {}))]
    return [Rated(rating, calls.get(rating["rater"], {})) for rating in trial["ratings"]]

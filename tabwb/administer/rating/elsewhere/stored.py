"""Stored responses by what a file of ratings calls them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from tabwb.administer.rating.elsewhere.labels import LabelledText
from tabwb.administer.rating.presentation import presented
from tabwb.records.classes import dataclass
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import Presentation
from tabwb.records.trials import Trial
from tabwb.store.store import Store

ID = "source.id"
"""Metadata of an attempt: the id of a text in the file from which it was imported."""
_REFERENCE = re.compile(r"(?P<administration>[0-9]+|[0-9a-f-]{36})/(?P<trial>\d+)(?:/(?P<n>\d+))?")


@dataclass(frozen=True, slots=True)
class Found:
    """The stored attempt of a response."""

    administration: int
    trial: int
    attempt: int
    text: str
    item: tuple[str, str]

    @property
    def reference(self) -> str:
        """How a file of ratings can name it."""
        return f"{self.administration}/{self.trial}"


def stored_responses(
    store: Store, responses: Collection[str], texts: Mapping[str, LabelledText], where: str
) -> dict[str, Found]:
    """Return the responses that the store has: by reference, or by the id of an imported text."""
    found: dict[str, Found] = {}
    wanted = set(responses)
    for response in wanted:
        if (match := _REFERENCE.fullmatch(response)) and (one := _referred(store, match)):
            if match["administration"].isdigit() and (text := texts.get(response)) is not None:
                _check_alike(response, text, one)
            found[response] = one
    wanted -= found.keys()
    for record in store.administrations() if wanted else ():
        if record.conditions.origin is None:
            continue
        for trial in store.trials(record.id):
            for attempt in trial.attempts:
                response = attempt.metadata.get(ID, "")
                if response not in wanted:
                    continue
                text = texts.get(response)
                place = trial.plan.subtest, trial.plan.item
                one = Found(record.id, trial.plan.number, attempt.number, attempt.response, place)
                if text is not None and text.text != attempt.response:
                    raise _other_text(response, text, one)
                if (known := found.setdefault(response, one)) != one:
                    raise UsageError(
                        f"several stored texts have the id '{response}': {known.reference} and "
                        f"{one.reference}",
                        where=where,
                        hint="name the one that was rated: ADMINISTRATION/TRIAL",
                    )
    return found


def _check_alike(response: str, text: LabelledText, one: Found) -> None:
    """Refuse a reference whose text is another one: numbers are those of one store only."""
    policy = Presentation("lower", "none")
    if presented(text.text, policy) != presented(one.text, policy):
        raise _other_text(response, text, one)


def _other_text(response: str, text: LabelledText, one: Found) -> UsageError:
    return UsageError(
        f"response '{response}' is another text in the store (administration {one.administration})",
        where=text.where,
        hint="give the texts of this file other ids",
    )


def _referred(store: Store, match: re.Match[str]) -> Found | None:
    """Return the attempt of ``ADMINISTRATION/TRIAL`` or ``ADMINISTRATION/TRIAL/ATTEMPT``."""
    reference = match["administration"]
    try:
        record = store.administration(int(reference) if reference.isdigit() else reference)
    except StoreError:
        return None
    for trial in store.trials(record.id):
        if trial.plan.number == int(match["trial"]):
            return _attempt_of(record.id, trial, match["n"])
    return None


def _attempt_of(administration: int, trial: Trial, number: str | None) -> Found | None:
    counting = trial.counting
    wanted = int(number) if number else counting.number if counting else 0
    place = trial.plan.subtest, trial.plan.item
    for attempt in trial.attempts:
        if attempt.number == wanted:
            return Found(administration, trial.plan.number, wanted, attempt.response, place)
    return None

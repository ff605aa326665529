"""Files whose answers are in the store already: imported again, each would count once more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from tabwb.administer.answers.texts import MADE
from tabwb.battery.model import Battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.store.store import Store


def noted_file(name: str, digest: str) -> str:
    """Return a file as the note of an import names it."""
    return f"{name} (SHA-256 {digest[:12]}…)"


def check_new(
    store: Store, battery: Battery, runs: Sequence[tuple[Conditions, Mapping[str, str]]]
) -> None:
    """Refuse files that were imported before with the same battery, for the same examinees."""
    digests: dict[str, list[Mapping[str, str]]] = {}
    for given, own in runs:
        if own:
            digests.setdefault(given.examinee, []).append(own)
    known = [
        record
        for record in store.administrations()
        if (record.battery_hash == battery.content_hash or _made(record.battery, battery.id))
        and record.conditions.origin is not None
        and record.conditions.examinee in digests
    ]
    ids = [record.id for record in known]
    for record, facts in zip(known, store.facts(ids) if ids else (), strict=True):
        for own in digests[record.conditions.examinee]:
            if not _is_of(facts.model, facts.notes, own):
                continue
            name, *more = own
            raise UsageError(
                f"these answers of {record.conditions.examinee} are in the store already: "
                f"administration {record.id}",
                where=f"{name} and {len(more)} more" if more else name,
                hint="to store them once more, so that sampled answers count twice: --again "
                "(again=True in Python)",
            )


def _made(*batteries: str) -> bool:
    return all(battery.startswith(MADE) for battery in batteries)


def _is_of(model: Mapping[str, str], notes: Iterable[str], digests: Mapping[str, str]) -> bool:
    if several := model.get("imported_files"):
        return set(json.loads(several).values()) == set(digests.values())
    if len(digests) != 1:
        return False
    ((_, digest),) = digests.items()
    if model:
        return model.get("imported_sha256") == digest
    # Of a person's answers only the note names the file.
    return any(
        note.startswith("Imported from ") and noted_file("", digest).strip() in note
        for note in notes
    )

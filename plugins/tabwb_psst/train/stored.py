"""Responses of the store that a person transcribed, as examples to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tabwb.plugin_api import Tools, UsageError, numbers_of
from tabwb.records.speakers import LogEntry
from tabwb.records.words import plural
from tabwb_psst.stored import may, stored_responses
from tabwb_psst.train.sources import SILENCE, Example


def stored_examples(
    tools: Tools, where: str
) -> tuple[Iterable[Example], frozenset[str], Sequence[str]]:
    """Return the examples under a filter, the speakers of the test split, and what was left out."""
    numbers = numbers_of(tools, (), [where] if where else [], everything=True)
    found, test, left = list[Example](), set[str](), Counter[str]()
    for response in stored_responses(tools, numbers, sounds=True):
        one, clip = response.utterance, response.clip
        if clip is None or clip.end_s is None or one.transcript is None:
            left["without sound or without a transcript by a person"] += 1
        elif one.split not in ("", "train", "valid"):
            test.add(one.speaker)
            left["of speakers of the test split"] += 1
        elif not may(tools, one.speaker, "train"):
            left["of speakers who have not consented to 'train'"] += 1
        else:
            found.append(
                Example(
                    "store", one.id, one.speaker, clip.path, clip.end_s - clip.start_s,
                    one.transcript or (SILENCE,), "valid" if one.split == "valid" else "train",
                    clip.start_s, clip.end_s, one.aq,
                )
            )  # fmt: skip
    speakers = sorted({one.speaker for one in found})
    if not tools.store.only_read:
        tools.store.people.log(
            *(LogEntry("heard", speaker, detail="psst train") for speaker in speakers)
        )
    notes = [f"{plural(count, 'response')} left out: {why}" for why, count in left.items()]
    return found, frozenset(test), notes


def check_again(tools: Tools, examples: Sequence[Mapping[str, Any]]) -> None:
    """Refuse to continue on recordings of a person who has withdrawn the consent to train."""
    speakers = {one["speaker"] for one in examples if one["source"] == "store"}
    people = tools.store.people if speakers else None
    if gone := sorted(
        one for one in speakers
        if not may(tools, one, "train") or (people and people.tombstones(one))
    ):  # fmt: skip
        raise UsageError(
            f"{', '.join(gone)} no longer agrees to 'train': this training cannot be continued",
            where="out", hint="delete that folder, and train again without these recordings",
        )  # fmt: skip

"""Texts without a battery: a battery of connected text is made of their prompts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import replace

from tabwb.battery.files import NamedFiles
from tabwb.battery.loader import battery_from_canonical, canonical_json
from tabwb.battery.model import Battery
from tabwb.plugin_api.components import AnswerFile
from tabwb.records.answers import RecordedAnswer
from tabwb.records.words import plural

SUBTEST = "texts"
MADE = "texts-"
"""Begins the id of a battery that is made of texts."""
NO_PROMPT = "(The prompt is not known.)"
LONGEST_ID = 40


def with_battery(source: AnswerFile, features_of: Battery) -> tuple[AnswerFile, Battery]:
    """Return texts with the items they answer, and the battery that has these items.

    There is one item for each distinct prompt, and one for all texts whose prompt is not known.
    Equal prompts in equal languages make the same battery, so that texts from several files can
    be compared.
    """
    ids = _ids({_prompt(answer) for answer in source.answers})
    answers = tuple(
        replace(answer, subtest=SUBTEST, item=ids[_prompt(answer)], replicate=None)
        for answer in source.answers
    )
    return replace(source, answers=answers), _battery(source, ids, features_of)


def _prompt(answer: RecordedAnswer) -> str:
    return " ".join(answer.prompt.split()) or NO_PROMPT


def _ids(prompts: Iterable[str]) -> dict[str, str]:
    """Return prompt to id: its first words, and a number where another begins in the same way.

    >>> _ids(["The flood", "the flood!", "猫"])
    {'The flood': 'the-flood', 'the flood!': 'the-flood-2', '猫': 'text'}
    """
    ids: dict[str, str] = {}
    used: set[str] = set()
    for prompt in sorted(prompts):
        words = "-".join(re.findall(r"[a-z0-9]+", prompt.lower()))
        stem = "no-prompt" if prompt == NO_PROMPT else words[:LONGEST_ID].strip("-") or "text"
        number, name = 1, stem
        while name in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name)
        ids[prompt] = name
    return ids


def _battery(source: AnswerFile, ids: dict[str, str], features_of: Battery) -> Battery:
    spoken = {"metadata": {"spoken": True}} if source.spoken else {}
    rated = json.loads(features_of.canonical)
    kept = ("feature", "grouping")
    head = {
        "title": f"Texts on {plural(len(ids), 'prompt')}",
        "version": "1",
        "language": source.language,
        "license": "that of the texts",
        "notes": "Made for texts that were imported. Features and groupings: "
        f"{features_of.id} {features_of.version}.",
        **{
            name: rated["battery"][name]
            for name in ("definition_source", "judge_source")
            if name in rated["battery"]
        },
    }
    subtest = {
        "id": SUBTEST,
        "title": "Texts",
        "response": "connected-text",
        "template": "{prompt}",
        "scorers": ["lexical"],
        "item": [{"id": name, "prompt": prompt, **spoken} for prompt, name in ids.items()],
    }
    tables = {"battery": head, "subtest": [subtest], **{k: rated[k] for k in kept if k in rated}}
    digest = hashlib.sha256(canonical_json(tables, NamedFiles()).encode()).hexdigest()
    head["id"] = f"{MADE}{digest[:8]}"
    return battery_from_canonical(canonical_json(tables, NamedFiles()), "made for imported texts")

"""Judge prompts as plain data, the messages they make for a response, and where their files are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.host import settings
from tabwb.records.exchange import Message
from tabwb.records.specs import is_component_id

if TYPE_CHECKING:
    from tabwb.host.judge_prompt_files import ExampleTable, FeatureTable, PromptTable

LIKELIHOOD = "+likelihood"
NULL = "+likelihood+null"
"""Endings of the ids of judges that compare log probabilities of a prompt's labels."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A prompt read from ``path``; :mod:`tabwb.host.judge_prompt_files` explains it."""

    id: str
    title: str
    version: str
    license: str
    caution: str
    templates: PromptTable
    features: Sequence[FeatureTable]
    examples: Sequence[ExampleTable] = ()
    temperature: float = 0.0
    max_tokens: int = 2048
    threshold: float = 0.5
    null: str = "N/A"
    citation: str = ""
    sources: str = ""
    known_gaps: Sequence[str] = ()
    base: str | None = None
    path: Path | None = field(default=None, compare=False)

    @property
    def feature_ids(self) -> tuple[str, ...]:
        """The fixed feature set, in the order of the keys."""
        return tuple(feature.id for feature in self.features)

    @property
    def keys(self) -> dict[str, str]:
        """JSON key to feature id, in order."""
        return {feature.key: feature.id for feature in self.features}

    def messages(self, transcript: str, prompt: str) -> tuple[Message, ...]:
        """Return the messages for one response."""
        given = self._constants() | {"transcript": transcript, "prompt": prompt}
        user = Message("user", filled(self.templates.user, given))
        if not self.templates.system:
            return (user,)
        return (Message("system", filled(self.templates.system, given)), user)

    def repair(self, problem: str) -> str:
        """Return the message after a reply that could not be read."""
        return filled(self.templates.repair, {"problem": problem})

    def labels(self, present: Collection[str]) -> str:
        """Return the JSON for the features that are present, in the layout of appendix D.3."""
        return json.dumps(
            {feature.key: int(feature.id in present) for feature in self.features},
            ensure_ascii=False,
            indent=2,
        )

    @property
    def json_schema(self) -> str:
        """The JSON schema of a reply, unsorted: some models write the keys in its order."""
        keys = list(self.keys)
        return json.dumps(
            {
                "type": "object",
                "properties": {key: {"type": "integer", "enum": [0, 1]} for key in keys},
                "required": keys,
                "additionalProperties": False,
            },
            ensure_ascii=False,
        )

    @property
    def canonical(self) -> str:
        """Canonical JSON of everything that a model gets besides response and item's prompt."""
        return canonical_json(self._content())

    def weighed(self, *, calibrated: bool) -> str:
        """Return the canonical JSON of a judge that compares log probabilities of labels."""
        how = {
            "labels": "the more likely of 0 and 1, key by key",
            "threshold": self.threshold,
            "null": self.null if calibrated else None,
        }
        return canonical_json(self._content() | how)

    def _content(self) -> dict[str, object]:
        messages = self.messages("{transcript}", "{prompt}")
        return {
            "id": self.id,
            "version": self.version,
            "messages": [[message.role, message.content] for message in messages],
            "repair": self.templates.repair,
            "features": [[feature.id, feature.key] for feature in self.features],
            "decoding": {"max_tokens": self.max_tokens, "temperature": self.temperature},
        }

    def _constants(self) -> dict[str, str]:
        texts = self.templates
        definitions = []
        for feature in self.features:
            if not feature.definition:
                continue
            given = {
                "name": feature.name or feature.key,
                "definition": feature.definition,
                "example": feature.example,
            }
            lines = [texts.definition, *([texts.illustration] if feature.example else [])]
            definitions.append("\n".join(filled(line, given) for line in lines))
        examples = [
            filled(
                texts.example,
                {
                    "number": str(number),
                    "transcript": example.transcript,
                    "json": self.labels(example.present),
                },
            )
            for number, example in enumerate(self.examples, start=1)
        ]
        return {
            "definitions": "\n\n".join(definitions),
            "examples": "\n\n".join(examples),
            "recap": texts.recap,
        }


def filled(template: str, given: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced once; values are not replaced again.

    >>> filled("{prompt}: {transcript}", {"prompt": "{transcript}", "transcript": "house"})
    '{transcript}: house'
    """
    return PLACEHOLDER.sub(lambda match: given.get(match[1], match[0]), template)


def canonical_json(content: object) -> str:
    """Return JSON with sorted keys and no white space."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    """Return the SHA-256 (hex) of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def bundled_folder() -> Path:
    """Return the folder of the prompts that come with tabwb."""
    return settings.bundled_folder("judges")


def prompt_files() -> tuple[dict[str, Path], list[str]]:
    """Return the prompt files by judge id, and the problems of other files' names."""
    return settings.own_files("judges", "judge", name_problem)


def name_problem(judge: str) -> str:
    """Return why a word cannot be the id of a judge prompt; empty where it can.

    >>> name_problem("tab-2026+prompt"), name_problem("mine+likelihood")[:30]
    ('', "no id of a prompt ends in '+li")
    """
    if not is_component_id(judge):
        return (
            f"'{judge}' is not a valid id: lower-case letters, digits and hyphens, variants joined "
            "by '+'"
        )
    for ending in (NULL, LIKELIHOOD):
        if judge.endswith(ending):
            return f"no id of a prompt ends in '{ending}': that names a way of using one"
    return ""


def prompt_id(judge: str) -> str:
    """Return the id of the prompt that a judge uses.

    >>> prompt_id("tab-2026+likelihood+null"), prompt_id("tab-2026+prompt")
    ('tab-2026', 'tab-2026+prompt')
    """
    return judge.removesuffix(NULL).removesuffix(LIKELIHOOD)

"""A judge prompt as frozen plain data, and the messages that it makes of a response."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tabwb.records.exchange import Message

PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")


@dataclass(frozen=True, slots=True)
class JudgedFeature:
    """A feature as a judge is shown it.

    Attributes:
        id: in batteries, also the measure's name.
        key: in the judge's JSON.
        name, definition, example: as shown; a feature without definition is only a key.
    """

    id: str
    key: str
    name: str
    definition: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class LabelledTranscript:
    """A transcript with the ids of the features that are present in it."""

    transcript: str
    present: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Templates:
    """The texts of a prompt, with placeholders in braces; see ``schema.py`` beside this file."""

    user: str
    repair: str
    system: str = ""
    definition: str = "{name}: {definition}"
    illustration: str = "Example: {example}"
    example: str = "{transcript}\n\n{json}"
    recap: str = ""


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A whole prompt. Made by :mod:`tabwb.plugin_api.judge_prompts.load`.

    Attributes:
        threshold: a probability above it means present (likelihood judges).
        null: the passage without content (calibration).
        path: the file it was read from; not part of the prompt.
    """

    id: str
    title: str
    version: str
    license: str
    caution: str
    templates: Templates
    features: tuple[JudgedFeature, ...]
    examples: tuple[LabelledTranscript, ...] = ()
    temperature: float = 0.0
    max_tokens: int = 2048
    threshold: float = 0.5
    null: str = "N/A"
    citation: str = ""
    sources: str = ""
    known_gaps: tuple[str, ...] = ()
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
        """What is sent for one response.

        Args:
            transcript: the response.
            prompt: of the item; goes nowhere unless the prompt asks for it.
        """
        given = self._constants() | {"transcript": transcript, "prompt": prompt}
        user = Message("user", filled(self.templates.user, given))
        if not self.templates.system:
            return (user,)
        return (Message("system", filled(self.templates.system, given)), user)

    def repair(self, problem: str) -> str:
        """What is sent after a reply that could not be read."""
        return filled(self.templates.repair, {"problem": problem})

    def labels(self, present: tuple[str, ...]) -> str:
        r"""The JSON that stands for some features being present, laid out as in appendix D.3."""
        return json.dumps(
            {feature.key: int(feature.id in present) for feature in self.features},
            ensure_ascii=False,
            indent=2,
        )

    @property
    def json_schema(self) -> str:
        """The JSON schema of a reply, for interfaces that can be held to one.

        Not sorted: some write the keys in the order in which a schema has them.
        """
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
        """Canonical JSON of all that is put to a model besides the response, for keeping.

        Where response and item's prompt go, their placeholders stand.
        """
        return canonical_json(self._content())

    def weighed(self, *, calibrated: bool) -> str:
        """The same where labels are read off log probabilities, with how that is done."""
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
                "name": feature.name,
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
                    "transcript": one.transcript,
                    "json": self.labels(one.present),
                },
            )
            for number, one in enumerate(self.examples, start=1)
        ]
        return {
            "definitions": "\n\n".join(definitions),
            "examples": "\n\n".join(examples),
            "recap": texts.recap,
        }


def filled(template: str, given: Mapping[str, str]) -> str:
    """A template with its placeholders filled in once: what is filled in is never looked at.

    >>> filled("{prompt}: {transcript}", {"prompt": "{transcript}", "transcript": "house"})
    '{transcript}: house'
    """
    return PLACEHOLDER.sub(lambda found: given.get(found[1], found[0]), template)


def canonical_json(content: object) -> str:
    """JSON with sorted keys and no white space."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    """SHA-256 (hex) of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()

"""The 19 features by id, and what a text rule can say of each."""

from __future__ import annotations

TWO_SIDED = (
    "retracing",
    "abandoned-utterances",
    "perseverations",
    "neologisms",
    "jargon",
    "short-and-simplified-utterances",
    "false-starts",
)
"""May be present or absent; the burden of the rules judge is over these seven."""

ONE_SIDED = (
    "anomia",
    "empty-speech",
    "stereotypies-and-automatisms",
    "conduite-d-approche",
    "omission-of-function-words",
    "omission-of-bound-morphemes",
    "phonemic-paraphasias",
)
"""Present or undefined: a sign that was missed is no evidence that there is none."""

NEVER = (
    "semantic-paraphasias",
    "paragrammatism",
    "meaning-unclear",
    "off-topic",
    "overall-communication-impairment",
)
"""No rule on the text alone can tell; always undefined."""

FEATURES = TWO_SIDED + ONE_SIDED + NEVER

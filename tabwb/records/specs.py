"""Identifiers and specs: one string names a component and its options, also as a stored id.

``ID[:NAME][@key=value,...]``. The ID ends at the first colon; ``@`` opens the options only where
``key=`` follows it, so that a NAME may hold colons and at-signs (``openai:llama3.2:1b``). Records
have UUIDs of version 7; everything that people name is kebab-case.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabwb.records.errors import UsageError

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Ids of batteries, subtests, items, features and components: ``conduite-d-approche``."""


def is_kebab(text: str) -> bool:
    """Return whether ``text`` is a kebab-case id.

    >>> is_kebab("tab-2026"), is_kebab("Tab 2026")
    (True, False)
    """
    return KEBAB.fullmatch(text) is not None


COMPONENT = re.compile(rf"{KEBAB.pattern}(\+{KEBAB.pattern})*")
"""Ids of components: kebab-case, variants joined by a plus sign (``tab-2026+prompt``)."""


def is_component_id(text: str) -> bool:
    """Return whether ``text`` can be the id of a component.

    >>> is_component_id("tab-2026+prompt"), is_component_id("tab-2026+")
    (True, False)
    """
    return COMPONENT.fullmatch(text) is not None


def uuid7(now_ms: int | None = None) -> str:
    """Return a UUID version 7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, then random bits.

    Sorts by time of creation, so that exports of several stores merge in order.

    >>> uuid7(0)[:14], len(uuid7())
    ('00000000-0000-', 36)
    """
    milliseconds = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)?")
_OPTIONS = re.compile(r"@(?=[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)?=)")
FORM = "ID[:NAME][@key=value,...]"
EXAMPLES = "bundled or replay:answers.jsonl or echo@delay=0.005"


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec; ``str()`` gives back the canonical string (options in the order given).

    Attributes:
        id: of the component.
        name: NAME, or None where the spec has none.
        options: key to value, as text.
    """

    id: str
    name: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        text = self.id if self.name is None else f"{self.id}:{self.name}"
        if self.options:
            text += "@" + ",".join(f"{key}={value}" for key, value in self.options.items())
        return text


def parse_spec(text: str, *, examples: str = EXAMPLES) -> Spec:
    """Parse a spec.

    Args:
        text: the spec as the user wrote it.
        examples: of such specs, for an error.

    Raises:
        UsageError: the string is not a spec; the message shows the wrong part.

    >>> str(parse_spec("openai:llama3.2:1b@base_url=http://localhost:11434/v1"))
    'openai:llama3.2:1b@base_url=http://localhost:11434/v1'
    >>> parse_spec("echo@delay=0.005").options
    {'delay': '0.005'}
    >>> parse_spec("replay:me@home.jsonl").name
    'me@home.jsonl'
    """
    allowed = f"{FORM}, for example {examples}"
    cleaned = text.strip()
    if not cleaned.isprintable():
        raise UsageError(
            f"{text!r} is not a spec: it holds what cannot be printed", allowed=allowed
        )
    head, *tail = _OPTIONS.split(cleaned, maxsplit=1)
    identifier, colon, name = head.partition(":")
    if not is_component_id(identifier):
        raise UsageError(f"'{text}' is not a spec", allowed=allowed)
    if colon and not name:
        raise UsageError(f"after the colon of '{text}' a name is missing", allowed=allowed)
    options: dict[str, str] = {}
    for part in tail[0].split(",") if tail else []:
        key, equals, value = part.partition("=")
        if not equals or _KEY.fullmatch(key) is None:
            raise UsageError(
                f"'{part}' in '{text}' is not key=value",
                allowed=allowed,
                hint="values that need a comma belong into a profile in tabwb.toml",
            )
        if key in options:
            raise UsageError(f"option '{key}' is given twice in '{text}'")
        options[key] = value
    return Spec(identifier, name if colon else None, options)


def is_writable(spec: Spec) -> bool:
    """Return whether a spec's string reads back as the same spec.

    >>> [is_writable(Spec("echo", None, {"text": text})) for text in ("a", "a, b")]
    [True, False]
    """
    try:
        return parse_spec(str(spec)) == spec
    except UsageError:
        return False


NO_CONDITIONS = frozenset(
    {"threads", "batch_size", "concurrency", "retries", "timeout_s", "reply_s", "key_env", "delay"}
)
"""Options of a model that change no answer: administrations that differ in them are alike."""


def options_that_count(spec: Spec) -> dict[str, str]:
    """Return the options of a model's spec without those that change no answer.

    >>> options_that_count(parse_spec("transformers:m@threads=2,dtype=float32"))
    {'dtype': 'float32'}
    """
    return {key: value for key, value in spec.options.items() if key not in NO_CONDITIONS}


def inner_spec(spec: Spec) -> str:
    """Return the spec inside a spec: its name, with all options.

    >>> inner_spec(parse_spec("tab-2026:gemini:gemini-2.5-flash@timeout=5"))
    'gemini:gemini-2.5-flash@timeout=5'
    """
    return str(replace(parse_spec(spec.name or ""), options=spec.options))


BITS = 31
"""Width of a derived seed: 0 to 2**31 - 1, which every back end takes.

Gemini takes a signed 32-bit number, OpenAI and torch a signed 64-bit one.
"""
PURPOSE = "tabwb-reply-1"
"""Names this derivation; another rule for deriving seeds gets another name."""


def seed_of(*parts: object) -> int:
    """Return a seed from 0 to 2**31 - 1 that depends on every part.

    ``SHA-256(JSON array of the parts, UTF-8)``, of which the first 31 bits are the seed. JSON marks
    where each part begins and ends, so that ``("a", "bc")`` and ``("ab", "c")`` differ. Two
    different sequences of parts have the same seed with probability 2**-31.

    >>> seed_of("a", "bc") == seed_of("ab", "c"), seed_of(1) == seed_of("1")
    (False, False)
    >>> 0 <= seed_of("any", ["parts"], 3) < 2**31
    True
    """
    text = json.dumps(parts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - BITS)


def reply_seed(
    run_seed: int,
    battery: str,
    subtest: str,
    item: str,
    replicate: int,
    attempt: int,
    *,
    options: Sequence[str] = (),
    given: Sequence[object] = (),
) -> int:
    """Return the seed with which one reply is drawn.

    The first six parts name the reply within its run. The order of the options distinguishes
    rotations of one item, and ``given`` distinguishes runs that share a seed.

    >>> reply_seed(1, "tab", "connected-text", "ct1", 0, 1)
    1322509179
    >>> reply_seed(1, "tab", "connected-text", "ct2", 0, 1)
    1599974238
    """
    return seed_of(
        PURPOSE, run_seed, battery, subtest, item, replicate, attempt, list(options), list(given)
    )


def model_name(spec: str) -> str:
    r"""Return a model's spec without options and folders, as seeds are derived from it.

    >>> model_name("transformers:/data/models/gpt2@dtype=float32"), model_name("bundled")
    ('transformers:gpt2', 'bundled')
    """
    parsed = parse_spec(spec)
    name = (parsed.name or "").replace("\\", "/").rstrip("/").rpartition("/")[2]
    return f"{parsed.id}:{name}" if name else parsed.id


def mixed(seed: int, own: int | None) -> int:
    """Return the seed of a reply under a back end's option ``seed``; unchanged without one.

    >>> mixed(5, None), mixed(5, 1) == mixed(5, 2), mixed(5, 1) == mixed(6, 1)
    (5, False, False)
    """
    return seed if own is None else seed_of("tabwb-option-1", seed, own)

"""Seeds of random draws: one for each reply, derived from what the reply answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from tabwb.records.specs import parse_spec

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

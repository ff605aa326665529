"""The facts of an answer that analyses need, as numbers: computed once, when it is given.

Texts are named by 64 bits of their BLAKE2b digest, so that equal texts of two stores have one name:
two different ones among a million have the same with a probability of 3 in 100 million.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from tabwb.records.reasoning import holds_reasoning
from tabwb.scoring.text import words
from tabwb.store.database import Transaction, to_json
from tabwb.store.verdicts import ranges, texts

NOTES = ("protocol", "sampled", "replayed_sampled", "batch_exact", "cause", "replayed_line",
         "replayed_administration")  # fmt: skip
"""The notes of a back end that summaries read, besides the seed."""
_DIGITS = 18


def named(content: bytes) -> int:
    """Return the name of a text: a signed integer of 64 bits."""
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big", signed=True)


class TextFacts(NamedTuple):
    """Facts of a response's text.

    ``text`` and ``spoken`` name it and the words in it (0: none); ``words`` is their number;
    ``blank``: no sign but white space; ``thinks``: it holds the reasoning of a model.
    """

    text: int
    spoken: int
    words: int
    blank: bool
    thinks: bool


def spoken(text: str) -> tuple[int, int]:
    """Return the name of the words of a text, 0 where there are none, and their number."""
    said = words(text)
    return (named(" ".join(said).encode(errors="surrogatepass")) if said else 0), len(said)


def of_text(text: str) -> TextFacts:
    """Return the facts of a text."""
    return TextFacts(
        named(text.encode(errors="surrogatepass")),
        *spoken(text),
        not text.strip(),
        text != "" and holds_reasoning(text),
    )


class NoteFacts(NamedTuple):
    """Facts of the notes of a back end: ``seed`` and replayed ``line`` where they are numbers.

    ``notes`` is the JSON of those of :data:`NOTES` that are left, with a seed that is not a number;
    empty without any.
    """

    seed: int | None
    line: int | None
    notes: str


def of_notes(metadata: Mapping[str, str]) -> NoteFacts:
    """Return the facts of the notes on a reply.

    >>> of_notes({"seed": "7", "replayed_line": "12", "sampled": "no", "stop": "[]"})
    NoteFacts(seed=7, line=12, notes='{"sampled":"no"}')
    """
    left = {name: metadata[name] for name in ("seed", *NOTES) if name in metadata}
    seed = number(left.get("seed"))
    line = number(left.get("replayed_line"))
    if seed is not None:
        del left["seed"]
    if line is not None and str(line) == left["replayed_line"]:
        del left["replayed_line"]
    else:
        line = None
    return NoteFacts(seed, line, to_json(left) if left else "")


def number(noted: str | None) -> int | None:
    """Return a number of up to 18 digits that was noted; None where it is something else."""
    if noted is None or not (noted.isascii() and noted.isdecimal() and len(noted) <= _DIGITS):
        return None
    return int(noted)


def asked(messages: Sequence[tuple[str, int]], prompt: int) -> int:
    """Return a number that is equal where the same messages were sent.

    Args:
        messages: role and name of the text of each.
        prompt: name of the prompt, which counts where no messages were sent.
    """
    if not messages:
        return named(b"prompt" + _bytes(prompt))
    return named(b"".join(role.encode() + b":" + _bytes(text) for role, text in messages))


COLUMNS = "ok", *TextFacts._fields, "asked", "seed", "line"
"""The facts of an attempt, in the order of :func:`recorded`, without the notes that are left."""


def recorded(
    transaction: Transaction,
) -> Iterator[list[tuple[int, tuple[int | None, ...], str]]]:
    """Yield id, facts and notes left of all attempts, computed anew, some thousands at a time."""
    names: dict[int, int] = {}
    text_facts = lru_cache(20_000)(of_text)
    for limits in ranges(transaction, "attempts"):
        sent: dict[int, list[tuple[str, int]]] = {}
        for attempt, role, text in transaction.rows(
            "SELECT attempt_id, role, text_id FROM messages WHERE attempt_id BETWEEN ? AND ?"
            " ORDER BY attempt_id, position",
            *limits,
        ):
            sent.setdefault(attempt, []).append((role, text))
        rows = transaction.rows(
            "SELECT a.id, response, metadata, prompt_id, e.kind = 'attempt-ok' FROM attempts a"
            " JOIN trials t ON t.administration_id = a.administration_id AND t.number = a.trial"
            " LEFT JOIN entries e ON e.administration_id = a.administration_id"
            " AND e.sequence = a.sequence WHERE a.id BETWEEN ? AND ?",
            *limits,
        )
        wanted = {text for messages in sent.values() for _, text in messages}
        wanted.update(row[3] for row in rows)
        for number, text in texts(transaction, wanted - names.keys()).items():
            names[number] = named(text.encode())
        made: list[tuple[int, tuple[int | None, ...], str]] = []
        for number, response, metadata, prompt, ok in rows:
            noted = of_notes(json.loads(metadata))
            messages = [(role, names[text]) for role, text in sent.get(number, ())]
            told = asked(messages, names[prompt]), noted.seed, noted.line
            made.append((number, (bool(ok), *text_facts(response), *told), noted.notes))
        yield made


def _bytes(name: int) -> bytes:
    return name.to_bytes(8, "big", signed=True)

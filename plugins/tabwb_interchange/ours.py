"""What our exports say beyond the other tool's format, under the key ``tabwb``, read back too.

With it an import gives the same responses under the same conditions as the administration that was
exported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, sqrt
from pathlib import Path
from typing import Any

from tabwb.plugin_api import (
    KnownDecoding,
    Message,
    Protocol,
    RecordedAnswer,
    RecordedRun,
    StopReason,
    TabwbError,
    UsageError,
)
from tabwb.records.columns import PARTICIPANT
from tabwb.records.speakers import ORIGINS
from tabwb_interchange.reading import mapping, moment_of, plain_text, real, whole, words_of

KEY = "tabwb"
RECORD = "participant_record"
Json = dict[str, Any]
_RUN = (
    "uid", "battery", "battery_version", "battery_hash", "battery_title", "examinee", "kind",
    "origin", "participant", "seed", "replicates", "protocol", "conversation", "decoding",
    "item_order", "option_order", "lesion", "prompt_noise", "judges", "research_protocol",
    "created_at", "part_subtests", "part_items", "part_limit", "labels",
    "session_date", "versions", "model_facts", "notes", "disclaimer",
)  # fmt: skip
"""Keys of an administration that an export keeps."""
_IMPORTED = frozenset({"source", "imported_file", "imported_sha256", "imported_files"})
"""Facts that say from which files an administration was imported."""
_TRIAL = (
    "number", "subtest", "item", "replicate", "prompt", "options", "expected", "tags", "foils",
    "foil", "reasoning", "status", "effective_status", "usable", "stop_reason", "latency_s",
    "ratings",
)  # fmt: skip
"""Keys of a trial that an export keeps."""


def refuse_names(names: Mapping[str, str], path: Path, format_id: str) -> None:
    """Refuse names of fields where a format has fixed ones."""
    if names:
        first = next(f"{field}={name}" for field, name in names.items())
        raise UsageError(
            f"--column {first}: the fields of the format '{format_id}' have fixed names",
            where=str(path),
        )


def sent(trial: Mapping[str, Any]) -> list[Json]:
    """Return role and content of each message that was sent."""
    messages = trial.get("messages") or [{"role": "user", "content": trial["prompt"]}]
    return [{"content": turn["content"], "role": turn["role"]} for turn in messages]


def prompt_of(messages: Sequence[Message]) -> str:
    """Return what the user said last."""
    return next((turn.content for turn in reversed(messages) if turn.role == "user"), "")


def counting(trial: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attempt that counts."""
    attempt = (trial.get("reply") or {}).get("attempt")
    attempts: list[Mapping[str, Any]] = [
        each for each in trial["attempts"] if each["state"] == "ok"
    ]
    return next((each for each in attempts if each["n"] == attempt), attempts[-1])


@dataclass(slots=True)
class Scores:
    """What one rater says of one response.

    Attributes:
        values: measure to number; None where it is undefined, unparsed or in error.
        reasons: measure to reason, where there is one.
        statuses: measure to status, where it is not ``value``.
    """

    values: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)

    @property
    def explanation(self) -> str:
        """Measures with their reasons, one in a line."""
        return "\n".join(f"{measure}: {reason}" for measure, reason in self.reasons.items())


def scores_of(trial: Mapping[str, Any]) -> dict[str, Scores]:
    """Return the scores of a trial by rater, in the order of its ratings."""
    scores: dict[str, Scores] = {}
    for rating in trial["ratings"]:
        own = scores.setdefault(rating["rater"], Scores())
        measure = rating["measure"]
        own.values[measure] = rating["value"]
        if rating["reason"]:
            own.reasons[measure] = rating["reason"]
        if rating["status"] != "value":
            own.statuses[measure] = rating["status"]
    return scores


@dataclass(slots=True)
class Mean:
    """The mean of the scores of a measure, and its standard error, as they come in.

    >>> mean = Mean()
    >>> for value in (1.0, 0.0, None, 1.0, 1.0): mean.add(value)
    >>> mean.n, mean.missing, mean.value, mean.standard_error
    (4, 1, 0.75, 0.25)
    """

    _values: dict[float, int] = field(default_factory=dict)
    missing: int = 0

    def add(self, value: float | None) -> None:
        """Count a score."""
        if value is None:
            self.missing += 1
        else:
            self._values[value] = self._values.get(value, 0) + 1

    @property
    def n(self) -> int:
        """How many scores have a number."""
        return sum(self._values.values())

    @property
    def value(self) -> float | None:
        """The arithmetic mean; None without scores."""
        n = self.n
        return fsum(value * count for value, count in self._values.items()) / n if n else None

    @property
    def standard_error(self) -> float | None:
        """``sqrt(sum (x - mean)^2 / (n - 1) / n)``; None for fewer than two scores."""
        n, mean = self.n, self.value
        if mean is None or n < 2:
            return None
        squares = fsum((value - mean) ** 2 * count for value, count in self._values.items())
        return sqrt(squares / (n - 1) / n)


class ExportedRun:
    """An administration as exports of logs use it, and when its last response came.

    Attributes:
        document: the whole.
        given: its ``administration``.
        model: who answered, as other tools have the name of a model.
        decoding, versions: of the administration; empty where it has none.
        ended: when the last response noted came, or when the run began.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.given: Mapping[str, Any] = document["administration"]
        self.model = str(self.given["model"] or f"{self.given['origin']}/{self.given['examinee']}")
        self.decoding: Mapping[str, Any] = self.given.get("decoding") or {}
        self.versions: Mapping[str, Any] = self.given.get("versions") or {}
        self.ended: str = self.given["created_at"]

    @property
    def record(self) -> Json:
        """What is recorded of the participant, under :data:`RECORD`; nothing without any."""
        return {RECORD: self.given["speaker"]} if self.given.get("speaker") else {}

    @property
    def block(self) -> Json:
        """What an export keeps of the administration, under :data:`KEY`."""
        kept = {key: self.given.get(key) for key in _RUN}
        return {"format": 1, **kept, "notices": list(self.document["notices"])}

    def trials(self) -> Iterator[Mapping[str, Any]]:
        """Yield the trials whose responses count, each noted; practice is left out."""
        for trial in self.document["trials"]:
            if trial["state"] == "answered" and not trial["practice"]:
                self.ended = max(self.ended, counting(trial).get("recorded_at") or "")
                yield trial


def answer_block(trial: Mapping[str, Any]) -> Json:
    """Return what an export keeps of a trial."""
    reply = trial.get("reply") or {}
    kept = {key: trial.get(key) for key in _TRIAL}
    return {
        **kept,
        "decoding": reply.get("decoding"),
        "recorded_at": counting(trial).get("recorded_at"),
        "metadata": dict(counting(trial).get("metadata") or {}),
    }


def run_of(block: Mapping[str, Any], run: RecordedRun, where: str) -> RecordedRun:
    """Return a run with what our export says of it."""
    origin = block.get("origin")
    if origin not in ORIGINS:
        raise TabwbError(
            f"'{KEY}.origin' is {origin!r:.40}", where=where, allowed=", ".join(ORIGINS)
        )
    protocol = words_of(block.get("protocol")) or "generate"
    if protocol not in set(Protocol):
        raise TabwbError(
            f"'{KEY}.protocol' is {protocol!r:.40}", where=where, allowed=", ".join(Protocol)
        )
    examinee = words_of(block.get("examinee"))
    return replace(
        run,
        id=words_of(block.get("uid")) or run.id,
        model=examinee if block.get("kind") == "model" else "",
        origin=origin,
        participant="" if origin == "model" else words_of(block.get("participant")),
        session_date=moment_of(block.get("session_date"))[:10],
        seed=whole(block.get("seed"), -(2**63)),
        decoding=decoding_of(block.get("decoding")),
        protocol=Protocol(protocol),
        conversation=block.get("conversation") is True,
        lesion=words_of(block.get("lesion")) or None,
        prompt_noise=words_of(block.get("prompt_noise")) or None,
        part_subtests=_ids(block.get("part_subtests")),
        part_items=_ids(block.get("part_items")),
        part_limit=whole(block.get("part_limit"), 1),
        facts=facts_of(block.get("model_facts")),
        labels=labels_of(block.get("labels")),
        exported=True,
    )


def stated_in(values: Mapping[str, object]) -> dict[str, str]:
    """Return what is said of a participant: columns of the record with texts.

    >>> stated_in({"participant_record": {"AQ": 40.5}, "participant_site": "Leeds", "model": "m"})
    {'AQ': '40.5', 'site': 'Leeds'}
    """
    named = {
        name.removeprefix(PARTICIPANT): value
        for name, value in values.items()
        if name.startswith(PARTICIPANT) and name != RECORD
    }
    told = {**mapping(values.get(RECORD)), **named}
    texts = {name: plain_text(value, 300) for name, value in told.items() if value is not None}
    return {name: text for name, text in texts.items() if text.strip()}


def facts_of(value: object) -> tuple[tuple[str, str], ...]:
    """Return what our export says of a model; what an earlier import added is left out."""
    return tuple(
        (plain_text(name, 100), plain_text(fact, 500))
        for name, fact in mapping(value).items()
        if name not in _IMPORTED
    )


def labels_of(value: object) -> tuple[tuple[str, str], ...]:
    """Return the family, tuning and number of parameters of our export."""
    return tuple(
        (plain_text(name, 100), plain_text(label, 300))
        for name, label in mapping(value).items()
        if isinstance(label, str)
    )


def _ids(value: object) -> tuple[str, ...]:
    return tuple(map(words_of, value)) if isinstance(value, list) else ()


def answer_of(block: Mapping[str, Any], answer: RecordedAnswer) -> RecordedAnswer:
    """Return an answer with what our export says of it."""
    stop = words_of(block.get("stop_reason")) or "end"
    if stop not in set(StopReason):
        raise TabwbError(
            f"'{KEY}.stop_reason' is {stop!r:.40}",
            where=answer.where,
            allowed=", ".join(StopReason),
        )
    options = block.get("options")
    return replace(
        answer,
        subtest=words_of(block.get("subtest")),
        item=words_of(block.get("item")),
        prompt=words_of(block.get("prompt")) or answer.prompt,
        options=tuple(map(str, options)) if isinstance(options, list) else (),
        replicate=whole(block.get("replicate")),
        decoding=decoding_of(block.get("decoding")),
        stop_reason=StopReason(stop),
        latency_s=real(block.get("latency_s")),
        given_at=moment_of(block.get("recorded_at")),
        metadata={
            str(name): value
            for name, value in mapping(block.get("metadata")).items()
            if isinstance(value, str)
        },
        reasoning=words_of(block.get("reasoning")) or answer.reasoning,
        closing="",
    )


def ratings_left_out(ratings: object) -> Counter[str]:
    """Return the ratings of an export that no import keeps, by reason.

    Scorers and judges that ask no model rate imported answers anew; ratings by models and people
    would be lost.

    >>> ratings_left_out([{"rater": "choice"}, {"rater": "tab-2026:echo"}])
    Counter({"ratings by tab-2026:echo ('tabwb store merge' keeps ratings)": 1})
    """
    raters = (mapping(r).get("rater") for r in (ratings if isinstance(ratings, list) else ()))
    return Counter(
        f"ratings by {plain_text(rater, 100)} ('tabwb store merge' keeps ratings)"
        for rater in raters
        if ":" in words_of(rater)
    )


def decoding_of(value: object) -> KnownDecoding:
    """Return the decoding of our documents; nothing is known where it is something else."""
    if not isinstance(value, dict):
        return KnownDecoding()
    stop = value.get("stop")
    return KnownDecoding(
        max_tokens=whole(value.get("max_tokens"), 1),
        temperature=real(value.get("temperature")),
        top_p=real(value.get("top_p"), 0.0, 1.0),
        stop=tuple(map(str, stop)) if isinstance(stop, list) else None,
        seed=whole(value.get("seed"), -(2**63)),
    )

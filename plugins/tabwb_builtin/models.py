"""The back ends that need no model: ``echo``, and ``replay`` of recorded responses."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tabwb.plugin_api.components import Cancel, ModelBackend
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import ComponentError, NoAnswer, UsageError
from tabwb.records.exchange import NOT_SENT, Decoding, Reply, Request
from tabwb.records.files import located, read_file
from tabwb.records.speakers import ORIGINS, Origin
from tabwb.records.specs import Spec
from tabwb.records.states import Protocol, ResponseStatus, StopReason

if TYPE_CHECKING:
    from pydantic import BaseModel


_PIECE = re.compile(r"\s*\S+\s*\Z|\s*\S+|\s+")
"""A word with the white space before it; joined, the pieces are the text."""


class EchoModel:
    """Returns the last message, word by word. A word counts as a token."""

    def __init__(self, delay: float = 0.0, text: str | None = None) -> None:
        self._delay = delay
        self._text = text

    def open(self) -> Mapping[str, str]:
        """Return the facts; nothing is loaded."""
        return {"model": "echo"}

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Stream the words, waiting ``delay`` seconds before each."""
        refuse_protocol("echo", request.protocol)
        heard = request.messages[-1].content if request.messages else ""
        text = heard if self._text is None else self._text
        words = sum(len(message.content.split()) for message in request.messages)
        yield from stream_text(text, request.decoding, cancel, delay=self._delay, heard=words)

    def close(self) -> None:
        """Do nothing."""


def stream_text(
    text: str, decoding: Decoding, cancel: Cancel, *, delay: float = 0.0, heard: int | None = None
) -> Iterator[str | Reply]:
    """Stream a known text as a model would: word by word, to the first stop string or the limit."""
    started = time.monotonic()
    stops = [text.find(stop) for stop in decoding.stop if stop and stop in text]
    reason = StopReason.STOP_STRING if stops else StopReason.END
    pieces: list[str] = []
    first: float | None = None
    for piece in _PIECE.findall(text[: min(stops)] if stops else text):
        if len(pieces) >= decoding.max_tokens:
            reason = StopReason.LENGTH
            break
        if cancel.wait(delay) if delay else cancel.is_set():
            reason = StopReason.CANCELLED
            break
        first = time.monotonic() - started if first is None else first
        pieces.append(piece)
        yield piece
    latency = time.monotonic() - started
    yield Reply("".join(pieces), reason, latency, first, heard, len(pieces))


def refuse_protocol(backend: str, protocol: Protocol) -> None:
    """Refuse every protocol but ``generate``."""
    if protocol is not Protocol.GENERATE:
        raise ComponentError(
            f"'{backend}' cannot answer under the protocol '{protocol.value}'", allowed="generate"
        )


def _echo_options() -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, Field

    class EchoOptions(BaseModel):
        """Options of ``echo``."""

        model_config = ConfigDict(extra="forbid")
        delay: float = Field(
            0.0, ge=0, le=60, allow_inf_nan=False, description="seconds before each word, 0 to 60"
        )
        text: str | None = Field(None, description="text to return instead of the prompt")

    return EchoOptions


def _echo(spec: Spec, options: Any) -> ModelBackend:
    return EchoModel(options.delay, options.text)


ECHO = Descriptor(
    "echo",
    "Returns the prompt word by word, to try tabwb without a model",
    _echo,
    options=_echo_options,
)


MOST_REPLICATES = 100_000
"""The most replicates of a run; a run has as many as the file."""
DECODING = ("max_tokens", "temperature", "top_p", "stop", "seed")
"""Parameters of a run that recorded answers ignore."""
SAMPLED = "replayed_sampled"
"""Metadata of an answer that was drawn at a temperature: each replicate is a separate draw."""
_REASONS = {"truncated": StopReason.LENGTH, "refused": StopReason.REFUSED}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of an export: an answer and its place.

    ``sampled``: whether it was drawn at a temperature; None where that is unknown.
    """

    line: int
    administration: str
    prompt: str
    response: str
    status: str
    sampled: bool | None = None
    origin: str = ""
    participant: str = ""
    reasoning: str | None = None

    def is_rotation_of(self, other: Recorded) -> bool:
        """Return whether both answer one item of one administration with different prompts."""
        return self.administration == other.administration and self.prompt != other.prompt


def _made_by(content: Mapping[str, Any], where: str) -> tuple[str, str]:
    """Return the origin of an answer and the person's study ID; empty where unknown."""
    origin, kind = content.get("origin", ""), content.get("kind", "")
    participant = content.get("participant", "")
    if origin not in ("", *ORIGINS) or not isinstance(participant, str):
        raise ComponentError(
            f"origin {origin!r}, participant {participant!r} cannot be read",
            where=where,
            allowed=f"origin: {', '.join(ORIGINS)}; participant: a participant code",
        )
    if not origin and isinstance(kind, str):
        origin = {"speaker": "human", "model": "model"}.get(kind, "")
    if not participant and kind == "speaker":
        participant = str(content.get("examinee", ""))
    return origin, participant if origin != "model" else ""


def _reasoning(value: object, where: str) -> str | None:
    """Return the reasoning of a line; None where it has none, so that tags in the text count."""
    if value is not None and not isinstance(value, str):
        raise ComponentError(f"'reasoning' is {value!r}", where=where, allowed="a string, or null")
    return value or None


class ReplayModel:
    """Replays an export of ``tabwb export --format jsonl``."""

    def __init__(self, path: Path, administration: str | None = None) -> None:
        self._path = path
        self._administration = administration
        self._answers: dict[tuple[str, int], list[Recorded]] | None = None

    def open(self) -> Mapping[str, str]:
        """Read the file."""
        import hashlib

        try:
            raw = read_file(self._path)
            text = raw.decode("utf-8-sig")  # editors on Windows write a byte order mark
        except OSError as error:
            raise ComponentError(
                f"cannot be read: {error.strerror}", where=str(self._path)
            ) from error
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise ComponentError("is not UTF-8", where=f"{self._path}:{line}") from error
        self._answers = self._read(text)
        return {
            "model": f"replay of {self._path.name}",
            "file_sha256": hashlib.sha256(raw).hexdigest(),
            "answers": str(sum(map(len, self._answers.values()))),
            "replicates": str(1 + max(replicate for _, replicate in self._answers)),
        }

    def made_by(self) -> tuple[Origin, str]:
        """Return who made the answers, and the person's study ID where it is known."""
        if self._answers is None:
            self.open()
        lines = [line for answers in (self._answers or {}).values() for line in answers]
        origins = {line.origin for line in lines}
        people = {line.participant for line in lines if line.participant}
        if len(people) > 1:
            raise UsageError(
                f"holds answers of {len(people)} persons ({', '.join(sorted(people))})",
                where=str(self._path),
                hint="choose one with the option administration=UID",
            )
        participant = next(iter(people), "")
        if "human" in origins:
            return "human", participant
        return ("model" if origins == {"model"} else "unknown"), participant

    def reply(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        """Stream the recorded answer to this item and replicate.

        Of an item with its options in several orders, the answer to exactly this prompt.
        """
        refuse_protocol("replay", request.protocol)
        if self._answers is None:
            self.open()
        assert self._answers is not None
        answers = self._answers.get((request.key, request.replicate), [])
        if len(answers) > 1:
            answers = [line for line in answers if line.prompt == request.messages[-1].content]
        recorded = next(iter(answers), None)
        if recorded is None:
            raise NoAnswer(
                f"holds no answer to {request.key} (replicate {request.replicate})",
                where=str(self._path),
            )
        # Replayed whole: limits and stop strings were applied when it was recorded.
        everything = Decoding(max_tokens=len(recorded.response) + 1)
        for piece in stream_text(recorded.response, everything, cancel):
            if isinstance(piece, Reply) and piece.stop_reason is StopReason.END:
                yield Reply(
                    piece.text,
                    _REASONS.get(recorded.status, StopReason.END),
                    piece.latency_s,
                    piece.first_piece_s,
                    metadata={
                        **dict.fromkeys(DECODING, NOT_SENT),
                        "replayed_administration": recorded.administration,
                        "replayed_line": str(recorded.line),
                        **({SAMPLED: "yes"} if recorded.sampled else {}),
                    },
                    reasoning=recorded.reasoning,
                )
            else:
                yield piece

    def close(self) -> None:
        """Release the file."""
        self._answers = None

    def _read(self, text: str) -> dict[tuple[str, int], list[Recorded]]:
        answers: dict[tuple[str, int], list[Recorded]] = {}
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            key, replicate, recorded = self._line(number, line)
            if not recorded.administration.startswith(self._administration or ""):
                continue
            to_item = answers.setdefault((key, replicate), [])
            # Only rotated options give an item twice in one replicate, in prompts that differ.
            earlier = next((line for line in to_item if not line.is_rotation_of(recorded)), None)
            to_item.append(recorded)
            if earlier is not None:
                raise ComponentError(
                    f"a second answer to {key} (replicate {replicate}); the first is in line "
                    f"{earlier.line}",
                    where=f"{self._path}:{number}",
                    hint="where a file holds several administrations, choose one: "
                    f"replay:{self._path}@administration={recorded.administration or 'UID'}",
                )
        if not answers:
            part = f" of administration '{self._administration}'" if self._administration else ""
            raise ComponentError(f"holds no answers{part}", where=str(self._path))
        return _with_draws(answers)

    def _line(self, number: int, line: str) -> tuple[str, int, Recorded]:
        where = f"{self._path}:{number}"
        try:
            content = json.loads(line)
        except json.JSONDecodeError as error:
            raise ComponentError(
                f"is not JSON: {error.msg} (column {error.colno})",
                where=where,
                allowed="one JSON object per line, as 'tabwb export --format jsonl' writes them",
            ) from error
        except (RecursionError, ValueError) as error:
            # JSON, but nested more deeply or with longer numbers than any export.
            raise ComponentError(f"cannot be read: {error}", where=where) from error
        if not isinstance(content, dict):
            raise ComponentError("is not a JSON object", where=where)
        content.setdefault("replicate", 0)
        expected: dict[str, type] = {"subtest": str, "item": str, "replicate": int, "response": str}
        for key, kind in expected.items():
            if type(content.get(key)) is not kind:
                what = "is missing" if key not in content else f"is {content[key]!r}"
                raise ComponentError(
                    f"'{key}' {what}",
                    where=where,
                    allowed="a whole number" if kind is int else "a string",
                )
        if not 0 <= content["replicate"] < MOST_REPLICATES:
            raise ComponentError(
                f"'replicate' is {content['replicate']}",
                where=where,
                allowed=f"0 to {MOST_REPLICATES - 1}",
            )
        recorded = Recorded(
            number,
            str(content.get("administration", "")),
            str(content.get("prompt", "")),
            content["response"],
            str(content.get("status", ResponseStatus.OK.value)),
            _is_sampled(content.get("reply")),
            *_made_by(content, where),
            _reasoning(content.get("reasoning"), where),
        )
        return f"{content['subtest']}/{content['item']}", content["replicate"], recorded


def _replay_options() -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, Field

    class ReplayOptions(BaseModel):
        """Options of ``replay``."""

        model_config = ConfigDict(extra="forbid")
        administration: str | None = Field(
            None, description="uid (or its beginning) of the administration to replay"
        )
        origin: Literal["human", "model"] | None = Field(
            None, description="who made the answers, where the file does not say: human, model"
        )
        participant: str | None = Field(
            None, description="the participant code of the person whose answers they are"
        )

    return ReplayOptions


def _with_draws(
    answers: Mapping[tuple[str, int], Sequence[Recorded]],
) -> dict[tuple[str, int], list[Recorded]]:
    """Return answers, sampled where the file does not say so but answers to one prompt differ."""
    given: dict[tuple[str, str, str], set[str]] = {}
    for (key, _), lines in answers.items():
        for line in lines:
            given.setdefault((line.administration, key, line.prompt), set()).add(line.response)
    drawn = {administration for (administration, *_), texts in given.items() if len(texts) > 1}
    return {
        place: [
            replace(line, sampled=True)
            if line.sampled is None and line.administration in drawn
            else line
            for line in lines
        ]
        for place, lines in answers.items()
    }


def _is_sampled(reply: object) -> bool | None:
    decoding = reply.get("decoding") if isinstance(reply, dict) else None
    temperature = decoding.get("temperature") if isinstance(decoding, dict) else None
    return temperature > 0 if isinstance(temperature, int | float) else None


def _replicates(spec: Spec) -> int:
    path = Path(spec.name or "").expanduser()
    try:
        return int(ReplayModel(path, spec.options.get("administration")).open()["replicates"])
    except ComponentError:
        return 0  # reported when the model is opened


def _replay_made_by(spec: Spec) -> tuple[Origin, str]:
    """Return who made the answers: as the file says, else as the options say."""
    path = Path(spec.name or "").expanduser()
    stated, whose = spec.options.get("origin"), spec.options.get("participant", "")
    try:
        origin, participant = ReplayModel(path, spec.options.get("administration")).made_by()
    except ComponentError:
        # Reported when the model is opened; until then nothing is known.
        return "unknown", whose
    if stated == "model" and (whose or participant or origin == "human"):
        raise UsageError(
            "origin=model: the answers are said to be a person's"
            + (f", {whose or participant}" if whose or participant else ""),
            where=str(path),
        )
    if stated == "human" and origin == "model":
        raise UsageError("origin=human: the file says that a model made them", where=str(path))
    if whose and participant not in ("", whose):
        raise UsageError(
            f"participant={whose}: the file says that the answers are {participant}'s",
            where=str(path),
        )
    if origin == "unknown" and (stated or whose):
        return ("model" if stated == "model" else "human"), participant or whose
    return origin, participant or whose


def _replay(spec: Spec, options: Any) -> ModelBackend:
    assert spec.name is not None
    return ReplayModel(Path(spec.name).expanduser(), options.administration)


REPLAY = Descriptor(
    "replay",
    "Returns the responses of an export, item by item",
    _replay,
    options=_replay_options,
    name_help="FILE|-",
    name_required=True,
    locate=located,
    replicates=_replicates,
    made_by=_replay_made_by,
    remarks="reads what 'tabwb export --format jsonl' writes",
)

"""Answers that were given elsewhere; what their source does not say is None or empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabwb.records.exchange import Message
from tabwb.records.ratings import Rating
from tabwb.records.speakers import Origin
from tabwb.records.states import Protocol, StopReason


@dataclass(frozen=True, slots=True)
class KnownDecoding:
    """The parts of a decoding that a source states; None: not stated."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What the answers of one run have in common. Answers of unlike runs are never put together.

    Attributes:
        id: tells runs of one source apart; empty where the source has one.
        model: who answered, as the source names it; empty of a person.
        origin: who made the answers, or None.
        participant: of a person's answers, the participant code.
        participant_is_own: whether ``participant`` is a code of the source or of its file's name,
            which the user may replace by the study's own; False: it is the study's.
        stated: of a person's answers, what the source says of the participant: columns of the
            record with texts.
        session_date: the day on which they were given, ISO 8601.
        seed: of the whole run.
        conversation: whether earlier answers were in the context.
        part_subtests, part_items, part_limit: what was given of the battery, as in
            :class:`~tabwb.records.conditions.Conditions`.
        tool: the program that wrote the source, with its version and task.
        facts: more of the model and the run (revision, dtype), by name.
        labels: family, tuning and parameters of the model, by name.
        exported: whether tabwb wrote the source; ``model`` is then a spec as a store has it.
        file: the one file that all its answers are from, where the source has several files.
        notes: of the administration, besides those that say where the answers are from.
    """

    id: str = ""
    model: str = ""
    origin: Origin | None = None
    participant: str = ""
    participant_is_own: bool = False
    stated: tuple[tuple[str, str], ...] = ()
    session_date: str = ""
    seed: int | None = None
    decoding: KnownDecoding = KnownDecoding()
    protocol: Protocol = Protocol.GENERATE
    conversation: bool = False
    lesion: str | None = None
    prompt_noise: str | None = None
    part_subtests: tuple[str, ...] = ()
    part_items: tuple[str, ...] = ()
    part_limit: int | None = None
    tool: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    exported: bool = False
    file: str = ""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer to one presentation of one item.

    Attributes:
        where: its place, for messages: ``FILE:LINE``, or the file and the sample.
        text: the answer, unaltered; None where there is none.
        reasoning: what the model wrote in its thinking, where the source has it apart from the
            text. Tags of thinking in the text are read in any case.
        closing: what ends thinking in the text, where the source says so: what stands before it is
            reasoning.
        run: to which it belongs.
        subtest, item: ids in the battery, or what the source calls the item.
        prompt: the user's message, exactly as it was sent.
        question: the item's own text, where the source has it besides the prompt.
        replicate: the source's number; None where it does not count.
        decoding: how this answer was drawn.
        given_at: when, ISO 8601.
        prompt_tokens, reply_tokens: as counted by the source.
        ratings: that the source has, by raters that the file of answers declares.
    """

    where: str
    text: str | None
    run: RecordedRun = RecordedRun()
    subtest: str = ""
    item: str = ""
    prompt: str = ""
    question: str = ""
    messages: tuple[Message, ...] = ()
    options: tuple[str, ...] = ()
    replicate: int | None = None
    decoding: KnownDecoding = KnownDecoding()
    stop_reason: StopReason = StopReason.END
    latency_s: float | None = None
    given_at: str = ""
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    error: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    ratings: tuple[Rating, ...] = ()
    reasoning: str = ""
    closing: str = ""

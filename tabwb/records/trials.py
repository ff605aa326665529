"""Administrations, trials and attempts, as they are planned, stored and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tabwb.records.exchange import Decoding, Message
from tabwb.records.ratings import Rating
from tabwb.records.speakers import Origin
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    Protocol,
    ResponseStatus,
    StopReason,
    TrialState,
)

ExamineeKind = Literal["model", "speaker"]
OptionOrder = Literal["as-given", "shuffled", "rotated"]
ItemOrder = Literal["as-given", "shuffled"]
TokenLimits = Literal["battery", "run", "smaller"]


RECORDED = "replay:"
"""Begins the spec of the model that reads recorded answers."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that fixes how a battery is given; a change of it is another administration.

    Attributes:
        examinee: a model's spec or a speaker's study id.
        kind: ``model`` or ``speaker``.
        seed: of item order, option order and sampling; each reply's own seed is derived from it
            (:mod:`tabwb.records.seeds`).
        replicates: how often each item is given.
        protocol: how answers are obtained.
        decoding: how text is drawn (models only).
        conversation: keep one context over all items instead of a fresh one for each.
        item_order, option_order: see their types. Rotated: one trial per rotation of the options.
        token_limits: which limit a reply has. ``battery``: the subtest's own, else
            ``decoding.max_tokens``. ``run``: ``decoding.max_tokens``. ``smaller``: the smaller of
            both, as in administrations of earlier versions.
        judges: specs of the raters to run on each response, besides the subtests' scorers.
        research_protocol: names the protocol under which a model-only battery is given to a person.
        lesion: spec of the lesion applied to the model, or None.
        labels: what the user's profile says of the model (``family``, ``tuning``, ``parameters``).
        transcriber: spec of what hears spoken answers, or None.
        rater: who scores spoken answers by ear: a study ID, or empty.
        origin: of an import, or of recorded answers that are replayed, who made the answers; None
            where they were given here.
        participant: of a person's recorded answers that are replayed, the person's study ID.
        session_date: the day on which the answers were given, ``2024-03-09``; empty where it is not
            known; None for answers given here, which are of the day of the administration.
    """

    examinee: str
    kind: ExamineeKind
    seed: int = 1
    replicates: int = 1
    protocol: Protocol = Protocol.GENERATE
    decoding: Decoding = field(default_factory=Decoding)
    conversation: bool = False
    item_order: ItemOrder = "as-given"
    option_order: OptionOrder = "as-given"
    judges: tuple[str, ...] = ("rules-2",)
    research_protocol: str | None = None
    lesion: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    transcriber: str | None = None
    rater: str = ""
    origin: Origin | None = None
    session_date: str | None = None
    token_limits: TokenLimits = "battery"
    participant: str = ""

    @property
    def drawn(self) -> str:
        """How a model's answers were drawn, in words; recorded answers were not drawn here.

        >>> sampled = Decoding(temperature=0.7, top_p=0.9)
        >>> Conditions("bundled", "model", decoding=sampled).drawn
        'temperature 0.7, top-p 0.9'
        >>> Conditions("bundled", "model").drawn, Conditions("replay:answers.jsonl", "model").drawn
        ('greedy', 'recorded answers')
        """
        if self.examinee.startswith(RECORDED):
            return "recorded answers"
        if self.decoding.greedy:
            return "greedy"
        nucleus = f", top-p {self.decoding.top_p:g}" if self.decoding.top_p != 1 else ""
        return f"temperature {self.decoding.temperature:g}{nucleus}"

    @property
    def made_by(self) -> Origin:
        """Who made the answers: of an import as it says, else what the examinee is.

        >>> Conditions("S-014", "speaker").made_by, Conditions("echo", "model").made_by
        ('human', 'model')
        >>> Conditions("somebody", "speaker", origin="unknown").made_by
        'unknown'
        """
        return self.origin or ("model" if self.kind == "model" else "human")

    @property
    def person(self) -> str:
        """Whose consents count where the answers are guarded: a study ID, if one is known.

        >>> Conditions("replay:a.jsonl", "model", origin="human", participant="S-014").person
        'S-014'
        """
        return self.participant or self.examinee

    @property
    def study_id(self) -> str | None:
        """The study ID of whoever made the answers; None of a model, and where it is not known.

        >>> Conditions("S-014", "speaker").study_id
        'S-014'
        """
        return self.participant or (self.examinee if self.kind == "speaker" else None)

    @property
    def guarded(self) -> bool:
        """Whether the answers are, or may be, a person's: then consents are asked for.

        >>> Conditions("somebody", "model", origin="unknown").guarded
        True
        """
        return self.made_by != "model"


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One presentation of one item, fixed before the first prompt goes out.

    Attributes:
        number: 1-based place in the administration.
        subtest, item: ids in the battery.
        replicate: 0-based.
        options: the options in the order shown.
        prompt: exactly what the user message will say.
        practice: given for practice; never scored into a summary.
    """

    number: int
    subtest: str
    item: str
    replicate: int
    options: tuple[str, ...]
    prompt: str
    practice: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came back once. None is overwritten; of several the last one in state ``ok`` counts.

    Attributes:
        number: 1-based within the trial.
        response: the text; empty when in error.
        state: whether it can count.
        status: what kind of text it is, or None when in error.
        stop_reason: why the examinee stopped.
        latency_s: seconds from prompt to end (of a spoken answer: from picture to onset), or None
            where unknown.
        messages: the exact messages sent (empty for a person).
        error: the message of a failure, or empty.
        metadata: plain strings (revision, dtype, token counts).
        recorded_at: UTC, ISO 8601.
    """

    number: int
    response: str
    state: AttemptState
    status: ResponseStatus | None
    stop_reason: StopReason
    latency_s: float | None
    messages: tuple[Message, ...] = ()
    error: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    recorded_at: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A planned trial with what has happened to it so far.

    ``ratings`` are those of the attempt that counts; ``observations`` what was seen and heard of a
    person and not taken back, in order, as JSON (:mod:`tabwb.records.naming`).
    """

    plan: PlannedTrial
    state: TrialState = TrialState.PLANNED
    attempts: tuple[Attempt, ...] = ()
    ratings: tuple[Rating, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()

    @property
    def counting(self) -> Attempt | None:
        """The attempt that counts: the last one in state ok, or None."""
        for attempt in reversed(self.attempts):
            if attempt.state is AttemptState.OK:
                return attempt
        return None


@dataclass(frozen=True, slots=True)
class Administration:
    """One battery given to one examinee under stated conditions.

    Attributes:
        id: small integer, unique in the store, for people.
        uid: UUIDv7, for exports.
        status: derived from events.
        battery, battery_version, battery_hash, battery_title: what is given.
        conditions: how.
        created_at: UTC, ISO 8601.
        planned, answered: numbers of trials (practice not counted).
        versions: package versions at creation (``tabwb``, ``python``, ``torch`` ...).
        reason: why it was discontinued, or empty.
        interrupted: its status is *running*, and no session holds it: the process that gave it was
            killed. It can be resumed. Seen when it is read, never stored.
    """

    id: int
    uid: str
    status: AdministrationStatus
    battery: str
    battery_version: str
    battery_hash: str
    battery_title: str
    conditions: Conditions
    created_at: str
    planned: int
    answered: int
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    interrupted: bool = False

    @property
    def status_word(self) -> str:
        """Its status for people: *interrupted* where it only seems to run."""
        return "interrupted" if self.interrupted else self.status.value

    @property
    def session_date(self) -> str:
        """The day on which the answers were given, ISO 8601; empty where it is not known."""
        said = self.conditions.session_date
        return self.created_at[:10] if said is None else said

    @property
    def given_at(self) -> str:
        """When the answers were given, for lists: day and minute (UTC), or the day alone."""
        if self.conditions.session_date is None:
            return self.created_at[:16].replace("T", " ")
        return self.session_date or "date not known"

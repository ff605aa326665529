"""The conditions under which a battery is given to an examinee.

Each is declared in :mod:`tabwb.records.declared_conditions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol

if TYPE_CHECKING:
    from tabwb.records.speakers import Origin

ExamineeKind = Literal["model", "speaker"]
OptionOrder = Literal["as-given", "shuffled", "rotated"]
ItemOrder = Literal["as-given", "shuffled"]
TokenLimits = Literal["battery", "run", "smaller"]

IMPORTED = "imported:"
"""Begins the spec of a model whose answers were imported and that no back end here can ask."""
RECORDED = "replay:"
"""Begins the spec of the model that reads recorded answers."""
FUNCTION = "python:"
"""Begins the spec of a function that was given from Python."""
PARENT, DOSE, DOSE_NAME = "parent", "dose", "dose_name"
"""Labels of a checkpoint: the model that it comes from, how far it is from it, and in what."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Everything that fixes how a battery is given; a change of it is another administration.

    Attributes:
        examinee: a model's spec or a speaker's study id.
        kind: ``model`` or ``speaker``.
        seed: of item order, option order and sampling; each reply's own seed is derived from it
            (:mod:`tabwb.records.specs`).
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
        prompt_noise: spec of the perturbation of the items' texts, or None (models only).
        system_message: sent to the model in place of the battery's system message, ``none`` for no
            message; None: the battery's.
        labels: what the user's profile says of the model (``family``, ``tuning``, ``parameters``),
            and its name (``profile``); of a checkpoint also its ``parent``, ``dose``
            and ``dose_name``.
        transcriber: spec of what hears spoken answers, or None.
        rater: who scores spoken answers by ear: a study ID, or empty.
        origin: of an import, or of recorded answers that are replayed, who made the answers; None
            where they were given here.
        part_subtests, part_items: ids of what is given of the battery; empty: everything. An item
            is named by its id, or as ``SUBTEST/ITEM``.
        part_limit: of each subtest only so many of its first items are given; None: all.
        participant: of a person's recorded answers that are replayed, the person's study ID.
        unknown: ids of conditions that the source of imported answers does not state, or that a
            function in Python does not get; their fields have the defaults.
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
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    transcriber: str | None = None
    rater: str = ""
    origin: Origin | None = None
    session_date: str | None = None
    token_limits: TokenLimits = "battery"
    participant: str = ""
    part_subtests: tuple[str, ...] = ()
    part_items: tuple[str, ...] = ()
    part_limit: int | None = None
    unknown: tuple[str, ...] = ()
    prompt_noise: str | None = None
    system_message: str | None = None

    @property
    def drawn(self) -> str:
        """How a model's answers were drawn, in words; recorded answers were not drawn here.

        >>> sampled = Decoding(temperature=0.7, top_p=0.9)
        >>> Conditions("bundled", "model", decoding=sampled).drawn
        'temperature 0.7, top-p 0.9'
        >>> Conditions("bundled", "model").drawn, Conditions("replay:answers.jsonl", "model").drawn
        ('greedy', 'recorded answers')
        >>> Conditions("python:f", "model", unknown=("temperature", "top_p")).drawn
        'decoding not known'
        """
        if "temperature" in self.unknown and self.examinee.startswith(FUNCTION):
            return "decoding not known"
        if self.examinee.startswith(RECORDED) or "temperature" in self.unknown:
            return "recorded answers"
        if self.decoding.greedy:
            return "greedy"
        nucleus = f", top-p {self.decoding.top_p:g}" if self.decoding.top_p != 1 else ""
        return f"temperature {self.decoding.temperature:g}{nucleus}"

    @property
    def is_part(self) -> bool:
        """Whether only a part of the battery is given."""
        return bool(self.part_subtests or self.part_items) or self.part_limit is not None

    @property
    def part(self) -> str:
        """What is given of the battery, in words.

        >>> Conditions("echo", "model").part
        'whole battery'
        >>> Conditions("echo", "model", part_subtests=("naming",), part_limit=3).part
        'part: naming, 3 of each subtest'
        """
        first = [] if self.part_limit is None else [f"{self.part_limit} of each subtest"]
        named = (*self.part_subtests, *self.part_items, *first)
        return f"part: {', '.join(named)}" if self.is_part else "whole battery"

    @property
    def is_imported(self) -> bool:
        """Whether the answers are a model's that were imported: no model here is to be asked.

        >>> Conditions("imported:openai/gpt-4o", "model", origin="model").is_imported
        True
        """
        if self.kind != "model" or self.examinee.startswith(RECORDED):
            return False
        return self.origin == "model" or self.examinee.startswith(IMPORTED)

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

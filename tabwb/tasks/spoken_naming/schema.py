"""Pydantic models of the keys of a battery file that naming subtests and their items have."""

from __future__ import annotations

from pydantic import Field

from tabwb.battery.toml_tables import Id, Table, Text, one_of
from tabwb.scoring.naming.target import Number, Rule
from tabwb.tasks.spoken_naming.task import Feedback, ResponseRule, Reveal


class AcceptTable(Table):
    """One pronunciation that is right."""

    phonemes: Text = Field(description="ARPAbet ('D AO G') or IPA ('dɔɡ').")
    reason: Text = Field(description="Why it is accepted: 'citation', 'dialect', 'other name' ...")
    word: Text | None = Field(
        None, description="The word that it pronounces, where that is not the target."
    )


class CueTable(Table):
    """A cue that the administrator may give."""

    kind: Id = Field(description="The kind of cue: 'stimulus', 'phonemic' ...")
    text: Text = Field(description="The text said or shown to the speaker.")
    when: str = Field("", description="When to give it, for the administrator.")
    counts: bool = Field(False, description="Whether a right answer after it counts as right.")


class ToleranceTable(Table):
    """The allowed distance from an accepted pronunciation: 'slips' or 'share'."""

    model_config = one_of("slips", "share")

    slips: int | None = Field(
        None,
        ge=1,
        le=10,
        description="At most this number of phonemes deleted, inserted or substituted.",
    )
    share: float | None = Field(
        None,
        ge=0.01,
        le=1,
        description="At least this share of the accepted form's phonemes, in order.",
    )
    reason: str = Field("", description="The reason, for people.")


class DiscontinueTable(Table):
    """When the subtest may be ended early."""

    after: int = Field(ge=1, le=1000, description="The number of errors in a row.")
    counts_cued: bool = Field(
        False,
        description="Whether an item that was right only after a cue that does not count is one "
        "of those errors; otherwise it ends the row.",
    )


class NamingItemKeys(Table):
    """The keys of a naming item."""

    target: Text | None = Field(None, description="Naming: the word.")
    accept: list[AcceptTable] = Field(
        [], description="Naming: the pronunciations that are right, the usual one first."
    )
    semantic: list[Text] = Field([], description="Naming: words of related meaning.")
    visual: list[Text] = Field(
        [], description="Naming: names of things that look like the picture."
    )
    parts: list[Text] = Field([], description="Naming: words for parts of the picture.")
    unrelated: list[Text] = Field([], description="Naming: words unrelated to the target.")
    cues: list[CueTable] = Field(
        [], description="Naming: the item's own cues, instead of the subtest's."
    )


class NamingSubtestKeys(Table):
    """The keys of a naming subtest: its rules."""

    rule: Rule = Field("correct-any", description="Naming: the rule that decides what is right.")
    time_limit: float | None = Field(
        None, ge=0.1, le=3600, description="Naming: seconds from the picture to speech."
    )
    late_counts: bool = Field(
        False, description="Naming: whether a right answer after the limit counts as right."
    )
    tolerance: ToleranceTable | None = Field(
        None, description="Naming: the distance from an accepted pronunciation that is still right."
    )
    number: Number = Field(
        "ignored", description="Naming: whether the name in another number is right."
    )
    cues: list[CueTable] = Field(
        [], description="Naming: cues, in the order in which they may be given."
    )
    discontinue: DiscontinueTable | None = Field(
        None, description="Naming: when the subtest may be ended early."
    )
    start_item: str = Field("", description="Naming: id of the item to begin with.")
    basal: int = Field(
        0,
        ge=0,
        le=1000,
        description="Naming: the number of right responses in a row from start_item on; "
        "otherwise earlier items are given, backwards, until that number is right; 0: never.",
    )
    feedback: Feedback = Field(
        "none", description="Naming: what the administrator may say of a response."
    )
    response_rule: ResponseRule = Field(
        "first-response",
        description="Naming: which speech is the response: what comes before the administrator "
        "speaks again, or everything until the next picture.",
    )
    reveal: Reveal = Field(
        "after-score", description="Naming: when the rater sees the machine's verdict."
    )
    rule_sources: dict[str, Text] = Field(
        {}, description="Naming: the source of each rule; a rule that is not named is 'ours'."
    )

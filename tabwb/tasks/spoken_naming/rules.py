"""Naming items and the rules of a naming subtest, as frozen plain data.

The rules change scores, so they are part of the battery's content and of its hash. What a rule does
is said in docs/naming-rules.md; it is done by :mod:`tabwb.scoring.naming`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tabwb.records.classes import dataclass, field, fields
from tabwb.scoring.naming.target import NamingTarget, Number, Rule, Tolerance

ResponseRule = Literal["first-response", "whole-window"]
Feedback = Literal["none", "neutral", "right-or-wrong"]
Reveal = Literal["after-score", "live"]

ITEM_KEYS = ("picture", "target", "accept", "semantic", "visual", "parts", "unrelated", "cues")
"""Keys of a naming item; they are in :attr:`tabwb.battery.model.Item.extra`."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue that the administrator may give.

    Attributes:
        kind: the battery's word for it (``stimulus``, ``phonemic``).
        text: what is said, or shown, to the speaker.
        when: when it is given, in words for the administrator; may be empty.
        counts: whether a right answer after it counts as right (BNT: stimulus yes, phonemic no).
    """

    kind: str
    text: str
    when: str = ""
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Discontinue:
    """When a subtest may be ended early.

    Attributes:
        after: so many errors in a row, practice not counted.
        counts_cued: whether an item that was right only after a cue that does not count is one of
            those errors (true, the rigorous reading of the BNT's rule) or ends the row (false, the
            lenient one; Ferman, Ivnik and Lucas 1998).
    """

    after: int
    counts_cued: bool = False


@dataclass(frozen=True, slots=True)
class NamingRules:
    """The rules of a naming subtest; a default is ours unless ``sources`` says otherwise.

    Attributes:
        rule: which correctness decides; the other is computed too and shown beside it.
        time_limit: seconds from the picture to the onset of speech, or None.
        late_counts: whether a right answer after the limit counts as right.
        tolerance: how far from an accepted form is still right; None: equality.
        number: whether the name in another number ("cats" for *cat*) is right (``ignored``) or
            another ending (``scored``).
        cues: helps in the order in which they may be given; an item's own take their place.
        discontinue: when the subtest may be ended early, or None.
        start_item: id of the item to begin with, or empty for the first.
        basal: from ``start_item`` on so many must be right in a row, else earlier items are given,
            backwards, until so many are; 0: never go back.
        feedback: what the administrator may say of a response.
        response_rule: which speech is the response: what comes before the administrator speaks
            again (``first-response``), or everything until the next picture (``whole-window``).
        reveal: when the machine's verdict and transcript are shown to who scores.
        sources: rule to where it is from (a section, a manual); a rule not named is ours.
    """

    rule: Rule = "correct-any"
    time_limit: float | None = None
    late_counts: bool = False
    tolerance: Tolerance | None = None
    number: Number = "ignored"
    cues: tuple[Cue, ...] = ()
    discontinue: Discontinue | None = None
    start_item: str = ""
    basal: int = 0
    feedback: Feedback = "none"
    response_rule: ResponseRule = "first-response"
    reveal: Reveal = "after-score"
    sources: Mapping[str, str] = field(default_factory=dict)


RULE_KEYS = tuple(field.name for field in fields(NamingRules) if field.name != "sources")
"""Keys of a ``[[subtest]]`` that are rules of naming, in the order they are shown in."""
SOURCES_KEY = "rule_sources"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingItem(NamingTarget):
    """An item that is answered aloud: a picture to be named, or something to be described.

    Attributes:
        id: of the item.
        picture: path of the picture within the battery's folder, a key of ``Battery.assets``; or
            empty.
        prompt: a question, or empty.
        cues: the item's own helps; where there are none the subtest's are given.
        practice: given first, never counted.
    """

    id: str
    picture: str
    prompt: str = ""
    cues: tuple[Cue, ...] = ()
    practice: bool = False

    @property
    def coded(self) -> bool:
        """Whether there is a name to compare the response with."""
        return bool(self.target)

    @property
    def name(self) -> str:
        """What the item is called in lists."""
        return self.target or self.id


def naming_rules(table: Mapping[str, Any]) -> NamingRules:
    """Return the naming rules of a subtest's table; wrong types and missing keys get defaults."""
    given = {key: table[key] for key in RULE_KEYS if key in table}
    if "tolerance" in given:
        given["tolerance"] = Tolerance(**given["tolerance"])
    if "discontinue" in given:
        given["discontinue"] = Discontinue(**given["discontinue"])
    given["cues"] = cues_in(table)
    return NamingRules(**given, sources=dict(table.get(SOURCES_KEY, {})))


def cues_of(rules: NamingRules, item: NamingItem) -> tuple[Cue, ...]:
    """Return the helps for an item: its own where it has some, else those of its subtest.

    >>> rules = NamingRules(cues=(Cue("semantic", "You sleep in it."),))
    >>> own = (Cue("phonemic", "It begins with d.", counts=False),)
    >>> item = NamingItem(id="dog", picture="dog.png", target="dog", accept=(), cues=own)
    >>> [cue.kind for cue in cues_of(rules, item)]
    ['phonemic']
    """
    return item.cues or rules.cues


def cues_in(table: Mapping[str, Any]) -> tuple[Cue, ...]:
    """Return the helps that the table of a subtest or an item lists."""
    return tuple(Cue(**cue) for cue in table.get("cues", ()))

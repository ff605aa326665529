"""The task type ``naming``: a picture is named aloud, and a listener scores and codes it.

Items and rules are frozen plain data. The rules change scores, so they are part of the battery's
content and of its hash. What a rule does is said in docs/naming-rules.md; it is done by
:mod:`tabwb.scoring.naming`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from tabwb.battery.task_type import TaskType, picture_problems
from tabwb.plugin_api import RegisterTask, hookimpl
from tabwb.records.errors import TabwbError
from tabwb.records.languages import is_english, primary_language
from tabwb.records.problems import Broken, KeyPath, shortened
from tabwb.records.states import ResponseKind
from tabwb.records.words import near
from tabwb.scoring.naming.target import NamingTarget, Number, Rule, Tolerance
from tabwb.scoring.text import fold_case

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.battery.model import Item, Subtest
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy


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


def _check(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    if subtest.get("scorers"):
        problem = "a naming subtest is scored by its own rules"
        yield Broken((*path, "scorers"), problem, "", "none")
    if subtest.get("late_counts") and subtest.get("time_limit") is None:
        problem = "without a time limit no answer is late"
        yield Broken((*path, "late_counts"), problem, "true", "time_limit, in seconds")
    tolerance = subtest.get("tolerance")
    if tolerance is not None and ("slips" in tolerance) == ("share" in tolerance):
        problem = "exactly one of 'slips' and 'share' is needed"
        yield Broken((*path, "tolerance"), problem, "", "slips or share")
    yield from _start(path, subtest)
    for key in subtest.get(SOURCES_KEY, {}):
        if key not in RULE_KEYS:
            where = (*path, SOURCES_KEY, key)
            yield Broken(where, "no such rule", "", ", ".join(RULE_KEYS), near(key, RULE_KEYS))
    slips = (tolerance or {}).get("slips")
    language = subtest.get("battery", {}).get("language", "en")
    for index, item in enumerate(subtest["item"]):
        where = (*path, "item", index)
        yield from picture_problems(where, item)
        yield from _accepted(where, item, slips, language)
        for key in ("semantic", "visual", "parts", "unrelated"):
            yield from _neighbours((*where, key), item, item.get(key, ()))


def _start(path: KeyPath, subtest: Mapping[str, Any]) -> Iterator[Broken]:
    counted = [item["id"] for item in subtest["item"] if not item.get("practice")]
    start, basal = subtest.get("start_item", ""), subtest.get("basal", 0)
    if start and start not in counted:
        problem = "there is no such item that counts"
        where = (*path, "start_item")
        yield Broken(where, problem, shortened(start), ", ".join(counted), near(start, counted))
    elif basal and not start:
        problem = "there is no item to go back from"
        yield Broken((*path, "basal"), problem, str(basal), "start_item, the id of an item")
    elif basal:
        left = len(counted) - counted.index(start)
        if basal > left:
            problem = f"there are only {left} items from the start item on"
            yield Broken((*path, "basal"), problem, str(basal), f"up to {left}")


def _accepted(
    path: KeyPath, item: Mapping[str, Any], slips: int | None, language: str
) -> Iterator[Broken]:
    from tabwb.phonology.inventory import Beyond, parse_pronunciation  # the phonology is large

    english = is_english(language)
    if english and not item.get("accept"):
        wrong = "this is empty" if "accept" in item else "this key is missing (response 'naming')"
        value = shortened(item["accept"]) if "accept" in item else ""
        yield Broken((*path, "accept"), wrong, value, "at least one")
    seen: dict[tuple[str, ...], int] = {}
    for index, form in enumerate(item.get("accept", ())):
        where = (*path, "accept", index, "phonemes")
        try:
            beyond: Beyond = "keep" if english else "exact"
            phonemes = parse_pronunciation(form["phonemes"], beyond=beyond)
        except TabwbError as error:
            if not english:
                yield _no_inventory(where, error.message, form["phonemes"], language)
                continue
            hint = (error.hint or "").removeprefix("did you mean '").removesuffix("'?")
            yield Broken(
                where, error.message, shortened(form["phonemes"]), error.allowed or "", hint
            )
            continue
        if phonemes in seen:
            problem = f"this pronunciation is given twice (first in number {seen[phonemes] + 1})"
            yield Broken(where, problem, shortened(form["phonemes"]))
        seen.setdefault(phonemes, index)
        if slips is not None and len(phonemes) <= slips:
            problem = f"with {slips} slips tolerated anything would equal this"
            yield Broken(where, problem, shortened(form["phonemes"]), f"more than {slips} phonemes")


def _no_inventory(path: KeyPath, message: str, phonemes: str, language: str) -> Broken:
    problem = f"{message}: there is none of {primary_language(language)}, only that of English"
    allowed = "no 'accept': listeners score by ear, and the target as heard is right"
    return Broken(path, problem, shortened(phonemes), allowed)


def _neighbours(path: KeyPath, item: Mapping[str, Any], words: Sequence[str]) -> Iterator[Broken]:
    right = {fold_case(form["word"]) for form in item.get("accept", ()) if form.get("word")}
    right |= {fold_case(item["target"])} if item.get("target") else set()
    seen: set[str] = set()
    for index, word in enumerate(words):
        folded = fold_case(word)
        problems = []
        if folded != folded.strip():
            problems.append("leading or trailing white space: no word heard could equal this")
        if folded in right:
            problems.append("this word is accepted, so it cannot be listed as related")
        elif folded in seen:
            problems.append("this word is given twice")
        for problem in problems:
            yield Broken((*path, index), problem, shortened(word))
        seen.add(folded)


def _tables() -> tuple[type[Any], type[Any]]:
    from tabwb.tasks.spoken_naming.schema import NamingItemKeys, NamingSubtestKeys  # pydantic

    return NamingSubtestKeys, NamingItemKeys


def _rule_lines(subtest: Subtest) -> list[str]:
    from tabwb.tasks.spoken_naming.items import rule_lines

    return rule_lines(subtest)


def _item_lines(item: Item) -> list[str]:
    from tabwb.tasks.spoken_naming.items import item_lines

    return item_lines(item)


def _read_item(item: Item) -> NamingItem:
    from tabwb.tasks.spoken_naming.items import naming_item

    return naming_item(item)


def _new_battery(folder: Path, battery_id: str, items: Path | None) -> Path:
    from tabwb.tasks.spoken_naming.new import new_naming_battery

    return new_naming_battery(folder, battery_id, items)


def strategy_of(session: Session) -> SpokenStrategy:
    """Return how a session gives items that are answered aloud."""
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy  # loads the phonology

    return SpokenStrategy(session)


def spoken_in(session: Session) -> SpokenStrategy:
    """Return the commands of a session for items that are answered aloud."""
    return cast("SpokenStrategy", session.spoken)


NAMING = TaskType(
    kind=ResponseKind.SPOKEN_NAMING,
    asks_for="the name of the picture",
    instructions="Tell me the name of each picture with one word.",
    needs=("target",),
    takes=("prompt", *ITEM_KEYS),
    rules=(*RULE_KEYS, SOURCES_KEY),
    read=naming_rules,
    tables=_tables,
    instead={"expected": "target and accept"},
    check=_check,
    typed=False,
    spoken=True,
    judged="never",
    coded=True,
    strategy=strategy_of,
    rule_lines=_rule_lines,
    item_lines=_item_lines,
    read_item=_read_item,
    new_battery=_new_battery,
)


@hookimpl
def tabwb_register_tasks(register: RegisterTask) -> None:
    """Register naming."""
    register(NAMING)

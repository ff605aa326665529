"""From matched answers to administrations: who answered, conditions, trials, what was left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast

from tabwb.administer.session.exchange import token_limit
from tabwb.administer.session.plan import given_items
from tabwb.administer.session.setup import check_raters
from tabwb.battery.loader import NamedFiles, battery_from_canonical, canonical_json
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.problems import Problem
from tabwb.battery.prompts import render_prompt
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, AnswerProblems
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.conditions import IMPORTED, Conditions, ExamineeKind, OptionOrder
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.speakers import Origin, check_id
from tabwb.records.specs import parse_spec
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import near, plural
from tabwb.scoring.text import fold_case

How = Literal["id", "id alone", "prompt", "prompt within the text"]
"""How an item was found. ``id alone``: the text that was sent is not the item's."""
SHORTEST = 10
"""A prompt with fewer characters is not looked for within a longer text."""


@dataclass(frozen=True, slots=True)
class Match:
    """An answer with its item."""

    answer: RecordedAnswer
    subtest: Subtest
    item: Item
    how: How


@dataclass(frozen=True, slots=True)
class Unmatched:
    """An answer to no item of the battery.

    Attributes:
        column: the field that names no item.
        message: what is wrong with it.
        value: of the field.
        allowed: what it may be.
        suggestion: a near match, or empty.
    """

    answer: RecordedAnswer
    column: str
    message: str
    value: str
    allowed: str = ""
    suggestion: str = ""


class ItemIndex:
    """The items of a battery by id and prompt."""

    def __init__(self, battery: Battery) -> None:
        self._battery = battery
        self._places = [(subtest, item) for subtest in battery.subtests for item in subtest.items]
        self._by_key = {(subtest.id, item.id): (subtest, item) for subtest, item in self._places}
        self._by_item: dict[str, list[tuple[Subtest, Item]]] = {}
        self._by_prompt: dict[str, list[tuple[Subtest, Item]]] = {}
        for subtest, item in self._places:
            self._by_item.setdefault(item.id, []).append((subtest, item))
            if not item.prompt:
                continue
            for text in {_folded(item.prompt), _folded(render_prompt(subtest, item))}:
                self._by_prompt.setdefault(text, []).append((subtest, item))
        self._within: dict[str, list[tuple[Subtest, Item]]] = {}

    def match(self, answer: RecordedAnswer) -> Match | Unmatched:
        """Return the answer with its item.

        An id counts before a prompt. An id without a subtest is checked against the text that was
        sent: where that is another item's, the text counts.
        """
        if answer.subtest and answer.item:
            return self._keyed(answer, answer.subtest, answer.item)
        if answer.item:
            by_id = self._named(answer)
            if isinstance(by_id, Match):
                return self._checked(by_id)
            by_text = self._of_text(answer)
            return by_text if isinstance(by_text, Match) else by_id
        if answer.prompt or answer.question:
            return self._of_text(answer)
        return Unmatched(answer, "item", "this is empty", "", "an id of an item")

    def _keyed(self, answer: RecordedAnswer, subtest: str, item: str) -> Match | Unmatched:
        found = self._by_key.get((subtest, item))
        if found is not None:
            return Match(answer, *found, "id")
        subtests = [known.id for known in self._battery.subtests]
        if subtest not in subtests:
            return Unmatched(
                answer,
                "subtest",
                f"'{self._battery.id}' has no such subtest",
                _shortened(subtest),
                ", ".join(subtests),
                near(_shortened(subtest), subtests),
            )
        items = [known.id for known in self._battery.subtest(subtest).items]
        return self._no_item(answer, item, items, f"'{subtest}' has no such item")

    def _named(self, answer: RecordedAnswer) -> Match | Unmatched:
        for sign in "/.":
            subtest, _, item = answer.item.partition(sign)
            if (subtest, item) in self._by_key:
                return Match(answer, *self._by_key[subtest, item], "id")
        found = self._by_item.get(answer.item, [])
        if len(found) == 1:
            return Match(answer, *found[0], "id")
        if found:
            keys = ", ".join(f"{subtest.id}/{item.id}" for subtest, item in found)
            return Unmatched(
                answer, "item", "several subtests have an item of this id", found[0][1].id, keys
            )
        return self._no_item(
            answer, answer.item, list(self._by_item), f"'{self._battery.id}' has no such item"
        )

    def _no_item(
        self, answer: RecordedAnswer, item: str, items: Sequence[str], message: str
    ) -> Unmatched:
        allowed = ", ".join(items[:12]) + (", …" if len(items) > 12 else "")
        shown = _shortened(item)
        return Unmatched(answer, "item", message, shown, allowed, near(shown, items))

    def _checked(self, match: Match) -> Match:
        """Return a match by id, or by the text where that is another item's."""
        answer = match.answer
        if not answer.prompt and not answer.question:
            return match
        by_text = self._of_text(answer)
        if isinstance(by_text, Unmatched):
            is_own = _folded(match.item.prompt) in _folded(answer.prompt) and match.item.prompt
            return match if is_own else Match(answer, match.subtest, match.item, "id alone")
        return match if by_text.item is match.item else by_text

    def _of_text(self, answer: RecordedAnswer) -> Match | Unmatched:
        texts = [text for text in (answer.question, answer.prompt) if text]
        for text in texts:
            found = self._by_prompt.get(_folded(text), [])
            if len(found) == 1:
                return Match(answer, *found[0], "prompt")
        found = []
        for text in texts:
            found = self._inside(text)
            if len(found) == 1:
                return Match(answer, *found[0], "prompt within the text")
        shown = _shortened(texts[-1] if texts else "")
        if found:
            keys = ", ".join(f"{subtest.id}/{item.id}" for subtest, item in found[:6])
            return Unmatched(
                answer, "prompt", f"the prompts of several items are in it ({keys})", shown
            )
        return Unmatched(
            answer,
            "prompt",
            f"no item of '{self._battery.id}' has this prompt",
            shown,
            "the prompt of an item, whole or within a longer text",
        )

    def _inside(self, text: str) -> list[tuple[Subtest, Item]]:
        """Return the items whose prompts are in a text; not those that are parts of another."""
        folded = _folded(text)
        if folded not in self._within:
            inside: dict[str, list[tuple[Subtest, Item]]] = {}
            for subtest, item in self._places:
                prompt = _folded(item.prompt)
                if len(prompt) >= SHORTEST and _contains(folded, prompt):
                    inside.setdefault(prompt, []).append((subtest, item))
            self._within[folded] = [
                place
                for prompt, places in inside.items()
                if not any(prompt != other and prompt in other for other in inside)
                for place in places
            ]
        return self._within[folded]


def options_shown(match: Match) -> tuple[str, ...]:
    """Return the options of an item in the order in which they were shown.

    The source says it, or the text that was sent has them behind the item's prompt; otherwise it is
    the battery's order.
    """
    options, answer = match.item.options, match.answer
    if len(answer.options) == len(options) and sorted(answer.options) == sorted(options):
        return answer.options
    text, prompt = _folded(answer.prompt), _folded(match.item.prompt)
    if len(options) < 2 or not prompt or prompt not in text:
        return options
    behind = text.partition(prompt)[2]
    places = [_position(behind, _folded(option)) for option in options]
    if min(places) < 0 or len(set(places)) < len(places):
        return options
    return tuple(option for _, option in sorted(zip(places, options, strict=True)))


def _position(text: str, word: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return -1 if found is None else found.start()


def _shortened(text: str, most: int = 60) -> str:
    shown = " ".join(text[: 4 * most].split())
    return shown if len(shown) <= most and len(text) <= 4 * most else shown[: most - 1] + "…"


def _folded(text: str) -> str:
    return " ".join(fold_case(text).split())


def _contains(text: str, part: str) -> bool:
    return part in text and _position(text, part) >= 0


SUBTEST = "texts"
MADE = "texts-"
"""Begins the id of a battery that is made of texts."""
NO_PROMPT = "(The prompt is not known.)"
LONGEST_ID = 40


def with_battery(source: AnswerFile, features_of: Battery) -> tuple[AnswerFile, Battery]:
    """Return texts with the items they answer, and the battery that has these items.

    There is one item for each distinct prompt, and one for all texts whose prompt is not known.
    Equal prompts in equal languages make the same battery, so that texts from several files can
    be compared.
    """
    ids = _ids({_prompt(answer) for answer in source.answers})
    answers = tuple(
        replace(answer, subtest=SUBTEST, item=ids[_prompt(answer)], replicate=None)
        for answer in source.answers
    )
    return replace(source, answers=answers), _battery(source, ids, features_of)


def _prompt(answer: RecordedAnswer) -> str:
    return " ".join(answer.prompt.split()) or NO_PROMPT


def _ids(prompts: Iterable[str]) -> dict[str, str]:
    """Return prompt to id: its first words, and a number where another begins in the same way.

    >>> _ids(["The flood", "the flood!", "猫"])
    {'The flood': 'the-flood', 'the flood!': 'the-flood-2', '猫': 'text'}
    """
    ids: dict[str, str] = {}
    used: set[str] = set()
    for prompt in sorted(prompts):
        words = "-".join(re.findall(r"[a-z0-9]+", prompt.lower()))
        stem = "no-prompt" if prompt == NO_PROMPT else words[:LONGEST_ID].strip("-") or "text"
        number, name = 1, stem
        while name in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name)
        ids[prompt] = name
    return ids


def _battery(source: AnswerFile, ids: dict[str, str], features_of: Battery) -> Battery:
    spoken = {"metadata": {"spoken": True}} if source.spoken else {}
    rated = json.loads(features_of.canonical)
    kept = ("feature", "grouping")
    head = {
        "title": f"Texts on {plural(len(ids), 'prompt')}",
        "version": "1",
        "language": source.language,
        "license": "that of the texts",
        "notes": "Made for texts that were imported. Features and groupings: "
        f"{features_of.id} {features_of.version}.",
        **{
            name: rated["battery"][name]
            for name in ("definition_source", "judge_source")
            if name in rated["battery"]
        },
    }
    subtest = {
        "id": SUBTEST,
        "title": "Texts",
        "response": "connected-text",
        "template": "{prompt}",
        "scorers": ["lexical"],
        "item": [{"id": name, "prompt": prompt, **spoken} for prompt, name in ids.items()],
    }
    tables = {"battery": head, "subtest": [subtest], **{k: rated[k] for k in kept if k in rated}}
    digest = hashlib.sha256(canonical_json(tables, NamedFiles()).encode()).hexdigest()
    head["id"] = f"{MADE}{digest[:8]}"
    return battery_from_canonical(canonical_json(tables, NamedFiles()), "made for imported texts")


@dataclass(frozen=True, slots=True)
class Stated:
    """What the user says of the answers.

    Attributes:
        model: a spec, a profile, or any name of a model; None: as in the file.
        speaker: the participant code of a person; None: as in the file.
        origin: who made the answers; None: as in the file.
    """

    model: str | None = None
    speaker: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Examinee:
    """The examinee of an administration, as it is stored."""

    examinee: str
    kind: ExamineeKind
    origin: Origin


def examinee_of(run: RecordedRun, stated: Stated, plugins: Plugins, source: Path) -> Examinee:
    """Return who gave the answers of a run."""
    where = str(source)
    _check(run, stated, where)
    said: Origin | None = "model" if stated.model else "human" if stated.speaker else None
    origin = run.origin
    if origin in {None, "unknown"}:
        origin = stated.origin or said or origin
    if origin is None:
        raise UsageError(
            "who gave these answers is not known",
            where=where,
            allowed="--model NAME; --origin human --speaker ID; or --origin unknown, which is "
            "protected as a person's",
            hint="of sources that the file names, --origin human or --origin model is enough"
            if run.participant
            else None,
        )
    known, given = run.participant, stated.speaker or ""
    participant = given or known if run.participant_is_own else known or given
    if origin == "human" and not participant:
        raise UsageError(
            "the participant who gave these answers is not known",
            where=where,
            hint="state it with --speaker ID (a code, never a name)",
        )
    if participant and origin != "model":
        check_id(participant)
        return Examinee(participant, "speaker", origin)
    name = stated.model or run.model
    if not name:
        if origin == "model":
            raise UsageError(
                "the model that gave these answers is not known",
                where=where,
                hint="state it with --model NAME",
            )
        name = "standard-input" if where == "-" else source.stem
    if run.exported and not stated.model and _is_spec(name):
        return Examinee(name, "model", origin)
    return Examinee(spec_of(name, plugins), "model", origin)


def _is_spec(name: str) -> bool:
    """Return whether a name can stay as it is: a back end that is not installed here is kept."""
    try:
        return bool(parse_spec(name)) and name.isprintable() and len(name) <= 300
    except UsageError:
        return False


def _check(run: RecordedRun, stated: Stated, where: str) -> None:
    """Refuse what the user says against the file."""
    recorded = run.origin
    if stated.model and stated.speaker:
        raise UsageError("--model and --speaker exclude each other")
    if recorded == "human" and stated.origin == "model":
        raise UsageError("--origin model: the file says that a person responded", where=where)
    if recorded == "model" and (stated.origin in ("human", "unknown") or stated.speaker):
        option = f"--speaker {stated.speaker}" if stated.speaker else f"--origin {stated.origin}"
        raise UsageError(f"{option}: the file says that a model responded", where=where)
    if recorded == "human" and stated.model:
        raise UsageError(
            f"--model {stated.model}: the file says that a person responded", where=where
        )
    if stated.origin == "human" and stated.model:
        raise UsageError("--origin human and --model exclude each other: give --speaker ID")
    if stated.origin == "model" and stated.speaker:
        raise UsageError("--origin model and --speaker exclude each other: give --model NAME")
    if (
        stated.speaker
        and run.participant not in ("", stated.speaker)
        and not run.participant_is_own
    ):
        raise UsageError(
            f"--speaker {stated.speaker}: according to the file, the responses are those of "
            f"{run.participant}",
            where=where,
            hint="consent and deletion use that ID",
        )


def spec_of(name: str, plugins: Plugins) -> str:
    """Return the spec under which a model's answers are stored.

    A spec of an installed back end is kept, so that imported answers of a model are compared with
    those it gave here. Any other name follows ``imported:``.
    """
    cleaned = name.strip()
    if not cleaned or not cleaned.isprintable() or len(cleaned) > 300:
        raise UsageError(
            f"{cleaned[:60]!r} cannot be the name of a model",
            allowed="up to 300 characters that can be printed",
        )
    try:
        descriptor, spec = plugins.resolve("models", cleaned, used=False)
        if descriptor.made_by is None:
            return str(spec)
    except TabwbError:
        if cleaned.startswith("profile:"):
            raise
    whole = cleaned if cleaned.startswith(IMPORTED) else f"{IMPORTED}{cleaned}"
    try:
        parse_spec(whole)
    except UsageError:
        # A name that only looks as if it had options.
        whole = whole.replace("@", " ")
    return whole


MOST_TRIALS = 1_000_000
"""The largest plan of one administration."""
Key = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A trial, and the answer to it; None where the source has none."""

    trial: PlannedTrial
    answer: RecordedAnswer | None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One administration that is to be stored.

    Attributes:
        run: what its answers have in common.
        planned: every trial in the order of the battery.
        replicates: how many there are.
        option_order: as the conditions of an administration have it.
        matched: how items were found, to number of answers.
        missing: items without any answer, as ``subtest/item``.
        gaps: numbers of further presentations without an answer.
        repeated: second answers to one item and replicate, which were left out.
        drawn: whether answers to equal requests differ, so that something was drawn.
    """

    run: RecordedRun
    planned: tuple[PlannedAnswer, ...]
    replicates: int
    option_order: str
    matched: Mapping[str, int]
    missing: tuple[str, ...] = ()
    gaps: int = 0
    repeated: tuple[str, ...] = ()
    drawn: bool = False

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(each.answer is not None for each in self.planned)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What the import of a file would store.

    Attributes:
        source: what was read.
        runs: the administrations.
        unmatched: answers to no item of the battery.
    """

    source: AnswerFile
    runs: tuple[PlannedRun, ...]
    unmatched: tuple[Unmatched, ...] = field(default_factory=tuple)


def plan_import(
    source: AnswerFile, battery: Battery, *, number_replicates: bool = False, lenient: bool = False
) -> ImportPlan:
    """Return the administrations that the answers of a file make."""
    index = ItemIndex(battery)
    runs: dict[RecordedRun, list[Match]] = {}
    unmatched: list[Unmatched] = []
    spoken: Counter[str] = Counter()
    for answer in source.answers:
        match = index.match(answer)
        if isinstance(match, Unmatched):
            unmatched.append(match)
        elif match.subtest.task.coded or not match.subtest.task.typed:
            spoken[match.subtest.id] += 1
        else:
            runs.setdefault(answer.run, []).append(match)
    if source.strict and unmatched and not lenient:
        raise AnswerProblems([_problem(source, each) for each in unmatched])
    if not runs:
        raise _nothing(source, battery, unmatched, spoken)
    planned = tuple(
        _planned(source, battery, run, matches, number_replicates) for run, matches in runs.items()
    )
    if spoken:
        left_out = {**source.left_out, "answers to items that are named aloud": spoken.total()}
        source = replace(source, left_out=left_out)
    return ImportPlan(source, planned, tuple(unmatched))


def _nothing(
    source: AnswerFile, battery: Battery, unmatched: Sequence[Unmatched], spoken: Counter[str]
) -> UsageError:
    if spoken and not unmatched:
        return UsageError(
            f"the items of '{battery.id}' are named aloud",
            hint="import spoken naming from a TextGrid, an EAF or a folder with utterances.tsv",
        )
    first = unmatched[0]
    return UsageError(
        f"none of {plural(len(source.answers), 'answer')} is to an item of '{battery.id}' "
        f"({battery.title}); the first: {_words(source, first)}",
        where=first.answer.where,
        allowed=first.allowed or None,
        hint="give the battery with --battery; items are found by id, or by prompt",
    )


def _words(source: AnswerFile, unmatched: Unmatched) -> str:
    name = source.names.get(unmatched.column, unmatched.column)
    return f"{name} '{unmatched.value}': {unmatched.message}"


def _problem(source: AnswerFile, unmatched: Unmatched) -> Problem:
    file, line = _place(unmatched.answer)
    column = f"column '{source.names.get(unmatched.column, unmatched.column)}'"
    message, value = unmatched.message, repr(unmatched.value)
    return Problem(file, line, column, message, value, unmatched.allowed, unmatched.suggestion)


def _place(answer: RecordedAnswer) -> tuple[str, int]:
    file, _, line = answer.where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (answer.where, 0)


def _planned(
    source: AnswerFile,
    battery: Battery,
    run: RecordedRun,
    matches: Sequence[Match],
    number_replicates: bool,
) -> PlannedRun:
    counted: Counter[tuple[str, str]] = Counter()
    numbered: list[tuple[Match, tuple[str, ...], int]] = []
    for match in matches:
        key = match.subtest.id, match.item.id
        own = match.answer.replicate
        if own is None:
            own = counted[key] if number_replicates else 0
            counted[key] += 1
        numbered.append((match, options_shown(match), own))
    # The source's numbers may begin at 1 and have gaps; ours do not.
    dense = {own: at for at, own in enumerate(sorted({own for _, _, own in numbered}))}
    placed: dict[Key, Match] = {}
    repeated: list[tuple[Match, Match]] = []
    for match, options, own in numbered:
        replicate = 0 if match.item.practice else dense[own]
        place = match.subtest.id, match.item.id, replicate, options
        first = placed.setdefault(place, match)
        if first is not match:
            repeated.append((first, match))
    if repeated and source.strict:
        raise AnswerProblems([_repeated(first, second) for first, second in repeated])
    planned = tuple(_trials(battery, run, placed, len(dense)))
    answered = {(each.trial.subtest, each.trial.item) for each in planned if each.answer}
    absent = [each.trial for each in planned if each.answer is None and not each.trial.practice]
    places = ((trial.subtest, trial.item) for trial in absent)
    missing = dict.fromkeys(f"{s}/{i}" for s, i in places if (s, i) not in answered)
    return PlannedRun(
        run=run,
        planned=planned,
        replicates=len(dense),
        option_order=_option_order(battery, placed),
        matched=dict(Counter(match.how for match in placed.values())),
        missing=tuple(missing),
        gaps=len(absent) - len(missing),
        repeated=tuple(second.answer.where for _, second in repeated),
        drawn=_differs(planned),
    )


def _repeated(first: Match, second: Match) -> Problem:
    file, line = _place(second.answer)
    _, earlier = _place(first.answer)
    numbered = second.answer.replicate is not None
    same = " of the same replicate" if numbered else ""
    return Problem(
        file,
        line,
        "",
        f"a second answer{same} to {second.subtest.id}/{second.item.id}; the first is in line "
        f"{earlier}",
        "",
        "one row for each presentation"
        if numbered
        else "a column replicate; or --number-replicates, which numbers them in their order",
    )


def _trials(
    battery: Battery, run: RecordedRun, placed: Mapping[Key, Match], count: int
) -> Iterator[PlannedAnswer]:
    by_place: dict[tuple[str, str, int], list[tuple[tuple[str, ...], Match]]] = {}
    for (subtest_id, item_id, replicate, options), match in placed.items():
        by_place.setdefault((subtest_id, item_id, replicate), []).append((options, match))
    answered = {place[:2] for place in by_place}
    given_part = _given(battery, run)
    number = 0
    for replicate in range(count):
        for subtest in battery.subtests:
            for item in _in_order(subtest, replicate):
                given = by_place.get((subtest.id, item.id, replicate), [])
                key = subtest.id, item.id
                if not given and key not in answered and (replicate or key not in given_part):
                    continue  # an item without any answer is planned once
                presented: list[tuple[tuple[str, ...], Match | None]] = [*given]
                for options, given_match in presented or [(item.options, None)]:
                    number += 1
                    if number > MOST_TRIALS:
                        raise UsageError(
                            f"the replicates make more than {MOST_TRIALS:,} presentations of items",
                            hint="import the file in parts",
                        )
                    yield _trial(number, subtest, item, replicate, options, given_match)


def _given(battery: Battery, run: RecordedRun) -> frozenset[tuple[str, str]]:
    """Return the items that the run says it gave: all, where it does not say."""
    part = Conditions(
        "",
        "model",
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
    )
    return frozenset(
        (subtest.id, item.id) for subtest, items in given_items(battery, part) for item in items
    )


def _in_order(subtest: Subtest, replicate: int) -> list[Item]:
    practice = [item for item in subtest.items if item.practice and replicate == 0]
    return practice + [item for item in subtest.items if not item.practice]


def _trial(
    number: int,
    subtest: Subtest,
    item: Item,
    replicate: int,
    options: tuple[str, ...],
    match: Match | None,
) -> PlannedAnswer:
    answer = None if match is None else match.answer
    prompt = answer.prompt if answer is not None else ""
    trial = PlannedTrial(
        number=number,
        subtest=subtest.id,
        item=item.id,
        replicate=replicate,
        options=options,
        prompt=prompt or render_prompt(subtest, item, options),
        practice=item.practice,
    )
    return PlannedAnswer(trial, answer)


def _option_order(battery: Battery, placed: Mapping[Key, Match]) -> str:
    shown = Counter(key[:3] for key in placed)
    if any(count > 1 for count in shown.values()):
        return "rotated"
    usual = all(match.item.options == key[3] for key, match in placed.items())
    return "as-given" if usual else "shuffled"


def _differs(planned: Sequence[PlannedAnswer]) -> bool:
    """Return whether some item has unlike answers to the same request."""
    first: dict[tuple[str, str, object], str | None] = {}
    for each in planned:
        if each.answer is None or each.answer.text is None:
            continue
        sent = each.answer.messages or each.trial.prompt
        key = each.trial.subtest, each.trial.item, sent
        if first.setdefault(key, each.answer.text) != each.answer.text:
            return True
    return False


SEEDS = 2**53
"""Seeds beyond this, positive or negative, are kept as text only."""
NAMED = 5
"""How many models or participants a message names."""


def check_names(plan: ImportPlan, stated: Stated, path: Path) -> None:
    """Refuse one name for answers of several models or people."""
    models = dict.fromkeys(run.run.model for run in plan.runs if run.run.model)
    people = dict.fromkeys(
        run.run.participant for run in plan.runs if not run.run.participant_is_own
    )
    people.pop("", None)
    for option, names, what in (
        (stated.model, models, "models"),
        (stated.speaker, people, "participants"),
    ):
        if option and len(names) > 1:
            raise UsageError(
                f"holds answers of {len(names)} {what}: {', '.join(list(names)[:NAMED])}",
                where=str(path),
                hint="without a model's or a speaker's name each keeps its own",
            )


def import_conditions(
    plugins: Plugins,
    battery: Battery,
    planned: PlannedRun,
    stated: Stated,
    *,
    source: Path,
    judges: Sequence[str] = (),
    session_date: str = "",
    research_protocol: str | None = None,
) -> Conditions:
    """Return the conditions under which the answers of one run are stored."""
    run = planned.run
    examinee = examinee_of(run, stated, plugins, source)
    known = run.decoding
    limit = _limit(battery, planned)
    stops = {each.answer.decoding.stop for each in planned.planned if each.answer}
    stop = next(iter(stops)) if len(stops) == 1 else None
    usual = Decoding()
    seed = run.seed if run.seed is not None and abs(run.seed) <= SEEDS else 1
    decoding = Decoding(
        max_tokens=limit or usual.max_tokens,
        temperature=known.temperature or 0.0,
        top_p=known.top_p or usual.top_p,
        stop=stop or (),
        seed=seed,
    )
    is_model = examinee.kind == "model"
    conditions = Conditions(
        examinee=examinee.examinee,
        kind=examinee.kind,
        seed=seed,
        replicates=planned.replicates,
        protocol=run.protocol,
        decoding=decoding if is_model else usual,
        conversation=run.conversation,
        option_order=cast("OptionOrder", planned.option_order),
        judges=tuple(judges),
        research_protocol=research_protocol,
        lesion=run.lesion if is_model else None,
        prompt_noise=run.prompt_noise if is_model else None,
        labels=_labels(plugins, stated, run) if is_model else {},
        origin=examinee.origin,
        session_date=run.session_date or session_date,
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
        token_limits="run" if limit and is_model else "battery",
        unknown=_unknown(run) if is_model else (),
    )
    check_raters(plugins, battery, conditions)
    return conditions


def _unknown(run: RecordedRun) -> tuple[str, ...]:
    """Return the conditions of a model's answers that the source does not state."""
    known = {
        "seed": run.seed,
        "temperature": run.decoding.temperature,
        "top_p": run.decoding.top_p,
    }
    if run.decoding.temperature == 0:
        known["top_p"] = 1.0  # nothing was drawn
    return tuple(name for name, value in known.items() if value is None)


def _limit(battery: Battery, planned: PlannedRun) -> int | None:
    """Return the token limit of all answers; None where it is the battery's, or not one."""
    limits = {
        (each.trial.subtest, each.answer.decoding.max_tokens)
        for each in planned.planned
        if each.answer is not None
    }
    usual = Conditions("", "model")
    if all(limit == token_limit(battery.subtest(subtest), usual) for subtest, limit in limits):
        return None
    values = {limit for _, limit in limits}
    return next(iter(values)) if len(values) == 1 else None


def _labels(plugins: Plugins, stated: Stated, run: RecordedRun) -> dict[str, str]:
    """Return the labels of the model: the profile's that is named, over those of the file."""
    named = stated.model or ("" if run.exported else run.model)
    own = {} if stated.model and run.exported else dict(run.labels)
    return {**own, **plugins.labels_of(named)} if named.startswith("profile:") else own

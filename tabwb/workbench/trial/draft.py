"""Drafts of administrations: what the dialog asks for, and how it becomes conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from tabwb.records import declared_conditions
from tabwb.records.conditions import (
    Conditions,
    ExamineeKind,
    conditions_of,
    declared,
    default_text,
    line_of,
)
from tabwb.records.declared_conditions import NONE, Audience, Condition, ConditionError
from tabwb.records.errors import TabwbError
from tabwb.records.words import plural
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue

FIRST: Mapping[Audience, tuple[str, ...]] = {
    "model": ("judges",),
    "typed": ("judges",),
    "spoken": ("microphone", "transcriber"),
    "described": ("microphone", "transcriber", "judges"),
}
"""Fields that are shown below battery and examinee, by the kind of examinee."""
PROTOCOL = "research_protocol"
"""Is shown there too where a battery for models is given to a participant."""
ADVANCED = (
    ("rater",),
    ("seed", "replicates"),
    ("item_order", "option_order"),
    ("temperature", "top_p"),
    ("max_tokens", "stop"),
    ("protocol",),
    ("conversation",),
    ("lesion",),
    ("part_subtests",),
    ("part_items", "part_limit"),
)
"""The other fields, those side by side together. Conditions named nowhere here follow."""
ALWAYS_SAID = ("temperature", "seed", "max_tokens")
"""Conditions that the line of the folded fields names also where they have their defaults."""


def advanced_rows() -> list[tuple[str, ...]]:
    """Return the fields of every row that is folded at first."""
    placed = {PROTOCOL, *(name for row in (*FIRST.values(), *ADVANCED) for name in row)}
    more = [
        (condition.id,)
        for condition in declared_conditions.CONDITIONS
        if condition.field is not None and condition.id not in placed
    ]
    return [*ADVANCED, *more]


@dataclass(frozen=True, slots=True)
class Draft:
    """An administration to be begun; every field as the person typed it.

    Attributes:
        microphone: which one listens, or empty for the system's default; kept with the workbench.
        texts: of conditions, by id; those that are missing have their defaults.
    """

    battery: str = "tab"
    kind: ExamineeKind = "model"
    model: str = "bundled"
    speaker: str = ""
    microphone: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def examinee(self) -> str:
        """The model or the person, or empty."""
        return (self.model if self.kind == "model" else self.speaker).strip()

    def text(self, condition: Condition) -> str:
        """Return what the field of a condition holds."""
        return self.texts.get(condition.id, default_text(condition))

    def filled(self, **texts: str) -> Draft:
        """Return the draft with other texts in these fields, named by condition or attribute."""
        own = {name: texts.pop(name) for name in OWN_FIELDS & texts.keys()}
        return replace(self, **own, texts={**self.texts, **texts})  # type: ignore[arg-type]

    def value(self, name: str) -> str:
        """Return what the field of this name holds, an attribute or a condition."""
        if name in OWN_FIELDS:
            return str(getattr(self, name))
        return self.text(declared(name))

    def differing(self, usual: Draft) -> dict[str, str]:
        """Return the fields that :func:`remembered` fills in again."""
        names = sorted(_kept())
        return {name: self.value(name) for name in names if self.value(name) != usual.value(name)}


OWN_FIELDS = frozenset(field.name for field in fields(Draft)) - {"texts"}
"""The names of a draft's fields that are not conditions."""


class FieldError(TabwbError):
    """The value of a field, an attribute of the draft or a condition, cannot be used."""

    def __init__(self, field: str, message: str, allowed: str = "", hint: str = "") -> None:
        super().__init__(message, allowed=allowed or None, hint=hint or None)
        self.field = field

    @classmethod
    def of(cls, field: str, error: TabwbError) -> FieldError:
        """Return an error as that of a field."""
        return cls(field, error.message, error.allowed or "", error.hint or "")


def default_draft(catalogue: Catalogue) -> Draft:
    """TAB on the bundled model where both are there, else the first that can be used."""
    batteries = [battery.id for battery in catalogue.batteries if not battery.problem]
    models = [
        model.spec
        for model in catalogue.models
        if not model.unavailable_reason and model.spec == model.id
    ]
    draft = Draft()
    if draft.battery not in batteries:
        draft = replace(draft, battery=batteries[0] if batteries else "")
    if draft.model not in models:
        draft = replace(draft, model=models[0] if models else "")
    transcribers = {
        transcriber.id
        for transcriber in catalogue.transcribers
        if not transcriber.unavailable_reason
    }
    if draft.text(declared("transcriber")) not in transcribers:
        draft = draft.filled(transcriber=NONE)
    return draft


PARTS = ("part_subtests", "part_items")
"""Fields that name parts of one battery."""


def _kept() -> set[str]:
    """Return the names of the remembered fields: all but the participant and the lesion."""
    conditions = {one.id for one in declared_conditions.CONDITIONS if one.field is not None}
    return (conditions | {"battery", "kind", "model"}) - {"lesion"}


def remembered(usual: Draft, begun: Mapping[str, str], battery: str | None = None) -> Draft:
    """Return a draft with the fields of the administration that was begun last."""
    kept = _kept()
    texts = {name: text for name, text in begun.items() if name in kept and isinstance(text, str)}
    if texts.get("kind") not in {"model", "speaker"}:
        texts.pop("kind", None)
    if battery is not None and battery != texts.get("battery", usual.battery):
        texts = {name: text for name, text in texts.items() if name not in PARTS}
    return usual.filled(**texts)


def audience_of(kind: str, battery: BatteryEntry | None) -> Audience:
    """Return to whom a battery would be given: to a model, or to a person who types or speaks."""
    if kind == "model":
        return "model"
    if battery is None or not battery.aloud:
        return "typed"
    return "described" if battery.judged_aloud else "spoken"


def first_fields(audience: Audience, battery: BatteryEntry | None) -> tuple[str, ...]:
    """Return the fields that are shown below battery and examinee while the others are folded."""
    for_models = battery is not None and "speaker" not in battery.examinees
    needed = (PROTOCOL,) if for_models and audience != "model" else ()
    return (*needed, *FIRST[audience])


def asked_of(draft: Draft, audience: Audience) -> tuple[Conditions, tuple[FieldError, ...]]:
    """Return the conditions that a draft asks for, specs not yet resolved, and what is wrong.

    A condition whose text cannot be read has its default.
    """
    problems: list[FieldError] = []
    if not draft.battery.strip():
        allowed = "an id, or the path of a battery.toml"
        problems.append(FieldError("battery", "a battery is needed", allowed))
    if not draft.examinee and audience == "model":
        allowed = "for example bundled, echo, replay:FILE"
        problems.append(FieldError("model", "a model is needed", allowed))
    elif not draft.examinee:
        words = "a participant code is needed"
        problems.append(
            FieldError("speaker", words, "for example S-014", "never use a person's name")
        )
    values: dict[str, object] = {}
    for condition in declared_conditions.CONDITIONS:
        if condition.field is None or audience not in condition.given_to:
            continue
        try:
            value = condition.read(draft.text(condition))
            if value is not None:
                condition.checked(value)
                values[condition.id] = value
        except ConditionError as error:
            problems.append(FieldError.of(condition.id, error))
    return conditions_of(draft.examinee, audience, values), tuple(problems)


def folded_words(draft: Draft, audience: Audience, battery: BatteryEntry | None = None) -> str:
    """Return what the folded fields are set to, those that differ from their defaults first.

    >>> folded_words(Draft(), "model")
    "greedy, seed 1, the battery's token limits"
    >>> folded_words(Draft().filled(lesion="mlp:zero", replicates="5"), "model")
    "5 replicates, lesion mlp:zero, greedy, seed 1, the battery's token limits"
    >>> folded_words(Draft().filled(seed="one", top_p="7"), "model")
    '! 2 fields cannot be used'
    >>> folded_words(Draft(), "spoken")
    'nothing is changed'
    """
    first = first_fields(audience, battery)
    folded = [PROTOCOL, *(name for row in advanced_rows() for name in row)]
    shown = [name for name in folded if name not in first]
    conditions, problems = asked_of(draft, audience)
    if wrong := [problem for problem in problems if problem.field in shown]:
        return f"! {plural(len(wrong), 'field')} cannot be used"
    usual = conditions_of("", audience, {})
    changed, always = [], []
    for condition in map(declared, shown):
        if audience not in condition.given_to:
            continue
        words = _said(condition, conditions)
        if words != _said(condition, usual):
            changed.append(words)
    for name in ALWAYS_SAID:
        condition = declared(name)
        if audience in condition.given_to and (name != "seed" or "seed" in line_of(conditions)):
            always.append(_said(condition, conditions))
    said = dict.fromkeys([*(words for words in changed if words), *always])
    return ", ".join(said) or "nothing is changed"


def _said(condition: Condition, conditions: Conditions) -> str:
    """Return the value of a condition in words that say which condition it is."""
    words = condition.in_words(conditions)
    if condition.line is not None:
        return condition.line.template.format(words)
    if condition.words is None or condition.comparison is None or not condition.comparison.bare:
        assert condition.field is not None
        return f"{condition.field.label.lower()} {words}" if words else ""
    return words

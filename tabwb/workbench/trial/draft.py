"""Drafts of administrations: their fields, what is wrong with them; they are begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial

from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.lesion.spec import canonical, parse_lesions
from tabwb.records import declared_conditions
from tabwb.records.conditions import (
    Conditions,
    ExamineeKind,
    conditions_of,
    declared,
    default_text,
    line_of,
)
from tabwb.records.declared_conditions import (
    CONDITIONS,
    NONE,
    Audience,
    Component,
    Components,
    Condition,
    ConditionError,
)
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import check_id
from tabwb.records.words import plural
from tabwb.workbench.engine.engine import Controller, Engine, battery_entry
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue

FIRST: Mapping[Audience, tuple[str, ...]] = {
    "model": ("lesion", "judges"),
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
    >>> folded_words(Draft().filled(replicates="5"), "model")
    "5 replicates, greedy, seed 1, the battery's token limits"
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


@dataclass(frozen=True, slots=True)
class KnownParticipant:
    """A participant of the store: the number of administrations, and the day of the last one."""

    code: str
    administrations: int = 0
    last: str = ""


SEED_UNUSED = "The seed has no effect: decoding is greedy (temperature 0) and the order is fixed."
LESION_SEED = "The lesion is drawn by the seed in its spec."


@dataclass(frozen=True, slots=True)
class Examined:
    """What a draft asks for, and everything that is wrong with it.

    Attributes:
        battery: None where there is none.
        conditions: resolved where nothing is wrong.
        problems: a :class:`FieldError` names its field.
    """

    battery: Battery | None
    conditions: Conditions
    problems: tuple[TabwbError, ...]


@dataclass(frozen=True, slots=True)
class StartPreview:
    """What a user should know of a draft before it begins.

    Attributes:
        battery: that it names, also by a path; None where there is none.
        problems: what is wrong; a :class:`FieldError` names its field.
        notices: on a person: an odd ID, a consent that is not there.
        judging: what judges that ask a model will take afterwards.
        design: on a model: that the seed has no effect, where it has none; the smallest
            difference from another that the answers can show.
    """

    battery: BatteryEntry | None = None
    problems: tuple[TabwbError, ...] = ()
    notices: tuple[str, ...] = ()
    judging: tuple[str, ...] = ()
    design: tuple[str, ...] = ()


AFTERWARDS = "afterwards, when you confirm it"


class TrialController(Controller):
    """Commands on drafts of administrations; all but :meth:`begin` may be called in any thread."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions

    def begin(self, draft: Draft) -> None:
        """Begin an administration."""
        self._sessions.begin(*self.check(draft))

    def preview(self, draft: Draft) -> StartPreview:
        """Return what a user should know of a draft before it begins."""
        from tabwb.administer.cost import forecasts
        from tabwb.administer.session.plan import before_run
        from tabwb.administer.session.smallest_difference import brief, planned

        found = self.examine(draft)
        battery, conditions = found.battery, found.conditions
        if battery is None:
            return StartPreview(None, found.problems)
        entry = battery_entry(battery)
        if found.problems:
            return StartPreview(entry, found.problems)
        costs = forecasts(self.plugins, battery, conditions)
        said = before_run(self.plugins, battery, conditions, asked=False)
        told = tuple(f"{text[0].upper()}{text[1:]}." for text in said)
        design: tuple[str, ...] = ()
        if conditions.kind == "model":
            design = tuple(brief(planned(self.plugins, battery, conditions)))
            if conditions.drawn == "greedy" and "shuffled" not in _orders(conditions):
                lesions = parse_lesions(conditions.lesion) if conditions.lesion else ()
                drawn = (LESION_SEED,) if any(lesion.draws for lesion in lesions) else ()
                design = (" ".join((SEED_UNUSED, *drawn)), *design)
        return StartPreview(
            entry,
            notices=(*self._sessions.notices(battery, conditions), *told),
            judging=tuple(cost.line(AFTERWARDS) for cost in costs),
            design=design,
        )

    def participants(self) -> tuple[KnownParticipant, ...]:
        """Return everybody in the store, the latest first, then those without an administration."""
        known = {
            speaker.id: KnownParticipant(speaker.id) for speaker in self.store.people.speakers()
        }
        for given in self.engine.catalogue.administrations:
            code = given.conditions.examinee
            if given.conditions.kind == "speaker":
                before = known.pop(code, KnownParticipant(code))
                known[code] = KnownParticipant(code, before.administrations + 1, given.given_at)
        latest_first = list(known.values())[::-1]
        return (
            *(one for one in latest_first if one.administrations),
            *(one for one in known.values() if not one.administrations),
        )

    def problems(self, draft: Draft) -> tuple[TabwbError, ...]:
        """Return everything that is wrong with a draft."""
        return self.examine(draft).problems

    def check(self, draft: Draft) -> tuple[Battery, Conditions]:
        """Return what a draft asks for, without beginning anything."""
        found = self.examine(draft)
        if found.problems or found.battery is None:
            raise found.problems[0]
        return found.battery, found.conditions

    def examine(self, draft: Draft) -> Examined:
        """Return what a draft asks for, and everything that is wrong with it."""
        battery, problems = None, []
        if draft.battery.strip():
            try:
                battery = setup.find_battery(self.plugins, draft.battery.strip())
            except TabwbError as error:
                problems.append(FieldError("battery", str(error)))
        audience = audience_of(draft.kind, None if battery is None else battery_entry(battery))
        asked, wrong = asked_of(draft, audience)
        problems += wrong
        problems += list(self._refused(battery, asked))
        if battery is None or problems:
            return Examined(battery, asked, tuple(problems))
        try:
            return Examined(battery, setup.resolve(self.plugins, battery, asked), ())
        except TabwbError as error:
            return Examined(battery, asked, (error,))

    def _refused(self, battery: Battery | None, asked: Conditions) -> Iterator[FieldError]:
        """Yield what is wrong with values that can be read."""
        made: list[tuple[str, Callable[[], object]]] = []
        for condition in CONDITIONS:
            if isinstance(condition.kind, Component | Components):
                value = condition.of(asked)
                specs = (value,) if isinstance(value, str) else value or ()
                check = partial(self._check_spec, condition.kind)
                made += [(condition.id, partial(check, spec)) for spec in specs]
        if asked.kind == "model" and asked.examinee:
            made.append(("model", partial(self.plugins.resolve, "models", asked.examinee)))
        elif asked.examinee:
            made.append(("speaker", partial(check_id, asked.examinee)))
        if battery is not None:
            whole = replace(asked, part_subtests=(), part_items=())
            subtests = replace(whole, part_subtests=asked.part_subtests)
            made.append(("part_subtests", partial(setup.check_part, battery, subtests)))
            if not any(self._errors(made[-1:])):
                made.append(("part_items", partial(setup.check_part, battery, asked)))
        problems = list(self._errors(made))
        yield from problems
        if not any(problem.field == "model" for problem in problems):
            yield from self._errors(
                [
                    ("lesion", partial(self._check_lesion, asked)),
                    ("protocol", partial(setup.check_protocol, self.plugins, asked)),
                ]
            )
        if battery is None:
            return
        if setup.lacks_protocol(battery, asked):
            words = f"'{battery.id}' is made for models; for a person, name the approved protocol"
            yield FieldError(PROTOCOL, words)
        if asked.kind not in battery.examinees and asked.kind == "model":
            words = f"'{battery.id}' is not made for models: first choose 'a participant'"
            yield FieldError("model", words)

    def _errors(self, checks: Iterable[tuple[str, Callable[[], object]]]) -> Iterator[FieldError]:
        for name, check in checks:
            try:
                check()
            except TabwbError as error:
                yield FieldError.of(name, error)

    def _check_spec(self, kind: Component | Components, spec: str) -> None:
        self.plugins.resolve(kind.registry, spec)
        if kind.registry == "judges":
            setup.resolved_judges(self.plugins, (spec,))

    def _check_lesion(self, asked: Conditions) -> None:
        if asked.lesion is None:
            return
        try:
            canonical(asked.lesion)
        except TabwbError as error:
            words = error.message.removeprefix(f"the lesion '{asked.lesion}' ")
            raise FieldError("lesion", words, error.allowed or "", error.hint or "") from error
        if asked.examinee and not self.plugins.resolve("models", asked.examinee)[0].lesions:
            raise self.plugins.no_lesions(asked.examinee)


def _orders(conditions: Conditions) -> tuple[str, str]:
    return conditions.item_order, conditions.option_order

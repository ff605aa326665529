"""Drafts of administrations: what the dialog asks for, and how it becomes conditions and begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.lesion.spec import canonical
from tabwb.plugin_api.descriptors import ComponentKind
from tabwb.records import condition_table, declared_conditions
from tabwb.records.condition import Audience, Condition, ConditionError
from tabwb.records.condition_kinds import NONE, Component, Components
from tabwb.records.conditions import Conditions, ExamineeKind
from tabwb.records.declared_conditions import CONDITIONS
from tabwb.records.errors import TabwbError
from tabwb.store import takes
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import Catalogue

ROWS = (
    ("research_protocol",),
    ("transcriber",),
    ("microphone",),
    ("rater",),
    (),
    ("seed", "replicates"),
    ("item_order", "option_order"),
    ("temperature", "top_p"),
    ("max_tokens", "stop"),
    ("conversation",),
    ("protocol",),
    ("lesion",),
    ("judges",),
)
"""Fields side by side, below battery and examinee; an empty row is a gap. Conditions that are not
named here follow in rows of their own."""


def rows() -> Iterator[tuple[str, ...]]:
    """Yield the fields of every row."""
    yield from ROWS
    placed = {name for row in ROWS for name in row}
    for condition in declared_conditions.CONDITIONS:
        if condition.field is not None and condition.id not in placed:
            yield (condition.id,)


@dataclass(frozen=True, slots=True)
class Draft:
    """An administration to be begun; every field as the person typed it.

    Attributes:
        microphone: which one listens, or empty for the system's own; kept with the workbench.
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
        return self.texts.get(condition.id, condition_table.default_text(condition))

    def filled(self, **texts: str) -> Draft:
        """Return the draft with other texts in these fields, named by condition or attribute."""
        own = {name: texts.pop(name) for name in OWN_FIELDS & texts.keys()}
        return replace(self, **own, texts={**self.texts, **texts})  # type: ignore[arg-type]


OWN_FIELDS = frozenset(field.name for field in fields(Draft)) - {"texts"}
"""The names of a draft's fields that are not conditions."""


@dataclass(frozen=True, slots=True)
class StartPreview:
    """What a user should know of a draft before it begins.

    Attributes:
        notices: on a person: an odd ID, a consent that is not there.
        judging: what judges that ask a model will take afterwards.
        design: on a model: the smallest difference from another that the answers can show.
    """

    notices: tuple[str, ...] = ()
    judging: tuple[str, ...] = ()
    design: tuple[str, ...] = ()


class FieldError(TabwbError):
    """The value of a field, an attribute of the draft or a condition, cannot be used."""

    def __init__(self, field: str, message: str, allowed: str = "", hint: str = "") -> None:
        super().__init__(message, allowed=allowed or None, hint=hint or None)
        self.field = field


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
    if draft.text(condition_table.declared("transcriber")) not in transcribers:
        draft = draft.filled(transcriber=NONE)
    return draft


def conditions_of(draft: Draft, person: Audience = "typed") -> Conditions:
    """Return the conditions that a draft asks for, specs not yet resolved.

    Args:
        draft: what the dialog's fields hold.
        person: how a person is to answer, where the battery is given to one.

    Raises:
        FieldError: a field cannot be read; it is named.
    """
    if not draft.battery.strip():
        raise FieldError("battery", "a battery is needed", "an id, or a path of a battery.toml")
    audience: Audience = person if draft.kind == "speaker" else "model"
    if not draft.examinee and audience == "model":
        raise FieldError("model", "a model is needed", "for example bundled, echo, replay:FILE")
    if not draft.examinee:
        words = "a participant code is needed"
        raise FieldError("speaker", words, "for example S-014", "never use a person's name")
    asked = [name for row in rows() for name in row if name not in OWN_FIELDS]
    try:
        values: dict[str, object] = {}
        for condition in map(condition_table.declared, asked):
            if audience in condition.given_to:
                value = condition.read(draft.text(condition))
                if value is not None:
                    condition.checked(value)
                values[condition.id] = value
        return condition_table.conditions_of(draft.examinee, audience, values)
    except ConditionError as error:
        raise FieldError(
            error.condition.id, f"{error.where}: {error.message}", error.allowed or ""
        ) from error


AFTERWARDS = "afterwards, once all is answered and you say so"


@dataclass(frozen=True, slots=True)
class SharedFolder:
    """The folder through which a second terminal shows items and takes what is typed."""

    path: Path


class TrialController(Controller):
    """Commands on drafts of administrations; :meth:`check` and :meth:`preview` fit any thread."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions

    def begin(self, draft: Draft) -> None:
        """Begin an administration."""
        self._sessions.begin(*self.check(draft))

    def find_shared_folder(self) -> None:
        """Report the folder of the store's second terminal."""
        self.say(SharedFolder(takes.folder_of(self.store)))

    def preview(self, draft: Draft) -> StartPreview:
        """Return what a user should know of a draft before it begins."""
        from tabwb.administer.cost import forecasts
        from tabwb.administer.session.smallest_difference import brief, planned

        battery, conditions = self.check(draft)
        costs = forecasts(self.plugins, battery, conditions)
        design: tuple[str, ...] = ()
        if conditions.kind == "model":
            design = tuple(brief(planned(self.plugins, battery, conditions)))
        return StartPreview(
            notices=self._sessions.notices(battery, conditions),
            judging=tuple(cost.line(AFTERWARDS) for cost in costs),
            design=design,
        )

    def check(self, draft: Draft) -> tuple[Battery, Conditions]:
        """Return what a draft asks for, without beginning anything.

        Raises:
            TabwbError: it cannot be begun; a :class:`FieldError` names the field.
        """
        asked = conditions_of(draft)
        try:
            battery = setup.find_battery(self.plugins, draft.battery.strip())
        except TabwbError as error:
            raise FieldError("battery", str(error)) from error
        if battery.spoken:
            asked = conditions_of(draft, "described" if battery.judged_aloud else "spoken")
        if asked.kind == "model":
            self._check_spec("model", "models", asked.examinee)
        for condition in CONDITIONS:
            if isinstance(condition.kind, Component | Components):
                value = condition.of(asked)
                for spec in (value,) if isinstance(value, str) else value or ():
                    self._check_spec(condition.id, condition.kind.registry, spec)
        if asked.lesion is not None:
            self._check_lesion(asked.examinee, asked.lesion)
        if setup.lacks_protocol(battery, asked):
            words = f"'{battery.id}' is made for models; in a study, name its approved protocol"
            raise FieldError("research_protocol", words)
        return battery, setup.resolve(self.plugins, battery, asked)

    def _check_lesion(self, model: str, lesion: str) -> None:
        try:
            canonical(lesion)
            if not self.plugins.resolve("models", model)[0].lesions:
                raise self.plugins.no_lesions(model)
        except TabwbError as error:
            words = error.message.removeprefix(f"the lesion '{lesion}' ")
            raise FieldError("lesion", words, error.allowed or "", error.hint or "") from error

    def _check_spec(self, field: str, registry: ComponentKind, spec: str) -> None:
        try:
            self.plugins.resolve(registry, spec)
        except TabwbError as error:
            raise FieldError(field, error.message, error.allowed or "", error.hint or "") from error

"""Begins administrations that the dialog drafted: checks a draft, tells what it entails."""

from __future__ import annotations

from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.plugin_api.descriptors import ComponentKind
from tabwb.records.condition import Component, Components
from tabwb.records.conditions import CONDITIONS, Conditions
from tabwb.records.errors import TabwbError
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.trial.draft import Draft, FieldError, StartPreview, conditions_of

AFTERWARDS = "afterwards, once all is answered and you say so"


class TrialController(Controller):
    """Commands on drafts of administrations; :meth:`check` and :meth:`preview` fit any thread."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._sessions = sessions

    def begin(self, draft: Draft) -> None:
        """Begin an administration."""
        self._sessions.begin(*self.check(draft))

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
        if setup.lacks_protocol(battery, asked):
            words = f"'{battery.id}' is made for models; in a study, name its approved protocol"
            raise FieldError("research_protocol", words)
        return battery, setup.resolve(self.plugins, battery, asked)

    def _check_spec(self, field: str, registry: ComponentKind, spec: str) -> None:
        try:
            self.plugins.resolve(registry, spec)
        except TabwbError as error:
            raise FieldError(field, error.message, error.allowed or "", error.hint or "") from error

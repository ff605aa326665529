"""Commands on drafts of administrations: they are examined, and begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.lesion.spec import canonical, parse_lesions
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import CONDITIONS, Component, Components
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import check_id
from tabwb.workbench.engine.engine import Controller, Engine, battery_entry
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import BatteryEntry
from tabwb.workbench.trial.draft import (
    PROTOCOL,
    Draft,
    FieldError,
    asked_of,
    audience_of,
)


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

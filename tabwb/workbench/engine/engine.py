"""What the workbench reads and writes apart from a session: plugins, store, results, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from textual.message import Message

from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.speakers import SCOPES, Scope
from tabwb.report.summaries.load import AdministrationData, load_administrations
from tabwb.store.store import Store
from tabwb.workbench.engine import catalogue, messages
from tabwb.workbench.engine.snapshots import Catalogue, Trouble
from tabwb.workbench.trial.draft import Ahead, Draft, FieldError, conditions_of, named_aloud

Say = Callable[[Message], object]
RECORD_CONSENT = "once the speaker has agreed, y records it here"


class Archive:
    """Plugins and store; the part of the bench that needs no open session.

    Args:
        say: takes messages to the screen; may be called from any thread.
        location: of the store, or None for the configuration's.
        offline: use no network.
    """

    def __init__(self, say: Say, *, location: str | None = None, offline: bool = False) -> None:
        self.say = say
        self._location = location
        self._offline = offline
        self._catalogue = Catalogue()
        self._plugins: Plugins | None = None
        self._store: Store | None = None
        self.lacking: tuple[Scope, ...] = ()
        """What the speaker of the open administration has not agreed to; read by the screen."""

    @property
    def store(self) -> Store:
        """The open store."""
        if self._store is None:
            raise TabwbError("the store is not open")
        return self._store

    @property
    def plugins(self) -> Plugins:
        """The loaded plugins."""
        if self._plugins is None:
            raise TabwbError("the plugins are not loaded")
        return self._plugins

    def open(self) -> None:
        """Load plugins and open the store; called once."""
        configuration = Configuration.load()
        if self._offline:
            configuration = replace(configuration, offline=True)
        if configuration.offline:
            from tabwb.plugin_api.remote.offline import go_offline

            go_offline()
        self._plugins = Plugins.load(configuration)
        try:
            self._store = Store.open(configuration.store_at(self._location))
        finally:
            self._catalogue = catalogue.read(self._plugins, self._store)
            self.say(messages.Ready(self._catalogue))
        # Read while the person does, so that the first dialog and page come at once.
        for name in ("trial.new_administration", "trial.page", "results.page"):
            import_module(f"tabwb.workbench.{name}")

    def refresh(self) -> None:
        """Read the list of administrations again."""
        administrations = self.store.administrations()
        self._catalogue = replace(
            self._catalogue,
            administrations=administrations,
            interrupted=catalogue.interrupted(self.store),
        )
        self.say(messages.Ready(self._catalogue))

    def check(self, draft: Draft) -> None:
        """Check a draft without beginning anything; may run in any thread.

        Raises:
            TabwbError: why it cannot be begun; a :class:`FieldError` names the field.
        """
        self._conditions(draft)

    def ahead(self, draft: Draft) -> Ahead:
        """What to tell of a draft before it begins; may run in any thread.

        Raises:
            TabwbError: it cannot be begun.
        """
        from tabwb.administer.cost import forecasts
        from tabwb.administer.session.smallest_difference import brief, planned

        battery, conditions = self._conditions(draft)
        when = "afterwards, once all is answered and you say so"
        judging = tuple(one.line(when) for one in forecasts(self.plugins, battery, conditions))
        design: tuple[str, ...] = ()
        if conditions.kind == "model":
            design = tuple(brief(planned(self.plugins, battery, conditions)))
        return Ahead(self.notices(battery, conditions), judging, design)

    def notices(self, battery: Battery, conditions: Conditions) -> tuple[str, ...]:
        """What to tell whoever gives this battery to a person; nothing of a model."""
        from tabwb.administer import consent

        if conditions.guarded and setup.by_microphone(battery, conditions):
            lacking = consent.missing(self.store, self.plugins, conditions, microphone=True)
            if lacking:
                odd = self.plugins.configuration.study.remark(conditions.examinee)
                told = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in lacking)
                words = (
                    f"no microphone will be opened: {conditions.person} has not agreed to {told}"
                )
                return tuple(filter(None, (odd, words, RECORD_CONSENT)))
        return consent.notices(self.store, self.plugins, conditions)

    def results(self, number: int, *, again: bool = False) -> None:
        """Show the results of one administration as they stand in the store."""
        from tabwb.workbench.results.describe import results_of

        primary = self.plugins.configuration.study.primary_rater
        (one,) = load_administrations(self.store, (number,), primary=primary)
        sessions = self._sessions(one)
        others = load_administrations(self.store, sessions, primary=primary) if sessions else ()
        self.say(messages.ResultsReady(results_of(one, others=others), again=again))

    def _sessions(self, one: AdministrationData) -> tuple[int, ...]:
        """Where pictures were named: what else of the same battery the speaker was given."""
        given = one.administration
        if not one.battery.coded:
            return ()
        return tuple(
            each.id
            for each in self.store.administrations()
            if each.conditions.examinee == given.conditions.examinee
            and each.battery_hash == given.battery_hash
            and each.id != given.id
        )

    def export(
        self, numbers: Sequence[int], format_id: str, path: str, *, within_study: bool
    ) -> None:
        """Write the responses of administrations to a file that is not there yet.

        What is wrong with the destination is told to the dialog, which still stands.
        """
        from tabwb.report.documents import exporting
        from tabwb.report.documents.exporting import check_destination

        try:
            out = check_destination(Path(path)).absolute()
            permit = exporting.export(
                self.store, self.plugins, numbers, format_id, out, within_study=within_study
            )
        except TabwbError as error:
            refused = Trouble.of("The file could not be written", error)
            self.say(messages.Exported(refused=refused))
        else:
            self.say(messages.Exported(str(out)))
            if permit.notice:
                self.say(messages.Told(permit.notice))

    def _conditions(self, draft: Draft) -> tuple[Battery, Conditions]:
        asked = conditions_of(draft)
        try:
            battery = setup.find_battery(self.plugins, draft.battery.strip())
        except TabwbError as error:
            raise FieldError("battery", str(error)) from error
        if asked.kind == "speaker" and battery.spoken:
            asked = named_aloud(asked, draft, judged=battery.judged_aloud)
        for field, kind, specs in (
            ("model", "models", (asked.examinee,) if asked.kind == "model" else ()),
            ("transcriber", "transcribers", filter(None, (asked.transcriber,))),
            ("judges", "judges", asked.judges),
        ):
            for spec in specs:
                try:
                    self.plugins.resolve(kind, spec)  # type: ignore[arg-type]
                except TabwbError as error:
                    raise FieldError(
                        field, error.message, error.allowed or "", error.hint or ""
                    ) from error
        person = asked.kind == "speaker"
        if person and "speaker" not in battery.examinees and not asked.research_protocol:
            raise FieldError(
                "research_protocol",
                f"'{battery.id}' is made for models; in a study, name its approved protocol",
            )
        return battery, setup.resolve(self.plugins, battery, asked)

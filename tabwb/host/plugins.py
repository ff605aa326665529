"""The plugins of one start of the program: finds, checks and makes components, calls observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tabwb.battery.task_type import TaskType, use_tasks_of
from tabwb.host.guarded import error_words, plugin_code
from tabwb.host.index import (
    EXTENSIONS,
    KINDS,
    MEASURES,
    BatteryIndex,
    Component,
    Extended,
    ExtensionIndex,
    Registry,
    battery_file,
)
from tabwb.host.loading import (
    LOADING,
    NOT_LOADED,
    OBSERVER,
    OLD_HOOK,
    ON_EVENT,
    READING,
    Loader,
    PluginProblem,
    old_observer,
)
from tabwb.host.making import make_component, resolved
from tabwb.host.settings import Configuration, Profile, number_of_parameters
from tabwb.plugin_api.components import (
    Exporter,
    Importer,
    Judge,
    LesionableBackend,
    ModelBackend,
    Scorer,
    Transcriber,
)
from tabwb.plugin_api.descriptors import BatterySource, ComponentKind, Descriptor
from tabwb.plugin_api.extensions import ExtensionKind, Statistic
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.ratings import PluginVersion
from tabwb.records.speakers import Study
from tabwb.records.specs import Spec, inner_spec, is_writable, parse_spec
from tabwb.records.states import ResponseKind

if TYPE_CHECKING:
    import pluggy

    from tabwb.host.prices import Price
    from tabwb.records import events

CLOSING = "closing"
"""``PluginProblem.what`` where ``close`` of a component failed."""


class Plugins:
    """All plugins of this start of the program. Made by :meth:`load`.

    Hooks that register components are called when components of their kind are first looked for.

    Attributes:
        configuration: the user's settings.
        plugins: those that could be loaded, installed ones first.
        seconds: that each took to be imported.
    """

    def __init__(self, configuration: Configuration, loader: Loader, *, dry: bool) -> None:
        self.configuration = configuration
        self._dry = dry
        self._hooks = loader.manager.hook
        self._object_of = loader.manager.get_plugin
        self._versions: dict[str, PluginVersion | None] = {}
        self.plugins = tuple(loader.loaded)
        self.seconds = loader.seconds
        self._own = {one.name for one in self.plugins if one.is_ours}
        self._problems = loader.problems
        self._decorated = loader.decorated
        self._registries: dict[ComponentKind, Registry] = {}
        self._batteries: BatteryIndex | None = None
        self._extensions: dict[ExtensionKind, ExtensionIndex] = {}
        self._closing: list[Callable[[], None]] = []
        use_tasks_of(self)

    @classmethod
    def load(
        cls,
        configuration: Configuration | None = None,
        *,
        dry: bool = False,
        modules: Mapping[str, object] | None = None,
    ) -> Plugins:
        """Load every installed plugin and every plugin folder that may be used.

        Args:
            configuration: the user's settings; read from its files when None.
            dry: nothing will be sent to a model: its packages and the network may be missing.
            modules: name of an entry point to the plugin, for plugins under test that are not
                installed; an installed plugin of that name is used instead.
        """
        settings = Configuration.load() if configuration is None else configuration
        loader = Loader(settings)
        loader.load_all(modules or {})
        return cls(settings, loader, dry=dry)

    @property
    def problems(self) -> tuple[PluginProblem, ...]:
        """Every failure so far; all components are registered first."""
        for component in KINDS:
            self._registry(component)
        self._battery_index()
        for kind in EXTENSIONS:
            self.extensions(kind)
        return tuple(self._problems)

    def components(self, kind: ComponentKind) -> tuple[Component, ...]:
        """Return the usable components of a kind, with their owners."""
        return self._registry(kind).usable

    def descriptors(self, kind: ComponentKind) -> tuple[Descriptor, ...]:
        """Return the descriptors of the usable components of a kind."""
        return tuple(component.descriptor for component in self.components(kind))

    def batteries(self) -> tuple[BatterySource, ...]:
        """Return the batteries of plugins by id, without those registered twice."""
        return tuple(sorted(self._battery_index().usable, key=lambda one: one.id))

    def extensions(self, kind: ExtensionKind) -> tuple[Extended, ...]:
        """Return the statistics, commands or pages of plugins, with their owners."""
        if kind not in self._extensions:
            index = self._extensions[kind] = ExtensionIndex(kind)
            self._fill(index, kind)
        return self._extensions[kind].usable

    def unused(self, kind: ExtensionKind) -> tuple[str, ...]:
        """Return a line for each plugin that is not loaded or whose extensions are refused."""
        self.extensions(kind)
        noun = EXTENSIONS[kind][0]
        return tuple(
            f"not used: {problem.plugin}: {problem.what}: {'; '.join(problem.error.splitlines())}"
            for problem in self._problems
            if problem.what in (LOADING, NOT_LOADED, READING, f"tabwb_register_{kind}")
            or problem.what.startswith(f"{noun} '")
        )

    @cached_property
    def study(self) -> Study:
        """The settings of the study, with the kinds of subjects that plugins bring."""
        kinds = [given.extension for given in self.extensions("subjects")]
        return self.configuration.study.with_kinds(kinds)

    def tasks(self) -> tuple[TaskType, ...]:
        """Return the task types of plugins."""
        return tuple(given.extension for given in self.extensions("tasks"))

    def statistics(self) -> tuple[Statistic, ...]:
        """Return the statistics of plugins."""
        return tuple(given.extension for given in self.extensions("statistics"))

    def resolve(
        self, kind: ComponentKind, spec: str, *, used: bool = True
    ) -> tuple[Descriptor, Spec]:
        """Return the descriptor of a spec and the spec to store, without heavy imports.

        Aliases and profiles are replaced in the spec to store. A profile whose values no spec can
        hold stays ``profile:NAME``. Raises what :func:`~.making.resolved` raises.

        Args:
            kind: of the component.
            spec: as the user wrote it.
            used: whether it will be used; otherwise its packages and the network may be missing.
        """
        component, expanded = self._resolve(kind, spec, used=used)
        parsed = parse_spec(spec)
        stays = parsed.id == "profile" and not is_writable(expanded)
        return component.descriptor, parsed if stays else expanded

    def version_of(self, kind: ComponentKind, spec: str) -> PluginVersion | None:
        """Return package, version and hash of the plugin that makes a component; None: no plugin.

        Args:
            kind: of the component.
            spec: of the component.
        """
        try:
            owner = self._find(kind, parse_spec(spec).id).owner
        except UsageError:
            return None
        if owner not in self._versions:
            from tabwb.host.settings import identity_of

            info = next(info for info in self.plugins if info.name == owner)
            self._versions[owner] = identity_of(
                self._object_of(owner), info.distribution, info.version
            )
        return self._versions[owner]

    def stands_for(self, kind: ComponentKind, spec: str) -> Spec:
        """Return the spec with aliases and profiles replaced, also where no text can hold it.

        Args:
            kind: of the component.
            spec: as the user wrote it.
        """
        return self._resolve(kind, spec)[1]

    def reaches_out(self, kind: ComponentKind, spec: str) -> bool:
        """Return whether the component of a spec, or the one inside it, needs a network.

        Args:
            kind: of the component.
            spec: as the user wrote it.
        """
        component, expanded = self._resolve(kind, spec)
        descriptor = component.descriptor
        if descriptor.reaches_out(expanded):
            return True
        wraps = descriptor.wraps
        return wraps is not None and self.reaches_out(wraps, inner_spec(expanded))

    def labels_of(self, spec: str) -> dict[str, str]:
        """Return the profile that a spec names, if any, with its labels (family, tuning ...)."""
        parsed = parse_spec(spec)
        name = parsed.name or ""
        profile = self.configuration.profiles.get(name)
        if parsed.id != "profile" or profile is None:
            return {}
        return {**profile.labels, "profile": name}

    def profile_of(
        self, name: str, spec: str, family: str, tuning: str, parameters: str
    ) -> Profile:
        """Return the profile of the fields of a form, its spec resolved.

        Where the profile of this name already has the same spec, the spec stays as the user wrote
        it (an alias, or a path with ``~``).

        Args:
            name: of the profile.
            spec: of the model.
            family: of the model, or empty.
            tuning: ``base``, ``instruct`` or empty.
            parameters: number of parameters, as people write it, or empty.
        """
        expanded = self.stands_for("models", spec)
        known = self.configuration.profiles.get(name)
        with suppress(TabwbError):  # a profile that cannot be used may be replaced
            if known is not None and expanded == self.stands_for("models", f"profile:{name}"):
                expanded = known.spec
        count = number_of_parameters(parameters) if parameters.strip() else None
        return Profile(expanded, "", family.strip(), tuning, count)

    def open_model(self, spec: str, lesion: str | None = None) -> ModelBackend:
        """Return the model back end of a spec; its ``open`` loads it or starts its process.

        Args:
            spec: of the model.
            lesion: the spec of the lesion under which it answers, or None.

        Raises:
            UsageError: models of this spec cannot be lesioned.
        """
        backend = self._open("models", spec)
        if lesion:
            if not isinstance(backend, LesionableBackend):
                raise self.no_lesions(spec)
            backend.lesion(lesion)
        return cast("ModelBackend", backend)

    def no_lesions(self, spec: str) -> UsageError:
        """Return the error for a lesion of a model that cannot have one."""
        able = [one.id for one in self.descriptors("models") if one.lesions]
        return UsageError(f"'{spec}' cannot be lesioned", allowed=", ".join(able))

    def no_activations(self, spec: str) -> UsageError:
        """Return the error for the localizer with a model whose units cannot be measured."""
        able = [one.id for one in self.descriptors("models") if one.activations]
        message = f"'{spec}' gives no activations of its units, which the localizer needs"
        return UsageError(message, allowed=", ".join(able))

    def open_transcriber(self, spec: str) -> Transcriber:
        """Return the transcriber of a spec, not yet opened; see :meth:`open_model`."""
        return cast("Transcriber", self._open("transcribers", spec))

    def _open(self, kind: ComponentKind, spec: str) -> Any:
        component, expanded = self._resolve(kind, spec)
        if component.descriptor.runs == "here":
            return self._make(component, expanded)
        from tabwb.host.process import PROXIES

        proxy = PROXIES[kind](component.descriptor, expanded, self.configuration)
        self._closing.append(proxy.close)
        return proxy

    def make_here(self, kind: ComponentKind, spec: Spec) -> Any:
        """Return the component itself, in this process; called by the child host.

        Args:
            kind: of the component.
            spec: resolved.
        """
        return self._make(self._find(kind, spec.id), spec)

    def judge(self, spec: str) -> Judge:
        """Return the judge of a spec."""
        return cast("Judge", self._make(*self._resolve("judges", spec)))

    def price_behind(self, judge: Judge) -> Price | None:
        """Return the price of the model that a judge asks; free where it asks none."""
        from tabwb.host.prices import FREE

        return self.price(judge.examinee) if judge.examinee else FREE

    def price(self, spec: str) -> Price | None:
        """Return the price of a model, or None where it is unknown."""
        from tabwb.host.prices import price_of

        component, expanded = self._resolve("models", spec)
        local = not component.descriptor.reaches_out(expanded)
        return price_of(expanded, local=local, config_dir=self.configuration.config_dir)

    def reply_tokens(self, spec: str, limit: int) -> int:
        """Return the most tokens of a model's reply, reasoning included.

        Args:
            spec: of the model.
            limit: the most tokens of its text.
        """
        component, expanded = self._resolve("models", spec)
        most = component.descriptor.reply_tokens
        return limit if most is None else most(expanded, limit)

    def reply_tokens_behind(self, judge: Judge, limit: int) -> int:
        """Return the most tokens of one reply of the model that a judge asks.

        Args:
            judge: its model need not be registered; then the limit is returned.
            limit: the most tokens of the reply's text.
        """
        with suppress(TabwbError):
            if judge.examinee:
                return self.reply_tokens(judge.examinee, limit)
        return limit

    def scorer(self, spec: str) -> Scorer:
        """Return the scorer of a spec."""
        return cast("Scorer", self._make(*self._resolve("scorers", spec)))

    def exporter(self, spec: str) -> Exporter:
        """Return the exporter of a spec."""
        return cast("Exporter", self._make(*self._resolve("exporters", spec)))

    def options_of(self, kind: ComponentKind, spec: str) -> dict[str, str]:
        """Return the names of the options of a component, with what they mean."""
        declared = self._find(kind, parse_spec(spec).id).descriptor.options
        if declared is None:
            return {}
        with plugin_code:
            return {
                name: field.description or "" for name, field in declared().model_fields.items()
            }

    def importer(self, spec: str) -> Importer:
        """Return the importer of a spec."""
        return cast("Importer", self._make(*self._resolve("importers", spec)))

    def _make_inner(self, descriptor: Descriptor, spec: Spec) -> Any:
        if descriptor.wraps == "models":
            return self.open_model(inner_spec(spec))
        assert descriptor.wraps is not None
        return self._make(*self._resolve(descriptor.wraps, inner_spec(spec)))

    def find_battery(self, argument: str) -> Path:
        """Return the file of a battery; an argument with ``/`` or ending in ``.toml`` is a path.

        Raises:
            UsageError: there is none, or two plugins register one with this id.
        """
        if "/" in argument or argument.endswith(".toml"):
            return battery_file(argument)
        try:
            return self._battery_index().find(argument)
        except UsageError as error:
            raise self._with_unloaded(error) from None

    def observes(self, kind: type[events.Event]) -> bool:
        """Return whether any plugin observes this class of events."""
        callers = (self._caller(ON_EVENT), self._caller(old_observer(kind.__name__)))
        return any(caller is not None and caller.get_hookimpls() for caller in callers)

    def observing(self, plugin: str) -> tuple[str, ...]:
        """Return the hooks, old ones too, with which a plugin observes events."""
        old = [one.what.removeprefix(f"{OLD_HOOK} ") for one in self.old_hooks]
        callers = ((hook, self._caller(hook)) for hook in dict.fromkeys((ON_EVENT, *old)))
        return tuple(
            hook
            for hook, caller in callers
            if caller is not None
            and any(impl.plugin_name == plugin for impl in caller.get_hookimpls())
        )

    @property
    def failed_observers(self) -> tuple[PluginProblem, ...]:
        """Observers that raised, each once."""
        return tuple(item for item in self._problems if item.what.startswith(OBSERVER))

    @property
    def old_hooks(self) -> tuple[PluginProblem, ...]:
        """Hooks that plugins have by their old names."""
        return tuple(item for item in self._problems if item.what.startswith(OLD_HOOK))

    @property
    def failed_closings(self) -> tuple[PluginProblem, ...]:
        """Components whose ``close`` failed or did not end, each once."""
        return tuple(dict.fromkeys(item for item in self._problems if item.what == CLOSING))

    def notify(self, event: events.Event, *, only: str = "") -> None:
        """Call every observer of an event, or that of one plugin; a failure is kept as a problem.

        Args:
            event: what happened.
            only: the name of a plugin.
        """
        for hook in (ON_EVENT, old_observer(type(event).__name__)):
            self._call_each(hook, lambda name: {"event": event}, only)

    def close(self) -> None:
        """End the child processes that still run; may be called twice."""
        while self._closing:
            self._closing.pop()()

    def _call_each(
        self, hook: str, arguments: Callable[[str], dict[str, Any]], only: str = ""
    ) -> None:
        # One by one, because pluggy stops at the first that raises.
        caller = self._caller(hook)
        for impl in () if caller is None else caller.get_hookimpls():
            if impl.wrapper or impl.hookwrapper or only not in ("", impl.plugin_name):
                continue
            given = arguments(impl.plugin_name)
            with self._kept(impl.plugin_name, hook):
                impl.function(*(given[name] for name in impl.argnames))

    @contextmanager
    def _kept(self, plugin: str, hook: str) -> Iterator[None]:
        """Keep the failure of a plugin as a problem."""
        try:
            with plugin_code:
                yield
        except Exception as error:  # noqa: BLE001 - a plugin's implementation failed
            # The first failure is kept: an observer may raise for every piece of a reply.
            if not any((plugin, hook) == (p.plugin, p.what) for p in self._problems):
                self._problems.append(PluginProblem(plugin, hook, error_words(error)))

    def _caller(self, hook: str) -> pluggy.HookCaller | None:
        return getattr(self._hooks, hook, None)

    def _find(self, kind: ComponentKind, word: str) -> Component:
        try:
            return self._registry(kind).find(word)
        except UsageError as error:
            raise self._with_unloaded(error) from None

    def _with_unloaded(self, error: UsageError) -> UsageError:
        # The plugins that are not loaded, or failed to register: the name may be there.
        hints = [error.hint] if error.hint else []
        for problem in self._problems:
            reason = "; ".join(problem.error.splitlines()[:3])
            if problem.what in (LOADING, NOT_LOADED, READING):
                hints.append(f"not loaded: {problem.plugin} ({reason})")
            elif problem.what.startswith("tabwb_") and not problem.what.startswith(OBSERVER):
                hints.append(f"failed: {problem.plugin} ({problem.what}: {reason})")
        return UsageError(error.message, allowed=error.allowed, hint="; ".join(hints))

    def _registry(self, kind: ComponentKind) -> Registry:
        if kind not in self._registries:
            registry = self._registries[kind] = Registry(kind)
            self._fill(registry, kind)
        return self._registries[kind]

    def _battery_index(self) -> BatteryIndex:
        if self._batteries is None:
            self._batteries = BatteryIndex("battery")
            self._fill(self._batteries, "batteries")
        return self._batteries

    def reserved(self, kind: str) -> set[str]:
        """Return ids and aliases that tabwb's own have of a kind: ``scorers``, ``batteries``."""
        if kind in KINDS:
            return self._registry(cast("ComponentKind", kind)).reserved(self._own)
        if kind == "batteries":
            return self._battery_index().reserved(self._own)
        self.extensions(cast("ExtensionKind", kind))
        words = self._extensions[cast("ExtensionKind", kind)].reserved(self._own)
        more = {"statistics": MEASURES, "tasks": frozenset(map(str, ResponseKind))}
        return words.union(more.get(kind, ()))

    def _fill(self, registry: Registry | BatteryIndex | ExtensionIndex, kind: str) -> None:
        hook = f"tabwb_register_{kind}"
        self._call_each(hook, lambda plugin: {"register": partial(registry.add, owner=plugin)})
        for plugin, of, made in self._decorated:
            if of == kind:
                with self._kept(plugin, hook):
                    registry.add(made, owner=plugin)
        noun = registry.noun
        for word, owner in registry.take_back(self._own):
            error = f"'{word}' is an id of tabwb; it is not used until it is renamed"
            self._problems.append(PluginProblem(owner, f"{noun} '{word}'", error))
        for word, owners in registry.conflicts:
            twice = f"'{owners[0]}', {len(owners)} times"
            several = " and ".join(f"'{owner}'" for owner in owners)
            names = several if len(set(owners)) > 1 else twice
            error = f"is registered by {names}; neither is used until one is renamed"
            places = ", ".join(dict.fromkeys(owners))
            self._problems.append(PluginProblem(places, f"{noun} '{word}'", error))

    def _resolve(
        self, kind: ComponentKind, text: str, *, used: bool = True
    ) -> tuple[Component, Spec]:
        dry = self._dry or not used
        return resolved(kind, text, self.configuration, self._find, dry=dry)

    def _make(self, component: Component, spec: Spec) -> Any:
        inner = partial(self._make_inner, component.descriptor, spec)
        return make_component(component, spec, inner, partial(self._close_failed, component.owner))

    def _close_failed(self, owner: str, error: str) -> None:
        self._problems.append(PluginProblem(owner, CLOSING, error))

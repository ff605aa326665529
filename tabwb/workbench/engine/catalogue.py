"""Reads the catalogue: batteries, model back ends, judges, export formats, administrations."""

from __future__ import annotations

from collections.abc import Iterator

from tabwb.battery.loader import load_battery
from tabwb.plugin_api.descriptors import ComponentKind, Descriptor
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import TabwbError
from tabwb.store import takes
from tabwb.store.store import Store
from tabwb.workbench.engine.view_models import BatteryEntry, Catalogue, ModelEntry


def read(plugins: Plugins, store: Store | None) -> Catalogue:
    """Return the catalogue; entries with a problem are listed with it."""
    return Catalogue(
        batteries=tuple(_batteries(plugins)),
        models=(
            *(_profile(plugins, name) for name in sorted(plugins.configuration.profiles)),
            *(_entry(plugins, "models", one) for one in plugins.descriptors("models")),
        ),
        transcribers=tuple(
            _entry(plugins, "transcribers", one) for one in plugins.descriptors("transcribers")
        ),
        judges=tuple(
            (f"{one.id}:" if one.name_required else one.id, one.title)
            for one in plugins.descriptors("judges")
        ),
        exporters=tuple((one.id, one.title) for one in plugins.descriptors("exporters")),
        administrations=store.administrations() if store is not None else (),
        interrupted=interrupted(store) if store is not None else (),
        store=store.location if store is not None else "",
        offline=plugins.configuration.offline,
        theme=plugins.configuration.theme or "",
        problems=tuple(str(problem) for problem in plugins.problems),
    )


def interrupted(store: Store) -> tuple[int, ...]:
    """Return the administrations whose interrupted recording is not kept yet."""
    parts = takes.interrupted(store)
    if not parts:
        return ()
    from tabwb.speech.wav import is_growing

    uids = {takes.whose(path) for path in parts if not is_growing(path)}
    return tuple(one.id for one in store.administrations() if one.uid in uids)


def _batteries(plugins: Plugins) -> Iterator[BatteryEntry]:
    for source in plugins.batteries():
        try:
            battery = load_battery(source.path)
        except TabwbError as error:
            yield BatteryEntry(source.id, source.id, "", 0, (), str(error))
        else:
            yield BatteryEntry(
                battery.id,
                battery.title,
                battery.version,
                battery.n_items,
                battery.examinees,
                aloud=battery.spoken,
            )


def _entry(plugins: Plugins, kind: ComponentKind, descriptor: Descriptor) -> ModelEntry:
    shape = descriptor.id
    spec = descriptor.id
    if descriptor.name_help:
        name = f":{descriptor.name_help}"
        shape += name if descriptor.name_required else f"[{name}]"
        spec += ":" if descriptor.name_required else ""
    hindrance = ""
    try:
        # With a name that stands for any, so that only extras and the network are asked about.
        plugins.resolve(kind, f"{descriptor.id}:x" if descriptor.name_required else descriptor.id)
    except TabwbError as error:
        hindrance = error.message
    return ModelEntry(descriptor.id, spec, shape, descriptor.title, descriptor.remarks, hindrance)


def _profile(plugins: Plugins, name: str) -> ModelEntry:
    spec = f"profile:{name}"
    profile = plugins.configuration.profiles[name]
    said = ", ".join(filter(None, (str(profile.spec), profile.family, profile.tuning)))
    hindrance = ""
    try:
        plugins.resolve("models", spec)
    except TabwbError as error:
        hindrance = error.message
    return ModelEntry("profile", spec, spec, said, "", hindrance, profile)

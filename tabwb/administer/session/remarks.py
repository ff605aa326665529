"""What is idle in an administration: replicates, judges and features that add nothing."""

from __future__ import annotations

from tabwb.administer.session.plan import choices_never_vary, nothing_varies
from tabwb.battery.available import english_prompt, unavailable
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge
from tabwb.records.conditions import Conditions
from tabwb.records.words import plural


def recorded_replicates(plugins: Plugins, conditions: Conditions) -> int:
    """Return how many replicates a model of recorded answers holds; 0 for any other examinee."""
    if conditions.kind != "model":
        return 0
    descriptor, spec = plugins.resolve("models", conditions.examinee)
    return 0 if descriptor.replicates is None else descriptor.replicates(spec)


def idle_replicates(plugins: Plugins, battery: Battery, conditions: Conditions) -> str:
    """Return a sentence about replicates that say nothing new or are left out, or nothing."""
    if recorded := recorded_replicates(plugins, conditions):
        if recorded <= conditions.replicates:
            return ""
        return (
            f"the file holds {recorded} replicates of the items, and this run gives "
            f"{conditions.replicates}: set {recorded} replicates to give them all"
        )
    if nothing_varies(battery, conditions):
        return (
            "greedy decoding and nothing that varies: the replicates will be identical "
            "and count once (a temperature or shuffled options make them differ)"
        )
    if conditions.kind != "model":
        return ""
    # Under protocol likelihood the engine takes the most likely option, whatever the back end.
    unsampled = {*plugins.resolve("models", conditions.examinee)[0].unsampled, "likelihood"}
    if choices_never_vary(battery, conditions, unsampled):
        return (
            f"under the protocol '{conditions.protocol.value}' this model takes the most probable "
            "option whatever the temperature: replicates of items with options will be identical "
            "and count once; the other answers are sampled"
        )
    return ""


def idle_judges(battery: Battery, conditions: Conditions, *, asked: bool = True) -> str:
    """Return a sentence about judges that have nothing to rate in this battery, or nothing."""
    if battery.features or not conditions.judges:
        return ""
    if not asked and not any(subtest.task.connected for subtest in battery.subtests):
        return ""
    return (
        f"battery '{battery.id}' has no features, so no judge rates it (features can be copied: "
        "tabwb battery new NAME --features tab)"
    )


def unknown_features(battery: Battery, judge: Judge) -> str:
    """Return a sentence about features of a judge that the battery does not have, or nothing."""
    known = [feature.id for feature in battery.features]
    unknown = [feature for feature in judge.features if feature not in known]
    if not known or not unknown:
        return ""
    left = len(judge.features) - len(unknown)
    return (
        f"battery '{battery.id}' does not have {plural(len(unknown), 'feature')} of judge "
        f"'{judge.rater}': {', '.join(unknown)}; "
        + (f"its burden is over {plural(left, 'feature')}" if left else "it gives no burden")
        + f" (the battery has: {', '.join(known)})"
    )


def before_run(
    plugins: Plugins, battery: Battery, conditions: Conditions, *, asked: bool = True
) -> tuple[str, ...]:
    """Return what must be known before a battery is given: judges, features and language."""
    said = [idle_judges(battery, conditions, asked=asked)]
    if asked:
        said += [unknown_features(battery, plugins.judge(spec)) for spec in conditions.judges]
    said += of_language(battery)
    for spec in conditions.judges:
        if plugins.resolve("judges", spec)[0].wraps is not None:
            said.append(english_prompt(battery, spec))
    return tuple(filter(None, said))


def of_language(battery: Battery) -> tuple[str, ...]:
    """Return the sentence about what is not available in the language of a battery, if any."""
    missing = unavailable(battery)
    return (f"battery '{battery.id}': {missing}",) if missing else ()

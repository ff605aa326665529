"""The plan of an administration: every presentation of every item, fixed before the first prompt.

Order and option order are data of the plan, so that a resumed run continues exactly as planned.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from tabwb.battery.available import english_prompt, unavailable
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.prompts import PromptNoise, parse_noise, perturbed, render_prompt
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import Judge
from tabwb.records.conditions import Conditions
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural


def plan_trials(battery: Battery, conditions: Conditions) -> tuple[PlannedTrial, ...]:
    """Return every trial in the order given: replicate by replicate, subtest by subtest.

    Practice items come once, first in their subtest. Items are shuffled within their subtest only,
    because the instructions belong to it. Each shuffle has its own seed, so that adding a
    subtest does not change the order of the others. A rotated choice item is given once per
    rotation.
    """
    noise = None if conditions.prompt_noise is None else parse_noise(conditions.prompt_noise)
    trials: list[PlannedTrial] = []
    for replicate in range(conditions.replicates):
        for subtest, given in given_items(battery, conditions):
            for item in _items(subtest, given, conditions, replicate):
                shown = item if noise is None else _under(noise, subtest, item)
                for options in _option_orders(subtest, item, conditions, replicate):
                    trials.append(
                        PlannedTrial(
                            number=len(trials) + 1,
                            subtest=subtest.id,
                            item=item.id,
                            replicate=replicate,
                            options=options,
                            prompt=render_prompt(subtest, shown, options),
                            practice=item.practice,
                        )
                    )
    return tuple(trials)


def _under(noise: PromptNoise, subtest: Subtest, item: Item) -> Item:
    """Return an item with its text under noise; options, answers and all else are as they were."""
    return replace(item, prompt=perturbed(noise, item.prompt, f"{subtest.id}/{item.id}"))


def given_items(
    battery: Battery, conditions: Conditions
) -> Iterator[tuple[Subtest, tuple[Item, ...]]]:
    """Yield each subtest of which something is given, with its items; practice is not among
    them.
    """
    named = conditions.part_items
    for subtest in battery.subtests:
        if conditions.part_subtests and subtest.id not in conditions.part_subtests:
            continue
        items = [
            item
            for item in subtest.items
            if not item.practice
            and (not named or item.id in named or f"{subtest.id}/{item.id}" in named)
        ]
        if items:
            yield subtest, tuple(items[: conditions.part_limit])


def _items(
    subtest: Subtest, given: Sequence[Item], conditions: Conditions, replicate: int
) -> Sequence[Item]:
    practice = [item for item in subtest.items if item.practice and replicate == 0]
    items = list(given)
    if conditions.item_order == "shuffled":
        _generator(conditions, replicate, subtest.id).shuffle(items)
    return practice + items


def _option_orders(
    subtest: Subtest, item: Item, conditions: Conditions, replicate: int
) -> Iterator[tuple[str, ...]]:
    options = item.options
    if item.practice or len(options) < 2 or conditions.option_order == "as-given":
        yield options
    elif conditions.option_order == "shuffled":
        shuffled = list(options)
        _generator(conditions, replicate, f"{subtest.id}/{item.id}").shuffle(shuffled)
        yield tuple(shuffled)
    else:
        for shift in range(len(options)):
            yield options[shift:] + options[:shift]


def _generator(conditions: Conditions, replicate: int, place: str) -> random.Random:
    # A string seed is hashed with SHA-512, the same on every platform and Python version.
    return random.Random(f"{conditions.seed}/{replicate}/{place}")


def nothing_varies(battery: Battery, conditions: Conditions) -> bool:
    """Return whether replicates of a greedy model can only repeat each other."""
    if conditions.kind != "model" or conditions.replicates < 2 or not conditions.decoding.greedy:
        return False
    if conditions.conversation and conditions.item_order == "shuffled":
        return False
    has_options = any(
        len(item.options) > 1 for _, items in given_items(battery, conditions) for item in items
    )
    return not (conditions.option_order == "shuffled" and has_options)


def choices_never_vary(
    battery: Battery, conditions: Conditions, unsampled: Collection[str]
) -> bool:
    """Return whether replicates differ, but not those of items that are answered by an option."""
    if conditions.kind != "model" or conditions.replicates < 2 or conditions.conversation:
        return False
    if conditions.decoding.greedy or conditions.protocol.value not in unsampled:
        return False
    given = tuple(given_items(battery, conditions))
    if any(subtest.task.answers for subtest, _ in given):
        return True
    has_options = any(item.options for _, items in given for item in items)
    return has_options and conditions.option_order != "shuffled"


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

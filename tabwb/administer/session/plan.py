"""The plan of an administration: every presentation of every item, fixed before the first prompt.

Order and option order are data of the plan, so that a resumed run continues exactly as planned.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.prompt_noise import PromptNoise, parse_noise, perturbed
from tabwb.battery.prompts import render_prompt
from tabwb.records.conditions import Conditions
from tabwb.records.trials import PlannedTrial


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

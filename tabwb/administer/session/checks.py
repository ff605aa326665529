"""Checks of conditions against a battery and the components, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import LikelihoodBackend
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import check_id
from tabwb.records.states import Protocol
from tabwb.records.words import did_you_mean


def check_raters(plugins: Plugins, battery: Battery, conditions: Conditions) -> None:
    """Check that every scorer of a battery is there, and that the examinee may be given it."""
    for subtest in battery.subtests:
        for scorer in subtest.scorers:
            plugins.resolve("scorers", scorer)
    _check_examinee(battery, conditions)


def resolved_judges(plugins: Plugins, specs: Iterable[str]) -> tuple[str, ...]:
    """Return the specs of judges as they are stored, each once."""
    judges = dict.fromkeys(str(plugins.resolve("judges", spec)[1]) for spec in specs)
    for judge in judges:
        plugins.judge(judge)  # one that cannot be made is better known now than after all answers
    return tuple(judges)


def lacks_protocol(battery: Battery, conditions: Conditions) -> bool:
    """Return whether a battery for models would be given to a person outside a study."""
    for_models = "speaker" not in battery.examinees
    return conditions.kind == "speaker" and for_models and not conditions.research_protocol


def _check_examinee(battery: Battery, conditions: Conditions) -> None:
    if lacks_protocol(battery, conditions):
        raise UsageError(
            f"'{battery.id}' is made for models, not for people"
            + (f": {battery.disclaimer}" if battery.disclaimer else ""),
            hint="in a study, name its approved protocol: --research-protocol ID",
        )
    if conditions.kind == "speaker":
        check_id(conditions.examinee)
    elif "model" not in battery.examinees:
        raise UsageError(
            f"'{battery.id}' is not made for models", allowed=", ".join(battery.examinees)
        )


def check_protocol(plugins: Plugins, conditions: Conditions) -> None:
    """Check that an examinee can answer under the protocol of items with options."""
    protocols: tuple[str, ...] = (Protocol.GENERATE.value,)
    examinee = conditions.examinee
    if conditions.kind == "model":
        descriptor, spec = plugins.resolve("models", examinee)
        examinee, protocols = str(spec), descriptor.answers_under
        if conditions.protocol is Protocol.LIKELIHOOD and descriptor.runs == "here":
            with closing(plugins.open_model(examinee)) as backend:
                if isinstance(backend, LikelihoodBackend):
                    return
    if conditions.protocol.value not in protocols:
        raise UsageError(
            f"'{examinee}' cannot answer under the protocol '{conditions.protocol.value}'",
            allowed=", ".join(protocols),
        )


def check_part(battery: Battery, conditions: Conditions) -> None:
    """Check that a battery has the subtests and items to which conditions limit it."""
    subtests = [subtest.id for subtest in battery.subtests]
    for name in conditions.part_subtests:
        if name not in subtests:
            raise UsageError(
                f"'{battery.id}' has no subtest '{name}'" + did_you_mean(name, subtests),
                allowed=", ".join(subtests),
            )
    own = [
        (subtest.id, item.id)
        for subtest in battery.subtests
        for item in subtest.items
        if not item.practice
        and (not conditions.part_subtests or subtest.id in conditions.part_subtests)
    ]
    known = {name for subtest, item in own for name in (item, f"{subtest}/{item}")}
    for name in conditions.part_items:
        if name not in known:
            chosen = " in the chosen subtests" if conditions.part_subtests else ""
            raise UsageError(
                f"'{battery.id}' has no item '{name}'{chosen}" + did_you_mean(name, known),
                allowed=", ".join(item for _, item in own),
            )

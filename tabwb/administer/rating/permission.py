"""Whether a person may rate a sample: consents, and the log of who rated whose responses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tabwb.administer.consent import Guard, check
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import NoConsent, UsageError
from tabwb.records.rating_sets import Sample
from tabwb.store.store import Store


def agrees(store: Store, plugins: Plugins, conditions: Conditions) -> bool:
    """Return whether whoever answered agrees to rating; nothing is logged. Models always do."""
    try:
        Guard(store, plugins, conditions).check_listening("")
    except NoConsent:
        return False
    return True


def refuse_program(plugins: Plugins, code: str) -> None:
    """Refuse a person's code by which a judge or a scorer is found."""
    programs = (*plugins.descriptors("judges"), *plugins.descriptors("scorers"))
    if any(code in (one.id, *one.aliases) for one in programs):
        raise UsageError(
            f"'{code}' is a judge or a scorer, not a person",
            hint="choose another code for the person, for example R2",
        )


def may_rate(store: Store, plugins: Plugins, sample: Sample, rater: str) -> bool:
    """Return whether a speaker agrees to rating; it is logged, once for each administration."""
    conditions = store.administration(sample.administration).conditions
    try:
        acts = Guard(store, plugins, conditions).check_listening(rater)
    except NoConsent:
        return False
    for act in acts:
        entry = replace(act, administration=sample.administration)
        known = store.people.log_entries(act.speaker, sample.administration)
        if not any((one.act, one.detail) == (act.act, act.detail) for one in known):
            store.people.log(entry)
    return True


def check_sending(store: Store, samples: Iterable[Sample]) -> None:
    """Refuse to show samples on other computers without the consent of every speaker."""
    for number in sorted({sample.administration for sample in samples}):
        conditions = store.administration(number).conditions
        if conditions.guarded:
            check(store, conditions.person, "remote")

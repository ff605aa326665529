"""The naming trials of an administration as the rules score them, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabwb.administer.naming.scores import Naming, naming_of
from tabwb.administer.naming.views import speech_of, view_of
from tabwb.battery.model import Battery
from tabwb.battery.naming import NamingRules, listed_words, naming_item
from tabwb.records.states import ResponseKind
from tabwb.records.trials import Trial
from tabwb.scoring.naming.case import Earlier


def namings(
    battery: Battery,
    trials: Sequence[Trial],
    primary: str = "",
    speaker: Mapping[str, object] | None = None,
) -> tuple[Naming, ...]:
    """Every naming trial, whether it was given or not; each knows what was said before it.

    Args:
        battery: as it was given.
        trials: as they stand, in the order planned.
        primary: the rater whose scores count; empty: whoever scored first.
        speaker: columns of the speaker's record: varieties of English, notation of IPA.
    """
    speech, listed = speech_of(speaker or {}), listed_words(battery)
    found: list[Naming] = []
    earlier: list[Earlier] = []
    for trial in trials:
        subtest = battery.subtest(trial.plan.subtest)
        if subtest.response is not ResponseKind.NAMING:
            continue
        rules = subtest.naming or NamingRules()
        view = view_of(
            trial,
            naming_item(subtest.item(trial.plan.item)),
            rules,
            earlier,
            primary,
            speech,
            listed,
        )
        found.append(naming_of(view))
        if view.spoken is not None:
            earlier.append(view.spoken)
    return tuple(found)

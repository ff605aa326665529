"""Administrations read whole from the store, with the battery as it was when it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.records.declarations import Declaration
from tabwb.records.trials import Administration, Trial
from tabwb.store.store import Store


@dataclass(frozen=True, slots=True)
class Loaded:
    """One administration with its battery and all its trials.

    Attributes:
        model_facts: what the back end said of the model (revision, dtype).
        notes: on the administration as a whole.
        declarations: what each rater said of itself when it rated, by rater.
    """

    administration: Administration
    battery: Battery
    trials: tuple[Trial, ...]
    model_facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    declarations: Mapping[str, Declaration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Administrations whose responses are pooled.

    Attributes:
        by: what they have in common (``model``).
        label: its value.
        members: oldest first; all of one battery version.
    """

    by: str
    label: str
    members: tuple[Loaded, ...]

    @property
    def battery(self) -> Battery:
        """The battery that all members were given."""
        return self.members[0].battery

    @property
    def has_model(self) -> bool:
        """Whether a model is among the examinees."""
        return any(one.administration.conditions.kind == "model" for one in self.members)


def loaded(store: Store, references: Sequence[int | str] = ()) -> tuple[Loaded, ...]:
    """The administrations that numbers or uids name, each once; all of the store when none is."""
    if references:
        named = [store.administration(reference) for reference in references]
        administrations = list({one.id: one for one in named}.values())
    else:
        administrations = list(store.administrations())
    batteries: dict[str, Battery] = {}
    result: list[Loaded] = []
    for administration in administrations:
        content_hash = administration.battery_hash
        if content_hash not in batteries:
            batteries[content_hash] = battery_from_canonical(store.battery_canonical(content_hash))
        told = store.history(administration.id)
        result.append(
            Loaded(
                administration,
                batteries[content_hash],
                told.trials,
                told.model_facts,
                told.notes,
                told.declarations,
            )
        )
    return tuple(result)


def grouped(chosen: Sequence[Loaded], by: str) -> tuple[Group, ...]:
    """Administrations in groups, in order of first appearance.

    Args:
        chosen: what to group.
        by: ``administration``, ``model`` (the examinee) or ``battery``. Administrations of
            different batteries or battery versions never share a group.
    """
    members: dict[tuple[str, str], list[Loaded]] = {}
    for one in chosen:
        administration = one.administration
        label = {
            "administration": f"#{administration.id} {administration.conditions.examinee}",
            "model": administration.conditions.examinee,
            "battery": f"{administration.battery} {administration.battery_version}",
        }[by]
        members.setdefault((label, administration.battery_hash), []).append(one)
    return tuple(Group(by, label, tuple(group)) for (label, _), group in members.items())

"""Administrations read whole from the store, with the battery as it was when it was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tabwb.administer.session.session import IDENTITY
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.records.condition_table import compared, described, phrase_of
from tabwb.records.declarations import Declaration
from tabwb.records.judgements import Judged
from tabwb.records.speakers import KeptRecording
from tabwb.records.study import Value
from tabwb.records.trials import Administration, Trial
from tabwb.report.summaries.counted import model_of, name_of
from tabwb.store.store import Store

By = Literal["administration", "model", "battery", "lesion", "protocol", "family", "tuning"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording that is kept, and where its bytes lie; None where that was not asked for."""

    kept: KeptRecording
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """One administration with its battery and all its trials.

    Attributes:
        model_facts: what the back end said of the model (revision, dtype).
        notes: on the administration as a whole.
        declarations: what each rater said of itself when it rated, by rater.
        judged: every call of judges that ask a model, repetitions included.
        recordings: of a person's voice, oldest first.
        primary: the rater whose scores of spoken responses count; empty: whoever scored first.
        speaker: of a person, what exports say of them: age, group, aphasia quotient.
    """

    administration: Administration
    battery: Battery
    trials: tuple[Trial, ...]
    model_facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    judged: tuple[Judged, ...] = ()
    recordings: tuple[Recorded, ...] = ()
    primary: str = ""
    speaker: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Administrations whose responses are pooled.

    Attributes:
        by: what they have in common (``model``).
        label: its value.
        members: oldest first; all of one battery version, all models or all persons, given under
            like conditions where :func:`grouped` made it.
        apart: conditions (name, value) that tell it from other groups of the same label.
    """

    by: By
    label: str
    members: tuple[Loaded, ...]
    apart: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Its label, with the conditions that tell it from other groups of the same label."""
        if not self.apart:
            return self.label
        told = ", ".join(phrase_of(name, value) for name, value in self.apart)
        return f"{self.label} ({told})"

    @property
    def battery(self) -> Battery:
        """The battery that all members were given."""
        return self.members[0].battery

    @property
    def has_model(self) -> bool:
        """Whether its examinees are models."""
        return self.members[0].administration.conditions.kind == "model"

    @property
    def labels(self) -> Mapping[str, str]:
        """What profiles say of the models; without whatever they do not agree on."""
        said: dict[str, set[str]] = {}
        for one in self.members:
            for name, value in one.administration.conditions.labels.items():
                said.setdefault(name, set()).add(value)
        return {name: values.pop() for name, values in said.items() if len(values) == 1}

    @property
    def tunings(self) -> tuple[str, ...]:
        """What profiles say that the members are tuned to; ``not said`` where one does not."""
        said = (one.administration.conditions.labels.get("tuning") for one in self.members)
        return tuple(dict.fromkeys(each or "not said" for each in said))

    @property
    def title(self) -> str:
        """Its name; of a family also the tunings that are pooled in it.

        A table's row is called so, because base and instruct models share the one of their family.
        """
        if self.by != "family" or "family" not in self.labels:
            return self.name
        return f"{self.name} (tuning: {', '.join(self.tunings)})"

    @property
    def circumstances(self) -> Mapping[str, tuple[str, ...]]:
        """How its members were given: name to the different values, in order of appearance."""
        return _values(described(one.administration.conditions) for one in self.members)

    @property
    def mixed(self) -> Mapping[str, tuple[str, ...]]:
        """In what its members differ although their responses are pooled."""
        told = _values(
            {"examinee": _named(one), **described(one.administration.conditions)}
            for one in self.members
        )
        if len(told["examinee"]) == 1:
            # The same name, but perhaps other weights.
            told |= _values(_identity(one) for one in self.members)
        return {name: values for name, values in told.items() if len(values) > 1}


def _values(told: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, dict[str, None]] = {}
    for facts in told:
        for name, value in facts.items():
            values.setdefault(name, {})[value] = None
    return {name: tuple(found) for name, found in values.items()}


def _identity(one: Loaded) -> dict[str, str]:
    return {name: one.model_facts[name] for name in IDENTITY if name in one.model_facts}


def _named(one: Loaded) -> str:
    return model_of(one.administration.conditions)


def unlike(first: Sequence[Loaded], second: Sequence[Loaded]) -> tuple[tuple[str, str, str], ...]:
    """Return the conditions beside the examinee that two sides do not share: name, both values."""
    sides = [
        [compared(member.administration.conditions) for member in side] for side in (first, second)
    ]
    names = dict.fromkeys(name for side in sides for told in side for name in told)
    values = {
        name: [", ".join(dict.fromkeys(told.get(name, "none") for told in side)) for side in sides]
        for name in names
    }
    return tuple((name, mine, other) for name, (mine, other) in values.items() if mine != other)


def loaded(
    store: Store,
    references: Sequence[int | str] = (),
    *,
    sound: bool = False,
    primary: str = "",
) -> tuple[Loaded, ...]:
    """The administrations that numbers or uids name, each once; all of the store when none is.

    Args:
        store: where they are.
        references: numbers or uids.
        sound: find the files of recordings too.
        primary: the rater whose scores of spoken responses count; empty: whoever scored first.
    """
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
        judged = store.judgements(administration.id) if told.declarations else ()
        result.append(
            Loaded(
                administration,
                batteries[content_hash],
                told.trials,
                told.model_facts,
                told.notes,
                told.declarations,
                judged,
                recordings_of(store, administration, sound=sound),
                primary,
                _told_of(store, administration),
            )
        )
    return tuple(result)


TOLD = ("age_years", "group", "AQ", "variety", "ipa")
"""Columns of a speaker's record that exports carry."""


def _told_of(store: Store, administration: Administration) -> Mapping[str, Value]:
    if administration.conditions.kind != "speaker":
        return {}
    return told_of(store.speaker(administration.conditions.examinee).values)


def told_of(values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return what exports say of a speaker."""
    return {name: values[name] for name in TOLD if name in values}


def recordings_of(
    store: Store, administration: Administration, *, sound: bool = False
) -> tuple[Recorded, ...]:
    """The recordings of a person's administration; ``sound``: with their files, checked."""
    if administration.conditions.kind != "speaker":
        return ()
    return tuple(
        Recorded(kept, store.recording_path(kept.sha256) if sound else None)
        for kept in store.recordings(administration.id)
    )


def grouped(chosen: Sequence[Loaded], by: By) -> tuple[Group, ...]:
    """Administrations in groups, in order of first appearance.

    Administrations of different batteries or battery versions never share a group, nor do models
    and persons, nor unlike conditions (:func:`~tabwb.records.condition_table.compared`): only what
    ``by`` names is pooled over. Seeds, replicates and options that change no answer may differ. A
    person has no lesion or family: by what only models have, each person is a group ``speaker ID``.

    Args:
        chosen: what to group.
        by: ``model`` is the examinee with its lesion; ``family`` and ``tuning`` are what the
            model's profile said when it was given. A model of no known family is a group of its
            own. By model, other weights or templates under one name are groups of their own too.
    """
    members: dict[tuple[str, str, str], dict[tuple[tuple[str, str], ...], list[Loaded]]] = {}
    for one in chosen:
        administration = one.administration
        key = _label(administration, by), administration.battery_hash
        told = {} if by == "administration" else compared(one.administration.conditions)
        if by == "model":
            told |= _identity(one)
        alike = members.setdefault((*key, administration.conditions.kind), {})
        alike.setdefault(tuple(sorted(told.items())), []).append(one)
    return tuple(
        Group(by, label, tuple(group), _apart(dict(told), [dict(each) for each in alike]))
        for (label, *_), alike in members.items()
        for told, group in alike.items()
    )


def _apart(
    told: Mapping[str, str], alike: Sequence[Mapping[str, str]]
) -> tuple[tuple[str, str], ...]:
    """The conditions of one group that others of the same label do not share."""
    names = dict.fromkeys(name for each in alike for name in each)
    return tuple(
        (name, told.get(name, "none"))
        for name in names
        if len({each.get(name) for each in alike}) > 1
    )


def _label(administration: Administration, by: By) -> str:
    conditions = administration.conditions
    person = conditions.kind == "speaker"
    if by == "administration":
        return f"#{administration.id} {name_of(conditions)}"
    if by == "battery":
        named = f"{administration.battery} {administration.battery_version}"
        return f"{named}, speakers" if person else named
    if person:
        return f"speaker {conditions.examinee}"
    if by == "model":
        return model_of(conditions)
    if by == "lesion":
        return conditions.lesion or "no lesion"
    if by == "protocol":
        return conditions.protocol.value
    said = conditions.labels.get(by)
    if not said and by == "family":
        return f"{model_of(conditions)}, {by} not said"
    return said or f"{by} not said"

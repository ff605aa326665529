"""Whole administrations from the store, with the battery as it was when it was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.administer.rating.derived import Derivation, derivations, people_of
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery
from tabwb.records.counting import CALIBRATED
from tabwb.records.ratings import Declaration, Judged, verdict_measure
from tabwb.records.speakers import KeptRecording
from tabwb.records.study import Value
from tabwb.records.trials import IDENTITY, Administration, Trial
from tabwb.report.summaries.counted import Source
from tabwb.scoring.choice import POLICIES
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.report.summaries.columns.prepared import Prepared
    from tabwb.report.summaries.parts import Part, Plan


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording that is kept, and where its bytes lie; None where that was not asked for."""

    kept: KeptRecording
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class AdministrationData:
    """One administration with its battery and all its trials.

    Attributes:
        model_facts: what the back end said of the model (revision, dtype).
        notes: on the administration as a whole.
        recordings: of a person's voice, oldest first.
        declarations, judged, primary, speaker, part: see :class:`Source`; of ``speaker`` what
            exports carry (:data:`EXPORTED`).
        plan: number of planned trials of each item and replicate, where that was asked for.
        derivation: how the derived raters are computed, or None where there are none.
    """

    administration: Administration
    battery: Battery
    trials: Sequence[Trial]
    model_facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    judged: tuple[Judged, ...] = ()
    recordings: tuple[Recorded, ...] = ()
    primary: str = ""
    speaker: Mapping[str, Value] = field(default_factory=dict)
    columns: tuple[Prepared, int] | None = None
    part: Part | None = None
    plan: Plan | None = None
    derivation: Derivation | None = None

    @property
    def planned_cells(self) -> Plan:
        """The planned trials of each item and replicate that belong to ``part``, without
        practice.
        """
        plan = self.plan
        if plan is None:
            if self.columns is not None and not self.trials:
                raise ValueError("the planned trials were not read")
            given = (trial.plan for trial in self.trials if not trial.plan.practice)
            plan = Counter((one.subtest, one.item, one.replicate) for one in given)
        part = self.part
        if part is None:
            return plan
        return {
            cell: n
            for cell, n in plan.items()
            if cell[:2] in part.places and cell[2] in part.replicates
        }

    @property
    def identity(self) -> Mapping[str, str]:
        """The facts of the model that must be alike for its responses to be pooled."""
        return {name: self.model_facts[name] for name in IDENTITY if name in self.model_facts}

    @property
    def source(self) -> Source:
        """What summaries read of it."""
        return Source(
            self.battery,
            self.trials,
            self.administration.conditions,
            self.declarations,
            self.judged,
            self.primary,
            self.speaker,
            self.columns,
            self.part,
            {} if self.derivation is None else self.derivation.answers,
        )


def load_administrations(
    store: Store,
    references: Sequence[int | str] = (),
    *,
    sound: bool = False,
    primary: str = "",
) -> tuple[AdministrationData, ...]:
    """Return the administrations that numbers or uids name, each once; without any, all."""
    chosen = chosen_administrations(store, references)
    made = derivations(store, [record.id for record in chosen], primary)
    return _with_trials(store, chosen, made, sound=sound, primary=primary)


def load_columns(
    store: Store,
    references: Sequence[int | str] = (),
    *,
    primary: str = "",
    statistics: tuple[Statistic, ...] = (),
    judge: str = "",
) -> tuple[AdministrationData, ...]:
    """Return administrations whose responses are columns; of speakers who name, with trials too.

    Summaries of both are the same; columns take less time and memory.
    """
    outlined = outlines(store, references)
    return with_columns(store, outlined, primary=primary, statistics=statistics, judge=judge)


def with_columns(
    store: Store,
    outlined: Sequence[AdministrationData],
    *,
    primary: str = "",
    statistics: tuple[Statistic, ...] = (),
    explained: Collection[str] = (),
    judge: str = "",
) -> tuple[AdministrationData, ...]:
    """Return administrations with their responses, as :func:`load_columns` does."""
    from tabwb.report.summaries.columns.prepared import prepare

    known = sorted(outlined, key=lambda data: data.administration.id)
    spoken = [
        data.administration
        for data in known
        if data.administration.conditions.kind == "speaker" and data.battery.coded
    ]
    numbers = [data.administration.id for data in known]
    made = derivations(store, numbers, primary)
    named = {
        data.administration.id: data
        for data in _with_trials(store, spoken, made, sound=False, primary=primary)
    }
    loaded = [
        named.get(data.administration.id) or _derived(data, made.get(data.administration.id))
        for data in known
    ]
    deciding = {
        verdict_measure(declared.measures)
        for data in loaded
        for declared in data.declarations.values()
    }
    columns = store.columns(numbers, {*POLICIES, *deciding, *explained} - {""})
    if made:
        from tabwb.report.summaries.columns.derived import with_derived_columns

        columns = with_derived_columns(columns, [data.declarations for data in loaded], made)
    if judge.startswith(CALIBRATED):
        from tabwb.report.summaries.columns.calibrated import with_calibrated

        before = [data.declarations for data in loaded]
        columns, after = with_calibrated(store, columns, before, judge)
        loaded = [replace(one, declarations=own) for one, own in zip(loaded, after, strict=True)]
    prepared = replace(prepare(columns, [data.source for data in loaded]), statistics=statistics)
    return tuple(replace(data, columns=(prepared, place)) for place, data in enumerate(loaded))


def _derived(data: AdministrationData, how: Derivation | None) -> AdministrationData:
    """Return an administration with the derived raters, and what was settled of its responses."""
    if how is None:
        return data
    people = people_of(data.declarations)
    trials = data.trials
    if trials and how.rules and people:
        trials = [how.with_derived(trial, people) for trial in trials]
    declared = how.declarations(data.declarations)
    return replace(data, declarations=declared, trials=trials, derivation=how)


def outlines(store: Store, references: Sequence[int | str] = ()) -> tuple[AdministrationData, ...]:
    """Return administrations with battery, facts of the model and speaker, without responses."""
    administrations = sorted(
        chosen_administrations(store, references), key=lambda record: record.id
    )
    batteries = _batteries(store, administrations)
    facts = store.facts([record.id for record in administrations])
    return tuple(
        AdministrationData(
            record,
            batteries[record.battery_hash],
            (),
            known.model,
            known.notes,
            known.declarations,
            speaker=_record_of(store, record),
        )
        for record, known in zip(administrations, facts, strict=True)
    )


def _record_of(store: Store, administration: Administration) -> Mapping[str, Value]:
    person = administration.conditions.study_id
    versions = store.people.speaker_versions(person) if person else ()
    return exported_columns(versions[-1].values) if versions else {}


def chosen_administrations(store: Store, references: Sequence[int | str]) -> list[Administration]:
    """Return the administrations that numbers or uids name, each once; without any, all."""
    if not references:
        return list(store.administrations())
    return list({record.id: record for record in map(store.administration, references)}.values())


def batteries_of(store: Store, administrations: Iterable[Administration]) -> tuple[Battery, ...]:
    """Return the different batteries of administrations, in order."""
    return tuple(_batteries(store, administrations).values())


def _batteries(store: Store, administrations: Iterable[Administration]) -> dict[str, Battery]:
    return {
        content_hash: battery_from_canonical(store.battery_canonical(content_hash))
        for content_hash in dict.fromkeys(record.battery_hash for record in administrations)
    }


def _with_trials(
    store: Store,
    administrations: Sequence[Administration],
    made: Mapping[int, Derivation],
    *,
    sound: bool,
    primary: str,
) -> tuple[AdministrationData, ...]:
    batteries = _batteries(store, administrations)
    loaded: list[AdministrationData] = []
    for administration in administrations:
        history = store.history(administration.id)
        conditions = administration.conditions
        is_speaker = conditions.kind == "speaker"
        speaker = store.people.speaker(conditions.examinee) if is_speaker else None
        data = AdministrationData(
            administration,
            batteries[administration.battery_hash],
            history.trials,
            history.model_facts,
            history.notes,
            history.declarations,
            store.judgements(administration.id) if history.declarations else (),
            recordings_of(store, administration, sound=sound),
            primary,
            {} if speaker is None else exported_columns(speaker.values),
        )
        loaded.append(_derived(data, made.get(administration.id)))
    return tuple(loaded)


EXPORTED = ("age_years", "group", "AQ", "variety", "ipa")
"""Columns of a speaker's record that exports carry."""


def exported_columns(values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the columns of a speaker's record that exports carry."""
    return {name: values[name] for name in EXPORTED if name in values}


def recordings_of(
    store: Store, administration: Administration, *, sound: bool = False
) -> tuple[Recorded, ...]:
    """Return the recordings of a person's administration, none for a model's."""
    if administration.conditions.kind != "speaker":
        return ()
    return tuple(
        Recorded(kept, store.people.recording_path(kept.sha256) if sound else None)
        for kept in store.people.recordings(administration.id)
    )


def sources_of(members: Iterable[AdministrationData]) -> list[Source]:
    """Return what summaries read of administrations."""
    return [member.source for member in members]

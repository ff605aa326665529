"""Stored responses that a selection chooses for rating, with their strata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabwb.administer.rating.access import agrees
from tabwb.administer.rating.planning import Candidate
from tabwb.analysis.administrations import AdministrationData, load_administrations
from tabwb.analysis.keys import REPLICATE, Key, Value, key_of, read_keys, written
from tabwb.analysis.selection import Selection, selected
from tabwb.battery.forms import Form
from tabwb.battery.model import Item, Subtest
from tabwb.host.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.naming import is_recorded, observations_of
from tabwb.records.rating_sets import AudioCut
from tabwb.records.states import ResponseStatus
from tabwb.store.columns import STATUSES, Frame
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.task import NamingRules
from tabwb.tasks.spoken_naming.views import NamingView

USABLE = tuple(status.value for status in ResponseStatus if status.usable)
"""Statuses of responses that are rated unless others are asked for."""
PARTICIPANT = "participant"
TRUNCATED = STATUSES.index(ResponseStatus.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which responses are wanted; a form with a sound and without a text needs recordings."""

    form: Form
    stratify: tuple[str, ...] = ()  # ids of keys
    statuses: tuple[str, ...] = USABLE
    repeated: bool = False  # whether equal texts of one examinee to one item are all wanted
    around: int = 0  # number of responses before and after each that are shown with it


@dataclass(frozen=True, slots=True)
class Candidates:
    """The responses found, in the order of administrations and trials, by rows of ``columns``."""

    found: tuple[Candidate, ...]
    left_out: Mapping[str, int]  # number of responses by why they cannot be drawn
    scope: tuple[str, ...] = ()  # subtests that are meant where none was named
    columns: Frame | None = None
    rows: tuple[int, ...] = ()


def candidates(
    store: Store,
    plugins: Plugins,
    references: Sequence[int | str],
    selection: Selection,
    wanted: Wanted,
) -> Candidates:
    """Return the responses that can be rated.

    Without a choice of subtests a form with a text is for connected text, and one without is for
    spoken naming; where the battery has neither, all responses are meant.
    """
    for status in wanted.statuses:
        if status not in set(ResponseStatus):
            allowed = ", ".join(ResponseStatus)
            raise UsageError(f"'{status}' is not a status", where="--status", allowed=allowed)
    keys = [key_of(name) for name in read_keys(",".join(wanted.stratify))]
    chosen = selected(store, references, selection)
    if not chosen:
        raise UsageError("the store has no administration", hint="give a battery: tabwb run tab")
    named = any(one.key in ("subtest", "item", "item-tag") for one in selection.filters)
    scope = () if named else _scope(chosen, wanted.form)
    left_out: Counter[str] = Counter()
    found: dict[int, Candidate] = {}
    strata = _Strata(keys, {})
    for data in chosen:
        if agrees(store, plugins, data.administration.conditions):
            found |= _of_administration(store, data, strata, wanted, scope, left_out)
        else:
            left_out["of speakers who do not agree to rating"] += _answered(data)
    if not found:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
        raise UsageError(
            "no response can be rated" + (f" ({reasons})" if reasons else ""),
            hint=f"form '{wanted.form.id}' shows {', '.join(wanted.form.shows)}; "
            "'tabwb rate forms list' lists the forms",
        )
    if lacking := [key.id for key in keys if key.id not in strata.having]:
        raise UsageError(
            f"no response has a value of '{lacking[0]}'",
            where="--stratify",
            hint="leave it out; lesions made here have lesion-amount, lesion-target and lesion-seed"
            if lacking[0].startswith("lesion")
            else "leave it out, or take another key",
        )
    assert chosen[0].columns is not None
    columns = chosen[0].columns[0]
    return Candidates(tuple(found.values()), dict(left_out), scope, columns, tuple(found))


def _answered(data: AdministrationData) -> int:
    assert data.columns is not None
    prepared, place = data.columns
    start, stop = prepared.starts[place : place + 2].tolist()
    return int(stop - start)


def _scope(chosen: Sequence[AdministrationData], form: Form) -> tuple[str, ...]:
    """Return the subtests that a form is for, where some administration has such."""
    coded = "text" not in form.shows
    fitting = {
        subtest.id: None
        for data in chosen
        for subtest in data.battery.subtests
        if (subtest.task.coded if coded else subtest.task.connected)
    }
    return tuple(fitting)


def _of_administration(
    store: Store,
    data: AdministrationData,
    strata: _Strata,
    wanted: Wanted,
    scope: Sequence[str],
    left_out: Counter[str],
) -> Iterator[tuple[int, Candidate]]:
    """Yield the row and the candidate of each response that can be rated."""
    assert data.columns is not None  # a selection has them
    columns, place = data.columns
    start, stop = columns.starts[place : place + 2].tolist()
    rows = range(start, stop) if data.part is None else data.part.rows(columns, start, stop)
    sounds = _sounds(store, data) if wanted.form.spoken else {}
    needs_sound = wanted.form.spoken and "text" not in wanted.form.shows
    seen: set[tuple[tuple[str, str], str]] = set()
    by_model = data.administration.conditions.made_by == "model"
    texts = {row: str(columns.responses[int(columns.texts[row])]) for row in range(start, stop)}
    for row in map(int, rows):
        where = columns.places[int(columns.items[row])]
        subtest = data.battery.subtest(where[0])
        item = subtest.item(where[1])
        trial, text = int(columns.trials[row]), texts[row]
        sound = sounds.get(trial)
        reason = ""
        if scope and subtest.id not in scope:
            reason = "of other subtests"
        elif item.practice:
            reason = "practice"
        elif needs_sound:
            reason = "" if sound else "not recorded"
        elif not text.strip():
            reason = "without a text"
        elif (status := _status(int(columns.counted[row]))) not in wanted.statuses:
            reason = status
        elif not wanted.repeated and (where, text) in seen:
            reason = "the same text again"
        if reason:
            left_out[reason] += 1
            continue
        seen.add((where, text))
        candidate = Candidate(
            data.administration.id,
            trial,
            int(columns.attempts[row]),
            where,
            strata.of(data, subtest, item, int(columns.replicates[row])),
            by_model,
            text,
            item.prompt,
            int(columns.counted[row]) == TRUNCATED,
            picture=item.picture or None,
            target=item.expected or "",
            audio=sound,
        )
        if subtest.task.coded:
            candidate = replace(candidate, target=naming_item(item).target)
        if wanted.around:
            before, after = _around(row, start, stop, wanted.around, texts)
            candidate = replace(candidate, before=before, after=after)
        yield row, candidate


def _status(code: int) -> str:
    return ResponseStatus.OK.value if code < 0 else STATUSES[code].value


def _around(
    row: int, start: int, stop: int, number: int, texts: Mapping[int, str]
) -> tuple[str, str]:
    before = [texts[at] for at in range(max(start, row - number), row)]
    after = [texts[at] for at in range(row + 1, min(stop, row + 1 + number))]
    return "\n".join(before), "\n".join(after)


@dataclass(frozen=True, slots=True)
class _Strata:
    """Names strata by keys; participants are numbered as they come, so that no study ID is kept.

    ``having`` collects the keys of which a response has a value.
    """

    keys: Sequence[Key]
    people: dict[object, int]
    having: set[str] = field(default_factory=set)

    def of(self, data: AdministrationData, subtest: Subtest, item: Item, replicate: int) -> str:
        """Return the stratum of a response."""
        parts = []
        for key in self.keys:
            if key.id == REPLICATE:
                values: Sequence[Value] = (replicate,)
            elif key.place is not None:
                values = key.place(subtest, item)
            else:
                values = key.groups(data)
            if values:
                self.having.add(key.id)
            if key.id == PARTICIPANT:
                values = [self.people.setdefault(one, len(self.people) + 1) for one in values]
            parts.append(f"{key.id} {'+'.join(map(written, values)) or 'none'}")
        return ", ".join(parts)


def _sounds(store: Store, data: AdministrationData) -> dict[int, AudioCut]:
    """Return where the counting attempt of each trial lies in a kept recording."""
    if data.administration.conditions.kind != "speaker":
        return {}
    (loaded,) = load_administrations(store, [data.administration.id])
    kept = {one.kept.uid: one.kept.sha256 for one in loaded.recordings}
    sounds = {}
    for trial in loaded.trials:
        if not is_recorded(trial):
            continue
        item = loaded.battery.subtest(trial.plan.subtest).item(trial.plan.item)
        view = NamingView(trial, naming_item(item), NamingRules(), observations_of(trial))
        take = view.take
        if take is not None and kept.get(take.recording):
            cut = AudioCut(kept[take.recording], take.start_s, take.end_s)
            sounds[trial.plan.number] = cut
    return sounds

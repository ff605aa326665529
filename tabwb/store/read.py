"""Records from rows. Every function works inside a transaction that its caller opened."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from tabwb.records.conditions import Conditions, conditions_from
from tabwb.records.errors import StoreError
from tabwb.records.exchange import Message
from tabwb.records.ratings import Declaration, PluginVersion, Rating
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import (
    MARKS,
    Administration,
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    PlannedTrial,
    RatingsEntry,
    Trial,
    marks_of,
)
from tabwb.store.database import Row, Transaction, to_json
from tabwb.store.derive import History, Step, status_of, taken_back, trial_of
from tabwb.store.verdicts import COLUMNS, Verdicts, in_parts, texts

_ATTEMPT = "attempt-"
_SEED = re.compile(r'"seed":(-?\d+)')
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{7,35}")
_LAST = 2**31 - 1
PART = 1_000
"""Trials read at a time."""
_KEPT = 20_000
"""Prompts and lists of options that are remembered."""
_STATE = {f"{_ATTEMPT}{state.value}": state for state in AttemptState}
_OK = f"{_ATTEMPT}{AttemptState.OK.value}"
_STATUS = {status.value: status for status in ResponseStatus}
_STOP = {reason.value: reason for reason in StopReason}
_PLANNED = """
SELECT number, subtest, item, replicate, options_id, prompt_id, practice
FROM trials JOIN items ON items.id = item_id
WHERE administration_id = ? AND number BETWEEN ? AND ? ORDER BY number
"""
_ATTEMPTS = """
SELECT a.trial, a.sequence, a.number, e.kind, response, status, stop_reason, latency_s, error,
       metadata, e.recorded_at
FROM attempts a
LEFT JOIN entries e ON e.administration_id = a.administration_id AND e.sequence = a.sequence
WHERE a.administration_id = ? AND a.trial BETWEEN ? AND ? ORDER BY a.trial, a.sequence
"""
_EVENTS = """
SELECT sequence, kind, trial, text, undoes FROM entries
WHERE administration_id = ? AND substr(kind, 1, 8) <> 'attempt-'
"""
_COUNT = """
SELECT count(*) FROM entries WHERE administration_id = ? AND substr(kind, 1, 8) = 'attempt-'
"""
_decode = json.JSONDecoder().raw_decode


def numbers_of(transaction: Transaction, table: str, reference: int | str) -> list[int]:
    """Return the ids of the rows that an id, a uid or the beginning of one names."""
    text = str(reference).strip().lower().removeprefix("#")
    rows: list[Row] = []
    # A uid may be all digits at its beginning; a small id has fewer than 8.
    if text.isdecimal() and len(text) < 8:
        rows = transaction.rows(f"SELECT id FROM {table} WHERE id = ?", int(text))
    elif _PREFIX.fullmatch(text):
        of_uid = f"SELECT id FROM {table} WHERE uid >= ? AND uid < ? ORDER BY id"
        rows = transaction.rows(of_uid, text, text + "g")
    return [int(number) for (number,) in rows]


def number_of(transaction: Transaction, reference: int | str) -> int:
    """Return the small id that an id, a uid, or the beginning of one (8 characters or more)
    names.
    """
    numbers = numbers_of(transaction, "administrations", reference)
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        raise StoreError(
            f"'{reference}' is the beginning of {len(numbers)} administrations' ids",
            allowed=", ".join(map(str, numbers[:10])),
        )
    raise StoreError(
        f"there is no administration '{reference}' in this store",
        allowed="a number, a uid, or at least 8 of its characters",
        hint="several have spaces between them, no commas"
        if "," in str(reference)
        else "'tabwb results' lists what there is",
    )


def messages(
    transaction: Transaction, administration_id: int, within: range, *, system: bool = False
) -> dict[tuple[int, int], tuple[Message, ...]]:
    """Return what was sent for attempts, by trial and number of the attempt."""
    sent: dict[tuple[int, int], tuple[Message, ...]] = {}
    known: dict[tuple[str, str], Message] = {}
    only = " AND role = 'system'" if system else ""
    for trial, number, role, text in transaction.rows(
        "SELECT attempts.trial, attempts.number, role, texts.text FROM attempts"
        " JOIN messages ON messages.attempt_id = attempts.id"
        " JOIN texts ON texts.id = text_id"
        " WHERE administration_id = ? AND attempts.trial BETWEEN ? AND ?"
        f"{only} ORDER BY attempts.trial, attempts.number, position",
        administration_id,
        within.start,
        within.stop - 1,
    ):
        message = known.setdefault((role, text), Message(role, text))
        sent[trial, number] = (*sent.get((trial, number), ()), message)
    return sent


def declarations(
    transaction: Transaction, administrations: Sequence[int]
) -> Iterator[tuple[int, DeclarationEntry]]:
    """Yield what raters said of themselves in administrations, in the order recorded."""
    read: dict[Row, DeclarationEntry] = {}
    for marks, part in in_parts(administrations):
        for number, *row in transaction.rows(
            "SELECT administration_id, spec, features.text, scope, kind, caution.text, prompt.text"
            " FROM rater_declarations JOIN raters ON raters.id = rater_id"
            " JOIN texts AS features ON features.id = features_id"
            " JOIN texts AS caution ON caution.id = caution_id"
            " LEFT JOIN texts AS prompt ON prompt.id = prompt_id"
            f" WHERE administration_id IN ({marks}) ORDER BY rater_declarations.id",
            *part,
        ):
            if tuple(row) not in read:
                read[tuple(row)] = DeclarationEntry(_declaration(row))
            yield number, read[tuple(row)]


def _declaration(row: Row) -> Declaration:
    rater, features, scope, kind, caution, prompt = row
    said = json.loads(features)
    if isinstance(said, list):  # as before version 0.2
        said = {"features": said}
    plugin = said.get("plugin")
    return Declaration(
        rater, tuple(said["features"]), scope, kind, caution, prompt or "",
        dict(said.get("measures", ())), None if plugin is None else PluginVersion(*plugin),
    )  # fmt: skip


class Facts(NamedTuple):
    """What is recorded of one administration as a whole; of the model and the raters the latest."""

    model: Mapping[str, str]
    notes: tuple[str, ...]
    declarations: Mapping[str, Declaration]


def facts_of(transaction: Transaction, administrations: Sequence[int]) -> tuple[Facts, ...]:
    """Return what is recorded of each administration as a whole, without its trials."""
    events: dict[int, list[Sequence[Any]]] = {number: [] for number in administrations}
    for marks, part in in_parts(administrations):
        for number, *event in transaction.rows(
            "SELECT administration_id, sequence, kind, text, undoes FROM entries"
            f" WHERE administration_id IN ({marks})"
            " AND (kind = 'undone' OR trial IS NULL AND kind IN ('noted', 'model-opened'))"
            " ORDER BY administration_id, sequence",
            *part,
        ):
            events[number].append(event)
    declared: dict[int, dict[str, Declaration]] = {number: {} for number in administrations}
    for number, entry in declarations(transaction, administrations):
        own, rater = declared[number], entry.declaration.rater
        own[rater] = entry.declaration.after(own.get(rater))
    facts = []
    for number, own_events in events.items():
        undone = [(at, undoes) for at, _, _, undoes in own_events if undoes is not None]
        back = taken_back(undone)
        opened = [text for _, kind, text, _ in own_events if kind == "model-opened"]
        notes = (text for at, kind, text, _ in own_events if kind == "noted" and at not in back)
        model = json.loads(opened[-1]) if opened else {}
        facts.append(Facts(model, tuple(notes), declared[number]))
    return tuple(facts)


def under(transaction: Transaction, battery_hash: str, conditions: Conditions) -> list[int]:
    """Return the ids of the administrations of a battery under exactly these conditions."""
    rows = transaction.rows(
        "SELECT administrations.id FROM administrations"
        " JOIN batteries ON batteries.id = battery_id"
        " WHERE content_hash = ? AND conditions = ? ORDER BY 1",
        battery_hash,
        to_json(asdict(conditions)),
    )
    return [number for (number,) in rows]


def newest(transaction: Transaction, count: int) -> int:
    """Return the smallest id among the ``count`` newest administrations; 0 when there are fewer."""
    find = "SELECT id FROM administrations ORDER BY id DESC LIMIT 1 OFFSET ?"
    return int(transaction.value(find, count - 1) or 0)


def administrations(
    transaction: Transaction, first: int = 0, last: int = _LAST
) -> tuple[Administration, ...]:
    """Return the administrations whose ids lie between two, newest last.

    The database counts the answers, except where something was skipped, voided or taken back:
    there the trials are read. A test proves that both ways agree.
    """
    in_range = "administration_id BETWEEN ? AND ?"

    def counts(sql: str) -> dict[int, int]:
        return dict(transaction.rows(f"{sql} GROUP BY 1", first, last))

    trials = f"SELECT administration_id, count(*) FROM trials WHERE {in_range}"
    planned, practice = counts(trials), counts(f"{trials} AND practice")
    answered = counts(
        "SELECT administration_id, count(DISTINCT trial) FROM entries"
        f" WHERE {in_range} AND kind = 'attempt-ok'"
    )
    practised = counts(
        "SELECT trials.administration_id, count(DISTINCT trial) FROM trials"
        " JOIN entries ON entries.administration_id = trials.administration_id"
        f" AND trial = number WHERE trials.{in_range} AND practice AND kind = 'attempt-ok'"
    )
    events: dict[int, list[Step]] = {}
    said: dict[int, list[tuple[int, str, str]]] = {}
    undone: dict[int, list[tuple[int, int]]] = {}
    folded: set[int] = set()
    for number, sequence, kind, trial, text, undoes in transaction.rows(
        f"SELECT administration_id, sequence, kind, trial, text, undoes FROM entries"
        # Compared first: most entries are of these kinds, and need not be searched in the list.
        f" WHERE {in_range} AND kind <> 'attempt-ok' AND kind <> 'trial-started' AND kind IN"
        " ('skipped', 'voided', 'undone', 'paused', 'resumed', 'discontinued', 'finished',"
        " 'noted', 'titled', 'tagged', 'untagged')"
        " ORDER BY administration_id, sequence",
        first,
        last,
    ):
        if kind in ("skipped", "voided", "undone"):
            folded.add(number)
            if kind == "undone":
                undone.setdefault(number, []).append((sequence, undoes))
        elif kind == "noted" or kind in MARKS:
            if trial is None:
                said.setdefault(number, []).append((sequence, kind, text))
        else:
            events.setdefault(number, []).append(Step(sequence, EventEntry(kind, None, text)))
    rows = transaction.rows(
        "SELECT administrations.id, uid, battery, version, content_hash, title, conditions,"
        " created_at, versions FROM administrations JOIN batteries ON batteries.id = battery_id"
        " WHERE administrations.id BETWEEN ? AND ? ORDER BY administrations.id",
        first,
        last,
    )
    made: list[Administration] = []
    alike: dict[str, Conditions] = {}
    known: dict[str, Mapping[str, str]] = {}
    for number, uid, battery, version, content_hash, title, conditions, created, versions in rows:
        back = taken_back(undone.get(number, ()))
        status, reason = status_of(events.get(number, ()), back)
        n_answered = answered.get(number, 0) - practised.get(number, 0)
        if number in folded:
            parts = trial_parts(transaction, number)
            n_answered = sum(trial.is_answered for part in parts for trial in part)
        words = [(kind, text) for at, kind, text in said.get(number, ()) if at not in back]
        marks = marks_of(words)
        if versions not in known:
            known[versions] = json.loads(versions)
        made.append(
            Administration(
                id=number,
                uid=uid,
                status=status,
                battery=battery,
                battery_version=version,
                battery_hash=content_hash,
                battery_title=title,
                conditions=_conditions(conditions, alike),
                created_at=created,
                planned=planned.get(number, 0) - practice.get(number, 0),
                answered=n_answered,
                versions=known[versions],
                reason=reason if status is AdministrationStatus.DISCONTINUED else "",
                title=marks.title,
                tags=marks.tags,
                notes=tuple(text for kind, text in words if kind == "noted"),
            )
        )
    return tuple(made)


def latest_marks(transaction: Transaction, administration_id: int) -> tuple[int, ...]:
    """Return the sequence numbers of the latest effective change of title and tags.

    What one command changes is recorded at one moment.
    """
    rows = transaction.rows(
        "SELECT sequence, kind, undoes, recorded_at FROM entries WHERE administration_id = ?"
        " AND kind IN ('undone', 'titled', 'tagged', 'untagged') ORDER BY sequence",
        administration_id,
    )
    back = taken_back([(row[0], row[2]) for row in rows if row[1] == "undone"])
    marks = [(row[0], row[3]) for row in rows if row[1] in MARKS and row[0] not in back]
    return tuple(sequence for sequence, moment in marks if moment == marks[-1][1])


def _conditions(text: str, alike: dict[str, Conditions]) -> Conditions:
    """Return conditions; those that differ from earlier ones in the seed alone are copied."""
    seeds = _SEED.findall(text)
    if len(seeds) != 2:
        return conditions_from(json.loads(text))
    key = _SEED.sub("", text)
    if key not in alike:
        alike[key] = conditions_from(json.loads(text))
    drawn, seed = map(int, seeds)
    decoding = replace(alike[key].decoding, seed=drawn)
    return replace(alike[key], seed=seed, decoding=decoding)


def measures_rated(
    transaction: Transaction, administration_ids: Sequence[int]
) -> tuple[tuple[str, str], ...]:
    """Return rater and measure of all ratings of administrations, sorted."""
    rows = transaction.rows(
        "SELECT DISTINCT spec, texts.text FROM attempts"
        " JOIN verdicts ON attempt_id = attempts.id JOIN raters ON raters.id = rater_id"
        " JOIN texts ON texts.id = measures_id WHERE administration_id BETWEEN ? AND ?",
        min(administration_ids),
        max(administration_ids),
    )
    return tuple(sorted({(spec, name) for spec, names in rows for name in json.loads(names)}))


def notes_with(
    transaction: Transaction, administration_ids: Sequence[int], names: Collection[str]
) -> tuple[str, ...]:
    """Return the different notes on replies, as JSON, that have one of some names."""
    rows = transaction.rows(
        "SELECT DISTINCT metadata FROM attempts WHERE administration_id BETWEEN ? AND ?"
        f" AND ({' OR '.join('metadata LIKE ?' for _ in names)})",
        min(administration_ids),
        max(administration_ids),
        *(f'%"{name}":%' for name in names),
    )
    return tuple(metadata for (metadata,) in rows)


class Rated(Verdicts):
    """Reads what each rater gave last; equal ratings are one object, as are tuples of them."""

    def __init__(self) -> None:
        super().__init__()
        self._joined: dict[tuple[int, ...], tuple[Rating, ...]] = {}

    def of(
        self, transaction: Transaction, administration: int, first: int, last: int
    ) -> dict[int, dict[int, dict[str, tuple[Rating, ...]]]]:
        """Return, by trial (``first`` to ``last``) and attempt, what each rater gave last."""
        rows = transaction.rows(
            f"SELECT a.trial, a.number, {COLUMNS} FROM attempts a"
            " JOIN verdicts ON attempt_id = a.id LEFT JOIN raters ON raters.id = rater_id"
            " WHERE a.administration_id = ? AND a.trial BETWEEN ? AND ? ORDER BY verdicts.id",
            administration,
            first,
            last,
        )
        rated: dict[int, dict[int, dict[str, tuple[Rating, ...]]]] = {}
        given = self.read(transaction, [row[2:] for row in rows])
        for (trial, attempt, rater, *_), ratings in zip(rows, given, strict=True):
            if ratings:
                rated.setdefault(trial, {}).setdefault(attempt, {})[rater] = ratings
        return rated

    def joined(self, by_rater: Mapping[str, tuple[Rating, ...]]) -> tuple[Rating, ...]:
        """Return the ratings of all raters of an attempt."""
        given = tuple(by_rater.values())
        if len(given) == 1:
            return given[0]
        key = tuple(map(id, given))
        if key not in self._joined:
            self._joined[key] = tuple(chain.from_iterable(given))
        return self._joined[key]


class _Prompts:
    """Reads planned trials; each different prompt and list of options is one object."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._texts: dict[int, str] = {}
        self._options: dict[int, tuple[str, ...]] = {}

    def planned(self, administration: int, first: int, last: int) -> Iterator[PlannedTrial]:
        """Yield planned trials in order."""
        rows = self._transaction.rows(_PLANNED, administration, first, last)
        if len(self._texts) > _KEPT:
            self._texts.clear()
            self._options.clear()
        wanted = {number for row in rows for number in row[4:6]}
        self._texts.update(texts(self._transaction, wanted - self._texts.keys()))
        for number, subtest, item, replicate, options, prompt, practice in rows:
            if options not in self._options:
                self._options[options] = tuple(json.loads(self._texts[options]))
            shown, asked = self._options[options], self._texts[prompt]
            yield PlannedTrial(number, subtest, item, replicate, shown, asked, bool(practice))


def history(transaction: Transaction, administration_id: int) -> History:
    """Return the whole of an administration, folded, with what was sent for each attempt."""
    planned = _Prompts(transaction).planned(administration_id, 0, _LAST)
    return History.of(planned, entries(transaction, administration_id))


def entries(transaction: Transaction, administration_id: int) -> Iterator[Entry]:
    """Yield every entry in the order appended; then the ratings that count, and declarations."""
    within = administration_id, 0, _LAST
    sent = messages(transaction, administration_id, range(_LAST))
    steps = [
        Step(row[1], AttemptEntry(row[0], _attempted(row, sent.get((row[0], row[2]), ()))))
        for row in transaction.rows(_ATTEMPTS, *within)
    ]
    _check_count(transaction, administration_id, len(steps))
    steps += _events(transaction, administration_id)
    yield from (step.entry for step in sorted(steps, key=lambda step: step.sequence))
    rated = Rated()
    for trial, by_attempt in rated.of(transaction, *within).items():
        for attempt, by_rater in by_attempt.items():
            yield RatingsEntry(trial, attempt, rated.joined(by_rater))
    yield from (entry for _, entry in declarations(transaction, [administration_id]))


def trial_parts(
    transaction: Transaction, administration: int, rated: Rated | None = None
) -> Iterator[tuple[Trial, ...]]:
    """Yield the trials of an administration in order, some at a time.

    Attempts have no messages; without ``rated`` trials have no ratings.
    """
    events: dict[int | None, list[Step]] = {}
    undone: list[tuple[int, int]] = []
    for step in (steps := _events(transaction, administration, "AND kind <> 'trial-started'")):
        assert isinstance(step.entry, EventEntry)
        events.setdefault(step.entry.trial, []).append(step)
        if step.entry.undoes is not None:
            undone.append((step.sequence, step.entry.undoes))
    back = taken_back(undone)
    discontinued = status_of(steps, back)[0] is AdministrationStatus.DISCONTINUED
    prompts, left = _Prompts(transaction), 0
    first, last = transaction.first(
        "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM trials"
        " WHERE administration_id = ?",
        administration,
    ) or (1, 0)
    for start in range(first, last + 1, PART):
        within = administration, start, start + PART - 1
        attempts = {
            trial: list(rows)
            for trial, rows in groupby(transaction.rows(_ATTEMPTS, *within), key=itemgetter(0))
        }
        left += sum(map(len, attempts.values()))
        ratings = rated.of(transaction, *within) if rated is not None else {}
        trials: list[Trial] = []
        for plan in prompts.planned(*within):
            tried = attempts.get(plan.number, ())
            own = events.get(plan.number, ())
            by_attempt = ratings.get(plan.number, {})
            if len(tried) == 1 and not own and tried[0][3] == _OK and tried[0][1] not in back:
                # Nearly all trials: what trial_of returns for them, in half the time.
                attempt = _attempted(tried[0])
                given = by_attempt.get(attempt.number)
                joined = rated.joined(given) if rated is not None and given else ()
                trials.append(Trial(plan, TrialState.ANSWERED, (attempt,), joined))
                continue
            made = [Step(row[1], AttemptEntry(row[0], _attempted(row))) for row in tried]
            appended = sorted((*made, *own), key=lambda step: step.sequence)
            trials.append(trial_of(plan, appended, by_attempt, back, discontinued=discontinued))
        yield tuple(trials)
    _check_count(transaction, administration, left)


def planned_cells(
    transaction: Transaction, administrations: Sequence[int]
) -> dict[int, dict[tuple[str, str, int], int]]:
    """Return the number of planned trials of each item and replicate, practice not counted."""
    planned: dict[int, dict[tuple[str, str, int], int]] = {number: {} for number in administrations}
    for marks, part in in_parts(administrations):
        for number, subtest, item, replicate, n in transaction.rows(
            "SELECT administration_id, subtest, item, replicate, count(*) FROM trials"
            f" JOIN items ON items.id = item_id WHERE administration_id IN ({marks})"
            " AND NOT practice GROUP BY 1, 2, 3, 4 ORDER BY 1, min(number)",
            *part,
        ):
            planned[number][subtest, item, replicate] = n
    return planned


def _events(transaction: Transaction, administration: int, only: str = "") -> list[Step]:
    return [
        Step(sequence, EventEntry(kind, trial, text, undoes))
        for sequence, kind, trial, text, undoes in transaction.rows(
            f"{_EVENTS} {only} ORDER BY sequence", administration
        )
    ]


def _check_count(transaction: Transaction, administration: int, read: int) -> None:
    if transaction.value(_COUNT, administration) != read:
        raise ValueError("an entry has no attempt")


def _attempted(row: Row, sent: tuple[Message, ...] = ()) -> Attempt:
    _, _, number, kind, response, status, stop, latency_s, error, metadata, at = row
    if kind is None:
        raise ValueError("an attempt has no entry")
    return Attempt(
        number,
        response,
        _STATE[kind],
        None if status is None else _STATUS[status],
        _STOP[stop],
        latency_s,
        sent,
        error,
        _decode(metadata)[0] if metadata != "{}" else {},
        at,
    )

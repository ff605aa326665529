"""Records from rows. Every function works inside a transaction that its caller opened."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, groupby
from operator import itemgetter

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
from tabwb.store.database import Row, Transaction
from tabwb.store.derive import History, Step, status_of, taken_back, trial_of
from tabwb.store.keys import to_json
from tabwb.store.verdicts import COLUMNS, Verdicts, in_parts, texts

_ATTEMPT = "attempt-"
_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]{7,35}")


def number_of(transaction: Transaction, reference: int | str) -> int:
    """Return the small id that an id, a uid, or the beginning of one (8 characters or more)
    names.
    """
    text = str(reference).strip().lower()
    # A uid may be all digits at its beginning; a small id has fewer than 8.
    select = "SELECT id FROM administrations WHERE"
    rows: list[Row] = []
    if text.isdecimal() and len(text) < 8:
        rows = transaction.rows(f"{select} id = ?", int(text))
    elif _PREFIX.fullmatch(text):
        rows = transaction.rows(f"{select} uid >= ? AND uid < ? ORDER BY id", text, text + "g")
    if len(rows) == 1:
        return int(rows[0][0])
    if rows:
        raise StoreError(
            f"'{reference}' is the beginning of {len(rows)} administrations' ids",
            allowed=", ".join(str(number) for (number,) in rows[:10]),
        )
    raise StoreError(
        f"there is no administration '{reference}' in this store",
        allowed="a number, a uid, or at least 8 of its characters",
        hint="'tabwb results' lists what there is",
    )


def plan(transaction: Transaction, administration_id: int) -> Iterator[PlannedTrial]:
    """Yield the planned trials in order."""
    for number, subtest, item, replicate, options, prompt, practice in transaction.rows(
        "SELECT number, subtest, item, replicate, options.text, prompt.text, practice FROM trials"
        " JOIN items ON items.id = item_id JOIN texts AS options ON options.id = options_id"
        " JOIN texts AS prompt ON prompt.id = prompt_id"
        " WHERE administration_id = ? ORDER BY number",
        administration_id,
    ):
        shown = tuple(json.loads(options))
        yield PlannedTrial(number, subtest, item, replicate, shown, prompt, bool(practice))


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


def entries(transaction: Transaction, administration_id: int) -> Iterator[Entry]:
    """Yield every entry in the order appended; ratings and declarations come last."""
    exchanges: dict[int, list[Message]] = {}
    for attempt_id, role, text in transaction.rows(
        "SELECT attempt_id, role, texts.text FROM attempts"
        " JOIN messages ON messages.attempt_id = attempts.id"
        " JOIN texts ON texts.id = text_id"
        " WHERE administration_id = ? ORDER BY attempt_id, position",
        administration_id,
    ):
        exchanges.setdefault(attempt_id, []).append(Message(role, text))
    attempts = {
        row[1]: row
        for row in transaction.rows(
            "SELECT id, sequence, number, response, status, stop_reason, latency_s, error, metadata"
            " FROM attempts WHERE administration_id = ?",
            administration_id,
        )
    }
    for sequence, kind, trial, text, undoes, recorded_at in transaction.rows(
        "SELECT sequence, kind, trial, text, undoes, recorded_at FROM entries"
        " WHERE administration_id = ? ORDER BY sequence",
        administration_id,
    ):
        if kind.startswith(_ATTEMPT):
            yield AttemptEntry(trial, _attempt(kind, attempts[sequence], exchanges, recorded_at))
        else:
            yield EventEntry(kind, trial, text, undoes)
    yield from _ratings(transaction, administration_id)
    yield from (entry for _, entry in declarations(transaction, [administration_id]))


def _attempt(kind: str, row: Row, exchanges: dict[int, list[Message]], recorded_at: str) -> Attempt:
    attempt_id, _, number, response, status, stop_reason, latency_s, error, metadata = row
    return Attempt(
        number=number,
        response=response,
        state=AttemptState(kind.removeprefix(_ATTEMPT)),
        status=None if status is None else ResponseStatus(status),
        stop_reason=StopReason(stop_reason),
        latency_s=latency_s,
        messages=tuple(exchanges.get(attempt_id, ())),
        error=error,
        metadata=json.loads(metadata) if metadata != "{}" else {},
        recorded_at=recorded_at,
    )


def _ratings(transaction: Transaction, administration_id: int) -> Iterator[RatingsEntry]:
    # One entry for each verdict; a later one of the same rater replaces it in the fold.
    rows = transaction.rows(
        f"SELECT trial, number, {COLUMNS} FROM attempts"
        " JOIN verdicts ON attempt_id = attempts.id JOIN raters ON raters.id = rater_id"
        " WHERE administration_id = ? ORDER BY verdicts.id",
        administration_id,
    )
    given = Verdicts().read(transaction, [row[2:] for row in rows])
    for (trial, number, *_), ratings in zip(rows, given, strict=True):
        if ratings:
            yield RatingsEntry(trial, number, ratings)


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


def declared(entries: Iterable[DeclarationEntry]) -> dict[str, Declaration]:
    """Return the last declaration of each rater."""
    last: dict[str, Declaration] = {}
    for entry in entries:
        rater = entry.declaration.rater
        last[rater] = entry.declaration.after(last.get(rater))
    return last


def history(transaction: Transaction, administration_id: int) -> History:
    """Return the whole of an administration, folded."""
    return History.of(
        tuple(plan(transaction, administration_id)), entries(transaction, administration_id)
    )


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
    transaction: Transaction, first: int = 0, last: int = 2**31 - 1
) -> tuple[Administration, ...]:
    """Return the administrations whose ids lie between two, newest last.

    Numbers and status of an administration in which nothing was skipped, voided or taken back are
    counted by the database, without reading its rows; the others are folded. A test proves that
    both ways agree.

    Args:
        transaction: to read in.
        first: the smallest id.
        last: the largest id.
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
    said: dict[int, list[Step]] = {}
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
                said.setdefault(number, []).append(Step(sequence, EventEntry(kind, None, text)))
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
    for number, uid, battery, version, content_hash, title, conditions, created, versions in rows:
        if number in folded:
            whole = outline(transaction, number)
            status, reason, n_answered = whole.status, whole.reason, whole.answered
        else:
            status, reason = status_of(events.get(number, ()))
            n_answered = answered.get(number, 0) - practised.get(number, 0)
        back = taken_back(undone.get(number, ()))
        words = [
            (step.entry.kind, step.entry.text)
            for step in said.get(number, ())
            if isinstance(step.entry, EventEntry) and step.sequence not in back
        ]
        marks = marks_of(words)
        made.append(
            Administration(
                id=number,
                uid=uid,
                status=status,
                battery=battery,
                battery_version=version,
                battery_hash=content_hash,
                battery_title=title,
                conditions=conditions_from(json.loads(conditions)),
                created_at=created,
                planned=planned.get(number, 0) - practice.get(number, 0),
                answered=n_answered,
                versions=json.loads(versions),
                reason=reason if status is AdministrationStatus.DISCONTINUED else "",
                title=marks.title,
                tags=marks.tags,
                notes=tuple(text for kind, text in words if kind == "noted"),
            )
        )
    return tuple(made)


Answer = tuple[int, str, ResponseStatus | None]
"""Number of an attempt, its response and the status of that."""


def outline(
    transaction: Transaction, administration_id: int, answers: Mapping[int, Answer] | None = None
) -> History:
    """Return the fold without prompts and ratings; ``answers`` by sequence number, if wanted."""
    planned = [
        PlannedTrial(number, "", "", 0, (), "", bool(practice))
        for number, practice in transaction.rows(
            "SELECT number, practice FROM trials WHERE administration_id = ? ORDER BY number",
            administration_id,
        )
    ]
    steps: list[Entry] = []
    for sequence, kind, trial, text, undoes in transaction.rows(
        "SELECT sequence, kind, trial, text, undoes FROM entries WHERE administration_id = ?"
        " ORDER BY sequence",
        administration_id,
    ):
        if kind.startswith(_ATTEMPT):
            number, response, status = (0, "", None) if answers is None else answers[sequence]
            state = AttemptState(kind.removeprefix(_ATTEMPT))
            attempt = Attempt(number, response, state, status, StopReason.NONE, None)
            steps.append(AttemptEntry(trial, attempt))
        else:
            steps.append(EventEntry(kind, trial, text, undoes))
    return History.of(planned, steps)


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


PART = 1_000
"""Trials read at a time."""
_KEPT = 20_000
"""Prompts and lists of options that are remembered."""
_STATE = {f"attempt-{state.value}": state for state in AttemptState}
_OK = f"attempt-{AttemptState.OK.value}"
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
WHERE administration_id = ? AND substr(kind, 1, 8) <> 'attempt-' AND kind <> 'trial-started'
ORDER BY sequence
"""
_decode = json.JSONDecoder().raw_decode


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
            " JOIN verdicts ON attempt_id = a.id JOIN raters ON raters.id = rater_id"
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


def trial_parts(
    transaction: Transaction, administration: int, rated: Rated
) -> Iterator[tuple[Trial, ...]]:
    """Yield the trials of an administration in order, some at a time."""
    events: dict[int | None, list[Step]] = {}
    undone: list[tuple[int, int]] = []
    for sequence, kind, trial, text, undoes in transaction.rows(_EVENTS, administration):
        events.setdefault(trial, []).append(Step(sequence, EventEntry(kind, trial, text, undoes)))
        if undoes is not None:
            undone.append((sequence, undoes))
    back = taken_back(undone)
    steps = sorted((step for own in events.values() for step in own), key=lambda one: one.sequence)
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
        ratings = rated.of(transaction, *within)
        trials: list[Trial] = []
        for plan in prompts.planned(transaction.rows(_PLANNED, *within)):
            tried = attempts.get(plan.number, ())
            own = events.get(plan.number, ())
            by_attempt = ratings.get(plan.number, {})
            if len(tried) == 1 and not own and tried[0][3] == _OK and tried[0][1] not in back:
                # Nearly all trials: what trial_of returns for them, in half the time.
                attempt = _attempted(tried[0])
                given = rated.joined(by_attempt.get(attempt.number, {}))
                trials.append(Trial(plan, TrialState.ANSWERED, (attempt,), given))
                continue
            steps = _steps(tried, own)
            trials.append(trial_of(plan, steps, by_attempt, back, discontinued=discontinued))
        yield tuple(trials)
    recorded = transaction.value(
        "SELECT count(*) FROM entries WHERE administration_id = ?"
        " AND substr(kind, 1, 8) = 'attempt-'",
        administration,
    )
    if recorded != left:
        raise ValueError("an entry has no attempt")


class _Prompts:
    """Reads planned trials; each different prompt and list of options is one object."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._texts: dict[int, str] = {}
        self._options: dict[int, tuple[str, ...]] = {}

    def planned(self, rows: Sequence[Row]) -> Iterator[PlannedTrial]:
        """Yield the trials of rows."""
        if len(self._texts) > _KEPT:
            self._texts.clear()
            self._options.clear()
        wanted = {number for row in rows for number in row[4:6]}
        self._texts.update(texts(self._transaction, wanted - self._texts.keys()))
        for number, subtest, item, replicate, options, prompt, practice in rows:
            if options not in self._options:
                self._options[options] = tuple(json.loads(self._texts[options]))
            yield PlannedTrial(
                number,
                subtest,
                item,
                replicate,
                self._options[options],
                self._texts[prompt],
                bool(practice),
            )


def _steps(attempts: Sequence[Row], events: Sequence[Step]) -> list[Step]:
    steps = [Step(row[1], AttemptEntry(row[0], _attempted(row))) for row in attempts]
    return sorted((*steps, *events), key=lambda step: step.sequence) if events else steps


def _attempted(row: Row) -> Attempt:
    _, _, number, kind, response, status, stop, latency_s, error, metadata, at = row
    if kind is None:
        raise ValueError("an attempt has no entry")
    noted: Mapping[str, str] = _decode(metadata)[0] if metadata != "{}" else {}
    return Attempt(
        number,
        response,
        _STATE[kind],
        None if status is None else _STATUS[status],
        _STOP[stop],
        latency_s,
        (),
        error,
        noted,
        at,
    )

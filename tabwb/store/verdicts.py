"""Verdicts: what one rater gave to one response, as one row.

``measures_id`` names the list of measures, ``codes`` has one byte for each of them: 0 and 1 are
these values, 2, 3 and 4 the statuses *undefined*, *unparsed* and *error*, 5 is another value,
which stands in ``numbers``. ``numbers`` and ``reasons`` are JSON objects by place in the list; a
reason is the id of a text. The view ``ratings`` has one row for each measure.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tabwb.records.errors import StoreError
from tabwb.records.ratings import LARGEST, Declaration, Judged, Judgement, Rating
from tabwb.records.states import RatingStatus, StopReason
from tabwb.store.database import Keys, Row, Transaction, now, to_json

STATUSES = (RatingStatus.VALUE, RatingStatus.UNDEFINED, RatingStatus.UNPARSED, RatingStatus.ERROR)
"""Statuses by their numbers in arrays."""
OTHER = 5
"""The code of a value that is neither 0 nor 1."""
COLUMNS = "spec, measures_id, codes, numbers, reasons"
"""What :meth:`Verdicts.read` takes, of ``verdicts`` joined with ``raters``."""
T = TypeVar("T")
_AT_ONCE = 500
"""Parameters of one statement; databases allow some thousands."""
_CODES: dict[float | None, int] = {0.0: 0, 1.0: 1}
MEANT: dict[int, tuple[float | None, RatingStatus]] = {
    0: (0.0, RatingStatus.VALUE),
    1: (1.0, RatingStatus.VALUE),
    **{1 + at: (None, status) for at, status in enumerate(STATUSES) if at},
    OTHER: (None, RatingStatus.VALUE),
}
_KEPT = 20_000


def insert(
    transaction: Transaction,
    keys: Keys,
    attempt_id: int,
    ratings: Iterable[Rating],
    recorded_at: str | None,
) -> dict[str, int]:
    """Insert ratings; the id of the verdict of each rater.

    ``recorded_at`` is None in the attempt's own commit.
    """
    by_rater: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_rater.setdefault(rating.rater, []).append(rating)
    made: dict[str, int] = {}
    for rater, given in by_rater.items():
        rater_id = keys.of(transaction, "raters", rater)
        # Ratings in the attempt's own commit are the first: only later ones can replace others.
        replaces = recorded_at and transaction.value(
            "SELECT max(id) FROM verdicts WHERE attempt_id = ? AND rater_id = ?",
            attempt_id,
            rater_id,
        )
        row = {
            "attempt_id": attempt_id,
            "rater_id": rater_id,
            "replaces": replaces,
            "recorded_at": recorded_at,
            **_packed(transaction, keys, given),
        }
        made[rater] = int(transaction.insert("verdicts", row, "RETURNING id"))
    return made


def _packed(transaction: Transaction, keys: Keys, given: Sequence[Rating]) -> dict[str, object]:
    codes, numbers, reasons = bytearray(), {}, {}
    measures = [one.measure for one in given]
    if len(set(measures)) < len(measures):
        raise StoreError(f"{given[0].rater} gives a measure of one response twice")
    for place, rating in enumerate(given):
        if rating.status is not RatingStatus.VALUE:
            code = 1 + STATUSES.index(rating.status)
        else:
            code = _CODES.get(rating.value, OTHER)
            if code == OTHER:
                assert rating.value is not None
                numbers[place] = float(rating.value)
        codes.append(code)
        if rating.reason:
            reasons[place] = keys.of(transaction, "texts", rating.reason)
    return {
        "measures_id": keys.of(transaction, "texts", to_json(measures)),
        "codes": bytes(codes),
        "numbers": written(numbers),
        "reasons": written(reasons),
    }


def written(by_place: Mapping[int, float]) -> str | None:
    """Return the JSON of numbers or reasons."""
    return json.dumps(by_place, separators=(",", ":")) if by_place else None


def by_place(text: str | None) -> dict[int, Any]:
    """Return numbers or reasons from their JSON."""
    return {} if text is None else {int(place): value for place, value in json.loads(text).items()}


class Verdicts:
    """Reads verdicts as ratings; equal ones are one object, as are equal tuples of them.

    That halves time and memory of an export. One may serve all administrations of a store.
    """

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._lists: dict[int, tuple[str, ...]] = {}
        self._read: dict[Row, tuple[Rating, ...]] = {}
        self._one: dict[Row, Rating] = {}

    def read(self, transaction: Transaction, rows: Iterable[Row]) -> list[tuple[Rating, ...]]:
        """Return the ratings of verdicts, each given by :data:`COLUMNS`."""
        if len(self._read) > _KEPT:
            self.__init__()  # type: ignore[misc]
        keys = [(spec, of, bytes(codes), *rest) for spec, of, codes, *rest in rows]
        new = dict.fromkeys(key for key in keys if key not in self._read)
        reasons = {key: by_place(key[4]) for key in new}
        wanted = {number for given in reasons.values() for number in given.values()}
        wanted.update(key[1] for key in new)
        self._texts.update(texts(transaction, wanted - self._texts.keys()))
        for key in new:
            self._read[key] = self._made(key, reasons[key])
        return [self._read[key] for key in keys]

    def _made(self, key: Row, reasons: Mapping[int, int]) -> tuple[Rating, ...]:
        rater, of, codes, numbers, _ = key
        if rater is None:
            raise ValueError("a verdict has no rater")
        if of not in self._lists:
            self._lists[of] = tuple(json.loads(self._texts[of]))
        others = by_place(numbers)
        ratings = []
        for place, (measure, code) in enumerate(zip(self._lists[of], codes, strict=True)):
            one = rater, measure, code, others.get(place), reasons.get(place)
            if one not in self._one:
                other = (others[place], RatingStatus.VALUE) if code == OTHER else None
                value, status = other or MEANT[code]
                reason = "" if one[4] is None else self._texts[one[4]]
                self._one[one] = Rating(rater, measure, value, status, reason)
            ratings.append(self._one[one])
        return tuple(ratings)


def in_parts(values: Sequence[T]) -> Iterator[tuple[str, Sequence[T]]]:
    """Yield marks for the parameters of one statement and the values for them, part by part."""
    for at in range(0, len(values), _AT_ONCE):
        part = values[at : at + _AT_ONCE]
        yield ", ".join("?" * len(part)), part


def ranges(transaction: Transaction, table: str) -> Iterator[tuple[int, int]]:
    """Yield first and last ids of some thousand rows of a table, until all are named."""
    part = f"SELECT id FROM {table} WHERE id > ? ORDER BY id LIMIT {_KEPT}"
    last = -1 << 62
    while True:
        first, last = transaction.rows(f"SELECT min(id), max(id) FROM ({part}) p", last)[0]
        if first is None:
            return
        yield first, last


def of_ids(
    transaction: Transaction, reader: Verdicts, ids: Sequence[int]
) -> dict[int, tuple[Rating, ...]]:
    """Return the ratings of verdicts by their ids."""
    found: dict[int, tuple[Rating, ...]] = {}
    for marks, part in in_parts(ids):
        rows = transaction.rows(
            f"SELECT verdicts.id, {COLUMNS} FROM verdicts JOIN raters ON raters.id = rater_id"
            f" WHERE verdicts.id IN ({marks})",
            *part,
        )
        given = reader.read(transaction, [row[1:] for row in rows])
        found.update(zip([row[0] for row in rows], given, strict=True))
    return found


def wrong(transaction: Transaction) -> Iterator[tuple[int, str]]:
    """Yield verdicts that cannot be read, and what is wrong with them."""
    lists: dict[int, tuple[str, ...]] = {}
    for number, text in transaction.rows(
        "SELECT id, text FROM texts WHERE id IN (SELECT measures_id FROM verdicts)"
    ):
        measures = tuple(json.loads(text)) if text.startswith("[") else (None,)
        named = all(isinstance(measure, str) for measure in measures)
        if named and len(set(measures)) == len(measures):
            lists[number] = measures
    known = {number for (number,) in transaction.rows("SELECT id FROM texts")}
    positive = _positive(transaction)
    for number, rater, measures_id, codes, numbers, reasons in transaction.each(
        "SELECT id, rater_id, measures_id, codes, numbers, reasons FROM verdicts"
    ):
        others = {place for place, code in enumerate(codes) if code == OTHER}
        asked = lists.get(measures_id)
        given, said = by_place(numbers), by_place(reasons)
        if asked is None or len(asked) != len(codes) or max(codes, default=0) > OTHER:
            yield number, "has not one code for each measure"
        elif given.keys() != others:
            yield number, "has not the numbers that its codes announce"
        elif said and not (known >= set(said.values()) and said.keys() <= set(range(len(codes)))):
            yield number, "has a reason that is not there"
        elif not all(abs(value) <= LARGEST for value in given.values()):
            yield number, f"has a number that is infinite or beyond {LARGEST:g}"
        elif any(value < 0 and (rater, asked[at]) in positive for at, value in given.items()):
            yield number, "has a negative number where its rater counts"


def _positive(transaction: Transaction) -> set[tuple[int, str]]:
    """Return the raters' measures that were declared as counts or shares."""
    declared = transaction.rows(
        "SELECT DISTINCT rater_id, text FROM rater_declarations d JOIN texts t"
        " ON t.id = features_id"
    )
    kinds: dict[tuple[int, str], set[str]] = {}
    for rater, text in declared:
        said = json.loads(text)
        for measure, kind in said.get("measures", ()) if isinstance(said, dict) else ():
            kinds.setdefault((rater, measure), set()).add(kind)
    return {place for place, given in kinds.items() if given <= {"count", "share"}}


def texts(
    transaction: Transaction, ids: Collection[int], table: str = "texts", column: str = "text"
) -> dict[int, str]:
    """Return shared texts, or a column of another table, by their ids."""
    found: dict[int, str] = {}
    ordered = sorted(ids)
    for marks, part in in_parts(ordered):
        sql = f"SELECT id, {column} FROM {table} WHERE id IN ({marks})"
        found.update(transaction.rows(sql, *part))
    return found


_PLAIN = (
    "repeat", "repaired", "structured", "requests", "prompt_tokens", "reply_tokens", "latency_s",
    "same_as",
)  # fmt: skip
"""Columns of judgements that hold what the record has under the same name."""
_JUDGED = (
    "SELECT trial, attempts.number, verdict_id, verdict, spec, prompt.text, raw.text,"
    " first_raw.text, judgements.stop_reason, key, judgements.id, judgements.recorded_at, "
    + ", ".join(f"judgements.{name}" for name in _PLAIN)
    + " FROM judgements JOIN attempts ON attempts.id = judgements.attempt_id"
    " JOIN raters ON raters.id = judgements.rater_id"
    " JOIN texts AS prompt ON prompt.id = prompt_id JOIN texts AS raw ON raw.id = raw_id"
    " LEFT JOIN texts AS first_raw ON first_raw.id = first_raw_id"
)


def insert_judgements(
    transaction: Transaction,
    keys: Keys,
    administration_id: int,
    judged: Sequence[Judged],
    declaration: Declaration | None = None,
) -> tuple[Judged, ...]:
    """Insert judgements, and the ratings of those that count; the same with their keys.

    ``declaration`` is what the judge says of itself, if it does.
    """
    moment = now()
    if declaration is not None:
        insert_declaration(transaction, keys, administration_id, declaration, moment)
    kept: list[Judged] = []
    for entry in judged:
        judgement = entry.judgement
        attempt_id = attempt_key(transaction, administration_id, entry.trial, entry.attempt)
        verdict_id = verdict = None
        if judgement.repeat == 0:
            made = insert(transaction, keys, attempt_id, judgement.ratings, moment)
            verdict_id = made[judgement.rater]
        else:
            plain = [[r.measure, r.value, r.status.value, r.reason] for r in judgement.ratings]
            verdict = to_json(plain)
        first_raw = judgement.first_raw
        row = {
            **{name: getattr(judgement, name) for name in _PLAIN},
            "attempt_id": attempt_id,
            "rater_id": keys.of(transaction, "raters", judgement.rater),
            "verdict_id": verdict_id,
            "verdict": verdict,
            "prompt_id": keys.of(transaction, "texts", judgement.prompt_text),
            "raw_id": keys.of(transaction, "texts", judgement.raw),
            "first_raw_id": keys.of(transaction, "texts", first_raw) if first_raw else None,
            "stop_reason": judgement.stop_reason.value,
            "key": bytes.fromhex(judgement.key),
            "recorded_at": moment,
        }
        number = transaction.insert("judgements", row, "RETURNING id")
        stored = replace(judgement, id=int(number), recorded_at=moment)
        kept.append(replace(entry, judgement=stored))
    return tuple(kept)


def judgements_of(
    transaction: Transaction, administration_id: int, trial: int | range | None = None
) -> tuple[Judged, ...]:
    """Return all judgements of an administration, a trial or a range, in the order recorded."""
    given = range(trial, trial + 1) if isinstance(trial, int) else trial
    rows = transaction.rows(
        f"{_JUDGED} WHERE administration_id = ?"
        f"{'' if given is None else ' AND trial BETWEEN ? AND ?'} ORDER BY judgements.id",
        administration_id,
        *(() if given is None else (given.start, given.stop - 1)),
    )
    return tuple(_judged(transaction, rows))


def repetitions(
    transaction: Transaction, administration_ids: Sequence[int]
) -> Iterator[tuple[tuple[int, int, int], str, int, dict[str, float]]]:
    """Yield the verdicts that judges gave when they were asked again, without copies."""
    for number in administration_ids:
        for trial, attempt, rater, repeat, verdict in transaction.rows(
            "SELECT trial, attempts.number, spec, repeat, verdict FROM judgements"
            " JOIN attempts ON attempts.id = judgements.attempt_id"
            " JOIN raters ON raters.id = judgements.rater_id"
            " WHERE administration_id = ? AND repeat > 0 AND same_as IS NULL"
            " ORDER BY judgements.id",
            number,
        ):
            values = {name: value for name, value, *_ in json.loads(verdict) if value is not None}
            yield (number, trial, attempt), rater, repeat, values


def judgements_of_keys(transaction: Transaction, keys: Collection[str]) -> dict[str, Judgement]:
    """Return the latest judgement of each key, without failures and repetitions."""
    latest: dict[str, Judgement] = {}
    for marks, part in in_parts([bytes.fromhex(key) for key in sorted(keys)]):
        rows = transaction.rows(
            f"{_JUDGED} WHERE key IN ({marks}) AND repeat = 0 ORDER BY judgements.id",
            *part,
        )
        for entry in _judged(transaction, rows):
            statuses = {rating.status for rating in entry.judgement.ratings}
            if RatingStatus.ERROR not in statuses:
                latest[entry.judgement.key] = entry.judgement
    return latest


def _judged(transaction: Transaction, rows: Sequence[Any]) -> Iterator[Judged]:
    ids = [row[2] for row in rows if row[2] is not None]
    found = of_ids(transaction, Verdicts(), ids)
    for trial, attempt, verdict_id, verdict, rater, prompt, raw, first_raw, *rest in rows:
        stop, key, number, moment, *plain = rest
        fields = dict(zip(_PLAIN, plain, strict=True))
        for name in ("repaired", "structured"):
            fields[name] = bool(fields[name])
        judgement = Judgement(
            rater=rater,
            ratings=_repeated(rater, verdict) if verdict_id is None else found[verdict_id],
            prompt_text=prompt,
            raw=raw,
            first_raw=first_raw or "",
            stop_reason=StopReason(stop),
            key=bytes(key).hex(),
            id=number,
            recorded_at=moment,
            **fields,
        )
        yield Judged(trial, attempt, judgement)


def _repeated(rater: str, verdict: str) -> tuple[Rating, ...]:
    return tuple(
        Rating(rater, measure, value, RatingStatus(status), why)
        for measure, value, status, why in json.loads(verdict)
    )


def attempt_key(transaction: Transaction, administration_id: int, trial: int, attempt: int) -> int:
    """Return the key of an attempt that is there."""
    key = transaction.value(
        "SELECT id FROM attempts WHERE administration_id = ? AND trial = ? AND number = ?",
        administration_id,
        trial,
        attempt,
    )
    if key is None:
        raise StoreError(
            f"trial {trial} has no attempt {attempt} to rate",
            where=f"administration {administration_id}",
        )
    return int(key)


def _said(declaration: Declaration) -> str:
    plugin = declaration.plugin
    if not declaration.measures and plugin is None:
        return to_json(declaration.features)
    said: dict[str, object] = {"features": declaration.features}
    if declaration.measures:
        said["measures"] = list(declaration.measures.items())  # in their order
    if plugin is not None:
        said["plugin"] = [plugin.distribution, plugin.version, plugin.sha256]
    return to_json(said)


def insert_declaration(
    transaction: Transaction,
    keys: Keys,
    administration_id: int,
    declaration: Declaration,
    recorded_at: str,
) -> None:
    """Keep a rater's declaration, unless it is equal to its last one in this administration."""
    prompt = declaration.prompt_text
    values = {
        "kind": declaration.kind,
        "scope": declaration.scope,
        "features_id": keys.of(transaction, "texts", _said(declaration)),
        "caution_id": keys.of(transaction, "texts", declaration.caution),
        "prompt_id": keys.of(transaction, "texts", prompt) if prompt else None,
    }
    rater_id = keys.of(transaction, "raters", declaration.rater)
    last = transaction.first(
        f"SELECT {', '.join(values)} FROM rater_declarations"
        " WHERE administration_id = ? AND rater_id = ? ORDER BY id DESC LIMIT 1",
        administration_id,
        rater_id,
    )
    if last is None or tuple(last) != tuple(values.values()):
        place = {"administration_id": administration_id, "rater_id": rater_id}
        row = {**place, **values, "recorded_at": recorded_at}
        transaction.insert("rater_declarations", row)

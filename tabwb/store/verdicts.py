"""Verdicts: what one rater gave to one response, as one row.

``measures_id`` names the list of measures, ``codes`` has one byte for each of them: 0 and 1 are
these values, 2, 3 and 4 the statuses *undefined*, *unparsed* and *error*, 5 is another value,
which stands in ``numbers``. ``numbers`` and ``reasons`` are JSON objects by place in the list; a
reason is the id of a text. The view ``ratings`` has one row for each measure.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Rating
from tabwb.records.states import RatingStatus
from tabwb.store.database import Row, Transaction
from tabwb.store.keys import Keys, to_json

STATUSES = (RatingStatus.VALUE, RatingStatus.UNDEFINED, RatingStatus.UNPARSED, RatingStatus.ERROR)
"""Statuses by their numbers in arrays."""
OTHER = 5
"""The code of a value that is neither 0 nor 1."""
COLUMNS = "spec, measures_id, codes, numbers, reasons"
"""What :meth:`Verdicts.read` takes, of ``verdicts`` joined with ``raters``."""
AT_ONCE = 500
"""Parameters of one statement; databases allow some thousands."""
_CODES: dict[float | None, int] = {0.0: 0, 1.0: 1}
_MEANT: dict[int, tuple[float | None, RatingStatus]] = {
    0: (0.0, RatingStatus.VALUE),
    1: (1.0, RatingStatus.VALUE),
    **{1 + at: (None, status) for at, status in enumerate(STATUSES) if at},
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
        if of not in self._lists:
            self._lists[of] = tuple(json.loads(self._texts[of]))
        others = by_place(numbers)
        ratings = []
        for place, (measure, code) in enumerate(zip(self._lists[of], codes, strict=True)):
            one = rater, measure, code, others.get(place), reasons.get(place)
            if one not in self._one:
                other = (others[place], RatingStatus.VALUE) if code == OTHER else None
                value, status = other or _MEANT[code]
                reason = "" if one[4] is None else self._texts[one[4]]
                self._one[one] = Rating(rater, measure, value, status, reason)
            ratings.append(self._one[one])
        return tuple(ratings)


def of_ids(
    transaction: Transaction, reader: Verdicts, ids: Sequence[int]
) -> dict[int, tuple[Rating, ...]]:
    """Return the ratings of verdicts by their ids."""
    found: dict[int, tuple[Rating, ...]] = {}
    for at in range(0, len(ids), AT_ONCE):
        part = ids[at : at + AT_ONCE]
        marks = ", ".join("?" * len(part))
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
    sizes: dict[int, int] = {}
    for number, text in transaction.rows(
        "SELECT id, text FROM texts WHERE id IN (SELECT measures_id FROM verdicts)"
    ):
        measures = json.loads(text) if text.startswith("[") else ()
        sizes[number] = len(measures) if len(set(measures)) == len(measures) else -1
    known = {number for (number,) in transaction.rows("SELECT id FROM texts")}
    for number, measures_id, codes, numbers, reasons in transaction.each(
        "SELECT id, measures_id, codes, numbers, reasons FROM verdicts"
    ):
        others = {place for place, code in enumerate(codes) if code == OTHER}
        if sizes.get(measures_id) != len(codes) or max(codes, default=0) > OTHER:
            yield number, "has not one code for each measure"
        elif by_place(numbers).keys() != others:
            yield number, "has not the numbers that its codes announce"
        elif not known.issuperset(by_place(reasons).values()):
            yield number, "has a reason that is not there"


def texts(
    transaction: Transaction, ids: Collection[int], table: str = "texts", column: str = "text"
) -> dict[int, str]:
    """Return shared texts, or a column of another table, by their ids."""
    found: dict[int, str] = {}
    ordered = sorted(ids)
    for at in range(0, len(ordered), AT_ONCE):
        part = ordered[at : at + AT_ONCE]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT id, {column} FROM {table} WHERE id IN ({marks})"
        found.update(transaction.rows(sql, *part))
    return found

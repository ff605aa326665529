"""What can be wrong with the rating sets of a store."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tabwb.battery.forms import form_from_canonical
from tabwb.records.counting import PERSON
from tabwb.records.errors import TabwbError
from tabwb.store.database import Transaction

_OF_ANOTHER = (
    "SELECT r.set_id, r.id, e.id FROM sample_ratings r JOIN sample_ratings e ON e.id = r.replaces"
    " WHERE e.id >= r.id OR e.set_id <> r.set_id OR e.rater_id <> r.rater_id"
    " OR e.position <> r.position"
)
_COUNTED_ELSEWHERE = (
    "SELECT r.set_id, r.id, g.id FROM sample_ratings r JOIN verdicts g ON g.id = r.verdict_id"
    " JOIN assignments a ON a.set_id = r.set_id AND a.rater_id = r.rater_id"
    " AND a.position = r.position"
    " JOIN samples s ON s.set_id = a.set_id AND s.number = a.sample"
    " WHERE g.attempt_id <> s.attempt_id OR (g.rater_id <> r.rater_id AND"
    " (SELECT spec FROM raters WHERE id = g.rater_id)"
    f" <> '{PERSON}' || (SELECT spec FROM raters WHERE id = r.rater_id))"
)


def wrong_in_sets(transaction: Transaction) -> Iterator[tuple[int, str]]:
    """Yield the set and what is wrong in it, in words; nothing where all is well."""
    for number, text in transaction.rows(
        "SELECT sample_sets.id, text FROM sample_sets JOIN texts ON texts.id = form_text_id"
    ):
        try:
            form_from_canonical(text)
        except TabwbError as error:
            yield number, error.message
    for number, row, other in transaction.rows(_OF_ANOTHER):
        yield number, f"rating {row} replaces rating {other}, which is of another sample or later"
    for number, row, other in transaction.rows(_COUNTED_ELSEWHERE):
        yield number, f"rating {row} is counted as row {other} of another response or rater"
    for table, column in (
        ("sample_ratings", "answers"),
        ("adjudications", "answer"),
        ("samples", "consensus"),
    ):
        for number, text in transaction.each(
            f"SELECT set_id, {column} FROM {table} WHERE {column} IS NOT NULL"
        ):
            try:
                json.loads(text)
            except ValueError:
                yield number, f"an answer in '{table}' cannot be read: {text[:40]!r}"

"""The table of what raters of a rating set differ on."""

from __future__ import annotations

from tabwb.administer.rating.adjudication import Adjudicator, Which
from tabwb.tables.table import Column, Table, table_of

_COLUMNS = (
    Column("sample", "Sample", "its number in the set", "integer"),
    Column("measure", "Measure", "of the question; with # the number of the attempt"),
    Column("text", "Text", "the response as it is shown"),
    Column("people", "People", "what each person says"),
    Column("judges", "Judges", "what each judge says"),
    Column("people_differ", "Differ", "share of pairs of people who differ", "number", "", 2),
    Column(
        "judges_differ", "Judges differ", "share of pairs of a person and a judge who differ",
        "number", "", 2,
    ),
    Column("majority", "Majority", "of the people; missing without one"),
    Column("settled", "Settled", "the value that was taken; missing where it is open"),
    Column("who", "By", "who settled it"),
    Column("reason", "Reason", "why"),
)  # fmt: skip


def disputes_table(adjudicator: Adjudicator, which: Which) -> Table:
    """Return one row for each answer that raters differ on, most first."""
    rows = []
    for one in adjudicator.disputes(which=which):
        held = one.settled
        people = (adjudicator.said(one, said) for said in one.verdicts)
        judges = (f"{judge} {adjudicator.words(one.measure, said)}" for judge, said in one.judges)
        majority = one.majority
        rows.append(
            (
                one.sample, one.measure, adjudicator.shown(one.sample).text,
                ", ".join(people), ", ".join(judges), one.people_differ, one.judges_differ,
                None if majority is None else adjudicator.words(one.measure, majority),
                None if held is None else adjudicator.words(one.measure, held.answer),
                None if held is None else held.who, None if held is None else held.reason,
            )
        )  # fmt: skip
    settled, of = adjudicator.progress()
    note = (
        f"Of {of} answers of '{adjudicator.set.name}' that people differ on {settled} are settled."
    )
    return table_of("disputed", _COLUMNS, rows, (note,))

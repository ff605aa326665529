"""Records of participants that are filled from files."""

from __future__ import annotations

import pytest

from tabwb.administer.participants import fill_records, keep_record, planned_records
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.speakers import Column, Speaker, Study, SubjectKind
from tabwb.store.store import Store

STATED = [
    ("S-01", {"AQ": "48.5", "sex": "Female", "site": ""}),
    ("S-02", {"AQ": "90", "severity": "mild"}),
    ("S-01", {"AQ": "48.50", "group": "A"}),
]


def test_what_is_new_is_stored_and_what_is_known_stays(store: Store) -> None:
    assert dict(planned_records(None, Study(), STATED).new) == {
        "S-01": {"AQ": 48.5, "sex": "female", "group": "A"},
        "S-02": {"AQ": 90},  # that it is mild follows
    }
    store.people.keep_speaker(Speaker("S-01", {"AQ": 50, "site": "York"}))
    filling = fill_records(store, Study(), STATED, "people.csv")
    assert {who: dict(record) for who, record in filling.new.items()} == {
        "S-01": {"AQ": 50, "site": "York", "sex": "female", "group": "A"},
        "S-02": {"AQ": 90},
    }
    assert [(one.speaker, one.column, one.stated, one.recorded) for one in filling.differences] == [
        ("S-01", "AQ", "48.5", 50), ("S-01", "AQ", "48.50", 50),
    ]  # fmt: skip
    assert store.people.speaker("S-01").values == filling.new["S-01"]
    assert [one.version for one in map(store.people.speaker, ("S-01", "S-02"))] == [2, 1]
    again = fill_records(store, Study(), STATED, "people.csv")
    assert (again.new, again.differences) == ({}, filling.differences)
    assert store.people.speaker("S-01").version == 2


@pytest.mark.parametrize(
    ("stated", "stored"),
    [
        ({"AQ": "101", "sex": "male"}, {"sex": "male"}),
        ({"AQ": "about 50"}, {}),
        ({"height": "180", "age_years": "58"}, {"age_years": 58}),
        ({"severity": "moderate", "AQ": "30"}, {"AQ": 30}),
        ({"MMSE": "28"}, {}),  # of controls
        ({"MMSE": "28", "kind": "control", "site": "x" * 201}, {"kind": "control", "MMSE": 28}),
    ],
)
def test_what_cannot_be_stored_is_listed(
    store: Store, stated: dict[str, str], stored: dict[str, object]
) -> None:
    study = Study().with_kinds([SubjectKind("control", "control", (Column("MMSE", "whole"),))])
    filling = fill_records(store, study, [("S-01", stated)], "people.csv")
    assert len(filling.differences) == 1
    assert (store.people.speaker("S-01").values if stored else {}) == stored


def test_one_of_a_deleted_participant_stores_nothing(store: Store) -> None:
    store.people.keep_speaker(Speaker("S-02", {}))
    store.people.delete_speaker("S-02", "withdrawn")
    with pytest.raises(StoreError, match="S-02"):
        fill_records(store, Study(), STATED, "people.csv")
    assert [one.id for one in store.people.speakers()] == []


def test_a_file_registers_nobody(store: Store) -> None:
    from tabwb.administer.consent import _is_registered

    fill_records(store, Study(), STATED, "people.csv")
    assert not _is_registered(store, "S-01")
    (entry, *_) = store.people.log_entries("S-01")
    assert (entry.act, "people.csv" in entry.who) == ("imported", True)
    store.people.keep_speaker(Speaker("S-01", {"AQ": 50}))
    assert _is_registered(store, "S-01")
    assert [one.act for one in store.people.log_entries("S-01")] == ["imported", "registered"]


def test_a_value_of_a_column_that_is_gone_is_kept_or_removed(store: Store) -> None:
    store.people.keep_speaker(Speaker("S-01", {"AQ": 50, "MMSE": 28}))
    texts = {"AQ": "51", "MMSE": "28"}
    assert keep_record(store, Study(), "S-01", texts, new=False).values == {"AQ": 51, "MMSE": 28}
    with pytest.raises(UsageError):
        keep_record(store, Study(), "S-01", {"MMSE": "29"}, new=False)
    assert keep_record(store, Study(), "S-01", {"MMSE": ""}, new=False).values == {"AQ": 51}
    with pytest.raises(UsageError):
        keep_record(store, Study(), "S-01", {"MMSE": ""}, new=False)

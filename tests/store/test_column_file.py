"""The column file beside a store: when it counts, who can read it, when it is removed."""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Judged, Judgement, valued
from tabwb.records.states import StopReason
from tabwb.records.trials import AttemptEntry, EventEntry, RatingsEntry
from tabwb.store import column_file
from tabwb.store.columns import RaterColumns, ResponseColumns
from tabwb.store.kept_columns import keep
from tabwb.store.maintenance import backup, remove_unnamed
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, scores
from tests.store.test_people_deleted import SECRET, give, holding

EXPLAINED = frozenset({"exact"})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_file, "LEAST", 1)


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    """Three administrations of two answers; the last one has no ratings."""
    with Store.open(file) as opened:
        for word in ("house", "garden", "café"):
            number = begin(opened, 3).id
            for trial in (1, 2):
                opened.append(number, [AttemptEntry(trial, attempt(response=f"{word} {trial}"))])
                if word != "café":
                    opened.append(number, [RatingsEntry(trial, 1, scores())])
        yield opened


def written(store: Store) -> Path:
    """Have the file written."""
    assert store.embedded is not None
    store.columns([one.id for one in store.administrations()], EXPLAINED)
    return column_file.folder_of(store.embedded) / "columns"


def kept(store: Store, *numbers: int) -> ResponseColumns | None:
    """What the file has of some administrations."""
    assert store.embedded is not None
    with store.database.reading() as transaction:
        state = column_file.state_of(transaction)
    return column_file.load(store.embedded, state, numbers, EXPLAINED)


def told(columns: ResponseColumns | RaterColumns) -> dict[str, object]:
    """Every value of columns, with the texts and items that their codes stand for."""
    made: dict[str, object] = {}
    for field in fields(columns):
        value = getattr(columns, field.name)
        if isinstance(value, np.ndarray):
            value = value.tolist()
        elif field.name == "ratings":
            value = {name: told(rater) for name, rater in value.items()}
        elif field.name == "measures":
            value = {
                name: [np.asarray(getattr(one, part.name), float).tolist() for part in fields(one)]
                for name, one in value.items()
            }
        elif field.name == "notes":
            value = {name: codes.tolist() for name, codes in value.items()}
        elif field.name == "responses":
            value = [(text, int(n)) for text, n in zip(value, value.sizes, strict=True)]
        elif field.name == "mapped":
            continue
        made[field.name] = value
    return made


def test_the_file_gives_the_columns_that_were_written(store: Store) -> None:
    numbers = (1, 2, 3)
    before = store.columns(numbers, EXPLAINED)
    found = kept(store, *numbers)
    assert found is not None
    assert str(told(found)) == str(told(before))
    found.release()
    assert str(told(found)) == str(told(before))
    assert found.responses.code("Garden, 2!") == before.responses.code("garden 2") > 0
    assert found.responses.code("nobody said this") == -1


@pytest.mark.parametrize("numbers", [(1,), (2, 3), (1, 3), (3,), ()])
def test_some_administrations_are_those_of_the_store(
    store: Store, numbers: tuple[int, ...]
) -> None:
    written(store)
    found = kept(store, *numbers)
    assert found is not None
    column_file.remove(store.embedded or Path())
    read = store.columns(numbers, EXPLAINED)
    texts = [[columns.responses[at] for at in columns.texts] for columns in (found, read)]
    assert texts[0] == texts[1]
    assert found.starts.tolist() == read.starts.tolist()
    assert found.trials.tolist() == read.trials.tolist()
    assert found.planned == read.planned
    ratings = [
        {name: told(rater) for name, rater in columns.ratings.items()} for columns in (found, read)
    ]
    assert str(ratings[0]) == str(ratings[1])


def test_only_its_owner_can_read_it(store: Store) -> None:
    file = written(store)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)]
    assert modes == [0o600, 0o700]
    named = file.with_name(column_file.NAMED)
    assert stat.S_IMODE(named.stat().st_mode) == 0o600
    assert sorted(file.parent.iterdir()) == [named, file]


def test_new_rows_of_any_kind_make_it_invalid(store: Store) -> None:
    judgement = Judgement(
        "all:x", (valued("all:x", "anomia", 1),), key="00" * 32, raw="raw", prompt_text="Judge.",
        stop_reason=StopReason.END,
    )  # fmt: skip
    for grow in (
        lambda: begin(store, 1),
        lambda: store.append(1, [EventEntry("voided", 1, "noise")]),
        lambda: store.append(2, [RatingsEntry(1, 1, scores(value=False))]),
        lambda: store.append(3, [AttemptEntry(3, attempt())]),
        lambda: store.keep_judgements(1, [Judged(2, 1, judgement)]),
    ):
        written(store)
        assert kept(store, 1) is not None
        grow()
        assert kept(store, 1) is None


def test_reasons_that_were_not_read_are_not_in_it(store: Store) -> None:
    written(store)
    assert store.embedded is not None
    with store.database.reading() as transaction:
        state = column_file.state_of(transaction)
    assert column_file.load(store.embedded, state, [1], EXPLAINED | {"extracted"}) is None


def test_a_damaged_file_is_ignored_and_written_again(store: Store) -> None:
    file = written(store)
    whole = file.read_bytes()
    places = [*range(0, len(whole), 97), *range(len(whole) - 20, len(whole))]
    damaged = [whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :] for at in places]
    for content in (*damaged, *(whole[:at] for at in (0, 5, len(whole) // 2, len(whole) - 1))):
        file.write_bytes(content)
        assert kept(store, 1, 2, 3) is None
        assert len(store.columns((1, 2, 3), EXPLAINED)) == 6
        assert file.read_bytes() == whole


def test_small_stores_and_parts_of_a_store_are_not_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.embedded is not None
    store.columns((1, 2), EXPLAINED)
    assert not column_file.folder_of(store.embedded).exists()
    monkeypatch.setattr(column_file, "LEAST", 7)
    store.columns((1, 2, 3), EXPLAINED)
    assert not column_file.folder_of(store.embedded).exists()


def test_ratings_of_answers_that_do_not_count_are_left_out(file: Path) -> None:
    with Store.open(file) as opened:
        number = begin(opened, 1).id
        for trial_attempt in (1, 2):
            opened.append(number, [AttemptEntry(1, attempt(trial_attempt, response="again"))])
            if trial_attempt == 1:
                opened.append(number, [RatingsEntry(1, 1, scores())])
        columns = opened.columns([number])
    assert (len(columns), columns.attempts.tolist(), dict(columns.ratings)) == (1, [2], {})


def test_while_one_state_of_the_store_is_read_nothing_is_written(store: Store) -> None:
    assert store.embedded is not None
    with store.unchanged():
        assert len(store.columns((1, 2, 3), EXPLAINED)) == 6
        assert len(store.columns((1, 2, 3), EXPLAINED)) == 6
    assert not column_file.folder_of(store.embedded).exists()


def test_without_a_place_to_write_columns_are_read_from_the_store(store: Store) -> None:
    assert store.embedded is not None
    column_file.folder_of(store.embedded).write_text("a file in its place")
    assert len(store.columns((1, 2, 3), EXPLAINED)) == 6


def test_on_a_full_disk_nothing_of_it_is_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(writer: object, description: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert store.embedded is not None
    monkeypatch.setattr("tabwb.store.column_file._Writer.finish", full)
    assert len(store.columns((1, 2, 3), EXPLAINED)) == 6
    assert not column_file.folder_of(store.embedded).exists()


def test_a_deletion_removes_what_was_written_through_a_link(file: Path) -> None:
    link = file.with_name("link.db")
    with Store.open(file) as deleting:
        give(deleting, "S-014", SECRET, size=3)
        link.symlink_to(file)
        with Store.open(link) as reading:
            assert SECRET.encode() in written(reading).read_bytes()
        deleting.people.delete_speaker("S-014", "withdrawn")
    assert not list(file.parent.glob("*.columns"))


@pytest.mark.parametrize("taken", [False, True], ids=["", "the old name is another store's"])
def test_a_deletion_removes_what_was_written_under_an_earlier_name(
    file: Path, *, taken: bool
) -> None:
    other, renamed = file.with_name("other.db"), file.with_name("renamed.db")
    with Store.open(file) as store:
        give(store, "S-014", SECRET, size=3)
        written(store)
    with Store.open(other) as store:
        give(store, "S-015", "innocent")
        kept_by_other = written(store)
    file.rename(renamed)
    if taken:
        Store.open(file).close()
    assert holding(file, SECRET) == [str(column_file.folder_of(file) / "columns")]
    with Store.open(renamed) as store:
        store.people.delete_speaker("S-014", "withdrawn")
    assert holding(file, SECRET) == []
    assert kept_by_other.exists()


def test_what_was_begun_under_an_earlier_name_is_found_too(store: Store, file: Path) -> None:
    draft = written(store).rename(column_file.folder_of(file) / "tmp1")
    store.close()
    renamed = file.rename(file.with_name("renamed.db"))
    with Store.open(renamed) as again, again.database.reading() as transaction:
        uids = column_file.uids_of(transaction)
    assert list(column_file.of_other_names(renamed, uids)) == [draft.parent]
    assert list(column_file.of_other_names(renamed, ["another"])) == []


def test_a_check_removes_what_a_renamed_store_left_and_nothing_of_a_copy(
    store: Store, file: Path
) -> None:
    old = written(store).parent
    copy = file.with_name("copy.db")
    backup(store, copy)
    with Store.open(copy) as opened:
        kept_by_copy = written(opened)
    store.close()
    renamed = file.rename(file.with_name("renamed.db"))
    assert remove_unnamed(renamed) == (old,)
    assert not old.exists()
    assert kept_by_copy.exists()


def test_what_was_read_before_a_deletion_is_not_written_after_it(file: Path) -> None:
    with Store.open(file) as reading, Store.open(file) as deleting:
        one, other = give(deleting, "S-014", SECRET, size=3), give(deleting, "S-015", "innocent")
        before = reading.columns([one, other], EXPLAINED)
        with reading.database.reading() as transaction:
            state = column_file.state_of(transaction)
        assert holding(file, SECRET)
        deleting.people.delete_speaker("S-014", "withdrawn")
        keep(reading._access, before, state, EXPLAINED)
        assert not column_file.folder_of(file).exists()
        assert holding(file, SECRET) == []


def test_where_it_cannot_be_removed_nobody_is_deleted(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "in use")

    with Store.open(file) as store:
        give(store, "S-014", SECRET)
        monkeypatch.setattr(column_file, "remove", refuse)
        with pytest.raises(StoreError, match="nothing was deleted"):
            store.people.delete_speaker("S-014", "withdrawn")
        assert store.people.data_of("S-014")["administrations"] == 1


@pytest.mark.crash
def test_killed_at_any_moment_writing_leaves_a_whole_file_or_none(file: Path) -> None:
    with Store.open(file) as store:
        give(store, "S-014", SECRET, size=5)
        expected = str(told(store.columns([1], EXPLAINED)))
    calls = _written_in_a_fork(file, 0)
    assert calls > 20
    for at in range(1, calls, max(calls // 25, 1)):
        assert _written_in_a_fork(file, at) == 0
        with Store.open(file) as store:
            found = kept(store, 1)
            assert found is None or str(told(found)) == expected
    with Store.open(file) as store:
        store.people.delete_speaker("S-014", "withdrawn")
    assert holding(file, SECRET) == []


def _written_in_a_fork(file: Path, at_call: int) -> int:
    """Write the file in a fork that kills itself at a function call; 0: never. Return the calls."""
    counted = file.with_name("calls")
    counted.unlink(missing_ok=True)
    column_file.remove(file)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == at_call:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        try:
            with Store.open(file) as store:
                with store.database.reading() as transaction:
                    state = column_file.state_of(transaction)
                columns = store.columns([1], EXPLAINED)
            column_file.remove(file)
            with Store.open(file) as store:
                sys.setprofile(count)
                keep(store._access, columns, state, EXPLAINED)
                sys.setprofile(None)
            counted.write_text(str(calls))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return int(counted.read_text()) if counted.exists() else 0


def test_several_programs_write_and_read_it_at_once(store: Store, file: Path) -> None:
    numbers = (1, 2, 3)
    expected = str(told(store.columns(numbers, EXPLAINED)))
    store.close()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with Store.open(file) as own:
                    for _ in range(15):
                        with own.database.reading() as transaction:
                            state = column_file.state_of(transaction)
                        columns = own.columns(numbers, EXPLAINED)
                        assert str(told(columns)) == expected
                        keep(own._access, columns, state, EXPLAINED)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert sorted(path.name for path in column_file.folder_of(file).iterdir()) == [
        column_file.NAMED,
        "columns",
    ]

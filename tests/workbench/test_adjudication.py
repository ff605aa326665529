"""The adjudication page: verdicts side by side, a value taken with a reason, and undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

from tabwb.store.store import Store
from tabwb.workbench.adjudication.page import AdjudicationPage
from tabwb.workbench.adjudication.view_models import AdjudicationView
from tests.administer.rating.adjudication_parts import JUDGE, disputed_set
from tests.workbench.seat import Seat, Sit


def _view(seat: Seat) -> AdjudicationView:
    view = seat.desk.query_one(AdjudicationPage)._view
    assert view is not None
    return view


def _parts(value: object) -> Iterator[object]:
    """Everything that can be reached from a value."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _parts([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _parts(part)


async def test_a_disagreement_is_settled_with_a_reason_and_taken_back(
    sit: Sit, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as store:
        disputed_set(store)
    async with sit((80, 24)) as seat:
        await seat.until(lambda: seat.desk.catalogue is not None)
        await seat.press("r")
        await seat.until(lambda: seat.desk.current.rating_set() == 1)
        seat.desk.perform("file.adjudicate")
        await seat.reads("0 of 2 settled")
        await seat.reads("3 answers: people differ on 2, only judges on 1")
        await seat.reads("1.00      -  2 0 -")
        await seat.press("down")
        await seat.reads("Sample 1 · Jargon")
        assert "text 1" in seat.text
        await seat.press("l")
        await seat.until(lambda: _view(seat).told == "there is no recording to play")
        assert JUDGE in seat.text
        # Nothing that the page got tells the source; it holds plain values alone.
        reached = list(_parts(_view(seat)))
        assert {type(one).__module__.partition(".")[0] for one in reached} <= {"builtins", "tabwb"}
        words = " ".join(str(one) for one in reached if isinstance(one, str))
        assert "severe" not in words and "echo" not in words
        names = {field.name for one in reached if is_dataclass(one) for field in fields(one)}
        assert not names & {"administration", "trial", "attempt", "stratum", "weight", "speaker"}

        await seat.press("enter")
        await seat.reads("Sample 1, Jargon: which value?")
        await seat.press("enter")
        await seat.reads("Sample 1, Jargon: ▣ present")
        await seat.press("enter")
        await seat.reads("a text is needed")
        await seat.type("no such words")
        await seat.press("enter")
        await seat.reads("1 of 2 settled")
        await seat.until(lambda: len(_view(seat).rows) == 2)
        await seat.press("t")
        await seat.reads("settled; consensus counts")
        await seat.reads("no such words")
        await seat.press("x")
        await seat.reads("Nothing is settled.")
        await seat.press("t", "u")
        await seat.reads("0 of 2 settled")
        await seat.press("slash", "down", "enter")
        await seat.reads("all, jargon; consensus counts")
        await seat.press("escape")
        await seat.until(lambda: seat.desk.page == "sets")
    with Store.open(tmp_path / "store.db") as store:
        (settled, back) = store.sets.adjudications(1, every=True)
        assert (settled.answer, settled.reason, back.answer) == (1.0, "no such words", None)

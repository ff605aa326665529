"""Whatever a rater does in whatever order, what counts follows from the rows that are stored."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tabwb.administer.rating.session import RaterSession
from tabwb.administer.rating.shown import Draft
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import CANNOT_TELL, Assignment, Sample, SampleRating
from tabwb.records.trials import AttemptEntry
from tabwb.store.maintenance import check
from tabwb.store.store import Store
from tests.store.parts import FORM, attempt, begin, set_plan

PLACES = {2: 1, 3: 2, 5: 3}
"""Positions whose rating counts in results, and the trial of each."""
ORDER = (
    Assignment("R1", 1, 4, "calibration"),
    Assignment("R1", 2, 1),
    Assignment("R1", 3, 2),
    Assignment("R1", 4, 1, "again"),
    Assignment("R1", 5, 3),
)


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    loaded = Plugins.load(Configuration())
    yield loaded
    loaded.close()


def prepared(store: Store) -> None:
    number = begin(store, 4).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in range(1, 5)])
    samples = [Sample(n, number, n, 1, f"text {n}", "prompt") for n in range(1, 4)]
    samples.append(Sample(4, number, 4, 1, "text 4", "prompt", consensus={"jargon": 1.0}))
    store.sets.create(set_plan("pilot", FORM, "two", tuple(samples), ORDER))


def step(session: RaterSession, draw: random.Random) -> None:
    """Do one thing; what cannot be done now is refused and changes nothing."""
    jargon, anomia = draw.choice([0, 1, None, CANNOT_TELL]), draw.choice([0, 1, 2, None])
    full = Draft({"jargon": float(draw.randrange(2)), "anomia": float(draw.randrange(5))}, 2, "n")
    acts = (
        lambda: session.answer("jargon", jargon),
        lambda: session.answer("anomia", anomia),
        lambda: session.keep(full),
        session.finish,
        lambda: session.finish(full),
        session.back,
        session.undo,
        session.undo,
        lambda: session.go_on() if session.phase == "feedback" else None,
    )
    try:
        draw.choice(acts)()
    except UsageError:
        return


def counting(rows: tuple[SampleRating, ...]) -> dict[int, SampleRating]:
    """A second derivation: of each position the last complete row that was not taken back."""
    counts: dict[int, SampleRating] = {}
    for row in rows:
        if row.complete:
            counts[row.position] = row
        elif row.taken_back:
            del counts[row.position]
    return counts


def expected(row: SampleRating | None) -> dict[str, float]:
    """What results count of a row: the form cuts anomia at 1, and nobody counts *cannot tell*."""
    given = {} if row is None else row.answers
    found = {key: value for key, value in given.items() if isinstance(value, float)}
    return {key: float(value >= 1) for key, value in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_what_counts_follows_from_the_rows_whatever_is_done(
    tmp_path: Path, plugins: Plugins, seed: int
) -> None:
    draw = random.Random(seed)
    with Store.open(tmp_path / "s.db") as store:
        prepared(store)
        for _ in range(5):
            clock = count(0.0, 10.0).__next__
            with RaterSession.open(store, plugins, "pilot", "R1", clock=clock) as session:
                for _ in range(12):
                    step(session, draw)
                rows = store.sets.ratings(1, "R1", every=True)
                last = {row.position: row for row in rows}
                counts = counting(rows)
                assert {row.position: row for row in store.sets.ratings(1)} == counts
                assert session.progress.done == sum(row.complete for row in last.values())
                replaced = [row.replaces for row in rows if row.replaces]
                assert len(set(replaced)) == len(replaced) == len(rows) - len(last)
                for position, trial in PLACES.items():
                    ratings = store.trials(1)[trial - 1].ratings
                    found = {one.measure: one.value for one in ratings if one.value is not None}
                    assert found == expected(counts.get(position))
                assert store.trials(1)[3].ratings == (), "nothing of a calibration sample"
    assert check(tmp_path / "s.db") == ()

"""A rating set whose source is named everywhere but on the screen, and a rater at the screen."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from types import CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType
from unittest.mock import patch

from textual.pilot import Pilot

from tabwb.battery.forms import Form, Option, Question
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import Assignment, Sample, SampleRating
from tabwb.records.ratings import valued
from tabwb.records.trials import AttemptEntry, RatingsEntry
from tabwb.store.store import Store
from tabwb.workbench.rating.only import RatingApp
from tabwb.workbench.rating.screen import RatingScreen
from tabwb.workbench.rating.worker import connection
from tests.store.parts import attempt, begin, set_plan
from tests.workbench.seat import text_of, undrawn

SECRETS = ("secret-model", "mlp.down", "secret-judge", "secret-stratum", "R-other", "secret note")
"""What tells the source or another rater: model, lesion, judge, stratum, rater, their note."""
FEATURES = Form(
    "features",
    "1",
    "Features",
    "MIT",
    "",
    (
        Question("anomia", "Anomia", "Words are missing.", "the thing", "a", cannot_tell=True),
        Question("jargon", "Jargon", "Not understood.", key="n"),
    ),
    unmarked="absent",
    min_seconds=0.0,
)
SPOKEN = Form(
    "spoken",
    "1",
    "Spoken",
    "MIT",
    "",
    (
        Question("correct", "Score", kind="choice",
                 options=(Option("right", "right", key="1", number=1.0),
                          Option("error", "error", key="2", number=0.0))),
        Question("heard", "Heard", kind="phonemes", per_attempt=True, optional=True),
    ),
    min_seconds=0.0,
)  # fmt: skip


def secret_set(path: Path, form: Form = FEATURES, n: int = 3, *, ask_source: bool = True) -> None:
    """Make a store with the set ``pilot``: sample 1 is for calibration, R-other has rated."""
    with Store.open(path) as store:
        lesioned = Conditions("secret-model", "model", lesion="mlp.down:zero:0.3@seed=7")
        given = begin(store, n, conditions=lesioned)
        store.append(given.id, [AttemptEntry(trial, attempt()) for trial in range(1, n + 1)])
        verdict = (valued("secret-judge", "anomia", True),)
        store.append(given.id, [RatingsEntry(trial, 1, verdict) for trial in range(1, n + 1)])
        samples = tuple(
            Sample(number, given.id, number, 1, f"text {number} " * 9, f"prompt {number}",
                   stratum="secret-stratum",
                   consensus={"anomia": 1.0, "jargon": 0.0} if number == 1 else None)
            for number in range(1, n + 1)
        )  # fmt: skip
        calibrated = form is FEATURES
        assignments = tuple(
            Assignment(rater, at, at, "calibration" if at == 1 and calibrated else "rate")
            for rater in ("R1", "R-other")
            for at in range(1, n + 1)
        )
        store.sets.create(
            set_plan("pilot", form.canonical, form.id, samples, assignments, ("R1", "R-other"),
                    ask_source=ask_source)
        )  # fmt: skip
        if calibrated:
            other = SampleRating("R-other", 2, 2, "rate", {"anomia": 1.0}, True, note="secret note")
            store.sets.rate(1, other)


def rows(path: Path) -> list[SampleRating]:
    """What R1 has answered, row by row."""
    with Store.open(path) as store:
        return list(store.sets.ratings(1, "R1", every=True))


class Rater:
    """A person at the rating screen."""

    def __init__(self, app: RatingApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> RatingScreen:
        return next(one for one in self.app.screen_stack if isinstance(one, RatingScreen))

    @property
    def text(self) -> str:
        return text_of(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def reads(self, *words: str) -> None:
        """Wait until all of these stand on the screen, and everything is saved."""
        await self._reads(*words, "saved")

    async def reads_unsaved(self, *words: str) -> None:
        """Wait until all of these stand on the screen, and that something is not saved."""
        await self._reads(*words, "! not saved")

    async def _reads(self, *words: str) -> None:
        end = monotonic() + 60
        while not all(word in self.text for word in words):
            assert monotonic() < end, f"not on the screen: {words}\n{self.text}"
            await self.pilot.pause(0.004)
        await self.pilot.pause()


@asynccontextmanager
async def rating(
    path: Path, size: tuple[int, int] = (80, 24), *, confirm_s: float = 0.0
) -> AsyncIterator[Rater]:
    """Sit down as R1 at the rating screen alone; a second enter confirms after ``confirm_s``."""
    app = RatingApp(connection(str(path), "pilot", "R1"))
    app.animation_level = "none"
    with patch("tabwb.administer.rating.session.CONFIRM_S", confirm_s), undrawn():
        async with app.run_test(size=size) as pilot:
            rater = Rater(app, pilot)
            await rater.reads("sample")
            yield rater


OPAQUE = (ModuleType, type, CoroutineType, GeneratorType, FrameType)
"""Not followed: code, and what only runs."""


def strings_from(*roots: object) -> Iterator[str]:
    """Yield every string that references lead to from some objects."""
    seen: set[int] = set()
    todo: list[object] = list(roots)
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, OPAQUE):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
            continue
        todo += _referents(one)


def _referents(one: object) -> Iterable[object]:
    if isinstance(one, FunctionType):  # not its module
        return [*(one.__closure__ or ()), *(one.__defaults__ or ())]
    return gc.get_referents(one)

"""Small batteries, conditions and entries from which the tests of the store build."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tabwb.battery.forms import Form, Question
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Message
from tabwb.records.rating_sets import Assignment, RatingSet, Sample, SetPlan
from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.states import AttemptState, ResponseKind, ResponseStatus, StopReason
from tabwb.records.trials import Administration, Attempt, PlannedTrial
from tabwb.store.store import Store


def small_battery(
    *, version: str = "1", content: str = "one", assets: Mapping[str, bytes] | None = None
) -> Battery:
    """A battery of one item; its hash depends on ``content``. What is kept has ten."""
    item = Item("house", "Please repeat exactly: house.", expected="house.")
    items = [{"id": f"item-{number}"} for number in range(1, 11)]
    subtest = {"id": "repetition", "item": items}
    canonical = json.dumps({"content": content, "subtest": [subtest]})
    return Battery(
        id="small",
        title="A small battery",
        version=version,
        language="en",
        license="MIT",
        subtests=(Subtest("repetition", "Repetition", ResponseKind.VERBATIM, (item,)),),
        content_hash=hashlib.sha256(canonical.encode()).hexdigest(),
        canonical=canonical,
        assets={path: hashlib.sha256(data).hexdigest() for path, data in (assets or {}).items()},
    )


def planned(n: int, *, practice: int = 0) -> tuple[PlannedTrial, ...]:
    """``n`` trials, the first ``practice`` of them for practice."""
    return tuple(
        PlannedTrial(
            number,
            "repetition",
            f"item-{number}",
            0,
            ("a", "b"),
            f"Say {number}",
            number <= practice,
        )
        for number in range(1, n + 1)
    )


def begin(
    store: Store, n: int = 3, *, practice: int = 0, conditions: Conditions | None = None
) -> Administration:
    """An administration of ``n`` trials."""
    battery = small_battery()
    store.keep_battery(battery, {})
    return store.create_administration(
        battery,
        conditions or Conditions("echo", "model"),
        planned(n, practice=practice),
        {"tabwb": "0.1.0"},
    )


def attempt(
    number: int = 1, response: str = "house.", *, state: AttemptState = AttemptState.OK
) -> Attempt:
    """An attempt that was sent one message."""
    failed = state is AttemptState.ERROR
    return Attempt(
        number=number,
        response="" if failed else response,
        state=state,
        status=None if failed else ResponseStatus.OK,
        stop_reason=StopReason.ERROR if failed else StopReason.END,
        latency_s=0.25,
        messages=(Message("system", "Answer."), Message("user", "Say 1")),
        error="no connection" if failed else "",
        metadata={"revision": "abc", "reply_tokens": "2"},
        recorded_at="2026-11-21T10:00:00.000+00:00",
    )


def scores(rater: str = "repetition", value: bool = True) -> tuple[Rating, ...]:
    """What a scorer says, with and without a value and a reason."""
    return (
        valued(rater, "exact", value),
        valued(rater, "normalised", True, "only the final stop differs"),
        undefined(rater, "extracted", "nothing to extract"),
    )


FORM = Form(
    "two",
    "1",
    "Two questions",
    "MIT",
    "",
    (
        Question("jargon", "Jargon", cannot_tell=True),
        Question("anomia", "Anomia", kind="scale", high=4, cut=1),
    ),
).canonical
"""A form of two questions: present or absent, and 0 to 4 with a cut at 1."""


def rated_set(
    store: Store,
    administration: int,
    n: int = 3,
    *,
    raters: Sequence[str] = ("R1", "R2"),
    text: str = "as shown",
    form: str = FORM,
    name: str = "pilot",
    more: Sequence[Assignment] = (),
) -> RatingSet:
    """A set of the first responses of an administration; position and sample are the same."""
    samples = tuple(
        Sample(number, administration, number, 1, f"{text} {number}", f"{text}?")
        for number in range(1, n + 1)
    )
    assignments = tuple(
        Assignment(rater, number, number) for rater in raters for number in range(1, n + 1)
    )
    return store.sets.create(set_plan(name, form, "two", samples, (*assignments, *more)))


def set_plan(
    name: str,
    form: str,
    form_id: str,
    samples: Sequence[Sample],
    assignments: Sequence[Assignment] = (),
    raters: Sequence[str] = (),
    **facts: Any,
) -> SetPlan:
    """The plan of a set."""
    kept = RatingSet(name, form, form_id, raters=tuple(raters), **facts)
    return SetPlan(kept, tuple(samples), tuple(assignments))


def together(count: int, work: Callable[[int], object]) -> None:
    """Run ``work`` in several threads at once; none of them fails."""
    problems: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - shown below
            problems.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []

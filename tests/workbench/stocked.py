"""A store with several models, every answer and verdict of them known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tabwb.administer.session import setup
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Reply
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, valued
from tabwb.records.states import ResponseKind, StopReason
from tabwb.records.trials import Trial
from tabwb.scoring.rules.passage import FEATURES
from tabwb.store.store import Store

SECOND = Declaration(
    "tab-2026:x", FEATURES, caution="labels by a language model", prompt_text='{"system": "x"}'
)
LIKELY = Declaration("likelihood:y", ("anomia", "jargon"), prompt_text='{"system": "y"}')
GOOD = "We drove to the sea with my sister, ate fried fish on the pier and came home late."
AGAIN = "We saw the dog the dog the dog near the old pier and went home before it was dark."

Verdicts = Mapping[str, tuple[str, ...]]
"""Feature to the items in whose responses it is present."""


def give(
    store: Store,
    plugins: Plugins,
    examinee: str,
    *,
    wrong: tuple[str, ...] = (),
    text: str = GOOD,
    second: Verdicts | None = None,
    likely: Mapping[str, float] | None = None,
    lesion: str | None = None,
    battery: str = "tab",
    labels: Mapping[str, str] | None = None,
    seed: int = 1,
) -> int:
    """Give a battery."""
    conditions = Conditions(
        examinee, "model", seed, judges=("rules-2",), lesion=lesion, labels=labels or {}
    )
    given = setup.find_battery(plugins, battery)
    with setup.create(store, plugins, given, conditions) as session:
        session.next()
        while session.awaiting:
            assert session.current is not None
            plan = session.current.plan
            item = given.subtest(plan.subtest).item(plan.item)
            answer = f"{text} ({item.id})" if item.expected is None else item.expected
            if item.id in wrong:
                answer = "nothing of the kind"
            session.record(Reply(answer, StopReason.END, 0.1))
            session.next()
        number = session.administration.id
        texts = [
            trial
            for trial in session.trials
            if given.subtest(trial.plan.subtest).response is ResponseKind.CONNECTED_TEXT
        ]
    if second is not None:
        said = [(one, _found(one, second)) for one in texts]
        _keep(store, number, SECOND, said)
    if likely is not None:
        _keep(store, number, LIKELY, [(one, _weighed(one, likely)) for one in texts])
    return number


def _found(trial: Trial, verdicts: Verdicts) -> list[Rating]:
    return [
        valued(SECOND.rater, name, trial.plan.item in verdicts.get(name, ()), f"says {name}")
        for name in FEATURES
    ]


def _weighed(trial: Trial, likely: Mapping[str, float]) -> list[Rating]:
    probability = likely.get(trial.plan.item, 0.1)
    return [
        valued(LIKELY.rater, "anomia", probability > 0.5, f"P(1) = {probability:.3f}"),
        valued(LIKELY.rater, "anomia.probability", probability),
        valued(LIKELY.rater, "jargon", False),
        valued(LIKELY.rater, "jargon.probability", 0.0),
    ]


def _keep(
    store: Store, number: int, declaration: Declaration, said: list[tuple[Trial, list[Rating]]]
) -> None:
    judged = [
        Judged(
            trial.plan.number,
            1,
            Judgement(tuple(ratings), rater=declaration.rater, key=f"{number:032x}{at:032x}"),
        )
        for at, (trial, ratings) in enumerate(said)
    ]
    store.keep_judgements(number, judged, declaration)


def stock(path: Path) -> None:
    """Three models: ``able`` (two administrations), ``weak``, and ``weak`` with a lesion."""
    path.write_bytes(_stocked())


@cache
def _stocked() -> bytes:
    """A closed store is one file; it is made once, because that takes longer than most tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        plugins = Plugins.load()
        with Store.open(path) as store:
            _fill(store, plugins)
        plugins.close()
        assert not path.with_name("store.db-wal").exists()
        return path.read_bytes()


def _fill(store: Store, plugins: Plugins) -> None:
    give(store, plugins, "able", second={"anomia": ("ct1",)}, likely={"ct1": 0.9, "ct2": 0.7})
    give(store, plugins, "able", text=f"Yes. {GOOD}", second={}, seed=2)
    give(
        store,
        plugins,
        "weak",
        wrong=("wc1", "wc2", "sc1"),
        second={"anomia": ("ct1", "ct2"), "perseverations": ("ct1", "ct3")},
    )
    give(store, plugins, "weak", wrong=("wc1",), text=AGAIN, lesion="mlp.down:zero:0.3")

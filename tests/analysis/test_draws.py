"""Administrations that were given before each reply had its own seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import cautions
from tabwb.analysis.draws import REPLAYED, SHARED
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.statistics.summary import pool
from tabwb.records.conditions import Conditions
from tabwb.records.trials import Trial
from tabwb.scoring.estimate import Estimand
from tests.analysis.given import (
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    answered,
    data_of,
    summarise,
    with_seeds,
)

TEXTS = ("We went to the sea and swam.", "I bake bread in the morning, every day.")


def old(trial: Trial) -> Trial:
    """The same as an earlier version stored it: without a seed."""
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata={}),))


def given() -> list[Trial]:
    numbered = [
        (item, text, replicate)
        for replicate in range(3)
        for item, text in zip(("ct1", "ct2"), TEXTS, strict=True)
    ]
    return [
        answered(item, f"{text} {replicate}", number=n, replicate=replicate)
        for n, (item, text, replicate) in enumerate(numbered, start=1)
    ]


def summary_of(trials: list[Trial], conditions: Conditions = SAMPLED) -> Results:
    return summarise(BATTERY, trials, conditions, declarations=DECLARED, interval=True)


def these_prompts(summary: Results) -> list[str]:
    return [
        each.reason
        for judge in summary.judges
        for each in judge.burden.intervals
        if each.estimand is Estimand.THESE_PROMPTS
    ]


def test_replicates_of_one_stream_say_nothing_of_how_draws_differ() -> None:
    summary = summary_of([old(trial) for trial in given()])
    assert summary.number("shared_streams") == 6
    assert these_prompts(summary) == [SHARED]
    said = list(cautions(BATTERY, summary, model=True))
    assert any("6 of 6 responses were sampled by an earlier version" in one for one in said)


def test_replies_with_seeds_of_their_own_have_no_caution() -> None:
    summary = summary_of(given())
    assert summary.number("shared_streams") == 0
    assert SHARED not in these_prompts(summary)
    said = list(cautions(BATTERY, summary, model=True))
    assert not any("earlier version" in one for one in said)


def test_greedy_answers_people_and_replays_share_no_stream() -> None:
    assert summary_of([old(trial) for trial in given()], CONDITIONS).number("shared_streams") == 0
    person = Conditions("S-001", "speaker")
    assert summary_of([old(trial) for trial in given()], person).number("shared_streams") == 0
    sampled = old(answered("ct1", TEXTS[0]))
    assert summary_of([sampled], SAMPLED).number("shared_streams") == 1
    assert summary_of([sampled], replace(SAMPLED, origin="model")).number("shared_streams") == 0
    (attempt,) = sampled.attempts
    attempt = replace(attempt, metadata={"seed": "not sent", "replayed_line": "1"})
    replayed = replace(sampled, attempts=(attempt,))
    assert summary_of([replayed], SAMPLED).number("shared_streams") == 0


# The same draws in two administrations ------------------------------------------------------------


def counts(*given: tuple[Conditions, Sequence[Trial]]) -> int:
    sources = [data_of(BATTERY, trials, conditions) for conditions, trials in given]
    return int(pool(sources).number("responses"))


def test_a_run_that_is_repeated_with_its_seed_counts_once() -> None:
    once = given()
    assert counts((SAMPLED, once), (SAMPLED, once)) == 6
    more = [*once, answered("ct1", "It rained for a week.", number=7, replicate=3)]
    assert counts((SAMPLED, once), (SAMPLED, more), (SAMPLED, once)) == 7
    answers = pool([data_of(BATTERY, one, SAMPLED) for one in (once, more)])
    assert (answers.number("responses"), answers.number("repeated_draws")) == (7, 6)


def test_the_interval_for_these_prompts_does_not_narrow_where_a_run_is_repeated() -> None:
    sources = [data_of(BATTERY, given(), SAMPLED, DECLARED)]
    once, twice = (pool(one, interval=True) for one in (sources, sources * 2))
    assert twice.judges[0].burden.intervals == once.judges[0].burden.intervals
    assert once.judges[0].burden.intervals[1].interval is not None


def test_other_seeds_models_texts_and_persons_are_draws_of_their_own() -> None:
    once, person = given(), Conditions("S-001", "speaker")
    # A back end that once gave another text does not keep to seeds.
    other = [*once[:-1], answered("ct2", "Not the same.", number=6, replicate=2)]
    for second in (
        (SAMPLED, with_seeds(once, 100)),
        (replace(SAMPLED, examinee="another"), once),
        (SAMPLED, [old(trial) for trial in once]),
        (SAMPLED, other),
    ):
        assert counts((SAMPLED, once), second) == 12
    assert counts((person, once), (person, once)) == 12


def test_neighbouring_seeds_of_an_earlier_version_are_the_same_draws() -> None:
    # Replicates 0, 1, 2 of seed 5 are the streams 5, 6, 7; of seed 6 they are 6, 7, 8.
    def run(seed: int) -> tuple[Conditions, list[Trial]]:
        trials = [
            answered("ct1", f"It rained {seed + r} times.", number=r + 1, replicate=r)
            for r in range(3)
        ]
        decoding = replace(SAMPLED.decoding, seed=seed)
        return replace(SAMPLED, decoding=decoding), [old(trial) for trial in trials]

    assert counts(run(5), run(6)) == 4
    assert counts(run(5), run(5)) == 3
    assert counts(run(5), run(8)) == 6


def replayed(trials: Sequence[Trial], uid: str = "0189") -> list[Trial]:
    """The same as replayed from an export of a sampled administration."""
    noted = {"replayed_administration": uid, "replayed_sampled": "yes", "seed": "not sent"}
    return [
        replace(
            trial,
            attempts=(
                replace(trial.attempts[0], metadata={**noted, REPLAYED: str(trial.plan.number)}),
            ),
        )
        for trial in trials
    ]


def test_an_export_that_is_replayed_twice_counts_once() -> None:
    once = given()
    assert counts((CONDITIONS, replayed(once)), (CONDITIONS, replayed(once))) == 6
    assert counts((CONDITIONS, replayed(once)), (CONDITIONS, replayed(once, "another"))) == 12


def test_a_file_of_unnamed_administrations_that_is_replayed_twice_counts_once() -> None:
    def run(digest: str) -> AdministrationData:
        made = data_of(BATTERY, replayed(given(), ""), CONDITIONS, DECLARED)
        return replace(made, model_facts={"file_sha256": digest} if digest else {})

    for files, n in ((["a", "a"], 6), (["a", "b"], 12), (["", ""], 12)):
        summary = pool([run(file) for file in files])
        assert (summary.number("responses"), summary.number("repeated_draws")) == (n, 12 - n)


def test_how_many_draws_came_again_is_said() -> None:
    source = data_of(BATTERY, given(), SAMPLED, DECLARED)
    assert pool([source]).number("repeated_draws") == 0
    summary = pool([source] * 3)
    assert (summary.number("responses"), summary.number("repeated_draws")) == (6, 12)
    said = list(cautions(BATTERY, summary, model=True))
    assert any(one.startswith("12 responses repeat a draw that counts already") for one in said)

"""The tables of spoken naming, as a terminal shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tabwb.analysis.statistics.naming import NamedSubtest
from tabwb.analysis.statistics.naming_agreement import rater_agreements
from tabwb.media.views.naming import naming_tables
from tabwb.media.views.typed import captioned_view
from tabwb.records.naming import Score
from tabwb.scoring.estimate import clopper_pearson
from tabwb.scoring.intervals import korn_graubard, rate_interval
from tabwb.scoring.naming.summary import NamedItem, accuracy, summarise
from tabwb.tasks.spoken_naming.task import NamingRules

ITEMS = (
    NamedItem(
        "cat", "cat", "answered",
        person=False, rules={"correct-any": False, "correct-first": False},
        proposed="semantic", latency_s=1.25, heard="dog", phonemes=("D", "AO", "G"), score="error",
    ),
    NamedItem(
        "dog", "dog", "answered",
        person=True, rules={"correct-any": True, "correct-first": None},
        code="formal", latency_s=0.5, phonemes=("L", "AO", "G"), score="self-corrected",
    ),
)  # fmt: skip


def shown(width: int, rule: str = "correct-first", items: tuple[NamedItem, ...] = ITEMS) -> str:
    rules = NamingRules(rule=rule)  # type: ignore[arg-type]
    subtest = NamedSubtest("nouns", "Nouns", rules, items, summarise(items))
    console = Console(width=width, legacy_windows=False, color_system=None)
    with console.capture() as captured:
        for made in naming_tables(subtest):
            console.print(captioned_view(made))
    return "\n".join(" ".join(line.split()) for line in captured.get().splitlines())


def test_arpabet_instead_of_ipa_where_it_is_asked_for() -> None:
    subtest = NamedSubtest("nouns", "Nouns", NamingRules(), ITEMS, summarise(ITEMS))
    console = Console(width=120, legacy_windows=False, color_system=None)
    with console.capture() as captured:
        for made in naming_tables(subtest, arpabet=True):
            console.print(captioned_view(made))
    assert "D AO G" in captured.get() and "/dɔɡ/" not in captured.get()


def test_results_have_the_names_that_are_right_the_codes_and_the_latency() -> None:
    items = tuple(
        NamedItem(name, name, "answered", person=right, outcome="right" if right else "error",
                  rules={"correct-any": name == "cat"}, code=code, latency_s=seconds)
        for name, right, code, seconds in (
            ("cat", True, "correct", 0.5), ("dog", True, "correct", 0.9), ("bed", False, "", 2.0),
            ("cup", False, "semantic", 3.0), ("key", True, "correct", 0.6),
        )
    )  # fmt: skip
    tags = {"cat": ("trained",), "bed": ("trained",)}
    subtest = NamedSubtest("n", "N", NamingRules(), items, summarise(items), tags=tags)
    rows = {(one.measure, one.feature): one for one in subtest.results()}
    told = {key: (row.total, row.n, row.n_items, row.value.value) for key, row in rows.items()}
    assert told == {
        ("outcome", ""): (3, 5, 5, 3 / 5),
        ("outcome", "trained"): (1, 2, 2, 1 / 2),
        ("person", ""): (3, 5, 5, 3 / 5),
        ("correct-any", ""): (1, 5, 5, 1 / 5),
        ("correct-first", ""): (0, 0, 0, None),
        ("code", "correct"): (3, 4, 4, 3 / 4),
        ("code", "semantic"): (1, 4, 4, 1 / 4),
        ("latency", ""): (None, 3, 3, 0.6),
    }
    trained = rows["outcome", "trained"].interval
    assert trained is not None  # of 1 of 2: 1 - (1 - low)^2 = .025, high^2 = .975
    assert (trained.low, trained.high) == pytest.approx((1 - 0.975**0.5, 0.975**0.5))
    assert rows["correct-first", ""].value.reason == "no response has a verdict"
    assert rows["latency", ""].interval is None
    assert rows["latency", ""].interval_reason == "fewer than six right names have a latency"


@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("heard", ["", "a long answer of many words, none of which is the name"])
def test_no_word_of_ours_is_broken(width: int, heard: str) -> None:
    said = replace(ITEMS[0], heard=heard, proposed="", code="nonword-unrelated")
    items = (
        replace(said, item="a-long-name-of-item", flags=("unintelligible", "sound-guessed")),
        replace(said, phonemes=("<spn>",), transcriber="manual:a.tsv", score="self-corrected",
                score_by="person:R1", other_scores=(("person:R2", "not-scorable"),)),
        replace(said, phonemes=("D", "AO", "G") * 20),
    )  # fmt: skip
    text = shown(width, items=items)
    words = [word.strip(",;()") for word in text.split()]
    assert "Transcript" in words and "self-corrected" in words
    assert words.count("unintelligible") == 2
    assert words.count("nonword-unrelated") == 3 + 1  # the table of codes
    assert "sound-guessed" in words
    assert all("…" not in line for line in text.splitlines())


def test_pooled_sessions_are_clusters_of_responses_to_an_item() -> None:
    sessions = tuple(item for _ in range(3) for item in ITEMS)
    pooled = accuracy(sessions, "person")
    assert (pooled.correct, pooled.n, pooled.clustered) == (3, 6, True)
    assert pooled.interval == rate_interval([0, 3], [3, 3]).interval
    exact = clopper_pearson(3, 6)
    assert pooled.interval is not None and exact is not None
    assert pooled.interval.low < exact.low and exact.high < pooled.interval.high


def test_pooled_speakers_are_the_clusters_where_there_are_several() -> None:
    pooled = [replace(item, cluster=who) for who in ("S-1", "S-2") for item in ITEMS]
    # The first item is right for both, the second for none: speakers do not differ.
    expected = korn_graubard([1.0, 0.0], [2, 2], 1, units=[0.5, 0.5])
    assert accuracy(pooled, "person").interval == expected
    # An item with more answers has no more weight: (2/2 + 0/1) / 2, not 2/3.
    more = [one for one in pooled if (one.cluster, one.person) != ("S-2", False)]
    assert (accuracy(more, "person").rate, accuracy(more, "person").correct) == (0.5, 2)
    one = accuracy(ITEMS, "person")
    assert not one.clustered and one.interval == clopper_pearson(1, 2)


def test_listeners_who_scored_the_same_names_are_compared() -> None:
    scores: tuple[tuple[Score, Score], ...] = (
        ("right", "self-corrected"), ("error", "right"), ("error", "no-response"),
        ("not-scorable", "right"),
    )  # fmt: skip
    by_two = [
        replace(ITEMS[0], score=first, score_by="person:R1", other_scores=(("person:R2", second),))
        for first, second in scores
    ]
    # Of three names both right 1, both not 1: kappa = (2/3 - 4/9) / (1 - 4/9).
    (pair,) = rater_agreements(by_two)
    assert (pair.first, pair.second, pair.agreed, pair.n) == ("person:R1", "person:R2", 2, 3)
    assert pair.kappa == pytest.approx(0.4) and pair.interval is None
    said = "R1 and R2 score 2 of 3 names alike (right or not), Cohen's kappa 0.40"
    assert said in shown(120, items=tuple(by_two))
    assert rater_agreements(ITEMS) == ()


def test_the_kappa_of_listeners_has_an_interval_from_four_names_of_each_kind_on() -> None:
    def scored(*counts: int) -> tuple[NamedItem, ...]:
        kinds: tuple[tuple[Score, Score], ...] = (
            ("right", "right"), ("right", "error"), ("error", "right"), ("error", "error"),
        )  # fmt: skip
        return tuple(
            replace(ITEMS[0], score=one, score_by="person:R1", other_scores=(("person:R2", two),))
            for (one, two), count in zip(kinds, counts, strict=True)
            for _ in range(count)
        )

    (pair,) = rater_agreements(scored(15, 5, 10, 20))
    assert pair.kappa == pytest.approx(0.4) and pair.interval is not None
    # The quantiles of kappa over shares of the cells from Dirichlet(counts + 1/2), drawn again.
    drawn = np.random.default_rng(1).dirichlet([15.5, 5.5, 10.5, 20.5], 40_000)
    agreed = drawn[:, 0] + drawn[:, 3]
    right = (drawn[:, 0] + drawn[:, 1]) * (drawn[:, 0] + drawn[:, 2])
    wrong = (drawn[:, 2] + drawn[:, 3]) * (drawn[:, 1] + drawn[:, 3])
    kappa = (agreed - right - wrong) / (1 - right - wrong)
    assert (pair.interval.low, pair.interval.high) == pytest.approx(
        np.quantile(kappa, (0.025, 0.975)), abs=0.02
    )
    assert "kappa 0.40 (95 % " in shown(160, items=scored(15, 5, 10, 20))
    for few in (scored(2, 1, 0, 30), scored(30, 1, 1, 2)):
        assert rater_agreements(few)[0].interval is None
        assert "no interval: 3 names or fewer" in shown(200, items=few)


def test_right_names_of_trained_and_untrained_items() -> None:
    items = tuple(
        NamedItem(name, name, "answered", outcome="right" if right else "error")
        for name, right in (("bed", True), ("cat", False), ("dog", True), ("tree", True))
    )
    tags = {"bed": ("trained",), "dog": ("trained",), "cat": ("untrained",), "sun": ("control",)}
    subtest = NamedSubtest("n", "N", NamingRules(), items, summarise(items), tags=tags)
    assert {tag: (share.correct, share.n) for tag, share in subtest.by_tag.items()} == {
        "trained": (2, 2), "untrained": (0, 1),
    }  # fmt: skip
    right, *_ = naming_tables(subtest)
    rows = [row for row in right.table.to_dicts() if row["basis"].endswith("trained")]
    assert [(row["right"], row["n"], round(row["right_low"], 2)) for row in rows] == [
        (2, 2, 0.16), (0, 1, 0.0),
    ]  # fmt: skip

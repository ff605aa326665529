"""Base - instruct over several families."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.report.documents.document import groups_document
from tabwb.report.render.groups import groups_view
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.pairs import over_families, pairs_of
from tabwb.scoring.differences import family_interval, sampling_floor
from tests.report.test_pairs import conditions, given, texts, words
from tests.report.test_tables import printed, unwrapped

RIGHT = ("lion", "boot", "knife")


def family(name: str, at: int, base: tuple[str, ...]) -> list[AdministrationData]:
    return [
        given(2 * at + 1, conditions("base", family=name), *words(*base)),
        given(2 * at + 2, conditions("instruct", family=name), *words(*RIGHT)),
    ]


MADE = [
    *family("L-1", 0, ("lion", "a", "a")),
    *family("L-2", 1, ("lion", "boot", "a")),
    *family("L-3", 2, ("a", "a", "a")),
]


def test_three_families_have_a_mean_difference_with_an_interval() -> None:
    (found,) = over_families(pairs_of(summarised(grouped(MADE, "model"))))
    assert (found.families, found.items) == (("L-1", "L-2", "L-3"), 3)
    rows = [[0.0, -1.0, -1.0], [0.0, 0.0, -1.0], [-1.0, -1.0, -1.0]]
    assert found.difference == pytest.approx(-6 / 9)
    floors = [
        sampling_floor(mean, 3, None) + sampling_floor(1.0, 3, None) for mean in (1 / 3, 2 / 3, 0)
    ]
    assert found.interval == family_interval(rows, sum(floors) / 9, 1.0)


def test_families_that_are_all_alike_have_an_interval_with_a_width() -> None:
    alike = [one for at in range(3) for one in family(f"L-{at}", at, ("a", "a", "a"))]
    (found,) = over_families(pairs_of(summarised(grouped(alike, "model"))))
    assert found.interval.interval is not None
    assert found.interval.interval.low == -1.0 < found.interval.interval.high


def test_two_families_are_too_few_and_sizes_of_one_family_are_one() -> None:
    assert over_families(pairs_of(summarised(grouped(MADE[:4], "model")))) == ()
    larger = [
        replace(
            one,
            administration=replace(
                one.administration,
                id=one.administration.id + 10,
                conditions=replace(
                    one.administration.conditions,
                    examinee=one.administration.conditions.examinee + "-8b",
                    labels={**one.administration.conditions.labels, "parameters": "8000000000"},
                ),
            ),
        )
        for one in MADE[:2]
    ]
    pairs = pairs_of(summarised(grouped([*MADE[:4], *larger], "model")))
    assert len(pairs) == 3
    assert over_families(pairs) == ()


def test_an_item_that_one_family_lacks_is_left_out() -> None:
    short = given(1, conditions("base", family="L-1"), *words("lion", "a", "a")[:2])
    (found,) = over_families(pairs_of(summarised(grouped([short, *MADE[1:]], "model"))))
    assert found.items == 2


def test_it_is_printed_and_in_the_document() -> None:
    made = summarised(grouped([*MADE, given(9, conditions("other"), *texts([], []))], "model"))
    pairs = pairs_of(made)
    (found,) = over_families(pairs)
    document = groups_document(made, pairs)["over_families"]
    assert document == [found.to_json()]
    shown = unwrapped(printed(groups_view(made, pairs)))
    assert "base - instruct over families" in shown
    assert "Word Comprehension, share right 3 3 -0.67" in shown

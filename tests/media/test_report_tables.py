"""The tables behind the table for a paper, against the summaries that they are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import strategies as st

from tabwb.analysis.contrast import pairs_of
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.statistics.naming import NamedSubtest
from tabwb.analysis.tables.captioned import Captioned
from tabwb.media.documents.contrasts import pairs_table
from tabwb.media.report import report_of
from tabwb.media.studied import studied
from tabwb.media.views.results import SECTIONS, Groups, compact_table
from tabwb.records.conditions import Conditions
from tabwb.scoring.naming.summary import summarise
from tabwb.tables.table import Table
from tabwb.tasks.spoken_naming.rules import NamingRules
from tests.analysis.given import ANSWERS, BATTERY, CONDITIONS, DECLARED, SAMPLED, answered, trials
from tests.analysis.test_grouping import given
from tests.analysis.test_naming_tables import ITEMS


def rows(by: str = "model") -> tuple[Grouped, ...]:
    other = replace(CONDITIONS, examinee="b")
    right = trials({**ANSWERS, "wc3": "boot", "wc4": "knife"}, ["retracing", "jargon"])
    return summarised(grouped([given(1, CONDITIONS), given(2, other, right)], by))


def tables(section: str, chosen: Sequence[Grouped] = ()) -> list[Captioned]:
    """The tables of a section of a report."""
    return list(SECTIONS[section](Groups(chosen or rows())))


def only(table: Table, group: str) -> dict[str, object]:
    """The values of one group by column."""
    found = table.where(group=group)
    (values,) = found.rows()
    return dict(zip(found.names, values, strict=True))


def test_rates_of_all_features_add_up_to_the_burden() -> None:
    made_tables = tables("Features")
    assert [len(made.columns) - 1 for made in made_tables] == [4, 3]
    rates = [
        only(made.table, "b")[name]
        for made in made_tables
        for name in made.columns
        if name != "group"
    ]
    assert sum(rates) == 2.0  # type: ignore[arg-type]
    assert len(rates) == len(DECLARED["rules-2"].features)


def test_accuracies_are_by_policy_with_baselines_below() -> None:
    words, sentences, _ = tables("Accuracy")
    found = only(words.table, "bundled")
    assert found["n"] == 3
    assert found["exact"] == pytest.approx(1 / 3)
    assert (found["normalised"], found["extracted"]) == pytest.approx((1 / 3, 1 / 3))
    assert only(words.table, "b")["exact"] == 1.0
    assert found["always_first"] == 1.0 and found["right"] == 1
    assert "yes_rate" in sentences.table.names and "yes_rate" not in words.table.names


def test_statuses_add_up_to_the_responses() -> None:
    (made,) = tables("Responses")
    for group in ("bundled", "b"):
        found = only(made.table, group)
        counts = [n for name, n in found.items() if name.startswith("status_")]
        assert sum(counts) == found["responses"] == 10  # type: ignore[arg-type]


def named_row() -> Grouped:
    person = given(1, Conditions("S-01", "speaker"), [answered("wc1", "lion")])
    (row,) = summarised(grouped([person], "administration"))
    items = (replace(ITEMS[0], outcome="error"), replace(ITEMS[1], outcome="right"))
    subtest = NamedSubtest("nouns", "Nouns", NamingRules(), items, summarise(items))
    return replace(row, results=row.results.replaced(named=(subtest,)))


ROW = named_row()
TAKEN = compact_table(Groups([ROW])).table.names
OTHERS = [name for name in TAKEN if not name.startswith(tuple(one.id for one in BATTERY.subtests))]
IDS = st.sampled_from([*OTHERS, "group", "n-low", "n_low", "own-n", "ö", "a-b", "a_b"])


@hypothesis.given(st.lists(IDS, min_size=1, unique=True))
@hypothesis.example(["n"])
def test_a_subtest_may_have_the_name_of_any_column(ids: list[str]) -> None:
    (one,) = ROW.results.named
    several = tuple(replace(one, id=each) for each in ids)
    made = compact_table(Groups([replace(ROW, results=ROW.results.replaced(named=several))]))
    assert len(made.table.names) == len(TAKEN) + 4 * (len(ids) - 1) - len(ids) + 1
    assert "names counted as right" in made.caption


def test_names_that_are_right_are_by_who_decided() -> None:
    (made,) = tables("Naming", [named_row()])
    ((items, person, anywhere, first, latency),) = made.table.select(
        ("items", "person", "correct_any", "correct_first", "latency")
    ).rows()
    # One of two by the listener and anywhere; the first attempt is decided for one, which is wrong.
    assert (items, person, anywhere, first) == (2, 0.5, 0.5, 0.0)
    assert latency == 0.5  # of the right response alone
    assert "nouns" in compact_table(Groups([named_row()])).table.names


def test_base_and_instruct_are_compared_in_the_report() -> None:
    members = [
        given(
            number,
            replace(SAMPLED, examinee=tuning, labels={
                "family": "F", "tuning": tuning, "parameters": "10",
            }),
            trials({**ANSWERS, "wc1": word}),
        )
        for number, (tuning, word) in enumerate((("base", "drum"), ("instruct", "lion")), start=1)
    ]  # fmt: skip
    groups = summarised(grouped(members, "model"))
    made = pairs_table(pairs_of(groups))
    assert made is not None
    ((base, instruct, items, *values),) = (
        made.table.where(part="words")
        .select(("group", "baseline", "n_items", "value", "baseline_value", "difference"))
        .rows()
    )
    assert (base, instruct, items) == ("base", "instruct", 3)
    assert values == pytest.approx([0.0, 1 / 3, -1 / 3])
    sections = report_of(studied(groups), figures=False).sections
    assert "base-instruct" not in {section.id for section in sections}
    assert "base-and-instruct" in {section.id for section in sections}
    assert pairs_table(()) is None


def test_tables_of_several_batteries_name_them() -> None:
    other = replace(BATTERY, id="other", title="Other Battery", content_hash="1" * 64)
    member = given(2, CONDITIONS)
    record = replace(member.administration, battery="other", battery_hash="1" * 64)
    second = replace(member, battery=other, administration=record)
    about = studied(summarised(grouped([given(1, CONDITIONS), second], "model")))
    burden = next(
        section for section in report_of(about, figures=False).sections if section.id == "burden"
    )
    assert [table.caption.partition(":")[0] for table in burden.tables] == [
        "Small Battery", "Other Battery",
    ]  # fmt: skip

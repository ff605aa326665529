"""The tables behind the table for a paper, the notes below it, and reports of spoken responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import AdministrationData, load_administrations
from tabwb.analysis.contrast import pairs_of
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.statistics.naming import NamedSubtest
from tabwb.analysis.tables.captioned import Captioned
from tabwb.host.plugins import Plugins
from tabwb.media.documents.contrasts import pairs_table
from tabwb.media.methods import facts, methods_about
from tabwb.media.paper import captioned_groups, latex, markdown, presented
from tabwb.media.report import rendered, report_of
from tabwb.media.studied import Studied, studied
from tabwb.media.views.results import SECTIONS, Groups, compact_table
from tabwb.records.conditions import Conditions
from tabwb.records.naming import Score
from tabwb.records.trials import AttemptEntry
from tabwb.scoring.naming.summary import summarise
from tabwb.store.store import Store
from tabwb.tables.table import Table
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.task import NamingRules, spoken_in
from tabwb.tasks.spoken_naming.views import spoken_attempt
from tests.administer.naming_parts import heard, naming_battery, shown, take
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
    return with_named(row, subtest)


def with_named(row: Grouped, *named: NamedSubtest) -> Grouped:
    rows = (*row.results.rows, *(found for one in named for found in one.results()))
    return replace(row, results=row.results.replaced(named=named, rows=rows))


ROW = named_row()
TAKEN = compact_table(Groups([ROW])).table.names
OTHERS = [name for name in TAKEN if not name.startswith(tuple(one.id for one in BATTERY.subtests))]
IDS = st.sampled_from([*OTHERS, "group", "n-low", "n_low", "own-n", "ö", "a-b", "a_b"])


@hypothesis.given(st.lists(IDS, min_size=1, unique=True))
@hypothesis.example(["n"])
def test_a_subtest_may_have_the_name_of_any_column(ids: list[str]) -> None:
    (one,) = ROW.results.named
    made = compact_table(Groups([with_named(ROW, *(replace(one, id=each) for each in ids))]))
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


def notes(*members: AdministrationData, together: tuple[str, ...] = ()) -> list[str]:
    rows = summarised(grouped(members, "model", together=together))
    (table,) = captioned_groups(rows)
    return [note.text for note in table.notes]


def test_what_was_pooled_stands_below_once_for_all_groups_alike() -> None:
    members = [
        given(at + 1, replace(conditions, examinee=model))
        for at, (model, conditions) in enumerate(
            (model, conditions) for model in ("a", "b") for conditions in (CONDITIONS, SAMPLED)
        )
    ]
    found = notes(*members, together=("temperature",))
    (pooled,) = [note for note in found if "pooled over decoding" in note]
    assert pooled.startswith("All groups are pooled over decoding greedy")


def test_a_value_without_an_interval_has_the_reason_below_the_table_in_every_format() -> None:
    members = [given(1, CONDITIONS), given(2, replace(CONDITIONS, examinee="b"),
                                           trials({"ct1": ANSWERS["ct1"]}))]  # fmt: skip
    (table,) = captioned_groups(summarised(grouped(members, "model")), ["group", "burden"])
    shown = presented(table)
    without = [row[0].text for row in shown.rows if row[1].text != "-" and not row[1].interval]
    assert without == ["b"]
    note = "No interval (one item: how much items differ is unknown): Burden of b."
    assert shown.notes[0] == note
    assert note in markdown(table) and note in latex(table)
    assert [heading.title for heading in shown.headings] == ["Model", "Burden"]


def test_the_caption_says_what_is_shown_and_the_notes_how_responses_were_drawn() -> None:
    rows = summarised(grouped([given(1, SAMPLED)], "model"))
    (whole,) = captioned_groups(rows)
    (short,) = captioned_groups(rows, ["group", "n", "burden"])
    assert "accuracy (policy exact)" in whole.caption
    assert "accuracy" not in short.caption
    assert "symptom burden over 7 features (rules-2, connected text)" in short.caption
    (said,) = [note.text for note in short.notes if note.text.startswith("Decoding")]
    assert said.startswith(f"Decoding of all responses of models: {SAMPLED.drawn}, ")


CUE = 'cues = [{ kind = "phonemic", text = "It begins so.", counts = false }]'
Report = Callable[..., Studied]
SAID = ("D AO G", "K AE T", "T R IY", "HH AW S")


@pytest.fixture
def reported(tmp_path: Path) -> Iterator[Report]:
    """A session in which four pictures were named; rater A was named for it."""
    plugins = Plugins.load()

    def made(*, transcribed: int = 4, listen: Callable[[Session], object] = id) -> Studied:
        with Store.open(tmp_path / "store.db") as store:
            battery = setup.find_battery(plugins, str(naming_battery(tmp_path, CUE)))
            conditions = Conditions("S-014", "speaker", judges=(), rater="A")
            resolved = setup.resolve(plugins, battery, conditions)
            with create_naming(store, plugins, battery, resolved) as session:
                for number, said in enumerate(SAID, start=1):
                    spoken_in(session).show(shown(10.0 * number))
                    if number == 2:
                        spoken_in(session).cue()
                    trial = session.history.trial(number)
                    answer = spoken_attempt(trial, take(10.0 * number))
                    session.commit([AttemptEntry(number, answer)])
                    session.state.awaiting = False
                    if number <= transcribed:
                        spoken_in(session).transcribed(number, 1, heard(said, by="bundled"))
                listen(session)
            members = load_administrations(store, (1,))
        return studied(summarised(grouped(members, "examinee")))

    yield made
    plugins.close()


def score(session: Session, number: int, by: str, value: Score) -> None:
    with spoken_in(session).listening.to(number, "score", listener=by):
        spoken_in(session).score(value)


def facts_of(about: Studied) -> tuple[dict[str, Any], dict[str, Any]]:
    """Who heard the names, and how they were scored."""
    known = facts(about)
    (named,) = known["Scoring"][0]["named"]
    return known["Procedure"]["heard"], named


def test_who_scored_nothing_is_no_listener(reported: Report) -> None:
    heard_by, named = facts_of(reported())
    assert heard_by["transcribed"] == [{"name": "bundled", "n": 4, "of": 4}]
    assert heard_by["listeners"] == []
    assert (named["n"], named["by_rule"], named["listener"]) == (4, 4, 0)


def test_each_listener_is_counted_with_the_responses_scored(reported: Report) -> None:
    def listen(session: Session) -> None:
        for number in (1, 2, 3):
            score(session, number, "A", "right")
        score(session, 1, "B", "error")

    heard_by, named = facts_of(reported(transcribed=2, listen=listen))
    assert [one["n"] for one in heard_by["transcribed"]] == [2]
    assert heard_by["listeners"] == [3, 1]
    assert heard_by["counts"] == {"rule": None, "rater": ""}
    assert (named["n"], named["by_rule"], named["listener"]) == (3, 0, 3)


def test_a_rule_on_what_a_listener_wrote_is_no_draft(reported: Report) -> None:
    def listen(session: Session) -> None:
        for number, word in enumerate(("dog", "cat", "tree", "house"), start=1):
            with spoken_in(session).listening.to(number, "heard", listener="A"):
                spoken_in(session).listening.hear(word)

    about = reported(transcribed=0, listen=listen)
    heard_by, named = facts_of(about)
    assert (heard_by["transcribed"], heard_by["written"]) == ([], 4)
    assert named["by_rule"] == named["by_ear"] == 4
    assert "draft" not in methods_about(about).text


def test_nothing_is_claimed_of_responses_that_are_not_scored(reported: Report) -> None:
    assert facts_of(reported(transcribed=0))[1]["n"] == 0


def test_a_table_has_what_was_said_to_each_picture(reported: Report) -> None:
    def listen(session: Session) -> None:
        score(session, 1, "A", "right")
        score(session, 2, "A", "error")
        with spoken_in(session).listening.to(2, "code", listener="B"):
            spoken_in(session).listening.hear("dog")
            spoken_in(session).listening.code("semantic")

    report = report_of(reported(listen=listen), figures=False)
    (section,) = (one for one in report.sections if one.id == "what-was-said")
    (table,) = section.tables
    names = [heading.column.name for heading in table.headings]
    first, second = (dict(zip(names, map(str, row), strict=True)) for row in table.rows[:2])
    assert first == {
        "item": "dog", "target": "dog", "heard": "-", "transcript": "/dɔɡ/", "score": "right",
        "any": "✓", "first": "✓", "code": "correct", "cues": "-", "latency": "0.60",
    }  # fmt: skip
    assert (second["heard"], second["score"]) == ("“dog”", "error")
    assert second["code"].startswith("semantic (borrowed: B)")
    assert second["cues"] == "phonemic (does not count)"
    assert "“dog”" in rendered(report).decode()
    assert "S-014" not in rendered(report).decode()


def test_spoken_answers_are_no_equal_texts(reported: Report) -> None:
    about = reported()
    assert about.rows[0].results.number("distinct") is None
    (headings,) = (
        table.headings
        for section in report_of(about, figures=False).sections
        for table in section.tables
        if table.label == "statuses"
    )
    assert "distinct" not in [heading.column.name for heading in headings]

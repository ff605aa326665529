"""Reports of spoken responses: what the methods say of them, and the table of what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tabwb.administer.naming.views import spoken_attempt
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.grouping import grouped, summarised
from tabwb.media.methods import facts, methods_about
from tabwb.media.report import rendered, report_of
from tabwb.media.studied import Studied, studied
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.naming import Score
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.administer.naming_parts import heard, naming_battery, shown, take

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
            with setup.create_naming(store, plugins, battery, resolved) as session:
                for number, said in enumerate(SAID, start=1):
                    session.spoken.show(shown(10.0 * number))
                    if number == 2:
                        session.spoken.cue()
                    trial = session.history.trial(number)
                    answer = spoken_attempt(trial, take(10.0 * number))
                    session.commit([AttemptEntry(number, answer)])
                    session.state.awaiting = False
                    if number <= transcribed:
                        session.spoken.transcribed(number, 1, heard(said, by="bundled"))
                listen(session)
            members = load_administrations(store, (1,))
        return studied(summarised(grouped(members, "examinee")))

    yield made
    plugins.close()


def score(session: Session, number: int, by: str, value: Score) -> None:
    with session.spoken.listening.to(number, "score", listener=by):
        session.spoken.score(value)


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
            with session.spoken.listening.to(number, "heard", listener="A"):
                session.spoken.listening.hear(word)

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
        with session.spoken.listening.to(2, "code", listener="B"):
            session.spoken.listening.hear("dog")
            session.spoken.listening.code("semantic")

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

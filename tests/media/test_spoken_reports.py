"""Reports of spoken responses: what the methods say of them, and the table of what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tabwb.administer.naming.views import spoken_attempt
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.grouping import grouped, summarised
from tabwb.media.methods import methods_about
from tabwb.media.report import report_html, report_of
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


def test_who_scored_nothing_is_no_listener(reported: Report) -> None:
    told = methods_about(reported()).text
    assert "Spoken responses were transcribed by bundled (4 of 4)." in told
    assert "No listener scored the 4 names by ear." in told
    assert "4 of 4 names in Nouns are scored by the battery's rule correct-any" in told
    assert "listener's verdict" not in told


def test_each_listener_is_counted_with_the_responses_scored(reported: Report) -> None:
    def listen(session: Session) -> None:
        for number in (1, 2, 3):
            score(session, number, "A", "right")
        score(session, 1, "B", "error")

    told = methods_about(reported(transcribed=2, listen=listen)).text
    assert "transcribed by bundled (2 of 4)." in told
    assert "2 listeners scored names by ear: 3 and 1 of 4." in told
    assert "Where several scored a name, that of the first rater counted." in told
    assert "3 of 3 names in Nouns count by a listener's verdict." in told
    assert "by the battery's rule" not in told


def test_a_rule_on_what_a_listener_wrote_is_no_draft(reported: Report) -> None:
    def listen(session: Session) -> None:
        for number, word in enumerate(("dog", "cat", "tree", "house"), start=1):
            with session.spoken.listening.to(number, "heard", listener="A"):
                session.spoken.listening.hear(word)

    told = methods_about(reported(transcribed=0, listen=listen)).text
    assert "None of 4 spoken responses was transcribed." in told
    assert "What was heard was written down for 4 of 4 names." in told
    assert "correct-any on what a listener wrote down." in told
    assert "draft" not in told


def test_nothing_is_claimed_of_responses_that_are_not_scored(reported: Report) -> None:
    assert "No name in Nouns is scored yet." in methods_about(reported(transcribed=0)).text


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
    rows = [tuple(map(str, row)) for row in table.rows]
    assert [heading.column.name for heading in table.headings] == [
        "item", "target", "said", "score", "by_rule", "code", "cues", "latency",
    ]  # fmt: skip
    assert rows[0] == ("dog", "dog", "/dɔɡ/", "right", "any ✓, first ✓", "correct", "-", "0.60")
    assert rows[1][2:4] == ("“dog”", "error")
    assert rows[1][5].startswith("semantic (borrowed: B)")
    assert rows[1][6] == "phonemic (does not count)"
    assert "“dog”" in report_html(report).decode()
    assert "S-014" not in report_html(report).decode()


def test_spoken_answers_are_no_equal_texts(reported: Report) -> None:
    about = reported()
    assert about.rows[0].summary.answers.n_distinct is None
    (row,) = (
        table.rows[0]
        for section in report_of(about, figures=False).sections
        for table in section.tables
        if table.label == "statuses"
    )
    assert "-" in [str(cell) for cell in row]

"""Several people who score one response, and corrections afterwards: nothing is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from tabwb.administer.naming.corrections import undo_correction
from tabwb.administer.naming.counting import counting_code
from tabwb.administer.naming.scores import named_item, naming_of
from tabwb.administer.naming.views import NamingView
from tabwb.administer.rating.adjudication import Adjudicator
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.battery.form_loader import read_form
from tabwb.media.views.naming import raters_line
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import Coded, RecordingBegan, RecordingEnded, Score, Scored
from tabwb.records.rating_sets import Assignment, Sample, SampleRating, SetPlan
from tabwb.records.speakers import Study
from tabwb.report.documents.naming_document import naming_json
from tabwb.report.summaries.naming import named_subtests, namings
from tabwb.report.summaries.naming_agreement import rater_agreements
from tabwb.report.tables.said import borrowed_line, code_of, score_of
from tabwb.store.store import Store
from tabwb.workbench.results.presenter import results_of
from tests.administer.naming_parts import heard, naming_battery, shown, take

soundfile = pytest.importorskip("soundfile")
RATE = 16_000
FORMS = Path(__file__).parents[2] / "batteries" / "forms"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def session(store: Store, tmp_path: Path) -> Iterator[Session]:
    """One response to a dog from 2 s to 10 s; a tone is said from 5 s to 5.5 s."""
    plugins = Plugins.load(Configuration())
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))
    conditions = Conditions("S-014", "speaker", judges=(), rater="A")
    sound = 1e-4 * np.random.default_rng(1).standard_normal(12 * RATE)
    sound[5 * RATE : 5 * RATE + RATE // 2] += 0.1 * np.sin(np.arange(RATE // 2) * 0.4)
    soundfile.write(tmp_path / "r1.wav", sound, RATE)
    with setup.create_naming(
        store, plugins, battery, setup.resolve(plugins, battery, conditions)
    ) as begun:
        begun.spoken.keep(None, RecordingBegan("r1", "r1.wav", "a microphone", RATE))
        begun.spoken.show(shown(2.0))
        begun.spoken.score("right", take=take(2.0, seconds=8.0))
        begun.spoken.transcribed(1, 1, heard("K AE T", "D AO G", at_s=1.0))
        begun.spoken.keep(
            None,
            RecordingEnded("r1", begun.spoken.recordings.keep("r1", tmp_path / "r1.wav"), 12.0),
        )
        yield begun
    plugins.close()


def _view(session: Session) -> NamingView:
    view = session.spoken.view(1)
    assert view is not None
    return view


def _second(session: Session) -> None:
    with session.spoken.listening.to(1, "score", listener="B"):
        session.spoken.score("error")
        session.spoken.listening.hear("cat")
        session.spoken.listening.code("semantic")


def test_a_second_rater_does_not_replace_the_first(session: Session) -> None:
    _second(session)
    view = _view(session)
    assert [(each.by, each.score) for each in view.scores] == [
        ("person:A", "right"),
        ("person:B", "error"),
    ]
    assert view.score is not None
    assert (view.score.by, view.score.score) == ("person:A", "right")
    item = named_item(naming_of(view))
    assert (item.person, item.outcome) == (True, "right")
    assert score_of(item) == "right (A; B error)"
    assert raters_line([item]).endswith("the first rater counts (A)")


def test_a_raters_later_score_replaces_their_own_alone(session: Session) -> None:
    _second(session)
    with session.spoken.listening.to(1, "score", listener="A"):
        session.spoken.score("no-response", reason="silent")
    assert [(each.by, each.score) for each in _view(session).scores] == [
        ("person:A", "no-response"),
        ("person:B", "error"),
    ]


@pytest.mark.parametrize(
    ("primary", "score", "why"),
    [("", "right", "first"), ("B", "error", "primary"), ("C", "right", "first")],
)
def test_the_primary_rater_counts_else_the_first(
    session: Session, store: Store, primary: str, score: str, why: str
) -> None:
    _second(session)
    (one,) = load_administrations(store, (1,), primary=primary)
    said = naming_json(namings(one)[0])
    assert (said["score"], said["counts"]) == (score, why)
    raters = said["raters"]
    assert isinstance(raters, list)
    assert [(each["rater"], each["score"], each["code"]) for each in raters] == [
        ("person:A", "right", None),
        ("person:B", "error", "semantic"),
    ]


@pytest.mark.parametrize(
    ("rule", "third", "score", "outcome"),
    [
        ("majority", None, None, None),
        ("majority", "error", "error", "error"),
        ("majority", "self-corrected", None, None),
        ("adjudicated", "error", None, None),
    ],
)
def test_a_rule_counts_the_raters_and_leaves_open_what_it_cannot_decide(
    session: Session,
    store: Store,
    rule: str,
    third: Score | None,
    score: str | None,
    outcome: str | None,
) -> None:
    _second(session)
    if third is not None:
        with session.spoken.listening.to(1, "score", listener="C"):
            session.spoken.score(third)
    (one,) = load_administrations(store, (1,), primary=rule)
    naming = namings(one)[0]
    said, item = naming_json(naming), named_item(naming)
    assert (said["score"], said["counts"]) == (score, rule)
    assert said["score_by"] == (None if score is None else rule)
    # The transcript is right by the rules: they do not decide what listeners differ on.
    assert (item.outcome, item.decided_by) == (outcome, "" if outcome is None else "listener")
    assert len(item.other_scores) == (2 if third is None else 3)
    line = raters_line([item], rule)
    assert line.startswith(f"1 item scored by several raters: the {rule} of their scores counts")
    assert line.endswith("1 without one, open") == (score is None)
    named = results_of(one).responses[0].named
    assert named is not None
    shown = "3 error" if score else "open"
    assert ("counts", f"{shown}, by the rule '{rule}'") in named.by_people


def test_a_settled_score_counts_for_the_consensus_alone(session: Session) -> None:
    _second(session)
    view = replace(_view(session), settled={"score": "right", "code": "formal"})
    consensus, majority = (replace(view, primary=rule) for rule in ("consensus", "majority"))
    assert consensus.score is not None and consensus.code is not None
    assert (consensus.score.score, consensus.score.by) == ("right", "consensus")
    assert (consensus.code.code, consensus.code.by) == ("formal", "consensus")
    assert majority.score is None


@pytest.mark.parametrize(
    ("score", "code", "by", "source"),
    [
        ("right", "correct", "person:A", "score"),
        ("self-corrected", "correct", "person:A", "score"),
        ("no-response", "no-response", "person:A", "score"),
        ("error", "semantic", "person:B", "borrowed"),
    ],
)
@pytest.mark.parametrize("primary", ["", "A"])
def test_one_profile_has_the_codes_of_the_rater_whose_scores_count(
    session: Session, store: Store, primary: str, score: Score, code: str, by: str, source: str
) -> None:
    with session.spoken.listening.to(1, "score", listener="A"):
        session.spoken.score(score)
    _second(session)  # B: an error, semantic
    (one,) = load_administrations(store, (1,), primary=primary)
    naming = namings(one)[0]
    item, said = named_item(naming), naming_json(naming)
    assert (item.code, item.code_by, item.code_source) == (code, by, source)
    assert (said["code"], said["code_by"], said["code_source"]) == (code, by, source)
    (subtest,) = named_subtests([one])
    assert subtest.summary.codes == {code: 1}
    assert subtest.summary.borrowed == int(source == "borrowed")
    assert bool(borrowed_line(subtest.summary)) == (source == "borrowed")
    assert ("B" in code_of(item)) == (source == "borrowed")


def _scores(words: str) -> list[Scored]:
    """``right error``: of raters A, B, ...; a dash: none."""
    given = zip("ABCDE", words.split(), strict=False)
    return [Scored(1, cast("Score", word), f"person:{by}") for by, word in given if word != "-"]


@pytest.mark.parametrize(
    ("counts", "scores", "codes", "settled", "expected"),
    [
        # A code of one rater of two is nobody's majority: it is borrowed.
        ("majority", "error error", "- semantic", {}, ("semantic", "person:B", "borrowed")),
        # The score of A brings its code: one of the two who coded is no majority.
        ("majority", "no-response error", "- semantic", {}, None),
        ("majority", "right error", "- semantic", {}, None),
        ("majority", "right error error", "- semantic", {}, None),
        ("majority", "right error error", "- semantic semantic", {},
         ("semantic", "majority", "given")),
        ("majority", "error error error", "semantic semantic -", {},
         ("semantic", "majority", "given")),
        ("majority", "error error error error error", "semantic semantic", {},
         ("semantic", "majority", "borrowed")),
        ("majority", "error error error", "semantic formal -", {}, None),
        ("majority", "error error error", "semantic undecided -", {},
         ("semantic", "person:A", "borrowed")),
        ("majority", "no-response no-response error", "- - semantic", {},
         ("no-response", "majority", "score")),
        ("consensus", "right error", "- semantic", {"score": "right"},
         ("correct", "consensus", "score")),
        ("consensus", "right error", "- semantic", {"score": "error", "code": "formal"},
         ("formal", "consensus", "given")),
        ("consensus", "right error", "- semantic", {"score": "error", "code": None}, None),
        ("adjudicated", "right error", "- semantic", {"score": "no-response"},
         ("no-response", "adjudicated", "score")),
        ("adjudicated", "error error", "semantic semantic", {},
         ("semantic", "adjudicated", "given")),
        ("adjudicated", "error error", "semantic formal", {}, None),
        # Raters: the primary's code alone decides; else whoever scored first, then the others.
        ("B", "no-response -", "- semantic", {}, ("semantic", "person:B", "given")),
        ("B", "no-response -", "- undecided", {}, ("no-response", "person:A", "score")),
        ("A", "error error", "- correct", {}, None),
        ("A", "error error error", "- no-response formal", {}, ("formal", "person:C", "borrowed")),
        ("C", "error no-response", "semantic -", {}, ("semantic", "person:A", "given")),
        ("", "- no-response", "semantic -", {}, ("no-response", "person:B", "score")),
        ("A", "right error", "undecided semantic", {}, ("correct", "person:A", "score")),
    ],
)  # fmt: skip
def test_the_code_that_counts(
    counts: str,
    scores: str,
    codes: str,
    settled: dict[str, object],
    expected: tuple[str, str, str] | None,
) -> None:
    said = zip("ABCDE", codes.split(), strict=False)
    coded = [Coded(1, word, f"person:{by}") for by, word in said if word != "-"]
    found = counting_code(coded, _scores(scores), counts, settled)
    assert (found and (found.code, found.by, found.source)) == expected


def test_a_self_corrected_name_has_no_implied_code_where_the_first_attempt_counts() -> None:
    scores, codes = _scores("self-corrected error"), [Coded(1, "semantic", "person:B")]
    found = counting_code(codes, scores, "A", decides="correct-first")
    assert found is not None
    assert (found.code, found.source) == ("semantic", "borrowed")


def test_the_name_of_a_rule_is_no_rater(session: Session) -> None:
    with pytest.raises(UsageError, match="'majority' cannot be a person's code"):
        _score_as(session, "majority")
    assert len(_view(session).scores) == 1


def _score_as(session: Session, rater: str) -> None:
    with session.spoken.listening.to(1, "score", listener=rater):
        session.spoken.score("error")


def test_the_rule_of_the_study_holds_in_the_session(session: Session) -> None:
    _second(session)
    study = Study(primary_rater="B")
    session.plugins.configuration = replace(session.plugins.configuration, study=study)
    score = _view(session).score
    assert score is not None
    assert score.by == "person:B"


def test_a_corrected_onset_changes_the_latency_and_leaves_a_trail(session: Session) -> None:
    assert _view(session).latency_s == pytest.approx(0.6)
    with session.spoken.listening.to(1, "onset", listener="B"):
        session.spoken.listening.set_onset(5.0, reason="a breath before it")
    view = _view(session)
    assert view.latency_s == pytest.approx(3.0)
    (made,) = view.corrections
    assert (made.by, made.reason, made.at[:2]) == ("person:B", "a breath before it", "20")
    assert view.take is not None
    assert view.take.onset_s == 2.6  # as measured: it stays
    session.corrections.undo()
    assert _view(session).latency_s == pytest.approx(0.6)
    with (
        session.spoken.listening.to(1, "onset"),
        pytest.raises(UsageError, match="outside of the response"),
    ):
        session.spoken.listening.set_onset(11.0)


def test_corrected_limits_move_onset_transcript_and_verdict(session: Session) -> None:
    first = naming_of(_view(session)).verdicts
    assert first is not None and first["correct-first"].value is False
    with session.spoken.listening.to(1, "attempt"):
        session.spoken.listening.set_limits(4.5, 9.0, reason="the examiner spoke")
    view = _view(session)
    assert view.take is not None
    assert (view.take.start_s, view.take.end_s) == (4.5, 9.0)
    assert view.onset_s == pytest.approx(5.0, abs=0.03)
    assert view.latency_s == pytest.approx(3.0, abs=0.03)
    naming = naming_of(view)
    assert naming.phonemes == ("D", "AO", "G")  # "cat" was said before
    assert naming.transcript is not None
    assert naming.transcript.segments[0].start_s == pytest.approx(2.8 + 2.0 - 4.5)
    assert naming.verdicts is not None and naming.verdicts["correct-first"].value is True
    ratings = {one.measure: one.value for one in view.trial.ratings if one.rater != "person:A"}
    assert ratings["correct-first"] == 1.0
    assert view.outdated == {"replay"}
    session.spoken.transcribed(1, 1, heard("D AO G", at_s=0.5))
    assert _view(session).outdated == frozenset()
    assert naming_of(_view(session)).transcript == heard("D AO G", at_s=0.5)


def test_undo_gives_the_earlier_limits_back(session: Session) -> None:
    before = naming_json(naming_of(_view(session)))
    with session.spoken.listening.to(1, "attempt"):
        session.spoken.listening.set_limits(4.5, 9.0)
    session.corrections.undo()
    assert naming_json(naming_of(_view(session))) == before


@pytest.mark.parametrize("limits", [(4.0, 3.0), (4.0, 13.0), (5.0, 5.0)])
def test_limits_lie_in_the_recording(session: Session, limits: tuple[float, float]) -> None:
    with (
        session.spoken.listening.to(1, "attempt"),
        pytest.raises(UsageError, match="not a stretch"),
    ):
        session.spoken.listening.set_limits(*limits)


def test_a_mark_made_afterwards_parts_the_attempts_and_is_rated(session: Session) -> None:
    session.spoken.transcribed(1, 1, heard("K AE T D AO G", at_s=1.0))
    with session.spoken.listening.to(1, "attempt"):
        session.spoken.mark(3.3)
    naming = naming_of(_view(session))
    assert [each.phonemes for each in naming.attempts] == [("K", "AE", "T"), ("D", "AO", "G")]


def test_every_code_stays_in_the_trail(session: Session) -> None:
    with session.spoken.listening.to(1, "code"):
        session.spoken.listening.code("formal")
        session.spoken.listening.code("mixed", reason="it is related too")
    view = _view(session)
    assert view.code is not None and view.code.code == "mixed"
    said = naming_json(naming_of(view))["corrections"]
    assert isinstance(said, list)
    assert [(each["code"], each["reason"]) for each in said] == [
        ("formal", None),
        ("mixed", "it is related too"),
    ]


def test_a_listener_of_a_rating_set_is_a_rater_of_the_session(
    session: Session, store: Store
) -> None:
    form, problems = read_form(FORMS / "naming.toml", lambda _: FORMS)
    assert form is not None, problems
    sample = Sample(1, 1, 1, 1, "", "What is this?", target="dog")
    kept = store.sets.create(
        SetPlan("ear", form.canonical, form.id, (sample,), (Assignment("R2", 1, 1),))
    )
    answers = {"correct": "error", "code#1": "semantic"}
    store.sets.rate(kept.id, SampleRating("R2", 1, 1, "rate", answers, complete=True))
    (one,) = load_administrations(store, (1,))
    naming = namings(one)[0]
    assert [(each.by, each.score) for each in naming.view.scores] == [
        ("person:A", "right"),
        ("person:R2", "error"),
    ]
    assert [(each.by, each.code) for each in naming.view.codes] == [("person:R2", "semantic")]
    item = named_item(naming)
    assert (item.score_by, item.code) == ("person:A", "correct")
    (pair,) = rater_agreements([item])
    assert (pair.first, pair.second, pair.agreed) == ("person:A", "person:R2", 0)
    adjudicator = Adjudicator(store, session.plugins, "ear", "A1")
    assert [
        [(said.rater, said.answer) for said in one.verdicts] for one in adjudicator.disputes()
    ] == [[("A", "right"), ("R2", "error")]]
    adjudicator.settle(1, "correct", "error", "a cat")
    (settled,) = load_administrations(store, (1,), primary="consensus")
    score = namings(settled)[0].view.score
    assert score is not None
    assert (score.by, score.score) == ("consensus", "error")


def test_only_a_correction_of_the_response_is_taken_back(session: Session) -> None:
    with pytest.raises(TabwbError, match="no correction to take back"):
        undo_correction(session, 1)  # the score that closed the window
    with session.spoken.listening.to(1, "code"):
        session.spoken.listening.code("semantic")
    with pytest.raises(TabwbError, match="the latest correction is of item 1, dog: code"):
        undo_correction(session, 2)
    undo_correction(session, 1)
    assert [(each.by, each.code) for each in _view(session).codes] == []
    assert [(each.by, each.score) for each in _view(session).scores] == [("person:A", "right")]

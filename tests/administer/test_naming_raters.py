"""Several people who score one response, and corrections afterwards: nothing is replaced."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from tabwb.administer.rating.adjudication import Adjudicator
from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.statistics.naming import named_subtests, namings
from tabwb.analysis.statistics.naming_agreement import rater_agreements
from tabwb.analysis.tables.said import borrowed_line, code_of, score_of
from tabwb.battery.form_files import read_form
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.media.documents.document import export_document
from tabwb.media.documents.naming_document import naming_json
from tabwb.media.views.naming import raters_line
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import Coded, RecordingBegan, RecordingEnded, Score, Scored
from tabwb.records.rating_sets import Assignment, Sample, SampleRating
from tabwb.records.speakers import Study
from tabwb.records.speech import Segment, Transcript
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming, import_responses
from tabwb.tasks.spoken_naming.imports import read_sessions
from tabwb.tasks.spoken_naming.scores import named_item, naming_of
from tabwb.tasks.spoken_naming.strategy import undo_correction
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import NamingView, counting_code
from tabwb.workbench.results.stored import results_of
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.builders import FORMS
from tests.store.parts import set_plan

soundfile = pytest.importorskip("soundfile")
RATE = 16_000


@pytest.fixture
def session(store: Store, tmp_path: Path) -> Iterator[Session]:
    """One response to a dog from 2 s to 10 s; a tone is said from 5 s to 5.5 s."""
    plugins = Plugins.load(Configuration())
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))
    conditions = Conditions("S-014", "speaker", judges=(), rater="A")
    sound = 1e-4 * np.random.default_rng(1).standard_normal(12 * RATE)
    sound[5 * RATE : 5 * RATE + RATE // 2] += 0.1 * np.sin(np.arange(RATE // 2) * 0.4)
    soundfile.write(tmp_path / "r1.wav", sound, RATE)
    with create_naming(
        store, plugins, battery, setup.resolve(plugins, battery, conditions)
    ) as begun:
        spoken_in(begun).keep(None, RecordingBegan("r1", "r1.wav", "a microphone", RATE))
        spoken_in(begun).show(shown(2.0))
        spoken_in(begun).score("right", take=take(2.0, seconds=8.0))
        spoken_in(begun).transcribed(1, 1, heard("K AE T", "D AO G", at_s=1.0))
        spoken_in(begun).keep(
            None,
            RecordingEnded("r1", spoken_in(begun).recordings.keep("r1", tmp_path / "r1.wav"), 12.0),
        )
        yield begun
    plugins.close()


def _view(session: Session) -> NamingView:
    view = spoken_in(session).view(1)
    assert view is not None
    return view


def _second(session: Session) -> None:
    with spoken_in(session).listening.to(1, "score", listener="B"):
        spoken_in(session).score("error")
        spoken_in(session).listening.hear("cat")
        spoken_in(session).listening.code("semantic")


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
    with spoken_in(session).listening.to(1, "score", listener="A"):
        spoken_in(session).score("no-response", reason="silent")
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
        with spoken_in(session).listening.to(1, "score", listener="C"):
            spoken_in(session).score(third)
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
    with spoken_in(session).listening.to(1, "score", listener="A"):
        spoken_in(session).score(score)
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
    with spoken_in(session).listening.to(1, "score", listener=rater):
        spoken_in(session).score("error")


def test_the_rule_of_the_study_holds_in_the_session(session: Session) -> None:
    _second(session)
    study = Study(primary_rater="B")
    session.plugins.configuration = replace(session.plugins.configuration, study=study)
    score = _view(session).score
    assert score is not None
    assert score.by == "person:B"


def test_a_corrected_onset_changes_the_latency_and_leaves_a_trail(session: Session) -> None:
    assert _view(session).latency_s == pytest.approx(0.6)
    with spoken_in(session).listening.to(1, "onset", listener="B"):
        spoken_in(session).listening.set_onset(5.0, reason="a breath before it")
    view = _view(session)
    assert view.latency_s == pytest.approx(3.0)
    (made,) = view.corrections
    assert (made.by, made.reason, made.at[:2]) == ("person:B", "a breath before it", "20")
    assert view.take is not None
    assert view.take.onset_s == 2.6  # as measured: it stays
    session.corrections.undo()
    assert _view(session).latency_s == pytest.approx(0.6)
    with (
        spoken_in(session).listening.to(1, "onset"),
        pytest.raises(UsageError, match="outside of the response"),
    ):
        spoken_in(session).listening.set_onset(11.0)


def test_corrected_limits_move_onset_transcript_and_verdict(session: Session) -> None:
    first = naming_of(_view(session)).verdicts
    assert first is not None and first["correct-first"].value is False
    with spoken_in(session).listening.to(1, "attempt"):
        spoken_in(session).listening.set_limits(4.5, 9.0, reason="the examiner spoke")
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
    spoken_in(session).transcribed(1, 1, heard("D AO G", at_s=0.5))
    assert _view(session).outdated == frozenset()
    assert naming_of(_view(session)).transcript == heard("D AO G", at_s=0.5)


def test_undo_gives_the_earlier_limits_back(session: Session) -> None:
    before = naming_json(naming_of(_view(session)))
    with spoken_in(session).listening.to(1, "attempt"):
        spoken_in(session).listening.set_limits(4.5, 9.0)
    session.corrections.undo()
    assert naming_json(naming_of(_view(session))) == before


@pytest.mark.parametrize("limits", [(4.0, 3.0), (4.0, 13.0), (5.0, 5.0)])
def test_limits_lie_in_the_recording(session: Session, limits: tuple[float, float]) -> None:
    with (
        spoken_in(session).listening.to(1, "attempt"),
        pytest.raises(UsageError, match="not a stretch"),
    ):
        spoken_in(session).listening.set_limits(*limits)


def test_a_mark_made_afterwards_parts_the_attempts_and_is_rated(session: Session) -> None:
    spoken_in(session).transcribed(1, 1, heard("K AE T D AO G", at_s=1.0))
    with spoken_in(session).listening.to(1, "attempt"):
        spoken_in(session).mark(3.3)
    naming = naming_of(_view(session))
    assert [each.phonemes for each in naming.attempts] == [("K", "AE", "T"), ("D", "AO", "G")]


def test_every_code_stays_in_the_trail(session: Session) -> None:
    with spoken_in(session).listening.to(1, "code"):
        spoken_in(session).listening.code("formal")
        spoken_in(session).listening.code("mixed", reason="it is related too")
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
        set_plan("ear", form.canonical, form.id, (sample,), (Assignment("R2", 1, 1),))
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
    with spoken_in(session).listening.to(1, "code"):
        spoken_in(session).listening.code("semantic")
    with pytest.raises(TabwbError, match="the latest correction is of item 1, dog: code"):
        undo_correction(session, 2)
    undo_correction(session, 1)
    assert [(each.by, each.code) for each in _view(session).codes] == []
    assert [(each.by, each.score) for each in _view(session).scores] == [("person:A", "right")]


Open = Callable[[str], Session]


@pytest.fixture
def open_session(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Open]:
    opened: list[Session] = []
    battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))

    def make(speaker: str) -> Session:
        conditions = Conditions(speaker, "speaker", judges=(), rater="R1", origin="human")
        conditions = setup.resolve(plugins, battery, conditions)
        opened.append(create_naming(store, plugins, battery, conditions))
        return opened[-1]

    yield make
    for session in opened:
        session.close()


@pytest.fixture
def given(open_session: Open, tmp_path: Path) -> Session:
    """One recording of 40 s: dog right, cat after dog, tree a nonword, house silence."""
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    spoken_in(session).keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    responses: tuple[tuple[float, str, list[str]], ...] = (
        (0.0, "right", ["D AO G"]),
        (10.0, "self-corrected", ["D AO G", "K AE T"]),
        (20.0, "error", ["T R OY B"]),
        (30.0, "no-response", []),
    )
    for at_s, score, attempts in responses:
        spoken_in(session).show(shown(at_s))
        spoken_in(session).score(score, take=take(at_s, seconds=8.0))  # type: ignore[arg-type]
        assert session.current is not None
        by = "manual:R1" if at_s < 20.0 else "bundled-words"
        spoken_in(session).transcribed(session.current.plan.number, 1, heard(*attempts, by=by))
        if at_s == 10.0:
            spoken_in(session).listening.hear("dog")
            spoken_in(session).listening.code("semantic")
    spoken_in(session).keep(
        None, RecordingEnded("r1", spoken_in(session).recordings.keep("r1", sound), 40.0)
    )
    return session


def _what_stands(session: Session) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for trial in session.trials:
        view = spoken_in(session).view(trial.plan.number)
        assert view is not None
        found.append(
            (
                trial.plan.item,
                () if view.transcript is None else view.transcript.phonemes,
                None if view.transcript is None else view.transcript.transcriber,
                None if view.score is None else view.score.score,
                None if view.heard is None else view.heard.text,
                None if view.code is None else view.code.code,
            )
        )
    return found


def _import(session: Session, path: Path) -> Session:
    (imported,) = read_sessions(path, session.battery)
    list(import_responses(session, imported, "R1"))
    return session


def _exported(store: Store, plugins: Plugins, out: Path) -> Path:
    """The first administration in the format that the folder is named by."""
    plugins.exporter(out.name).export(
        export_document(load_administrations(store, (1,), sound=True)), out
    )
    return out


@pytest.mark.parametrize("format_id", ["textgrid", "eaf"])
def test_what_was_exported_comes_back(
    given: Session,
    open_session: Open,
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    format_id: str,
) -> None:
    again = _import(open_session("S-015"), _exported(store, plugins, tmp_path / format_id))
    assert _what_stands(again) == _what_stands(given)
    times = [segment.start_s for segment in _imported_view(again, 2).segments]
    assert times == pytest.approx([0.5, 0.6, 0.7, 2.3, 2.4, 2.5], abs=0.0011)
    (kept,) = store.people.recordings(again.administration.id)
    assert kept.sha256 == store.people.recordings(1)[0].sha256


@pytest.fixture
def typed(open_session: Open, tmp_path: Path) -> Session:
    """One recording of 40 s, transcribed without times."""
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(40 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    spoken_in(session).keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    for at_s, said, end_s in (
        (0.0, "D AO G <sil> B AO K", 8.0),  # as typed in a table
        (10.0, "AH", 0.0),  # as in the table of the PSST corpus
        (20.0, None, 0.0),
        (30.0, "", 0.0),
    ):
        spoken_in(session).show(shown(at_s))
        spoken_in(session).score("right", take=take(at_s, seconds=8.0))
        assert session.current is not None
        if said is not None:
            segments = tuple(
                Segment(each, 0.0, 0.0 if each == "<sil>" else end_s) for each in said.split()
            )
            written = Transcript("manual:R1", "ok" if said else "empty", segments, seconds=end_s)
            spoken_in(session).transcribed(session.current.plan.number, 1, written)
    spoken_in(session).keep(
        None, RecordingEnded("r1", spoken_in(session).recordings.keep("r1", sound), 40.0)
    )
    return session


@pytest.mark.parametrize("format_id", ["textgrid", "eaf"])
def test_transcripts_without_times_come_back(
    typed: Session,
    open_session: Open,
    store: Store,
    plugins: Plugins,
    tmp_path: Path,
    format_id: str,
) -> None:
    again = _import(open_session("S-015"), _exported(store, plugins, tmp_path / format_id))
    assert [row[:3] for row in _what_stands(again)] == [
        ("dog", ("D", "AO", "G", "<sil>", "B", "AO", "K"), "manual:R1"),
        ("cat", ("AH",), "manual:R1"),
        ("tree", (), None),
        ("house", (), "manual:R1"),
    ]
    first = spoken_in(again).view(1)
    assert first is not None
    assert [each.phonemes for each in naming_of(first).attempts] == [
        ("D", "AO", "G"),
        ("B", "AO", "K"),
    ]


@pytest.mark.parametrize("format_id", ["textgrid", "eaf"])
def test_a_phoneme_of_no_length_keeps_attempts_apart(
    open_session: Open, store: Store, plugins: Plugins, tmp_path: Path, format_id: str
) -> None:
    sound = tmp_path / "r1.wav"
    soundfile.write(sound, np.zeros(10 * 16_000, dtype=np.float32), 16_000)
    session = open_session("S-014")
    spoken_in(session).keep(None, RecordingBegan("r1", sound.name, "a microphone", 16_000))
    spoken_in(session).show(shown(0.0))
    spoken_in(session).score("error", take=take(0.0, seconds=8.0))
    *first, last = heard("D AO G").segments
    tied = replace(last, end_s=last.start_s)
    later = heard("K AE T", at_s=3.0).segments
    assert session.current is not None
    written = Transcript("replay", "ok", (*first, tied, *later), seconds=8.0)
    spoken_in(session).transcribed(session.current.plan.number, 1, written)
    spoken_in(session).keep(
        None, RecordingEnded("r1", spoken_in(session).recordings.keep("r1", sound), 10.0)
    )
    out = _exported(store, plugins, tmp_path / format_id)
    assert "1 lengthless phoneme" in (out / "README.txt").read_text(encoding="utf-8")
    view = spoken_in(_import(open_session("S-015"), out)).view(1)
    assert view is not None
    assert [" ".join(each.phonemes) for each in naming_of(view).attempts] == ["D AO G", "K AE T"]


def test_times_that_nobody_knows_are_none(
    typed: Session, store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    document = export_document(load_administrations(store, (1,)))
    namings = [trial["naming"] for trial in document["documents"][0]["trials"]]
    for naming in namings:
        said = [*naming["attempts"], *naming["verdicts"].values()]
        said += [segment for each in naming["transcripts"] for segment in each["segments"]]
        times = ("onset_s", "offset_s", "start_s", "end_s")
        assert {each.get(name) for each in said for name in times} <= {None}
    assert [len(naming["attempts"]) for naming in namings] == [2, 1, 0, 0]
    out = tmp_path / "attempts.csv"
    plugins.exporter("attempts").export(document, out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["attempt"] for row in rows] == ["1", "2", "1", "", ""]
    assert {row["attempt_onset_s"] + row["attempt_offset_s"] for row in rows} == {""}


class _Heard:
    def __init__(self, view: NamingView) -> None:
        assert view.transcript is not None
        self.segments = view.transcript.segments


def _imported_view(session: Session, number: int) -> _Heard:
    view = spoken_in(session).view(number)
    assert view is not None
    return _Heard(view)


def test_a_table_without_recordings_and_items_not_there(open_session: Open, tmp_path: Path) -> None:
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tcorrectness\nS1-dog\tdog\tD AO1 G <sil>\tTRUE\n"
    )
    session = _import(open_session("S-015"), tmp_path)
    phonemes = ("D", "AO", "G", "<sil>")
    assert _what_stands(session)[0][:4] == ("dog", phonemes, "manual:R1", "right")
    assert [trial.plan.item for trial in session.waiting(aloud=True)] == [
        "cat",
        "tree",
        "house",
    ]


@pytest.mark.parametrize("noise", ["<spn>", "<unk>", "<sil> <spn>"])
def test_unintelligible_speech_is_no_silence(
    open_session: Open, tmp_path: Path, noise: str
) -> None:
    (tmp_path / "utterances.tsv").write_text(
        f"utterance_id\tprompt\ttranscript\nS1-dog\tdog\t{noise}\nS1-cat\tcat\t<sil>\n"
    )
    session = open_session("S1")
    (found,) = read_sessions(tmp_path, session.battery)
    dog, cat = found.responses
    assert dog.transcripts[0].phonemes == tuple(noise.split())
    assert (cat.transcripts[0].phonemes, cat.transcripts[0].status) == ((), "empty")


def test_labels_of_a_machine_without_a_phoneme_are_dropped_and_counted(
    open_session: Open, tmp_path: Path
) -> None:
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\tasr_transcript\nS1-dog\tdog\t\tD QQ AO <spn> QQ\n"
    )
    view = spoken_in(_import(open_session("S-015"), tmp_path)).view(1)
    assert view is not None
    assert view.transcript is not None
    assert view.transcript.transcriber == "asr"
    assert (view.transcript.phonemes, view.transcript.dropped) == (("D", "AO", "<spn>"), {"QQ": 2})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utterance_id\tprompt\n", "no column transcript"),
        ("utterance_id\tprompt\ttranscript\nu\tdoge\tD\n", "tsv:2: the battery has no item 'doge'"),
        ("utterance_id\tprompt\ttranscript\nu\tdog\tD QQ\n", "tsv:2: 'QQ' is not a phoneme"),
        (
            "utterance_id\tprompt\ttranscript\tcorrectness\nu\tdog\tD\tyes\n",
            "'yes' is not a valid correctness",
        ),
        ("utterance_id\tprompt\ttranscript\tfilename\nu\tdog\tD\tx.wav\n", "no file 'x.wav'"),
        ("prompt\ttranscript\tutterance_id\ndog\tD\n", "tsv:2: 2 columns, where the headings"),
        ("utterance_id\tprompt\ttranscript\n\nu\tdog\tQQ\n", "tsv:3: 'QQ' is not a phoneme"),
        (
            "utterance_id\tprompt\ttranscript\tcues\nu\tdog\tD\tphonemic@\n",
            "'phonemic@' is not a cue",
        ),
        ("utterance_id\tprompt\ttranscript\tcues\nu\tdog\tD\t2.5\n", "'2.5' is not a cue of 'dog'"),
        ("utterance_id\tprompt\ttranscript\texaminer\nu\tdog\tD\t1.5\n", "'1.5' are not"),
        ("utterance_id\tprompt\ttranscript\texaminer\nu\tdog\tD\t2-1\n", "'2-1' are not"),
    ],
)
def test_a_faulty_table_says_where(
    open_session: Open, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "utterances.tsv").write_text(text)
    with pytest.raises(TabwbError, match=said):
        read_sessions(tmp_path, open_session("S-015").battery)


def _grid(path: Path, tiers: dict[str, list[tuple[float, float, str]]]) -> Path:
    from praatio.data_classes.interval_tier import IntervalTier
    from praatio.data_classes.textgrid import Textgrid

    grid = Textgrid(0, 10)
    for name, stretches in tiers.items():
        grid.addTier(IntervalTier(name, stretches, 0, 10))
    grid.save(str(path), format="short_textgrid", includeBlankSpaces=True)
    return path


def test_tiers_of_other_names_are_named(open_session: Open, tmp_path: Path) -> None:
    path = _grid(tmp_path / "a.TextGrid", {"Wort": [(0, 4, "dog")], "Laute": [(1, 1.9, "dɔɡ")]})
    battery = open_session("S-015").battery
    with pytest.raises(UsageError, match="--tier item=NAME"):
        read_sessions(path, battery)
    (session,) = read_sessions(path, battery, {"item": "Wort", "attempt": "Laute"})
    (named,) = session.responses
    (written,) = named.transcripts
    assert [segment.phoneme for segment in written.segments] == ["D", "AO", "G"]
    assert [segment.start_s for segment in written.segments] == pytest.approx([1, 1.3, 1.6])
    assert (written.metadata["times"], written.transcriber) == (
        "evenly divided within each attempt",
        "",
    )


def test_where_nobody_transcribed_there_is_no_transcript(
    open_session: Open, tmp_path: Path
) -> None:
    words = [(0.0, 2.0, "dog"), (2.0, 4.0, "cat"), (4.0, 6.0, "tree")]
    tiers = {
        "item": words,
        "transcriber": [(start, end, "manual:R1") for start, end, _ in words],
        "attempt": [(1.0, 1.5, "D AO G"), (4.5, 5.5, "<sil>")],
    }
    path = _grid(tmp_path / "a.TextGrid", tiers)
    (session,) = read_sessions(path, open_session("S-015").battery)
    said = [[len(each.segments) for each in one.transcripts] for one in session.responses]
    assert said == [[3], [], [0]]


def test_what_was_heard_is_kept_whole(open_session: Open, tmp_path: Path) -> None:
    tiers = {"item": [(0.0, 2.0, "dog")], "heard": [(0.0, 2.0, "dog (or hog)")]}
    path = _grid(tmp_path / "a.TextGrid", tiers)
    (session,) = read_sessions(path, open_session("S-015").battery)
    assert [one.heard for one in session.responses] == ["dog (or hog)"]

"""A naming session: windows, cues, scores by ear, transcripts that come later, undo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.host.plugins import Plugins
from tabwb.media.documents.naming_document import spoken_json, transcript_json
from tabwb.phonology.dictionary import guessed_phonemes, pronounced
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import RecordingBegan, Score, Scored
from tabwb.records.ratings import Rating
from tabwb.records.speakers import SCOPES, Consent, Speaker
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import AdministrationStatus, RatingStatus, TrialState
from tabwb.scoring.naming.case import sounds_of_names
from tabwb.scoring.naming.heard import parse_heard
from tabwb.scoring.naming.propose import propose_response
from tabwb.scoring.naming.target import Accepted, NamingTarget
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming import strategy as order
from tabwb.tasks.spoken_naming.giving import create_naming, resume_naming
from tabwb.tasks.spoken_naming.imports import TakeFile, left_out, take_files
from tabwb.tasks.spoken_naming.scores import named_item, naming_of
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import NamingView
from tabwb.workbench.results.naming_summary import _not_counted
from tests.administer.conftest import Begin
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.scoring.naming_parts import accept


def _ratings(session: Session, number: int = 1) -> dict[tuple[str, str], Rating]:
    ratings = session.trials[number - 1].ratings
    return {(rating.rater, rating.measure): rating for rating in ratings}


def _score(session: Session, score: str = "right", at_s: float = 0.0) -> None:
    spoken_in(session).show(shown(at_s))
    spoken_in(session).score(score, take=take(at_s))  # type: ignore[arg-type]


def _view(session: Session, number: int | None = None) -> NamingView:
    view = spoken_in(session).view(number)
    assert view is not None
    return view


def test_a_score_closes_the_window_and_keeps_where_the_response_lies(begin_naming: Begin) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(2.0))
    assert session.awaiting
    spoken_in(session).score("right", take=take(2.0, onset_s=0.75))
    view = _view(session)
    assert not session.awaiting
    assert (view.take, view.latency_s) == (take(2.0, onset_s=0.75), 0.75)
    assert view.score == Scored(1, "right", "person:R1")
    assert _ratings(session)["person:R1", "correct"].value == 1.0


@pytest.mark.parametrize(
    ("score", "value"),
    [("right", 1.0), ("self-corrected", 1.0), ("error", 0.0), ("no-response", 0.0)],
)
def test_a_persons_score_is_a_rating(begin_naming: Begin, score: str, value: float) -> None:
    session = begin_naming()
    _score(session, score)
    assert _ratings(session)["person:R1", "correct"].value == value


def test_what_cannot_be_scored_is_undefined_and_says_why(begin_naming: Begin) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(0.0))
    with pytest.raises(TabwbError, match="needs a reason"):
        spoken_in(session).score("not-scorable", take=take(0.0))
    spoken_in(session).score("not-scorable", take=take(0.0), reason="a car passed")
    rating = _ratings(session)["person:R1", "correct"]
    assert (rating.status, rating.reason) == (RatingStatus.UNDEFINED, "a car passed")


def test_a_transcript_may_come_after_the_next_item_was_shown(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session)
    spoken_in(session).show(shown(9.0))
    spoken_in(session).transcribed(1, 1, heard("D AO G"))
    assert session.current is not None
    assert session.current.plan.number == 2
    ratings = _ratings(session)
    assert ratings["naming-3:replay", "correct-any"].value == 1.0
    assert ratings["naming-3:replay", "correct-first"].value == 1.0
    assert ratings["naming-3:replay", "phoneme-distance"].value == 0.0
    assert ratings["naming-3:replay", "code:correct"].value == 1.0
    assert ratings["person:R1", "correct"].value == 1.0


def test_what_a_transcriber_failed_on_is_an_error_and_no_wrong_answer(begin_naming: Begin) -> None:
    from tabwb.records.speech import Transcript

    session = begin_naming()
    _score(session)
    spoken_in(session).transcribed(1, 1, Transcript("replay", "error", error="it died"))
    rating = _ratings(session)["naming-3:replay", "correct-any"]
    assert (rating.value, rating.status, rating.reason) == (None, RatingStatus.ERROR, "it died")


def test_a_person_who_typed_nothing_for_it_does_not_hide_what_a_machine_heard(
    begin_naming: Begin,
) -> None:
    session = begin_naming()
    _score(session)
    spoken_in(session).transcribed(1, 1, heard("D AO G"))
    spoken_in(session).transcribed(
        1, 1, Transcript("manual:typed.tsv", "error", error="no row for 'dog'")
    )
    assert naming_of(_view(session, 1)).phonemes == ("D", "AO", "G")


def test_the_administrators_voice_takes_nothing_from_a_transcript_without_times(
    begin_naming: Begin,
) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(1.0))
    spoken_in(session).examiner(2.0, 3.5)
    spoken_in(session).score("right", take=take(1.0))
    typed = tuple(Segment(each, 0.0, 4.0) for each in ("D", "AO", "G"))
    spoken_in(session).transcribed(1, 1, Transcript("manual:typed.tsv", "ok", typed, seconds=4.0))
    assert naming_of(_view(session, 1)).phonemes == ("D", "AO", "G")


def test_undo_of_a_score_opens_the_window_again(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error", at_s=1.0)
    session.corrections.undo()
    assert session.awaiting
    assert session.trials[0].state is TrialState.PLANNED
    spoken_in(session).score("right", take=take(1.0, seconds=6.0))
    view = _view(session)
    assert view.score is not None
    assert (view.score.score, view.score.attempt) == ("right", 2)
    assert [attempt.state.value for attempt in session.trials[0].attempts] == ["void", "ok"]


def test_undo_of_a_second_score_brings_the_first_one_back(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error", at_s=1.0)
    spoken_in(session).score("right")
    assert _ratings(session)["person:R1", "correct"].value == 1.0
    session.corrections.undo()
    assert not session.awaiting
    assert _ratings(session)["person:R1", "correct"].value == 0.0


def test_cues_are_given_in_order_and_counted(begin_naming: Begin) -> None:
    session = begin_naming(
        'cues = [{ kind = "stimulus", text = "An animal.", counts = true }, '
        '{ kind = "phonemic", text = "It begins with d." }]'
    )
    spoken_in(session).show(shown(0.0))
    spoken_in(session).cue(3.0)
    spoken_in(session).cue(6.0)
    with pytest.raises(TabwbError, match="no further cue"):
        spoken_in(session).cue(7.0)
    session.corrections.undo()
    spoken_in(session).score("right", take=take(0.0, seconds=8.0, onset_s=4.0))
    view = _view(session)
    assert [(cue.kind, cue.counts, cue.at_s) for cue in view.cues] == [("stimulus", True, 3.0)]
    assert naming_of(view).flags == {"after-cue"}
    assert _not_counted(naming_of(view)) == ""


def test_an_onset_after_the_limit_is_late_and_nothing_is_cut(begin_naming: Begin) -> None:
    session = begin_naming("time_limit = 3")
    spoken_in(session).show(shown(0.0))
    spoken_in(session).score("right", take=take(0.0, seconds=9.0, onset_s=3.5))
    view = _view(session)
    assert naming_of(view).flags == {"late"}
    assert _not_counted(naming_of(view)) == "late (limit 3 s)"
    assert view.take is not None
    assert view.take.end_s == 9.0


def test_a_person_moves_the_onset_and_both_are_kept(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, at_s=1.0)
    spoken_in(session).listening.set_onset(1.5)
    view = _view(session)
    assert (view.latency_s, view.onset_by) == (0.5, "person:R1")
    assert view.take is not None
    assert view.take.onset_s == 1.6
    with pytest.raises(UsageError, match="outside of the response"):
        spoken_in(session).listening.set_onset(99.0)


def test_what_the_administrator_says_is_no_response(begin_naming: Begin) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(10.0))
    spoken_in(session).examiner(11.9, 12.6)
    spoken_in(session).score("no-response", take=take(10.0))
    spoken_in(session).transcribed(1, 1, heard("D AO G", at_s=2.0))
    naming = naming_of(_view(session, 1))
    assert naming.attempts == ()
    assert naming.proposal is not None
    assert naming.proposal.clause == "no speech detected"


def test_a_mark_parts_attempts_that_no_pause_parts(begin_naming: Begin) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(10.0))
    spoken_in(session).mark(10.8)
    spoken_in(session).score("self-corrected", take=take(10.0))
    spoken_in(session).transcribed(1, 1, heard("K AE T D AO G", at_s=0.5))
    said = [" ".join(attempt.phonemes) for attempt in naming_of(_view(session, 1)).attempts]
    assert said == ["K AE T", "D AO G"]


@pytest.mark.parametrize(
    ("rule", "outcome"), [("correct-any", "right"), ("correct-first", "error")]
)
def test_self_corrected_counts_as_the_rule_that_decides_has_it(
    begin_naming: Begin, rule: str, outcome: str
) -> None:
    session = begin_naming(f'rule = "{rule}"')
    _score(session, "self-corrected")
    assert order.outcomes(spoken_in(session), "nouns") == {"dog": outcome}


def test_a_heard_word_is_worth_more_than_the_transcript(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("K AE"))
    spoken_in(session).listening.hear("cat")
    proposal = naming_of(_view(session)).proposal
    assert proposal is not None
    assert proposal.code == "semantic"
    assert ("naming-3:replay", "code:semantic") in _ratings(session)
    session.corrections.undo()
    assert ("naming-3:replay", "code:semantic") not in _ratings(session)


def test_a_code_and_flags_of_a_person_stand_beside_the_machines(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("D OY G"))
    spoken_in(session).listening.code("blend", ["dialect"])
    view = _view(session)
    assert view.code is not None
    assert (view.code.code, view.code.flags) == ("blend", ("dialect",))
    rated = _ratings(session)
    assert ("person:R1", "code:blend") in rated
    assert ("person:R1", "correct") in rated
    assert ("naming-3:replay", "code:nonword-related") in rated
    with pytest.raises(UsageError, match="not a valid response code"):
        spoken_in(session).listening.code("sung")


def test_which_came_first_is_kept(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session)
    spoken_in(session).listening.reveal()
    spoken_in(session).score("error")
    view = _view(session)
    assert view.score is not None
    assert view.score.after_reveal
    assert [each.after_reveal for each in view.observations if isinstance(each, Scored)] == [
        False,
        True,
    ]


def test_after_a_re_prompt_the_session_still_waits_for_a_score(begin_naming: Begin) -> None:
    session = begin_naming()
    spoken_in(session).show(shown(0.0))
    spoken_in(session).re_prompt(4.0)
    assert session.awaiting
    view = _view(session)
    assert view.re_prompted is not None
    assert view.re_prompted.at_s == 4.0


def test_what_was_said_before_is_known_to_later_items(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("B L AO F"))
    _score(session, "error", at_s=9.0)
    spoken_in(session).transcribed(2, 1, heard("B L AO F"))
    proposal = naming_of(_view(session, 2)).proposal
    assert proposal is not None
    assert (proposal.code, proposal.repeats) == ("nonword-unrelated", "dog")
    assert "repeats" in proposal.flags


def test_everything_stands_after_the_session_is_opened_again(
    begin_naming: Begin, store: Store, plugins: Plugins
) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("K AE T"))
    spoken_in(session).listening.hear("cat")
    spoken_in(session).listening.code("semantic")
    before = spoken_in(session).view(1)
    number = session.administration.id
    session.close()
    with resume_naming(store, plugins, number) as again:
        assert spoken_in(again).view(1) == before
        assert again.status is AdministrationStatus.RUNNING


def test_the_session_finishes_when_every_picture_was_shown(begin_naming: Begin) -> None:
    session = begin_naming()
    for number in range(4):
        _score(session, at_s=10.0 * number)
    spoken_in(session).show(shown(50.0))
    assert session.status.value == "done"
    session.corrections.undo()
    assert session.status.value == "running"
    assert session.awaiting


def test_a_heard_word_alone_is_enough_for_a_proposal(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).listening.hear("cat")
    proposal = naming_of(_view(session)).proposal
    assert proposal is not None
    assert proposal.code == "semantic"


def test_a_recorded_variety_and_notation_of_a_speaker_decide(
    begin_naming: Begin, store: Store
) -> None:
    store.people.keep_speaker(Speaker("S-014", {"variety": "h-dropping, non-rhotic", "ipa": "uk"}))
    store.people.keep_consents([Consent("S-014", scope, True, "2026-11-21") for scope in SCOPES])
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).listening.hear("/ted/")
    view = _view(session)
    assert view.speech.varieties == ("non-rhotic", "h-dropping")
    heard_as = view.heard_as
    assert heard_as is not None
    assert heard_as.pronunciations == (("T", "EH", "D"),)


def test_words_of_other_items_are_words_whatever_their_frequency(begin_naming: Begin) -> None:
    session = begin_naming()
    assert spoken_in(session).listed == {"dog", "cat", "tree", "house"}
    _score(session, "error")
    assert _view(session).listed == spoken_in(session).listed


@pytest.mark.parametrize(("score", "code"), [("right", "correct"), ("no-response", "no-response")])
def test_a_score_gives_the_code_that_follows_from_it(
    begin_naming: Begin, score: str, code: str
) -> None:
    session = begin_naming()
    _score(session, score)
    spoken_in(session).transcribed(1, 1, heard("L AO G"))
    named = named_item(naming_of(_view(session)))
    assert (named.code, named.decided_by, named.proposed_open) == (code, "listener", "")


def test_attempts_that_a_pause_parts_are_shown_apart(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("K AE T", "D AO G"))
    assert " ".join(named_item(naming_of(_view(session))).phonemes) == "K AE T <sil> D AO G"


def test_what_a_listener_heard_feeds_distance_and_both_rules(begin_naming: Begin) -> None:
    session = begin_naming()
    _score(session, "error")
    spoken_in(session).transcribed(1, 1, heard("F IH M P"))
    spoken_in(session).listening.hear("dog")
    naming = naming_of(_view(session))
    assert naming.by_ear
    assert naming.distance is not None and naming.distance.phoneme_rate == 0.0
    assert {one.value for one in (naming.verdicts or {}).values()} == {True}
    # The ratings of the transcriber stay those of its own transcript.
    assert _ratings(session)["naming-3:replay", "correct-any"].value == 0.0


def _order(session: Session, right: dict[str, bool]) -> list[str]:
    """The items in the order in which the session gives them."""
    given: list[str] = []
    for number in range(5):
        spoken_in(session).show(shown(10.0 * number))
        if session.status is not AdministrationStatus.RUNNING or session.current is None:
            break
        item = session.current.plan.item
        given.append(item)
        spoken_in(session).score(
            "right" if right.get(item, True) else "error", take=take(10.0 * number)
        )
    return given


def test_items_before_the_start_are_credited_where_the_basal_is_reached(
    begin_naming: Begin,
) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    assert _order(session, {}) == ["tree", "house"]
    states = {trial.plan.item: trial.state for trial in session.trials}
    assert states["dog"] is states["cat"] is TrialState.NOT_ADMINISTERED
    assert session.status is AdministrationStatus.DONE


def test_where_the_basal_is_not_reached_earlier_items_are_given_backwards(
    begin_naming: Begin,
) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    assert _order(session, {"tree": False, "cat": False}) == ["tree", "cat", "dog", "house"]


def test_an_undone_answer_takes_the_credit_back(begin_naming: Begin) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    _order(session, {})
    session.corrections.undo()
    states = {trial.plan.item: trial.state for trial in session.trials}
    assert states["dog"] is TrialState.PLANNED


def test_the_rule_says_when_a_subtest_may_end_and_a_person_decides(begin_naming: Begin) -> None:
    session = begin_naming("discontinue = { after = 2 }")
    for number in range(2):
        assert order.reason_to_discontinue(spoken_in(session)) == ""
        _score(session, "error", at_s=10.0 * number)
    assert "2 items in a row" in order.reason_to_discontinue(spoken_in(session))
    assert session.status is AdministrationStatus.RUNNING


TWO_AND_ANOTHER = """discontinue = { after = 2 }
[[subtest.item]]
id = "first"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO G", reason = "citation" }]
[[subtest.item]]
id = "second"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO G", reason = "citation" }]
[[subtest.item]]
id = "third"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO G", reason = "citation" }]
[[subtest]]
id = "more"
title = "More"
response = "naming"
"""


def _scored(session: Session, *scores: Score) -> None:
    for score in scores:
        at_s = 10.0 * len(session.history.steps)
        _score(session, score, at_s=at_s)


def _states(session: Session) -> list[TrialState]:
    return [trial.state for trial in session.trials]


def test_the_examiner_is_asked_once_the_rule_is_met_and_ends_the_administration(
    begin_naming: Begin,
) -> None:
    session = begin_naming("discontinue = { after = 2 }")
    _scored(session, "error")
    assert order.reason_to_end(spoken_in(session)) == ""
    with pytest.raises(TabwbError, match="does not say to end"):
        order.end_subtest(spoken_in(session))
    _scored(session, "no-response")
    reason = order.reason_to_end(spoken_in(session))
    order.end_subtest(spoken_in(session))
    assert (session.status, session.history.reason) == (AdministrationStatus.DISCONTINUED, reason)
    assert "2 items in a row" in reason
    assert _states(session)[2:] == [TrialState.NOT_ADMINISTERED] * 2
    session.corrections.undo()
    assert session.status is AdministrationStatus.RUNNING
    assert order.reason_to_end(spoken_in(session)) == reason


def test_nothing_is_asked_while_an_item_waits_or_none_is_left(begin_naming: Begin) -> None:
    session = begin_naming("discontinue = { after = 2 }")
    _scored(session, "right", "right", "error")
    spoken_in(session).show(shown(50.0))
    assert order.reason_to_end(spoken_in(session)) == ""
    spoken_in(session).score("error", take=take(50.0))
    assert order.reason_to_end(spoken_in(session)) == ""  # the last item


def test_who_gives_further_items_is_asked_again_after_as_many(begin_naming: Begin) -> None:
    session = begin_naming("discontinue = { after = 1 }")
    _scored(session, "error")
    order.go_on(spoken_in(session), "the speaker insists")
    assert session.trials[0].notes[0].startswith("not discontinued (the speaker insists): 1 item")
    assert order.reason_to_end(spoken_in(session)) == ""
    _scored(session, "error")
    assert order.reason_to_end(spoken_in(session))
    _scored(session, "right")
    assert order.reason_to_end(spoken_in(session)) == ""


def test_a_subtest_that_ends_leaves_the_others_to_be_given(begin_naming: Begin) -> None:
    session = begin_naming(TWO_AND_ANOTHER)  # three items, then the subtest "more" with four
    _scored(session, "error", "error")
    reason = order.reason_to_end(spoken_in(session))
    order.end_subtest(spoken_in(session))
    assert (session.trials[2].state, session.trials[2].reason) == (
        TrialState.NOT_ADMINISTERED,
        reason,
    )
    _scored(session, "right")
    assert session.current is not None and session.current.plan.subtest == "more"
    session.corrections.undo()  # of the other subtest
    assert session.trials[2].state is TrialState.NOT_ADMINISTERED
    session.corrections.skip("a noise")
    _scored(session, "right", "right", "right")
    session.next()
    assert session.status is AdministrationStatus.DONE


def test_an_undone_score_takes_the_end_of_its_subtest_back(begin_naming: Begin) -> None:
    session = begin_naming(TWO_AND_ANOTHER)
    _scored(session, "error", "error")
    order.end_subtest(spoken_in(session))
    session.corrections.undo()
    assert session.trials[2].state is TrialState.PLANNED
    spoken_in(session).score("right", take=take(30.0))
    assert order.reason_to_end(spoken_in(session)) == ""


ITEMS = ("dog", "cat", "house", "item_2")


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


def _found(folder: Path) -> list[tuple[str, int, str]]:
    return [(take.item, take.take, take.path.name) for take in take_files(folder, ITEMS)]


def test_a_name_is_the_item_and_perhaps_the_take(tmp_path: Path) -> None:
    _touch(tmp_path, "dog.wav", "cat_2.flac", "cat_1.FLAC", "notes.txt", ".hidden.wav")
    assert _found(tmp_path) == [
        ("cat", 1, "cat_1.FLAC"),
        ("cat", 2, "cat_2.flac"),
        ("dog", 1, "dog.wav"),
    ]


def test_an_item_whose_id_ends_in_a_number_is_not_cut(tmp_path: Path) -> None:
    _touch(tmp_path, "item_2.wav", "item_2_3.wav")
    assert _found(tmp_path) == [("item_2", 1, "item_2.wav"), ("item_2", 3, "item_2_3.wav")]


def test_a_manifest_says_whose_a_file_is(tmp_path: Path) -> None:
    _touch(tmp_path, "a.wav", "b.wav", "unused.wav")
    text = "\ufefffile\titem\ttake\r\na.wav\tdog\t\r\nb.wav\tdog\t2\r\n\r\n"
    (tmp_path / "manifest.tsv").write_text(text, encoding="utf-8", newline="")
    assert _found(tmp_path) == [("dog", 1, "a.wav"), ("dog", 2, "b.wav")]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["dgo.wav", "fish.wav"], "dgo \\(did you mean dog\\?\\), fish"),
        (["dog.wav", "dog_1.flac"], "two files are take 1 of 'dog'"),
        (["readme.txt"], "no sound file found"),
    ],
)
def test_what_belongs_to_no_item_is_named(tmp_path: Path, names: list[str], said: str) -> None:
    _touch(tmp_path, *names)
    with pytest.raises(UsageError, match=said):
        take_files(tmp_path, ITEMS)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("name\titem\n", "must name the columns"),
        ("file\titem\nx.wav\tdog\n", "manifest.tsv:2: there is no file 'x.wav'"),
        ("file\titem\ttake\na.wav\tdog\tzwei\n", "'zwei' is not a valid take"),
        ("file\titem\na.wav\n", "manifest.tsv:2: a line names a file and an item"),
        (f"file\titem\ttake\na.wav\tdog\t{'9' * 5000}\n", "is not a valid take"),
        (f"file\titem\na.wav\t{'d' * 200_000}\n", "manifest.tsv:2: a line of 200,006 characters"),
    ],
)
def test_a_faulty_manifest_says_where(tmp_path: Path, manifest: str, said: str) -> None:
    _touch(tmp_path, "a.wav")
    (tmp_path / "manifest.tsv").write_text(manifest, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        take_files(tmp_path, ITEMS)


@pytest.mark.parametrize(
    "name", ["../secret.wav", "/secret.wav", "link.wav", "sub/../../secret.wav"]
)
def test_a_manifest_names_no_file_outside_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "recordings"
    (folder / "sub").mkdir(parents=True)
    _touch(tmp_path, "secret.wav")
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    named = str(tmp_path / "secret.wav") if name.startswith("/") else name
    (folder / "manifest.tsv").write_text(f"file\titem\n{named}\tdog\n", encoding="utf-8")
    with pytest.raises(UsageError, match="outside the folder") as refused:
        take_files(folder, ITEMS)
    assert refused.value.where == f"{folder / 'manifest.tsv'}:2"
    (folder / "manifest.tsv").unlink()
    (folder / "link.wav").rename(folder / "dog.wav")
    with pytest.raises(UsageError, match="outside the folder"):
        take_files(folder, ITEMS)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        take_files(tmp_path / "gone", ITEMS)


def test_a_link_to_itself_is_left_out(tmp_path: Path) -> None:
    _touch(tmp_path, "dog.wav", "notes.txt")
    (tmp_path / "manifest.tsv").symlink_to("manifest.tsv")
    files = take_files(tmp_path, ITEMS)
    assert left_out(tmp_path, files) == (tmp_path / "notes.txt",)


def test_takes_are_sorted_by_item_and_number(tmp_path: Path) -> None:
    _touch(tmp_path, "dog_10.wav", "dog_9.wav")
    assert take_files(tmp_path, ITEMS) == (
        TakeFile("dog", 9, tmp_path / "dog_9.wav"),
        TakeFile("dog", 10, tmp_path / "dog_10.wav"),
    )


def said(*words: str) -> Transcript:
    segments = tuple(Segment(word, 0.5 + n, 1.1 + n, 0.8) for n, word in enumerate(words))
    return Transcript("hears-words", "ok", segments, "words", seconds=4.0)


def test_words_become_phonemes_within_their_stretch() -> None:
    found = pronounced(said("Dog."))
    assert found.phonemes == ("D", "AO", "G")
    times = [(round(one.start_s, 3), round(one.end_s, 3)) for one in found.segments]
    assert times == [(0.5, 0.7), (0.7, 0.9), (0.9, 1.1)]
    assert {one.confidence for one in found.segments} == {0.8}


def test_words_in_no_dictionary_are_named_and_noise_is_noise() -> None:
    found = pronounced(said("treeb", "42", "dog"))
    assert found.phonemes == ("T", "R", "IY", "B", "<spn>", "D", "AO", "G")
    assert json.loads(found.metadata["words_by_letters"]) == ["treeb"]
    assert json.loads(found.metadata["words_unpronounced"]) == ["42"]


KATZE = NamingTarget(target="Katze", accept=accept("K EY T Z"))
TOMATO = NamingTarget(target="tomato", accept=accept("T AH M AA T OW"))
QUOKKA = NamingTarget(target="quokka", accept=accept("K W AA K AH"))
TREE = NamingTarget(target="tree", accept=accept("T R IY"))
SOFA = NamingTarget(
    target="sofa", accept=(*accept("S OW F AH"), Accepted(("K", "AW", "CH"), "other name", "couch"))
)
PINATA = NamingTarget(target="piñata", accept=accept("P IH N Y AA T AH"))
ICE_CREAM = NamingTarget(target="ice cream", accept=accept("AY S K R IY M"))


@pytest.mark.parametrize(
    ("target", "words", "flags"),
    [
        (KATZE, "Katze.", set()),
        (TOMATO, "tomato", set()),  # the dictionary has /eɪ/ first
        (TOMATO, "a tomato", {"carrier"}),
        (TOMATO, "tomatoes", {"number"}),
        (QUOKKA, "quokka", set()),  # in no dictionary
        (QUOKKA, "it's a quokka", {"carrier"}),
        (QUOKKA, "quokkas", {"number"}),
        (SOFA, "um couch", {"filler"}),
        (PINATA, "a pinata", {"carrier"}),
        (PINATA, "pinatas", {"number"}),
        (ICE_CREAM, "ice cream", set()),
        (ICE_CREAM, "Ice-cream", set()),
    ],
)
def test_a_transcribers_word_that_is_a_name_is_right_as_the_same_word_heard(
    target: NamingTarget, words: str, flags: set[str]
) -> None:
    names, transcript = sounds_of_names(target), said(*words.split())
    segments = pronounced(transcript, names).segments
    guessed = guessed_phonemes(transcript, names)
    by_machine = propose_response(target, segments, guessed=guessed)
    by_ear = propose_response(target, heard=parse_heard(words))
    for found in (by_machine, by_ear):
        assert (found.proposal.code, set(found.proposal.flags)) == ("correct", flags)
        assert {verdict.value for verdict in found.verdicts.values()} == {True}


@pytest.mark.parametrize(
    ("target", "word", "candidates", "first", "anywhere"),
    [
        (QUOKKA, "quakka", {"correct", "nonword-related"}, None, None),  # sounds as the name
        (TREE, "treeb", {"nonword-related"}, False, None),
        (QUOKKA, "blorf", {"nonword-unrelated"}, False, False),
    ],
)
def test_a_guessed_pronunciation_is_undecided(
    target: NamingTarget, word: str, candidates: set[str], first: bool | None, anywhere: bool | None
) -> None:
    names, transcript = sounds_of_names(target), said(word)
    found = propose_response(
        target, pronounced(transcript, names).segments, guessed=guessed_phonemes(transcript, names)
    )
    assert (found.proposal.code, set(found.proposal.candidates)) == ("undecided", candidates)
    assert "guessed-sound" in found.proposal.flags
    assert found.verdicts["correct-first"].value is first
    assert found.verdicts["correct-any"].value is anywhere


def test_phonemes_are_left_as_they_are() -> None:
    heard = Transcript("x", "ok", (Segment("D", 0.0, 0.1),))
    assert pronounced(heard) is heard


@pytest.mark.parametrize(
    ("word", "right", "phonemes"),
    [("dog", True, ["D", "AO", "G"]), ("tree", False, ["T", "R", "IY"])],
)
def test_a_word_has_a_verdict_a_distance_and_its_unit(
    tmp_path: Path, plugins: Plugins, word: str, right: bool, phonemes: list[str]
) -> None:
    with Store.open(tmp_path / "words.db") as store:
        battery = setup.find_battery(plugins, str(naming_battery(tmp_path)))
        conditions = setup.resolve(plugins, battery, Conditions("S-1", "speaker", judges=()))
        with create_naming(store, plugins, battery, conditions) as session:
            spoken_in(session).keep(None, RecordingBegan("r1", "r1.wav", "a microphone", 16_000))
            _score(session)
            spoken_in(session).transcribed(1, 1, said(word))
            view = _view(session, 1)
            naming = naming_of(view)
    assert naming.verdicts is not None
    assert naming.verdicts["correct-any"].value is right
    assert naming.distance is not None
    assert (naming.distance.phoneme_rate == 0.0) is right
    document = spoken_json(naming)
    assert document["phonemes"] == phonemes
    assert naming.transcript is not None
    written = transcript_json(naming.transcript)
    assert (written["unit"], written["phonemes"]) == ("words", phonemes)
    assert [one["word"] for one in written["words"]] == [word]

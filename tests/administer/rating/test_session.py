"""One person rates: every answer is kept, nothing is kept twice, nothing tells the source."""

from __future__ import annotations

import random
import re
import sqlite3
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.administer.rating.presentation import CUT, LONGER, PROMPT, REMEDIES, presented, signs_of
from tabwb.administer.rating.presentation import Shown as Presented
from tabwb.administer.rating.session import Draft, RaterSession, Shown
from tabwb.battery.forms import form_from_canonical
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import HeldElsewhere, StoreError, UsageError
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Assignment,
    Presentation,
    RatingSet,
    Sample,
    SampleRating,
    SetEvent,
)
from tabwb.records.speakers import Consent
from tabwb.records.trials import AttemptEntry
from tabwb.store.maintenance import check
from tabwb.store.sets import SavedElsewhere
from tabwb.store.store import Store
from tests.store.parts import FORM, attempt, begin, set_plan

ABSENT = replace(form_from_canonical(FORM), unmarked="absent").canonical


@pytest.fixture
def kept(store: Store) -> RatingSet:
    """Calibration on sample 3, then samples 1 and 2, then sample 1 again."""
    number = begin(store).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    samples = [Sample(n, number, n, 1, f"text {n}", f"prompt {n}") for n in (1, 2, 3)]
    samples[2] = replace(samples[2], consensus={"jargon": 1.0, "anomia": 0.0})
    order = (
        Assignment("R1", 1, 3, "calibration"),
        Assignment("R1", 2, 1),
        Assignment("R1", 3, 2),
        Assignment("R1", 4, 1, "again"),
    )
    return store.sets.create(set_plan("pilot", ABSENT, "two", tuple(samples), order))


def opened(store: Store, plugins: Plugins, **options: object) -> RaterSession:
    """Open the session of a rater who takes 10 seconds for whatever is done."""
    clock = options.pop("clock", count(0.0, 10.0).__next__)
    return RaterSession.open(store, plugins, "pilot", "R1", clock=clock)  # type: ignore[arg-type]


def rows(store: Store) -> list[tuple[int, bool]]:
    return [(row.position, row.complete) for row in store.sets.ratings(1, "R1", every=True)]


def finish(session: RaterSession, anomia: float = 0.0) -> None:
    confirm(session, Draft({"anomia": anomia}, 2, "a note"))


def confirm(session: RaterSession, draft: Draft | None = None, **options: float) -> None:
    """Complete a sample in two steps."""
    for _ in range(2):
        session.finish(draft, **options)
        if session.asked is None:
            break


def test_a_rater_works_through_calibration_samples_and_repeats(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        assert session.shown == Shown("text 3", "prompt 3", "", "", "", True, None)
        confirm(session, Draft({"anomia": 2.0}))
        assert (session.phase, session.right) == ("feedback", {"jargon": 1.0, "anomia": 0.0})
        with pytest.raises(UsageError, match="cannot be changed"):
            session.answer("jargon", 1)
        session.go_on()
        assert session.shown is not None and not session.shown.calibration
        with pytest.raises(UsageError, match=r"not answered yet: Anomia$"):
            session.finish()
        for _ in range(3):
            finish(session, 1.0)
        over: str = session.phase
        assert over == "over"
        assert session.progress.done == session.progress.planned == 4
    kinds = [event.kind for event in store.sets.events(kept.id)]
    assert kinds == ["planned", "begun"]
    first = store.sets.ratings(kept.id)[1]
    assert dict(first.answers) == {"jargon": 0.0, "anomia": 1.0}, "unmarked is absent"
    assert (first.confidence, first.note) == (2, "a note")
    counted = [
        (trial.plan.number, rating.measure, rating.value)
        for trial in store.trials(1)
        for rating in trial.ratings
        if rating.rater == "R1"
    ]
    assert counted == [
        (1, "jargon", 0.0), (1, "anomia", 1.0), (2, "jargon", 0.0), (2, "anomia", 1.0)
    ]  # fmt: skip


def test_a_session_continues_where_it_was_left_with_what_was_answered(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        finish(session)
        session.go_on()
        session.answer("jargon", 1)
        session.keep(replace(session.draft, confidence=3, note="half"))
    with opened(store, plugins) as session:
        assert (session.progress.place, session.progress.done) == (2, 1)
        assert session.draft == Draft({"jargon": 1.0}, 3, "half")
        assert session.missing == ("anomia",)
        session.keep(session.draft)
    assert rows(store) == [(1, True), (2, False), (2, False)], "what did not change is not kept"


def test_undo_takes_back_answers_and_then_completions(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        finish(session)
        session.go_on()
        finish(session, 3.0)
        session.answer("jargon", 1)
        session.answer("jargon", 0)
        assert session.undo() and session.draft.answers == {"jargon": 1.0}
        assert session.undo() and session.draft.answers == {}
        assert [one.sample for one in store.sets.ratings(1)] == [3, 1]
        assert session.undo()
        assert (session.progress.place, session.complete) == (2, False)
        assert session.draft.answers == {"anomia": 3.0}, "jargon was not looked at"
        assert [one.sample for one in store.sets.ratings(1)] == [3], "it counts no more"
        assert not session.undo(), "the calibration sample stays as it was answered"


def test_back_shows_a_finished_sample_and_a_change_counts_when_it_is_finished_again(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        finish(session)
        session.go_on()
        finish(session, 3.0)
        assert session.back() and session.complete
        session.finish()
        assert session.progress.place == 3, "looked at, and nothing kept"
        session.back()
        session.answer("anomia", 0)
        assert store.sets.ratings(1)[1].answers["anomia"] == 3.0
        confirm(session)
        assert store.sets.ratings(1)[1].answers["anomia"] == 0.0
        session.back()
        assert session.back() and session.phase == "feedback"
        assert not session.back()
    assert rows(store) == [(1, True), (2, True), (2, False), (2, True)]


def test_seconds_leave_pauses_out_and_add_up_over_visits(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    at = 100.0
    with opened(store, plugins, clock=lambda: at) as session:
        at += 5
        session.pause()
        at += 500
        session.resume()
        at += 2
        session.answer("jargon", 1)
    with opened(store, plugins, clock=lambda: at) as session:
        at += 3
        session.finish(Draft({"jargon": 1.0, "anomia": 0.0}))
        session.go_on()
        session.answer("jargon", 1)
        at += 9000
        session.undo(seconds=1.0)
        session.finish(Draft({"jargon": 1.0, "anomia": 0.0}), seconds=1.5)
    assert [row.seconds for row in store.sets.ratings(1)] == [10.0, 2.5]


def test_a_second_window_of_a_rater_gets_one_clear_message(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins), pytest.raises(HeldElsewhere) as refused:
        opened(store, plugins)
    assert refused.value.message.startswith("rating set 'pilot' is open for rater R1 in process ")
    opened(store, plugins).close()


def test_who_is_not_a_rater_or_comes_after_the_end_is_refused(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with pytest.raises(UsageError, match="'R9' is not a rater of rating set 'pilot'"):
        RaterSession.open(store, plugins, "pilot", "R9")
    store.sets.log(kept.id, SetEvent("closed"))
    with pytest.raises(StoreError, match="'pilot' is closed"):
        opened(store, plugins)


@pytest.mark.parametrize("was_kept", [True, False])
def test_an_answer_whose_reply_was_lost_is_kept_once(
    store: Store, plugins: Plugins, kept: RatingSet, monkeypatch: pytest.MonkeyPatch, was_kept: bool
) -> None:
    rate = store.sets.rate

    def lose(set_id: int, rating: SampleRating) -> SampleRating:
        if was_kept:
            rate(set_id, rating)
        raise StoreError("the connection is gone")

    with opened(store, plugins) as session:
        with monkeypatch.context() as patch:
            patch.setattr(store.sets, "rate", lose)
            with pytest.raises(StoreError, match="gone"):
                session.answer("jargon", 1)
        assert session.draft.answers == {}, "it is shown as not saved"
        session.answer("jargon", 1)
        finish(session)
    answers = [row.answers for row in store.sets.ratings(1, every=True)]
    assert answers == [{"jargon": 1.0}, {"anomia": 0.0, "jargon": 0.0}]


def test_an_answer_of_another_program_is_not_overwritten(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        store.sets.rate(kept.id, SampleRating("R1", 1, 3, "calibration", {"jargon": 1}, False))
        for _ in range(2):
            with pytest.raises(SavedElsewhere):
                session.answer("jargon", 0)
    assert [row.answers for row in store.sets.ratings(1, every=True)] == [{"jargon": 1.0}]


def test_a_sample_of_a_speaker_who_does_not_agree_to_rating_is_not_shown(
    store: Store, plugins: Plugins, tmp_path: Path
) -> None:
    numbers = []
    for speaker in ("S-1", "S-2"):
        numbers.append(begin(store, conditions=Conditions(speaker, "speaker")).id)
        store.append(numbers[-1], [AttemptEntry(1, attempt())])
        store.people.keep_consents([Consent(speaker, "rate", True, "2026-11-01")])
    samples = tuple(Sample(at, number, 1, 1, "t", "p") for at, number in enumerate(numbers, 1))
    order = tuple(Assignment("R1", at, at) for at in (1, 2))
    store.sets.create(set_plan("pilot", ABSENT, "two", samples, order))
    store.people.keep_consents([Consent("S-1", "rate", False, "2026-11-02")])
    for _ in range(2):
        with opened(store, plugins) as session:
            assert (session.progress.place, session.progress.withheld) == (2, 1)
    acts = [(one.act, one.speaker, one.administration, one.detail)
            for one in store.people.log_entries() if one.act == "rated"]  # fmt: skip
    assert acts == [("rated", "S-2", 2, "R1")]


def test_guidelines_are_recorded_as_read_once(
    store: Store, plugins: Plugins, kept: RatingSet
) -> None:
    with opened(store, plugins) as session:
        assert not session.guidelines_read
        session.read_guidelines()
        session.read_guidelines()
    with opened(store, plugins) as session:
        assert session.guidelines_read
    with sqlite3.connect(str(store.embedded)) as connection:
        (count,) = connection.execute(
            "SELECT count(*) FROM set_events WHERE kind = 'guidelines-read'"
        ).fetchone()
    assert count == 1


def test_a_sample_whose_speaker_is_deleted_meanwhile_is_gone(
    store: Store, plugins: Plugins
) -> None:
    number = begin(store, conditions=Conditions("S-1", "speaker")).id
    model = begin(store).id
    for each in (number, model):
        store.append(each, [AttemptEntry(1, attempt())])
    samples = (Sample(1, number, 1, 1, "t", "p"), Sample(2, model, 1, 1, "other", "p"))
    order = tuple(Assignment("R1", at, at) for at in (1, 2))
    store.sets.create(set_plan("pilot", ABSENT, "two", samples, order))
    with opened(store, plugins) as session:
        with Store.open(store.location) as other:
            other.people.delete_speaker("S-1", "withdrawn")
        with pytest.raises(UsageError, match="its speaker was deleted"):
            session.answer("jargon", 1)
        assert session.shown is not None and session.shown.text == "other"
        finish(session)
        assert session.progress.done == session.progress.planned == 1


PLAIN = Presentation("lower", "none")
WORDS = st.lists(st.from_regex(r"[a-z]{1,8}('[a-z]{1,2})?", fullmatch=True), min_size=1)


def as_a_model_writes(words: list[str]) -> str:
    """Return words as language models write: a list with bold words and curly quotes."""
    curly = [word.replace("'", "’") for word in words]
    return "\n\n".join(f"{n}. **{word.capitalize()}** —" for n, word in enumerate(curly, start=1))


@given(WORDS)
def test_the_strictest_policy_shows_a_transcript_and_a_models_page_alike(words: list[str]) -> None:
    assert presented(" ".join(words), PLAIN) == presented(as_a_model_writes(words), PLAIN)


@given(st.text())
def test_a_shown_text_is_one_line_and_showing_it_again_changes_nothing(text: str) -> None:
    for policy in (PLAIN, Presentation(), Presentation("lower"), Presentation("as-said", "none")):
        once = presented(text, policy)
        assert len(once.splitlines()) <= 1 and once == once.strip()
        assert presented(once, policy) == once


@given(WORDS, st.integers(1, 12))
def test_words_beyond_the_limit_are_cut_with_the_same_mark_for_all(
    words: list[str], most: int
) -> None:
    policy = Presentation("lower", "none", max_words=most)
    shown = presented(" ".join(words), policy)
    assert shown.removesuffix(f" {CUT}").split() == words[:most]
    assert shown.endswith(CUT) == (len(words) > most)
    # A text that a model's token limit ended has the same mark, once.
    assert presented(" ".join(words), policy, cut=True).count(CUT) == 1


@pytest.mark.parametrize(
    ("text", "policy", "shown"),
    [
        ("I want a ca- cat.", PLAIN, "i want a ca- cat"),
        ("the kids' self-made kite's", PLAIN, "the kids' self-made kite's"),
        ("It was a _ you know", PLAIN, "it was a _ you know"),
        ("# My trip\n\n* We *left* at 3.", Presentation(), "My trip We left at 3."),
        ("“Well”—he said…", Presentation(), '"Well" - he said...'),
        ("--0", Presentation(), "0"),
        (
            "I see a kite .  It flies , I think ...",
            Presentation(),
            "I see a kite. It flies, I think ...",
        ),
        ("no\u200bwhere\u00a0else", Presentation(), "nowhere else"),
        ("2 * 3 * 4, 3*4*5", Presentation(), "2 * 3 * 4, 3*4*5"),
    ],
)
def test_what_raters_judge_is_kept_and_typesetting_is_made_alike(
    text: str, policy: Presentation, shown: str
) -> None:
    assert presented(text, policy) == shown


def test_signs_that_tell_the_source_are_counted_with_their_remedy() -> None:
    people = [Presented("i went home", "Hello", False)] * 4
    models = [Presented("I went home.", "Hello", True), Presented("We w [cut]", "Hello", True)] * 2
    found = {sign.name: sign for sign in signs_of([*people, *models])}
    assert (found["capital letters"].people, found["capital letters"].models) == (0, 4)
    assert (found[CUT].people, found[CUT].models, found[CUT].tells) == (0, 2, True)
    assert REMEDIES.keys() == found.keys()
    assert not (found[LONGER].tells or found[PROMPT].tells)
    assert signs_of(models) == ()


def test_lengths_and_prompts_of_one_source_tell_it_too() -> None:
    people = [Presented("a b c d", "Your stroke?", False), Presented("a b c", "Your job?", False)]
    models = [Presented("a b", "Your job?", True), Presented("a", "Your trip?", True)]
    found = {sign.name: sign for sign in signs_of([*people, *models])}
    assert (found[LONGER].people, found[LONGER].models) == (2, 0)
    # As many of each have their own prompt: the difference is 0, and yet both are told.
    assert (found[PROMPT].people, found[PROMPT].models, found[PROMPT].tells) == (1, 1, True)


@settings(max_examples=20)
@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=2, max_size=8))
def test_no_sign_is_left_after_the_strictest_policy(texts: list[tuple[list[str], bool]]) -> None:
    policy = Presentation("lower", "none", cut_mark=False)
    shown = [
        Presented(
            presented(as_a_model_writes(words) if model else " ".join(words), policy), "", model
        )
        for words, model in texts
    ]
    signs = [sign for sign in signs_of(shown) if sign.name != LONGER]
    assert not any(sign.people or sign.models for sign in signs)
    assert not any(re.search(r"[^a-z' ]", one.text) for one in shown)


PLACES = {2: 1, 3: 2, 5: 3}
"""Positions whose rating counts in results, and the trial of each."""
ORDER = (
    Assignment("R1", 1, 4, "calibration"),
    Assignment("R1", 2, 1),
    Assignment("R1", 3, 2),
    Assignment("R1", 4, 1, "again"),
    Assignment("R1", 5, 3),
)


def prepared(store: Store) -> None:
    number = begin(store, 4).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in range(1, 5)])
    samples = [Sample(n, number, n, 1, f"text {n}", "prompt") for n in range(1, 4)]
    samples.append(Sample(4, number, 4, 1, "text 4", "prompt", consensus={"jargon": 1.0}))
    store.sets.create(set_plan("pilot", FORM, "two", tuple(samples), ORDER))


def step(session: RaterSession, draw: random.Random) -> None:
    """Do one thing; what cannot be done now is refused and changes nothing."""
    jargon, anomia = draw.choice([0, 1, None, CANNOT_TELL]), draw.choice([0, 1, 2, None])
    full = Draft({"jargon": float(draw.randrange(2)), "anomia": float(draw.randrange(5))}, 2, "n")
    acts = (
        lambda: session.answer("jargon", jargon),
        lambda: session.answer("anomia", anomia),
        lambda: session.keep(full),
        session.finish,
        lambda: session.finish(full),
        session.back,
        session.undo,
        session.undo,
        lambda: session.go_on() if session.phase == "feedback" else None,
    )
    try:
        draw.choice(acts)()
    except UsageError:
        return


def counting(rows: tuple[SampleRating, ...]) -> dict[int, SampleRating]:
    """A second derivation: of each position the last complete row that was not taken back."""
    counts: dict[int, SampleRating] = {}
    for row in rows:
        if row.complete:
            counts[row.position] = row
        elif row.taken_back:
            del counts[row.position]
    return counts


def expected(row: SampleRating | None) -> dict[str, float]:
    """What results count of a row: the form cuts anomia at 1, and nobody counts *cannot tell*."""
    given = {} if row is None else row.answers
    found = {key: value for key, value in given.items() if isinstance(value, float)}
    return {key: float(value >= 1) for key, value in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_what_counts_follows_from_the_rows_whatever_is_done(
    tmp_path: Path, plugins: Plugins, seed: int
) -> None:
    draw = random.Random(seed)
    with Store.open(tmp_path / "s.db") as store:
        prepared(store)
        for _ in range(5):
            clock = count(0.0, 10.0).__next__
            with RaterSession.open(store, plugins, "pilot", "R1", clock=clock) as session:
                for _ in range(12):
                    step(session, draw)
                rows = store.sets.ratings(1, "R1", every=True)
                last = {row.position: row for row in rows}
                counts = counting(rows)
                assert {row.position: row for row in store.sets.ratings(1)} == counts
                assert session.progress.done == sum(row.complete for row in last.values())
                replaced = [row.replaces for row in rows if row.replaces]
                assert len(set(replaced)) == len(replaced) == len(rows) - len(last)
                for position, trial in PLACES.items():
                    ratings = store.trials(1)[trial - 1].ratings
                    found = {one.measure: one.value for one in ratings if one.value is not None}
                    assert found == expected(counts.get(position))
                assert store.trials(1)[3].ratings == (), "nothing of a calibration sample"
    assert check(tmp_path / "s.db") == ()

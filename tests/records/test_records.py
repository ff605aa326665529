"""Records: ids, ratings, attempts, titles and tags, specs, languages, texts in tables."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import uuid
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.media.views.typed import sectioned_view
from tabwb.media.wording import between, interval_words, signed
from tabwb.records.columns import Column, ends_of
from tabwb.records.conditions import (
    Conditions,
    compared,
    conditions_from,
    conditions_of,
    default_text,
    described,
    document_of,
)
from tabwb.records.declared_conditions import CONDITIONS, SUBJECT, Audience, ConditionError
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.languages import is_english, not_available, primary_language, tag_problem
from tabwb.records.naming import (
    Coded,
    Cued,
    ExaminerSpoke,
    Heard,
    Marked,
    Observation,
    OnsetSet,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    RePrompted,
    Revealed,
    Scored,
    Take,
    TextSet,
    Transcribed,
    observation_of_json,
    observation_to_json,
    transcripts_of,
    undoable_observation,
)
from tabwb.records.ratings import Rating, fits_kind, undefined, valued
from tabwb.records.speakers import README, session_day, session_line
from tabwb.records.specs import Spec, mixed, parse_spec, reply_seed, seed_of, uuid7
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import (
    AttemptState,
    Protocol,
    RatingStatus,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import (
    Attempt,
    Marks,
    PlannedTrial,
    Trial,
    changes,
    check_tag,
    check_title,
    marks_of,
)
from tabwb.records.words import csv_text
from tabwb.scoring.estimate import Estimand, EstimatedInterval, Interval
from tabwb.tables.table import table_of


def test_uuid7_has_version_variant_and_time() -> None:
    made = uuid.UUID(uuid7(1_700_000_000_123))
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 == 1_700_000_000_123


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_ratings_value_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        valued("r", "m", value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, int])
def test_numbers_of_every_type_are_compared_as_floats(kind: type[Any]) -> None:
    assert fits_kind(kind(1), "verdict") and fits_kind(kind(3), "count")
    assert fits_kind(kind(3), "number") and not fits_kind(kind(3), "share")


def test_a_rating_has_a_value_exactly_when_it_says_so() -> None:
    assert valued("choice", "exact", True).value == 1.0
    assert undefined("rules-1", "anomia", "nothing was said").value is None
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", None, RatingStatus.VALUE)
    with pytest.raises(ValueError, match="exactly when"):
        Rating("choice", "exact", 0.0, RatingStatus.UNDEFINED)


def _attempt(number: int, state: AttemptState) -> Attempt:
    return Attempt(number, f"answer {number}", state, ResponseStatus.OK, StopReason.END, 0.1)


def test_the_last_attempt_in_state_ok_counts() -> None:
    plan = PlannedTrial(1, "s", "i", 0, (), "prompt")
    attempts = (
        _attempt(1, AttemptState.OK),
        _attempt(2, AttemptState.OK),
        _attempt(3, AttemptState.ERROR),
    )
    counting = Trial(plan, TrialState.ANSWERED, attempts).counting
    assert counting is not None
    assert counting.number == 2
    assert Trial(plan, TrialState.PLANNED, attempts[2:]).counting is None


def test_transcripts_are_those_of_the_response_that_counts_and_errors_hide_none() -> None:
    plan = PlannedTrial(1, "s", "i", 0, (), "prompt")
    attempts = (_attempt(1, AttemptState.OK), _attempt(2, AttemptState.OK))

    def by(who: str, attempt: int, label: str) -> str:
        heard = (Segment(label, 0.0, 0.0),) if label else ()
        transcript = Transcript(who, "ok" if label else "error", heard)
        return observation_to_json(Transcribed(attempt, transcript))

    seen = (
        by("manual:R1", 1, "B"), by("ear", 1, "B"), by("manual:R1", 2, "D"),
        by("manual:R2", 2, "G"), by("ear", 2, "D"), by("ear", 2, ""), by("deaf", 2, ""),
    )  # fmt: skip
    typed, machines = transcripts_of(Trial(plan, TrialState.ANSWERED, attempts, observations=seen))
    assert typed is not None and typed.phonemes == ("G",)
    found = {name: (each.status, each.phonemes) for name, each in machines.items()}
    assert found == {"ear": ("ok", ("D",)), "deaf": ("error", ())}


tags = st.sampled_from(["a", "b", "c"])


@given(first=st.lists(tags), add=st.lists(tags), title=st.sampled_from(["", "T"]))
def test_the_events_of_a_change_give_what_was_asked_for(
    first: list[str], add: list[str], title: str
) -> None:
    before = Marks("old", tuple(dict.fromkeys(first)))
    events = [("titled", "old"), *(("tagged", tag) for tag in before.tags)]
    assert marks_of(events) == before
    made = changes(before, title=title, add=add, remove=before.tags[:1])
    after = marks_of([*events, *((event.kind, event.text) for event in made)])
    assert after.title == title
    assert set(after.tags) == {*before.tags, *add} - {*before.tags[:1]}


def test_what_is_so_already_needs_no_event() -> None:
    assert changes(Marks("T", ("a",)), title="T", add=["a"]) == ()
    assert changes(Marks("T", ("a",))) == ()


def test_a_tag_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(UsageError, match="no tag 'pilt'; did you mean 'pilot'"):
        changes(Marks(tags=("pilot",)), remove=["pilt"])


@pytest.mark.parametrize("tag", ["", " ", "a b", "a,b", "a\nb", "x" * 65])
def test_a_tag_is_one_word(tag: str) -> None:
    with pytest.raises(UsageError, match="cannot be a tag"):
        check_tag(tag)


def test_a_title_is_one_line() -> None:
    assert check_title(" First try ") == "First try"
    with pytest.raises(UsageError, match="cannot be a title"):
        check_title("a\nb")


def test_ends_differ_and_are_right_to_their_last_place() -> None:
    rng = np.random.default_rng(1)
    for low, width in zip(rng.random(300), 10 ** rng.uniform(-3.9, 0, 300), strict=True):
        first, second = ends_of(float(low), float(low + width), 2)
        assert first != second
        places = len(first.split(".")[1])
        assert abs(float(first) - low) <= 0.5 * 10**-places + 1e-12
        assert places == 2 or f"{low:.{places - 1}f}" == f"{low + width:.{places - 1}f}"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.0, 0.0018, "0.000-0.002"), (0.9985, 1.0, "0.999-1.000"), (0.0, 0.00001, "0.0000-<0.0001"),
     (0.5, 0.5, "0.50-0.50")],
)  # fmt: skip
def test_words_of_intervals(low: float, high: float, shown: str) -> None:
    assert between(Interval(low, high)) == shown


def test_nothing_is_minus_zero() -> None:
    assert signed(-0.001) == "0.00" and signed(-0.4) == "-0.40"
    assert between(Interval(0.0, 0.004)) == "0.000-0.004"
    given = EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, Interval(-0.004, 0.2))
    assert interval_words(given) == "0.00 to +0.20"
    assert Column("d", "D", "a difference", "number", digits=2).format(-0.001) == "0.00"


def test_a_value_has_the_places_of_its_interval() -> None:
    columns = [Column(name, "X", "x", "number", digits=2) for name in ("x", "x_low", "x_high")]
    made = table_of("t", columns, [(0.0012, 0.0, 0.0018), (0.3, 0.1, 0.5)])
    lines = sectioned_view(made, [], 80).plain.splitlines()[2:4]
    assert [line.split() for line in lines] == [["0.001", "0.000-0.002"], ["0.30", "0.10-0.50"]]


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://a")', "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(csv_text(["a"], [[text]]), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("value", [-1.5, 3, "-1.5", "+2", "word", "", "a=b", True])
def test_numbers_and_other_texts_stay(value: object) -> None:
    (_, (cell,)) = csv.reader(io.StringIO(csv_text(["a"], [[value]]), newline=""))
    assert cell == str(value)


@pytest.mark.parametrize(
    "tag",
    ["en", "de", "EN", "de-AT", "pt-BR", "es-419", "zh-Hant-TW", "sr-Latn", "sl-rozaj-biske",
     "de-1996", "en-x-clinic", "en-u-co-phonebk", "gsw", "yue", "nb", "de-DE"],
)  # fmt: skip
def test_a_tag_of_bcp_47(tag: str) -> None:
    assert tag_problem(tag) is None


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("english", "en"), ("English", "en"), ("German", "de"), ("Deutsch", "de"),
        ("français", "fr"), ("deutch", "de"), ("eng", "en"), ("ger", "de"), ("deu-AT", "de-AT"),
        ("en_US", "en-US"), ("en-UK", "en-GB"), ("en-EN", "en"), ("de-deu", "de"),
        ("de,de", "de"), ("de, en", "de"), ("en en", "en"), ("zh-yue", "yue"), ("jp", "ja"),
        ("日本語", "ja"), ("de-1996-1996", "de"), ("xx", ""), ("", ""), ("123", ""),
        ("klingon", ""),
    ],
)  # fmt: skip
def test_what_is_no_tag_of_a_language_is_refused_with_the_one_meant(tag: str, meant: str) -> None:
    problem = tag_problem(tag)
    assert problem is not None
    assert problem[1] == meant


def test_the_language_of_a_tag() -> None:
    tags = ("de-AT", "DE", "ger", "German", "gsw", "en_US", "")
    assert [primary_language(tag) for tag in tags] == ["de", "de", "de", "de", "gsw", "en", ""]
    assert [is_english(tag) for tag in ("en", "EN-gb", "english", "enm", "de")] == [
        *(True, True, True, False, False)
    ]
    assert not_available("de-CH") == "not available in de"


@pytest.mark.parametrize(
    ("days", "file", "day"),
    [
        ({1: "2026-03-09"}, "tab_S_1.eaf", "2026-03-09"),
        ({1: "2026-03-09", 12: "2026-03-16"}, "tab_S_12.eaf", "2026-03-16"),
        ({1: "2026-03-09", 12: "2026-03-16"}, "other.eaf", ""),
        ({1: "2026-03-09", 12: ""}, "tab_S_12.eaf", ""),
        ({1: "2026-03-09", 12: ""}, "tab_S_1_dog.eaf", "2026-03-09"),
        ({2: "2026-03-09", 3: ""}, "tab_S_3.eaf", ""),
        ({2: "2026-03-09", 3: ""}, "", ""),
        ({2: "2026-03-09", 3: "2026-03-09"}, "", "2026-03-09"),
    ],
)
def test_a_session_has_the_day_of_its_own_line(
    tmp_path: Path, days: dict[int, str], file: str, day: str
) -> None:
    lines = (session_line("S", number, known) for number, known in days.items())
    (tmp_path / README).write_text("\n\n".join(lines), encoding="utf-8")
    assert session_day(tmp_path / file) == day


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bundled", Spec("bundled")),
        ("gemini:gemini-2.5-flash", Spec("gemini", "gemini-2.5-flash")),
        (
            "openai:llama3.2:1b@base_url=http://localhost:11434/v1",
            Spec("openai", "llama3.2:1b", {"base_url": "http://localhost:11434/v1"}),
        ),
        ("echo@delay=0.005", Spec("echo", None, {"delay": "0.005"})),
        ("replay:someone@home.jsonl", Spec("replay", "someone@home.jsonl")),
        (
            "tab-2026:transformers:ID@dtype=bfloat16,seed=3",
            Spec("tab-2026", "transformers:ID", {"dtype": "bfloat16", "seed": "3"}),
        ),
    ],
)
def test_a_spec_is_read_as_the_design_says(text: str, expected: Spec) -> None:
    assert parse_spec(text) == expected
    assert str(parse_spec(text)) == text


@pytest.mark.parametrize("text", ["", "  ", ":x", "Echo", "echo:", "echo@delay=1,", "echo@a=1,a=2"])
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    assert f"'{text}'" in str(caught.value)


@given(
    identifier=st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True),
    name=st.none() | st.text("abc:@/. -_", min_size=1).filter(lambda n: n == n.strip()),
    options=st.dictionaries(
        st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True),
        st.text("abc=:/.-@", max_size=8),
        max_size=3,
    ),
)
def test_every_spec_survives_the_round_trip(
    identifier: str, name: str | None, options: dict[str, str]
) -> None:
    spec = Spec(identifier, name, options)
    # An at-sign before the options that is followed by "key=" opens them there: no such name.
    if name is not None and "@" in name and "=" in str(spec):
        return
    assert parse_spec(str(spec)) == spec


PARTS = st.lists(st.one_of(st.text(), st.integers(), st.lists(st.text())), max_size=4)


@given(PARTS)
def test_every_seed_fits_a_signed_32_bit_number(parts: list[object]) -> None:
    assert 0 <= seed_of(*parts) <= 2**31 - 1


@given(PARTS, PARTS)
def test_different_parts_have_different_seeds(one: list[object], other: list[object]) -> None:
    assert (seed_of(*one) == seed_of(*other)) == (one == other)


def test_the_seed_is_the_first_31_bits_of_sha256_of_a_json_array() -> None:
    digest = hashlib.sha256('["tabwb-reply-1",1,"tab","s","i",0,1,["ä"],[]]'.encode()).hexdigest()
    assert reply_seed(1, "tab", "s", "i", 0, 1, options=["ä"]) == int(digest[:8], 16) >> 1


def test_an_option_of_the_back_end_keeps_replies_apart() -> None:
    assert len({mixed(seed, 9) for seed in range(1000)}) == 1000


seconds = st.floats(0, 1e5, allow_nan=False)
words = st.text(max_size=12)
numbers = st.integers(0, 99)
segments = st.builds(Segment, words, seconds, seconds, st.none() | st.floats(0, 1))
transcripts = st.builds(
    Transcript,
    transcriber=words,
    status=st.sampled_from(["ok", "empty", "error"]),
    segments=st.lists(segments, max_size=4).map(tuple),
    unit=st.sampled_from(["phonemes", "words"]),
    seconds=seconds,
    dropped=st.dictionaries(words, numbers, max_size=3),
    accepted_likelihood=st.none() | st.floats(-1e3, 0),
    error=words,
    metadata=st.dictionaries(words, words, max_size=3),
)
several = st.lists(words, max_size=3).map(tuple)
observations = st.one_of(
    st.builds(RecordingBegan, words, words, words, numbers),
    st.builds(RecordingEnded, words, words, seconds, words),
    st.builds(PictureShown, words, st.none() | seconds, st.none() | seconds),
    st.builds(Cued, numbers, words, st.booleans(), st.none() | seconds),
    st.builds(RePrompted, st.none() | seconds),
    st.builds(Marked, seconds),
    st.builds(ExaminerSpoke, seconds, seconds),
    st.builds(OnsetSet, numbers, seconds, words),
    st.builds(Scored, numbers, st.sampled_from(["right", "error"]), words, words, st.booleans()),
    st.builds(Heard, numbers, words, words, several, words),
    st.builds(Coded, numbers, words, words, several),
    st.builds(Revealed, numbers),
    st.builds(Transcribed, numbers, transcripts),
    st.builds(TextSet, numbers, words, words, words, words),
)


@given(observations)
def test_what_is_kept_comes_back_equal(observation: Observation) -> None:
    text = observation_to_json(observation)
    assert "\n" not in text
    assert observation_of_json(text) == observation


@given(
    st.builds(Take, words.filter(bool), seconds, seconds, *[st.none() | seconds] * 3, words, words)
)
def test_a_take_comes_back_from_an_attempts_strings_equal(take: Take) -> None:
    assert Take.of_metadata(take.to_metadata()) == take


def test_latency_is_from_the_picture_to_the_onset() -> None:
    assert Take("r", 10.0, 14.0, shown_s=10.5, onset_s=11.25).latency_s == 0.75
    assert Take("r", 10.0, 14.0, onset_s=11.25).latency_s is None


def test_what_the_machine_or_the_microphone_did_is_not_taken_back() -> None:
    kept: list[Observation] = [
        Revealed(1),
        RecordingBegan("r", "f", "d", 1),
        PictureShown(),
        RecordingEnded("r", "", 1),
    ]
    for observation in kept:
        assert undoable_observation(observation_to_json(observation)) is None
    assert undoable_observation(observation_to_json(Scored(1, "right", "R1"))) == "score"


@pytest.mark.parametrize("text", ["{}", '{"what":"sung"}', '{"what":"marked","at":1}', "[1]", "no"])
def test_what_cannot_be_read_is_said_to_be_damaged(text: str) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        observation_of_json(text)


def test_segments_take_little_room() -> None:
    transcript = Transcript("t", "ok", (Segment("D", 0.1, 0.2, 0.9),))
    plain = json.loads(observation_to_json(Transcribed(1, transcript)))
    assert plain["transcript"]["segments"] == [["D", 0.1, 0.2, 0.9]]


def test_every_field_of_the_record_is_declared() -> None:
    places = {condition.place for condition in CONDITIONS}
    assert {name for record, name in places if not record} | SUBJECT == {
        field.name for field in fields(Conditions)
    }
    # The sampler's seed is the seed of the administration.
    assert {name for record, name in places if record == "decoding"} | {"seed"} == {
        field.name for field in fields(Decoding)
    }


def test_the_text_of_every_default_reads_as_the_default() -> None:
    values = {
        condition.id: condition.read(default_text(condition))
        for condition in CONDITIONS
        if condition.field is not None and "model" in condition.given_to
    }
    assert conditions_of("echo", "model", values) == conditions_of("echo", "model", {})
    assert conditions_of("echo", "model", {}) == Conditions(
        "echo", "model", judges=("rules",), decoding=Decoding(seed=1)
    )


def test_a_person_who_names_aloud_is_given_no_judges() -> None:
    conditions = conditions_of("S-014", "spoken", {"transcriber": "none", "rater": "R7"})
    assert (conditions.kind, conditions.judges, conditions.transcriber) == ("speaker", (), None)
    assert conditions.rater == "R7"
    assert conditions_of("S-014", "spoken", {}).transcriber == "bundled-words"


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("seed", 2**54),
        ("replicates", 0),
        ("temperature", float("nan")),
        ("top_p", 0.0),
        ("protocol", "guess"),
        ("stop", ("",)),
        ("judges", ("none", "rules")),
        ("research_protocol", "IRB-7"),
        ("transcriber", "bundled-words"),
    ],
)
def test_an_error_names_its_condition(condition: str, value: Any) -> None:
    with pytest.raises(ConditionError) as caught:
        conditions_of("echo", "model", {condition: value})
    assert caught.value.condition.id == condition


def test_conditions_come_back_equal_from_plain_data() -> None:
    given = conditions_of(
        "echo", "model", {"seed": 5, "stop": ("a", "b"), "protocol": Protocol.ENFORCED}
    )
    assert conditions_from(asdict(given)) == given


def test_data_of_an_earlier_version_has_the_values_from_before() -> None:
    data = asdict(Conditions("echo", "model"))
    del data["token_limits"], data["rater"]
    assert conditions_from(data) == Conditions("echo", "model", token_limits="smaller")


def test_a_document_has_no_decoding_of_a_person_and_no_one_limit_of_the_battery() -> None:
    assert document_of(Conditions("S-014", "speaker"))["decoding"] is None
    decoding = document_of(conditions_of("echo", "model", {"seed": 9}))["decoding"]
    assert (decoding["max_tokens"], decoding["token_limits"]) == (None, "battery")
    assert decoding["seed"] == 9
    limited = document_of(conditions_of("echo", "model", {"max_tokens": 40}))["decoding"]
    assert (limited["max_tokens"], limited["token_limits"]) == (40, "run")


def test_the_order_of_items_is_compared_only_in_one_conversation() -> None:
    shuffled = Conditions("echo", "model", item_order="shuffled")
    assert "items" not in compared(shuffled)
    assert described(shuffled)["items"] == "shuffled"
    assert compared(Conditions("echo", "model", conversation=True))["items"] == "as-given"


@pytest.mark.parametrize(
    ("audience", "name", "value", "whom"),
    [
        ("model", "research_protocol", "IRB-7", "people"),
        ("typed", "temperature", 1.0, "models"),
        ("spoken", "replicates", 2, "models and people who type"),
    ],
)
def test_a_condition_that_does_not_apply_says_to_whom_it_does(
    audience: Audience, name: str, value: object, whom: str
) -> None:
    with pytest.raises(ConditionError, match=f"applies only to {whom}$"):
        conditions_of("echo", audience, {name: value})

"""Ratings of tables, rating sets, administrations and naming sessions become the same arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabwb.analysis.agreement import Choices, agreement_of
from tabwb.analysis.ratings import Gathered, read_ratings
from tabwb.analysis.statistics.naming import heard_in
from tabwb.analysis.stored_ratings import gather_heard, rated_administrations, rated_set
from tabwb.battery.forms import Form, Question
from tabwb.battery.loader import load_battery
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import Coded, Heard, Observation, Scored, Transcribed, observation_to_json
from tabwb.records.rating_sets import CANNOT_TELL, Adjudication, Assignment, SampleRating
from tabwb.records.ratings import Declaration, Judged, Judgement, undefined, valued
from tabwb.records.states import AttemptState, ResponseStatus, StopReason, TrialState
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    PlannedTrial,
    RatingsEntry,
    Trial,
)
from tabwb.store.store import Store
from tests.administer.naming_parts import heard as transcript
from tests.administer.naming_parts import naming_battery
from tests.analysis.given import data_of
from tests.analysis.rating_parts import HEAD, rated, written
from tests.cli.conftest import ANSWERS, TAB
from tests.store import parts


def test_values_become_verdicts_and_everything_else_is_missing(tmp_path: Path) -> None:
    rows = [
        ("a", "R2", "jargon", "present"),
        ("a", "R10", "jargon", 0),
        ("b", "R2", "jargon", ""),
        ("b", "R10", "jargon", "cannot-tell"),
        ("a", "rules-2", "jargon", 1),
        ("a", "adjudicated", "jargon", 1),
    ]
    found = rated(tmp_path, rows)
    assert found.raters == ("R2", "R10", "rules-2") and found.judges == {"rules-2"}
    assert found.verdicts[..., 0].tolist() == [[1, -1], [0, -2], [1, -1]]
    assert found.adjudicated is not None and found.adjudicated[:, 0].tolist() == [1, -1]


def test_a_spreadsheets_file_is_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(
        "\ufeffrater;value;response;measure;remark\r\nR1;1;a;jargon;x\r\n;;;\r\nR2;0;a;jargon\r\n"
        .encode()
    )  # fmt: skip
    assert read_ratings(path).verdicts.tolist() == [[[1]], [[0]]]


def test_kinds_of_measures_follow_from_their_values(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "anomia", 3), ("a", "R1", "code", "semantic"), ("a", "R1", "jargon", 1),
        ("a", "R1", "phonemes", "D AO G"), ("a", "R1", "heard", "dog"),
        ("a", "R2", "heard", "Dog"),
    ]  # fmt: skip
    found = rated(tmp_path, rows)
    kinds = {one.measure.id: one.measure.kind for one in found.others}
    assert kinds == {"anomia": "scale", "code": "choice", "phonemes": "phonemes", "heard": "text"}
    assert next(one.words for one in found.others if one.measure.kind == "text") == ("dog",)
    assert [feature.id for feature in found.features] == ["jargon"]
    as_codes = rated(tmp_path, rows, kinds={"jargon": "choice"})
    assert not as_codes.features


def test_later_occasions_and_speakers(tmp_path: Path) -> None:
    rows = [
        ("a", "R1", "jargon", 1, "second", "P1"),
        ("a", "R1", "jargon", 0, "first", "P1"),
        ("b", "R1", "jargon", 1, "first", "P1"),
        ("c", "R1", "jargon", 1, "first", ""),
        ("d", "R1", "jargon", 1, "first", ""),
    ]
    found = rated(tmp_path, rows, HEAD + ",occasion,speaker")
    assert found.verdicts[0, :, 0].tolist() == [1, 1, 1, 1]  # what stands first in the file counts
    assert found.again[0][0, :, 0].tolist() == [0, -1, -1, -1]
    assert found.speakers is not None
    first, second, third, fourth = found.speakers.tolist()
    assert first == second and len({first, third, fourth}) == 3


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["a,R1,jargon,1", "a,R1,jargon,0"], 3, "twice"),
        (["a,R1,jargon,1", "", "b,R1,jargon,2x"], 4, "'2x' is not a value of 'jargon'"),
        (["a,R1,jargon,present", "b,R1,jargon,absnt"], 3, "'absnt' is not a value"),
        (["a,R1,,1"], 2, "'measure' is empty"),
        (["a,R1,jargon,1,9"], 2, "5 cells"),
        (['a,R1,jargon,"1'], 2, "not valid CSV"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(
    tmp_path: Path, lines: list[str], line: int, message: str
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    with pytest.raises(TabwbError) as raised:
        read_ratings(path)
    assert raised.value.where == f"{path}:{line}" and message in raised.value.message


def test_columns_judges_and_measures_that_are_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", [("a", "R1", "jargon", 1)])
    with pytest.raises(UsageError, match="no rater 'R3'"):
        read_ratings(path, judges=["R3"])
    with pytest.raises(UsageError, match="no measure 'jargn'"):
        read_ratings(path, kinds={"jargn": "choice"})
    with pytest.raises(TabwbError, match="no column 'rater'"):
        read_ratings(written(path, [("a", "R1", "j", 1)], "response,ratr,measure,value"))


def talked(store: Store) -> int:
    """An administration of TAB with five connected texts, the last one refused."""
    battery = load_battery(TAB)
    store.keep_battery(battery, {})
    texts = next(subtest for subtest in battery.subtests if subtest.id == "connected-text")
    plan = [
        PlannedTrial(number, texts.id, item.id, 0, (), item.prompt)
        for number, item in enumerate(texts.items, start=1)
    ]
    record = store.create_administration(
        battery, Conditions("replay:a.jsonl", "model"), plan, versions={}
    )
    for number, text in enumerate(ANSWERS, start=1):
        status = ResponseStatus.REFUSED if number == 5 else ResponseStatus.OK
        given = Attempt(1, text, AttemptState.OK, status, StopReason.END, 0.1)
        store.append(record.id, [AttemptEntry(number, given)])
    return record.id


def verdict(store: Store, number: int, rater: str, trial: int, **values: float | None) -> None:
    ratings = tuple(
        undefined(rater, name, "cannot tell") if value is None else valued(rater, name, value)
        for name, value in values.items()
    )
    store.append(number, [RatingsEntry(trial, 1, ratings)])


def test_administrations_leave_out_what_is_unusable_or_outside_of_a_set(store: Store) -> None:
    number = talked(store)
    for rater, features in (("rules-2", ("jargon",)), ("rules-1", ("jargon", "anomia"))):
        store.append(number, [DeclarationEntry(Declaration(rater, features))])
    store.append(number, [DeclarationEntry(Declaration("R1", ("jargon", "anomia"), kind="person"))])
    for trial in range(1, 6):
        verdict(store, number, "rules-2", trial, jargon=1.0, anomia=1.0)
        verdict(store, number, "R1", trial, jargon=float(trial < 3), anomia=None)
    verdict(store, number, "rules-1", 2, jargon=0.0, anomia=0.0)
    found = rated_administrations(store, [number])
    assert found.raters == ("R1", "rules-1", "rules-2")
    assert found.judges == {"rules-1", "rules-2"}
    assert [one.id for one in found.features] == ["anomia", "jargon"]
    assert list(found.samples) == [f"{number}:{trial}:1" for trial in range(1, 5)]
    assert found.verdicts[..., 1].tolist() == [[1, 1, 0, 0], [-1, 0, -1, -1], [1, 1, 1, 1]]
    assert found.verdicts[..., 0].tolist() == [[-2] * 4, [-1, 0, -1, -1], [-1] * 4]


def test_a_judge_that_was_asked_again_is_compared_with_itself(store: Store) -> None:
    number, judge = talked(store), "tab-2026:gemini:x"
    for trial, again in ((1, 0.0), (2, 1.0)):
        verdict(store, number, judge, trial, jargon=1.0)
        said = (valued(judge, "jargon", again),)
        repeated = Judgement(said, rater=judge, repeat=1, key=f"{trial:064x}")
        copied = replace(repeated, same_as=1, key=f"{trial + 2:064x}")
        store.keep_judgements(number, [Judged(trial, 1, repeated), Judged(3, 1, copied)])
    found = rated_administrations(store, [number])
    assert found.verdicts[0, :, 0].tolist() == [1, 1]
    (again_given,) = found.again
    assert again_given[0, :, 0].tolist() == [0, 1]


def test_nobody_has_rated(store: Store) -> None:
    number = talked(store)
    with pytest.raises(UsageError, match="nobody has rated"):
        rated_administrations(store, [number])
    verdict(store, number, "R1", 5, jargon=1.0)
    with pytest.raises(UsageError, match="no rated response"):
        rated_administrations(store, [number])


def says(
    position: int, rater: str = "R1", purpose: str = "rate", **answers: object
) -> SampleRating:
    number = position if position < 10 else position - 9
    return SampleRating(rater, position, number, purpose, answers, complete=True)  # type: ignore[arg-type]


def test_a_set_has_people_again_settled_values_and_judges(store: Store) -> None:
    number = talked(store)
    kept = parts.rated_set(store, number, 4, more=[Assignment("R1", 10, 1, "again")])
    store.sets.rate_all(
        kept.id,
        [
            says(1, jargon=1.0, anomia=3.0),
            says(2, jargon=CANNOT_TELL, anomia=0.0),
            says(1, "R2", jargon=0.0, anomia=1.0),
            says(10, purpose="again", jargon=0.0, anomia=0.0),
        ],
    )
    store.sets.adjudicate(kept.id, Adjudication(1, "jargon", 0.0, "heard again", "Z"))
    store.append(number, [DeclarationEntry(Declaration("rules-2", ("jargon",)))])
    verdict(store, number, "rules-2", 2, jargon=1.0)
    found = rated_set(store, "pilot")
    assert found.raters == ("R1", "R2", "rules-2") and found.judges == {"rules-2"}
    assert [one.id for one in found.features] == ["jargon", "anomia"]
    assert found.verdicts[..., 0].tolist() == [[1, -2, -1, -1], [0, -1, -1, -1], [-1, 1, -1, -1]]
    assert found.verdicts[..., 1].tolist() == [[1, 0, -1, -1], [1, -1, -1, -1], [-1] * 4]
    assert found.again[0][0, 0].tolist() == [0, 0] and (found.again[0][1:] == -1).all()
    assert found.adjudicated is not None and found.adjudicated[0].tolist() == [0, -1]
    (scale,) = found.others  # the raw values of the scale are kept beside its cut
    assert scale.measure.id == "anomia" and scale.values[0, :2].tolist() == [3.0, 0.0]


def test_administrations_count_flagged_ratings_as_their_set_does(store: Store) -> None:
    number = talked(store)
    names = ("jargon", "anomia")
    form = Form("two", "1", "Two", "MIT", "", tuple(Question(one, one) for one in names),
                unmarked="absent", min_seconds=5.0)  # fmt: skip
    assert rated_in(store, number) is None
    kept = parts.rated_set(store, number, 4, form=form.canonical)
    store.sets.rate_all(
        kept.id,
        [
            replace(says(1, jargon=1.0, anomia=0.0), seconds=9.0, confirmed=()),
            replace(says(2, jargon=0.0, anomia=0.0), seconds=9.0, confirmed=names),
            replace(says(2, "R2", jargon=0.0, anomia=0.0), seconds=1.0, confirmed=()),
        ],
    )
    found, of_set = rated_in(store, number), rated_set(store, kept.id)
    assert of_set.flagged is not None
    assert found == {("R1", f"{number}:2:1"), ("R2", f"{number}:2:1")}
    assert int(of_set.flagged.sum()) == len(found)


def rated_in(store: Store, number: int) -> set[tuple[str, str]] | None:
    for trial in range(1, 5):
        verdict(store, number, "rules-2", trial, jargon=0.0)
    found = rated_administrations(store, [number])
    if found.flagged is None:
        return None
    raters, samples = np.nonzero(found.flagged)
    return {
        (found.raters[at], found.samples[row])
        for at, row in zip(raters.tolist(), samples.tolist(), strict=True)
    }


def test_a_set_says_what_judges_cannot_rate(store: Store) -> None:
    kept = parts.rated_set(store, talked(store), 5)
    store.sets.rate_all(kept.id, [says(5, jargon=1.0, anomia=0.0)])
    found = rated_set(store, kept.id)
    assert found.notes[0].startswith("A feature rated on a scale is present from ")
    assert found.notes[1].startswith("1 sample of 5 cannot be described")
    assert found.verdicts[0, 4].tolist() == [1, 0]


def test_a_set_that_nobody_has_rated(store: Store) -> None:
    kept = parts.rated_set(store, talked(store), 4)
    with pytest.raises(UsageError, match="nobody has rated"):
        rated_set(store, kept.id)


def test_listeners_of_names_by_both_rules_with_codes_and_transcripts(tmp_path: Path) -> None:
    battery = load_battery(naming_battery(tmp_path))
    said: tuple[Observation, ...] = (
        Scored(1, "self-corrected", "person:A"),
        Scored(1, "right", "B"),
        Coded(1, "correct", "person:A"),
        Coded(1, "semantic", "B"),
        Heard(1, "Dog", "person:A"),
        Transcribed(1, transcript("D AO G", by="manual:A")),
        Transcribed(1, transcript("D AO", by="bundled-words")),
    )
    attempt = Attempt(1, "", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1)
    trial = Trial(
        PlannedTrial(1, "nouns", "dog", 0, (), ""),
        TrialState.ANSWERED,
        (attempt,),
        observations=tuple(observation_to_json(one) for one in said),
    )
    heard = list(heard_in([data_of(battery, [trial], Conditions("S-1", "speaker"))]))
    gathered = Gathered(["dog:1:1"], ())
    machines = gather_heard(gathered, heard, 0)
    assert heard[0][:2] == ("dog:1:1", "S-1") and machines == {"bundled-words"}
    given = gathered.rated(
        ("A", "B", "bundled-words"), source="a session", judges=frozenset(machines)
    )
    assert given.right is not None
    assert given.right[:2, 0].tolist() == [[1, 0], [1, 1]]  # any, first
    compared = agreement_of(given, Choices(draws=0))
    (code,) = compared.rows("answers", measure="code")
    (confused,) = compared.rows("confusions", measure="code")
    assert code["n"] == 1 and (confused["one"], confused["other"]) == ("correct", "semantic")
    (pair,) = compared.rows("transcripts")
    assert (pair["edits"], pair["phonemes_first"], pair["phonemes_second"]) == (1, 3, 2)

"""Naming subtests in a battery file: what is read, what is refused, what the hash holds."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any, get_args

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.loader import (
    NamedFiles,
    battery_from_canonical,
    canonical_json,
    check_battery,
    load_battery,
    read_assets,
)
from tabwb.battery.rules import validate
from tabwb.phonology.dictionary import forms_of
from tabwb.records.states import ResponseKind
from tabwb.scoring.lexicon import load_lexicon
from tabwb.scoring.naming.target import Accepted, Rule, Tolerance
from tabwb.tasks.spoken_naming.items import naming_item
from tabwb.tasks.spoken_naming.task import (
    RULE_KEYS,
    Cue,
    Discontinue,
    NamingItem,
    NamingRules,
    cues_of,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"not decoded when a battery is read"

GOOD = """\
[battery]
id = "pictures"
title = "Pictures"
version = "1"
language = "en"
license = "MIT"
examinees = ["speaker"]

[[subtest]]
id = "nouns"
title = "Nouns"
response = "naming"
rule = "correct-first"
time_limit = 20
late_counts = true
tolerance = { slips = 1, reason = "apraxia of speech" }
cues = [{ kind = "stimulus", text = "An animal.", counts = true }, { kind = "phonemic", text = "It begins with d." }]
discontinue = { after = 8, counts_cued = true }
start_item = "dog"
basal = 1
feedback = "neutral"
response_rule = "whole-window"
reveal = "live"
rule_sources = { discontinue = "BNT manual" }

[[subtest.item]]
id = "cat"
picture = "cat.png"
target = "cat"
accept = [{ phonemes = "K AE T", reason = "citation" }]
practice = true

[[subtest.item]]
id = "dog"
picture = "dog.png"
target = "dog"
accept = [{ phonemes = "D AO1 G", reason = "citation" }, { phonemes = "dɑɡ", reason = "dialect" }, { phonemes = "HH AW N D", reason = "other name", word = "hound" }]
semantic = ["Cat"]
visual = ["wolf"]
parts = ["tail"]
"""  # noqa: E501 - a line of TOML cannot be broken


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    for name in ("cat.png", "dog.png"):
        (tmp_path / name).write_bytes(PNG + name.encode())
    path = tmp_path / "battery.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_rules_are_read(battery: Path) -> None:
    subtest = load_battery(battery).subtests[0]
    assert subtest.response is ResponseKind.SPOKEN_NAMING
    assert subtest.rules == NamingRules(
        rule="correct-first",
        time_limit=20.0,
        late_counts=True,
        tolerance=Tolerance(slips=1, reason="apraxia of speech"),
        cues=(Cue("stimulus", "An animal.", counts=True), Cue("phonemic", "It begins with d.")),
        discontinue=Discontinue(8, counts_cued=True),
        start_item="dog",
        basal=1,
        feedback="neutral",
        response_rule="whole-window",
        reveal="live",
        sources={"discontinue": "BNT manual"},
    )


def test_an_item_is_read_with_its_pronunciations_in_either_alphabet(battery: Path) -> None:
    item = naming_item(load_battery(battery).subtests[0].item("dog"))
    assert (item.picture, item.target, item.prompt) == ("dog.png", "dog", "")
    assert item.accept == (
        Accepted(("D", "AO", "G"), "citation"),
        Accepted(("D", "AA", "G"), "dialect"),
        Accepted(("HH", "AW", "N", "D"), "other name", "hound"),
    )
    assert item.accepted == (("D", "AO", "G"), ("D", "AA", "G"), ("HH", "AW", "N", "D"))
    assert (item.semantic, item.visual, item.parts) == (("cat",), ("wolf",), ("tail",))


def test_an_items_own_cues_take_the_place_of_the_subtests(battery: Path) -> None:
    own = 'parts = ["tail"]\ncues = [{ kind = "semantic", text = "It barks." }]'
    battery.write_text(GOOD.replace('parts = ["tail"]', own), encoding="utf-8")
    subtest = load_battery(battery).subtests[0]
    assert subtest.rules is not None
    kinds = [
        [cue.kind for cue in cues_of(subtest.rules, naming_item(item))] for item in subtest.items
    ]
    assert kinds == [["stimulus", "phonemic"], ["semantic"]]


def test_a_battery_without_rules_has_the_defaults(battery: Path) -> None:
    head, _, items = GOOD.partition("rule = ")
    battery.write_text(head + "[[subtest.item]]" + items.split("[[subtest.item]]", 1)[1])
    assert load_battery(battery).subtests[0].rules == NamingRules()


def test_an_item_needs_no_picture(battery: Path) -> None:
    text = battery.read_text(encoding="utf-8")
    battery.write_text(text.replace('picture = "dog.png"\n', ""), encoding="utf-8")
    loaded = load_battery(battery)
    assert [item.picture for subtest in loaded.subtests for item in subtest.items].count("") == 1


def test_it_comes_back_from_its_canonical_json(battery: Path) -> None:
    loaded = load_battery(battery)
    assert battery_from_canonical(loaded.canonical, str(battery)) == loaded


RULES = st.fixed_dictionaries(
    {},
    optional={
        "rule": st.sampled_from(get_args(Rule)),
        "time_limit": st.floats(0.1, 3600) | st.integers(1, 3600),
        "tolerance": st.one_of(
            st.builds(lambda slips: {"slips": slips}, st.integers(1, 2)),
            st.builds(lambda share: {"share": share}, st.floats(0.01, 1)),
        ),
        "cues": st.lists(
            st.fixed_dictionaries(
                {"kind": st.sampled_from(["stimulus", "phonemic"]), "text": st.just("It barks.")},
                optional={"when": st.just("late"), "counts": st.booleans()},
            ),
            max_size=3,
        ),
        "discontinue": st.fixed_dictionaries(
            {"after": st.integers(1, 1000)}, optional={"counts_cued": st.booleans()}
        ),
        "start_item": st.just("dog"),
        "feedback": st.sampled_from(["none", "neutral", "right-or-wrong"]),
        "response_rule": st.sampled_from(["first-response", "whole-window"]),
        "reveal": st.sampled_from(["after-score", "live"]),
        "rule_sources": st.dictionaries(st.sampled_from(RULE_KEYS), st.just("a manual")),
    },
)


@given(rules=RULES)
def test_any_rules_come_back_from_canonical_json_as_they_were_written(
    rules: dict[str, Any],
) -> None:
    tables = tomli.loads(GOOD)
    subtest = tables["subtest"][0]
    tables["subtest"] = [{key: subtest[key] for key in ("id", "title", "response", "item")} | rules]
    written = json.dumps(rules)
    file, broken = validate(tables)
    assert broken == []
    assert file is not None
    canonical = canonical_json(file.model_dump(exclude_defaults=True), NamedFiles())
    read = battery_from_canonical(canonical).subtests[0].rules
    assert read is not None
    for key, value in json.loads(written).items():
        found = read.sources if key == "rule_sources" else getattr(read, key)
        if key in ("tolerance", "discontinue"):
            found = {name: getattr(found, name) for name in value}
        elif key == "cues":
            found = [
                {name: getattr(cue, name) for name in given_cue}
                for cue, given_cue in zip(found, value, strict=True)
            ]
        assert found == value


def test_pictures_are_assets_and_part_of_the_hash(battery: Path) -> None:
    before = load_battery(battery)
    digest = hashlib.sha256(PNG + b"dog.png").hexdigest()
    assert before.assets["dog.png"] == digest
    assert set(before.assets) == {"cat.png", "dog.png"}
    assert read_assets(battery, before)["dog.png"] == PNG + b"dog.png"
    (battery.parent / "dog.png").write_bytes(PNG + b"another dog")
    assert load_battery(battery).content_hash != before.content_hash


@pytest.mark.parametrize("change", ["correct-any", "correct-first"])
def test_a_rule_that_changes_scores_changes_the_hash(battery: Path, change: str) -> None:
    before = load_battery(battery).content_hash
    battery.write_text(GOOD.replace("correct-first", change), encoding="utf-8")
    assert (load_battery(battery).content_hash == before) is (change == "correct-first")


def test_the_hash_of_a_battery_without_naming_is_what_it_was() -> None:
    # As the version before spoken naming computed it.
    tab = Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml"
    before = "4dcb950a177e6cfb116e3ee683f99eb74b01ffe433f048c37836b43eb4b7ab69"
    assert load_battery(tab).content_hash == before


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "said"),
    [
        ('examinees = ["speaker"]\n', "", 1, "battery.examinees", "is shown no pictures"),
        ('"correct-first"', '"correct-frist"', 13, "subtest[1].rule",
         "allowed: correct-any, correct-first; did you mean 'correct-first'?"),
        ("time_limit = 20", "time_limit = 0", 14, "subtest[1].time_limit", "at least 0.1"),
        ("time_limit = 20", "time_limit = nan", 14, "subtest[1].time_limit", "out of range"),
        ("time_limit = 20", 'time_limit = "20"', 14, "subtest[1].time_limit", "allowed: number"),
        ("time_limit = 20\n", "", 14, "subtest[1].late_counts", "no answer is late"),
        ("slips = 1,", "", 16, "subtest[1].tolerance", "exactly one of 'slips' and 'share'"),
        ("slips = 1,", "slips = 1, share = 0.5,", 16, "subtest[1].tolerance", "exactly one"),
        ("slips = 1,", "slips = 3,", 37, "subtest[1].item[2].accept[1].phonemes",
         "with 3 slips tolerated anything would equal this"),
        ('kind = "stimulus"', 'knid = "stimulus"', 17, "subtest[1].cues[1].knid",
         "did you mean 'kind'?"),
        ("after = 8", "after = 0", 18, "subtest[1].discontinue.after", "at least 1"),
        ('start_item = "dog"', 'start_item = "dgo"', 19, "subtest[1].start_item",
         "did you mean 'dog'?"),
        ('start_item = "dog"', 'start_item = "cat"', 19, "subtest[1].start_item",
         "no such item that counts"),
        ('start_item = "dog"\n', "", 19, "subtest[1].basal", "no item to go back from"),
        ("basal = 1", "basal = 2", 20, "subtest[1].basal", "up to 1"),
        ('{ discontinue = "BNT', '{ discontinu = "BNT', 24, "subtest[1].rule_sources.discontinu",
         "did you mean 'discontinue'?"),
        ('rule = "correct-first"', 'rule = "correct-first"\nscorers = ["choice"]', 14,
         "subtest[1].scorers", "its own rules"),
        ('target = "dog"\n', "", 33, "subtest[1].item[2].target", "missing"),
        ('accept = [{ phonemes = "K AE T", reason = "citation" }]\n', "", 26,
         "subtest[1].item[1].accept", "missing"),
        ('[{ phonemes = "K AE T", reason = "citation" }]', "[]", 30, "subtest[1].item[1].accept",
         "empty"),
        ('picture = "dog.png"', 'picture = "dgo.png"', 35, "subtest[1].item[2].picture",
         "no such file"),
        ('picture = "dog.png"', 'picture = "../dog.png"', 35, "subtest[1].item[2].picture",
         "leaves the battery's folder"),
        ('picture = "dog.png"', 'picture = "battery.toml"', 35, "subtest[1].item[2].picture",
         "this picture cannot be shown"),
        ('"K AE T"', '"K EA T"', 30, "subtest[1].item[1].accept[1].phonemes",
         "'EA' is not a phoneme of the inventory"),
        ('reason = "dialect"', 'reson = "dialect"', 37, "subtest[1].item[2].accept[2].reson",
         "did you mean 'reason'?"),
        ('"dɑɡ"', '"dɔɡ"', 37, "subtest[1].item[2].accept[2].phonemes", "is given twice"),
        ('semantic = ["Cat"]', 'semantic = ["Dog"]', 38, "subtest[1].item[2].semantic[1]",
         "is accepted"),
        ('semantic = ["Cat"]', 'semantic = ["hound"]', 38, "subtest[1].item[2].semantic[1]",
         "is accepted"),
        ('semantic = ["Cat"]', 'semantic = ["cat", "Cat"]', 38, "subtest[1].item[2].semantic[2]",
         "is given twice"),
        ('target = "cat"', 'target = "cat"\nexpected = "cat"', 30,
         "subtest[1].item[1].expected", "allowed: target and accept"),
        ('target = "cat"', 'target = "cat"\noptions = ["cat", "dog"]', 30,
         "subtest[1].item[1].options", "takes no options"),
    ],
)  # fmt: skip
def test_each_problem_has_its_line_key_and_advice(
    battery: Path, old: str, new: str, line: int, key: str, said: str
) -> None:
    assert GOOD.count(old) == 1
    battery.write_text(GOOD.replace(old, new), encoding="utf-8")
    found = [str(one) for one in check_battery(battery, scorers=["choice"])]
    assert any(one.startswith(f"{battery}:{line}: {key}: ") and said in one for one in found), found


def test_one_misspelt_key_is_one_problem(battery: Path) -> None:
    battery.write_text(GOOD.replace('picture = "dog.png"', 'pictrue = "dog.png"'), encoding="utf-8")
    (only,) = check_battery(battery)
    assert only.suggestion == "picture"


@pytest.mark.parametrize(
    ("where", "key"),
    [("title = 'Nouns'", "time_limit = 20"), ("prompt = 'Who?'", "target = 'dog'")],
)
def test_keys_of_naming_are_refused_elsewhere(tmp_path: Path, where: str, key: str) -> None:
    text = """\
battery = { id = "x", title = "X", version = "1", language = "en", license = "MIT" }
[[subtest]]
id = "nouns"
title = 'Nouns'
response = "free"
[[subtest.item]]
id = "one"
prompt = 'Who?'
"""
    path = tmp_path / "battery.toml"
    path.write_text(text, encoding="utf-8")
    assert check_battery(path) == ()
    path.write_text(text.replace(where, f"{where}\n{key}"), encoding="utf-8")
    (only,) = check_battery(path)
    assert "of response 'free'" in only.message
    assert only.key.endswith(key.split(maxsplit=1)[0])


def test_a_question_is_needed_everywhere_else(tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.write_text(
        'battery = { id = "x", title = "X", version = "1", language = "en", license = "MIT" }\n'
        'subtest = [{ id = "s", title = "S", response = "free", item = [{ id = "one" }] }]\n'
    )
    (only,) = check_battery(path)
    assert only.key == "subtest[1].item[1].prompt"
    assert only.message == "this key is missing (response 'free')"


FOLDER = Path(__file__).parents[2] / "batteries" / "naming-demo"
BATTERY = load_battery(FOLDER / "battery.toml")
ITEMS = [naming_item(item) for item in BATTERY.subtests[0].items]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_citation_form_is_the_dictionarys(item: NamingItem) -> None:
    assert item.accept[0].reason == "citation"
    assert item.accept[0].phonemes in [form.phonemes for form in forms_of(item.target)]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_neighbours_are_words_that_can_be_heard(item: NamingItem) -> None:
    words = [*item.semantic, *item.visual, *item.parts]
    assert len(words) == len(set(words))
    assert all(load_lexicon().known(word) and forms_of(word) for word in words)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_stimulus_cue_counts_and_a_phonemic_one_does_not(item: NamingItem) -> None:
    assert [(cue.kind, cue.counts) for cue in item.cues] == [
        ("stimulus", True),
        ("phonemic", False),
    ]
    begin = item.cues[1].text.removeprefix("It begins with ").removesuffix(".")
    assert item.target.startswith(begin)


def test_no_accepted_form_is_that_of_another_item() -> None:
    forms = [form for item in ITEMS for form in item.accepted]
    assert len(forms) == len(set(forms))


def test_it_is_for_speakers_and_says_that_it_is_no_test() -> None:
    assert BATTERY.examinees == ("speaker",)
    assert "not a test" in BATTERY.disclaimer
    assert "not a medical device" in BATTERY.disclaimer
    said = (FOLDER / "battery.toml").read_text(encoding="utf-8").lower()
    for word in ("patient", "diagnosis", "impaired", "normal", "validated", "pass", "fail"):
        assert not re.search(rf"\b{word}", said)


def test_there_is_a_drawing_for_each_picture_and_no_other_file() -> None:
    from docs.pictures.naming_demo import PICTURES, SIDE

    assert set(PICTURES) == {item.id for item in ITEMS}
    names = {item.picture for item in ITEMS}
    assert {path.name for path in FOLDER.iterdir()} == names | {"battery.toml", "LICENSE"}
    for name in names:
        header = (FOLDER / name).read_bytes()[16:24]
        assert struct.unpack(">II", header) == (SIDE, SIDE)

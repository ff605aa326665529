"""``tabwb battery``: list, show, check, schema, new."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import pytest
import tomli

from tabwb.battery.loader import battery_from_canonical, check_battery, load_battery, read_assets
from tests.cli.conftest import TAB, Run


def test_tab_is_listed_and_shown_with_its_sources(run: Run) -> None:
    (row,) = [one for one in run("battery", "list", "--json").document["batteries"]
              if one["id"] == "tab"]  # fmt: skip
    assert row["items"] == 20
    shown = run("battery", "show", "tab").out
    assert "instructions, sent [paper, B.1]" in shown
    assert "instructions, sent [ours]" in shown
    assert "to the administrator, never sent [paper, B.2]" in shown
    assert "foil boat: phonological [ours]" in shown
    assert "expected: Yes [paper, B.3]" in shown
    assert "expected: lion [ours]" in shown
    assert "(anomia) [paper, table 4]: Overall impression" in shown
    assert "for judges [paper, D.2]: no definition and no example" in shown
    document = run("battery", "show", "tab", "--json").document
    assert len(document["prompts"]) == 20


def test_check_says_every_problem_and_exits_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.write_text('[battery]\nid = "x"\ntitel = "X"\n', encoding="utf-8")
    outcome = run("battery", "check", path, status=1)
    assert f"{path}:3: battery.titel: there is no such key" in outcome.err
    assert "did you mean 'title'?" in outcome.err
    document = run("battery", "check", path, "--json", status=1).document
    assert document["ok"] is False
    assert {problem["key"] for problem in document["problems"]} >= {"battery.titel", "subtest"}


def test_check_takes_a_file_a_folder_or_an_id(run: Run, tmp_path: Path) -> None:
    run("battery", "new", tmp_path / "colours")
    for argument in (tmp_path / "colours" / "battery.toml", tmp_path / "colours", "tab"):
        outcome = run("battery", "check", argument)
        assert outcome.out.startswith("ok: ")
    run("battery", "check", tmp_path, status=1, err="this is a folder")
    run("battery", "check", tmp_path / "nowhere.toml", status=1, err="no such file")
    run("battery", "check", "x" * 300, status=1, err="cannot be read")
    run("battery", "check", "tabb", status=2, err="did you mean 'tab'?")


def test_a_csv_with_problems_writes_nothing(run: Run, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("prompt,options,expected\nWhich?,a|b,c\n", encoding="utf-8")
    outcome = run("battery", "new", tmp_path / "mine", "--from", items, status=1)
    assert f"{items}:2: expected: the expected answer is not one of the options" in outcome.err
    assert not (tmp_path / "mine").exists()


def test_a_battery_with_a_file_of_its_own_can_be_given(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    run("battery", "new", folder)
    path = folder / "battery.toml"
    (folder / "how.txt").write_text("One word, please.\n", encoding="utf-8")
    before, _, after = path.read_text(encoding="utf-8").partition("\ninstructions = ")
    instructions = '\ninstructions = { file = "how.txt", source = "ours" }\n'
    path.write_text(before + instructions + after.partition("\n")[2], encoding="utf-8")
    given = run("run", path, "--model", "echo", "--json")
    assert given.document["trials"][0]["prompt"].startswith("One word, please.\n")


def test_a_new_battery_can_be_given_at_once(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    run("battery", "new", folder)
    run("battery", "check", folder / "battery.toml")
    given = run("run", folder, "--model", "echo", "--json")
    assert given.document["administration"]["battery"] == "colours"
    run("battery", "new", folder, status=2)


def test_the_same_version_with_other_content_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "colours"
    run("battery", "new", folder)
    run("run", folder, "--model", "echo")
    path = folder / "battery.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("can fly", "may fly"), "utf-8")
    run("run", folder, "--model", "echo", status=1, err="version")
    changed = path.read_text(encoding="utf-8").replace('version = "1" ', 'version = "2" ')
    path.write_text(changed, encoding="utf-8")
    run("run", folder, "--model", "echo")


def test_the_schema_describes_every_key(run: Run) -> None:
    schema = run("battery", "schema").document
    assert set(schema["properties"]) == {"battery", "subtest", "feature", "grouping"}
    for part in schema["$defs"].values():
        assert all("description" in value for value in part["properties"].values())


def test_what_is_printed_can_be_pasted_into_a_battery(run: Run, tmp_path: Path) -> None:
    said = run("battery", "pronounce", "either").out
    pasted = said[said.index("accept = ") :]
    assert tomli.loads(pasted)["accept"] == [
        {"phonemes": "IY DH ER", "reason": "citation"},
        {"phonemes": "AY DH ER", "reason": "variant"},
    ]
    run("battery", "new", tmp_path / "mine", "--naming")
    path = tmp_path / "mine" / "battery.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("accept = ")]
    lines[at] = pasted
    path.write_text("\n".join(lines), encoding="utf-8")
    run("battery", "check", path)


def test_json_holds_known_and_unknown_words(run: Run) -> None:
    found = run("battery", "pronounce", "dog", "girafe", "--json", status=1)
    dog, girafe = found.document["words"]
    assert dog == {
        "word": "dog",
        "known": True,
        "pronunciations": [
            {
                "phonemes": "D AO G",
                "arpabet": "D AO1 G",
                "ipa": "dɔɡ",
                "reason": "citation",
                "homophones": [],
            }
        ],
        "accept": 'accept = [{ phonemes = "D AO G", reason = "citation" }]',
        "near": [],
    }
    assert (girafe["known"], girafe["accept"]) == (False, None)
    assert girafe["near"][0] == "giraffe"
    assert found.status == 1


def test_the_dictionary_is_read_only_when_it_is_asked_for() -> None:
    code = (
        "import sys; from tabwb.cli.main import main; main(['battery', 'pronounce', '--help']); "
        "from tabwb.phonology.dictionary import load_dictionary; "
        "sys.exit(load_dictionary.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


def test_every_rule_is_shown_with_whose_it_is(run: Run, tmp_path: Path) -> None:
    run("battery", "new", tmp_path / "mine", "--naming")
    path = tmp_path / "mine" / "battery.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("# rule_sources", "rule_sources"), encoding="utf-8")
    shown = run("battery", "show", path).out
    assert "time_limit: 20 s [BNT manual]" in shown
    assert "rule: correct-first [ours]" in shown
    assert "discontinue: never [ours]" in shown
    assert "reveal: after-score [ours]" in shown


def test_the_demonstration_shows_pictures_forms_and_cues(run: Run) -> None:
    shown = run("battery", "show", "naming-demo").out
    assert "picture dog.png, sha256 " in shown
    assert "accepted: D AA G  /dɑɡ/  dialect" in shown
    assert "accepted (hound): HH AW N D  /haʊnd/  other name" in shown
    assert "cue phonemic (does not count): It begins with do." in shown
    assert "scorers:" not in shown
    document = run("battery", "show", "naming-demo", "--json").document
    assert set(document["assets"]) == {
        f"{name}.png" for name in ("bed", "bird", "cat", "dog", "house", "tree")
    }


def test_a_new_naming_battery_can_be_used_at_once(run: Run, tmp_path: Path) -> None:
    run("battery", "new", tmp_path / "mine", "--naming")
    assert run("battery", "check", tmp_path / "mine").out.startswith(
        "ok: mine 1, 1 subtest, 1 item"
    )
    png = (tmp_path / "mine" / "ball.png").read_bytes()
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert (depth, colour) == (8, 0)
    # One byte for each line's filter and one for each pixel.
    at = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[at - 4 : at])
    assert len(zlib.decompress(png[at + 4 : at + 4 + length])) == height * (width + 1)


def test_a_folder_that_is_there_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    made = run("battery", "new", tmp_path / "mine", "--naming", status=2)
    assert (made.status, list((tmp_path / "mine").iterdir())) == (2, [])


def _pictures(folder: Path, *names: str) -> None:
    from tabwb.tasks.spoken_naming.new import example_picture

    for name in names:
        (folder / name).write_bytes(example_picture())


def test_pictures_come_from_a_csv(run: Run, tmp_path: Path) -> None:
    _pictures(tmp_path, "dog.png", "sea.png", "ice-cream.png")
    (tmp_path / "items.csv").write_text(
        "target;picture;accept;semantic;practice\n"
        "dog;;D AO G|D AA G;cat|wolf;yes\nice cream;;;;\nwave;sea.png;;sea;\n",
        encoding="utf-8",
    )
    run("battery", "new", tmp_path / "mine", "--naming", "--from", tmp_path / "items.csv")
    run("battery", "check", tmp_path / "mine")
    shown = run("battery", "show", tmp_path / "mine" / "battery.toml", "--json").document
    (subtest,) = shown["subtest"]
    assert [(one["id"], one["picture"]) for one in subtest["item"]] == [
        ("dog", "dog.png"), ("ice-cream", "ice-cream.png"), ("wave", "sea.png"),
    ]  # fmt: skip
    assert [form["phonemes"] for form in subtest["item"][0]["accept"]] == ["D AO G", "D AA G"]
    assert subtest["item"][1]["accept"][0]["phonemes"] == "AY S K R IY M"
    assert (subtest["item"][0]["practice"], subtest["item"][0]["semantic"]) == (
        True,
        ["cat", "wolf"],
    )
    assert (tmp_path / "mine" / "sea.png").read_bytes() == (tmp_path / "sea.png").read_bytes()


def test_every_problem_of_a_csv_of_pictures_has_its_line(run: Run, tmp_path: Path) -> None:
    _pictures(tmp_path, "dog.png", "blorf.png")
    (tmp_path / "items.csv").write_text(
        "target,picture,accept,practice\ndog,,D QQ G,\ncat,,,\nblorf,,,\ndog,../dog.png,,maybe\n",
        encoding="utf-8",
    )
    made = run(
        "battery", "new", tmp_path / "mine", "--naming", "--from", tmp_path / "items.csv", status=1
    )
    assert not (tmp_path / "mine").exists()
    for said in (
        "items.csv:3: picture: there is no such picture",
        "items.csv:4: accept: the dictionary does not have this word",
        "items.csv:5: picture: there is no such picture",
        "items.csv:5: practice: this is neither yes nor no",
    ):
        assert said in made.err


HEAD = """
[battery]
id = "probe"
title = "Probe"
version = "1"
language = "{language}"
license = "MIT"
{words}
"""
ITEMS = """
[[subtest]]
id = "wahl"
title = "Wahl"
response = "choice"
template = "{prompt} ({options})"
[[subtest.item]]
id = "c1"
prompt = "Was misst man?"
options = ["Maße", "Masse", "Löwe"]
expected = "Maße"

[[subtest]]
id = "frage"
title = "Frage"
response = "yes-no"
[[subtest.item]]
id = "y1"
prompt = "Bellen Hunde?"
expected = "Ja"
[[subtest.item]]
id = "y2"
prompt = "Fliegen Hunde?"
expected = "Nein"

[[subtest]]
id = "nach"
title = "Nach"
response = "verbatim"
scorers = []
[[subtest.item]]
id = "v1"
prompt = "Sprechen Sie nach: Straße."
expected = "Straße."

[[subtest]]
id = "text"
title = "Text"
response = "connected-text"
scorers = ["lexical"]
[[subtest.item]]
id = "t1"
prompt = "Erzählen Sie von einer Reise."
"""
WORDS = 'yes = ["ja", "jawohl"]\nno = ["nein", "nee"]'
SAID = {
    "c1": "MAẞE.",
    "y1": "Jawohl!",
    "y2": "Nee, nie.",
    "v1": "Straße.",
    "t1": "Ich bin mit dem Zug gefahren und habe eine Stadt gesehen. Es war schön.",
}
NOT_IN_DE = "not available in de"


def written(folder: Path, language: str = "de", words: str = WORDS, features: bool = True) -> Path:
    text = HEAD.format(language=language, words=words) + ITEMS
    if features:
        tab = TAB.read_text("utf-8")
        text += tab[tab.index("[[feature]]") :]
    path = folder / "battery.toml"
    path.write_text(text, encoding="utf-8")
    return path


def given(run: Run, folder: Path, path: Path, said: dict[str, str] = SAID) -> Any:
    subtests = {item.id: one.id for one in load_battery(path).subtests for item in one.items}
    answers = folder / "answers.jsonl"
    rows = (
        {"subtest": subtests[item], "item": item, "replicate": 0, "response": text}
        for item, text in said.items()
    )
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return run("run", path, "--model", f"replay:{answers}", "--json")


def verdicts(document: Any, rater: str) -> dict[tuple[str, str], tuple[Any, str, str]]:
    return {
        (trial["item"], rating["measure"]): (rating["value"], rating["status"], rating["reason"])
        for trial in document["trials"]
        for rating in trial["ratings"]
        if rating["rater"] == rater
    }


def test_check_lists_what_works_and_who_scores(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path)
    document = run("battery", "check", path, "--json").document
    rows = {row["measure"]: row["reason"] for row in document["available"]}
    assert rows["choice: extracted"] == rows["text rules (rules-2, rules-1)"] == NOT_IN_DE
    assert rows["choice: exact, normalised"] is None
    assert rows["yes-no: extracted, yes-rate"] is None
    out = run("battery", "check", path).out
    assert "what works in de (German):" in out
    assert "wahl: scored by choice" in out
    assert "nach: not scored" in out
    assert "what works" not in run("battery", "check", "tab").out


def test_nothing_is_scored_as_english(run: Run, tmp_path: Path) -> None:
    outcome = given(run, tmp_path, written(tmp_path))
    assert "not available for German" in outcome.err
    document = outcome.document
    rules = verdicts(document, "rules-2")
    assert len(rules) == 2 * 19  # repetition is judged too
    assert set(rules.values()) == {(None, "undefined", NOT_IN_DE)}
    choice = verdicts(document, "choice")
    assert choice["c1", "normalised"][0] == 1
    assert choice["c1", "extracted"] == (None, "undefined", NOT_IN_DE)
    said = verdicts(document, "yes-no")
    assert [said[item, "extracted"][0] for item in ("y1", "y2")] == [1, 1]
    assert not verdicts(document, "repetition")
    summary = {one["id"]: one for one in document["summary"]["subtests"]}
    assert summary["frage"]["correct_extracted"] == 2
    assert summary["frage"]["baselines"]["always_yes"] == 0.5
    assert "Not available for German" in " ".join(run("results", "1").out.split())


def test_yes_and_no_without_words(run: Run, tmp_path: Path) -> None:
    said = {**SAID, "y1": "ja.", "y2": "Nein"}
    document = given(run, tmp_path, written(tmp_path, words=""), said).document
    found = verdicts(document, "yes-no")
    assert [found["y2", policy][0] for policy in ("exact", "normalised")] == [1, 1]
    assert (found["y1", "exact"][0], found["y1", "normalised"][0]) == (0, 1)
    assert found["y1", "extracted"] == (None, "undefined", NOT_IN_DE)


@pytest.mark.parametrize(
    ("words", "key"),
    [('yes = ["ja"]', "battery.no"), ('yes = ["oui"]\nno = ["non"]', "subtest[2].item[1].expected"),
     ('yes = ["ja", "Ja."]\nno = ["nein"]', "battery.yes[1]"),
     ('yes = ["ja"]\nno = ["nein", "JA"]', "battery.yes[1]")],
)  # fmt: skip
def test_words_for_yes_and_no_are_checked(tmp_path: Path, words: str, key: str) -> None:
    assert key in {problem.key for problem in check_battery(written(tmp_path, words=words))}


@pytest.mark.parametrize(
    ("language", "meant"),
    [("english", "en"), ("deutsch", "de"), ("de-de-de", ""), ("de_DE", "de-DE")],
)
def test_the_tag_is_checked(tmp_path: Path, language: str, meant: str) -> None:
    problems = check_battery(written(tmp_path, language, ""))
    (problem,) = [one for one in problems if one.key == "battery.language"]
    assert meant in problem.suggestion


def test_options_that_differ_in_unicode_form_are_given_twice(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text("utf-8")
    twice = '"Löwe", "' + unicodedata.normalize("NFD", "Löwe") + '"'
    path.write_text(text.replace('"Löwe"', twice), encoding="utf-8")
    assert {one.key for one in check_battery(path)} == {
        *("subtest[1].item[1].options[3]", "subtest[1].item[1].options[4]")
    }


def test_an_id_with_another_letter_says_why_and_names_one(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8").replace('"wahl"', '"wörter"'), encoding="utf-8")
    (problem,) = [one for one in check_battery(path) if one.key == "subtest[1].id"]
    assert problem.suggestion == "woerter"


def test_what_has_a_right_answer_is_scored_unless_switched_off(tmp_path: Path) -> None:
    battery = load_battery(written(tmp_path))
    assert {one.id: one.scorers for one in battery.subtests} == {
        "wahl": ("choice",), "frage": ("yes-no",), "nach": (), "text": ("lexical",),
    }  # fmt: skip
    stored = battery_from_canonical(battery.canonical)
    assert [one.scorers for one in stored.subtests] == [one.scorers for one in battery.subtests]
    assert load_battery(TAB).content_hash.startswith("4dcb950a177e6cfb")  # as in version 0.1


def test_a_battery_without_features_warns_with_the_default_judge(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, "en", 'yes = ["Ja"]\nno = ["Nein"]', features=False)
    run("run", path, "--model", "echo", "--dry-run", err="has no features")


@pytest.mark.parametrize(("phonemes", "fine"), [("hʊnt", True), ("buːx", False), ("a", False)])
def test_phonemes_of_another_language_are_refused(
    tmp_path: Path, phonemes: str, fine: bool
) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    naming = f"""
[[subtest]]
id = "bilder"
title = "Bilder"
response = "naming"
[[subtest.item]]
id = "n1"
picture = "x.png"
target = "Hund"
accept = [{{ phonemes = "{phonemes}", reason = "citation" }}]
[[subtest.item]]
id = "n2"
picture = "x.png"
target = "Tür"
"""
    path = tmp_path / "battery.toml"
    head = HEAD.format(language="de", words='examinees = ["speaker"]')
    path.write_text(head + naming, encoding="utf-8")
    keys = [problem.key for problem in check_battery(path)]
    assert keys == ([] if fine else ["subtest[1].item[1].accept[1].phonemes"])


def test_a_file_is_found_whatever_the_form_of_its_name(tmp_path: Path) -> None:
    forms = [unicodedata.normalize("NFC", "Tür.txt"), unicodedata.normalize("NFD", "Tür.txt")]
    for number, (stored, file) in enumerate((forms, forms[::-1])):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / stored).write_text("Lies!", encoding="utf-8")
        path = written(folder)
        text = path.read_text("utf-8").replace(
            'title = "Wahl"\n',
            f'title = "Wahl"\nadministrator = {{ file = "{file}", source = "ours" }}\n',
        )
        path.write_text(text, encoding="utf-8")
        assert check_battery(path) == ()
        battery = load_battery(path)
        assert list(read_assets(path, battery)) == [file]

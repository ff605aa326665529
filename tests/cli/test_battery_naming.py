"""Naming on the command line: how words are said, what a naming battery shows, a new one."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import tomli

from tests.cli.conftest import Run, in_process

# ------------------------------------------------------------------ pronounce


def test_a_word_is_said_in_arpabet_and_ipa_with_its_homophones(run: Run) -> None:
    found = run("battery", "pronounce", "Bear")
    assert found.status == 0
    assert "B EH1 R  /bɛr/  citation; also: " in found.out
    assert "bare" in found.out


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
    assert run("battery", "check", path).status == 0


def test_the_flap_is_offered_where_it_may_stand(run: Run) -> None:
    assert "W AO DX ER   /wɔɾɝ/  flap" in run("battery", "pronounce", "water").out
    assert "flap" not in run("battery", "pronounce", "dog").out


def test_several_words_of_one_name_are_quoted(run: Run) -> None:
    (row,) = run("battery", "pronounce", "hot dog", "--json").document["words"]
    assert row["pronunciations"][0]["phonemes"] == "HH AA T D AO G"


def test_an_unknown_word_names_near_ones_and_ends_with_1(run: Run) -> None:
    found = run("battery", "pronounce", "girafe", "dog")
    assert found.status == 1
    assert "'girafe' is not in the CMU dictionary; did you mean 'giraffe'" in found.err
    assert "D AO1 G" in found.out


def test_json_holds_known_and_unknown_words(run: Run) -> None:
    found = run("battery", "pronounce", "dog", "girafe", "--json")
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


def test_no_word_is_a_usage_error() -> None:
    assert in_process(["battery", "pronounce"]).status == 2


# ------------------------------------------------------------------ show


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


# ------------------------------------------------------------------ new


def test_a_new_naming_battery_can_be_used_at_once(run: Run, tmp_path: Path) -> None:
    made = run("battery", "new", tmp_path / "mine", "--naming")
    assert made.status == 0
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
    made = run("battery", "new", tmp_path / "mine", "--naming")
    assert (made.status, list((tmp_path / "mine").iterdir())) == (2, [])


def _pictures(folder: Path, *names: str) -> None:
    from tabwb.battery.starting_points import example_picture

    for name in names:
        (folder / name).write_bytes(example_picture())


def test_pictures_come_from_a_csv(run: Run, tmp_path: Path) -> None:
    _pictures(tmp_path, "dog.png", "sea.png", "ice-cream.png")
    (tmp_path / "items.csv").write_text(
        "target;picture;accept;semantic;practice\n"
        "dog;;D AO G|D AA G;cat|wolf;yes\nice cream;;;;\nwave;sea.png;;sea;\n",
        encoding="utf-8",
    )
    made = run("battery", "new", tmp_path / "mine", "--naming", "--from", tmp_path / "items.csv")
    assert made.status == 0, made.err
    assert run("battery", "check", tmp_path / "mine").status == 0
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
    made = run("battery", "new", tmp_path / "mine", "--naming", "--from", tmp_path / "items.csv")
    assert made.status == 1
    assert not (tmp_path / "mine").exists()
    for said in (
        "items.csv:3: picture: there is no such picture",
        "items.csv:4: accept: the dictionary does not have this word",
        "items.csv:5: picture: there is no such picture",
        "items.csv:5: practice: this is neither yes nor no",
    ):
        assert said in made.err

"""``tabwb import``: what others annotated is read whole, or nothing of it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.administer.naming_parts import naming_battery
from tests.builders import recordings, typed_table
from tests.cli.conftest import Run

pytest.importorskip("soundfile")
textgrid = pytest.importorskip("praatio.textgrid")
TYPED = {"dog": "D AO G", "cat": "D AO G", "tree": "TH R IY", "house": "<sil>"}


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    return naming_battery(tmp_path / "battery")


def grid(path: Path, **tiers: str) -> Path:
    """A TextGrid of one second with one interval in each tier, a tenth from each end."""
    from praatio.data_classes.interval_tier import IntervalTier

    made = textgrid.Textgrid(0, 1)
    for name, label in tiers.items():
        made.addTier(IntervalTier(name, [(0.1, 0.9, label)], 0, 1))
    path.parent.mkdir(exist_ok=True)
    made.save(str(path), format="long_textgrid", includeBlankSpaces=True)
    return path


def nothing_kept(run: Run) -> bool:
    return not run("results", "--json").document["administrations"]


@pytest.mark.parametrize(
    ("tiers", "said"),
    [
        ({"item": "dog", "code": "semantical"}, "'semantical' is not a valid response code"),
        ({"item": "dog", "heard": "/d?g/"}, "cannot have been heard"),
        ({"item": "dog", "attempt": "D QQ G"}, "is not an attempt in phonemes"),
        ({"item": "dog", "score": "fair"}, "is not a valid score"),
        ({"item": "dig"}, "did you mean 'dog'"),
    ],
)
def test_one_wrong_label_keeps_everything_out(
    run: Run, battery: Path, tmp_path: Path, tiers: dict[str, str], said: str
) -> None:
    grid(tmp_path / "praat" / "a.TextGrid", item="cat")
    path = grid(tmp_path / "praat" / "b.TextGrid", **tiers)
    outcome = run("import", path.parent, "--battery", battery, "--speaker", "S-014", status=2)
    assert said in outcome.err
    assert str(path) in outcome.err
    assert nothing_kept(run)


def test_a_tier_of_another_meaning_can_be_left_out(run: Run, battery: Path, tmp_path: Path) -> None:
    path = grid(tmp_path / "a.TextGrid", item="dog", code="semantical")
    words = ("import", path, "--battery", battery, "--speaker", "S-014", "--tier", "code=")
    run(*words)


def test_a_response_beyond_the_end_of_its_sound_is_refused(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    folder = recordings(tmp_path / "psst", "dog")
    header = "utterance_id\tprompt\ttranscript\tfilename\tstart_s\tend_s\n"
    for row in ("dog.flac\t7\t9", "dog.flac\tnan\t", "../battery/dog.png\t\t"):
        (folder / "utterances.tsv").write_text(f"{header}s-1\tdog\tD AO G\t{row}\n")
        run("import", folder, "--battery", battery, "--speaker", "S-014", status=2)
        assert nothing_kept(run)


def test_a_file_that_is_no_textgrid_is_named(run: Run, battery: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.TextGrid"
    path.write_text("hello", encoding="utf-8")
    outcome = run("import", path, "--battery", battery, "--speaker", "S-014", status=1)
    assert "a.TextGrid: is damaged, or not what its name says" in outcome.err


def test_typed_transcripts_and_takes_that_do_not_count_come_back(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    folder = recordings(tmp_path / "responses", "dog", "cat_1", "cat_2", "tree", "house")
    spec = f"manual:{typed_table(tmp_path / 'typed.tsv', **TYPED)}"
    run("name", battery, "--speaker", "S-014", "--input", folder, "--transcriber", spec)
    for number, format_id in enumerate(("textgrid", "eaf"), start=2):
        out = tmp_path / format_id
        run("export", "1", "--format", format_id, "--out", out, "--within-study")
        words = ("import", out, "--battery", battery)
        for option in (("--speaker", "S-015"), ("--origin", "model")):
            run(*words, *option, status=2, err=" ".join(option))
        (given,) = run(*words, "--again", "--json").document["administrations"]
        assert (given["examinee"], given["origin"]) == ("S-014", "human")
        trials = run("results", number, "--json").document["trials"]
        assert [trial["response"] for trial in trials] == ["D AO G", "D AO G", "TH R IY", ""]


def test_two_speakers_in_one_folder_are_not_made_one(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    grid(tmp_path / "praat" / "S-014.TextGrid", item="dog")
    grid(tmp_path / "praat" / "S-015.TextGrid", item="dog")
    words = ("import", tmp_path / "praat", "--battery", battery, "--speaker", "S-014")
    run(*words, status=2, err="'dog' is named in two files: S-014.TextGrid, S-015.TextGrid")
    assert nothing_kept(run)


def test_of_several_sessions_one_is_the_speakers(run: Run, battery: Path, tmp_path: Path) -> None:
    (tmp_path / "utterances.tsv").write_text(
        "utterance_id\tsession\tprompt\ttranscript\n"
        "a\tACWT01a\tdog\tD AO G\nb\tACWT02a\tcat\tK AE T\n",
        encoding="utf-8",
    )
    words = ("import", tmp_path, "--battery", battery)
    run(*words, "--speaker", "S-014", status=2, err="2 sessions: ACWT01a, ACWT02a")
    run(*words, "--session", "ACWT03a", "--speaker", "S-014", status=2)
    assert nothing_kept(run)
    run(*words, "--session", "ACWT02a", "--speaker", "S-014")
    run(*words)
    given = run("results", "--json").document["administrations"]
    assert [one["examinee"] for one in given] == ["S-014", "ACWT01a", "ACWT02a"]


def test_an_export_moved_away_from_its_readme_is_guarded_until_its_origin_is_said(
    run: Run, battery: Path, tmp_path: Path
) -> None:
    run("speaker", "consent", "S-014", "--scope", "record", "--given")
    moved = grid(tmp_path / "elsewhere" / "S-014-1.TextGrid", item="dog", attempt="D AO G")
    words = ("import", moved, "--battery", battery, "--speaker", "S-014", "--json")
    outcome = run(*words)
    assert "who responded is not known" in outcome.err
    assert "--origin human and --speaker ID, or with --origin model" in outcome.err
    (given,) = outcome.document["administrations"]
    assert (given["examinee"], given["origin"]) == ("S-014", "unknown")
    refused = run("export", "1", "--format", "csv", "--out", tmp_path / "o.csv", status=1)
    assert (refused.status, "(scope 'share'): S-014" in refused.err) == (1, True)
    declared = run(*words, "--origin", "model", "--again")
    assert "who responded is not known" not in declared.err
    run("export", "2", "--format", "csv", "--out", tmp_path / "o.csv")

"""Every command that the page on spoken naming prints works as printed, in a fresh store."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest.importorskip("soundfile")
HERE = Path(__file__)
PAGE = HERE.parents[2] / "docs" / "spoken-naming.md"
CLIP = HERE.parents[1] / "data" / "speech" / "dog_d1a4fb3f_0.flac"
ITEMS = ("bed", "bird", "cat", "cat_2", "dog", "house", "tree")
NEEDS_A_MICROPHONE = ("microphone", "mic")
TYPED = "utterance_id\ttranscript\n" + "".join(f"{item}\tD AO G\n" for item in ITEMS)


def test_the_commands_of_the_page_work_one_after_the_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("recordings").mkdir()
    for item in ITEMS:
        shutil.copy(CLIP, Path("recordings") / f"{item}.flac")
    Path("typed.tsv").write_text(TYPED, encoding="utf-8")
    blocks = re.findall(r"```\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    done = [_one(run, line) for block in blocks for line in block.splitlines()]
    assert done.count("tabwb") > 12


def _one(run: Run, line: str) -> str:
    command, *words = shlex.split(line, comments=True)
    words, out = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
    if command == "printf":
        assert out is not None
        out.write_text(words[0].encode().decode("unicode_escape"), encoding="utf-8")
    elif not set(NEEDS_A_MICROPHONE) & set(words):
        # A person types what bundled-words would hear: a model takes seconds to begin.
        more = ("--transcriber", "manual:typed.tsv") if words[0] in {"name", "transcribe"} else ()
        outcome = run(*words, *more)
        assert outcome.status == 0, f"{line}\n{outcome.err}"
        if out is not None:
            out.write_text(outcome.out, encoding="utf-8")
    return command

"""Every command that does something with a person's data asks for the consents to it, before it."""

from __future__ import annotations

import io
from pathlib import Path

import click
import pytest

from tabwb.cli.main import COMMANDS, LazyGroup
from tabwb.records.speakers import SCOPES
from tests.administer.naming_parts import naming_battery
from tests.builders import built, copied, recordings, typed_table
from tests.cli.conftest import Outcome, Run

pytest.importorskip("soundfile")
NEAR = "tab-2026:openai:llama3.2:1b@base_url=http://127.0.0.1:9/v1"
FAR = "tab-2026:openai:gpt-4o-mini@base_url=https://api.example.org/v1"
EARS = """
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.speech import Transcript


class FarEars:
    unit = "phonemes"

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        yield from ((at, Transcript("far-ears", "empty")) for at, _ in enumerate(clips))

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("far-ears", "Hears", lambda spec, options: FarEars(), needs_network=True))
"""
TYPED = "run tab --speaker S-014 --research-protocol IRB-7"
GIVE = "name {battery} --speaker S-014 --input {sounds} --transcriber"

ACTS: dict[str, tuple[str, ...]] = {
    TYPED: ("record",),
    "resume 2": ("record",),
    "name {battery} --speaker S-014 --input mic --device no-such-microphone": ("record",),
    f"{GIVE} none --again": ("record",),
    f"{GIVE} manual:{{table}} --again": ("record", "transcribe"),
    f"{GIVE} far-ears --again": ("record", "transcribe", "remote"),
    f"{GIVE} manual:{{table}} --resume 1": ("record", "transcribe"),
    f"{GIVE} far-ears --resume 1": ("record", "transcribe", "remote"),
    "import {psst} --battery {battery} --speaker S-014": ("record",),
    "transcribe {sounds} --transcriber manual:{table} --speaker S-014": ("transcribe",),
    "transcribe {sounds} --transcriber far-ears --speaker S-014": ("transcribe", "remote"),
    "trial transcribe 1 --again --transcriber manual:{table}": ("transcribe",),
    "trial transcribe 1 --again --transcriber far-ears": ("transcribe", "remote"),
    "trial score 1 dog right": ("rate",),
    "trial heard 1 dog dog": ("rate",),
    "trial code 1 dog correct": ("rate",),
    "trial onset 1 dog 0.5": ("rate",),
    "trial attempt 1 dog --end 0.9": ("rate",),
    f"judge run 2 --judge {NEAR} --dry-run": ("rate",),
    f"judge run 2 --judge {FAR} --dry-run": ("rate", "remote"),
    "export 1 --out {out}": ("share",),
    "export 1 --out {out} --format textgrid": ("share",),
    "export 1 --out {out} --within-study": (),
    "rate export pilot --out {out}.csv": ("share",),
    "figure accuracy 1 --out {out}.pdf": ("share",),
    "figure accuracy 1 --out {out}.pdf --within-study": (),
    "report 1 --out {out}.md": ("share",),
    "report 1 --out {out}.md --within-study": (),
}
"""Command: the scopes that it asks a registered speaker for."""
OF_NO_ACT = {
    *("lesion", "trust"),
    *("battery", "change", "diff", "doctor", "key", "microphone", "model", "norms", "phonemes"),
    *("plugins", "reproduce"),
    "tag",
    *(
        "responses",
        "results",
        "speaker",
        "store",
        "judge-list",
        "judge-show",
        "judge-check",
        "judge-report",
    ),
    *("trial-void", "trial-note", "trial-undo", "trial-rescore", "trial-history"),
    *("agreement", "rate-forms", "rate-plan", "rate-list", "rate-show", "rate-status"),
    *("rate-close", "rate-reopen", "rate-link", "rate-disputed", "rate-settle"),
    *("rate-start", "serve"),  # the rating page asks for each sample: tests/administer/rating
}
"""What gives nobody's data to anybody, and what only keeps the study's books."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """S-014, who agreed to everything, with one response named aloud and a battery to type."""
    folder = tmp_path_factory.mktemp("acts")
    found = {name: folder / name for name in ("home", "sounds", "psst", "ears")}
    for name in ("psst", "ears"):
        found[name].mkdir()
    found |= {"battery": naming_battery(found["home"]), "folder": folder}
    recordings(found["sounds"], "dog")
    found["table"] = typed_table(folder / "typed.tsv", dog="D AO G")
    (found["psst"] / "utterances.tsv").write_text(
        "utterance_id\tprompt\ttranscript\nu-1\tdog\tD AO G\n", encoding="utf-8"
    )
    (found["ears"] / "pyproject.toml").write_text('[project.entry-points.tabwb]\nears = "ears"\n')
    (found["ears"] / "ears.py").write_text(EARS)
    given = f"{GIVE} none".format(**found).split()
    built(folder, ("plugins", "trust", found["ears"]), consent(*SCOPES), given)
    return found


@pytest.fixture
def places(
    kept: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Path]:
    copied(kept["folder"], tmp_path)
    monkeypatch.setenv("TABWB_OFFLINE", "0")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return kept | {"out": tmp_path / "out"}


def consent(*scopes: str, given: bool = True) -> list[str]:
    words = [word for scope in scopes for word in ("--scope", scope)]
    return ["speaker", "consent", "S-014", *words, "--given" if given else "--withdrawn"]


def agree(run: Run, *scopes: str, given: bool = True) -> None:
    run(*consent(*scopes, given=given))


def call(run: Run, words: str, places: dict[str, Path]) -> Outcome:
    return run(*(word.format(**places) for word in words.split()), status=None)


@pytest.mark.parametrize("words", ACTS)
def test_an_act_asks_for_each_of_its_scopes(run: Run, places: dict[str, Path], words: str) -> None:
    if " 2" in words:
        assert call(run, TYPED, places).status == 3
    if "pilot" in words:
        assert call(run, "rate plan pilot --form naming --raters R1", places).status == 0
    agree(run, *(scope for scope in SCOPES if scope not in ACTS[words]), given=False)
    before = run("speaker", "log", "S-014").out
    for scope in ACTS[words]:
        agree(run, scope, given=False)
        refused = call(run, words, places)
        assert refused.status == 1, refused.err
        assert "onsent" in refused.err
        assert f"'{scope}'" in refused.err
        agree(run, scope)
    assert run("speaker", "log", "S-014").out == before
    assert "onsent" not in call(run, words, places).err


def test_who_agreed_to_what_others_do_with_recordings_is_listed(
    run: Run, places: dict[str, Path]
) -> None:
    for scope in ("train", "play-back"):
        asked = ("speaker", "list", "--may", scope, "--json")
        assert [one["id"] for one in run(*asked).document["speakers"]] == ["S-014"]
        agree(run, scope, given=False)
        assert run(*asked).document["speakers"] == []


def test_no_voice_of_which_nobody_knows_whose_it_is_goes_out(
    run: Run, places: dict[str, Path]
) -> None:
    refused = call(run, "transcribe {sounds} --transcriber far-ears", places)
    assert refused.status == 2
    assert "the speaker is not known" in refused.err


def test_tables_for_documents_name_whose_figures_stay_within_the_study(
    run: Run, places: dict[str, Path]
) -> None:
    warning = "warning: this stays within the study: not consented to sharing outside it"
    tables = ("results 1", "results", "results --by participant")
    for words in tables:
        assert warning not in call(run, f"{words} --format csv", places).err
    agree(run, "share", given=False)
    for words in tables:
        for form in ("csv", "json"):
            told = call(run, f"{words} --format {form}", places).err
            assert f"{warning} (scope 'share'): S-014" in told, form
        assert warning not in call(run, words, places).err  # on the screen
    assert warning in call(run, "responses 1 --json", places).err


def test_scoring_afterwards_is_in_the_log(run: Run, places: dict[str, Path]) -> None:
    call(run, "trial score 1 dog right --rater R-02", places)
    last = run("speaker", "log", "S-014", "--json").document["log"][-1]
    assert (last["act"], last["administration"], last["detail"]) == (
        *("rated", 1),
        "person:R-02, item dog, score",
    )


def test_every_command_is_known_here() -> None:
    found: set[str] = set()
    group = LazyGroup()
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        names = (
            {f"{name}-{part}" for part in command.commands}
            if isinstance(command, click.Group) and name not in OF_NO_ACT
            else {name}
        )
        found |= names
    asking = {
        "-".join(words.split()[: 2 if words.split()[0] in {"trial", "judge", "rate"} else 1])
        for words in ACTS
    }
    assert found == asking | OF_NO_ACT

"""The hash of a plugin changes with its code, wherever the file is."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
import threading
from dataclasses import fields
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

import pytest

from tabwb import plugin_api
from tabwb.cli.main import main
from tabwb.host.index import EXTENSIONS, KINDS
from tabwb.host.plugins import Plugins
from tabwb.host.prices import FREE
from tabwb.host.scaffold import write_plugin
from tabwb.host.settings import Configuration, Profile
from tabwb.host.trust import identity_of
from tabwb.plugin_api import hookimpl, hookspecs
from tabwb.plugin_api.components import BatchingBackend, LikelihoodBackend
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records import events
from tabwb.records.errors import (
    ComponentError,
    MissingExtra,
    MissingPackage,
    NeedsNetwork,
    UsageError,
)
from tabwb.records.specs import Spec
from tests.plugin_api.conftest import Install, Load

SCORER = """
class Scorer:
    measures = ("m",)
    def score(self, subtest, item, response):
        return [valued("{id}", "m", True)]

@hookimpl
def tabwb_register_scorers(register):
    register(Descriptor("{id}", "A scorer", lambda spec, options: Scorer()))
"""


def test_first_party_parts_come_by_the_ordinary_road(load: Load) -> None:
    plugins = load()
    assert {"builtin", "bundled", "transformers"} <= {plugin.name for plugin in plugins.plugins}
    assert plugins.problems == ()
    assert {"echo", "replay", "bundled", "transformers"} <= {
        descriptor.id for descriptor in plugins.descriptors("models")
    }
    assert "tab" in {source.id for source in plugins.batteries()}


def test_a_plugin_that_pip_installed_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Load
) -> None:
    write_plugin("pip-made", tmp_path)
    site = tmp_path / "site"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-build-isolation", "--target", site, tmp_path / "pip-made"),
        ],
        check=True,
        timeout=120,
    )
    monkeypatch.syspath_prepend(str(site))
    plugins = load()
    info = next(plugin for plugin in plugins.plugins if plugin.name == "pip-made")
    assert (info.distribution, info.version) == ("pip-made", "0.1.0")
    assert plugins.scorer("pip-made").measures == {"mentioned": "verdict"}
    assert plugins.find_battery("pip-made") == site / "pip_made" / "battery" / "battery.toml"
    assert plugins.problems == ()


def test_a_broken_entry_point_is_a_problem_and_harms_no_other(install: Install, load: Load) -> None:
    install("broken", "import no_such_module_anywhere")
    install("sound", SCORER.format(id="sound"))
    plugins = load()
    assert plugins.scorer("sound")
    assert [(p.plugin, p.what) for p in plugins.problems] == [("broken", "loading")]
    assert "no_such_module_anywhere" in plugins.problems[0].error
    for missing in (lambda: plugins.scorer("mine"), lambda: plugins.find_battery("mine")):
        with pytest.raises(UsageError, match=r"not loaded: broken \(ModuleNotFoundError: No mod"):
            missing()


@pytest.mark.parametrize(
    ("hook", "argument", "allowed"),
    [("tabwb_on_event", "ev", "event"), ("tabwb_register_scorers", "add", "register")],
)
def test_a_wrong_argument_of_a_hook_is_named_with_the_allowed_one(
    load: Load, hook: str, argument: str, allowed: str
) -> None:
    module = ModuleType("my_plugin")
    exec(f"def {hook}({argument}): ...", vars(module))
    hookimpl(getattr(module, hook))
    plugins = Plugins.load(modules={"mine": module})
    assert [str(problem) for problem in plugins.problems] == [
        f"mine: loading: the hook {hook} has no argument '{argument}'\nallowed: {allowed}\n"
        "the names of arguments are fixed"
    ]
    with pytest.raises(UsageError, match=f"no argument '{argument}'; allowed: {allowed}"):
        plugins.scorer("mine")


def test_one_module_in_two_plugins_is_one_short_message(install: Install, load: Load) -> None:
    path = install("first", SCORER.format(id="first"))
    info = path.parent / "second-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tabwb]\nsecond = {path.stem}\n")
    (problem,) = load().problems
    assert (problem.plugin, problem.error) == (
        "second",
        f"{path.stem} is already loaded, as the plugin 'first' of 'first-package 1.0'\n"
        "give the import package another name",
    )


def test_an_implementation_that_raises_stops_no_other(install: Install, load: Load) -> None:
    source = "@hookimpl\ndef tabwb_register_scorers(register):\n    raise RuntimeError('tired')"
    install("aaa", source)
    install("zzz", SCORER.format(id="sound"))
    plugins = load()
    assert plugins.scorer("sound")
    assert plugins.scorer("choice")
    with pytest.raises(UsageError, match=r"failed: aaa \(tabwb_register_scorers: RuntimeError"):
        plugins.scorer("mine")
    assert [str(p) for p in plugins.problems] == [
        "aaa: tabwb_register_scorers: RuntimeError: tired"
    ]


def test_two_components_with_one_id_are_both_refused(install: Install, load: Load) -> None:
    install("one", SCORER.format(id="twice"))
    install("two", SCORER.format(id="twice"))
    plugins = load()
    with pytest.raises(UsageError, match="'one' and 'two'; neither is used"):
        plugins.scorer("twice")
    assert "twice" not in {descriptor.id for descriptor in plugins.descriptors("scorers")}
    assert [p.plugin for p in plugins.problems] == ["one, two"]


@pytest.mark.parametrize(
    ("kind", "word", "more"),
    [
        ("scorers", "choice", ""),
        ("judges", "rules", ""),  # an alias
        ("models", "echo", ""),
        ("models", "mine", ", aliases=('bundled',)"),
    ],
)
def test_ids_of_tabwb_are_reserved(
    install: Install, load: Load, kind: str, word: str, more: str
) -> None:
    install(
        "greedy",
        f"""
        @hookimpl
        def tabwb_register_{kind}(register):
            register(Descriptor("{word}", "Greedy", lambda spec, options: None{more}))
            register(Descriptor("greedy-own", "Own", lambda spec, options: None))
        """,
    )
    plugins = load()
    owners = {one.descriptor.id: one.owner for one in plugins.components(kind)}  # type: ignore[arg-type]
    assert owners["greedy-own"] == "greedy"
    assert "greedy" not in {owner for name, owner in owners.items() if name != "greedy-own"}
    (problem,) = plugins.problems
    assert problem.plugin == "greedy"
    assert "is an id of tabwb" in problem.error
    plugins.scorer("choice")
    plugins.judge("rules")


def test_a_battery_of_tabwb_is_reserved(install: Install, load: Load) -> None:
    path = install(
        "thief",
        """
        from pathlib import Path
        @hookimpl
        def tabwb_register_batteries(register):
            register(BatterySource("tab", Path(__file__)))
        """,
    )
    plugins = load()
    assert plugins.find_battery("tab") != path
    assert [(p.plugin, p.what) for p in plugins.problems] == [("thief", "battery 'tab'")]


def test_two_batteries_with_one_id_are_both_refused(install: Install, load: Load) -> None:
    for name in ("one", "two"):
        install(
            name,
            """
            from pathlib import Path
            @hookimpl
            def tabwb_register_batteries(register):
                register(BatterySource("twice", Path(__file__)))
            """,
        )
    plugins = load()
    with pytest.raises(UsageError, match=r"'one'.* and 'two'"):
        plugins.find_battery("twice")


def test_a_plugin_cannot_take_the_place_of_one_of_tabwb(
    install: Install, load: Load, tmp_path: Path
) -> None:
    install("builtin", SCORER.format(id="mine"))
    plugins = load()
    assert next(one for one in plugins.plugins if one.name == "builtin").distribution == "tabwb"
    assert plugins.scorer("choice")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("needs='httpx'", "needs"),
        ("aliases='short'", "aliases"),
        ("needs_network='no'", "needs_network"),
        ("runs='thread'", "runs"),
        ("protocols=('generate', 'free')", "protocols"),
        ("likelihood='yes'", "likelihood"),
        ("options={}", "options"),
        ("remarks=None", "remarks"),
        ("wraps='model'", "wraps"),
        ("title=5", "title"),
    ],
)
def test_a_field_of_another_type_is_named(
    install: Install, load: Load, given: str, field: str
) -> None:
    title = "" if field == "title" else "title='Mine', "
    install(
        "mine",
        f"""
        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor(id="mine", {title}factory=print, {given}))
        """,
    )
    (problem,) = load().problems
    assert f"the field '{field}' of 'mine'" in problem.error
    assert "allowed" in problem.error


@pytest.mark.parametrize(
    ("needs", "module", "said"),
    [
        ("tabwb>=99", "", "needs tabwb>=99"),
        ("tabwb<0.2; python_version > '3'", "", "needs tabwb<0.2"),
        ("numpy>=99", "", ""),
        ("tabwb>=0.1", "tabwb_api = 99", "plugin interface 99"),
        ("tabwb>=0.1", "tabwb_api = 2", ""),
    ],
)
def test_a_plugin_for_another_tabwb_is_not_loaded(
    install: Install, load: Load, needs: str, module: str, said: str
) -> None:
    path = install("other", module + "\n" + SCORER.format(id="other-scorer"))
    (metadata,) = path.parent.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text("utf-8") + f"Requires-Dist: {needs}\n", "utf-8")
    problems = load().problems
    assert [said in one.error for one in problems] == ([True] if said else [])


def test_what_open_raises_names_component_and_plugin(install: Install, load: Load) -> None:
    install(
        "sick",
        """
        class Model:
            def open(self): raise ValueError("no weights")
            def reply(self, request, cancel): yield "x"
            def close(self): pass
        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("ill", "Ill", lambda spec, options: Model()))
        """,
    )
    with pytest.raises(ComponentError, match="'ill' of plugin 'sick' failed: ValueError: no w"):
        load().open_model("ill").open()


def test_the_time_of_each_import_is_told(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("slow", "time.sleep(0.2)")
    assert main(["plugins", "list", "--times", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["plugins"]
    took = {one["name"]: one["import_s"] for one in listed}
    assert took["slow"] >= 0.2
    assert set(took) > {"builtin", "slow"}


def test_two_plugins_of_one_name_are_named(
    install: Install, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("same", SCORER.format(id="first"))
    second = tmp_path / "second" / "other_same-1.0.dist-info"
    second.mkdir(parents=True)
    (second / "METADATA").write_text("Metadata-Version: 2.1\nName: other-same\nVersion: 1\n")
    (second / "entry_points.txt").write_text("[tabwb]\nsame = json\n")
    monkeypatch.syspath_prepend(str(second.parent))
    problems = load().problems
    assert len(problems) == 1
    assert "'same-package 1.0'" in problems[0].error
    assert "'other-same 1'" in problems[0].error


def test_an_observer_that_raises_is_a_problem_and_others_are_told(
    install: Install, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    install("aaa", "@hookimpl\ndef tabwb_on_event(event):\n    raise ValueError('no')")
    install("bbb", "@hookimpl\ndef tabwb_on_event(event):\n    print('told', event)")
    plugins = load()
    plugins.notify(events.Finished(7))
    plugins.notify(events.Finished(7))
    plugins.notify(events.Streamed(7, 1, "a piece"))
    assert capsys.readouterr().err.count("told Finished(administration=7)") == 2
    assert [str(p) for p in plugins.problems] == ["aaa: tabwb_on_event: ValueError: no"]


def test_a_misspelt_hook_is_a_problem(install: Install, load: Load) -> None:
    install("typo", "@hookimpl\ndef tabwb_register_scorer(register):\n    pass")
    assert [p.error for p in load().problems] == [
        "tabwb has no such hook; did you mean 'tabwb_register_scorers'?"
    ]


def test_a_malformed_descriptor_is_a_problem(install: Install, load: Load) -> None:
    install("loud", SCORER.format(id="LOUD"))
    assert "'LOUD' is not a kebab-case id" in load().problems[0].error


def test_a_factory_that_raises_names_component_and_plugin(install: Install, load: Load) -> None:
    install(
        "sick",
        """
        def make(spec, options):
            raise KeyError("gone")
        @hookimpl
        def tabwb_register_scorers(register):
            register(Descriptor("ill", "Fails", make))
        """,
    )
    with pytest.raises(ComponentError, match="'ill' of plugin 'sick' cannot be made: KeyError"):
        load().scorer("ill")


def test_a_component_that_breaks_its_contract_is_refused(install: Install, load: Load) -> None:
    install(
        "fake",
        """
        @hookimpl
        def tabwb_register_scorers(register):
            register(Descriptor("fake", "Is none", lambda spec, options: object()))
        """,
    )
    with pytest.raises(
        ComponentError, match="'fake' of plugin 'fake' returned object, which lacks"
    ):
        load().scorer("fake")


def test_a_battery_argument_with_a_slash_is_a_path(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.touch()
    assert load().find_battery(str(path)) == path
    assert load().find_battery(f"{tmp_path}/") == path


def test_listing_plugins_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from tabwb.host.plugins import Plugins, KINDS\n"
        "plugins = Plugins.load()\n"
        "assert not plugins.problems, plugins.problems\n"
        "for kind in KINDS: plugins.descriptors(kind)\n"
        "plugins.batteries(); plugins.resolve('models', 'bundled')\n"
        "heavy = {'torch', 'transformers', 'numpy', 'pydantic', 'textual', 'tomli'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_distribution_is_looked_at() -> None:
    # The three entry points of this project are installed: what is tested is what a user gets.
    names = {
        entry.name
        for distribution in distributions(name="tabwb")
        for entry in distribution.entry_points
        if entry.group == "tabwb"
    }
    assert names >= {"builtin", "bundled", "transformers"}


@pytest.mark.parametrize("argument", ["./" + "x" * 300, "~nobody-of-this-name/x.toml", "a\0/b"])
def test_what_cannot_be_a_file_is_said(load: Load, argument: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be a file|no such file"):
        load().find_battery(argument)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise BaseException('odd')", "BaseException: odd"),
        ("raise GeneratorExit", "GeneratorExit"),
    ],
)
@pytest.mark.parametrize("when", ["import", "hook"])
def test_a_plugin_that_exits_is_a_problem_of_that_plugin(
    install: Install, load: Load, act: str, expected: str, when: str
) -> None:
    hook = "@hookimpl\ndef tabwb_register_scorers(register):\n    "
    install("leaver", f"{act}\n" if when == "import" else f"{hook}{act}\n")
    plugins = load()
    assert plugins.components("scorers"), "those of others are there"
    (problem,) = [each for each in plugins.problems if each.plugin == "leaver"]
    assert expected in problem.error


def test_what_a_plugin_prints_goes_to_stderr(
    install: Install, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "talker",
        "print('imported')\n@hookimpl\ndef tabwb_register_scorers(register):\n    print('asked')\n",
    )
    load().components("scorers")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.split() == ["imported", "asked"]


PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
HOOKS = [name for name in dir(hookspecs) if name.startswith("tabwb_")]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_with_its_time(hook: str) -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith(f"| `{hook}(")]
    assert len(rows) == 1
    assert all(cell.strip() for cell in rows[0].strip("|").split("|"))
    assert "Called" in (inspect.getdoc(getattr(hookspecs, hook)) or "")


@pytest.mark.parametrize("field", [field.name for field in fields(Descriptor)])
def test_every_field_of_a_descriptor_is_documented(field: str) -> None:
    assert f"| `{field}`" in PAGE.read_text("utf-8")


def test_every_hook_has_a_caller() -> None:
    kinds = (*KINDS, *EXTENSIONS, "batteries")
    called = {f"tabwb_register_{kind}" for kind in kinds}
    assert called | {"tabwb_on_event"} == set(HOOKS)


def test_every_name_for_authors_is_found_under_its_own_name() -> None:
    tree = ast.parse(inspect.getsource(plugin_api))
    imported = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name in ("import_module", "TYPE_CHECKING", "Any"):
        del imported[name]
    assert imported == plugin_api._MODULE_OF
    assert imported.keys() <= set(dir(plugin_api))
    for name, module in imported.items():
        assert getattr(plugin_api, name) is getattr(import_module(str(module)), name)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = plugin_api.no_such_name


def test_list_shows_components_with_their_owners(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "list"]) == 0
    out = capsys.readouterr().out
    for word in ("builtin", "echo", "replay", "rules-2", "jsonl", "tab"):
        assert word in out


def test_list_as_json_holds_what_failed(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", "1 / 0")
    assert main(["plugins", "list", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["format"] == 1
    assert {"name": "builtin", "distribution": "tabwb"}.items() <= next(
        plugin for plugin in document["plugins"] if plugin["name"] == "builtin"
    ).items()
    models = {model["id"]: model for model in document["components"]["models"]}
    assert models["bundled"]["runs"] == "child"
    assert models["echo"]["status"] == "ok"
    assert document["problems"] == [
        {"plugin": "broken", "what": "loading", "error": "ZeroDivisionError: division by zero"}
    ]


def test_list_says_what_failed_on_stderr(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", "1 / 0")
    assert main(["plugins", "list"]) == 0
    assert "! broken: loading: ZeroDivisionError" in capsys.readouterr().err


def test_a_missing_extra_is_shown_with_its_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.host.index.is_installed", lambda name: False)
    assert main(["plugins", "list"]) == 0
    assert '[install it with: pip install "tabwb[local]"]' in capsys.readouterr().out


def test_a_new_plugin_is_used_once_it_is_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    root = tmp_path / "fresh-words"
    assert main(["plugins", "new", "fresh-words", "--in", str(tmp_path)]) == 0
    assert str(root / "pyproject.toml") in capsys.readouterr().out
    assert main(["plugins", "trust", str(root)]) == 0
    assert "is trusted as it is now" in capsys.readouterr().out
    status = main(["run", "fresh-words", "--model", "echo@text=a dog", "--json"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    trials = json.loads(captured.out)["trials"]
    values = {
        trial["item"]: rating["value"]
        for trial in trials
        for rating in trial["ratings"]
        if rating["rater"] == "fresh-words"
    }
    assert values == {"q1": 1.0, "q2": 0.0}
    (root / "new-file").touch()
    assert main(["plugins", "trust", str(root)]) == 0
    assert "has changed" in capsys.readouterr().out


def test_trusting_a_second_plugin_of_one_name_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        write_plugin("same-words", folder)
        assert main(["plugins", "trust", str(folder / "same-words")]) == 0
    warning = f"warning: '{first}/same-words' has a plugin 'same-words' too; only one is used"
    assert warning in capsys.readouterr().err
    assert main(["plugins", "untrust", str(second / "same-words")]) == 0
    assert "is no longer trusted" in capsys.readouterr().out


def test_what_is_no_plugin_folder_cannot_be_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plugins", "trust", str(tmp_path)]) == 1
    assert "is not a plugin folder" in capsys.readouterr().err
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert main(["plugins", "trust", str(tmp_path)]) == 1
    assert "declares no entry point" in capsys.readouterr().err


def test_new_refuses_to_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    assert main(["plugins", "new", "mine", "--in", str(tmp_path)]) == 1
    assert "nothing was written" in capsys.readouterr().err


def test_two_files_of_one_name_cannot_change_places_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "swapped"
    texts = {"a": "x = 1", "b": "x = 2"}
    for folder, text in texts.items():
        (package / folder).mkdir(parents=True)
        (package / folder / "rule.py").write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    module = ModuleType("swapped")
    module.__file__ = str(package / "__init__.py")
    monkeypatch.setitem(sys.modules, "swapped", module)
    before = identity_of(module, "swapped", "1")
    assert before.sha256 and before == identity_of(module, "swapped", "1")
    for folder, other in (("a", "b"), ("b", "a")):
        (package / folder / "rule.py").write_text(texts[other], encoding="utf-8")
    assert identity_of(module, "swapped", "1") != before


MODELS = """
class Model:
    def open(self): return {}
    def close(self): pass
    def reply(self, request, cancel):
        yield "text"
        yield Reply("text", StopReason.END, 0.1)

class Weighs(Model):
    def reply_many(self, requests, cancel):
        for index, _ in enumerate(requests):
            yield index, Reply("text", StopReason.END, 0.1)
    def likelihood(self, request, continuations, cancel):
        return [Likelihood(-1.0 - at, 1) for at, _ in enumerate(continuations)]

@hookimpl
def tabwb_register_models(register):
    add = lambda id, made, **more: register(Descriptor(id, id, made, **more))
    add("claims", lambda s, o: Model(), likelihood=True)
    add("names-it", lambda s, o: Model(), protocols=("generate", "likelihood"))
    add("claims-batches", lambda s, o: Model(), batches=True)
    add("weighs", lambda s, o: Weighs())
    add("child-claims", lambda s, o: Model(), likelihood=True, runs="child")
    add("child-weighs", lambda s, o: Weighs(), likelihood=True, runs="child")
"""


def answers(spec: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, int]:
    status = main(["run", "tab", "--model", spec, "--protocol", "likelihood", "--judge", "none"])
    err = capsys.readouterr().err
    main(["results", "--json"])
    listed = json.loads(capsys.readouterr().out)["administrations"]
    return status, err, sum(one["answered"] for one in listed)


@pytest.mark.parametrize("spec", ["claims", "names-it", "child-claims"])
def test_likelihoods_that_a_back_end_does_not_have_are_refused(
    install: Install, capsys: pytest.CaptureFixture[str], spec: str
) -> None:
    install("mine", MODELS)
    status, err, answered = answers(spec, capsys)
    assert (status, answered) == (1, 0)
    assert "plugin 'mine'" in err
    assert "lacks likelihood" in " ".join(err.split())


@pytest.mark.parametrize("spec", ["weighs", "child-weighs"])
def test_likelihoods_are_found_by_the_method(
    install: Install, capsys: pytest.CaptureFixture[str], spec: str
) -> None:
    install("mine", MODELS)
    assert answers(spec, capsys)[::2] == (0, 20)


def test_batches_are_found_and_refused_by_the_method(install: Install, load: Load) -> None:
    install("mine", MODELS)
    plugins = load()
    with pytest.raises(ComponentError, match="lacks reply_many"):
        plugins.open_model("claims-batches")
    backend = plugins.open_model("weighs")
    assert isinstance(backend, BatchingBackend)
    assert isinstance(backend, LikelihoodBackend)
    child = plugins.open_model("child-weighs")
    child.open()
    try:
        assert isinstance(child, BatchingBackend)
        assert list(child.reply_many([], threading.Event())) == []
    finally:
        child.close()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ecko", ["there is no model back end 'ecko'", "did you mean 'echo'?"]),
        ("echo:loud", ["'echo' takes no name"]),
        ("replay", ["'replay' needs a name", "replay:FILE"]),
        ("echo@dela=1", ["no option 'dela'", "did you mean 'delay'?", "delay, text"]),
        ("echo@delay=-1", ["'delay'", "'-1' is not allowed", "0 to 60"]),
        ("echo@delay=nan", ["'delay'", "'nan' is not allowed"]),
        ("transformers:x@dtype=int3", ["'dtype'", "'int3'", "bfloat16"]),
        ("transformers:x@threads=0", ["'threads'", "1 to 1024"]),
        ("profile:nobody", ["there is no profile 'nobody'"]),
    ],
)
def test_a_spec_that_names_nothing_says_what_is_allowed(
    load: Load, spec: str, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        load().resolve("models", spec)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ruls", ["did you mean 'rules'?", "allowed: rules, likelihood,", "tabwb judge list"]),
        ("Rules", ["for example rules or tab-2026+likelihood:bundled"]),
        ("tab-2026:", ["after the colon of 'tab-2026:' a name is missing"]),
    ],
)
def test_a_judge_that_is_none_is_told_with_judges_and_their_short_words(
    load: Load, spec: str, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        load().resolve("judges", spec)
    for word in words:
        assert word in str(caught.value)
    assert "replay" not in str(caught.value)


def test_an_alias_is_stored_as_what_it_stands_for(load: Load) -> None:
    descriptor, spec = load().resolve("judges", "rules")
    assert (descriptor.id, str(spec)) == ("rules-2", "rules-2")


def test_an_alias_never_takes_an_id_away(install: Install, load: Load) -> None:
    install(
        "sly",
        """
        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("sly", "Sly", lambda s, o: None, aliases=("echo",)))
        """,
    )
    plugins = load()
    assert plugins.resolve("models", "echo")[0].id == "echo"
    assert "model back end 'echo'" in str(plugins.problems[0])


def test_a_profile_is_stored_as_what_it_stands_for() -> None:
    profiles = {
        "slow": Profile(Spec("echo", None, {"delay": "0.5"}), "here"),
        "comma": Profile(Spec("echo", None, {"text": "a, b"}), "here"),
    }
    plugins = Plugins.load(Configuration(profiles=profiles))
    assert str(plugins.resolve("models", "profile:slow")[1]) == "echo@delay=0.5"
    assert str(plugins.resolve("models", "profile:slow@delay=0")[1]) == "echo@delay=0"
    assert str(plugins.resolve("models", "profile:comma")[1]) == "profile:comma"
    assert plugins.open_model("profile:comma").open()


def test_what_needs_a_network_is_refused_offline_before_its_factory_runs(install: Install) -> None:
    install(
        "far",
        """
        def make(spec, options):
            raise AssertionError("the factory ran")
        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("far", "Far away", make, needs_network=True))
        """,
    )
    with pytest.raises(NeedsNetwork, match="'far' needs a network, and tabwb is offline"):
        Plugins.load(Configuration(offline=True)).open_model("far")


def test_whether_a_network_is_needed_may_depend_on_the_options(install: Install) -> None:
    install(
        "near",
        """
        from typing import Annotated
        from pydantic import BaseModel
        class Options(BaseModel):
            place: str = "far"
        class Near:
            def open(self):
                return {}
            def reply(self, request, cancel):
                yield Reply("", StopReason.END, 0.0)
            def close(self):
                pass
        def outside(spec):
            return spec.options.get("place") != "here"
        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("near", "Near or far", lambda spec, options: Near(),
                                options=lambda: Options, needs_network=outside))
        """,
    )
    plugins = Plugins.load(Configuration(offline=True))
    plugins.open_model("near@place=here")
    assert plugins.price("near@place=here") is FREE
    with pytest.raises(NeedsNetwork, match="'near' needs a network"):
        plugins.open_model("near")


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = load()
    monkeypatch.setattr("tabwb.host.index.is_installed", lambda name: False)
    with pytest.raises(MissingExtra) as caught:
        plugins.resolve("models", "bundled")
    assert 'pip install "tabwb[local]"' in str(caught.value)


def test_a_plugin_names_packages_of_its_own(load: Load, install: Install) -> None:
    install(
        "hearing",
        """
        @hookimpl
        def tabwb_register_scorers(register):
            for id, more in (("lacks", {"needs": ("no-such-package",)}),
                             ("told", {"needs": ("no_such",), "install": "conda install such"}),
                             ("has", {"needs": ("json", "pluggy")})):
                register(Descriptor(id, id, lambda spec, options: None, **more))
        """,
    )
    plugins = load()
    assert plugins.problems == ()
    with pytest.raises(MissingPackage, match="pip install no-such-package"):
        plugins.resolve("scorers", "lacks")
    with pytest.raises(MissingPackage, match="conda install such"):
        plugins.resolve("scorers", "told")
    plugins.resolve("scorers", "has")

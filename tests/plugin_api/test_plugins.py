"""The hash of a plugin changes with its code, wherever the file is."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import threading
from dataclasses import fields
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from tabwb import plugin_api
from tabwb.host.index import EXTENSIONS, KINDS
from tabwb.host.plugins import Plugins
from tabwb.host.prices import FREE
from tabwb.host.scaffold import write_plugin
from tabwb.host.settings import Configuration, Profile, identity_of
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
from tests.cli.conftest import Run
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


def registers(kind: str, what: str) -> str:
    return f"@hookimpl\ndef tabwb_register_{kind}(register):\n    register({what})\n"


def wrong(field: str) -> str:
    title = "" if field.startswith("title") else "title='Mine', "
    return registers("models", f"Descriptor(id='mine', {title}factory=print, {field})")


BATTERY = "BatterySource({}, __import__('pathlib').Path(__file__))"
PROBLEMS = [
    ("import no_such_module", "loading: ModuleNotFoundError: No module named 'no_such_module"),
    ("raise SystemExit(3)", "loading: SystemExit: 3"),
    ("raise BaseException('odd')", "loading: BaseException: odd"),
    ("raise GeneratorExit", "loading: GeneratorExit"),
    ("tabwb_api = 99", "plugin interface 99"),
    ("@hookimpl\ndef tabwb_register_scorer(register):\n    pass",
     "tabwb has no such hook; did you mean 'tabwb_register_scorers'?"),
    (registers("scorers", "1 / 0"), "tabwb_register_scorers: ZeroDivisionError"),
    (registers("scorers", "sys.exit(3)"), "tabwb_register_scorers: SystemExit: 3"),
    ("@hookimpl\ndef tabwb_register_scorers(register):\n    raise GeneratorExit", "GeneratorExit"),
    (SCORER.format(id="LOUD"), "'LOUD' is not a kebab-case id"),
    (SCORER.format(id="choice"), "is an id of tabwb"),
    (registers("judges", "Descriptor('rules', 'An alias', print)"), "is an id of tabwb"),
    (registers("models", "Descriptor('echo', 'E', print)"), "is an id of tabwb"),
    (registers("models", "Descriptor('a', 'A', print, aliases=('bundled',))"), "is an id of tabwb"),
    (registers("models", "Descriptor('a', 'A', print, aliases=('echo',))"), "back end 'echo'"),
    (registers("batteries", BATTERY.format("'tab'")), "battery 'tab'"),
    (wrong("needs='httpx'"), "the field 'needs' of 'mine'|allowed"),
    (wrong("aliases='short'"), "the field 'aliases' of 'mine'|allowed"),
    (wrong("needs_network='no'"), "the field 'needs_network' of 'mine'|allowed"),
    (wrong("runs='thread'"), "the field 'runs' of 'mine'|allowed"),
    (wrong("protocols=('generate', 'free')"), "the field 'protocols' of 'mine'|allowed"),
    (wrong("likelihood='yes'"), "the field 'likelihood' of 'mine'|allowed"),
    (wrong("options={}"), "the field 'options' of 'mine'|allowed"),
    (wrong("remarks=None"), "the field 'remarks' of 'mine'|allowed"),
    (wrong("wraps='model'"), "the field 'wraps' of 'mine'|allowed"),
    (wrong("title=5"), "the field 'title' of 'mine'|allowed"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "said"), PROBLEMS)
def test_what_is_wrong_with_a_plugin_is_one_problem_and_harms_no_other(
    install: Install, load: Load, source: str, said: str
) -> None:
    install("aaa", source)
    install("zzz", SCORER.format(id="sound"))
    plugins = load()
    (problem,) = plugins.problems
    assert problem.plugin == "aaa"
    assert all(words in str(problem) for words in said.split("|")), str(problem)
    assert plugins.scorer("sound") and plugins.scorer("choice") and plugins.judge("rules")
    assert plugins.resolve("models", "echo")[0].id == "echo"
    kinds: tuple[Any, ...] = ("scorers", "judges", "models")
    owned = {one.descriptor.id: one.owner for kind in kinds for one in plugins.components(kind)}
    assert all(owned[name] == "builtin" for name in ("choice", "echo", "rules-2"))


def test_a_component_or_battery_of_a_plugin_that_failed_is_named(
    install: Install, load: Load
) -> None:
    install("broken", "import no_such_module_anywhere")
    install(
        "tired", "@hookimpl\ndef tabwb_register_scorers(register):\n    raise RuntimeError('no')"
    )
    plugins = load()
    for missing in (lambda: plugins.scorer("mine"), lambda: plugins.find_battery("mine")):
        with pytest.raises(UsageError, match=r"not loaded: broken \(ModuleNotFoundError: No mod"):
            missing()
    with pytest.raises(UsageError, match=r"failed: tired \(tabwb_register_scorers: RuntimeError"):
        plugins.scorer("mine")


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ("tabwb>=99", "needs tabwb>=99"),
        ("tabwb<0.2; python_version > '3'", "needs tabwb<0.2"),
        ("numpy>=99", ""),
        ("tabwb>=0.1", ""),
    ],
)
def test_a_plugin_for_another_tabwb_is_not_loaded(
    install: Install, load: Load, needs: str, said: str
) -> None:
    path = install("other", "tabwb_api = 2\n" + SCORER.format(id="other-scorer"))
    (metadata,) = path.parent.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text("utf-8") + f"Requires-Dist: {needs}\n", "utf-8")
    problems = load().problems
    assert [said in one.error for one in problems] == ([True] if said else [])


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


def test_two_components_and_batteries_with_one_id_are_both_refused(
    install: Install, load: Load
) -> None:
    for name in ("one", "two"):
        twice = registers("batteries", BATTERY.format("'twice'"))
        install(name, SCORER.format(id="twice") + twice)
    plugins = load()
    with pytest.raises(UsageError, match="'one' and 'two'; neither is used"):
        plugins.scorer("twice")
    assert "twice" not in {descriptor.id for descriptor in plugins.descriptors("scorers")}
    assert "one, two" in [p.plugin for p in plugins.problems]
    with pytest.raises(UsageError, match=r"'one'.* and 'two'"):
        plugins.find_battery("twice")


def test_a_plugin_cannot_take_the_place_of_one_of_tabwb(
    install: Install, load: Load, tmp_path: Path
) -> None:
    install("builtin", SCORER.format(id="mine"))
    plugins = load()
    assert next(one for one in plugins.plugins if one.name == "builtin").distribution == "tabwb"
    assert plugins.scorer("choice")


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


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("{}['gone']", "'ill' of plugin 'sick' cannot be made: KeyError"),
        ("object()", "'ill' of plugin 'sick' returned object, which lacks"),
        ("Model()", "'ill' of plugin 'sick' failed: ValueError: no weights"),
    ],
)
def test_a_factory_or_opening_that_fails_names_component_and_plugin(
    install: Install, load: Load, made: str, said: str
) -> None:
    source = """
    class Model:
        def open(self): raise ValueError("no weights")
        def reply(self, request, cancel): yield "x"
        def close(self): pass
    """
    install(
        "sick",
        dedent(source) + registers("models", f"Descriptor('ill', 'Ill', lambda s, o: {made})"),
    )
    with pytest.raises(ComponentError, match=said):
        load().open_model("ill").open()


def test_what_has_defaults_is_not_said_to_be_missing(install: Install, load: Load) -> None:
    judge = "\nclass Bad:\n    rater, features = 'bad', ('anomia',)\n"
    install("sick", judge + registers("judges", "Descriptor('bad', 'Bad', lambda s, o: Bad())"))
    with pytest.raises(ComponentError, match=r"Bad, which lacks caution, judge or judge_many\n"):
        load().judge("bad")


def test_a_battery_argument_with_a_slash_is_a_path(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.touch()
    plugins = load()
    assert plugins.find_battery(str(path)) == path == plugins.find_battery(f"{tmp_path}/")
    for argument in ("./" + "x" * 300, "~nobody-of-this-name/x.toml", "a\0/b"):
        with pytest.raises(UsageError, match=r"cannot be a file|no such file"):
            plugins.find_battery(argument)


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


def test_list_shows_components_with_their_owners_what_is_missing_and_what_failed(
    install: Install, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("broken", "1 / 0")
    install("slow", "time.sleep(0.2)")
    document = run("plugins", "list", "--times", "--json").document
    assert document["format"] == 1
    plugins = {one["name"]: one for one in document["plugins"]}
    assert plugins["builtin"]["distribution"] == "tabwb" and plugins["slow"]["import_s"] >= 0.2
    models = {model["id"]: model for model in document["components"]["models"]}
    assert (models["bundled"]["runs"], models["echo"]["status"]) == ("child", "ok")
    assert document["problems"] == [
        {"plugin": "broken", "what": "loading", "error": "ZeroDivisionError: division by zero"}
    ]
    monkeypatch.setattr("tabwb.host.index.is_installed", lambda name: False)
    out = run("plugins", "list", err="! broken: loading: ZeroDivisionError").out
    for word in ("builtin", "echo", "replay", "rules-2", "jsonl", "tab"):
        assert word in out
    assert '[install it with: pip install "tabwb[local]"]' in out


def test_a_new_plugin_is_used_once_it_is_trusted(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    root = tmp_path / "fresh-words"
    new = ["plugins", "new", "fresh-words", "--in", tmp_path]
    assert str(root / "pyproject.toml") in run(*new).out
    run(*new, status=1, err="nothing was written")
    assert "is trusted as it is now" in run("plugins", "trust", root).out
    document = run("run", "fresh-words", "--model", "echo@text=a dog", "--json").document
    values = {
        trial["item"]: rating["value"]
        for trial in document["trials"]
        for rating in trial["ratings"]
        if rating["rater"] == "fresh-words"
    }
    assert values == {"q1": 1.0, "q2": 0.0}
    (root / "new-file").touch()
    assert "has changed" in run("plugins", "trust", root).out


def test_trusting_a_second_plugin_of_one_name_warns_and_no_plugin_is_refused(
    tmp_path: Path, run: Run
) -> None:
    run("plugins", "trust", tmp_path, status=1, err="is not a plugin folder")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    run("plugins", "trust", tmp_path, status=1, err="declares no entry point")
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        write_plugin("same-words", folder)
        said = run("plugins", "trust", folder / "same-words").err
    assert f"warning: '{first}/same-words' has a plugin 'same-words' too; only one is used" in said
    assert "is no longer trusted" in run("plugins", "untrust", second / "same-words").out


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


def answered(run: Run, spec: str, *said: str, status: int = 0) -> int:
    words = ["run", "tab", "--model", spec, "--protocol", "likelihood", "--judge", "none"]
    err = " ".join(run(*words, status=status).err.split())
    assert all(each in err for each in said), err
    return sum(one["answered"] for one in run("results", "--json").document["administrations"])


@pytest.mark.parametrize("spec", ["claims", "names-it", "child-claims"])
def test_likelihoods_that_a_back_end_does_not_have_are_refused(
    install: Install, run: Run, spec: str
) -> None:
    install("mine", MODELS)
    assert answered(run, spec, "plugin 'mine'", "lacks likelihood", status=1) == 0


@pytest.mark.parametrize("spec", ["weighs", "child-weighs"])
def test_likelihoods_are_found_by_the_method(install: Install, run: Run, spec: str) -> None:
    install("mine", MODELS)
    assert answered(run, spec) == 20


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
    ("kind", "spec", "words"),
    [
        ("models", "ecko", ["there is no model back end 'ecko'", "did you mean 'echo'?"]),
        ("models", "echo:loud", ["'echo' takes no name"]),
        ("models", "replay", ["'replay' needs a name", "replay:FILE"]),
        ("models", "echo@dela=1", ["no option 'dela'", "did you mean 'delay'?", "delay, text"]),
        ("models", "echo@delay=-1", ["'delay'", "'-1' is not allowed", "0 to 60"]),
        ("models", "echo@delay=nan", ["'delay'", "'nan' is not allowed"]),
        ("models", "transformers:x@dtype=int3", ["'dtype'", "'int3'", "bfloat16"]),
        ("models", "transformers:x@threads=0", ["'threads'", "1 to 1024"]),
        ("models", "profile:nobody", ["there is no profile 'nobody'"]),
        ("judges", "ruls",
         ["did you mean 'rules'?", "allowed: rules, likelihood,", "tabwb judge list"]),
        ("judges", "Rules", ["for example rules or tab-2026+likelihood:bundled"]),
        ("judges", "tab-2026:", ["after the colon of 'tab-2026:' a name is missing"]),
    ],
)  # fmt: skip
def test_a_spec_that_names_nothing_says_what_is_allowed(
    load: Load, kind: Any, spec: str, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        load().resolve(kind, spec)
    assert all(word in str(caught.value) for word in words)
    assert kind == "models" or "replay" not in str(caught.value)


def test_an_alias_and_a_profile_are_stored_as_what_they_stand_for() -> None:
    profiles = {
        "slow": Profile(Spec("echo", None, {"delay": "0.5"}), "here"),
        "comma": Profile(Spec("echo", None, {"text": "a, b"}), "here"),
    }
    plugins = Plugins.load(Configuration(profiles=profiles))
    for given, stored in (
        ("slow", "echo@delay=0.5"), ("slow@delay=0", "echo@delay=0"), ("comma", "profile:comma"),
    ):  # fmt: skip
        assert str(plugins.resolve("models", f"profile:{given}")[1]) == stored
    assert plugins.open_model("profile:comma").open()
    descriptor, spec = plugins.resolve("judges", "rules")
    assert (descriptor.id, str(spec)) == ("rules-2", "rules-2")


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


def test_a_missing_extra_and_packages_of_a_plugins_own_are_named(
    load: Load, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    plugins.resolve("scorers", "has")
    for name, words in (("lacks", "pip install no-such-package"), ("told", "conda install such")):
        with pytest.raises(MissingPackage, match=words):
            plugins.resolve("scorers", name)
    monkeypatch.setattr("tabwb.host.index.is_installed", lambda name: False)
    with pytest.raises(MissingExtra, match=r'pip install "tabwb\[local\]"'):
        plugins.resolve("models", "bundled")

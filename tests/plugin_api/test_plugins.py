from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.cli.main import main
from tabwb.plugin_api import hookimpl
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.registry.scaffold import write_plugin
from tabwb.records import events
from tabwb.records.errors import (
    ComponentError,
    UsageError,
)
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
    [("tabwb_on_rated", "ev", "event"), ("tabwb_register_scorers", "add", "register")],
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
    install("aaa", "@hookimpl\ndef tabwb_on_finished(event):\n    raise ValueError('no')")
    install("bbb", "@hookimpl\ndef tabwb_on_finished(event):\n    print('told', event)")
    plugins = load()
    plugins.notify(events.Finished(7))
    plugins.notify(events.Finished(7))
    plugins.notify(events.Streamed(7, 1, "a piece"))
    assert capsys.readouterr().err.count("told Finished(administration=7)") == 2
    assert [str(p) for p in plugins.problems] == ["aaa: tabwb_on_finished: ValueError: no"]


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


# ---------------------------------------------------------------- batteries


def test_a_battery_argument_with_a_slash_is_a_path(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "battery.toml"
    path.touch()
    assert load().find_battery(str(path)) == path
    assert load().find_battery(f"{tmp_path}/") == path


def test_a_misspelt_battery_is_answered_with_the_nearest(load: Load) -> None:
    with pytest.raises(UsageError, match="did you mean 'tab'"):
        load().find_battery("tabb")


def test_a_battery_file_that_is_not_there_is_said(load: Load) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml: there is no such file"):
        load().find_battery("nowhere.toml")


# ---------------------------------------------------------------- light imports


def test_listing_plugins_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from tabwb.plugin_api.registry.plugins import Plugins, KINDS\n"
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

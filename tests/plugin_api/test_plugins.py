from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.plugin_api import hookimpl
from tabwb.plugin_api.config.profiles import Profile
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.registry.scaffold import write_plugin
from tabwb.plugin_api.remote.prices import FREE
from tabwb.records import events
from tabwb.records.errors import (
    ComponentError,
    MissingExtra,
    MissingPackage,
    NeedsNetwork,
    UsageError,
)
from tabwb.records.specs import Spec

Load = Callable[[], Plugins]
Install = Callable[[str, str], Path]

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
    assert plugins.scorer("pip-made").measures == ("mentioned",)
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


def test_a_first_party_id_does_not_win_silently(install: Install, load: Load) -> None:
    install("greedy", SCORER.format(id="choice"))
    plugins = load()
    with pytest.raises(UsageError, match="'builtin' and 'greedy'"):
        plugins.scorer("choice")


def test_two_batteries_with_one_id_are_both_refused(install: Install, load: Load) -> None:
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
    with pytest.raises(UsageError, match="'builtin'") as caught:
        plugins.find_battery("tab")
    assert str(path) in str(caught.value)
    assert "tab" not in {source.id for source in plugins.batteries()}


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


# ---------------------------------------------------------------- specs


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


def test_what_needs_a_network_is_refused_offline_before_its_factory_runs(
    install: Install,
) -> None:
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
    monkeypatch.setattr("tabwb.plugin_api.registry.index.is_installed", lambda name: False)
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
        "heavy = {'torch', 'transformers', 'numpy', 'pydantic', 'textual', 'sqlalchemy', 'tomli'}\n"
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

"""Specs of components: what they name, aliases and profiles, networks and extras they need."""

from __future__ import annotations

import pytest

from tabwb.plugin_api.config.profiles import Profile
from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.remote.prices import FREE
from tabwb.records.errors import (
    MissingExtra,
    MissingPackage,
    NeedsNetwork,
    UsageError,
)
from tabwb.records.specs import Spec
from tests.plugin_api.conftest import Install, Load


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

"""A working plugin to begin from: a battery, a scorer and a test that passes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.identifiers import is_kebab

_PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "@ID@"
version = "0.1.0"
description = "A plugin for tabwb"
requires-python = ">=3.11"
dependencies = ["tabwb"]

[project.entry-points.tabwb]
@ID@ = "@PACKAGE@.plugin"

[tool.setuptools]
packages = ["@PACKAGE@", "@PACKAGE@.battery"]
package-dir = { "" = "." }

[tool.setuptools.package-data]
"@PACKAGE@.battery" = ["*"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""

_README = """\
# @ID@

A plugin for tabwb: the battery `@ID@` and the scorer `@ID@` that it names.

    pip install -e .                          # or, without installing: tabwb plugins trust .
    tabwb plugins list
    tabwb run @ID@ --model echo
    python -m pytest
"""

_INIT = '''"""A battery and a scorer for tabwb."""
'''

_PLUGIN = '''"""What this plugin registers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabwb.battery.model import Item, Subtest
from tabwb.extend.components import BatterySource, Descriptor, Response
from tabwb.extend.hookspecs import Register, RegisterBattery, hookimpl
from tabwb.records.ratings import Rating, undefined, valued
from tabwb.records.specs import Spec

BATTERY = Path(__file__).parent / "battery" / "battery.toml"


class MentionScorer:
    """Whether the expected word stands anywhere in the response."""

    measures = ("mentioned",)

    def score(self, subtest: Subtest, item: Item, response: Response) -> Sequence[Rating]:
        """One verdict, with its reason."""
        if item.expected is None:
            return [undefined("@ID@", "mentioned", "the item has no expected answer")]
        found = item.expected.casefold() in response.text.casefold()
        reason = f"'{item.expected}' is {'' if found else 'not '}in the response"
        return [valued("@ID@", "mentioned", found, reason)]


def _scorer(spec: Spec, options: Any) -> MentionScorer:
    return MentionScorer()


@hookimpl
def tabwb_register_scorers(register: Register) -> None:
    """The scorer of this plugin."""
    register(Descriptor("@ID@", "Whether the expected word is mentioned", _scorer))


@hookimpl
def tabwb_register_batteries(register: RegisterBattery) -> None:
    """The battery of this plugin."""
    register(BatterySource("@ID@", BATTERY))
'''

_BATTERY = """\
[battery]
id = "@ID@"
title = "@TITLE@"
version = "1"
language = "en"
license = "MIT"

[[subtest]]
id = "questions"
title = "Questions"
response = "choice"
instructions = { text = "Answer with one of the listed words.", source = "ours" }
template = "{instructions}\\n{prompt} ({options})"
scorers = ["choice", "@ID@"]

[[subtest.item]]
id = "q1"
prompt = "Which animal barks?"
options = ["cow", "dog", "bird"]
expected = "dog"

[[subtest.item]]
id = "q2"
prompt = "What do bees make?"
options = ["silk", "milk", "honey"]
expected = "honey"
"""

_TEST = '''"""The plugin's parts, as tabwb uses them."""

from __future__ import annotations

from @PACKAGE@ import plugin
from tabwb.battery.loader import load_battery
from tabwb.extend.components import BatterySource, Descriptor, Response
from tabwb.records.states import ResponseStatus


def test_the_battery_has_no_problems() -> None:
    assert load_battery(plugin.BATTERY).id == "@ID@"


def test_battery_and_scorer_are_registered() -> None:
    batteries: list[BatterySource] = []
    scorers: list[Descriptor] = []
    plugin.tabwb_register_batteries(batteries.append)
    plugin.tabwb_register_scorers(scorers.append)
    assert [source.id for source in batteries] == ["@ID@"]
    assert [descriptor.id for descriptor in scorers] == ["@ID@"]


def test_the_scorer_finds_the_expected_word() -> None:
    battery = load_battery(plugin.BATTERY)
    subtest = battery.subtest("questions")
    item = subtest.item("q1")
    values = [
        plugin.MentionScorer().score(subtest, item, _response(item.prompt, text))[0].value
        for text in ("A Dog barks.", "A cat.")
    ]
    assert values == [1.0, 0.0]


def _response(prompt: str, text: str) -> Response:
    kind = load_battery(plugin.BATTERY).subtest("questions").response
    return Response(text, ResponseStatus.OK, prompt=prompt, sent=prompt, kind=kind)
'''

FILES: Mapping[str, str] = {
    "pyproject.toml": _PYPROJECT,
    "README.md": _README,
    "@PACKAGE@/__init__.py": _INIT,
    "@PACKAGE@/plugin.py": _PLUGIN,
    "@PACKAGE@/battery/battery.toml": _BATTERY,
    "tests/test_plugin.py": _TEST,
}
"""Path: content; ``@ID@``, ``@PACKAGE@`` and ``@TITLE@`` stand for the plugin's name."""


def write_plugin(name: str, parent: Path) -> tuple[Path, ...]:
    """Write the package ``parent/NAME``; the files written.

    Args:
        name: kebab-case (``my-battery``) or snake-case (``my_battery``).
        parent: the folder to write into.

    Raises:
        UsageError: the name is malformed, or taken by a module of Python's.
        TabwbError: the folder is there already; nothing was written.
    """
    import sys

    identifier = name.replace("_", "-")
    package = identifier.replace("-", "_")
    if not is_kebab(identifier) or not package.isidentifier():
        raise UsageError(
            f"'{name}' is no name for a plugin",
            allowed="lower-case letters and digits, joined by hyphens, beginning with a letter",
        )
    if package in sys.stdlib_module_names or package in {"tabwb", "tests"}:
        raise UsageError(f"'{name}' would hide a package of that name", hint="choose another name")
    root = parent / identifier
    if root.exists():
        raise TabwbError("is there already; nothing was written", where=str(root))
    names = {"@ID@": identifier, "@PACKAGE@": package, "@TITLE@": identifier.replace("-", " ")}
    written = []
    try:
        for path, content in FILES.items():
            target = root / _filled(path, names)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_filled(content, names), encoding="utf-8")
            written.append(target)
    except OSError as error:
        raise TabwbError(f"cannot be written: {error.strerror}", where=str(root)) from error
    return tuple(written)


def _filled(text: str, names: Mapping[str, str]) -> str:
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text

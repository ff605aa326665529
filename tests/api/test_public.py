"""What ``import tabwb`` gives: light, complete, documented, and not changed by accident."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import tabwb
from tabwb import plugin_api, testing
from tabwb.api.engine import Drawn, Limited
from tabwb.media.figures import FIGURES, figure_kind
from tests.api.signatures import FILE, lines

DOCS = Path(__file__).parents[2] / "docs"


def test_importing_tabwb_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import tabwb\n"
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('tabwb')))\n"
        "tabwb.run, tabwb.open\n"
        "heavy = {'numpy', 'pydantic', 'textual', 'rich', 'matplotlib', 'pyarrow'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["tabwb", ""]


def test_every_public_name_can_be_imported() -> None:
    for name in tabwb.__all__:
        assert getattr(tabwb, name) is not None
    assert set(tabwb.__all__) <= set(dir(tabwb))
    assert set(tabwb.__all__) - {"__version__"} == set(tabwb._MODULE_OF)


def test_no_public_name_is_that_of_a_package() -> None:
    # 'import tabwb.battery' would put the package in place of the function.
    packages = {path.stem for path in Path(str(tabwb.__file__)).parent.iterdir()}
    assert packages.isdisjoint(tabwb.__all__)


def test_public_signatures_are_changed_on_purpose() -> None:
    # Whoever changes one reads docs/python.md#stability, then: python -m tests.api.signatures
    assert FILE.read_text(encoding="utf-8").splitlines() == list(lines())


def test_every_public_name_has_a_documented_entry() -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^## `(\w+)`$", page, re.M))
    assert entries == set(tabwb.__all__) - {"__version__"}
    types = page.partition("\n## Types\n")[2]
    for name in ("Answering", "Ids", "Names", "Place", "Progress", "Where"):
        assert f"- `{name}` (" in types
    for entry in page.split("\n## ")[1:]:
        assert len(entry.split("\n", 1)[1].strip()) > 40, entry


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) > 5
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "not administered: 18 items")
        warnings.filterwarnings("ignore", "no consent of speaker S-014")
        exec(compile("\n".join(blocks), "docs/python.md", "exec"), names)
    shown = capsys.readouterr().out
    assert shown.startswith("1 done python:my_model\n")
    made = {path.name for path in tmp_path.iterdir()}
    assert {"burden.pdf", "burdens.tex", "report.html"} <= made


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(tabwb, "no_such_name")


def test_every_name_for_plugin_authors_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from tabwb.plugin_api import *\nfrom tabwb.testing import *", names)
    assert {*plugin_api.__all__, *testing.__all__} <= set(names)


def test_a_battery_is_shown_in_one_line() -> None:
    assert repr(tabwb.load_battery("tab")) == "<Battery tab 2026.1: 4 subtests, 20 items>"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tabwb.open(3), "store: 3 is not a store"),  # type: ignore[arg-type]
        (lambda: tabwb.save_table([1], "x.csv"), "this is not a table but list"),  # type: ignore[arg-type]
        (lambda: tabwb.save_figure(3, "x.pdf"), "this is not a figure but int"),  # type: ignore[arg-type]
        (lambda: tabwb.run("tab", lambda: "x"), "the function cannot be called with a prompt"),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(tabwb.UsageError, match=said):
        call()


def test_every_option_of_a_figure_can_be_given_from_python() -> None:
    declared = {option.name for name in FIGURES for option in figure_kind(name).options}
    assert declared == Drawn.__annotations__.keys() - Limited.__annotations__.keys()

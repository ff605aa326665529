"""What ``import tabwb`` gives: light, complete, documented, and not changed by accident."""

from __future__ import annotations

import subprocess
import sys

import tabwb
import tabwb.plugin_api


def test_importing_tabwb_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import tabwb\n"
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('tabwb')))\n"
        "tabwb.run, tabwb.open\n"
        "heavy = {'numpy', 'pydantic', 'textual', 'rich', 'sqlalchemy', 'matplotlib', 'pyarrow'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["tabwb", "numpy"]


def test_every_public_name_can_be_imported() -> None:
    for name in tabwb.__all__:
        assert getattr(tabwb, name) is not None
    assert set(tabwb.__all__) <= set(dir(tabwb))
    assert set(tabwb.__all__) - {"__version__"} == set(tabwb._MODULE_OF)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(tabwb, "no_such_name")

"""Counts how large the code is, and holds the numbers of a kept table.

``python -m benchmarks sizes`` prints files, lines and lines of code of each folder, the classes of
messages of the workbench, the hooks of plugins, and what three commands pass through. ``--check``
fails where a number is above the one in ``sizes.toml``; ``--write`` writes that file.

Lines of code are those that are neither blank, comment nor docstring. Of a command that reads a
golden store the files and functions of ours that it enters are counted, its imports included; of
``run`` the modules of ours that it imports. The longer walks are in ``python -m benchmarks
paths``.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.paths import OURS, ROOT, Trace

Numbers = dict[str, dict[str, int]]

KEPT = Path(__file__).with_name("sizes.toml")
OTHER_FOLDERS = ("plugins", "tests", "benchmarks")
WALKS = {
    "results --by model": ("files", "functions"),
    "report --by model --limit 2 --out report.md": ("files", "functions"),
    "run tab --model echo --json": ("modules",),
}
"""Commands, and what is counted of each."""


def code_lines(source: str, tree: ast.AST) -> int:
    """Return the number of lines that are neither blank, comment nor docstring."""
    inside: set[int] = set()
    documents: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documents.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
            inside.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        number not in documents
        and (number in inside or not (line.isspace() or line.lstrip().startswith("#")))
        for number, line in enumerate(io.StringIO(source), start=1)
    )


def folders() -> Numbers:
    """Return the files, lines and lines of code of each folder."""
    found = {f"tabwb/{path.name}": path.rglob("*.py") for path in (ROOT / "tabwb").iterdir()}
    found["tabwb"] = (ROOT / "tabwb").glob("*.py")
    found |= {name: (ROOT / name).rglob("*.py") for name in OTHER_FOLDERS}
    sizes: Numbers = {}
    for name, paths in sorted(found.items()):
        size = {"files": 0, "lines": 0, "code": 0}
        for path in paths:
            source = path.read_text(encoding="utf-8")
            size["files"] += 1
            size["lines"] += source.count("\n")
            size["code"] += code_lines(source, ast.parse(source))
        if size["files"]:
            sizes[name] = size
    return sizes


def messages() -> int:
    """Return the number of classes of messages of the workbench."""
    bases: dict[str, set[str]] = {}
    for path in (ROOT / "tabwb" / "workbench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    kinds = {"Message"}
    while more := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= more
    return len(kinds) - 1


def hooks() -> int:
    """Return the number of hooks that plugins can implement."""
    source = (ROOT / "tabwb" / "plugin_api" / "hookspecs.py").read_text(encoding="utf-8")
    return sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("tabwb_")
        for node in ast.walk(ast.parse(source))
    )


def walk(words: list[str]) -> None:
    """Run a command in this process, which is new, and print what of ours it passed through."""
    trace = Trace()
    trace.install()
    with trace.recording(), redirect_stdout(io.StringIO()):
        from tabwb.cli.main import main

        status = main(words)
    trace.remove()
    if status:
        sys.exit(f"{' '.join(words)}: exit status {status}")
    entered = trace.functions()
    modules = [
        module
        for module in list(sys.modules.values())
        if (getattr(module, "__file__", None) or "").startswith(OURS)
    ]
    counted = {
        "files": len(entered),
        "functions": sum(map(len, entered.values())),
        "modules": len(modules),
    }
    print(json.dumps(counted))


def walks() -> Numbers:
    """Return what each command of :data:`WALKS` passes through, each in a process of its own."""
    from tabwb.store.store import Store
    from tests.golden.freeze import unpacked

    sizes: Numbers = {}
    with tempfile.TemporaryDirectory() as folder:
        store = unpacked("models", Path(folder))
        Store.open(store).close()  # upgraded before
        place = {"TABWB_CONFIG_DIR": folder, "TABWB_DATA_DIR": folder, "COLUMNS": "80"}
        for command, counted in WALKS.items():
            call = "import sys; from benchmarks import sizes; sizes.walk(sys.argv[1:])"
            done = subprocess.run(
                [sys.executable, "-c", call, "--store", str(store), *command.split()],
                cwd=folder,
                env=os.environ | place | {"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(done.stderr)
            found = json.loads(done.stdout)
            sizes[command] = {name: found[name] for name in counted}
    return sizes


def measured() -> Numbers:
    """Return all numbers."""
    declared = {"workbench": {"messages": messages()}, "plugin_api": {"hooks": hooks()}}
    return folders() | declared | walks()


def above(now: Numbers, kept: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield each number that is above the kept one; what is not kept counts as 0."""
    for name, numbers in now.items():
        for what, number in numbers.items():
            before = kept.get(name, {}).get(what, 0)
            if number > before:
                yield f"{name}: {number:,} {what}, {number - before:,} above the table"


def text(sizes: Numbers) -> str:
    """Return the text of the kept table."""
    lines = (
        f'"{name}" = {{ {", ".join(f"{what} = {number}" for what, number in numbers.items())} }}'
        for name, numbers in sizes.items()
    )
    return "\n".join(("# Written by python -m benchmarks sizes --write", *lines, ""))


def main(arguments: list[str] | None = None) -> None:
    """Print, check or write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sizes", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a number has risen")
    parser.add_argument("--write", action="store_true", help="write the table that is kept")
    options = parser.parse_args(arguments)
    now = measured()
    if options.write:
        KEPT.write_text(text(now), encoding="utf-8")
    elif options.check:
        if risen := list(above(now, tomllib.loads(KEPT.read_text(encoding="utf-8")))):
            print("\n".join(risen), file=sys.stderr)
            sys.exit(
                "Make it smaller, or write the table anew (python -m benchmarks sizes --write) "
                "and give the reason in the commit."
            )
    else:
        whole = [numbers for name, numbers in now.items() if name.split("/")[0] == "tabwb"]
        total = {what: sum(one[what] for one in whole) for what in ("files", "lines", "code")}
        for name, numbers in (now | {"tabwb, all": total}).items():
            print(f"{name:<42}", *(f"{number:>8,} {what}" for what, number in numbers.items()))


if __name__ == "__main__":
    main()

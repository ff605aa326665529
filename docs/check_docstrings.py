"""Count the sections that docstrings need and report words that the project does not use.

In the packages of :data:`AT_LEAST` a public function with two or more parameters needs an ``Args:``
section, and one that raises needs a ``Raises:`` section that names each exception; in ``api``
public is what ``tabwb`` exports. ruff checks the entries of a section only where the section
exists, and has no rule for "two or more parameters", hence this script::

    python docs/check_docstrings.py                  counts; status 1 if a check fails
    python docs/check_docstrings.py scoring report   what is missing, line by line
    python docs/check_docstrings.py --words store    refused words and page names, line by line
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

AT_LEAST = dict.fromkeys(("api", "plugin_api"), 100)
"""The percentage of functions that must have both sections, of the packages that users import."""

PAGES = re.compile(r"\b(?:SCORING|DESIGN|SCREENS|STYLE)\b(?:\.md)?")
"""Names of pages that are not in the repository."""

REFUSED = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|came of|nobody means|(?:go(?:es|ne)?|went) on with|nothing is asked"
    r"|asked no more|come to nothing|by whom|is looked whether|what is of|takes? up|taken up"
    r"|(?<!there )(?:is|are|was|were) no (?!longer\b|more\b|further\b|one\b|\w+er than)\w+"
    r"|both faces|stands? beside|stands? (?:in|at|on) the)\b",
    re.IGNORECASE,
)
"""Metaphors and inverted sentences, looked for in docstrings, comments and messages."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Package:
    """What was counted in one package."""

    with_parameters: int = 0
    with_args: int = 0
    raising: int = 0
    with_raises: int = 0
    missing: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def percent(self) -> float:
        """The share of the needed sections that exist, in percent."""
        needed = self.with_parameters + self.raising
        return 100 * (self.with_args + self.with_raises) / needed if needed else 100.0


def public_functions(body: list[ast.stmt]) -> Iterator[Function]:
    """Yield the public functions of a module and the public methods of its public classes."""
    for node in body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.ClassDef | ast.If) and not getattr(node, "name", "").startswith(
            "_"
        ):
            yield from public_functions(node.body)


def exported() -> set[str]:
    """Return the names that users import from ``tabwb``."""
    tree = ast.parse((ROOT / "tabwb" / "__init__.py").read_text(encoding="utf-8"))
    return {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def parameters(function: Function) -> list[str]:
    """Return the names of the parameters of a function, without ``self`` and ``cls``."""
    signature = function.args
    names = [a.arg for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]
    names += [a.arg for a in (signature.vararg, signature.kwarg) if a is not None]
    return [name for name in names if name not in {"self", "cls"}]


def raised(function: Function) -> set[str]:
    """Return the names of the exceptions that a function raises itself.

    Not counted are exceptions raised again, what nested functions raise, and the two exceptions
    that only a programming error raises: AssertionError and NotImplementedError.
    """
    names = set()
    nodes: list[ast.AST] = list(function.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, Function | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised_class = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(raised_class).rpartition(".")[2]
            if isinstance(node.exc, ast.Call) or name[:1].isupper():
                names.add(name)
        nodes.extend(ast.iter_child_nodes(node))
    return names - {"AssertionError", "NotImplementedError"}


def section(docstring: str, title: str) -> str | None:
    """Return the text of a section of a docstring, None where the docstring has no such section.

    Args:
        docstring: as :func:`ast.get_docstring` returns it.
        title: ``Args`` or ``Raises``.
    """
    match = re.search(rf"^{title}:\n((?:[ ]+.*\n?|\n)+)", docstring, re.MULTILINE)
    return match[1] if match else None


def shown(path: Path) -> Path:
    """Return the path relative to the repository where it lies there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def count_sections(path: Path, body: list[ast.stmt], package: Package) -> None:
    """Add the counts of the functions of one module to those of its package."""
    for function in public_functions(body):
        decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
        if any(name == "overload" or ".command" in name for name in decorators):
            continue  # the docstring of a command is its help text
        if any(name.startswith("does(") for name in decorators):
            continue  # its sections follow from the operation
        docstring = ast.get_docstring(function) or ""
        where = f"{shown(path)}:{function.lineno}: {function.name}"
        if len(parameters(function)) > 1:
            package.with_parameters += 1
            if section(docstring, "Args") is None:
                package.missing.append(f"{where} has no Args:")
            else:
                package.with_args += 1
        if exceptions := raised(function):
            package.raising += 1
            text = section(docstring, "Raises")
            # A lower-case name is a function that makes the exception: its class is not known here.
            unnamed = {e for e in exceptions if e[:1].isupper() and e not in (text or "")}
            if text is None or unnamed:
                package.missing.append(
                    f"{where} has no Raises: with {', '.join(sorted(unnamed or exceptions))}"
                )
            else:
                package.with_raises += 1


def texts(source: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield each line of comments and of strings with its number.

    Args:
        source: the source text of a module.
        tree: the same, parsed.
    """
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.split("\n")):
                yield node.lineno + offset, line


def examine(folder: Path) -> Package:
    """Return the counts of all modules below a folder."""
    package = Package()
    names = exported() if folder.name == "api" else None
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        body = [node for node in tree.body if names is None or getattr(node, "name", "") in names]
        count_sections(path, body, package)
        for number, line in sorted(texts(source, tree)):
            entry = f"{shown(path)}:{number}: {line.strip()}"
            if PAGES.search(line):
                package.pages.append(entry)
            if REFUSED.search(line):
                package.words.append(entry)
    return package


def main() -> int:
    """Print the counts, or what is missing in the packages given; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", nargs="*", help="list what these packages lack")
    parser.add_argument("--words", action="store_true", help="list refused words and page names")
    options = parser.parse_args()
    folders = {
        path.name: path
        for parent in ("tabwb", "plugins")
        for path in sorted((ROOT / parent).iterdir())
        if (path / "__init__.py").exists()
    }
    unknown = set(options.package) - set(folders)
    if unknown:
        parser.error(f"no package {', '.join(sorted(unknown))} in tabwb/ or plugins/")
    status = 0
    for name, folder in folders.items():
        if options.package and name not in options.package:
            continue
        package = examine(folder)
        if options.words:
            print(*package.pages, *package.words, sep="\n")
        elif options.package:
            print(*package.missing, sep="\n")
        print(
            f"{name:22} Args {package.with_args:3} of {package.with_parameters:3}, Raises "
            f"{package.with_raises:3} of {package.raising:3}, {package.percent:5.1f} %, "
            f"{len(package.pages)} page names, {len(package.words)} refused words"
        )
        if package.percent < AT_LEAST.get(name, 0):
            print(f"{name}: below {AT_LEAST[name]} %", file=sys.stderr)
            status = 1
        if package.words:
            print(f"{name}: refused words (see --words)", file=sys.stderr)
            status = 1
        if package.pages:
            print(f"{name}: names pages that are not in the repository", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

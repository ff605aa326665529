"""Runs the commands of the golden files.

``python -m tests.golden.freeze [STORE...]`` compares what they print now with the golden files and
shows how they differ; with ``--write`` it writes the golden files anew.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import lzma
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tabwb.cli.main import main
from tests.golden.commands import OUT, Command, commands

HERE = Path(__file__).parent
STORES = ("models", "lesions", "naming", "sets", "study")
_VARIES = (
    (re.compile(r"\btabwb,? (version )?\d+\.\d+\.\d+\S*"), "tabwb VERSION"),
    (re.compile(r"Python \d+\.\d+\.\d+\S*"), "Python VERSION"),
)
"""What may differ between two runs: versions of programs."""
_SHOWN = 12
"""Lines shown of each difference."""


def unpacked(store: str, folder: Path) -> Path:
    """Write a packed store into a folder and return its path."""
    path = folder / "store.db"
    path.write_bytes(lzma.decompress((HERE / "stores" / f"{store}.db.xz").read_bytes()))
    return path


def output(command: Command, store: Path, folder: Path) -> str:
    """Return the exit status of a command, what it printed, and the file that it wrote."""
    words = [word.replace(OUT, str(folder / "out")) for word in command.words]
    words = [word.replace("DRAWN", str(folder / "drawn")) for word in words]
    os.environ["TZ"] = "UTC"
    text = said(["--store", str(store), *words], command.width, folder)
    for drawn in folder.glob("drawn*"):
        drawn.unlink()
    return text


def said(words: Sequence[str], width: int, folder: Path, written: str = "out*") -> str:
    """Return the exit status of some words to tabwb, what it printed, and the files it wrote."""
    os.environ["COLUMNS"] = str(width)
    printed, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        status = main(list(words))
    parts = [f"status {status}\n", printed.getvalue()]
    if errors.getvalue():
        parts.append(f"--- stderr\n{errors.getvalue()}")
    for file in sorted(folder.glob(written)):
        parts.append(f"--- {file.name}\n{file.read_text(encoding='utf-8')}")
        file.unlink()
    text = "".join(parts).replace(str(folder), "FOLDER")
    for pattern, plain in _VARIES:
        text = pattern.sub(plain, text)
    return text


def outputs(store: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the present output of each command on a store."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpacked(store, Path(folder))
        for command in commands(store):
            yield command.name, output(command, path, Path(folder))


@cache
def golden(store: str) -> dict[str, str]:
    """Return the golden outputs of a store by the names of their commands."""
    packed = (HERE / "outputs" / f"{store}.json.xz").read_bytes()
    texts: dict[str, str] = json.loads(lzma.decompress(packed))
    return texts


def write(store: str) -> None:
    """Write the golden outputs of a store anew."""
    place = HERE / "outputs" / f"{store}.json.xz"
    place.parent.mkdir(exist_ok=True)
    texts = json.dumps(dict(outputs(store)), ensure_ascii=False, indent=0)
    place.write_bytes(lzma.compress(texts.encode(), preset=9))


def difference(store: str, name: str, now: str) -> str:
    """Return how an output differs from the golden one; an empty text where it does not."""
    before = golden(store).get(name, "")
    if before == now:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), "golden", "now", "", "", 0, ""
    )
    return "\n".join((f"== {store}/{name}", *(line[:200] for line in list(lines)[:_SHOWN])))


if __name__ == "__main__":
    words = sys.argv[1:]
    found = 0
    for asked in [word for word in words if word != "--write"] or STORES:
        if "--write" in words:
            write(asked)
            continue
        for name, now in outputs(asked):
            if text := difference(asked, name, now):
                found += 1
                print(text)
    sys.exit(bool(found))

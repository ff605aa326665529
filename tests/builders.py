"""What tests of several folders share: files of the project, and packages that may be missing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).parents[1]
BATTERIES = ROOT / "batteries"
TAB = BATTERIES / "tab" / "battery.toml"
FORMS = BATTERIES / "forms"
DATA = ROOT / "tests" / "data"
SPEECH = DATA / "speech"
DOG = SPEECH / "dog_d1a4fb3f_0.flac"
Case = TypeVar("Case")


def needs(*modules: str) -> None:
    """Skip a file of tests where a package is not installed, and import none of them."""
    for module in modules:
        if find_spec(module) is None:
            pytest.skip(f"needs {module}", allow_module_level=True)


def every(cases: Iterable[Case]) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Give a test all cases of a table at once: it fails with each that is wrong, and why."""

    def made(test: Callable[[Case], None]) -> Callable[[], None]:
        def test_every() -> None:
            wrong = []
            for case in cases:
                try:
                    test(case)
                except Exception as error:  # noqa: BLE001 - the others are tried too
                    wrong.append(f"{case!r}: {type(error).__name__} {error}")
            assert not wrong, "\n".join((f"{len(wrong)} cases are wrong", *wrong))

        test_every.__doc__ = test.__doc__
        return test_every

    return made


def recordings(folder: Path, *items: str, **clips: str) -> Path:
    """Make a folder with a recording of each item: of "dog", or a file of :data:`SPEECH`."""
    folder.mkdir(parents=True, exist_ok=True)
    for item, clip in {**dict.fromkeys(items, DOG.name), **clips}.items():
        shutil.copy(SPEECH / clip, folder / f"{item}.flac")
    return folder


def typed_table(path: Path, **said: str) -> Path:
    """Write the table of what a person typed of each item."""
    rows = "".join(f"{item}\t{text}\n" for item, text in said.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"utterance_id\ttranscript\n{rows}", encoding="utf-8")
    return path


@contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """Let data and configuration be those of a folder, in fixtures that serve a whole module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("TABWB_")]:
            patch.delenv(name)
        patch.setenv("TABWB_DATA_DIR", str(folder / "tabwb-data"))
        patch.setenv("TABWB_CONFIG_DIR", str(folder / "tabwb-config"))
        patch.setenv("TABWB_OFFLINE", "1")
        yield


def built(folder: Path, *commands: str | Sequence[object]) -> Path:
    """Run commands with data and configuration of their own; :func:`copied` begins there."""
    from tabwb.cli.main import main

    with at_home(folder):
        for words in commands:
            parts = words.split() if isinstance(words, str) else map(str, words)
            assert main(list(parts)) in (0, 3), words
    return folder


def copied(made: Path, folder: Path) -> None:
    """Copy data and configuration of :func:`built` to where a test in ``folder`` looks for them."""
    for name in ("tabwb-data", "tabwb-config"):
        if (made / name).exists():
            shutil.copytree(made / name, folder / name)


@contextmanager
def small_files(largest: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes, as if the disk had no more room.

    Python would keep a module's compiled code as far as there is room, and fail on it ever after.
    """
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

"""A store that cannot be written can be read, and is not written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin

NOBODY = 65534
SCRIPT = """
import os, sys
if os.getuid() == 0:
    os.setgid({nobody}); os.setuid({nobody})
from tabwb.records.errors import StoreError
from tabwb.store.store import Store
from tests.store.parts import begin
try:
    with Store.open({path!r}, create=False) as store:
        print("read", [trial.state.value for trial in store.trials(1)])
        begin(store)
        print("written")
except StoreError as error:
    print("refused:", error.message)
"""


@pytest.fixture
def shelf() -> Iterator[Path]:
    """A folder that everybody may look into, outside the test's own, which is private."""
    folder = Path(tempfile.mkdtemp(prefix="tabwb-shelf-"))
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def seen_by_somebody_else(path: Path) -> str:
    # Root may write everywhere: what others see is seen by becoming one of them, after the
    # imports, which may lie where only root can read.
    script = SCRIPT.format(nobody=NOBODY, path=str(path))
    first, rest = script.split("if os.getuid()", 1)
    imports = (
        "from tabwb.records.errors import StoreError\n"
        "from tabwb.store.store import Store\n"
        "from tests.store.parts import begin\n"
        "import tabwb.store.database, tabwb.store.schema, tabwb.battery.loader\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{first}\n{imports}\nif os.getuid(){rest}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    return done.stdout + done.stderr


def kept(path: Path) -> None:
    with Store.open(path) as store:
        administration = begin(store)
        store.append(administration.id, [AttemptEntry(1, attempt())])


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no other users here")
def test_a_store_in_a_folder_of_others_is_read_and_not_written(shelf: Path) -> None:
    path = shelf / "tabwb.db"
    kept(path)
    path.chmod(0o444)
    shelf.chmod(0o555)
    before = path.read_bytes()
    said = seen_by_somebody_else(path)
    assert "read ['answered', 'planned', 'planned']" in said
    assert "refused: the store cannot be written" in said
    assert path.read_bytes() == before
    assert sorted(child.name for child in shelf.iterdir() if child.is_file()) == ["tabwb.db"]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no other users here")
def test_what_another_program_has_not_put_into_the_file_yet_is_not_passed_over(
    shelf: Path,
) -> None:
    path = shelf / "tabwb.db"
    kept(path)
    with closing(sqlite3.connect(path)) as writer:
        # Held open, the log is not put into the file; a copy of both is a store in the middle.
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("UPDATE administrations SET seed = 7")
        writer.commit()
        for name in ("tabwb.db", "tabwb.db-wal"):
            shutil.copy(shelf / name, shelf / f"copy-{name}")
    (shelf / "copy-tabwb.db-wal").rename(shelf / "copy.db-wal")
    (shelf / "copy-tabwb.db").rename(shelf / "copy.db")
    for child in shelf.iterdir():
        if child.is_file():
            child.chmod(0o444)
    shelf.chmod(0o555)
    said = seen_by_somebody_else(shelf / "copy.db")
    assert "read" not in said
    assert "refused: " in said

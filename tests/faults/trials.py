"""Commands whose n-th write, sync, open or rename fails."""

from __future__ import annotations

import argparse
import atexit
import ctypes
import errno
import importlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.cli.common import fail
from tabwb.cli.main import main as tabwb
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.records.errors import TabwbError
from tabwb.store.store import Store
from tests.administer.naming_parts import WORDS, naming_battery
from tests.builders import SPEECH
from tests.conftest import BATTERY

SOURCE = Path(__file__).with_name("failing.c")
KINDS = {"open": 1, "write": 2, "sync": 3, "name": 4, "read": 5}
FOLLOWING, HALF = 1, 2
FAULTS = (
    ("write", errno.ENOSPC, FOLLOWING | HALF),
    ("write", errno.ENOSPC, HALF),
    ("write", errno.EIO, 0),
    ("sync", errno.EIO, 0),
    ("sync", errno.EIO, FOLLOWING),
    ("open", errno.EMFILE, 0),
    ("open", errno.EMFILE, FOLLOWING),
    ("open", errno.ENOSPC, 0),
    ("name", errno.EIO, 0),
    ("name", errno.ENOSPC, FOLLOWING),
    ("read", errno.EIO, 0),
)
"""What fails, how, and whether all that follows fails too, or half was written before."""
LONGEST_S = 60
SECRET = "my dog is a xylophonist"
SPEAKER = ("--speaker", "S-014")
PLAN = ("rate", "plan", "pilot", "--raters", "R1", "--again", "0", "--distance", "1")


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    err: str
    calls: dict[str, int]


@dataclass(frozen=True)
class Scenario:
    """A command, what is there before it, and what completes it after a failure."""

    words: tuple[str, ...]
    ready: tuple[tuple[str, ...], ...] = ()
    then: tuple[str, ...] | None = None
    written: str = ""
    gone: bytes = b""


RUN = ("run", "small/battery.toml", "--model", "replay:model.jsonl", "-v")
TEXTS = ("import", "texts.csv", "--model", "m", "--judge", "none")
TYPED = ("import", "typed.csv", "--battery", "small/battery.toml", *SPEAKER)
NAME = ("name", "naming/battery.toml", *SPEAKER, "--input", "sounds", "--transcriber", "none")
CONSENT = ("speaker", "consent", "S-014", "--all", "--given")
SCENARIOS = {
    "run": Scenario(RUN, then=("resume", "1")),
    "resume": Scenario(("resume", "1", "-v"), ((*RUN, "--max-requests", "1"),)),
    "import": Scenario(TYPED),
    "name": Scenario(NAME, (CONSENT,), then=(*NAME, "--resume", "1")),
    "judge": Scenario(("judge", "run", "1", "--judge", "rules"), (TEXTS,)),
    "plan": Scenario(PLAN, (TEXTS,)),
    "rate": Scenario(("!rate",), (TEXTS, PLAN)),
    "rate export": Scenario(
        ("rate", "export", "pilot", "--out", "out/set.csv", "--within-study"),
        (TEXTS, PLAN, ("!rate",)),
        written="out/set.csv",
    ),
    "rate export to a folder": Scenario(
        ("rate", "export", "pilot", "--out", "out/set", "--within-study"),
        (TEXTS, PLAN, ("!rate",)),
        written="out/set",
    ),
    "export": Scenario(
        ("export", "1", "--out", "out/a.jsonl", "--within-study"),
        (CONSENT, TYPED),
        written="out/a.jsonl",
    ),
    "report": Scenario(
        ("report", "1", "--out", "out/a.md", "--study-ids", "--within-study"),
        (CONSENT, TYPED),
        written="out/a.md",
    ),
    "backup": Scenario(
        ("store", "backup", "out/copy.db"), (TYPED, (*NAME,)), written="out/copy.db"
    ),
    "delete": Scenario(
        ("speaker", "delete", "S-014", "--reason", "withdrawn", "--yes"),
        (RUN, TYPED, NAME),
        gone=SECRET.encode(),
    ),
    "merge": Scenario(
        ("store", "merge", "other.db"), (RUN, (*NAME, "--store", "other.db"))
    ),
}  # fmt: skip
COUNTED = (
    *("administrations", "trials", "attempts", "verdicts", "samples"),
    *("assignments", "sample_ratings", "speakers", "consents", "tombstones", "batteries", "assets"),
)


def inputs(place: Path) -> None:
    """Write what commands read."""
    for folder in ("small", "naming", "sounds", "out", "tmp", "config"):
        (place / folder).mkdir()
    (place / "small" / "battery.toml").write_text(BATTERY, encoding="utf-8")
    said = {"w1": "dog", "w2": SECRET, "s1": "house."}
    rows = "".join(f"{item},{text}\n" for item, text in said.items())
    (place / "typed.csv").write_text(f"item,response\n{rows}", encoding="utf-8")
    lines = (
        {"subtest": "saying" if item == "s1" else "words", "item": item, "response": "fish"}
        for item in said
    )
    (place / "model.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    texts = "".join(f"We drove to the sea {n} and came home late.,t{n}\n" for n in range(3))
    (place / "texts.csv").write_text(f"text,id\n{texts}", encoding="utf-8")
    naming_battery(place / "naming")
    for item, clip in zip(WORDS, sorted(SPEECH.glob("*.flac")), strict=False):
        shutil.copy(clip, place / "sounds" / f"{item}.flac")


def rate() -> int:
    """Rate the set as the rating page does; print each sample that was saved."""
    clock = itertools.count(0.0, 10.0).__next__
    try:
        with (
            Store.open(Path("data/tabwb.db")) as store,
            RaterSession.open(store, Plugins.load(Configuration()), "pilot", "R1", clock=clock)
            as session,
        ):  # fmt: skip
            for saved in itertools.count(1):
                if session.phase == "over":
                    break
                asked = session.form.questions
                session.finish(Draft({one.measure: 0.0 for one in asked}))
                print(f"{saved}/3", file=sys.stderr, flush=True)
    except TabwbError as error:
        return fail(error)
    return 0


class Trials:
    """A folder in which commands run in forks of this process, each trial from the same state."""

    def __init__(self, root: Path) -> None:
        self.place, self.before = root / "place", root / "before"
        self._errors = root / "stderr"
        self._calls, self._modules = root / "calls", root / "modules"
        self._library = ctypes.CDLL(None)
        self._library.calls_seen.restype = ctypes.c_long
        os.environ |= {
            "TABWB_DATA_DIR": str(self.place / "data"),
            "TABWB_CONFIG_DIR": str(self.place / "config"),
            "TABWB_OFFLINE": "1",
            "TMPDIR": str(self.place / "tmp"),
        }
        tempfile.tempdir = str(self.place / "tmp")

    def make(self, scenario: Scenario) -> None:
        """Make what is there before the command."""
        for folder in (self.place, self.before):
            shutil.rmtree(folder, ignore_errors=True)
        self.place.mkdir()
        inputs(self.place)
        for words in scenario.ready:
            done = self.run(words)
            assert done.status in (0, 3), (words, done)
            self.load()
        shutil.copytree(self.place, self.before)

    def restore(self) -> None:
        """Put everything back as it was before the command."""
        shutil.rmtree(self.place)
        shutil.copytree(self.before, self.place)

    def run(
        self, words: Sequence[str], kind: str = "", n: int = 0, error: int = 0, how: int = 0
    ) -> Outcome:
        """Run a command in a fork where the ``n``-th call of a kind fails; 0: all are counted."""
        child = os.fork()
        if child == 0:
            status = 99
            try:
                status = self._command(words, kind, n, error, how)
            except BaseException:  # noqa: BLE001 - a forked process ends here
                traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        err = self._errors.read_text(encoding="utf-8", errors="replace")
        return Outcome(status, err, json.loads(self._calls.read_text() or "{}"))

    def _command(self, words: Sequence[str], kind: str, n: int, error: int, how: int) -> int:
        os.chdir(self.place)
        said = os.open(self._errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor, target in ((null, 0), (null, 1), (said, 2)):
            os.dup2(descriptor, target)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST_S)
        calls = os.open(self._calls, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if kind:
            self._library.fail_at(str(self.place).encode(), KINDS[kind], n, error, how)
        try:
            status = rate() if words == ("!rate",) else tabwb(list(words))
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - what a user would see as a traceback
            traceback.print_exc()
            status = 98
        sys.stderr.flush()
        seen = {kind: self._library.calls_seen(number) for kind, number in KINDS.items()}
        os.write(calls, json.dumps(seen).encode())
        if not n:
            self._modules.write_text("\n".join(sys.modules), encoding="utf-8")
        return status

    def load(self) -> None:
        """Import what the last command imported, so that the next forks need not."""
        for name in self._modules.read_text(encoding="utf-8").split():
            with suppress(ImportError):
                importlib.import_module(name)

    def files(self) -> set[str]:
        """What lies there, without files of an open database, and locks, which the next removes."""
        found = (path.relative_to(self.place) for path in self.place.rglob("*") if path.is_file())
        return {
            str(path)
            for path in found
            if not path.name.endswith(("-wal", "-shm")) and path.parent.suffix != ".locks"
        }

    def counts(self) -> dict[str, int]:
        """Rows by table."""
        path = self.place / "data" / "tabwb.db"
        if not path.exists() or not path.stat().st_size:
            return dict.fromkeys(COUNTED, 0)
        with closing(sqlite3.connect(path)) as rows:
            if not rows.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return dict.fromkeys(COUNTED, 0)
            return {
                table: rows.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in COUNTED
            }

    def written(self, name: str) -> dict[str, bytes]:
        """The content of a file or folder, by name."""
        path = self.place / name
        files = [path] if path.is_file() else path.rglob("*")
        return {
            str(one.relative_to(self.place)): one.read_bytes() for one in files if one.is_file()
        }


def acknowledged(err: str) -> int:
    """Return how many answers a command said to be recorded."""
    return max((int(n) for n in re.findall(r"^\s*(\d+)/\d", err, re.MULTILINE)), default=0)


def judged(trials: Trials, scenario: Scenario, failed: Outcome, clean: Clean) -> Iterator[str]:
    """Yield what is wrong after a command that failed."""
    if failed.status not in (0, 1, 3):
        yield f"exit status {failed.status}"
    if re.search(r"Traceback|a defect in tabwb", failed.err):
        yield "a traceback"
    errors = len(re.findall(r"^error: ", failed.err, re.MULTILINE))
    if failed.status == 1 and errors != 1 and not (errors == 0 and "not merged: " in failed.err):
        yield "not one message"
    if failed.status == 0 and (lacking := differences(trials.counts(), clean.counts)):
        yield f"said to be done: {lacking}"
    if scenario.written:
        now = trials.written(scenario.written)
        if now and not clean.same(now):
            yield f"half of {scenario.written}: {sorted(now)}"
        if failed.status == 0 and not now:
            yield "said to be written"
        if now and failed.status == 0:
            return
        shutil.rmtree(trials.place / "out")
        (trials.place / "out").mkdir()
    if (trials.place / "data" / "tabwb.db").exists():
        checked = trials.run(("store", "check"))
        if checked.status and "nothing has been stored here yet" not in checked.err:
            yield f"store check: {checked.err}"
    kept = trials.counts()
    if scenario.words[0] in {"run", "resume", "!rate"}:
        table = "sample_ratings" if scenario.words[0] == "!rate" else "attempts"
        if kept[table] < acknowledged(failed.err):
            yield f"{acknowledged(failed.err)} acknowledged, {kept[table]} there"
    first = scenario.then if scenario.then and kept["administrations"] else scenario.words
    again = trials.run(first)
    done = differences(trials.counts(), clean.counts)
    if done:
        yield f"after {' '.join(first)} (status {again.status}: {again.err[-300:]}): {done}"
    if again.status and not re.search("already|was deleted on", again.err):
        yield f"{' '.join(first)}: status {again.status}: {again.err}"
    trials.run(("store", "check"))
    if left := trials.files() ^ clean.files:
        yield f"files: {sorted(left)}"
    if scenario.gone:
        held = (path for path in (trials.place / "data").rglob("*") if path.is_file())
        if found := [path.name for path in held if scenario.gone in path.read_bytes()]:
            yield f"still in {found}"


def differences(found: dict[str, int], wanted: dict[str, int]) -> str:
    """Return what differs, in words."""
    pairs = ((key, found[key], wanted[key]) for key in wanted if found[key] != wanted[key])
    return ", ".join(f"{key} {one} instead of {two}" for key, one, two in pairs)


@dataclass(frozen=True)
class Clean:
    """What a command leaves that nothing disturbs."""

    counts: dict[str, int]
    files: set[str]
    written: dict[str, bytes]

    def same(self, found: dict[str, bytes]) -> bool:
        """Whether files are those, complete; times in them may differ."""
        return set(found) == set(self.written) and all(
            abs(len(content) - len(self.written[name])) <= 2 for name, content in found.items()
        )


def undisturbed(trials: Trials, scenario: Scenario) -> tuple[Clean, dict[str, int]]:
    """Run a command without a fault; what it leaves, and how many calls of each kind it makes."""
    trials.restore()
    done = trials.run(scenario.words, "open")
    assert done.status == 0, done
    trials.load()
    found = trials.written(scenario.written) if scenario.written else {}
    trials.run(("store", "check"))
    return Clean(trials.counts(), trials.files(), found), done.calls


def every(calls: dict[str, int]) -> list[tuple[str, int, int, int]]:
    """Return each fault that a command can meet: kind, number of the call, error, manner."""
    return [
        (kind, n, error, how)
        for kind, error, how in FAULTS
        for n in range(1, calls[kind] + 1)
    ]  # fmt: skip


def attempt(names: Sequence[str], seed: int, count: int, verbose: bool) -> tuple[Counter[str], int]:
    """Do ``count`` trials of each command (0: all there are); print problems and a table."""
    done: Counter[str] = Counter()
    problems = 0
    root = Path(tempfile.mkdtemp(prefix="tabwb-faults-"))  # forks run what is registered at exit
    try:
        trials = Trials(root)
        for name in names:
            scenario = SCENARIOS[name]
            trials.make(scenario)
            clean, calls = undisturbed(trials, scenario)
            possible = every(calls)
            random.Random(f"{seed} {name}").shuffle(possible)
            chosen = possible[: count or None]
            for kind, n, error, how in chosen:
                trials.restore()
                failed = trials.run(scenario.words, kind, n, error, how)
                wrong = list(judged(trials, scenario, failed, clean))
                done[kind] += 1
                problems += bool(wrong)
                if wrong or verbose:
                    what = f"{name}: {kind} {n} {errno.errorcode[error]} {how}"
                    print(f"{what}: {'; '.join(wrong) or 'ok'}\n    {failed.status} {failed.err!r}")
            print(f"{name}: {len(chosen)} of {len(possible)} trials, calls {calls}", flush=True)
    finally:
        shutil.rmtree(root)
    return done, problems


def library() -> Path | None:
    """Compile what fails; None where there is no compiler or no preloading."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        return None
    made = Path(tempfile.mkdtemp(prefix="tabwb-failing-"), "failing.so")
    words = [compiler, "-std=gnu11", "-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run([*words, "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


def main() -> int:
    """Run trials; 1 if one found a problem."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=0, help="trials of each command; 0: all")
    parser.add_argument("--only", choices=SCENARIOS, action="append")
    parser.add_argument("-v", "--verbose", action="store_true")
    given = parser.parse_args()
    if not hasattr(ctypes.CDLL(None), "fail_at"):
        made = library()
        if made is None:
            print("skipped: needs Linux and a C compiler")
            return 0
        environment = {**os.environ, "LD_PRELOAD": str(made)}
        again = [sys.executable, "-m", "tests.faults.trials", *sys.argv[1:]]
        try:
            return subprocess.run(again, env=environment, check=False).returncode
        finally:
            shutil.rmtree(made.parent)
    done, problems = attempt(given.only or list(SCENARIOS), given.seed, given.count, given.verbose)
    print(
        f"seed {given.seed}: {sum(done.values())} trials ({dict(done)}), {problems} with problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Run all tests, then once more, alone, those that failed: ``python tests/run.py [OPTION]...``.

A test that passes when it runs alone is unstable: it depends on time or on other tests. Such tests
are listed; more than :data:`ALLOWED` of them, or one that fails again, fail the run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ALLOWED = 3
FAILED = Path(".pytest_cache/v/cache/lastfailed")
MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30
"""Where files of tests lie if so many bytes are free: each commit of a store waits for its disk."""
TESTS_FAILED = 1  # pytest's exit status; others mean an interrupt, wrong usage or no test


def pytest(*options: str) -> int:
    """Run pytest in a process of its own, and return its exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-o", "tmp_path_retention_policy=failed"]
    return subprocess.run([*command, *options], check=False, env=environment()).returncode


def environment() -> dict[str, str]:
    """Return the environment of pytest, whose temporary files are in memory where there is room."""
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < ROOM:
        return dict(os.environ)
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:  # tests make programs
        return dict(os.environ)
    return {"PYTEST_DEBUG_TEMPROOT": str(MEMORY), **os.environ}


def failed() -> set[str]:
    """Return the ids of the tests that failed in the last run."""
    return set(json.loads(FAILED.read_text(encoding="utf-8"))) if FAILED.exists() else set()


def main(options: list[str]) -> int:
    """Return the exit status of the run: that of pytest, or 0 if few failed and passed alone."""
    FAILED.unlink(missing_ok=True)
    # One worker more than there are cores, because many tests wait for a process or a server. Each
    # would rewrite the assertions of all tests in a new clone: what they compare is shown of what
    # runs once more.
    workers = str((os.cpu_count() or 1) + 1)
    status = pytest("-n", workers, "--dist", "worksteal", "--assert=plain", *options)
    first = failed()
    if status != TESTS_FAILED or not first:
        return status
    print(f"\n{len(first)} failed; they run once more, alone", flush=True)
    pytest("--last-failed", "--last-failed-no-failures", "none", *options)
    again = failed()
    unstable = sorted(first - again)
    for test in sorted(again):
        print(f"failed twice: {test}")
    for test in unstable:
        print(f"unstable: {test}")
    if len(unstable) > ALLOWED:
        print(f"{len(unstable)} tests are unstable; at most {ALLOWED} may be")
    return TESTS_FAILED if again or len(unstable) > ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a limit of the system makes fail is said in one message that names the limit."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")
PROGRAM = """
import resource, sys
limit = getattr(resource, {0!r})
resource.setrlimit(limit, ({1}, {1}))
from tabwb.start import main
raise SystemExit(main())
"""


def limited(name: str, amount: int, *words: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(name, amount)
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to these limits")
@pytest.mark.parametrize("words", [("--help",), ("results",), ("run", "tab", "--model", "echo")])
@pytest.mark.parametrize(
    ("name", "amount", "said"),
    [("RLIMIT_NOFILE", 6, "ulimit -n"), ("RLIMIT_AS", 40 * 2**20, "ulimit -v")],
)
def test_a_limit_that_is_too_low_is_named(
    name: str, amount: int, said: str, words: tuple[str, ...]
) -> None:
    done = limited(name, amount, *words)
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (1, 3), done.stderr
    assert lines[0].startswith("error: ") and said in lines[0] and said in lines[2]

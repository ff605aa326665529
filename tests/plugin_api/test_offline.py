from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

# The audit hook cannot be taken away again, so each test has its own process.
ABROAD = {
    "TCP": "socket.create_connection(('192.0.2.1', 80), timeout=5)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    "connect_ex": "socket.socket().connect_ex(('192.0.2.1', 80))",
    "IPv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "mapped": "socket.socket(socket.AF_INET6).connect(('::ffff:192.0.2.1', 80))",
    "name": "socket.getaddrinfo('example.org', 80)",
    "older name": "socket.gethostbyname('example.org')",
    "urllib": "__import__('urllib.request').request.urlopen('http://example.org/')",
    "asyncio": "__import__('asyncio').run(__import__('asyncio').open_connection('192.0.2.1', 80))",
}

HOME = """
    import os, socket, tempfile, threading
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    socket.create_connection(("localhost", port)).close()
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
    path = os.path.join(tempfile.mkdtemp(), "s")
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    unix.listen()
    socket.socket(socket.AF_UNIX).connect(path)
    socket.getaddrinfo(None, 0)
    one, other = socket.socketpair()
    one.sendmsg([b"x"])
    print("reached")
"""


def offline(code: str) -> subprocess.CompletedProcess[str]:
    source = "import socket\nfrom tabwb.plugin_api.remote.offline import go_offline\ngo_offline()\n"
    return subprocess.run(
        [sys.executable, "-c", source + dedent(code)], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("way", ABROAD)
def test_nothing_leaves_this_machine(way: str) -> None:
    done = offline(ABROAD[way])
    assert done.returncode == 1
    assert "was refused: tabwb is offline" in done.stderr


def test_this_machine_itself_is_reached() -> None:
    done = offline(HOME)
    assert done.stdout.strip() == "reached", done.stderr


def test_the_refusal_is_an_os_error_for_libraries_and_ours_for_people() -> None:
    done = offline(
        """
        from tabwb.records.errors import NeedsNetwork
        try:
            socket.create_connection(("192.0.2.1", 80))
        except OSError as error:
            assert isinstance(error, NeedsNetwork)
            print(str(error).splitlines()[1])
        """
    )
    assert done.stdout.startswith("allowed: this machine's own addresses"), done.stderr


def test_the_hubs_are_told_and_so_are_children() -> None:
    done = offline(
        """
        import os
        from tabwb.plugin_api.remote.offline import is_offline
        names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "TABWB_OFFLINE")
        print(is_offline(), [os.environ[name] for name in names])
        """
    )
    assert done.stdout.strip() == "True ['1', '1', '1', '1']"

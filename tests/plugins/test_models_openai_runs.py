"""``openai:NAME`` in whole runs: a key that nobody finds again, a real server of a real model."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run
from tests.plugins.chat_server import Behaviour, Handler, chat_server, refuses, says

__all__ = ["run"]
SECRET = "sk-planted-k3y-0123456789"
BUNDLED = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"


def tabwb(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process."""
    return subprocess.run(
        [sys.executable, "-m", "tabwb.cli.main", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=250,
        env=os.environ | environment,
    )


def answers(document: Any) -> dict[tuple[str, str], str]:
    return {(trial["subtest"], trial["item"]): trial["response"] for trial in document["trials"]}


def tells_the_key(status: int, **more: str) -> Behaviour:
    """A server that says the key back in its error and its headers."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        said = handler.headers["Authorization"]
        error = {"message": f"refused {said}", "param": said} | more
        refuses(status, error, X_Request_Id=said)(handler, body)

    return answer


def says_the_key(handler: Handler, body: dict[str, Any]) -> None:
    """A server that says the key back as the answer, and in what it tells of itself."""
    says(f"You sent {handler.headers['Authorization']}")(handler, body)


def test_a_planted_key_is_nowhere_afterwards(tmp_path: Path, battery_file: Path, run: Run) -> None:
    environment = {"OPENAI_LOG": "debug", "TABWB_DEBUG": "1"}
    site = tmp_path / "site"
    site.mkdir()
    (site / "keyring_for_tests.py").write_text(
        "from keyring.backend import KeyringBackend\n"
        "class Kept(KeyringBackend):\n"
        "    priority = 1\n"
        "    def get_password(self, service, username):\n"
        f"        return {SECRET!r}\n"
        "    def set_password(self, service, username, password):\n"
        "        raise NotImplementedError\n",
        encoding="utf-8",
    )
    keyring = {"PYTHON_KEYRING_BACKEND": "keyring_for_tests.Kept", "PYTHONPATH": str(site)}
    with chat_server(
        tells_the_key(503), says("dog"), says_the_key, tells_the_key(401), then=says("fish")
    ) as chat:
        spec = f"openai:small@base_url={chat.url},concurrency=1,key_env=MY_KEY"
        given = tabwb(
            "run", battery_file, "--model", spec, "--judge", "none", MY_KEY=SECRET, **environment
        )
        from_the_environment = len(chat.headers)
        resumed = tabwb("resume", 1, "--json", **environment, **keyring)
    shown = run("results", 1, "--json")
    exports = [
        run("export", 1, "--format", kind, "--out", tmp_path / f"out.{kind}")
        for kind in ("jsonl", "csv")
    ]
    # The key was sent, the failures happened and told of it, and the run came to its end.
    assert {headers["authorization"] for headers in chat.headers} == {f"Bearer {SECRET}"}
    assert 4 <= from_the_environment <= len(chat.headers) - 2
    assert resumed.returncode == 0, resumed.stderr
    texts = [attempt["error"] for trial in shown.document["trials"]
             for attempt in trial["attempts"]]  # fmt: skip
    assert any("[key]" in text for text in texts)
    assert any("contains the service's key" in text for text in texts)
    for done in (given, resumed):
        assert SECRET not in done.stdout + done.stderr
    for read in (shown, *exports):
        assert read.status == 0 and SECRET not in read.out + read.err
    files = [path for path in tmp_path.rglob("*") if path.is_file() and site not in path.parents]
    assert any(path.suffix == ".db" or path.name.startswith("tabwb") for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


@contextmanager
def transformers_serve(log: Path) -> Iterator[str]:
    """The server of the transformers library on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (program,) = entry_points(group="console_scripts", name="transformers")
    code = f"from {program.module} import {program.attr} as main; main()"
    command = [sys.executable, "-c", code, "serve", str(BUNDLED), "--port", str(port)]
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--device", "cpu"],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "fastapi", "uvicorn")),
    reason='transformers serve is not installed: pip install "transformers[serving]"',
)
@pytest.mark.usefixtures("here")
def test_tab_given_through_transformers_serve_is_answered_as_by_the_model_itself(
    tmp_path: Path, run: Run
) -> None:
    with transformers_serve(tmp_path / "serve.log") as url:
        spec = f"openai:{BUNDLED}@base_url={url},concurrency=2"
        served = tabwb("run", "tab", "--offline", "--model", spec, "--json")
    assert served.returncode == 0, served.stderr
    document = json.loads(served.stdout)
    itself = run("run", "tab", "--model", "bundled", "--json")
    assert answers(document) == answers(itself.document)
    assert len(document["trials"]) == 20
    assert document["administration"]["model_facts"]["base_url"] == url
    for trial in document["trials"]:
        (attempt,) = trial["attempts"]
        assert attempt["stop_reason"] == "end"
        assert int(attempt["metadata"]["prompt_tokens"]) > 0
        assert int(attempt["metadata"]["reply_tokens"]) > 0

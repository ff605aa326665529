"""Keys: where they are found, how they are kept, and that they are never shown."""

from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import keyring
import pytest
from keyring.backend import KeyringBackend

from tabwb.host.keys import (
    Key,
    delete_key,
    find_key,
    missing_key,
    read_key,
    redact,
    remember,
    write_key,
)
from tabwb.host.plugins import Plugins
from tabwb.records.errors import ComponentError, MissingExtra, UsageError
from tests.cli.conftest import Run

SECRET = "sk-planted-k3y-0123456789"


class InMemory(KeyringBackend):
    """A system's keyring, as long as the test takes."""

    priority = 1
    kept: dict[tuple[str, str], str]

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Locked(InMemory):
    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"locked, and the log says {SECRET}")


@pytest.fixture
def ring() -> Iterator[InMemory]:
    before = keyring.get_keyring()
    backend = InMemory()  # type: ignore[no-untyped-call]
    backend.kept = {}
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def test_the_environment_goes_before_the_keyring(ring: InMemory) -> None:
    write_key("gemini", Key("from-the-keyring", "a test"))
    found = find_key(["A", "B"], "gemini", environ={"A": " ", "B": "from-the-environment"})
    assert found == Key("from-the-environment", "B")
    found = find_key(["A", "B"], "gemini", environ={})
    assert found == Key("from-the-keyring", "the system keyring")
    assert find_key(["A"], "openai", environ={}) is None


def test_a_key_shows_nothing_of_itself_and_is_taken_out_of_texts() -> None:
    key = Key(SECRET, "OPENAI_API_KEY")
    for text in (repr(key), str(key), f"{key}", f"{[key]}", f"{key!r:>40}"):
        assert SECRET not in text
    assert key.reveal() == SECRET
    remember("sk-long/word+secret")
    remember("sk-long/word+secret-and-longer")
    text = "a=sk-long/word+secret-and-longer&b=sk-long%2Fword%2Bsecret c=sk-long/word+secret"
    assert redact(text) == "a=[key]&b=[key] c=[key]"
    remember("none")  # a short word is no secret
    assert redact("none of the words") == "none of the words"


def test_what_libraries_log_shows_no_key(caplog: pytest.LogCaptureFixture) -> None:
    key = Key(SECRET, "a test")
    log = logging.getLogger("some_client")
    log.warning("sent %s to %s", key.reveal(), "a server")
    try:
        raise ValueError(f"refused {key.reveal()}")
    except ValueError:
        log.exception("failed")
    assert "sent [key] to a server" in caplog.text
    assert "ValueError: refused [key]" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("value", ["two words", "caf\u00e9-0123456789", "line\nbreak"])
def test_what_cannot_be_a_key_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(UsageError, match="cannot be a key") as caught:
        find_key(["NAME"], "openai", environ={"NAME": value})
    assert caught.value.where == "NAME"
    assert value not in str(caught.value)


def test_set_list_and_delete(ring: InMemory, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    read, write = os.pipe()
    os.write(write, f"{SECRET}\n".encode())
    os.close(write)
    monkeypatch.setattr(sys, "stdin", os.fdopen(read, encoding="utf-8"))
    shown = [run("key", "set", "openai")]
    assert ring.kept == {("tabwb", "openai"): SECRET}
    shown += [run("key", "list"), run("key", "list", "openai", "openrouter.ai", "--json")]
    assert "openai  the system keyring" in shown[1].out
    assert '"source": null' in shown[2].out
    assert not any(SECRET in one.out + one.err for one in shown)
    run("key", "delete", "openai")
    assert ring.kept == {}
    run("key", "delete", "openai", status=2, err="keeps no key of 'openai'")
    run("key", "list", "gemni", status=2, err="did you mean 'gemini'?")
    assert SECRET not in run("model", "add", "mine", f"openai:{SECRET}", status=2).err
    run("model", "test", "profile:mine", status=2)


def test_a_key_typed_at_a_terminal_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "keyring_for_tests.py").write_text(
        dedent(
            """
            import pathlib
            from keyring.backend import KeyringBackend

            FILE = pathlib.Path(__file__).with_name("kept")

            class Kept(KeyringBackend):
                priority = 1
                def get_password(self, service, username):
                    return FILE.read_text() if FILE.exists() else None
                def set_password(self, service, username, password):
                    FILE.write_text(password)
            """
        ),
        encoding="utf-8",
    )
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "tabwb.cli.main", "key", "set", "gemini"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env=os.environ
        | {"PYTHON_KEYRING_BACKEND": "keyring_for_tests.Kept", "PYTHONPATH": str(tmp_path)},
    )
    os.close(theirs)
    shown = b""
    while b"(not shown)" not in shown:
        shown += os.read(ours, 1000)
    os.write(ours, f"{SECRET}\n".encode())
    while True:
        try:
            shown += os.read(ours, 1000)
        except OSError:  # the terminal was closed at the other end
            break
        if b"is kept" in shown:
            break
    assert program.wait(timeout=60) == 0, shown
    os.close(ours)
    assert SECRET.encode() not in shown
    assert (tmp_path / "kept").read_text() == SECRET


def test_a_system_without_a_keyring_says_what_to_do(
    ring: InMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keyring.backends.fail import Keyring as NoKeyring

    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]
    with pytest.raises(ComponentError, match="no system keyring") as caught:
        write_key("gemini", Key(SECRET, "a test"))
    assert "GEMINI_API_KEY" in (caught.value.hint or "")
    assert find_key(["NAME"], "gemini", environ={}) is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtra, match=r'pip install "tabwb\[keyring\]"'):
        read_key("gemini")
    assert find_key(["NAME"], "gemini", environ={"NAME": "in-the-environment"}) is not None


def test_a_keyring_that_refuses_or_forgets_is_one_clear_error_without_the_key(
    ring: InMemory,
) -> None:
    ring.kept = type("Forgetful", (dict,), {"__setitem__": lambda self, key, value: None})()
    with pytest.raises(ComponentError, match="did not keep the key"):
        write_key("gemini", Key(SECRET, "a test"))
    keyring.set_keyring(Locked())  # type: ignore[no-untyped-call]
    remember(SECRET)
    assert "refused: locked" in (missing_key("gemini", ["NAME"], "gemini").hint or "")
    with pytest.raises(ComponentError, match="refused: locked") as caught:
        read_key("gemini")
    assert SECRET not in str(caught.value)
    with pytest.raises(ComponentError):
        delete_key("gemini")


SECRET = "sk-proj-abcDEF0123456789abcdef0123"


@pytest.mark.parametrize(
    "spec",
    [
        f"openai:m@base_url=http://me:{SECRET}@host/v1",
        "openai:m@base_url=http://me:word-of-mine@host/v1",
        "openai:m@base_url=http://localhost:word-of-mine/v1",
        "openai:m@base_url=http://localhost:1/v1,key_env=word-of-mine",
        f"openai:m@key_env={SECRET}",
        f"openai:{SECRET}",
        "gemini:AIzaSyA0123456789abcdefghijklmnopqrstuv",
        SECRET,
    ],
)
def test_a_key_in_a_spec_is_refused_and_not_shown(spec: str) -> None:
    plugins = Plugins.load()
    with pytest.raises(UsageError) as caught:
        plugins.resolve("models", spec)
        plugins.open_model(spec)
    for word in (SECRET, "word-of-mine", "AIza"):
        assert word not in str(caught.value)

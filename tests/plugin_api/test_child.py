"""A transcriber that lives in a child process, and what happens when that process dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tabwb.host.making import opened
from tabwb.host.plugins import Plugins
from tabwb.host.process import ChildModel, ChildTranscriber, child_environment, open_limit
from tabwb.host.settings import Configuration
from tabwb.plugin_api.components import (
    BatchingBackend,
    LikelihoodBackend,
    ModelBackend,
    Transcriber,
)
from tabwb.records.errors import ComponentError, Interrupted, UsageError
from tabwb.records.exchange import Likelihood, Message, Reply, Request, Wait
from tabwb.records.speech import Clip, Segment, Transcript
from tabwb.records.states import StopReason
from tests.waiting import until

Install = Callable[[str, str], Path]
Load = Callable[[], Plugins]

MODEL = """
class Model:
    def open(self):
        return {"model": "actor", "pid": str(os.getpid()), "threads": os.environ.get(
            "OMP_NUM_THREADS", "unset"), "offline": os.environ["TABWB_OFFLINE"]}

    def reply(self, request, cancel):
        order = request.messages[-1].content
        yield "one "
        if order == "exit":
            print("last words", flush=True)
            os._exit(3)
        if order == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if order == "raise":
            raise ValueError("no such word")
        if order == "environment":
            yield " ".join(sorted(os.environ))
            yield Reply("one " + " ".join(sorted(os.environ)), StopReason.END, 0.0)
            return
        if order == "flood":
            for number in range(60_000):
                print(f"line {number} " + "x" * 60)
        if order == "print":
            print("garbage on stdout")
            os.write(1, b"raw garbage")
            sys.stdout.write("more")
            print(repr(sys.stdin.read()))
        if order == "heed":
            cancel.wait(60)
            yield Reply("one ", StopReason.CANCELLED, 0.0)
            return
        if order == "ignore":
            while True:
                time.sleep(0.01)
        if order == "babble":
            while True:
                yield "x"
        if order == "connect":
            import socket
            socket.create_connection(("192.0.2.1", 80), timeout=5)
        yield "two \\ud800 \\u00e9"
        yield Reply("one two \\ud800 \\u00e9", StopReason.END, 0.5, 0.1, 3, 4, {"order": order})

    def reply_many(self, requests, cancel):
        for index in reversed(range(len(requests))):
            order = requests[index].messages[-1].content
            if order == "wait":
                yield index, Wait(2.5, "rate limit")
            if order == "fail":
                yield index, ComponentError("no such word", allowed="others")
                continue
            yield index, Reply(order, StopReason.END, 0.0)

    def likelihood(self, request, continuations, cancel):
        return [Likelihood(-1.5 * len(text), len(text)) for text in continuations]

    def close(self):
        print("closed")

def options():
    from pydantic import BaseModel
    class Options(BaseModel):
        threads: int | None = None
    return Options

@hookimpl
def tabwb_register_models(register):
    made = lambda spec, options: Model()
    register(Descriptor("actor", "Acts", made, options=options, runs="child"))
    register(Descriptor("crowd", "Acts in crowds", made, runs="child", batches=True))
    register(Descriptor("scale", "Weighs", made, runs="child", likelihood=True))
"""


def asked(order: str) -> Request:
    return Request((Message("user", order),))


def answer(backend: ModelBackend, order: str) -> list[str | Wait | Reply]:
    return list(backend.reply(asked(order), threading.Event()))


@pytest.fixture
def actor(install: Install, load: Load) -> Iterator[ChildModel]:
    install("stage", MODEL)
    backend = load().open_model("actor")
    assert isinstance(backend, ChildModel)
    yield backend
    backend.close()


def gone(pid: int, within: float = 60.0) -> bool:
    """Whether a process has ended and was waited for."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_a_component_answers_raises_and_is_cancelled_in_another_process(
    install: Install, load: Load
) -> None:
    install("stage", MODEL)
    plugins = load()
    actor = plugins.open_model("actor@threads=3")
    assert isinstance(actor, ChildModel) and not isinstance(actor, BatchingBackend)
    facts = actor.open()
    assert facts["pid"] == str(actor.pid) != str(os.getpid())
    assert (facts["threads"], facts["offline"]) == ("3", "1") and plugins.configuration.offline
    pieces = answer(actor, "speak")
    assert pieces[:-1] == ["one ", "two \ud800 \xe9"]
    assert pieces[-1] == Reply(
        "one two \ud800 \xe9", StopReason.END, 0.5, 0.1, 3, 4, {"order": "speak"}
    )
    with pytest.raises(ComponentError, match="ValueError: no such word"):
        answer(actor, "raise")
    with pytest.raises(ComponentError, match=r"192\.0\.2\.1 was refused: tabwb is offline"):
        answer(actor, "connect")
    cancel = threading.Event()
    pieces = []
    for piece in actor.reply(asked("heed"), cancel):
        pieces.append(piece)
        cancel.set()
    assert pieces == ["one ", Reply("one ", StopReason.CANCELLED, 0.0)]
    assert len(answer(actor, "speak")) == 3
    assert str(actor.pid) == facts["pid"]
    # Plugins close their children, which may be closed again and leave no process.
    plugins.close()
    actor.close()
    assert gone(int(facts["pid"]), within=0.1)


def test_prints_reach_the_log_and_no_frame(actor: ChildModel, tmp_path: Path) -> None:
    actor.open()
    assert len(answer(actor, "print")) == 3
    actor.close()
    (log,) = (tmp_path / "tabwb-data" / "logs").iterdir()
    text = log.read_text()
    assert "garbage on stdout" in text
    assert "raw garbage" in text
    assert "''" in text, "standard input was not empty"
    assert "closed" in text


@pytest.mark.parametrize(
    ("order", "how"), [("exit", "exit status 3"), ("kill", "SIGKILL, perhaps because memory")]
)
def test_a_child_that_dies_ends_one_reply_and_the_next_starts_another(
    actor: ChildModel, order: str, how: str
) -> None:
    first = int(actor.open()["pid"])
    with pytest.raises(ComponentError, match=how) as caught:
        answer(actor, order)
    assert ("last words" in str(caught.value)) == (order == "exit")
    assert gone(first)
    assert len(answer(actor, "speak")) == 3
    assert actor.pid not in {None, first}


@pytest.mark.parametrize("order", ["ignore", "babble"])
def test_a_component_that_ignores_cancel_is_ended_after_two_seconds(
    actor: ChildModel, order: str
) -> None:
    pid = int(actor.open()["pid"])
    cancel = threading.Event()
    last: str | Wait | Reply = ""
    text = ""
    cancelled_at = 0.0
    for piece in actor.reply(asked(order), cancel):
        if not cancel.is_set():
            cancelled_at = time.monotonic()
            cancel.set()
        last = piece
        text += piece if isinstance(piece, str) else ""
    assert isinstance(last, Reply)
    assert last.stop_reason is StopReason.CANCELLED
    assert last.text == text
    assert 1.5 < time.monotonic() - cancelled_at < 40
    assert gone(pid)
    assert len(answer(actor, "speak")) == 3


def test_a_reply_that_nobody_wants_any_more_leaves_no_process(actor: ChildModel) -> None:
    pid = int(actor.open()["pid"])
    stream = actor.reply(asked("babble"), threading.Event())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert gone(pid)


def test_closing_from_another_thread_ends_a_reply(actor: ChildModel) -> None:
    actor.open()
    errors: list[Exception] = []

    def ask() -> None:
        try:
            answer(actor, "ignore")
        except ComponentError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    actor.close()
    thread.join(60)
    assert not thread.is_alive()
    assert [str(error) for error in errors] == ["'actor' was closed"]


@pytest.mark.parametrize("order", ["ignore", ""])
def test_a_child_ends_when_tabwb_is_killed(install: Install, order: str) -> None:
    install("stage", MODEL)
    code = (
        "import sys, threading\n"
        "from tabwb.host.plugins import Plugins\n"
        "from tabwb.records.exchange import Message, Request\n"
        "backend = Plugins.load().open_model('actor')\n"
        "print(backend.open()['pid'], flush=True)\n"
        "order = sys.argv[1]\n"
        "request = Request((Message('user', order),))\n"
        "for piece in backend.reply(request, threading.Event()) if order else (): pass\n"
        "threading.Event().wait()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, order], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout as out:
        child = int(out.readline())
        time.sleep(0.3)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    # Nobody may wait for an orphan here, so a zombie counts as ended.
    until(lambda: not running(child), "the end of the child", poll_s=0.05)


def running(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be buried."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_many_requests_are_answered_together_with_waits_and_failures_between(
    install: Install, load: Load
) -> None:
    install("stage", MODEL)
    plugins = load()
    crowd = plugins.open_model("crowd")
    assert isinstance(crowd, BatchingBackend)
    crowd.open()
    requests = [asked("wait"), asked("fail"), asked("a"), asked("b")]
    pieces = list(crowd.reply_many(requests, threading.Event()))
    assert [index for index, _ in pieces] == [3, 2, 1, 0, 0]
    assert [piece.text for _, piece in pieces if isinstance(piece, Reply)] == ["b", "a", "wait"]
    error = pieces[2][1]
    assert isinstance(error, ComponentError)
    assert (error.message, error.allowed) == ("no such word", "others")
    assert pieces[3][1] == Wait(2.5, "rate limit")
    scale = plugins.open_model("scale")
    assert isinstance(scale, LikelihoodBackend) and not isinstance(scale, BatchingBackend)
    scale.open()
    found = scale.likelihood(asked("which"), ["Yes", "No"], threading.Event())
    assert list(found) == [Likelihood(-4.5, 3), Likelihood(-3.0, 2)]


def test_threads_of_a_child_wait_passively_and_it_gets_the_secret_that_is_named(
    tmp_path: Path,
) -> None:
    configuration = Configuration(config_dir=tmp_path, data_dir=tmp_path, offline=False)
    environ = {"HOME": "/h", "HF_TOKEN": "hf-0123456789", "OPENAI_API_KEY": "sk-0123456789"}
    environment: dict[str, Any] = child_environment(configuration, None, environ, ("HF_TOKEN",))
    assert (environment["HOME"], environment["HF_TOKEN"]) == ("/h", "hf-0123456789")
    assert environment["OMP_WAIT_POLICY"] == "PASSIVE"
    assert environment["TABWB_OFFLINE"] == "0"
    assert not {"OMP_NUM_THREADS", "HF_HUB_OFFLINE", "OPENAI_API_KEY"} & set(environment)


def test_a_child_imports_nothing_from_the_current_folder(
    install: Install, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("stage", MODEL)
    (tmp_path / "queue.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    assert load().open_model("actor").open()["model"] == "actor"


def test_a_child_has_no_keys(actor: ChildModel, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = {
        "MYKEY": "1",
        "PRIVATEKEY": "1",
        "BEARER": "1",
        "COOKIE": "1",
        "S3_ACCESS": "1",
        "MY_SETTING": "1",
        "OPENAI_API_KEY": "sk-0123456789",
        "GEMINI_API_KEY": "g-0123456789",
        "HF_TOKEN": "hf-0123456789",
        "AWS_SECRET_ACCESS_KEY": "a-0123456789",
        "PGPASSWORD": "p-0123456789",
        "TABWB_STORE": "postgresql://me:hunter22@host/lab",
        "DATABASE_URL": "postgresql://me:hunter22@host/lab",
    }
    for name, value in {**secret, "OMP_SCHEDULE": "static"}.items():
        monkeypatch.setenv(name, value)
    actor.open()
    *_, last = answer(actor, "environment")
    assert isinstance(last, Reply)
    names = set(last.text.split())
    assert not names & set(secret)
    assert {"OMP_SCHEDULE", "PATH", "TABWB_DATA_DIR"} <= names


def test_a_child_gets_what_the_user_allows(tmp_path: Path) -> None:
    environ = {"LAB_SERVER": "a", "MYKEY": "b", "TABWB_CONFIG_DIR": str(tmp_path)}
    (tmp_path / "tabwb.toml").write_text('environment = ["LAB_SERVER"]', encoding="utf-8")
    configuration = Configuration.load(cwd=tmp_path / "none", environ=environ)
    child = child_environment(configuration, None, environ)
    assert (child.get("LAB_SERVER"), child.get("MYKEY")) == ("a", None)
    # A folder that may be downloaded allows nothing.
    here, elsewhere = tmp_path / "here", {"TABWB_CONFIG_DIR": str(tmp_path / "else")}
    here.mkdir()
    (here / "tabwb.toml").write_text('environment = ["MYKEY"]', encoding="utf-8")
    untrusted = Configuration.load(cwd=here, environ=elsewhere)
    assert (untrusted.environment, untrusted.ignored) == ((), ("environment",))


def test_a_log_does_not_grow_without_limit(actor: ChildModel, tmp_path: Path) -> None:
    actor.open()
    answer(actor, "flood")
    actor.close()
    (log,) = (tmp_path / "tabwb-data" / "logs").iterdir()
    content = log.read_text()
    assert len(content) <= 1_000_000
    assert content.startswith("[earlier lines were removed]")
    assert "line 59999 " in content
    assert log.stat().st_mode & 0o777 == 0o600


def test_old_logs_are_deleted(actor: ChildModel, tmp_path: Path) -> None:
    logs = tmp_path / "tabwb-data" / "logs"
    logs.mkdir(parents=True)
    for number in range(40):
        (logs / f"child-2020-{number:02}.log").write_text("old")
    actor.open()
    assert len(list(logs.iterdir())) == 20


def test_a_stopped_child_blocks_no_large_request(actor: ChildModel) -> None:
    actor.open()
    pid = actor.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    began = time.monotonic()
    (last,) = actor.reply(asked("x" * 2**21), cancel)
    assert isinstance(last, Reply)
    assert last.stop_reason is StopReason.CANCELLED
    assert time.monotonic() - began < 40
    assert gone(pid)


def test_opening_has_a_time_limit(
    install: Install, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.host.process.OPEN_S", 0.5)
    install("stage", MODEL.replace("def open(self):", "def open(self):\n        time.sleep(60)"))
    backend = load().open_model("actor")
    with pytest.raises(ComponentError, match="was not loaded after"):
        backend.open()


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf"])
def test_a_limit_for_loading_that_is_not_a_number_of_seconds_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="is not a number of seconds") as refused:
        open_limit({"TABWB_OPEN_S": text})
    assert refused.value.where == "TABWB_OPEN_S"


def test_a_stop_while_a_model_is_loaded_ends_its_process(install: Install, load: Load) -> None:
    install(
        "slow",
        """
        class Slow:
            def open(self):
                time.sleep(600)

            def close(self):
                pass

        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("slow", "Loads", lambda spec, options: Slow(), runs="child"))
        """,
    )
    model = load().open_model("slow")
    assert isinstance(model, ChildModel)
    cancel = threading.Event()
    pids: list[int] = []

    def stop() -> None:
        until(lambda: model.pid, "the process")
        pids.append(model.pid or 0)
        cancel.set()

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(Interrupted, match="loading was stopped"):
        opened(model, cancel)
    stopping.join()
    assert model.pid is None
    assert gone(pids[0], within=0.1)


TRANSCRIBER = """
from tabwb.records.speech import Segment, Transcript

class Ear:
    unit = "words"

    def open(self):
        return {"model": "ear", "pid": str(os.getpid()), "threads": os.environ.get(
            "OMP_NUM_THREADS", "unset"), "offline": os.environ["TABWB_OFFLINE"]}

    def transcribe_many(self, clips, cancel):
        if any(clip.path == "all" for clip in clips):
            raise ComponentError("nothing can be heard today", hint="try tomorrow")
        for index in reversed(range(len(clips))):
            clip = clips[index]
            if clip.path == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if clip.path == "wait":
                cancel.wait(60)
                return
            if clip.path == "ignore":
                while True:
                    time.sleep(0.01)
            forms = " ".join("-".join(form) for form in clip.accepted)
            segment = Segment(clip.path, clip.start_s, clip.end_s or 9.0, 0.5)
            yield index, Transcript(
                "ear", "ok", (segment,), "words", 1.5, {"x": 2}, -0.25, forms, {"pid": str(os.getpid())}
            )

    def close(self):
        pass

def options():
    from pydantic import BaseModel
    class Options(BaseModel):
        threads: int | None = None
    return Options

@hookimpl
def tabwb_register_transcribers(register):
    made = lambda spec, options: Ear()
    register(Descriptor("ear", "Hears", made, options=options, runs="child"))
    register(Descriptor("near", "Hears here", made))
"""  # noqa: E501


@pytest.fixture
def ear(install: Install, load: Load) -> ChildTranscriber:
    install("ears", TRANSCRIBER)
    opened = load().open_transcriber("ear@threads=3")
    assert isinstance(opened, ChildTranscriber)
    return opened


def heard(ear: Transcriber, *paths: str) -> dict[int, Transcript]:
    return dict(ear.transcribe_many([Clip(path) for path in paths], threading.Event()))


def test_a_transcriber_hears_in_another_process(ear: ChildTranscriber) -> None:
    facts = ear.open()
    assert int(facts["pid"]) == ear.pid != os.getpid()
    assert (facts["threads"], facts["offline"]) == ("3", "1")
    assert ear.unit == "words"
    clips = [Clip("a.wav", 0.5, 2.0, (("D", "AO", "G"), ("D", "AA", "G"))), Clip("b.wav")]
    (first, second) = ear.transcribe_many(clips, threading.Event())
    assert (first[0], second[0]) == (1, 0)
    assert second[1] == Transcript(
        "ear",
        "ok",
        (Segment("a.wav", 0.5, 2.0, 0.5),),
        "words",
        1.5,
        {"x": 2},
        -0.25,
        "D-AO-G D-AA-G",
        {"pid": facts["pid"]},
    )


def test_one_that_runs_here_is_made_here(install: Install, load: Load) -> None:
    install("ears", TRANSCRIBER)
    near = load().open_transcriber("near")
    assert near.open()["pid"] == str(os.getpid())


def test_the_clip_that_a_process_dies_of_is_an_error_and_harms_no_other(
    ear: ChildTranscriber,
) -> None:
    first = ear.open()["pid"]
    found = heard(ear, "a", "kill", "b")
    assert {index: each.status for index, each in found.items()} == {0: "ok", 1: "error", 2: "ok"}
    assert "SIGKILL" in found[1].error
    assert found[2].metadata["pid"] == first
    assert found[0].metadata["pid"] != first


def test_a_process_that_always_dies_is_not_started_for_ever_and_what_fails_all_is_raised(
    ear: ChildTranscriber,
) -> None:
    ear.open()
    with pytest.raises(ComponentError, match="nothing can be heard today"):
        heard(ear, "a", "all")
    assert heard(ear, "a")[0].status == "ok"
    found = heard(ear, *["kill"] * 40)
    assert [each.status for each in found.values()] == ["error"] * 40


@pytest.mark.parametrize("order", ["wait", "ignore"])
def test_cancel_leaves_clips_without_a_transcript(ear: ChildTranscriber, order: str) -> None:
    ear.open()
    cancel = threading.Event()
    found = []
    for index, _ in ear.transcribe_many([Clip("a"), Clip(order), Clip("b")], cancel):
        found.append(index)
        cancelled_at = time.monotonic()
        cancel.set()
    assert found == [2]
    assert time.monotonic() - cancelled_at < 40
    assert heard(ear, "a")[0].status == "ok"

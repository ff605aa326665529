"""Remote models in general: trying again, resting, cancelling, many at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from tabwb.host.guarded import GuardedModel
from tabwb.host.keys import Key
from tabwb.host.prices import FREE, Price, cost_of, price_of, shipped
from tabwb.host.remote_model import (
    RETRIED,
    FailureKind,
    RemoteFailure,
    RemoteModel,
    Retries,
    StreamedReply,
    retry_after,
)
from tabwb.plugin_api.components import BatchingBackend, Cancel
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tabwb.records.specs import parse_spec
from tabwb.records.states import StopReason

Try = Callable[[Request, Cancel], Iterator[str | Reply]]


class Service(RemoteModel):
    """A back end whose tries are given; its clock stands still except in pauses."""

    def __init__(self, attempt: Try, *, concurrency: int = 1, **settings: Any) -> None:
        self.now = 0.0
        self.rests: list[float] = []
        settings = {"rest": self.pause, "clock": lambda: self.now, "chance": lambda: 0.0} | settings
        super().__init__(
            concurrency=concurrency, retries=Retries(), title="service:model", **settings
        )
        self.attempt = attempt

    def pause(self, cancel: Cancel, seconds: float) -> bool:
        self.rests.append(seconds)
        self.now += seconds
        return cancel.is_set()

    def open(self) -> Mapping[str, str]:
        return {}

    def call(self, request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield from self.attempt(request, cancel)

    def close(self) -> None:
        pass


def asked(text: str = "Which one barks?") -> Request:
    return Request((Message("user", text),))


def answer(text: str) -> Reply:
    return Reply(text, StopReason.END, 0.1)


def failing(*failures: RemoteFailure, then: str = "dog") -> Try:
    """Fails so often, then answers."""
    left = list(failures)

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield then[:1]
        if left:
            raise left.pop(0)
        yield then[1:]
        yield answer(then)

    return attempt


def replied(service: RemoteModel, request: Request | None = None) -> list[str | Wait | Reply]:
    return list(service.reply(request or asked(), threading.Event()))


@pytest.mark.parametrize("kind", sorted(RETRIED))
def test_what_may_pass_is_tried_again_from_the_beginning(kind: FailureKind) -> None:
    pieces = replied(Service(failing(RemoteFailure(kind, "no"))))
    last = pieces[-1]
    assert isinstance(last, Reply)
    wait = next(n for n, piece in enumerate(pieces) if isinstance(piece, Wait))
    assert pieces[:wait] == ["d"]
    assert pieces[wait + 1 : -1] == ["d", "og"]
    assert last.text == "dog" and last.metadata["attempts"] == "2"


@pytest.mark.parametrize("kind", sorted(set(get_args(FailureKind)) - RETRIED))
def test_what_stays_as_it_is_is_not_tried_again(kind: FailureKind) -> None:
    service = Service(failing(RemoteFailure(kind, "the account is empty", status=429)))
    with pytest.raises(ComponentError, match=r"service:model: .* \(429\): the account is empty"):
        replied(service)
    assert service.rests == []


def test_pauses_double_and_the_sixth_failure_is_the_last() -> None:
    service = Service(failing(*[RemoteFailure("server", "down", status=503)] * 9))
    with pytest.raises(ComponentError, match=r"server error \(503\) after 6 attempts: down"):
        replied(service)
    # Half of 1, 2, 4, 8, 16 seconds: the jitter's lower end.
    assert service.rests == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_pauses_lie_between_half_and_the_whole_and_never_beyond_the_longest() -> None:
    retries = Retries(first_s=2.0, factor=3.0, longest_s=10.0)
    for attempt, whole in [(1, 2.0), (2, 6.0), (3, 10.0), (4, 10.0), (10_000, 10.0)]:
        assert retries.pause_s(attempt, None, 0.0) == pytest.approx(whole / 2)
        assert retries.pause_s(attempt, None, 1.0) == pytest.approx(whole)


def test_the_pause_a_service_asks_for_is_kept_told_and_bounded() -> None:
    service = Service(failing(RemoteFailure("rate-limit", "slow down", retry_after_s=17.0)))
    assert isinstance(service, BatchingBackend)
    waits = [piece for piece in replied(service) if isinstance(piece, Wait)]
    assert waits == [Wait(17.0, "rate limit, attempt 1 of 6")]
    assert service.rests == [17.0]
    # One of more than ten times the longest is not waited for.
    service = Service(failing(RemoteFailure("rate-limit", "", retry_after_s=1e9)))
    with pytest.raises(ComponentError, match="asks to wait 1000000000 s"):
        replied(service)
    assert service.rests == []


def test_one_request_that_takes_too_long_does_not_hold_up_the_others() -> None:
    over = threading.Event()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        if request.messages[0].content == "slow":
            over.wait(20)
        yield answer("dog")

    service = Service(attempt, concurrency=2, reply_s=0.3)
    requests = [asked("slow"), *(asked() for _ in range(5))]
    found = dict(service.reply_many(requests, threading.Event()))
    over.set()
    assert isinstance(found.pop(0), ComponentError)
    assert [one.text for one in found.values() if isinstance(one, Reply)] == ["dog"] * 5


def test_the_tries_of_a_request_have_one_limit_together() -> None:
    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        time.sleep(0.2)
        raise RemoteFailure("connection", "it broke off")
        yield ""

    service = Service(attempt, reply_s=0.5)
    with pytest.raises(ComponentError, match=r"not complete after 0\.5 s"):
        replied(service)
    assert 0 < len(service.rests) < 5


def test_a_silence_is_said_and_voids_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabwb.host.remote_model.SILENCE_S", 0.1)
    said = threading.Event()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield "do"
        said.wait(60)
        yield "g"
        yield answer("dog")

    guarded = GuardedModel(Service(attempt, silence_s=3600.0), "service", lambda words: None)
    pieces = []
    for piece in guarded.reply(asked(), threading.Event()):
        pieces.append(piece)
        if isinstance(piece, Wait):
            assert not piece.voids
            assert piece.reason.endswith("s (limit 3600 s)")
            said.set()
    assert said.is_set()
    assert [piece for piece in pieces if isinstance(piece, str)] == ["do", "g"]


def test_a_back_end_that_reports_no_bytes_is_not_called_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabwb.host.remote_model.SILENCE_S", 0.0)

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        time.sleep(0.3)
        yield answer("dog")

    assert not any(isinstance(piece, Wait) for piece in replied(Service(attempt)))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=100.0) == seconds


def test_a_rate_limit_of_one_holds_back_those_that_come_after() -> None:
    met, times = threading.Event(), dict[str, float]()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        text = request.messages[-1].content
        if text == "limited" and not met.is_set():
            times["limit"] = time.monotonic()
            met.set()
            raise RemoteFailure("rate-limit", "", retry_after_s=0.3)
        met.wait(60)
        if text == "under way":
            time.sleep(0.05)  # ends after the limit was met
        else:
            times[text] = time.monotonic()
        yield answer(text)

    service = Service(attempt, concurrency=2, rest=threading.Event.wait, clock=time.monotonic)
    requests = [asked("limited"), asked("under way"), asked("after")]
    pieces = list(service.reply_many(requests, threading.Event()))
    assert {index for index, piece in pieces if isinstance(piece, Reply)} == {0, 1, 2}
    assert times["after"] - times["limit"] >= 0.29


def test_while_the_gate_is_closed_nothing_goes_out() -> None:
    service = Service(failing())
    service._gate.close_for(12.0)
    pieces = replied(service)
    assert pieces[0] == Wait(12.0, "rate limit met by another request")
    assert service.now == 12.0


def test_cancel_wakes_a_pause_at_once() -> None:
    service = Service(
        failing(RemoteFailure("rate-limit", "", retry_after_s=500.0)),
        rest=threading.Event.wait,
        clock=time.monotonic,
    )
    cancel = threading.Event()
    started = time.monotonic()
    pieces = []
    for piece in service.reply(asked(), cancel):
        pieces.append(piece)
        if isinstance(piece, Wait):
            cancel.set()
    assert time.monotonic() - started < 60
    last = pieces[-1]
    assert isinstance(last, Reply)
    assert (last.text, last.stop_reason) == ("", StopReason.CANCELLED)


def test_cancel_does_not_wait_for_a_silent_service() -> None:
    over = threading.Event()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield "do"
        over.wait(60)
        yield answer("dog")

    cancel = threading.Event()
    started = time.monotonic()
    pieces = []
    for piece in Service(attempt).reply(asked(), cancel):
        pieces.append(piece)
        cancel.set()
    over.set()
    assert time.monotonic() - started < 40
    assert isinstance(pieces[-1], Reply)
    assert pieces[-1].text == "do"
    assert pieces[-1].stop_reason is StopReason.CANCELLED


def test_requests_in_flight_never_exceed_the_concurrency() -> None:
    lock, counts, full = threading.Lock(), {"now": 0, "most": 0}, threading.Event()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        with lock:
            counts["now"] += 1
            counts["most"] = max(counts["most"], counts["now"])
            if counts["now"] == 4:
                full.set()
        full.wait(60)
        time.sleep(0.01)
        with lock:
            counts["now"] -= 1
        yield answer(request.messages[-1].content)

    requests = [asked(str(number)) for number in range(30)]
    service = Service(attempt, concurrency=4)
    found = dict(service.reply_many(requests, threading.Event()))
    assert {index: piece.text for index, piece in found.items() if isinstance(piece, Reply)} == {
        number: str(number) for number in range(30)
    }
    assert counts["most"] == 4


def test_nothing_is_asked_ahead_of_what_is_taken() -> None:
    begun = list[str]()

    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        begun.append(request.messages[-1].content)
        yield answer("x")

    requests = [asked(str(number)) for number in range(50)]
    with closing(Service(attempt, concurrency=3)._together(requests, threading.Event())) as pieces:
        next(pieces)
        time.sleep(0.1)
        assert len(begun) <= 3


def test_one_failure_harms_no_other() -> None:
    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        text = request.messages[-1].content
        if text == "1":
            raise RemoteFailure("request", "too long", status=400)
        if text == "2":
            raise ZeroDivisionError("a client's defect")
        yield answer(text)

    service = Service(attempt, concurrency=2)
    found = dict(service.reply_many([asked(str(n)) for n in range(4)], threading.Event()))
    assert str(found[1]) == "service:model: request refused (400): too long"
    assert str(found[2]) == "service:model: ZeroDivisionError: a client's defect"
    assert isinstance(found[0], Reply) and isinstance(found[3], Reply)


def test_what_was_not_answered_when_cancelled_yields_nothing() -> None:
    def attempt(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        if request.messages[-1].content == "0":
            yield answer("0")
            return
        cancel.wait(60)
        yield Reply("", StopReason.CANCELLED, 0.1)

    cancel = threading.Event()
    found = []
    service = Service(attempt, concurrency=2)
    for index, _ in service.reply_many([asked(str(n)) for n in range(9)], cancel):
        found.append(index)
        cancel.set()
    assert found == [0]


def test_errors_metadata_replies_and_what_streams_show_no_key() -> None:
    secret = Key("sk-planted-0123456789", "a test").reveal()

    def refusing(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield ""
        raise RemoteFailure("authentication", f"wrong key {secret}", status=401)

    with pytest.raises(ComponentError) as caught:
        replied(Service(refusing))
    assert "[key]" in str(caught.value) and secret not in str(caught.value)

    def telling(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield Reply("dog", StopReason.END, 0.1, metadata={"header": f"Bearer {secret}"})

    last = replied(Service(telling))[-1]
    assert isinstance(last, Reply) and last.metadata["header"] == "Bearer [key]"
    for size in (1, 7, 100):

        def saying(request: Request, cancel: Cancel, size: int = size) -> Iterator[str | Reply]:
            text = f"You sent {secret} to me"
            yield from (text[at : at + size] for at in range(0, len(text), size))
            yield answer(text)

        shown: list[object] = []
        with pytest.raises(ComponentError, match="contains the service's key") as caught:
            shown.extend(Service(saying).reply(asked(), threading.Event()))
        assert "sk-" not in "".join(map(str, shown)) and secret not in str(caught.value)

    def beginning(request: Request, cancel: Cancel) -> Iterator[str | Reply]:
        yield "a sk-"
        yield "i and a sk-pl"
        yield answer("a sk-i and a sk-pl")

    *pieces, last = replied(Service(beginning))
    assert "".join(map(str, pieces)) == "a sk-i and a sk-pl", "it only begins like a key"
    assert isinstance(last, Reply)


def test_the_price_of_a_spec_is_the_users_else_the_shipped_one(tmp_path: Path) -> None:
    def price(spec: str, *, local: bool = False) -> Price | None:
        return price_of(parse_spec(spec), local=local, config_dir=tmp_path)

    found = price("gemini:gemini-2.5-flash")
    assert found is not None
    # 6,720 responses of 1,500 tokens sent and 250 received, at 0.30 and 2.50 dollars a million:
    # 10.08 million x 0.30 + 1.68 million x 2.50.
    assert cost_of(found, 6720 * 1500, 6720 * 250) == pytest.approx(3.024 + 4.2)
    assert all(one.as_of and one.source for one in shipped())
    assert price("bundled", local=True) is FREE
    for spec in ("openai:no-such-model", "openai:gpt-4o@base_url=https://other.example/v1"):
        assert price(spec) is None and cost_of(price(spec), 10, 10) is None
    own = '[[price]]\nmodel = "gemini:*"\nprompt = 1\nreply = 2\n'
    (tmp_path / "prices.toml").write_text(own, encoding="utf-8")
    found = price("gemini:gemini-2.5-flash")
    assert found is not None and (found.prompt, found.reply) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price = 1", r"more than tables"),
        ("[[price]]\nprompt = 1", "'model' is missing"),
        ('[[price]]\nmodel = "a"\nprompt = -1\nreply = 1', "'prompt' is -1"),
        ('[[price]]\nmodel = "a"\nprompt = true\nreply = 1', "'prompt' is True"),
        ('[[price]]\nmodel = "a"\nprompt = nan\nreply = 1', "'prompt' is nan"),
        ('[[price]]\nmodel = "a"\nprompt = 1\nreply = 1\nprise = 3', "unknown key: prise"),
        ('[[price]]\nmodel = "a"\nprompt = 1\nreply = 1\nas_of = "May"', "'as_of' is 'May'"),
        ("[[price", "is not valid TOML"),
    ],
)
def test_a_malformed_file_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        price_of(parse_spec("gemini:x"), local=False, config_dir=tmp_path)
    assert caught.value.where is not None and str(path) in caught.value.where


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ("<think>Q: a mane?</think>lion\nQ: next", "Q: a mane?"),
        ("It has a mane.\n</think>\nlion\nQ: next", "It has a mane."),
        ("<think>x</think><answer>lion\nQ: next</answer>", "x"),
    ],
)
def test_a_stop_string_cuts_the_response_and_leaves_thinking_apart(
    text: str, reasoning: str
) -> None:
    request = Request((Message("user", "?"),), Decoding(stop=("\nQ:",)))
    facts = SimpleNamespace(
        stop_reason=StopReason.END, prompt_tokens=None, reply_tokens=None, reasoning=""
    )
    for at in range(len(text)):
        reply = StreamedReply(request, title="a model", structured=False, started=0.0)
        for piece in (text[:at], text[at:]):
            reply.feed(piece)
        *_, last = reply.finish(facts, {}, lambda raw: raw)
        assert isinstance(last, Reply)
        assert (last.text, last.reasoning) == ("lion", reasoning)
        assert last.stop_reason is StopReason.STOP_STRING


# The audit hook cannot be taken away again, so the tests have a process of their own.
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
    source = "import socket\nfrom tabwb.host.offline import go_offline\ngo_offline()\n"
    return subprocess.run(
        [sys.executable, "-c", source + dedent(code)], capture_output=True, text=True, timeout=60
    )


def test_nothing_leaves_this_machine_which_itself_is_reached() -> None:
    tried = "".join(
        f"""
try:
    {code}
except BaseException as error:
    assert "was refused: tabwb is offline" in str(error), {way!r}
else:
    raise AssertionError({way!r})
"""
        for way, code in ABROAD.items()
    )
    done = offline(dedent(tried) + dedent(HOME))
    assert done.stdout.strip() == "reached", done.stderr


def test_the_refusal_is_an_os_error_and_the_hubs_and_children_are_told() -> None:
    done = offline(
        """
        import os
        from tabwb.host.offline import is_offline
        from tabwb.records.errors import NeedsNetwork
        names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "TABWB_OFFLINE")
        print(is_offline(), [os.environ[name] for name in names])
        try:
            socket.create_connection(("192.0.2.1", 80))
        except OSError as error:
            assert isinstance(error, NeedsNetwork)
            print(str(error).splitlines()[1])
        """
    )
    told, allowed = done.stdout.splitlines()
    assert told == "True ['1', '1', '1', '1']", done.stderr
    assert allowed.startswith("allowed: this machine's own addresses")

"""``openai:NAME``: the real client against a small server on this machine."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tabwb_openai.backend import OpenAIModel
from tabwb_openai.options import OpenAIOptions

from tabwb.host.plugins import Plugins
from tabwb.host.remote_model import Retries
from tabwb.host.settings import Configuration
from tabwb.records.errors import ComponentError, NeedsNetwork, UsageError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tabwb.records.specs import mixed, parse_spec
from tabwb.records.states import Protocol, StopReason
from tests.plugins.chat_server import (
    QUICK,
    Behaviour,
    Chat,
    Handler,
    asked,
    breaks_off_after,
    chat_server,
    chunk,
    is_silent,
    pieces,
    refuses,
    reply,
    says,
    sends,
    streams,
)

Opened = Callable[..., OpenAIModel]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open a model of a server; it is closed at the end of the test."""
    models: list[OpenAIModel] = []

    def call(chat: Chat, retries: Retries = QUICK, **options: object) -> OpenAIModel:
        given = OpenAIOptions.model_validate({"base_url": chat.url or None} | options)
        models.append(OpenAIModel("small", given, local=True, retries=retries))
        models[-1].open()
        return models[-1]

    yield call
    for model in models:
        model.close()


def enforced(*options: str) -> Request:
    return Request(
        (Message("user", "Which one barks?"),), protocol=Protocol.ENFORCED, options=options
    )


def test_a_reply_streams_and_is_its_pieces_joined(opened: Opened) -> None:
    with chat_server(says("A dog barks.")) as chat:
        *streamed, last = pieces(opened(chat))
    # What might be the beginning of a key that an earlier test planted comes a piece later.
    assert len(streamed) > 1 and "".join(map(str, streamed)) == "A dog barks."
    assert isinstance(last, Reply)
    assert (last.text, last.stop_reason) == ("A dog barks.", StopReason.END)
    assert (last.prompt_tokens, last.reply_tokens) == (3, 3)
    assert last.metadata["model"] == "small-2026-01-01"
    assert last.first_piece_s is not None and 0 <= last.first_piece_s <= last.latency_s


def test_what_is_sent_is_the_request_and_nothing_more(opened: Opened) -> None:
    messages = (Message("system", "Be brief."), Message("user", "Which one barks?"))
    brief, question = ({"role": one.role, "content": one.content} for one in messages)
    with chat_server() as chat:
        reply(opened(chat), Request(messages, Decoding(max_tokens=7)))
        # Without a system role the message stands before the user's.
        reply(opened(chat, system_role="user"), Request(messages))
        reply(opened(chat, system_role="developer"), Request(messages))
        reply(opened(chat), asked(temperature=0.7, top_p=0.9, seed=5))
        reply(opened(chat, seed=11), asked(temperature=0.7, seed=5))
    first, user, developer, *sampled = chat.bodies
    assert first == {
        "model": "small", "messages": [brief, question], "temperature": 0.0, "max_tokens": 7,
        "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip
    assert user["messages"] == [{"role": "user", "content": "Be brief.\n\nWhich one barks?"}]
    assert developer["messages"][0]["role"] == "developer"
    sent = [(body["seed"], body.get("top_p")) for body in sampled]
    assert sent == [(5, 0.9), (mixed(5, 11), None)] and all(0 <= seed < 2**31 for seed, _ in sent)


def test_a_server_on_a_unix_socket_answers_and_no_proxy_is_asked_for_ones_own(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with chat_server(says("dog")) as chat:
        assert reply(opened(chat)).text == "dog"
    with chat_server(says("dog"), unix=tmp_path / "s") as chat:
        assert reply(opened(chat, socket=str(tmp_path / "s"))).text == "dog"


@pytest.mark.parametrize(
    ("behaviour", "text", "reason"),
    [
        (says(""), "", StopReason.END),
        (says("A dog", finish="length"), "A dog", StopReason.LENGTH),
        (says("", finish="content_filter"), "", StopReason.REFUSED),
        (says("A", finish="content_filter"), "A", StopReason.REFUSED),
        (says("", refusal="I won't."), "I won't.", StopReason.REFUSED),
        (refuses(400, {"code": "content_filter", "message": "no"}), "", StopReason.REFUSED),
    ],
    ids=["empty", "cut", "blocked", "blocked midway", "refusal", "prompt blocked"],
)
def test_empty_cut_and_blocked_replies_are_told_apart(
    opened: Opened, behaviour: Behaviour, text: str, reason: StopReason
) -> None:
    with chat_server(behaviour) as chat:
        found = reply(opened(chat))
    assert (found.text, found.stop_reason) == (text, reason)
    assert "finish_reason" in found.metadata
    assert len(chat.bodies) == 1


def test_reasoning_is_no_part_of_the_answer_and_has_a_limit_of_its_own(opened: Opened) -> None:
    with chat_server(
        says("dog", reasoning_content="It is furry."), says("dog", thoughts=300)
    ) as chat:
        found = reply(opened(chat))
        model = opened(chat, reasoning_tokens=1000, reasoning_effort="low")
        limited = reply(model, asked(max_tokens=64))
    assert (found.text, found.metadata["reasoning_characters"]) == ("dog", "12")
    assert "cause" not in found.metadata
    body = chat.bodies[1]
    assert (body["max_tokens"], body["reasoning_effort"]) == (1064, "low")
    kept = ("max_tokens", "reasoning_limit", "reasoning_effort", "thought_tokens")
    assert [limited.metadata[name] for name in kept] == ["1064", "1000", "low", "300"]


@pytest.mark.parametrize("how", [{"thoughts": 16}, {"reasoning_content": "Well"}])
def test_an_answer_that_was_thought_away_says_so(opened: Opened, how: dict[str, Any]) -> None:
    with chat_server(says("", finish="length", **how)) as chat:
        found = reply(opened(chat))
    assert (found.text, found.stop_reason) == ("", StopReason.LENGTH)
    assert found.metadata["cause"] == "thinking used the limit of tokens"


def test_what_the_server_does_not_take_is_left_out_and_said(opened: Opened) -> None:
    message = "'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    with chat_server(refuses(400, {"message": "no seed", "param": "seed"})) as chat:
        found = reply(opened(chat), asked(temperature=0.7, seed=5))
    assert found.metadata["seed"] == "not sent"
    assert found.metadata["not_taken_by_server"] == "seed"
    # The limit has two names.
    with chat_server(refuses(400, {"message": message, "param": "max_tokens"})) as chat:
        assert reply(opened(chat), asked(max_tokens=9)).text == "dog"
    assert chat.bodies[1]["max_completion_tokens"] == 9 and "max_tokens" not in chat.bodies[1]


MORE = ("A", "B", "C", "D", " three")  # than the API takes


@pytest.mark.parametrize(
    ("behaviour", "stop", "text"),
    [
        (says("dog Q: and then"), (" Q:",), "dog"),
        (says("one two three"), MORE, "one two"),
        (streams(json.dumps(chunk("one two three"))), MORE, "one two"),
    ],
    ids=["let through", "too many", "in one piece"],
)
def test_a_stop_string_that_the_server_lets_through_ends_the_reply(
    opened: Opened, behaviour: Behaviour, stop: tuple[str, ...], text: str
) -> None:
    with chat_server(behaviour) as chat:
        found = reply(opened(chat), asked(stop=stop))
    assert (found.text, found.stop_reason) == (text, StopReason.STOP_STRING)
    assert found.metadata["stop_string"] == stop[-1]
    assert chat.bodies[0]["stop"] == list(stop[:4])


def test_an_answer_that_never_ends_or_is_always_cut_is_an_error(opened: Opened) -> None:
    endless = streams(*[json.dumps(chunk("dog " * 10_000))] * 100)
    for behaviour, said, tries in (
        (endless, "does not end", 1),
        (breaks_off_after("do"), "openai:small: no connection after 3 attempts", 3),
    ):
        with chat_server(then=behaviour) as chat:
            model = opened(chat)
            with pytest.raises(ComponentError, match=said):
                reply(model)
        assert len(chat.bodies) == tries


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (refuses(429, {"message": "slow down"}), r"rate limit \(429\)"),
        (refuses(500, {"message": "oops"}), r"server error \(500\)"),
        (refuses(503, {"message": "loading"}), r"server error \(503\)"),
        (streams(json.dumps(chunk("do")), '{"choices": [{"del'), "malformed answer"),
        (streams('{"choices": [3]}', "[DONE]"), "malformed answer"),
        (sends("<html>Bad gateway</html>"), "malformed answer"),
        (streams(json.dumps(chunk("do")), "[DONE]"), "no connection"),
        (breaks_off_after("do"), "no connection"),
        (streams('{"error": {"message": "memory", "code": 503}}'), "server error"),
        (is_silent(30), "no answer in time"),
    ],
    ids=[
        "429", "500", "503", "malformed JSON", "no chunk", "no stream", "no end", "cut connection",
        "error in the stream", "slow",
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(opened: Opened, behaviour: Behaviour, reason: str) -> None:
    with chat_server(behaviour, says("dog")) as chat:
        found = pieces(opened(chat, timeout_s=2.0))
        # A service that is silent meanwhile is said too, which voids nothing.
        waits = [piece for piece in found if isinstance(piece, Wait) and piece.voids]
        assert len(waits) == 1 and len(chat.bodies) == 2
        assert re.match(reason, waits[0].reason)
    assert isinstance(found[-1], Reply) and found[-1].text == "dog"
    assert found[-1].metadata["attempts"] == "2"


def test_retry_after_is_waited_for(opened: Opened) -> None:
    headers = {"Retry_After_Ms": "150", "Retry_After": "9"}
    with chat_server(refuses(429, {"message": "slow down"}, **headers)) as chat:
        assert Wait(0.15, "rate limit (429), attempt 1 of 3") in pieces(opened(chat))


def test_nobody_there_and_a_refused_key_are_said_before_the_first_item(opened: Opened) -> None:
    refusal = refuses(401, {"message": "Incorrect API key"})
    with chat_server(look=refusal) as chat, pytest.raises(ComponentError, match="refuses the key"):
        opened(chat)
    model = OpenAIModel("small", OpenAIOptions(base_url=chat.url), local=True)
    with pytest.raises(ComponentError, match=f"no server answers at {chat.url}: .*refused"):
        model.open()


@pytest.mark.parametrize(
    ("status", "error", "options", "reason"),
    [
        (401, {"message": "Incorrect API key"}, {}, r"key refused \(401\): Incorrect"),
        (403, {"message": "not in your country"}, {}, r"key refused \(403\): not in"),
        (404, {"message": "no such model"}, {}, r"request refused \(404\): no such model"),
        (400, {"message": "too long"}, {}, r"request refused \(400\): too long"),
        (429, {"message": "check your plan", "code": "insufficient_quota"}, {},
         r"quota used up \(429\): check your plan"),
        # A limit that was named is not exchanged, a temperature never left out.
        (400, {"message": "no", "param": "max_tokens"}, {"token_parameter": "max_tokens"},
         "request refused"),
        (400, {"message": "only the default", "param": "temperature"}, {}, "only the default"),
    ],
)  # fmt: skip
def test_what_stays_is_not_tried_again(
    opened: Opened, status: int, error: dict[str, str], options: dict[str, object], reason: str
) -> None:
    with chat_server(then=refuses(status, error)) as chat:
        model = opened(chat, **options)
        with pytest.raises(ComponentError, match=reason):
            reply(model)
    assert len(chat.bodies) == 1


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_refuses_to_count_is_asked_without(opened: Opened, status: int) -> None:
    refusal = refuses(status, {"message": "Unknown parameter: stream_options"})
    with chat_server(refusal) as chat:
        model = opened(chat)
        first, second = reply(model), reply(model)
    assert first.text == second.text == "dog"
    assert first.reply_tokens is None
    assert first.metadata["not_taken_by_server"] == "stream_options"
    assert ["stream_options" in body for body in chat.bodies] == [True, False, False]


def test_an_enforced_answer_is_the_word_out_of_the_structure(opened: Opened) -> None:
    with chat_server(says('{"answer": "dog"}'), says("A dog barks.")) as chat:
        *streamed, last = pieces(opened(chat), enforced("dog", "tree", "dog"))
        free = reply(opened(chat), enforced())  # an item without options
    assert streamed == ["dog"] and isinstance(last, Reply) and last.text == "dog"
    assert last.metadata.items() >= {
        "protocol": "enforced", "structured": "json-schema", "constrained": "yes",
        "raw_reply": '{"answer": "dog"}',
    }.items()  # fmt: skip
    schema = chat.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["dog", "tree"]
    assert (free.text, free.metadata["protocol"]) == ("A dog barks.", "generate")
    assert "constrained" not in free.metadata and "response_format" not in chat.bodies[1]


@pytest.mark.parametrize("said", ["It is the dog.", '{"answer": "wolf"}', "[1]", '{"answer": []}'])
@pytest.mark.parametrize("taken", [True, False])
def test_a_server_that_does_not_keep_to_it_is_quoted_and_marked(
    opened: Opened, said: str, taken: bool
) -> None:
    refusal = refuses(400, {"message": "response_format is not supported"})
    with chat_server(*([] if taken else [refusal]), says(said)) as chat:
        found = reply(opened(chat), enforced("dog", "tree"))
    assert (found.text, found.metadata["constrained"]) == (said, "no")
    if not taken:
        assert found.metadata["not_taken_by_server"] == "response_format"
        assert "structured" not in found.metadata


def test_a_reply_is_kept_to_a_schema_where_one_is_asked_for(opened: Opened) -> None:
    schema = {"type": "object", "properties": {"Anomia": {"type": "integer"}}}
    request = Request((Message("user", "?"),), json_schema=json.dumps(schema))
    with chat_server(then=says('{"Anomia": 1}')) as chat:
        found = reply(opened(chat), request)
        free = reply(opened(chat, structured="none"), request)
    first, second = chat.bodies
    assert first["response_format"]["json_schema"]["schema"] == schema
    assert found.metadata["structured"] == "json-schema"
    assert "response_format" not in second and "structured" not in free.metadata


@pytest.mark.parametrize(
    ("structured", "sent"),
    [
        ("choice", {"structured_outputs": {"choice": ["dog", "tree"]}}),
        ("guided-choice", {"guided_choice": ["dog", "tree"]}),
    ],
)
def test_vllm_is_given_the_choice_itself(
    opened: Opened, structured: str, sent: dict[str, object]
) -> None:
    with chat_server() as chat:
        found = reply(opened(chat, structured=structured), enforced("dog", "tree"))
    assert chat.bodies[0].items() >= sent.items()
    assert (found.metadata["structured"], found.metadata["constrained"]) == (structured, "yes")


def test_where_nothing_enforces_the_protocol_is_refused(opened: Opened) -> None:
    with chat_server() as chat:
        model = opened(chat, structured="none")
        with pytest.raises(ComponentError, match="cannot answer under the protocol 'enforced'"):
            reply(model, enforced("dog"))
    assert chat.bodies == []


def test_a_server_of_ones_own_is_reached_offline_and_another_is_not() -> None:
    plugins = Plugins.load(Configuration(offline=True))
    for url in ("http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"):
        plugins.resolve("models", f"openai:small@base_url={url}")
        assert plugins.open_model(f"openai:small@base_url={url}")
    for spec in ("openai:gpt-4o", "openai:small@base_url=https://models.example/v1"):
        with pytest.raises(NeedsNetwork, match="'openai' needs a network"):
            plugins.resolve("models", spec)


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("ftp://a.example", "option 'base_url' of 'openai'"),
        ("localhost:11434", "option 'base_url' of 'openai'"),
        ("https://me:word@a.example/v1", r"https://\[key\]@a.example/v1' looks like a key"),
        ("http://a.example/?k=1", "option 'base_url' of 'openai'"),
    ],
)
def test_an_address_with_more_than_an_address_is_refused(url: str, refusal: str) -> None:
    with pytest.raises(UsageError, match=refusal):
        Plugins.load(Configuration()).open_model(f"openai:small@base_url={url}")


def test_openais_key_is_sent_to_nobody_else(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-0123456789")
    monkeypatch.setenv("MY_KEY", "my-own-0123456789")
    with chat_server() as chat:
        reply(opened(chat))
        reply(opened(chat, key_env="MY_KEY"))
    assert [headers["authorization"] for headers in chat.headers] == [
        "Bearer none",
        "Bearer my-own-0123456789",
    ]
    assert not any("openai-organization" in headers for headers in chat.headers)


@pytest.mark.parametrize("spec", ["openai:gpt-4o", "openai:m@base_url=http://[::1]:1,key_env=KEY"])
def test_a_missing_key_is_one_clear_error(spec: str) -> None:
    parsed = parse_spec(spec)
    options = OpenAIOptions.model_validate(dict(parsed.options))
    with pytest.raises(ComponentError, match="needs a key, and none was found") as caught:
        OpenAIModel(str(parsed.name), options, local=True).open()
    # Where a system keyring is, the command; elsewhere the variable.
    assert re.search("tabwb key set|set the environment variable", str(caught.value))


def test_what_one_request_learns_harms_no_other(opened: Opened) -> None:
    def strict(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(0.05)
        if "max_tokens" in body:
            error = {"message": "use max_completion_tokens", "param": "max_tokens"}
            refuses(400, error)(handler, body)
        else:
            says("dog")(handler, body)

    with chat_server(then=strict) as chat:
        model = opened(chat, concurrency=8)
        found = dict(model.reply_many([asked(str(n)) for n in range(12)], threading.Event()))
    assert {
        n: r.text if isinstance(r, Reply) else str(r) for n, r in found.items()
    } == dict.fromkeys(range(12), "dog")

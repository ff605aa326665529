"""``gemini:NAME``: Google's real client against a small server on this machine."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tabwb_gemini.backend import GeminiModel
from tabwb_gemini.options import GeminiOptions

from tabwb.host.plugins import Plugins
from tabwb.host.remote_model import Retries
from tabwb.host.settings import Configuration
from tabwb.records.errors import ComponentError, NeedsNetwork, UsageError
from tabwb.records.exchange import Decoding, Message, Reply, Request, Wait
from tabwb.records.specs import mixed
from tabwb.records.states import Protocol, StopReason
from tests.cli.conftest import in_process
from tests.plugins.chat_server import (
    QUICK,
    Behaviour,
    Chat,
    Handler,
    asked,
    chat_server,
    pieces,
    reply,
    sends,
)

Opened = Callable[..., GeminiModel]
PLANTED = "AIzaSyPlantedKey0123456789abcdefghijklm"


def chunk(
    text: str = "", *, finish: str | None = None, usage: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """One chunk of a stream, in the REST protocol's words."""
    candidate: dict[str, Any] = {"index": 0}
    if text:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    if finish:
        candidate["finishReason"] = finish
    made: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": "gemini-2.5-flash-001",
        "responseId": "r-1",
    }
    if usage:
        made["usageMetadata"] = dict(usage)
    return made


def streams(*chunks: Mapping[str, Any]) -> Behaviour:
    return lambda handler, body: handler.stream([json.dumps(each) for each in chunks])


def says(text: str, *, finish: str = "STOP", thoughts: int = 0) -> Behaviour:
    """Streams a text in two pieces and counts tokens, a word being one."""
    half = len(text) // 2
    usage = {"promptTokenCount": 7, "candidatesTokenCount": len(text.split())}
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    return streams(chunk(text[:half]), chunk(text[half:]), chunk(finish=finish, usage=usage))


def refuses(status: int, word: str, message: str, *details: Mapping[str, Any]) -> Behaviour:
    error = {"code": status, "message": message, "status": word, "details": list(details)}
    return lambda handler, body: handler.document(status, {"error": error}, {})


RETRY_SOON = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}
PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
BUSY = refuses(429, "RESOURCE_EXHAUSTED", "slow down", RETRY_SOON)
DOWN = refuses(503, "UNAVAILABLE", "overloaded")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open a model of a server; it is closed at the end of the test."""
    models: list[GeminiModel] = []

    def call(chat: Chat, retries: Retries = QUICK, **options: object) -> GeminiModel:
        url = chat.url.removesuffix("/v1")
        given = GeminiOptions.model_validate({"base_url": url} | options)
        models.append(GeminiModel("gemini-2.5-flash", given, local=True, retries=retries))
        models[-1].open()
        return models[-1]

    yield call
    for model in models:
        model.close()


def test_a_reply_streams_and_is_its_pieces_joined(opened: Opened) -> None:
    with chat_server(says("A dog barks.")) as chat:
        *streamed, last = pieces(opened(chat))
    assert isinstance(last, Reply)
    assert "".join(map(str, streamed)) == last.text == "A dog barks."
    assert len(streamed) == 2
    assert last.stop_reason is StopReason.END
    assert (last.prompt_tokens, last.reply_tokens) == (7, 3)
    assert last.metadata["model_version"] == "gemini-2.5-flash-001"
    assert last.metadata["finish_reason"] == "STOP"


def test_what_is_sent_is_the_request_and_nothing_more(opened: Opened) -> None:
    messages = (
        Message("system", "Be brief."), Message("user", "Say cup."), Message("assistant", "cup"),
        Message("user", "Which one barks?"),
    )  # fmt: skip
    with chat_server(then=says("dog")) as chat:
        reply(opened(chat), Request(messages, Decoding(max_tokens=7, stop=("\n",))))
        model = opened(chat, thinking_budget=0, safety="off", seed=11)
        reply(model, asked(temperature=0.7, top_p=0.9, seed=5))
    body, sampled = chat.bodies
    said = [("user", "Say cup."), ("model", "cup"), ("user", "Which one barks?")]
    assert body["contents"] == [{"role": who, "parts": [{"text": text}]} for who, text in said]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    # The client writes this one as the API's protocol buffers do; the service reads both.
    assert list(body["generationConfig"].pop("thinkingConfig").values()) == [0]
    plain = {"temperature": 0.0, "maxOutputTokens": 7, "stopSequences": ["\n"]}
    assert body["generationConfig"] == plain
    assert set(body) == {"contents", "systemInstruction", "generationConfig"}
    config = sampled["generationConfig"]
    assert (config["seed"], config["topP"]) == (mixed(5, 11), 0.9)
    assert list(config["thinkingConfig"].values()) == [0]
    assert [each["threshold"] for each in sampled["safetySettings"]] == ["BLOCK_NONE"] * 4


def test_a_short_answer_is_asked_for_without_thinking_and_a_budget_is_added(opened: Opened) -> None:
    with chat_server(then=says("dog")) as chat:
        model = opened(chat)
        short = [reply(model, asked(max_tokens=limit)) for limit in (64, 1023, 1024)]
        found = reply(opened(chat, thinking_budget=512), asked(max_tokens=64))
        reply(opened(chat, thinking_budget=-1), asked(max_tokens=64))
    configs = [body["generationConfig"] for body in chat.bodies]
    assert ["thinkingConfig" in config for config in configs[:3]] == [True, True, False]
    assert [one.metadata.get("thinking_budget") for one in short] == ["0", "0", None]
    assert [config["maxOutputTokens"] for config in configs[3:]] == [576, 64]
    assert (found.metadata["max_tokens"], found.metadata["thinking_budget"]) == ("576", "512")


def thinks_always(handler: Handler, body: dict[str, Any]) -> None:
    """Refuses to answer without thinking, as gemini-2.5-pro does."""
    words = "Budget 0 is invalid. This model only works in thinking mode."
    without = "thinkingConfig" in body["generationConfig"]
    (refuses(400, "INVALID_ARGUMENT", words) if without else says("dog"))(handler, body)


def test_a_model_that_must_think_is_asked_again_and_then_left_to_it(opened: Opened) -> None:
    with chat_server(then=thinks_always) as chat:
        model = opened(chat)
        found = [reply(model).text for _ in range(2)]
        # A budget that a person chose is not changed.
        with pytest.raises(ComponentError, match="only works in thinking mode"):
            reply(opened(chat, thinking_budget=0))
    assert found == ["dog", "dog"]
    tries = ["thinkingConfig" in body["generationConfig"] for body in chat.bodies]
    assert tries == [True, False, False, True]


def test_thoughts_are_counted_and_no_part_of_the_answer_and_odd_counts_are_none(
    opened: Opened,
) -> None:
    thought = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hm", "thought": True}]}}]
    }
    usage = {"promptTokenCount": 4, "candidatesTokenCount": 1, "thoughtsTokenCount": 30}
    used_up = {"promptTokenCount": 4, "thoughtsTokenCount": 61}
    odd = {"promptTokenCount": -5, "candidatesTokenCount": 2**60}
    with chat_server(
        streams(thought, chunk("dog", finish="STOP", usage=usage)),
        streams(chunk(finish="MAX_TOKENS", usage=used_up)),
        streams(chunk("dog", finish="STOP", usage=odd)),
    ) as chat:
        model = opened(chat)
        found, cut, uncounted = (reply(model) for _ in range(3))
    assert (found.text, found.reply_tokens) == ("dog", 31)
    assert found.metadata["thought_tokens"] == "30"
    assert (cut.text, cut.stop_reason) == ("", StopReason.LENGTH)
    assert cut.metadata["cause"] == "thinking used the limit of tokens"
    assert (uncounted.prompt_tokens, uncounted.reply_tokens) == (None, None)


def test_more_stop_strings_than_the_api_takes_are_looked_for_here(opened: Opened) -> None:
    stops = tuple(f"<{n}>" for n in range(7))
    with chat_server(says("one two <6> three")) as chat:
        found = reply(opened(chat), asked(stop=stops))
    assert chat.bodies[0]["generationConfig"]["stopSequences"] == list(stops[:5])
    assert (found.text, found.stop_reason) == ("one two ", StopReason.STOP_STRING)


@pytest.mark.parametrize(("said", "kept"), [("dog", "yes"), ("a big dog", "no")])
def test_an_enforced_answer_is_one_of_the_options_or_told_apart(
    opened: Opened, said: str, kept: str
) -> None:
    request = Request(
        (Message("user", "Which?"),), protocol=Protocol.ENFORCED, options=("dog", "cat")
    )
    with chat_server(says(said)) as chat:
        found = reply(opened(chat), request)
    config = chat.bodies[0]["generationConfig"]
    assert config["responseMimeType"] == "text/x.enum"
    assert config["responseSchema"] == {"type": "STRING", "enum": ["dog", "cat"]}
    assert (found.text, found.metadata["constrained"]) == (said, kept)
    assert found.metadata["protocol"] == "enforced"


def test_a_reply_is_kept_to_a_schema_where_one_is_asked_for(opened: Opened) -> None:
    schema = {"type": "object", "properties": {"Anomia": {"type": "integer"}}}
    request = Request((Message("user", "?"),), json_schema=json.dumps(schema))
    with chat_server(then=says('{"Anomia": 1}')) as chat:
        found = reply(opened(chat), request)
        free = reply(opened(chat, structured="none"), request)
    first, second = (body["generationConfig"] for body in chat.bodies)
    assert first["responseMimeType"] == "application/json"
    assert first["responseJsonSchema"] == schema
    assert found.metadata["structured"] == "json-schema"
    assert "responseMimeType" not in second and "structured" not in free.metadata


def test_likelihood_cannot_be_had(opened: Opened) -> None:
    request = Request((Message("user", "?"),), protocol=Protocol.LIKELIHOOD, options=("a", "b"))
    with chat_server() as chat, pytest.raises(ComponentError, match="not return the likelihood"):
        reply(opened(chat), request)


@pytest.mark.parametrize(
    ("bad", "seconds"),
    [
        (BUSY, 0.02),
        (refuses(429, "RESOURCE_EXHAUSTED", "slow", {**RETRY_SOON, "retryDelay": "0.31s"}), 0.31),
        (DOWN, None),
        (refuses(500, "INTERNAL", "oh"), None),
        (sends("<html>"), None),
        (streams(), None),
    ],
    ids=["rate limit", "told pause", "unavailable", "server error", "no stream", "nothing"],
)
def test_what_may_go_away_is_tried_again(
    opened: Opened, bad: Behaviour, seconds: float | None
) -> None:
    with chat_server(bad, says("dog")) as chat:
        found = pieces(opened(chat))
    (wait,) = (piece for piece in found if isinstance(piece, Wait))
    assert seconds in (None, wait.seconds) and (seconds is None or "rate limit" in wait.reason)
    assert isinstance(found[-1], Reply) and found[-1].text == "dog"
    assert found[-1].metadata["attempts"] == "2"


INVALID_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("behaviour", "what", "words"),
    [
        (refuses(400, "INVALID_ARGUMENT", "no such thing"), "request refused", "no such thing"),
        (refuses(401, "UNAUTHENTICATED", "who are you"), "key refused", "who are you"),
        (refuses(403, "PERMISSION_DENIED", "not yours"), "key refused", "not yours"),
        (refuses(404, "NOT_FOUND", "no such model"), "request refused", "no such model"),
        (refuses(400, "INVALID_ARGUMENT", "not valid", INVALID_KEY), "key refused", "not valid"),
        (refuses(429, "RESOURCE_EXHAUSTED", "of the day", PER_DAY, RETRY_SOON),
         "quota used up", "of the day"),
    ],
)  # fmt: skip
def test_what_stays_wrong_is_told_at_once(
    opened: Opened, behaviour: Behaviour, what: str, words: str
) -> None:
    with chat_server(then=behaviour) as chat:
        with pytest.raises(ComponentError, match=what) as caught:
            pieces(opened(chat))
        assert len(chat.bodies) == 1
    assert words in str(caught.value)


def broken_off(handler: Handler, body: Mapping[str, Any]) -> None:
    handler.stream([json.dumps(chunk("A dog"))], whole=False)
    handler.wfile.flush()
    handler.connection.shutdown(2)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (broken_off, "connection"),
        (streams(chunk("A dog")), "broke off"),
        (streams({"candidates": []}), "no candidate"),
        (streams(chunk("A d", finish="OTHER")), "OTHER"),
        (streams(chunk("A d", finish="MALFORMED_FUNCTION_CALL")), "MALFORMED_FUNCTION_CALL"),
        (streams(chunk("A d", finish="SOMETHING_NEW")), "SOMETHING_NEW"),
    ],
)
def test_what_does_not_end_as_an_answer_is_none(
    opened: Opened, behaviour: Behaviour, said: str
) -> None:
    with chat_server(then=behaviour) as chat, pytest.raises(ComponentError, match=said):
        pieces(opened(chat))


@pytest.mark.parametrize(
    ("behaviour", "text", "reason", "told"),
    [
        (streams({"promptFeedback": {"blockReason": "SAFETY"}}), "", StopReason.REFUSED,
         {"blocked": "the prompt", "block_reason": "SAFETY"}),
        (streams({"promptFeedback": {"blockReason": "BLOCKLIST"}}), "", StopReason.REFUSED, {}),
        (streams(chunk("A d", finish="SAFETY")), "A d", StopReason.REFUSED, {}),
        (streams(chunk(finish="RECITATION")), "", StopReason.REFUSED, {}),
        (streams(chunk(finish="SPII")), "", StopReason.REFUSED, {}),
        (streams(chunk("A", finish="BLOCKLIST")), "A", StopReason.REFUSED, {}),
        (streams(chunk(finish="STOP")), "", StopReason.END, {}),
        (says("A dog", finish="MAX_TOKENS", thoughts=9), "A dog", StopReason.LENGTH, {}),
        # All tokens went into thinking.
        (streams(chunk(finish="MAX_TOKENS")), "", StopReason.LENGTH, {}),
    ],
)  # fmt: skip
def test_outcomes_are_told_apart(
    opened: Opened, behaviour: Behaviour, text: str, reason: StopReason, told: dict[str, str]
) -> None:
    with chat_server(behaviour) as chat:
        found = reply(opened(chat))
    assert (found.text, found.stop_reason) == (text, reason)
    assert found.metadata.items() >= told.items()
    assert not text or "cause" not in found.metadata
    assert len(chat.bodies) == 1


def plugins(tmp_path: Path, *, offline: bool = False) -> Plugins:
    return Plugins.load(Configuration(config_dir=tmp_path, data_dir=tmp_path, offline=offline))


def test_without_a_key_or_offline_only_a_server_of_ones_own_is_asked(tmp_path: Path) -> None:
    loaded = plugins(tmp_path)
    with pytest.raises(ComponentError, match="needs a key") as caught:
        loaded.open_model("gemini:gemini-2.5-flash").open()
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in str(caught.value)
    offline = plugins(tmp_path, offline=True)
    with pytest.raises(NeedsNetwork):
        offline.resolve("models", "gemini:gemini-2.5-flash")
    offline.resolve("models", "gemini:gemini-2.5-flash@base_url=http://127.0.0.1:1")
    for url in ("ftp://x", "http://user:word@x", "http://x?key=1", "http://[::1", "x"):
        with pytest.raises(UsageError, match="base_url"):
            loaded.resolve("models", f"gemini:m@base_url={url}")


def test_googles_key_goes_to_google_alone(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", PLANTED)
    with chat_server(then=says("dog")) as chat:
        reply(opened(chat))
        # An address in the environment gets no key.
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", chat.url)
        backend: Any = plugins(tmp_path).open_model("gemini:m")
        backend.open()
        address = backend.inner._client._api_client._http_options.base_url
        backend.close()
    assert chat.headers and all(PLANTED not in str(headers) for headers in chat.headers)
    assert address == "https://generativelanguage.googleapis.com/"


def test_a_key_is_taken_out_before_a_message_is_cut(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", PLANTED)
    for letters in (470, 480, 499):
        told = refuses(400, "INVALID_ARGUMENT", "x" * letters + PLANTED)
        with chat_server(then=told) as chat, pytest.raises(ComponentError) as caught:
            reply(opened(chat, key_env="MY_KEY"))
        assert PLANTED[:6] not in str(caught.value)


def test_tab_is_given_and_the_key_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", PLANTED)
    told = refuses(400, "INVALID_ARGUMENT", f"odd request with {PLANTED}")

    def answers(handler: Handler, body: dict[str, Any]) -> None:
        prompt = body["contents"][-1]["parts"][0]["text"]
        if "catastrophe" in prompt:
            told(handler, body)
        elif "Please repeat exactly: " in prompt:
            says(prompt.partition("Please repeat exactly: ")[2])(handler, body)
        elif "(" in prompt:
            says(prompt.rpartition("(")[2].partition(",")[0])(handler, body)
        else:
            says("Yes")(handler, body)

    with chat_server(then=answers) as chat:
        url = chat.url.removesuffix("/v1")
        spec = f"gemini:gemini-2.5-flash@base_url={url},key_env=MY_KEY"
        outcome = in_process(["run", "tab", "--model", spec, "--json"])
        assert all(headers["x-goog-api-key"] == PLANTED for headers in chat.headers)
    assert outcome.status == 3, outcome.err
    document = outcome.document
    right = {one["id"]: (one["correct"], one["n"]) for one in document["summary"]["subtests"]}
    assert right["word-comprehension"] == (5, 5)
    assert right["repetition"] == (4, 4)
    assert "[key]" in json.dumps(document)
    exported = tmp_path / "out.jsonl"
    assert in_process(["export", "1", "--format", "jsonl", "--out", str(exported)]).status == 0
    written = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert any(path.name == "tabwb.db" for path in written)
    for path in written:
        assert PLANTED.encode() not in path.read_bytes(), path
    assert PLANTED not in outcome.out + outcome.err
    store = next(path for path in written if path.name == "tabwb.db")
    with sqlite3.connect(store) as connection:
        (count,) = connection.execute("SELECT count(*) FROM attempts").fetchone()
    assert count == 20

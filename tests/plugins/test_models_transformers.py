"""The transformers back end, on a tiny model with random weights that is made on the spot."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.options import TransformersOptions

from tabwb.host.plugins import Plugins
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Reply, Request
from tabwb.records.specs import mixed
from tabwb.records.states import StopReason
from tests.plugins.conftest import answer, asked, end_at, model, save_model

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
transformers = pytest.importorskip("transformers", reason="needs tabwb[local]")


def test_facts_name_exactly_what_was_loaded(base: Path) -> None:
    facts = model(base).open()
    assert facts["model"] == str(base)
    assert facts["dtype"] == "float32"
    assert facts["device"] == "cpu"
    assert facts["template"] == "plain-1"
    assert facts["torch"] == torch.__version__
    assert facts["threads"] == "1"
    weights = transformers.AutoModelForCausalLM.from_pretrained(base)
    assert facts["parameters"] == str(sum(p.numel() for p in weights.parameters()))
    assert len(facts["weights_sha256"]) == 64


def test_other_weights_have_another_hash(base: Path, tmp_path: Path) -> None:
    copy = save_model(tmp_path / "copy")
    before = model(copy).open()["weights_sha256"]
    assert before == model(base).open()["weights_sha256"]
    path = copy / "model.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert model(copy).open()["weights_sha256"] != before


def test_dtype_and_threads_are_as_told_and_what_is_not_there_is_refused(base: Path) -> None:
    before = torch.get_num_threads()
    try:
        facts = model(base, dtype="bfloat16", threads=2).open()
    finally:
        torch.set_num_threads(before)
    assert (facts["dtype"], facts["threads"]) == ("bfloat16", "2")
    missing = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(ComponentError, match=f"no device '{missing}'"):
        TransformersModel(str(base), TransformersOptions(device=missing)).open()
    with pytest.raises(ComponentError, match="has no chat template"):
        model(base, template="chat").open()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./no/such/folder", "there is no such folder"),
        ("/no/such/folder", "there is no such folder"),
        ("a/b/c", "there is no such folder"),
        ("nobody/nothing", "is not in the local cache, and tabwb is offline"),
    ],
)
def test_a_model_that_is_not_there_is_said(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb_transformers.loading.is_offline", lambda: True)
    with pytest.raises(ComponentError) as caught:
        model(name).open()
    assert words in str(caught.value)


def test_a_folder_without_a_model_and_damaged_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match=r"holds no config\.json"):
        model(tmp_path).open()
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ComponentError, match="cannot be loaded"):
        model(tmp_path).open()
    folder = save_model(tmp_path / "damaged")
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(ComponentError, match="cannot be loaded"):
        model(folder).open()


def test_memory_that_ran_out_is_said(
    opened: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def allocate(*inputs: object, **more: object) -> None:
        torch.empty(2**60)

    assert opened._opened is not None
    monkeypatch.setattr(opened._opened.loaded.model, "forward", allocate)
    with pytest.raises(ComponentError, match="memory ran out"):
        answer(opened, asked())


def test_greedy_replies_are_the_same_every_time(opened: TransformersModel) -> None:
    first, second = answer(opened, asked()), answer(opened, asked())
    assert first.text == second.text
    assert first.reply_tokens == 24
    assert first.stop_reason is StopReason.LENGTH
    assert first.first_piece_s is not None
    assert 0 < first.first_piece_s <= first.latency_s


def test_greedy_tokens_are_those_of_generate(base: Path) -> None:
    reply = answer(model(base), asked(max_tokens=40))
    prompt = reply.metadata["rendered_prompt"]
    assert prompt == "Question: Which one barks?\nAnswer:"
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    reference = transformers.AutoModelForCausalLM.from_pretrained(base)
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = reference.generate(ids, do_sample=False, max_new_tokens=40, use_cache=False)
    text = tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
    assert reply.text == text
    assert reply.prompt_tokens == ids.shape[1]


def test_sampling_follows_its_seed_and_a_tiny_nucleus_is_greedy(opened: TransformersModel) -> None:
    texts = [answer(opened, asked(temperature=1.5, seed=seed)).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    greedy = answer(opened, asked()).text
    assert answer(opened, asked(temperature=0.8, top_p=1e-6, seed=3)).text == greedy


def test_a_seed_in_the_spec_is_mixed_into_that_of_each_reply(base: Path) -> None:
    drawn = {
        own: [answer(model(base, seed=own), asked(temperature=1.5, seed=n)) for n in (1, 2)]
        for own in (9, 10)
    }
    assert len({reply.text for replies in drawn.values() for reply in replies}) == 4
    assert [reply.metadata["seed"] for reply in drawn[9]] == [str(mixed(n, 9)) for n in (1, 2)]


def test_a_stop_string_ends_a_reply_and_is_no_part_of_it(opened: TransformersModel) -> None:
    whole = answer(opened, asked()).text
    stop = whole[5:8]
    reply = answer(opened, asked(stop=(stop,)))
    assert reply.text == whole.partition(stop)[0]
    assert reply.stop_reason is StopReason.STOP_STRING
    assert reply.metadata["stop_string"] == stop


def test_the_end_token_ends_a_reply(opened: TransformersModel) -> None:
    assert opened._opened is not None
    first = opened._opened.loaded.tokenizer(answer(opened, asked(max_tokens=1)).text)["input_ids"]
    end_at(opened, frozenset(first))
    reply = answer(opened, asked())
    assert (reply.text, reply.stop_reason, reply.reply_tokens) == ("", StopReason.END, 0)
    assert reply.first_piece_s is None


def test_cancel_ends_a_reply_between_tokens(opened: TransformersModel) -> None:
    cancel = threading.Event()
    stream = opened.reply(asked(), cancel)
    first = next(stream)
    cancel.set()
    *_, reply = stream
    assert isinstance(reply, Reply)
    assert reply.stop_reason is StopReason.CANCELLED
    assert reply.text.startswith(str(first))
    assert reply.reply_tokens is not None
    assert reply.reply_tokens < 24


def test_a_reply_ends_where_the_model_does_and_a_prompt_must_fit(
    opened: TransformersModel,
) -> None:
    reply = answer(opened, asked("x" * 200, max_tokens=500, stop=()))
    assert (reply.prompt_tokens or 0) + (reply.reply_tokens or 0) == 256
    assert reply.stop_reason is StopReason.LENGTH
    with pytest.raises(ComponentError, match=r"leaves no room.*\nallowed: .*256 tokens"):
        answer(opened, asked("x" * 300))


def test_a_chat_template_is_used_where_there_is_one(chatty: Path) -> None:
    backend = model(chatty)
    assert backend.open()["template"] == "chat"
    request = Request((Message("system", "Be brief."), Message("user", "Hello")), Decoding(3))
    rendered = answer(backend, request).metadata["rendered_prompt"]
    assert rendered == "<system>Be brief.<user>Hello<assistant>"


def test_a_plain_template_can_be_forced_or_ones_own(chatty: Path, tmp_path: Path) -> None:
    assert model(chatty, template="plain").open()["template"] == "plain-1"
    own = tmp_path / "own.toml"
    own.write_text(
        'id = "own"\nsystem = "{content}"\nuser = "U {content} "\nassistant = "A {content} "\n'
        'opening = "A"\nstop = ["U"]\n'
    )
    backend = model(chatty, template=str(own))
    assert backend.open()["template"] == "own"
    assert answer(backend, asked("hi")).metadata["rendered_prompt"] == "U hi A"


def test_a_chat_template_that_refuses_is_said(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "strict", chat="{{ raise_exception('no system role') }}")
    with pytest.raises(ComponentError, match="refuses this conversation: no system role"):
        answer(model(folder), asked())


@pytest.mark.usefixtures("here")
def test_the_bundled_model_repeats_and_stops(plugins: Plugins) -> None:
    folder = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"
    backend = plugins.open_model("bundled@device=cpu")
    facts = backend.open()
    weights = json.loads((folder / "training.json").read_text())["parameters"]
    assert (facts["model"], facts["parameters"]) == ("bundled", str(weights))
    *pieces, reply = backend.reply(asked("Please repeat exactly: house."), threading.Event())
    assert isinstance(reply, Reply)
    assert "".join(map(str, pieces)) == reply.text == "house."
    assert reply.stop_reason is StopReason.END

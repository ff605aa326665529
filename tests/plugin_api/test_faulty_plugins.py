"""Plugins that raise, print, return the wrong types or do not end: one clear message each."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabwb.cli.main import main
from tabwb.host import guarded
from tabwb.host.guarded import GuardedModel
from tabwb.host.plugins import Plugins
from tabwb.host.time_limit import LimitReached, limited
from tabwb.lesion.declared import Part
from tabwb.plugin_api.components import LesionableBackend
from tabwb.records.errors import LONGEST_TEXT, ComponentError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request
from tests.plugin_api.conftest import Install
from tests.waiting import until

MODEL = """
class Model:
    {concurrency}
    def open(self):
        {open}
    def reply(self, request, cancel):
        {reply}
    def close(self):
        {close}

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("faulty", "Faulty", lambda spec, options: Model(), runs={runs!r}))
"""
GOOD = "yield Reply('dog', StopReason.END, 0.1)"
WHERE = pytest.mark.parametrize("runs", ["here", "child"])


def model(runs: str = "here", **code: str) -> str:
    given = {"open": "return {}", "reply": GOOD, "close": "pass", "concurrency": ""} | code
    return MODEL.format(runs=runs, **given)


def ran(
    battery: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, object], str]:
    """Give the battery to the faulty model: exit status, document, stderr."""
    words = ["run", str(battery), "--model", "faulty", "--judge", "none", "--json", *more]
    status = main(words)
    captured = capsys.readouterr()
    assert "unexpected" not in captured.err
    return status, json.loads(captured.out) if captured.out else {}, captured.err


def errors(document: dict[str, object]) -> list[str]:
    trials = document["trials"]
    assert isinstance(trials, list)
    return [trial["attempts"][-1]["error"] for trial in trials if trial["attempts"]]


UNREADABLE = """type("Bad", ({base},), {{"__str__": lambda self: 1 / 0}})("a" * {size})"""


@WHERE
@pytest.mark.parametrize("base", ["Exception", "ComponentError", "BaseException"])
@pytest.mark.parametrize("method", ["open", "reply"])
def test_an_error_whose_text_cannot_be_read_is_one_clear_message(
    battery_file: Path,
    install: Install,
    capsys: pytest.CaptureFixture[str],
    runs: str,
    base: str,
    method: str,
) -> None:
    install("faulty", model(runs, **{method: f"raise {UNREADABLE.format(base=base, size=9)}"}))
    status, document, told = ran(battery_file, capsys)
    said = told if method == "open" else " ".join(errors(document))
    assert "Bad, whose text cannot be read" in said
    assert status == (1 if method == "open" else 3)


@WHERE
@pytest.mark.parametrize(
    "code",
    [
        {"open": "raise ValueError('a' * 10_000_000)"},
        {"reply": "yield 'a ' * 50_000_000"},
        {"reply": "yield Reply('a' * 50_000_000, StopReason.END, 0.1)"},
    ],
)
def test_a_long_error_and_a_huge_reply_are_bounded(
    battery_file: Path,
    install: Install,
    capsys: pytest.CaptureFixture[str],
    runs: str,
    code: dict[str, str],
) -> None:
    install("faulty", model(runs, **code))
    status, document, told = ran(battery_file, capsys)
    said = errors(document) if document else [told]
    assert status in (1, 3)
    assert said and all(0 < len(error) < 2 * LONGEST_TEXT for error in said)


@WHERE
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("yield 5", "'faulty' gave int"),
        ("return 5", "object is not iterable"),
        ("yield Reply(b'dog', StopReason.END, 0.1)", "'faulty' gave bytes as a reply's text"),
        ("yield Reply('dog', 'end', 0.1)", "'faulty' gave the stop reason 'end'"),
        ("yield Reply('dog', StopReason.END, float('nan'))", "'faulty' gave latency_s = nan"),
        ("yield Reply('dog', StopReason.END, float('inf'))", "'faulty' gave latency_s = inf"),
        ("yield Reply('dog', StopReason.END, None)", "'faulty' gave latency_s = None"),
        (
            "yield Reply('dog', StopReason.END, 0.1, float('nan'))",
            "'faulty' gave first_piece_s = nan",
        ),
        (
            "yield Reply('dog', StopReason.END, 0.1, None, float('nan'))",
            "'faulty' gave prompt_tokens = nan",
        ),
        (
            "yield Reply('dog', StopReason.END, 0.1, None, 1, float('inf'))",
            "'faulty' gave reply_tokens = inf",
        ),
        ("yield Reply('dog', StopReason.END, 0.1, metadata=5)", "'faulty' gave int as metadata"),
        (
            "yield Reply('dog', StopReason.END, 0.1, metadata=dict.fromkeys(range(1001)))",
            "'faulty' gave metadata of 1,001 names",
        ),
        (
            "yield from 2 * [Reply('dog', StopReason.END, 0.1)]",
            "'faulty' gave Reply after the reply",
        ),
        ("raise ValueError('no')\n        yield", "ValueError: no"),
        ("raise KeyboardInterrupt\n        yield", "KeyboardInterrupt"),
        ("sys.exit(3)\n        yield", "SystemExit: 3"),
    ],
)
def test_a_reply_that_cannot_be_used_is_an_attempt_in_error(
    install: Install,
    battery_file: Path,
    capsys: pytest.CaptureFixture[str],
    runs: str,
    reply: str,
    said: str,
) -> None:
    install("faulty", model(runs, reply=reply))
    status, document, err = ran(battery_file, capsys)
    assert status == 3, err
    found = errors(document)
    assert len(found) == 3
    assert all(said in error for error in found), found


@WHERE
def test_metadata_states_no_tokens_and_can_always_be_stored(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str], runs: str
) -> None:
    metadata = r"{'prompt_tokens': 'many', '\udc80': '\udc80'}"
    install(
        "faulty", model(runs, reply=f"yield Reply('dog', StopReason.END, 0.1, metadata={metadata})")
    )
    status, document, err = ran(battery_file, capsys)
    assert status == 0, err
    trials = document["trials"]
    assert isinstance(trials, list)
    kept = trials[0]["attempts"][-1]["metadata"]
    assert kept["\\udc80"] == "\\udc80"
    assert "prompt_tokens" not in kept


def test_numbers_of_another_type_are_kept_as_plain_numbers(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = (
        "import numpy\n        yield Reply('dog', StopReason.END, numpy.float32(0.5), None, "
        "numpy.int64(7), metadata={'n': 1})"
    )
    install("faulty", model(reply=reply))
    status, document, err = ran(battery_file, capsys)
    assert status == 0, err
    trials = document["trials"]
    assert isinstance(trials, list)
    assert trials[0]["attempts"][-1]["latency_s"] == 0.5
    metadata = trials[0]["attempts"][-1]["metadata"]
    assert (metadata["prompt_tokens"], metadata["n"]) == ("7", "1")


@WHERE
@pytest.mark.parametrize(
    ("opening", "said"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return 5", "'faulty' gave int as its facts"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("sys.exit()", "SystemExit"),
    ],
)
def test_a_model_that_cannot_be_opened_is_one_message(
    install: Install,
    battery_file: Path,
    capsys: pytest.CaptureFixture[str],
    runs: str,
    opening: str,
    said: str,
) -> None:
    install("faulty", model(runs, open=opening))
    status, document, err = ran(battery_file, capsys)
    assert (status, document) == (1, {})
    assert said in err


@pytest.mark.parametrize("close", ["raise ValueError('no')", "raise KeyboardInterrupt"])
def test_close_that_raises_is_a_warning(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str], close: str
) -> None:
    install("faulty", model(close=close))
    status, document, err = ran(battery_file, capsys)
    assert status == 0
    assert document["trials"]
    assert err.count("warning: plugin faulty: closing: close() of 'faulty' failed") == 1


def test_close_that_does_not_end_is_left_after_a_limit(
    install: Install,
    battery_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guarded, "CLOSE_S", 0.2)
    install("faulty", model(close="time.sleep(60)"))
    began = time.monotonic()
    status, document, err = ran(battery_file, capsys)
    assert status == 0
    assert document["trials"]
    assert "close() of 'faulty' did not end within 0.2 s" in err
    assert time.monotonic() - began < 45


@WHERE
def test_what_a_model_prints_stays_out_of_the_document(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str], runs: str
) -> None:
    printing = {"open": "print('LOUD'); return {}", "reply": f"print('LOUD'); {GOOD}"}
    install("faulty", model(runs, **printing, close="print('LOUD')"))
    status, document, err = ran(battery_file, capsys)
    assert status == 0
    assert document["trials"], "the document was read although the model printed"
    assert ("LOUD" in err) is (runs == "here"), "a child prints to its log"


def test_what_observers_scorers_and_exporters_print_stays_out_too(
    install: Install, tmp_path: Path, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "loud",
        """
        class Loud:
            suffix = ".txt"
            measures = ("exact",)
            def score(self, subtest, item, response):
                print("LOUD")
                return [valued("loud", "exact", 1.0)]
            def export(self, document, out):
                print("LOUD")
                out.write_text("whole")

        @hookimpl
        def tabwb_on_event(event):
            if type(event).__name__ == "Rated":
                print("LOUD")

        @hookimpl
        def tabwb_register_scorers(register):
            register(Descriptor("loud", "Loud", lambda spec, options: Loud()))

        @hookimpl
        def tabwb_register_exporters(register):
            register(Descriptor("loud", "Loud", lambda spec, options: Loud()))
        """,
    )
    text = battery_file.read_text(encoding="utf-8").replace('["choice"]', '["choice", "loud"]')
    battery_file.write_text(text, encoding="utf-8")
    words = ["run", str(battery_file), "--model", "echo", "--judge", "none", "--json"]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["trials"]
    assert captured.err.count("LOUD") == 5
    assert main(["export", "1", "--format", "loud", "--out", "-"]) == 0
    assert capsys.readouterr().out == "whole"


def test_a_scorer_that_raises_a_keyboard_interrupt_is_a_rating_in_error(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        "quits",
        """
        class Quits:
            measures = ("exact",)
            def score(self, subtest, item, response):
                raise KeyboardInterrupt

        @hookimpl
        def tabwb_register_scorers(register):
            register(Descriptor("quits", "Quits", lambda spec, options: Quits()))
        """,
    )
    text = battery_file.read_text(encoding="utf-8").replace('["choice"]', '["choice", "quits"]')
    battery_file.write_text(text, encoding="utf-8")
    assert main(["run", str(battery_file), "--model", "echo", "--judge", "none"]) == 1
    assert "'quits' failed on 2 of 2 responses: KeyboardInterrupt" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["import", "hook"])
def test_a_keyboard_interrupt_of_a_plugin_does_not_end_the_list(
    install: Install, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    at_import = "raise KeyboardInterrupt"
    in_hook = "@hookimpl\ndef tabwb_register_models(register):\n    raise KeyboardInterrupt"
    install("quits", at_import if where == "import" else in_hook)
    assert main(["plugins", "list"]) == 0
    captured = capsys.readouterr()
    assert "echo" in captured.out
    assert "KeyboardInterrupt" in captured.err


def test_ctrl_c_still_ends_a_model_that_is_loading(
    install: Install, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    press = "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()"
    install("faulty", model(open=f"{press}; time.sleep(60); return {{}}"))
    began = time.monotonic()
    words = ["run", str(battery_file), "--model", "faulty", "--judge", "none"]
    assert main(words) == 130
    assert time.monotonic() - began < 45
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


EXPORTER = """
class Half:
    suffix = {suffix!r}
    def export(self, document, out):
        {code}

@hookimpl
def tabwb_register_exporters(register):
    register(Descriptor("half", "Half", lambda spec, options: Half()))
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("out.write_text('half'); raise ValueError('no')", "the exporter 'half' failed: Value"),
        ("out.write_text('half'); raise KeyboardInterrupt", "'half' failed: KeyboardInterrupt"),
        ("out.write_text('half'); raise OSError(28, 'No space left')", "No space left"),
        ("pass", "the exporter 'half' wrote nothing"),
    ],
)
def test_an_exporter_that_fails_leaves_nothing_and_the_older_file_as_it_was(
    install: Install,
    tmp_path: Path,
    battery_file: Path,
    capsys: pytest.CaptureFixture[str],
    code: str,
    said: str,
) -> None:
    install("half", EXPORTER.format(suffix=".txt", code=code))
    assert main(["run", str(battery_file), "--model", "echo", "--judge", "none"]) == 0
    folder = tmp_path / "exports"
    folder.mkdir()
    capsys.readouterr()
    assert main(["export", "1", "--format", "half", "--out", str(folder / "new.txt")]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert f"error: {folder / 'new.txt'}: " in err
    assert "unexpected" not in err
    assert list(folder.iterdir()) == []
    older = folder / "older.txt"
    older.write_text("whole", encoding="utf-8")
    words = ["export", "1", "--format", "half", "--out", str(older), "--force"]
    assert main(words) == 1
    assert [path.name for path in folder.iterdir()] == ["older.txt"]
    assert older.read_text(encoding="utf-8") == "whole"


def test_a_folder_that_an_exporter_leaves_half_made_is_removed(
    install: Install, tmp_path: Path, battery_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "out.mkdir(); (out / 'a').write_text('half'); raise ValueError('no')"
    install("half", EXPORTER.format(suffix="", code=code))
    assert main(["run", str(battery_file), "--model", "echo", "--judge", "none"]) == 0
    folder = tmp_path / "exports"
    folder.mkdir()
    assert main(["export", "1", "--format", "half", "--out", str(folder / "new")]) == 1
    assert list(folder.iterdir()) == []


def test_batches_keep_a_wrong_reply_to_its_own_request(
    install: Install, load: Callable[[], Plugins]
) -> None:
    install(
        "faulty",
        """
        class Model:
            def open(self): return {}
            def close(self): pass
            def reply(self, request, cancel): yield Reply("x", StopReason.END, 0.1)
            def reply_many(self, requests, cancel):
                yield 0, Reply("dog", StopReason.END, 0.1)
                yield 1, Reply("dog", StopReason.END, float("nan"))
                yield 2, 5
                yield 3, ComponentError("own")
                yield 9, Reply("dog", StopReason.END, 0.1)

        @hookimpl
        def tabwb_register_models(register):
            register(Descriptor("faulty", "Faulty", lambda s, o: Model(), batches=True))
        """,
    )
    backend = load().open_model("faulty")
    assert isinstance(backend, guarded.GuardedModel)
    answers: Any = backend.reply_many([Request((Message("user", "?"),))] * 4, threading.Event())
    given = [next(answers) for _ in range(4)]
    assert given[0][1].text == "dog"
    assert [str(one[1]).splitlines()[0] for one in given[1:]] == [
        "'faulty' gave latency_s = nan",
        "'faulty' gave int",
        "own",
    ]
    with pytest.raises(ComponentError, match="gave the index 9"):
        next(answers)


MANY = """
class Model:
    def open(self): return {{}}
    def close(self): pass
    def reply(self, request, cancel): {good}
    def reply_many(self, requests, cancel):
        reply = Reply("dog", StopReason.END, 0.1)
        {many}

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("faulty", "Faulty", lambda s, o: Model(), batches=True))
"""


def test_an_index_given_again_is_an_error_and_ends_the_batch(
    battery_file: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    many = "while True: yield 0, reply"
    install("faulty", MANY.format(good=GOOD, many=many))
    status, document, _ = ran(battery_file, capsys, "--batch-size", "4")
    assert status == 3
    assert any("gave the index 0 again" in error for error in errors(document) if error)


def test_what_raises_after_every_reply_leaves_the_replies(
    battery_file: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    many = "yield from ((at, reply) for at in range(len(requests))); raise ValueError"
    install("faulty", MANY.format(good=GOOD, many=many))
    status, document, _ = ran(battery_file, capsys, "--batch-size", "4")
    assert (status, {*errors(document)}) == (0, {""})


@pytest.mark.parametrize(
    "declared",
    [
        "features = 5",
        "features = 'anomia'",
        "features = ('a', 'a')",
        "features = (1,)",
        "features = property(lambda self: 1 / 0)",
        "caution = None",
        "scope = 'everything'",
    ],
)
def test_what_a_judge_declares_is_checked_when_it_is_made(
    install: Install, load: Callable[[], Plugins], declared: str
) -> None:
    install(
        "faulty",
        f"""
        class Judge:
            rater, features, caution = "faulty", ("anomia",), ""
            {declared}
            def judge(self, response, features): return []

        @hookimpl
        def tabwb_register_judges(register):
            register(Descriptor("faulty", "Faulty", lambda s, o: Judge()))
        """,
    )
    with pytest.raises(ComponentError, match="judge 'faulty' of plugin 'faulty': "):
        load().judge("faulty")


def test_measures_that_raise_are_the_error_of_the_scorer(
    install: Install, load: Callable[[], Plugins]
) -> None:
    install(
        "faulty",
        f"""
        class Scorer:
            @property
            def measures(self): raise {UNREADABLE.format(base="Exception", size=9)}
            def score(self, subtest, item, response): return []

        @hookimpl
        def tabwb_register_scorers(register):
            register(Descriptor("faulty", "Faulty", lambda s, o: Scorer()))
        """,
    )
    with pytest.raises(ComponentError, match="scorer 'faulty' of plugin 'faulty': Bad, whose text"):
        load().scorer("faulty")


PART = Part("0.mlp.down", "mlp.down", 0, 100, 100, {"w": 400})


class Model:
    def __init__(self, parts: Sequence[Any] = (), facts: Any = None, value: float = 0.0) -> None:
        self.found, self.facts, self.value = parts, facts, value

    def parts(self) -> Sequence[Any]:
        return self.found

    def lesion(self, spec: str) -> Any:
        return self.facts

    def likelihood(self, request: Request, texts: Sequence[str], cancel: Any) -> list[Likelihood]:
        return [Likelihood(self.value, 5)]


def guarded_model(**given: Any) -> Any:
    return GuardedModel(Model(**given), "faulty", print)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "name = ''"),
        ({"name": "0.\x1b[31m"}, "name = "),
        ({"name": 5}, "name = 5"),
        ({"target": "xx"}, "target = 'xx'"),
        ({"layer": -1}, "layer = -1"),
        ({"layer": "0"}, "layer = '0'"),
        ({"units": 0}, "units = 0"),
        ({"units": 1.5}, "units = 1.5"),
        ({"parameters": 10**30}, "parameters = 1000"),
        ({"tensors": None}, "tensors = None"),
        ({"tensors": {"w": -1}}, "tensors"),
        ({"units": 99}, "units = 99 and parameters = 100"),
        ({"target": "mlp.neurons", "units": 9}, "units = 9 and parameters = 100"),
    ],
)
def test_a_part_that_cannot_be(fields: Mapping[str, Any], said: str) -> None:
    with pytest.raises(ComponentError, match="'faulty' gave a part with " + said):
        guarded_model(parts=[replace(PART, **fields)]).parts()


def test_parts_of_one_name_would_have_the_same_draws() -> None:
    assert guarded_model(parts=[PART]).parts() == [PART]
    with pytest.raises(ComponentError, match="several parts of one name"):
        guarded_model(parts=[PART, PART]).parts()


def test_facts_of_a_lesion_have_a_limit() -> None:
    assert guarded_model(facts={"a": 1}).lesion("") == {"a": "1"}
    with pytest.raises(ComponentError, match="gave None as facts of a lesion"):
        guarded_model().lesion("")
    with pytest.raises(ComponentError, match="with 20,000,001 characters"):
        guarded_model(facts={"lesion": "x" * 20_000_001}).lesion("")
    with pytest.raises(ComponentError, match="the fact lesion_parameters = 'many'"):
        guarded_model(facts={"lesion_parameters": "many"}).lesion("")


def test_an_error_of_lesion_names_the_model_and_the_method() -> None:
    class Raises(Model):
        def lesion(self, spec: str) -> Any:
            raise KeyError("units")

    with pytest.raises(ComponentError, match=r"lesion\(\) of 'faulty' failed: KeyError: 'units'"):
        GuardedModel(Raises(), "faulty", print).lesion("mlp:zero")


def test_no_text_is_more_than_certain() -> None:
    request = Request((Message("user", "Hello"),), Decoding())
    with pytest.raises(ComponentError, match="log_probability = 5"):
        guarded_model(value=5.0).likelihood(request, ["a"], threading.Event())


DIES = """
class Model:
    def open(self):
        return {}
    def close(self):
        pass
    def parts(self):
        return []
    def lesion(self, spec):
        if spec.startswith("layer"):
            os._exit(9)
        return {"lesion": spec}
    def reply(self, request, cancel):
        yield Reply("dog", StopReason.END, 0.1)

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("dies", "D", lambda spec, options: Model(), runs="child", lesions=True))
"""


WITHOUT_METHODS = """
class Model:
    def open(self):
        return {}
    def close(self):
        pass
    def reply(self, request, cancel):
        yield Reply("dog", StopReason.END, 0.1)

@hookimpl
def tabwb_register_models(register):
    made = lambda spec, options: Model()
    register(Descriptor("plain", "P", made, lesions=True, activations=True))
"""


def test_a_descriptor_that_declares_methods_that_are_not_there(install: Install) -> None:
    install("plain", WITHOUT_METHODS)
    with (
        closing(Plugins.load()) as plugins,
        pytest.raises(ComponentError, match="returned Model, which lacks lesion, parts") as said,
    ):
        plugins.open_model("plain")
    assert "tabwb.plugin_api.LesionableBackend" in str(said.value)


def test_the_facts_of_a_lesion_after_one_that_ended_three_processes(install: Install) -> None:
    install("dies", DIES)
    with closing(Plugins.load()) as plugins, closing(plugins.open_model("dies")) as backend:
        assert isinstance(backend, LesionableBackend)
        backend.open()
        for _ in range(3):
            with pytest.raises(ComponentError, match="ended unexpectedly"):
                backend.lesion("layer:zero:1")
        assert backend.lesion("mlp:zero:1") == {"lesion": "mlp:zero:1"}


def forever() -> None:
    while True:
        time.sleep(0.001)


def test_the_result_and_the_error_of_a_call_are_its_own() -> None:
    def late() -> int:
        raise TimeoutError("of its own")

    assert limited("page 'x'", 5, lambda: 3) == 3
    with pytest.raises(TimeoutError, match="of its own"):
        limited("page 'x'", 5, late)


def test_a_call_that_does_not_end_is_stopped() -> None:
    ended = threading.Event()

    def call() -> None:
        try:
            forever()
        finally:
            ended.set()

    with pytest.raises(LimitReached, match=r"page 'x' did not end within 0\.1 s") as refused:
        limited("page 'x'", 0.1, call)
    assert refused.value.allowed == "0.1 s"
    assert ended.wait(30)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell")
def test_a_call_that_takes_endless_memory_is_stopped() -> None:
    def call() -> None:
        held = []
        while True:
            held.append(bytearray(1_000_000))

    with pytest.raises(LimitReached, match=r"statistic 's' took more than 0\.2 GiB of memory"):
        limited("statistic 's'", 60, call, memory=200 * 1024**2)


def test_ctrl_c_says_what_was_running() -> None:
    main = threading.get_ident()
    begun = threading.Event()

    def call() -> None:
        begun.set()
        forever()

    def press() -> None:
        begun.wait()
        signal.pthread_kill(main, signal.SIGINT)

    before = threading.active_count()
    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt, match="statistic 's' was running"):
        limited("statistic 's'", 60, call)
    ended: Callable[[], bool] = lambda: threading.active_count() <= before  # noqa: E731
    until(ended)

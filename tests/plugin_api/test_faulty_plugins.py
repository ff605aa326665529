"""Plugins that raise, print, return the wrong types or do not end: one clear message each."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabwb.host import guarded
from tabwb.host.guarded import GuardedModel, LimitReached, limited
from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import Part
from tabwb.plugin_api.components import LesionableBackend
from tabwb.records.errors import LONGEST_TEXT, ComponentError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request
from tabwb.records.system import interrupt
from tests.cli.conftest import Outcome, Run
from tests.plugin_api.conftest import Install, Load
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


def ran(run: Run, battery: Path, *more: str, status: int = 0) -> Outcome:
    """Give the battery to the faulty model."""
    words = ["run", battery, "--model", "faulty", "--judge", "none", "--json", *more]
    done = run(*words, status=status)
    assert "unexpected" not in done.err
    return done


def attempts(done: Outcome) -> list[Any]:
    """The last attempt of each trial."""
    return [trial["attempts"][-1] for trial in done.document["trials"] if trial["attempts"]]


def asked(order: str) -> Request:
    return Request((Message("user", order),))


def unreadable(base: str) -> str:
    return f"""raise type("Bad", ({base},), {{"__str__": lambda self: 1 / 0}})("aaa")"""


UNREADABLE = [(unreadable(base), "Bad, whose text cannot be read")
              for base in ("Exception", "ComponentError", "BaseException")]  # fmt: skip
UNUSABLE = [
    ("yield 5", "'faulty' gave int"),
    ("return 5", "object is not iterable"),
    ("yield Reply(b'dog', StopReason.END, 0.1)", "'faulty' gave bytes as a reply's text"),
    ("yield Reply('dog', 'end', 0.1)", "'faulty' gave the stop reason 'end'"),
    ("yield Reply('dog', StopReason.END, float('nan'))", "'faulty' gave latency_s = nan"),
    ("yield Reply('dog', StopReason.END, float('inf'))", "'faulty' gave latency_s = inf"),
    ("yield Reply('dog', StopReason.END, None)", "'faulty' gave latency_s = None"),
    ("yield Reply('dog', StopReason.END, 0.1, float('nan'))", "gave first_piece_s = nan"),
    ("yield Reply('dog', StopReason.END, 0.1, None, float('nan'))", "gave prompt_tokens = nan"),
    ("yield Reply('dog', StopReason.END, 0.1, None, 1, float('inf'))", "gave reply_tokens = inf"),
    ("yield Reply('dog', StopReason.END, 0.1, metadata=5)", "'faulty' gave int as metadata"),
    ("yield Reply('dog', StopReason.END, 0.1, metadata=dict.fromkeys(range(1001)))",
     "'faulty' gave metadata of 1,001 names"),
    ("yield from 2 * [Reply('dog', StopReason.END, 0.1)]", "'faulty' gave Reply after the reply"),
    ("raise ValueError('no'); yield", "ValueError: no"),
    ("raise KeyboardInterrupt; yield", "KeyboardInterrupt"),
    ("sys.exit(3); yield", "SystemExit: 3"),
    ("yield 'a ' * 50_000_000", "reply of"),
    ("yield Reply('a' * 50_000_000, StopReason.END, 0.1)", "reply of"),
    *((f"{code}; yield", said) for code, said in UNREADABLE),
]  # fmt: skip
OPENINGS = [
    ("raise ValueError('no')", "ValueError: no"),
    ("raise ValueError('a' * 10_000_000)", "ValueError: aaa"),
    ("return 5", "'faulty' gave int as its facts"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("sys.exit()", "SystemExit"),
    *UNREADABLE,
]


@WHERE
@pytest.mark.usefixtures("ours")
def test_what_a_model_cannot_give_is_one_error_with_its_reason(
    install: Install, load: Load, tmp_path: Path, runs: str
) -> None:
    """One process gives all of them: a file names the code of open(), a message that of reply()."""
    file = tmp_path / "opens"
    code = "def open_good():\n    return {}\n"
    code += "".join(f"def reply_{n}():\n    {body}\n" for n, (body, _) in enumerate(UNUSABLE))
    code += "".join(f"def open_{n}():\n    {body}\n" for n, (body, _) in enumerate(OPENINGS))
    opening = f"return globals()['open_' + open({str(file)!r}).read()]()"
    reply = "return globals()[request.messages[-1].content]()"
    install("faulty", code + model(runs, open=opening, reply=reply))
    backend = load().open_model("faulty")

    def refused(call: Callable[[], object], body: str, said: str) -> None:
        with pytest.raises(ComponentError) as caught:
            call()
        assert said in str(caught.value), body
        assert len(str(caught.value)) < 2 * LONGEST_TEXT

    for n, (body, said) in enumerate(OPENINGS):
        file.write_text(str(n), encoding="utf-8")
        refused(backend.open, body, said)
    file.write_text("good", encoding="utf-8")
    assert backend.open() == {}
    for n, (body, said) in enumerate(UNUSABLE):
        stream = partial(backend.reply, asked(f"reply_{n}"), threading.Event())
        refused(lambda stream=stream: list(stream()), body, said)  # type: ignore[misc]


@WHERE
def test_in_a_run_a_reply_that_cannot_be_used_is_an_attempt_in_error(
    install: Install, battery_file: Path, run: Run, runs: str
) -> None:
    install("faulty", model(runs, reply="yield 5"))
    done = ran(run, battery_file, status=3)
    said = [one["error"] for one in attempts(done)]
    assert len(said) == 3 and all("'faulty' gave int" in error for error in said)


@WHERE
def test_a_model_that_cannot_be_opened_is_one_message(
    install: Install, battery_file: Path, run: Run, runs: str
) -> None:
    install("faulty", model(runs, open="sys.exit()"))
    done = ran(run, battery_file, status=1)
    assert done.out == "" and "SystemExit" in done.err


@WHERE
def test_metadata_states_no_tokens_and_numbers_of_another_type_are_plain(
    install: Install, battery_file: Path, run: Run, runs: str
) -> None:
    metadata = r"{'prompt_tokens': 'many', '\udc80': '\udc80', 'n': 1}"
    numbers = "numpy.float32(0.5), None, None, numpy.int64(7)"
    reply = f"import numpy; yield Reply('dog', StopReason.END, {numbers}, metadata={metadata})"
    install("faulty", model(runs, reply=reply))
    kept = attempts(ran(run, battery_file))[0]
    assert kept["latency_s"] == 0.5
    assert kept["metadata"].items() >= {"\\udc80": "\\udc80", "n": "1", "reply_tokens": "7"}.items()
    assert "prompt_tokens" not in kept["metadata"]


@pytest.mark.parametrize(
    ("close", "said"),
    [
        ("raise ValueError('no')", "closing: close() of 'faulty' failed"),
        ("raise KeyboardInterrupt", "closing: close() of 'faulty' failed"),
        ("time.sleep(60)", "closing: close() of 'faulty' did not end within 0.2 s"),
    ],
)
def test_close_that_raises_or_does_not_end_is_a_warning(
    install: Install,
    battery_file: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    close: str,
    said: str,
) -> None:
    monkeypatch.setattr(guarded, "CLOSE_S", 0.2)
    install("faulty", model(close=close))
    began = time.monotonic()
    done = ran(run, battery_file)
    assert done.document["trials"]
    assert done.err.count(f"warning: plugin faulty: {said}") == 1
    assert time.monotonic() - began < 45


@WHERE
def test_what_a_model_prints_stays_out_of_the_document(
    install: Install, battery_file: Path, run: Run, runs: str
) -> None:
    printing = {"open": "print('LOUD'); return {}", "reply": f"print('LOUD'); {GOOD}"}
    install("faulty", model(runs, **printing, close="print('LOUD')"))
    done = ran(run, battery_file)
    assert done.document["trials"], "the document was read although the model printed"
    assert ("LOUD" in done.err) is (runs == "here"), "a child prints to its log"


def scored_by(battery: Path, scorer: str) -> Path:
    text = battery.read_text(encoding="utf-8").replace('["choice"]', f'["choice", "{scorer}"]')
    battery.write_text(text, encoding="utf-8")
    return battery


def test_what_observers_scorers_and_exporters_print_stays_out_too(
    install: Install, battery_file: Path, run: Run
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
    battery = scored_by(battery_file, "loud")
    done = run("run", battery, "--model", "echo", "--judge", "none", "--json")
    assert done.document["trials"]
    assert done.err.count("LOUD") == 5
    assert run("export", 1, "--format", "loud", "--out", "-").out == "whole"


def test_a_scorer_that_raises_a_keyboard_interrupt_is_a_rating_in_error(
    install: Install, battery_file: Path, run: Run
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
    words = ["run", scored_by(battery_file, "quits"), "--model", "echo", "--judge", "none"]
    run(*words, status=1, err="'quits' failed on 2 of 2 responses: KeyboardInterrupt")


@pytest.mark.parametrize("where", ["import", "hook"])
def test_a_keyboard_interrupt_of_a_plugin_does_not_end_the_list(
    install: Install, run: Run, where: str
) -> None:
    at_import = "raise KeyboardInterrupt"
    in_hook = "@hookimpl\ndef tabwb_register_models(register):\n    raise KeyboardInterrupt"
    install("quits", at_import if where == "import" else in_hook)
    assert "echo" in run("plugins", "list", err="KeyboardInterrupt").out


def test_ctrl_c_still_ends_a_model_that_is_loading(
    install: Install, battery_file: Path, run: Run
) -> None:
    press = "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()"
    install("faulty", model(open=f"{press}; time.sleep(60); return {{}}"))
    began = time.monotonic()
    run("run", battery_file, "--model", "faulty", "--judge", "none", status=130)
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
    ("suffix", "code", "said"),
    [
        (".txt", "out.write_text('half'); raise ValueError('no')", "exporter 'half' failed: Value"),
        (".txt", "out.write_text('half'); raise KeyboardInterrupt", "failed: KeyboardInterrupt"),
        (".txt", "out.write_text('half'); raise OSError(28, 'No space left')", "No space left"),
        (".txt", "pass", "the exporter 'half' wrote nothing"),
        ("", "out.mkdir(); (out / 'a').write_text('half'); raise ValueError('no')", "ValueError"),
    ],
)
def test_an_exporter_that_fails_leaves_nothing_and_the_older_file_as_it_was(
    install: Install,
    tmp_path: Path,
    battery_file: Path,
    run: Run,
    suffix: str,
    code: str,
    said: str,
) -> None:
    install("half", EXPORTER.format(suffix=suffix, code=code))
    run("run", battery_file, "--model", "echo", "--judge", "none")
    folder = tmp_path / "exports"
    folder.mkdir()
    new, older = folder / f"new{suffix}", folder / "older.txt"
    done = run("export", 1, "--format", "half", "--out", new, status=1, err=said)
    assert f"error: {new}: " in done.err and "unexpected" not in done.err
    assert list(folder.iterdir()) == []
    if suffix:
        older.write_text("whole", encoding="utf-8")
        run("export", 1, "--format", "half", "--out", older, "--force", status=1)
        assert [path.name for path in folder.iterdir()] == ["older.txt"]
        assert older.read_text(encoding="utf-8") == "whole"


def test_batches_keep_a_wrong_reply_to_its_own_request(install: Install, load: Load) -> None:
    many = """
        yield 0, reply
        yield 1, Reply("dog", StopReason.END, float("nan"))
        yield 2, 5
        yield 3, ComponentError("own")
        yield 9, reply"""
    install("faulty", MANY.format(good=GOOD, many=many.lstrip()))
    backend: Any = load().open_model("faulty")
    answers: Any = backend.reply_many([asked("?")] * 4, threading.Event())
    given = [next(answers) for _ in range(4)]
    assert given[0][1].text == "dog"
    assert [str(one[1]).splitlines()[0] for one in given[1:]] == [
        "'faulty' gave latency_s = nan", "'faulty' gave int", "own",
    ]  # fmt: skip
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


@pytest.mark.parametrize(
    ("many", "status", "said"),
    [
        ("while True: yield 0, reply", 3, "gave the index 0 again"),
        # What raises after every reply leaves the replies.
        ("yield from ((at, reply) for at in range(len(requests))); raise ValueError", 0, ""),
    ],
)
def test_an_index_given_again_is_an_error_and_ends_the_batch(
    battery_file: Path, install: Install, run: Run, many: str, status: int, said: str
) -> None:
    install("faulty", MANY.format(good=GOOD, many=many))
    errors = {
        one["error"] for one in attempts(ran(run, battery_file, "--batch-size", "4", status=status))
    }
    assert any(said in error for error in errors if error) if said else errors == {""}


REFUSED = """
class Judge:
    rater, features, caution = "faulty", ("anomia",), ""
    {declared}
    def judge(self, response, features): return []

class Scorer:
    @property
    def measures(self): {unreadable}
    def score(self, subtest, item, response): return []

class Plain:
    def open(self): return {{}}
    def close(self): pass
    def reply(self, request, cancel): yield Reply("dog", StopReason.END, 0.1)

@hookimpl
def tabwb_register_judges(register):
    register(Descriptor("faulty", "Faulty", lambda s, o: Judge()))

@hookimpl
def tabwb_register_scorers(register):
    register(Descriptor("faulty", "Faulty", lambda s, o: Scorer()))

@hookimpl
def tabwb_register_models(register):
    register(Descriptor("faulty", "F", lambda s, o: Plain(), lesions=True, activations=True))
"""


@pytest.fixture
def ours() -> Iterator[None]:
    """The handler of commands, by which ctrl+c differs from what a plugin raises."""
    before = signal.signal(signal.SIGINT, interrupt)
    yield
    signal.signal(signal.SIGINT, before)


def refused(install: Install, declared: str = "") -> None:
    install("faulty", REFUSED.format(declared=declared, unreadable=unreadable("Exception")))


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
    install: Install, load: Load, declared: str
) -> None:
    refused(install, declared)
    with pytest.raises(ComponentError, match="judge 'faulty' of plugin 'faulty': "):
        load().judge("faulty")


def test_measures_that_raise_and_methods_that_are_not_there_are_errors_of_the_component(
    install: Install, load: Load
) -> None:
    refused(install)
    plugins = load()
    with pytest.raises(ComponentError, match="scorer 'faulty' of plugin 'faulty': Bad, whose text"):
        plugins.scorer("faulty")
    with pytest.raises(ComponentError, match="returned Plain, which lacks lesion, parts") as said:
        plugins.open_model("faulty")
    assert "tabwb.plugin_api.LesionableBackend" in str(said.value)


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


def test_a_part_that_cannot_be() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
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
    ]
    for fields, said in wrong:
        with pytest.raises(ComponentError, match="'faulty' gave a part with " + said):
            guarded_model(parts=[replace(PART, **fields)]).parts()
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

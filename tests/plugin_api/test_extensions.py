"""Statistics and commands of plugins; the example package of the documentation is one."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import fmean
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import t

from tabwb import plugin_api, testing
from tabwb.administer.session import setup
from tabwb.analysis.administrations import load_administrations
from tabwb.analysis.measures import MEASURES
from tabwb.analysis.statistics.plugins import computed
from tabwb.cli.main import main
from tabwb.host.index import MEASURES as RESERVED
from tabwb.media.documents.document import export_document
from tabwb.plugin_api import Descriptor, Plugins, Responses, Statistic, StatisticValue, hookimpl
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding, Message, Request
from tabwb.records.naming import RecordingBegan
from tabwb.records.specs import is_kebab
from tabwb.store.store import Store
from tabwb.tables.table import table_of
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.testing import NonConformance, check_exporter, check_judge, check_model
from tabwb.testing.checks import document_of
from tests.administer.naming_parts import heard, naming_battery, shown, take
from tests.cli.conftest import Run
from tests.plugin_api.conftest import Install
from tests.waiting import until

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "pronoun-share" / "pronoun_share.py"
PRONOUNS = re.compile(
    r"\b(i|me|you|s?he|him|her|it|we|us|they|them|this|that|these|those|one|something)\b", re.I
)
STORIES = [
    "I went to the market and bought apples for the whole family.",
    "The boy climbs on the stool and she takes something from the shelf.",
    "We sailed along the coast until it rained and they found a harbour.",
    "My brother repaired the old clock that stood in the kitchen.",
    "First you boil water, then you pour it over the leaves.",
]
STATISTIC = """
from tabwb.plugin_api import Statistic, StatisticValue

def compute(responses):
    {body}

@hookimpl
def tabwb_register_statistics(register):
    register(Statistic("made-up", "made up", "a made-up statistic", compute{more}))
"""


ODD = """
import click
from tabwb.plugin_api import CommandSource

@click.command()
def odd():
    {body}

@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("odd", "does odd things", lambda: odd))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two administrations to one model, whose stories are :data:`STORIES`."""
    folder = tmp_path_factory.mktemp("stories")
    file, echo, store = folder / "answers.jsonl", str(folder / "echo.db"), str(folder / "s.db")
    assert main(["run", "tab", "--model", "echo", "--quiet", "--store", echo]) == 0
    assert main(["export", "1", "--out", str(file), "--store", echo]) == 0
    stories = iter(STORIES)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for line in lines:
        if line["subtest"] == "connected-text":
            line["response"] = next(stories)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for _ in range(2):
        spec = f"replay:{file}@origin=model"
        assert main(["run", "tab", "--model", spec, "--quiet", "--store", store]) == 0
    return Path(store)


@pytest.fixture
def stored(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of that store, as the store of this test."""
    store = str(shutil.copy(told, tmp_path / "store.db"))
    monkeypatch.setenv("TABWB_STORE", store)
    return store


def groups(run: Run, *words: str) -> Any:
    return run("results", *words, "--json").document["groups"]


def statistic(group: Any) -> Any:
    (found,) = group["summary"]["statistics"]
    return found


def test_the_example_gives_the_share_of_each_item_and_its_interval(
    install: Install, stored: str, run: Run
) -> None:
    install("pronoun-share", EXAMPLE.read_text("utf-8"))
    (group,) = groups(run, "--by", "model")
    (value,) = statistic(group)["values"]
    shares = [len(PRONOUNS.findall(text)) / len(text.split()) for text in STORIES]
    mean, k = fmean(shares), len(shares)
    variance = sum((share - mean) ** 2 for share in shares) / (k - 1)
    half = t.ppf(0.975, k - 1) * (variance / k) ** 0.5
    assert value["value"] == pytest.approx(mean)
    assert (value["low"], value["high"]) == pytest.approx((max(0, mean - half), mean + half))
    # The example imports what the promise covers; its command runs and is listed.
    imported = re.findall(r"^ *from (tabwb\S*) import", EXAMPLE.read_text("utf-8"), re.M)
    assert set(imported) == {"tabwb.plugin_api"}
    assert run("pronouns", "It was this one, I think.").out == "4 of 6 words\n"
    listed = run("plugins", "list").out
    for title in ("Count the pronouns in a text.", "Frequent words", "pronouns"):
        assert title in listed


def test_a_statistic_is_in_the_table_and_in_the_csv(
    install: Install, stored: str, run: Run, tmp_path: Path
) -> None:
    body = "return StatisticValue(0.25, 0.125, 0.5, 7)"
    install("stat", STATISTIC.format(body=body, more=", percent=True, digits=1"))
    shown = run("results", "--by", "model").out
    assert re.search(r" 25.0 % +12.5 %-50.0 % +7", shown)
    assert "made up: a made-up statistic" in shown
    file = tmp_path / "groups.csv"
    run("results", "--by", "model", "--csv", file)
    (row,) = csv.DictReader(file.read_text("utf-8").splitlines())
    assert [row[f"made-up{name}"] for name in ("", " low", " high", " n")] == [
        "0.25", "0.125", "0.5", "7",
    ]  # fmt: skip
    paper = tmp_path / "paper.tex"
    run("report", "1", "2", "--by", "model", "--out", paper)
    assert r"25.0 \% [12.5 \%, 50.0 \%]" in paper.read_text("utf-8")


def test_per_subtest_it_sees_the_responses_and_ratings_of_one_subtest(
    install: Install, stored: str, run: Run
) -> None:
    body = 'return float(responses.values("choice", "exact").size)'
    install("stat", STATISTIC.format(body=body, more=', per="subtest"'))
    found = groups(run, "1", "2")[0]["summary"]["statistics"]
    assert {each["subtest"]: each["values"][0]["value"] for each in found} == {
        "connected-text": 5, "word-comprehension": 5, "sentence-comprehension": 5, "repetition": 5,
    }  # fmt: skip


FAILING = [
    ("raise RuntimeError('no luck')", "'{}' failed: RuntimeError: no luck"),
    ("raise KeyboardInterrupt", "'{}' failed: KeyboardInterrupt: "),
    ("return StatisticValue(None, reason='too few')", "too few"),
    ("return '7'", "'{}' failed: it returned '7', which is not a number"),
    ("import itertools; return itertools.count()", "'{}' failed: it returned more than"),
    ("import numpy as np; return np.int64(7)", ""),  # a number of numpy is a number
]


def test_without_a_value_it_is_undefined_with_the_reason(
    install: Install, stored: str, run: Run
) -> None:
    for number, (body, _) in enumerate(FAILING):
        source = STATISTIC.format(body=body, more="").replace("made-up", f"made-up-{number}")
        install(f"stat-{number}", source)
    (group,) = groups(run, "--by", "model")
    found = {one["id"]: one["values"][0] for one in group["summary"]["statistics"]}
    for number, (_, reason) in enumerate(FAILING):
        value = found[f"made-up-{number}"]
        if reason:
            assert (value["value"], value["status"]) == (None, "undefined")
            assert value["reason"].startswith(reason.format(f"made-up-{number}"))
        else:
            assert value["value"] == 7


def test_one_that_hangs_is_stopped_and_not_called_again(
    install: Install, stored: str, run: Run
) -> None:
    install("stat", STATISTIC.format(body="while True: pass", more=", limit_s=0.3"))
    given = groups(run, "1", "2", "--by", "administration")
    reasons = [statistic(group)["values"][0]["reason"] for group in given]
    stopped = "statistic 'made-up' did not end within 0.3 s"
    assert reasons == [stopped, f"{stopped}: it is not computed again"]


def test_ctrl_c_names_the_statistic_that_was_running(
    install: Install, stored: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    body = f"open({str(begun)!r}, 'w').close()\n    while True: pass"
    install("stat", STATISTIC.format(body=body, more=""))
    process = subprocess.Popen(
        [sys.executable, "-m", "tabwb.cli.main", "results", "--by", "model"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(begun.exists)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "\nstopped: statistic 'made-up' was running\n"
    assert process.returncode == 130


def test_two_statistics_with_one_id_are_both_refused(
    install: Install, stored: str, run: Run
) -> None:
    install("one", STATISTIC.format(body="return 1.0", more=""))
    install("two", STATISTIC.format(body="return 2.0", more=""))
    (group,) = groups(run, "--by", "model")
    assert group["summary"]["statistics"] == []
    run("results", "--by", "model", err="statistic 'made-up'")
    run("plugins", "list", err="'made-up'")


COMMAND = """
from tabwb.plugin_api import CommandSource
def load():
    {body}
    import click
    @click.group("broken")
    def broken():
        pass
    @broken.command("inner")
    def inner():
        raise RuntimeError("my bug")
    return broken
@hookimpl
def tabwb_register_commands(register):
    register(CommandSource("broken", "Broken.", load))
"""


@pytest.mark.parametrize(
    ("source", "words", "status", "said"),
    [
        (COMMAND.format(body="import no_such_module"), ["broken"], 1,
         ["command 'broken' of the plugin 'bad' cannot be loaded: ModuleNotFoundError"]),
        (COMMAND.format(body=""), ["broken", "inner"], 1,
         ["command 'broken' of the plugin 'bad' failed: RuntimeError: my bug"]),
        ("raise RuntimeError('no luck')", ["laboratory"], 2,
         ["No such command 'laboratory'", "not used: bad: loading: RuntimeError: no luck"]),
        ("", ["resluts"], 2, ["Did you mean 'results'?"]),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_loaded_raises_or_is_not_there_is_named(
    install: Install, run: Run, source: str, words: list[str], status: int, said: list[str]
) -> None:
    install("bad", source)
    run(*words, status=status, err=said)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("'A_b', 'a', 'a', f", "statistic 'A_b', id: 'A_b' cannot be used"),
        ("'ab', '', 'a', f", "statistic 'ab', title: '' cannot be used\nallowed: one line of text"),
        ("'ab', 'a', 'a\\nb', f", "meaning: 'a\\nb' cannot be used"),
        ("'ab', 'a', 'a', 3", "compute: 3 cannot be used\nallowed: a function"),
        ("'ab', 'a', 'a', f, per='item'", "per: 'item' cannot be used\nallowed: group, subtest"),
        ("'ab', 'a', 'a', f, digits=-1", "digits: -1 cannot be used"),
        ("'ab', 'a', 'm' * 301, f", "meaning: 'mmm"),
        ("'ab', 'a', 'a', f, judges='two'", "judges: 'two' cannot be used"),
        ("'ab', 'a', 'a', f, judges=None", "judges: None cannot be used"),
        ("'ab', 'a', 'a', f, pooled=[1]", "pooled: [1] cannot be used"),
        ("'ab', 'a', 'a', f, percent=True, unit='words'", "unit: 'words' cannot be used"),
        ("'ab', 'a', 'a', f, limit_s=0", "limit_s: 0 cannot be used\nallowed: seconds, above 0"),
        ("'burden', 'a', 'a', f", "tabwb has a measure of this id"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(install: Install, fields: str, said: str) -> None:
    install(
        "wrong",
        f"""
        from tabwb.plugin_api import Statistic
        def f(responses):
            return 1
        @hookimpl
        def tabwb_register_statistics(register):
            register(Statistic({fields}))
        """,
    )
    (problem,) = Plugins.load().problems
    assert said in problem.error


def test_measures_of_one_word_are_the_reserved_ids() -> None:
    ours = {measure.id for measure in MEASURES if is_kebab(measure.id)}
    assert ours == RESERVED


def values(compute: Callable[[Responses], Any]) -> tuple[StatisticValue, ...]:
    responses = Responses(Mock(), table_of("responses", [], []), {}, Mock())
    return computed(Statistic("made-up", "a", "a", compute), responses)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "the function returned no value"),
        (None, "the function returned None without a reason"),
        (float("nan"), "the function returned nan without a reason"),
        ("a lot", "it returned 'a lot', which is not a number; allowed: a number, None"),
        ([1.0, 2.0], "it returned two values with of=''"),
        ({"a": 1}, "it returned a dict; allowed: a number"),
        (object(), "it returned a object; allowed: a number"),
        (StatisticValue(1, 2, 0.5), "from 2 to 0.5 has its ends exchanged"),
        (StatisticValue(1, 2), "an interval from 2.0 to None lacks an end"),
        (StatisticValue(1, n=-3), "n=-3 is not a number of responses"),
        (StatisticValue(1, n=2**63), "n=9223372036854775808 is not a number of"),
        (StatisticValue(1, 2, 3), "1 is not in its interval, 2 to 3"),
    ],
)
def test_what_cannot_be_a_value_is_undefined_with_the_reason(given: Any, reason: str) -> None:
    (value,) = values(lambda _: given)
    assert value.value is None
    assert reason in value.reason


@pytest.mark.filterwarnings("error")
def test_long_texts_are_cut_and_an_undefined_value_has_no_interval() -> None:
    long = "x" * 5_000_000
    given = [StatisticValue(float("nan"), 0, 1, reason=long, of=long), StatisticValue(1, of=None)]  # type: ignore[arg-type]
    first, second = values(lambda _: given)
    assert (len(first.reason), len(first.of), first.low, first.high) == (300, 300, None, None)
    assert second.of == ""

    async def compute(responses: Responses) -> float:
        return 1.0

    (value,) = values(compute)
    assert "'async def'" in value.reason


def test_of_many_values_a_part_is_shown_with_the_rows_that_have_no_value(
    install: Install, stored: str, run: Run
) -> None:
    body = (
        "return [StatisticValue(1.0, of=f'row {n}') for n in range(5000)] + [\n"
        "        StatisticValue(None, reason=f'why {n}', of=f'none {n}') for n in range(2)]"
    )
    install("stat", STATISTIC.format(body=body, more=""))
    shown = run("results", "--by", "model").out
    assert len(re.findall(r"row \d+ ", shown)) == 200
    assert "5,002 rows: see --json." in shown
    assert re.search(r", none 1: why 1\.", shown)
    listed = run("results", "1", "2", "--table", "results").out.replace("\n", " ")
    assert re.search(r": why 1 \([^()]*none 1\)", listed)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (
            "raise KeyboardInterrupt",
            130,
            "\nstopped: command 'odd' of the plugin 'odd' was running\n",
        ),
        ("import sys; sys.stdout.close()", 0, ""),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
    ],
)
def test_an_odd_command_is_contained(install: Install, body: str, status: int, said: str) -> None:
    install("odd", ODD.format(body=body))
    done = subprocess.run(
        [sys.executable, "-m", "tabwb.cli.main", "odd"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.decode()) == (status, said)


PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"


@pytest.fixture(scope="module")
def plugins() -> Iterator[Plugins]:
    section = PAGE.read_text("utf-8").partition("## Examples\n")[2].partition("\n## ")[0]
    modules: dict[str, ModuleType] = {}
    for source in re.findall(r"^```python\n(.*?)^```", section, re.M | re.S):
        module = modules[f"example-{len(modules)}"] = ModuleType(f"example_{len(modules)}")
        exec(source, vars(module))
    assert len(modules) == 3
    loaded = Plugins.load(modules=modules)
    assert loaded.problems == ()
    yield loaded
    loaded.close()


def test_the_examples_conform(plugins: Plugins) -> None:
    check_judge("my-judge", plugins=plugins)
    check_model("my-model@text=yes", plugins=plugins)
    check_exporter("my-format", plugins=plugins)


FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "ngram-network"
REQUEST = Request((Message("user", "Birds can"),), Decoding(max_tokens=16))


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    """Yield the module of the model, importable as installed."""
    sys.path.insert(0, str(FOLDER))
    yield import_module("ngram_network_model")
    sys.path.remove(str(FOLDER))
    for name in ("ngram_network", "ngram_network_model"):
        sys.modules.pop(name, None)


def plugins_with(backend: Callable[[], Any], **more: Any) -> Plugins:
    @hookimpl
    def tabwb_register_models(register: Callable[[Descriptor], None]) -> None:
        able = {"likelihood": True, "lesions": True, "activations": True, "lanes": True, **more}
        register(Descriptor("broken", "Broken", lambda spec, options: backend(), **able))

    module: Any = SimpleNamespace(tabwb_register_models=tabwb_register_models)
    return Plugins.load(modules={"broken": module})


def failures(backend: Callable[[], Any], **more: Any) -> str:
    with closing(plugins_with(backend, **more)) as plugins, pytest.raises(NonConformance) as caught:
        check_model("broken", plugins=plugins)
    return str(caught.value)


def test_the_example_conforms(example: Any) -> None:
    with closing(Plugins.load(modules={"ngram": import_module("ngram_network")})) as plugins:
        check_model("ngram-network", plugins=plugins)


def test_the_network_has_the_probabilities_of_its_counts(example: Any) -> None:
    text = "\n" * example.LAYERS + example.TEXT
    for context in ("birds can ", "the sky is ", "the ", "xq"):
        shares = dict.fromkeys(example.LETTERS, 1 / example.WIDTH)
        for length in range(min(len(context), example.LAYERS) + 1):
            end = context[len(context) - length :]
            places = range(example.LAYERS, len(text))
            seen = Counter(text[at] for at in places if text[at - length : at] == end)
            if seen:
                total = example.SMOOTHING + sum(seen.values())
                shares = {
                    letter: (example.SMOOTHING * share + seen[letter]) / total
                    for letter, share in shares.items()
                }
        numbers = [example.NUMBER["\n"]] * example.LAYERS + example.numbers_of("?" + context)
        found = np.exp(example.log_probabilities(example.counted(example.TEXT), numbers))
        np.testing.assert_allclose(found, [*shares.values()], rtol=1e-4)


def test_a_neuron_is_a_context(example: Any) -> None:
    backend = example.Backend()
    backend.open()

    def said() -> str:
        *_, reply = backend.reply(REQUEST, threading.Event())
        return str(reply.text)

    assert said() == "fly"
    backend.lesion("mlp.neurons:zero@layers=4-7")  # contexts of 4 letters or fewer are left
    assert said() != "fly"
    backend.lesion("mlp.neurons:zero:0.02@select=localizer")
    backend.lesion("")
    assert said() == "fly"


def test_each_fault_is_named(example: Any) -> None:
    class NoFacts(example.Backend):  # type: ignore[misc]
        def lesion(self, spec: str) -> Any:
            super().lesion(spec)
            return {}

    class Accumulates(example.Backend):  # type: ignore[misc]
        def _lesioned(self, spec: str) -> Any:
            arrays, facts = super()._lesioned(spec)
            if spec:
                self._intact = arrays
            return arrays, facts

    class Ignores(example.Backend):  # type: ignore[misc]
        def _lesioned(self, spec: str) -> Any:
            return self._intact, super()._lesioned(spec)[1]

    class Names(example.Backend):  # type: ignore[misc]
        def parts(self) -> Any:
            return [replace(part, name=f"my-{part.name}") for part in super().parts()]

    class Short(example.Backend):  # type: ignore[misc]
        def activations(self, *given: Any) -> Any:
            for values in super().activations(*given):
                yield values[1:]

    class Intact(example.Backend):  # type: ignore[misc]
        def reply_lanes(self, lesions: Any, requests: Any, cancel: Any) -> Any:
            return super().reply_lanes([""] * len(lesions), requests, cancel)

    class AnswersAnyway(example.Backend):  # type: ignore[misc]
        def _ready(self) -> Any:
            return self._arrays or self._intact

    for broken, said in (
        (NoFacts, "the fact 'lesion' is None under 'mlp.in:zero:0.5@seed=3'"),
        (Accumulates, "answers depend on the lesion before"),
        (Ignores, "no lesion changes an answer"),
        (Names, "a part is named 'my-0.mlp.in', not '0.mlp.in'"),
        (Short, "an array of 'mlp.neurons' has the shape"),
        (Intact, "in lanes every lesion gives the same reply, alone they differ"),
        (AnswersAnyway, "a request was answered after 'mlp:explode', which could not be applied"),
    ):
        assert said in failures(broken)
    assert "activations and lanes without lesions=True" in failures(example.Backend, lesions=False)


DOCUMENT_PAGE = Path(__file__).parents[2] / "docs" / "export-document.md"


def section(title: str) -> str:
    return DOCUMENT_PAGE.read_text(encoding="utf-8").split(f"## `{title}`")[1].split("\n## ")[0]


def lacking(title: str, keys: Mapping[str, Any]) -> list[str]:
    return [key for key in keys if f"`{key}`" not in section(title)]


def naming_document(plugins: Plugins, folder: Path) -> Mapping[str, Any]:
    with Store.open(folder / "naming.db") as store:
        battery = setup.find_battery(plugins, str(naming_battery(folder)))
        conditions = setup.resolve(plugins, battery, Conditions("S-1", "speaker", judges=()))
        with create_naming(store, plugins, battery, conditions) as session:
            spoken_in(session).keep(None, RecordingBegan("r1", "r1.wav", "a microphone", 16_000))
            spoken_in(session).show(shown(0.0))
            spoken_in(session).score("right", take=take(0.0))
            spoken_in(session).transcribed(1, 1, heard("D AO G"))
        return export_document(load_administrations(store, [1]))


@pytest.mark.parametrize("make", [document_of, naming_document])
def test_every_key_is_described(make: Any, tmp_path: Path) -> None:
    plugins = Plugins.load()
    (document,) = make(plugins, tmp_path)["documents"]
    plugins.close()
    assert set(document) <= {
        "format", "administration", "trials", "recordings", "summary", "moved", "notices",
    }  # fmt: skip
    assert lacking("administration", document["administration"]) == []
    assert lacking("summary", document["summary"]) == []
    for trial in document["trials"]:
        assert lacking("trials", trial) == []
        for part in (*trial["attempts"], *trial["ratings"], *trial["judgements"]):
            assert lacking("trials", part) == []
        assert lacking("trials", trial.get("reply") or {}) == []


DOCS = Path(__file__).parents[2] / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_field_of_every_record_has_a_meaning() -> None:
    generate = generator()
    lacking = [
        f"{kind.__name__}.{name}"
        for kinds in generate.record_kinds().values()
        for kind in kinds
        for name, _, _, meaning in generate.field_rows(kind)
        if not meaning.strip()
    ]
    assert lacking == []


def test_the_page_has_every_record() -> None:
    page = (DOCS / "reference" / "records.md").read_text(encoding="utf-8")
    for name in (
        "Request", "Reply", "Likelihood", "Response", "Rating", "Verdict", "Clip", "Transcript",
        "Event", "AttemptRecorded", "JudgementRecorded", "Attempt", "Transcribed",
    ):  # fmt: skip
        assert f"### `{name}`" in page


def test_every_name_of_the_interface_has_an_entry() -> None:
    page = (DOCS / "reference/plugin-api.md").read_text("utf-8")
    named = {line[4:-1] for line in page.splitlines() if line.startswith("## `")}
    assert {*plugin_api.__all__, *testing.__all__} - named == set()
    assert {"Declaration", "NOT_SENT", "Stretch", "Computed"} <= named

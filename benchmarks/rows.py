"""The rows of the table, each with its references."""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fill import RESPONSES, fill
from benchmarks.measure import Cost, call, interleaved, process, python, tabwb
from tabwb.store.store import Store

TRIVIAL_APP = """
from textual.app import App
from textual.widgets import Static
class Trivial(App):
    def compose(self):
        yield Static("hello")
    def on_mount(self):
        self.call_after_refresh(self.exit)
Trivial().run(headless=True)
"""
FIRST_PAINT = """
from tabwb.workbench.app import make_workbench
app = make_workbench(location={store!r}, offline=True)
def leave():
    app.call_after_refresh(app.exit)
app.call_later(leave)
app.run(headless=True, size=(160, 48))
"""


@dataclass(frozen=True, slots=True)
class Result:
    """One measured row: its cost and those of its references."""

    what: str
    budget: str
    cost: Cost
    against: tuple[tuple[str, Cost], ...] = ()


def help_text(rounds: int) -> Iterator[Result]:
    """Yield the row of ``tabwb --help``, a whole process."""
    own, bare, *others = interleaved(
        lambda: process(tabwb("--help")),
        lambda: process(python("pass")),
        *[lambda name=name: process([name, "--help"]) for name in _peers("llm", "inspect")],
        rounds=rounds,
    )
    against = [("bare interpreter", bare), *zip(_peers("llm", "inspect"), others, strict=True)]
    yield Result("`tabwb --help`", "0.08 s", own, tuple(against))


def workbench(rounds: int) -> Iterator[Result]:
    """Yield the rows of start to first paint, with an empty store and with 112,000 responses."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.db", Path(folder) / "large.db"
        _fill(large)

        def paint(store: Path) -> list[str]:
            return python(FIRST_PAINT.format(store=str(store)))

        trivial, empty, full = interleaved(
            lambda: process(python(TRIVIAL_APP)),
            lambda: process(
                python(FIRST_PAINT.format(store=str(small))), environment=at_folder(folder)
            ),
            lambda: process(
                python(FIRST_PAINT.format(store=str(large))), environment=at_folder(folder)
            ),
            rounds=rounds,
        )
    against = (("trivial Textual app", trivial),)
    yield Result("workbench, start to first paint", "2.5 x trivial app", empty, against)
    yield Result("the same, 112,000 responses stored", "2.5 x trivial app", full, against)


def twenty_items(rounds: int) -> Iterator[Result]:
    """Yield the row of TAB with the echo model, a whole process with its store."""
    with tempfile.TemporaryDirectory() as folder:
        own, bare = interleaved(
            lambda: process(tabwb("run", "tab", "--model", "echo"), environment=at_folder(folder)),
            lambda: process(python("pass")),
            rounds=rounds,
        )
    yield Result(
        "20 items, echo model, whole process", "0.45 s", own, (("bare interpreter", bare),)
    )


def durable_item(rounds: int) -> Iterator[Result]:
    """Yield the row of one scored and committed item, compared with a bare durable commit."""
    from tabwb.administer.session import setup
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Reply
    from tabwb.records.states import StopReason
    from tabwb.store.store import Store

    plugins = Plugins.load()
    battery = setup.find_battery(plugins, "tab")
    given = Conditions("echo", "model", replicates=rounds * 40 + 80)
    conditions = setup.resolve(plugins, battery, given)
    reply = Reply("The boat was red and the lake was cold that day.", StopReason.END, 0.01)
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE answers (text TEXT)")
        with (
            Store.open(Path(folder) / "store.db") as store,
            setup.create(store, plugins, battery, conditions) as session,
        ):

            def item() -> None:
                session.next()
                session.record(reply, session.request())

            own, floor = interleaved(
                lambda: call(item, 100),
                lambda: call(lambda: bare.execute("INSERT INTO answers VALUES ('a')"), 100),
                rounds=rounds,
            )
        bare.close()
    plugins.close()
    yield Result("one durable, scored item", "0.8 ms", own, (("bare SQLite commit", floor),))


def long_run(rounds: int) -> Iterator[Result]:
    """Yield the row of an item of a run of 10,000 items, compared with one of 500."""
    from tabwb.administer.session import setup
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions
    from tabwb.records.exchange import Reply
    from tabwb.records.states import StopReason
    from tabwb.store.store import Store

    plugins = Plugins.load()
    tab = setup.find_battery(plugins, "tab")
    words = tab.subtests[0]
    reply = Reply("boot", StopReason.END, 0.01)

    def of(n: int) -> Cost:
        items = tuple(replace(words.items[0], id=f"item-{at}") for at in range(n))
        battery = replace(tab, subtests=(replace(words, items=items),))
        conditions = setup.resolve(plugins, battery, Conditions("echo", "model"))
        with (
            tempfile.TemporaryDirectory() as folder,
            Store.open(Path(folder) / "store.db") as store,
            setup.create(store, plugins, battery, conditions) as session,
        ):

            def item() -> None:
                session.next()
                session.record(reply, session.request())

            return call(item, n)

    large, small = interleaved(lambda: of(10_000), lambda: of(500), rounds=min(rounds, 2))
    plugins.close()
    yield Result("an item of a run of 10,000 items", "0.8 ms", large, (("one of 500", small),))


def local_generation(rounds: int) -> Iterator[Result]:
    """Yield the row of five connected texts, compared with ``generate`` of transformers."""
    import threading
    from importlib.resources import files

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tabwb.administer.session.exchange import request_for
    from tabwb.administer.session.plan import plan_trials
    from tabwb.battery.loader import load_battery
    from tabwb.host.plugins import Plugins
    from tabwb.records.conditions import Conditions

    plugins = Plugins.load()
    battery = load_battery(plugins.find_battery("tab"))
    conditions = Conditions("bundled", "model")
    requests = [
        request_for(battery, conditions, plan) for plan in plan_trials(battery, conditions)[:5]
    ]
    backend = plugins.open_model("bundled")
    backend.open()
    folder = str(files("tabwb_bundled") / "model")
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def own() -> Cost:
        return call(lambda: [list(backend.reply(one, threading.Event())) for one in requests], 1)

    def plain() -> None:
        for request in requests:
            messages = [{"role": one.role, "content": one.content} for one in request.messages]
            encoded = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
            model.generate(**encoded, do_sample=False, max_new_tokens=request.decoding.max_tokens)

    child, floor = interleaved(own, lambda: call(plain, 1), rounds=rounds)
    backend.close()
    plugins.close()
    yield Result(
        "5 connected texts, bundled model, loaded (CPU: of the parent only)",
        "",
        child,
        (("transformers generate(), same process", floor),),
    )


def word_list(rounds: int) -> Iterator[Result]:
    """Yield the row of loading the word list of the rules judge, in a new process."""
    code = (
        "import time, importlib.resources; from tabwb.scoring import lexicon\n"
        "a = time.perf_counter(); l = lexicon.load_lexicon(); l.known('house')\n"
        "print(time.perf_counter() - a)"
    )
    import subprocess

    def load() -> Cost:
        done = subprocess.run(python(code), capture_output=True, text=True, check=True)
        return Cost(float(done.stdout), float(done.stdout))

    (own,) = interleaved(load, rounds=rounds)
    yield Result("word list loaded and asked once", "20 ms", own)


def rules_judge(rounds: int) -> Iterator[Result]:
    """Yield the row of one response of 60 words judged by rules-2."""
    from tabwb.battery.loader import load_battery
    from tabwb.host.plugins import Plugins
    from tabwb.plugin_api.components import Response
    from tabwb.records.states import ResponseKind, ResponseStatus

    plugins = Plugins.load()
    judge = plugins.judge("rules-2")
    features = load_battery(plugins.find_battery("tab")).features
    text = (
        "We drove to the lake in July because my aunt had a small house there. The water was cold, "
        "and we swam every morning before breakfast. My cousin taught me how to row the old boat. "
        "In the evening we made a fire and told long stories. I still think of that summer when it "
        "rains for days in the city where I live now."
    )
    response = Response(
        text, ResponseStatus.OK, "Tell me about a trip.", "", ResponseKind.CONNECTED_TEXT
    )
    judge.judge(response, features)
    (own,) = interleaved(lambda: call(lambda: judge.judge(response, features), 50), rounds=rounds)
    plugins.close()
    yield Result("one response judged by rules-2", "", own)


def list_of_a_large_store(rounds: int) -> Iterator[Result]:
    """Yield the row of ``tabwb results`` with 112,000 responses, compared with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = str(Path(folder) / "small.db"), Path(folder) / "large.db"
        _fill(large)
        full, empty = interleaved(
            lambda: process(tabwb("results", "--store", str(large)), environment=at_folder(folder)),
            lambda: process(tabwb("results", "--store", small), environment=at_folder(folder)),
            rounds=rounds,
        )
    yield Result("`tabwb results`, 112,000 responses", "", full, (("empty store", empty),))


BY_PANDAS = """
import pandas
table = pandas.read_parquet({table!r}, columns=[
    "administration", "model", "trial_number", "subtest", "response", "usable", "rater", "measure",
    "value",
])
verdicts = table[table.measure.isin(["exact", "normalised", "extracted"])]
print(verdicts.groupby(["model", "subtest", "measure"], observed=True).value.agg(["mean", "size"]))
rated = table[(table.rater == {judge!r}) & table.value.notna() & table.usable.eq(True)]
burdens = rated.groupby(["model", "administration", "trial_number"], observed=True).value.sum()
print(burdens.groupby("model").agg(["mean", "size"]))
answers = table.drop_duplicates(["administration", "trial_number"])
answers = answers.assign(words=answers.response.str.split().str.len())
print(answers.groupby("model", observed=True).agg(
    n=("response", "size"), distinct=("response", "nunique"), words=("words", "mean")
))
"""
"""The means of the same table, without intervals, repeated draws and repeated answers."""


def results_by_model(rounds: int) -> Iterator[Result]:
    """Yield ``tabwb results --by model`` with 112,000 responses of seven models."""
    with tempfile.TemporaryDirectory() as folder:
        large, table = Path(folder) / "large.db", Path(folder) / "large.parquet"
        _fill(large)
        place, environment = str(large), at_folder(folder)
        command = tabwb("results", "--by", "model", "--store", place)

        runs = {"": lambda: process(command, environment=environment)}
        if find_spec("pandas") and find_spec("pyarrow"):
            numbers = map(str, range(1, RESPONSES // 20 + 1))
            export = ("export", *numbers, "--format", "parquet", "--out", str(table))
            process(tabwb(*export, "--store", place), environment=environment)
            code = BY_PANDAS.format(table=str(table), judge="tab-2026:replay")
            runs["pandas, the same Parquet, no intervals"] = lambda: process(python(code))
        own, *others = interleaved(*runs.values(), rounds=rounds)
    against = tuple(zip(list(runs)[1:], others, strict=True))
    yield Result("`tabwb results --by model`, 112,000 responses", "0.8 s", own, against)


def _peers(*names: str) -> list[str]:
    return [name for name in names if shutil.which(name)]


def at_folder(folder: str) -> dict[str, str]:
    """Return the environment of a process whose data and settings are in a folder."""
    return {
        "TABWB_DATA_DIR": folder,
        "TABWB_CONFIG_DIR": folder,
        "PYTHONPATH": ":".join(path for path in sys.path if path),
    }


def _fill(location: Path) -> None:
    from benchmarks.fill import fill
    from tabwb.store.store import Store

    with Store.open(location) as store:
        fill(store)


EXPORTED = 14_000
"""In one administration, with 19 ratings each: the share of one model in the study of TAB."""


def exports(rounds: int) -> Iterator[Result]:
    """Yield exports of 14,000 responses with 266,000 ratings, and ``results ID --json``."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store.db"
        with Store.open(place) as store:
            fill(store, responses=EXPORTED, trials=EXPORTED)

        def run(*arguments: str) -> Cost:
            return process(tabwb(*arguments, "--store", str(place)), environment=at_folder(folder))

        def export(kind: str) -> Cost:
            out = Path(folder) / f"out.{kind}"
            out.unlink(missing_ok=True)
            return run("export", "1", "--format", kind, "--out", str(out))

        costs = interleaved(
            lambda: export("jsonl"),
            lambda: export("csv"),
            lambda: export("parquet"),
            lambda: run("results", "1", "--json"),
            rounds=rounds,
        )
    named = ("JSON Lines", "CSV", "Parquet", "`results ID --json`")
    for what, cost in zip(named, costs, strict=True):
        yield Result(f"{what}, 14,000 responses with 266,000 ratings", "", cost)


UTTERANCES = 1000


def transcripts(seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Return references of 1 to 40 phonemes (mean 13) and hypotheses with a PER of about 0.25."""
    from tabwb.phonology.inventory import PHONEMES

    chance = random.Random(seed)
    refs, hyps = [], []
    for _ in range(UTTERANCES):
        length = min(40, max(1, round(chance.gammavariate(2.5, 5.2))))
        ref = chance.choices(PHONEMES, k=length)
        hyp: list[str] = []
        for phoneme in ref:
            kind = chance.random()
            if kind < 0.07:  # deleted
                continue
            hyp.append(chance.choice(PHONEMES) if kind < 0.20 else phoneme)
            if kind > 0.94:  # inserted
                hyp.append(chance.choice(PHONEMES))
        refs.append(ref)
        hyps.append(hyp)
    return refs, hyps


def error_rates(rounds: int) -> Iterator[Result]:
    """Yield the row of PER, FER and traces, compared with single utterances and panphon."""
    from tabwb.phonology.batch import score
    from tabwb.phonology.distance import align_features, align_phonemes
    from tabwb.phonology.inventory import to_ipa

    refs, hyps = transcripts()

    def batch() -> object:
        found = score(refs, hyps)
        return found.per, found.fer, found.traces()

    def one_at_a_time() -> None:
        for ref, hyp in zip(refs, hyps, strict=True):
            align_features(ref, hyp)
            align_phonemes(ref, hyp)

    runs = {"one at a time, no numpy": one_at_a_time}
    if find_spec("panphon"):
        from panphon.distance import Distance

        distance = Distance()
        written = [(to_ipa(hyp), to_ipa(ref)) for hyp, ref in zip(hyps, refs, strict=True)]

        def panphon() -> None:
            for hyp, ref in written:
                distance.feature_edit_distance(hyp, ref)

        runs["panphon, distances of features only"] = panphon
    own, *others = interleaved(
        lambda: call(batch, 5), *(lambda run=run: call(run, 1) for run in runs.values()),
        rounds=rounds,
    )  # fmt: skip
    yield Result(
        "PER, FER and traces, 1,000 utterances", "0.07 s", own,
        tuple(zip(runs, others, strict=True)),
    )  # fmt: skip

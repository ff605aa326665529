"""Makes the stores of the golden files: ``python -m tests.golden.make_stores FOLDER``.

They were made once, by version 0.2.0, and are kept as they were made: a later version migrates
them and must print what that version printed. Texts, verdicts and ratings follow from seeds;
times, uids and latencies are those of the day on which the stores were made.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from tabwb.battery.loader import load_battery
from tabwb.battery.model import Item
from tabwb.records.rating_sets import SampleRating
from tabwb.store.store import Store

SPEECH = Path(__file__).parents[1] / "data" / "speech"
PORT = 8123
"""Of the judges, fixed because it is a part of their specs."""

GARDEN = (
    "Last summer we went to the sea with my brother and his dog.",
    "The water was cold, but we swam every morning before breakfast.",
    "My grandmother told us stories about the old lighthouse.",
    "In the evening we cooked fish over a small fire on the beach.",
    "I remember the smell of the salt and the sound of the gulls.",
    "On the last day a storm came and we watched it from the porch.",
)
DAMAGED = (
    "We went to the the the thing, you know, the thing.",
    "Brother go sea. Dog go. Water cold.",
    "I don't know, it was, um, I mean, it was, it was good.",
    "The flimber was on the grendle and it plossed.",
    "Went went went went went went.",
    "No, not the house, the, the boat, no, the fish.",
)
ODD = (
    (0.08, ""),
    (0.16, "I'm sorry, but I cannot help with that."),
    (0.20, "\u6211\u4e0d\u77e5\u9053\u3002"),
    (0.25, "<think>The person wants a story.</think>We went home."),
)
"""Answers that are no attempt, by the share of all damaged ones up to which each is given."""


def drawn(*words: object) -> float:
    """Return a number in [0, 1) that is the same for the same words."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class Maker:
    """Makes one store with commands, in a folder of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        self.path = self.folder / "store.db"
        self._environment = dict(
            os.environ, TABWB_CONFIG_DIR=str(self.folder / "config"),
            TABWB_DATA_DIR=str(self.folder), TZ="UTC", PYTHONPATH="",
        )  # fmt: skip

    def tabwb(self, *words: str, allowed: Sequence[int] = (0,), said: str = "") -> str:
        """Run a command and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "tabwb", "--store", str(self.path), *words], check=False,
            stdout=subprocess.PIPE, text=True, cwd=self.folder, env=self._environment, input=said,
        )  # fmt: skip
        if done.returncode not in allowed:
            raise SystemExit(f"tabwb {' '.join(words)}: exit status {done.returncode}")
        return done.stdout

    def file(self, name: str, text: str) -> str:
        """Write a file into the store's folder and return its name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def replayed(self, name: str, seed: int, damage: float, replicates: int = 1) -> str:
        """Write recorded answers to TAB, a share of them damaged, and return their spec."""
        lines = []
        for replicate in range(replicates):
            for subtest in TAB.subtests:
                for item in subtest.items:
                    line = {
                        "subtest": subtest.id, "item": item.id, "replicate": replicate,
                        "response": answer(seed, replicate, item, damage),
                        "status": "truncated" if drawn(seed, replicate, item.id, "cut") < damage / 8
                        else "ok",
                    }  # fmt: skip
                    lines.append(json.dumps(line, ensure_ascii=False))
        self.file(f"{name}.jsonl", "\n".join(lines) + "\n")
        return f"replay:{name}.jsonl@origin=model"


def answer(seed: int, replicate: int, item: Item, damage: float) -> str:
    """Return a made-up answer to an item."""
    chance = drawn(seed, replicate, item.id)
    odd = drawn(seed, replicate, item.id, "odd")
    for limit, text in ODD:
        if odd < damage * limit:
            return text
    if item.options:
        right = item.expected or item.options[0]
        wrong = item.options[int(drawn(seed, replicate, item.id, "wrong") * len(item.options))]
        return wrong if chance < damage else (right if chance < 0.9 else f"{right}.")
    if item.expected in ("Yes", "No"):
        return "Yes" if chance < 0.7 * damage else item.expected
    if item.expected:
        return item.expected[: len(item.expected) // 2] if chance < damage else item.expected
    said = []
    for n in range(4):
        texts = DAMAGED if drawn(seed, replicate, item.id, n) < damage else GARDEN
        said.append(texts[int(drawn(seed, replicate, item.id, n, "which") * len(texts))])
    return " ".join(said)


@contextmanager
def judges() -> Iterator[str]:
    """Serve two made-up judges of TAB's 19 features as chat models; yield their address."""

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, asked = body["model"], body["messages"][-1]["content"]
            text = asked.rpartition("Transcript Passage:")[2].partition("“")[2].rpartition("”")[0]
            found = {feature: int(found_in(name, text, KEYS[feature])) for feature in KEYS}
            unreadable = drawn(name, text, "unreadable") < 0.04
            reply = "I would say it is fine." if unreadable else json.dumps(found)
            events = [
                json.dumps({
                    "id": "1", "object": "chat.completion.chunk", "created": 0, "model": name,
                    "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
                })
                for delta, reason in (({"content": reply}, None), ({}, "stop"))
            ]  # fmt: skip
            self._send("text/event-stream", "".join(f"data: {e}\n\n" for e in (*events, "[DONE]")))

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"object": "list", "data": []}))

        def _send(self, content_type: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *words: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", PORT), Judge) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{PORT}/v1"
        server.shutdown()


TAB = load_battery(Path(str(resources.files("tabwb_batteries"))) / "tab" / "battery.toml")
KEYS = {feature.key: feature.id for feature in TAB.features}
"""TAB's features: the key in a judge's JSON to the id."""


def found_in(rater: str, text: str, feature: str, occasion: int = 0) -> bool:
    """Return whether a made-up rater finds a feature in a text."""
    damaged = sum(text.lower().count(part.lower()[:18]) for part in DAMAGED) / 4
    prevalence = 0.02 + 0.9 * damaged * drawn(feature) ** 2
    truth = drawn(text.lower(), feature) < prevalence
    chance = drawn(rater, text.lower(), feature, occasion)
    sensitivity = 0.7 + 0.25 * drawn(rater, "sensitivity")
    return chance < sensitivity if truth else chance < 0.05


def _judge(name: str) -> str:
    return f"tab-2026:openai:{name}@base_url=http://127.0.0.1:{PORT}/v1"


def models(made: Maker) -> None:
    """All statuses, replicates, seeds that repeat, corrections, protocols, judges, pairs."""
    made.tabwb("run", "tab", "--model", "echo", "-q")
    made.tabwb("run", "tab", "--model", "bundled", "-q", "--tag", "intact")
    for name, seed, damage in (("mild", 1, 0.2), ("severe", 2, 0.7)):
        spec = made.replayed(name, seed, damage, replicates=3)
        made.tabwb("run", "tab", "--model", spec, "-q", "--tag", name)
    made.tabwb(
        "run", "tab", "--model", "replay:mild.jsonl@origin=model", "-q", "--title", "The same again"
    )
    for draws in ("1", "2", "2"):
        made.tabwb("run", "tab", "--model", "bundled", "--temperature", "1", "--replicates", "2",
                   "--seed", draws, "-q")  # fmt: skip
    for more in (("--protocol", "likelihood", "--rotate-options"), ("--protocol", "enforced"),
                 ("--conversation", "--system", "You are terse.", "--shuffle-options"),
                 ("--prompt-noise", "words:drop:0.2@seed=3")):  # fmt: skip
        made.tabwb("run", "tab", "--model", "bundled", *more, "-q")
    for family, size in (("Oak", "1B"), ("Oak", "3B"), ("Elm", "1B"), ("Elm", "7B")):
        for tuning, damage in (("base", 0.5), ("instruct", 0.15)):
            name = f"{family}-{size}-{tuning}".lower()
            spec = made.replayed(name, len(name) + ord(name[-3]) + ord(size[0]), damage, 2)
            made.tabwb("model", "add", name, spec, "--family", family, "--tuning", tuning,
                       "--parameters", size)  # fmt: skip
            made.tabwb("run", "tab", "--model", f"profile:{name}", "-q")
    made.tabwb("run", "tab", "--model", "replay:severe.jsonl@origin=model", "--max-requests", "7",
               "-q", allowed=(3,))  # fmt: skip
    made.tabwb("trial", "void", "4", "3", "--reason", "the prompt was cut")
    made.tabwb("trial", "note", "4", "5", "answers come late")
    made.tabwb("trial", "rescore", "3")
    made.tabwb("tag", "4", "--add", "voided")
    made.tabwb("judge", "run", "--all", "--judge", _judge("a"), "--scope", "all", "-q",
               allowed=(0, 3))  # fmt: skip
    made.tabwb("judge", "run", "2", "3", "4", "5", "--judge", _judge("b"), "-q", allowed=(0, 3))
    made.tabwb("judge", "run", "3", "4", "--judge", "rules-1", "-q")


def lesions(made: Maker) -> None:
    """A sweep over amounts, seeds and controls, and a map of layers."""
    grid = """format = 1
name = "doses"

[[lesions]]
targets = ["attention", "mlp"]
amounts = [0.1, 0.3, 0.5]
seeds = [1, 2, 3]
controls = true

[[lesions]]
targets = ["attention.q", "mlp.down"]
amounts = [0.5]
layers = ["each"]
seeds = [1]
"""
    made.tabwb("lesion", "sweep", "tab", "--model", "bundled", "-q",
               "--grid", made.file("grid.toml", grid), "--max-tokens", "48")  # fmt: skip
    made.tabwb("run", "tab", "--model", "bundled", "--lesion", "mlp.down:zero:0.3@seed=7", "-q",
               "--temperature", "0.8", "--replicates", "2")  # fmt: skip


NAMED = ("cat", "dog", "bird", "tree", "house", "bed")
SESSIONS = {"P01": 4, "P02": 3, "P03": 2}
SCORES = {
    "right": 0.45, "self-corrected": 0.5, "error": 0.85, "no-response": 0.95, "not-scorable": 1.0,
}  # fmt: skip
REASONS = {"no-response": ("--reason", "silent"), "not-scorable": ("--reason", "noise")}
CODES = ("semantic", "formal", "unrelated", "nonword-related")


def naming(made: Maker) -> None:
    """Three speakers in sessions a week apart, scored by rule and by two listeners."""
    for speaker, sessions in SESSIONS.items():
        group = "waiting" if speaker == "P03" else "treated"
        made.tabwb("speaker", "add", speaker, f"group={group}")
        made.tabwb("speaker", "consent", speaker, "--all", "--given", "2026-02-01")
        for session in range(sessions):
            folder = made.folder / f"{speaker}-{session}"
            folder.mkdir()
            for n, word in enumerate(NAMED):
                clips = sorted(SPEECH.glob("*.flac"))
                own = [clip for clip in clips if clip.name.startswith(word)]
                right = own and drawn(speaker, session, word) < 0.35 + 0.15 * session
                other = clips[int(drawn(speaker, session, n) * len(clips))]
                shutil.copy(own[0] if right else other, folder / f"{word}.flac")
            day = f"2026-03-{1 + 7 * session:02}"
            made.tabwb("name", "naming-demo", "--speaker", speaker, "--input", folder.name,
                       "--rater", "R1", "--date", day, allowed=(0, 3))  # fmt: skip
    for session in range(1, 10):
        trials = json.loads(made.tabwb("results", str(session), "--json"))["trials"]
        for number in range(1, 1 + len(trials)):
            for rater in ("R1", "R2") if session % 2 else ("R1",):
                _score(made, session, number, rater)


def _score(made: Maker, session: int, number: int, rater: str) -> None:
    """Let a listener score a response, and code some of the errors."""
    chance = drawn(rater, session, number)
    score = next(score for score, limit in SCORES.items() if chance < limit)
    asked = ("--rater", rater)
    made.tabwb("trial", "score", str(session), str(number), score, *asked, *REASONS.get(score, ()),
               allowed=(0, 1, 2))  # fmt: skip
    if score == "error" and chance < 0.75:
        code = CODES[number % len(CODES)]
        made.tabwb("trial", "code", str(session), str(number), code, *asked, allowed=(0, 1, 2))


def sets(made: Maker) -> None:
    """Two rating sets: people, repeated samples, judges, settled and open answers."""
    for name, damage in (("mild", 0.2), ("severe", 0.7)):
        made.tabwb("run", "tab", "--model", made.replayed(name, len(name), damage, 4), "-q")
    people = [
        {
            "id": f"t{n}",
            "text": f"{GARDEN[n % 6]} {DAMAGED[n % 5]} {GARDEN[n % 4]} It was {n}.",
            "prompt": "Tell me what happened.",
            "speaker": f"S-{n // 4 + 1:03}",
        }
        for n in range(20)
    ]
    made.tabwb("import", made.file("people.jsonl", "\n".join(map(json.dumps, people))), "-q")
    made.tabwb("judge", "run", "--all", "--judge", _judge("a"), "-q", allowed=(0, 3))
    made.tabwb("rate", "plan", "open", "--raters", "R1,R2,R3", "--again", "0.2", "--distance", "5",
               "--seed", "3")  # fmt: skip
    made.tabwb("rate", "plan", "settled", "1", "2", "--raters", "R1,R2,R3,R4",
               "--raters-per-sample", "2", "--counts", "adjudicated", "--seed", "4")  # fmt: skip
    for name, share in (("open", 0.8), ("settled", 1.0)):
        with closing(Store.open(made.path)) as store:
            for rater in store.sets.get(name).raters:
                _rate(store, name, rater, share)
    listed = json.loads(made.tabwb("rate", "disputed", "settled", "--json"))
    for one in listed["disputes"][:40]:
        value = str(int(drawn(one["sample"], one["measure"]) < 0.5))
        made.tabwb("rate", "settle", "settled", str(one["sample"]), one["measure"], value,
                   "--who", "R9", "--reason", "read again")  # fmt: skip


def _rate(store: Store, name: str, rater: str, share: float) -> None:
    """Rate a share of a rater's samples, all of those of R1."""
    asked = store.sets.get(name)
    samples = {sample.number: sample for sample in store.sets.samples(asked.id)}
    seen: set[int] = set()
    rated = []
    for place in store.sets.assignments(asked.id, rater):
        occasion, text = int(place.sample in seen), samples[place.sample].text
        seen.add(place.sample)
        if drawn(name, rater, place.position) > share and rater != "R1":
            continue
        answers = {
            feature: float(found_in(rater, text, feature, occasion))
            for feature in KEYS.values()
            if drawn(rater, text, feature, "cannot tell") > 0.01
        }
        given = (place.position, place.sample, place.purpose, answers, True)
        rated.append(SampleRating(rater, *given))
    store.sets.rate_all(asked.id, rated)


_THEMES = """[battery]
id = "themes"
title = "Themes"
version = "1"
language = "en"
license = "MIT"
examinees = ["model", "speaker"]
disclaimer = "Not a diagnostic tool."

[[subtest]]
id = "texts"
title = "Texts"
response = "connected-text"
scorers = ["lexical"]
"""
_GERMAN = """[battery]
id = "deutsch"
title = "Deutsch"
version = "1"
language = "de"
license = "MIT"
examinees = ["speaker", "model"]
disclaimer = "Kein Diagnoseinstrument."

[[subtest]]
id = "texte"
title = "Texte"
response = "connected-text"
[[subtest.item]]
id = "t1"
prompt = "Erz\u00e4hlen Sie von Ihrer Reise."
[[subtest]]
id = "worte"
title = "Worte"
response = "choice"
template = "{prompt} ({options})"
[[subtest.item]]
id = "w1"
prompt = "Was bellt?"
options = ["Hund", "T\u00fcr", "Haus"]
expected = "Hund"
"""
_WORDS = ("lion", "drum", "boot", "boat", "door", "spoon", "apple", "candle")


def _themes() -> str:
    """Return a battery with twelve texts in four clusters and eight choices."""
    parts = [_THEMES]
    for theme in ("trip", "job", "meal", "home"):
        parts += [
            f'[[subtest.item]]\nid = "{theme}-{time}"\nprompt = "Tell me of a {theme}, {time}."\n'
            f'cluster = "{theme}"\ntags = ["{time}"]'
            for time in ("past", "present", "wish")
        ]
    parts.append('[[subtest]]\nid = "words"\ntitle = "Words"\nresponse = "choice"')
    parts.append('template = "{prompt} ({options})"')
    for n, word in enumerate(_WORDS):
        options = json.dumps(sorted([word, "violin", "giraffe", "kite"], key=partial(drawn, n)))
        parts.append(
            f'[[subtest.item]]\nid = "w{n}"\nprompt = "Which one is {word}?"\n'
            f'options = {options}\nexpected = "{word}"\n'
            'foils = { violin = "semantic", kite = "unrelated" }\n'
            f'tags = ["{("animate", "inanimate")[n % 2]}"]'
        )
    tab = Path(str(resources.files("tabwb_batteries")), "tab", "battery.toml").read_text("utf-8")
    return "\n".join((*parts, tab[tab.index("[[feature]]") :]))


def study(made: Maker) -> None:
    """A battery with clusters, tags and foils, one in German, and answers of people in tables."""
    themes = made.file("themes.toml", _themes())
    german = made.file("deutsch.toml", _GERMAN)
    battery = load_battery(made.folder / themes)
    for person in range(8):
        rows = [("subtest", "item", "replicate", "response")]
        for subtest in battery.subtests:
            for item in subtest.items:
                for replicate in range(1, 2 + (subtest.id == "words")):
                    said = answer(person + 100 * replicate, 0, item, 0.1 + person / 12)
                    rows.append((subtest.id, item.id, str(replicate), said))
        table = io.StringIO()
        csv.writer(table).writerows(rows)
        answers = made.file(f"person-{person}.csv", table.getvalue())
        who = ("--speaker", f"P{person:02}") if person < 5 else ("--model", f"other-{person}")
        tag = f"group{person % 2}"
        made.tabwb("import", answers, "--battery", f"./{themes}", *who, "-q", "--tag", tag)
    answers = made.file("de.csv", "item,response\nt1,Wir sind nach Rom gefahren.\nw1,Hund\n")
    made.tabwb("import", answers, "--battery", f"./{german}", "--model", "other", "-q")
    made.tabwb("judge", "run", "--where", "battery=themes", "--judge", _judge("b"), "-q",
               allowed=(0, 3))  # fmt: skip


STORES = {"models": models, "lesions": lesions, "naming": naming, "sets": sets, "study": study}


def main() -> None:
    """Make every store, or those named, and pack them beside this file."""
    folder = Path(sys.argv[1])
    with judges():
        for name in sys.argv[2:] or STORES:
            shutil.rmtree(folder / name, ignore_errors=True)
            made = Maker(folder, name)
            STORES[name](made)
            with closing(sqlite3.connect(made.path)) as store:
                store.execute("PRAGMA journal_mode = DELETE")
                store.execute("VACUUM")
            packed = Path(__file__).parent / "stores" / f"{name}.db.xz"
            packed.parent.mkdir(exist_ok=True)
            packed.write_bytes(lzma.compress(made.path.read_bytes(), preset=9))
            print(name, made.path.stat().st_size, packed.stat().st_size)


if __name__ == "__main__":
    main()

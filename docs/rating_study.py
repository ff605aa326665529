"""Runs the simulated rating study of docs/rating-study.md: python docs/rating_study.py FOLDER.

561 texts, five raters and one judge, all simulated: which features a text has, and which errors
each rater makes, follows from the text and a seed. The study then goes through tabwb as a real one
would, and the error rates that come out are compared with those that went in.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.administer.session.setup import find_battery
from tabwb.battery.forms import Question, form_from_canonical
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records.rating_sets import Adjudication, Sample, SampleRating
from tabwb.records.states import ResponseStatus
from tabwb.store.store import Store

if TYPE_CHECKING:
    from textual.app import App

SET = "validation"
LESIONS = ("", "mlp.down:zero:0.3@seed=7", "attention.heads:zero:0.5@seed=2")
PEOPLE, MODELS = 306, 255
"""Texts of people and of models, as in section 6.1 of the paper."""
PREVALENCE = {
    # The six that section 6 of the paper tells.
    "meaning-unclear": 0.45,
    "short-and-simplified-utterances": 0.44,
    "perseverations": 0.11,
    "neologisms": 0.05,
    "omission-of-bound-morphemes": 0.04,
    # Never present: the paper has such features, and does not say which.
    "conduite-d-approche": 0.0,
}
OTHERWISE = 0.15
"""Prevalence of the other features."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How often a rater calls a feature present that is there, and absent that is not."""

    sensitivity: float
    specificity: float


@dataclass(frozen=True, slots=True)
class Recovered:
    """An error rate of a rater: put in, mean over features, features whose interval contains it."""

    rater: str
    what: str
    put_in: float
    mean: float
    inside: int
    of: int


RATERS = {
    "R1": Errors(0.90, 0.97),
    "R2": Errors(0.85, 0.98),
    "R3": Errors(0.75, 0.95),
    "R4": Errors(0.80, 0.90),
    "R5": Errors(0.65, 0.99),
}
JUDGE = Errors(0.70, 0.92)


def drawn(*words: object) -> float:
    """Return a number in [0, 1) that is the same for the same words."""
    digest = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def key(text: str) -> str:
    """Return what tells a text from others however it is shown."""
    return "".join(letter for letter in text.lower().split("[cut")[0] if letter.isalpha())


def truth(seed: int, text: str, feature: str) -> bool:
    """Return whether a text has a feature."""
    return drawn(seed, key(text), feature) < PREVALENCE.get(feature, OTHERWISE)


def said(seed: int, text: str, feature: str, rater: str, errors: Errors, occasion: int = 0) -> bool:
    """Return what a rater says of a feature of a text, at the first or a later occasion."""
    chance = drawn(seed, key(text), feature, rater, occasion)
    present = truth(seed, text, feature)
    return chance < errors.sensitivity if present else chance >= errors.specificity


def tabwb(*words: str) -> str:
    """Run a command of tabwb and return what it prints; end if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "tabwb", *words], check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def tab_battery() -> Battery:
    """Return the Text Aphasia Battery."""
    with closing(Plugins.load()) as plugins:
        return find_battery(plugins, "tab")


# -------------------------------------------------------------------- texts and a judge

OPENINGS = ("Well", "So", "I think", "You know", "It was like this", "Yesterday")
WHO = ("my sister", "the doctor", "our neighbour", "a friend", "the boy", "her uncle", "we")
DID = ("went to", "talked about", "looked for", "fixed", "remembered", "left", "painted")
WHAT = ("the garden", "the old car", "a small house", "the bus", "that photograph", "the kitchen")
THEN = ("and then it rained", "but nobody knew", "because of the dog", "and that was it", "slowly")


def transcripts(path: Path, number: int, seed: int) -> None:
    """Write made-up texts of people as JSON lines, nine of each speaker, no two alike."""
    stream = random.Random(seed)
    seen: set[str] = set()
    with path.open("w", encoding="utf-8") as lines:
        while len(seen) < number:
            said = ", ".join(map(stream.choice, (OPENINGS, WHO, DID, WHAT, THEN, WHO, DID, WHAT)))
            if said in seen:
                continue
            row = {
                "id": f"t{len(seen) + 1}",
                "text": f"{said}.",
                "prompt": "Tell me what happened.",
                "speaker": f"S-{len(seen) // 9 + 1:03}",
            }
            seen.add(said)
            lines.write(json.dumps(row) + "\n")


@contextmanager
def judge_server(seed: int, keys: Mapping[str, str]) -> Iterator[str]:
    """Serve a simulated judge as a chat model on this computer; yield its address.

    Args:
        seed: of the study.
        keys: feature to the key of the judge's JSON.
    """

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = body["messages"][-1]["content"]
            text = asked.rpartition("Transcript Passage:")[2].partition("“")[2].rpartition("”")[0]
            labels = {
                name: int(said(seed, text, feature, "judge", JUDGE))
                for feature, name in keys.items()
            }
            events = [
                json.dumps(
                    {
                        "id": "1",
                        "object": "chat.completion.chunk",
                        "created": 0,
                        "model": "simulated",
                        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
                    }
                )
                for delta, reason in (({"content": json.dumps(labels)}, None), ({}, "stop"))
            ]
            text = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))
            self._send("text/event-stream", text)

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
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Judge) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


# -------------------------------------------------------------------- raters


def by_screen(store: Path, seed: int, rater: str, number: int) -> None:
    """Let a simulated rater rate samples by the keys of the real rating screen."""
    from tabwb.administer.rating.session import CONFIRM_S
    from tabwb.workbench.rating.only import RatingApp
    from tabwb.workbench.rating.worker import connection

    async def rate() -> None:
        app = RatingApp(connection(str(store), SET, rater))
        async with app.run_test(size=(160, 48)) as pilot:

            async def read(words: str) -> None:
                while words not in _words_on(app) or "saved" not in _words_on(app):
                    await pilot.pause(0.005)

            for position, (sample, questions) in enumerate(_open_samples(store, rater, number), 1):
                await read(f"sample {position} of")
                for question in questions:
                    if said(seed, sample.text, question.measure, rater, RATERS[rater]):
                        await pilot.press(question.key)
                await pilot.press("enter")
                await read("enter again")
                await pilot.pause(CONFIRM_S)
                await pilot.press("enter")
            await read(f"sample {number + 1} of")

    asyncio.run(rate())


def _words_on(app: App[Any]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def _open_samples(
    store: Path, rater: str, number: int
) -> list[tuple[Sample, tuple[Question, ...]]]:
    """Return the first samples of a rater, with the questions of the form."""
    with Store.open(store) as kept:
        asked = kept.sets.get(SET)
        questions = form_from_canonical(asked.form).questions
        samples = {sample.number: sample for sample in kept.sets.samples(asked.id)}
        places = kept.sets.assignments(asked.id, rater)[:number]
        return [(samples[place.sample], questions) for place in places]


def the_rest(store: Path, seed: int, rater: str) -> int:
    """Let a simulated rater rate every sample that is left; return how many."""
    rated: set[int] = set()
    with Store.open(store) as kept:
        asked = kept.sets.get(SET)
        samples = {sample.number: sample for sample in kept.sets.samples(asked.id)}
        features = [question.measure for question in form_from_canonical(asked.form).questions]
        done = {rating.position for rating in kept.sets.ratings(asked.id, rater)}
        left: list[SampleRating] = []
        for place in kept.sets.assignments(asked.id, rater):
            occasion, text = int(place.sample in rated), samples[place.sample].text
            rated.add(place.sample)
            if place.position not in done:
                answers = {
                    feature: float(said(seed, text, feature, rater, RATERS[rater], occasion))
                    for feature in features
                }
                left.append(
                    SampleRating(rater, place.position, place.sample, place.purpose, answers, True)
                )
        kept.sets.rate_all(asked.id, left)
    return len(left)


def settle(store: Path, seed: int, number: int) -> None:
    """Let somebody who knows the truth settle what raters differ on most."""
    listed = json.loads(tabwb("rate", "disputed", SET, "--json", "--store", str(store)))
    with Store.open(store) as kept:
        asked = kept.sets.get(SET)
        samples = {sample.number: sample for sample in kept.sets.samples(asked.id)}
        for one in listed["disputes"][:number]:
            sample, measure = samples[one["sample"]], one["measure"]
            answer = float(truth(seed, sample.text, measure))
            settled = Adjudication(sample.number, measure, answer, "simulated truth", "expert")
            kept.sets.adjudicate(asked.id, settled)


# -------------------------------------------------------------------- the study


def collect(
    store: Path,
    seed: int,
    *,
    people: int,
    replicates: int,
    model: str = "bundled@threads=1",
    lesions: Sequence[str] = LESIONS,
) -> None:
    """Import texts of people, and give connected text to a model, intact and lesioned.

    Args:
        store: is made.
        seed: of the study.
        people: number of texts of people.
        replicates: texts of each prompt and condition of the model.
        model: its spec.
        lesions: conditions of the model; the empty one is intact.
    """
    with tempfile.TemporaryDirectory() as folder:
        transcripts(Path(folder, "people.jsonl"), people, seed)
        tabwb("import", f"{folder}/people.jsonl", "--judge", "none", "-q", "--store", str(store))
    for lesion in lesions:
        tabwb(
            "run", "tab", "--model", model, *(("--lesion", lesion) if lesion else ()),
            "--subtest", "connected-text", "--replicates", str(replicates), "--temperature", "1",
            "--seed", str(seed), "--judge", "none", "-q", "--store", str(store),
        )  # fmt: skip


def judge(store: Path, seed: int) -> None:
    """Let the simulated judge rate every response, through a real client."""
    keys = {feature.id: feature.key for feature in tab_battery().features}
    with judge_server(seed, keys) as address:
        spec = f"tab-2026:openai:simulated@base_url={address}"
        tabwb("judge", "run", "--all", "--judge", spec, "--scope", "all", "-q",
              "--store", str(store))  # fmt: skip


def plan(store: Path, seed: int) -> None:
    """Plan the set: every sample by three of the five raters, a tenth of each one's again."""
    tabwb(
        "rate", "plan", SET, "--raters", ",".join(RATERS), "--raters-per-sample", "3",
        "--status", ",".join(ResponseStatus), "--repeated", "--case", "lower",
        "--punctuation", "none", "--seed", str(seed), "--store", str(store),
    )  # fmt: skip


def agreement(store: Path, draws: int = 2_000) -> Mapping[str, Any]:
    """Return what the command prints of the set."""
    found: Mapping[str, Any] = json.loads(
        tabwb("agreement", SET, "--draws", str(draws), "--json", "--store", str(store))
    )
    return found


def recovered(found: Mapping[str, Any]) -> Iterator[Recovered]:
    """Yield how each rater's error rates, estimated without a known truth, meet those put in."""
    for rater, errors in (*RATERS.items(), ("judge", JUDGE)):
        for what in ("sensitivity", "specificity"):
            put_in: float = getattr(errors, what)
            rates = [
                one
                for feature in found["error_rates"]
                if PREVALENCE.get(feature["measure"], OTHERWISE)
                for one in feature["raters"]
                if (rater == one["rater"] or (rater == "judge" and ":" in one["rater"]))
                and one[what] is not None
            ]
            inside = sum(
                one[f"{what}_interval"][0] <= put_in <= one[f"{what}_interval"][1] for one in rates
            )
            mean = sum(one[what] for one in rates) / len(rates)
            yield Recovered(rater, what, put_in, mean, inside, len(rates))


def main() -> None:
    """Run the study and print the error rates that went in and came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    store = given.folder / "study.db"
    collect(store, given.seed, people=PEOPLE, replicates=MODELS // (5 * len(LESIONS)))
    judge(store, given.seed)
    plan(store, given.seed)
    by_screen(store, given.seed, "R1", 5)
    for rater in RATERS:
        the_rest(store, given.seed, rater)
    print(tabwb("agreement", SET, "--store", str(store)))
    settle(store, given.seed, 100)
    for one in recovered(agreement(store)):
        print(
            f"{one.rater:6} {one.what}  in {one.put_in:.2f}  out {one.mean:.2f} (mean)  "
            f"in the 95 % interval for {one.inside} of {one.of} features"
        )


if __name__ == "__main__":
    main()

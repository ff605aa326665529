"""A made-up study for the pictures of docs/figures-and-reports.md: models, judges, sessions.

    PYTHONPATH=. .venv/bin/python docs/pictures/study.py STORE.db

Answers and verdicts are drawn at random; no model and no person gave them.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from tabwb.administer.session import setup
from tabwb.cli.main import main as tabwb
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Reply
from tabwb.records.ratings import Declaration, Judged, Judgement, valued
from tabwb.records.states import ResponseKind, StopReason
from tabwb.scoring.rules.passage import FEATURES
from tabwb.store.store import Store

GOOD = "We drove to the {place} with my sister, ate fried fish and came home late on day {n}."
AGAIN = "We saw the dog the dog the dog near the {place} and went home before day {n} was over."
PLACES = ("sea", "lake", "river", "harbour")
FAMILIES = {"aster": 1_240_000_000, "birch": 494_000_000, "cedar": 1_710_000_000, "dahlia": 7e9}
JUDGES = tuple(
    Declaration(f"tab-2026:{name}", FEATURES, prompt_text=f'{{"system": "{name}"}}')
    for name in ("judge-a", "judge-b")
)
CLIP = Path(__file__).parents[2] / "tests" / "data" / "speech" / "dog_d1a4fb3f_0.flac"
SESSIONS = {
    "2026-01-12": "bed=P EH D,bird=B ER T,cat=T AE K,dog=D AO K,house=HH AW Z,tree=T R IY",
    "2026-02-09": "bed=B EH D,bird=B ER T,cat=K AE T,dog=D AO K,house=HH AW S,tree=T W IY",
    "2026-03-09": "bed=B EH D,bird=B ER D,cat=K AE T,dog=D AO G,house=HH AW Z,tree=T R IY",
}
"""What a made-up participant named the six pictures of naming-demo."""


@dataclass(frozen=True)
class Model:
    """A made-up model: how often it answers right, and how often a feature is present."""

    spec: str
    right: float
    load: float
    labels: Mapping[str, str]
    lesion: str | None = None
    seed: int = 1
    replicates: int = 1


def models() -> list[Model]:
    """Eight models of four families, and one with lesions of four amounts and five seeds."""
    found = []
    for at, (family, size) in enumerate(FAMILIES.items()):
        for tuning, more in (("base", -0.2), ("instruct", 0.2)):
            labels = {"family": family, "tuning": tuning, "parameters": str(int(size))}
            spec = f"transformers:made-up/{family}-{tuning}@dtype=float32"
            load = 0.3 - more / 2 - 0.04 * at
            found.append(Model(spec, 0.55 + more + 0.04 * at, load, labels, replicates=3))
    found.append(Model("bundled", 0.9, 0.1, {}))
    for amount in (0.1, 0.2, 0.3, 0.5):
        for seed in range(1, 6):
            lesion = f"mlp.down:zero:{amount}@seed={seed}"
            found.append(Model("bundled", 0.95 - 1.3 * amount, amount * 1.4, {}, lesion, seed))
    return found


def give(store: Store, plugins: Plugins, model: Model, drawn: random.Random) -> None:
    """Give tab to a made-up model, and let the judges judge the models of families."""
    given = Conditions(
        model.spec, "model", model.seed, model.replicates, lesion=model.lesion, labels=model.labels
    )
    given = replace(given, decoding=replace(given.decoding, temperature=1.0, seed=model.seed))
    battery = setup.find_battery(plugins, "tab")
    with setup.create(store, plugins, battery, given) as session:
        session.next()
        while session.awaiting:
            assert session.current is not None
            plan = session.current.plan
            item = battery.subtest(plan.subtest).item(plan.item)
            if item.expected is None:
                text = AGAIN if drawn.random() < model.load else GOOD
                text = text.format(place=drawn.choice(PLACES), n=drawn.randint(1, 999))
            else:
                wrong = drawn.choice(plan.options or ("Yes", "No", "nothing"))
                text = item.expected if drawn.random() < model.right else wrong
            notes = {"seed": str(drawn.getrandbits(31))}
            latency = drawn.lognormvariate(-0.6, 0.5)
            session.record(Reply(text, StopReason.END, latency, metadata=notes))
            session.next()
        number = session.administration.id
        texts = [
            trial
            for trial in session.trials
            if battery.subtest(trial.plan.subtest).response is ResponseKind.CONNECTED_TEXT
        ]
    for judge in JUDGES if model.labels else ():
        judged = []
        for at, trial in enumerate(texts):
            found = random.Random(f"{number} {at}")
            ratings = tuple(
                valued(
                    judge.rater,
                    name,
                    (found.random() < model.load * (0.2 + place % 7 / 5))
                    != (drawn.random() < 0.05),
                )
                for place, name in enumerate(FEATURES)
            )
            key = f"{number:032x}{at:032x}"
            judged.append(
                Judged(trial.plan.number, 1, Judgement(ratings, rater=judge.rater, key=key))
            )
        store.keep_judgements(number, judged, judge)


def sessions(store: Path, folder: Path) -> None:
    """Three sessions of spoken naming, the transcripts typed."""
    for word in ("bed", "bird", "cat", "dog", "house", "tree"):
        (folder / f"{word}.flac").write_bytes(CLIP.read_bytes())
    for date, said in SESSIONS.items():
        typed = folder / "typed.tsv"
        rows = "".join(f"{row.replace('=', chr(9), 1)}\n" for row in said.split(","))
        typed.write_text(f"utterance_id\ttranscript\n{rows}", encoding="utf-8")
        command = ["name", "naming-demo", "--speaker", "S-014", "--quiet", "--store", str(store)]
        command += ["--input", str(folder), "--transcriber", f"manual:{typed}", "--date", date]
        command.append("--again")  # the same clips stand for each session
        with redirect_stdout(io.StringIO()):
            assert tabwb(command) == 0


def make(path: Path) -> None:
    """Write the store."""
    plugins, drawn = Plugins.load(), random.Random(11)
    with Store.open(path) as store:
        for model in models():
            give(store, plugins, model, drawn)
    plugins.close()
    with tempfile.TemporaryDirectory() as folder:
        sessions(path, Path(folder))


if __name__ == "__main__":
    make(Path(sys.argv[1]))

"""The simulated rating study of docs/rating-study.md, with fewer texts."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tabwb.store.store import Store
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

SCRIPT = Path(__file__).parents[1] / "docs" / "rating_study.py"
SEED = 1


@pytest.fixture
def study(run: Run, monkeypatch: pytest.MonkeyPatch) -> ModuleType:  # noqa: F811
    """The script, which runs its commands in this process."""
    spec = importlib.util.spec_from_file_location("rating_study", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "rating_study", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "tabwb", lambda *words: run(*words).out)
    return module


def recorded_model(study: ModuleType, folder: Path, replicates: int) -> str:
    """Return the spec of a model whose texts were made up before."""
    subtest = study.tab_battery().subtest("connected-text")
    study.transcripts(folder / "texts.jsonl", replicates * len(subtest.items), SEED + 1)
    texts = map(json.loads, (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines())
    lines = (
        {"subtest": subtest.id, "item": item.id, "replicate": n, "response": next(texts)["text"]}
        for item in subtest.items
        for n in range(replicates)
    )
    path = folder / "model.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return f"replay:{path}"


@pytest.mark.workbench
def test_error_rates_that_go_in_come_out(study: ModuleType, tmp_path: Path) -> None:
    store, model = tmp_path / "study.db", recorded_model(study, tmp_path, 6)
    study.collect(store, SEED, people=90, replicates=6, model=model, lesions=[""])
    study.judge(store, SEED)
    study.plan(store, SEED)
    study.by_screen(store, SEED, "R1", 2)
    with Store.open(store) as kept:
        first = kept.sets.ratings(1)
    assert [(one.rater, one.position) for one in first] == [("R1", 1), ("R1", 2)]
    left = sum(study.the_rest(store, SEED, rater) for rater in study.RATERS)
    with Store.open(store) as kept:
        assert len(kept.sets.ratings(1)) == left + 2 == len(kept.sets.assignments(1))
        assert kept.sets.ratings(1)[:2] == first
        # What was rated at the screen is what the rater says at any other time.
        texts = {sample.number: sample.text for sample in kept.sets.samples(1)}
        for one in first:
            for feature, answer in one.answers.items():
                errors = study.RATERS["R1"]
                assert answer == study.said(SEED, texts[one.sample], feature, "R1", errors)
    study.settle(store, SEED, 20)
    found = study.agreement(store, 200)
    assert found["n_samples"] == 120 and len(found["features"]) == 19
    rates = list(study.recovered(found))
    inside, of = sum(one.inside for one in rates), sum(one.of for one in rates)
    assert 0.85 * of < inside
    assert all(abs(one.mean - one.put_in) < 0.15 for one in rates)

"""The folder of a trained model: what ``wav2vec2:FOLDER`` reads, its card and its curve."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.phonology.batch import Rate, rate_of, rates_by
from tabwb.records.files import write_private
from tabwb.records.speakers import AQ, NOT_RECORDED
from tabwb.records.words import plural
from tabwb_psst.train.recipe import SOURCES_TOLD
from tabwb_psst.train.sources import LICENCES, Example

if TYPE_CHECKING:
    from tabwb_psst.train.loop import Network
    from tabwb_psst.train.work import Job

DONE = "training.json"
"""Written last: what was done, in plain values."""
BANDS = (*(name for name, _ in AQ.bands), NOT_RECORDED)


def write_result(
    job: Job, network: Network, rounds: Sequence[Mapping[str, Any]], best: int,
    examples: Sequence[Example], notes: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """Write the model, its card and its curve; return what the card says in plain values."""
    from tabwb_psst.train.loop import scored, training_device

    device = training_device()
    network.model.to(device)
    rates: dict[str, list[dict[str, Any]]] = {}
    for split in ("valid", "test"):
        own = [one for one in examples if one.split == split and one.labels is not None]
        if own:
            scores = scored(network, own, device, job.document["micro_s"])[1]
            named = [NOT_RECORDED if one.aq is None else AQ.band(one.aq) for one in own]
            bands = rates_by(scores, named)
            found = [
                rate_of("all", scores),
                *sorted(bands, key=lambda rate: BANDS.index(rate.name)),
            ]
            rates[split] = [_rate(rate) for rate in found]
    network.model.to("cpu")
    network.save(job.out)
    curve = job.round(best) / "curve.csv"
    shutil.copyfile(curve, job.out / "curve.csv")
    _figure(curve, job.out / "curve.svg")
    result = {
        **{key: job.document[key] for key in ("scale", "seed", "threads", "processes", "base",
                                              "base_sha256", "data", "hours")},
        "notes": [*job.document["notes"], *notes],
        "recipe": job.document["recipe"], "sources": job.document["sources"],
        "parameters": network.model.num_parameters(), "updates": job.recipe.schedule.updates,
        "best_update": rounds[best]["update"],
        "rounds": list(rounds), "rates": rates, "folder": str(job.out),
        "versions": {name: version(name) for name in ("tabwb", "torch", "transformers")},
    }  # fmt: skip
    (job.out / "README.md").write_text("\n".join(_card(job, result)) + "\n", "utf-8")
    write_private(job.out / DONE, json.dumps(result, indent=1), mode=0o644)
    return result


def _rate(rate: Rate) -> dict[str, Any]:
    return {"group": rate.name, "utterances": rate.utterances, "phonemes": rate.per_length,
            "per": rate.per, "fer": rate.fer}  # fmt: skip


def _card(job: Job, result: Mapping[str, Any]) -> Iterator[str]:
    recipe, plan = job.recipe, job.recipe.schedule
    yield f"# {recipe.title}, trained again"
    yield ""
    yield (
        f"A CTC model of speech to phonemes, trained by tabwb's recipe `{recipe.id}` "
        f"({recipe.paper}). Use it as `wav2vec2:{job.out.name}`; its transcripts are drafts until "
        "a trained listener has heard the recording."
    )
    yield ""
    scale = job.document["scale"]
    yield (
        f"- Encoder: folder `{Path(result['base']).name}`, {result['parameters'] / 1e6:.1f} "
        f"million parameters, weights SHA-256 `{result['base_sha256']}`. The recipe's is "
        f"{recipe.encoder.name} of {recipe.encoder.parameters / 1e6:.0f} million."
    )
    yield (
        f"- Schedule: {plan.updates} updates, the first {plan.frozen} of the output layer alone; "
        f"learning rate {plan.learning_rate:g}"
        + (f" (recipe scaled by {scale:g})." if scale != 1 else ".")
    )
    versions = ", ".join(f"{name} {one}" for name, one in result["versions"].items())
    yield f"- Best on validation after {plural(result['best_update'], 'update')}."
    yield f"- Seed {result['seed']}. {versions}."
    yield ""
    yield "## Data"
    yield ""
    for name, hours in result["hours"].items():
        yield f"- {name}: {hours:.3g} h"
    for one in result["rounds"][1:]:
        yield (f"- pseudo-labels of round {one['round']}: {one['pseudo_hours']:.3g} h, "
               f"PER on validation {_percent(one['per'])}")  # fmt: skip
    for note in result["notes"]:
        yield f"- {note}"
    for source in dict.fromkeys(one.source for one in job.examples):
        yield f"- Licence of {source}: {LICENCES[source]}."
    yield ""
    yield "The model is derived from these data: their licences say who may have it."
    yield ""
    for split, rows in result["rates"].items():
        yield f"## Phoneme and feature error rates, {split}"
        yield ""
        yield "| severity (AQ) | utterances | phonemes | PER | FER |"
        yield "|---|---|---|---|---|"
        for row in rows:
            yield (f"| {row['group']} | {row['utterances']} | {row['phonemes']} | "
                   f"{_percent(row['per'])} | {_percent(row['fer'])} |")  # fmt: skip
        yield ""
    if published := recipe.published:
        yield (
            f"Published for the test split of PSST: FER {published.fer:g} %, PER "
            f"{published.per:g} %. With the recipe's data and encoder, unscaled, "
            f"{published.per - published.band:g} to {published.per + published.band:g} % PER are "
            "expected. Here the best label of every frame is taken, there a beam: "
            f"`wav2vec2:FOLDER@beam={recipe.decoding.beam}`."
        )
        yield ""
    yield "## The recipe"
    yield ""
    yield f"{SOURCES_TOLD}. Before scaling."
    yield ""
    yield "| value | | source |"
    yield "|---|---|---|"
    original = recipe.model_copy(update={"schedule": recipe.schedule.model_validate(
        job.document["recipe"]["schedule"])})  # fmt: skip
    for fact in original.facts():
        yield f"| {' | '.join(fact)} |"


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:.1f} %"


def _figure(curve: Path, out: Path) -> None:
    """Draw loss and PER over updates, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    from tabwb_psst.train.loop import read_curve

    rows = read_curve(curve)
    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.add_subplot(xlabel="update", ylabel="CTC loss of a sentence")
    left.semilogy([row["update"] for row in rows], [row["loss"] for row in rows], "-", color="C0",
                  label="training", linewidth=0.8)  # fmt: skip
    heard = [row for row in rows if "valid_loss" in row]
    places = [row["update"] for row in heard]
    left.semilogy(places, [row["valid_loss"] for row in heard], "s--", color="C1",
                  label="validation", markersize=3)  # fmt: skip
    right = left.twinx()
    right.plot(places, [100 * row.get("per", float("nan")) for row in heard], "o-", color="C2",
               label="PER", markersize=3)  # fmt: skip
    right.set(ylabel="PER on validation, %", ylim=(0, None))
    figure.legend(loc="outside upper center", ncols=3)
    figure.savefig(out)

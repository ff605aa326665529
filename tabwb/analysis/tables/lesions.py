"""Tables of lesions: the parts of a model, what a lesion changes, the conditions of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from tabwb.administer.sweep.sweep import Point
from tabwb.analysis.tables.declared import number, text, texts, truth, whole
from tabwb.lesion.declared import MEASURES, TARGETS, Part
from tabwb.lesion.spec import Lesion
from tabwb.lesion.taken import Planned, change_text, kept
from tabwb.records.steps import Step, alike
from tabwb.records.trials import Administration
from tabwb.tables.table import Table, records_table


class Condition(NamedTuple):
    """One condition of a sweep, and the administration under it."""

    point: Point
    administration: Administration | None

    @property
    def status(self) -> str:
        """The status of the administration; empty where there is none."""
        return "" if self.administration is None else self.administration.status.value


def localizer_facts(found: Iterable[Lesion]) -> dict[str, Any] | None:
    """Return the contrast by which the localizer selects units, where a lesion comes of it."""
    targets = dict.fromkeys(one.target for one in found if one.source == "localizer")
    if not targets:
        return None
    from tabwb.lesion.localizer import shipped_items

    items = shipped_items()
    return {
        "name": items.name,
        "first": items.first.label,
        "n_first": len(items.first.texts),
        "second": items.second.label,
        "n_second": len(items.second.texts),
        "measures": [{"target": target, "meaning": MEASURES[target]} for target in targets],
    }


def parts_table(parts: Sequence[Part]) -> Table:
    """Return one row for each part of a model that can be lesioned."""
    return records_table("lesion-parts", PARTS, parts)


def plan_table(plan: Sequence[Planned], spec: str, whole: int) -> Table:
    """Return one row for each part that a lesion changes."""
    taken = sum(one.parameters for one in plan)
    changes = change_text(taken, whole)
    notes = (f"{spec} {changes}; {kept(plan):,} bytes are kept to restore them",)
    return records_table("lesion-plan", PLAN, plan, notes)


def sweep_table(name: str, conditions: Sequence[Condition]) -> Table:
    """Return one row for each condition of a sweep."""
    notes = (f"sweep '{name}': its administrations have this tag",)
    return records_table("lesion-sweep", SWEEP, conditions, notes)


def dial_table(
    steps: Sequence[Step], titles: Mapping[str, str], notes: Sequence[str] = ()
) -> Table:
    """Return one row for each answer of a dial, of a model or of a person.

    Args:
        steps: intact first, or sessions.
        titles: of the features, by their ids; each that was rated in some answer is a column.
        notes: below the table.
    """
    rated = [
        name for name in titles
        if any(step.features.get(name) is not None for step in steps)
    ]  # fmt: skip
    features = [
        truth(name, titles[name], f"whether this is found: {titles[name].lower()}; missing: "
              "undefined", partial(_feature, name))
        for name in rated
    ]  # fmt: skip
    seeds = (
        whole("seeds", "Seeds", "number of seeds with an answer to this role and amount that has a "
              "value for some feature", lambda step: alike(step, steps)[1] or None),
        whole("alike", "Alike", "number of these with the same set of present features",
              lambda step: alike(step, steps)[0] or None),
    )  # fmt: skip
    if any(step.session for step in steps):
        return records_table("session-dial", (*SESSION, *SAID, *features), steps, notes)
    return records_table("lesion-dial", (*DIAL, *SAID, PRESENT, *seeds, *features), steps, notes)


def _feature(name: str, step: Step) -> bool | None:
    return step.features.get(name)


PARTS = (
    text("part", "Part", "its name; the draws of a lesion depend on it", "name"),
    text("target", "Target", "as specs name it"),
    whole("layer", "Layer", "from 0; missing where the part is in no layer"),
    text("unit", "Unit", "what an amount counts: weight, head, neuron, expert or layer",
         lambda part: TARGETS[part.target].unit),
    whole("units", "Units", "number of units"),
    whole("parameters", "Parameters", "number of parameters"),
    texts("tensors", "Tensors", "names of the model's tensors in which they are",
          lambda part: tuple(part.tensors)),
    whole("bytes", "Bytes", "of these tensors", lambda part: sum(part.tensors.values())),
)  # fmt: skip
PLAN = (
    text("lesion", "Lesion", "the spec of one lesion", lambda one: str(one.lesion)),
    text("part", "Part", "that it changes", "part.name"),
    whole("layer", "Layer", "from 0; missing where the part is in no layer", "part.layer"),
    whole("taken_units", "Units taken", "number of units that are changed", "units"),
    whole("units", "Units", "number of units of the part", "part.units"),
    whole("taken_parameters", "Parameters taken", "number of parameters that are changed",
          "parameters"),
    whole("parameters", "Parameters", "number of parameters of the part", "part.parameters"),
    texts("tensors", "Tensors", "names of the model's tensors in which they are",
          lambda one: tuple(one.part.tensors)),
)  # fmt: skip
SWEEP = (
    text("role", "Role", "intact, lesion, control, layer control (in the same layers), or "
         "perturbation: another one without a lesion",
         "point.role"),
    text("lesion", "Lesion", "the spec; missing of the intact model", "point.lesion"),
    text("setting", "Setting", "what else differs from the sweep's conditions, in words",
         "point.setting"),
    text("matches", "Matches", "of a control, the first lesion with as many parameters",
         "point.matches"),
    whole("administration", "Administration", "its number in the store",
          lambda one: one.administration and one.administration.id),
    text("status", "Status", "of the administration"),
)  # fmt: skip
DIAL = (
    number("amount", "Amount", "of the lesion, or of that whose size the control has; 0: intact",
           digits=3),
    text("role", "Role", "intact, lesion, or control: as many weights anywhere in the model"),
    whole("seed", "Seed", "of the choice of units"),
    text("lesion", "Lesion", "the spec; missing of the intact model"),
)  # fmt: skip
SESSION = (
    text("item", "Item", "SUBTEST/ITEM", "session.item"),
    whole("session", "Session", "from 1, in order of day and number",
          lambda step: int(step.amount)),
    whole("day", "Day", "days since the first session", "session.day"),
    whole("administration", "Administration", "its number in the store", "session.administration"),
    text("target", "Target", "the name of the picture", "session.target"),
    text("compared", "Compared with", "the target as words or phonemes, or the answer of the first "
         "session", "session.compared"),
    text("source", "Source", "of what was called a picture: heard, or a transcript",
         "session.source"),
)  # fmt: skip
SAID = (
    text("answer", "Answer", "what is said; phonemes in IPA with spaces between"),
    text("status", "Status", "of the text; features of an unusable one are undefined"),
    whole("words", "Words", "number of words, or of phonemes"),
    whole("new", "New", "number of words that the intact model does not say at their place; of a "
          "person, that are not in what the answer is compared with",
          lambda step: len(step.new_words)),
    texts("new_words", "New words", "these words"),
)  # fmt: skip
PRESENT = texts("present", "Features", "that the rules judge finds")

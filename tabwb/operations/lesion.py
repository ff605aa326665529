"""``lesion targets``, ``plan``, ``localize``, ``repeat``: parts of a model, what a lesion does."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from tabwb.lesion.declared import MEASURES
from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools
from tabwb.operations.run import BATCH_SIZE, TOGETHER
from tabwb.operations.sweep import MODEL
from tabwb.records.errors import TabwbError
from tabwb.records.words import plural, size_text

if TYPE_CHECKING:
    from rich.tree import Tree

    from tabwb.lesion.declared import Part
    from tabwb.lesion.localizer import Localized
    from tabwb.plugin_api.components import LesionableBackend


@dataclass(frozen=True, kw_only=True)
class LesionTargets(Operation):
    """Show the parts of a model that can be lesioned, as a tree with sizes."""

    NAME, TITLE, STORE, WRITES = "lesion targets", "Targets", False, False
    model: Annotated[str, MODEL]

    def do(self, tools: Tools) -> None:
        """Load the model and list its parts."""
        with _loaded(tools, self.model) as (backend, _):
            parts = tools.result = backend.parts()
        tools.document |= {"model": self.model, "parts": list(map(_part_document, parts))}

    def lines(self, document: Mapping[str, Any]) -> Iterator[Tree]:
        """Yield the parts under their layers; what is in no layer comes first."""
        from rich.text import Text
        from rich.tree import Tree

        from tabwb.lesion.declared import TARGETS

        tree = Tree(Text(document["model"]))
        layers: dict[int | None, Tree] = {None: tree}
        parts = document["parts"]
        for part in sorted(parts, key=lambda one: -1 if one["layer"] is None else one["layer"]):
            layer, target = part["layer"], part["target"]
            if layer not in layers:
                layers[layer] = tree.add(Text(f"layer {layer}"))
            unit = TARGETS[target].unit
            units = "" if unit == "weight" else f"{plural(part['units'], unit)}, "
            layers[layer].add(Text(f"{target}  {units}{part['parameters']:,} parameters"))
        yield tree


@dataclass(frozen=True, kw_only=True)
class PlanLesion(Operation):
    """Show which tensors LESION would change in a model, and which share of its parameters."""

    NAME, TITLE, STORE, WRITES = "lesion plan", "Plan", False, False
    lesion: Annotated[str, Arg("TARGET:OPERATION[:AMOUNT][@key=value,...].", positional=True)]
    model: Annotated[str, MODEL]

    def do(self, tools: Tools) -> None:
        """Load the model and find what the lesion would take."""
        from tabwb.lesion.localizer import localizer_scores
        from tabwb.lesion.spec import lesion_text, stored_form
        from tabwb.lesion.taken import kept, planned, whole

        lesions = stored_form(self.lesion)
        with _loaded(tools, self.model) as (backend, facts):
            parts = backend.parts()
            scores = localizer_scores(backend, parts, lesions, self.model)
            found = planned(lesions, parts, self.model, scores)
        tools.result, of = found, whole(parts, facts)
        tools.document |= {
            "model": self.model,
            "lesion": lesion_text(lesions),
            "parameters": sum(one.parameters for one in found),
            "of_parameters": of,
            "kept_bytes": kept(found),
            "parts": [
                {
                    "lesion": str(one.lesion),
                    **_part_document(one.part),
                    "taken_units": one.units,
                    "taken_parameters": one.parameters,
                }
                for one in found
            ],
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield a table of the parts, the share of the parameters, and what is kept."""
        from tabwb.lesion.taken import change_text
        from tabwb.media.terminal import table

        view = table("units", "of", "parameters", first=("part", "tensors"), fold=True)
        for one in document["parts"]:
            units = f"{one['taken_units']:,}", f"{one['units']:,}", f"{one['taken_parameters']:,}"
            view.add_row(one["part"], "\n".join(one["tensors"]), *units)
        yield view
        change = change_text(document["parameters"], document["of_parameters"])
        yield f"{document['lesion']} in {document['model']} {change}"
        yield f"kept to restore them: {size_text(document['kept_bytes'])}"


@dataclass(frozen=True, kw_only=True)
class LocalizeUnits(Operation):
    """Write a list of the units that respond more to sentences than to lists of nonwords.

    For each unit Welch's t of its responses to both is computed. The list is lesioned with:
    --lesion mlp.neurons:zero@select=list,file=FILE. The agreement of two halves of the items is
    printed.
    """

    NAME, TITLE, DOING, TOLD = "lesion localize", "Localize", "Localizing", "text"
    STORE: ClassVar[bool] = False
    model: Annotated[str, MODEL]
    out: Annotated[
        str, Arg("The JSON file of the list, for select=list,file=FILE.", metavar="PATH")
    ]
    target: Annotated[str, Arg("Which units are measured.", choices=tuple(MEASURES))] = (
        "mlp.neurons"
    )
    share: Annotated[
        float,
        Arg("The share of all units that the list gets: those with the largest t.",
            low=0, above=True, high=1),
    ] = 0.01  # fmt: skip
    items: Annotated[
        str | None,
        Arg("A TOML file with two conditions in place of sentences and nonwords.", metavar="PATH"),
    ] = None
    tokens: Annotated[
        Literal["mean", "last"],
        Arg("The response to a text: the mean over its tokens, or that at the last one."),
    ] = "mean"
    force: Annotated[bool, Arg("Overwrite existing files.")] = False

    @property
    def about(self) -> str:
        """The units of the model."""
        return f"{self.target} of {self.model}"

    def run(self, tools: Tools) -> Progress:
        """Ask the model for its responses to all texts, and write the list."""
        from tabwb.host.writing import write_bytes
        from tabwb.lesion.localizer import list_document, localizing, read_items, shipped_items
        from tabwb.media.destination import check_destination
        from tabwb.plugin_api.components import ActivationBackend

        out, plugins = Path(self.out), tools.plugins
        check_destination(out, force=self.force, remedy="choose another name, or use --force")
        items = shipped_items() if self.items is None else read_items(Path(self.items))
        count = len(items.first.texts) + len(items.second.texts)
        with closing(plugins.open_model(self.model)) as backend:
            if not isinstance(backend, ActivationBackend):
                raise plugins.no_activations(self.model)
            yield Told(f"loading {self.model}")
            facts, parts = backend.open(), backend.parts()
            yield Told("", 0, count)
            work = localizing(
                backend.activations, parts, self.target, items, tools.cancel, self.tokens
            )
            found = yield from _counted(work, count)
        spec = {"spec": self.model, **facts}
        document = list_document(found, self.share, spec, items, self.tokens)
        place = check_destination(out, force=self.force)
        write_bytes(place, (json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
        tools.document |= {**document, "file": self.out}

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield what was found: units of each part, and how the halves of the items agree."""
        from tabwb.lesion.spec import escaped
        from tabwb.media.terminal import table

        view = table("units", "t", "d", first="part")
        for name, numbers in document["units"].items():
            t, d = document["t"][name], document["d"][name]
            view.add_row(name, f"{len(numbers):,}", _range(t), _range(d))
        yield view
        yield (
            f"{document['contrast']}: {document['taken']:,} of {document['of']:,} units, "
            f"{document['positive']:,} with t above 0, {document['undefined']:,} with t undefined"
        )
        half = document["split_half"]
        yield (
            f"odd against even items: Dice {_number(half['dice'])} "
            f"(by chance {_number(half['dice_by_chance'])}, "
            f"in these layers {_number(half['dice_by_chance_in_these_layers'])}), "
            f"r of t {_number(half['correlation'])} "
            f"(of all items {_number(half['correlation_of_whole'])})"
            + (f"; {half['reason']}" if half["reason"] else "")
        )
        file = escaped(document["file"])
        yield f"written; as a lesion: {document['target']}:zero@select=list,file={file}"


@dataclass(frozen=True, kw_only=True)
class RepeatCondition(Operation):
    """Give the condition of ADMINISTRATION again, and compare the answers; nothing is stored.

    The stored lesion is applied to the model, each item is asked with the seed that it had, and
    the differences are shown: answers, and the model facts and versions that may cause them.

    Exit status: 0 the answers are the same; 1 some are not.
    """

    NAME, TITLE, DOING, WRITES = "lesion repeat", "Repeat", "Repeating", False
    administration: Annotated[
        int | str, Arg("Number or uid of the administration.", positional=True)
    ]
    model: Annotated[
        str | None,
        Arg("Another model, for example in another precision; default: the stored one.",
            metavar="SPEC"),
    ] = None  # fmt: skip
    batch_size: Annotated[int, BATCH_SIZE] = TOGETHER

    def run(self, tools: Tools) -> Progress:
        """Ask everything again and compare."""
        from tabwb.administer.session.drive import repeat

        store = tools.store
        given = store.administration(self.administration)
        yield Told(f"giving administration {given.id} again")
        yield Told("", 0, 1)
        found = repeat(
            store, tools.plugins, given, tools.cancel, model=self.model, together=self.batch_size
        )
        different = len(found.different)
        tools.document |= {
            "administration": given.id,
            "lesion": given.conditions.lesion,
            "answers": found.answers,
            "same": found.answers - different,
            "different": list(map(asdict, found.different)),
            "facts": list(map(asdict, found.facts)),
        }
        if different:
            raise TabwbError(
                f"{different} of {found.answers} answers differ",
                hint="answers are reproducible only in float32 with equal weights and versions"
                if found.facts
                else "in bfloat16 and on accelerators answers also depend on the batch",
            )

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield how many answers are the same, and what differs."""
        from tabwb.media.terminal import table

        yield f"{document['same']} of {document['answers']} answers are the same"
        for what, differences in (("item", document["different"]), ("fact", document["facts"])):
            if differences:
                view = table(first=(what, "stored", "now"), fold=True)
                for one in differences:
                    view.add_row(one["what"], one["stored"], one["now"])
                yield view
        if not document["facts"]:
            yield "model, lesion and versions are those that are stored"


@contextmanager
def _loaded(tools: Tools, model: str) -> Iterator[tuple[LesionableBackend, Mapping[str, str]]]:
    """Yield a model that can be lesioned, loaded, and its facts."""
    from tabwb.administer.sweep.sweep import Model

    loaded = Model.loaded(tools.plugins, model, tools.cancel)
    with closing(loaded.backend):
        yield loaded.lesionable(), loaded.facts


def _counted(work: Generator[int, None, Localized], count: int) -> Generator[Told, None, Localized]:
    while True:
        try:
            done = next(work)
        except StopIteration as ended:
            found: Localized = ended.value
            return found
        yield Told("", done, count, timed=done)


def _part_document(part: Part) -> dict[str, object]:
    return {
        "part": part.name,
        "target": part.target,
        "layer": part.layer,
        "units": part.units,
        "parameters": part.parameters,
        "tensors": dict(part.tensors),
    }


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"

"""The dial: one prompt at each step of a lesion's amount."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.lesion.declared import TARGETS
from tabwb.lesion.spec import parse_numbers
from tabwb.operations.operation import Arg, Operation, Progress, Told, Tools
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.words import plural, separated

if TYPE_CHECKING:
    from tabwb.administer.sweep.dial import Step
    from tabwb.host.plugins import Plugins


@dataclass(frozen=True, kw_only=True)
class DialLesion(Operation):
    """Ask one prompt of MODEL, intact and at each step of a lesion's amount.

    Each amount has a control: as many weights, drawn from all projections of the model. The table
    has each answer, the words in it that the intact model does not say, and the features that the
    rules judge finds. --out writes a page with a slider, which needs no network.

    Nothing is stored without --keep, which stores the answers as the conditions of a sweep with
    the tag 'dial'.
    """

    NAME, TITLE, DOING, TOLD = "lesion dial", "Dial", "Dial", "answer"
    TABLES: ClassVar[bool] = True
    model: Annotated[str, Arg("The model, for example bundled.", "Model", metavar="SPEC",
                              positional=True, kind="models")]  # fmt: skip
    target: Annotated[str, Arg("What is lesioned.", "Target", choices=tuple(TARGETS))] = "mlp"
    amounts: Annotated[
        str,
        Arg("Shares of units that are taken, above 0 to 1.", "Amounts", metavar="A,B",
            names=True, usual="0.01 to 0.2 in steps of 0.01", blank="0.01 to 0.2 in steps of 0.01"),
    ] = ""  # fmt: skip
    seeds: Annotated[
        str, Arg("Seeds of the choice of units: 1-5, or 1,4,7.", "Seeds", names=True)
    ] = "1"
    layers: Annotated[
        str, Arg("In which layers: 0-3,-1; negative numbers count from the end.", "Layers")
    ] = "all"
    battery: Annotated[
        str, Arg("An id, such as tab, or the path of a battery file.", "Battery")
    ] = "tab"
    item: Annotated[
        str,
        Arg("The item that is asked, SUBTEST/ITEM; default: the first one of connected text.",
            "Item", blank="the first one of connected text"),
    ] = ""  # fmt: skip
    prompt: Annotated[
        str, Arg("Ask this in place of the item's prompt.", "Prompt", blank="that of the item")
    ] = ""
    out: Annotated[
        Path | None,
        Arg("Also write one HTML file with a slider.", "File", metavar="FILE.html", kind="new"),
    ] = None  # fmt: skip
    force: Annotated[bool, Arg("Overwrite the file.", "Overwrite")] = False
    keep: Annotated[
        bool, Arg("Store the answers as the conditions of a sweep, with the tag 'dial'.", "Keep")
    ] = False

    @property
    def about(self) -> str:
        """Model and target."""
        return f"{self.model} · {self.target}"

    @property
    def writes(self) -> bool:
        """Whether the answers are stored."""
        return self.keep

    @property
    def creates(self) -> bool:
        """A store is made where there is none."""
        return self.keep

    def check(self, plugins: Plugins) -> None:
        """Refuse a file that cannot be written."""
        from tabwb.media.destination import check_destination

        self._shares()
        parse_numbers(self.seeds, "seeds", "the dial")
        if self.out is not None:
            if self.out.suffix.lower() not in {".html", ".htm"}:
                raise UsageError("this is not the name of a page", where="out", allowed="FILE.html")
            check_destination(self.out, force=self.force)

    def run(self, tools: Tools) -> Progress:
        """Ask, and write the page."""
        from tabwb.administer.session.setup import find_battery
        from tabwb.administer.sweep.dial import AMOUNTS, Dial
        from tabwb.administer.sweep.sweep import Model
        from tabwb.analysis.tables.lesions import dial_table
        from tabwb.store.store import Store

        battery = find_battery(tools.plugins, self.battery)
        yield Told(f"loading {self.model}")
        model = Model.loaded(tools.plugins, self.model, tools.cancel)
        steps: list[Step] = []
        with closing(model.backend), tempfile.TemporaryDirectory() as folder:
            dial = Dial(tools.plugins, model, battery, self.item, self.prompt)
            seeds = parse_numbers(self.seeds, "seeds", "the dial")
            sweep = dial.sweep(self.target, self._shares() or AMOUNTS, seeds, self.layers)
            aside = partial(Store.open, Path(folder) / "dial.db")
            yield Told("", 0, len(sweep.points))
            for step in dial.steps(sweep, tools.opened if self.keep else aside, tools.cancel):
                steps.append(step)
                yield Told(step.lesion, len(steps), len(sweep.points), timed=len(steps))
        if tools.cancel.is_set():
            raise Interrupted(f"stopped after {plural(len(steps), 'answer')}")
        titles = {one.id: one.title for one in dial.battery.features}
        table = tools.result = dial_table(steps, titles, (dial.prompt,))
        tools.tables.append((table, f"{self.model}, {self.target}: one prompt by amount"))
        tools.document |= {
            "model": self.model, "target": self.target, "layers": self.layers,
            "battery": dial.battery.id, "item": dial.item, "prompt": dial.prompt,
            "answers": len(steps), "stored": self.keep,
            "failed": sum(step.status == "error" for step in steps),
            "out": None if self.out is None else str(self.out),
        }  # fmt: skip
        if self.out is not None:
            from tabwb.host.writing import write_bytes
            from tabwb.media.destination import check_destination
            from tabwb.media.documents.dial_page import dial_page

            place = check_destination(self.out, force=self.force)
            page = dial_page(table, titles, self.model, self.target, self.layers, dial.prompt)
            write_bytes(place, page.encode())

    def _shares(self) -> tuple[float, ...]:
        """Return the amounts in order; none: the usual ones."""
        try:
            found = sorted({float(one) for one in separated(self.amounts)})
        except ValueError:
            found = [0.0]
        if found and not 0 < found[0] <= found[-1] <= 1:
            raise UsageError(
                f"'{self.amounts}' cannot be used", where="amounts", allowed="0.05,0.1,0.2"
            )
        return tuple(found)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the prompt, and what was written."""
        yield document["prompt"]
        if document["out"]:
            yield f"written: {document['out']}"
        if not document["stored"]:
            yield "nothing is stored; --keep stores the answers"

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many conditions were not answered."""
        if document["failed"]:
            yield f"{plural(document['failed'], 'condition')} without an answer"

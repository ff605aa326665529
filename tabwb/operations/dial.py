"""The dial: one prompt at each step of a lesion's amount, or at each session of a person."""

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
from tabwb.operations.files import (
    FORCE,
    PRIMARY,
    STUDY_IDS,
    WITHIN_STUDY,
    ask_to_log,
    destination,
    tell_written,
)
from tabwb.operations.operation import WHERE, Arg, Operation, Progress, Told, Tools
from tabwb.operations.speaker import SPEAKER
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.words import plural, separated

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.records.steps import Step

PAGE = Arg("Also write one HTML file with a slider.", "File", metavar="FILE.html", kind="new",
           blank="no file")  # fmt: skip


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
    out: Annotated[Path | None, PAGE] = None
    force: Annotated[bool, FORCE] = False
    keep: Annotated[
        bool,
        Arg(
            "Store the answers as the conditions of a sweep, with the tag 'dial'.",
            "Answers",
            words=("not stored", "stored, tag dial"),
        ),
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
        self._shares()
        parse_numbers(self.seeds, "seeds", "the dial")
        _check_page(self.out, force=self.force)

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
            from tabwb.media.documents.dial_page import dial_page, lesion_facts

            place = check_destination(self.out, force=self.force)
            page = dial_page(
                table, titles, lesion_facts(self.model, self.target, self.layers, dial.prompt)
            )
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


@dataclass(frozen=True, kw_only=True)
class DialSessions(Operation):
    """Show what the speaker ID said to each item at each session with one battery.

    Names of pictures are compared with the target, other answers with the first session; the table
    has what differs, what counts as right, the rules' verdicts, and features that the rules judge
    found. --out writes a page with the sessions on a slider, which needs no network and has no
    sound, no picture and no date.

    Nothing is diagnosed.
    """

    NAME, TITLE, DOING, TOLD = "speaker dial", "Show", "Sessions", "answer"
    TABLES: ClassVar[bool] = True
    LOGS: ClassVar[bool] = True
    speaker: Annotated[str, SPEAKER]
    battery: Annotated[
        str, Arg("The battery, if there are sessions of several.", "Battery", metavar="ID",
                 blank="the one of all sessions", short=True),
    ] = ""  # fmt: skip
    item: Annotated[
        str, Arg("Only this item, SUBTEST/ITEM.", "Item", blank="all items", short=True)
    ] = ""
    sessions: Annotated[
        str,
        Arg("Only these sessions: numbers of administrations, or days.", "Sessions",
            metavar="N,N", names=True, blank="all sessions", short=True),
    ] = ""  # fmt: skip
    where: Annotated[tuple[str, ...], WHERE] = ()
    out: Annotated[Path | None, PAGE] = None
    force: Annotated[bool, FORCE] = False
    study_ids: Annotated[bool, STUDY_IDS] = False
    within_study: Annotated[bool, WITHIN_STUDY] = False
    primary: Annotated[str, PRIMARY] = ""

    @property
    def about(self) -> str:
        """Who spoke."""
        return self.speaker

    def check(self, plugins: Plugins) -> None:
        """Refuse a file that cannot be written."""
        _check_page(self.out, force=self.force)

    def do(self, tools: Tools) -> None:
        """Read the sessions, and write the page."""
        from tabwb.analysis.change import members_of
        from tabwb.analysis.sessions import COMPARED, session_steps, titles_of
        from tabwb.analysis.tables.lesions import dial_table

        counting = tools.plugins.configuration.study.counting_rater(self.primary)
        members = members_of(
            tools.store, self.speaker, self.battery or None, sessions=self.sessions or None,
            where=self.where, primary=counting,
        )  # fmt: skip
        battery, numbers = members[0].battery, [one.administration.id for one in members]
        steps = {
            (one.session.item, one.amount): one
            for one in session_steps(tools.store, members) if one.session is not None
        }  # fmt: skip
        known = dict.fromkeys(item for item, _ in steps)
        if self.item and self.item not in known:
            raise UsageError(f"there is no item '{self.item}'", where="item",
                             allowed=", ".join(known))  # fmt: skip
        chosen = [one for (item, _), one in steps.items() if self.item in {"", item}]
        tools.chosen, titles = numbers, titles_of(battery)
        table = dial_table(chosen, titles, (COMPARED,))
        tools.tables.append((table, f"{self.speaker}, {battery.id}: what was said, by session"))
        tools.document |= {
            "speaker": self.speaker, "battery": battery.id, "administrations": numbers,
            "out": None if self.out is None else str(self.out),
        }  # fmt: skip
        if self.out is None:
            return
        from tabwb.administer.consent import check_export, logged
        from tabwb.host.writing import write_bytes
        from tabwb.media.documents.dial_page import dial_page, session_facts

        place = destination(tools, self.out, force=self.force, stdout=False)
        given = [one.administration for one in members]
        ask_to_log(tools, numbers, "a page of sessions")
        permit = check_export(
            tools.store, tools.plugins, given, "page of sessions", place,
            within_study=self.within_study,
        )  # fmt: skip
        who = self.speaker if self.study_ids else "a participant"
        with logged(tools.store, permit.acts):
            write_bytes(place, dial_page(table, titles, session_facts(who, battery)).encode())
        if permit.notice:
            tools.warn(permit.notice)
        tell_written(tools, place)


def _check_page(out: Path | None, *, force: bool) -> None:
    """Refuse a page that cannot be written."""
    from tabwb.media.destination import check_destination

    if out is not None:
        if out.suffix.lower() not in {".html", ".htm"}:
            raise UsageError("this is not the name of a page", where="out", allowed="FILE.html")
        check_destination(out, force=force)

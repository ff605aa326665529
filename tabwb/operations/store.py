"""The store: what is in it, a backup, whether it is whole, merging another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import Arg, Operation, Progress, Tools
from tabwb.records.errors import UsageError
from tabwb.records.words import size_text

if TYPE_CHECKING:
    from tabwb.store.store import Store

SHOWN = 20
"""Conflicts that are printed; ``--json`` has all."""


@dataclass(frozen=True, kw_only=True)
class StoreInfo(Operation):
    """Show the path, size and content of the store."""

    NAME, TITLE = "store info", "Show"
    WRITES: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Count what is there."""
        from tabwb.store import maintenance

        tools.document["store"] = asdict(maintenance.info(tools.store))

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each fact."""
        content = document["store"]
        rows = {
            "store": content["location"],
            "kind": content["kind"],
            "size": size_text(content["size"]),
            "files of batteries": size_text(content["blobs_size"]),
            "schema": content["schema"],
            **{name: f"{count:,}" for name, count in content["counts"].items()},
        }
        width = max(map(len, rows))
        for name, text in rows.items():
            yield f"{name:<{width}}  {text}"


@dataclass(frozen=True, kw_only=True)
class BackupStore(Operation):
    """Copy the store to OUT and check the copy.

    The store may be in use. OUT is a new file. Files of batteries are copied beside it.
    """

    NAME, TITLE = "store backup", "Back up"
    WRITES: ClassVar[bool] = False
    out: Annotated[Path, Arg("A new file.", metavar="OUT", positional=True)]

    def do(self, tools: Tools) -> None:
        """Copy it; what is half written when it is stopped is removed."""
        from tabwb.store import maintenance

        maintenance.backup(tools.store, self.out)
        out = str(self.out.absolute())
        tools.document["backup"] = {"store": tools.store.location, "out": out}

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield that it is done."""
        made = document["backup"]
        yield f"{made['store']} is copied to {made['out']}; the copy was checked"


@dataclass(frozen=True, kw_only=True)
class CheckStore(Operation):
    """Check the store for damage. Exit status 1 if there is any.

    Files beside the store that no row names, which a killed process left, are removed; nothing else
    is changed.
    """

    NAME, TITLE = "store check", "Check"
    STORE: ClassVar[bool] = False  # one that is damaged cannot be opened
    store: Annotated[
        str | None,
        Arg("Where results are kept (default: your data folder).", metavar="PATH|URL"),
    ] = None

    def do(self, tools: Tools) -> None:
        """Check it."""
        from tabwb.store import maintenance
        from tabwb.store.location import resolve, without_password

        path = resolve(tools.plugins.configuration.store_at(self.store))
        if not isinstance(path, Path):
            raise UsageError(
                "a store on a server is checked with the server's own means",
                where=without_password(path),
                hint="for example pg_amcheck",
            )
        damage = maintenance.check(path)
        removed = [] if damage else [str(file) for file in maintenance.remove_unnamed(path)]
        tools.document |= {
            "store": str(path),
            "whole": not damage,
            "damage": [asdict(place) for place in damage],
            "removed": removed,
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was removed and what is damaged."""
        for name in document["removed"]:
            yield f"{name}: removed, because no row names it"
        for place in document["damage"]:
            yield f"{place['where']}: {place['what']}"
        if document["whole"]:
            yield f"{document['store']} is whole"

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what to do about damage."""
        if not document["whole"]:
            yield "damaged: restore a backup, and keep the damaged file; it may still be readable"


@dataclass(frozen=True, kw_only=True)
class MergeStore(Operation):
    """Add to the store what the store OTHER has and this one has not.

    Administrations, verdicts and rating sets are recognised by lasting ids, so merging again adds
    nothing; speakers by their code. What differs in both stores is not merged but named: exit
    status 1. OTHER is an SQLite file of this or an earlier version, and is not changed.
    """

    NAME, TITLE = "store merge", "Merge"
    ESTIMATE: ClassVar[str] = "Say what would be merged; change nothing."
    other: Annotated[Path, Arg("The other store.", metavar="OTHER", positional=True)]
    same_speakers: Annotated[
        bool,
        Arg("A code means one person in both stores, also where they share no record or consent."),
    ] = False

    @property
    def creates(self) -> bool:
        """The other store may be the first."""
        return True

    def estimate(self, tools: Tools) -> Progress:
        """Document what would be merged."""
        self._merge(tools, dry=True)
        return iter(())

    def do(self, tools: Tools) -> None:
        """Merge it in one transaction."""
        self._merge(tools, dry=False)

    def _merge(self, tools: Tools, *, dry: bool) -> None:
        store: Store = tools.store
        merged = store.merge(self.other, dry_run=dry, same_people=self.same_speakers)
        document = {"other": str(self.other), "dry_run": dry, **asdict(merged)}
        tools.document["merge"] = document

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was added."""
        merged = document["merge"]
        for table, count in merged["added"].items():
            done = "to add" if merged["dry_run"] else "added"
            yield f"{table.replace('_', ' ')}: {count:,} {done}"
        if not merged["added"]:
            rest = " or was not merged" * bool(merged["not_merged"])
            yield f"everything in {merged['other']} is here already{rest}"

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what was not merged."""
        left = document["merge"]["not_merged"]
        for one in left[:SHOWN]:
            yield f"not merged: {one['where']}: {one['why']}"
        if len(left) > SHOWN:
            yield f"{len(left) - SHOWN} more were not merged; --json lists all"

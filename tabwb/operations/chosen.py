"""The administrations that an operation works on."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.operations.operation import Arg, Tools
from tabwb.records.errors import UsageError

IDS = Arg("Numbers or uids of administrations.", metavar="[ID]...", positional=True)
EVERYTHING = Arg("Every administration of the store.", flag="--all")
WHERE = Arg(
    "Only administrations with this value. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, KEY>NUMBER.",
    metavar="KEY=VALUE",
    pairs=True,
)


def check_chosen(ids: Sequence[int | str], where: Sequence[str], *, everything: bool) -> None:
    """Check that it is known which administrations are meant: all are never meant by themselves."""
    if not (ids or everything or where):
        raise UsageError(
            "no administration is chosen",
            allowed="numbers or uids, conditions (where), or all",
        )
    if ids and everything:
        raise UsageError("administrations cannot be named together with all")


def numbers_of(
    tools: Tools, ids: Sequence[int | str], where: Sequence[str], *, everything: bool
) -> list[int]:
    """Return the numbers of the administrations that are named or match, each once."""
    from tabwb.analysis.selection import matching

    check_chosen(ids, where, everything=everything)
    if where or everything:
        return list(dict.fromkeys(matching(tools.store, ids, where)))
    return list(dict.fromkeys(tools.store.administration(one).id for one in ids))

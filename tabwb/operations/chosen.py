"""The administrations that an operation works on."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.operations.operation import Arg, Tools

EVERYTHING = Arg("Every administration of the store.", flag="--all")
WHERE = Arg(
    "Only administrations with this value. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, KEY>NUMBER.",
    metavar="KEY=VALUE",
)


def numbers_of(tools: Tools, ids: Sequence[int | str], where: Sequence[str] = ()) -> list[int]:
    """Return the numbers of the administrations that are named, or of all, each once."""
    from tabwb.analysis.selection import matching

    if where or not ids:
        return list(dict.fromkeys(matching(tools.store, [str(one) for one in ids], where)))
    return list(dict.fromkeys(tools.store.administration(one).id for one in ids))

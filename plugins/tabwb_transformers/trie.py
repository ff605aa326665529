"""The allowed answers as a tree of tokens. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """The tokens that may follow.

    Attributes:
        next: the token that may come, and what may follow it.
        option: the answer that is complete here, or None.
    """

    next: dict[int, Node] = field(default_factory=dict)
    option: str | None = None


def trie_of(options: Mapping[str, Iterable[tuple[int, ...]]]) -> Node:
    """Return the tree of all token sequences of the options.

    Where two options are written alike the first one is meant.

    >>> root = trie_of({"boat": [(1, 2)], "boathouse": [(1, 2, 3)]})
    >>> node = root.next[1].next[2]
    >>> node.option, sorted(node.next)
    ('boat', [3])
    """
    root = Node()
    for option, ways in options.items():
        for tokens in ways:
            node = root
            for token in tokens:
                node = node.next.setdefault(token, Node())
            if node is not root and node.option is None:
                node.option = option
    return root

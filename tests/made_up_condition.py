"""A condition that the program does not have, declared as CONTRIBUTING says: for one test.

``python -m tests.made_up_condition COMMANDS`` runs command lines that have it, a JSON list of lists
of words; prints a JSON list of what each has printed.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass

from tabwb.records import conditions, declared_conditions
from tabwb.records.declared_conditions import (
    Column,
    Comparison,
    Condition,
    Field,
    Line,
    OneOf,
    Option,
)


@dataclass(frozen=True, slots=True)
class WithTempo(conditions.Conditions):
    """The conditions of an administration with one more."""

    tempo: str = "normal"


TEMPO = Condition(
    "tempo",
    OneOf({"normal": "normal", "slow": "slow"}),
    options=(Option("--tempo", "How fast items follow each other.", default="normal"),),
    field=Field("Tempo", "how fast items follow each other"),
    column=Column("how fast items followed each other"),
    line=Line("tempo {}"),
    comparison=Comparison("tempo", "tempo"),
)


def declare() -> None:
    """Declare it, before anything has imported the record or read the declarations."""
    conditions.Conditions = WithTempo  # type: ignore[misc]
    declared_conditions.CONDITIONS += (TEMPO,)


if __name__ == "__main__":
    declare()
    from tabwb.cli.main import main

    printed = []
    for words in json.loads(sys.argv[1]):
        with redirect_stdout(io.StringIO()) as out:
            assert main(words) == 0, words
        printed.append(out.getvalue())
    print(json.dumps(printed))

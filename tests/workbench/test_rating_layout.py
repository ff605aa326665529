"""Questions stand in columns, each once, in their order; arrows reach all of them."""

from __future__ import annotations

from string import ascii_lowercase

import pytest

from tabwb.battery.forms import Form, Group, Question, with_source_question
from tabwb.workbench.rating.layout import arranged, columns_in, moved
from tabwb.workbench.rating.sheet import question_keys
from tabwb.workbench.rating.view_models import Slot, slots_of

SIZES = {"LEXICAL": 4, "FLUENCY": 2, "MORPHOSYNTACTIC": 3, "DISFLUENCY": 4, "PERSEVERATIVE": 2,
         "COHERENCE": 3, "OVERALL": 1}  # fmt: skip
"""The groups of TAB's 19 features (table 5 of the paper)."""
NINETEEN = Form(
    "nineteen",
    "1",
    "Nineteen",
    "MIT",
    "",
    tuple(
        Question(f"q-{letter}", f"Question {letter}", key=letter, group=group)
        for letter, group in zip(
            ascii_lowercase, [name for name, n in SIZES.items() for _ in range(n)], strict=False
        )
    ),
    groups=tuple(Group(name, name) for name in SIZES),
)


@pytest.mark.parametrize(("width", "most", "columns", "rows"), [(76, 10, 3, 9), (76, 8, 3, 7)])
def test_nineteen_features_have_room_on_a_small_screen(
    width: int, most: int, columns: int, rows: int
) -> None:
    slots = slots_of(NINETEEN)
    made = arranged(NINETEEN, slots, columns_in(slots, width), most)
    assert (len(made), max(map(len, made))) == (columns, rows)
    assert [one for column in made for one in column if isinstance(one, Slot)] == list(slots)


def test_arrows_go_round_and_to_the_column_beside() -> None:
    slots = slots_of(NINETEEN)
    made = arranged(NINETEEN, slots, 3, 10)
    assert moved(made, slots[-1], 0, 1) == slots[0]
    assert moved(made, slots[0], 0, -1) == slots[-1]
    right = moved(made, slots[0], 1, 0)
    assert right in made[1] and moved(made, right, -1, 0) in made[0]


def test_every_question_has_a_key_of_its_own() -> None:
    keys = question_keys(with_source_question(NINETEEN))
    assert len(set(keys.values())) == 20
    assert not set(keys.values()) & {"z", "?", " "}
    assert list(keys.values())[:19] == list(ascii_lowercase[:19])

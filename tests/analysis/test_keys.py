"""Groups by the parts of a lesion's spec."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.analysis.grouping import grouped
from tabwb.analysis.keys import Value, key_of
from tabwb.records.errors import UsageError
from tests.analysis.given import SAMPLED
from tests.analysis.test_pairs import given, words

RIGHT = words("lion", "boot", "knife")
JOINED = "mlp.up:zero:0.3@layers=0-2,seed=7+mlp.down:scale:0.3@layers=0-2,factor=0.5,seed=7"


@pytest.mark.parametrize(
    ("lesion", "key", "values"),
    [
        ("mlp.down:prune:0.3@layers=0-2,-1", "target", ("mlp.down",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "operation", ("zero",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "layers", ("0-2,-1",)),
        ("mlp.down:prune:0.3@layers=0-2,-1", "seed", ()),  # nothing is drawn
        ("mlp.down:zero:0.3", "layers", ("all",)),
        ("mlp.down:zero:0.3", "seed", (1,)),
        ("mlp.down:zero", "amount", (1.0,)),
        (JOINED, "target", ("mlp.up+mlp.down",)),
        (JOINED, "operation", ()),
        (JOINED, "amount", (0.3,)),
        (JOINED, "layers", ("0-2",)),
        (JOINED, "seed", (7,)),
        (JOINED, "kind", ("mlp.up:zero:*@layers=0-2+mlp.down:scale:*@layers=0-2,factor=0.5",)),
        ("attention.q:zero:0.1+attention.k:zero:0.2", "amount", ()),
        ("noise:mlp@severity=0.05,seed=4", "severity", (0.05,)),  # another tool's
        ("noise:mlp@severity=0.05,seed=4", "seed", (4.0,)),
        ("noise:mlp@severity=0.05,seed=4", "amount", ()),
        (None, "target", ()),
    ],
)
def test_a_key_is_what_joined_lesions_share(
    lesion: str | None, key: str, values: tuple[Value, ...]
) -> None:
    data = given(1, replace(SAMPLED, lesion=lesion), *RIGHT)
    assert key_of(f"lesion-{key}").values(data) == values


def members(by: str, *together: str) -> dict[str, list[int]]:
    chosen = [
        given(1, replace(SAMPLED, lesion="mlp:zero:0.1@seed=1"), *RIGHT),
        given(2, replace(SAMPLED, lesion="mlp:zero:0.1@seed=2"), *RIGHT),
        given(3, replace(SAMPLED, lesion="mlp:zero:0.2@seed=1"), *RIGHT),
        given(4, replace(SAMPLED, lesion="attention:zero:0.1@seed=1"), *RIGHT),
        given(5, SAMPLED, *RIGHT),
    ]
    groups = grouped(chosen, by, together=together)
    assert len({group.name for group in groups}) == len(groups)
    return {group.name: [one.administration.id for one in group.members] for group in groups}


def test_seeds_are_apart_unless_they_are_pooled_on_purpose() -> None:
    assert list(members("lesion-target,lesion-amount").values()) == [[1], [2], [3], [4], [5]]
    pooled = members("lesion-target,lesion-amount", "lesion-seed")
    assert list(pooled.values()) == [[1, 2], [3], [4], [5]]
    assert "mlp, lesion amount 0.1" in next(iter(pooled))
    # The seed alone is pooled over: other amounts of one target stay apart.
    assert list(members("lesion-target", "lesion-seed").values()) == [[1, 2], [3], [4], [5]]


def test_a_key_that_keeps_nothing_apart_cannot_be_pooled_over() -> None:
    with pytest.raises(UsageError, match="lesion-amount"):
        members("model", "lesion-amount")


def test_the_role_parts_intact_lesioned_and_control() -> None:
    control = given(3, replace(SAMPLED, lesion="projections:zero:0.1"), *RIGHT)
    tagged = replace(control.administration, tags=("sweep", "control"))
    chosen = [
        given(1, SAMPLED, *RIGHT),
        given(2, replace(SAMPLED, lesion="mlp:zero:0.1"), *RIGHT),
        replace(control, administration=tagged),
    ]
    groups = grouped(chosen, "lesion-role,lesion-target", together=("lesion",))
    assert [group.label for group in groups] == [
        "intact, no lesion target", "lesion, mlp", "control, projections",
    ]  # fmt: skip

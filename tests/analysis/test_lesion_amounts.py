"""The amount and the seed of a lesion, read from its spec."""

from __future__ import annotations

import pytest

from tabwb.analysis.series import dose_of, lesion_dose
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError


@pytest.mark.parametrize(
    ("spec", "key", "expected"),
    [
        ("zero:0.25", "", ("zero:*", 0.25, "")),
        ("mlp.down:zero:0.3@seed=7", "", ("mlp.down:zero:*", 0.3, "7")),
        ("noise:mlp@sigma=1e-2,seed=3", "", ("noise:mlp@sigma=*", 0.01, "3")),
        ("noise:mlp@seed=3,sigma=0.5", "", ("noise:mlp@sigma=*", 0.5, "3")),
        ("noise@layers=2,sigma=0.5", "sigma", ("noise@layers=2,sigma=*", 0.5, "")),
        (
            "mlp.up:noise:0.2@layers=1-2,sigma=3,seed=5+mlp.down:noise:0.2@sigma=3,seed=5",
            "",
            ("mlp.up:noise:*@layers=1-2,sigma=3+mlp.down:noise:*@sigma=3", 0.2, "5"),
        ),
        ("norm:scale:1@factor=0.5", "factor", ("norm:scale:1@factor=*", 0.5, "")),
    ],
)
def test_the_amount_of_a_lesion_is_its_number(
    spec: str, key: str, expected: tuple[str, float, str]
) -> None:
    assert lesion_dose(spec, key) == expected


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("zero:all", ""),
        ("a:1:2", ""),
        ("a@x=1", "y"),
        ("norm:zero:0.1+head:zero:0.2", ""),
        ("norm:zero:0.1@seed=1+head:zero:0.1@seed=2", ""),
        ("norm:zero:0.1", "factor"),
    ],
)
def test_a_lesion_without_one_amount_is_refused(spec: str, key: str) -> None:
    with pytest.raises(UsageError, match="has"):
        lesion_dose(spec, key)


def test_the_seed_is_the_lesions_else_the_runs() -> None:
    own = dose_of(Conditions("m", "model", seed=9, lesion="zero:0.1@seed=4"), "lesion")
    runs = dose_of(Conditions("m", "model", seed=9, lesion="zero:0.1"), "lesion")
    assert (own.seed, runs.seed) == ("4", "9")

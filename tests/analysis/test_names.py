"""Short names of models: different for different models, whatever they are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.analysis.names import (
    judge_called,
    judge_names,
    name_in,
    names_of,
    short_lesions,
    short_names,
)
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError

specs = st.builds(
    lambda id_, name, options: (
        id_ + (f":{name}" if name else "") + (f"@{','.join(options)}" if options else "")
    ),
    st.sampled_from(["transformers", "openai", "replay"]),
    st.sampled_from(["", "a/m", "b/m", "m", "m.jsonl"]),
    st.lists(
        st.sampled_from(["dtype=x", "dtype=y", "seed=1"]),
        max_size=2,
        unique_by=lambda option: option[:4],
    ),
)


@given(st.dictionaries(specs, st.sampled_from(["", "mine", "m"]), max_size=6))
def test_different_models_have_different_names(models: dict[str, str]) -> None:
    names = short_names(models)
    assert list(names) == list(models)
    assert len(set(names.values())) == len(models)


def test_models_of_one_name_are_told_apart_by_what_differs() -> None:
    assert short_names({"openai:m": "", "transformers:m": ""}) == {
        "openai:m": "openai:m",
        "transformers:m": "transformers:m",
    }
    assert list(short_names({"openai:a/m": "", "openai:b/m": ""}).values()) == ["a/m", "b/m"]


def test_a_profile_names_its_model_where_all_agree() -> None:
    def named(*profiles: str) -> dict[str, str]:
        return names_of(
            Conditions("echo@delay=1", "model", labels={"profile": name} if name else {})
            for name in profiles
        )

    assert named("mine", "") == {"echo": "mine"}
    assert named("mine", "other") == {"echo": "echo"}
    assert name_in({}, Conditions("S-01", "speaker")) == "S-01"


SERVED = "tab-2026:openai:org/m@base_url=http://localhost:1/v1"
RATERS = ("rules-2", SERVED, "tab-2026+prompt:openai:org/m")


@pytest.mark.parametrize("called", [SERVED, "tab-2026:m", "tab-2026"])
def test_a_judge_is_found_by_spec_short_name_and_id(called: str) -> None:
    assert judge_called(called, RATERS) == SERVED


def test_a_name_of_several_judges_lists_them() -> None:
    with pytest.raises(UsageError, match="several judges are called 'tab-2026'") as refused:
        judge_called("tab-2026", ("tab-2026:openai:a/m", "tab-2026:openai:b/n"))
    assert refused.value.allowed == "tab-2026:m, tab-2026:n"
    with pytest.raises(UsageError, match="has rated none"):
        judge_called("tab", RATERS)


def test_judges_that_ask_models_of_one_name_are_told_apart() -> None:
    raters = ("tab-2026:openai:a/m", "tab-2026:openai:b/m", "other:openai:b/m")
    assert list(judge_names(raters).values()) == ["tab-2026:a/m", "tab-2026:b/m", "other:m"]


def test_amounts_of_lesions_have_as_many_digits_as_tell_them_apart() -> None:
    def short(*lesions: str) -> list[str]:
        given = [Conditions("bundled", "model", lesion=one) for one in lesions]
        return list(short_lesions(given).values())

    first, second = "mlp:zero:0.0153846@seed=1", "mlp:zero:0.0153@seed=1"
    assert short(first, "mlp:zero:0.3") == ["mlp:zero:0.015@seed=1", "mlp:zero:0.3@seed=1"]
    assert short(first, second) == ["mlp:zero:0.0154@seed=1", second]
    near = "mlp:zero:0.0153845@seed=1"
    assert short(first, near) == [first, near]
    assert short("noise:0.123456") == ["noise:0.123456"]  # another tool's

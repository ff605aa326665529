"""Short names of models: different for different models, whatever they are called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tabwb.records.conditions import Conditions
from tabwb.report.names import name_in, names_of, short_names

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

"""What tells rows apart: names differ where conditions do, and nothing is lost or repeated."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.analysis.differing import curve_of, differing, examinee_names, facts_of, in_series
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.series import Series
from tabwb.records.states import AdministrationStatus
from tabwb.records.trials import Administration

facts = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), max_size=4)
lesions = st.one_of(
    st.none(),
    st.builds(
        lambda target, operation, amount, layers, seed: (
            f"{target}:{operation}:{amount}@{layers}seed={seed}"
        ),
        st.sampled_from(["mlp", "mlp.down", "attention"]),
        st.just("zero"),
        st.sampled_from(["0.1", "0.30001", "0.3"]),
        st.sampled_from(["", "layers=0,", "layers=0-2,"]),
        st.integers(1, 2),
    ),
    st.sampled_from(["mlp:zero:0.5@seed=1+attention:zero:0.5@seed=2", "made elsewhere"]),
)
conditions = st.builds(
    lambda model, lesion, temperature: Conditions(
        model, "model", lesion=lesion, decoding=Decoding(temperature=temperature)
    ),
    st.sampled_from(["bundled", "transformers:a/m", "transformers:b/m@dtype=x", "echo@text=a"]),
    lesions,
    st.sampled_from([0.0, 0.7]),
)


def administration(number: int, given: Conditions, *tags: str) -> Administration:
    return Administration(
        number, "", AdministrationStatus.DONE, "tab", "1", "h", "", given, "2026-03-01", 1, 1,
        tags=tags,
    )  # fmt: skip


@given(st.lists(facts, min_size=1, max_size=5))
def test_common_and_differing_parts_are_the_whole(several: list[dict[str, str]]) -> None:
    found = differing(several)
    assert found.common.keys().isdisjoint(found.keys)
    for one, own in zip(several, found.own, strict=True):
        assert own == {key: one[key] for key in found.keys if key in one}
        assert one.items() <= (found.common | own).items()
    for one, own in zip(several, found.own, strict=True):
        for other, its in zip(several, found.own, strict=True):
            assert (one == other) == (own == its)


@given(st.lists(conditions, min_size=1, max_size=6, unique=True))
@settings(max_examples=60)
def test_different_conditions_have_different_names(several: list[Conditions]) -> None:
    made = facts_of(several)
    assert len({tuple(one.items()) for one in made}) == len(several)
    assert len({*differing(made).names}) == len(several)
    who = {(one.examinee, one.lesion) for one in several}
    assert len({*examinee_names(several)}) == len(who)


def test_a_sweep_and_a_series_are_one_row_each() -> None:
    intact = Conditions("bundled", "model")
    sweep = [intact, *(replace(intact, lesion=f"mlp:zero:0.{n}") for n in range(1, 6))]
    given = [administration(n, one, "doses") for n, one in enumerate(sweep, 1)]
    given += [administration(10 + n, replace(intact, seed=n)) for n in range(5)]
    given += [administration(20, Conditions("echo", "model"), "pilot")]
    given += [administration(30 + n, Conditions("S-1", "speaker")) for n in range(5)]
    rows = in_series(given[::-1], lambda one: one)
    assert [
        (row.name, row.what, len(row.members)) if isinstance(row, Series) else row.id
        for row in rows
    ] == [
        ("S-1", "sessions", 5), 20, ("bundled", "runs", 5), ("doses", "conditions", 6),
    ]  # fmt: skip
    curve = curve_of(given[:6], [0.0, 1.0, None, 3.0, 4.0, 5.0])
    assert (curve.words, curve.values) == ("by amount 0-0.5", (0.0, 1.0, None, 3.0, 4.0, 5.0))
    # Controls of other amounts and values move neither the line nor its ends.
    controls = [
        administration(
            40 + n, replace(intact, lesion=f"projections:zero:{amount}"), "doses", "control"
        )
        for n, amount in enumerate((0.3, 0.9))
    ]
    for value in (0.0, 100.0):
        both = curve_of([*controls, *given[:6]], [value, value, 0.0, 1.0, None, 3.0, 4.0, 5.0])
        assert both == curve
    assert curve_of(controls, [1.0, 2.0]).values == ()
    assert curve_of(given[12:], [1.0, 0.0, 1.0, 1.0, 1.0]).values == (1.0, 0.0, 1.0, 1.0, 1.0)

"""The sentences about lesions: exactly the lesions that were given, as the grids that they form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from tabwb.analysis.administrations import AdministrationData
from tabwb.media.methods import Methods, methods_about
from tabwb.media.studied import studied
from tabwb.records.conditions import Conditions
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tests.report.test_groups import given


def told(*members: AdministrationData) -> Methods:
    return methods_about(studied(summarised(grouped(members, "model"), interval=False)))


def lesions(*members: AdministrationData) -> str:
    paragraphs = told(*members).paragraphs
    return next((each.text for each in paragraphs if each.title == "Lesions"), "")


def under(
    specs: Iterable[str | None],
    model: str = "m",
    facts: Mapping[str, str] | None = None,
    *,
    control: bool = False,
) -> list[AdministrationData]:
    found = []
    for spec in specs:
        data = given(next(NUMBERS), Conditions(model, "model", lesion=spec))
        administration = replace(data.administration, tags=("control",) if control else ())
        found.append(replace(data, administration=administration, model_facts=facts or {}))
    return found


NUMBERS = count(1)
GRID = [
    f"{target}:zero:{amount}@seed={seed}"
    for target in ("attention", "mlp")
    for amount in (0.1, 0.2)
    for seed in (1, 2, 3)
]


def test_a_model_without_a_lesion_has_no_such_paragraph() -> None:
    assert lesions(*under([None])) == ""


def test_a_grid_is_one_sentence_and_the_models_paragraph_names_the_model_once() -> None:
    members = under([None, *GRID])
    text = lesions(*members)
    assert text.startswith(
        "m was given the items under no lesion and 12 lesions. 12 lesions (zero: the units are set "
        "to 0) took 10 or 20 % of the weights of attention or mlp, in all layers, seeds 1 to 3."
    )
    models = next(each for each in told(*members).paragraphs if each.title == "Models")
    assert models.text.startswith("One model responded: m.")


def test_a_missing_lesion_is_not_said_to_be_given() -> None:
    text = lesions(*under(one for one in GRID if one != "mlp:zero:0.2@seed=3"))
    assert (
        "6 lesions (zero: the units are set to 0) took 10 or 20 % of the weights of attention"
        in text
    )
    assert "took 10 % of the weights of mlp, in all layers, seeds 1 to 3." in text
    assert "took 20 % of the weights of mlp, in all layers, seeds 1 and 2." in text


def test_single_layers_and_numbers_of_operations_are_told() -> None:
    specs = [f"mlp.down:scale:1@layers={layer},factor=0.5" for layer in (0, 1, 2)]
    assert (
        "3 lesions (scale: the units are multiplied by 0.5) took all weights of mlp.down, in one "
        "of layers 0 to 2."
    ) in lesions(*under(specs))


def test_levels_of_an_operation_are_a_side_of_the_grid() -> None:
    text = lesions(*under(f"projections:quantise:1@bits={bits}" for bits in (8, 4, 3)))
    assert (
        "3 lesions (quantise: the units are rounded to 3, 4 or 8 bits, with one step for each row "
        "of outputs) took all weights of projections, in all layers."
    ) in text


def test_units_of_a_list_are_not_said_to_be_all() -> None:
    text = lesions(
        *under(["mlp.neurons:zero@select=list,file=lists/own.csv,sha256=0123abcd01234567"])
    )
    assert (
        "took the neurons (those of the list in own.csv, SHA-256 0123abcd01234567), in all layers."
        in text
    )


def test_the_contrast_of_the_localizer_is_told_with_its_sources() -> None:
    members = under([f"mlp.neurons:zero:{amount}@select=localizer" for amount in (0.1, 0.2)])
    members += under(["mlp.neurons:zero:0.1@select=localizer-control,seed=2"], control=True)
    found = told(*members)
    text = next(each.text for each in found.paragraphs if each.title == "Lesions")
    assert (
        "The localizer takes the units with the largest t of Welch [2] for 80 sentences against 80 "
        "lists of nonwords (language-1)" in text
    )
    assert "mean over its tokens of the absolute value of the neuron" in text
    assert [one.key for one in found.references[1:4]] == [
        "welch1947",
        "fedorenko2010",
        "alkhamissi2025",
    ]
    assert "task-relevant units. https://arxiv.org/abs/2411.02280" in found.text
    # Controls of growing amounts need not be nested.
    assert "a larger share contains" not in text


def test_controls_are_told_apart_with_their_sizes() -> None:
    controls = [f"projections:zero:{share}@seed={seed}" for share in (0.05, 0.1) for seed in (1, 2)]
    facts = {"lesion_parameters": "40", "parameters": "1000", "lesion_draws": "tabwb-lesion-1"}
    text = lesions(*under(GRID, facts=facts), *under(controls, facts=facts, control=True))
    assert "12 lesions and 4 controls." in text
    assert "as many weights as that lesion (5 to 10 % of them)." in text
    inside = [f"projections:zero:0.2@layers={layer},seed=1" for layer in (0, 1)]
    both = lesions(
        *under(GRID, facts=facts), *under([*controls, *inside], facts=facts, control=True)
    )
    assert "12 lesions, 4 controls and 2 layer controls." in both
    assert "4 controls took weights anywhere in attention and feed-forward networks, each" in both
    assert "2 layer controls took weights in attention and feed-forward networks of the" in both
    assert "(20 to 20 % of them)" in both
    assert "tabwb-lesion-1 (SFC64, seeded with the BLAKE2b hash of seed and name)" in text
    assert "Lesions and controls took 40 of the 1,000 parameters of the model." in text


def test_models_under_the_same_lesions_share_the_sentences() -> None:
    text = lesions(*under(GRID, "a"), *under([None, *GRID], "b"))
    assert "a and b were each given the items under 12 lesions and b also under no lesion." in text
    assert text.count("took 10 or 20 %") == 1


def test_joined_and_foreign_lesions_are_told_as_they_are() -> None:
    joined = [f"attention.q:zero:0.5@seed={n}+mlp.down:zero:0.5@seed={n}" for n in (1, 2)]
    other = "attention.q:zero:0.5@seed=1+mlp.down:mean:0.2@seed=1"
    text = lesions(*under([*joined, other, "made-elsewhere"]))
    assert (
        "2 lesions (zero: the units are set to 0) took 50 % of the weights of attention.q+mlp.down"
        in text
    )
    assert "1 lesion had the spec attention.q:zero:0.5+mlp.down:mean:0.2, seed 1." in text
    assert "1 lesion had the spec made-elsewhere." in text


def test_the_check_has_the_perplexity_of_the_intact_model_and_the_range() -> None:
    check = {"lesion_check_text": "plain-1"}
    text = lesions(
        *under([None], facts={"lesion_perplexity": "50", **check}),
        *under(GRID[:1], facts={"lesion_perplexity": "2000", **check}),
        *under(GRID[1:2], facts={"lesion_perplexity": "4e9", **check}),
        *under(GRID[2:3], facts=check),
    )
    assert (
        "the perplexity of a fixed text (plain-1) was measured: 50 without a lesion and 2,000 to "
        "4e+09 under lesions, undefined under 1 of them."
    ) in text


def test_means_over_seeds_are_explained_where_lesions_have_several_amounts() -> None:
    assert "paired by seed" in told(*under(GRID)).text
    assert "paired by seed" not in told(*under(["mlp:zero:0.1@seed=1"])).text


def test_a_lesion_without_draws_is_said_to_be_compared_as_a_single_case() -> None:
    pruned = [f"mlp:zero:{amount}@select=magnitude" for amount in (0.1, 0.2)]
    controls = [
        f"projections:zero:{amount}@seed={seed}" for amount in (0.05, 0.1) for seed in (1, 2)
    ]
    said = told(*under(pruned), *under(controls, control=True)).text
    assert "compared with its controls as a single case with a sample [" in said
    assert "single case" not in told(*under(pruned)).text
    assert "single case" not in told(*under(GRID), *under(controls, control=True)).text


def test_what_differs_for_controls_of_selected_units_is_said() -> None:
    own = under(["mlp.neurons:zero:0.1@select=localizer"])
    beside = under([f"mlp.neurons:zero:0.1@select=localizer-control,seed={n}" for n in (1, 2)],
                   facts={"lesion_check_text": "plain-1", "lesion_perplexity": "70"},
                   control=True)  # fmt: skip
    text = lesions(*own, *beside, *under(GRID))
    assert "contains a smaller one, except of the controls of selected units." in text
    assert "70 under lesions and controls" in text


def test_works_are_numbered_in_the_order_of_the_text() -> None:
    pruned = [f"mlp:zero:{amount}@select=magnitude" for amount in (0.1, 0.2)]
    text = told(*under(pruned), *under(["projections:zero:0.1@seed=1"], control=True)).text
    numbers = [int(one) for one in re.findall(r"\[(\d+)\]", text)]
    first = list(dict.fromkeys(numbers))
    assert first == sorted(first) and len(first) > 2

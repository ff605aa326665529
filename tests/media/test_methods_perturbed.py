"""The sentences about prompt noise and checkpoints: exactly what was given."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from tabwb.analysis.administrations import AdministrationData
from tabwb.media.methods import Methods, methods_about
from tabwb.media.studied import studied
from tabwb.records.conditions import Conditions
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tests.report.test_groups import given

NUMBERS = count(1)
GRID = [f"words:drop:{amount}@seed={seed}" for amount in (0.4, 0.2) for seed in (1, 2, 3)]


def told(members: Iterable[AdministrationData]) -> Methods:
    return methods_about(studied(summarised(grouped(list(members), "model"), interval=False)))


def perturbed(members: Iterable[AdministrationData]) -> str:
    paragraphs = told(members).paragraphs
    return next((each.text for each in paragraphs if each.title == "Perturbations"), "")


def under(
    noises: Iterable[str | None], model: str = "m", lesion: str | None = None
) -> list[AdministrationData]:
    return [
        given(next(NUMBERS), Conditions(model, "model", prompt_noise=noise, lesion=lesion))
        for noise in noises
    ]


def checkpoint(model: str, **labels: str) -> AdministrationData:
    return given(next(NUMBERS), Conditions(model, "model", labels=labels))


def test_a_study_without_perturbations_has_no_such_paragraph() -> None:
    assert perturbed(under([None])) == ""


def test_a_grid_of_prompt_noise_is_one_phrase() -> None:
    text = perturbed(under([None, *GRID]))
    assert text.startswith(
        "m was given the items under 6 perturbations of their texts (prompt noise): words:drop "
        "(words are left out), a share of 20 or 40 % with seeds 1 to 3."
    )
    assert "scored against the unchanged items" in text
    assert "a larger share contains a smaller one" in text


def test_no_combination_is_named_that_was_not_given() -> None:
    text = perturbed(under([*GRID[:4], "words:upper"]))
    assert "under 5 perturbations" in text
    assert (
        "words:drop (words are left out), a share of 20 % with seed 1 and "
        "a share of 40 % with seeds 1 to 3" in text
    )
    assert "words:upper (words are written in capital letters), a share of 100 %." in text


def test_noise_of_which_nothing_is_drawn_has_no_sentence_about_draws() -> None:
    text = perturbed(under(["words:upper"]))
    assert "draws" not in text
    assert "smaller one" not in text


def test_models_with_the_same_noise_share_a_sentence() -> None:
    text = perturbed([*under(GRID), *under(GRID, "other")])
    assert "m and other were each given the items under 6 perturbations" in text


def test_noise_under_a_lesion_is_said() -> None:
    members = [*under(GRID[:1]), *under(GRID[:1], lesion="mlp:zero:0.1@seed=1")]
    assert "Prompt noise and a lesion acted together for m in #" in perturbed(members)


def test_procedure_does_not_list_prompt_noise_again() -> None:
    assert "Prompt noise" not in told(under([None, *GRID])).text.split("Procedure.")[1]


def test_checkpoints_have_their_parent_and_dose() -> None:
    text = perturbed(
        [
            *under([None], "base"),
            checkpoint("tuned-1", parent="base", dose="500", dose_name="training steps"),
            checkpoint("tuned-2", parent="base", dose="1000", dose_name="training steps"),
            checkpoint("other", parent="elsewhere"),
        ]
    )
    assert text == (
        "tuned-1 (500 training steps) and tuned-2 (1000 training steps) are checkpoints of base. "
        "other is a checkpoint of elsewhere. "
        "Parents and doses of checkpoints are as declared; they were not measured."
    )


def test_means_over_seeds_are_told_for_several_amounts_of_noise() -> None:
    sentence = "Values by the amount of prompt noise (seeds of the noise) are means over seeds"
    assert sentence in told(under([None, *GRID])).text
    assert "Values by" not in told(under([None, *GRID[:3]])).text

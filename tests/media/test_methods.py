"""The methods: the facts of made-up studies, and texts in which every citation has its work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery
from tabwb.media.methods import facts, methods_about
from tabwb.media.perturbed import grids
from tabwb.media.references import Reference, of_battery, published
from tabwb.media.studied import studied
from tabwb.records import declared_conditions
from tabwb.records.conditions import Conditions
from tabwb.records.declared_conditions import Comparison, Condition, Whole
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol
from tabwb.records.trials import Trial
from tabwb.records.words import RESEARCH_ONLY
from tests.analysis.given import ANSWERS, SAMPLED, answered, trials
from tests.analysis.test_grouping import given
from tests.analysis.test_judges import BOTH, with_features
from tests.cli.conftest import TAB

GREEDY = Conditions("model-a", "model")
NUMBERS = count(1)
LESIONS = [
    f"{target}:zero:{amount}@seed={seed}"
    for target in ("attention", "mlp")
    for amount in (0.1, 0.2)
    for seed in (1, 2, 3)
]
CONTROLS = [f"projections:zero:{share}@seed={seed}" for share in (0.05, 0.1) for seed in (1, 2)]
NOISE = [f"words:drop:{amount}@seed={seed}" for amount in (0.4, 0.2) for seed in (1, 2, 3)]


def made(conditions: Conditions, responses: Sequence[Trial] | None = None) -> AdministrationData:
    return given(next(NUMBERS), conditions, responses)


def under(
    specs: Iterable[str | None], key: str = "lesion", *, control: bool = False, **changed: Any
) -> list[AdministrationData]:
    """A model under lesions or prompt noise."""
    known: Mapping[str, str] = changed.pop("facts", {})
    found = []
    for spec in specs:
        data = made(replace(GREEDY, **{**changed, key: spec}))
        record = replace(data.administration, tags=("control",) if control else ())
        found.append(replace(data, administration=record, model_facts=known))
    return found


def about(*members: AdministrationData, study_ids: bool = False) -> Any:
    return studied(summarised(grouped(members, "model")), study_ids=study_ids)


def fact(members: Iterable[AdministrationData], paragraph: str, name: str, **options: bool) -> Any:
    known = facts(about(*members, **options))[paragraph]
    return (known[0] if isinstance(known, list) else known)[name]


def varied(
    members: Iterable[AdministrationData], paragraph: str, name: str
) -> list[tuple[Any, str]]:
    """The values of a fact, each with the names of those that have it."""
    return [(one["value"], one["names"]) for one in fact(members, paragraph, name)["of"]]


def eight() -> list[AdministrationData]:
    """Eight models, six of them greedy with seed 1, two sampled, one of these with other limits."""
    models = []
    for number in range(1, 9):
        conditions = replace(GREEDY, examinee=f"model-{'abcdefgh'[number - 1]}")
        if number > 6:
            decoding = Decoding(temperature=0.7, top_p=0.9 if number == 8 else 1.0)
            conditions = replace(conditions, decoding=decoding, seed=number, replicates=1)
        if number == 8:
            decoding = replace(conditions.decoding, max_tokens=64)
            conditions = replace(conditions, decoding=decoding, token_limits="run")
        models.append(given(number, conditions, dtype="float32"))
    return models


def unusual() -> dict[str, list[AdministrationData]]:
    """Studies with what a usual study has not."""
    other = replace(
        GREEDY, examinee="b", protocol=Protocol.ENFORCED, conversation=True,
        decoding=Decoding(stop=("\n\n", "  ")), item_order="shuffled", option_order="rotated",
        replicates=3, part_subtests=("words",), part_limit=2,
    )  # fmt: skip
    sampled = replace(GREEDY, decoding=Decoding(temperature=1.0))
    refused = {**ANSWERS, "ct1": "I'm sorry, but I can't help with that.", "ct2": ""}
    drawn = [
        answered(item, f"{ANSWERS[item]} Then we went home, time {n}.", number=n, replicate=n)
        for item in ("ct1", "ct2", "wc1")
        for n in range(3)
    ]
    labels = {"family": "F", "tuning": "base", "parameters": "1240000000"}
    doses = {"parent": "model-a", "dose": "500", "dose_name": "steps"}
    checked = {
        "lesion_check_text": "plain-1", "lesion_perplexity": "2000", "lesion_parameters": "40",
        "parameters": "1000", "lesion_draws": "tabwb-lesion-1",
    }  # fmt: skip
    person = Conditions("S-02", "speaker", research_protocol="IRB-7")
    judge = replace(
        made(GREEDY, [with_features(answered("ct1", ANSWERS["ct1"]), ["jargon"])]),
        declarations=BOTH,
    )
    return {
        "eight": eight(),
        "conditions": [made(GREEDY), made(other)],
        "each": [made(replace(one, examinee=name)) for name in "ab" for one in (GREEDY, sampled)],
        "refused": [made(GREEDY), made(replace(GREEDY, examinee="b"), trials(refused))],
        "replicates": [made(SAMPLED, drawn)],
        "twice": [made(GREEDY, [answered("wc1", "lion", number=n, replicate=n) for n in (1, 2)])],
        "labels": [made(replace(GREEDY, labels=labels)), made(replace(GREEDY, labels=doses))],
        "recorded": [made(replace(GREEDY, examinee="replay:/home/ada/a.jsonl", origin=origin))
                     for origin in ("model", "unknown")],
        "imported": [made(replace(GREEDY, examinee="imported:m", origin="model"))],
        "people": [made(person), made(person), made(replace(person, examinee="S-03"))],
        "judged": [judge],
        "lesions": [*under([None, *LESIONS], facts=checked),
                    *under(CONTROLS, control=True, facts=checked)],
        "selected": [*under(f"mlp.neurons:zero:{n}@select=localizer" for n in (0.1, 0.2)),
                     *under(["mlp.neurons:zero:0.1@select=localizer-control,seed=2",
                             "projections:zero:0.2@layers=0,seed=1"], control=True)],
        "foreign": under(["made-elsewhere", "attention.q:zero:0.5@seed=1+mlp.down:mean:0.2@seed=1",
                          "mlp.neurons:zero@select=list,file=own.csv,sha256=0123abcd01234567"]),
        "noise": [*under([None, *NOISE, "words:upper"], "prompt_noise"),
                  *under(NOISE[:1], "prompt_noise", lesion=LESIONS[0])],
    }  # fmt: skip


STUDIES = unusual()


@pytest.mark.parametrize("study", STUDIES)
def test_a_text_has_whole_sentences_and_each_citation_its_work(study: str) -> None:
    methods = methods_about(about(*STUDIES[study]))
    cited = []
    for each in methods.paragraphs:
        assert each.text.endswith((".", "”")), each.title
        assert not re.search(r"[\n\ue000-\uf8ff{}]|(?<!“)  | [,.;:)]|\( |\.[A-Z]", each.text)
        found = re.findall(r"\[(\d+)\]", each.text)
        cited += [int(number) for number in found]
    numbers = list(dict.fromkeys(cited))
    assert numbers == list(range(1, len(methods.references) + 1))  # in the order of the text
    assert methods.bibtex.count("\n@") + 1 == len(methods.references)
    assert "/home/ada" not in methods.text and "S-0" not in methods.text


def test_values_that_differ_have_the_names_of_those_that_have_them() -> None:
    assert varied(eight(), "Procedure", "times") == [(1, "")]
    generated = fact(eight(), "Procedure", "generated")
    drawn = [(one["value"], one["n"], one["names"]) for one in generated["drawn"]["of"]]
    assert [one[:2] for one in drawn] == [((), 6), (("0.7", ""), 1), (("0.7", "0.9"), 1)]
    assert drawn[2][2] == "model-h"
    text = methods_about(about(*eight())).text
    assert "except for model-g (sampled at temperature 0.7) and for model-h (" in text


def test_a_part_of_a_models_administrations_has_their_numbers() -> None:
    sampled = replace(GREEDY, decoding=Decoding(temperature=1.0))
    members = [given(1, GREEDY), given(2, GREEDY), given(3, sampled)]
    found = fact(members, "Procedure", "generated")["drawn"]["of"]
    assert [one["names"] for one in found] == ["model-a in #1 and #2", "model-a in #3"]


def test_kinds_that_every_model_has_alike_are_counted() -> None:
    found = fact(STUDIES["each"], "Procedure", "generated")["drawn"]
    assert tuple(found["each"]) == (1, 1)


def test_numbers_agree_with_the_data() -> None:
    assert fact(eight(), "Responses", "n") == 80
    assert fact(eight(), "Procedure", "planned") == fact(eight(), "Procedure", "answered") == 80
    refused = STUDIES["refused"]
    causes = {one["cause"]: one["n"] for one in fact(refused, "Responses", "causes")}
    assert causes == {"empty": 1, "refused": 1}
    assert fact(STUDIES["twice"], "Responses", "same") == 1


def test_people_are_counted_and_named_only_where_that_is_asked_for() -> None:
    people = STUDIES["people"]
    assert fact(people, "Participants", "known") == "2 participants"
    assert fact(people, "Participants", "names") == []
    assert fact(people, "Procedure", "days") == []  # a day of a session can tell who it was
    assert fact(people, "Participants", "names", study_ids=True) == ["S-02", "S-03"]
    assert fact(STUDIES["recorded"], "Participants", "unknown") == 1


def test_the_intervals_are_those_that_were_used() -> None:
    analysis = "Statistical analysis"
    greedy = facts(about(made(GREEDY)))[analysis]
    assert greedy["fixed"] and not greedy["of_burdens"] and not greedy["kindred"]
    sampled = STUDIES["replicates"]
    assert fact(sampled, analysis, "of_burdens") and fact(sampled, analysis, "replicated")
    assert published()["garwood1936"] in methods_about(about(*sampled)).references


def test_the_sentence_about_research_and_the_batterys_own_are_always_there() -> None:
    scope = methods_about(about(made(GREEDY))).paragraphs[-1]
    assert scope.text == f"{RESEARCH_ONLY} Not a diagnostic tool."
    nothing = methods_about(studied(()))
    assert [each.title for each in nothing.paragraphs] == ["Methods", "Scope"]


def test_a_condition_that_is_new_is_said_without_further_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pace = Condition("pace", Whole(0, 9), path="seed", comparison=Comparison("pace", "pace"))
    monkeypatch.setattr(declared_conditions, "CONDITIONS", (*declared_conditions.CONDITIONS, pace))
    members = [made(replace(GREEDY, examinee=name, seed=seed)) for name, seed in
               (("a", 1), ("b", 7), ("c", 1))]  # fmt: skip
    (other,) = fact(members, "Procedure", "others")
    assert other["name"] == "Pace"
    assert [(one["value"], one["n"]) for one in other["of"]["of"]] == [("1", 2), ("7", 1)]


SPECS = st.builds(
    "{}:zero:{}@layers={},seed={}".format,
    st.sampled_from(["attention", "mlp", "projections"]),
    st.sampled_from([0.1, 0.2, 0.3]),
    st.sampled_from([0, 1, 2]),
    st.integers(1, 3),
)


@hypothesis.given(st.lists(SPECS, max_size=12, unique=True))
def test_grids_are_exactly_the_lesions_that_were_given(specs: list[str]) -> None:
    told = [
        f"{target}:zero:{amount}@layers={layers[0]},seed={seed}"
        for box in grids(specs)
        for target in box.targets
        for layers in box.layers
        for amount in box.amounts
        for seed in box.seeds
    ]
    assert sorted(told) == sorted(specs)
    assert sum(box.n for box in grids(specs)) == len(specs)


def test_controls_are_counted_by_themselves_with_their_sizes() -> None:
    (given_,) = fact(STUDIES["lesions"], "Lesions", "given")
    assert given_["counts"] == ["no lesion", "12 lesions", "4 controls"]
    (spread,) = (box for box in given_["boxes"] if box["spread_over"])
    assert (spread["n"], spread["least"], spread["most"]) == (4, "5", "10")
    (sizes,) = fact(STUDIES["lesions"], "Lesions", "sizes")
    assert (sizes["ends"], sizes["whole"]) == (["40"], "1,000")
    assert fact(STUDIES["lesions"], "Statistical analysis", "doses")
    assert fact(STUDIES["selected"], "Statistical analysis", "single_case")
    selected = under(["mlp.neurons:zero:0.1@select=localizer-control,seed=2"], control=True)
    assert not fact(selected, "Lesions", "drawn")["nested"]


def test_noise_is_told_as_grids_and_not_among_the_other_conditions() -> None:
    (group,) = fact(STUDIES["noise"], "Perturbations", "noises")
    drop, upper = group["of"]
    assert [one["amounts"] for one in drop["shares"]] == [["20", "40"]]
    assert upper["shares"] == [{"amounts": ["100"], "seeds": frozenset()}]
    assert fact(STUDIES["noise"], "Procedure", "others") == []
    assert fact(STUDIES["noise"], "Statistical analysis", "amounts") == ["noise"]


@pytest.mark.parametrize(
    ("citation", "fields"),
    [
        (
            "Ada Byron, Grace Hopper (2026). A Battery: With a Title.",
            {"author": "Ada Byron and Grace Hopper", "title": "A Battery: With a Title",
             "year": "2026"},
        ),
        ("Byron, A. (2026). Title.", {"title": "T", "note": "Byron, A. (2026). Title."}),
        ("unpublished", {"title": "T", "note": "unpublished"}),
        ("", {"title": "T", "version": "1"}),
    ],
)  # fmt: skip
def test_a_batterys_citation_becomes_fields_where_it_can_be_read(
    citation: str, fields: dict[str, str]
) -> None:
    assert of_battery(Battery("t", "T", "1", "en", "MIT", (), citation=citation)).fields == fields


def test_the_reference_of_tab_has_its_preprint_and_its_battery_stays_the_same() -> None:
    battery = load_battery(TAB)
    assert of_battery(battery).fields["eprint"] == "2511.20507"
    assert "2511.20507" not in battery.canonical
    assert "eprint" not in of_battery(replace(battery, citation="Ann Other (2020). T.")).fields


def test_bibtex_escapes_what_tex_reads_as_commands() -> None:
    work = Reference("k", "misc", {"title": "A & B_1 {x} \\input{y} 100%", "doi": "10.1/a_b"})
    assert work.bibtex == (
        "@misc{k,\n  title = {{A \\& B\\_1 \\{x\\} \\textbackslash{}input\\{y\\} 100\\%}},\n"
        "  doi = {10.1/a_b},\n}"
    )

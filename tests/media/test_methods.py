"""The methods text: its exact words for made-up studies, and its numbers against the data."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest

from tabwb.analysis.administrations import AdministrationData, Part
from tabwb.battery.model import Battery
from tabwb.media.methods import Methods, methods_about
from tabwb.media.references import Reference, of_battery, published
from tabwb.media.studied import studied
from tabwb.records import declared_conditions
from tabwb.records.condition import Comparison, Condition
from tabwb.records.condition_kinds import Whole
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol
from tabwb.records.words import RESEARCH_ONLY
from tabwb.report.summaries.grouping import grouped
from tabwb.report.summaries.groups import summarised
from tests.report.given import ANSWERS, BATTERY, SAMPLED, administration, answered, trials
from tests.report.test_groups import given
from tests.report.test_judges import BOTH, MODEL, judged

GREEDY = Conditions("model-a", "model")


def of(*members: AdministrationData, study_ids: bool = False) -> Methods:
    rows = summarised(grouped(members, "model"))
    return methods_about(studied(rows, study_ids=study_ids))


def text(methods: Methods, title: str) -> str:
    """The text of one paragraph."""
    return next((each.text for each in methods.paragraphs if each.title == title), "")


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


def test_what_was_given_is_said_with_version_hash_and_items() -> None:
    assert text(of(given(1, GREEDY)), "Materials") == (
        "The Small Battery (id small, version 1, SHA-256 000000000000) [1] has 10 items in 4 "
        "subtests: Connected Text (2 items: a few sentences), Word Comprehension (3 items: one of "
        "the options), Sentence Comprehension (3 items: Yes or No) and Repetition (2 items: the "
        "words exactly as given)."
    )


def test_what_most_models_share_is_said_once_and_the_others_are_named() -> None:
    methods = of(*eight())
    assert text(methods, "Models") == (
        "8 models responded: model-a, model-b, model-c, model-d, model-e, model-f, model-g and "
        "model-h. All of them ran in float32."
    )
    assert text(methods, "Procedure") == (
        "Each item was given once. Options were shown in the order of the battery. Each prompt was "
        "sent in its own context. Responses were decoded greedily, except for model-g "
        "(sampled at temperature 0.7) and for model-h (sampled at temperature 0.7 with top-p 0.9). "
        "All responses were generated freely (protocol generate). The token limit of a reply was "
        "that of the battery: 256 tokens, except for model-h (64 tokens). The seeds of the runs "
        "were 1, except for model-g (7) and for model-h (8); the seed of each reply is derived "
        "from it. 80 of 80 planned trials were answered. The administrations took place on "
        "2026-03-01 (UTC)."
    )


def test_of_one_model_everything_is_in_the_singular() -> None:
    methods = of(given(1, GREEDY, revision="0123456789abcdef", dtype="bfloat16"))
    assert text(methods, "Models") == (
        "One model responded: model-a (revision 0123456789ab). It ran in bfloat16."
    )
    assert "The seed of the run was 1; the seed of each reply is derived" in methods.text
    assert "The administration took place on 2026-03-01 (UTC)." in methods.text


def test_facts_of_models_that_differ_stand_beside_each() -> None:
    labels = {"family": "F", "tuning": "base", "parameters": "1240000000"}
    first = given(1, replace(GREEDY, labels=labels), dtype="float32", weights_sha256="f" * 64)
    second = given(2, replace(GREEDY, examinee="b"), dtype="bfloat16", template="base-qa")
    assert text(of(first, second), "Models") == (
        "2 models responded: model-a (F, base, 1,240,000,000 parameters, weights SHA-256 "
        "ffffffffffff, float32) and b (bfloat16, template base-qa)."
    )


def test_protocols_contexts_orders_and_stop_sequences_are_said_where_they_are_not_usual() -> None:
    decoding = Decoding(stop=("\n\n",))
    other = replace(
        GREEDY, examinee="b", protocol=Protocol.ENFORCED, conversation=True, decoding=decoding,
        item_order="shuffled", option_order="rotated", replicates=3,
    )  # fmt: skip
    said = text(of(given(1, GREEDY), given(2, other)), "Procedure")
    assert "Each item was given once for model-a, and 3 times for b." in said
    assert (
        "The items of a subtest were given in the order of the battery for model-a, and in random "
        "order for b." in said
    )
    assert (
        "Options were shown in the order of the battery for model-a, and in every rotation of "
        "their order for b." in said
    )
    assert (
        "Responses to items with options were generated freely (protocol generate) for model-a, "
        "and restricted to the options (protocol enforced) for b. Responses to all other items "
        "were generated freely." in said
    )
    assert "Replies ended at no stop sequence for model-a, and “\\n\\n” for b." in said


def test_a_part_of_a_models_administrations_is_named_by_number() -> None:
    sampled = replace(GREEDY, decoding=Decoding(temperature=1.0))
    said = text(of(given(1, GREEDY), given(2, GREEDY), given(3, sampled)), "Procedure")
    assert "decoded greedily, except for model-a in #3 (sampled at temperature 1)." in said


def test_recorded_answers_have_no_decoding_of_ours() -> None:
    replayed = replace(GREEDY, examinee="replay:/home/ada/answers.jsonl", origin="model")
    methods = of(given(1, replayed, file_sha256="a" * 64))
    assert "replay:answers.jsonl (file SHA-256 aaaaaaaaaaaa)" in text(methods, "Models")
    said = text(methods, "Procedure")
    assert "The responses were recorded elsewhere; their decoding is not described here." in said
    assert "greedily" not in said
    assert "/home/ada" not in methods.text


def test_people_are_counted_and_named_only_where_that_is_asked_for() -> None:
    people = [
        given(number, Conditions(f"S-0{1 + number % 2}", "speaker", research_protocol="IRB-7"))
        for number in range(3)
    ]
    assert text(of(*people), "Participants") == (
        "2 participants took part in 3 administrations. Responses were typed. The research "
        "protocol was IRB-7."
    )
    assert "S-0" not in of(*people).text
    assert "2026-03-01" not in of(*people).text  # a day of a session can tell who it was
    named = of(*people, study_ids=True)
    assert "2 participants (S-01 and S-02) took part" in named.text
    assert "2026-03-01" in named.text


def test_the_replay_of_a_persons_answers_is_counted_as_a_person() -> None:
    replayed = replace(GREEDY, examinee="replay:S-014.jsonl", origin="human", participant="S-014")
    methods = of(given(1, replayed))
    assert text(methods, "Participants") == (
        "1 participant took part in 1 administration. Responses were recorded elsewhere."
    )
    assert "S-014" not in methods.text


def test_scoring_names_policies_features_and_the_judges_caution() -> None:
    said = text(of(given(1, GREEDY)), "Scoring")
    assert said.startswith(
        "Under the policy exact, a response to Word Comprehension or Sentence Comprehension is "
        "right if it equals the expected answer in every letter and a response to Repetition is "
        "right if it equals the target in every letter and mark; leading and "
        "trailing white space is removed. "
    )
    assert (
        "Baselines are the accuracies of always choosing the first option, always answering Yes "
        "and guessing." in said
    )
    assert (
        "Connected text was rated by rules-2 for the presence of 7 features: retracing, "
        "abandoned-utterances, perseverations, neologisms, jargon, short-and-simplified-utterances "
        "and false-starts. The symptom burden is the mean number of these features present per "
        "response; items have equal weights. Verdicts of rules-2: a text rule; not compared with "
        "expert raters;" in said
    )


def test_unusable_responses_are_counted_by_cause_and_model() -> None:
    refused = {**ANSWERS, "ct1": "I'm sorry, but I can't help with that.", "ct2": ""}
    methods = of(given(1, GREEDY), given(2, replace(GREEDY, examinee="b"), trials(refused)))
    assert text(methods, "Responses") == (
        "Of 20 responses 2 are unusable: 1 empty (b 1) and 1 refused (b 1). The features of an "
        "unusable response are undefined for every rater: it enters no burden, rate or mean of "
        "words, and stays in the accuracies as scored."
    )


def test_what_is_counted_once_is_said() -> None:
    twice = [
        answered("wc1", "lion", number=1), answered("wc1", "lion", number=2, replicate=1),
    ]  # fmt: skip
    said = text(of(given(1, GREEDY, twice)), "Responses")
    assert said == (
        "1 response is identical to another response to the same item for which nothing was drawn, "
        "and is not counted again. The one response that counts is usable."
    )


def test_the_methods_of_intervals_are_those_that_were_used() -> None:
    greedy = text(of(given(1, GREEDY)), "Statistical analysis")
    assert "Intervals of accuracies are exact binomial intervals [5]." in greedy
    assert "Garwood" not in greedy
    assert "Nothing was drawn: for exactly these prompts the figures are deterministic." in greedy
    drawn = [
        answered(item, f"{ANSWERS[item]} Then we went home, time {n}.", number=n, replicate=n)
        for item in ("ct1", "ct2", "wc1")
        for n in range(3)
    ]
    sampled = of(given(1, SAMPLED, drawn))
    said = text(sampled, "Statistical analysis")
    assert "Intervals for exactly these prompts, of which only the draws vary, are" in said
    assert "beta-binomial" in said
    assert published()["garwood1936"] in sampled.references


def test_every_citation_has_its_reference_and_the_reverse() -> None:
    methods = of(*eight())
    cited = {
        int(number)
        for each in methods.paragraphs
        for found in re.findall(r"\[([\d, ]+)\]", each.text)
        for number in found.split(", ")
    }
    assert cited == set(range(1, len(methods.references) + 1))
    assert methods.bibtex.count("\n@") + 1 == len(methods.references)


def test_numbers_agree_with_the_data() -> None:
    members = eight()
    methods = of(*members)
    answers = sum(len(member.trials) - 1 for member in members)  # one trial is for practice
    assert f"All {answers} responses that count are usable." in methods.text
    for member in members:
        assert member.administration.conditions.examinee in methods.text


def test_the_sentence_about_research_and_the_batterys_own_are_always_there() -> None:
    assert text(of(given(1, GREEDY)), "Scope") == f"{RESEARCH_ONLY} Not a diagnostic tool."
    nothing = methods_about(studied(())).text
    assert RESEARCH_ONLY in nothing
    assert "There are no administrations to describe." in nothing


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
    battery = Battery("t", "T", "1", "en", "MIT", (), citation=citation)
    assert of_battery(battery).fields == fields


def test_bibtex_escapes_what_tex_reads_as_commands() -> None:
    work = Reference("k", "misc", {"title": "A & B_1 {x} \\input{y} 100%", "doi": "10.1/a_b"})
    assert work.bibtex == (
        "@misc{k,\n  title = {{A \\& B\\_1 \\{x\\} \\textbackslash{}input\\{y\\} 100\\%}},\n"
        "  doi = {10.1/a_b},\n}"
    )


def test_a_battery_of_which_a_part_was_given_says_which() -> None:
    only = given(1, GREEDY, [answered("wc1", "lion")])
    assert text(of(only), "Materials").endswith("Of its subtests Word Comprehension was given.")


def test_versions_are_those_of_the_administrations() -> None:
    record = replace(administration(2, GREEDY), versions={"tabwb": "0.0.9", "python": "3.12.1"})
    other = replace(given(2, GREEDY), administration=record)
    methods = of(given(1, GREEDY), other)
    said = text(methods, "Software")
    assert "version 0.1.0 for model-a in #1, and version 0.0.9 (Python 3.12.1) for model-a" in said
    assert BATTERY.id in methods.text


def test_responses_of_unknown_origin_are_nobodys_claimed() -> None:
    unknown = replace(GREEDY, examinee="replay:S-014.jsonl", origin="unknown")
    person = Conditions("S-02", "speaker")
    methods = of(given(1, unknown), given(2, person))
    assert text(methods, "Participants") == (
        "1 participant took part in 1 administration. The responses of 1 administration have an "
        "unknown origin: a person or a model may have made them. Responses were recorded elsewhere "
        "for 1 unknown source, and typed for 1 participant."
    )
    assert "S-014" not in methods.text


def test_a_part_of_the_battery_is_said() -> None:
    part = replace(GREEDY, examinee="b", part_subtests=("words",), part_limit=2)
    said = text(of(given(1, GREEDY), given(2, part)), "Materials")
    assert (
        "What was given of it: all of it for model-a, and the part with words, 2 of each subtest "
        "for b." in said
    )


def test_a_chosen_part_of_the_responses_is_not_called_all_that_was_given() -> None:
    whole = given(1, GREEDY)
    part = Part(frozenset({("words", "wc1")}), frozenset({0}), {"words": 1})
    methods = of(replace(whole, part=part))
    assert text(methods, "Materials").endswith(
        "The results are of a part of the responses: Word Comprehension."
    )
    assert "1 of 1 planned trial was answered." in methods.text
    assert "The one response that counts is usable." in methods.text


def test_imported_responses_are_said_to_be_given_elsewhere() -> None:
    sampled = replace(
        GREEDY, examinee="imported:m", origin="model", decoding=Decoding(temperature=0.7)
    )
    unknown = replace(sampled, examinee="imported:n", unknown=("seed", "temperature", "top_p"))
    first = replace(given(1, sampled), model_facts={"source": "inspect_ai 0.3.285, task words"})
    second = replace(given(2, unknown), model_facts={"imported_file": "answers.csv"})
    procedure = text(of(first), "Procedure")
    assert procedure.startswith(
        "Each item was given once. The responses were given elsewhere and imported from "
        "inspect_ai 0.3.285, task words. According to their source they were sampled at "
        "temperature 0.7."
    )
    assert "seed" not in procedure
    assert "obtained in a way that it does not state" in text(of(second), "Procedure")
    assert "were given with tabwb" not in text(of(first), "Software")


def test_a_condition_that_is_new_is_said_without_further_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pace = Condition("pace", Whole(0, 9), path="seed", comparison=Comparison("pace", "pace"))
    monkeypatch.setattr(declared_conditions, "CONDITIONS", (*declared_conditions.CONDITIONS, pace))
    members = [
        given(number, replace(GREEDY, examinee=name, seed=seed))
        for number, (name, seed) in enumerate((("a", 1), ("b", 7), ("c", 1)), start=1)
    ]
    assert "Pace: 1, except for b (7)." in text(of(*members), "Procedure")
    assert "Pace" not in of(members[0]).text  # the default of all


def test_a_judge_with_a_model_is_named_with_the_hash_of_its_prompt_and_its_caution() -> None:
    member = given(1, GREEDY, [judged(answered("ct1", ANSWERS["ct1"]), ["jargon"])])
    said = text(of(replace(member, declarations=BOTH)), "Scoring")
    digest = hashlib.sha256(MODEL.prompt_text.encode()).hexdigest()[:12]
    assert (
        f"Connected text was rated by tab-2026:x (tab-2026:gemini:x, prompt SHA-256 {digest}) for "
        "the presence of 19 features: " in said
    )
    assert "rules-2 for the presence of 7 features" in said and said.count("The symptom") == 1
    assert (
        "Verdicts of tab-2026:x: labels by a language model; have a person check a sample." in said
    )


def test_kinds_that_every_model_has_alike_are_counted_and_not_listed() -> None:
    sampled = replace(GREEDY, decoding=Decoding(temperature=1.0))
    members = [
        given(2 * number + at, replace(each, examinee=name))
        for number, name in enumerate(("a", "b"))
        for at, each in enumerate((GREEDY, sampled))
    ]
    said = text(of(*members), "Procedure")
    assert (
        "Responses were decoded greedily in 1 and sampled at temperature 1 in 1 administration of "
        "each model." in said
    )
    assert "#" not in said


def test_days_that_are_not_known_are_counted() -> None:
    imported = replace(GREEDY, examinee="imported:m", origin="model", session_date="")
    first = given(1, GREEDY)
    second = given(2, imported)
    second = replace(second, administration=replace(second.administration, conditions=imported))
    said = text(of(first, second), "Procedure")
    assert "1 administration took place on " in said
    assert "the day of 1 other is not known." in said


def test_the_comparison_of_base_and_instruct_models_is_described_where_there_is_one() -> None:
    labels = {"family": "L", "parameters": "1000"}
    members = [
        given(number, replace(GREEDY, examinee=tuning, labels={**labels, "tuning": tuning}))
        for number, tuning in enumerate(("base", "instruct"), start=1)
    ]
    assert "paired t intervals over items" in text(of(*members), "Statistical analysis")
    assert "paired t" not in text(of(members[0]), "Statistical analysis")

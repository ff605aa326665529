"""The rules judge: each rule on its cases, all rules on any response, the paper's own examples."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from docs import rules_judge
from tabwb.records.exchange import Likelihood
from tabwb.records.states import ResponseKind, ResponseStatus, StopReason
from tabwb.scoring import lexicon
from tabwb.scoring.choice import (
    POLICIES,
    choose_by_likelihood,
    positions,
    read_choice,
    read_reason,
    reason_of,
)
from tabwb.scoring.repetition import carrier, edit_counts, read_repetition
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules import lexical, morphosyntax, repetition, vocabulary
from tabwb.scoring.rules.judge import judge
from tabwb.scoring.rules.lexical import approaches, is_word, similarity
from tabwb.scoring.rules.morphosyntax import align
from tabwb.scoring.rules.passage import (
    CURRENT,
    FEATURES,
    NEVER,
    ONE_SIDED,
    RULES_1,
    RULES_2,
    TWO_SIDED,
    Outcome,
    RuleVerdict,
    Run,
    TextContext,
    echoed,
    find_runs,
    is_content,
    normalise,
    rater_id,
    read,
)
from tabwb.scoring.rules.repetition import perseverations
from tabwb.scoring.text import common_subsequence
from tabwb.scoring.yes_no import AnswerWords, balanced_accuracy, read_yes_no
from tests.builders import every
from tests.scoring.readings import cases, item, prompts

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "rules_published.json").read_text(encoding="utf-8")
)
SUN = "The sun rises in the East."
PIECES = (
    "the The a I she go going store pen pencil pa st ca- I mean no sorry um blorf snizz dammit yes "
    "you know thing stuff two dog . ... ? ! , - _ \n house. kite is"
)
WORDS = PIECES.split(" ")
NOUNS = ("kite", "garden", "mother", "river", "window", "horse", "letter", "summer")
contexts = st.builds(
    TextContext,
    st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join),
    kind=st.sampled_from(ResponseKind),
    status=st.sampled_from(ResponseStatus),
    prompt=st.just("") | st.text(),
    sent=st.just("") | st.text(),
    expected=st.none() | st.text() | st.just(SUN),
    spoken=st.booleans(),
    previous=st.lists(st.text(), max_size=4).map(tuple),
    dialect=st.sampled_from(["", "Scots"]),
)


@every(cases("rules"))
def test_a_rule_says_of_a_text(case: dict[str, str]) -> None:
    """Columns left empty are not compared; a dash in ``words``: none."""
    context = TextContext(
        case["text"],
        ResponseKind(case["kind"] or "connected-text"),
        ResponseStatus(case["status"] or "ok"),
        prompt=case["prompt"],
        expected=case["target"] or None,
        spoken=bool(case["spoken"]),
        previous=tuple(filter(None, case["previous"].split(" | "))),
        dialect=case["dialect"],
    )
    places = (lexical, morphosyntax, repetition)
    rule = next(found for one in places if (found := vars(one).get(case["rule"])))
    verdict = rule(read(context, RULES_2 if case["version"] == "2" else RULES_1))
    assert not case["outcome"] or verdict.outcome == case["outcome"]
    words = [] if case["words"] == "-" else case["words"].split(" | ")
    assert not case["words"] or sorted(verdict.words) == sorted(words)
    assert case["note"] in verdict.note


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("I wanted a pen I mean pencil", [("pen", "pencil")]),
        ("I want a pa- pen, I mean, a pencil.", [("pa", "pen"), ("pen", "pencil")]),
        ("A tapple, no, a table.", [("tapple", "table")]),
        ("The sipper, sorry, slipper.", [("sipper", "slipper")]),
        ("A pen uh pencil.", [("pen", "pencil")]),
        ("There was a heart, no hope.", []),
        ("I went, I mean, I walked.", []),
        ("The kite, I mean, the boat.", []),
        ("The kite, um, the kite.", []),
        ("He had heard and then they thought.", []),
        ("Mr. Martin Martin marries.", []),
    ],
)
def test_approaches_come_nearer_to_a_word(text: str, steps: list[tuple[str, str]]) -> None:
    assert [(one.word, other.word) for one, other in approaches(read(text))] == steps


def brute_force_subsequence(one: str, other: str) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + brute_force_subsequence(one[1:], other[1:])
    return max(brute_force_subsequence(one[1:], other), brute_force_subsequence(one, other[1:]))


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_common_subsequence_is_that_of_the_definition(one: str, other: str) -> None:
    assert common_subsequence(one, other) == brute_force_subsequence(one, other)
    if one and other:
        assert similarity(one, other) == similarity(other, one)
        assert (similarity(one, other) == 1) == (one == other)


def test_a_word_is_known_by_its_stem_and_its_plain_form() -> None:
    assert is_word("mother's") and not is_word("blorf's")
    assert is_word("soooo") and not is_word("blorrrf")
    for text, english in (("The blorf snizz gorp flimby.", True), ("House garden river.", True),
                          ("Xqzt wbrt plimf drogg.", False)):  # fmt: skip
        assert lexicon.is_english([token.word for token in read(text).tokens]) is english


def brute_force_runs(words: list[str], shortest: int, longest: int) -> set[Run]:
    """All runs by definition: maximal to both sides, of a unit that is not itself a repetition."""
    found = set()
    for size in range(shortest, longest + 1):
        for start in range(len(words)):
            if start and words[start - 1 : start] == words[start - 1 + size : start + size]:
                continue
            end = start + size
            while end < len(words) and words[end] == words[end - size]:
                end += 1
            times = (end - start) // size
            unit = words[start : start + size]
            parts = [part for part in range(1, size) if size % part == 0]
            if times > 1 and not any(unit == unit[:part] * (size // part) for part in parts):
                found.add(Run(start, size, times))
    return found


@given(st.lists(st.sampled_from("abc"), max_size=16))
def test_runs_are_those_of_the_definition(words: list[str]) -> None:
    assert set(find_runs(words, 1, 5)) == brute_force_runs(words, 1, 5)


@given(st.sampled_from(NOUNS), st.integers(3, 8))
def test_taking_the_repeated_run_out_takes_the_perseveration_away(noun: str, times: int) -> None:
    run = " ".join([noun] * times)
    assert perseverations(read(f"We went out early and saw {run}.")).outcome is Outcome.PRESENT
    assert perseverations(read(f"We went out early and saw {noun}.")).outcome is Outcome.ABSENT


@given(st.text("abcdefgh ,.", min_size=1, max_size=40), st.sampled_from(NOUNS))
def test_saying_an_answer_three_times_perseverates(text: str, noun: str) -> None:
    answer = f"{text} {noun}"
    assume(len(read(answer).plain) <= 6)
    verdict = perseverations(read(f"{answer}\n{answer}\n{answer}"))
    assert verdict.outcome is Outcome.PRESENT


sentences = st.lists(st.sampled_from(["the", "sun", "suns", "rises", "rise"]), max_size=5)


@given(sentences, sentences)
def test_an_alignment_holds_all_words_of_both_in_order(
    target: list[str], answer: list[str]
) -> None:
    pairs = align(target, answer)
    assert [word for word, _ in pairs if word is not None] == target
    assert [word for _, word in pairs if word is not None] == answer
    assert align(target, target) == tuple(zip(target, target, strict=True))


def test_edit_distance_one_is_one_edit() -> None:
    words = ["".join(letters) for size in range(4) for letters in product("ab", repeat=size)]
    for one, other in product(words, repeat=2):
        edits = {other[:at] + other[at + 1 :] for at in range(len(other))}
        edits |= {other[:at] + x + other[at:] for at in range(len(other) + 1) for x in "ab"}
        edits |= {other[:at] + x + other[at + 1 :] for at in range(len(other)) for x in "ab"}
        assert (sum(edit_counts(one, other)) == 1) == (one in edits - {other})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We went. It rained!", "we went|it rained"),
        ("One\ntwo", "one|two"),
        ("Dr. Bell paid 3.5 dollars.", "dr bell paid dollars"),
        ("It was J. Smith. He left.", "it was j smith|he left"),
        ("So do I. Then we left.", "so do i|then we left"),
        ('"Go!" she said.', "go|she said"),
        ("I had a… dog", "i had a|dog"),
        ("1. Boil water.\n2. Add salt.", "boil water|add salt"),
        ("She said no. I left.", "she said no|i left"),
        ("we’d", "we'd"),
        ("...", ""),
    ],
)
def test_utterances_end_at_stops_and_newlines(text: str, expected: str) -> None:
    found = [" ".join(token.word for token in one.tokens) for one in read(text).utterances]
    assert "|".join(found) == expected


def test_a_hyphen_is_kept_before_a_space_or_a_comma_and_fillers_are_not_plain() -> None:
    hyphens = [(token.word, token.hyphen) for token in read("ca- cat, pe-, well-known st-").tokens]
    words = [("ca", True), ("cat", False), ("pe", True), ("well", False), ("known", False)]
    assert hyphens == [*words, ("st", False)]
    passage = read("Um, the uh kite")
    assert [token.word for token in passage.tokens] == ["um", "the", "uh", "kite"]
    assert [token.word for token in passage.plain] == ["the", "kite"]


@given(st.text())
def test_tokens_stand_where_they_say(text: str) -> None:
    passage = read(text)
    assert all(passage.text[each.start : each.end] == each.text for each in passage.tokens)
    assert [each.start for each in passage.tokens] == sorted(each.start for each in passage.tokens)
    assert all(each.text.isascii() and each.text for each in passage.tokens)
    assert normalise(normalise(text)) == normalise(text)


def test_a_stretch_of_the_prompt_is_an_echo_and_the_target_of_a_repetition_is_none() -> None:
    first = "Tell me about your first job."
    context = TextContext(f"{first} My first job was hard.", prompt=first)
    assert echoed(read(context), 3) == frozenset(range(6))
    prompt = f"Please repeat exactly: {SUN}"
    context = TextContext(prompt, ResponseKind.VERBATIM, prompt=prompt, expected=SUN)
    assert echoed(read(context), 3) == frozenset(range(3))


def test_content_words() -> None:
    assert not any(map(is_content, ("the", "she's", "won't", "can't", "because", "i'm")))
    assert all(map(is_content, ("kite", "going", "mother's", "want")))


def outcomes(verdicts: Mapping[str, RuleVerdict]) -> set[Outcome]:
    return {each.outcome for each in verdicts.values()}


@given(contexts)
def test_what_holds_of_the_verdicts_on_any_response(context: TextContext) -> None:
    verdicts = judge(context)
    assert set(verdicts) == set(FEATURES) and len(FEATURES) == len(set(FEATURES)) == 19
    assert {verdicts[feature].outcome for feature in NEVER} == {Outcome.UNDEFINED}
    for feature in ONE_SIDED:
        known_target = feature == "omission-of-function-words" and context.kind == "verbatim"
        assert known_target or verdicts[feature].outcome is not Outcome.ABSENT
    for verdict in verdicts.values():
        assert bool(verdict.words) == (verdict.outcome is Outcome.PRESENT)
        assert verdict.note or verdict.outcome is not Outcome.UNDEFINED
    assert judge(context) == verdicts


@given(st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_apostrophes_of_either_kind_are_judged_the_same(text: str) -> None:
    assert judge(TextContext(f"We'd go. {text}")) == judge(TextContext(f"We’d go. {text}"))


@pytest.mark.parametrize(
    ("context", "note"),
    [
        (TextContext(""), "empty"),
        (TextContext(" \n"), "empty"),
        (TextContext("anything", status=ResponseStatus.EMPTY), "empty"),
        (TextContext("Ich hätte gern Brötchen gekauft"), "not-language"),
        (TextContext("Дом у моря"), "not-language"),
        (TextContext("12 + 12"), "not-language"),
        (TextContext("Xqzt wbrt plimf"), "not-language"),
        (TextContext("。。"), "not-language"),
    ],
)
def test_what_is_empty_or_not_english_leaves_everything_undefined(
    context: TextContext, note: str
) -> None:
    verdicts = judge(context)
    assert outcomes(verdicts) == {Outcome.UNDEFINED} and note in verdicts["neologisms"].note


def test_one_non_word_is_an_answer_in_repetition() -> None:
    context = TextContext("catastroph", ResponseKind.VERBATIM, expected="catastrophe.")
    assert judge(context)["phonemic-paraphasias"].outcome is Outcome.PRESENT


def test_healthy_prose_shows_no_sign() -> None:
    text = (
        "The best trip I ever took was to the mountains with my sister. We hiked for three days, "
        "slept in a tent, and watched the sun come up over a lake. On the last evening it rained "
        "so hard that we laughed until we cried. I still think about it whenever I smell pine."
    )
    verdicts = judge(TextContext(text, prompt="Tell me about the best trip you ever took."))
    assert {verdicts[feature].outcome for feature in TWO_SIDED} == {Outcome.ABSENT}
    assert not [name for name, said in verdicts.items() if said.outcome is Outcome.PRESENT]


def test_the_rater_is_named_after_the_version() -> None:
    assert rater_id(dataclasses.replace(RULES_1, version=7)) == "rules-7"


def test_a_change_of_numbers_or_lists_needs_a_new_version() -> None:
    """When this fails: raise the version of the thresholds, then write the new fingerprint here."""
    of_statuses = {"FOREIGN", "FOREIGN_SHARE", "FOREIGN_WORDS", "KNOWN_SHARE"}
    of_files = {"LEVELS", "RARER", "_DATA"}
    lists = {
        name: sorted(map(str, value)) if isinstance(value, frozenset) else str(value)
        for name, value in sorted((vars(lexicon) | vars(vocabulary)).items())
        if name.isupper() and name not in of_statuses | of_files
    }
    data = repr((sorted(dataclasses.asdict(CURRENT).items()), sorted(lists.items())))
    fingerprint = hashlib.sha256(data.encode()).hexdigest()[:16]
    assert (CURRENT.version, fingerprint) == (2, "3a1c93c796de1c36")


@every(cases("passages"))
def test_each_version_says_of_a_passage_what_it_says(case: dict[str, str]) -> None:
    """Column ``rules_1`` was made with the code of the first version, before there was a second."""
    context = TextContext(case["text"], prompt=case["prompt"], spoken=case["mode"] == "spoken")
    for limits in (RULES_1, RULES_2):
        assert judge(context, limits)[case["feature"]].outcome == case[f"rules_{limits.version}"]


def fired(context: TextContext) -> set[str]:
    return {name for name, said in judge(context).items() if said.outcome is Outcome.PRESENT}


def test_of_the_labelled_transcripts_eight_of_twelve_signs_are_found_and_no_other() -> None:
    labelled = found = 0
    for each in PUBLISHED["judged"]:
        labels = set(each["present"]) & set(TWO_SIDED + ONE_SIDED)
        labelled += len(labels)
        found += len(labels & fired(TextContext(each["text"], spoken=True)))
        for spoken in (True, False):
            assert fired(TextContext(each["text"], spoken=spoken)) <= set(each["present"])
    assert (found, labelled) == (8, 12)


@pytest.mark.parametrize(
    ("example", "found"),
    [
        (0, {"anomia"}),
        (1, set()),
        (2, {"neologisms", "perseverations"}),
        (3, {"perseverations"}),
        (4, {"omission-of-function-words"}),
    ],
)
def test_illustrated_responses_show_the_papers_symptoms_and_no_others(
    example: int, found: set[str]
) -> None:
    each = PUBLISHED["illustrated"][example]
    assert fired(rules_judge.illustrated_context(each)) == found
    assert found <= set(each["present"])


@pytest.mark.parametrize("each", PUBLISHED["defined"], ids=lambda each: each["feature"])
def test_a_definitions_example_is_found_by_its_own_rule(each: dict[str, Any]) -> None:
    missed = {"phonemic-paraphasias", "omission-of-bound-morphemes", *NEVER}
    verdict = judge(TextContext(each["text"]))[each["feature"]]
    expected = Outcome.UNDEFINED if each["feature"] in missed else Outcome.PRESENT
    assert verdict.outcome is expected


def test_the_page_shows_what_the_code_says() -> None:
    page = rules_judge.PAGE.read_text(encoding="utf-8")
    assert all(f"<!-- table: {name} -->" in page for name in rules_judge.TABLES)
    assert rules_judge.written(page) == page
    lines = rules_judge.measure(["I went home early that day in May.", "A blorf, he said, it is."])
    assert "2 texts" in lines
    assert "neologisms                           1  50.0 %" in lines


END, LENGTH = StopReason.END, StopReason.LENGTH
CARRIER = "Please repeat exactly: "

BOOT = ("boot", "boat", "lion", "drum", "violin", "giraffe")
FOILS = {"boat": "phonological", "lion": "semantic"}
OWN = {
    "yes-no": None,
    "German": AnswerWords(("Ja", "jo", "jawohl"), ("Nein", "nee")),
    "French": AnswerWords(("Yes", "oui"), ("No", "non")),
}
READINGS_WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=5)
OPTIONS = st.lists(READINGS_WORDS, min_size=2, max_size=6, unique=True).map(tuple)
SIGNS = st.text(alphabet="abc", max_size=8)
SENTENCES = st.text(alphabet="aB .'’\n", max_size=12)


@every(cases("policies"))
def test_each_policy_reads_what_it_may(case: dict[str, str]) -> None:
    """Empty: not compared; ``-`` nothing (of a repetition in signs: undefined), ``?`` ambiguous."""
    text, language = case["text"], case["language"]
    wanted = tuple(filter(None, case["wanted"].split("|")))
    if case["how"] == "repetition":
        answer = read_repetition(text, case["wanted"], case["prompt"], language)
        values = {True: "1", False: "0", None: "-"}
        found = {policy: values[getattr(answer, policy)] for policy in POLICIES}
        assert not answer.exact or not any(answer.errors.counts().values())
    else:
        read = (
            read_choice(text, wanted, (), language)
            if case["how"] == "choice"
            else read_yes_no(text, wanted, (), language, OWN[case["how"]])
        )
        each = {policy: read.reading(policy) for policy in POLICIES}
        found = {
            policy: "?" if one.ambiguous else one.chosen or one.undefined or "-"
            for policy, one in each.items()
        }
    assert {policy: case[policy] or found[policy] for policy in POLICIES} == found


@every(cases("choices"))
def test_a_choice_is_the_answer_that_a_careful_reader_takes(case: dict[str, str]) -> None:
    options = item(case["item"]).options
    reading = read_choice(case["text"], options, prompts(case["item"])).extracted
    assert ("ambiguous" if reading.ambiguous else reading.chosen or "none") == case["reading"]


@every(cases("yes_no"))
def test_yes_or_no_is_the_answer_that_a_careful_reader_takes(case: dict[str, str]) -> None:
    reading = read_yes_no(case["text"], (), prompts(case["item"])).extracted
    assert ("ambiguous" if reading.ambiguous else reading.chosen or "none") == case["reading"]


@every(cases("repetitions"))
def test_extracted_wants_the_target_exactly_once(case: dict[str, str]) -> None:
    answer = read_repetition(case["text"], case["target"], CARRIER + case["target"])
    assert answer.extracted == (case["extracted"] == "1")


@every(cases("refusals"))
def test_a_refusal_is_a_reply_that_declines_and_does_not_answer(case: dict[str, str]) -> None:
    status = response_status(case["text"], END, kind=ResponseKind.CONNECTED_TEXT, language="en")
    assert status == case["status"]


@every(cases("statuses"))
def test_statuses_by_kind_of_response(case: dict[str, str]) -> None:
    stop = LENGTH if case["status"] == "truncated" else END
    prompt, kind = "Tell me about it.", ResponseKind(case["kind"])
    assert response_status(case["text"], stop, prompt, kind=kind, language="en") == case["status"]


@every(cases("status_cases"))
def test_statuses_by_prompt_and_language(case: dict[str, str]) -> None:
    found = response_status(
        case["text"],
        StopReason(case["stop"]),
        case["prompt"].replace("\\n", "\n"),
        case["expected"] or None,
        kind=ResponseKind(case["kind"]) if case["kind"] else None,
        language=case["language"],
        answers=tuple(filter(None, case["answers"].split("|"))),
    )
    assert found == case["status"]


def test_the_error_is_the_foil_kind_of_the_option_chosen() -> None:
    errors = {"boat": "phonological", "drum": "other-option", "shoe": "no-option", "boot": None}
    for said, error in errors.items():
        assert read_choice(said, BOOT).exact.error("boot", FOILS) == error
    both = read_choice("boot or boat", BOOT).extracted
    assert both.named == ("boot", "boat")
    assert not both.correct("boot")


def test_the_prompts_own_list_names_nothing() -> None:
    options, asked = item("wc3").options, prompts("wc3")
    assert read_choice(asked[0], options, asked).extracted.named == ()
    assert read_choice(asked[0], options).extracted.ambiguous


@given(OPTIONS, st.data())
def test_what_one_policy_reads_the_laxer_ones_read_too(
    options: tuple[str, ...], data: st.DataObject
) -> None:
    option = data.draw(st.sampled_from(options))
    dress = data.draw(st.sampled_from(["{}", " {} ", "{}.", '"{}"', "“{}.”", "'{}'."]))
    answer = read_choice(dress.format(option), options)
    assert answer.exact.chosen in (None, option)
    assert answer.normalised.chosen == answer.extracted.chosen == option


@given(st.text(), OPTIONS)
def test_only_options_are_named_and_their_order_decides_nothing(
    response: str, options: tuple[str, ...]
) -> None:
    one, other = read_choice(response, options), read_choice(response, options[::-1])
    for policy in POLICIES:
        assert set(one.reading(policy).named) <= set(options)
        assert set(one.reading(policy).named) == set(other.reading(policy).named)


@given(
    st.lists(st.sampled_from([*BOOT[:3], "Boot.", "or", "the", ""]), max_size=3).map(" ".join),
    st.sampled_from(POLICIES),
    st.sampled_from(["boot", "lion"]),
)
def test_the_reason_of_a_stored_verdict_gives_the_reading_back(
    answer: str, policy: str, expected: str
) -> None:
    reading = read_choice(answer, BOOT[:3]).reading(policy)
    reason = reason_of(reading, expected, FOILS, empty=not answer.strip())
    back = read_reason(reading.correct(expected), reason, expected, BOOT[:3], FOILS)
    assert back.error == reading.error(expected, FOILS)
    assert back.chosen == reading.chosen


def test_the_share_of_a_position_is_of_the_answers_that_named_an_option() -> None:
    answers = [
        (("boot", "boat"), "boot", True, "boot"),
        (("boat", "boot"), "boot", False, "boat"),
        (("boot", "boat"), "boot", False, "boat"),
        (("boot", "boat"), "boot", False, None),
    ]
    first, second = positions(answers)
    assert (first.share.value, second.share.value) == (2 / 3, 1 / 3)
    assert (first.accuracy.value, second.accuracy.value) == (1 / 3, 0.0)
    (unnamed, _) = positions(answers[-1:])
    assert unnamed.share.value is None


def test_choices_by_likelihood_are_those_of_the_harness() -> None:
    """Its tasks compute ``acc`` by argmax(sums), ``acc_norm`` by argmax(sums / characters)."""
    options = ["lion", "a drum", "violin case", "boot"]
    sums = [-7.1, -7.0, -11.0, -7.4]
    weighed = {
        option: Likelihood(total, tokens)
        for option, total, tokens in zip(options, sums, (1, 2, 5, 1), strict=True)
    }
    choice = choose_by_likelihood(weighed)
    characters = np.array([float(len(option)) for option in options])
    assert choice.by_sum == options[int(np.argmax(sums))] == "a drum"
    assert choice.per_character == options[int(np.argmax(np.array(sums) / characters))]
    assert (choice.per_token, choice.per_character) == ("violin case", "violin case")
    # Of equal options the first; an impossible one never.
    alike = {"b": Likelihood(-1.0, 1), "a": Likelihood(-1.0, 1)}
    assert choose_by_likelihood(alike).by_sum == "b"
    choice = choose_by_likelihood({"never": Likelihood(-math.inf, 1), "rarely": weighed["boot"]})
    assert {choice.by_sum, choice.per_token, choice.per_character} == {"rarely"}
    with pytest.raises(ValueError, match="no options"):
        choose_by_likelihood({})


def test_balanced_accuracy_weighs_both_answers_alike() -> None:
    keys = ("Yes", "No", "No", "Yes", "Yes")  # TAB's five sentences (appendix B.3)
    # 2 of 3 Yes items and 1 of 2 No items: (2/3 + 1/2) / 2 = 7/12.
    said = ["Yes", "No", "Yes", None, "Yes"]
    assert balanced_accuracy(zip(keys, said, strict=True)).value == pytest.approx(7 / 12)
    assert balanced_accuracy([]).reason == "no item answered"
    assert balanced_accuracy([("Yes", "Yes")]).reason == "every expected answer is Yes"


@given(st.lists(st.tuples(st.sampled_from(["Yes", "No"]), st.sampled_from(["Yes", "No", None]))))
def test_balanced_accuracy_of_one_constant_answer_is_a_half(
    pairs: list[tuple[str, str | None]],
) -> None:
    expected = [key for key, _ in pairs]
    constant = balanced_accuracy((key, "Yes") for key in expected)
    assert constant.value == (0.5 if len(set(expected)) == 2 else None)
    estimate = balanced_accuracy(pairs)
    assert estimate.value is None or 0 <= estimate.value <= 1


@given(st.text(), st.text())
def test_any_text_has_a_reading(text: str, prompt: str) -> None:
    assert set(read_yes_no(text, (), (prompt,)).extracted.named) <= {"Yes", "No"}


@pytest.mark.parametrize(
    ("said", "target", "counts", "unit"),
    [
        # TAB, appendix B.4: insertions, deletions, substitutions, echoes of the carrier, spacing.
        ("catastroph", "catastrophe.", (0, 2, 0, 0, 0), "characters"),
        ("catastrophically.", "catastrophe.", (5, 0, 1, 0, 0), "characters"),
        # Appendix C, example 3: "house. republice. house. republice" is left.
        (
            "Please repeat exactly: house. republice. Please repeat exactly: house. republice",
            "house.",
            (28, 0, 0, 2, 0),
            "characters",
        ),
        ("please repeat  exactly", "house.", (0, 6, 0, 1, 0), "characters"),
        # Appendix C, example 5: sun, rises, in, the.
        ("The East.", SUN, (0, 4, 0, 0, 0), "words"),
        (SUN.removesuffix("."), SUN, (0, 1, 0, 0, 0), "words"),
        ("The  sun rises in the East.", SUN, (0, 0, 0, 0, 1), "words"),
        ("ba", "ab", (1, 1, 0, 0, 0), "characters"),
        ("天气很好。", "天气不好。", (0, 0, 1, 0, 0), "characters"),
    ],
)
def test_errors_of_a_repetition(said: str, target: str, counts: tuple[int, ...], unit: str) -> None:
    errors = read_repetition(said, target, CARRIER + target).errors
    names = ("insertion", "deletion", "substitution", "carrier-echo", "spacing")
    assert errors.counts() == dict(zip(names, counts, strict=True)) | {"no-response": 0}
    assert errors.unit == unit
    alone = read_repetition(" \n", SUN).errors.counts()
    assert alone == dict.fromkeys(names, 0) | {"no-response": 1}


def test_the_carrier_is_what_stands_before_the_target() -> None:
    assert carrier("house.", "Please repeat exactly: house.") == "Please repeat exactly:"
    assert carrier("house.", "house.") == carrier("house.", "Say it again.") == ""


def levenshtein(one: str, other: str) -> int:
    """A second derivation, by recursion on prefixes."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        levenshtein(one[:-1], other[:-1]) + (one[-1] != other[-1]),
        levenshtein(one[:-1], other) + 1,
        levenshtein(one, other[:-1]) + 1,
    )


@given(st.text(alphabet="abc", max_size=5), st.text(alphabet="abc", max_size=5))
def test_the_edits_are_as_few_as_they_can_be(said: str, wanted: str) -> None:
    assert sum(edit_counts(said, wanted)) == levenshtein(said, wanted)


@given(SIGNS, SIGNS)
def test_insertions_less_deletions_are_the_difference_in_length(said: str, wanted: str) -> None:
    inserted, deleted, substituted = edit_counts(said, wanted)
    assert inserted - deleted == len(said) - len(wanted)
    assert min(inserted, deleted, substituted) >= 0
    assert edit_counts(wanted, said) == (deleted, inserted, substituted)


@given(SENTENCES, SENTENCES.filter(str.strip))
def test_there_is_an_error_exactly_when_the_repetition_is_not_exact(
    response: str, target: str
) -> None:
    answer = read_repetition(response, target, CARRIER + target)
    assert answer.exact is not any(answer.errors.counts().values())
    assert answer.normalised or not answer.exact
    assert answer.extracted or not answer.normalised


@given(st.text(), st.sampled_from(list(StopReason)), st.text())
def test_every_text_has_a_status(text: str, stop: StopReason, prompt: str) -> None:
    for each in (text, text.strip() and "", " ", "\n\t"):
        status = response_status(each, stop, prompt)
        assert (status is ResponseStatus.EMPTY) == (not each.strip())


@pytest.mark.parametrize("kind", list(ResponseKind))
def test_the_expected_answer_is_never_degenerate_or_foreign(kind: ResponseKind) -> None:
    for answer in ("Yes", "house.", "the the the", "Le lion est un animal."):
        status = response_status(answer, END, expected=answer, kind=kind, language="en")
        assert status is ResponseStatus.OK

"""Judges that ask for log probabilities: labels key by key, calibration, surprisal."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_judges.likelihood import LikelihoodJudge, SurprisalJudge, probability_of_one, surprisal

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Likelihood, Message, Request
from tabwb.records.states import RatingStatus, ResponseStatus
from tests.plugins.conftest import model
from tests.plugins.judging import (
    GOOD,
    SMALL,
    SPEC,
    Leaning,
    Scripted,
    last_key,
    response,
    statuses,
    values,
    verdicts,
)

LOG = st.floats(-1e3, 0)


def judge(
    lean: Callable[[str, str], float], *, calibrated: bool = False, threshold: float = 0.5
) -> tuple[LikelihoodJudge, Leaning]:
    leaning = Leaning(lean)
    prompt = replace(SMALL, threshold=threshold, null="N/A")
    return LikelihoodJudge(SPEC, prompt, lambda: leaning, calibrated=calibrated), leaning


def by_key(**chances: float) -> Callable[[str, str], float]:
    return lambda prompt, written: chances[last_key(written)]


def test_the_caution_is_sentences() -> None:
    for caution in ("made up", "made up."):
        prompt = replace(SMALL, caution=caution)
        rater = LikelihoodJudge(SPEC, prompt, lambda: Leaning(lambda *_: 0.5), calibrated=False)
        assert rater.caution.startswith("made up. These labels")


@given(LOG, LOG)
def test_the_two_labels_share_all_probability(zero: float, one: float) -> None:
    both = probability_of_one(zero, one) + probability_of_one(one, zero)
    assert both == pytest.approx(1)


@given(LOG, LOG, LOG, LOG, st.floats(-50, 50))
def test_a_common_factor_changes_nothing(
    zero: float, one: float, null_zero: float, null_one: float, shift: float
) -> None:
    plain = probability_of_one(zero, one, null_zero, null_one)
    moved = probability_of_one(zero + shift, one + shift, null_zero + shift, null_one + shift)
    assert moved == pytest.approx(plain, abs=1e-9)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_calibration_divides_by_the_null_passages_probabilities(p: float, null: float) -> None:
    # Zhao et al. 2021, equation 1 with W = diag(p_null)^-1 and b = 0, normalised.
    expected = (p / null) / (p / null + (1 - p) / (1 - null))
    found = probability_of_one(math.log(1 - p), math.log(p), math.log(1 - null), math.log(null))
    assert found == pytest.approx(expected)


def test_a_passage_like_the_null_passage_is_even() -> None:
    assert probability_of_one(-3.0, -1.0, -3.0, -1.0) == 0.5


def test_each_feature_has_its_label_and_its_probability() -> None:
    made, _ = judge(by_key(Anomia=0.75, Jargon=0.25))
    verdict = verdicts(made, response())[0]
    found = values(verdict)
    assert (found["anomia"], found["jargon"]) == (1.0, 0.0)
    assert found["anomia.probability"] == pytest.approx(0.75)
    assert found["jargon.probability"] == pytest.approx(0.25)
    assert set(made.features) == {"anomia", "jargon"}
    assert verdict.ratings[0].reason == "P(1) = 0.750, threshold 0.5"


def test_each_key_is_weighed_after_the_labels_that_were_chosen() -> None:
    made, leaning = judge(by_key(Anomia=0.75, Jargon=0.25))
    verdict = verdicts(made, response())[0]
    assert [texts for _, texts in leaning.weighed] == [
        ('{\n  "Anomia": 0', '{\n  "Anomia": 1'),
        ('{\n  "Anomia": 1,\n  "Jargon": 0', '{\n  "Anomia": 1,\n  "Jargon": 1'),
    ]
    assert verdict.raw == json.dumps(json.loads(GOOD), indent=2)


def test_it_is_laid_out_like_the_examples_that_the_model_was_shown() -> None:
    made, _ = judge(by_key(Anomia=0.75, Jargon=0.25))
    assert verdicts(made, response())[0].raw == SMALL.labels(("anomia",))


@pytest.mark.parametrize(
    ("chance", "threshold", "present"), [(0.75, 0.7, 1.0), (0.75, 0.8, 0.0), (0.5, 0.5, 0.0)]
)
def test_present_is_above_the_prompts_threshold(
    chance: float, threshold: float, present: float
) -> None:
    made, _ = judge(by_key(Anomia=chance, Jargon=0.25), threshold=threshold)
    assert values(verdicts(made, response())[0])["anomia"] == present


def test_calibration_compares_with_the_null_passage_after_the_same_labels() -> None:
    def lean(prompt: str, written: str) -> float:
        return 0.9 if "N/A" in prompt else {"Anomia": 0.8, "Jargon": 0.95}[last_key(written)]

    made, leaning = judge(lean, calibrated=True)
    verdict = verdicts(made, response())[0]
    found = values(verdict)
    # (0.8 / 0.9) / (0.8 / 0.9 + 0.2 / 0.1) and (0.95 / 0.9) / (0.95 / 0.9 + 0.05 / 0.1)
    assert found["anomia.probability"] == pytest.approx(4 / 13)
    assert found["jargon.probability"] == pytest.approx(19 / 28)
    assert (found["anomia"], found["jargon"]) == (0.0, 1.0)
    assert verdict.ratings[0].reason.endswith("before calibration 0.800")
    null = [texts for prompt, texts in leaning.weighed if "N/A" in prompt]
    assert null == [texts for prompt, texts in leaning.weighed if "N/A" not in prompt]


def test_the_null_passage_is_weighed_once() -> None:
    made, leaning = judge(by_key(Anomia=0.75, Jargon=0.25), calibrated=True)
    verdicts(made, response("one"), response("two"))
    assert sum("N/A" in prompt for prompt, _ in leaning.weighed) == 2


def test_how_labels_are_read_is_part_of_what_is_kept() -> None:
    lean = by_key(Anomia=0.75, Jargon=0.25)
    texts = {
        judge(lean)[0].prompt_text,
        judge(lean, threshold=0.6)[0].prompt_text,
        judge(lean, calibrated=True)[0].prompt_text,
        SMALL.canonical,
    }
    assert len(texts) == 4


def test_a_model_without_log_probabilities_is_refused_at_once() -> None:
    with pytest.raises(ComponentError, match="log probabilities") as error:
        LikelihoodJudge(SPEC, SMALL, lambda: Scripted(lambda request: GOOD), calibrated=False)
    assert "for example transformers:ID" in str(error.value)


def test_a_failure_is_an_error_and_the_next_response_is_judged() -> None:
    def lean(prompt: str, written: str) -> float:
        if "broken" in prompt:
            raise ComponentError("memory ran out")
        return 0.75

    made, _ = judge(lean)
    found = verdicts(made, response("broken"), response())
    assert statuses(found[0]) == {RatingStatus.ERROR}
    assert set(values(found[0])) == {"anomia", "jargon"}
    assert statuses(found[1]) == {RatingStatus.VALUE}


def test_labels_without_any_probability_are_an_error() -> None:
    class Blind(Leaning):
        def likelihood(self, request, continuations, cancel):  # type: ignore[no-untyped-def]
            return [Likelihood(-math.inf, 1) for _ in continuations]

    made = LikelihoodJudge(SPEC, SMALL, lambda: Blind(lambda *_: 0.5), calibrated=False)
    assert statuses(verdicts(made, response())[0]) == {RatingStatus.ERROR}


def test_an_empty_response_is_undefined_and_nothing_is_weighed() -> None:
    made, leaning = judge(by_key())
    verdict = verdicts(made, response("", ResponseStatus.EMPTY))[0]
    assert statuses(verdict) == {RatingStatus.UNDEFINED}
    assert not leaning.weighed


def test_cancel_in_the_middle_says_nothing() -> None:
    cancel = threading.Event()

    def lean(prompt: str, written: str) -> float:
        cancel.set()
        return 0.75

    made, leaning = judge(lean)
    assert list(made.judge_many([response(), response()], (), cancel)) == []
    assert len(leaning.weighed) == 1


class Counting(Leaning):
    """Every word has probability 1/8."""

    def __init__(self) -> None:
        super().__init__(lambda *_: 0.5)
        self.requests: list[Request] = []

    def likelihood(self, request, continuations, cancel):  # type: ignore[no-untyped-def]
        self.requests.append(request)
        words = [len(text.split()) for text in continuations]
        return [Likelihood(-n * math.log(8), n) for n in words]


@given(st.integers(1, 50), st.floats(0.01, 1))
def test_surprisal_is_the_mean_over_tokens_in_bits(tokens: int, chance: float) -> None:
    found = surprisal(Likelihood(tokens * math.log(chance), tokens))
    assert found == pytest.approx(-math.log2(chance), abs=1e-12)


def test_surprisal_and_perplexity_of_a_response() -> None:
    counting = Counting()
    made = SurprisalJudge(SPEC, lambda: counting, after_prompt=False)
    assert made.examinee
    assert made.features == ()
    found = values(verdicts(made, response("I went home."))[0])
    assert found["surprisal"] == pytest.approx(3.0)
    assert found["perplexity"] == pytest.approx(8.0)
    assert counting.requests[0].messages == ()


def test_surprisal_after_what_was_sent() -> None:
    counting = Counting()
    made = SurprisalJudge(SPEC, lambda: counting, after_prompt=True)
    verdicts(made, response())
    assert [each.content for each in counting.requests[0].messages] == [
        "Talk. Tell me about trips."
    ]


def test_surprisal_after_everything_that_was_sent() -> None:
    counting = Counting()
    sent = (Message("system", "Be kind."), Message("user", "One."), Message("assistant", "Two."))
    made = SurprisalJudge(SPEC, lambda: counting, after_prompt=True)
    verdicts(made, replace(response(), messages=(*sent, Message("user", "Three."))))
    assert [each.content for each in counting.requests[0].messages] == [
        "Be kind.", "One.", "Two.", "Three.",
    ]  # fmt: skip


@pytest.mark.parametrize("after_prompt", [False, True])
def test_two_responses_are_two_requests(after_prompt: bool) -> None:
    made = SurprisalJudge(SPEC, Counting, after_prompt=after_prompt)
    assert made.requests(response("one"), ()) != made.requests(response("two"), ())


def test_a_text_without_tokens_or_words_is_undefined() -> None:
    made = SurprisalJudge(SPEC, Counting, after_prompt=False)
    found = verdicts(made, response(" "), response("", ResponseStatus.EMPTY))
    assert statuses(found[0]) == statuses(found[1]) == {RatingStatus.UNDEFINED}
    assert found[1].requests == 0


def test_surprisal_needs_log_probabilities() -> None:
    with pytest.raises(ComponentError, match="log probabilities"):
        SurprisalJudge(SPEC, lambda: Scripted(lambda request: GOOD), after_prompt=False)


def test_the_probabilities_are_those_of_the_next_token(chatty: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    made = LikelihoodJudge(SPEC, SMALL, lambda: model(chatty), calibrated=False)
    verdict = verdicts(made, response())[0]
    found = values(verdict)
    network = transformers.AutoModelForCausalLM.from_pretrained(chatty)
    tokenizer = transformers.AutoTokenizer.from_pretrained(chatty)
    written = "<user>Judge “I went home.”.<assistant>{"
    for key, feature in SMALL.keys.items():
        written += f'{"" if feature == "anomia" else ","}\n  "{key}": '
        tokens = torch.tensor([tokenizer(written, add_special_tokens=False)["input_ids"]])
        with torch.no_grad():
            logits = network(tokens).logits[0, -1]
        both = logits[tokenizer.convert_tokens_to_ids(["0", "1"])]
        expected = float(torch.softmax(both, dim=-1)[1])
        assert found[f"{feature}.probability"] == pytest.approx(expected, abs=1e-5)
        written += str(int(expected > 0.5))
    assert verdict.raw == written.partition("<assistant>")[2] + "\n}"


def test_surprisal_is_the_models_own_loss_in_bits(chatty: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    made = SurprisalJudge(SPEC, lambda: model(chatty), after_prompt=False)
    found = values(verdicts(made, response())[0])
    network = transformers.AutoModelForCausalLM.from_pretrained(chatty)
    tokenizer = transformers.AutoTokenizer.from_pretrained(chatty)
    tokens = torch.tensor([tokenizer("I went home.", add_special_tokens=False)["input_ids"]])
    with torch.no_grad():
        loss = float(network(tokens, labels=tokens).loss)
    assert found["surprisal"] == pytest.approx(loss / math.log(2), rel=1e-5)
    assert found["perplexity"] == pytest.approx(math.exp(loss), rel=1e-5)

"""A judge that compares the log probabilities of labels, so that no reply has to be parsed.

The JSON object that the prompt asks for is filled in key by key: the model returns the likelihood
of ``0`` and ``1`` after the prompt and the object so far. The more likely label is appended before
the next key.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabwb.battery.model import Feature
from tabwb.host.judge_prompts import JudgePrompt, canonical_json
from tabwb.plugin_api.components import Cancel, Judge, LikelihoodBackend, ModelBackend, Response
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request, Wait
from tabwb.records.ratings import PROBABILITY, Rating, Verdict, failed, undefined, valued
from tabwb.records.specs import Spec, inner_spec
from tabwb.records.states import RatingStatus, StopReason
from tabwb_judges.chat import NO_RESPONSE, PromptJudge

LABELS = ("0", "1")


def probability_of_one(
    zero: float, one: float, null_zero: float = 0.0, null_one: float = 0.0
) -> float:
    r"""Return the probability of the label 1 among the two labels, calibrated or not.

    P(1) = e^one / (e^zero + e^one). Contextual calibration divides each probability by the one
    that the same label has for a passage without content, and normalises: P(1) = w1 / (w0 + w1)
    with w = e^(label - null label). (Zhao, Wallace, Feng, Klein and Singh 2021, Calibrate Before
    Use, ICML; with W = diag(p_null)^-1 and b = 0.)

    >>> round(probability_of_one(math.log(0.2), math.log(0.6)), 12)
    0.75
    >>> round(probability_of_one(math.log(0.2), math.log(0.6), math.log(0.1), math.log(0.3)), 12)
    0.5
    """
    odds = (one - zero) - (null_one - null_zero)
    if math.isnan(odds):
        raise ValueError("neither 0 nor 1 has a probability")
    if odds >= 0:
        return 1.0 / (1.0 + math.exp(-odds))
    return math.exp(odds) / (1.0 + math.exp(odds))


@dataclass(frozen=True, slots=True)
class Weighed:
    """The probabilities of one key.

    Attributes:
        probability: of the label 1, calibrated where the judge is.
        plain: the same, not calibrated.
    """

    probability: float
    plain: float


class _Cancelled(Exception):
    """A comparison was cancelled."""


class LikelihoodJudge(PromptJudge):
    """Labels every feature by comparing the log probabilities of 0 and 1."""

    def __init__(
        self,
        spec: Spec,
        prompt: JudgePrompt,
        make_inner: Callable[[], ModelBackend],
        *,
        calibrated: bool,
    ) -> None:
        # Made now and loaded later, so that an unsuitable model is reported before anything runs.
        self._weigher = weigher(make_inner(), str(spec))
        super().__init__(spec, prompt, lambda: self._weigher)
        self._calibrated = calibrated
        self.prompt_text = prompt.weighed(calibrated=calibrated)
        self.caution = (
            f"{prompt.caution.rstrip('.')}. These labels are read off log probabilities, which the "
            "source study did not do."
        )
        self._null: dict[tuple[str, str], tuple[float, float]] = {}

    writes = False

    def close(self) -> None:
        """Release the model and the values for calibration."""
        self._null.clear()
        super().close()

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        """Yield one verdict after the other, in order.

        One request is one prompt with all its continuations.
        """
        for index, response in enumerate(responses):
            if cancel.is_set():
                return
            requests = self.requests(response, features)
            if not requests:
                yield index, self._no_response(features)
                continue
            started = time.monotonic()
            try:
                verdict = self._weigh(response, requests[0], features, cancel)
            except _Cancelled:
                return
            except (TabwbError, ValueError) as error:
                ratings = self._without(RatingStatus.ERROR, str(error), features)
                verdict = Verdict(
                    ratings, stop_reason=StopReason.ERROR, latency_s=time.monotonic() - started
                )
            yield index, verdict

    def _weigh(
        self, response: Response, request: Request, features: Sequence[Feature], cancel: Cancel
    ) -> Verdict:
        started = time.monotonic()
        weighed, written = self._filled(response, request, cancel)
        ratings = []
        for feature, label in weighed.items():
            reason = f"P(1) = {label.probability:.3f}, threshold {self._prompt.threshold:g}"
            if self._calibrated:
                reason += f"; before calibration {label.plain:.3f}"
            present = label.probability > self._prompt.threshold
            ratings.append(valued(self.rater, feature, present, reason))
        ratings += [
            valued(self.rater, feature + PROBABILITY, label.probability)
            for feature, label in weighed.items()
        ]
        return Verdict(
            (*ratings, *self._others(features)),
            raw=written,
            latency_s=time.monotonic() - started,
        )

    def _filled(
        self, response: Response, request: Request, cancel: Cancel
    ) -> tuple[dict[str, Weighed], str]:
        """Return every feature's probability, and the JSON object as it was filled in."""
        weighed: dict[str, Weighed] = {}
        written = "{"
        for key, feature in self._prompt.keys.items():
            written += f"{',' if weighed else ''}\n  {json.dumps(key, ensure_ascii=False)}: "
            zero, one = self._labels_after(request, written, cancel)
            plain = probability_of_one(zero, one)
            probability = plain
            if self._calibrated:
                null = self._null_after(response, written, cancel)
                probability = probability_of_one(zero, one, *null)
            weighed[feature] = Weighed(probability, plain)
            written += str(int(probability > self._prompt.threshold))
        return weighed, f"{written}\n}}"

    def _null_after(self, response: Response, written: str, cancel: Cancel) -> tuple[float, float]:
        """Return the log probabilities of the labels after the passage without content."""
        messages = self._prompt.messages(self._prompt.null, response.prompt)
        place = (messages[-1].content, written)
        if place not in self._null:
            self._null[place] = self._labels_after(Request(messages), written, cancel)
        return self._null[place]

    def _labels_after(self, request: Request, written: str, cancel: Cancel) -> tuple[float, float]:
        """Return the log probabilities of ``written`` + 0 and ``written`` + 1."""
        self._ready()
        texts = [written + label for label in LABELS]
        likelihoods = self._weigher.likelihood(request, texts, cancel)
        if cancel.is_set():
            raise _Cancelled
        if len(likelihoods) != len(texts):
            count = f"{len(likelihoods)} of {len(texts)}"
            raise ComponentError(f"'{self.examinee}' returned the likelihood of {count} texts")
        zero, one = (likelihood.log_probability for likelihood in likelihoods)
        return zero, one


def weigher(backend: ModelBackend, judge: str) -> LikelihoodBackend:
    """Return the model back end where it has log probabilities."""
    if isinstance(backend, LikelihoodBackend):
        return backend
    raise ComponentError(
        f"'{judge}' needs the log probabilities of texts, and its model has none",
        allowed="a model that has them, for example transformers:ID or bundled",
    )


MEASURES = ("surprisal", "perplexity")
CAUTION = (
    "how predictable a text is to one model; no verdict on the text, and not comparable between "
    "models with different tokens"
)


def surprisal(likelihood: Likelihood) -> float | None:
    """Return the mean surprisal of a text in bits per token: -log2 P(text) / tokens.

    >>> surprisal(Likelihood(8 * math.log(0.5), tokens=4))
    2.0
    """
    if not likelihood.tokens or not math.isfinite(likelihood.log_probability):
        return None
    return -likelihood.log_probability / math.log(2) / likelihood.tokens


def perplexity(bits: float) -> float | None:
    """Return the perplexity of a text: 2 ** surprisal, a number of equally likely tokens.

    >>> perplexity(3.0), perplexity(2000.0)
    (8.0, None)
    """
    try:
        return math.pow(2.0, bits)
    except OverflowError:
        return None


class SurprisalJudge(Judge):
    """Surprisal and perplexity of responses under one model."""

    features: tuple[str, ...] = ()
    caution = CAUTION

    def __init__(
        self, spec: Spec, make_inner: Callable[[], ModelBackend], *, after_prompt: bool
    ) -> None:
        self.rater = str(spec)
        self.examinee = inner_spec(spec)
        self._after_prompt = after_prompt
        self.prompt_text = canonical_json(
            {
                "measures": list(MEASURES),
                "formula": "-log2 P(response) / tokens; 2 ** surprisal",
                "messages": "as they were sent" if after_prompt else "none",
            }
        )
        self._weigher = weigher(make_inner(), self.rater)
        self._is_open = False

    writes = False

    def open(self) -> Mapping[str, str]:
        """Load the model; return its facts."""
        facts = self._weigher.open()
        self._is_open = True
        return facts

    def close(self) -> None:
        """Release the model; may be called twice."""
        self._is_open = False
        self._weigher.close()

    def requests(self, response: Response, features: Sequence[Feature]) -> Sequence[Request]:
        """Return the text whose likelihood is computed, the response as the model's own turn."""
        if not response.text.strip():
            return ()
        messages = (*self._before(response), Message("assistant", response.text))
        return (Request(messages, Decoding(max_tokens=1)),)

    def judge_many(
        self, responses: Sequence[Response], features: Sequence[Feature], cancel: Cancel
    ) -> Iterator[tuple[int, Verdict | Wait]]:
        """Yield one verdict after the other, in order."""
        for index, response in enumerate(responses):
            if cancel.is_set():
                return
            if not response.text.strip():
                ratings = (undefined(self.rater, name, NO_RESPONSE) for name in MEASURES)
                yield index, Verdict(tuple(ratings), requests=0)
                continue
            started = time.monotonic()
            try:
                likelihood = self._weigh(response, cancel)
            except TabwbError as error:
                ratings = (failed(self.rater, name, str(error)) for name in MEASURES)
                latency_s = time.monotonic() - started
                yield (
                    index,
                    Verdict(tuple(ratings), stop_reason=StopReason.ERROR, latency_s=latency_s),
                )
                continue
            if likelihood is None:
                return
            yield index, Verdict(self._ratings(likelihood), latency_s=time.monotonic() - started)

    def _before(self, response: Response) -> tuple[Message, ...]:
        if not self._after_prompt:
            return ()
        # A person saw the item; nothing was sent.
        return response.messages or (Message("user", response.sent),)

    def _weigh(self, response: Response, cancel: Cancel) -> Likelihood | None:
        if not self._is_open:
            self.open()
        request = Request(self._before(response), kind=response.kind)
        likelihoods = self._weigher.likelihood(request, [response.text], cancel)
        if cancel.is_set():
            return None
        if len(likelihoods) != 1:
            raise ComponentError(f"'{self.examinee}' returned no likelihood of the response")
        return likelihoods[0]

    def _ratings(self, likelihood: Likelihood) -> tuple[Rating, ...]:
        bits = surprisal(likelihood)
        if bits is None:
            no_probability = "the model gives this text no probability"
            why = no_probability if likelihood.tokens else "the text has no tokens"
            return tuple(undefined(self.rater, name, why) for name in MEASURES)
        counted = f"bits per token over {likelihood.tokens} tokens"
        power = perplexity(bits)
        return (
            valued(self.rater, "surprisal", bits, counted),
            undefined(self.rater, "perplexity", "too large for a number")
            if power is None
            else valued(self.rater, "perplexity", power, f"2 ** {bits:.3f}"),
        )

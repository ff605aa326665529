"""The surprisal of a response under a named, intact model: two measures and no features."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from tabwb.battery.model import Feature
from tabwb.host.judge_prompts import canonical_json
from tabwb.plugin_api.components import Cancel, ModelBackend, Response
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Decoding, Likelihood, Message, Request, Wait
from tabwb.records.ratings import Rating, Verdict, failed, undefined, valued
from tabwb.records.specs import Spec, inner_spec
from tabwb.records.states import StopReason
from tabwb_judges.chat import NO_RESPONSE, only_verdict
from tabwb_judges.likelihood import weigher

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


class SurprisalJudge:
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

    most_requests = 1
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

    def judge(self, response: Response, features: Sequence[Feature]) -> Sequence[Rating]:
        """Return both measures of one response."""
        return only_verdict(self.judge_many([response], features, Cancel())).ratings

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

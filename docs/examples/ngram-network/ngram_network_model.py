"""A model of letters as a feed-forward network whose weights are counted, not trained.

A neuron of layer k answers to one context: the k + 1 characters before the next one. Its output
weights are log p(next | context) - log p(next | the context without its first character). The
layers add up, so the sum is the log probability of an n-gram model; without a neuron the model
falls back to a shorter context.
"""

import hashlib
import time
from collections import Counter, defaultdict

import numpy as np

from tabwb.plugin_api import (
    ComponentError,
    Likelihood,
    Part,
    Protocol,
    Reply,
    StopReason,
    StopStrings,
    lesioned_arrays,
    localizer_scores,
    parse_lesions,
)

TEXT = """\
birds can fly
fish can swim
dogs can bark
children can read
the sky is blue
the grass is green
the snow is white
the sun is warm
the dog sees the cat
the cat sees the bird
the child reads the book
"""
LAYERS = 8
"""Contexts have up to so many characters."""
SMOOTHING = 0.1
"""The weight of the shorter context, as a number of characters that were counted."""
LETTERS = "\n abcdefghijklmnopqrstuvwxyz'?"
NUMBER = {letter: number for number, letter in enumerate(LETTERS)}
WIDTH = len(LETTERS)


def numbers_of(text):
    """Return the numbers of the characters of a text; of any other character that of '?'."""
    return [NUMBER.get(letter, NUMBER["?"]) for letter in text.lower()]


def counted(text):
    """Return the arrays of the network: see the module."""
    numbers = [NUMBER["\n"]] * LAYERS + numbers_of(text)
    counts = defaultdict(Counter)
    for end in range(LAYERS, len(numbers)):
        for length in range(LAYERS + 1):
            counts[tuple(numbers[end - length : end])][numbers[end]] += 1

    def smoothed(counter, shorter):
        found = SMOOTHING * shorter
        for number, count in counter.items():
            found[number] += count
        return found / found.sum()

    probabilities = {(): smoothed(counts[()], np.full(WIDTH, 1 / WIDTH))}
    arrays = {"bias": np.log(probabilities[()]).astype(np.float32)}
    for layer in range(LAYERS):
        contexts = [context for context in counts if len(context) == layer + 1]
        into = np.zeros((len(contexts), (layer + 1) * WIDTH), np.float32)
        out = np.zeros((WIDTH, len(contexts)), np.float32)
        for neuron, context in enumerate(contexts):
            shorter = probabilities[context[1:]]
            probabilities[context] = smoothed(counts[context], shorter)
            into[neuron, [place * WIDTH + number for place, number in enumerate(context)]] = 1.0
            out[:, neuron] = np.log(probabilities[context] / shorter)
        arrays |= {f"{layer}.in": into, f"{layer}.out": out}
    return arrays


def parts_of(arrays):
    """Return what can be lesioned: both matrices of each layer, and its neurons."""
    found = []
    for layer in range(LAYERS):
        for target, name in (("mlp.in", "in"), ("mlp.out", "out"), ("mlp.neurons", "out")):
            array = arrays[f"{layer}.{name}"]
            units = array.shape[1] if target == "mlp.neurons" else array.size
            tensors = {f"{layer}.{name}": array.nbytes}
            found.append(Part(f"{layer}.{target}", target, layer, units, array.size, tensors))
    return found


def view(part, arrays):
    """Return the weights of a part: one row for each output, of neurons one row for each neuron."""
    (name,) = part.tensors
    return arrays[name].T if part.target == "mlp.neurons" else arrays[name]


def active(arrays, numbers):
    """Return the neurons of each layer after the characters of a context, 0 or more."""
    found = []
    for layer in range(LAYERS):
        into = arrays[f"{layer}.in"]
        places = range(layer + 1)
        seen = sum(into[:, place * WIDTH + numbers[place - layer - 1]] for place in places)
        found.append(np.maximum(seen - np.float32(layer), 0.0))
    return found


def log_probabilities(arrays, numbers):
    """Return the natural log probability of each character after a context."""
    logits = arrays["bias"].astype(np.float64)
    for layer, neurons in enumerate(active(arrays, numbers)):
        logits += arrays[f"{layer}.out"] @ neurons
    logits -= logits.max()
    return logits - np.log(np.exp(logits).sum())


def drawn(logs, decoding, random):
    """Return the next character: the likeliest one, or at a temperature a draw within top_p."""
    if decoding.temperature == 0:
        return int(logs.argmax())
    shares = np.exp((logs - logs.max()) / decoding.temperature)
    order = np.argsort(-shares, kind="stable")
    sums = np.cumsum(shares[order]) / shares.sum()
    kept = order[: int(np.searchsorted(sums, decoding.top_p)) + 1]
    return int(random.choice(kept, p=shares[kept] / shares[kept].sum()))


def is_localized(spec):
    """Return whether the localizer chooses units of a lesion."""
    return any(lesion.source == "localizer" for lesion in parse_lesions(spec)) if spec else False


class Backend:
    """The model back end: see "Contracts" in docs/plugins.md."""

    def __init__(self):
        self._intact = None
        self._arrays = None
        self._scores = None
        self._lesion = ""

    def open(self):
        self._intact = counted(TEXT)
        digest = hashlib.sha256(b"".join(array.tobytes() for array in self._intact.values()))
        facts = {
            "model": "ngram-network",
            "weights_sha256": digest.hexdigest(),
            "parameters": str(sum(array.size for array in self._intact.values())),
            "dtype": "float32",
            "device": "cpu",
        }
        return {**facts, **self.lesion(self._lesion)}

    def close(self):
        self._intact = self._arrays = None

    def reply(self, request, cancel):
        if request.protocol is Protocol.ENFORCED:
            raise ComponentError("the reply cannot be restricted to options", allowed="generate")
        yield from self._written(self._ready(), request, cancel)

    def likelihood(self, request, continuations, cancel):
        before, found = self._context(request), []
        arrays = self._ready()
        for text in continuations:
            if cancel.is_set():
                break
            numbers, total = list(before), 0.0
            for number in numbers_of(text):
                total += log_probabilities(arrays, numbers)[number]
                numbers.append(number)
            found.append(Likelihood(float(total), len(text)))
        return found

    # ------------------------------------------------------------------ lesions

    def parts(self):
        if self._intact is None:
            raise ComponentError("the model is not loaded")
        return parts_of(self._intact)

    def lesion(self, spec):
        self._lesion = spec
        if self._intact is None:  # applied by open()
            return {}
        self._arrays = None  # nothing is answered if the lesion cannot be applied
        if is_localized(spec):
            self._scores = self._localized(spec)
        self._arrays, facts = self._lesioned(spec)
        return facts

    def activations(self, target, texts, pool, cancel):
        if target != "mlp.neurons":
            raise ComponentError(f"units of '{target}' are not measured", allowed="mlp.neurons")
        arrays = self._ready()
        for text in texts:
            if cancel.is_set():
                return
            numbers, values = [NUMBER["\n"]] * LAYERS, []
            for number in numbers_of(text):
                numbers.append(number)
                values.append(np.abs(np.concatenate(active(arrays, numbers))))
            yield values[-1] if pool == "last" else np.mean(values, axis=0, dtype=np.float32)

    def lanes(self, specs):
        for spec in specs:
            if not is_localized(spec):
                self._lesioned(spec)  # raises where the model lacks what it names
        return [0 if is_localized(spec) else 1 for spec in specs]  # 1: possible, gains no time

    def reply_lanes(self, lesions, requests, cancel):
        arrays = [self._lesioned(spec)[0] for spec in lesions]
        for index, (lane, request) in enumerate(requests):
            if cancel.is_set():
                return
            *_, reply = self._written(arrays[lane], request, cancel)
            if reply.stop_reason is not StopReason.CANCELLED:
                yield index, reply

    def _localized(self, spec):
        """Return the statistic of the neurons of the intact model."""
        self._arrays = self._intact
        try:
            return localizer_scores(self, self.parts(), parse_lesions(spec), "ngram-network")
        finally:
            self._arrays = None

    def _lesioned(self, spec):
        """Return the arrays under a lesion, made from the intact ones, and the facts to store."""
        return lesioned_arrays(spec, self.parts(), self._intact, view, self._scores)

    # ------------------------------------------------------------------ answering

    def _ready(self):
        if self._arrays is None:
            raise ComponentError("the model is not loaded, or its lesion could not be applied")
        return self._arrays

    def _context(self, request):
        """Return the characters before the reply: a new line, then the last message."""
        prompt = request.messages[-1].content.strip() + " " if request.messages else ""
        return [NUMBER["\n"]] * LAYERS + numbers_of(prompt)

    def _written(self, arrays, request, cancel):
        started, decoding = time.monotonic(), request.decoding
        numbers = self._context(request)
        prompt_tokens, first = len(numbers) - LAYERS, None
        random = np.random.Generator(np.random.PCG64(decoding.seed))
        stops, text, reason = StopStrings(decoding.stop), "", StopReason.LENGTH
        for _ in range(decoding.max_tokens):
            if cancel.is_set():
                reason = StopReason.CANCELLED
                break
            number = drawn(log_probabilities(arrays, numbers), decoding, random)
            if LETTERS[number] == "\n":
                reason = StopReason.END
                break
            numbers.append(number)
            first = time.monotonic() - started if first is None else first
            piece = stops.feed(LETTERS[number])  # nothing while a stop string may begin here
            text += piece
            yield piece
            if stops.found is not None:
                reason = StopReason.STOP_STRING
                break
        piece = stops.flush()
        yield piece
        taken = len(numbers) - LAYERS - prompt_tokens
        seconds = time.monotonic() - started
        yield Reply(text + piece, reason, seconds, first, prompt_tokens, taken)

"""Checks of model back ends that can be lesioned."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tabwb.host.guarded import GuardedModel
from tabwb.lesion.declared import DRAWS, PARAMETERS
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import ComponentError, TabwbError
from tabwb.records.exchange import Message, Reply, Request
from tabwb.testing.checks import Checks, cancelled, collected, expect, within_patience

if TYPE_CHECKING:
    from tabwb.lesion.declared import Part

Answer = Callable[[Request], Reply]
TEXTS = ("The lion sleeps in the grass.", "A drum is on the table.")


def lesion_checks(descriptor: Descriptor, backend: Any, request: Request, answer: Answer) -> Checks:
    """Return the checks of what a descriptor declares: lesions, activations, lanes.

    Args:
        descriptor: of the back end.
        backend: opened, the plugin's own object.
        request: a prompt with greedy decoding.
        answer: returns the reply of the back end to a request.
    """
    if not descriptor.lesions:
        alone = [name for name in ("activations", "lanes") if getattr(descriptor, name)]
        message = f"{' and '.join(alone)} without lesions=True"
        return {"lesions": lambda: expect(False, message)} if alone else {}
    # What tabwb itself checks of parts, facts and numbers is checked by its own proxy.
    seen = _Lesioned(GuardedModel(backend, descriptor.id, lambda reason: None), request, answer)
    checks = {
        "lesions, effect and restoration": seen.check_effect,
        "lesions, what is wrong": seen.check_refusals,
        "lesions, close and open": seen.check_reopened,
    }
    if descriptor.activations:
        checks["activations"] = seen.check_activations
    if descriptor.lanes:
        checks["lanes"] = seen.check_lanes
    return {"lesions, parts": seen.check_parts, **dict(map(seen.with_parts, checks.items()))}


class _Lesioned:
    def __init__(self, backend: Any, request: Request, answer: Answer) -> None:
        self.backend, self.request, self.answer = backend, request, answer

        self.has_parts = False

    def with_parts(self, check: tuple[str, Callable[[], None]]) -> tuple[str, Callable[[], None]]:
        """Return a check that does nothing where the parts, already reported, are wrong."""
        name, run = check
        return name, lambda: run() if self.has_parts else None

    def check_parts(self) -> None:
        from tabwb.lesion.declared import TARGETS

        parts = self.backend.parts()
        expect(parts, "parts() is empty: there is nothing to lesion")
        for part in parts:
            target = TARGETS[part.target]
            expect(
                not target.of, f"a part has the target '{part.target}', a group; give its members"
            )
            place = "a number" if target.in_layers else "None"
            message = f"'{part.name}' has the layer {part.layer}; of '{part.target}' it is {place}"
            expect((part.layer is not None) == target.in_layers, message)
            name = part.target if part.layer is None else f"{part.layer}.{part.target}"
            message = f"a part is named '{part.name}', not '{name}': its draws depend on the name"
            expect(part.name == name, message)
        again = [(part.name, part.units) for part in self.backend.parts()]
        expect(again == [(part.name, part.units) for part in parts], "parts() changes")
        self.has_parts = True

    def check_effect(self) -> None:
        """Lesions of all of a target: facts, exact restoration, independence of earlier ones."""
        from tabwb.lesion.spec import canonical, parse_lesions
        from tabwb.lesion.taken import planned

        parts = self.backend.parts()
        intact = self._under("")
        changed, found = [], {}
        for spec in _specs(parts):
            facts = self.backend.lesion(spec)
            said, right = facts.get("lesion"), canonical(spec)
            expect(said == right, f"the fact 'lesion' is {said!r} under '{right}'")
            expect(DRAWS in facts, f"there is no fact '{DRAWS}' under '{spec}'")
            taken = sum(one.parameters for one in planned(parse_lesions(spec), parts, "it"))
            count = facts.get(PARAMETERS)
            message = f"the fact '{PARAMETERS}' is {count!r} under '{spec}', not '{taken}'"
            expect(count == str(taken), message)
            found[spec] = self._answers()
            changed.append(found[spec] != intact)
        expect(any(changed), f"no lesion changes an answer: {', '.join(found)}")
        for spec in reversed(found):
            message = f"under '{spec}' answers depend on the lesion before"
            expect(self._under(spec) == found[spec], message)
        facts = self.backend.lesion("")
        expect(not facts, f"the intact model has facts of a lesion: {dict(facts)}")
        expect(self._answers() == intact, "after lesion('') answers are not those of before")

    def check_refusals(self) -> None:
        parts = self.backend.parts()
        missing = max(part.layer or 0 for part in parts) + 1
        has_layer = next((part.target for part in parts if part.layer is not None), "")
        wrong = ["mlp:explode"]
        if has_layer:
            wrong.append(f"{has_layer}:zero@layers={missing}")
        intact = self._under("")
        for spec in wrong:
            self._check_refused(spec)
            message = f"after '{spec}' and lesion('') answers are not those of the intact model"
            expect(self._under("") == intact, message)

    def _check_refused(self, spec: str) -> None:
        try:
            self.backend.lesion(spec)
        except TabwbError as error:
            other = error.__cause__
            plain = not isinstance(error, ComponentError) or other is None
            message = f"lesion('{spec}') raised {type(other).__name__}, not UsageError"
            expect(plain, message)
        else:
            expect(False, f"lesion('{spec}') raised nothing")
        try:
            self.answer(self.request)
        except ComponentError:
            return
        except TabwbError:
            return
        expect(False, f"a request was answered after '{spec}', which could not be applied")

    def check_reopened(self) -> None:
        """A lesion that is given before ``open``, as ``tabwb run --lesion`` does."""
        spec = _specs(self.backend.parts())[0]
        lesioned = self._under(spec)
        self.backend.lesion("")
        self.backend.close()
        self.backend.lesion(spec)
        facts = self.backend.open()
        expect("lesion" in facts, "open() does not return the facts of the lesion given before it")
        expect(self._answers() == lesioned, "a lesion given before open() is not in force after it")

    def check_activations(self) -> None:
        import numpy as np

        from tabwb.lesion.declared import MEASURES

        self.backend.lesion("")
        parts = self.backend.parts()
        measured = [target for target in MEASURES if any(part.target == target for part in parts)]
        expect(measured, f"no part has a target that is measured: {', '.join(MEASURES)}")
        for target in measured:
            units = sum(part.units for part in parts if part.target == target)
            for pool in ("mean", "last"):
                first, again = (
                    list(self.backend.activations(target, TEXTS, pool, threading.Event()))
                    for _ in range(2)
                )
                expect(len(first) == len(TEXTS), f"{len(first)} arrays for {len(TEXTS)} texts")
                for values in first:
                    message = f"an array of '{target}' has the shape {values.shape}, not ({units},)"
                    expect(values.shape == (units,), message)
                    message = f"'{target}': not every response is a finite number of 0 or more"
                    expect(bool(np.isfinite(values).all() and (values >= 0).all()), message)
                same = all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
                expect(same, f"'{target}' responds differently to the same texts")
            few = within_patience(
                "activations with cancel set",
                lambda target=target: list(  # type: ignore[misc]
                    self.backend.activations(target, TEXTS, "mean", cancelled())
                ),
            )
            expect(len(few) < len(TEXTS), "activations does not end when cancel is set")

    def check_lanes(self) -> None:
        specs = ["", *_specs(self.backend.parts())]
        counts = self.backend.lanes(specs)
        beside = [spec for spec, count in zip(specs, counts, strict=True) if count]
        if not beside:
            return
        # Texts may change by rounding where the count is 1.
        is_exact = min(count for count in counts if count) > 1
        other = replace(self.request, messages=(Message("user", "Say another word, please."),))
        alone = []
        for spec in beside:
            self.backend.lesion(spec)
            alone += [self.answer(each).text for each in (self.request, other)]
        requests = [(lane, each) for lane in range(len(beside)) for each in (self.request, other)]
        pairs = self.backend.reply_lanes(beside, requests, threading.Event())
        replies = collected(pairs, len(requests), "reply_lanes")
        number = len(replies)
        expect(number == len(requests), f"reply_lanes answered {number} of {len(requests)}")
        together = [getattr(replies[index], "text", replies[index]) for index in sorted(replies)]
        for (lane, _), text, said in zip(requests, alone, together, strict=True):
            message = f"under '{beside[lane]}' the reply is {text!r} alone, {said!r} in lanes"
            expect(said == text or not is_exact, message)
        differ = len(set(together)) > 1 or len(set(alone)) == 1
        expect(differ, "in lanes every lesion gives the same reply, alone they differ")
        message = "after reply_lanes the lesion that was set before is not in force"
        expect(self.answer(other).text == alone[-1], message)
        self.backend.lesion("")
        within_patience(
            "reply_lanes with cancel set",
            lambda: list(self.backend.reply_lanes(beside, requests, cancelled())),
        )

    def _under(self, spec: str) -> tuple[object, ...]:
        self.backend.lesion(spec)
        return self._answers()

    def _answers(self) -> tuple[object, ...]:
        """Return a reply and, where there are likelihoods, those of texts."""
        text: object = self.answer(self.request).text
        if not hasattr(self.backend, "likelihood"):
            return (text,)
        found = self.backend.likelihood(self.request, TEXTS, threading.Event())
        return (text, *(one.log_probability for one in found))


def _specs(parts: Sequence[Part]) -> list[str]:
    """Return a lesion of half of the first target, and lesions of all of the first and the last."""
    targets = [*dict.fromkeys(part.target for part in parts)]
    whole = [f"{target}:zero" for target in dict.fromkeys((targets[0], targets[-1]))]
    return [f"{targets[0]}:zero:0.5@seed=3", *whole]

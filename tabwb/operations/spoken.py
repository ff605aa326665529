"""What a rater says of a spoken response by ear: score, what was heard, code, onset, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import Arg, Operation, Tools
from tabwb.operations.trial import ADMINISTRATION, TRIAL, number_of, session_of
from tabwb.records.errors import UsageError
from tabwb.records.naming import Score

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy
    from tabwb.tasks.spoken_naming.views import NamingView

REASON = Arg("The reason of the correction; stored.")


@dataclass(frozen=True, kw_only=True)
class OfResponse(Operation):
    """What a rater says of one spoken response; the consent of its speaker is checked."""

    administration: Annotated[int | str, ADMINISTRATION]
    trial: Annotated[int | str, TRIAL]
    rater: Annotated[str, Arg("Rater code; default: that of the administration.", metavar="ID")] = (
        ""
    )

    @contextmanager
    def heard_by(self, tools: Tools, doing: str, *, seen: bool = False) -> Iterator[SpokenStrategy]:
        """Yield the commands with the response before the rater; document which one it is."""
        from tabwb.tasks.spoken_naming.task import spoken_in

        with session_of(tools, self.administration) as session:
            number, spoken = number_of(session, self.trial), spoken_in(session)
            with spoken.listening.to(number, doing, listener=self.rater, seen=seen):
                tools.document |= {"administration": session.administration.id, "trial": number,
                                   "rater": spoken.rater}  # fmt: skip
                yield spoken


@dataclass(frozen=True, kw_only=True)
class ScoreResponse(OfResponse):
    """Score the spoken response of TRIAL by ear.

    SCORE is right, self-corrected, error, no-response (--reason silent, dont-know, refused) or
    not-scorable (--reason). Of each rater the latest counts; every earlier one stays in the store.
    """

    NAME, TITLE = "trial score", "Score"
    score: Annotated[Score, Arg("The score.", metavar="SCORE", positional=True)]
    reason: Annotated[str, Arg("Why it cannot be scored, or the kind of no response.")] = ""
    seen: Annotated[bool, Arg("You had seen the machine's result; stored with the score.")] = False

    def do(self, tools: Tools) -> None:
        """Record it."""
        with self.heard_by(tools, "score", seen=self.seen) as spoken:
            spoken.score(self.score, reason=self.reason)
        tools.document["score"] = self.score
        tools.say(f"scored {self.score}")


@dataclass(frozen=True, kw_only=True)
class HeardResponse(OfResponse):
    """Record what was heard in TRIAL: a plain word, ARPAbet or IPA; text of a description.

    If nothing was said, use the score: tabwb trial score ... no-response.
    """

    NAME, TITLE = "trial heard", "Record"
    words: Annotated[str, Arg("What was heard.", metavar="WORD|PHONEMES", positional=True)]

    def do(self, tools: Tools) -> None:
        """Record it."""
        with self.heard_by(tools, "heard") as spoken:
            spoken.listening.hear(self.words)
            tools.document["heard"] = words = self.words.strip()
            _tell_kept(tools, spoken, f"heard '{words}' kept")
            view = spoken.view()
            if view is None or not view.item.coded:
                return
            word = spoken.speech.read(self.words)
            if word.guessed:
                from tabwb.phonology.inventory import to_ipa

                ipa = to_ipa(word.pronunciations[0]) if word.pronunciations else ""
                here = f"tabwb trial heard {spoken.session.administration.id} {self.trial}"
                tools.say(
                    f"  the sound /{ipa}/ is guessed from the letters; write it down: "
                    f"{here} /{ipa}/"
                )


@dataclass(frozen=True, kw_only=True)
class CodeResponse(OfResponse):
    """Give the spoken response of TRIAL a code; the proposed code is kept.

    CODE is correct, semantic, formal, mixed, unrelated, nonword-related, nonword-unrelated,
    perseveration, morphological, picture-part, visual, blend, description, fragment, no-response,
    other or undecided (docs/naming-rules.md).
    """

    NAME, TITLE = "trial code", "Code"
    code: Annotated[str, Arg("The code.", metavar="CODE", positional=True)]
    flags: Annotated[
        tuple[str, ...], Arg("For example self-corrected.", flag="--flag", names=True)
    ] = ()
    reason: Annotated[str, REASON] = ""

    def do(self, tools: Tools) -> None:
        """Record it."""
        with self.heard_by(tools, "code") as spoken:
            spoken.listening.code(self.code, self.flags, reason=self.reason)
            tools.document |= {"code": self.code, "flags": list(self.flags)}
            _tell_kept(tools, spoken, ", ".join((f"coded {self.code}", *self.flags)))


@dataclass(frozen=True, kw_only=True)
class SetOnset(OfResponse):
    """Correct the onset of the spoken response of TRIAL to SECONDS of its recording.

    The latency changes with it. Every earlier onset stays in the store with its author, time and
    reason; 'tabwb trial undo' takes the correction back.
    """

    NAME, TITLE = "trial onset", "Correct"
    seconds: Annotated[float, Arg("Of the recording.", metavar="SECONDS", positional=True, low=0)]
    from_picture: Annotated[
        bool,
        Arg("SECONDS are counted from the time of the picture, not from the start of the "
            "recording."),
    ] = False  # fmt: skip
    reason: Annotated[str, REASON] = ""

    def do(self, tools: Tools) -> None:
        """Record it."""
        with self.heard_by(tools, "onset") as spoken:
            before, seconds = _view(spoken), self.seconds
            if self.from_picture:
                if before.shown is None or before.shown.at_s is None:
                    raise UsageError(
                        "the time of the picture is not known",
                        hint="give seconds of the recording (not from the picture)",
                    )
                seconds += before.shown.at_s
            spoken.listening.set_onset(seconds, reason=self.reason)
            latency_s = _view(spoken).latency_s
            tools.document |= {"onset_s": seconds, "before_s": before.onset_s,
                               "latency_s": latency_s}  # fmt: skip
            earlier = "not found" if before.onset_s is None else f"{before.onset_s:.3f}"
            latency = "" if latency_s is None else f", latency {latency_s:.2f} s"
            tools.say(f"onset {earlier} -> {seconds:.3f} s{latency}")


@dataclass(frozen=True, kw_only=True)
class SetAttempt(OfResponse):
    """Correct the limits and attempts of the spoken response of TRIAL.

    Times are seconds of the recording. The onset is measured again within the new limits, and the
    rules are applied to the transcript within them; 'tabwb name --resume' transcribes it again.
    Earlier limits stay in the store with their author, time and reason; 'tabwb trial undo' takes a
    correction back.
    """

    NAME, TITLE = "trial attempt", "Correct"
    start: Annotated[float | None, Arg("Seconds of the recording.", low=0)] = None
    end: Annotated[float | None, Arg("Seconds of the recording.", low=0)] = None
    marks: Annotated[
        tuple[float, ...],
        Arg("A new attempt of the speaker begins here, without a pause.", flag="--new-at",
            metavar="SECONDS", low=0),
    ] = ()  # fmt: skip
    reason: Annotated[str, REASON] = ""

    def check(self, plugins: Plugins) -> None:
        """Refuse to correct nothing."""
        if self.start is None and self.end is None and not self.marks:
            raise UsageError("nothing to correct", allowed="a start, an end, new attempts")

    def do(self, tools: Tools) -> None:
        """Record it."""
        with self.heard_by(tools, "attempt") as spoken:
            take = _view(spoken).take
            if take is None:
                raise UsageError("this response has no recording")
            if self.start is not None or self.end is not None:
                first = take.start_s if self.start is None else self.start
                last = take.end_s if self.end is None else self.end
                spoken.listening.set_limits(first, last, reason=self.reason)
                earlier = f"{take.start_s:.3f} to {take.end_s:.3f} s"
                tools.say(f"response {earlier} -> {first:.3f} to {last:.3f} s")
            for at_s in self.marks:
                spoken.mark(at_s)
                tools.say(f"a new attempt begins at {at_s:.3f} s")
            now = _view(spoken).take
            assert now is not None
            tools.document |= {"start_s": now.start_s, "end_s": now.end_s,
                               "new_at_s": list(self.marks)}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class HistoryOfTrial(Operation):
    """List every onset, limit and code that a person gave the response of TRIAL, oldest first."""

    NAME, TITLE = "trial history", "History"
    WRITES: ClassVar[bool] = False
    administration: Annotated[int | str, ADMINISTRATION]
    trial: Annotated[int | str, TRIAL]

    def do(self, tools: Tools) -> None:
        """Read it."""
        from tabwb.tasks.spoken_naming.task import spoken_in

        with session_of(tools, self.administration) as session:
            number = number_of(session, self.trial)
            tools.document |= {
                "administration": session.administration.id,
                "trial": number,
                "corrections": [
                    {"kind": type(made).__name__, **asdict(made)}
                    for made in _view(spoken_in(session), number).corrections
                ],
            }

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each correction."""
        for made in document["corrections"]:
            if "onset_s" in made:
                recorded = f"onset {made['onset_s']:.3f} s"
            elif "start_s" in made:
                recorded = f"limits {made['start_s']:.3f} to {made['end_s']:.3f} s"
            else:
                recorded = ", ".join((f"code {made['code']}", *made["flags"]))
            yield "  ".join(filter(None, (made["at"] or "-", made["by"], recorded, made["reason"])))
        if not document["corrections"]:
            yield "nothing was corrected"


def _view(spoken: SpokenStrategy, number: int | None = None) -> NamingView:
    view = spoken.view(number)
    if view is None:
        raise UsageError("this item is not named aloud")
    return view


def _tell_kept(tools: Tools, spoken: SpokenStrategy, kept: str) -> None:
    """Say what was kept, and beside it what the rules say once this rater has scored."""
    from tabwb.tasks.spoken_naming.scores import naming_of

    view = spoken.view()
    if view is not None and view.item.coded:
        scored = any(score.by == spoken.rater for score in view.scores)
        if not scored and view.rules.reveal == "after-score":
            kept += "; the proposal of the rules is shown after your score"
        elif (proposal := naming_of(view).proposal) is not None:
            kept += f"; the rules propose {proposal.code} ({proposal.clause})"
    tools.say(kept)

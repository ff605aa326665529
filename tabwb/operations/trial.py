"""Tags of administrations; corrections of trials; what a rater says of responses by ear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import IDS, Arg, Ids, Operation, Progress, Told, Tools
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.naming import Score
from tabwb.records.states import AdministrationStatus
from tabwb.records.words import near, plural

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.host.plugins import Plugins
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy
    from tabwb.tasks.spoken_naming.views import NamingView

ADMINISTRATION = Arg("Its number or uid.", positional=True)
TRIAL = Arg("Its number in the administration, or ITEM or SUBTEST/ITEM if that names one trial.",
            positional=True)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TagAdministrations(Operation):
    """Give a title and tags to administrations (numbers or uids); without options, show them.

    Every change is kept in the store and can be taken back. Results are grouped and chosen by tags:
    tabwb results --by tag, tabwb results --where tag=pilot. Never use a person's name.
    """

    NAME, TITLE = "tag", "Tag"
    ids: Annotated[Ids, replace(IDS, metavar="ADMINISTRATIONS...")]
    title: Annotated[str | None, Arg("The new title; '' removes it.", metavar="TEXT")] = None
    add: Annotated[tuple[str, ...], Arg("A tag to add.", metavar="TAG", names=True)] = ()
    remove: Annotated[tuple[str, ...], Arg("A tag to remove.", metavar="TAG", names=True)] = ()
    undo: Annotated[bool, Arg("Take back the latest change of title or tags.")] = False

    @property
    def _changes(self) -> bool:
        return self.title is not None or bool(self.add or self.remove)

    @property
    def writes(self) -> bool:
        """Without options titles and tags are only shown."""
        return self.undo or self._changes

    def check(self, plugins: Plugins) -> None:
        """Refuse a change together with taking one back."""
        if self.undo and self._changes:
            raise UsageError(
                "a change and taking back the latest one are two steps", where="undo",
                hint="do the one, then the other",
            )  # fmt: skip

    def do(self, tools: Tools) -> None:
        """Change titles and tags of all administrations, or of none."""
        from tabwb.administer.session.corrections import change_marks, take_back_mark

        store = tools.store
        found = list(dict.fromkeys(store.administration(one).id for one in self.ids))
        if self.undo:
            for number in found:
                if not take_back_mark(store, number):
                    tools.warn(
                        f"administration {number} has no change of title or tags to take back"
                    )
        elif self._changes:
            change_marks(store, found, title=self.title, add=self.add, remove=self.remove)
        tools.document["administrations"] = [
            {"id": one.id, "uid": one.uid, "title": one.title, "tags": list(one.tags)}
            for one in map(store.administration, found)
        ]

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each administration."""
        for one in document["administrations"]:
            tags = ", ".join(one["tags"]) or "no tags"
            yield f"{one['id']}  {one['title'] or 'no title'}  ({tags})"


@dataclass(frozen=True, kw_only=True)
class VoidTrial(Operation):
    """Declare TRIAL void: its responses stay in the store and do not count."""

    NAME, TITLE = "trial void", "Void"
    administration: Annotated[int | str, ADMINISTRATION]
    trial: Annotated[int | str, TRIAL]
    reason: Annotated[str, Arg("The reason.")]

    def do(self, tools: Tools) -> None:
        """Record it."""
        with session_of(tools, self.administration) as session:
            number = number_of(session, self.trial)
            session.corrections.void(self.reason, number)
        _tell(tools, session, f"trial {number} of administration {{}} is void", number)


@dataclass(frozen=True, kw_only=True)
class NoteOnTrial(Operation):
    """Write a note on TRIAL."""

    NAME, TITLE = "trial note", "Note"
    administration: Annotated[int | str, ADMINISTRATION]
    trial: Annotated[int | str, TRIAL]
    text: Annotated[str, Arg("The note.", positional=True)]

    def do(self, tools: Tools) -> None:
        """Record it."""
        with session_of(tools, self.administration) as session:
            number = number_of(session, self.trial)
            session.corrections.note(self.text, number)
        _tell(tools, session, f"note on trial {number} of administration {{}}", number)


@dataclass(frozen=True, kw_only=True)
class UndoLatest(Operation):
    """Take back the latest response, score, skip, void or discontinuation of ADMINISTRATION.

    Its record stays, marked as taken back. Notes and tags are not commands to take back. A finished
    administration is open again when an item has no response after that.
    """

    NAME, TITLE = "trial undo", "Undo"
    administration: Annotated[int | str, ADMINISTRATION]

    def do(self, tools: Tools) -> None:
        """Record what is taken back."""
        from tabwb.records.events import Undone

        undone = []
        before = tools.store.administration(self.administration)
        with session_of(tools, self.administration) as session:
            for event in session.corrections.undo():
                if isinstance(event, Undone):
                    item = session.trials[event.trial - 1].plan.item if event.trial else ""
                    of = f" of {event.trial}, {item}" if item else ""
                    tools.say(f"taken back: {event.what}{of}")
                    undone.append({"what": event.what, "trial": event.trial or None})
        opened = {AdministrationStatus.RUNNING, AdministrationStatus.PAUSED}
        now = tools.store.administration(before.id)
        if before.status not in opened and now.status in opened:
            tools.say(f"administration {before.id} is open again: an item has no response")
        tools.document |= {"administration": session.administration.id, "undone": undone}


@dataclass(frozen=True, kw_only=True)
class RescoreAdministration(Operation):
    """Rate every response of ADMINISTRATION again; earlier ratings stay in the store.

    A model's response with its reasoning in it, which versions before 0.2.0 stored, is recorded
    anew without. Verdicts on the earlier text stay in the store and do not count.
    """

    NAME, TITLE, DOING, TOLD = "trial rescore", "Rescore", "Scoring", "response"
    SAFE: ClassVar[str] = "the earlier ratings count as before"
    administration: Annotated[int | str, ADMINISTRATION]

    @property
    def about(self) -> str:
        """The administration."""
        return f"every response of #{self.administration} again"

    def run(self, tools: Tools) -> Progress:
        """Rate by the scorers and the judges that need no model; store it at the end."""
        from tabwb.administer.session.corrections import no_longer_rated
        from tabwb.administer.session.raters import check_failed
        from tabwb.records.events import AttemptRecorded, Rated

        with session_of(tools, self.administration) as session:
            number, before = session.administration.id, session.trials

            def progress(done: int) -> None:
                if tools.cancel.is_set():
                    raise Interrupted(f"stopped: {self.SAFE}")
                tools.tell(Told("", done, len(before), done))

            made = session.corrections.rescore(progress)
            rated = sum(isinstance(event, Rated) for event in made)
            anew = sum(isinstance(event, AttemptRecorded) for event in made)
            lost = no_longer_rated(before, session.trials)
            tools.document |= {
                "administration": number, "rated": rated, "recorded_anew": anew,
                "no_longer_rated": lost,
            }  # fmt: skip
            tools.say(f"{plural(rated, 'answer')} rated again")
            if anew:
                tools.say(f"{plural(anew, 'response')} recorded anew without the model's reasoning")
            for rater, n in lost.items():
                tools.warn(
                    f"{rater} rated the earlier text of {plural(n, 'response')}; to rate it anew: "
                    f"tabwb judge run {number} --judge {rater}"
                )
            check_failed(session)
        return iter(())

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what becomes of the earlier ratings."""
        yield "the earlier ratings stay in the store"


@contextmanager
def session_of(tools: Tools, administration: int | str) -> Iterator[Session]:
    """Yield the session of an administration, which it locks."""
    from tabwb.administer.session import setup

    with setup.resume(tools.store, tools.plugins, administration, locked=tools.locked) as session:
        yield session


def number_of(session: Session, trial: int | str) -> int:
    """Return the number of a trial that is named by it, by its item or by subtest and item."""
    name = str(trial)
    if name.isdecimal():
        return int(name)
    plans = [trial.plan for trial in session.trials]
    numbers = [plan.number for plan in plans if name in {plan.item, f"{plan.subtest}/{plan.item}"}]
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        raise UsageError(
            f"'{name}' matches {len(numbers)} trials", allowed=", ".join(map(str, numbers))
        )
    meant = near(
        name, [plan.item for plan in plans] + [f"{plan.subtest}/{plan.item}" for plan in plans]
    )
    raise UsageError(
        f"administration {session.administration.id} has no trial '{name}'",
        allowed=f"1 to {len(session.trials)}, ITEM, or SUBTEST/ITEM",
        hint=f"did you mean '{meant}'?" if meant else None,
    )


def _tell(tools: Tools, session: Session, words: str, trial: int) -> None:
    administration = session.administration.id
    tools.document |= {"administration": administration, "trial": trial}
    tools.say(words.format(administration))


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

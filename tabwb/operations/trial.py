"""Titles and tags of administrations, and corrections of single trials after the fact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import IDS, Arg, Ids, Operation, Progress, Told, Tools
from tabwb.records.errors import Interrupted, UsageError
from tabwb.records.states import AdministrationStatus
from tabwb.records.words import near, plural

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.host.plugins import Plugins

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

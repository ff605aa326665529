"""Reads what raters differ on and settles it, in the worker's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tabwb.administer.rating.adjudication import Adjudicator, Dispute, Which
from tabwb.battery.forms import SOURCE, Question
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.workbench.adjudication.view_models import AdjudicationView, Choice, Row, SetsListed
from tabwb.workbench.engine.engine import Controller, Engine
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.shell.wording import ABSENT, PRESENT

if TYPE_CHECKING:
    from tabwb.speech.playback import Playback

SIGNS = {"present": PRESENT, "absent": ABSENT, "cannot tell": "?", "not rated": "-"}
WHICH: tuple[Which, ...] = ("open", "settled", "all")


class AdjudicationController(Controller):
    """Reads and settles."""

    def __init__(self, engine: Engine, sessions: SessionController) -> None:
        super().__init__(engine)
        self._adjudicator: Adjudicator | None = None
        self._which: Which = "open"
        self._measure = ""
        self._playing: Playback | None = None

    def sets(self) -> None:
        """Tell which rating sets there are."""
        self.say(SetsListed(tuple(one.name for one in self.store.sets.all())))

    def open(self, reference: int | str) -> None:
        """Show what raters of a set, by id or name, differ on."""
        self._adjudicator = Adjudicator(self.store, self.plugins, reference)
        self._which, self._measure = "open", ""
        self._tell()

    def choose(self, which: str, measure: str) -> None:
        """Show other answers."""
        self._which, self._measure = cast("Which", which), measure
        self._tell()

    def settle(self, place: tuple[int, str], answer: str | float, reason: str) -> None:
        """Take a value."""
        adjudicator = self._opened
        if isinstance(answer, str) and answer != CANNOT_TELL:
            answer = adjudicator.read(place[1], answer)
        adjudicator.settle(*place, answer, reason)
        self._tell(f"sample {place[0]}, {place[1]}: {adjudicator.words(place[1], answer)}")

    def withdraw(self, place: tuple[int, str]) -> None:
        """Take back what settles an answer."""
        self._opened.take_back(*place)
        self._tell(f"taken back: sample {place[0]}, {place[1]}")

    def undo(self) -> None:
        """Take back the last settled value of this session."""
        place = self._opened.undo()
        if place is None:
            self._tell("nothing was settled since the page was opened")
        else:
            self._tell(f"taken back: sample {place[0]}, {place[1]}")

    def listen(self, sample: int) -> None:
        """Play a sample, or stop what is heard."""
        playing, self._playing = self._playing, None
        if playing is not None and playing.playing:
            playing.stop()
            return
        cut = self._opened.audio(sample)
        if cut is None:
            self._tell("there is no recording to play")
            return
        from tabwb.speech.playback import Playback

        self._playing = Playback(*cut)
        self._playing.start()

    def close(self) -> None:
        """Stop what is heard."""
        if self._playing is not None:
            self._playing.stop()

    @property
    def _opened(self) -> Adjudicator:
        assert self._adjudicator is not None
        return self._adjudicator

    def _tell(self, told: str = "") -> None:
        adjudicator = self._opened
        measures = (self._measure,) if self._measure else ()
        found = adjudicator.disputes(which=self._which, measures=measures)
        settled, of = adjudicator.progress()
        form = adjudicator.form
        self.say(
            AdjudicationView(
                adjudicator.set.name,
                adjudicator.set.counts,
                settled,
                of,
                self._which,
                self._measure,
                tuple((one.measure, one.title) for one in form.questions if one.measure != SOURCE),
                tuple(map(self._row, found)),
                told,
            )
        )

    def _row(self, dispute: Dispute) -> Row:
        adjudicator = self._opened
        question = adjudicator.form.question(dispute.measure.partition("#")[0])

        def words(answer: Answer) -> str:
            given = adjudicator.words(dispute.measure, answer)
            return f"{SIGNS[given]} {given}" if given in SIGNS else given

        held = dispute.settled
        return Row(
            dispute,
            adjudicator.shown(dispute.sample),
            question.definition,
            tuple(words(said.answer) for said in dispute.verdicts),
            tuple(words(value) for _, value in dispute.judges),
            "" if dispute.majority is None else words(dispute.majority),
            "" if held is None else words(held.answer),
            tuple(
                Choice(answer, words(answer))
                for answer in _choices(question, dispute)
                if answer is not None
            ),
            question.kind in {"text", "phonemes"},
        )


def _choices(question: Question, dispute: Dispute) -> tuple[Answer, ...]:
    if question.kind in {"text", "phonemes"}:
        given = (said.answer for said in dispute.verdicts if said.answer not in {None, CANNOT_TELL})
        return (*dict.fromkeys(given), *question.values)
    return question.values

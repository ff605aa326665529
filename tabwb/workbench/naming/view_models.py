"""What the widgets of spoken naming show, made in the worker's thread.

Times are seconds of the recording unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tabwb.records.speakers import Scope
    from tabwb.tasks.spoken_naming.task import Cue
    from tabwb.workbench.shell.pictures import Pixels
    from tabwb.workbench.shell.rule_verdicts import RuleVerdicts
    from tabwb.workbench.shell.sound import Sound


Standing = Literal["open", "now", "scored", "given", "skipped", "void", "not-administered", "error"]
"""Of one item; ``given`` has a response that nobody has scored."""


@dataclass(frozen=True, slots=True)
class NamedItem:
    """One item in the strip of scores.

    Attributes:
        name: its target.
        right: a person's score, or None where there is none or it is neither.
        word: a person's code or score where it is not simply right or wrong; of a description,
            which is not scored, the mark of what was given.
        latency_s: from the picture to the onset of speech, or None.
        is_code: whether the word is a code.
    """

    name: str
    standing: Standing
    right: bool | None = None
    word: str = ""
    latency_s: float | None = None
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A picture that is, or will be, put before the speaker.

    Attributes:
        target: the name that is asked for; of a description its item's.
        coded: whether the response is scored and coded; else it is described and its text counts.
        accepted: its accepted pronunciations.
        picture: None where it cannot be shown; then ``trouble`` says why.
        prompt: a question asked with it, or empty.
        practice: it does not count.
        limit_s: the time limit, or None.
    """

    number: int
    target: str
    accepted: tuple[tuple[str, ...], ...]
    picture: Pixels | None
    trouble: str = ""
    prompt: str = ""
    practice: bool = False
    limit_s: float | None = None
    coded: bool = True


Microphone = Literal["closed", "opening", "open"]


@dataclass(frozen=True, slots=True)
class NamingNow:
    """The state of a naming administration, beside what every administration shows.

    Attributes:
        card: what was shown last, or None before the first.
        upcoming: what *show* will put before the speaker, or None when nothing is left.
        shown_s: when the picture was drawn.
        waits: the response window is open.
        cues, cues_given: of the item, and how many were given since the picture was shown.
        examiner_speaks: what is heard now is the administrator.
        score, score_words: a person's score and it in words, or empty.
        heard, code, flags: a person's, or empty.
        sound: the response that counts; without phonemes as long as these are hidden.
        remarks: what is wrong with the sound, or empty.
        listening: what the transcriber is doing with this response, in words.
        hidden: the machine has said something, and it is not shown yet.
        machine: what it says, when it is shown.
        transcriber: spec, or empty: nothing transcribes.
        left_over: recordings that were interrupted and wait to be kept.
        instructions: what is read to the speaker before the coming subtest, or empty.
        lacking: what the speaker has not agreed to yet.
        ends: why the battery's rule says to end the subtest here, or empty.
    """

    card: Card | None
    upcoming: Card | None
    items: tuple[NamedItem, ...]
    microphone: Microphone = "closed"
    shown_s: float | None = None
    waits: bool = False
    cues: tuple[Cue, ...] = ()
    cues_given: int = 0
    examiner_speaks: bool = False
    score: str = ""
    score_words: str = ""
    heard: str = ""
    code: str = ""
    flags: tuple[str, ...] = ()
    sound: Sound | None = None
    remarks: str = ""
    listening: str = ""
    hidden: bool = False
    machine: RuleVerdicts | None = None
    transcriber: str = ""
    left_over: int = 0
    instructions: str = ""
    lacking: tuple[Scope, ...] = ()
    ends: str = ""

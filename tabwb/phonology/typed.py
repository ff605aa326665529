"""A pronunciation while a person types it: whether it is right so far, and what may follow.

ARPAbet has blanks between its labels (``D AO G``, in either case), IPA need not (``dɔɡ``). What
has no letter beyond ASCII is taken for ARPAbet while it is typed. Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass

from tabwb.phonology.inventory import (
    IPA,
    IPA_READINGS,
    PHONEMES,
    normalise_label,
    parse_ipa,
    parse_pronunciation,
)
from tabwb.records.errors import TabwbError


@dataclass(frozen=True, slots=True)
class Typed:
    """What a text means so far.

    Attributes:
        phonemes: of everything before the mistake, or before what is unfinished.
        unfinished: the end of the text, where more letters would make a label of it.
        problem: what is wrong, or empty.
        at: where it is wrong, counted in characters; None where nothing is.
    """

    phonemes: tuple[str, ...]
    unfinished: str = ""
    problem: str = ""
    at: int | None = None

    @property
    def accepted(self) -> bool:
        """Whether the text is a pronunciation as it stands."""
        return bool(self.phonemes) and not self.unfinished and not self.problem


@dataclass(frozen=True, slots=True)
class Completion:
    """One phoneme that may stand next.

    Attributes:
        text: the whole text with it.
        phoneme: in ARPAbet.
        ipa: the same in IPA.
    """

    text: str
    phoneme: str
    ipa: str


def check_typed(text: str) -> Typed:
    """Read a text that is being typed; never raises.

    >>> check_typed("D AO1 G").accepted, check_typed("dɔɡ").phonemes
    (True, ('D', 'AO', 'G'))
    >>> check_typed("D A")
    Typed(phonemes=('D',), unfinished='A', problem='', at=None)
    >>> found = check_typed("D AX G")
    >>> found.at, found.problem
    (2, "'AX' is not a phoneme of the inventory")
    """
    return _check_ipa(text) if _is_ipa(text) else _check_arpabet(text)


def complete_typed(text: str) -> tuple[Completion, ...]:
    """What may follow, in the order of the inventory; nothing after a mistake.

    >>> [each.text for each in complete_typed("D A")]
    ['D AH ', 'D AO ', 'D AE ', 'D AW ', 'D AY ', 'D AA ']
    >>> [each.text for each in complete_typed("dɔt")][:2]
    ['dɔtʃ', 'dɔtp']
    """
    found = check_typed(text)
    if found.problem:
        return ()
    if _is_ipa(text):
        return _complete_ipa(text)
    before = text[: len(text) - len(found.unfinished)] if found.unfinished else text
    if before and not before[-1].isspace():
        # The last label stands; a longer one may have been meant (S of SH).
        start = len(before.rstrip()) - len(before.split()[-1])
        whole, before = before[start:], before[:start]
        longer = [each for each in PHONEMES if _goes_on(whole, each)]
        chosen = [*longer, *(each for each in PHONEMES if each not in longer)]
        return tuple(
            Completion(
                f"{before}{each} " if each in longer else f"{before}{whole} {each} ",
                each,
                IPA[each],
            )
            for each in chosen
        )
    return tuple(
        Completion(f"{before}{each} ", each, IPA[each])
        for each in PHONEMES
        if each.startswith(found.unfinished.upper())
    )


def _is_ipa(text: str) -> bool:
    return not text.isascii()


def _goes_on(label: str, phoneme: str) -> bool:
    return phoneme != label.upper() and phoneme.startswith(label.upper())


def _check_arpabet(text: str) -> Typed:
    phonemes: list[str] = []
    at = 0
    labels = text.split()
    for number, label in enumerate(labels):
        at = text.index(label, at)
        known = normalise_label(label)
        if known not in PHONEMES:
            last = number == len(labels) - 1 and not text[-1].isspace()
            if last and any(each.startswith(label.upper()) for each in PHONEMES):
                return Typed(tuple(phonemes), unfinished=label)
            return Typed(tuple(phonemes), problem=_problem(label), at=at)
        phonemes.append(known)
        at += len(label)
    return Typed(tuple(phonemes))


def _check_ipa(text: str) -> Typed:
    try:
        return Typed(parse_ipa(text))
    except TabwbError as error:
        for end in range(len(text) - 1, 0, -1):
            try:
                return Typed(parse_ipa(text[:end]), problem=error.message, at=end)
            except TabwbError:
                continue
        return Typed((), problem=error.message, at=0)


def _complete_ipa(text: str) -> tuple[Completion, ...]:
    """First what makes one sound of the last letters, then every phoneme."""
    longer = [
        (letters, reading[0])
        for letters, reading in IPA_READINGS.items()
        if len(letters) > 1 and len(reading) == 1 and text.endswith(letters[:-1])
    ]
    made = [
        Completion(text + letters[-1], phoneme, IPA[phoneme])
        for letters, phoneme in longer
        if IPA[phoneme] == letters
    ]
    before = parse_ipa(text)
    for each in PHONEMES:
        joined = text + IPA[each]
        apart = f"{text}.{IPA[each]}"  # where two sounds would be read as one
        said = joined if parse_ipa(joined) == (*before, each) else apart
        made.append(Completion(said, each, IPA[each]))
    return tuple(made)


def _problem(label: str) -> str:
    try:
        parse_pronunciation(label.upper())
    except TabwbError as error:
        return error.message + (f"; {error.hint}" if error.hint else "")
    return ""
